"""Compute students' points from the judge's points and the instructor's decisions: lateness, extensions, points given
by hand, overrides.

This module uses only values of the database, and examines no reports or files.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from grader.python.batch.ingest.submission import order_by_time
from grader.python.batch.ingest.times import parse_time
from grader.python.batch.policy.lateness import Lateness, measure_lateness, parse_local, show
from grader.python.batch.store.database import Database
from grader.python.batch.store.people import with_name
from grader.python.batch.store.rows import HAS_POINTS, Row
from grader.python.common.console import UserError
from grader.python.common.report import Report
from grader.python.common.rubric import Rubric, read_rubric
from grader.python.common.units import name_some, plural, show_points

MAX_POINTS = 1_000_000  # for one item; sums of larger numbers lose whole points or are infinite
UNDONE, UNDONE_TIME = -1, ""  # values of a decision that revokes an earlier one: points, and a time
DUE_VALUES = ("due", "grace_minutes", "percent_per_day", "most_days", "trust_dates")

Drop = tuple[str, str]  # reason, and the fingerprint of the hand-in
Override = tuple[float, str, str | None]  # points, reason, and the fingerprint of the hand-in, if it is known


@dataclass
class Policy:
    """The instructor's decisions. The keys of both kinds of extensions, of `points` (those given by hand) and of
    `overrides` are students' ids."""

    due: datetime | None = None
    grace_minutes: float = 0  # after the due date or an extension; hand-ins in this time are not late
    percent_per_day: float = 0  # percentage of the judge's points that each day or part of a day costs
    max_days: int | None = None  # hand-ins that are late by more days get no points
    trust_dates: bool = False  # whether files' dates count, which may be the download's
    excluded_kinds: Sequence[str] = ()  # kinds of points that count for no student
    extensions: dict[str, datetime] = field(default_factory=dict)
    roster_extensions: dict[str, datetime] = field(default_factory=dict)  # those that the course system grants
    points: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)  # by item: points, maximum
    overrides: dict[str, Override] = field(default_factory=dict)
    rubric: Rubric | None = None
    drops: dict[str, Drop] = field(default_factory=dict)  # by the hand-in's key

    def items(self) -> list[str]:
        """Return the names of all items for which points were given by hand."""
        return sorted(self.max_of_items)

    @cached_property  # each student's points need it
    def max_of_items(self) -> dict[str, float]:
        """Return the maximum points of each item. They apply to all students: a student without points for an item has
        0 there."""
        maxima: dict[str, float] = {}
        for items in self.points.values():
            for item, (_, maximum) in items.items():
                maxima[item] = max(maximum, maxima.get(item, 0))
        return maxima


@dataclass
class FinalPoints:
    """One student's points, and how they were computed from one hand-in. `points` is None if the student has none yet,
    for example because the judge failed."""

    student: str
    row: Row
    name: str = ""  # the roster's name of the student, otherwise all names of the submission
    due: datetime | None = None  # the due date, or the end of the student's extension
    lateness: Lateness = field(default_factory=Lateness)
    penalty: float = 0  # points lost by lateness
    given: dict[str, float] = field(default_factory=dict)  # points given by hand, by item
    items: dict[str, float] = field(default_factory=dict)  # the maximum of each item, even if no points were given
    levels: dict[str, str] = field(default_factory=dict)  # the rubric's sentence for the points given for its items
    points: float | None = None
    max_points: float = 0
    pending: float = 0
    modelled: float = 0  # of `points`, before a penalty, those that are given for modelled times
    override: str = ""  # the reason of the override; empty if there is none
    is_override_old: bool = False  # whether the student handed in again after the override
    counts: bool = True  # whether this submission counts, and not another one of the same student
    unused: list[str] = field(default_factory=list)  # keys of the student's other submissions
    chosen_by_points: bool = False  # whether points instead of times decided which submission counts
    excluded_kinds: Sequence[str] = ()  # kinds of the report's points that do not count


