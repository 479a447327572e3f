"""Read and write CSV in which spreadsheets and course systems find no formula to run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from grader.python.batch.ingest.columns import begins_formula, read_rows
from grader.python.batch.outputs.formats import Rows
from grader.python.common.console import UserError
from grader.python.common.markup import show_text

NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?", re.ASCII)
# The text that a reader may skip before a cell's first character. Each attempt to match succeeds: the time is linear.
CELL_START = re.compile(r"(?:^|[;\t\n])[;\s\"\u200c\u200d]*+(?=(\S?))")
SEPARATORS = ";\t\n"
AFTER_REFERENCE = re.compile(r"(?<=;)[^\w&;<]+")
BACKSLASH_AT_QUOTE = re.compile(r'\\(?="|\Z)')
JOINED = re.compile(r"[^\u200c\u200d]+")  # text between joiners, which occur in Persian, in Sinhala and in emoji


def defuse(cell: str, is_first: bool = False) -> str:
    """Return a cell that no spreadsheet interprets as a formula, without unprintable characters. `is_first`: the
    cell begins a line.

    A German Excel splits a comma-separated file at semicolons, and then quotation marks do not protect a cell.
    Therefore, a formula may begin after any separator or line break, with any number of quotation marks and blanks
    before its sign. To such an Excel, the first cell of a line also contains the next ones, so even a number there is
    changed. Full-width signs count as their ASCII equivalents.
    """
    text = JOINED.sub(lambda part: show_text(part[0]), cell)
    if not is_first and (text == "-" or NUMBER.fullmatch(text)):
        return text
    return CELL_START.sub(defuse_start, text)


def defuse_start(match: re.Match[str]) -> str:
    """Return the matched text, with an apostrophe after its last separator if a formula would begin there."""
    at = max(match[0].rfind(separator) for separator in SEPARATORS) + 1
    return f"{match[0][:at]}'{match[0][at:]}" if begins_formula(match[1]) else match[0]


def write_csv(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as CSV with commas, which Canvas and Moodle accept, and defuse all cells."""
    return encode_csv([[defuse(cell, at == 0) for at, cell in enumerate(row)] for row in rows])


def encode_csv(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as CSV that Moodle's reader, which is PHP's, and readers of RFC 4180 read in the same way.

    In PHP, a quotation mark after a backslash does not end a cell and is not doubled. Therefore, add a space between a
    backslash and a quotation mark, and after a backslash at the end of a cell.
    """
    text = io.StringIO()
    csv.writer(text).writerows([[BACKSLASH_AT_QUOTE.sub(r"\\ ", cell) for cell in row] for row in rows])
    return text.getvalue()


def read_csv(text: str, in_english: bool = True) -> Rows:
    """Read an exported gradebook. `in_english`: see read_rows(). Raises UserError."""
    try:
        rows = read_rows(text, in_english)
    except UserError as error:
        raise UserError(f"The gradebook: {error}") from None
    if not rows:
        raise UserError("The gradebook is empty.")
    return [trim(row, len(rows[0][1]), line) for line, row in rows]


def trim(row: list[str], width: int, line: int) -> list[str]:
    """Return a row with `width` cells. Raises UserError if a cell that is not empty would be lost."""
    if any(cell.strip() for cell in row[width:]):
        raise UserError(f"Line {line} of the gradebook has more cells than its first line. Export it again.")
    return row[:width] + [""] * (width - len(row))


def byte_order_mark_of(text: str) -> str:
    """Return the byte order mark if the text begins with one, else nothing. Without it, Excel garbles umlauts."""
    return "\ufeff" if text.startswith("\ufeff") else ""
