"""Models of how PHP writes and reads CSV with its default escape character, as Moodle does (ext/standard/file.c)."""

from __future__ import annotations

from collections.abc import Sequence


def write_row(cells: Sequence[str]) -> str:
    """Return a line as fputcsv writes it: a quote that follows a backslash is not doubled."""
    return ",".join(map(write_cell, cells)) + "\n"


def write_cell(cell: str) -> str:
    if not any(sign in cell for sign in ',"\\\n\r\t '):
        return cell
    quoted, escaped = '"', False
    for sign in cell:
        if sign == "\\":
            escaped = True
        elif sign == '"' and not escaped:
            quoted += '"'
        else:
            escaped = False
        quoted += sign
    return quoted + '"'


def read_rows(text: str) -> list[list[str]]:
    """Return the rows that fgetcsv reads: a backslash and the character after it are kept, and a quote there does not
    end a cell."""
    rows: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        cell, at = read_cell(text, at)
        rows[-1].append(cell)
        if text[at : at + 1] == "\n":
            rows.append([])
        at += 1
    return rows[:-1]


def read_cell(text: str, at: int) -> tuple[str, int]:
    """Return a cell and the position of the comma or line break after it."""
    begin = at
    while text[begin : begin + 1] in (" ", "\t"):
        begin += 1
    if text[begin : begin + 1] != '"':
        return read_plain(text, at)
    cell, at = "", begin + 1
    while at < len(text):
        if text[at] == "\\":
            cell, at = cell + text[at : at + 2], at + 2
        elif text[at : at + 2] == '""':
            cell, at = cell + '"', at + 2
        elif text[at] == '"':
            rest, at = read_plain(text, at + 1)
            return cell + rest, at
        else:
            cell, at = cell + text[at], at + 1
    return cell, at


def read_plain(text: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(text) and text[end] not in ",\n":
        end += 1
    return text[at:end], end
