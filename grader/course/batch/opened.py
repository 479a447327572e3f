"""A batch that is there: what it was graded with, and who is who."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Set
from datetime import UTC, datetime
from pathlib import Path

from grader.course.batch.database import Database
from grader.course.batch.grading import Settings
from grader.course.batch.submissions import Student, as_claimed, compose, names_of_one, read_roster, show_time
from grader.journal.console import UserError

DATABASE = "batch.sqlite"


def open_batch(folder: Path) -> Database:
    """The database of a batch that is there. Raises UserError."""
    if not (folder / DATABASE).is_file():
        raise UserError(f"{folder}: no {DATABASE} in it. A batch begins with: warplab-course grade")
    return Database(folder / DATABASE)


def kept_settings(database: Database) -> Settings:
    """What the batch was graded with; its folder is where it lies now."""
    kept = database.fact("settings")
    folders = {name: Path(kept[name]) for name in ("root", "build")}
    folders["folder"] = database.file.resolve().parent
    return Settings(**{**kept, **folders, "stages": tuple(kept["stages"])})


def find_key(database: Database, student: str) -> str:
    """The submission of a student, or of a team. Raises UserError."""
    rows = database.rows()
    if any(student == row.key and student not in row.members for row in rows):  # a team's
        return student
    called = find_student(database, student)
    return next(row.key for own in (True, False) for row in rows if called in (row.own() if own else row.members))


def find_student(database: Database, student: str) -> str:
    """A student's id, given that or another name that the roster has for them. Raises UserError."""
    return make_finder(database)(student)


def make_finder(database: Database) -> Callable[[str], str]:
    """find_student() of those who are there now, for many."""
    members = {member for row in database.rows() for member in row.members}
    ids = roster_ids(database)
    return lambda student: pick_student(compose(student), members, ids)


def pick_student(student: str, members: Set[str], ids: Mapping[str, str]) -> str:
    """Return the key of the student with this name, preferably one on the roster. `ids`: the roster's, by every name.
    Raises UserError, also if both a student of the roster and a stranger have the name."""
    known = (ids[name] for name in (student.casefold(), *as_claimed(student)) if name in ids)
    called = next(known, "")
    strangers = members - set(ids.values())
    word = str if student == called else str.casefold  # a whole id is nobody else's
    alike = [one for one in strangers if word(one) == word(student)]
    if called and alike:
        raise UserError(
            f"{student} may mean {called}, who is on the roster, or {', '.join(sorted(alike))}, who is not. For the "
            f"first, write the id {called}. For the other, add that student to the roster and repeat the grade command."
        )
    called = called or (student if student in members else "")
    if called not in members:
        near = difflib.get_close_matches(student, sorted(members | ids.keys()), cutoff=0.7)
        like = f" Is it {' or '.join(near)}?" if near else ""
        raise UserError(
            f"Nobody here is called {student}.{like} Give an id of gradebook.csv, or a name or e-mail of the roster."
        )
    return called


def roster_of(database: Database) -> list[Student]:
    """Return the students of the roster; none if the batch has no roster. Raises UserError."""
    file = roster_file(database)
    return read_roster(file) if file else []


def roster_file(database: Database) -> Path | None:
    """Return the path of the batch's roster, if it has one. Raises UserError if the file is gone: without it, hand-ins
    would get different keys, and decisions and exports would omit students."""
    kept = database.fact("roster")
    if kept and not Path(kept).is_file():
        raise UserError(
            f"The batch's roster is no longer there: {kept}. Put it back, or repeat the grade command with "
            "ROSTER=FILE (--roster FILE). To grade without a roster, add --no-roster to that command."
        )
    return Path(kept) if kept else None


def roster_ids(database: Database) -> dict[str, str]:
    """Ids by every other name that the roster has."""
    roster = roster_of(database)
    known = {name: student.id for name, student in names_of_one(roster).items()}
    return known | {alias.casefold(): student.id for student in roster for alias in student.aliases}


def now() -> str:
    """ISO 8601 in UTC."""
    return show_time(datetime.now(UTC))
