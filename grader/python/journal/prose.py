"""Converts a student's Markdown to HTML: paragraphs, lists, code and emphasis.

All other syntax, including HTML and links, stays text. Tables keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.python.common.markup import Html, clean, join, tag

INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*")
ITEM = re.compile(r"^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$")
RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")  # the rule below a table's header
FENCE = re.compile(r"^\s*(?:```|~~~)")


def make_prose(text: str) -> Html:
    """Convert a text's blocks, in order."""
    return join(*(make_block(part) for block in split_blocks(text) for part in split_tables(block)))


def split_blocks(text: str) -> Iterator[list[str]]:
    """Yield the blocks between empty lines. A fenced block is one block, up to the end of the text if it is not
    closed."""
    block: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = bool(FENCE.match(line))
        if (fence and not fenced) or (not line.strip() and not fenced):
            if block:
                yield block
            block = []
        if line.strip() or fenced:
            block.append(line)
        if fence and fenced:
            yield block
            block = []
        fenced ^= fence
    if block:
        yield block


def split_tables(lines: list[str]) -> Iterator[list[str]]:
    """Split a block into its tables and the lines around them. A fenced block stays whole."""
    if FENCE.match(lines[0]):
        yield lines
        return
    part: list[str] = []
    within = False
    for number, line in enumerate(lines):
        begins = not within and begins_table(lines[number : number + 2])
        if begins or (within and "|" not in line):
            if part:
                yield part
            part, within = [], begins
        part.append(line)
    yield part


def begins_table(lines: list[str]) -> bool:
    """Return whether the first line is a table's header, with a rule below it."""
    return len(lines) > 1 and "|" in lines[0] and "|" in lines[1] and bool(RULE.fullmatch(lines[1].strip()))


def make_block(lines: list[str]) -> Html:
    """Make a code block, a list, a table or a paragraph."""
    if FENCE.match(lines[0]):
        body = lines[1:-1] if len(lines) > 1 and FENCE.match(lines[-1]) else lines[1:]
        return tag("pre", "\n".join(body), tabindex=0)
    if begins_table(lines[:2]):
        return tag("pre", "\n".join(lines), tabindex=0)
    if ITEM.match(lines[0]):
        return make_list(lines)
    for number, line in enumerate(lines):
        if ITEM.match(line):
            return join(make_block(lines[:number]), make_list(lines[number:]))
    return tag("p", make_words("\n".join(lines)))


def make_list(lines: list[str]) -> Html:
    """Make a list of one level. A line that is not the beginning of an item continues the previous item."""
    items: list[list[str]] = []
    for line in lines:
        match = ITEM.match(line)
        if match:
            items.append([match[2]])
        else:
            items[-1].append(line.strip())
    numbered = ITEM.match(lines[0])
    name = "ol" if numbered and numbered[1] else "ul"
    return tag(name, *(tag("li", make_words(" ".join(item))) for item in items))


def make_words(text: str) -> Html:
    """Convert text with `code`, **strong** and *emphasis*."""
    parts: list[str] = []
    at = 0
    for match in INLINE.finditer(text):
        parts.append(clean(text[at : match.start()]))
        code, strong, emphasis = match.groups()
        name, words = ("code", code) if code else ("strong", strong) if strong else ("em", emphasis)
        parts.append(tag(name, words))
        at = match.end()
    return Html("".join([*parts, clean(text[at:])]))
