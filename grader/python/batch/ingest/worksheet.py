"""Recognise Moodle's grading worksheet in any language, by the order and the contents of its columns.

Moodle writes: identifier, name, other columns about the person, status, group, marker, grade, maximum grade, state of
the marking workflow, whether the grade can be changed, time of the hand-in, texts, time of the grade, comments. An
anonymous assignment has no name; only a group assignment has a group, only one with a marking workflow has the
workflow's state and, if markers are allocated, the marker (mod/assign/gradingtable.php).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

IDENTIFIER, PARTICIPANT = "Identifier", "Participant "
NUMBERED = re.compile(r"(?P<prefix>[^\W\d][^\d,;]*)(?P<number>[1-9]\d{0,18})")
MAXIMUM_CELL = re.compile(r"\d+[.,]\d\d")
STATUS_MARK = " - "  # separates the parts of a status, which may be empty
FROM_GRADE = ("Grade", "Maximum grade", "Grade can be changed", "Last modified (submission)")
WORKFLOW = "Marking workflow state"
LAST = ("Last modified (grade)", "Feedback comments")
Row = Sequence[str]


def to_english(rows: Sequence[Row]) -> list[list[str]]:
    """Return a worksheet in another language with English titles and identifiers, and any other table unchanged."""
    titles, prefix = find_titles(rows)
    if not titles:
        return [list(row) for row in rows]
    return [titles, *([PARTICIPANT + row[0].removeprefix(prefix), *row[1:]] for row in rows[1:])]


def find_titles(rows: Sequence[Row]) -> tuple[list[str], str]:
    """Return the English titles of a worksheet in another language, and the word before each identifier's number; empty
    if it is not recognised."""
    if len(rows) < 2 or rows[0][:1] == [IDENTIFIER] or len({len(row) for row in rows}) > 1:
        return [], ""
    header, *people = rows
    numbered = [NUMBERED.fullmatch(row[0]) for row in people]
    prefixes = {match["prefix"] if match else "" for match in numbered}
    maximum = find_maximum(people, len(header))
    status = find_column(people, 1, maximum - 1, has_status)
    if len(prefixes) != 1 or "" in prefixes or not maximum or not status or len(header) < maximum + len(FROM_GRADE):
        return [], ""
    time = find_column(people, maximum + 2, min(maximum + 4, len(header)), is_time)
    has_workflow, between = time == maximum + 3, maximum - status - 2  # columns between the status and the grade
    # There are too many columns, or there is one that may be a group or a marker.
    if between > 1 + has_workflow or (has_workflow and between == 1):
        return [], ""
    titles = list(header)
    titles[0], titles[status] = IDENTIFIER, "Status"
    titles[maximum - 1 : maximum + 1] = FROM_GRADE[:2]
    titles[maximum + 1 : maximum + 1 + has_workflow] = [WORKFLOW] * has_workflow
    titles[maximum + 1 + has_workflow : maximum + 3 + has_workflow] = FROM_GRADE[2:]
    titles[-len(LAST) :] = LAST
    if between:
        titles[status + 1 : maximum - 1] = ["Group", "Marker"][:between]
    for at in range(1, status):
        is_address = any("@" in row[at] for row in people)
        titles[at] = "Email address" if is_address else "Full name" if at == 1 else titles[at]
    return titles, prefixes.pop()


def find_column(people: Sequence[Row], first: int, last: int, fits: Callable[[list[str]], bool]) -> int:
    """Return the first column from `first` to before `last` whose cells fit; 0 if none does."""
    return next((at for at in range(first, last) if fits([row[at].strip() for row in people])), 0)


def find_maximum(people: Sequence[Row], width: int) -> int:
    """Return the column of the maximum grade; 0 if there is none. If all grades are equal, their column, which is the
    one before, looks like a maximum, too."""
    first = find_column(people, 2, width, is_maximum)
    return find_column(people, first + 1, min(first + 2, width), is_maximum) or first


def is_maximum(cells: list[str]) -> bool:
    """Return whether a column is the maximum grade, which is the same for all students."""
    return len(set(cells)) == 1 and bool(MAXIMUM_CELL.fullmatch(cells[0]))


def is_time(cells: list[str]) -> bool:
    """Return whether a column is the time of the hand-ins: a date, or a dash."""
    return all(cell == "-" or any(character.isdigit() for character in cell) for cell in cells)


def has_status(cells: list[str]) -> bool:
    """Return whether a column is the status of the hand-ins."""
    return all(STATUS_MARK in f"{cell} " for cell in cells)
