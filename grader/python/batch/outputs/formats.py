"""Convert reports to the formats of other systems. No score is recomputed, no hidden dataset is named, and pending
points are stated.

Gradescope, Autolab, GitHub Classroom and PrairieLearn accept one report; Canvas and Moodle accept a gradebook of many.
If no stage of a report could be judged, there are no points to write: Gradescope and Autolab get no result, so that
they report that grading failed; GitHub and PrairieLearn get their own status for it; a gradebook gets an empty cell.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from grader.python.batch.ingest.columns import (
    IDENTITIES,
    IMPORTED,
    choose_column,
    columns_of,
    compare_with_canvas,
    compare_with_moodle,
    is_points_row,
    list_assignments,
    maximum_column,
    maximum_of,
    name_columns,
    read_rows,
    require_assignment,
    require_canvas,
    require_not_canvas,
)
from grader.python.batch.outputs.report_text import hidden_names, hide_names, tell_report, tell_stage, tell_total
from grader.python.batch.outputs.rows import Entry, find_rows
from grader.python.common.console import UserError
from grader.python.common.documents import show_json, show_texts
from grader.python.common.markup import show_text
from grader.python.common.report import Report, StageReport
from grader.python.common.units import show_points

NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?", re.ASCII)
# Text that a reader may skip before a cell's first character. It always matches, so its time is linear in the text.
CELL_START = re.compile(r"(?:^|[;\t\n])[;\s\"\u200c\u200d]*+(?=(\S?))")
SEPARATORS = ";\t\n"
BEHIND_REFERENCE = re.compile(r"(?<=;)[^\w&;<]+")
BACKSLASH_AT_QUOTE = re.compile(r'\\(?="|\Z)')
JOINED = re.compile(r"[^\u200c\u200d]+")  # words of Persian or Sinhala, and emoji, contain joiners
FORMULA_SIGNS = ("=", "+", "-", "@", "\N{MINUS SIGN}")
MOST_BYTES = 16_000  # of one stage's text; PrairieLearn accepts 1 MiB in total


def clip(text: str, most_bytes: int = MOST_BYTES) -> str:
    """Return printable text of at most `most_bytes` of UTF-8, before the remark that it was shortened."""
    shown = show_text(text)
    encoded = shown.encode()
    if len(encoded) <= most_bytes:
        return shown
    return encoded[:most_bytes].decode(errors="ignore") + "\n... (shortened)"


def points(value: float) -> float:
    """Round points to two decimals, as all texts show them."""
    return round(value, 2) if math.isfinite(value) else 0.0


def require_points(report: Report) -> None:
    """Raise UserError if no stage has a score: that is not the student's fault, so 0 points would be wrong."""
    if any(stage.score for stage in report.stages):
        return
    whys = [stage.error.message for stage in report.stages if stage.error]
    raise UserError(f"{report.lab}: no stage could be judged, so there are no points to write. {' '.join(whys[:1])}")


def name_of(stage: StageReport) -> str:
    """Return a stage's name as students see it."""
    return clip(f"{stage.stage}: {stage.title}" if stage.title else stage.stage, 200)


def gradescope(report: Report) -> str:
    """Return results.json with a test for each stage. Pending points are in the texts, but not in the score."""
    require_points(report)
    tests, hidden = [], hidden_names(report)
    for number, stage in enumerate(report.stages, start=1):
        test: dict[str, Any] = {"name": name_of(stage), "number": str(number), "visibility": "visible"}
        if stage.score:
            test |= {"score": points(stage.score.total), "max_score": points(stage.score.max)}
            test["status"] = "passed" if stage.verdict == "passed" else "failed"
        tests.append(test | {"output": clip(tell_stage(stage, hidden)), "output_format": "text"})
    return show_json(
        {
            "score": points(report.total.points),
            "output": tell_total(report),
            "output_format": "text",
            "visibility": "visible",
            "tests": tests,
            "extra_data": {
                "lab": report.lab,
                "warplab": report.warplab,
                "sandbox": report.sandbox,
                "pending": points(report.total.pending),
                "source_hashes": {stage.stage: stage.source_hash for stage in report.stages},
            },
        }
    )


