"""Fetch the hand-ins of an assignment from Canvas, named as Canvas names them, and a roster with their times."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.python.batch.ingest.archive import kind_of_file, max_bytes
from grader.python.batch.ingest.person_names import compose
from grader.python.batch.ingest.times import parse_zoned_time, show_time
from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.remote.connection import reading_answers, try_again
from grader.python.common.console import UserError, write_atomically

HAND_INS, ROSTER = "hand-ins", "roster.csv"
MARKED = re.compile(r"[0-9a-f]{12}-")  # plain_name() puts this before a name that it changes
MAX_NAME_BYTES = 150  # the limit for a file's name without the part that identifies the student
COLUMNS = ("id", "name", "canvas id", "email", "submitted", "extended until")


@dataclass
class Pulled:
    """The result of a pull."""

    students: int = 0  # number of students, with or without hand-ins
    files: int = 0  # number of files in the course system
    fetched: int = 0  # number of files that were fetched now
    missing: tuple[str, ...] = ()  # files that could not be fetched
    incomplete: frozenset[str] = frozenset()  # their owners: users' numbers in Canvas, folders in Moodle


def pull(assignment: Any, folder: Path) -> Pulled:
    """Write hand-ins/ and roster.csv. Do not fetch existing files again, and remove those of earlier attempts, because
    Canvas's own download, too, contains only the last attempt. Raises UserError, OSError."""
    submissions = try_again(lambda: list_submissions(assignment), "the list of submissions")
    prepare_folder(folder, write_roster(submissions, read_time(getattr(assignment, "due_at", None))))
    pulled, missing, incomplete = Pulled(len(submissions)), [], set()
    expected: dict[str, tuple[Any, Any]] = {}
    for submission in submissions:
        try:
            with reading_answers():
                expected |= {name_file(submission, each): (submission, each) for each in submission.attachments}
        except UserError:
            missing.append(f"the files of the user {submission.user_id}")
            incomplete.add(str(submission.user_id))
    pulled.files = len(expected)
    for name, (submission, attachment) in expected.items():
        file = folder / HAND_INS / name
        try:
            with reading_answers():
                if file.is_file() and file.stat().st_size == attachment.size:
                    continue
                keep_file(file, attachment.size, lambda source=attachment: fetch(source))
            pulled.fetched += 1
        except (UserError, OSError):  # for example because this file system does not accept the name
            missing.append(name)
            incomplete.add(str(submission.user_id))
    for file in (folder / HAND_INS).iterdir():
        if file.name not in expected and not any(f"_{user}_" in file.name for user in incomplete):
            file.unlink()
    pulled.missing, pulled.incomplete = tuple(missing), frozenset(incomplete)
    return pulled


def list_submissions(assignment: Any) -> list[Any]:
    """Return the submissions of all students. Raises ValueError if a student is in the list twice, because the list
    changed at the same time or its pages repeat endlessly."""
    by_user: dict[int, Any] = {}
    for submission in assignment.get_submissions(include=["user"], per_page=100):
        if submission.user_id in by_user:
            raise ValueError("a student is listed twice")
        by_user[submission.user_id] = submission
    return list(by_user.values())


def prepare_folder(folder: Path, roster: str) -> None:
    """Write the roster, and make the folder of hand-ins. Raises UserError if this folder exists and is not from an
    earlier pull, because files that the course system does not have are removed from it."""
    if (folder / HAND_INS).exists() and not (folder / ROSTER).is_file():
        raise UserError(
            f"{folder / HAND_INS} is not from an earlier pull: there is no {ROSTER}. Choose a different DIR."
        )
    (folder / HAND_INS).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / ROSTER, roster)


def keep_file(file: Path, size: int, fetch_it: Callable[[], bytes]) -> None:
    """Fetch and write a file of `size` bytes. If the file is too large for grading, write a file of the same size
    without the contents, so that the student gets the reason; fetching it could take all memory. Raises UserError,
    OSError."""
    if size <= max_bytes(kind_of_file(file.name)):
        write_atomically(file, try_again(fetch_it, file.name))
        return
    with file.open("wb") as stream:
        stream.truncate(size)  # takes no space on the disk


def fetch(attachment: Any) -> bytes:
    """Return a file's bytes. Raises ValueError if bytes are missing."""
    content: bytes = attachment.get_contents(binary=True)
    if len(content) != attachment.size:
        raise ValueError("an incomplete file")
    return content


def user_of(submission: Any) -> Mapping[str, Any]:
    """Return Canvas's data about the student of a submission; empty if there are none."""
    user = getattr(submission, "user", None)
    return user if isinstance(user, dict) else {}


def name_file(submission: Any, attachment: Any) -> str:
    """Return the name that a file has in Canvas's own download."""
    user = user_of(submission)
    student = (
        "".join(c for c in str(user.get("sortable_name") or "").lower() if unicodedata.category(c)[0] in "LN")
        or "student"
    )
    late = "_LATE" if getattr(submission, "late", False) else ""
    name = plain_name(str(attachment.display_name), MAX_NAME_BYTES)
    ids = "_".join(plain_name(str(number), MAX_NAME_BYTES) for number in (submission.user_id, attachment.id))
    return f"{student.encode()[:60].decode(errors='ignore')}{late}_{ids}_{name}"


def plain_name(name: str, max_bytes: int) -> str:
    """Return a name for a file or folder that cannot lead out of its folder, is not hidden, and does not exceed the
    limit in bytes. Names that differ stay different: a changed name begins with a unique mark."""
    plain = re.sub(r"[/\\\x00-\x1f\ud800-\udfff]", "-", name)
    fits = not MARKED.match(name) and not name.startswith(".") and 0 < len(plain.encode()) <= max_bytes
    if plain == name and fits:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12] + "-"
    return mark + plain.encode()[-(max_bytes - len(mark)) :].decode(errors="ignore")


def write_roster(submissions: Sequence[Any], due: str) -> str:
    """Return a roster of all students of the assignment, with the times of their hand-ins. If a student's own due date
    is after `due`, the assignment's, it is an extension."""
    rows = [list(COLUMNS)]
    for submission in submissions:
        user = user_of(submission)
        login = user.get("login_id") or user.get("sis_user_id") or ""
        words = (login, user.get("name") or "", submission.user_id, user.get("email") or "")
        until = read_time(getattr(submission, "cached_due_date", None))
        rows.append(
            [
                *map(str, words),
                read_time(getattr(submission, "submitted_at", None)),
                until if due and until > due else "",
            ]
        )
    drop_shared(rows[1:], [COLUMNS.index(name) for name in ("canvas id", "id", "email")])
    for row in rows:
        row[0] = row[0] or row[COLUMNS.index("canvas id")]
    return write_csv(rows)


def read_time(time: Any) -> str:
    """Return a time as ISO 8601 in UTC, or "" if it is missing or invalid, because `grade` refuses a roster with an
    invalid time."""
    try:
        return show_time(parse_zoned_time(str(time)))
    except UserError:
        return ""


def drop_shared(rows: Sequence[list[str]], columns: Sequence[int]) -> None:
    """Empty each cell of these columns if another row has the same value in this column or in an earlier one of
    `columns`. A roster in which an id belongs to two students is refused, and students choose some ids, such as
    addresses."""
    owners: dict[str, int] = {}
    for at in columns:
        words = [compose(row[at].strip()).casefold() for row in rows]
        count = Counter(words)
        for number, (row, word) in enumerate(zip(rows, words, strict=True)):
            if count[word] > 1 or owners.get(word, number) != number:
                row[at] = ""
        owners |= {word: number for number, word in enumerate(words) if rows[number][at]}
