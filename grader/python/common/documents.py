"""JSON documents of schema 1 as dataclasses: reports, sweeps, inspections, results, records."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, read_json
from grader.python.common.markup import show_text

SCHEMA = 1
MAX_NUMBER = 1e20  # more than any count of bytes, operations or seconds
MAX_BYTES = 64_000_000  # per document
MAX_ITEMS = 10_000  # per list without its own limit (AtMost)
MAX_CHARACTERS = 1_000_000  # per text; the largest texts are a compiler's log and the output of a student's program
TOO_LARGE = "No program of the kit writes such a large file. Create the file again."
NOT_FINITE = ("nan", "inf", "-inf")  # JSON cannot represent these numbers; they arrive as strings


@dataclasses.dataclass(frozen=True)
class Between:
    """Minimum and maximum of a number; used with typing.Annotated."""

    minimum: float
    maximum: float


@dataclasses.dataclass(frozen=True)
class AtMost:
    """Maximum length of a list; used with typing.Annotated."""

    items: int


@dataclasses.dataclass(frozen=True)
class OneOf:
    """The allowed values of a text; used with typing.Annotated."""

    words: tuple[str, ...]


def read_document(target: type, file: Path, what: str, advice: str = "") -> Any:
    """Read a document into the dataclass `target`, which has a field `schema`.

    Raises UserError with the file's name and the place in it. For the messages: `what` is the document that the file
    should be ("a sweep of build/warplab"), and `advice` is a sentence for the end.
    """
    if file.is_file() and file.stat().st_size > MAX_BYTES:
        raise UserError(f"{file}: larger than {MAX_BYTES // 10**6} MB, and so not {what}. {TOO_LARGE}")
    content = read_json(file)
    advice = f" {advice}" if advice else ""
    if not isinstance(content, dict) or "schema" not in content:
        raise UserError(f"{file}: not {what} (no 'schema').{advice}")
    if content["schema"] != SCHEMA:
        raise UserError(f"{file}: schema {repr(content['schema'])[:40]}; this version reads schema {SCHEMA}.{advice}")
    try:
        return from_json(target, content, "")
    except TypeError as error:
        raise UserError(f"{file}: {error}{advice}") from None


def from_json(target: Any, value: Any, place: str) -> Any:
    """Convert JSON to a dataclass or a plain type. Unknown keys are ignored. Missing keys take their default, except
    those that a schema requires.

    Raises TypeError with a JSON pointer and the expected type.
    """
    if typing.get_origin(target) is typing.Annotated:
        return bounded_from_json(*typing.get_args(target), value, place)
    if typing.get_origin(target) in (types.UnionType, typing.Union):  # the only unions are optionals
        return None if value is None else from_json(typing.get_args(target)[0], value, place)
    if typing.get_origin(target) is list:
        if not isinstance(value, list):
            raise TypeError(f"{place}: expected a list.")
        require_at_most(MAX_ITEMS, value, place, "items")
        (item,) = typing.get_args(target)
        return [from_json(item, entry, f"{place}/{index}") for index, entry in enumerate(value)]
    if typing.get_origin(target) is dict:
        if not isinstance(value, dict):
            raise TypeError(f"{place}: expected an object.")
        item = typing.get_args(target)[1]
        return {key: from_json(item, entry, f"{place}/{key}") for key, entry in value.items()}
    if dataclasses.is_dataclass(target) and isinstance(target, type):
        return object_from_json(target, value, place)
    return plain_from_json(target, value, place)


def object_from_json(target: Any, value: Any, place: str) -> Any:
    """Convert a JSON object, or the text that earlier versions wrote instead of it, to a dataclass. Raises TypeError
    as from_json does."""
    if isinstance(value, str) and hasattr(target, "from_text"):
        return target.from_text(value)
    if not isinstance(value, dict):
        raise TypeError(f"{place or '/'}: expected an object.")
    values = {
        field.name: from_json(hint, value[field.name], f"{place}/{field.name}")
        for field, hint in fields_of(target)
        if field.name in value and not (value[field.name] is None and "required" in field.metadata)
    }
    for field, _ in fields_of(target):
        if field.metadata.get("required") and field.name not in values:
            raise TypeError(f"{place}/{field.name} is missing.")
    return target(**values)


def bounded_from_json(target: Any, bounds: Between | AtMost | OneOf, value: Any, place: str) -> Any:
    """Convert JSON to a number, a list or a text within bounds. Raises TypeError as from_json does."""
    if isinstance(bounds, AtMost) and isinstance(value, list):
        require_at_most(bounds.items, value, place, "items")
    converted = from_json(target, value, place)
    if isinstance(bounds, OneOf) and converted not in bounds.words:
        raise TypeError(f"{place}: expected one of {', '.join(bounds.words)}.")
    if isinstance(bounds, Between) and not bounds.minimum <= converted <= bounds.maximum:
        raise TypeError(f"{place}: expected a number between {bounds.minimum:,} and {bounds.maximum:,}.")
    return converted


def require_at_most(maximum: int, value: str | list[Any], place: str, units: str) -> None:
    """Raise TypeError if a text or list exceeds its maximum length, because readers may spend time on each item."""
    if len(value) > maximum:
        raise TypeError(f"{place}: {len(value):,} {units} exceed the limit of {maximum:,}. {TOO_LARGE}")


@functools.cache
def fields_of(target: type) -> list[tuple[dataclasses.Field[Any], Any]]:
    """Return a dataclass's fields with their types. Cached, because finding them takes longer than the conversion."""
    hints = typing.get_type_hints(target, include_extras=True)
    return [(entry, hints[entry.name]) for entry in dataclasses.fields(target)]


def plain_from_json(target: type, value: Any, place: str) -> Any:
    """Convert a JSON string, number or boolean. A word of NOT_FINITE in place of a number becomes 0, which means "not
    measured"."""
    if target is str and isinstance(value, str):
        require_at_most(MAX_CHARACTERS, value, place, "characters")
        return value.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate could not be written as UTF-8
    if target is bool and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not abs(value) <= MAX_NUMBER:
        raise TypeError(f"{place}: expected a finite number of at most {MAX_NUMBER:.0e}.")
    if target is float and (is_number or value in NOT_FINITE):
        return float(value) if is_number else 0.0
    if target is int and is_number and value == int(value):
        return int(value)
    names = {str: "a string", bool: "true or false", float: "a finite number", int: "a whole number"}
    raise TypeError(f"{place}: expected {names[target]}.")


def show_json(content: Mapping[str, Any]) -> str:
    """Return JSON that every reader accepts: no surrogates, no NaN, no unprintable text."""
    return json.dumps(show_texts(content), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def show_texts(content: Any) -> Any:
    """Return JSON's content with show_text() of each text, keys included, and strings for infinities and NaN."""
    if isinstance(content, str):
        return show_text(content)
    if isinstance(content, float) and not math.isfinite(content):
        return str(content)  # as the judge writes it: nan, inf
    if isinstance(content, list):
        return [show_texts(item) for item in content]
    if isinstance(content, dict):
        return {show_text(key): show_texts(value) for key, value in content.items()}
    return content
