"""Reads the schemas of this folder as types with fields. generate.py writes these types in C++, and
grader/python/common/schema_types.py turns them into dataclasses.

A schema's root and each of its $defs that is an object is a type, and so is an enum without "type". Readers check
"type", "const", "enum" (without "type"), "minimum", "maximum" and "maxItems"; only validators check the rest.
These keywords describe a key:
    required    writers always write it; otherwise they omit its default
    default     readers accept that it is missing or null; for an enum, the initial value of its fields
    readOnly    derived from other keys: in C++ a function, which is written and never read; in Python a field
    writeOnly   a field of the judge that no document contains
    format      uint64: an integer of 64 bits
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent
REQUIRED = object()  # the default of a field that has none
PLAIN = {"string": "text", "boolean": "flag", "integer": "integer", "number": "number", "object": "integers_by_name"}


class Field(NamedTuple):
    """One key of a type."""

    key: str
    kind: str  # text, flag, integer, natural, number, number_or_word, integers_by_name, enum or object
    of: Type | None  # the type of an enum or object
    is_list: bool
    nullable: bool
    default: Any  # REQUIRED if readers require the key
    minimum: float | None  # the minimum of the number, or of each number in the list
    maximum: float | None
    max_items: int | None
    always_written: bool
    derived: bool
    internal: bool
    about: str


class Type(NamedTuple):
    """An object with fields, or an enum with words."""

    schema: str  # the name of its schema, such as "report"
    name: str  # in CamelCase
    fields: list[Field]
    words: list[str]
    initial: str  # the initial word of an enum
    accepts_text: bool  # whether documents of earlier versions may have a text instead
    about: str


@functools.cache
def load(schema: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{schema}.schema.json").read_text(encoding="utf-8"))


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


@functools.cache
def find_type(schema: str, name: str = "") -> Type:
    """Return a schema's root, or one of its $defs."""
    root = load(schema)
    return make_type(schema, camel(name or schema), root["$defs"][name] if name else root)


def list_types(schema: str) -> list[Type]:
    """Return all types of a schema, each after the types of its fields."""
    types: dict[str, Type] = {}

    def add(entry: Type) -> None:
        for field in entry.fields:
            is_own = field.of and field.of.schema == schema and "::" not in field.of.name
            if is_own and field.of.name not in types:
                add(field.of)
        types[entry.name] = entry

    for name, node in load(schema).get("$defs", {}).items():
        if is_type(node) and camel(name) not in types:
            add(find_type(schema, name))
    if "properties" in load(schema):
        add(find_type(schema))
    return list(types.values())


def is_type(node: dict[str, Any]) -> bool:
    return "properties" in node or ("enum" in node and "type" not in node)


def make_type(schema: str, name: str, node: dict[str, Any]) -> Type:
    words = [] if "properties" in node else node["enum"]
    fields = [make_field(schema, name, key, entry, node) for key, entry in node.get("properties", {}).items()]
    initial = node.get("default", words[0] if words else "")
    return Type(schema, name, fields, words, initial, "string" in node.get("type", ""), node["description"])


def make_field(schema: str, owner: str, key: str, node: dict[str, Any], parent: dict[str, Any]) -> Field:
    is_list = node.get("type") == "array"
    bounds: dict[str, Any] = {}
    nullable, kind, of, inner, place = False, "", None, node.get("items", node), schema
    about = node.get("description", "")
    while not kind:
        about = about or inner.get("description", "")
        if "$ref" in inner:
            file, _, name = inner["$ref"].partition("#/$defs/")
            place = file.split(".")[0] or place
            inner = load(place)["$defs"][name] if name else load(place)
            if is_type(inner):
                kind, of = ("object" if "properties" in inner else "enum"), find_type(place, name)
        elif "anyOf" in inner:
            nullable = nullable or {"type": "null"} in inner["anyOf"]
            words = any("enum" in entry for entry in inner["anyOf"])
            inner = inner["anyOf"][0]
            if words:
                kind = "number_or_word"
        elif "const" in inner:
            kind, bounds = "integer", {"minimum": inner["const"], "maximum": inner["const"]}
        elif "enum" in inner and "type" not in inner:
            kind, of = "enum", make_type(place, f"{owner}::{camel(key)}", inner)
        else:
            kind = PLAIN[next(entry for entry in as_list(inner["type"]) if entry != "null")]
            kind = "natural" if inner.get("format") == "uint64" else kind
        nullable = nullable or "null" in as_list(inner.get("type", ""))
        bounds = {**{word: inner[word] for word in ("minimum", "maximum") if word in inner}, **bounds}
    return Field(
        key=key,
        kind=kind,
        of=of,
        is_list=is_list,
        nullable=nullable and not is_list,
        default=node.get("default", REQUIRED),
        minimum=bounds.get("minimum"),
        maximum=bounds.get("maximum"),
        max_items=node.get("maxItems"),
        always_written=key in parent["required"],
        derived=node.get("readOnly", False),
        internal=node.get("writeOnly", False),
        about=about,
    )


def as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
