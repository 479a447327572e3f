"""Read a roster, and find its students by their ids and names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from grader.python.batch.ingest.columns import (
    IDENTITIES,
    IDS,
    NOTHING,
    NUMBERS,
    Identifier,
    cells_by_title,
    columns_of,
    plain_title,
    read_person,
    read_rows,
)
from grader.python.batch.ingest.names import UNPRINTABLE
from grader.python.batch.ingest.person_names import agree, spellings, words_of
from grader.python.batch.ingest.times import parse_zoned_time, read_worksheet_time, show_time
from grader.python.common.console import UserError, read_text, say_error
from grader.python.common.markup import show_text
from grader.python.common.units import plural
from grader.python.journal.submit import name_part

MAX_RENAMED = 2  # names that may differ between two rosters, even if they are most of the names
COUNTS = {2: "Two", 3: "Three", 4: "Four"}
TIMES = ("handedin", "submitted", "submittedat")
EXTENDED = "extendeduntil"
MODIFIED = "lastmodifiedsubmission"  # the time of a hand-in in Moodle's worksheet
# The plain titles of the columns that are read.
USED = {*IDENTITIES, *TIMES, EXTENDED, MODIFIED, "status", "group", "groupname"}
# In Moodle's status: "Submitted for grading - 1 day 10 hours late - Extension granted until: TIME - ".
LATE = re.compile(r"\blate( -|$)")
GRANTED = re.compile(r"\bExtension granted until: ([^-]+?) *(?:-|$)")
YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


@dataclass
class Student:
    """A line of the roster."""

    id: str
    name: str = ""
    aliases: set[str] = field(default_factory=set)
    handed_in: str = ""  # as the instructor wrote it into the roster
    numbers: set[str] = field(default_factory=set)  # the course systems' numbers, as they write them into names
    ids: set[Identifier] = field(default_factory=set)  # all ids, with their namespaces
    modified: str = ""  # the hand-in's time in Moodle's worksheet, without a zone
    group: str = ""  # in Moodle's worksheet of a group assignment, or in Canvas's list of groups
    marked_late: bool | None = None  # by Moodle; None if nothing was handed in, or if it is not known
    extended: str = ""  # the end of an extension in the course system; from Moodle's worksheet without a zone


def has_name(student: Student | None, name: str) -> bool:
    """Return whether a name is the student's, in one of its spellings. Spaces and underscores make no difference."""
    return student is not None and squeeze(name) in set(map(squeeze, spellings(student.name)))


def squeeze(name: str) -> str:
    """Return the letters, digits and marks of a name, case folded."""
    return "".join(words_of(name)).replace("_", "")


def can_have_name(student: Student, name: str, roster_names: Set[str]) -> bool | None:
    """Return whether a course system's name may belong to the student with the same number; None if the names cannot be
    compared. A name that only resembles the student's and is another student's does not count. `roster_names`:
    squeezed_names() of the roster."""
    agreed = agree(student.name, name)
    if not agreed or has_name(student, name):
        return agreed
    return squeeze(name) not in roster_names


def students_by_group(roster: Sequence[Student]) -> dict[str, list[Student]]:
    """Return the students of each group of a group assignment."""
    groups: dict[str, list[Student]] = {}
    for student in roster:
        if name := squeeze(student.group):
            groups.setdefault(name, []).append(student)
    return groups


def students_of_names(roster: Sequence[Student]) -> dict[str, list[Student]]:
    """Return the students who have each spelling of a name."""
    students: dict[str, list[Student]] = {}
    for student in roster:
        for name in dict.fromkeys(spellings(student.name)):
            students.setdefault(name, []).append(student)
    return students


def describe_shared_name(name: str, students: Sequence[Student]) -> str:
    """Return a sentence that lists the ids of several students with one name."""
    count = COUNTS.get(len(students), str(len(students)))
    return f"{count} students are called {name}: {', '.join(student.id for student in students)}."


def squeezed_names(roster: Sequence[Student]) -> set[str]:
    """Return all spellings of all students' names, as has_name() compares them."""
    return {squeeze(name) for student in roster for name in spellings(student.name)}


def alias_key(alias: str) -> str:
    """Return an id in the form in which ids are compared: in lower case if it is ASCII, else unchanged, because folding
    could make two ids equal."""
    return alias.lower() if alias.isascii() else alias


