"""An SQLite file with a table of named values. Errors of SQLite become messages for the instructor."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.disk import DiskFullError, MovedError, describe_moved_folder
from grader.python.common.console import UserError


class LockedError(UserError):
    """Another program keeps the database locked. This is not the fault of a submission."""


class SqliteFile:
    """A connection to a file. Each change is one transaction. Call all methods from one thread."""

    def __init__(self, file: Path, tables: str):
        self.file = file
        with self.reporting():
            self.connection = sqlite3.connect(file, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
            self.connection.executescript(tables)
        self.inode = find_inode(file)

    def close(self) -> None:
        """Close the connection, which merges the write-ahead log into the file."""
        self.connection.close()

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """Convert errors of SQLite to DiskFullError, LockedError or another UserError."""
        try:
            yield
        except sqlite3.Error as error:
            if "full" in str(error) or "disk I/O" in str(error):
                raise DiskFullError(
                    f"{self.file}: the disk is full ({error}). All grades so far are kept: free some space, then "
                    "repeat the same command."
                ) from None
            if "locked" in str(error):
                raise LockedError(
                    f"{self.file}: another program keeps it locked. End that program, then repeat the same command."
                ) from None
            raise UserError(f"{self.file}: {error}. Check that it is a batch's database and writable.") from None
        except UnicodeEncodeError as error:  # bytes of the command line that are not UTF-8
            raise UserError(f"{error.object[:200]!r} is not valid UTF-8. Type it again.") from None

    @contextlib.contextmanager
    def reporting_damage(self) -> Iterator[None]:
        """Convert errors in reading a stored value to a UserError that says that the file is damaged."""
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error) as error:
            raise UserError(f"{self.file} is damaged: {error}. Restore it from a backup.") from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the body in a transaction, which is rolled back after any exception. Raises MovedError if the file was
        moved or deleted: SQLite would write to a deleted file without an error."""
        if find_inode(self.file) != self.inode:
            raise MovedError(describe_moved_folder(self.file.parent))
        with self.reporting():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
                raise

    def query(self, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of one statement."""
        with self.reporting():
            return self.connection.execute(text, values).fetchall()

    def read_value(self, name: str) -> Any:
        """Return the value with this name in the table `facts`, or None if there is none."""
        rows = self.query("SELECT value FROM facts WHERE name = ?", [name])
        with self.reporting_damage():
            return json.loads(rows[0][0]) if rows else None

    def set_values(self, **values: Any) -> None:
        """Store values under their names in one transaction, and replace earlier ones."""
        with self.transaction() as connection:
            write_values(connection, **values)


def find_inode(file: Path) -> tuple[int, int] | None:
    """Return the numbers of a file's device and inode, which identify it; None if there is no such file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def write_values(connection: sqlite3.Connection, **values: Any) -> None:
    """Store values under their names, and replace earlier ones."""
    for name, value in values.items():
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, json.dumps(value)])
