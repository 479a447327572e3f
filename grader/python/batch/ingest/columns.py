"""Read tables that identify students: rosters, Canvas and Moodle gradebooks, files of points."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader.python.batch.ingest.person_names import compose
from grader.python.batch.ingest.worksheet import IDENTIFIER, PARTICIPANT, to_english
from grader.python.common.console import UserError
from grader.python.common.markup import show_text

MAXIMUM = "maximum grade"  # Moodle's column, in lower case
# Titles, as plain_title() returns them, of columns that identify the student of a row in a roster, a gradebook or a
# file of points. The first id is a student's key.
IDS = ("id", "studentid", "idnumber", "identifier", "sisuserid", "sisloginid", "login", "loginid", "username", "email")
IDS += ("emailaddress", "canvasid", "canvasuserid", "moodleid", "matriculationnumber")
NAMES = ("name", "student", "studentname", "fullname")
FIRST_NAMES, LAST_NAMES = ("firstname", "givenname"), ("lastname", "surname", "familyname")
IDENTITIES = (*IDS, *NAMES, *FIRST_NAMES, *LAST_NAMES)
NOTHING = ("", "-", "n/a")  # cells without an id
MAX_RUNNING_DIGITS = 4  # digits of numbers that a course may have given its students consecutively
MAX_CELL = 300  # characters that are read of a cell
FORMULA_SIGNS = ("=", "+", "-", "@", "\N{MINUS SIGN}")
IDENTIFIED = re.compile(rf"{PARTICIPANT}[1-9]\d{{0,18}}|", re.ASCII)
FOREIGN = r"(Teilnehmer/in|Participant)\D{0,3}\d"  # an identifier in a worksheet whose columns are not recognised
ROW_START = re.compile(rf'^(?="{PARTICIPANT}[1-9]\d{{0,18}}",)', re.ASCII | re.MULTILINE)
# The text between quotation marks, and the pairs of marks in it, as PHP and as RFC 4180 define them: PHP does not
# double a mark that follows a backslash.
PHP_TEXT, CSV_TEXT = r'(?:[^"\\]++|\\++"?+|"")*+', '(?:[^"]++|"")*+'
PHP_PAIR, CSV_PAIR = re.compile(r'\\++"?+|""'), re.compile('""')
PHP, CSV = (PHP_TEXT, PHP_PAIR), (CSV_TEXT, CSV_PAIR)
NAMED_SEPARATOR = re.compile("sep=([,;\t])(?=\r?\n)", re.IGNORECASE)  # a first line for Excel
TWO_MEANINGS = '\\"'  # only texts with these characters are read differently by PHP and RFC 4180
# Namespaces of ids. The same number identifies different students in different namespaces.
CANVAS_NUMBER, MOODLE_NUMBER, OWN_ID, ANY_ID = "canvas", "moodle", "own", "any"
SPLIT_NAMES = ("LastName", "FirstName", "ID", "Section")  # columns of a Canvas gradebook that splits names
NUMBERS = (CANVAS_NUMBER, MOODLE_NUMBER)  # the numbers of course systems
MOODLE = ("identifier", "full name", "first name", "username", "email address", "id number", MAXIMUM)
Identifier = tuple[str, str]  # the namespace of an id, and the id in lower case
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)  # an assignment's title, with Canvas's number


@dataclass(frozen=True)
class Person:
    """The student of a row: the ids with their cells, and the name, which may be empty. The first id is the student's
    key."""

    ids: list[tuple[Identifier, str]]
    name: str


def read_person(header: Sequence[str], row: Sequence[str]) -> Person:
    """Return the student that a row of a roster, a gradebook or a file of points belongs to."""
    cells = cells_by_title(header, row)
    titles = set(map(plain_title, header))
    of_canvas = {"student", "id"} <= titles or set(SPLIT_NAMES) <= set(header)
    is_whole = "section" in titles  # Canvas exported this file; nobody wrote it by hand
    ids = []
    for column in IDS:
        if (cell := cells.get(column, "")).casefold() in NOTHING:
            continue
        identifier = identify_cell(column, cell, of_canvas)
        ids.append((identifier, cell.removeprefix(PARTICIPANT)))
        if identifier[0] == CANVAS_NUMBER and column == "id" and not is_whole:  # the cell may be the course's own id
            ids.append(((OWN_ID, identifier[1]), cell))
    return Person(ids, read_name(cells))


def cells_by_title(header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    """Return a row's non-empty cells by their columns' plain titles; of several columns with one title, the first
    counts. Only the beginning of a cell is read, because students type some cells, and the time of compose() is
    quadratic."""
    cells: dict[str, str] = {}
    for title, cell in zip(header, row, strict=False):
        if text := compose(without_apostrophe(cell.strip()[:MAX_CELL])):
            cells.setdefault(plain_title(title), text)
    return cells


def without_apostrophe(cell: str) -> str:
    """Return a cell without the apostrophe that Warplab's exports and rosters put before a formula's sign. With it, an
    id or a name such as -al12 would differ from that of the course system."""
    return cell[1:] if cell.startswith("'") and begins_formula(cell[1:2]) else cell


def begins_formula(character: str) -> bool:
    """Return whether a spreadsheet may interpret a cell that begins with this character as a formula."""
    return unicodedata.normalize("NFKC", character).startswith(FORMULA_SIGNS)


def read_name(cells: Mapping[str, str]) -> str:
    """Return the name in one column or in two; empty if there is none."""
    full_name = next((cells[column] for column in NAMES if column in cells), "")
    parts = [
        next((cells[column] for column in columns if column in cells), "") for columns in (FIRST_NAMES, LAST_NAMES)
    ]
    return full_name or " ".join(filter(None, parts))


def identify_cell(column: str, cell: str, of_canvas: bool = False) -> Identifier:
    """Return the id in a cell, with its namespace, which follows from the column's plain title. The numbers of course
    systems consist of digits; any other id is the course's own. `of_canvas`: the table is a Canvas gradebook."""
    value = cell.removeprefix(PARTICIPANT).casefold()
    if column == "moodleid" or (column == "identifier" and cell.startswith(PARTICIPANT)):
        return MOODLE_NUMBER if value.isdecimal() else OWN_ID, value
    is_canvas = column in ("canvasid", "canvasuserid") or (column == "id" and of_canvas)
    return CANVAS_NUMBER if is_canvas and value.isdecimal() else OWN_ID, value


