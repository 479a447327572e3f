"""Store a batch in batch.sqlite: every submission with its one status, and all grades that it ever got.

Each change is one transaction (SQLite, WAL), so a batch that is killed at any moment continues after the last finished
submission. Tables:

    facts         the batch's lab, options, due date, late policy, and a secret for pseudonyms
    submissions   one row per student or team; `status` is empty while it waits to be graded; `notes` concern its name
                  and the roster, `graded_notes` the contents, as the last grading found them; `called` is the key if
                  no roster identifies the student, such as the course system's number
    grades        one row per grading, newest last; `reason` states why it was graded again; `lab_hash` is the hash of
                  the lab, followed by + and the grader's hash, which earlier batches do not have
    stages        one row per stage of a grade: the values of report.json that tables and plots need
    extensions, points, overrides   the instructor's additions, with the reason; the newest counts
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.disk import DiskFullError
from grader.python.batch.ingest.names import read_canvas, read_moodle
from grader.python.batch.ingest.notes import guess_kinds, has_kind, read_notes, write_notes
from grader.python.batch.ingest.submission import ANOTHER, FILE_DATE, Earlier, Submission
from grader.python.batch.store.places import move_folders
from grader.python.common.console import UserError
from grader.python.common.report import StageReport

SCHEMA = 5
# Every submission has exactly one of these. Failures on our side come first, and cost nobody points; next, those that
# an instructor should look at.
STATUSES = {
    "judge_error": "our side broke: no points are lost; grade it again",
    "judge_crashed": "the judge crashes or does not end on it, and grades the reference: no points; have a look",
    "needs_review": "timed faster than is physically possible: have a look",
    "archive_refused": "the archive was not opened: it is damaged, unsafe, or of a kind that is not read",
    "nothing_to_grade": "no file of this lab is in it",
    "did_not_compile": "no stage compiles",
    "missing_stages": "graded; some stages were not handed in",
    "graded": "graded, all stages",
    "not_submitted": "on the roster, and nothing was handed in",
}
OURS = ("judge_error",)
HAS_POINTS = ("needs_review", "did_not_compile", "missing_stages", "graded")
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submissions (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, members TEXT NOT NULL, entries TEXT NOT NULL, handed_in TEXT NOT NULL,
    known_by TEXT NOT NULL, fingerprint TEXT NOT NULL, notes TEXT NOT NULL, status TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '', wall_s REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', grade INTEGER,
    graded_notes TEXT NOT NULL DEFAULT '[]', called TEXT NOT NULL DEFAULT '',
    pending_alone INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS grades (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL REFERENCES submissions, status TEXT NOT NULL, points REAL NOT NULL,
    most REAL NOT NULL, pending REAL NOT NULL, time TEXT NOT NULL, warplab TEXT NOT NULL, lab_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL, backend TEXT NOT NULL, sandbox TEXT NOT NULL, reason TEXT NOT NULL,
    report BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS grades_by_key ON grades (key);
CREATE TABLE IF NOT EXISTS stages (
    grade INTEGER NOT NULL REFERENCES grades, stage TEXT NOT NULL, verdict TEXT NOT NULL, cause TEXT NOT NULL,
    source_hash TEXT NOT NULL, points REAL, most REAL, pending REAL, time_s REAL, bound_s REAL, ratio REAL,
    ratio_low REAL, ratio_high REAL, ambiguous INTEGER NOT NULL, PRIMARY KEY (grade, stage)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extensions (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, until TEXT NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, item TEXT NOT NULL, points REAL NOT NULL, most REAL NOT NULL,
    reason TEXT NOT NULL, time TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS overrides (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, points REAL NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL);
"""
# For each table: the columns whose values identify the decision that a newer one replaces, the condition under which a
# decision only takes back an earlier one, and the SQL expressions for its name and its content.
DECISIONS = (
    ("extensions", "student", "until = ''", "'extension'", "'until ' || until"),
    ("points", "student, item", "points < 0", "item", "item || printf(' %g of %g', points, most)"),
    ("overrides", "student", "points < 0", "'override'", "printf('set to %g points', points)"),
)


@dataclass
class Stage:
    """The values of a stage that tables and plots need. Times are in seconds, None if nothing was timed."""

    stage: str
    verdict: str
    cause: str
    source_hash: str
    points: float | None
    most: float | None
    pending: float | None
    time_s: float | None
    bound_s: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ambiguous: bool


