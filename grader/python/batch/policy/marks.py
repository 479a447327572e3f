"""Read points given by hand, or levels of the rubric, from a CSV file with one line per student."""

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
from grader.python.batch.policy.points import MAX_POINTS
from grader.python.common.console import UserError
from grader.python.common.rubric import Criterion, Level, Rubric
from grader.python.common.units import show_points

POINTS = ("points", "score", "mark", "marks", "grade")
REASONS = ("reason", "comment", "remark", "feedback")


@dataclass
class Line:
    """A line of the file: the student's ids and name, and the reason."""

    ids: list[tuple[Identifier, str]]  # each with the text of its cell
    name: str
    reason: str
    place: str  # file and line number, as in marks.csv:7


@dataclass
class Mark(Line):
    """A line with points."""

    points: float


@dataclass
class Levels(Line):
    """A line with levels of the rubric, by criterion."""

    levels: list[tuple[Criterion, Level]]


def read_marks(file: Path, maximum: float) -> list[Mark]:
    """Return the lines that have points. Raises UserError with file and line, for example for a number above
    `maximum`."""
    header, lines = read_table(file)
    points = pick(list(map(plain_title, header)), POINTS)
    if not points or not columns_of(header, IDENTITIES):
        missing = "points" if columns_of(header, IDENTITIES) else "id"
        raise UserError(
            f"{file}: no column {missing}. Its first line names the columns: id, points, reason (optional)."
        )
    marks = []
    for number, cells in lines:
        if text := cells_by_title(header, cells).get(points, ""):
            line = read_line(header, cells, f"{file}:{number}", f"{text} points")
            marks.append(Mark(**vars(line), points=read_points(text, maximum, line.place)))
    return marks


def read_levels(file: Path, rubric: Rubric) -> list[Levels]:
    """Return the lines with a level for at least one criterion. The columns of criteria are optional, but one is
    required. Raises UserError with file and line."""
    header, lines = read_table(file)
    columns = list(map(plain_title, header))
    criteria = [criterion for criterion in rubric.criteria if plain_title(criterion.name) in columns]
    if not criteria or not columns_of(header, IDENTITIES):
        names = ", ".join(criterion.name for criterion in rubric.criteria)
        missing = "of a criterion" if columns_of(header, IDENTITIES) else "id"
        raise UserError(
            f"{file}: no column {missing}. Its first line names the columns: id, {names}, reason (optional)."
        )
    lines_with_levels = []
    for number, cells in lines:
        cells_by_column = dict(zip(columns, cells, strict=False))
        place = f"{file}:{number}"
        levels = [
            (criterion, text)
            for criterion in criteria
            if (text := cells_by_column.get(plain_title(criterion.name), "").strip())
        ]
        if levels:
            line = read_line(header, cells, place, levels[0][1])
            try:
                lines_with_levels.append(
                    Levels(**vars(line), levels=[(criterion, criterion.find_level(text)) for criterion, text in levels])
                )
            except UserError as error:
                raise UserError(f"{place}: {error}") from None
    return lines_with_levels


def read_line(header: Sequence[str], cells: list[str], place: str, what: str) -> Line:
    """Return the student and the reason of a line. Raises UserError if the line names no student. `what`: its points or
    level, for the message."""
    person = read_person(header, cells)
    if not (person.ids or person.name) or (not person.ids and columns_of(header, IDS)):
        raise UserError(f"{place}: {what} without a student: the columns with ids are empty.")
    if (
        not person.name
        and columns_of(header, (*NAMES, *FIRST_NAMES, *LAST_NAMES))
        and is_running_number(person.ids[0][0])
    ):
        raise UserError(
            f"{place}: the name is missing, so the number {person.ids[0][1]} cannot be checked. Add the name."
        )
    columns = list(map(plain_title, header))
    reason = dict(zip(columns, cells, strict=False)).get(pick(columns, REASONS), "").strip()
    return Line(person.ids, person.name, reason, place)


def pick(columns: Sequence[str], accepted: Sequence[str]) -> str:
    """Return the first accepted column that the file has; empty if it has none."""
    return next((name for name in accepted if name in columns), "")


def read_points(text: str, maximum: float, place: str) -> float:
    """Parse points, which may have a decimal comma. Raises UserError if they are not a number or out of range."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise UserError(f"{place}: {text!r} is not a number; write it as 7.5.") from None
    if not 0 <= points <= min(maximum, MAX_POINTS):
        upper = f" to {show_points(maximum)}" if math.isfinite(maximum) else " or more"
        raise UserError(f"{place}: {text} points: give 0{upper}.")
    return points