def is_own_number(identifier: Identifier) -> bool:
    """Return whether an id is one of the course's own numbers, which another list may give to another student."""
    return identifier[0] == OWN_ID and identifier[1].isdecimal()


def is_running_number(identifier: Identifier) -> bool:
    """Return whether an id is a number that another list very likely gives to another student."""
    return is_own_number(identifier) and len(identifier[1]) <= MAX_RUNNING_DIGITS


@lru_cache(maxsize=1000)  # called for every cell
def plain_title(title: str) -> str:
    """Return the letters of a column's title in lower case; an empty string for any Canvas assignment."""
    return "" if ASSIGNMENT.fullmatch(title.strip()) else re.sub(r"[^a-z]", "", title.casefold())


def columns_of(header: Sequence[str], names: Collection[str]) -> list[int]:
    """Return the positions of the columns with these plain titles."""
    return [at for at, title in enumerate(header) if plain_title(title) in names]


def read_rows(text: str, in_english: bool = True) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file, without blank ones, each with the number of its last line. Raises UserError.

    A Moodle worksheet in another language gets English titles and identifiers, unless `in_english` is False.
    A cell may be as long as the file, because students type some cells of a course system's table.
    """
    if "\0" in text:
        if "\0" in text.partition("\n")[0]:
            raise UserError("This is not UTF-8 text, but probably UTF-16. Save the file as CSV (UTF-8).")
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"Line {line} has a NUL character, which no text contains. Export the file again.")
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    text = text.removeprefix("\ufeff")
    if named := NAMED_SEPARATOR.match(text):
        text = text[named.end() :]  # begins with the line's end, so that lines keep their numbers
    separator = named[1] if named else separator_of(text)
    if is_worksheet(text):
        rows = read_worksheet(text)
    elif TWO_MEANINGS not in text or not (rows := read_lines(text, separator)):
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            rows = [(lines.line_num, row) for row in lines if row]
        except csv.Error as error:
            raise UserError(f"Line {lines.line_num} cannot be read as CSV: {error}.") from None
    translated = list(zip((line for line, _ in rows), to_english([row for _, row in rows]), strict=True))
    require_identifiers(translated)
    return translated if in_english else rows


def is_worksheet(text: str) -> bool:
    """Return whether a text begins like a grading worksheet from Moodle's PHP that no spreadsheet has saved."""
    header, _, body = text.partition("\n")
    cells = read_cells(header.rstrip("\r"), CSV)
    return cells[:1] == [IDENTIFIER] and header.rstrip("\r") == quote_as_php(cells) and bool(ROW_START.match(body))