def students_by_alias(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each of their ids."""
    return {alias_key(alias): student for student in roster for alias in student.aliases}


def ids_by_form(roster: Sequence[Student]) -> dict[str, set[str]]:
    """Return the ids of students by the forms in which `make submit` writes ids into names. Several students can share
    a form."""
    forms: dict[str, set[str]] = {}
    for student in roster:
        for alias in student.aliases:
            forms.setdefault(alias_key(name_part(alias)), set()).add(student.id)
    return forms


def students_as_written(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each unique form of their ids that `make submit` writes into a name."""
    by_id = {student.id: student for student in roster}
    return {form: by_id[min(ids)] for form, ids in ids_by_form(roster).items() if len(ids) == 1}


def students_of_unique_names(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each spelling of their names, without spellings that several students share."""
    return {name: students[0] for name, students in students_of_names(roster).items() if len(students) == 1}


def split_team(key: str, known: Set[str]) -> list[str]:
    """Return the ids that `make submit` joined with '-' if all of them are known, else none; ids may contain a '-'."""
    parts = key.split("-")
    # At each index: the ids in the parts from that index on; none if these parts are not all of known ids.
    teams: list[list[str]] = [[] for _ in range(len(parts) + 1)]
    for start in reversed(range(len(parts))):
        for end in range(len(parts), start, -1):
            member = "-".join(parts[start:end])
            if alias_key(member) in known and (end == len(parts) or teams[end]):
                teams[start] = [member, *teams[end]]
                break
    return teams[0]


def read_rosters(files: Sequence[Path]) -> list[Student]:
    """Return the students of several files. Lines of two files belong to one student if they share an id, such as an
    e-mail address; so one file may have the names and numbers, and the other one the logins. Students can change how a
    course system shows their name, so a few different names cause only a message. Raises UserError, for example if most
    names differ."""
    students: list[Student] = []
    for file in files:
        by_alias = students_by_alias(students)
        joined, renamed = 0, []
        for student in read_roster(file):
            matching = {
                id(earlier): earlier for alias in sorted(student.aliases) if (earlier := by_alias.get(alias_key(alias)))
            }
            if len(matching) > 1:
                ids = " and ".join(student.id for student in matching.values())
                raise UserError(
                    f"{file}: the ids of {student.id} belong to two students of the other roster: {ids}. Correct one "
                    "of the rosters."
                )
            if not matching:
                students.append(student)
                continue
            earlier, joined = next(iter(matching.values())), joined + 1
            if earlier.name and student.name and agree(earlier.name, student.name) is False:
                renamed.append(f"{student.id} is {student.name} here, and {earlier.name} in the other roster.")
            join_students(earlier, student)
        if len(renamed) > MAX_RENAMED and 2 * len(renamed) > joined:
            raise UserError(f"{file}: {renamed[0]} Most names differ. Are the rosters of the same course?")
        for words in renamed:
            say_error(f"{file}: {words} The id identifies the student.")
    return students


def join_students(student: Student, other: Student) -> None:
    """Add a student's data from another roster. If only `student` has a course system's number as the id, `student`
    gets the id of `other`."""
    if student.id in student.numbers and other.id not in other.numbers:
        student.id = other.id
    student.name = student.name or other.name
    student.handed_in, student.modified = student.handed_in or other.handed_in, student.modified or other.modified
    student.group, student.extended = student.group or other.group, student.extended or other.extended
    student.marked_late = other.marked_late if student.marked_late is None else student.marked_late
    student.aliases |= other.aliases
    student.numbers |= other.numbers
    student.ids |= other.ids


def read_roster(file: Path) -> list[Student]:
    """Return the students in a CSV file with a column id (or a course system's name for it) and a column name. Raises
    UserError."""
    header, lines = read_table(file)
    if not columns_of(header, IDS):
        raise UserError(f"{file}: no column id. Its first line names the columns: id, name, and also login, email …")
    warn_of_unused_ids(file, header, [line for _, line in lines])
    warn_of_unread_times(file, header, [line for _, line in lines])
    roster: dict[str, Student] = {}
    lines_of: dict[str, int] = {}
    for number, line in lines:
        try:
            student = read_student(header, line)
        except UserError as error:
            raise UserError(f"{file}:{number}: {error}") from None
        if student is None:
            continue
        if student.id in roster:
            raise UserError(f"{file}:{number}: the id {student.id} occurs twice.")
        roster[student.id] = student
        warn_of_invisible(f"{file}:{number}", student)
        for alias in sorted(student.aliases):
            first_line = lines_of.setdefault(alias.casefold(), number)
            if first_line != number:
                raise UserError(
                    f"{file}:{number}: {alias} is also in line {first_line}, but must belong to one student."
                )
    return list(roster.values())


def warn_of_unused_ids(file: Path, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print the columns that may have ids, because their cells are all different, but whose titles are not known.
    Ignore the tables of course systems, which have many such columns."""
    titles = set(map(plain_title, header))
    if len(lines) < 2 or titles & {"section", "identifier", "canvasgroupid"}:
        return
    for at, title in enumerate(header):
        cells = [line[at].strip() if at < len(line) else "" for line in lines]
        if title.strip() and plain_title(title) not in USED and all(cells) and len(set(cells)) == len(cells):
            say_error(
                f"{file}: the column {show_text(title)} is not used. If it has ids, name it id, login, username, "
                "email, Canvas ID, Moodle ID or matriculation number."
            )


def warn_of_unread_times(file: Path, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print that the times of hand-ins and of extensions in Moodle's worksheet are not used, if they are not in
    English."""
    titles = set(map(plain_title, header))
    cells = [cells_by_title(header, line).get(MODIFIED, "") for line in lines]
    if unread := [cell for cell in cells if cell not in NOTHING and not read_worksheet_time(cell)]:
        say_error(
            f"{file}: {plural(len(unread), 'time')} of hand-ins cannot be read, such as {show_text(unread[0])}, and "
            "do not decide who is late. Set your language in Moodle to English, download the worksheet again, and "
            "repeat the command; or write the times into a column `submitted`."
        )
    statuses = [cells_by_title(header, line).get("status", "") for line in lines] if "identifier" in titles else []
    if unread := [cell for cell in statuses if YEAR.search(cell) and not read_extension(cell)]:
        say_error(
            f"{file}: the status of {plural(len(unread), 'student')} may contain an extension, but cannot be read, "
            f"such as {show_text(unread[0])}. Set your language in Moodle to English, download the worksheet again, "
            "and repeat the command; or use `extend`."
        )


def warn_of_invisible(place: str, student: Student) -> None:
    """Print the ids with invisible characters, because they look like the ids of hand-ins but differ from them."""
    for alias in sorted(student.aliases):
        if not alias.isprintable() and any(unicodedata.category(character) in UNPRINTABLE for character in alias):
            say_error(
                f"{place}: the id {alias!a} has invisible characters, perhaps copied from a web page. Type the "
                "id again, because hand-ins without these characters do not belong to it."
            )


def read_table(file: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the titles of a CSV file's columns, and its other lines with their numbers. Raises UserError."""
    if file.is_file() and is_spreadsheet(file):
        raise UserError(f"{file} is a spreadsheet. Save it as CSV (UTF-8) and use that file.")
    text = read_text(file)
    try:
        rows = read_rows(text)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    return rows[0][1] if rows else [], rows[1:]


def is_spreadsheet(file: Path) -> bool:
    """Return whether a file is an .xlsx or .ods, which are zip archives."""
    with file.open("rb") as stream:
        return stream.read(2) == b"PK"


def read_student(header: Sequence[str], line: Sequence[str]) -> Student | None:
    """Return the student in one line; None if the line has no id, like Canvas's second line. Raises UserError."""
    person, cells = read_person(header, line), cells_by_title(header, line)
    if not person.ids:
        return None
    times = [parse_zoned_time(cells[column]) for column in TIMES if cells.get(column, "") not in NOTHING]
    handed_in = show_time(max(times)) if times else ""
    words = [word for _, word in person.ids]
    numbers = {word for (kind, _), word in person.ids if kind in NUMBERS}
    ids = {identifier for identifier, _ in person.ids}
    written = cells.get(MODIFIED, "")
    modified = read_worksheet_time(written)
    late = bool(LATE.search(cells.get("status", ""))) if written not in NOTHING else None
    late = late if modified else late or None  # without a time in English, the status may be in another language, too
    extended = cells.get(EXTENDED, "")
    extended = read_extension(cells.get("status", "")) if extended in NOTHING else show_time(parse_zoned_time(extended))
    group = cells.get("group" if "identifier" in cells else "groupname", "")
    return Student(words[0], person.name, set(words), handed_in, numbers, ids, modified, group, late, extended)


def read_extension(status: str) -> str:
    """Return the time until which Moodle gives a student more time, by the status in its worksheet; empty if there is
    none, or if it is not in English."""
    granted = GRANTED.search(status)
    return read_worksheet_time(granted[1]) if granted else ""
