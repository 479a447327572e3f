"""Grades a batch of submissions, and keeps what came of it.

warplab-course grade SUBMISSIONS --lab LAB --out DIR      grades what is new; killed, it goes on where it was
warplab-course status DIR                                 how many are in which state, our own faults first
warplab-course regrade DIR --student ID | --changed …     grades again; old scores are kept with the reason
warplab-course due|without|extend|points|override DIR …   dates, what counts, points given by hand, overrides
warplab-course report DIR                                 gradebook.csv, feedback/, report.html
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sys
from collections.abc import Sequence, Set
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader.python.batch.decisions import KINDS, due, extend, override, points, without
from grader.python.batch.grade.grading import hash_judging, is_stale, require_built, try_judge
from grader.python.batch.grade.other_lab import require_own_lab
from grader.python.batch.grade.progress import show_duration
from grader.python.batch.grade.run import Results, cores, grade_here, judges_at_once, only_one, run_batch
from grader.python.batch.grade.slurm import grade_by_slurm, try_by_slurm
from grader.python.batch.ingest.columns import NUMBERS, OWN_ID, Identifier
from grader.python.batch.ingest.notes import IN_DOUBT, NOT_ON_ROSTER, kind_of
from grader.python.batch.ingest.submissions import (
    ANOTHER,
    Earlier,
    Student,
    Submission,
    find_submissions,
    read_roster,
)
from grader.python.batch.ingest.unpack import forget, unpack
from grader.python.batch.outputs.export import export_gradebook
from grader.python.batch.outputs.feedback import describe_submission, sum_up
from grader.python.batch.outputs.formats import GRADEBOOKS, Entry
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.changes import tell_changes
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.policy.points import Final, leave_out, read_policy, tell_policy
from grader.python.batch.policy.suspicious import took_long
from grader.python.batch.store.database import STATUSES, Database, in_words
from grader.python.batch.store.opened import DATABASE, find_key, kept_settings, open_batch, roster_file, roster_of
from grader.python.batch.store.places import KEPT, place_of
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, run_command, say, say_error
from grader.python.common.labs import choose_labs, find_stage
from grader.python.common.report import Report, Total, parse_report
from grader.python.journal.submit import read_stages

MOST_LONG = 5  # slowest hand-ins that are listed
ROOT = Path(__file__).resolve().parents[3]


def grade(options: argparse.Namespace) -> int:
    """Register the submissions of a folder or archive, and grade those that wait."""
    (lab,) = choose_labs(options.root, [options.lab])
    options.roster = options.roster or (None if options.no_roster else kept_roster(options.out))
    roster = read_roster(options.roster) if options.roster else []
    settings = make_settings(options, lab)
    require_folders(options)
    with only_one(options.out):
        folder, strangers = open_submissions(options.submissions, settings)
        separate_strangers(options.out, {student.id for student in roster})
        found, more = find_submissions(folder, lab, roster, options.out, read_earlier(options.out))
        strangers += more
        require_own_lab(options.submissions, folder, found, settings)
        say_found(options.submissions, found, strangers, roster)
        database = Database(options.out / DATABASE)
        note_settings(database, settings, options)
        database.set_facts(left_out=strangers)
        rename(database, settings.folder, found, {student.id for student in roster})
        say_gone({submission.key for submission in found}, database)
        database.enter(found)
        if not database.fact("slurm_jobs"):  # the tasks of a job may still read them
            forget(settings.folder, [folder, *database.entries()])
        if roster:
            database.enter_absent([(student.id, student.name) for student in roster])
            database.set_facts(names={student.id: student.name for student in roster if student.name})
        return grade_waiting(database, settings, options)


def open_submissions(submissions: Path, settings: Settings) -> tuple[Path, list[str]]:
    """If the submissions are an archive, unpack them. Return their folder, and sentences about files that were left
    out."""
    return unpack(submissions, settings.folder, settings.lab) if submissions.is_file() else (submissions, [])


def say_found(
    submissions: Path, found: Sequence[Submission], left_out: Sequence[str], roster: Sequence[Student]
) -> None:
    """Print which entries are left out, which students are in doubt, and which are not on the roster. Raises UserError
    if there is neither a submission nor a roster."""
    for sentence in left_out:
        say_error(f"Left out: {sentence}")
    for note in dict.fromkeys(note for one in found for note in one.notes if kind_of(note) in IN_DOUBT):
        say_error(note)
    say_strange([submission for submission in found if NOT_ON_ROSTER in submission.notes])
    if not found and not roster:
        raise UserError(f"{submissions}: no submission in it. BATCH.md says how they may be called.")


def kept_roster(folder: Path) -> Path | None:
    """Return the roster of the previous run, or None if there is none."""
    file = roster_file(Database(folder / DATABASE)) if (folder / DATABASE).is_file() else None
    if file:
        say(f"Roster: {file}, as before.")
    return file


def read_earlier(folder: Path) -> list[Earlier]:
    """Return the submissions that are already in the batch."""
    return Database(folder / DATABASE).earlier() if (folder / DATABASE).is_file() else []


def say_strange(strange: Sequence[Submission]) -> None:
    """Print which submissions are not on the roster, with the names in their files' names, and what to do."""
    named = [f"{one.key} ({one.name})" if one.name not in ("", one.key) else one.key for one in strange]
    if named:
        say_error(
            f"Not on the roster: {', '.join(named)}. Where they are, under another id, a column such as Canvas ID or "
            "Moodle ID says so: give the roster that, and the same command."
        )


