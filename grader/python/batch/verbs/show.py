"""Print the state of a batch, or write its outputs again."""

from __future__ import annotations

import argparse

from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.points import read_policy, tell_policy
from grader.python.batch.store.opened import kept_settings, open_batch
from grader.python.batch.store.rows import STATUSES, in_words
from grader.python.common.console import say


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
    for holds, time, student, what, why in database.decisions():
        say(f"By hand{'' if holds else ' before'}, {time}: {student}, {what} ({why})")
    if database.fact("decided") != database.fact("shown"):
        say(f"Gradebook, feedback and page do not have all decisions yet: warplab-course report {options.folder}")
    return 0


def report(options: argparse.Namespace) -> int:
    """Write the outputs again, after due dates, points or overrides were entered."""
    database = open_batch(options.folder)
    say(write_outputs(database, kept_settings(database)))
    return 0
