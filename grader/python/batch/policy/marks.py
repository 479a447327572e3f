"""Read points by hand from a CSV file with a line per student, for example a spreadsheet of marks for journals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.batch.ingest.columns import (
    FIRST_NAMES,
    IDENTITIES,
    IDS,
    LAST_NAMES,
    NAMES,
    Identifier,
    cells_by_title,
    columns_of,
    is_running_number,
    plain_title,
    read_person,
)
from grader.python.batch.ingest.roster import read_table
from grader.python.batch.policy.points import MOST_POINTS
from grader.python.common.console import UserError
from grader.python.common.units import show_points

POINTS = ("points", "score", "mark", "marks", "grade")
REASONS = ("reason", "comment", "remark", "feedback")


@dataclass
class Mark:
    """One line: the student's name and ids, each id with its cell; the points, the reason, and the place of the
    line."""

    ids: list[tuple[Identifier, str]]
    name: str
    points: float
    reason: str
    place: str  # marks.csv:7


def read_marks(file: Path, most: float) -> list[Mark]:
    """Return the lines with points. A student whose line has none has no points yet. Raises UserError with file and
    line."""
    header, lines = read_table(file)
    columns = list(map(plain_title, header))
    points = pick(columns, POINTS)
    if not points or not columns_of(header, IDENTITIES):
        missing = "points" if columns_of(header, IDENTITIES) else "id"
        raise UserError(f"{file}: no column {missing}. Its first line names the columns: id, points, perhaps reason.")
    marks = []
    for number, line in lines:
        cells = cells_by_title(header, line)
        text = cells.get(points, "")
        if not text:
            continue
        place, person = f"{file}:{number}", read_person(header, line)
        if not (person.ids or person.name) or (not person.ids and columns_of(header, IDS)):
            raise UserError(f"{place}: {text} points without a student: the columns with ids are empty.")
        if (
            not person.name
            and columns_of(header, (*NAMES, *FIRST_NAMES, *LAST_NAMES))
            and is_running_number(person.ids[0][0])
        ):
            raise UserError(f"{place}: there is no name to compare with the number {person.ids[0][1]}. Add it.")
        reason = dict(zip(columns, line, strict=False)).get(pick(columns, REASONS), "").strip()
        marks.append(Mark(person.ids, person.name, read_points(text, most, place), reason, place))
    return marks


def pick(columns: Sequence[str], known: Sequence[str]) -> str:
    """Return the first of the known columns that is there; empty if none is."""
    return next((name for name in known if name in columns), "")


def read_points(text: str, most: float, place: str) -> float:
    """Return a number, which may have a decimal comma. Raises UserError if it is invalid or out of range."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise UserError(f"{place}: {text!r} is not a number; write it as 7.5.") from None
    if not 0 <= points <= min(most, MOST_POINTS):
        upper = f" to {show_points(most)}" if math.isfinite(most) else " or more"
        raise UserError(f"{place}: {text} points: give 0{upper}.")
    return points
