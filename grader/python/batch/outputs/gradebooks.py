"""Fill in the gradebooks of Canvas and Moodle."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from grader.python.batch.ingest.columns import IDENTITIES, NUMBERS, columns_of
from grader.python.batch.ingest.worksheet import IDENTIFIER
from grader.python.batch.outputs.cells import (
    AFTER_REFERENCE,
    byte_order_mark_of,
    defuse,
    encode_csv,
    read_csv,
    write_csv,
)
from grader.python.batch.outputs.columns import (
    IMPORTED,
    choose_column,
    compare_with_canvas,
    compare_with_moodle,
    is_points_row,
    list_assignments,
    maximum_column,
    maximum_of,
    name_columns,
    require_assignment,
    require_canvas,
    require_not_canvas,
)
from grader.python.batch.outputs.formats import Rows, clip, grade_of, round_points
from grader.python.batch.outputs.report_text import describe_report
from grader.python.batch.outputs.rows import Entry, find_rows
from grader.python.common.console import UserError
from grader.python.common.markup import show_text
from grader.python.common.units import name_some, show_points


def canvas(entries: Sequence[Entry], gradebook: str = "", title: str = "") -> tuple[str, list[str]]:
    """Return a gradebook for import into Canvas, and the students who have no row in it.

    `title` is the name of the assignment's column, such as `Dot product (1234)`, where 1234 is Canvas's number.
    `gradebook` is the text of an exported gradebook, whose rows identify the students; without it, logins identify
    them. The assignment's maximum points in the gradebook stay unchanged. Raises UserError.
    """
    title = title or check_same_lab(entries)
    require_assignment(title)
    maximum = max_of(entries)
    grades = {entry.student: grade_of(entry.report) for entry in check_students(entries)}
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    possible = ["    Points Possible", "", "", "", "", show_points(maximum)]
    if not gradebook:
        require_logins(entries, "canvas")
        return write_csv(
            [header, possible, *([student, "", "", student, "", grade] for student, grade in grades.items())]
        ), []
    rows = read_canvas(gradebook)
    title = choose_column(rows, title)
    columns = {title: lambda student: grades[student]}
    rows_by_student = fill(rows, entries, columns, keep=("EX",), maxima={title: show_points(maximum)})
    for row in rows[1:]:
        for at in columns_of(rows[0], IDENTITIES):  # students type their names; other cells stay unchanged
            row[at] = defuse(row[at], at == 0)
    return byte_order_mark_of(gradebook) + encode_csv(rows), list_students_without_row(entries, rows_by_student)


def list_students_without_row(entries: Sequence[Entry], with_row: Collection[str]) -> list[str]:
    """Return the students who have no row of their own."""
    return sorted({entry.student for entry in entries} - set(with_row))


def read_canvas(gradebook: str) -> Rows:
    """Read a gradebook. Raises UserError if it is not a Canvas gradebook."""
    rows = read_csv(gradebook)
    require_canvas(rows[0])
    return rows


def max_of(entries: Sequence[Entry]) -> float:
    return max((entry.report.total.max for entry in entries), default=0.0)


def warn_of_new_column(entries: Sequence[Entry], gradebook: str, title: str) -> list[str]:
    """Return a warning if Canvas does not know the column and will create a new assignment. Raises UserError."""
    if not gradebook:
        return []
    rows = read_canvas(gradebook)
    column = choose_column(rows, title or check_same_lab(entries))
    if column in rows[0]:
        return []
    return [
        f"Canvas has no column '{column}' yet, and will create an assignment. {name_columns(list_assignments(rows))}"
    ]


def compare_maxima(entries: Sequence[Entry], system: str, gradebook: str, title: str = "") -> list[str]:
    """Return sentences on what to do if the maximum in the exported gradebook differs from that of the reports. Raises
    UserError."""
    if not gradebook or not entries:
        return []
    rows, computed = read_csv(gradebook), max_of(entries)
    column = choose_column(rows, title or check_same_lab(entries)) if system == "canvas" else "Grade"
    exported = maximum_of(rows, column)
    if exported is None:
        return []
    if system == "canvas":
        return compare_with_canvas(column, exported, computed)
    above = [
        entry.student
        for entry in entries
        if round_points(entry.report.total.points) > exported and grade_of(entry.report)
    ]
    return compare_with_moodle(maximum_column(rows[0]), exported, computed, above)


def moodle(entries: Sequence[Entry], gradebook: str = "") -> tuple[str, list[str]]:
    """Return a table of grades and feedback for Moodle, and the students who have no row in `gradebook`.

    `gradebook` is the text of a grading worksheet or a list of participants. Only students in it get a row, because an
    unknown user aborts the import. Omit the rows of other students and the columns that Moodle does not import, so that
    the import cannot change them. A worksheet keeps its language. Without `gradebook`, user names identify the
    students. Only a worksheet gets rows without a grade: in other tables, an empty cell makes Moodle's gradebook delete
    the grade. Raises UserError.
    """
    check_same_lab(entries)
    grades = {entry.student: grade_of(entry.report) for entry in check_students(entries)}
    feedback = {
        entry.student: to_html(clip("\n".join([*entry.remarks, describe_report(entry.report)]))) for entry in entries
    }
    if not gradebook:
        require_logins(entries, "moodle")
        rows = [[student, grades[student], feedback[student]] for student in grades if grades[student]]
        return write_csv([["username", "Grade", "Feedback comments"], *rows]), []
    columns: dict[str, Callable[[str], str]] = {
        "Grade": lambda student: grades[student],
        "Feedback comments": lambda student: feedback[student],
    }
    rows = read_csv(gradebook)
    require_not_canvas(rows[0])
    rows_by_student = fill(rows, entries, columns)
    kept_columns = columns_of(rows[0], IMPORTED)
    original = read_csv(gradebook, in_english=False)
    titles = original[0] + rows[0][len(original[0]) :]
    filled = [[titles[at] for at in kept_columns]]
    grade = rows[0].index("Grade")
    for row, own_cells in zip(rows, original, strict=True):
        if any(row is matched for matched in rows_by_student.values()) and (row[grade] or IDENTIFIER in rows[0]):
            filled.append([own_cells[at] if rows[0][at] == IDENTIFIER else row[at] for at in kept_columns])
    return byte_order_mark_of(gradebook) + write_csv(filled), list_students_without_row(entries, rows_by_student)


def to_html(text: str) -> str:
    """Return text as HTML, because Moodle stores imported comments as HTML. Line breaks stay, and markup is escaped.

    Each character reference ends with a semicolon, and defuse() would change a sign after it, as in `&lt;=`. Therefore,
    such signs become references, too, and so do backslashes, which are special for PHP's reader.
    """
    escaped = html.escape(text.rstrip("\n")).replace("\\", "&#92;").replace("\n", "<br>")
    return AFTER_REFERENCE.sub(lambda signs: re.sub(r"\S", lambda sign: f"&#{ord(sign[0])};", signs[0]), escaped)


def check_same_lab(entries: Sequence[Entry]) -> str:
    """Return the lab that all reports are about. Raises UserError if there is not exactly one."""
    labs = sorted({entry.report.lab for entry in entries})
    if not labs:
        raise UserError("No student has points, so there is no gradebook to write. The batch's report.html says why.")
    if len(labs) != 1:
        raise UserError(
            f"A gradebook's column is about one lab; these reports are about {', '.join(labs)}. Export one lab."
        )
    return labs[0]


def check_students(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries. Raises UserError if a student has several reports."""
    students = [entry.student for entry in entries]
    twice = sorted(student for student, count in Counter(students).items() if count > 1)
    if twice:
        raise UserError(f"More than one report: {', '.join(map(show_text, twice))}. Give one report for each student.")
    return entries