@dataclass
class Row:
    """A submission with its newest grade, without the report."""

    key: str
    name: str
    members: list[str]
    handed_in: str
    known_by: str
    notes: list[str]
    status: str
    detail: str
    wall_s: float
    grade: int | None = None
    points: float = 0
    most: float = 0
    pending: float = 0
    time: str = ""
    backend: str = ""
    sandbox: str = ""
    stages: list[Stage] = field(default_factory=list)
    graded_as: str = ""  # the grade's own status: an earlier one, if nothing was judged since

    def own(self) -> list[str]:
        """Return the members without credited partners."""
        return own_members(self.key, self.members)

    def is_certain(self) -> bool:
        """Return whether an id or a number identifies the student; students can choose names."""
        return not has_kind(self.notes, "found_by_name")


@dataclass
class Graded:
    """The result of grading a submission; `report` is report.json as it was written, empty if there is none."""

    key: str
    status: str
    detail: str = ""
    report: str = ""
    notes: list[str] = field(default_factory=list)
    wall_s: float = 0
    fingerprint: str = ""
    timed_out: bool = False  # possibly because of a neighbour, if several were graded at once
    was_killed: bool = False  # while it was read, possibly because memory was short
    judge_failure: str = ""  # how the judge ended, if it gave no valid report


def in_words(status: str) -> str:
    """Return a status as people read it; an empty status means waiting."""
    return status.replace("_", " ") or "waiting"


def summarise(stage: StageReport) -> Stage:
    """Return the values of one stage of a report that the database keeps."""
    measured = stage.main_measurement
    failures = [stage.error, stage.compilation.failure, *(check.failure for check in stage.checks)]
    findings = [one.cause for one in stage.check_mode.findings if not one.note] if stage.check_mode else []
    causes = [failure.cause for failure in failures if failure] + findings
    interval = measured.reference_ratio if measured else None
    return Stage(
        stage.stage,
        stage.verdict,
        causes[0] if causes and stage.verdict != "passed" else "",
        stage.source_hash,
        stage.score.total if stage.score else None,
        stage.score.max if stage.score else None,
        stage.score.pending if stage.score else None,
        measured.median_s if measured else None,
        measured.bound_s if measured else None,
        interval.median if interval else None,
        interval.low if interval else None,
        interval.high if interval else None,
        bool(measured and measured.ambiguous),
    )


def file_names(entries: Iterable[str | Path]) -> tuple[str, ...]:
    """Return the names of the files or folders of a submission, without their folders."""
    return tuple(Path(entry).name for entry in entries)


def join_notes(*notes: str) -> list[str]:
    """Join lists of notes in the database's format into one list without repetitions."""
    return list(dict.fromkeys(note for kept in notes for note in read_notes(kept)))


def own_members(key: str, members: Sequence[str]) -> list[str]:
    """Return the members whose ids form a submission's key; the others are credited partners."""
    counts = [count for count in range(1, len(members)) if "+".join(members[:count]) == key]
    return list(members[: counts[0]] if counts else members)


def guess_called(key: str, entries: Sequence[str]) -> str:
    """Return the key that an earlier batch's submission has without a roster."""
    names = [part for entry in entries for part in (Path(entry).name, Path(entry).parent.name)]
    ids = {reading.id for name in names for reading in (read_moodle(name) or read_canvas(name))[:1]}
    return ids.pop() if len(ids) == 1 else key


def write_facts(connection: sqlite3.Connection, **facts: Any) -> None:
    """Write facts and replace those with the same names."""
    for name, value in facts.items():
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, json.dumps(value)])


