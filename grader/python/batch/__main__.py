"""Grade a batch of submissions, and keep all results.

warplab-course grade SUBMISSIONS --lab LAB --out DIR      grade new submissions, or continue a killed batch
warplab-course serve FOLDER --lab LAB --out DIR           grade hand-ins as they arrive, with a queue that students see
warplab-course history DIR --student ID                   show all grades and decisions of a student
warplab-course status DIR                                 show the state of the batch, failures of the judge first
warplab-course regrade DIR --student ID | --changed …     grade again, and keep the earlier grades
warplab-course due|without|extend|points|override DIR …   set dates and points, and which points count
warplab-course attempts DIR --student ID --more 2         grant further attempts beyond the limit of serve
warplab-course mark DIR --student ID | --from CSV …       mark journals by the rubric, handouts/rubric.json
warplab-course drop DIR --student ID                      exclude a hand-in from grading
warplab-course comment|request DIR --student ID …         comment on a line of code, record a request to grade again
warplab-course pull DIR | push DIR --canvas URL …         fetch hand-ins, return grades and feedback (or --moodle)
warplab-course report DIR                                 write gradebook.csv, feedback/ and report.html again
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
from grader.python.batch.policy.points import MAX_POINTS
from grader.python.batch.verbs.comments import comment, request
from grader.python.batch.verbs.decide import KINDS, attempts, drop, due, extend, mark, override, points, without
from grader.python.batch.verbs.export import export
from grader.python.batch.verbs.grade import grade
from grader.python.batch.verbs.regrade import regrade
from grader.python.batch.verbs.remote import pull, push
from grader.python.batch.verbs.serve import serve
from grader.python.batch.verbs.show import history, report, status
from grader.python.common.console import run_command
from grader.python.common.labs import SPEEDS

MAX_ID = 10**18
MAX_LINE = 10**6
MAX_JOBS, MAX_DAYS, MAX_TIMEOUT_S, MAX_ATTEMPTS = 10_000, 10_000, 10_000_000, 10_000
JOBS_HELP = "judges in parallel without a GPU (default: one per core)"
ROOT = Path(__file__).resolve().parents[3]

Verbs = Any  # the type that add_subparsers() returns, which argparse does not export


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warplab-course", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in (
        add_grade,
        add_serve,
        add_regrade,
        add_due,
        add_without,
        add_extend,
        add_points,
        add_mark,
        add_override,
        add_attempts,
        add_drop,
    ):
        add(verbs)
    add_comments(verbs)
    add_export(verbs)
    add_remote(verbs)
    add_verb(verbs, "report", report, "write gradebook.csv, feedback/ and report.html again")
    history_parser = add_verb(
        verbs, "history", history, "show all grades of a student with their reasons, and all decisions"
    )
    history_parser.add_argument("--student", action="append", required=True, help="a student; can be repeated")
    add_verb(verbs, "status", status, "show the state of the batch, failures of the judge first")
    return parser


def add_grade(verbs: Verbs) -> None:
    parser = verbs.add_parser("grade", help="grade the new hand-ins in a folder or an archive")
    parser.add_argument("submissions", type=Path, help="a folder, or a zip from Canvas or Moodle")
    add_judging(parser)
    parser.set_defaults(run=grade)
    add_running(parser)


def add_serve(verbs: Verbs) -> None:
    parser = verbs.add_parser("serve", help="grade hand-ins as they arrive, until it is stopped")
    help_text = "the folder in which hand-ins arrive; with a course system, the folder to fetch them into"
    parser.add_argument("folder", type=Path, help=help_text)
    add_judging(parser)
    parser.add_argument("--jobs", type=make_number(int, 1, MAX_JOBS), default=len(cores()), help=JOBS_HELP)
    help_text = "how long a hand-in must be unchanged before it is graded (default: 10)"
    parser.add_argument("--settle-s", type=make_number(float, 0, MAX_TIMEOUT_S), default=10, help=help_text)
    attempts = make_number(int, 1, MAX_ATTEMPTS)
    parser.add_argument("--attempts", type=attempts, help="grade at most this many hand-ins of each student or team")
    parser.add_argument("--attempts-a-day", type=attempts, help="grade at most this many a day")
    parser.add_argument("--queue", type=Path, help="the folder for the queue's page (default: OUT/queue)")
    add_course_system(parser, required=False)
    every = make_number(float, 1, MAX_TIMEOUT_S)
    parser.add_argument(
        "--every-s", type=every, default=60, help="pause between two requests to the course system (default: 60)"
    )
    parser.add_argument("--send", action="store_true", help="return grades and feedback to the course system")
    parser.set_defaults(run=serve)


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose what is graded, and how."""
    parser.add_argument("--lab", required=True)
    parser.add_argument("--out", type=Path, required=True, help="the batch's folder: database, reports, feedback")
    roster_group = parser.add_mutually_exclusive_group()
    roster_group.add_argument(
        "--roster",
        type=Path,
        action="append",
        help="a CSV file with the columns id, name, login, email … (default: that of "
        "the last run); students of a second file are joined by the ids that both files have",
    )
    roster_group.add_argument("--no-roster", action="store_true", help="grade without the roster of the last run")
    selection = parser.add_mutually_exclusive_group()
    selection.add_argument("--stage", default="", help="grade only this stage")
    selection.add_argument(
        "--upto", default="", metavar="STAGE", help="the last stage to grade, as in the students' kit"
    )
    help_text = "the source of speed points: a GPU (default), a model of a GPU (provisional), or none"
    parser.add_argument("--speed", default="", choices=SPEEDS, help=help_text)
    parser.add_argument("--backend", default="", help="cuda or cpu (default: cuda if there is a GPU)")
    parser.add_argument("--no-check-mode", action="store_true", help="quicker; hygiene points are pending")
    parser.add_argument("--no-nvcc", action="store_true", help="quicker; does not compile with nvcc on the CPU backend")
    parser.add_argument("--unsafe", action="store_true", help="grade without a sandbox if none is available")
    timeout = make_number(float, 1, MAX_TIMEOUT_S)
    parser.add_argument(
        "--timeout-s", type=timeout, default=1800, help="time limit for all stages of a submission (default: 1800)"
    )
    help_text = "maximum seconds of a timing sample, 0.05 to 1 (default: 0.05; with --precise, 1)"
    parser.add_argument("--sample-seconds", type=make_number(float, 0.05, 1), default=0, help=help_text)
    help_text = (
        "continue timing until the ratio to the reference is known to 0.5%% (default: until the points are known)"
    )
    parser.add_argument("--precise", action="store_true", help=help_text)
    parser.add_argument("--root", type=Path, default=ROOT, help="the project's folder (default: this one)")
    parser.add_argument("--build", type=Path, help="where warplab is built (default: ROOT/build)")


