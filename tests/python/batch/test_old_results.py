"""Results that were written before the types were generated from the schemas can still be read: reports, and a batch's
database. tests/python/journal/test_example_journal.py tests this for the journal in handouts."""

from __future__ import annotations

import json
import pickle
import sqlite3
from pathlib import Path

import pytest

from grader.python.batch.store.database import Database
from grader.python.common.documents import from_json
from grader.python.common.report import Report, read_report
from tests.python.support import ROOT, run_module

REPORTS = sorted((ROOT / "tests/model/old").glob("*.json"))


def test_there_are_reports() -> None:
    assert len(REPORTS) == 2


@pytest.mark.parametrize("file", REPORTS, ids=lambda file: file.stem)
def test_an_old_report_is_read(file: Path) -> None:
    report = read_report(file)
    answers = [stage.compilation.nvcc.answer for stage in report.stages]
    assert answers == ["compiles", *["not_asked"] * 4]
    assert sum(stage.score.total for stage in report.stages if stage.score) == report.total.points
    assert [stage.score.correctness_pending for stage in report.stages if stage.score] == [False] * 4


def test_an_old_database_is_read(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "batch.sqlite") as connection:
        connection.executescript((ROOT / "tests/python/batch/old/batch.sql").read_text())
    database = Database(tmp_path / "batch.sqlite")
    assert {row.key: (row.status, row.points) for row in database.rows()} == {
        "ada": ("graded", 12.0),
        "bob": ("graded", 12.0),
    }
    for row in database.rows():
        content = json.loads(database.report(row.grade))
        assert content["stages"][0]["compilation"]["nvcc"] == "ok"
        report = from_json(Report, content, "")
        assert (report.total.points, report.stages[0].compilation.nvcc.answer) == (row.points, "compiles")
    result = run_module("grader.python.batch", "status", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "2 graded" in result.stdout


def test_a_report_can_be_sent_to_another_process() -> None:
    """Slurm's jobs return their results by pickle."""
    report = read_report(REPORTS[0])
    assert pickle.loads(pickle.dumps(report)) == report
