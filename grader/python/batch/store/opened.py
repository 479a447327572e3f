"""Open an existing batch, and read its settings."""

from __future__ import annotations

from pathlib import Path

from grader.python.batch.ingest.folders import DATABASE
from grader.python.batch.store.database import Database
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError


def open_batch(folder: Path) -> Database:
    """Return the database of an existing batch. Raises UserError if there is none."""
    if not (folder / DATABASE).is_file():
        raise UserError(f"{folder}: no {DATABASE} in it. A batch begins with: warplab-course grade")
    return Database(folder / DATABASE)


def stored_settings(database: Database) -> Settings:
    """Return the settings with which the batch was graded. Their folder is where the batch is now. Raises UserError if
    nothing was graded yet."""
    stored = database.read_value("settings")
    if not stored:
        raise UserError(f"{database.file}: nothing was graded yet. A batch begins with: warplab-course grade")
    folders = {name: Path(stored[name]) for name in ("root", "build")}
    folders["folder"] = database.file.resolve().parent
    return Settings(**{**stored, **folders, "stages": tuple(stored["stages"])})
