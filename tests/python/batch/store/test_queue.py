"""The order in which `serve` grades hand-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.python.batch.ingest.notes import make_note
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store import queue
from grader.python.batch.store.database import Database


def test_setting_the_clock_back_does_not_change_the_queues_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / "batch.sqlite")
    for key, day in (("al1", 3), ("bo2", 2), ("cy3", 1)):
        monkeypatch.setattr(queue, "now", lambda day=day: f"2026-11-0{day}T10:00:00Z")
        database.enter([submission := Submission(key, fingerprint=key)])
        queue.enter_arrivals(database, [submission])
    assert [place.key for place in queue.list_waiting(database)] == ["al1", "bo2", "cy3"]


def test_students_of_the_roster_do_not_wait_for_strangers(tmp_path: Path) -> None:
    database = Database(tmp_path / "batch.sqlite")
    for key in ("invented 1", "al1", "invented 2", "bo2"):
        notes = [make_note("not_on_roster")] if "invented" in key else []
        database.enter([submission := Submission(key, fingerprint=key, notes=notes)])
        queue.enter_arrivals(database, [submission])
    assert [place.key for place in queue.list_waiting(database)] == ["al1", "bo2", "invented 1", "invented 2"]
