"""Convert batches that an earlier version wrote: the database, and the names of the folders."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

from grader.python.batch.ingest.names import read_canvas, read_moodle
from grader.python.batch.ingest.notes import guess_kinds
from grader.python.batch.ingest.submission import NAMED_TIME
from grader.python.batch.store.places import move_folders, name_with_dash
from grader.python.batch.store.sqlite import SqliteFile

SCHEMA = 10


def convert(database: SqliteFile, schema: int) -> None:
    """Convert a batch from an earlier schema to the current one."""
    if schema == 1:
        convert_notes(database)
    folder, keys = database.file.resolve().parent, [key for (key,) in database.query("SELECT key FROM submissions")]
    if schema <= 2:
        move_folders(folder, keys)
    elif schema <= 8:
        move_folders(folder, [key for key in keys if key.startswith("-")], name_with_dash)
    columns = [name for _, name, *_ in database.query("PRAGMA table_info(submissions)")]
    if "called" not in columns:
        convert_names(database)
    if "pending_alone" not in columns:
        convert_reasons(database)
    if "marked_by" not in columns:
        convert_times(database)
    if "team" not in columns:
        convert_teams(database)
    if "handed_in" not in [name for _, name, *_ in database.query("PRAGMA table_info(grades)")]:
        convert_grades(database)
    if "modelled" not in [name for _, name, *_ in database.query("PRAGMA table_info(stages)")]:
        convert_stages(database)
    database.set_values(schema=SCHEMA)  # last, so that an interrupted conversion is repeated


def convert_notes(database: SqliteFile) -> None:
    """Convert schema 1, which kept all notes in one column. They all become `graded_notes`, so they stay until the
    submission is graded again."""
    folder = Path(database.read_value("submissions") or "").absolute()  # the path was stored as typed
    with database.transaction() as connection:
        connection.execute("ALTER TABLE submissions ADD COLUMN graded_notes TEXT NOT NULL DEFAULT '[]'")
        connection.execute("UPDATE submissions SET graded_notes = notes")
        for key, entries in connection.execute("SELECT key, entries FROM submissions").fetchall():
            paths = [str(folder / Path(entry).name) for entry in json.loads(entries)]
            connection.execute("UPDATE submissions SET entries = ? WHERE key = ?", [json.dumps(paths), key])
        connection.execute("UPDATE facts SET value = '2' WHERE name = 'schema'")


def convert_names(database: SqliteFile) -> None:
    """Convert schema 3, which had neither kinds of notes nor `called`."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE submissions ADD COLUMN called TEXT NOT NULL DEFAULT ''")
        for key, entries, notes, graded in connection.execute(
            "SELECT key, entries, notes, graded_notes FROM submissions"
        ).fetchall():
            connection.execute(
                "UPDATE submissions SET called = ?, notes = ?, graded_notes = ? WHERE key = ?",
                [guess_earlier_key(key, json.loads(entries)), guess_kinds(notes), guess_kinds(graded), key],
            )


def convert_reasons(database: SqliteFile) -> None:
    """Convert schema 4, in which nothing but the reason showed that only the pending points were to be graded."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE submissions ADD COLUMN pending_alone INTEGER NOT NULL DEFAULT 0")
        connection.execute("UPDATE submissions SET pending_alone = reason LIKE 'points were pending%'")


def convert_times(database: SqliteFile) -> None:
    """Convert schema 5, which did not store a course system's late mark, the user who made a decision, and the hand-in
    that an override was given for."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE submissions ADD COLUMN named_time TEXT NOT NULL DEFAULT ''")
        connection.execute("ALTER TABLE submissions ADD COLUMN marked_by TEXT NOT NULL DEFAULT ''")
        connection.execute("ALTER TABLE submissions ADD COLUMN marked_late INTEGER NOT NULL DEFAULT 0")
        connection.execute("ALTER TABLE overrides ADD COLUMN fingerprint TEXT")
        for table in ("extensions", "points", "overrides"):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN who TEXT NOT NULL DEFAULT ''")
        connection.execute("UPDATE submissions SET named_time = handed_in WHERE known_by = ?", [NAMED_TIME])


def convert_teams(database: SqliteFile) -> None:
    """Convert schema 6, which did not store teams."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE submissions ADD COLUMN team TEXT NOT NULL DEFAULT '[]'")


def convert_grades(database: SqliteFile) -> None:
    """Convert schema 7, which did not store the time of a grade's hand-in. If the submission has changed since,
    this time is not known, and the grade's own time replaces it."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE grades ADD COLUMN handed_in TEXT NOT NULL DEFAULT ''")
        connection.execute(
            "UPDATE grades SET handed_in = coalesce((SELECT s.handed_in FROM submissions s WHERE s.key = grades.key"
            " AND s.fingerprint = grades.fingerprint), time)"
        )


def convert_stages(database: SqliteFile) -> None:
    """Convert schema 9, in which only the reports showed which points are given for a modelled time."""
    with database.transaction() as connection:
        connection.execute("ALTER TABLE stages ADD COLUMN modelled REAL NOT NULL DEFAULT 0")
        for grade, packed in connection.execute("SELECT id, report FROM grades").fetchall():
            for stage in json.loads(zlib.decompress(packed)).get("stages", []):
                score = stage.get("score") or {}
                if score.get("speed_modelled") and not score["speed_pending"]:
                    connection.execute(
                        "UPDATE stages SET modelled = ? WHERE grade = ? AND stage = ?",
                        [score["speed"], grade, stage["stage"]],
                    )


def guess_earlier_key(key: str, entries: Sequence[str]) -> str:
    """Return the key that a submission of an earlier batch has without a roster: the id in its entries' names if there
    is exactly one, else the submission's key."""
    names = [part for entry in entries for part in (Path(entry).name, Path(entry).parent.name)]
    ids = {reading.id for name in names for reading in (read_moodle(name) or read_canvas(name))[:1]}
    return ids.pop() if len(ids) == 1 else key
