"""The points of all students, from the database and the instructor's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.python.batch.policy.points import (
    FinalPoints,
    Policy,
    choose_latest,
    copy_points,
    finals,
    read_policy,
    remove_points,
)
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Row
from grader.python.batch.store.settings import Settings
from grader.python.common.labs import current_id, read_manifest
from grader.python.common.report import parse_report


def all_finals(database: Database, settings: Settings) -> list[FinalPoints]:
    """Return the points of all students, sorted by student."""
    policy = read_policy(database)
    rows, lab_points = rows_that_count(database, policy), points_of(settings, policy)
    return use_roster_names(database, choose_latest(final for row in rows for final in finals(row, policy, lab_points)))


def use_roster_names(database: Database, everyone: list[FinalPoints]) -> list[FinalPoints]:
    """Use the roster's name for each student, because a hand-in can have the names of a whole team."""
    names = database.read_value("names") or {}
    for final in everyone:
        final.name = names.get(final.student) or final.name
    return everyone


def rows_that_count(database: Database, policy: Policy) -> list[Row]:
    """Return all submissions that are not dropped, without the kinds of points that do not count."""
    rows = leave_out_dropped(database.rows(), policy, database.read_value("names") or {})
    for row in rows if policy.excluded_kinds else []:
        if row.grade is not None:
            copy_points(row, remove_points(parse_report(database.report(row.grade)), policy.excluded_kinds))
    return rows


def leave_out_dropped(rows: Sequence[Row], policy: Policy, roster: Mapping[str, str]) -> list[Row]:
    """Return the rows that are not dropped. If a student of the roster then has no row, add one as if nothing had been
    handed in. `roster`: its students' names, by id."""
    remaining = [row for row in rows if row.key not in policy.drops]
    present = {member for row in remaining for member in row.members}
    dropped = {member for row in rows if row.key in policy.drops for member in row.members}
    absent = sorted(dropped & roster.keys() - present)
    return remaining + [
        Row(student, roster[student], [student], "", "", [], "not_submitted", "", 0) for student in absent
    ]


def points_of(settings: Settings, policy: Policy) -> float:
    """Return the maximum points of the stages that are graded, without the kinds of points that do not count."""
    stages = read_manifest(settings.root, settings.lab)["stages"]
    ids = [stage["id"] for stage in stages]
    graded = [current_id(ids, stage) for stage in settings.graded_stages()]
    points = [stage["points"] for stage in stages if stage["id"] in graded]
    return float(
        sum(maximum for kinds in points for kind, maximum in kinds.items() if kind not in policy.excluded_kinds)
    )
