"""libFuzzer's targets need clang and a minute to build, so only `make soak` builds them; this tests that they link."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.fuzz.soak_fuzz import SOURCES
from tests.labs.conftest import BUILD, ROOT


def test_all_that_the_targets_call_is_linked(tmp_path: Path) -> None:
    together = tmp_path / "together.cpp"
    together.write_text("".join(f'#include "{source}"\n' for source in SOURCES))
    whole = tmp_path / "whole.o"
    compiler = ["g++", "-std=c++20", "-O0", "-I.", f"-I{BUILD}", "-c", together, "-o", whole]
    subprocess.run(compiler, cwd=ROOT, check=True)
    missing = subprocess.run(["nm", "-u", "-C", whole], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^ +U warplab::.*", missing, re.MULTILINE) == []
