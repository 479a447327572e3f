from __future__ import annotations

import pytest

from grader.python.batch.remote import connection


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat failed requests without a pause."""
    monkeypatch.setattr(connection, "PAUSE_S", 0)
    monkeypatch.setattr(connection, "RETRY_PAUSES_S", (0,) * 12)
    monkeypatch.setattr(connection, "BACKOFF_S", 0)
    monkeypatch.setattr(connection, "TIMEOUT_S", 5)
    monkeypatch.setattr(connection.RETRIES, "in_a_row", 0)
