"""Limits on the number of hand-ins that are graded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.times import now, show_time
from grader.python.batch.policy.attempts import Limits
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Graded

ZEROS = {"points": 0, "most": 0, "pending": 0, "warplab": "", "lab_hash": "", "backend": "cpu", "sandbox": ""}


def store_grade(database: Database, fingerprint: str, days_ago: int = 0, status: str = "graded") -> None:
    graded = Graded("al1", status, report="{}", fingerprint=fingerprint)
    database.keep(graded, ZEROS | {"time": show_time(datetime.now(UTC) - timedelta(days_ago))}, [])


def test_a_limit_counts_judged_hand_ins_and_granted_attempts(tmp_path: Path) -> None:
    database = Database(tmp_path / "batch.sqlite")
    database.enter([Submission("al1", fingerprint="first")])
    store_grade(database, "first", days_ago=2)
    store_grade(database, "second")
    store_grade(database, "second")  # a regrade does not count as an attempt
    store_grade(database, "third", status="judge_error")

    def message(total: int | None, per_day: int | None, *members: str) -> str:
        return Limits(total, per_day).explain_reached_limit(database, "+".join(members), members)

    assert message(3, 2, "al1") == "" and message(None, None, "al1") == "" and message(1, 1, "bo2") == ""
    assert "kept but not graded: the limit for this lab is 2 hand-ins per student or team." in message(2, None, "al1")
    assert "kept but not graded: the limit for this lab is 1 hand-in per student or team and day." in message(
        None, 1, "al1"
    )
    database.insert("attempts", [{"student": "al1", "more": 1, "reason": "a power cut", "time": now()}])
    assert message(2, 1, "al1") == ""
    assert message(2, 1, "al1", "bo2") == "", "a team has its own attempts"
    database.insert("attempts", [{"student": "al1", "more": 0, "reason": "an error", "time": now()}])
    assert "the limit for this lab is 2 hand-ins" in message(2, None, "al1")


def test_handing_in_earlier_contents_again_is_a_further_attempt(tmp_path: Path) -> None:
    database = Database(tmp_path / "batch.sqlite")
    database.enter([Submission("al1", fingerprint="one")])
    for fingerprint in ("one", "other", "one", "one"):
        store_grade(database, fingerprint)
    assert Limits(4).explain_reached_limit(database, "al1", ["al1"]) == ""
    assert "is 3 hand-ins per student" in Limits(3).explain_reached_limit(database, "al1", ["al1"])


def test_a_refused_hand_in_is_no_attempt_but_the_next_one_is(tmp_path: Path) -> None:
    database = Database(tmp_path / "batch.sqlite")
    for fingerprint, status in (("one", "graded"), ("damaged", "archive_refused"), ("one", "graded")):
        database.enter([Submission("al1", fingerprint=fingerprint)])
        if status == "graded":
            store_grade(database, fingerprint)
        else:
            database.keep(Graded("al1", status, fingerprint=fingerprint), ZEROS, [])
    assert "is 2 hand-ins per student" in Limits(2).explain_reached_limit(database, "al1", ["al1"])
    assert Limits(3).explain_reached_limit(database, "al1", ["al1"]) == ""