def add_regrade(verbs: Verbs) -> None:
    parser = add_verb(verbs, "regrade", regrade, "grade again, and keep the earlier grades")
    selection = parser.add_mutually_exclusive_group(required=True)
    selection.add_argument("--student", action="append", help="a student; can be repeated")
    selection.add_argument("--all", action="store_true")
    selection.add_argument(
        "--changed", action="store_true", help="submissions graded before the lab or the judge changed"
    )
    selection.add_argument("--errors", action="store_true", help="submissions on which the judge failed")
    help_text = "submissions with pending points, and without --backend cpu those with modelled points; decides these"
    selection.add_argument("--pending", action="store_true", help=help_text)
    parser.add_argument(
        "--backend", default="", help="another backend than before, such as cuda for points that need a GPU"
    )
    parser.add_argument("--reason", default="")
    add_running(parser)


def add_due(verbs: Verbs) -> None:
    parser = add_verb(verbs, "due", due, "set the due date and the cost of lateness; omitted options keep their values")
    parser.add_argument("--at", help="2026-11-21T23:59+01:00")
    minutes = make_number(float, 0, MAX_DAYS * 24 * 60)
    parser.add_argument("--grace-minutes", type=minutes, help="hand-ins up to this long after the date are not late")
    parser.add_argument(
        "--percent-per-day", type=float, help="percentage of the earned points lost per day or part of a day"
    )
    parser.add_argument(
        "--most-days", type=make_number(int, 0, MAX_DAYS), help="maximum days late; later hand-ins get no points"
    )
    parser.add_argument(
        "--trust-file-dates",
        action=argparse.BooleanOptionalAction,
        help="use a file's date if nothing else gives the time of the hand-in",
    )
    parser.add_argument("--undo", action="store_true", help="remove the date and the cost of lateness")


