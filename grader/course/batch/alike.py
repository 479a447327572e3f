"""Whose files are much alike: copydetect's fingerprints, with the starter and the lab's header as boilerplate.

Only pairs that share rare fingerprints are compared, so that a course of thousands takes seconds. It says whom to
look at, and nothing more: short stages have few ways to be written.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

NOISE, WINDOW = 25, 4  # characters of a fingerprint, and how many are thinned out to one
LEAST_FINGERPRINTS = 8  # what a student wrote must be more than a line or two
ALIKE = 0.9
COMMON = 20  # a fingerprint that more files than this share says nothing about a pair
MOST_CHARACTERS = 30_000
MOST_PAIRS = 200


@dataclass(frozen=True)
class Alike:
    """Two submissions' files of one stage; `share` of the smaller one is in the other."""

    stage: str
    one: str
    other: str
    share: float


def find_alike(stage: str, starter: Path, files: Iterable[tuple[str, Path]]) -> list[Alike]:
    """Pairs of (key, file) that are much alike, most alike first. Raises ImportError without copydetect."""
    import numpy
    from copydetect import CodeFingerprint

    boilerplate: Any = []
    if starter.is_file():
        boilerplate = numpy.array(list(fingerprint(CodeFingerprint, starter, []) or []))
    same: dict[frozenset[int], list[str]] = defaultdict(list)
    for key, file in files:
        found = fingerprint(CodeFingerprint, file, boilerplate)
        if found and len(found) >= LEAST_FINGERPRINTS:
            same[frozenset(found)].append(key)
    pairs = [Alike(stage, keys[0], other, 1.0) for keys in same.values() for other in keys[1:]]
    prints = {keys[0]: found for found, keys in same.items()}
    for one, other in candidates(prints):
        share = len(prints[one] & prints[other]) / min(len(prints[one]), len(prints[other]))
        if share >= ALIKE:
            pairs.append(Alike(stage, one, other, share))
    return sorted(pairs, key=lambda pair: (-pair.share, pair.one, pair.other))[:MOST_PAIRS]


def fingerprint(make: Any, file: Path, boilerplate: Any) -> set[int] | None:
    """Hashes of a file; None where it is no text that can be read as code."""
    with contextlib.suppress(Exception):  # any text may fail: similarity is only a hint
        text = file.read_bytes()[:MOST_CHARACTERS].decode("utf-8", "replace")
        made = make(f"{file.stem}.cu", NOISE, WINDOW, boilerplate, language="cuda", fp=io.StringIO(text))
        return set(map(int, made.hashes))
    return None


def candidates(prints: dict[str, frozenset[int]]) -> Sequence[tuple[str, str]]:
    """Pairs that share fingerprints which few others have."""
    owners: dict[int, list[str]] = defaultdict(list)
    for key, hashes in prints.items():
        for one in hashes:
            owners[one].append(key)
    shared: Counter[tuple[str, str]] = Counter()
    for keys in owners.values():
        if 1 < len(keys) <= COMMON:
            shared.update(combinations(sorted(keys), 2))
    return list(shared)