def require_logins(entries: Sequence[Entry], system: str) -> None:
    """Raise UserError if a student is only identified by a course system's number, because the importers look for
    logins."""
    numbered = [entry.student for entry in entries if any((kind, entry.student) in entry.ids for kind in NUMBERS)]
    if numbered:
        file = {"canvas": "the gradebook that Canvas exports", "moodle": "Moodle's grading worksheet"}[system]
        raise UserError(f"Numbers of a course system, not logins: {name_some(numbered)}. Add --gradebook with {file}.")


def fill(
    rows: Rows,
    entries: Sequence[Entry],
    columns: Mapping[str, Callable[[str], str]],
    keep: Sequence[str] = (),
    maxima: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Fill in columns for the students of `entries`, in place, and return each student's row. Add missing columns.

    `columns` maps a column's title to the function that returns a student's cell. `maxima` contains, by title, cells
    for Canvas's row of maximum points, which are used where that row has an empty cell. Cells whose text is in `keep`,
    such as EX, stay. Raises UserError.
    """
    header = rows[0]
    for column in columns:
        if column not in header:
            for row in rows:
                row.append("")
            header[-1] = column
    if not columns_of(header, IDENTITIES):
        raise UserError(f"No column of the gradebook identifies the students: {', '.join(header[:8])}.")
    people = []
    for row in rows[1:]:
        if maxima and is_points_row(header, row):
            for column, cell in maxima.items():
                row[header.index(column)] = row[header.index(column)].strip() or cell
        else:
            people.append(row)
    rows_by_student = find_rows(header, people, entries)
    for student, row in rows_by_student.items():
        for column, write in columns.items():
            at = header.index(column)
            if row[at] not in keep:
                row[at] = write(student) or row[at]  # Canvas deletes a grade whose cell is empty
    return rows_by_student


GRADEBOOKS = ("canvas", "moodle")
