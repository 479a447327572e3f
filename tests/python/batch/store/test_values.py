"""A batch's database that an instructor edited by hand causes a message, never a stack trace."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

import pytest

from grader.python.batch.__main__ import main
from grader.python.batch.store.database import NAMED_TABLES, Database
from grader.python.batch.store.values import NAMED_VALUES
from grader.python.common.console import UserError
from tests.python.batch.batches import STAGES, Course
from tests.share import THOROUGH

CELLS = ("'x'", "''", "NULL", "x'00ff'", "-1", "9e999", "1.5", "'{\"a\": 1}'", "'[1]'", "'[[]]'", "'0001-01-01'")
VALUES = ("{", '"x"', '""', "[]", "[1]", '{"a": 1}', '{"a": {}}', "-1", "1e300", "NaN", "true", "null")
VERBS = (("report",), ("export", "--format", "canvas"), ("export", "--format", "moodle"))


@pytest.fixture
def graded(course: Course) -> Course:
    """Return a batch with a row in every table."""
    (course.root / "roster.csv").write_text("id,name\nada,Ada Lovelace\nbo,Bo\ncy,Cy\n")
    course.hand_in("ada", "fine", "fine")
    course.hand_in("bo", "fine")
    course.grade("--roster", course.root / "roster.csv")
    course.run_verb("due", "--at", "2026-11-21T23:59Z", "--percent-per-day", "10", "--grace-minutes", "5")
    ada = ("--student", "ada", "--reason", "r")
    course.run_verb("extend", *ada, "--until", "2026-11-22T23:59Z")
    course.run_verb("points", *ada, "--item", "journal", "--points", "3", "--of", "5")
    course.run_verb("override", *ada, "--points", "7")
    course.run_verb("drop", "--student", "bo", "--reason", "r")
    course.run_verb("drop", "--student", "bo", "--reason", "r", "--undo")
    course.run_verb("attempts", *ada, "--more", "2")
    course.run_verb("comment", "--student", "ada", "--stage", STAGES[0], "--line", "1", "--text", "t")
    course.run_verb("request", "--student", "ada", "--text", "t")
    with closing(course.database()) as database:
        queue_row = ("ada", "f", "c", "2026-11-21T23:59:00Z", "")
        database.connection.execute("INSERT INTO queue VALUES (?, ?, ?, ?, ?)", queue_row)
        database.set_values(slurm_jobs={"x": "1_2"}, pushed={"ada": "m"}, left_out=["x"], renamed={"a": "b"})
    return course


def edits(file: Path) -> Iterator[str]:
    """Yield SQL statements, each of which sets a column in all rows of a table, or one of the named values."""
    with closing(sqlite3.connect(file)) as connection:
        for table in NAMED_TABLES:
            assert connection.execute(f"SELECT * FROM {table}").fetchall(), f"{table} has no row to change"
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                yield from (f"UPDATE OR IGNORE {table} SET {column} = {cell}" for cell in CELLS if table != "facts")
        stored = {name for (name,) in connection.execute("SELECT name FROM facts")} - {"schema"}
        for name in sorted(stored | NAMED_VALUES.keys()):
            yield from (f"INSERT OR REPLACE INTO facts VALUES ('{name}', '{value}')" for value in VALUES)


def change(file: Path, edit: str) -> None:
    """Execute the statement, unless the table's constraints forbid it."""
    connection = sqlite3.connect(file, isolation_level=None)
    with closing(connection), suppress(sqlite3.IntegrityError):
        connection.execute(edit)


def test_an_edited_database_gives_a_message(graded: Course, tmp_path: Path) -> None:
    file = graded.out / "batch.sqlite"
    Database(file).close()  # merges the write-ahead log into the file
    refusals = 0
    statements = list(edits(file))
    for number, edit in enumerate(statements if THOROUGH else statements[::17]):
        copy = tmp_path / f"edited {number}"
        shutil.copytree(graded.out, copy)
        change(copy / "batch.sqlite", edit)
        for verb, *words in VERBS:
            try:
                with redirect_stdout(StringIO()):
                    main([verb, str(copy), *words])
            except UserError as error:
                refusals += "batch.sqlite is damaged: " in str(error)
            except Exception as error:
                raise AssertionError(f"{edit}; {verb}: {error!r}") from error
        shutil.rmtree(copy)
    assert refusals > 50
