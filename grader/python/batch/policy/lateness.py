"""Decide how late a hand-in is.

A course system's time or mark takes precedence over a time that the student can change. The first available source
decides:

1. a time in the roster;
2. Canvas's LATE mark, or Moodle's time, or Moodle's mark if the time cannot be read;
3. the time that `make submit` wrote into the archive's name;
4. a file's date, if files' dates are trusted.

If the sources disagree, `Lateness.doubt` says so.
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
    """How late a hand-in is. `days`: days after the due date, rounded up; `source`: where this number comes from, empty
    if nothing decides; `doubt`: a sentence on sources that disagree or, without a source, on what is missing."""

    days: int = 0
    source: str = ""
    doubt: str = ""


def measure_lateness(
    row: Row, due: datetime | None, is_extended: bool, grace_minutes: float, trust_dates: bool
) -> Lateness:
    """Return a hand-in's lateness. `is_extended`: whether the student has an extension that the course system does not
    know, so that the system's mark does not count."""
    if not due or not row.handed_in:
        return Lateness()
    is_known = row.known_by not in FILE_DATES or trust_dates
    days = count_days(seconds_late(row.handed_in, due), grace_minutes) if is_known else 0
    source = row.known_by if is_known else ""
    doubt = describe_conflict(row, due, grace_minutes, days) if is_known and row.known_by != NAMED_TIME else ""
    marked = row.marked_by and not is_extended
    if is_extended and row.marked_by and row.marked_late and not is_known:
        return Lateness(doubt=describe_undecided_lateness(row.marked_by, due))
    if marked and (row.known_by == NAMED_TIME or row.known_by in FILE_DATES):
        return follow_mark(row, due, is_known, days)
    if marked and row.marked_by == MOODLE and row.marked_late != bool(days):
        mark = "late" if row.marked_late else "not late"
        doubt = (
            f"Moodle's worksheet calls it {mark}, but its time there, {show(row.handed_in)}, says otherwise. Is the "
            "due date here the same as in Moodle, in the worksheet's time zone?"
        )
    return Lateness(days, source, doubt)


def describe_undecided_lateness(system: str, due: datetime) -> str:
    """Return a sentence on a hand-in that a course system marks late, if the student has an extension and the time of
    the hand-in is not known."""
    return (
        f"{system} marks it late, but does not know the extension to {show(due.isoformat())}, and no time of the "
        f"hand-in is known. It counts as on time until you decide: look up its time in {system}, write it into the "
        "roster's column `submitted`, and repeat the grade command; or set the points with `override`."
    )


def follow_mark(row: Row, due: datetime, is_known: bool, days: int) -> Lateness:
    """Return the lateness according to a course system's mark, which contains no time. For a hand-in that is marked as
    late, the number of days follows from another source's time if that time is late, too; otherwise, the number is 1.
    `is_known`: whether another source's time counts; `days`: how many days late that time is."""
    is_after = is_known and seconds_late(row.handed_in, due) > 0
    other_time = f"{row.known_by} says {show(row.handed_in)}" if is_known else ""
    if not row.marked_late:
        return Lateness(0, NO_LATE_MARK, f"Canvas does not mark it late, but {other_time}." if days else "")
    if is_after:
        return Lateness(days, f"{LATE_MARKS[row.marked_by]} and {row.known_by}")
    doubt = f"{row.marked_by} marks it late, but {other_time}." if other_time else ""
    return Lateness(1, LATE_MARKS[row.marked_by], doubt)


def describe_conflict(row: Row, due: datetime, grace_minutes: float, days: int) -> str:
    """Return a sentence if the time in the archive's name disagrees on whether the hand-in is late; otherwise ""."""
    if not row.named_time or bool(count_days(seconds_late(row.named_time, due), grace_minutes)) == bool(days):
        return ""
    return f"{row.known_by} says {show(row.handed_in)}, but {NAMED_TIME} says {show(row.named_time)}."


def seconds_late(time: str, due: datetime) -> float:
    """Return the seconds from the due date to a time; negative if the time is earlier."""
    return (parse_local(time, due) - due).total_seconds()


def parse_local(time: str, due: datetime) -> datetime:
    """Parse a time. A time without a zone, as in Moodle's worksheet, is in the due date's zone, because the instructor
    who downloaded the worksheet also typed the due date."""
    parsed = datetime.fromisoformat(time)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=due.tzinfo)


def count_days(seconds: float, grace_minutes: float) -> int:
    """Return the number of days, rounded up; 0 if the seconds are within the grace time."""
    return math.ceil(seconds / DAY_S) if seconds > grace_minutes * 60 else 0


def show(time: str) -> str:
    """Return an ISO 8601 time as people read it."""
    return time.replace("T", " ").replace("Z", " UTC")
