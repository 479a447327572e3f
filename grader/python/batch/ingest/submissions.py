"""Find the submissions in a folder: one for each student or team, with its time and its key."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from grader.python.batch.ingest.archive import MAX_BYTES, Part, max_bytes
from grader.python.batch.ingest.entries import Entry, list_entries, read_or_default, separate_forms, separate_names
from grader.python.batch.ingest.folders import list_parts
from grader.python.batch.ingest.identify import identify
from grader.python.batch.ingest.names import show_name
from grader.python.batch.ingest.roster import Student, students_by_alias
from grader.python.batch.ingest.submission import (
    ANOTHER,
    CANVAS,
    DOUBTED_DATE,
    FILE_DATE,
    NAMED_TIME,
    EarlierSubmission,
    Submission,
    is_key_of_students,
    order_by_time,
)
from grader.python.batch.ingest.times import MAX_CLOCK_DIFFERENCE, show_time

MAX_STEPS = 20_000  # folders and files that are opened to hash the contents of one hand-in
NO_SUCH_DATE = "Its file's date is in the future, so other hand-ins of the same student count before it."
UNREADABLE = "unreadable"  # the fingerprint of hand-ins that cannot be read


def find_submissions(
    folder: Path,
    lab: str,
    roster: Sequence[Student],
    out: Path | None = None,
    earlier: Sequence[EarlierSubmission] = (),
) -> tuple[list[Submission], list[str]]:
    """Return all submissions of a lab, sorted by key, and a sentence about each other entry.

    The batch's own folder, `out`, may be among the entries. `earlier`: submissions of earlier downloads; a new
    submission never displaces one of them because of a name.
    """
    entries, left_out = list_entries(folder, lab, roster, out)
    separate_names([entry for entry in entries if entry.has_system_number], students_by_alias(roster))
    separate_forms([entry for entry in entries if entry.by_make_submit], roster)
    by_key: dict[tuple[str, bool, str], list[Entry]] = {}  # equal keys can have different origins
    for entry in entries:
        if not entry.typed:
            by_key.setdefault((entry.key, entry.by_make_submit, entry.claim), []).append(entry)
    keys = {key for key, *_ in by_key}
    typed_only = {entry.key: entry.name for entry in entries if entry.typed and entry.key not in keys}
    left_out += [f"{name} typed something into Moodle, and handed in no file." for name in typed_only.values()]
    has_marks = any(entry.late for entry in entries)  # without a due date, Canvas marks nobody
    submissions = [make_submission(key, entries, has_marks) for (key, *_), entries in by_key.items()]
    identify(submissions, roster, earlier)
    ids = {student.id for student in roster}
    return sorted(give_keys(merge_same(submissions), earlier, ids), key=lambda submission: submission.key), left_out


def make_submission(key: str, entries: list[Entry], has_marks: bool = False) -> Submission:
    """Return the submission of all entries with a key; its time is that of the latest entry. `has_marks`: whether
    Canvas marks late hand-ins."""
    readable = choose_entries(entries)
    submission = Submission(
        key,
        readable[-1].name,
        [entry.path for entry in readable],
        [key],
        team=readable[-1].team,
        key_without_roster=key,
    )
    submission.by_make_submit, submission.claim = readable[-1].by_make_submit, readable[-1].claim
    submission.has_system_number = readable[-1].has_system_number
    submission.notes += dict.fromkeys(entry.note for entry in readable if entry.note)
    submission.notes += [entry.doubt for entry in entries if entry.doubt]
    submission.marked_late = any(entry.late for entry in readable)
    submission.marked_by = CANVAS if has_marks and readable[-1].named_by_canvas else ""
    if submission.marked_late:
        submission.notes.append("Canvas calls it late.")
    time = readable[-1].time
    if time:
        submission.handed_in, submission.known_by = show_time(time), NAMED_TIME
        submission.named_time = submission.handed_in
    else:
        date_by_files(submission, is_doubted=any(entry.doubt for entry in readable))
    submission.fingerprint = find_fingerprint(submission.entries)
    return submission


def find_fingerprint(entries: Sequence[Path]) -> str:
    """Return the fingerprint of a hand-in, even if it cannot be read."""
    return read_or_default(lambda: fingerprint(entries), UNREADABLE)


def date_by_files(submission: Submission, is_doubted: bool) -> None:
    """Set a submission's time to its newest file's date, or to the current time if that date is in the future.
    `is_doubted`: whether the time in a name was invalid."""
    newest = read_or_default(lambda: find_newest_date(submission.entries), 0.0)
    now = datetime.now(UTC)
    in_future = newest > (now + MAX_CLOCK_DIFFERENCE).timestamp()
    submission.handed_in = show_time(now if in_future else datetime.fromtimestamp(max(newest, 0.0), UTC))
    submission.notes += [NO_SUCH_DATE] if in_future else []
    submission.known_by = DOUBTED_DATE if in_future or is_doubted else FILE_DATE


def find_newest_date(entries: Sequence[Path]) -> float:
    """Return the date of the newest file with code or newest archive, in seconds since 1970; if there is none, of the
    newest file; if there is none, of the empty folder. Other files do not count if there is code, because a journal
    grows without new code. Raises OSError."""
    parts = [part for entry in entries for part in list_parts(entry)]
    code = [part.time_s for part in parts if part.kind in ("code", "archive")]
    return max(code or [part.time_s for part in parts] or [entry.lstat().st_mtime for entry in entries])


def choose_entries(entries: list[Entry]) -> list[Entry]:
    """Return the readable entries, the newest last, because the newest file of each stage counts; all entries if none
    is readable."""
    readable = [entry for entry in entries if entry.is_readable()]
    return sorted(readable or entries, key=Entry.order)


def fingerprint(entries: Sequence[Path]) -> str:
    """Return a hash of the names and contents of all files that are not ignored. Beyond the maximum size of a hand-in,
    use sizes and times instead of contents, so that no student's files delay the others."""
    digest, bytes_left, steps_left = hashlib.sha256(), MAX_BYTES, MAX_STEPS
    for entry in entries:
        for part in sorted((part for part in list_parts(entry) if part.kind != "ignored"), key=lambda part: part.name):
            may_be_read = part.size <= max_bytes(part.kind)
            bytes_left -= part.size if may_be_read else 0
            steps_left -= part.name.count("/") + 1
            reads = may_be_read and bytes_left >= 0 and steps_left >= 0
            content = read_or_default(partial(hash_content, part), bytes(32)) if reads else hash_date(part)
            digest.update(os.fsencode(part.name) + b"\0" + content)
    return digest.hexdigest()


