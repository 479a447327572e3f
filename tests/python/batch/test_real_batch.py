"""A batch with the real judge, in its sandbox."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT
from tests.python.batch.ingest.test_archive import make_tar, make_zip

LAB, STAGE = "vector_add", "02_grid_stride"
PRINTS = 'printf("n is %zu, a is at %p\\n", n, (const void*)a);'


def test_honest_wrong_and_hostile_submissions_do_not_affect_each_other(tmp_path: Path) -> None:
    right = (ROOT / f"solutions/{LAB}/{STAGE}.cu").read_text()
    wrong = (ROOT / f"tests/labs/{LAB}/02_steps_too_far.cu").read_text()
    printing = right.replace('#include "labs/', '#include <cstdio>\n#include "labs/', 1)
    printing = printing.replace("if (n == 0) return;", f"{PRINTS} if (n == 0) return;", 1)
    assert PRINTS in printing
    folder = tmp_path / "handed in"
    folder.mkdir()
    (folder / f"{LAB}-al1-2026-11-21-040506.tar.gz").write_bytes(make_tar((f"{LAB}/{STAGE}.cu", right.encode())))
    (folder / "turing_2_900_work.zip").write_bytes(make_zip((f"my work/{STAGE}.cu", wrong.encode())))
    (folder / "Grace Hopper_3_assignsubmission_file_").mkdir()
    (folder / "Grace Hopper_3_assignsubmission_file_" / f"{STAGE}.cu").write_text(printing)
    (folder / "mallory.zip").write_bytes(make_zip((f"../../{STAGE}.cu", b"")))
    (folder / "eve").mkdir()
    (folder / "eve" / f"{STAGE}.cu").symlink_to(ROOT / f"solutions/{LAB}/{STAGE}.cu")
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "grader.python.batch",
        "grade",
        folder,
        "--lab",
        LAB,
        "--stage",
        "02",
        "--out",
        out,
    ]
    command += ["--backend", "cpu", "--build", BUILD, "--no-check-mode", "--no-nvcc"]
    result = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    if "needs a sandbox" in result.stderr:
        pytest.skip("no sandbox is available")
    assert result.returncode == 0, result.stdout + result.stderr
    with (out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        book = {line["id"]: (line["status"], line["points"]) for line in csv.DictReader(file)}
    assert book["al1"] == ("graded", "6")
    assert book["2"][0] == "graded" and float(book["2"][1]) < 6
    assert book["3"] == ("graded", "6")
    assert book["mallory"] == ("did_not_compile", "0")
    assert book["eve"] == ("archive_refused", "0")
    output = "".join(file.read_text() for file in (out / "feedback").rglob("*") if file.is_file())
    assert "steps" in (out / "feedback/2/feedback.txt").read_text()
    assert "hidden_" not in output and "n is " not in output and str(tmp_path) not in output
    assert '"sandbox": "none"' not in output


def test_two_parallel_judges_report_no_finding_in_correct_stages(tmp_path: Path) -> None:
    """The sanitizer runs blocks one after the other, whatever the number of threads that a batch gives its judges."""
    lab, handed_in = "dot_product", tmp_path / "handed in"
    for student in ("al1", "al2"):
        (handed_in / student).mkdir(parents=True)
        for file in (ROOT / f"solutions/{lab}").glob("0[123]_*.cu"):
            (handed_in / student / file.name).write_text(file.read_text())
    command = [sys.executable, "-m", "grader.python.batch", "grade", handed_in, "--lab", lab]
    command += ["--upto", "2", "--out", tmp_path / "out", "--backend", "cpu", "--build", BUILD]
    command += ["--no-nvcc", "--jobs", "2"]
    environment = os.environ | {"WARPLAB_THREADS": "4"}
    result = subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    if "needs a sandbox" in result.stderr:
        pytest.skip("no sandbox is available")
    assert result.returncode == 0, result.stdout + result.stderr
    with (tmp_path / "out/gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        book = [(line["id"], line["status"], line["points"], line["of"]) for line in csv.DictReader(file)]
    assert book == [("al1", "graded", "16", "20"), ("al2", "graded", "16", "20")]


def test_a_hand_in_that_arrives_is_graded_and_gets_feedback(tmp_path: Path) -> None:
    inbox, out = tmp_path / "inbox", tmp_path / "out"
    inbox.mkdir()
    command = [sys.executable, "-m", "grader.python.batch", "serve", inbox, "--lab", LAB, "--stage", "02"]
    command += ["--out", out, "--backend", "cpu", "--build", BUILD, "--no-check-mode", "--no-nvcc", "--settle-s", "0.5"]
    process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    feedback, end_s = out / "feedback/al1/feedback.txt", time.monotonic() + 120
    content = (ROOT / f"solutions/{LAB}/{STAGE}.cu").read_bytes()
    (inbox / f"{LAB}-al1-2026-11-21-040506.tar.gz").write_bytes(make_tar((f"{LAB}/{STAGE}.cu", content)))
    while not feedback.is_file() and process.poll() is None and time.monotonic() < end_s:
        time.sleep(0.1)
    process.terminate()
    output = process.communicate(timeout=60)[0].decode()
    if "needs a sandbox" in output:
        pytest.skip("no sandbox is available")
    assert process.returncode == 0 and "al1: graded" in output, output
    with (out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        assert [(line["id"], line["points"]) for line in csv.DictReader(file)] == [("al1", "6")]
