"""Build generated programs for the CPU backend, as the judge builds hand-ins, and run them in each of its modes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.cpu.check.test_sanitizer import (
    CHECK_FLAGS,
    INCLUDE_FLAGS,
    LINKER,
    ROOT,
    RUNTIME_FLAGS,
    STUDENT_FLAGS,
    compile_runtime,
)
from tests.differential.emit import program
from tests.differential.syntax import Case

BUILD = ROOT / (os.environ.get("BUILD") or "build")
FOLDER = Path(__file__).parent
LIMIT_S = 120

# The program of each mode, and its environment variables.
MODES = {
    "fast": ("fast", {}),
    "fast, one thread": ("fast", {"WARPLAB_THREADS": "1"}),
    "fast, backward": ("fast", {"BACKWARD": "1"}),
    "hooks": ("hooked", {"SANITIZER_OFF": "1"}),
    "sanitizer": ("hooked", {}),
    "sanitizer, backward": ("hooked", {"BACKWARD": "1"}),
}
FLAGS = {"fast": ["-DWARPLAB_CPU_FAST"], "hooked": CHECK_FLAGS}

# A shuffle from an absent lane is correct if its value is not used; the judge shows it only if outputs are wrong. A
# note costs no points: it names a plain read next to atomics, as before an atomicCAS.
HARMLESS = {"absent_lane", "note"}
FINDING = re.compile(r"^warplab-finding: (\w+) ")


class BuildError(Exception):
    """A generated program does not compile; the message contains the command and the compiler's first lines."""


@dataclass
class Outcome:
    """One case in one mode: its digest (None if it failed), its findings, and its other output."""

    digest: int | None = None
    findings: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)

    def defects(self) -> list[str]:
        return [line for line in self.findings if FINDING.match(line)[1] not in HARMLESS]


def run(*command: object) -> None:
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        output = (result.stdout + result.stderr)[:3000]
        raise BuildError(f"{' '.join(map(str, command))}\nended with status {result.returncode}\n{output}")


def compile_sanitizer_switch(folder: Path) -> Path:
    switch = folder / "sanitizer_off.o"
    run("g++", *RUNTIME_FLAGS, "-c", FOLDER / "sanitizer_off.cpp", "-o", switch)
    return switch


def build_runtime(folder: Path) -> list[Path]:
    """Return the objects that every program is linked with."""
    folder.mkdir(parents=True, exist_ok=True)
    return [compile_sanitizer_switch(folder), *compile_runtime(folder)]


def rewrite(source: Path, options: Iterable[str]) -> Path:
    rewritten = source.with_suffix(".cpp")
    run(BUILD / "cpu/rewrite", *options, source, rewritten, "--name", source.name)
    return rewritten


def compile_program(rewritten: Path, kind: str, runtime: list[Path]) -> Path:
    """Compile and link one kind of program; only its `main` is visible to the runtime, as in the judge's runner."""
    stem = rewritten.with_name(f"{rewritten.stem}-{kind}")
    compiled, grouped = Path(f"{stem}.o"), Path(f"{stem}-grouped.o")
    flags = [*STUDENT_FLAGS, "-w", *FLAGS[kind], f"-I{FOLDER}", *INCLUDE_FLAGS]
    run("g++", *flags, "-c", rewritten, "-o", compiled)
    run("g++", "-r", "-nostdlib", "-Wl,--force-group-allocation", compiled, "-o", grouped)
    run("objcopy", "--keep-global-symbol=main", grouped)
    run("g++", *runtime, grouped, *LINKER, "-pthread", "-o", stem)
    return stem


def build(
    cases: list[Case], first: int, folder: Path, runtime: list[Path], kinds: Iterable[str], options: Iterable[str]
):
    """Write, rewrite and compile the cases, which are numbered from `first`. Return the program of each kind."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"cases_{first}.cu"
    source.write_text(program(cases, first))
    rewritten = rewrite(source, options)
    return {kind: compile_program(rewritten, kind, runtime) for kind in kinds}


def start(executable: Path, variables: dict[str, str], numbers: Iterable[int], limit_s: float) -> tuple[str, str]:
    """Return the program's output (both streams, interleaved) and a description of its failure; empty if there is
    none."""
    with subprocess.Popen(
        [executable, *map(str, numbers)],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            return output, f"stopped after {limit_s:g} s"
    return output, f"ended with status {process.returncode}" if process.returncode else ""


def read(output: str) -> dict[int, Outcome]:
    """Return the outcome of each case that began."""
    outcomes: dict[int, Outcome] = {}
    current = Outcome()
    for line in output.splitlines():
        if begin := re.fullmatch(r"case (\d+)", line):
            current = outcomes[int(begin[1])] = Outcome()
        elif end := re.fullmatch(r"digest (\d+) ([0-9a-f]{16})", line):
            outcomes[int(end[1])].digest = int(end[2], 16)
        elif FINDING.match(line):
            current.findings.append(line)
        else:
            current.output.append(line)
    return outcomes


def run_mode(
    executable: Path, variables: dict[str, str], numbers: list[int], limit_s: float = LIMIT_S
) -> dict[int, Outcome]:
    """Run cases in one process. If a case ends the process, the cases after it run in a new one."""
    outcomes: dict[int, Outcome] = {}
    remaining = list(numbers)
    while remaining:
        output, ending = start(executable, variables, remaining, limit_s)
        results = read(output)
        last = max(results, default=remaining[0])
        if ending:
            results.setdefault(last, Outcome()).output.append(ending)
            results[last].digest = None
        outcomes |= results
        remaining = [number for number in remaining if number > last] if ending else []
    return outcomes


def run_everywhere(
    batches: list[tuple[int, list[Case]]],
    folder: Path,
    modes: Iterable[str] = MODES,
    options: Iterable[str] = (),
    runtime: list[Path] | None = None,
) -> dict[str, dict[int, Outcome]]:
    """Build each batch (its first number and its cases) and run it in these modes; return the outcomes by mode.

    `options` go to the rewriter; `runtime` has the runtime's objects, if they are built already.
    """
    runtime, modes = runtime or build_runtime(folder / "runtime"), list(modes)
    kinds = sorted({MODES[mode][0] for mode in modes})

    def build_and_run(batch: tuple[int, list[Case]]) -> dict[str, dict[int, Outcome]]:
        first, cases = batch
        programs = build(cases, first, folder, runtime, kinds, options)
        numbers = list(range(first, first + len(cases)))
        return {mode: run_mode(programs[MODES[mode][0]], MODES[mode][1], numbers) for mode in modes}

    outcomes: dict[str, dict[int, Outcome]] = {mode: {} for mode in modes}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(build_and_run, batches):
            for mode, outcomes_of_mode in results.items():
                outcomes[mode] |= outcomes_of_mode
    return outcomes
