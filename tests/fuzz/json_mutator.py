"""Mutate JSON by its structure, which a byte mutator rarely does."""

from __future__ import annotations

import json
import random
from typing import Any

ODD_VALUES = (
    None, True, 0, -1, 0.5, 1e308, 2**64, 10**400, float("nan"), float("inf"), "", "nan", "-inf", "passed", "\ud800",
    "\x00", "\x1b[2J", "\u202e", "\uff1d1+1", "=1+1", "<script>", "::error::", "\r\n", "2026-11-21T09:30:00+99:00",
    "9999-12-31T23:59:59-23:00", [], {}, [[]], {"schema": 1}, [None], "x" * 5000,
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container in a document with each of its keys or indices."""
    items, remaining = [], [value]
    while remaining:
        value = remaining.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        items += [(value, key) for key in keys]
        remaining += [value[key] for key in keys]
    return items


def change_value(document: Any, chance: random.Random) -> Any:
    """Return the document with one value replaced, removed, duplicated or copied to a different place."""
    items = places(document)
    if not items or chance.random() < 0.02:
        return chance.choice(ODD_VALUES)
    container, key = chance.choice(items)
    match chance.randrange(5):
        case 0:
            del container[key]
        case 1 if isinstance(container, list):
            container.append(container[key])
        case 2:
            other, its_key = chance.choice(items)
            container[key] = json.loads(json.dumps(other[its_key]))
        case 3 if isinstance(container[key], str):
            texts = [value for value in ODD_VALUES if isinstance(value, str)]
            container[key] = chance.choice(texts) + container[key]
        case _:
            container[key] = chance.choice(ODD_VALUES)
    return document


def mutate(text: bytes, chance: random.Random) -> bytes:
    """Return a JSON document with some values changed. Raises ValueError if the text is invalid, and RecursionError if
    the document is nested too deeply."""
    document = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 5))):
        document = change_value(document, chance)
    return json.dumps(document, separators=(",", ":")).encode("utf-8", "surrogatepass")


def mutate_line(text: bytes, chance: random.Random) -> bytes:
    """Return the text with one of its lines of JSON changed. Raises the exceptions of mutate."""
    lines = text.split(b"\n")
    index = chance.choice([number for number, line in enumerate(lines) if line.startswith(b"{")] or [0])
    lines[index] = mutate(lines[index], chance)
    return b"\n".join(lines)
