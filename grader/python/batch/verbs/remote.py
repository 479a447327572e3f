"""Fetch hand-ins from Canvas, and return grades and feedback, by its API."""

from __future__ import annotations

import argparse
from typing import Any

from grader.python.batch.ingest.columns import CANVAS_NUMBER
from grader.python.batch.outputs.feedback_zip import read_feedback, read_own_numbers
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.remote.connection import open_assignment, read_token
from grader.python.batch.remote.pull import HAND_INS, ROSTER
from grader.python.batch.remote.pull import pull as fetch_hand_ins
from grader.python.batch.remote.push import Returned
from grader.python.batch.remote.push import push as return_all
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import kept_settings, open_batch
from grader.python.batch.store.people import roster_of
from grader.python.batch.verbs.export import is_decided
from grader.python.common.console import UserError, say, say_error
from grader.python.common.units import plural


def pull(options: argparse.Namespace) -> int:
    """Fetch all hand-ins of an assignment. Return the exit status: 1 if a file could not be fetched."""
    pulled = fetch_hand_ins(connect(options), options.folder)
    say(
        f"{plural(pulled.students, 'student')}, {plural(pulled.files, 'file')}, {pulled.fetched} of them new. To grade "
        f"them: warplab-course grade {options.folder / HAND_INS} --roster {options.folder / ROSTER} --lab LAB --out DIR"
    )
    if pulled.missing:
        say_error(f"Not fetched ({len(pulled.missing)}): {', '.join(pulled.missing)}. The same command continues.")
    return 1 if pulled.missing else 0


def push(options: argparse.Namespace) -> int:
    """Return grades and feedback, or with no --send say what would change. Return the exit status: 1 if a student was
    left out."""
    database = open_batch(options.folder)
    if database.fact("decided") != database.fact("shown"):
        raise UserError(f"The feedback does not have all decisions yet: warplab-course report {options.folder}")
    returned, unknown = collect(database, options)
    pushed = return_all(connect(options), returned, options.send)
    for change in pushed.changes:
        say(change)
    done = "written" if options.send else "would change. To write them, add --send"
    say(f"{plural(len(pushed.changes), 'student')} {done}; Canvas has everything of {pushed.same}.")
    for failure in pushed.failed:
        say_error(failure)
    if unknown:
        say_error(f"No number of Canvas ({len(unknown)}): {', '.join(unknown)}.")
    return 1 if pushed.failed or unknown else 0


def connect(options: argparse.Namespace) -> Any:
    """Return the assignment that the options name. Raises UserError."""
    return open_assignment(options.canvas, read_token(options.token_file), options.course, options.assignment)


def collect(database: Database, options: argparse.Namespace) -> tuple[dict[str, Returned], list[str]]:
    """Return what each student gets by the student's number in Canvas, and the students whose number is not known."""
    roster = {student.id: student for student in roster_of(database)}
    entries, folder = database.entries_by_key(), options.folder.resolve()
    returned: dict[str, Returned] = {}
    unknown = []
    for final in filter(is_decided, all_finals(database, kept_settings(database))):
        ids = roster[final.student].ids if final.student in roster else set()
        numbers = [value for kind, value in ids if kind == CANVAS_NUMBER]
        numbers = numbers or read_own_numbers(final, entries, roster)
        if roster and final.student not in roster:
            numbers = []
        if not numbers:
            unknown.append(final.student)
            continue
        returned[numbers[0]] = Returned(final.student, final.points, read_feedback(folder, final))
    return returned, unknown
