"""Fetch the hand-ins of an assignment from Canvas, named as Canvas names them, and a roster with their times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.remote.connection import try_again
from grader.python.common.console import UserError, write_atomically

HAND_INS, ROSTER = "hand-ins", "roster.csv"
COLUMNS = ("id", "name", "canvas id", "email", "submitted")


@dataclass
class Pulled:
    """How many students, files, and newly fetched files there are, and the files that could not be fetched."""

    students: int = 0
    files: int = 0
    fetched: int = 0
    missing: tuple[str, ...] = ()


def pull(assignment: Any, folder: Path) -> Pulled:
    """Write hand-ins/ and roster.csv. Files that are there already are not fetched again, and those of an earlier
    attempt are removed, as Canvas's own download has only the last one. Raises UserError, OSError."""
    submissions = try_again(
        lambda: list(assignment.get_submissions(include=["user"], per_page=100)), "the list of submissions"
    )
    begin(folder, write_roster(submissions))
    pulled, missing = Pulled(len(submissions)), []
    wanted = {name_file(one, attachment): attachment for one in submissions for attachment in one.attachments}
    pulled.files = len(wanted)
    for name, attachment in wanted.items():
        file = folder / HAND_INS / name
        if file.is_file() and file.stat().st_size == attachment.size:
            continue
        try:
            write_atomically(file, try_again(lambda one=attachment: fetch(one), name))
            pulled.fetched += 1
        except UserError:
            missing.append(name)
    for file in (folder / HAND_INS).iterdir():
        if file.name not in wanted:
            file.unlink()
    pulled.missing = tuple(missing)
    return pulled


def begin(folder: Path, roster: str) -> None:
    """Write the roster, and make the folder of hand-ins. Raises UserError if there is one that `pull` did not make,
    because files that the course system does not have are removed from it."""
    if (folder / HAND_INS).exists() and not (folder / ROSTER).is_file():
        raise UserError(
            f"{folder / HAND_INS} is not from an earlier pull: there is no {ROSTER}. Choose a different DIR."
        )
    (folder / HAND_INS).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / ROSTER, roster)


def fetch(attachment: Any) -> bytes:
    """Return a file's bytes. Raises ValueError if some are missing."""
    content: bytes = attachment.get_contents(binary=True)
    if len(content) != attachment.size:
        raise ValueError("half a file")
    return content


def name_file(submission: Any, attachment: Any) -> str:
    """Return the name that Canvas's own download gives a file."""
    user = getattr(submission, "user", {})
    student = (
        "".join(c for c in user.get("sortable_name", "").lower() if unicodedata.category(c)[0] in "LN") or "student"
    )
    late = "_LATE" if getattr(submission, "late", False) else ""
    name = re.sub(r"[/\\\x00-\x1f]", "-", str(attachment.display_name))[-150:]
    return f"{student[:60]}{late}_{submission.user_id}_{attachment.id}_{name}"


def write_roster(submissions: Sequence[Any]) -> str:
    """Return a roster of all students of the assignment; a student without a hand-in has no time."""
    rows = [list(COLUMNS)]
    for one in submissions:
        user = getattr(one, "user", {})
        login = user.get("login_id") or user.get("sis_user_id") or one.user_id
        time = getattr(one, "submitted_at", None) or ""
        rows.append([str(login), user.get("name", ""), str(one.user_id), user.get("email") or "", time])
    return write_csv(rows)
