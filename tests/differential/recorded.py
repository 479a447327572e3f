"""The digests that a GPU gave, in `recorded.json`: 16 hexadecimal digits for each case, in groups of GROUP cases.

Each group has a hash of its source. If the generator changes, the hash differs, and the record says nothing about the
new programs: record again. A case that gave no digest on the GPU has dashes. `explained` has the cases that nvcc
compiles wrongly: compiled without optimisation, they give the oracle's digest on the same GPU.
"""

from __future__ import annotations

import hashlib
import json
from itertools import chain
from pathlib import Path

from tests.differential.emit import program
from tests.differential.generator import make_case
from tests.differential.syntax import Case

FILE = Path(__file__).with_name("recorded.json")
GROUP = 100
FAILED = "-" * 16


def group_cases(group: int) -> list[Case]:
    return [make_case(number) for number in range(group * GROUP, (group + 1) * GROUP)]


def hash_of(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def load() -> dict:
    """Return `{"device": …, "explained": {reason: cases}, "groups": {number: {"source": …, "digests": …}}}`."""
    return json.loads(FILE.read_text()) if FILE.exists() else {"device": "", "explained": {}, "groups": {}}


def save(record: dict) -> None:
    record["groups"] = dict(sorted(record["groups"].items(), key=lambda item: int(item[0])))
    FILE.write_text(json.dumps(record, indent=1) + "\n")


def digests(numbers: range) -> tuple[dict[int, str], list[int]]:
    """Return the recorded digests of these cases, except explained cases, and the groups whose record is stale."""
    record, result, stale = load(), {}, []
    groups, explained = record["groups"], set(chain.from_iterable(record["explained"].values()))
    for group in sorted({number // GROUP for number in numbers}):
        known = groups.get(str(group))
        if not known:
            continue
        if known["source"] != hash_of(program(group_cases(group), group * GROUP)):
            stale.append(group)
            continue
        for i in range(GROUP):
            if group * GROUP + i in numbers and group * GROUP + i not in explained:
                result[group * GROUP + i] = known["digests"][16 * i : 16 * i + 16]
    return result, stale
