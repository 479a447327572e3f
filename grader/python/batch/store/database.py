"""Store a batch in batch.sqlite: every submission with its status, and all its grades.

Each change is one transaction (SQLite, WAL), so a batch that is killed at any moment continues after the last finished
submission. Tables:

    facts         named values in JSON: the settings, the due date, the late policy, a secret for pseudonyms …
    submissions   one row per student or team; `status` is empty while it waits to be graded; `notes` are about its
                  name and the roster, `graded_notes` about the contents that were graded last; `called` is the key that
                  it has without a roster, such as the course system's number
    grades        one row per grading, newest last; `reason` states why it was graded again; `lab_hash` is the hash of
                  the lab, followed by + and the grader's hash, which earlier batches do not have
    stages        one row per stage of a grade: the values of report.json that tables and plots need
    extensions, points, overrides   the instructor's decisions with their reasons; the newest counts. `who` is the user
                  who made it; an override also has the fingerprint of the hand-in that it was given for. Earlier
                  batches have neither
    comments      comments on lines of a hand-in, by its key: `code` is the line, `reason` the comment; `kept` is 0 if
                  the comment is removed
    requests      students' requests to grade again, in `reason`; `open` is 0 for the answer
    drops         excluded hand-ins, by their key; `dropped` is 0 if the row includes the hand-in again
    attempts      further attempts of students beyond the limit of `serve`; `more` is 0 if they are revoked
    queue         the queue of `serve`: when a hand-in arrived and was graded, and its code on the page (queue.py)
"""

from __future__ import annotations

import getpass
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.notes import has_kind, read_notes, write_notes
from grader.python.batch.ingest.submission import ANOTHER, FILE_DATES, EarlierSubmission, Submission, is_key_of_students
from grader.python.batch.store.conversions import SCHEMA, convert
from grader.python.batch.store.rows import STATUSES, Comment, Graded, Row, Stage, join_notes, own_members
from grader.python.batch.store.sqlite import SqliteFile, write_values
from grader.python.batch.store.values import require_valid_values
from grader.python.common.console import UserError

TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submissions (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, members TEXT NOT NULL, entries TEXT NOT NULL, handed_in TEXT NOT NULL,
    known_by TEXT NOT NULL, fingerprint TEXT NOT NULL, notes TEXT NOT NULL, status TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '', wall_s REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', grade INTEGER,
    graded_notes TEXT NOT NULL DEFAULT '[]', called TEXT NOT NULL DEFAULT '',
    pending_alone INTEGER NOT NULL DEFAULT 0, named_time TEXT NOT NULL DEFAULT '',
    marked_by TEXT NOT NULL DEFAULT '', marked_late INTEGER NOT NULL DEFAULT 0, team TEXT NOT NULL DEFAULT '[]');
