"""From the judge's points to a student's: lateness, extensions, points given by hand, overrides with a reason.

Nothing here looks at code or times; it adds up what the database holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from grader.course.batch.database import HAS_POINTS, Database, Row
from grader.course.batch.submissions import FILE_DATES, order_by_time, parse_time
from grader.journal.report import Report
from grader.journal.units import plural, show_points

DAY_S = 86400
UNDONE, UNDONE_TIME = -1, ""  # a decision that takes back the ones before
DUE_FACTS = ("due", "grace_minutes", "percent_per_day", "most_days", "trust_dates")


@dataclass
class Policy:
    """What the instructor decided; `extensions` and the like are by student id."""

    due: datetime | None = None
    grace_minutes: float = 0  # after it, or an extension, that are not late yet
    percent_per_day: float = 0  # of what was earned, for each day begun
    most_days: int | None = None  # later than that: nothing
    trust_dates: bool = False  # of files: they may be a download's
    without: Sequence[str] = ()  # kinds of points that do not count for anybody
    extensions: dict[str, datetime] = field(default_factory=dict)
    points: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)  # item: points, at most
    overrides: dict[str, tuple[float, str]] = field(default_factory=dict)  # points, reason

    def items(self) -> list[str]:
        """Names of everything that points were given for by hand."""
        return sorted(self.most_of_items())

    def most_of_items(self) -> dict[str, float]:
        """The most there are for each, for everybody: who was not given any has none of them."""
        most: dict[str, float] = {}
        for given in self.points.values():
            for item, (_, of) in given.items():
                most[item] = max(of, most.get(item, 0))
        return most


@dataclass
class Final:
    """One student's points. `points` is None where our side broke and nobody overrode it."""

    student: str
    row: Row
    name: str = ""  # the student's own where the roster has it, else all of the submission
    due: datetime | None = None  # the date, or the student's extension
    days_late: int = 0
    penalty: float = 0
    given: dict[str, float] = field(default_factory=dict)
    items: dict[str, float] = field(default_factory=dict)  # the most there is by hand for each, also if not given
    points: float | None = None
    most: float = 0
    pending: float = 0
    override: str = ""
    counts: bool = True  # False: a later submission of the same student's does
    unused: list[str] = field(default_factory=list)  # keys of the others
    by_points: bool = False  # whether points, not times, choose among them
    without: Sequence[str] = ()  # kinds of the report's points that do not count


def read_policy(database: Database) -> Policy:
    """All that the instructor decided."""
    due = database.fact("due")
    policy = Policy(
        parse_time(due) if due else None,
        database.fact("grace_minutes") or 0,
        database.fact("percent_per_day") or 0,
        database.fact("most_days"),
        bool(database.fact("trust_dates")),
        database.fact("without") or [],
    )
    for student, until in database.query("SELECT student, until FROM extensions ORDER BY id"):
        policy.extensions.pop(student, None)
        if until != UNDONE_TIME:
            policy.extensions[student] = parse_time(until)
    for student, item, points, most in database.query("SELECT student, item, points, most FROM points ORDER BY id"):
        policy.points.setdefault(student, {}).pop(item, None)
        if points != UNDONE:
            policy.points[student][item] = (points, most)
    for student, points, reason in database.query("SELECT student, points, reason FROM overrides ORDER BY id"):
        policy.overrides.pop(student, None)
        if points != UNDONE:
            policy.overrides[student] = (points, reason)
    return policy


def finals(row: Row, policy: Policy, lab_points: float) -> list[Final]:
    """The points of everyone who handed a submission in. `lab_points`: what the lab is worth."""
    return [make_final(student, row, policy, lab_points) for student in row.members]


