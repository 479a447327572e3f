"""A part of soak_batch.py with few rows; `make soak` runs all of it."""

from __future__ import annotations

from pathlib import Path

from tests.python.batch import soak_batch


def test_generated_rows_go_through_database_and_outputs(tmp_path: Path) -> None:
    assert soak_batch.fill(tmp_path, 3)["found"] == []
