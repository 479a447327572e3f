"""Pipes, devices and folders in place of a student's files, and escape sequences in files and arguments: every command
ends quickly and prints neither a stack trace nor an escape sequence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT

LAB, STAGE = "vector_add", "01_one_thread_per_element"
TIMEOUT_S = 60


def make_pipe(file: Path) -> None:
    """Make a pipe without a writer, for which a reader would wait."""
    os.mkfifo(file)


def make_endless(file: Path) -> None:
    file.symlink_to("/dev/zero")


KINDS = [make_pipe, make_endless]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for folder in ("reports", "journal"):
        (tmp_path / LAB / folder).mkdir(parents=True)
    (tmp_path / LAB / f"{STAGE}.cu").write_text("// mine\n")
    return tmp_path


def run(*command: object) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        list(map(str, command)), cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    return result


@pytest.mark.parametrize("make", KINDS)
def test_the_judge_reads_only_regular_files(make: Callable[[Path], None], work: Path) -> None:
    make(work / LAB / "reports" / f"{STAGE}.json")
    make(work / LAB / "02_grid_stride.cu")
    assert run(BUILD / "warplab", "list", "--work", work).returncode == 0


@pytest.mark.parametrize("make", KINDS)
def test_the_judge_records_only_in_regular_files(make: Callable[[Path], None], work: Path) -> None:
    make(work / LAB / "journal" / "records.jsonl")
    result = run(BUILD / "warplab", "check", LAB, "1", "--work", work, "--backend", "cpu", "--no-check-mode")
    assert "is not a regular file" in " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize("make", [*KINDS, Path.mkdir])
@pytest.mark.parametrize(
    ("verb", "file"),
    [
        (["journal", LAB], f"{LAB}/journal/records.jsonl"),
        (["notes", LAB, "1", "--new"], f"{LAB}/journal/records.jsonl"),
        (["quiz", LAB], f"{LAB}/journal/quiz.json"),
        (["submit", LAB, "--force"], "authors.json"),
    ],
)
def test_python_reads_only_regular_files(make: Callable[[Path], None], verb: list[str], file: str, work: Path) -> None:
    if verb[0] == "notes":
        (work / LAB / "journal" / f"{STAGE}.md").write_text("")
    make(work / file)
    name, *words = verb
    result = run(sys.executable, "-m", f"grader.python.journal.{name}", *words, "--work", work)
    assert result.returncode == 2
    assert f"{work / file}: not a regular file" in result.stderr


@pytest.mark.parametrize("make", KINDS)
def test_the_last_command_is_read_only_from_a_regular_file(make: Callable[[Path], None], work: Path) -> None:
    make(work / ".last")
    assert "Which lab?" in run("./warplab", "check", f"WORK={work}").stderr


@pytest.mark.parametrize("make", KINDS)
def test_a_command_succeeds_even_if_it_cannot_be_stored(make: Callable[[Path], None], work: Path) -> None:
    make(work / ".last")
    assert run("./warplab", "start", LAB, f"WORK={work}").returncode == 0


@pytest.mark.parametrize("last", [f"{LAB} ../x\x1b[31m", "../labs/vector_add 01", f"{LAB} $(id)"])
def test_an_invalid_last_command_prints_no_escapes(last: str, work: Path) -> None:
    (work / ".last").write_text(last + "\n")
    assert "Which lab?" in run("./warplab", "check", f"WORK={work}").stderr


@pytest.mark.parametrize("name", ["LAB", "STAGE", "TREE", "DATASET", "SOURCE"])
def test_typed_arguments_print_no_escapes(name: str, work: Path) -> None:
    words = [] if name == "LAB" else [f"LAB={LAB}", "STAGE=1"]
    run("./warplab", "check", *words, f"{name}=\x1b[31mx", "BACKEND=cpu", f"WORK={work}")