def choose_latest(everyone: Iterable[Final]) -> list[Final]:
    """Each student's latest submission, by student; somebody may be in two teams, or in one and alone. The others are
    marked as not counting. Of submissions that only a name links to the student, the one with the most points
    counts."""
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
    """Return the sort key for a student's submissions, of which the last one counts. The student's own submission
    counts before any that only a name links to the student. Students write these names, so a submission with such a
    name never takes points from a student who has more by another one."""
    is_own, by_time = final.student in final.row.own(), order_by_time(final.row.handed_in, final.row.known_by)
    submitted = final.row.status != "not_submitted"
    if is_certain(final):
        return submitted, True, by_time
    return submitted, False, -math.inf if final.points is None else final.points, final.pending, is_own, by_time


def is_certain(final: Final) -> bool:
    """Return whether an id or a number says that a submission is the student's own."""
    return final.student in final.row.own() and final.row.is_certain()


def make_final(student: str, row: Row, policy: Policy, lab_points: float) -> Final:
    """The points of one of them."""
    due = policy.extensions.get(student, policy.due)
    final = Final(student, row, row.name, due, days_late(row, due, policy))
    by_hand = policy.points.get(student, {})
    final.given = {item: points for item, (points, _) in by_hand.items()}
    final.items = policy.most_of_items()
    graded = row.status in HAS_POINTS or keeps_points(row)
    final.without = policy.without if graded else ()
    final.most = (row.most if graded else lab_points) + sum(final.items.values())
    if graded:
        final.pending = row.pending
    if graded or row.status not in ("", "judge_error"):
        final.penalty = late_penalty(row.points, final.days_late, policy)
        final.points = row.points - final.penalty + sum(final.given.values())
    if student in policy.overrides:
        final.points, final.override = policy.overrides[student]
        final.pending = 0
    return final


def keeps_points(row: Row) -> bool:
    """Return whether the points of an earlier grade count, because the hand-in waits to be graded again, or our side
    broke when it was."""
    return row.grade is not None and (row.status == "" or (row.status == "judge_error" and row.graded_as in HAS_POINTS))


def days_late(row: Row, due: datetime | None, policy: Policy) -> int:
    """Days begun after the due date or the student's extension."""
    if not due or not row.handed_in or (row.known_by in FILE_DATES and not policy.trust_dates):
        return 0
    late_s = (parse_time(row.handed_in) - due).total_seconds()
    return math.ceil(late_s / DAY_S) if late_s > policy.grace_minutes * 60 else 0


def late_penalty(points: float, days: int, policy: Policy) -> float:
    """What lateness costs."""
    if not days:
        return 0
    if policy.most_days is not None and days > policy.most_days:
        return points
    return points * min(1.0, days * policy.percent_per_day / 100)


def tell_policy(policy: Policy) -> list[str]:
    """What was decided for everybody, a sentence each."""
    kinds = [f"Not counted, for anybody: {' and '.join(policy.without)} points."] if policy.without else []
    return [*([tell_lateness(policy)] if policy.due else []), *kinds]


def leave_out(report: Report, kinds: Sequence[str]) -> Report:
    """Takes kinds of points, and what there is of them at most, from a report. The most stays the same for all, also
    where a student's points are decided and another's are pending."""
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
    """Gives a row and its stages the points of a report."""
    row.points, row.most, row.pending = report.total.points, report.total.max, report.total.pending
    scores = {stage.stage: stage.score for stage in report.stages if stage.score}
    for stage in row.stages:
        if score := scores.get(stage.stage):
            stage.points, stage.most, stage.pending = score.total, score.max, score.pending


def tell_lateness(policy: Policy) -> str:
    """The due date and all that goes with it, in one line."""
    if not policy.due:
        return "No due date."
    costs = []
    if policy.percent_per_day:
        costs.append(f"each day begun costs {show_points(policy.percent_per_day)}% of what was earned")
    if policy.most_days is not None:
        costs.append(f"no points after {plural(policy.most_days, 'day')}")
    words = [f"Due {policy.due.isoformat()}", *(costs or ["lateness costs nothing"])]
    words += [f"{show_points(policy.grace_minutes)} minutes of grace"] if policy.grace_minutes else []
    words += ["files' dates count"] if policy.trust_dates else []
    return f"{'; '.join(words)}."
