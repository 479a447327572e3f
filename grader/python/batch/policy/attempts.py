"""Limit how many hand-ins of a student or team are graded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time

from grader.python.batch.ingest.times import show_time
from grader.python.batch.store.database import Database
from grader.python.batch.store.queue import count_attempts, read_granted
from grader.python.common.units import plural


@dataclass(frozen=True)
class Limits:
    """The maximum number of hand-ins that are graded per student or team, in total and on one day in this machine's
    time zone. None means no limit."""

    total: int | None = None
    per_day: int | None = None

    def explain_reached_limit(self, database: Database, key: str, members: Sequence[str]) -> str:
        """Return a sentence for the student on why no further hand-in is graded now; empty if one may be graded.
        Attempts that the instructor granted to any of the members raise both limits. `key`: the hand-in's."""
        granted = read_granted(database)
        granted_more = max((granted.get(member, 0) for member in members), default=0)
        limit = self.total and self.total + granted_more
        if limit and count_attempts(database, key) >= limit:
            return describe_held_hand_in(
                f"the limit for this lab is {plural(limit, 'hand-in')} per student or team",
                "To get another attempt, ask your instructor.",
            )
        per_day = self.per_day and self.per_day + granted_more
        midnight = show_time(datetime.combine(datetime.now().date(), time()).astimezone())
        if per_day and count_attempts(database, key, midnight) >= per_day:
            return describe_held_hand_in(
                f"the limit for this lab is {plural(per_day, 'hand-in')} per student or team and day",
                "It will be graded tomorrow; you do not need to hand it in again.",
            )
        return ""


def describe_held_hand_in(reason: str, advice: str) -> str:
    """Return the note for a student whose newest hand-in is beyond a limit."""
    points = "Your points are those of your last graded hand-in."
    return f"Your newest hand-in is kept but not graded: {reason}. {points} {advice}"