def separate_strangers(folder: Path, ids: Set[str]) -> None:
    """Give earlier submissions of strangers keys that differ from all ids of the roster, and rename their folders."""
    if not (folder / DATABASE).is_file():
        return
    database = Database(folder / DATABASE)
    move_renamed(database, folder)
    database.separate_strangers(ids)
    move_renamed(database, folder)


def move_renamed(database: Database, folder: Path) -> None:
    """Move the folders of renamed submissions, also of those that a killed batch did not move. A folder at a new place
    is a leftover, because no other submission has that key."""
    for old, new in (database.fact("renamed") or {}).items():
        for part in KEPT:
            source, target = place_of(folder, part, old), place_of(folder, part, new)
            if source.is_dir():
                shutil.rmtree(target, ignore_errors=True)
                source.rename(target)
    database.set_facts(renamed={})


def rename(database: Database, folder: Path, found: Sequence[Submission], on_roster: Set[str]) -> None:
    """Rename submissions that a better roster identifies, and move their folders."""
    for old, one in database.find_renamed(found):
        database.rename(old, one, on_roster)
        move_renamed(database, folder)
        say(f"{old} is {one.key} now, according to the roster.")


def require_folders(options: argparse.Namespace) -> None:
    """Raise UserError if SUBMISSIONS does not exist, or if OUT is a file, holds files that are not a batch's, or is the
    same folder as SUBMISSIONS."""
    if not options.submissions.exists():
        raise UserError(
            f"There is no {options.submissions}. SUBMISSIONS is a folder of hand-ins, or an archive of them."
        )
    if options.out.is_file():
        raise UserError(f"{options.out} is a file. OUT is the batch's folder, made when it is not there.")
    begun = ("lock", DATABASE)
    others = [file.name for file in options.out.iterdir()] if options.out.is_dir() else []
    if others and not set(others) & set(begun):
        raise UserError(
            f"{options.out} holds other things, such as {min(others)}. OUT is a folder for the batch alone."
        )
    if options.out.resolve() == options.submissions.resolve():
        raise UserError(f"{options.out}: SUBMISSIONS and OUT are the same folder. Say another OUT.")


def say_gone(found: set[str], database: Database) -> None:
    """Print which earlier submissions are no longer there. They stay in the batch as they were graded."""
    rows = database.query("SELECT key FROM submissions WHERE status != 'not_submitted' ORDER BY key")
    if gone := [key for (key,) in rows if key not in found]:
        say_error(f"No longer among the submissions, and kept as graded: {', '.join(gone)}")


def grade_waiting(
    database: Database, settings: Settings, options: argparse.Namespace, trial: Report | None = None
) -> int:
    """Grade the submissions that wait, and print the state of the batch. Return the exit status: 1 if our side broke,
    130 if interrupted."""
    if database.waiting():
        trial = trial or try_judging(settings, options)
        database.set_facts(warplab=trial.warplab, backend=trial.backend, sandbox=trial.sandbox)
        try:
            results = choose_executor(database, settings, trial.backend, options)
            at_once = 0 if options.executor == "slurm" else judges_at_once(trial.backend, options.jobs)
            run_batch(database, settings, hash_judging(settings.root, settings.lab), results, at_once)
        except KeyboardInterrupt:
            say_error(f"Interrupted. {describe(database)}. The same command goes on.")
            return 130
    if long := took_long(database.rows())[:MOST_LONG]:
        say(f"Took long: {', '.join(f'{row.key} ({show_duration(row.wall_s)})' for row in long)}")
    say(f"{describe(database)}. Writing gradebook, feedback and page …", flush=True)
    say(write_outputs(database, settings))
    return 1 if "judge_error" in database.counts() else 0


def try_judging(settings: Settings, options: argparse.Namespace) -> Report:
    """Return the report of a trial run of the judge where it will run. Raises UserError if the judge does not work
    there."""
    if options.executor == "slurm":
        return try_by_slurm(settings, slurm_parameters(options))
    return try_judge(settings)


