"""nvcc 12 compiles the last solution, which uses most of CUDA, of a third of the labs; with WARPLAB_THOROUGH=1, it
compiles all solutions and the programs of tests/corpus. The runner and the drivers compile with CUDA 12's headers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cuda12.toolkit import UnavailableError, find_toolkit
from tests.labs.conftest import BUILD, ROOT, labs, stages
from tests.share import share_of


@pytest.fixture(scope="session")
def nvcc() -> Path:
    try:
        return find_toolkit(ROOT / BUILD) / "bin/nvcc"
    except UnavailableError as problem:
        pytest.skip(f"CUDA 12 is not available: {problem}")


@pytest.mark.parametrize("lab", share_of(labs(), lambda _: "", str, 7))
def test_solutions_compile(nvcc: Path, lab: str, tmp_path: Path) -> None:
    dataset = json.loads((ROOT / "datasets" / lab / "public.json").read_text())["datasets"][0]["name"]
    report = tmp_path / "report.json"
    expected = stages(lab) if os.environ.get("WARPLAB_THOROUGH") else stages(lab)[-1:]
    options = ["--tree", "solutions", "--backend", "cpu", "--dataset", dataset, "--json", report, "--no-check-mode"]
    stage = [] if len(expected) > 1 else expected
    command = [BUILD / "warplab", "grade", lab, *stage, *options, "--report-dir", tmp_path]
    subprocess.run([*map(str, command)], cwd=ROOT, env=os.environ | {"NVCC": str(nvcc)}, capture_output=True)
    content = json.loads(report.read_text())
    assert content["machine"]["cuda"].startswith("nvcc 12.4"), content["machine"]
    answers = {stage["stage"]: stage["compilation"]["nvcc"]["answer"] for stage in content["stages"]}
    assert answers == dict.fromkeys(expected, "compiles")


CORPUS = json.loads((ROOT / "tests/corpus/corpus.json").read_text())


@pytest.mark.skipif(not os.environ.get("WARPLAB_THOROUGH"), reason="takes minutes")
@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["file"])
def test_corpus_compiles(nvcc: Path, row: dict, tmp_path: Path) -> None:
    source = ROOT / "tests/corpus" / row["file"]
    options = ["-I", ROOT, "-I", ROOT / "labs" / source.parent.name, *row.get("nvcc", [])]
    command = [nvcc, "-std=c++17", "-arch=sm_90", *options, "-c", source, "-o", tmp_path / "program.o"]
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