def read_policy(database: Database) -> Policy:
    """Return all decisions of the instructor."""
    due = database.read_value("due")
    policy = Policy(
        parse_time(due) if due else None,
        database.read_value("grace_minutes") or 0,
        database.read_value("percent_per_day") or 0,
        database.read_value("most_days"),
        bool(database.read_value("trust_dates")),
        database.read_value("without") or [],
    )
    with contextlib.suppress(UserError):  # without the rubric, feedback shows points but no sentences
        policy.rubric = read_rubric(Path((database.read_value("settings") or {}).get("root", ".")))
    for student, until in database.query("SELECT student, until FROM extensions ORDER BY id"):
        policy.extensions.pop(student, None)
        if until != UNDONE_TIME:
            policy.extensions[student] = parse_time(until)
    if policy.due:
        extended = (database.read_value("extended") or {}).items()
        policy.roster_extensions = {student: parse_local(until, policy.due) for student, until in extended}
    for student, item, points, maximum in database.query("SELECT student, item, points, most FROM points ORDER BY id"):
        policy.points.setdefault(student, {}).pop(item, None)
        if points != UNDONE:
            policy.points[student][item] = (points, maximum)
    for student, *values in database.query("SELECT student, points, reason, fingerprint FROM overrides ORDER BY id"):
        policy.overrides.pop(student, None)
        if values[0] != UNDONE:
            policy.overrides[student] = tuple(values)
    for key, dropped, *drop in database.query("SELECT student, dropped, reason, fingerprint FROM drops ORDER BY id"):
        policy.drops.pop(key, None)
        if dropped:
            policy.drops[key] = tuple(drop)
    return policy


def finals(row: Row, policy: Policy, lab_points: float) -> list[FinalPoints]:
    """Return the points of each member of a submission. `lab_points`: the maximum for a submission without a grade."""
    return [make_final(student, row, policy, lab_points) for student in row.members]


def choose_latest(everyone: Iterable[FinalPoints]) -> list[FinalPoints]:
    """Return the points that count for each student, sorted by student. If a student has several submissions, for
    example alone and in a team, the latest counts; if only a name links them to the student, the one with the most
    points counts. Mark the others as not counting."""
    chosen: dict[str, FinalPoints] = {}
    for final in sorted(everyone, key=rank):
        if other := chosen.get(final.student):
            other.counts = False
            other.chosen_by_points = final.chosen_by_points = final.row.status != "not_submitted" and not is_certain(
                final
            )
            if other.row.status != "not_submitted":
                final.unused = [*other.unused, other.row.key]
        chosen[final.student] = final
    return [chosen[student] for student in sorted(chosen)]


def rank(final: FinalPoints) -> tuple[object, ...]:
    """Return the sort key for a student's submissions; the last one counts. A submission that certainly is the
    student's own comes after those that only a name links to the student. Students write these names, so among the
    latter, the one with the most points comes last: nobody can take points from another student."""
    is_own, by_time = final.student in final.row.own_members(), order_by_time(final.row.handed_in, final.row.known_by)
    submitted = final.row.status != "not_submitted"
    if is_certain(final):
        return submitted, True, by_time
    return submitted, False, -math.inf if final.points is None else final.points, final.pending, is_own, by_time


def is_certain(final: FinalPoints) -> bool:
    """Return whether an id or a number shows that the submission is the student's own."""
    return final.student in final.row.own_members() and final.row.is_certain()


def make_final(student: str, row: Row, policy: Policy, lab_points: float) -> FinalPoints:
    """Return the points of one student of a submission."""
    due = due_of(student, policy)
    is_extended = due not in (policy.due, policy.roster_extensions.get(student))
    final = FinalPoints(
        student, row, row.name, due, measure_lateness(row, due, is_extended, policy.grace_minutes, policy.trust_dates)
    )
    by_hand = policy.points.get(student, {})
    final.given = {item: points for item, (points, _) in by_hand.items()}
    final.items = policy.max_of_items
    if policy.rubric:
        final.levels = {item: policy.rubric.describe_level(item, points) for item, points in final.given.items()}
    graded = row.status in HAS_POINTS or keeps_points(row)
    final.excluded_kinds = policy.excluded_kinds if graded else ()
    final.max_points = (row.max_points if graded else lab_points) + sum(final.items.values())
    if graded:
        final.pending = row.pending
        final.modelled = sum(stage.modelled for stage in row.stages)
    if graded or row.status not in ("", "judge_error"):
        final.penalty = late_penalty(row.points, final.lateness.days, policy)
        final.points = row.points - final.penalty + sum(final.given.values())
    if student in policy.overrides:
        final.points, final.override, fingerprint = policy.overrides[student]
        final.is_override_old = fingerprint not in (None, row.fingerprint)
        final.pending = final.modelled = 0
    return final