def add_without(verbs: Verbs) -> None:
    parser = add_verb(verbs, "without", without, "exclude a kind of points for all students, if nobody can earn them")
    add_undo(parser).add_argument("--kind", action="append", choices=KINDS, help="speed, in a course without a GPU")


def add_extend(verbs: Verbs) -> None:
    parser = add_verb(verbs, "extend", extend, "give students more time")
    add_students(parser)
    add_undo(parser).add_argument("--until", help="2026-11-28T23:59+01:00")


def add_points(verbs: Verbs) -> None:
    parser = add_verb(verbs, "points", points, "give points by hand, for example for the journal")
    student_group = parser.add_mutually_exclusive_group(required=True)
    student_group.add_argument("--student", action="append", help="a student; can be repeated")
    student_group.add_argument(
        "--from", dest="file", type=Path, help="a CSV file, one line per student: id, points, reason"
    )
    parser.add_argument("--reason", type=parse_text)
    parser.add_argument("--item", default="journal")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--undo", action="store_true", help="undo the earlier decision")
    action.add_argument("--points", type=parse_points)
    parser.add_argument("--of", type=parse_points, help="the item's maximum; 0: a bonus")


def add_mark(verbs: Verbs) -> None:
    parser = add_verb(verbs, "mark", mark, "mark journals by the rubric, handouts/rubric.json")
    student_group = parser.add_mutually_exclusive_group(required=True)
    student_group.add_argument("--student", action="append", help="a student; can be repeated")
    help_text = "a CSV file, one line per student: id, a column for each criterion, reason"
    student_group.add_argument("--from", dest="file", type=Path, help=help_text)
    parser.add_argument("--criterion", help="its name in the rubric")
    parser.add_argument("--reason", type=parse_text)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--undo", action="store_true", help="undo the earlier decision")
    action.add_argument("--level", help="its name in the rubric, or its points")


def add_override(verbs: Verbs) -> None:
    parser = add_verb(verbs, "override", override, "replace students' points")
    add_students(parser)
    add_undo(parser).add_argument("--points", type=parse_points)


def add_attempts(verbs: Verbs) -> None:
    parser = add_verb(verbs, "attempts", attempts, "grant students further attempts, beyond the limit of serve")
    add_students(parser)
    add_undo(parser).add_argument(
        "--more", type=make_number(int, 1, MAX_ATTEMPTS), help="the number of further attempts"
    )


def add_drop(verbs: Verbs) -> None:
    parser = add_verb(verbs, "drop", drop, "exclude hand-ins, such as a test upload")
    add_students(parser)
    parser.add_argument("--undo", action="store_true", help="include them again")


def add_comments(verbs: Verbs) -> None:
    parser = add_verb(verbs, "comment", comment, "comment on a line of a student's code, in the feedback")
    parser.add_argument("--student", required=True, help="a student, or a team's hand-in")
    parser.add_argument("--stage", required=True)
    parser.add_argument("--line", type=make_number(int, 1, MAX_LINE), required=True)
    add_undo(parser).add_argument("--text", type=parse_text, help="the comment, which the student reads")
    request_verb = add_verb(verbs, "request", request, "record a student's request to grade again, and the answer")
    request_verb.add_argument("--student", required=True)
    action = request_verb.add_mutually_exclusive_group(required=True)
    action.add_argument("--text", type=parse_text, help="the student's request")
    action.add_argument("--answer", type=parse_text, help="closes the open request")


