"""Run generated programs on the CPU backend in each of its modes and compare with the oracle and with recorded GPUs.

    python3 -m tests.differential.compare --programs 200
    python3 -m tests.differential.compare --first 42 --programs 1 --keep build/differential
    python3 -m tests.differential.compare --modes fast --rewriter-option=--some-option

Each line names a case, a mode, and the difference: a wrong digest, a finding although the program has no race, or how
the program failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.differential import recorded
from tests.differential.cpu import MODES, Outcome, run_everywhere
from tests.differential.generator import make_case
from tests.differential.oracle import digest_of

BATCH = 20


def expected_digest(number: int) -> int:
    return digest_of(make_case(number))


def differences(number: int, mode: str, outcome: Outcome, digest: int, gpu_digest: str | None) -> list[str]:
    """Return a line for each error in an outcome."""
    name, lines = f"case {number}, {mode}", []
    if outcome.digest is None:
        lines.append(f"{name}: {' '.join(outcome.output[-3:]) or 'no digest'}")
    elif outcome.digest != digest:
        lines.append(f"{name}: digest {outcome.digest:016x}, the oracle's is {digest:016x}")
    lines += [f"{name}: {line}" for line in outcome.defects()]
    if gpu_digest is not None and f"{digest:016x}" != gpu_digest:
        lines.append(f"case {number}: the oracle's digest is {digest:016x}, the GPU's {gpu_digest}")
    return lines


def compare(
    numbers: range,
    modes: Iterable[str] = MODES,
    options: Iterable[str] = (),
    keep: Path | None = None,
    runtime: list[Path] | None = None,
) -> dict:
    """Return the numbers of compared cases, of their kernels, and of the cases with a GPU's result; the modes; and a
    line for each difference (`found`)."""
    modes = list(modes)
    batches = [
        (first, [make_case(n) for n in range(first, min(first + BATCH, numbers.stop))])
        for first in range(numbers.start, numbers.stop, BATCH)
    ]
    with ProcessPoolExecutor() as pool:
        digests = dict(zip(numbers, pool.map(expected_digest, numbers, chunksize=5), strict=True))
    gpu_digests, stale = recorded.digests(numbers)
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = run_everywhere(batches, keep or Path(scratch), modes, options, runtime)
    lines = [f"recorded.json is stale from case {group * recorded.GROUP} on: record again" for group in stale]
    for number in numbers:
        for i, mode in enumerate(modes):
            outcome = outcomes[mode].get(number, Outcome())
            lines += differences(number, mode, outcome, digests[number], gpu_digests.get(number) if i == 0 else None)
    kernels = sum(len(case.kernels) for _, cases in batches for case in cases)
    return {"cases": len(numbers), "kernels": kernels, "with_gpu": len(gpu_digests), "modes": modes, "found": lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=200, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--modes", default=",".join(MODES).replace(", ", "+"), help="separated by commas; + for ', '")
    parser.add_argument("--rewriter-option", action="append", default=[], help="passed on to build/cpu/rewrite")
    parser.add_argument("--keep", type=Path, help="keep sources and programs in this folder")
    options = parser.parse_args()
    modes = [mode.replace("+", ", ") for mode in options.modes.split(",")]
    if unknown := [mode for mode in modes if mode not in MODES]:
        parser.error(f"There is no mode {unknown[0]!r}. Modes: {', '.join(MODES)}")
    numbers = range(options.first, options.first + options.programs)
    result = compare(numbers, modes, options.rewriter_option, options.keep)
    print(*result["found"], sep="\n")
    print(
        f"{result['cases']} programs with {result['kernels']} kernels in {len(modes)} modes, "
        f"{result['with_gpu']} of them recorded on a GPU: {len(result['found'])} differences"
    )
    return 1 if result["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