def choose_executor(database: Database, settings: Settings, backend: str, options: argparse.Namespace) -> Results:
    """Return the function that grades: on this machine, or on a cluster."""
    if options.executor == "slurm":
        return lambda waiting: grade_by_slurm(waiting, settings, database, slurm_parameters(options))
    return lambda waiting: grade_here(waiting, settings, backend, options.jobs)


def slurm_parameters(options: argparse.Namespace) -> dict[str, str]:
    """Return the options for sbatch by name. Raises UserError if one has no value."""
    for text in options.slurm:
        if "=" not in text:
            raise UserError(f"--slurm {text}: write NAME=VALUE, as in --slurm partition=gpu.")
    return dict(text.lstrip("-").split("=", 1) for text in options.slurm)


def describe(database: Database) -> str:
    """Return how many submissions have each status."""
    counts = database.counts()
    return ", ".join(f"{count} {in_words(status)}" for status, count in counts.items()) or "No submissions"


def make_settings(options: argparse.Namespace, lab: str) -> Settings:
    """Return the settings from the command line. Their folders are absolute, because the judge runs in the project's
    folder."""
    stages = tuple(read_stages(options.root, lab))
    return Settings(
        lab,
        stages,
        options.root.resolve(),
        (options.build or options.root / "build").resolve(),
        options.out.resolve(),
        options.backend,
        find_stage(lab, stages, options.stage),
        not options.no_check_mode,
        not options.no_nvcc,
        options.unsafe,
        options.timeout_s,
        options.sample_seconds,
        find_stage(lab, stages, options.upto),
    )


def note_settings(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    """Store the settings for `regrade`. Raises UserError if the batch is of another lab or of other stages."""
    before = database.fact("settings") or {}
    for name, here in (("lab", settings.lab), ("stage", settings.stage), ("upto", settings.upto)):
        if before and before.get(name, "") != here:
            held = before.get(name, "")
            on = f"{name.upper()}={held} (--{name} {held})" if held else f"leaving {name.upper()} (--{name}) out"
            raise UserError(
                f"{settings.folder}: holds a batch of {name} {held or 'all'}. To go on with it: {on}. For another "
                "batch, say another OUT."
            )
    kept = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}
    roster = str(options.roster.resolve()) if options.roster else ""
    database.set_facts(settings=kept, submissions=str(options.submissions.resolve()), roster=roster)
    if database.fact("secret") is None:
        database.set_facts(secret=secrets.token_hex(16))


def regrade(options: argparse.Namespace) -> int:
    """Grade some submissions again, and store the reason."""
    with only_one(options.folder):
        database = open_batch(options.folder)
        move_renamed(database, options.folder)
        settings = kept_settings(database)
        if options.backend:
            settings = replace(settings, backend=options.backend)
        if options.pending:
            settings = replace(settings, check_mode=True)
        keys, reason = choose_regraded(database, settings, options)
        trial = try_judging(settings, options) if keys else None
        before = all_finals(database, settings)
        whole_reason = f"{reason}: {options.reason}" if options.reason else reason
        count = database.grade_again(keys, whole_reason, pending_alone=options.pending)
        say(f"{count} to regrade ({reason})")
        if absent := len(set(keys)) - count:
            say(f"{absent} of the requested students handed in nothing.")
        exit_status = grade_waiting(database, settings, options, trial)
        for line in tell_changes(before, all_finals(database, settings), set(keys)):
            say(line)
        return exit_status


def choose_regraded(database: Database, settings: Settings, options: argparse.Namespace) -> tuple[list[str], str]:
    """Return the keys of the submissions to grade again, and the reason. Raises UserError if a student is not in the
    batch, or if the program is older than its sources."""
    if options.changed:
        version, judging = try_judge(settings).warplab, hash_judging(settings.root, settings.lab)
        require_built(settings)
        grades = database.query(
            "SELECT s.key, g.lab_hash, g.warplab FROM submissions s JOIN grades g ON g.id = s.grade ORDER BY s.key"
        )
        stale = [key for key, kept, kept_version in grades if is_stale(kept, kept_version, judging, version)]
        return stale, f"lab or grader changed (now {version})"
    rows = database.rows()
    if options.all:
        return [row.key for row in rows], "all again"
    if options.pending:
        return [row.key for row in rows if row.pending], "points were pending"
    if options.errors:
        return [row.key for row in rows if row.status in ("judge_error", "judge_crashed")], "the judge had failed"
    return [find_key(database, student) for student in options.student], "asked for"


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


