"""Every header compiles alone."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.layout.tree import ROOT, committed_files

HEADERS = [file for file in committed_files() if file.suffix == ".h" and file.parts[0] in ("grader", "labs")]
# Those that others' code includes; with WARPLAB_THOROUGH=1 the judge's and the rewriter's own, too.
OURS_ALONE = ("grader/judge/", "grader/cpu/rewriter/")
CHOSEN = [file for file in HEADERS if os.environ.get("WARPLAB_THOROUGH") or not str(file).startswith(OURS_ALONE)]


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.parametrize("header", CHOSEN, ids=str)
def test_header_compiles_alone(header):
    # What students' code sees is C++17; of the rest, some read cuda_runtime.h.
    students = header.name == "lab.h" or header.parts[:3] == ("grader", "cpu", "include")
    standard = "-std=c++17" if students else "-std=c++20"
    command = [
        "g++",
        standard,
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-fmax-errors=3",
        "-fopenmp",
        "-I.",
        "-Igrader/cpu/include",
    ]
    command += ["-include", str(header), "-x", "c++", "/dev/null"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        pytest.fail(done.stderr[:2000], pytrace=False)
