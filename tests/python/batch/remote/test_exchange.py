"""Exchanges with a course system that fails."""

from __future__ import annotations

import time

import pytest

from grader.python.batch.remote.exchange import MAX_PAUSE_S, Exchange
from grader.python.common.console import UserError


def finish(exchange: Exchange[str]) -> str | None:
    assert exchange.thread
    exchange.thread.join()
    return exchange.take()


def fail() -> str:
    raise UserError("The course system failed.")


def test_pauses_grow_after_failures_and_end_after_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    exchange: Exchange[str] = Exchange(60)
    pauses = []
    for _ in range(6):
        exchange.start(fail)
        assert not exchange.is_due(), "one at a time"
        assert finish(exchange) is None and exchange.error == "The course system failed."
        pauses.append(exchange.next_s - 1000)
    assert pauses == [120, 240, 480, MAX_PAUSE_S, MAX_PAUSE_S, MAX_PAUSE_S] and exchange.failed_since
    exchange.start(lambda: "an answer")
    assert finish(exchange) == "an answer" and exchange.take() is None
    assert (exchange.failures, exchange.failed_since, exchange.next_s) == (0, "", 1060)


def test_an_unexpected_exception_becomes_the_error_of_the_exchange() -> None:
    exchange: Exchange[str] = Exchange(1)
    exchange.start(lambda: str(1 // 0))
    assert finish(exchange) is None and exchange.error.startswith("ZeroDivisionError")


def test_thousands_of_failures_do_not_end_the_exchange() -> None:
    exchange: Exchange[str] = Exchange(60.0)
    exchange.failures = 5000
    exchange.start(fail)
    assert finish(exchange) is None and exchange.next_s <= time.monotonic() + MAX_PAUSE_S
