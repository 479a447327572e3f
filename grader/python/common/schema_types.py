"""Dataclasses of the types in the schemas of grader/model/schema. They are made when a module is imported, so they
always agree with the schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any

from grader.model.schema.definitions import REQUIRED, Field, Type, find_type
from grader.python.common.documents import AtMost, Between, OneOf

PLAIN = {
    "text": str,
    "flag": bool,
    "integer": int,
    "natural": int,
    "number": float,
    "number_or_word": float,
    "integers_by_name": dict[str, int],
}
MAX_INTEGER = 2**31 - 1
made: dict[tuple[str, str], type] = {}  # by schema and name


def defined_by(schema: str, name: str = "") -> Callable[[type], Any]:
    """Return a decorator that turns a class with properties into the dataclass of a schema's root, or of one of its
    $defs."""
    return lambda cls: define(find_type(schema, name), cls)


def type_of(schema: str, name: str = "") -> Any:
    """Return the dataclass of a schema's root, or of one of its $defs."""
    return make(find_type(schema, name))


def words_of(schema: str, key: str) -> list[str]:
    """Return the words that are allowed as the value of a key in a schema's root."""
    return next(field.of.words for field in find_type(schema).fields if field.key == key)


def make(schema_type: Type) -> Any:
    return made.get((schema_type.schema, schema_type.name)) or define(schema_type, type(schema_type.name, (), {}))


def define(schema_type: Type, cls: Any) -> Any:
    if (schema_type.schema, schema_type.name) in made:
        raise TypeError(f"{schema_type.name} already exists: first import the module that gives it properties.")
    fields = [field for field in schema_type.fields if not field.internal]
    cls.__doc__ = schema_type.about
    if cls.__module__ == __name__ and schema_type.schema == "report":
        cls.__module__ = "grader.python.common.report"  # where pickle finds it
    cls.__annotations__ = {field.key: make_annotation(field) for field in fields}
    for field in fields:
        required = field.default is REQUIRED and not field.derived
        setattr(cls, field.key, dataclasses.field(metadata={"required": required}, default_factory=make_factory(field)))
    made[schema_type.schema, schema_type.name] = dataclasses.dataclass(cls)
    return cls


def make_annotation(field: Field) -> Any:
    item: Any = make(field.of) if field.kind == "object" else PLAIN.get(field.kind, str)
    if field.kind == "enum":
        item = Annotated[str, OneOf(tuple(field.of.words))]
    elif field.kind in ("integer", "number") and field.minimum is not None:
        item = Annotated[item, Between(field.minimum, MAX_INTEGER if field.maximum is None else field.maximum)]
    if field.is_list:
        return Annotated[list[item], AtMost(field.max_items)] if field.max_items else list[item]
    return item | None if field.nullable else item


def make_factory(field: Field) -> Callable[[], Any]:
    """Return a function that returns the value of a field whose key is missing."""
    if field.is_list:
        return list
    if field.nullable:
        return lambda: None
    if field.kind == "object":
        return make(field.of)
    if field.kind == "integers_by_name":
        return dict
    if field.default is not REQUIRED:
        return lambda: field.default
    if field.kind == "enum":
        return lambda: field.of.initial
    return PLAIN[field.kind] if field.minimum != field.maximum else lambda: field.minimum
