"""Print the state of a batch, or write its outputs again."""

from __future__ import annotations

import argparse

from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.points import read_policy, tell_policy
from grader.python.batch.store.opened import kept_settings, open_batch
from grader.python.batch.store.people import find_students
from grader.python.batch.store.rows import STATUSES, in_words
from grader.python.common.console import say
from grader.python.common.units import show_points


def status(options: argparse.Namespace) -> int:
    """Print the state of the batch, each failure and refusal, and the instructor's decisions."""
    database = open_batch(options.folder)
    for name, count in database.counts().items():
        say(f"{count:6} {in_words(name)}: {STATUSES.get(name, 'to be graded')}")
    for row in database.rows():
        if row.detail:
            say(f"{row.key}: {in_words(row.status)}: {row.detail}")
    for sentence in database.fact("left_out") or []:
        say(f"Left out: {sentence}")
    for sentence in tell_policy(read_policy(database)):
        say(sentence)
    for decision in database.decisions():
        say(tell_decision(decision))
    if database.fact("decided") != database.fact("shown"):
        say(f"Gradebook, feedback and page do not have all decisions yet: warplab-course report {options.folder}")
    return 0


def tell_decision(decision: tuple[bool, str, str, str, str, str]) -> str:
    """Return a decision by hand, with its reason and the user who made it."""
    holds, time, student, what, why, who = decision
    return f"By hand{'' if holds else ' before'}, {time}{f', by {who}' if who else ''}: {student}, {what} ({why})"


def history(options: argparse.Namespace) -> int:
    """Print all grades of students' hand-ins with their reasons, and all decisions for them."""
    database = open_batch(options.folder)
    for student in find_students(database, options.student):
        for row in database.rows():
            if student in row.members:
                say(f"{student}: hand-in {row.key}, of {row.handed_in or 'an unknown time'}: {in_words(row.status)}")
                for line in map(tell_grade, database.history(row.key)):
                    say(line)
        for decision in sorted(database.decisions(), key=lambda decision: decision[1]):
            if decision[2] == student:
                say(tell_decision(decision))
    return 0


def tell_grade(grade: tuple[str, str, float, float, float, str, str, str]) -> str:
    """Return one grading of a hand-in."""
    time, status, points, most, pending, backend, version, reason = grade
    more = f", {show_points(pending)} pending" if pending else ""
    words = f"{show_points(points)} of {show_points(most)} points{more} ({in_words(status)}, {backend}, {version})"
    return f"Graded, {time}: {words}{f': {reason}' if reason else ''}"


def report(options: argparse.Namespace) -> int:
    """Write the outputs again, after due dates, points or overrides were entered."""
    database = open_batch(options.folder)
    say(write_outputs(database, kept_settings(database)))
    return 0