class Database:
    """The database of one batch. Call all methods from one thread."""

    def __init__(self, file: Path):
        self.file = file
        with self.reporting():
            self.connection = sqlite3.connect(file, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
            self.connection.executescript(TABLES)
        schema = self.fact("schema")
        if schema is None:
            self.set_facts(schema=SCHEMA)
        elif schema in (1, 2, 3, 4):
            self.convert(schema)
        elif schema != SCHEMA:
            raise UserError(f"{file}: schema {schema}; this version reads schema {SCHEMA}.")

    def convert(self, schema: int) -> None:
        """Convert an earlier batch, including its folders."""
        if schema == 1:
            self.convert_notes()
        if schema <= 2:
            move_folders(self.file.resolve().parent, [key for (key,) in self.query("SELECT key FROM submissions")])
        columns = [name for _, name, *_ in self.query("PRAGMA table_info(submissions)")]
        if "called" not in columns:
            self.convert_names()
        if "pending_alone" not in columns:
            self.convert_reasons()
        self.set_facts(schema=SCHEMA)  # last: if killed earlier, it is repeated

    def convert_notes(self) -> None:
        """Convert schema 1, which kept all notes in one column: they stay until the submission is graded again."""
        folder = Path(self.fact("submissions") or "").absolute()  # paths in it were kept as typed
        with self.transaction() as connection:
            connection.execute("ALTER TABLE submissions ADD COLUMN graded_notes TEXT NOT NULL DEFAULT '[]'")
            connection.execute("UPDATE submissions SET graded_notes = notes")
            for key, entries in connection.execute("SELECT key, entries FROM submissions").fetchall():
                paths = [str(folder / Path(entry).name) for entry in json.loads(entries)]
                connection.execute("UPDATE submissions SET entries = ? WHERE key = ?", [json.dumps(paths), key])
            connection.execute("UPDATE facts SET value = '2' WHERE name = 'schema'")

    def convert_names(self) -> None:
        """Convert schema 3, which had neither kinds of notes nor `called`."""
        with self.transaction() as connection:
            connection.execute("ALTER TABLE submissions ADD COLUMN called TEXT NOT NULL DEFAULT ''")
            for key, entries, notes, graded in connection.execute(
                "SELECT key, entries, notes, graded_notes FROM submissions"
            ).fetchall():
                connection.execute(
                    "UPDATE submissions SET called = ?, notes = ?, graded_notes = ? WHERE key = ?",
                    [guess_called(key, json.loads(entries)), guess_kinds(notes), guess_kinds(graded), key],
                )

    def convert_reasons(self) -> None:
        """Convert schema 4, in which only the reason showed that only pending points are graded."""
        with self.transaction() as connection:
            connection.execute("ALTER TABLE submissions ADD COLUMN pending_alone INTEGER NOT NULL DEFAULT 0")
            connection.execute("UPDATE submissions SET pending_alone = reason LIKE 'points were pending%'")

    def close(self) -> None:
        """Close the connection, which merges the write-ahead log into the file."""
        self.connection.close()

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """Convert SQLite's errors to one message. Raises DiskFullError if the disk is full, else UserError."""
        try:
            yield
        except sqlite3.Error as error:
            if "full" in str(error) or "disk I/O" in str(error):
                raise DiskFullError(
                    f"{self.file}: no room to write ({error}). All that was graded before is kept: make room, then "
                    "give the same command again."
                ) from None
            raise UserError(f"{self.file}: {error}. Is it a batch's database, and writable?") from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the body in a transaction, which is rolled back after any exception."""
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

    def fact(self, name: str) -> Any:
        """Return a fact, or None if there is none of that name."""
        rows = self.query("SELECT value FROM facts WHERE name = ?", [name])
        return json.loads(rows[0][0]) if rows else None

    def set_facts(self, **facts: Any) -> None:
        """Write facts in one transaction and replace earlier values."""
        with self.transaction() as connection:
            write_facts(connection, **facts)

    def find_renamed(self, submissions: Sequence[Submission]) -> list[tuple[str, Submission]]:
        """Return the old keys of submissions that the roster now identifies differently, each with the new submission.

        The two belong together if the course system has the same name for both or, if it has none, only these two have
        the same files; and the old key is gone. Submissions missing from the new roster keep their keys.
        """
        rows = self.query("SELECT key, called, entries, fingerprint FROM submissions WHERE status != 'not_submitted'")
        now, taken = {one.key for one in submissions}, {key for key, *_ in rows}
        called, files = defaultdict(list), defaultdict(list)
        for key, name, entries, known in rows:
            if key not in now:
                called[name].append(key)
                files[file_names(json.loads(entries)), known].append((key, name))
        names = {one.called for one in submissions}
        contents = Counter((file_names(one.entries), one.fingerprint) for one in submissions)
        renamed: dict[str, Submission] = {}
        for one in submissions:
            if not one.own or one.key in taken:
                continue
            same = (file_names(one.entries), one.fingerprint)
            by_files = files[same] if contents[same] == 1 else []
            by_files = [key for key, _ in by_files] if all(name not in names for _, name in by_files) else []
            old = called[one.called] or by_files
            if len(old) == 1:
                renamed.setdefault(old[0], one)
        return list(renamed.items())

    def earlier(self) -> list[Earlier]:
        """Return all submissions handed in so far."""
        rows = self.query("SELECT key, called, members, notes FROM submissions WHERE status != 'not_submitted'")
        found = []
        for key, called, text, kept in rows:
            members, notes = json.loads(text), read_notes(kept)
            own = [] if has_kind(notes, "not_on_roster") else own_members(key, members)
            found.append(Earlier(key, called, members, own, not has_kind(notes, "found_by_name")))
        return found

    def separate_strangers(self, ids: Set[str]) -> None:
        """Give new keys to submissions of students who are not on the roster, if the keys are among the roster's `ids`.

        The fact `renamed` maps the old keys to the new ones. Decisions for a student of the previous roster stay with
        that student.
        """
        rows = self.query("SELECT key, members, notes FROM submissions WHERE status != 'not_submitted'")
        taken, before = {key for key, *_ in rows} | ids, set(self.fact("names") or {})
        renamed = {}
        for key, _, notes in rows:
            if key in ids and has_kind(read_notes(notes), "not_on_roster"):
                new = key + ANOTHER
                while new in taken:
                    new += ANOTHER
                taken.add(new)
                renamed[key] = new
        others = {member for key, members, _ in rows if key not in renamed for member in json.loads(members)}
        with self.transaction() as connection:
            for old, new in renamed.items():
                connection.execute(
                    "UPDATE submissions SET key = ?, members = ? WHERE key = ?", [new, json.dumps([new]), old]
                )
                connection.execute("UPDATE grades SET key = ? WHERE key = ?", [new, old])
                for table in ("extensions", "points", "overrides") if old not in others | before else ():
                    connection.execute(f"UPDATE {table} SET student = ? WHERE student = ?", [new, old])
            write_facts(connection, renamed=renamed)

    def rename(self, old: str, one: Submission, on_roster: Set[str]) -> None:
        """Give a submission its new key; the fact `renamed` then maps the old key to it. Decisions for a single student
        move to the new id, unless the roster still has that student under the old id."""
        ((text,),) = self.query("SELECT members FROM submissions WHERE key = ?", [old])
        members = json.loads(text)
        with self.transaction() as connection:
            connection.execute("DELETE FROM submissions WHERE key = ?", [one.key])  # as not submitted
            connection.execute(
                "UPDATE submissions SET key = ?, members = ?, notes = ? WHERE key = ?",
                [one.key, json.dumps(one.members), write_notes(one.notes), old],
            )
            connection.execute("UPDATE grades SET key = ? WHERE key = ?", [one.key, old])
            alone = len(members) == len(one.members) == 1 and members[0] not in on_roster
            for table in ("extensions", "points", "overrides") if alone else ():
                connection.execute(f"UPDATE {table} SET student = ? WHERE student = ?", [one.members[0], members[0]])
            write_facts(connection, renamed={old: one.key})

    def enter(self, submissions: Iterable[Submission]) -> None:
        """Add new submissions; put those with changed contents back in the queue.

        The values that follow from names and the roster are updated for all, because other students' hand-ins may have
        changed them. If the time is a file's date and the contents are unchanged, the earlier date stays, because a
        newer one comes from another download.
        """
        old = dict(self.query("SELECT key, fingerprint FROM submissions"))
        with self.transaction() as connection:
            for one in submissions:
                values = [one.key, one.name, json.dumps(one.members), json.dumps(self.write_paths(one.entries))]
                values += [one.handed_in, one.known_by, one.fingerprint, write_notes(one.notes), one.called]
                connection.execute(
                    "INSERT INTO submissions (key, name, members, entries, handed_in, known_by, fingerprint, notes,"
                    " called) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET name = excluded.name,"
                    " members = excluded.members, entries = excluded.entries, handed_in ="
                    " iif(fingerprint = excluded.fingerprint AND known_by = ? AND excluded.known_by = ?,"
                    " min(handed_in, excluded.handed_in), excluded.handed_in),"
                    " known_by = excluded.known_by, fingerprint = excluded.fingerprint, notes = excluded.notes,"
                    " called = excluded.called",
                    [*values, FILE_DATE, FILE_DATE],
                )
                if old.get(one.key, one.fingerprint) != one.fingerprint:
                    connection.execute(
                        "UPDATE submissions SET graded_notes = '[]', status = '', reason = 'handed in again',"
                        " pending_alone = 0"
                        " WHERE key = ?",
                        [one.key],
                    )

    def enter_absent(self, students: Iterable[tuple[str, str]]) -> None:
        """Enter students (id, name) who handed nothing in, and remove those who have done so since."""
        present = {member for (text,) in self.query("SELECT members FROM submissions WHERE status != 'not_submitted'")
                   for member in json.loads(text)}  # fmt: skip
        with self.transaction() as connection:
            connection.execute("DELETE FROM submissions WHERE status = 'not_submitted'")
            for student, name in students:
                if student not in present:
                    connection.execute(
                        "INSERT INTO submissions (key, name, members, entries, handed_in, known_by, fingerprint, notes,"
                        " status) VALUES (?, ?, ?, '[]', '', '', '', '[]', 'not_submitted')",
                        [student, name, json.dumps([student])],
                    )

    def write_paths(self, entries: Sequence[Path]) -> list[str]:
        """Return paths as the database keeps them: relative to the batch's folder if they are in it, because it may be
        moved; else absolute."""
        folder, paths = self.file.resolve().parent, [entry.absolute() for entry in entries]
        return [str(path.relative_to(folder) if path.is_relative_to(folder) else path) for path in paths]

    def read_paths(self, entries: str) -> list[Path]:
        """Return the paths that write_paths() wrote."""
        return [self.file.resolve().parent / entry for entry in json.loads(entries)]

    def entries(self) -> list[Path]:
        """Return the paths of all files and folders that were handed in."""
        return [
            path for (entries,) in self.query("SELECT entries FROM submissions") for path in self.read_paths(entries)
        ]

    def waiting(self) -> list[Submission]:
        """Return the submissions that are still to be graded, by key."""
        rows = self.query(
            "SELECT s.key, s.name, s.entries, s.members, s.handed_in, s.known_by, s.notes, s.fingerprint,"
            " iif(EXISTS (SELECT 1 FROM grades g WHERE g.key = s.key AND g.fingerprint = s.fingerprint),"
            " s.graded_notes, 'null') FROM submissions s WHERE s.status = '' ORDER BY s.key"
        )
        return [
            Submission(key, name, self.read_paths(entries), json.loads(members), handed_in, known_by,
                       read_notes(notes), fingerprint,
                       graded_notes=None if graded == "null" else read_notes(graded))
            for key, name, entries, members, handed_in, known_by, notes, fingerprint, graded in rows
        ]  # fmt: skip

    def keep(self, graded: Graded, summary: dict[str, Any], stages: Sequence[Stage]) -> None:
        """Write a grade and the submission's status in one transaction. Without a report, an earlier grade of the same
        contents stays, unless the submission caused that and was graded completely. `summary`: the columns of grades
        that come from the report."""
        with self.transaction() as connection:
            ((reason,),) = connection.execute("SELECT reason FROM submissions WHERE key = ?", [graded.key]).fetchall()
            number = None
            if graded.report:
                number = connection.execute(
                    "INSERT INTO grades (key, status, points, most, pending, time, warplab, lab_hash, fingerprint,"
                    " backend, sandbox, reason, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [graded.key, graded.status, summary["points"], summary["most"], summary["pending"],
                     summary["time"], summary["warplab"], summary["lab_hash"], graded.fingerprint,
                     summary["backend"], summary["sandbox"], reason, zlib.compress(graded.report.encode())],
                ).lastrowid  # fmt: skip
                connection.executemany(
                    "INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [(number, *vars(stage).values()) for stage in stages],
                )
            connection.execute(
                "UPDATE submissions SET status = ?, detail = ?, wall_s = ?, graded_notes = ?, reason = '',"
                " pending_alone = 0, grade = coalesce(?, (SELECT id FROM grades WHERE id = submissions.grade AND"
                " grades.fingerprint = submissions.fingerprint AND (pending_alone OR ? != 'judge_crashed')))"
                " WHERE key = ?",
                [graded.status, graded.detail, graded.wall_s, write_notes(graded.notes), number, graded.status,
                 graded.key],
            )  # fmt: skip

    def grade_again(self, keys: Sequence[str], reason: str, pending_alone: bool = False) -> int:
        """Put submissions back in the queue, for their pending points only or completely, and return their number.
        Earlier grades stay."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM facts WHERE name = 'slurm_jobs'")  # their results are outdated
            return sum(
                connection.execute(
                    "UPDATE submissions SET status = '', reason = ?, pending_alone = ?"
                    " WHERE key = ? AND status != 'not_submitted'",
                    [reason, pending_alone, key],
                ).rowcount
                for key in keys
            )

    def rows(self) -> list[Row]:
        """Return all submissions, sorted by status and key: those that wait first, then failures on our side."""
        found = self.query(
            "SELECT s.key, s.name, s.members, s.handed_in, s.known_by, s.notes, s.graded_notes, s.status, s.detail,"
            " s.wall_s, s.grade, g.points, g.most, g.pending, g.time, g.backend, g.sandbox, g.status"
            " FROM submissions s LEFT JOIN grades g ON g.id = s.grade"
        )
        rows = [
            Row(key, name, json.loads(members), handed_in, known_by, join_notes(notes, graded), status, detail,
                wall_s, grade, *(value for value in rest if value is not None), graded_as=graded_as or "")
            for key, name, members, handed_in, known_by, notes, graded, status, detail, wall_s, grade, *rest, graded_as
            in found
        ]  # fmt: skip
        self.add_stages(rows)
        order = {status: index for index, status in enumerate(["", *STATUSES])}
        return sorted(rows, key=lambda row: (order.get(row.status, 0), row.key))

    def add_stages(self, rows: Sequence[Row]) -> None:
        """Fill in each row's stages."""
        by_grade = {row.grade: row for row in rows if row.grade is not None}
        columns = "grade, stage, verdict, cause, source_hash, points, most, pending, time_s, bound_s, ratio, ratio_low"
        for number, *values, ambiguous in self.query(
            f"SELECT {columns}, ratio_high, ambiguous FROM stages ORDER BY grade, stage"
        ):
            if number in by_grade:
                by_grade[number].stages.append(Stage(*values, bool(ambiguous)))

    def report(self, grade: int) -> str:
        """Return report.json of a grade, as the judge wrote it."""
        ((packed,),) = self.query("SELECT report FROM grades WHERE id = ?", [grade])
        return zlib.decompress(packed).decode()

    def report_to_complete(self, key: str) -> str:
        """Return the report whose pending points are being graded; empty if everything is graded again."""
        rows = self.query(
            "SELECT g.id FROM submissions s JOIN grades g ON g.key = s.key AND g.fingerprint = s.fingerprint"
            " WHERE s.key = ? AND s.pending_alone ORDER BY g.id DESC LIMIT 1",
            [key],
        )
        return self.report(rows[0][0]) if rows else ""

    def counts(self) -> dict[str, int]:
        """Return the number of submissions of each status, in the order of STATUSES; '' (waiting) is first."""
        found = dict(self.query("SELECT status, COUNT(*) FROM submissions GROUP BY status"))
        return {status: found[status] for status in ["", *STATUSES] if status in found}

    def insert(self, table: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Add lines of the same columns to extensions, points or overrides, in one transaction."""
        with self.transaction() as connection:
            for line in lines:
                places = ", ".join("?" * len(line))
                connection.execute(f"INSERT INTO {table} ({', '.join(line)}) VALUES ({places})", list(line.values()))

    def decisions(self) -> list[tuple[bool, str, str, str, str]]:
        """Return all manual decisions, those in force first, then the oldest first. Each row has: whether it is in
        force, time, student, decision, reason."""
        tables = [
            f"SELECT {undo} AS undo, lead({undo}) OVER (PARTITION BY {of} ORDER BY id) AS undone, time, student,"
            f" iif({undo}, {name} || ' taken back', {what}) AS what, reason FROM {table}"
            for table, of, undo, name, what in DECISIONS
        ]
        return self.query(
            "SELECT NOT undo AND undone IS NULL AS holds, time, student,"
            " what || iif(undo OR undone IS NULL, '', iif(undone, ', undone', ', replaced')), reason"
            f" FROM ({' UNION ALL '.join(tables)}) ORDER BY holds DESC, time"
        )
