"""The columns of gradebooks that Canvas and Moodle exported: which one is meant, and how many points it has.

Canvas's importer takes grades above an assignment's points (as more than 100%), never changes an existing assignment's
points, and ignores what it computes itself (canvas-lms: gradebook_importer.rb, process_gradebook_upload). Moodle's
worksheet leaves grades above the maximum out without a word, and takes their feedback (moodle:
mod/assign/feedback/offline/locallib.php).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from grader.journal.console import UserError
from grader.journal.units import show_points

POSSIBLE = "Points Possible"  # begins Canvas's line of points
MAXIMUM = "maximum grade"  # Moodle's column, in small letters
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)  # with Canvas's number
COMPUTED = tuple(f"{kind} {what}" for kind in ("Current", "Final") for what in ("Score", "Grade", "Points"))
COMPUTED += ("Override Score", "Override Grade", "Override Status")
# What may say who a row of a gradebook is about.
IDS = ("id", "sis user id", "sis login id", "username", "id number", "idnumber", "email address", "email", "identifier")
PEOPLE = ("student", "full name")
IDENTITIES = IDS + PEOPLE
CANVAS = ("Student", "ID")  # every gradebook of Canvas's has them
MOODLE = ("identifier", "full name", "first name", "username", "email address", "id number", MAXIMUM)


def read_rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file with cells in them, each with the number of its last line. Raises UserError.

    Students type some cells of a course system's table, so a cell may be as long as the file.
    """
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    text = text.removeprefix("\ufeff")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text))
    try:
        return [(lines.line_num, row) for row in lines if row]
    except csv.Error as error:
        raise UserError(f"Line {lines.line_num} cannot be read as CSV: {error}.") from None


def separator_of(text: str) -> str:
    """What is between the columns of a CSV file, by its first line: a German Excel saves semicolons."""
    return max(",;\t", key=text.partition("\n")[0].count)


def require_canvas(header: Sequence[str]) -> None:
    """Raises UserError where that is no gradebook of Canvas's."""
    if set(CANVAS) <= set(header):
        return
    named = [name for name in header if name.strip().lower() in MOODLE]
    found = ", ".join(named or header[:8])
    guess = " It seems to be Moodle's: give --format moodle, or the file that Canvas exports." if named else ""
    raise UserError(f"No gradebook of Canvas's, which has columns {' and '.join(CANVAS)}: {found}.{guess}")


def require_not_canvas(header: Sequence[str]) -> None:
    """Raises UserError where that is a gradebook of Canvas's, which Moodle would not take."""
    if set(CANVAS) <= set(header):
        raise UserError(
            f"The gradebook seems to be Canvas's: it has columns {' and '.join(CANVAS)}. Give --format canvas, or "
            "Moodle's grading worksheet."
        )


def require_assignment(title: str) -> None:
    """Raises UserError where Canvas would not take a column of that name for an assignment."""
    plain = title.partition(" (")[0].strip().lower()
    if any(words in title or words.lower() == plain for words in COMPUTED):
        raise UserError(f"Canvas ignores a column called '{title}'. Give the assignment's own title.")
    if plain in (*IDENTITIES, "section"):
        raise UserError(f"The column '{title}' says who a student is. Give the assignment's own title.")


def list_assignments(rows: Sequence[Sequence[str]]) -> list[str]:
    """The columns of Canvas's gradebook that can be filled in."""
    return [
        name
        for name in rows[0]
        if ASSIGNMENT.fullmatch(name) and not is_computed(name) and "read only" not in points_cell(rows, name)
    ]


def is_computed(title: str) -> bool:
    """Whether Canvas computes it, also for a group of assignments, or what is not posted yet."""
    return any(words in title for words in COMPUTED)


def choose_column(rows: Sequence[Sequence[str]], title: str) -> str:
    """The column that is meant, by its whole name or by an assignment's title without the number; the title itself
    where it is a new one's. Raises UserError."""
    if title in rows[0] and "read only" not in points_cell(rows, title):
        return title
    assignments = list_assignments(rows)
    called = [name for name in assignments if name.rpartition(" (")[0].casefold() == title.strip().casefold()]
    if len(called) == 1:
        return called[0]
    if called or title in rows[0] or ASSIGNMENT.fullmatch(title):
        raise UserError(f"No assignment's column is '{title}'. {name_columns(called or assignments)}")
    return title


def name_columns(assignments: Sequence[str]) -> str:
    """What --title may say."""
    return f"--title names one that is there: {', '.join(assignments)}" if assignments else "It holds no assignment."


def points_cell(rows: Sequence[Sequence[str]], column: str) -> str:
    """What Canvas's line of points says of a column; empty where there is no such line."""
    at = rows[0].index(column)
    return next((row[at].strip() for row in rows[1:] if is_points_row(rows[0], row)), "")


def is_points_row(header: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether it is Canvas's line of points, rather than a student with that name, who has an id."""
    ids = [cell for name, cell in zip(header, row, strict=False) if name.strip().lower() in IDS]
    return row[0].strip() == POSSIBLE and not any(cell.strip() for cell in ids)


def read_number(cell: str) -> float | None:
    """A number, also with a decimal comma; None where it is none."""
    text = cell.strip().replace(",", ".")
    return float(text) if re.fullmatch(r"\d+(\.\d*)?", text) else None


def maximum_column(header: Sequence[str]) -> str:
    """What the file calls Moodle's column of the maximum: its worksheets differ in capitals. Empty without one."""
    return next((name for name in header if name.strip().casefold() == MAXIMUM), "")


def maximum_of(rows: Sequence[Sequence[str]], column: str) -> float | None:
    """The most that Canvas or Moodle has for a column; None where the file does not say."""
    if maximum := maximum_column(rows[0]):
        at = rows[0].index(maximum)
        return min((most for row in rows[1:] if (most := read_number(row[at])) is not None), default=None)
    return read_number(points_cell(rows, column)) if column in rows[0] else None


def compare_with_canvas(column: str, theirs: float, ours: float) -> list[str]:
    """What to do where Canvas's assignment is of other points than ours."""
    if abs(theirs - ours) < 0.005:
        return []
    return [
        f"The column '{column}' is of {show_points(theirs)} points in Canvas, and these are of {show_points(ours)}. An "
        f"import does not change that: set the assignment's points to {show_points(ours)} in Canvas, too, or its "
        "percentages are wrong."
    ]


def compare_with_moodle(column: str, theirs: float, ours: float, above: Sequence[str]) -> list[str]:
    """What to do where Moodle's maximum, in that column, is another than ours. `above`: whose grades are above it."""
    said = []
    if abs(theirs - ours) >= 0.005:
        said.append(
            f"The column '{column}' says {show_points(theirs)}, and these points are of {show_points(ours)}. Set the "
            f"assignment's maximum grade to {show_points(ours)} in Moodle before the import."
        )
    if above:
        said.append(
            f"Moodle leaves out grades above its maximum, {show_points(theirs)}, though not their feedback: "
            f"{', '.join(above)}."
        )
    return said
