"""The share of rows that `make test` runs contains each kind, and does not depend on the order of the rows."""

from __future__ import annotations

from tests import share

ROWS = [f"{kind}{number}" for kind in "abc" for number in range({"a": 1, "b": 3, "c": 10}[kind])]


def choose(rows: list[str], one_in: int = 3) -> list[str]:
    return share.share_of(rows, lambda row: row[0], str, one_in)


def test_each_kind_keeps_its_share_and_at_least_one_row(monkeypatch) -> None:
    monkeypatch.setattr(share, "ALL_ROWS", False)
    chosen = choose(ROWS)
    assert [sum(row[0] == kind for row in chosen) for kind in "abc"] == [1, 1, 4]
    assert chosen == [row for row in ROWS if row in chosen]
    assert set(choose(ROWS[::-1])) == set(chosen)
    assert choose(ROWS, 1) == ROWS


def test_all_rows_can_be_requested(monkeypatch) -> None:
    monkeypatch.setattr(share, "ALL_ROWS", True)
    assert choose(ROWS) == ROWS