def autolab(report: Report) -> str:
    """Return the text, a line for Autolab's table of tests, and a last line with the scores: a problem for each
    stage."""
    require_points(report)
    text = "".join(f"  {line}\n" for line in tell_report(report).splitlines())
    tests: dict[str, dict[str, Any]] = {}
    hidden = hidden_names(report)
    for stage in report.stages:
        checks = [check for check in stage.checks if not check.hidden and not check.skipped]
        tests[stage.stage] = {
            check.dataset: {
                "passed": check.verdict == "passed",
                "hint": space_colons(clip(hide_names(check.failure.message, hidden), 500)) if check.failure else "",
            }
            for check in checks
        } or {"compiles": {"passed": stage.compilation.verdict == "passed", "hint": ""}}
    scores = {stage.stage: points(stage.score.total) for stage in report.stages if stage.score}
    presentation = {"_presentation": "semantic", "stages": list(tests), **tests}
    return f"{text}{json.dumps(show_texts(presentation))}\n{json.dumps(show_texts({'scores': scores}))}\n"


def space_colons(text: str) -> str:
    """Put a space before colons, because Autolab takes `word:` inside a string for a key."""
    return re.sub(r"(?<![\s:]):", " :", text)


def github(report: Report) -> str:
    """Return the `result` of an autograding step: base64 of JSON with one test for each whole point. The tests have
    equal weight, so the counts of tests and of points agree. Pending points are omitted from both."""
    hidden = hidden_names(report)
    tests = [test for stage in report.stages for test in github_tests(stage, hidden)]
    if all(test["status"] == "error" for test in tests):
        status = "error"
    else:
        status = "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    content = {"version": 1, "status": status, "max_score": sum(test["score_max"] for test in tests), "tests": tests}
    for test in tests:
        del test["score_max"]
    return base64.b64encode(json.dumps(show_texts(content)).encode()).decode() + "\n"


