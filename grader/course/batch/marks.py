"""Points by hand from a CSV file, a line a student, as a spreadsheet of journals' marks has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.batch.submissions import IDS, NAMES, read_cell, read_table
from grader.course.columns import Identifier, identify_cell
from grader.journal.console import UserError
from grader.journal.units import show_points

POINTS = ("points", "score", "mark", "marks", "grade")
REASONS = ("reason", "comment", "remark", "feedback")


@dataclass
class Mark:
    """One line: the student's name and ids, each id with its cell; how many points, why, and where the line stands."""

    ids: list[tuple[Identifier, str]]
    name: str
    points: float
    reason: str
    place: str  # marks.csv:7


def read_marks(file: Path, most: float) -> list[Mark]:
    """Lines with points; a line without any is of somebody who has none yet. Raises UserError naming file and line."""
    columns, lines = read_table(file)
    who, points = pick(columns, (*IDS, *NAMES)), pick(columns, POINTS)
    if not who or not points:
        missing = "points" if who else "id"
        raise UserError(f"{file}: no column {missing}. Its first line names the columns: id, points, perhaps reason.")
    marks = []
    for number, line in lines:
        cells = dict(zip(columns, line, strict=False))
        text = read_cell(cells.get(points, ""))
        if not text:
            continue
        place = f"{file}:{number}"
        known = [(column, cell) for column in IDS if (cell := read_cell(cells.get(column, "")))]
        ids = [(identify_cell(column, cell, columns), cell) for column, cell in known]
        name = read_cell(cells.get(pick(columns, NAMES), ""))
        if not (ids if who in IDS else name):
            raise UserError(f"{place}: {text} points of nobody: the column {who} is empty.")
        reason = cells.get(pick(columns, REASONS), "").strip()
        marks.append(Mark(ids, name, read_points(text, most, place), reason, place))
    return marks


def pick(columns: Sequence[str], known: Sequence[str]) -> str:
    """The first column of those known that is there; empty when none is."""
    return next((name for name in known if name in columns), "")


def read_points(text: str, most: float, place: str) -> float:
    """A number, also with a decimal comma. Raises UserError."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise UserError(f"{place}: {text!r} is no number; write it as 7.5.") from None
    if not 0 <= points <= most or math.isinf(points):
        upper = f" to {show_points(most)}" if math.isfinite(most) else " or more"
        raise UserError(f"{place}: {text} points: give 0{upper}.")
    return points
