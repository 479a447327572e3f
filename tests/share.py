"""The share of a table's rows that `make test` runs. `make test ONLY=word` runs all rows whose name contains the
word, and `make soak` (WARPLAB_THOROUGH=1) runs all rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
THOROUGH = bool(os.environ.get("WARPLAB_THOROUGH"))
ALL_ROWS = THOROUGH or bool(os.environ.get("ONLY"))


def share_of(
    rows: Sequence[Row], kind: Callable[[Row], Hashable], name: Callable[[Row], str], one_in: int
) -> list[Row]:
    """Return one in `one_in` rows of each kind, at least one, in their order; with ONLY or WARPLAB_THOROUGH, all rows.
    Hashes of the names select the rows, so the same rows run each time, and a new row rarely changes the selection."""
    if ALL_ROWS:
        return list(rows)
    kinds: dict[Hashable, list[str]] = {}
    for row in rows:
        kinds.setdefault(kind(row), []).append(name(row))
    chosen: set[str] = set()
    for names in kinds.values():
        names.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        chosen.update(names[: -(-len(names) // one_in)])
    return [row for row in rows if name(row) in chosen]
