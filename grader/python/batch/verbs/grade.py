"""Grade the submissions of a folder or archive that are new to the batch."""

from __future__ import annotations

import argparse
import re
import secrets
import shutil
from collections.abc import Sequence, Set
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.python.batch.grade.judge import try_judge
from grader.python.batch.grade.other_lab import require_own_lab
from grader.python.batch.grade.progress import show_duration
from grader.python.batch.grade.run import Results, grade_here, judges_at_once, only_one, run_batch
from grader.python.batch.grade.slurm import grade_by_slurm, require_no_tasks, try_by_slurm
from grader.python.batch.grade.versions import find_stale, hash_judging
from grader.python.batch.ingest.folders import DATABASE, holds_batch
from grader.python.batch.ingest.notes import IN_DOUBT, NOT_ON_ROSTER, kind_of
from grader.python.batch.ingest.roster import Student, read_rosters
from grader.python.batch.ingest.submission import EarlierSubmission, Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.ingest.unpack import find_extracted, remove_unused, unpack
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.policy.changes import describe_changes
from grader.python.batch.policy.finals import all_finals, rows_that_count
from grader.python.batch.policy.points import FinalPoints, read_policy
from grader.python.batch.policy.suspicious import describe_changed_drop, find_slowest_hand_ins
from grader.python.batch.store.database import Database
from grader.python.batch.store.people import roster_files
from grader.python.batch.store.places import PARTS, place_of
from grader.python.batch.store.rows import in_words
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, say, say_error
from grader.python.common.labs import choose_labs, current_id, find_stage, read_stages
from grader.python.common.report import Report
from grader.python.common.units import name_some, plural

MAX_SLOW = 5  # slowest hand-ins that are listed


def grade(options: argparse.Namespace) -> int:
    """Register the submissions of a folder or archive, and grade those that wait."""
    (lab,) = choose_labs(options.root, [options.lab])
    options.roster = options.roster or ([] if options.no_roster else stored_roster(options.out))
    roster = read_rosters(options.roster)
    settings = make_settings(options, lab)
    require_folders(options)
    with only_one(options.out):
        say(f"Reading the hand-ins in {options.submissions} …", flush=True)
        folder, left_out = open_submissions(options.submissions, settings, roster)
        separate_strangers(options.out, {student.id for student in roster})
        hand_ins, more_left_out = find_submissions(folder, lab, roster, options.out, read_earlier(options.out))
        left_out += more_left_out
        say(f"Found {plural(len(hand_ins), 'hand-in')}. Examining them …", flush=True)
        require_own_lab(options.submissions, folder, hand_ins, settings)
        print_found(options.submissions, hand_ins, left_out, roster)
        database = Database(options.out / DATABASE)
        before = all_finals(database, settings)
        grade_added_stages(database, settings)
        store_settings(database, settings, options)
        database.set_values(left_out=left_out)
        rename(database, settings.folder, hand_ins, {student.id for student in roster})
        print_missing_submissions({submission.key for submission in hand_ins}, database, options.submissions)
        database.enter(hand_ins)
        say_dropped(database)
        if not database.read_value("slurm_jobs"):  # tasks on a cluster may still read the unpacked files
            remove_unused(settings.folder, [folder, *database.entries()])
        enter_roster(database, roster)
        return grade_waiting(database, settings, options, before)


def enter_roster(database: Database, roster: Sequence[Student]) -> bool:
    """Enter the students of a roster, if there is one. Return whether their extensions have changed."""
    if not roster:
        return False
    database.enter_absent([(student.id, student.name) for student in roster])
    before = database.read_value("extended") or {}
    extended = {student.id: student.extended for student in roster if student.extended}
    database.set_values(names={student.id: student.name for student in roster}, extended=extended)
    return bool(before != extended)


def open_submissions(submissions: Path, settings: Settings, roster: Sequence[Student]) -> tuple[Path, list[str]]:
    """Return the folder with the hand-ins, and sentences about files that were left out. Unpack the submissions if they
    are an archive. If they are a folder that contains only a folder of hand-ins, as after "extract here", return the
    inner one."""
    if submissions.is_file():
        return unpack(submissions, settings.folder, settings.lab)
    folder = find_extracted(submissions, roster)
    if folder != submissions:
        say(f"The hand-ins are in {folder}.")
    return folder, []


