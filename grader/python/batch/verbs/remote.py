"""Fetch hand-ins from Canvas or Moodle, and return grades and feedback, through their APIs."""

from __future__ import annotations

import argparse
import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.columns import CANVAS_NUMBER
from grader.python.batch.ingest.roster import Student
from grader.python.batch.outputs.feedback_zip import read_feedback, read_own_numbers
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.policy.points import FinalPoints
from grader.python.batch.remote import moodle
from grader.python.batch.remote import pull as canvas_pull
from grader.python.batch.remote import push as canvas_push
from grader.python.batch.remote.connection import open_assignment, read_token, reading_answers
from grader.python.batch.remote.pull import HAND_INS, ROSTER, Pulled
from grader.python.batch.remote.push import Pushed, StudentResult, describe_deductions
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import roster_of
from grader.python.batch.verbs.export import is_decided
from grader.python.common.console import UserError, say, say_error
from grader.python.common.units import plural


def pull(options: argparse.Namespace) -> int:
    """Fetch all hand-ins of an assignment. Return the exit status: 1 if a file could not be fetched."""
    pulled = fetch(options)
    say(
        f"{plural(pulled.students, 'student')}, {plural(pulled.files, 'file')}, {pulled.fetched} of them new. To grade "
        f"them: warplab-course grade {options.folder / HAND_INS} --roster {options.folder / ROSTER} --lab LAB --out DIR"
    )
    if pulled.missing:
        say_error(f"Not fetched ({len(pulled.missing)}): {', '.join(pulled.missing)}. Repeat the command to continue.")
    return 1 if pulled.missing else 0


def push(options: argparse.Namespace) -> int:
    """Return grades and feedback to the course system or, without --send, print what would change. Return the exit
    status: 1 if a student failed or is not known in the course system."""
    database = open_batch(options.folder)
    if database.read_value("decided") != database.read_value("shown"):
        raise UserError(f"The feedback does not have all decisions yet. Type: warplab-course report {options.folder}")
    with only_one_push(options.folder) if options.send else nullcontext():
        returned, unknown = collect(database, options)
        pushed = return_results(options, returned, options.send)
    system = "Moodle" if options.moodle else "Canvas"
    for change in pushed.changes:
        say(change)
    outcome = "written" if options.send else "would change (add --send to write)"
    say(f"Results of {plural(len(pushed.changes), 'student')} {outcome}; {system} is up to date for {pushed.same}.")
    for failure in filter(None, (*pushed.failed.values(), describe_deductions(pushed))):
        say_error(failure)
    if unknown:
        say_error(f"Not known in {system} ({len(unknown)}): {', '.join(unknown)}.")
    return 1 if pushed.failed or unknown else 0


def only_one_push(folder: Path) -> AbstractContextManager[None]:
    """Lock the pushes of a batch: two pushes at the same time would both find that a comment is missing, and write it
    twice. Raises UserError if another push runs."""
    return only_one(folder / "push.lock", "another push of this batch is running, or serve with --send")


def only_one_pull(folder: Path) -> AbstractContextManager[None]:
    """Lock the pulls into a folder: of two pulls at the same time, each would remove files that the other one fetched.
    Raises UserError if another pull runs, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    return only_one(folder / "pull.lock", "another pull into this folder is running, or serve")


@contextmanager
def only_one(lock: Path, reason: str) -> Iterator[None]:
    """Hold a lock. Raises UserError if another program holds it."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{lock.parent}: {reason}. Wait for it, then repeat the command.") from None
        yield


def send(options: argparse.Namespace, folder: Path, returned: Mapping[str, StudentResult]) -> Pushed:
    """Send the grades and feedback of the batch in `folder` to the course system. Raises UserError, for example if
    another push runs."""
    with only_one_push(folder):
        return return_results(options, returned, send=True)


def fetch(options: argparse.Namespace) -> Pulled:
    """Fetch the hand-ins and the roster of the assignment that the options name into their folder. Raises UserError,
    OSError."""
    with only_one_pull(options.folder), reading_answers():
        if options.moodle:
            return moodle.pull(connect_moodle(options), options.folder)
        return canvas_pull.pull(connect_canvas(options), options.folder)


def return_results(options: argparse.Namespace, returned: Mapping[str, StudentResult], send: bool) -> Pushed:
    """Send grades and feedback to the assignment that the options name, or only determine what would change. Raises
    UserError."""
    with reading_answers():
        if options.moodle:
            return moodle.push(connect_moodle(options), returned, send)
        return canvas_push.push(connect_canvas(options), returned, send)


def connect_canvas(options: argparse.Namespace) -> Any:
    """Return the Canvas assignment that the options name. Raises UserError."""
    token = read_token("CANVAS_TOKEN", options.token_file)
    return open_assignment(options.canvas, token, options.course, options.assignment)


def connect_moodle(options: argparse.Namespace) -> moodle.Moodle:
    """Return the assignment of Moodle that the options name. Raises UserError."""
    token = read_token("MOODLE_TOKEN", options.token_file)
    return moodle.Moodle(options.moodle, token, options.course, options.assignment)


def collect(database: Database, options: argparse.Namespace) -> tuple[dict[str, StudentResult], list[str]]:
    """Return each student's points and files, by the student's number in Canvas or user name in Moodle, and the
    students for whom neither is known."""
    roster = {student.id: student for student in roster_of(database)}
    entries, folder = database.entries_by_key(), database.file.resolve().parent
    returned: dict[str, StudentResult] = {}
    unknown = []
    for final in filter(is_decided, all_finals(database, stored_settings(database))):
        is_stranger = bool(roster) and final.student not in roster
        names = [final.student] if options.moodle else list_numbers(final, entries, roster)
        if is_stranger or not names:
            unknown.append(final.student)
            continue
        returned[names[0]] = StudentResult(final.student, final.points, read_feedback(folder, final))
    return returned, unknown


def list_numbers(final: FinalPoints, entries: Mapping[str, Sequence[Path]], roster: Mapping[str, Student]) -> list[str]:
    """Return a student's numbers in Canvas: the roster's or, if it has none, those in the names of the hand-in."""
    ids = roster[final.student].ids if final.student in roster else set()
    numbers = [value for kind, value in ids if kind == CANVAS_NUMBER]
    return numbers or read_own_numbers(final, entries, roster)