def due_of(student: str, policy: Policy) -> datetime | None:
    """Return a student's due date: the latest of the course's date and the extensions. None if the course has no due
    date: then no student is late."""
    extensions = [
        extensions_by_student.get(student) for extensions_by_student in (policy.extensions, policy.roster_extensions)
    ]
    return max([policy.due, *filter(None, extensions)]) if policy.due else None


def keeps_points(row: Row) -> bool:
    """Return whether the points of an earlier grade count, because the hand-in waits to be graded again or the judge
    failed on it."""
    failed = row.status in ("judge_error", "judge_crashed") and row.graded_as in HAS_POINTS
    return row.grade is not None and (row.status == "" or failed)


def late_penalty(points: float, days: int, policy: Policy) -> float:
    """Return how many of these points are lost if a hand-in is this many days late."""
    if not days:
        return 0
    if policy.max_days is not None and days > policy.max_days:
        return points
    return points * min(1.0, days * policy.percent_per_day / 100)


def describe_policy(policy: Policy) -> list[str]:
    """Return a sentence for each decision that concerns all students."""
    kinds = (
        [f"Not counted for any student: {' and '.join(policy.excluded_kinds)} points."] if policy.excluded_kinds else []
    )
    return [*([describe_lateness(policy)] if policy.due else []), *kinds]


def describe_extensions(extensions: Mapping[str, datetime], names: Mapping[str, str]) -> list[str]:
    """Return a sentence that lists the roster's extensions; no sentence if there are none."""
    if not extensions:
        return []
    sentences = (
        f"{with_name(student, names)} until {show(until.isoformat())}" for student, until in extensions.items()
    )
    return [f"Extensions, according to the roster: {name_some(list(sentences))}."]


def remove_points(report: Report, kinds: Sequence[str]) -> Report:
    """Remove kinds of points from a report, in place, and return it. Their maximum is removed even if they are pending,
    so that the maximum is the same for all students."""
    for score in [stage.score for stage in report.stages if stage.score]:
        before = (score.total, score.max, score.pending)
        for kind in kinds:
            score.total -= getattr(score, kind)
            score.max -= getattr(score, f"{kind}_max")
            for name, nothing in (("", 0.0), ("_max", 0.0), ("_pending", False), ("_why", "")):
                setattr(score, f"{kind}{name}", nothing)
        report.total.points += score.total - before[0]
        report.total.max += score.max - before[1]
        report.total.pending += score.pending - before[2]
    return report


def copy_points(row: Row, report: Report) -> None:
    """Copy a report's points into a row and its stages."""
    row.points, row.max_points, row.pending = report.total.points, report.total.max, report.total.pending
    scores = {stage.stage: stage.score for stage in report.stages if stage.score}
    for stage in row.stages:
        if score := scores.get(stage.stage):
            stage.points, stage.max_points, stage.pending = score.total, score.max, score.pending
            stage.modelled = score.modelled


def describe_lateness(policy: Policy) -> str:
    """Return the due date and the cost of lateness in one line."""
    if not policy.due:
        return "No due date."
    costs = []
    if policy.percent_per_day:
        costs.append(f"each day or part of a day costs {show_points(policy.percent_per_day)}% of the earned points")
    if policy.max_days is not None:
        costs.append(f"no points after {plural(policy.max_days, 'day')}")
    words = [f"Due {policy.due.isoformat()}", *(costs or ["no deduction for lateness"])]
    words += [f"{show_points(policy.grace_minutes)} minutes of grace"] if policy.grace_minutes else []
    words += ["files' dates count"] if policy.trust_dates else []
    return f"{'; '.join(words)}."
