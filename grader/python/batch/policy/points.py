"""Convert the judge's points to a student's points: lateness, extensions, points given by hand, overrides with a
reason.

This module does not examine code or times; it adds up the values in the database.
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
UNDONE, UNDONE_TIME = -1, ""  # the value of a decision that revokes earlier ones
DUE_FACTS = ("due", "grace_minutes", "percent_per_day", "most_days", "trust_dates")

Drop = tuple[str, str]  # reason, and the fingerprint of the hand-in
Override = tuple[float, str, str | None]  # points, reason, and the fingerprint of the hand-in, if it is known


@dataclass
class Policy:
    """The instructor's decisions. `extensions`, `points` and `overrides` are by student id."""

    due: datetime | None = None
    grace_minutes: float = 0  # after the due date or an extension; a hand-in in this time is not late
    percent_per_day: float = 0  # percentage of the judge's points, per started day
    max_days: int | None = None  # a hand-in that is later gets no points
    trust_dates: bool = False  # whether file dates count; they may be the download's
    without: Sequence[str] = ()  # kinds of points that count for no student
    extensions: dict[str, datetime] = field(default_factory=dict)
    known_extensions: dict[str, datetime] = field(default_factory=dict)  # those of the course system
    points: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)  # by item: points, maximum
    overrides: dict[str, Override] = field(default_factory=dict)
    rubric: Rubric | None = None
    drops: dict[str, Drop] = field(default_factory=dict)  # by the hand-in's key

    def items(self) -> list[str]:
        """Return the names of all items for which points were given by hand."""
        return sorted(self.max_of_items)

    @cached_property  # each student's points need it
    def max_of_items(self) -> dict[str, float]:
        """Return the maximum points of each item. It applies to all students: a student without points for an item has
        0 of them."""
        maxima: dict[str, float] = {}
        for items in self.points.values():
            for item, (_, of) in items.items():
                maxima[item] = max(of, maxima.get(item, 0))
        return maxima


@dataclass
class Final:
    """One student's points. `points` is None if the judge failed and there is no override."""

    student: str
    row: Row
    name: str = ""  # the student's own if the roster has it, otherwise all of the submission's names
    due: datetime | None = None  # the date, or the student's extension
    lateness: Lateness = field(default_factory=Lateness)
    penalty: float = 0
    given: dict[str, float] = field(default_factory=dict)
    items: dict[str, float] = field(default_factory=dict)  # each item's maximum, even if no points were given
    levels: dict[str, str] = field(default_factory=dict)  # for items of the rubric: its sentence for the given points
    points: float | None = None
    max_points: float = 0
    pending: float = 0
    override: str = ""
    is_override_old: bool = False  # whether another hand-in came after the override
    counts: bool = True  # False if another submission of the same student counts
    unused: list[str] = field(default_factory=list)  # keys of the student's other submissions
    by_points: bool = False  # whether points, not times, choose among them
    without: Sequence[str] = ()  # kinds of the report's points that do not count


def read_policy(database: Database) -> Policy:
    """Return all decisions of the instructor."""
    due = database.fact("due")
    policy = Policy(
        parse_time(due) if due else None,
        database.fact("grace_minutes") or 0,
        database.fact("percent_per_day") or 0,
        database.fact("most_days"),
        bool(database.fact("trust_dates")),
        database.fact("without") or [],
    )
    with contextlib.suppress(UserError):  # without it, feedback shows the points alone
        policy.rubric = read_rubric(Path((database.fact("settings") or {}).get("root", ".")))
    for student, until in database.query("SELECT student, until FROM extensions ORDER BY id"):
        policy.extensions.pop(student, None)
        if until != UNDONE_TIME:
            policy.extensions[student] = parse_time(until)
    if policy.due:
        extended = (database.fact("extended") or {}).items()
        policy.known_extensions = {student: parse_local(until, policy.due) for student, until in extended}
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


def finals(row: Row, policy: Policy, lab_points: float) -> list[Final]:
    """Return the points of each student who handed in a submission. `lab_points`: the maximum points of the lab."""
    return [make_final(student, row, policy, lab_points) for student in row.members]


def choose_latest(everyone: Iterable[Final]) -> list[Final]:
    """Return each student's latest submission, sorted by student. A student may be in two teams, or in a team and
    alone; mark the other submissions as not counting. If only a name links the submissions to the student, the one with
    the most points counts."""
    chosen: dict[str, Final] = {}
    for final in sorted(everyone, key=rank):
        if other := chosen.get(final.student):
            other.counts = False
            other.by_points = final.by_points = final.row.status != "not_submitted" and not is_certain(final)
            if other.row.status != "not_submitted":
                final.unused = [*other.unused, other.row.key]
        chosen[final.student] = final
    return [chosen[student] for student in sorted(chosen)]