def export(options: argparse.Namespace) -> int:
    """Write a gradebook with the final points. Return the exit status: 1 if a student is not in the course's gradebook
    or roster, or if the maximum in the gradebook differs."""
    database = open_batch(options.folder)
    settings = kept_settings(database)
    decided = [final for final in all_finals(database, settings) if is_decided(final)]
    roster = {student.id: student for student in roster_of(database)}
    strangers = {final.student for final in decided if roster and final.student not in roster}
    entries = [
        Entry(
            f"{final.student} (not on the roster)" if final.student in strangers else final.student,
            report_of(database, settings, final),
            [*describe_submission(final.row, [final]), *sum_up([final])],
            roster[final.student].name if final.student in roster else final.row.name,
            roster[final.student].ids if final.student in roster else ids_without_roster(final),
            final.student in strangers,
        )
        for final in decided
        if options.gradebook or final.student not in strangers  # a gradebook has no row for strangers
    ]
    if options.output and options.output.resolve().parent == options.folder.resolve():
        raise UserError(f"{options.output}: among the batch's own files. Say an --output elsewhere.")
    if waiting := [final.student for final in decided if not final.row.status]:
        say_error(f"To be graded again, with the points of before: {', '.join(waiting)}.")
    return max(export_gradebook(entries, options.format, options), int(bool(strangers)))


def ids_without_roster(final: Final) -> set[Identifier]:
    """Return the course system's identifiers for a student who is not on a roster. If the hand-in has a student's name,
    a course system named it, and a number is that system's; the student chose any other key."""
    key = final.student.removesuffix(ANOTHER)
    of_system = bool(final.row.name) and key.isdecimal()
    return {(kind, key.casefold()) for kind in (NUMBERS if of_system else (OWN_ID,))}


def is_decided(final: Final) -> bool:
    """Return whether a student has final points. A student who handed nothing in has none, except points given by
    hand."""
    by_hand = bool(final.override or final.given)
    return final.points is not None and (final.row.status != "not_submitted" or by_hand)


def report_of(database: Database, settings: Settings, final: Final) -> Report:
    """Return a report with the final points as its total. If nothing was judged, the report has no stages."""
    judged = parse_report(database.report(final.row.grade)) if final.row.grade else Report(lab=settings.lab)
    found = leave_out(judged, final.without)
    found.total = Total(final.points or 0, final.most, final.pending)
    return found


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warplab-course", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
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
    one.add_argument("--timeout-s", type=float, default=1800, help="for all stages of a submission (1800)")
    help_text = "the longest a timing sample takes, 0.05 to 1 (1); shorter is quicker and less sure"
    one.add_argument("--sample-seconds", type=float, default=1.0, help=help_text)
    one.add_argument("--root", type=Path, default=ROOT, help="the project's folder (this one's)")
    one.add_argument("--build", type=Path, help="where warplab is built (the project's build)")
    one.set_defaults(run=grade)
    add_running(one)

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

    one = add_verb(verbs, "due", due, "the due date, and what lateness costs; what is not said stays")
    one.add_argument("--at", help="2026-11-21T23:59+01:00")
    one.add_argument("--grace-minutes", type=float, help="after the date that nobody is late for")
    one.add_argument("--percent-per-day", type=float, help="of what was earned, for each day begun")
    one.add_argument("--most-days", type=int, help="later than that: no points")
    one.add_argument(
        "--trust-file-dates",
        action=argparse.BooleanOptionalAction,
        help="where nothing else says when it was handed in",
    )
    one.add_argument("--undo", action="store_true", help="take back the date and what lateness costs")

    one = add_verb(verbs, "without", without, "leave points out for everybody, where they cannot be had")
    add_undo(one).add_argument("--kind", action="append", choices=KINDS, help="speed, in a course without a GPU")

    one = add_verb(verbs, "extend", extend, "give students more time")
    add_students(one)
    add_undo(one).add_argument("--until", help="2026-11-28T23:59+01:00")

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

    one = add_verb(verbs, "override", override, "replace students' points")
    add_students(one)
    add_undo(one).add_argument("--points", type=parse_points)

    one = add_verb(verbs, "export", export, "a gradebook for Canvas or Moodle")
    one.add_argument("--format", choices=GRADEBOOKS, required=True)
    one.add_argument("--gradebook", type=Path, help="a file exported there, whose rows say who is who")
    one.add_argument("--title", default="", help="the assignment's column in Canvas: 'Dot product (1234)'")
    one.add_argument("--output", type=Path, help="the file to write (the terminal)")

    add_verb(verbs, "report", report, "write gradebook.csv, feedback/ and report.html anew")
    add_verb(verbs, "status", status, "how it stands, our own faults first")
    return parser


def add_verb(verbs, name, run, about) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
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
    """Return a number. Raises argparse.ArgumentTypeError if the text is not one."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write it as 7.5") from None


def parse_reason(text: str) -> str:
    """Return the text. Raises argparse.ArgumentTypeError if it is blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty: say why, for whoever asks later")
    return text


def add_running(one: argparse.ArgumentParser) -> None:
    """Add the options that choose where and with how many judges to grade."""
    one.add_argument("--jobs", type=int, default=len(cores()), help="judges at a time without a GPU (all cores)")
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