def print_found(
    submissions: Path, hand_ins: Sequence[Submission], left_out: Sequence[str], roster: Sequence[Student]
) -> None:
    """Print the skipped files, the hand-ins whose students are in doubt, and those that are not on the roster. Raises
    UserError if there is neither a submission nor a roster."""
    for sentence in left_out:
        say_error(f"Skipped: {sentence}")
    for note in dict.fromkeys(
        note for submission in hand_ins for note in submission.notes if kind_of(note) in IN_DOUBT
    ):
        say_error(note)
    print_unknown_students([submission for submission in hand_ins if NOT_ON_ROSTER in submission.notes])
    if not hand_ins and not roster:
        raise UserError(f"{submissions}: no submission in it. BATCH.md lists the valid names.")


def stored_roster(folder: Path) -> list[Path]:
    """Return the rosters of the previous run, and print their names."""
    files = roster_files(Database(folder / DATABASE)) if (folder / DATABASE).is_file() else []
    if files:
        say(f"Roster: {' and '.join(map(str, files))}, as before.")
    return files


def read_earlier(folder: Path) -> list[EarlierSubmission]:
    """Return the submissions that are already in the batch."""
    return Database(folder / DATABASE).earlier_submissions() if (folder / DATABASE).is_file() else []


def print_unknown_students(unknown: Sequence[Submission]) -> None:
    """Print the submissions that are not on the roster, with the students' names, and what to do."""
    if not unknown:
        return
    unknown_names = [
        f"{submission.key} ({submission.name})" if submission.name not in ("", submission.key) else submission.key
        for submission in unknown
    ]
    count = f" ({len(unknown_names)})" if len(unknown_names) > 1 else ""
    say_error(
        f"Not on the roster{count}: {', '.join(unknown_names)}. If they are on the roster under another id, add a "
        "column to it (Canvas ID or Moodle ID for a course system's number, login for any other name of a folder or "
        "archive), or give a second --roster with that column, and repeat the command."
    )


def separate_strangers(folder: Path, ids: Set[str]) -> None:
    """Give new keys to earlier submissions of people who are not on the roster if their keys are ids of the roster.
    Rename their folders."""
    if not (folder / DATABASE).is_file():
        return
    database = Database(folder / DATABASE)
    move_renamed(database, folder)
    database.separate_strangers(ids)
    move_renamed(database, folder)


def move_renamed(database: Database, folder: Path) -> None:
    """Move the folders of renamed submissions, including those that a killed batch did not move. A folder that
    already has the new name is a leftover, because no other submission has that key."""
    for old, new in (database.read_value("renamed") or {}).items():
        for part in PARTS:
            source, target = place_of(folder, part, old), place_of(folder, part, new)
            if source.is_dir():
                shutil.rmtree(target, ignore_errors=True)
                source.rename(target)
    database.set_values(renamed={})


def rename(database: Database, folder: Path, submissions: Sequence[Submission], on_roster: Set[str]) -> None:
    """Rename submissions that a better roster identifies, and move their folders."""
    for old, submission in database.find_renamed(submissions):
        database.rename(old, submission, on_roster)
        move_renamed(database, folder)
        say(f"{old} is now {submission.key}, according to the roster.")