def github_tests(stage: StageReport, hidden: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a test for each decided point of a stage. If the stage has no score or all its points are pending, return
    one test with the status error."""
    about = {"test_code": "", "filename": f"{stage.stage}.cu", "line_no": 0, "duration": 0}
    text = clip(tell_stage(stage, hidden))
    decided = round(stage.score.max - stage.score.pending) if stage.score else 0
    if not stage.score or (stage.score.pending and not decided):
        return [{"name": name_of(stage), "status": "error", "score": 0, "score_max": 0, "message": text} | about]
    reached = min(round(stage.score.total), decided)
    return [
        {
            "name": f"{name_of(stage)}, point {number} of {decided}",
            "status": "pass" if number <= reached else "fail",
            "score": int(number <= reached),
            "score_max": 1,
            "message": text if number == 1 else "",
        }
        | about
        for number in range(1, decided + 1)
    ]


def github_log(report: Report, token: str) -> str:
    """Return the text for an action's log. Between the lines with the token, the runner ignores commands in it."""
    return f"::stop-commands::{token}\n{tell_report(report).replace(token, '')}::{token}::\n"


def prairielearn(report: Report) -> str:
    """Return results.json with all tests and points; not gradable if nothing could be judged."""
    if not any(stage.score for stage in report.stages):
        return show_json(
            {"gradable": False, "message": tell_total(report), "format_errors": [clip(tell_report(report))]}
        )
    most = min(MOST_BYTES, 900_000 // max(len(report.stages), 1))
    tests, hidden = [], hidden_names(report)
    for stage in report.stages:
        got, of = (points(stage.score.total), points(stage.score.max)) if stage.score else (0, 0)
        message = (
            f"{show_points(stage.score.pending)} points are pending" if stage.score and stage.score.pending else ""
        )
        tests.append(
            {
                "name": name_of(stage),
                "description": clip(stage.title, 200),
                "points": got,
                "max_points": of,
                "message": message,
                "output": clip(tell_stage(stage, hidden), most),
            }
        )
    share = report.total.points / report.total.max if report.total.max else 0
    return show_json(
        {
            "gradable": True,
            "score": round(min(max(share, 0), 1), 6),
            "message": tell_total(report),
            "output": "",
            "images": [],
            "tests": tests,
        }
    )


Rows = list[list[str]]


def grade_of(report: Report) -> str:
    """Return a gradebook's cell: the points so far. It is empty if a stage could not be judged, because the student
    must not lose points for that."""
    return "" if report.total.without_score or not report.total.max else show_points(points(report.total.points))


def defuse(cell: str, is_first: bool = False) -> str:
    """Return a cell that no spreadsheet interprets as a formula, without unprintable characters. `is_first`: the
    cell begins a line.

    A German Excel splits a comma-separated file at semicolons, and then quotes do not protect a cell. So a formula may
    begin after any separator or line break, with any number of quotes and blanks before its sign; and the first cell
    of a line continues with the next ones, so that it is not a number. Full-width signs count as their ASCII
    equivalents.
    """
    text = JOINED.sub(lambda part: show_text(part[0]), cell)
    if not is_first and (text == "-" or NUMBER.fullmatch(text)):
        return text
    return CELL_START.sub(defuse_start, text)


def defuse_start(found: re.Match[str]) -> str:
    """Insert an apostrophe after the last separator if a formula would begin there."""
    at = max(found[0].rfind(separator) for separator in SEPARATORS) + 1
    return f"{found[0][:at]}'{found[0][at:]}" if begins_formula(found[1]) else found[0]


def begins_formula(character: str) -> bool:
    """Return whether a spreadsheet may interpret a cell that begins with it as a formula."""
    return unicodedata.normalize("NFKC", character).startswith(FORMULA_SIGNS)


def write_csv(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as CSV with commas, as Canvas and Moodle accept it, with every cell defused."""
    return encode_csv([[defuse(cell, at == 0) for at, cell in enumerate(row)] for row in rows])


def encode_csv(rows: Sequence[Sequence[str]]) -> str:
    """Encode rows so that Moodle, whose reader is PHP's, and readers of RFC 4180 agree.

    In PHP, a quote after a backslash does not end a cell and is not doubled. Therefore, this adds a space between a
    backslash and a quote, and after a backslash at a cell's end.
    """
    text = io.StringIO()
    csv.writer(text).writerows([[BACKSLASH_AT_QUOTE.sub(r"\\ ", cell) for cell in row] for row in rows])
    return text.getvalue()


def read_csv(text: str) -> Rows:
    """Read an exported gradebook. Raises UserError."""
    try:
        rows = read_rows(text)
    except UserError as error:
        raise UserError(f"The gradebook: {error}") from None
    if not rows:
        raise UserError("The gradebook is empty.")
    return [trim(row, len(rows[0][1]), line) for line, row in rows]


def trim(row: list[str], width: int, line: int) -> list[str]:
    """Return a line with as many cells as the first one. Raises UserError if that would drop a value."""
    if any(cell.strip() for cell in row[width:]):
        raise UserError(f"Line {line} of the gradebook has more cells than its first line. Export it again.")
    return row[:width] + [""] * (width - len(row))


def mark_of(text: str) -> str:
    """Return the byte order mark if the text begins with one. Without it, Excel garbles umlauts."""
    return "\ufeff" if text.startswith("\ufeff") else ""


def canvas(entries: Sequence[Entry], gradebook: str = "", title: str = "") -> tuple[str, list[str]]:
    """Return a gradebook for import into Canvas, and the students without a row of their own in it.

    `title` is the assignment's column, `Dot product (1234)` with Canvas's number. `gradebook` is the text of an
    exported gradebook, whose rows identify the students; without it, students are identified by their login. An
    assignment's points in the gradebook stay unchanged. Raises UserError.
    """
    title = title or check_same_lab(entries)
    require_assignment(title)
    most = most_of(entries)
    grades = {entry.student: grade_of(entry.report) for entry in check_students(entries)}
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    possible = ["    Points Possible", "", "", "", "", show_points(most)]
    if not gradebook:
        return write_csv(
            [header, possible, *([student, "", "", student, "", grade] for student, grade in grades.items())]
        ), []
    rows = read_canvas(gradebook)
    title = choose_column(rows, title)
    columns = {title: lambda student: grades[student]}
    found = fill(rows, entries, columns, keep=("EX",), first={title: show_points(most)})
    for row in rows[1:]:
        for at in columns_of(rows[0], IDENTITIES):  # students type their names; other cells stay unchanged
            row[at] = defuse(row[at], at == 0)
    return mark_of(gradebook) + encode_csv(rows), unknown_of(entries, found)


def unknown_of(entries: Sequence[Entry], found: Collection[str]) -> list[str]:
    """Return the students without a row of their own."""
    return sorted({entry.student for entry in entries} - set(found))


def read_canvas(gradebook: str) -> Rows:
    """Read a gradebook. Raises UserError if it is not a gradebook of Canvas."""
    rows = read_csv(gradebook)
    require_canvas(rows[0])
    return rows


def most_of(entries: Sequence[Entry]) -> float:
    return max((entry.report.total.max for entry in entries), default=0.0)


def tell_new(entries: Sequence[Entry], gradebook: str, title: str) -> list[str]:
    """Warn if Canvas will create a new assignment because it does not know the column. Raises UserError."""
    if not gradebook:
        return []
    rows = read_canvas(gradebook)
    column = choose_column(rows, title or check_same_lab(entries))
    if column in rows[0]:
        return []
    return [
        f"Canvas has no column '{column}' yet, and makes an assignment of it. {name_columns(list_assignments(rows))}"
    ]


def compare_maxima(entries: Sequence[Entry], wanted: str, gradebook: str, title: str = "") -> list[str]:
    """State what to do if the exported gradebook's maximum differs from the reports'. Raises UserError."""
    if not gradebook or not entries:
        return []
    rows, ours = read_csv(gradebook), most_of(entries)
    column = choose_column(rows, title or check_same_lab(entries)) if wanted == "canvas" else "Grade"
    theirs = maximum_of(rows, column)
    if theirs is None:
        return []
    if wanted == "canvas":
        return compare_with_canvas(column, theirs, ours)
    above = [
        entry.student for entry in entries if points(entry.report.total.points) > theirs and grade_of(entry.report)
    ]
    return compare_with_moodle(maximum_column(rows[0]), theirs, ours, above)


def moodle(entries: Sequence[Entry], gradebook: str = "") -> tuple[str, list[str]]:
    """Return grades and feedback for Moodle, and the students without a row of their own in its list.

    `gradebook` is the text of a grading worksheet or a participants' list. Only students in it get a row, because one
    unknown user aborts an import. Other students' rows and columns that Moodle does not import are omitted, so an
    import does not change these. Without `gradebook`, students are identified by their user name. Raises UserError.
    """
    check_same_lab(entries)
    grades = {entry.student: grade_of(entry.report) for entry in check_students(entries)}
    feedback = {
        entry.student: to_html(clip("\n".join([*entry.remarks, tell_report(entry.report)]))) for entry in entries
    }
    if not gradebook:
        rows = [[student, grades[student], feedback[student]] for student in grades]
        return write_csv([["username", "Grade", "Feedback comments"], *rows]), []
    columns: dict[str, Callable[[str], str]] = {
        "Grade": lambda student: grades[student],
        "Feedback comments": lambda student: feedback[student],
    }
    rows = read_csv(gradebook)
    require_not_canvas(rows[0])
    found = fill(rows, entries, columns)
    kept = columns_of(rows[0], IMPORTED)
    filled = [[row[at] for at in kept] for row in rows if row is rows[0] or any(row is one for one in found.values())]
    return mark_of(gradebook) + write_csv(filled), unknown_of(entries, found)


def to_html(text: str) -> str:
    """Return text as HTML, as Moodle stores imported comments: with its line breaks, and its markup escaped.

    Each reference ends with a semicolon, and defuse() would change a sign after it, as in `&lt;=`. Therefore, such
    signs become references, too, and so do backslashes, which are special in PHP's reader.
    """
    escaped = html.escape(text.rstrip("\n")).replace("\\", "&#92;").replace("\n", "<br>")
    return BEHIND_REFERENCE.sub(lambda signs: re.sub(r"\S", lambda sign: f"&#{ord(sign[0])};", signs[0]), escaped)


def check_same_lab(entries: Sequence[Entry]) -> str:
    """Return the lab that all reports are about. Raises UserError if there is not exactly one."""
    labs = sorted({entry.report.lab for entry in entries})
    if len(labs) != 1:
        raise UserError(
            f"One gradebook's column is about one lab; these reports are about {', '.join(labs) or 'none'}."
        )
    return labs[0]


def check_students(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries. Raises UserError if a student has two reports."""
    students = [entry.student for entry in entries]
    twice = sorted(student for student, count in Counter(students).items() if count > 1)
    if twice:
        raise UserError(f"More than one report: {', '.join(map(show_text, twice))}. Which one counts?")
    return entries


def fill(
    rows: Rows,
    entries: Sequence[Entry],
    columns: Mapping[str, Callable[[str], str]],
    keep: Sequence[str] = (),
    first: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Fill in columns for the students of `entries`, add missing columns, and return each student's row.

    `first` contains cells for Canvas's row of maximum points, used where that row's cell is empty. Cells whose text is
    in `keep`, such as EX, stay. Raises UserError.
    """
    header = rows[0]
    for column in columns:
        if column not in header:
            for row in rows:
                row.append("")
            header[-1] = column
    if not columns_of(header, IDENTITIES):
        raise UserError(f"No column of the gradebook says who a row is about: {', '.join(header[:8])}.")
    people = []
    for row in rows[1:]:
        if first and is_points_row(header, row):
            for column, cell in first.items():
                row[header.index(column)] = row[header.index(column)].strip() or cell
        else:
            people.append(row)
    found = find_rows(header, people, entries)
    for student, row in found.items():
        for column, write in columns.items():
            if row[header.index(column)] not in keep:
                row[header.index(column)] = write(student)
    return found


ONE_REPORT: dict[str, Callable[[Report], str]] = {
    "gradescope": gradescope,
    "autolab": autolab,
    "github": github,
    "prairielearn": prairielearn,
}
GRADEBOOKS = ("canvas", "moodle")
