"""The compiler's messages for a hand-in do not depend on whether a file of the course exists."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.hostile.test_hostile import HONEST, LAB, STAGE
from tests.hostile.without import without
from tests.labs.conftest import BUILD, ROOT
from tests.share import THOROUGH

QUESTIONS = {
    "has_include": '#if __has_include("{file}")\n#error it is there\n#endif',
    "dependency": '#pragma GCC dependency "{file}"',
    "dependency_by_pragma": '_Pragma("GCC dependency \\"{file}\\"")',
    "computed_include": '#define FILE "{file}"\n#include FILE',
    "computed_include_next": '#define FILE "{file}"\n#include_next FILE',
    "incbin": '__attribute__((section(".data\\n.incbin \\"{file}\\"\\n#"))) int data = 1;',
}
PAIRS = {
    "solution": (f"solutions/{LAB}/{STAGE}.cu", f"solutions/{LAB}/{STAGE}.cv"),
    "lab": (f"solutions/{LAB}", "solutions/dot_pr0duct"),
    "test": ("tests/hostile/hostile.json", "tests/hostile/hostile.jso_"),
    "dataset": (f"datasets/{LAB}/public.json", f"datasets/{LAB}/publik.json"),
}
LEVELS = {"namespace": [], "uid": ["bwrap"]} if os.geteuid() == 0 else {"namespace": []}


def compile_with(line: str, folder: Path, level: str) -> str:
    """Grade the honest solution with one more line; return its compilation report as JSON."""
    source, report = folder / "hand_in.cu", folder / "report.json"
    source.write_text(line + "\n" + HONEST.read_text())
    command = [BUILD / "warplab", "grade", LAB, STAGE, "--source", source, "--backend", "cpu", "--no-nvcc"]
    command += ["--no-check-mode", "--dataset", "warp", "--json", report, "--report-dir", folder]
    words = [*without(*LEVELS[level]), *map(str, command)]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if "needs a sandbox" in process.stderr:
        pytest.skip("no sandbox is available")
    assert report.exists(), process.stdout + process.stderr
    content = json.loads(report.read_text())
    assert content["sandbox"] == level
    compilation = content["stages"][0]["compilation"]
    return json.dumps([compilation[key] for key in ("verdict", "failure", "log")])


def cases() -> list[tuple[str, str, str]]:
    """Return combinations in which each level has every question and every pair; with WARPLAB_THOROUGH=1, return all
    combinations."""
    combinations = itertools.product(enumerate(QUESTIONS), enumerate(PAIRS), enumerate(LEVELS))
    return [
        (question, pair, level)
        for (q, question), (p, pair), (n, level) in combinations
        if THOROUGH or (q + n) % len(PAIRS) == p
    ]


@pytest.mark.parametrize(("question", "pair", "level"), cases())
def test_existing_file_looks_like_a_missing_one(question: str, pair: str, level: str, tmp_path: Path) -> None:
    existing, missing = (str(ROOT / name) for name in PAIRS[pair])
    assert Path(existing).exists() and not Path(missing).exists()
    line = QUESTIONS[question]
    answers = [compile_with(line.replace("{file}", name), tmp_path, level) for name in (existing, missing)]
    assert answers[0].replace(existing, "FILE") == answers[1].replace(missing, "FILE")