def require_folders(options: argparse.Namespace) -> None:
    """Raise UserError if SUBMISSIONS does not exist, or if OUT is a file, holds files that are not a batch's, or
    contains SUBMISSIONS."""
    if not options.submissions.exists():
        raise UserError(
            f"{options.submissions} does not exist. SUBMISSIONS is a folder of hand-ins, or an archive of them."
        )
    if options.out.is_file():
        raise UserError(f"{options.out} is a file. OUT is the batch's folder, which is created if it does not exist.")
    marks = ("lock", DATABASE)
    other_files = [file.name for file in options.out.iterdir()] if options.out.is_dir() else []
    if other_files and not set(other_files) & set(marks):
        raise UserError(
            f"{options.out} contains other files, such as {min(other_files)}. OUT must be a folder for the batch only."
        )
    out, submissions = options.out.resolve(), options.submissions.resolve()
    if out == submissions:
        raise UserError(f"{options.out}: SUBMISSIONS and OUT are the same folder. Choose a different OUT.")
    if holds_batch(submissions):
        raise UserError(
            f"{options.submissions} is the folder of another batch (it contains {DATABASE}). SUBMISSIONS is the folder "
            "or archive with the hand-ins that you gave to that batch."
        )
    if out in submissions.parents and (submissions.parent != out or submissions.is_dir()):
        raise UserError(
            f"{options.submissions} is one of the batch's own files. Choose SUBMISSIONS as you downloaded them."
        )


def print_missing_submissions(present: set[str], database: Database, submissions: Path) -> None:
    """Print the earlier submissions that are missing now: those that keep their grades, and those without a result,
    whose files are needed."""
    rows = database.query("SELECT key, status FROM submissions WHERE status != 'not_submitted' ORDER BY key")
    dropped = database.dropped()
    missing = {key: status for key, status in rows if key not in present and key not in dropped}
    ungraded = [key for key, status in missing.items() if status in ("", "judge_error")]
    if graded := [key for key in missing if key not in ungraded]:
        say_error(f"No longer among the submissions, and kept as graded: {', '.join(graded)}")
    if ungraded:
        say_error(
            f"No longer among the submissions, and without a result: {', '.join(ungraded)}. If their files are missing,"
            f" put them back into {submissions}, repeat the command, and then type: warplab-course regrade "
            f"{database.file.parent} --errors"
        )


def grade_waiting(
    database: Database,
    settings: Settings,
    options: argparse.Namespace,
    before: Sequence[FinalPoints],
    trial: Report | None = None,
) -> int:
    """Grade the submissions that wait. Print the state of the batch, and the students whose points differ from those in
    `before`. `trial`: the report of a trial run, if there was one already. Return the exit status: 1 if the judge
    failed, 130 if interrupted."""
    graded_again = database.waiting_again()
    if database.waiting():
        if options.executor != "slurm":
            require_no_tasks(database)
        say("Checking that the judge works here …", flush=True)
        trial = trial or try_judging(settings, options)
        database.set_values(warplab=trial.warplab, backend=trial.backend, sandbox=trial.sandbox)
        try:
            results = choose_executor(database, settings, trial.backend, options)
            at_once = 0 if options.executor == "slurm" else judges_at_once(trial.backend, options.jobs)
            run_batch(database, settings, hash_judging(settings.root, settings.lab), results, at_once)
        except KeyboardInterrupt:
            say_error(f"Interrupted. {describe(database)}. Run the same command to continue.")
            return 130
    say_stale(database, settings)
    if long := find_slowest_hand_ins(rows_that_count(database, read_policy(database)))[:MAX_SLOW]:
        say(f"Slowest hand-ins: {', '.join(f'{row.key} ({show_duration(row.wall_s)})' for row in long)}")
    say(f"{describe(database)}. Writing gradebook, feedback and page …", flush=True)
    say(write_outputs(database, settings))
    for line in describe_changes(before, all_finals(database, settings), graded_again):
        say(line)
    return 1 if "judge_error" in database.counts() else 0


def say_dropped(database: Database) -> None:
    """Print the dropped hand-ins, and those of them that changed later."""
    drops = read_policy(database).drops
    if drops:
        say(f"Dropped, and not graded: {', '.join(sorted(drops))}")
    for row in database.rows():
        if row.key in drops and row.fingerprint != drops[row.key][1]:
            say_error(describe_changed_drop(row))


def say_stale(database: Database, settings: Settings) -> None:
    """Print the hand-ins that were graded before the lab or the judge changed, and how to grade them again."""
    judging_hashes, version = hash_judging(settings.root, settings.lab), database.read_value("warplab") or ""
    if stale := find_stale(database, judging_hashes, version):
        say_error(
            f"Graded before the lab or the judge changed: {name_some(stale)}. Their points may differ from those of "
            f"equal files that are graded now. To grade them again: warplab-course regrade {settings.folder} --changed"
        )


