"""Writes the C++ types of a schema, with their conversions from and to JSON.

python3 grader/model/schema/generate.py SCHEMA FOLDER    writes FOLDER/SCHEMA.h and FOLDER/SCHEMA.cpp

An object becomes a struct, whose functions are the derived keys (grader/model defines them); an enum becomes an enum
class. grader/common/json_fields.h converts the plain types. Runs with Python 3.9 or newer, without packages.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from grader.model.schema.definitions import REQUIRED, Field, Type, list_types

PLAIN = {
    "text": "std::string",
    "flag": "bool",
    "integer": "int",
    "natural": "std::uint64_t",
    "number": "double",
    "number_or_word": "double",
    "integers_by_name": "std::vector<std::pair<std::string, std::int64_t>>",
}
MAX_ITEMS = 10_000  # the limit for a list without maxItems
HEADER = """#pragma once
// Written by grader/model/schema/generate.py from {schema}.schema.json.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/common/json.h"
{includes}
namespace warplab {{

class JsonNode;

{types}
}}  // namespace warplab
"""
SOURCE = """#include "generated/{schema}.h"

#include "grader/common/json_fields.h"

namespace warplab {{

{functions}
}}  // namespace warplab
"""


def comment(text: str, indent: str) -> str:
    begin = f"{indent}/// "
    return text and textwrap.fill(text, 120, initial_indent=begin, subsequent_indent=begin) + "\n"


def cpp_type(field: Field) -> str:
    inner = field.of.name if field.of else PLAIN[field.kind]
    if field.is_list:
        return f"std::vector<{inner}>"
    return f"std::optional<{inner}>" if field.nullable else inner


def initial_value(field: Field) -> str:
    if field.is_list or field.nullable or field.kind in ("object", "integers_by_name"):
        return "{}"
    if field.kind == "enum":
        word = field.of.initial if field.default is REQUIRED else field.default
        return f"{field.of.name}::{word}"
    if field.default is REQUIRED:
        return str(int(field.minimum)) if field.minimum == field.maximum and field.minimum is not None else "{}"
    return json.dumps(field.default)


def bounds(field: Field) -> str:
    """Return the arguments that to_json and from_json take after the value: the field's limits."""
    values: list[Any] = [f"AtMost{{{field.max_items or MAX_ITEMS}}}"] if field.is_list else []
    if field.kind == "number_or_word":
        values.append(f"BoundsOrWord{{{field.minimum}, {field.maximum}}}")
    elif field.kind != "natural" and (field.minimum, field.maximum) != (None, None):
        kind = PLAIN[field.kind]
        values.append(f"std::numeric_limits<{kind}>::lowest()" if field.minimum is None else field.minimum)
        values.append(f"std::numeric_limits<{kind}>::max()" if field.maximum is None else field.maximum)
    return "".join(f", {value}" for value in values)


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def is_nested(field: Field) -> bool:
    """Return whether the field's type is an enum that is defined in the struct."""
    return field.kind == "enum" and "::" in field.of.name


def write_enum(entry: Type) -> str:
    return f"enum class {entry.name.split('::')[-1]} {{ {', '.join(entry.words)} }};\n"


def write_names(entry: Type) -> str:
    variable = snake(entry.name.split("::")[-1])
    words = ", ".join(f'"{word}"' for word in entry.words)
    return (
        f"constexpr std::array<std::string_view, {len(entry.words)}> names_of({entry.name}) {{ return {{{words}}}; }}\n"
        f"constexpr std::string_view {variable}_name({entry.name} {variable}) {{\n"
        f"    return names_of({variable}).at(static_cast<std::size_t>({variable}));\n}}\n\n"
    )


def write_struct(entry: Type) -> Iterator[str]:
    nested = [field.of for field in entry.fields if is_nested(field)]
    yield comment(entry.about, "") + f"struct {entry.name} {{\n"
    for enum in nested:
        yield comment(enum.about, "    ") + "    " + write_enum(enum)
    for field in entry.fields:
        yield "" if is_nested(field) else comment(field.about, "    ")
        if field.derived:
            yield f"    {cpp_type(field)} {field.key}() const;\n"
        else:
            yield f"    {cpp_type(field)} {field.key} = {initial_value(field)};\n"
    yield f"}};\nJson to_json(const {entry.name}& value);\nvoid from_json(const JsonNode& node, {entry.name}& value);\n"
    if entry.accepts_text:
        yield "/// Read the text of an earlier version.\n"
        yield f"void from_text(const std::string& text, {entry.name}& value);\n"
    yield "\n"
    for enum in nested:
        yield write_names(enum)


def differs_from_default(field: Field, value: str) -> str:
    """Return the condition under which a writer does not omit the field."""
    if field.is_list or field.kind == "text":
        return f"!{value}.empty()"
    if field.nullable:
        return value
    if field.kind == "object":
        return f"to_json({value}) != to_json({field.of.name}{{}})"
    return f"{value} != {initial_value(field)}"


def write_writer(entry: Type) -> Iterator[str]:
    yield f"Json to_json(const {entry.name}& value) {{\n    Json json = Json::object();\n"
    for field in entry.fields:
        value = f"value.{field.key}" + ("()" if field.derived else "")
        write = f'json["{field.key}"] = to_json({value}{bounds(field)});\n'
        if field.internal:
            continue
        yield f"    {write}" if field.always_written else f"    if ({differs_from_default(field, value)}) {write}"
    yield "    return json;\n}\n\n"


def write_reader(entry: Type) -> Iterator[str]:
    yield f"void from_json(const JsonNode& node, {entry.name}& value) {{\n"
    if entry.accepts_text:
        yield "    if (node.value().is_string()) return from_text(to_harmless(node.text()), value);\n"
    yield "    node.require_object();\n"
    for field in entry.fields:
        if field.derived or field.internal:
            continue
        arguments = f"value.{field.key}{bounds(field)}"
        if field.default is REQUIRED:
            yield f'    from_json(node.at("{field.key}"), {arguments});\n'
        else:
            yield f'    if (const auto found = node.find("{field.key}")) from_json(*found, {arguments});\n'
    yield "}\n\n"


def write_header(schema: str, types: list[Type]) -> str:
    schemas = sorted({field.of.schema for entry in types for field in entry.fields if field.of} - {schema})
    includes = "".join(f'#include "generated/{other}.h"\n' for other in schemas)
    parts: list[str] = []
    for entry in types:
        parts += (
            [comment(entry.about, "") + write_enum(entry) + write_names(entry)] if entry.words else write_struct(entry)
        )
    return HEADER.format(schema=schema, includes=includes, types="".join(parts))


def write_source(schema: str, types: list[Type]) -> str:
    functions = [
        part for entry in types if entry.fields for write in (write_writer, write_reader) for part in write(entry)
    ]
    return SOURCE.format(schema=schema, functions="".join(functions))


def write_if_new(file: Path, text: str) -> None:
    """Write a file unless it has this text already, so that make compiles nothing again."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def main(schema: str, folder: str) -> None:
    types = list_types(schema)
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_if_new(Path(folder, f"{schema}.h"), write_header(schema, types))
    write_if_new(Path(folder, f"{schema}.cpp"), write_source(schema, types))


if __name__ == "__main__":
    main(*sys.argv[1:])