CREATE TABLE IF NOT EXISTS grades (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL REFERENCES submissions, status TEXT NOT NULL, points REAL NOT NULL,
    most REAL NOT NULL, pending REAL NOT NULL, time TEXT NOT NULL, warplab TEXT NOT NULL, lab_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL, backend TEXT NOT NULL, sandbox TEXT NOT NULL, reason TEXT NOT NULL,
    report BLOB NOT NULL, handed_in TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS grades_by_key ON grades (key);
CREATE TABLE IF NOT EXISTS stages (
    grade INTEGER NOT NULL REFERENCES grades, stage TEXT NOT NULL, verdict TEXT NOT NULL, cause TEXT NOT NULL,
    source_hash TEXT NOT NULL, points REAL, most REAL, pending REAL, time_s REAL, bound_s REAL, ratio REAL,
    ratio_low REAL, ratio_high REAL, ambiguous INTEGER NOT NULL, modelled REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (grade, stage)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extensions (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, until TEXT NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL,
    who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS points (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, item TEXT NOT NULL, points REAL NOT NULL, most REAL NOT NULL,
    reason TEXT NOT NULL, time TEXT NOT NULL, who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS overrides (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, points REAL NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL,
    fingerprint TEXT, who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS drops (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, dropped INTEGER NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL,
    fingerprint TEXT NOT NULL, who TEXT NOT NULL DEFAULT '');
"""
TABLES += """
CREATE TABLE IF NOT EXISTS comments (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, stage TEXT NOT NULL, line INTEGER NOT NULL, code TEXT NOT NULL,
    kept INTEGER NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL, fingerprint TEXT NOT NULL,
    who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, open INTEGER NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL,
    who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, more INTEGER NOT NULL, reason TEXT NOT NULL, time TEXT NOT NULL,
    who TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS queue (
    key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, code TEXT NOT NULL, arrived TEXT NOT NULL, graded TEXT NOT NULL);
"""
HANDED_IN_AGAIN = "handed in again"  # the reason of a grade whose hand-in replaced other contents
NAMED_TABLES = [words.split()[0] for words in TABLES.split("CREATE TABLE IF NOT EXISTS ")[1:]]
# The keys of the hand-ins that are dropped now.
DROPPED = "SELECT student FROM (SELECT student, dropped, max(id) FROM drops GROUP BY student) WHERE dropped"
ON_LINE = "printf('comment on %s, line %d', stage, line)"
# For each table of decisions: its name; the columns that are equal in a decision and in a newer one that replaces it;
# the condition under which a row only revokes an earlier decision; the SQL expressions for the texts of such a row and
# of any other row; and the word for a decision that was revoked.
DECISIONS = (
    ("extensions", "student", "until = ''", "'extension revoked'", "'until ' || until", "undone"),
    (
        "points",
        "student, item",
        "points < 0",
        "item || ' revoked'",
        "item || printf(' %g of %g', points, most)",
        "undone",
    ),
    ("overrides", "student", "points < 0", "'override revoked'", "printf('set to %g points', points)", "undone"),
    ("drops", "student", "NOT dropped", "'drop revoked'", "'hand-in dropped'", "undone"),
    ("comments", "student, stage, line", "NOT kept", f"{ON_LINE} || ' removed'", ON_LINE, "removed"),
    (
        "attempts",
        "student",
        "more = 0",
        "'further attempts revoked'",
        "printf('further attempts: %d', more)",
        "undone",
    ),
    ("requests", "student", "NOT open", "'request answered'", "'asks for a regrade'", "answered"),
)

STUDENT_TABLES = ("extensions", "points", "overrides", "attempts", "requests")  # the other decisions are on hand-ins


def name_user() -> str:
    """Return the name of the current user; empty if it is not known."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def file_names(entries: Iterable[str | Path]) -> tuple[str, ...]:
    """Return the names of the files or folders of a submission, without the path before each."""
    return tuple(Path(entry).name for entry in entries)


class Database(SqliteFile):
    """The database of one batch."""

    def __init__(self, file: Path):
        super().__init__(file, TABLES)
        schema = self.read_value("schema")
        if schema is None:
            self.set_values(schema=SCHEMA)
        elif schema in range(1, SCHEMA):
            with self.reporting_damage():
                convert(self, schema)
        elif schema != SCHEMA:
            raise UserError(
                f"{file}: schema {schema}; this version reads schema {SCHEMA}. Use a newer version of Warplab."
            )
        require_valid_values(self, NAMED_TABLES)

    def find_renamed(self, submissions: Sequence[Submission]) -> list[tuple[str, Submission]]:
        """Return the old keys of submissions that the roster now identifies differently, each with the new submission.

        An old and a new submission belong together if both have the same key without a roster. If no old submission has
        the new one's key, they also belong together if only these two have the same files. In both cases, no new
        submission may have the old key. Submissions of students who are missing from the new roster keep their keys.
        """
        rows = self.query("SELECT key, called, entries, fingerprint FROM submissions WHERE status != 'not_submitted'")
        current_keys, old_keys = {submission.key for submission in submissions}, {key for key, *_ in rows}
        by_name, files = defaultdict(list), defaultdict(list)
        for key, name, entries, fingerprint in rows:
            if key not in current_keys:
                by_name[name].append(key)
                files[file_names(json.loads(entries)), fingerprint].append((key, name))
        names = {submission.key_without_roster for submission in submissions}
        contents = Counter((file_names(submission.entries), submission.fingerprint) for submission in submissions)
        renamed: dict[str, Submission] = {}
        for submission in submissions:
            if not submission.own or submission.key in old_keys:
                continue
            files_key = (file_names(submission.entries), submission.fingerprint)
            by_files = files[files_key] if contents[files_key] == 1 else []
            by_files = [key for key, _ in by_files] if all(name not in names for _, name in by_files) else []
            old = by_name[submission.key_without_roster] or by_files
            if len(old) == 1:
                renamed.setdefault(old[0], submission)
        return list(renamed.items())

    def earlier_submissions(self) -> list[EarlierSubmission]:
        """Return all submissions handed in so far."""
        rows = self.query("SELECT key, called, members, notes FROM submissions WHERE status != 'not_submitted'")
        submissions = []
        for key, called, text, kept in rows:
            members, notes = json.loads(text), read_notes(kept)
            own = [] if has_kind(notes, "not_on_roster") else own_members(key, members)
            submissions.append(EarlierSubmission(key, called, members, own, not has_kind(notes, "found_by_name")))
        return submissions

    def find_displaced(self, ids: Set[str]) -> list[str]:
        """Return the keys of submissions of people who are not on the roster, if these keys belong to students or teams
        with the roster's `ids`."""
        rows = self.query("SELECT key, notes FROM submissions WHERE status != 'not_submitted'")
        return [
            key for key, notes in rows if is_key_of_students(key, ids) and has_kind(read_notes(notes), "not_on_roster")
        ]

    def separate_strangers(self, ids: Set[str]) -> None:
        """Give new keys to the submissions that find_displaced() returns.

        Store the new keys by the old ones, as the value `renamed`. Decisions for a student of the previous roster stay
        with that student.
        """
        rows = self.query("SELECT key, members FROM submissions WHERE status != 'not_submitted'")
        used_keys, before = {key for key, _ in rows} | ids, set(self.read_value("names") or {})
        renamed = {}
        for key in self.find_displaced(ids):
            new = key + ANOTHER
            while new in used_keys:
                new += ANOTHER
            used_keys.add(new)
            renamed[key] = new
        other_members = {member for key, members in rows if key not in renamed for member in json.loads(members)}
        with self.transaction() as connection:
            for old, new in renamed.items():
                connection.execute(
                    "UPDATE submissions SET key = ?, members = ? WHERE key = ?", [new, json.dumps([new]), old]
                )
                connection.execute("UPDATE grades SET key = ? WHERE key = ?", [new, old])
                for table in ("drops", "comments"):
                    connection.execute(f"UPDATE {table} SET student = ? WHERE student = ?", [new, old])
                for table in STUDENT_TABLES if old not in other_members | before else ():
                    connection.execute(f"UPDATE {table} SET student = ? WHERE student = ?", [new, old])
            write_values(connection, renamed=renamed)

    def rename(self, old: str, submission: Submission, on_roster: Set[str]) -> None:
        """Give a submission its new key, and store this key by the old one, as the value `renamed`. Decisions for a
        single student move to the new id, unless the roster still has that student under the old id."""
        ((text,),) = self.query("SELECT members FROM submissions WHERE key = ?", [old])
        members = json.loads(text)
        with self.transaction() as connection:
            # The row, if any, that says that the student has handed in nothing.
            connection.execute("DELETE FROM submissions WHERE key = ?", [submission.key])
            connection.execute(
                "UPDATE submissions SET key = ?, members = ?, notes = ? WHERE key = ?",
                [submission.key, json.dumps(submission.members), write_notes(submission.notes), old],
            )
            connection.execute("UPDATE grades SET key = ? WHERE key = ?", [submission.key, old])
            for table in ("drops", "comments"):
                connection.execute(f"UPDATE {table} SET student = ? WHERE student = ?", [submission.key, old])
            alone = len(members) == len(submission.members) == 1 and members[0] not in on_roster
            for table in STUDENT_TABLES if alone else ():
                connection.execute(
                    f"UPDATE {table} SET student = ? WHERE student = ?", [submission.members[0], members[0]]
                )
            write_values(connection, renamed={old: submission.key})

    def enter(self, submissions: Iterable[Submission]) -> None:
        """Add new submissions; put those with changed contents back in the queue.

        The values that follow from names and the roster are updated for all, because other students' hand-ins may have
        changed them. If the time is a file's date and the contents are unchanged, the earlier date stays, because the
        later one comes from another download, or is the current time instead of a date in the future.
        """
        old = dict(self.query("SELECT key, fingerprint FROM submissions"))
        with self.transaction() as connection:
            for submission in submissions:
                values = [
                    submission.key,
                    submission.name,
                    json.dumps(submission.members),
                    json.dumps(self.write_paths(submission.entries)),
                ]
                values += [
                    submission.handed_in,
                    submission.known_by,
                    submission.fingerprint,
                    write_notes(submission.notes),
                    submission.key_without_roster,
                ]
                values += [
                    submission.named_time,
                    submission.marked_by,
                    submission.marked_late,
                    json.dumps(submission.group),
                ]
                connection.execute(
                    "INSERT INTO submissions (key, name, members, entries, handed_in, known_by, fingerprint, notes,"
                    " called, named_time, marked_by, marked_late, team)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (key) DO UPDATE SET name = excluded.name,"
                    " members = excluded.members, entries = excluded.entries, handed_in ="
                    " iif(fingerprint = excluded.fingerprint AND known_by = excluded.known_by AND known_by IN (?, ?),"
                    " min(handed_in, excluded.handed_in), excluded.handed_in),"
                    " known_by = excluded.known_by, fingerprint = excluded.fingerprint, notes = excluded.notes,"
                    " called = excluded.called, named_time = excluded.named_time, marked_by = excluded.marked_by,"
                    " marked_late = excluded.marked_late, team = excluded.team",
                    [*values, *FILE_DATES],
                )
                if old.get(submission.key, submission.fingerprint) != submission.fingerprint:
                    connection.execute(
                        "UPDATE submissions SET graded_notes = '[]', status = '', pending_alone = 0,"
                        " reason = iif(reason = '' AND status IN ('', 'not_submitted'), '', ?) WHERE key = ?",
                        [HANDED_IN_AGAIN, submission.key],
                    )

    def enter_absent(self, students: Iterable[tuple[str, str]]) -> None:
        """Enter the students (id, name) who handed in nothing, and remove the rows of those who have handed in
        since."""
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
        """Return paths as the database keeps them: relative to the batch's folder if they are in it, because that
        folder may be moved; else absolute."""
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

    def entries_by_key(self) -> dict[str, list[Path]]:
        """Return the paths of the files and folders of each submission."""
        rows = self.query("SELECT key, entries FROM submissions")
        return {key: self.read_paths(entries) for key, entries in rows}

    def waiting_again(self) -> set[str]:
        """Return the keys of the submissions that wait to be graded again."""
        return {key for (key,) in self.query("SELECT key FROM submissions WHERE status = '' AND reason != ''")}

    def waiting(self) -> list[Submission]:
        """Return the submissions that wait to be graded, without dropped ones, sorted by key."""
        rows = self.query(
            "SELECT s.key, s.name, s.entries, s.members, s.handed_in, s.known_by, s.notes, s.fingerprint,"
            " iif(EXISTS (SELECT 1 FROM grades g WHERE g.key = s.key AND g.fingerprint = s.fingerprint),"
            " s.graded_notes, 'null') FROM submissions s"
            f" WHERE s.status = '' AND s.key NOT IN ({DROPPED}) ORDER BY s.key"
        )
        return [
            Submission(key, name, self.read_paths(entries), json.loads(members), handed_in, known_by,
                       read_notes(notes), fingerprint,
                       graded_notes=None if graded == "null" else read_notes(graded))
            for key, name, entries, members, handed_in, known_by, notes, fingerprint, graded in rows
        ]  # fmt: skip

    def keep(self, graded: Graded, summary: dict[str, Any], stages: Sequence[Stage]) -> None:
        """Write a grade and the submission's status in one transaction. Without a report, an earlier grade of the same
        contents stays, unless the submission caused the failure and not only its pending points were to be graded.
        `summary`: the columns of the table `grades` that come from the report."""
        with self.transaction() as connection:
            ((reason, handed_in),) = connection.execute(
                "SELECT reason, handed_in FROM submissions WHERE key = ?", [graded.key]
            ).fetchall()
            number = None
            if graded.report:
                number = connection.execute(
                    "INSERT INTO grades (key, status, points, most, pending, time, warplab, lab_hash, fingerprint,"
                    " backend, sandbox, reason, report, handed_in) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [graded.key, graded.status, summary["points"], summary["most"], summary["pending"],
                     summary["time"], summary["warplab"], summary["lab_hash"], graded.fingerprint,
                     summary["backend"], summary["sandbox"], reason, zlib.compress(graded.report.encode()),
                     handed_in],
                ).lastrowid  # fmt: skip
                connection.executemany(
                    "INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            connection.execute("DELETE FROM facts WHERE name = 'slurm_jobs'")  # the results of these jobs are outdated
            return sum(
                connection.execute(
                    "UPDATE submissions SET status = '', reason = ?, pending_alone = ?"
                    " WHERE key = ? AND status != 'not_submitted'",
                    [reason, pending_alone, key],
                ).rowcount
                for key in keys
            )

    def rows(self) -> list[Row]:
        """Return all submissions, sorted by status and key: those that wait first, then internal failures."""
        records = self.query(
            "SELECT s.key, s.name, s.members, s.handed_in, s.known_by, s.notes, s.graded_notes, s.status, s.detail,"
            " s.wall_s, s.grade, s.fingerprint, s.named_time, s.marked_by, s.marked_late,"
            " s.team, g.points, g.most, g.pending, g.time, g.backend, g.sandbox, g.status"
            " FROM submissions s LEFT JOIN grades g ON g.id = s.grade"
        )
        rows = [
            Row(key, name, json.loads(members), handed_in, known_by, join_notes(notes, graded), status, detail,
                wall_s, grade, *(value for value in rest if value is not None), fingerprint=fingerprint,
                named_time=named, marked_by=marked_by, marked_late=bool(late), team=json.loads(team),
                graded_as=graded_as or "")
            for key, name, members, handed_in, known_by, notes, graded, status, detail, wall_s, grade, fingerprint,
            named, marked_by, late, team, *rest, graded_as in records
        ]  # fmt: skip
        self.add_stages(rows)
        self.add_comments(rows)
        order = {status: index for index, status in enumerate(["", *STATUSES])}
        return sorted(rows, key=lambda row: (order.get(row.status, 0), row.key))

    def add_stages(self, rows: Sequence[Row]) -> None:
        by_grade = {row.grade: row for row in rows if row.grade is not None}
        columns = "grade, stage, verdict, cause, source_hash, points, most, pending, time_s, bound_s, ratio, ratio_low"
        for number, *values, ambiguous, modelled in self.query(
            f"SELECT {columns}, ratio_high, ambiguous, modelled FROM stages ORDER BY grade, stage"
        ):
            if number in by_grade:
                by_grade[number].stages.append(Stage(*values, bool(ambiguous), modelled))

    def add_comments(self, rows: Sequence[Row]) -> None:
        newest: dict[tuple[str, str, int], tuple[str, str, int, str]] = {}
        columns = "student, stage, line, code, reason, kept, fingerprint"
        for key, stage, line, *comment in self.query(f"SELECT {columns} FROM comments ORDER BY id"):
            newest[key, stage, line] = tuple(comment)
        by_key = {row.key: row for row in rows}
        for (key, stage, line), (code, text, kept, fingerprint) in sorted(newest.items()):
            if kept and key in by_key:
                is_old = fingerprint != by_key[key].fingerprint
                by_key[key].comments.append(Comment(stage, line, code, text, is_old))

    def requests(self) -> dict[str, str]:
        """Return the open requests to grade again, by student."""
        newest = {student: (open, text) for student, open, text in
                  self.query("SELECT student, open, reason FROM requests ORDER BY id")}  # fmt: skip
        return {student: text for student, (open, text) in newest.items() if open}

    def report(self, grade: int) -> str:
        """Return report.json of a grade, as the judge wrote it."""
        with self.reporting_damage():
            ((packed,),) = self.query("SELECT report FROM grades WHERE id = ?", [grade])
            return zlib.decompress(packed).decode()

    def report_to_complete(self, key: str) -> str:
        """Return the report whose pending points are being graded; empty if the submission is graded completely."""
        rows = self.query(
            "SELECT g.id FROM submissions s JOIN grades g ON g.key = s.key AND g.fingerprint = s.fingerprint"
            " WHERE s.key = ? AND s.pending_alone ORDER BY g.id DESC LIMIT 1",
            [key],
        )
        return self.report(rows[0][0]) if rows else ""

    def counts(self) -> dict[str, int]:
        """Return the number of submissions of each status, in the order of STATUSES; '' (waiting) is first. Dropped
        submissions do not count."""
        by_status = dict(
            self.query(f"SELECT status, COUNT(*) FROM submissions WHERE key NOT IN ({DROPPED}) GROUP BY status")
        )
        return {status: by_status[status] for status in ["", *STATUSES] if status in by_status}

    def dropped(self) -> set[str]:
        """Return the keys of the hand-ins that are dropped now."""
        return {key for (key,) in self.query(DROPPED)}

    def insert(self, table: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Add rows (values by column) to a table of decisions, in one transaction. The user's name is added to each."""
        with self.transaction() as connection:
            for line in lines:
                row = {**line, "who": name_user()}
                places = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))

    def history(self, key: str) -> list[tuple[str, str, float, float, float, str, str, str]]:
        """Return all grades of a submission, the oldest first. Each row has: time, status, points, maximum, pending
        points, backend, version of the grader, reason."""
        return self.query(
            "SELECT time, status, points, most, pending, backend, warplab, reason FROM grades WHERE key = ?"
            " ORDER BY id",
            [key],
        )

    def causes(self) -> list[tuple[list[str], str, str, str]]:
        """Return the causes of failures in the newest grade of each version that was handed in. Each row has: members,
        time of the hand-in, stage, and cause, which is empty if the stage passed. Dropped hand-ins are omitted."""
        grades = self.query(
            "SELECT s.members, iif(g.fingerprint = s.fingerprint, s.handed_in, g.handed_in), t.stage, t.cause"
            " FROM grades g JOIN stages t ON t.grade = g.id JOIN submissions s ON s.key = g.key WHERE g.id IN"
            f" (SELECT max(id) FROM grades GROUP BY key, fingerprint) AND g.key NOT IN ({DROPPED}) ORDER BY g.id"
        )
        return [(json.loads(members), *values) for members, *values in grades]

    def decisions(self) -> list[tuple[bool, str, str, str, str, str]]:
        """Return all decisions of the instructor, those in force first; within both groups, the oldest first. Each row
        has: whether it is in force, time, student or hand-in, decision, reason, and the user who made it."""
        tables = [
            f"SELECT {undo} AS undo, lead({undo}) OVER (PARTITION BY {of} ORDER BY id) AS undone, time, student,"
            f" iif({undo}, {back}, {what}) AS what, reason, who, '{word}' AS word FROM {table}"
            for table, of, undo, back, what, word in DECISIONS
        ]
        return self.query(
            "SELECT NOT undo AND undone IS NULL AS holds, time, student,"
            " what || iif(undo OR undone IS NULL, '', iif(undone, ', ' || word, ', replaced')), reason, who"
            f" FROM ({' UNION ALL '.join(tables)}) ORDER BY holds DESC, time"
        )
