"""The points of all students, from the database and the instructor's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.python.batch.policy.points import Final, Policy, choose_latest, finals, leave_out, read_policy, take_points
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Row
from grader.python.batch.store.settings import Settings
from grader.python.common.labs import current_id, read_manifest
from grader.python.common.report import parse_report


def all_finals(database: Database, settings: Settings) -> list[Final]:
    """Return the points of all students, sorted by student."""
    policy = read_policy(database)
    rows, lab_points = rows_that_count(database, policy), points_of(settings, policy)
    return use_roster_names(database, choose_latest(final for row in rows for final in finals(row, policy, lab_points)))


def use_roster_names(database: Database, everyone: list[Final]) -> list[Final]:
    """Give each student the roster's name; the names in a hand-in's name may be a whole team's."""
    names = database.fact("names") or {}
    for final in everyone:
        final.name = names.get(final.student) or final.name
    return everyone


def rows_that_count(database: Database, policy: Policy) -> list[Row]:
    """Return all submissions that are not dropped, without the kinds of points that the policy leaves out."""
    rows = leave_out_dropped(database.rows(), policy, database.fact("names") or {})
    for row in rows if policy.without else []:
        if row.grade is not None:
            take_points(row, leave_out(parse_report(database.report(row.grade)), policy.without))
    return rows


def leave_out_dropped(rows: Sequence[Row], policy: Policy, roster: Mapping[str, str]) -> list[Row]:
    """Return the rows that are not dropped. A student of the roster without a remaining row handed in nothing.
    `roster`: the names of its students by id."""
    remaining = [row for row in rows if row.key not in policy.drops]
    present = {member for row in remaining for member in row.members}
    dropped = {member for row in rows if row.key in policy.drops for member in row.members}
    absent = sorted(dropped & roster.keys() - present)
    return remaining + [
        Row(student, roster[student], [student], "", "", [], "not_submitted", "", 0) for student in absent
    ]


def points_of(settings: Settings, policy: Policy) -> float:
    """Return the maximum points of the lab, or of its one stage, without the kinds that the policy leaves out."""
    stages = read_manifest(settings.root, settings.lab)["stages"]
    ids = [stage["id"] for stage in stages]
    graded = [current_id(ids, stage) for stage in settings.graded_stages()]
    points = [stage["points"] for stage in stages if stage["id"] in graded]
    return float(sum(maximum for kinds in points for kind, maximum in kinds.items() if kind not in policy.without))
