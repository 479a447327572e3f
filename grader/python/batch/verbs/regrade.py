"""Grade submissions again, and keep the earlier grades and the reason."""

from __future__ import annotations

import argparse
from dataclasses import replace

from grader.python.batch.grade.judge import try_judge
from grader.python.batch.grade.run import only_one
from grader.python.batch.grade.slurm import require_no_tasks
from grader.python.batch.grade.versions import find_stale, hash_judging, require_built
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import find_keys
from grader.python.batch.store.rows import Row
from grader.python.batch.store.settings import Settings
from grader.python.batch.verbs.grade import grade_waiting, move_renamed, try_judging
from grader.python.common.console import UserError, say
from grader.python.common.labs import find_stage, read_stages
from grader.python.common.report import parse_report


def regrade(options: argparse.Namespace) -> int:
    """Grade some submissions again, and store the reason."""
    with only_one(options.folder):
        database = open_batch(options.folder)
        require_no_tasks(database)
        move_renamed(database, options.folder)
        settings = update_stages(database, stored_settings(database))
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
        return grade_waiting(database, settings, options, before, trial)


def update_stages(database: Database, settings: Settings) -> Settings:
    """Return the settings with the lab's current stages, which the judge will grade, and store them. Raises UserError
    if the lab no longer has a stage that the settings name."""
    stages = tuple(read_stages(settings.root, settings.lab))
    if stages == settings.stages:
        return settings
    stage, upto = (find_stage(settings.lab, stages, named) for named in (settings.stage, settings.upto))
    changes = {"stages": stages, "stage": stage, "upto": upto}
    say("The lab's stages have changed. Hand-ins that are graded again are also read again from SUBMISSIONS.")
    database.set_values(settings={**(database.read_value("settings") or {}), **changes})
    return replace(settings, stages=stages, stage=stage, upto=upto)


def choose_regraded(database: Database, settings: Settings, options: argparse.Namespace) -> tuple[list[str], str]:
    """Return the keys of the submissions to grade again, and the reason. Raises UserError if a student is not in the
    batch, or if the program is older than its sources."""
    if options.changed:
        version, judging_hashes = try_judge(settings).warplab, hash_judging(settings.root, settings.lab)
        require_built(settings)
        stale = find_stale(database, judging_hashes, version)
        return stale, f"lab or grader changed (now {version})"
    dropped = database.dropped()
    rows = [row for row in database.rows() if row.key not in dropped]
    if options.all:
        return [row.key for row in rows], "all again"
    if options.pending:
        chosen = [row.key for row in rows if row.pending or can_be_measured(database, settings, row)]
        return chosen, "points were pending"
    if options.errors:
        return [row.key for row in rows if row.status in ("judge_error", "judge_crashed")], "the judge had failed"
    keys = find_keys(database, options.student)
    if gone := [key for key in keys if key in dropped]:
        raise UserError(f"Dropped: {', '.join(gone)}. Type drop --undo first.")
    return keys, "asked for"


def can_be_measured(database: Database, settings: Settings, row: Row) -> bool:
    """Return whether speed points of a submission are modelled, and the backend can replace them by measured ones."""
    if settings.backend == "cpu" or not row.max_points or row.grade is None:
        return False
    report = parse_report(database.report(row.grade))
    return any(stage.score and stage.score.speed_modelled for stage in report.stages)
