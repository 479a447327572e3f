"""Grades a batch of submissions, and keeps what came of it.

warplab-course grade SUBMISSIONS --lab LAB --out DIR      grades what is new; killed, it goes on where it was
warplab-course status DIR                                 how many are in which state, our own faults first
warplab-course regrade DIR --student ID | --changed …     grades again; old scores are kept with the reason
warplab-course due|without|extend|points|override DIR …   dates, what counts, points given by hand, overrides
warplab-course report DIR                                 gradebook.csv, feedback/, report.html
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.python.batch.grade.run import cores
from grader.python.batch.outputs.gradebooks import GRADEBOOKS
from grader.python.batch.policy.points import MOST_POINTS
from grader.python.batch.verbs.decide import KINDS, due, extend, override, points, without
from grader.python.batch.verbs.export import export
from grader.python.batch.verbs.grade import grade
from grader.python.batch.verbs.regrade import regrade
from grader.python.batch.verbs.show import report, status
from grader.python.common.console import run_command

MOST_JOBS, MOST_DAYS, MOST_TIMEOUT_S = 10_000, 10_000, 10_000_000
ROOT = Path(__file__).resolve().parents[3]

Verbs = Any  # the type of add_subparsers(), which argparse does not export


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warplab-course", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in (add_grade, add_regrade, add_due, add_without, add_extend, add_points, add_override, add_export):
        add(verbs)
    add_verb(verbs, "report", report, "write gradebook.csv, feedback/ and report.html anew")
    add_verb(verbs, "status", status, "how it stands, our own faults first")
    return parser


def add_grade(verbs: Verbs) -> None:
    one = verbs.add_parser("grade", help="grade what is new in a folder or archive of submissions")
    one.add_argument("submissions", type=Path, help="a folder, or the zip that Canvas or Moodle gives")
    one.add_argument("--lab", required=True)
    one.add_argument("--out", type=Path, required=True, help="the batch's folder: database, reports, feedback")
    whose = one.add_mutually_exclusive_group()
    whose.add_argument(
        "--roster", type=Path, help="a CSV file with a column id, and name, login, email … (default: the last one)"
    )
    whose.add_argument("--no-roster", action="store_true", help="grade without the roster of the last run")
    which = one.add_mutually_exclusive_group()
    which.add_argument("--stage", default="", help="this one alone")
    which.add_argument("--upto", default="", metavar="STAGE", help="the stages up to this one, as in the students' kit")
    one.add_argument("--backend", default="", help="cuda or cpu; without it, cuda where there is a GPU")
    one.add_argument("--no-check-mode", action="store_true", help="quicker; hygiene points are pending")
    one.add_argument("--no-nvcc", action="store_true", help="quicker; whether it compiles for a GPU is not asked")
    one.add_argument("--unsafe", action="store_true", help="grade without a sandbox where none can be had")
    timeout = make_number(float, 1, MOST_TIMEOUT_S)
    one.add_argument("--timeout-s", type=timeout, default=1800, help="for all stages of a submission (1800)")
    help_text = "time until the ratio to the reference is known to 0.5%%, not only until the points are known"
    one.add_argument("--precise", action="store_true", help=help_text)
    one.add_argument("--root", type=Path, default=ROOT, help="the project's folder (this one's)")
    one.add_argument("--build", type=Path, help="where warplab is built (the project's build)")
    one.set_defaults(run=grade)
    add_running(one)


def add_regrade(verbs: Verbs) -> None:
    one = add_verb(verbs, "regrade", regrade, "grade again; old scores are kept with the reason")
    which = one.add_mutually_exclusive_group(required=True)
    which.add_argument("--student", action="append", help="may be given several times")
    which.add_argument("--all", action="store_true")
    which.add_argument("--changed", action="store_true", help="what another version of the grader or lab graded")
    which.add_argument("--errors", action="store_true", help="where the judge failed")
    which.add_argument("--pending", action="store_true", help="where points are pending, which are then added")
    one.add_argument("--backend", default="", help="another one than before: cuda, for points that take a GPU")
    one.add_argument("--reason", default="")
    add_running(one)


def add_due(verbs: Verbs) -> None:
    one = add_verb(verbs, "due", due, "the due date, and what lateness costs; what is not said stays")
    one.add_argument("--at", help="2026-11-21T23:59+01:00")
    one.add_argument("--grace-minutes", type=float, help="after the date that nobody is late for")
    one.add_argument("--percent-per-day", type=float, help="of what was earned, for each day begun")
    one.add_argument("--most-days", type=make_number(int, 0, MOST_DAYS), help="later than that: no points")
    one.add_argument(
        "--trust-file-dates",
        action=argparse.BooleanOptionalAction,
        help="where nothing else says when it was handed in",
    )
    one.add_argument("--undo", action="store_true", help="take back the date and what lateness costs")


def add_without(verbs: Verbs) -> None:
    one = add_verb(verbs, "without", without, "leave points out for everybody, where they cannot be had")
    add_undo(one).add_argument("--kind", action="append", choices=KINDS, help="speed, in a course without a GPU")


def add_extend(verbs: Verbs) -> None:
    one = add_verb(verbs, "extend", extend, "give students more time")
    add_students(one)
    add_undo(one).add_argument("--until", help="2026-11-28T23:59+01:00")


def add_points(verbs: Verbs) -> None:
    one = add_verb(verbs, "points", points, "give points by hand, for the journal and the like")
    who = one.add_mutually_exclusive_group(required=True)
    who.add_argument("--student", action="append", help="may be given several times")
    who.add_argument("--from", dest="file", type=Path, help="a CSV file: a line a student, with id, points, reason")
    one.add_argument("--reason", type=parse_reason)
    one.add_argument("--item", default="journal")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--undo", action="store_true", help="take back what was decided before")
    what.add_argument("--points", type=parse_points)
    one.add_argument("--of", type=parse_points, help="the most there are for it; 0: a bonus")


def add_override(verbs: Verbs) -> None:
    one = add_verb(verbs, "override", override, "replace students' points")
    add_students(one)
    add_undo(one).add_argument("--points", type=parse_points)


def add_export(verbs: Verbs) -> None:
    one = add_verb(verbs, "export", export, "a gradebook for Canvas or Moodle")
    one.add_argument("--format", choices=GRADEBOOKS, required=True)
    one.add_argument("--gradebook", type=Path, help="a file exported there, whose rows say who is who")
    one.add_argument("--title", default="", help="the assignment's column in Canvas: 'Dot product (1234)'")
    one.add_argument("--output", type=Path, help="the file to write (the terminal)")


def add_verb(verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
    """Add a verb that works on a batch's folder."""
    one: argparse.ArgumentParser = verbs.add_parser(name, help=about)
    one.add_argument("folder", type=Path, help="the batch's folder")
    one.set_defaults(run=run)
    return one


