"""Check the values of a batch's database, which an instructor may have edited by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from grader.python.batch.store.rows import STATUSES
from grader.python.batch.store.settings import Settings
from grader.python.batch.store.sqlite import SqliteFile
from grader.python.common.console import UserError, parse_json

INVALID = object()
MAX_SHOWN = 60  # characters of a wrong value in a message
STORED_AS = {"TEXT": ("text",), "INTEGER": ("integer",), "REAL": ("real", "integer"), "BLOB": ("blob",)}
IN_WORDS = {"TEXT": "text", "INTEGER": "a whole number", "REAL": "a number", "BLOB": "the bytes that grading wrote"}
MAX_NUMBER = 1e15  # larger numbers of points or seconds are invalid
YEARS = range(2, 9999)  # in the first and last years, a time in another zone may be out of range


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and abs(value) <= MAX_NUMBER


def is_amount(value: Any) -> bool:
    return is_number(value) and value >= 0


def is_table_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_text, value.values()))


def is_time(value: Any) -> bool:
    """Return whether a value is an ISO 8601 time."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).year in YEARS
    except ValueError:
        return False


def is_time_or_empty(value: Any) -> bool:
    return value == "" or is_time(value)


def is_table_of_times(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_time, value.values()))


def is_status(value: Any) -> bool:
    return value == "" or value in STATUSES


def is_settings(value: Any) -> bool:
    """Return whether a value is an object with the fields of Settings and their types."""
    if not isinstance(value, dict):
        return False
    kinds = {"str": is_text, "Path": is_text, "tuple[str, ...]": is_texts, "bool": is_bool, "float": is_amount}
    fields = dataclasses.fields(Settings)
    has_required = {field.name for field in fields if field.default is dataclasses.MISSING} <= value.keys()
    checks = {field.name: kinds[str(field.type)] for field in fields}
    if not has_required or not all(name in checks and checks[name](item) for name, item in value.items()):
        return False
    return value.get("upto", "") in ("", *value["stages"])


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def is_comparison(value: Any) -> bool:
    """Return whether a value is the stored comparison of submissions, by stage."""
    if not isinstance(value, dict):
        return False
    pairs = [pair for item in value.values() if isinstance(item, dict) for pair in item.get("pairs", [None])]
    return all(
        isinstance(entry, dict) and isinstance(entry.get("pairs"), list) and is_texts(entry.get("left_out") or [])
        for entry in value.values()
    ) and all(
        isinstance(pair, list) and len(pair) == 4 and all(map(is_text, pair[:3])) and is_number(pair[3])
        for pair in pairs
    )


def is_notes(text: str) -> bool:
    """Return whether a text has the form that write_notes() gives notes."""
    notes = read(text)
    return isinstance(notes, list) and all(is_text(note) or (is_texts(note) and len(note) == 2) for note in notes)


