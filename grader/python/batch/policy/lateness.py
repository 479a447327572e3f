"""Decide how late a hand-in is.

A course system's time or mark takes precedence over a time that the student can change. The first of these that exists
is used: a time in the roster; Canvas's LATE mark, or Moodle's time, or its mark if the time cannot be read; the time
that `make submit` wrote into the archive's name; a file's date, if files' dates are trusted. If the sources disagree,
`doubt` says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from grader.python.batch.ingest.submission import CANVAS, FILE_DATES, MOODLE, NAMED_TIME
from grader.python.batch.store.rows import Row

DAY_S = 86400
LATE_MARKS = {CANVAS: "Canvas's LATE mark", MOODLE: "Moodle's late mark"}
NO_LATE_MARK = "Canvas, which marks others as late"


@dataclass(frozen=True)
class Lateness:
    """The started days after the due date, the source of that number, and where other sources disagree. Without a
    source, `doubt` says what information is missing."""

    days: int = 0
    by: str = ""
    doubt: str = ""


def measure_lateness(
    row: Row, due: datetime | None, extended: bool, grace_minutes: float, trust_dates: bool
) -> Lateness:
    """Return a hand-in's lateness. `extended`: whether the student has more time than the others; a course system's
    mark does not consider it."""
    if not due or not row.handed_in:
        return Lateness()
    is_known = row.known_by not in FILE_DATES or trust_dates
    days = count_days(late_s(row.handed_in, due), grace_minutes) if is_known else 0
    by = row.known_by if is_known else ""
    doubt = describe_conflict(row, due, grace_minutes, days) if is_known and row.known_by != NAMED_TIME else ""
    marked = row.marked_by and not extended
    if extended and row.marked_by and row.marked_late and not is_known:
        return Lateness(doubt=describe_undecided_lateness(row.marked_by, due))
    if marked and (row.known_by == NAMED_TIME or row.known_by in FILE_DATES):
        return follow_mark(row, due, is_known, days)
    if marked and row.marked_by == MOODLE and row.marked_late != bool(days):
        mark = "late" if row.marked_late else "not late"
        doubt = (
            f"Moodle's worksheet calls it {mark}, but its time there, {show(row.handed_in)}, says otherwise. Is the "
            "due date here the same as in Moodle, in the worksheet's time zone?"
        )
    return Lateness(days, by, doubt)


def describe_undecided_lateness(system: str, due: datetime) -> str:
    """Return a sentence on a hand-in with an extension that a course system marks late, and whose time is not known."""
    return (
        f"{system} marks it late, but does not know the extension to {show(due.isoformat())}, and no time of the "
        f"hand-in is known. It counts as on time until you decide: look up its time in {system}, write it into the "
        "roster's column `submitted`, and repeat the grade command; or set the points with `override`."
    )


def follow_mark(row: Row, due: datetime, known: bool, days: int) -> Lateness:
    """Return the lateness according to a course system's mark, which contains no time. If another source's time is also
    late, the number of days follows from this time; otherwise the number is one."""
    is_after = known and late_s(row.handed_in, due) > 0
    other_time = f"{row.known_by} says {show(row.handed_in)}" if known else ""
    if not row.marked_late:
        return Lateness(0, NO_LATE_MARK, f"Canvas does not mark it late, but {other_time}." if days else "")
    if is_after:
        return Lateness(days, f"{LATE_MARKS[row.marked_by]} and {row.known_by}")
    doubt = f"{row.marked_by} marks it late, but {other_time}." if other_time else ""
    return Lateness(1, LATE_MARKS[row.marked_by], doubt)


def describe_conflict(row: Row, due: datetime, grace_minutes: float, days: int) -> str:
    """Return a sentence if the time in the archive's name contradicts whether the hand-in is late; otherwise ""."""
    if not row.named_time or bool(count_days(late_s(row.named_time, due), grace_minutes)) == bool(days):
        return ""
    return f"{row.known_by} says {show(row.handed_in)}, but {NAMED_TIME} says {show(row.named_time)}."


def late_s(time: str, due: datetime) -> float:
    """Return the seconds from the due date to a time."""
    return (parse_local(time, due) - due).total_seconds()


def parse_local(time: str, due: datetime) -> datetime:
    """Parse a time. A time without a zone is in the due date's zone, because both come from the same person."""
    parsed = datetime.fromisoformat(time)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=due.tzinfo)


def count_days(seconds: float, grace_minutes: float) -> int:
    """Return the number of started days, 0 within the grace time."""
    return math.ceil(seconds / DAY_S) if seconds > grace_minutes * 60 else 0


def show(time: str) -> str:
    """Return an ISO 8601 time for people."""
    return time.replace("T", " ").replace("Z", " UTC")