def add_students(one: argparse.ArgumentParser) -> None:
    """Add the options that name the students and the reason."""
    one.add_argument("--student", action="append", required=True, help="may be given several times")
    one.add_argument("--reason", type=parse_reason, required=True)


def add_undo(one: argparse.ArgumentParser) -> Any:
    """Add --undo to a group of options that exclude each other, and return the group, which requires one of them."""
    group = one.add_mutually_exclusive_group(required=True)
    group.add_argument("--undo", action="store_true", help="take back what was decided before")
    return group


def parse_points(text: str) -> float:
    """Return a number. Raises argparse.ArgumentTypeError if the text is not one, or if it is too large."""
    try:
        points = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write it as 7.5") from None
    if points > MOST_POINTS:
        raise argparse.ArgumentTypeError(f"{text}: give at most {MOST_POINTS}")
    return points


def make_number(kind: type[int] | type[float], least: float, most: float) -> Callable[[str], float]:
    """Return a function that parses a number between two limits, and raises argparse.ArgumentTypeError."""

    def parse(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            whole = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text[:40]!r}: give {whole} from {least} to {most}")
        return number

    return parse


def parse_reason(text: str) -> str:
    """Return the text. Raises argparse.ArgumentTypeError if it is blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty: say why, for whoever asks later")
    return text


def add_running(one: argparse.ArgumentParser) -> None:
    """Add the options that choose where and with how many judges to grade."""
    jobs = make_number(int, 1, MOST_JOBS)
    one.add_argument("--jobs", type=jobs, default=len(cores()), help="judges at a time without a GPU (all cores)")
    one.add_argument("--executor", choices=("local", "slurm"), default="local", help="this machine, or a cluster")
    one.add_argument(
        "--slurm", action="append", default=[], metavar="NAME=VALUE", help="sbatch's options: gres=gpu:1, partition=…"
    )


def main(arguments: Sequence[str]) -> int:
    """Run a verb. Return the exit status: 1 if our side broke, 130 if interrupted."""
    os.umask(0o077)  # a batch's files hold students' work and points
    options = make_parser().parse_args(arguments)
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(run_command(main))
