"""No decision of the batch depends on the words of a message: a batch whose messages are replaced with keys makes the
same decisions."""

from __future__ import annotations

import csv
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from grader.python.batch.ingest.notes import kind_of
from tests.python.batch.batches import STAGES, Course, environment
from tests.python.mutated import copy_without_sentences
from tests.python.support import ROOT

ROSTER = "id,name\nann,Ann Ash\nbob,Bob Birch\ncat,Cat Cedar\ndan,Dan Date\neve,Eve Elm\n"
SOURCES = {
    "ann": ("fine",),
    "bob": ("fine", "fine too"),
    "cat": ("compile_error", "compile_error"),
    "dan": ("implausible", "fine"),
    "fay": ("crash", "fine"),
    "gus": ("garbage",),
    "hal": ("fine", "fine too"),  # the same files as bob's
}


class Copy(Course):
    """A course that is graded by a copy of the code, in separate processes."""

    def __init__(self, folder: Path, code: Path):
        super().__init__(folder)
        self.code = code

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        variables = environment() | {"PYTHONPATH": str(self.code)}
        result = subprocess.run(command, cwd=self.code, env=variables, capture_output=True, text=True, check=False)
        assert "Traceback" not in result.stderr, result.stderr
        return result

    def grade(self, *more: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(self.grade_command(*more))

    def run_verb(self, verb: str, *more: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(self.command(verb, self.out, *more))


def hand_in_all(course: Course) -> Path:
    for student, texts in SOURCES.items():
        for stage, text in zip(STAGES, texts, strict=False):
            folder = course.handed_in / student
            folder.mkdir(exist_ok=True)
            (folder / f"{stage}.cu").write_text(f"{text}\n")
    (course.handed_in / "ida").mkdir()
    (course.handed_in / "ida" / "report.docx").write_bytes(b"PK")
    (course.handed_in / "joe.zip").write_bytes(b"not an archive")
    (course.handed_in / "kim").symlink_to(course.handed_in / "bob")
    with zipfile.ZipFile(course.handed_in / "lea.zip", "w") as archive:
        archive.writestr("../" + STAGES[0] + ".cu", "fine")
        archive.writestr(STAGES[1] + " - Copy.cu", "fine")
    course.add_reference("fine", "fine")
    roster = course.root / "roster.csv"
    roster.write_text(ROSTER)
    return roster


def table(file: Path) -> list[list[str]]:
    """Return a gradebook's rows, with an ellipsis in place of each cell that may contain a sentence."""
    with file.open(newline="") as stream:
        return [[cell if re.fullmatch(r"[\w.,@-]*", cell) else "…" for cell in row] for row in csv.reader(stream)]


def collect_decisions(course: Course) -> dict[str, object]:
    """Run an instructor's commands, and return all decisions of the batch."""
    roster = hand_in_all(course)
    statuses = [("grade", course.grade("--roster", roster).returncode)]
    (course.build / "repaired").touch()
    for verb, *words in (
        ("regrade", "--all", "--reason", "repaired"),
        ("due", "--at", "2026-01-01T12:00+00:00", "--percent-per-day", "10", "--trust-file-dates"),
        ("extend", "--student", "ann", "--until", "2036-02-01T12:00+00:00", "--reason", "ill"),
        ("points", "--student", "cat", "--item", "Journal", "--points", "3", "--of", "5", "--reason", "good"),
        ("override", "--student", "bob", "--points", "12", "--reason", "asked"),
        ("override", "--student", "nobody", "--points", "12", "--reason", "asked"),
        ("without", "--kind", "speed"),
        ("status",),
        ("report",),
        ("export", "--format", "canvas"),
    ):
        statuses.append((verb, course.run_verb(verb, *words).returncode))
    database = course.database()
    rows = [(row.key, row.name, row.status, row.points, row.max_points) for row in database.rows()]
    rows.sort()
    select = "SELECT key, stage, verdict, cause, stages.points FROM stages JOIN grades ON grade = id"
    stages = database.query(f"{select} ORDER BY key, grade, stage")
    return {
        "exit statuses": statuses,
        "rows": rows,
        "stages": [tuple(row) for row in stages],
        "kinds of notes": sorted((row.key, [kind_of(note) for note in row.notes]) for row in database.rows()),
        "gradebook": table(course.out / "gradebook.csv"),
        "feedback": sorted(file.name for file in (course.out / "feedback").iterdir()),
    }


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return collect_decisions(Copy(tmp_path_factory.mktemp("original"), ROOT))


def test_a_batch_without_sentences_makes_the_same_decisions(original: dict[str, object], tmp_path: Path) -> None:
    assert copy_without_sentences(tmp_path / "code") > 500
    changed = collect_decisions(Copy(tmp_path / "batch", tmp_path / "code"))
    assert changed == original


def test_the_batch_has_many_kinds_of_outcomes(original: dict[str, object]) -> None:
    """Otherwise, the comparison above would prove little."""
    assert len({row[2] for row in original["rows"]}) >= 6
    assert any(kinds for _, kinds in original["kinds of notes"])
    assert [status for _, status in original["exit statuses"]].count(2) == 1
