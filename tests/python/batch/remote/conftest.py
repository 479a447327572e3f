from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from grader.python.batch.remote import connection


@pytest.fixture(autouse=True)
def same_mask() -> Iterator[None]:
    """The command changes the mask of this process, in which other tests run later."""
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are repeated at once."""
    monkeypatch.setattr(connection, "PAUSE_S", 0)
    monkeypatch.setattr(connection, "WAITING_S", (0,) * 12)
    monkeypatch.setattr(connection, "BACKOFF_S", 0)
    monkeypatch.setattr(connection, "TIMEOUT_S", 5)
