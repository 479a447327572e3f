"""Choose a column of a gradebook that Canvas or Moodle exported, and find its maximum points.

Canvas's importer accepts grades above an assignment's points (as more than 100%), never changes an existing
assignment's points, and ignores the columns that it computes itself (canvas-lms: gradebook_importer.rb,
process_gradebook_upload). Moodle's worksheet importer silently skips grades above the maximum, but imports their
feedback (moodle: mod/assign/feedback/offline/locallib.php).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.python.batch.ingest.columns import (
    ASSIGNMENT,
    IDENTITIES,
    IDS,
    MAXIMUM,
    MOODLE,
    SPLIT_NAMES,
    plain_title,
    read_person,
)
from grader.python.common.console import UserError
from grader.python.common.units import show_points

POSSIBLE = "Points Possible"  # the first cell of Canvas's row of maximum points
# Words in the titles of columns that Canvas computes.
COMPUTED = tuple(f"{kind} {what}" for kind in ("Current", "Final") for what in ("Score", "Grade", "Points"))
COMPUTED += ("Override Score", "Override Grade", "Override Status")
CANVAS = ("Student", "ID")  # every Canvas gradebook has these columns
# The columns of Moodle's worksheet that its importer reads, or that identify a row's student.
IMPORTED = (*IDS, "fullname", "grade", "maximumgrade", "lastmodifiedgrade", "feedbackcomments")


def is_canvas(header: Sequence[str]) -> bool:
    """Return whether a table is a Canvas gradebook, with names in one column or in two."""
    return set(CANVAS) <= set(header) or set(SPLIT_NAMES) <= set(header)


def require_canvas(header: Sequence[str]) -> None:
    """Raise UserError if the table is not a Canvas gradebook."""
    if is_canvas(header):
        return
    moodle_columns = [name for name in header if name.strip().lower() in MOODLE]
    columns = ", ".join(moodle_columns or header[:8])
    guess = " It seems to be Moodle's: use --format moodle, or the file that Canvas exports." if moodle_columns else ""
    raise UserError(f"Not a Canvas gradebook, which has the columns {' and '.join(CANVAS)}: {columns}.{guess}")


def require_not_canvas(header: Sequence[str]) -> None:
    """Raise UserError if the table is a Canvas gradebook, which Moodle would not accept."""
    if is_canvas(header):
        raise UserError(
            f"The gradebook seems to be Canvas's: it has columns {' and '.join(CANVAS)}. Use --format canvas, or "
            "Moodle's grading worksheet."
        )


def require_assignment(title: str) -> None:
    """Raise UserError if Canvas would not accept a column with this title as an assignment."""
    plain = title.partition(" (")[0].strip().lower()
    if any(words in title or words.lower() == plain for words in COMPUTED):
        raise UserError(f"Canvas ignores a column called '{title}'. Give the assignment's own title.")
    if plain_title(title) in (*IDENTITIES, "section"):
        raise UserError(f"The column '{title}' identifies a student. Give the assignment's own title.")


def list_assignments(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns of a Canvas gradebook that can be filled in."""
    return [
        name
        for name in rows[0]
        if ASSIGNMENT.fullmatch(name) and not is_computed(name) and "read only" not in points_cell(rows, name)
    ]


def is_computed(title: str) -> bool:
    """Return whether Canvas computes the column, also if it is for a group of assignments or for unposted grades."""
    return any(words in title for words in COMPUTED)


def choose_column(rows: Sequence[Sequence[str]], title: str) -> str:
    """Return the column with this name, or the assignment with this title before Canvas's number. For a new
    assignment, return the title itself. Raises UserError."""
    if title in rows[0] and "read only" not in points_cell(rows, title):
        return title
    assignments = list_assignments(rows)
    same_title = [name for name in assignments if name.rpartition(" (")[0].casefold() == title.strip().casefold()]
    if len(same_title) == 1:
        return same_title[0]
    if same_title or title in rows[0] or ASSIGNMENT.fullmatch(title):
        raise UserError(f"No assignment column is called '{title}'. {name_columns(same_title or assignments)}")
    return title


def name_columns(assignments: Sequence[str]) -> str:
    """Return a sentence that lists the valid values of --title."""
    return f"--title must be one of: {', '.join(assignments)}" if assignments else "The file has no assignment."


def points_cell(rows: Sequence[Sequence[str]], column: str) -> str:
    """Return a column's cell in Canvas's row of maximum points; '' if there is no such row."""
    at = rows[0].index(column)
    return next((row[at].strip() for row in rows[1:] if is_points_row(rows[0], row)), "")


def is_points_row(header: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether a row is Canvas's row of maximum points, which has no id; a student of that name would have an
    id."""
    return row[0].strip() == POSSIBLE and not read_person(header, row).ids


def read_number(cell: str) -> float | None:
    """Parse a number with a decimal point or comma; return None if the cell is not a number."""
    text = cell.strip().replace(",", ".")
    return float(text) if re.fullmatch(r"\d+(\.\d*)?", text) else None


def maximum_column(header: Sequence[str]) -> str:
    """Return the title of Moodle's maximum column, whose capitals differ between worksheets; '' if there is none."""
    return next((name for name in header if name.strip().casefold() == MAXIMUM), "")


def maximum_of(rows: Sequence[Sequence[str]], column: str) -> float | None:
    """Return the maximum in Canvas or Moodle for a column; None if the file does not contain it."""
    if maximum := maximum_column(rows[0]):
        at = rows[0].index(maximum)
        return min((maximum for row in rows[1:] if (maximum := read_number(row[at])) is not None), default=None)
    return read_number(points_cell(rows, column)) if column in rows[0] else None


def compare_with_canvas(column: str, exported: float, computed: float) -> list[str]:
    """Return a sentence on what to do if the maximum `exported` from Canvas differs from the one `computed` here."""
    if abs(exported - computed) < 0.005:
        return []
    return [
        f"The column '{column}' has {show_points(exported)} points in Canvas, but the maximum here is "
        f"{show_points(computed)}. An import does not change that: set the assignment's points to "
        f"{show_points(computed)} in Canvas, too, or its percentages are wrong."
    ]


def compare_with_moodle(column: str, exported: float, computed: float, above: Sequence[str]) -> list[str]:
    """Return sentences on what to do if the maximum `exported` from Moodle, in this column, differs from the one
    `computed` here. `above`: the students whose grades exceed Moodle's maximum."""
    sentences = []
    if abs(exported - computed) >= 0.005:
        sentences.append(
            f"The column '{column}' has the maximum {show_points(exported)}, but the maximum here is "
            f"{show_points(computed)}. Set the assignment's maximum grade to {show_points(computed)} in Moodle before "
            "the import."
        )
    if above:
        sentences.append(
            f"Moodle omits grades above its maximum, {show_points(exported)}, but not their feedback: "
            f"{', '.join(above)}."
        )
    return sentences
