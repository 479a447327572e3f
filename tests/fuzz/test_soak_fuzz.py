"""Test that libFuzzer's targets link, even without clang (WARPLAB_THOROUGH=1). Only `make soak` builds them, because
building needs clang and takes a minute."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.soak_fuzz import SOURCES
from tests.labs.conftest import BUILD, ROOT
from tests.share import THOROUGH


def test_all_listed_sources_exist() -> None:
    places = (ROOT, ROOT / BUILD)  # some are generated
    assert [source for source in SOURCES if not any((place / source).exists() for place in places)] == []


@pytest.mark.skipif(not THOROUGH, reason="compiles for a minute: WARPLAB_THOROUGH=1")
def test_the_targets_link_without_missing_functions(tmp_path: Path) -> None:
    linked = tmp_path / "whole.o"
    compiler = ["g++", "-std=c++20", "-O0", "-I.", f"-I{BUILD}"]
    objects = []
    for number, folder in enumerate(sorted({str(Path(source).parent) for source in SOURCES})):
        source_file, object_file = tmp_path / f"{number}.cpp", tmp_path / f"{number}.o"
        of_folder = [source for source in SOURCES if str(Path(source).parent) == folder]
        source_file.write_text("".join(f'#include "{source}"\n' for source in of_folder))
        subprocess.run([*compiler, "-c", source_file, "-o", object_file], cwd=ROOT, check=True)
        objects.append(object_file)
    subprocess.run(["ld", "-r", "-o", linked, *objects], check=True)
    missing = subprocess.run(["nm", "-u", "-C", linked], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^ +U warplab::.*", missing, re.MULTILINE) == []