def try_judging(settings: Settings, options: argparse.Namespace) -> Report:
    """Return the report of a trial run of the judge, on this machine or on the cluster. Raises UserError if the judge
    does not work there."""
    if options.executor == "slurm":
        return try_by_slurm(settings, slurm_parameters(options))
    return try_judge(settings)


def choose_executor(database: Database, settings: Settings, backend: str, options: argparse.Namespace) -> Results:
    """Return the function that grades submissions, on this machine or on a cluster."""
    if options.executor == "slurm":
        return lambda waiting: grade_by_slurm(waiting, settings, database, slurm_parameters(options))
    return lambda waiting: grade_here(waiting, settings, backend, options.jobs)


def slurm_parameters(options: argparse.Namespace) -> dict[str, str]:
    """Return the options for sbatch by name. Raises UserError if one has no value."""
    for text in options.slurm:
        if "=" not in text:
            raise UserError(f"--slurm {text}: write NAME=VALUE, as in --slurm partition=gpu.")
    parameters = dict(text.lstrip("-").split("=", 1) for text in options.slurm)
    for name, meaning in (("time", "minutes"), ("cpus-per-task", "cores")):
        if not re.fullmatch("[0-9]{1,9}", parameters.get(name, "1")):
            raise UserError(f"--slurm {name}={parameters[name]}: give a whole number of {meaning}.")
    return parameters


def describe(database: Database) -> str:
    """Return a text with the number of submissions of each status."""
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
        options.precise,
        find_stage(lab, stages, options.upto),
        options.speed,
    )


def grade_added_stages(database: Database, settings: Settings) -> None:
    """If the last stage is later than before, put all hand-ins back in the queue. Their grades and all decisions stay.
    Call this before `store_settings`: if the command is killed in between, the same command then continues."""
    before = read_settings(database, settings)
    earlier_last = before.get("upto", "")
    if (before.get("lab"), before.get("stage", "")) != (
        settings.lab,
        settings.stage,
    ) or earlier_last not in settings.stages:
        return
    if added := settings.graded_stages()[settings.stages.index(earlier_last) + 1 :]:
        require_no_tasks(database)
        dropped = database.dropped()
        keys = [row.key for row in database.rows() if row.key not in dropped]
        database.grade_again(keys, f"more stages: {', '.join(added)}")
        database.set_values(settings={**before, "upto": settings.upto})
        say(
            f"More stages than before: {', '.join(added)}. All hand-ins are read and graded again; earlier grades and "
            "your decisions are kept."
        )


def read_settings(database: Database, settings: Settings) -> dict[str, Any]:
    """Return the settings with which the batch was graded, with the current ids of the lab's stages; empty if the batch
    is new."""
    before: dict[str, Any] = database.read_value("settings") or {}
    if before.get("lab") != settings.lab:
        return before
    ids = {name: current_id(settings.stages, before[name]) for name in ("stage", "upto") if before.get(name)}
    return before | ids | {"stages": settings.stages}


def store_settings(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    """Store the settings for `regrade`. Raises UserError if the batch is of another lab or of other stages."""
    before = read_settings(database, settings)
    for name, current in (("lab", settings.lab), ("stage", settings.stage), ("upto", settings.upto)):
        if before and before.get(name, "") != current:
            earlier = before.get(name, "")
            extent = (
                "all stages"
                if not earlier
                else f"the stages up to {earlier}"
                if name == "upto"
                else f"{name} {earlier}"
            )
            on = f"{name.upper()}={earlier} (--{name} {earlier})" if earlier else f"omit {name.upper()} (--{name})"
            raise UserError(
                f"{settings.folder}: contains a batch of {extent}. To continue it: {on}. For another batch, choose a "
                "different OUT."
            )
    stored = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}
    roster = [str(file.resolve()) for file in options.roster]
    database.set_values(settings=stored, submissions=str(options.submissions.resolve()), roster=roster)
    if database.read_value("secret") is None:
        database.set_values(secret=secrets.token_hex(16))
