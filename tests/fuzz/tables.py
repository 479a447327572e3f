"""Fuzz rosters, marks, gradebooks and decisions of instructors and course systems."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shlex
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unittest import mock

from grader.python.batch.__main__ import main as run_batch
from grader.python.batch.grade.grading import summarise_report
from grader.python.batch.ingest.columns import IDENTITIES, columns_of
from grader.python.batch.ingest.identify import identify
from grader.python.batch.ingest.roster import read_roster, split_team, students_by_alias
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.outputs import write as outputs
from grader.python.batch.outputs.gradebooks import canvas, compare_maxima, moodle, warn_of_new_column
from grader.python.batch.outputs.rows import Entry
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.policy.marks import read_marks
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import DATABASE
from grader.python.batch.store.rows import Graded
from grader.python.common.report import Report, Total, parse_report
from tests.fuzz.hand_ins import LAB, STAGES, make_settings
from tests.fuzz.invariants import (
    attempt,
    refusing,
    require,
    require_csv,
    require_html,
    require_message,
    require_printable,
)
from tests.python import samples

MAX_POINTS = 10


def make_submissions() -> list[Submission]:
    """Make three submissions with keys and names in the format of course systems."""
    submissions = [Submission("11", "lovelaceada", [], ["11"]), Submission("bob-cy", "", [], ["bob-cy"])]
    return [*submissions, Submission("13", "Eve Mallory", [], ["13"], team="eve-ada")]


def try_roster(data: bytes, folder: Path) -> None:
    """Try a roster: it is refused with a message, or it identifies each submission's owners."""
    file = folder / "roster.csv"
    file.write_bytes(data)
    with refusing():
        roster = read_roster(file)
        ids = [student.id for student in roster]
        require(len(set(ids)) == len(ids), "a student is on the roster once")
        submissions = make_submissions()
        identify(submissions, roster)
        for submission in submissions:
            require(submission.members, "a submission has an owner")
        split_team("-".join(ids[:8]), set(students_by_alias(roster)))
    with refusing():
        for mark in read_marks(file, MAX_POINTS):
            require(0 <= mark.points <= MAX_POINTS, "marks are within the maximum")


def make_entries() -> list[Entry]:
    """Make reports of three students; one has no points yet."""
    reports = [Report(lab=LAB, total=Total(points, MAX_POINTS, 2)) for points in (7.5, 0, 10)]
    reports[1].total.without_score = 1
    return [
        Entry("u001x", reports[0], ["One day late."], "Seán O'Brien", {("canvas", "34"), ("own", "7429")}),
        Entry("u002x", reports[1], [], "Zoë Müller-Lüdenscheidt"),
        Entry("=u003x", reports[2], ["+1"], "José María García Márquez"),
    ]


def try_gradebook(data: bytes, folder: Path) -> None:
    """Try a line with the assignment's title, then a gradebook: the gradebook is filled in, and all its cells are safe,
    except for the cells of Canvas's columns that only instructors fill in."""
    title, _, table = data.partition(b"\n")
    column, text = title.decode("utf-8", "replace"), table.decode("utf-8", "replace")
    entries = make_entries()
    for fill in (canvas, moodle):
        if filled := attempt(fill, entries, text, *([column] if fill is canvas else [])):
            require_csv(typed_cells(filled[0]) if fill is canvas else filled[0], "the gradebook")
            require(set(filled[1]) <= {entry.student for entry in entries}, "only our students are missing")
    for output in (
        attempt(warn_of_new_column, entries, text, column),
        attempt(compare_maxima, entries, "canvas", text, column),
        attempt(compare_maxima, entries, "moodle", text),
    ):
        for sentence in output or []:
            require_message(sentence)


def typed_cells(text: str) -> str:
    """Return the columns of a gradebook with cells that students type, without their titles."""
    header, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    output = io.StringIO()
    csv.writer(output).writerows([[row[at] for at in columns_of(header, IDENTITIES)] for row in rows])
    return output.getvalue()


@cache
def kept_batch() -> bytes:
    """Return the database of a small graded batch."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = make_settings(folder)
        database = Database(folder / DATABASE)
        places = {"root": str(settings.root), "build": str(settings.build), "folder": name}
        database.set_values(settings=places | {"lab": LAB, "stages": STAGES, "backend": "cpu"}, secret="secret")
        submissions = [
            Submission(key, key.title(), [folder / key], [key], "2026-11-20T10:00:00Z") for key in ("ada", "bob")
        ]
        database.enter(submissions)
        for key in ("ada", "bob"):
            stages = [samples.stage(stage, stage, score=samples.score()) for stage in STAGES]
            report = samples.report(lab=LAB, stages=stages)
            graded = Graded(key, "graded", report=json.dumps(report))
            database.keep(graded, *summarise_report(parse_report(graded.report), "hash"))
        database.close()
        return (folder / DATABASE).read_bytes()


def try_decisions(data: bytes, folder: Path) -> None:
    """Try lines of the instructor's commands for a batch, e.g. `points --student ada --points 7 --reason late`: each is
    executed or refused, and the outputs keep their invariants. `--from marks.csv` reads the lines after `===`."""
    commands, _, table = data.partition(b"\n===\n")
    (folder / DATABASE).write_bytes(kept_batch())
    (folder / "marks.csv").write_bytes(table)
    for line in commands.decode("utf-8", "replace").splitlines()[:8]:
        decide(line, folder)
    database = Database(folder / DATABASE)
    for final in all_finals(database, make_settings(folder)):
        require(final.points is None or 0 <= final.points < 1e300, "points are a number of 0 or more")
    with (
        refusing(),
        mock.patch.object(outputs, "find_similar", lambda *_: ([], [])),
    ):  # decisions do not change similarity
        write_outputs(database, make_settings(folder))
        require_csv((folder / "gradebook.csv").read_bytes().decode(), "gradebook.csv")
        require_html((folder / "report.html").read_text(encoding="utf-8"), "report.html")
        for page in (folder / "feedback").glob("*/index.html"):
            require_html(page.read_text(encoding="utf-8"), "feedback")
    database.close()


VERBS = ("due", "without", "extend", "points", "override", "export", "status")


def decide(line: str, folder: Path) -> None:
    """Run a command of the batch, unless its verb starts programs or an argument may lead to files outside `folder`."""
    try:
        verb, *arguments = shlex.split(line)
    except ValueError:
        return
    arguments = [str(folder / "marks.csv") if word == "marks.csv" else word for word in arguments]
    if verb not in VERBS or any(word.startswith(("--o", "--from=", "--g", "/")) for word in arguments):
        return
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), refusing():
        if run_or_exit([verb, str(folder), *arguments]) and verb != "export":
            require_printable(output.getvalue(), "the batch's output")


def run_or_exit(arguments: Sequence[str]) -> bool:
    """Run a command. Return False if argparse ends it because of a wrong option."""
    mask = os.umask(0o022)  # the command changes this process's mask
    try:
        require(run_batch(arguments) in (0, 1), "the exit status is 0 or 1")
    except SystemExit as ended:
        require(ended.code in (0, 2), "argparse exits with 0 or 2")
        return False
    finally:
        os.umask(mask)
    return True