def add_export(verbs: Verbs) -> None:
    parser = add_verb(verbs, "export", export, "write a gradebook, or a zip with all feedback, for Canvas or Moodle")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--format", choices=GRADEBOOKS, help="a gradebook")
    action.add_argument("--feedback", choices=GRADEBOOKS, help="a zip that gives all students their feedback at once")
    parser.add_argument(
        "--gradebook", type=Path, help="the table that the system exported; its rows identify the students"
    )
    parser.add_argument("--title", default="", help="the assignment's column in Canvas: 'Dot product (1234)'")
    parser.add_argument("--output", type=Path, help="the file to write (default: the terminal)")


def add_remote(verbs: Verbs) -> None:
    parser = add_verb(verbs, "pull", pull, "fetch an assignment's hand-ins and roster into a folder")
    push_verb = add_verb(verbs, "push", push, "return grades and feedback; without --send, only show what would change")
    push_verb.add_argument("--send", action="store_true", help="write to the course system")
    for verb in (parser, push_verb):
        add_course_system(verb, required=True)


def add_course_system(parser: argparse.ArgumentParser, required: bool) -> None:
    """Add the options that name an assignment in a course system."""
    system_group = parser.add_mutually_exclusive_group(required=required)
    system_group.add_argument("--canvas", metavar="URL", help="https://canvas.example.edu")
    system_group.add_argument("--moodle", metavar="URL", help="https://moodle.example.edu")
    number = make_number(int, 1, MAX_ID)
    parser.add_argument("--course", type=number, required=required, help="the number in the course's address")
    parser.add_argument("--assignment", type=number, required=required, help="the number in the assignment's address")
    help_text = "a file with the access token, of mode 600 (default: the variable CANVAS_TOKEN or MOODLE_TOKEN)"
    parser.add_argument("--token-file", type=Path, help=help_text)


def add_verb(verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
    """Add a verb that works on a batch's folder."""
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=about)
    parser.add_argument("folder", type=Path, help="the folder to fill" if name == "pull" else "the batch's folder")
    parser.set_defaults(run=run)
    return parser


def add_students(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the students and the reason."""
    parser.add_argument("--student", action="append", required=True, help="a student; can be repeated")
    parser.add_argument("--reason", type=parse_text, required=True)


def add_undo(parser: argparse.ArgumentParser) -> Any:
    """Return a new group of options, exactly one of which must be given, with --undo in it."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--undo", action="store_true", help="undo the earlier decision")
    return group


def parse_points(text: str) -> float:
    """Return a number. Raises argparse.ArgumentTypeError if the text is not one, or if it is too large."""
    try:
        points = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; write it as 7.5") from None
    if points > MAX_POINTS:
        raise argparse.ArgumentTypeError(f"{text}: give at most {MAX_POINTS}")
    return points


def make_number(kind: type[int] | type[float], minimum: float, maximum: float) -> Callable[[str], float]:
    """Return a function that parses a number between two limits, and raises argparse.ArgumentTypeError."""

    def parse(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not minimum <= number <= maximum:
            expected = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text[:40]!r}: give {expected} from {minimum} to {maximum}")
        return number

    return parse


def parse_text(text: str) -> str:
    """Return the text. Raises argparse.ArgumentTypeError if it is blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the text is empty: write what later readers need to know")
    return text


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose where and with how many judges to grade."""
    parser.add_argument("--jobs", type=make_number(int, 1, MAX_JOBS), default=len(cores()), help=JOBS_HELP)
    parser.add_argument("--executor", choices=("local", "slurm"), default="local", help="this machine, or a cluster")
    parser.add_argument(
        "--slurm", action="append", default=[], metavar="NAME=VALUE", help="sbatch's options: gres=gpu:1, partition=…"
    )


def main(arguments: Sequence[str]) -> int:
    """Run a verb. Return the exit status: 1 if the judge failed, 130 if interrupted."""
    os.umask(0o077)  # a batch's files hold students' work and points
    options = make_parser().parse_args(arguments)
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(run_command(main))