def quote_as_php(cells: Sequence[str]) -> str:
    """Return cells as PHP's fputcsv writes them: it quotes cells with blanks, commas or backslashes. The cells contain
    no quotes."""
    return ",".join(f'"{cell}"' if re.search(r"[\s,\\]", cell) else cell for cell in cells)


def read_worksheet(text: str) -> list[tuple[int, list[str]]]:
    """Read a worksheet that Moodle's PHP wrote.

    PHP doubles a quote in a cell, except after a backslash. Therefore, no text in a cell has a line that begins with
    one quote and "Participant 7": each such line begins a row, and all text that a student types stays in the student's
    row.
    """
    header, _, body = text.partition("\n")
    titles = read_cells(header.rstrip("\r"), CSV)
    rows, line = [(1, titles)], 1
    for record in ROW_START.split(body)[1:]:
        line += record.count("\n")
        rows.append((line, read_record(record.rstrip("\r\n"), len(titles))))
    return rows


def read_record(record: str, width: int) -> list[str]:
    """Return a row's cells. Some texts can be read in two ways, because PHP does not double each quote. Then the number
    of columns decides. If it does not decide, only the cells before such a text are read, and the others are empty."""
    cells = read_cells(record, PHP)
    if len(cells) != width and len(as_csv := read_cells(record, CSV)) == width:
        cells = as_csv
    return cells[:width] + [""] * (width - len(cells))


def read_lines(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Read a table with one line per row, such as a list of participants that Moodle's PHP wrote.

    No text in a cell can change another line, even if it can be read in two ways: for each line, the number of columns
    decides, and a line that fits neither way is cut. If any other line has a different number of columns, cells may
    contain line breaks: return no rows.
    """
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        record = line.rstrip("\r")
        if not record:
            continue
        cells = read_cells(record, CSV, separator)
        width = len(rows[0][1]) if rows else len(cells)
        if len(cells) != width:
            cells = read_cells(record, PHP, separator)
        if "\r" in record or (len(cells) != width and TWO_MEANINGS not in record):
            return []
        rows.append((number, cells[:width] + [""] * (width - len(cells))))
    return rows


def read_cells(record: str, way: tuple[str, re.Pattern[str]], separator: str = ",") -> list[str]:
    """Return the cells of a row, up to the first one that is neither quoted nor plain. `way`: PHP or CSV, the way to
    quote a text."""
    quoted_text, pair = way
    cell = re.compile(rf'(?:"({quoted_text})"|([^"{separator}]*+))(?={separator}|\Z)')
    cells, at = [], 0
    while at <= len(record) and (cell_match := cell.match(record, at)):
        quoted, plain = cell_match.groups()
        cells.append(plain if quoted is None else pair.sub(lambda match: '"' if match[0] == '""' else match[0], quoted))
        at = cell_match.end() + 1
    return cells


def require_identifiers(rows: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Raise UserError if the identifiers of Moodle's worksheet are invalid or repeated, which means that text in a cell
    was read as a row, or if the worksheet's columns are not known."""
    header = rows[0][1] if rows else []
    if IDENTIFIER not in header and any(re.match(FOREIGN, row[0]) for _, row in rows[1:2]):
        raise UserError(
            "This looks like a Moodle grading worksheet in another language, but its columns are not recognised. "
            "Set your language in Moodle to English, download the worksheet again, and keep English for the import."
        )
    if IDENTIFIER not in header:
        return
    at = header.index(IDENTIFIER)
    cells = [(line, row[at] if at < len(row) else "") for line, row in rows[1:]]
    if not any(cell.startswith(PARTICIPANT) for _, cell in cells):
        return
    seen: set[str] = set()
    for line, cell in cells:
        if not IDENTIFIED.fullmatch(cell) or cell in seen:
            problem = "occurs twice" if cell in seen else "is not one of Moodle's identifiers"
            raise UserError(
                f"Line {line}: '{show_text(cell[:40])}' {problem}. A student's text may have broken the table: "
                "download the worksheet again, and do not open it in a spreadsheet."
            )
        seen.add(cell)


def separator_of(text: str) -> str:
    """Return the separator of a CSV file, chosen by its first line: a German Excel saves semicolons."""
    return max(",;\t", key=text.partition("\n")[0].count)
