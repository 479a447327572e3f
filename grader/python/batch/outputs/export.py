"""Write reports for other systems: Gradescope, Autolab, GitHub Classroom, PrairieLearn, Canvas, Moodle.

python3 -m grader.python.batch.outputs.export REPORT… --format FORMAT [--output FILE]    (make export REPORT=… FORMAT=…)

A report is a file that `build/warplab grade` wrote. For a gradebook (canvas, moodle), write NAME=FILE, where NAME
identifies the student in the course system. Without NAME, the file's name without its extension identifies the student.
RELEASES.md explains the formats.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.python.batch.outputs.formats import ONE_REPORT, github_log
from grader.python.batch.outputs.gradebooks import GRADEBOOKS, canvas, compare_maxima, moodle, warn_of_new_column
from grader.python.batch.outputs.rows import Entry
from grader.python.common.console import UserError, make_parser, read_text, run_command, say_error, write_document
from grader.python.common.report import Report, modelled_points, read_report


def read_entry(word: str) -> Entry:
    """Parse NAME=FILE or FILE and read the report. Raises UserError."""
    name, separator, file = word.partition("=")
    if separator and not Path(word).exists():
        return Entry(name, read_report(Path(file)))
    return Entry(Path(word).stem, read_report(Path(word)))


def export_one(report: Report, format_name: str, output: Path | None) -> None:
    """Write one report in a format. For GitHub, also print the log if there is an output file."""
    write_document(ONE_REPORT[format_name](report), output)
    if format_name == "github" and output:
        write_document(github_log(report, secrets.token_hex(16)))


def export_gradebook(entries: Sequence[Entry], format_name: str, options: argparse.Namespace) -> int:
    """Write a gradebook, and print warnings about students without a row, points that are not final, and a different
    maximum. Return exit status 1 if a student has no row or the maximum differs."""
    gradebook = read_text(options.gradebook) if options.gradebook else ""
    if format_name == "canvas":
        text, unknown = canvas(entries, gradebook, options.title)
        for sentence in warn_of_new_column(entries, gradebook, options.title):
            say_error(sentence)
    else:
        text, unknown = moodle(entries, gradebook)
    write_document(text, options.output)
    maximum_warnings = compare_maxima(entries, format_name, gradebook, options.title)
    for sentence in [*list_warnings(entries, unknown), *maximum_warnings]:
        say_error(sentence)
    return 1 if unknown or maximum_warnings else 0


def list_warnings(entries: Sequence[Entry], unknown: Sequence[str]) -> list[str]:
    """Return warnings for the person who imports the gradebook. `unknown`: the students without a row."""
    pending = [entry.student for entry in entries if entry.report.total.pending]
    modelled = [entry.student for entry in entries if modelled_points(entry.report)]
    broken = [entry.student for entry in entries if entry.report.total.without_score]
    warnings = (
        [
            "Omitted, because the gradebook does not have them, has them in several or shared rows, or has a different "
            f"name: {', '.join(unknown)}."
        ]
        if unknown
        else []
    )
    if pending:
        warnings.append(f"Points are pending, so these are not final: {', '.join(pending)}.")
    if modelled:
        warnings.append(f"A GPU's measurement would replace the points for modelled times of: {', '.join(modelled)}.")
    if broken:
        warnings.append(f"Some stages could not be judged, so there is no grade: {', '.join(broken)}.")
    return warnings


def main(arguments: Sequence[str]) -> int:
    """Export the reports. Return exit status 1 if a student has no row in the gradebook or its maximum differs."""
    parser = make_parser("python3 -m grader.python.batch.outputs.export", __doc__)
    parser.add_argument("reports", nargs="+", metavar="REPORT", help="a report, or NAME=REPORT for a gradebook")
    parser.add_argument("--format", required=True, choices=[*ONE_REPORT, *GRADEBOOKS])
    parser.add_argument("--output", type=Path, help="the file to write (default: the terminal)")
    parser.add_argument("--gradebook", type=Path, help="canvas, moodle: the exported gradebook to fill in")
    parser.add_argument("--title", default="", help="canvas: the assignment's column, e.g. 'Dot product (1234)'")
    options = parser.parse_args(arguments)
    if options.format in GRADEBOOKS:
        return export_gradebook([read_entry(word) for word in options.reports], options.format, options)
    if len(options.reports) != 1:
        raise UserError(f"{options.format} takes one report at a time, and {len(options.reports)} were given.")
    export_one(read_report(Path(options.reports[0])), options.format, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