def read(text: str) -> Any:
    """Return the value of a JSON text; INVALID if the text is not JSON."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return INVALID


Check = tuple[Callable[[Any], bool], str]
TEXT: Check = (is_text, "a string")
TEXTS: Check = (is_texts, "a list of strings")
AMOUNT: Check = (is_amount, "a number, 0 or more")
NAMES: Check = (is_table_of_texts, "an object whose values are strings")
TIME: Check = (is_time_or_empty, "a time such as 2026-11-21T23:59:00+00:00, or empty")
NOTES: Check = (is_notes, "a JSON list of strings or pairs of strings")
STATUS: Check = (is_status, f"empty, or one of {', '.join(STATUSES)}")
# The values in the table facts, by name, except `schema`. Each of them may be null or missing.
NAMED_VALUES: dict[str, Check] = {
    "alike": (is_comparison, "the comparison that grading wrote"),
    "backend": TEXT,
    "decided": AMOUNT,
    "due": TIME,
    "extended": (is_table_of_times, "an object whose values are times"),
    "grace_minutes": AMOUNT,
    "left_out": TEXTS,
    "most_days": AMOUNT,
    "names": NAMES,
    "percent_per_day": AMOUNT,
    "pushed": NAMES,
    "renamed": NAMES,
    "roster": (lambda value: is_text(value) or is_texts(value), "a list of paths"),
    "sandbox": TEXT,
    "secret": TEXT,
    "settings": (is_settings, "an object with the settings that grading wrote"),
    "shared": TEXTS,
    "shown": AMOUNT,
    "slurm_jobs": NAMES,
    "submissions": TEXT,
    "trust_dates": (is_bool, "true or false"),
    "warplab": TEXT,
    "without": TEXTS,
}
# Columns of type TEXT that accept only some texts.
COLUMNS: dict[tuple[str, str], Check] = {
    ("submissions", "members"): (lambda text: is_texts(read(text)) and text != "[]", "a JSON list of one or more ids"),
    ("submissions", "entries"): (lambda text: is_texts(read(text)), "a JSON list of paths"),
    ("submissions", "team"): (lambda text: is_texts(read(text)), "a JSON list of ids"),
    ("submissions", "notes"): NOTES,
    ("submissions", "graded_notes"): NOTES,
    ("submissions", "handed_in"): TIME,
    ("submissions", "named_time"): TIME,
    ("submissions", "status"): STATUS,
    ("grades", "handed_in"): TIME,
    ("grades", "status"): STATUS,
    ("extensions", "until"): TIME,
    ("queue", "arrived"): TIME,
    ("queue", "graded"): TIME,
}


def require_valid_values(database: SqliteFile, tables: Sequence[str]) -> None:
    """Raise UserError with the first value that no command of this version would have written."""
    for place, value, expected in find_wrong_values(database):
        raise wrong_value(database, place, value, expected)
    for table in tables:
        for place, value, expected in find_wrong_cells(database, table):
            raise wrong_value(database, place, value, expected)


def wrong_value(database: SqliteFile, place: str, value: Any, expected: str) -> UserError:
    text = repr(value)
    text = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return UserError(
        f"{database.file} is damaged: {place} is {text}, but must be {expected}. Correct the value if you edited the "
        "file by hand, or restore the file from a backup."
    )


def find_wrong_values(database: SqliteFile) -> Iterator[tuple[str, Any, str]]:
    """Yield the place, the value and the expected form of each wrong value in the table facts."""
    for name, text in database.query("SELECT name, value FROM facts"):
        if name not in NAMED_VALUES:  # from a later version, or added by the instructor
            continue
        fits, expected = NAMED_VALUES[name]
        value = read(text)
        if value is not None and not fits(value):
            yield f"{name} in the table facts", text, f"{expected}, in JSON"


def find_wrong_cells(database: SqliteFile, table: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the place, the value and the expected form of wrong values in a table."""
    row = "quote(grade) || ' ' || quote(stage)" if table == "stages" else "rowid"
    columns = {name: (kind, required or key) for _, name, kind, required, _, key in list_columns(database, table)}
    wrong = " ".join(f"WHEN {is_wrong(name, *column)} THEN '{name}'" for name, column in columns.items())
    scan = f"SELECT {row}, CASE {wrong} END AS wrong FROM {table} WHERE wrong IS NOT NULL LIMIT 1"
    for number, name in database.query(scan):
        ((value,),) = database.query(f"SELECT {name} FROM {table} WHERE {row} IS ?", [number])
        yield name_cell(table, number, name), value, IN_WORDS.get(columns[name][0], IN_WORDS["TEXT"])
    for (its_table, name), (fits, expected) in COLUMNS.items():
        for text, number in database.query(f"SELECT {name}, {row} FROM {table}") if its_table == table else ():
            if not fits(text):
                yield name_cell(table, number, name), text, expected


def list_columns(database: SqliteFile, table: str) -> list[tuple[Any, ...]]:
    return database.query(f"PRAGMA table_info({table})")


def is_wrong(column: str, kind: str, is_required: bool) -> str:
    """Return the SQL condition under which a column's value has a wrong type."""
    stored = ", ".join(f"'{type_name}'" for type_name in STORED_AS.get(kind, STORED_AS["TEXT"]))
    wrong = f"typeof({column}) NOT IN ({stored})"
    wrong += f" OR abs({column}) > {MAX_NUMBER}" if kind == "REAL" else ""
    return wrong if is_required else f"{column} IS NOT NULL AND ({wrong})"


def name_cell(table: str, row: Any, column: str) -> str:
    return f"{column} in row {row} of the table {table}"
