"""Journals that contain the records of another journal are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.python.batch.policy import copied_records
from grader.python.batch.policy.copied_records import EXAMPLE, find_copied_records
from grader.python.batch.policy.suspicious import find_remarks
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Row


def records(*times: int) -> str:
    return "".join(f'{{"schema":1,"kind":"check","time":"2026-11-21T10:00:{time:02}Z"}}\n' for time in times)


def make_row(folder: Path, key: str, lines: str, members: list[str] | None = None) -> Row:
    journal = place_of(folder, "journals", key)
    journal.mkdir(parents=True)
    (journal / "records.jsonl").write_text(lines)
    return Row(key, key, members or [key], "", "", [], "graded", "", 0)


def test_copied_records_are_reported(tmp_path: Path) -> None:
    example = tmp_path / "example.jsonl"
    example.write_text(records(1, 2, 3))
    rows = [
        make_row(tmp_path, "ada", records(10, 11, 12, 13)),
        make_row(tmp_path, "bob", records(10, 11, 12) + "\n" + records(20)),
        make_row(tmp_path, "cleo", records(10, 30, 31, 32)),  # less than half
        make_row(tmp_path, "dan", records(1, 2, 3, 40).replace("\n", "\r\n")),
        make_row(tmp_path, "eve", ""),
        make_row(tmp_path, "fay", records(50, 51)),
        make_row(tmp_path, "fay-2", records(50, 51), ["fay"]),  # handed in twice
    ]
    rows.append(Row("gus", "gus", ["gus"], "", "", [], "graded", "", 0))  # without a journal
    copied = find_copied_records(rows, tmp_path, example)
    assert copied == [("bob", "ada"), ("dan", EXAMPLE)]
    remarks = [(remark.key, remark.title, remark.detail) for remark in find_remarks(rows, [], copied_records=copied)]
    assert ("bob", "records of another journal", "ada") in remarks


def test_records_that_all_journals_share_are_reported_for_all_but_one(tmp_path: Path) -> None:
    shared = records(*range(60)) * 20
    rows = [make_row(tmp_path, f"s{at:03}", shared) for at in range(60)]
    assert len(find_copied_records(rows, tmp_path, tmp_path / "none")) == 59


def test_records_of_a_journal_above_the_limit_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_records, "MAX_RECORDS", 3, raising=False)
    rows = [
        make_row(tmp_path, key, records(*extra) + records(10, 11, 12)) for key, extra in (("ada", ()), ("bob", (1, 2)))
    ]
    assert find_copied_records(rows, tmp_path, tmp_path / "none") == []