def hash_content(part: Part) -> bytes:
    """Return a hash of a file's content. It always has 32 bytes, so that no content can be mistaken for the next file's
    name. Raises RefusedError, OSError."""
    part.check()
    with part.open() as stream:
        return hashlib.sha256(stream.read(part.size)).digest()


def hash_date(part: Part) -> bytes:
    """Return 32 bytes that change with a file's size or time."""
    return hashlib.sha256(f"{part.size} {part.time_s}".encode()).digest()


def merge_same(submissions: Sequence[Submission]) -> list[Submission]:
    """Return only the latest submission of each student or team, because several names on disk may belong to one
    student."""
    merged: dict[tuple[str, ...], Submission] = {}
    for submission in sorted(
        submissions, key=lambda submission: order_by_time(submission.handed_in, submission.known_by)
    ):
        owner = ("roster", *submission.own) if submission.own else ("name", submission.key_without_roster)
        if earlier := merged.get(owner):
            names = ", ".join(map(show_name, earlier.entries))
            submission.notes.append(f"Not used, because there is a later hand-in: {names}")
        merged[owner] = submission
    return list(merged.values())


def give_keys(
    submissions: Sequence[Submission], earlier: Sequence[EarlierSubmission], ids: Set[str]
) -> Sequence[Submission]:
    """Give each submission a unique key, beginning with those of students on the roster. A student who is not on the
    roster gets neither an id of the roster nor the key of another student's earlier submission, and the unique key is
    the only member of that student's submission."""
    used_keys: set[str] = set()
    owners = {submission.key: submission.key_without_roster for submission in earlier}
    for submission in sorted(
        submissions, key=lambda submission: (not submission.own, submission.own, submission.key_without_roster)
    ):
        while submission.key in used_keys or (
            not submission.own and belongs_to_another_student(submission, owners, ids)
        ):
            submission.key += ANOTHER
        submission.members = submission.members if submission.own else [submission.key]
        used_keys.add(submission.key)
    return submissions


def belongs_to_another_student(submission: Submission, owners: Mapping[str, str], ids: Set[str]) -> bool:
    """Return whether a submission's key is that of a student or a team of the roster, or the key of another student's
    earlier submission."""
    return (
        is_key_of_students(submission.key, ids)
        or owners.get(submission.key, submission.key_without_roster) != submission.key_without_roster
    )
