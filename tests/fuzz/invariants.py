"""Invariants of every text that the kit writes for people or programs, for any input."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from grader.python.common.console import UserError, say_error

MAX_MESSAGE = 8000  # characters
NAMES = "html head meta title style body header main section article nav h1 h2 h3 h4 p div span small strong em code "
NAMES += "pre ul ol li dl dt dd table thead tbody tr th td a br wbr img figure figcaption details summary label input "
NAMES += "button script svg g path line polyline rect circle text"
TAGS = set(NAMES.split())
OPAQUE = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)  # only the kit writes these
MARKUP = re.compile(r"<(?=[a-zA-Z!?])([^\s>/]*)([^>]*)(>|$)")
ATTRIBUTE = re.compile(r' ([a-z][\w:-]*)="([^"<>]*)"', re.IGNORECASE)
ATTRIBUTES = re.compile(rf"({ATTRIBUTE.pattern})*", re.IGNORECASE)
LINK = re.compile(r"(#|data:image/|https://docs\.nvidia\.com/|[\w.-]+(/|$))")  # the only valid link targets
CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
CHARACTERS = map(chr, range(sys.maxunicode + 1))
HIDDEN = "".join(
    c for c in CHARACTERS if unicodedata.category(c) in CATEGORIES and c not in "\n\t\N{ZERO WIDTH JOINER}"
)
RAW = re.compile(f"[{re.escape(HIDDEN)}]")
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?|-")


class BrokenInvariantError(Exception):
    """An input broke an invariant; the message names the invariant."""


def require(holds: object, invariant: str) -> None:
    """Raise BrokenInvariantError unless `holds`."""
    if not holds:
        raise BrokenInvariantError(invariant)


def require_printable(text: str, where: str) -> None:
    """Raise BrokenInvariantError for a raw control or formatting character."""
    if match := RAW.search(text):
        require(False, f"{where} has no raw character: U+{ord(match[0]):04X}")


def require_message(message: str) -> None:
    """Require a short message that say_error prints without raw characters."""
    with contextlib.redirect_stderr(io.StringIO()) as output:
        say_error(message)
    require(message.strip(), "a message has words")
    require(len(message) < MAX_MESSAGE, "a message is short")
    require_printable(output.getvalue(), "a message")


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Accept UserError as a refusal, and check its message."""
    try:
        yield
    except UserError as error:
        require_message(str(error))


def attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result, or None if the call refuses with UserError."""
    with refusing():
        return call(*arguments)
    return None


def require_json(text: str, where: str) -> Any:
    """Require strict JSON with printable texts. Return its content."""

    def refuse(constant: str) -> None:
        raise BrokenInvariantError(f"{where} has no {constant}")

    try:
        content = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise BrokenInvariantError(f"{where} is JSON: {error}") from None
    require_printable(json.dumps(content, ensure_ascii=False), where)
    return content


def require_csv(text: str, where: str) -> list[list[str]]:
    """Require CSV with lines of equal length and no formula, not even after a spreadsheet normalises a cell."""
    try:
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error as error:
        raise BrokenInvariantError(f"{where} is CSV: {error}") from None
    require(len({len(row) for row in rows}) <= 1, f"{where} has lines of one length")
    for cell in (cell for row in rows for cell in row):
        require_printable(cell, f"a cell of {where}")
        is_formula = unicodedata.normalize("NFKC", cell).lstrip().startswith(FORMULA)
        require(not is_formula or NUMBER.fullmatch(cell), f"a cell of {where} is no formula: {cell[:20]!r}")
    return rows


def require_html(text: str, where: str) -> None:
    """Require a page with only the kit's own tags, attributes and links, and without raw characters."""
    require_printable(text, where)
    for tag, attributes, end in MARKUP.findall(OPAQUE.sub("", text.removeprefix("<!doctype html>"))):
        require(tag in TAGS, f"{where} has no tag: {tag[:20]!r}")
        require(end and ATTRIBUTES.fullmatch(attributes), f"{where} has whole attributes: {attributes[:60]!r}")
        for name, value in ATTRIBUTE.findall(attributes):
            require(not name.startswith("on"), f"{where} runs nothing: {name[:20]!r}")
            require(name not in ("href", "src") or LINK.match(value), f"{where} has no such link: {value[:40]!r}")
