"""Times of hand-ins and due dates: ISO 8601 in UTC."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from grader.python.common.console import UserError

FIRST_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # earlier times are invalid
END_TIME = datetime(3000, 1, 1, tzinfo=UTC)  # later times are invalid; calculations could exceed datetime's range
# Friday, 20 November 2026, 10:00 AM; in American English: Friday, November 20, 2026, 10:00 AM; 24-hour times, too
WORKSHEET_TIMES = [f"%A, {day} %Y, {hour}" for day in ("%d %B", "%B %d,") for hour in ("%I:%M %p", "%H:%M")]
MAX_CLOCK_DIFFERENCE = timedelta(days=1)  # includes time zones; a time further ahead counts as in the future


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 time; without a zone it is UTC. Raises UserError if it is invalid."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text[:40]!r} is not a time. Write it like 2026-11-21T23:59+01:00.") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def parse_zoned_time(text: str) -> datetime:
    """Parse an ISO 8601 time that an instructor typed. The zone is required, because one hour can make a hand-in late.
    Raises UserError."""
    time = parse_time(text)
    if datetime.fromisoformat(text).tzinfo is None:
        raise UserError(f"{text!r} has no time zone. Write it like 2026-11-21T23:59+01:00, or with Z for UTC.")
    if not FIRST_TIME <= time < END_TIME:
        raise UserError(f"{text!r} is not between the years {FIRST_TIME.year} and {END_TIME.year}.")
    return time


def show_time(time: datetime) -> str:
    """Return the time as ISO 8601 in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def past_time(time_s: float) -> float:
    """Return a time in seconds since 1970, or 0 if it is negative or lies in the future."""
    return time_s if 0 < time_s <= time.time() + MAX_CLOCK_DIFFERENCE.total_seconds() else 0.0


def read_seconds(time_s: Any) -> datetime | None:
    """Convert a course system's time in seconds since 1970; return None if it is invalid."""
    try:
        time = datetime.fromtimestamp(time_s, UTC)
    except (OSError, OverflowError, TypeError, ValueError):
        return None
    return time if FIRST_TIME <= time < END_TIME else None


def read_time(text: str) -> datetime | None:
    """Parse the time in an archive's name, in UTC; return None if it is invalid or in the future."""
    try:
        time = datetime.strptime(text, "%Y-%m-%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return time if FIRST_TIME <= time <= datetime.now(UTC) + MAX_CLOCK_DIFFERENCE else None


def read_worksheet_time(text: str) -> str:
    """Convert a hand-in's time in Moodle's worksheet to ISO 8601 without a zone; return '' if there is none, or if it
    is not in English."""
    for form in WORKSHEET_TIMES:
        with suppress(ValueError):
            time = datetime.strptime(text, form)
            return time.isoformat() if FIRST_TIME <= time.replace(tzinfo=UTC) < END_TIME else ""
    return ""


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return show_time(datetime.now(UTC))
