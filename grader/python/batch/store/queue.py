"""The queue of a batch that grades while hand-ins arrive. The status in the table `submissions` decides what waits; the
table `queue` keeps the order of arrival and the codes under which the queue's page shows hand-ins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.batch.ingest.archive import RefusedError, max_bytes
from grader.python.batch.ingest.folders import list_parts
from grader.python.batch.ingest.notes import Note, has_kind, read_notes, write_notes
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.times import now
from grader.python.batch.store.database import DROPPED, HANDED_IN_AGAIN, Database
from grader.python.common.submission_code import make_code

HELD = "held"  # the kind of the note on a hand-in beyond the limit of attempts
MAX_CODES = 3  # codes of a hand-in on the page; a hand-in has one for each archive and loose file
MAX_RECENT = 20  # graded hand-ins whose durations predict the waiting time
GRADED = ("graded", "missing_stages")


@dataclass(frozen=True)
class Place:
    """A hand-in in the queue. Times are ISO 8601 in UTC."""

    key: str
    code: str
    arrived: str
    graded: str = ""


def find_codes(entries: Sequence[Path]) -> str:
    """Return the codes of a hand-in's newest files, archives first; empty if no file can be read. They are hashes of
    the contents, so only a person who has the files can compute them."""
    codes: dict[str, None] = {}
    with contextlib.suppress(OSError):  # a student may remove files at the same time
        parts = [part for entry in entries for part in list_parts(entry) if part.kind in ("archive", "code")]
        parts = [part for part in parts if part.size <= max_bytes(part.kind)]
        for part in sorted(parts, key=lambda part: (part.kind != "archive", -part.time_s))[:MAX_CODES]:
            with contextlib.suppress(OSError, RefusedError):
                part.check()
                with part.open() as stream:
                    codes[make_code(stream.read(part.size))] = None
    return " ".join(codes)


def enter_arrivals(database: Database, submissions: Iterable[Submission]) -> None:
    """Append waiting hand-ins to the queue, unless they are in it with the same contents."""
    waiting = {key for (key,) in database.query("SELECT key FROM submissions WHERE status = ''")}
    queued = dict(database.query("SELECT key, fingerprint FROM queue WHERE graded = ''"))
    arrived = [
        submission
        for submission in submissions
        if submission.key in waiting and queued.get(submission.key) != submission.fingerprint
    ]
    lines = [(submission.key, submission.fingerprint, find_codes(submission.entries), now()) for submission in arrived]
    with database.transaction() as connection:
        connection.executemany("INSERT OR REPLACE INTO queue VALUES (?, ?, ?, ?, '')", lines)


def list_waiting(database: Database) -> list[Place]:
    """Return the waiting hand-ins in the order of arrival, even if the clock was set back meanwhile. Those of people
    who are not on the roster come last, because one student may hand in under any number of invented names."""
    rows = database.query(
        "SELECT s.key, coalesce(q.code, ''), coalesce(q.arrived, ''), s.notes FROM submissions s LEFT JOIN queue q"
        f" ON q.key = s.key WHERE s.status = '' AND s.key NOT IN ({DROPPED}) ORDER BY q.rowid"
    )
    rows.sort(key=lambda row: has_kind(read_notes(row[-1]), "not_on_roster"))
    return [Place(*values) for *values, _ in rows]


def list_graded(database: Database, limit: int) -> list[Place]:
    """Return the hand-ins that were graded last, the newest first."""
    return [
        Place(*values)
        for values in database.query(
            "SELECT q.key, q.code, q.arrived, q.graded FROM queue q JOIN submissions s ON q.key = s.key"
            " WHERE q.graded != '' AND s.status != '' ORDER BY q.graded DESC, q.rowid DESC LIMIT ?",
            [limit],
        )
    ]


def mark_graded(database: Database, key: str) -> None:
    """Record the current time as the time when a hand-in was graded."""
    with database.transaction() as connection:
        connection.execute("UPDATE queue SET graded = ? WHERE key = ?", [now(), key])


def mean_wall_s(database: Database) -> float:
    """Return the mean duration of the hand-ins that were graded last, in seconds; 0 before the first."""
    ((mean,),) = database.query(
        "SELECT avg(wall_s) FROM (SELECT wall_s FROM submissions WHERE status IN (?, ?) AND grade IS NOT NULL"
        " ORDER BY grade DESC LIMIT ?)",
        [*GRADED, MAX_RECENT],
    )
    return mean or 0.0


def add_held_note(database: Database, key: str, note: str) -> None:
    """Store a note for the student that a newer hand-in is not graded, and replace an earlier such note."""
    ((text,),) = database.query("SELECT notes FROM submissions WHERE key = ?", [key])
    other_notes = [note for note in read_notes(text) if not has_kind([note], HELD)]
    with database.transaction() as connection:
        connection.execute(
            "UPDATE submissions SET notes = ? WHERE key = ?", [write_notes([*other_notes, Note(note, HELD)]), key]
        )


def read_granted(database: Database) -> dict[str, int]:
    """Return the number of further attempts that the instructor granted, by student."""
    return dict(database.query("SELECT student, more FROM attempts ORDER BY id"))


def count_attempts(database: Database, key: str, since: str = "") -> int:
    """Return how many hand-ins of a student or team were judged since a time (ISO 8601 in UTC). Hand-ins that
    were not opened, that have no file of the lab, or on which the judge failed do not count, nor do regrades. Contents
    that were replaced and then handed in again count again, even if the contents in between do not count: otherwise, a
    student could have a file graded any number of times by handing in another one in between."""
    ((count,),) = database.query(
        "SELECT count(*) FROM (SELECT time, reason, fingerprint, lag(fingerprint) OVER (ORDER BY id) AS before"
        " FROM grades WHERE key = ? AND status != 'judge_error')"
        " WHERE (fingerprint IS NOT before OR reason = ?) AND time >= ?",
        [key, HANDED_IN_AGAIN, since],
    )
    return int(count)
