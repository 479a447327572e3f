"""The differences between two versions of a file, as lines with a sign; long differences are cut."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

MAX_COMPARED = 5_000  # lines of each version: the time to compare grows up to their product
MAX_LINES = 400  # lines of the difference that are shown
CONTEXT = 2


@dataclass
class Difference:
    """Lines that begin with '+', '-', ' ' or '@@'. `remark` states what is omitted, or why there are no lines.

    `added` and `removed` count the student's own lines: a starter's lines and blank lines are not counted.
    """

    lines: list[str]
    added: int = 0
    removed: int = 0
    remark: str = ""


def compare_texts(before: str | None, after: str | None, given: Sequence[str] = ()) -> Difference:
    """Compare two texts line by line. None stands for an unknown text. `given`: the starters of both."""
    if before is None or after is None:
        return Difference([], remark="The text of one of the two was not recorded.")
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED:
        return Difference([], remark=f"Too long to compare: {len(old):,} lines became {len(new):,}.")
    lines = list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]
    given_lines = {line.strip() for text in given for line in text.splitlines()} | {""}
    added, removed = (sum(line[0] == sign and line[1:].strip() not in given_lines for line in lines) for sign in "+-")
    left_out = len(lines) - MAX_LINES
    remark = f"{left_out:,} more lines of the difference are omitted." if left_out > 0 else ""
    if not lines:
        remark = "Nothing changed."
    return Difference(lines[:MAX_LINES], added, removed, remark)