def rank(final: Final) -> tuple[object, ...]:
    """Return the sort key for a student's submissions; the last one counts. The student's own submission has priority
    over any that only a name links to the student. Students write these names, so a submission with such a name never
    takes points from a student who has more from another one."""
    is_own, by_time = final.student in final.row.own(), order_by_time(final.row.handed_in, final.row.known_by)
    submitted = final.row.status != "not_submitted"
    if is_certain(final):
        return submitted, True, by_time
    return submitted, False, -math.inf if final.points is None else final.points, final.pending, is_own, by_time


def is_certain(final: Final) -> bool:
    """Return whether an id or a number identifies the submission as the student's own."""
    return final.student in final.row.own() and final.row.is_certain()


def make_final(student: str, row: Row, policy: Policy, lab_points: float) -> Final:
    """Return the points of one student of a submission."""
    due = due_of(student, policy)
    extended = due not in (policy.due, policy.known_extensions.get(student))
    final = Final(
        student, row, row.name, due, measure_lateness(row, due, extended, policy.grace_minutes, policy.trust_dates)
    )
    by_hand = policy.points.get(student, {})
    final.given = {item: points for item, (points, _) in by_hand.items()}
    final.items = policy.max_of_items
    if policy.rubric:
        final.levels = {item: policy.rubric.describe_level(item, points) for item, points in final.given.items()}
    graded = row.status in HAS_POINTS or keeps_points(row)
    final.without = policy.without if graded else ()
    final.max_points = (row.max_points if graded else lab_points) + sum(final.items.values())
    if graded:
        final.pending = row.pending
    if graded or row.status not in ("", "judge_error"):
        final.penalty = late_penalty(row.points, final.lateness.days, policy)
        final.points = row.points - final.penalty + sum(final.given.values())
    if student in policy.overrides:
        final.points, final.override, fingerprint = policy.overrides[student]
        final.is_override_old = fingerprint not in (None, row.fingerprint)
        final.pending = 0
    return final


def due_of(student: str, policy: Policy) -> datetime | None:
    """Return the due date of a student. An extension never shortens a student's time, even if the due date was
    moved past it later; without a due date, no student is late."""
    extensions = [
        extensions_by_student.get(student) for extensions_by_student in (policy.extensions, policy.known_extensions)
    ]
    return max([policy.due, *filter(None, extensions)]) if policy.due else None


def keeps_points(row: Row) -> bool:
    """Return whether the points of an earlier grade count, because the hand-in waits to be graded again, or the judge
    failed when it was."""
    failed = row.status in ("judge_error", "judge_crashed") and row.graded_as in HAS_POINTS
    return row.grade is not None and (row.status == "" or failed)


def late_penalty(points: float, days: int, policy: Policy) -> float:
    if not days:
        return 0
    if policy.max_days is not None and days > policy.max_days:
        return points
    return points * min(1.0, days * policy.percent_per_day / 100)


def describe_policy(policy: Policy) -> list[str]:
    """Return a sentence for each decision that concerns all students."""
    kinds = [f"Not counted for any student: {' and '.join(policy.without)} points."] if policy.without else []
    return [*([describe_lateness(policy)] if policy.due else []), *kinds]


def describe_extensions(known: Mapping[str, datetime], names: Mapping[str, str]) -> list[str]:
    """Return a sentence with extensions of the course system; none if there are none."""
    if not known:
        return []
    sentences = (f"{with_name(student, names)} until {show(until.isoformat())}" for student, until in known.items())
    return [f"Extensions, according to the roster: {name_some(list(sentences))}."]


def leave_out(report: Report, kinds: Sequence[str]) -> Report:
    """Remove kinds of points, and their maximum, from a report, and return it. The new maximum is the same for all
    students, even if some points are decided and others are pending."""
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


def take_points(row: Row, report: Report) -> None:
    """Copy a report's points into a row and its stages."""
    row.points, row.max_points, row.pending = report.total.points, report.total.max, report.total.pending
    scores = {stage.stage: stage.score for stage in report.stages if stage.score}
    for stage in row.stages:
        if score := scores.get(stage.stage):
            stage.points, stage.max_points, stage.pending = score.total, score.max, score.pending


def describe_lateness(policy: Policy) -> str:
    """Return the due date and the cost of lateness in one line."""
    if not policy.due:
        return "No due date."
    costs = []
    if policy.percent_per_day:
        costs.append(f"each started day costs {show_points(policy.percent_per_day)}% of the earned points")
    if policy.max_days is not None:
        costs.append(f"no points after {plural(policy.max_days, 'day')}")
    words = [f"Due {policy.due.isoformat()}", *(costs or ["no deduction for lateness"])]
    words += [f"{show_points(policy.grace_minutes)} minutes of grace"] if policy.grace_minutes else []
    words += ["files' dates count"] if policy.trust_dates else []
    return f"{'; '.join(words)}."
