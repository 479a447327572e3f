"""Fuzz one target with atheris: python -m tests.fuzz.atheris_fuzz TARGET KEPT [libFuzzer's options and folders].

The run continues after an input that violated a requirement. The first input of each kind of failure is kept as
KEPT/TARGET-HASH, with the violated requirement in KEPT/TARGET-HASH.txt.
"""

from __future__ import annotations

import hashlib
import random
import resource
import sys
import traceback
from pathlib import Path

import atheris

MAX_MEMORY_BYTES = 3 * 10**9
FRAMES = 3  # number of stack frames that distinguish kinds of failures

RENDERERS = [
    "grader.python.common.markup",
    "grader.python.batch.outputs.report_page",
    "grader.python.common.charts",
    "grader.python.common.page",
    "grader.python.batch.outputs.dashboard",
]

# Rendering code has few interesting branches. Without instrumenting it, twice as many inputs run per second.
with atheris.instrument_imports(include=["grader", "zipfile", "tarfile", "gzip", "csv"], exclude=RENDERERS):
    from tests.fuzz import json_mutator
    from tests.fuzz.invariants import BrokenInvariantError
    from tests.fuzz.python_targets import OF_JSON, run


def mutate(data: bytes, max_bytes: int, seed: int) -> bytes:
    """Mutate values of JSON, or bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.6:
        try:
            mutated = json_mutator.mutate_line(data, chance)
        except (ValueError, RecursionError, MemoryError):
            mutated = data
        if mutated != data and len(mutated) <= max_bytes:
            return mutated
    return bytes(atheris.Mutate(data, max_bytes))


def keep(name: str, data: bytes, broken: Exception, kept: Path) -> None:
    """Keep an input unless an earlier input failed with the same exception, requirement and stack frames."""
    context = broken.__context__ if isinstance(broken, BrokenInvariantError) else None
    frames = traceback.extract_tb((context or broken).__traceback__)[-FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    invariant = str(broken).partition(":")[0] if isinstance(broken, BrokenInvariantError) else ""
    kind = "\n".join([type(broken).__name__, invariant, *places])
    file = kept / f"{name}-{hashlib.sha256(kind.encode()).hexdigest()[:12]}"
    if not file.exists():
        file.write_bytes(data)
        words = f"{type(broken).__name__}: {str(broken)[:500]}\n" + "\n".join(places) + "\n"
        file.with_suffix(".txt").write_text(words, encoding="utf-8", errors="backslashreplace")


def main() -> None:
    """Fuzz the target. This function never returns, because libFuzzer ends the process."""
    name, kept, *options = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))

    def try_one(data: bytes) -> None:
        try:
            run(name, data)
        except Exception as broken:
            keep(name, data, broken, Path(kept))

    mutator = {"custom_mutator": mutate} if name in OF_JSON else {}
    merge_command = f"{sys.executable} -m tests.fuzz.atheris_fuzz {name} {kept}"  # libFuzzer runs this to merge
    atheris.Setup([merge_command, *options], try_one, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
