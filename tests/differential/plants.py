"""Plant one bug in a generated case: the sanitizer must find each bug that the oracle confirms.

    python3 -m tests.differential.plants --programs 200

A bug in code that does not run, such as a barrier in a branch that no block takes, is not confirmed and not counted.
The table says how many bugs of each kind were planted, confirmed and found; the cases that were missed follow.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.differential.cpu import MODES, Outcome, run_everywhere
from tests.differential.generator import binary, make_case, number, variable
from tests.differential.oracle import flaws_of
from tests.differential.syntax import (
    Atomic,
    Barrier,
    Branch,
    Case,
    Expression,
    Kernel,
    Leave,
    Loop,
    Store,
    Switch,
    WarpBarrier,
)

Site = tuple[list, int, Kernel]


def bodies(statement: object) -> list[list]:
    match statement:
        case Branch():
            return [statement.then, statement.otherwise]
        case Loop():
            return [statement.body]
        case Switch():
            return [body for _, body, _ in statement.cases]
    return []


def sites(body: list, kernel: Kernel) -> Iterator[Site]:
    """Yield every statement, as its list, its index in the list, and its kernel."""
    for i, statement in enumerate(body):
        yield body, i, kernel
        for inner in bodies(statement):
            yield from sites(inner, kernel)


def remove(body: list, i: int, kernel: Kernel) -> None:
    del body[i]


def diverge(body: list, i: int, kernel: Kernel) -> None:
    """Let only a part of the block reach a barrier."""
    limit = number(max(1, kernel.threads // 2), "u32")
    body[i] = Branch(binary("<", variable("t", "u32"), limit), [body[i]])


def shrink_mask(body: list, i: int, kernel: Kernel) -> None:
    """Omit a calling lane from the mask."""
    e = body[i].value
    mask = binary("&", e.parts[0], number(0xFFFFFFFE, "u32"))
    body[i] = copy.copy(body[i])
    body[i].value = Expression(e.op, e.type, (mask, *e.parts[1:]), e.name, value=e.value)


def go_beyond(body: list, i: int, kernel: Kernel) -> None:
    """Let the loop that fills an array write one element more."""
    body[i].condition = Expression("<=", "i32", body[i].condition.parts)


def shift_index(body: list, i: int, kernel: Kernel) -> None:
    """Write the next element instead of the thread's own."""
    store = body[i]
    body[i] = Store(store.array, [*store.indices[:-1], binary("+", store.indices[-1], number(1, "u32"))], store.value)


def make_plain(body: list, i: int, kernel: Kernel) -> None:
    """Change a shared element without an atomic."""
    atomic = body[i]
    body[i] = Store(atomic.array, atomic.indices, atomic.value)


def skip_fill(body: list, i: int, kernel: Kernel) -> None:
    body[i].condition = binary("<", variable(body[i].variable, "u32"), number(1, "u32"))


def return_early(body: list, i: int, kernel: Kernel) -> None:
    body.insert(i, Branch(binary("==", variable("t", "u32"), number(0, "u32")), [Leave("return")]))


def is_fill(statement: object) -> bool:
    return isinstance(statement, Loop) and len(statement.body) == 1 and isinstance(statement.body[0], Store)


def is_masked(statement: object) -> bool:
    value = getattr(statement, "value", None)
    return (
        isinstance(value, Expression)
        and value.op == "warp"
        and "{0}" in value.name
        and not value.value[0].startswith("block")
    )


PLANTS: dict[str, tuple[Callable[[object], bool], Callable[[list, int, Kernel], None]]] = {
    "barrier removed": (lambda s: isinstance(s, Barrier) and bool(s.orders), remove),
    "barrier diverges": (lambda s: isinstance(s, Barrier), diverge),
    "warp barrier removed": (lambda s: isinstance(s, WarpBarrier), remove),
    "mask lacks a lane": (is_masked, shrink_mask),
    "fill goes beyond": (is_fill, go_beyond),
    "fill stops early": (is_fill, skip_fill),
    "index off by one": (
        lambda s: isinstance(s, Store) and s.array.space in ("shared", "dynamic", "output"),
        shift_index,
    ),
    "atomic missing": (lambda s: isinstance(s, Atomic) and not s.result and s.op not in ("Inc", "Dec"), make_plain),
    "returns before barrier": (lambda s: isinstance(s, Barrier), return_early),
}


def plant(seed: int, kind: str) -> Case | None:
    """Return the seed's case with a bug of this kind, if it has a place for one; `Case.plant` names the kind."""
    case, (suits, change) = make_case(seed), PLANTS[kind]
    places = [site for k in case.kernels for site in sites(k.body, k) if suits(site[0][site[1]])]
    if not places:
        return None
    change(*random.Random(f"plant {seed} {kind}").choice(places))
    case.plant = kind
    return case


def planted(seeds: range) -> list[tuple[Case, list[str]]]:
    """Return a case for each seed that has a place for a bug, with the flaws that the oracle sees in it."""
    kinds, cases = list(PLANTS), []
    for seed in seeds:
        case = plant(seed, kinds[seed % len(kinds)])
        if case:
            cases.append((case, flaws_of(case)))
    return cases


def inspect(cases: list[tuple[Case, list[str]]], folder: Path, runtime: list[Path] | None = None) -> dict:
    """Run the sanitizer on planted bugs; return the counts for each kind, and the confirmed bugs that are missed."""
    batches = [(i, [case for case, _ in cases[i : i + 10]]) for i in range(0, len(cases), 10)]
    modes = [mode for mode in MODES if mode.startswith("sanitizer")]
    outcomes = run_everywhere(batches, folder, modes, runtime=runtime)
    counts: dict[str, Counter] = {kind: Counter() for kind in PLANTS}
    missed = []
    for i, (case, flaws) in enumerate(cases):
        of_case = [outcomes[mode].get(i, Outcome()) for mode in modes]
        is_found = any(outcome.defects() or outcome.digest is None for outcome in of_case)
        counts[case.plant] += Counter(planted=1, confirmed=bool(flaws), found=bool(flaws) and is_found)
        if flaws and not is_found:
            missed.append(f"case {i} (seed {case.seed}), {case.plant}: {'; '.join(flaws)}")
    return {"kinds": {kind: dict(count) for kind, count in counts.items() if count}, "missed": missed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=200, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--keep", type=Path, help="keep sources and programs in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        seeds = range(options.first, options.first + options.programs)
        result = inspect(planted(seeds), options.keep or Path(scratch))
    print(f"{'bug':24} planted confirmed found")
    for kind, count in result["kinds"].items():
        print(f"{kind:24} {count['planted']:7} {count['confirmed']:9} {count['found']:5}")
    print(*result["missed"], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
