"""The points of all students, from the database and the instructor's decisions."""

from __future__ import annotations

from grader.python.batch.policy.points import Final, Policy, choose_latest, finals, leave_out, read_policy, take_points
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Row
from grader.python.batch.store.settings import Settings
from grader.python.common.labs import read_manifest
from grader.python.common.report import parse_report


def all_finals(database: Database, settings: Settings) -> list[Final]:
    """Return the points of all students, sorted by student."""
    policy = read_policy(database)
    rows, lab_points = rows_that_count(database, policy), points_of(settings, policy)
    return choose_latest(final for row in rows for final in finals(row, policy, lab_points))


def rows_that_count(database: Database, policy: Policy) -> list[Row]:
    """Return all submissions, without the kinds of points that the policy leaves out."""
    rows = database.rows()
    for row in rows if policy.without else []:
        if row.grade is not None:
            take_points(row, leave_out(parse_report(database.report(row.grade)), policy.without))
    return rows


def points_of(settings: Settings, policy: Policy) -> float:
    """Return the maximum points of the lab, or of its one stage, without the kinds that the policy leaves out."""
    stages = read_manifest(settings.root, settings.lab)["stages"]
    points = [stage["points"] for stage in stages if stage["id"] in settings.wanted()]
    return float(sum(most for kinds in points for kind, most in kinds.items() if kind not in policy.without))
