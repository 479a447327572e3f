"""Hash a CUDA file's code, so that a result stays valid if only comments or white space change."""

from __future__ import annotations

import hashlib
import re

# A character literal begins with a quote that is not a digit separator (1'000).
TEXT_OR_COMMENT = re.compile(
    r"""
    (?P<text> R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*')
    | //(?:\\\n|[^\n])* | /\*.*?\*/
    """,
    re.DOTALL | re.VERBOSE,
)


def hash_code(source: str) -> str:
    """Return the sha256 of a file's code in hexadecimal, without comments and with each run of white space as one
    space."""
    code = TEXT_OR_COMMENT.sub(lambda match: match["text"] or " ", source)
    return hashlib.sha256(" ".join(code.split()).encode()).hexdigest()


def hash_lines(source: str) -> str:
    """Return the sha256 of a file's code line by line, without comments: it stays the same if only comments change and
    every line keeps its number."""
    code = TEXT_OR_COMMENT.sub(lambda match: match["text"] or "\n" * match[0].count("\n"), source)
    return hashlib.sha256("\n".join(" ".join(line.split()) for line in code.split("\n")).encode()).hexdigest()
