"""Print the state of a batch or the history of a student, or write the outputs again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.finals import rows_that_count
from grader.python.batch.policy.points import describe_extensions, describe_policy, read_policy
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import StudentsByWord, find_each, names_of, with_name
from grader.python.batch.store.rows import STATUSES, in_words
from grader.python.common.console import say
from grader.python.common.units import show_points


def status(options: argparse.Namespace) -> int:
    """Print the state of the batch, each failure and refusal, and the instructor's decisions."""
    database = open_batch(options.folder)
    for name, count in database.counts().items():
        say(f"{count:6} {in_words(name)}: {STATUSES.get(name, 'to be graded')}")
    policy = read_policy(database)
    for row in rows_that_count(database, policy):
        if row.detail:
            say(f"{row.key}: {in_words(row.status)}: {row.detail}")
    for sentence in database.read_value("left_out") or []:
        say(f"Skipped: {sentence}")
    for sentence in describe_policy(policy):
        say(sentence)
    names = names_of(database)
    for sentence in describe_extensions(policy.roster_extensions, names):
        say(sentence)
    for decision in database.decisions():
        say(describe_decision(decision, names))
    if database.read_value("decided") != database.read_value("shown"):
        say(f"Gradebook, feedback and page do not have all decisions yet: warplab-course report {options.folder}")
    return 0


def describe_decision(decision: tuple[bool, str, str, str, str, str], names: Mapping[str, str]) -> str:
    """Return a line about a decision, with its reason and the user who made it."""
    is_in_force, time, student, what, reason, user = decision
    when = f"By hand{'' if is_in_force else ', no longer valid'}, {time}{f', by {user}' if user else ''}"
    return f"{when}: {with_name(student, names)}, {what} ({reason})"


def history(options: argparse.Namespace) -> int:
    """Print all grades of students' hand-ins with their reasons, and all decisions for them."""
    database = open_batch(options.folder)
    names = names_of(database)
    for student in find_each(options.student, StudentsByWord(database).find):
        keys = {student}  # drops and comments have the key of a hand-in, all other decisions the student's id
        for row in database.rows():
            if student in row.members:
                keys.add(row.key)
                when = row.handed_in or "time unknown"
                say(f"{with_name(student, names)}: hand-in {row.key}, {when}: {in_words(row.status)}")
                for line in map(describe_grade, database.history(row.key)):
                    say(line)
        extensions = read_policy(database).roster_extensions
        for sentence in describe_extensions({student: extensions[student]} if student in extensions else {}, names):
            say(sentence)
        for decision in sorted(database.decisions(), key=lambda decision: decision[1]):
            if decision[2] in keys:
                say(describe_decision(decision, names))
    return 0


def describe_grade(grade: tuple[str, str, float, float, float, str, str, str]) -> str:
    """Return a line about one grading of a hand-in."""
    time, status, points, maximum, pending, backend, version, reason = grade
    pending_words = f", {show_points(pending)} pending" if pending else ""
    points_words = f"{show_points(points)} of {show_points(maximum)} points{pending_words}"
    words = f"{points_words} ({in_words(status)}, {backend}, {version})"
    return f"Graded, {time}: {words}{f': {reason}' if reason else ''}"


def report(options: argparse.Namespace) -> int:
    """Write the outputs again, so that they contain all decisions."""
    database = open_batch(options.folder)
    say(write_outputs(database, stored_settings(database)))
    return 0
