"""Print the additional cost of an access under the sanitizer: the minimum of many runs, in ns of processor time. Each
kernel runs alternately with and without the sanitizer.

python3 tests/cpu/check/access_cost.py     (in .venv; needs build/cpu/rewrite)
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.cpu.check.test_sanitizer import CHECK_FLAGS, build_program, compile_runtime, start

RUNS = 5  # of each program, which itself takes the minimum of five


def build(folder: Path, objects: list[Path], *flags: str) -> Path:
    folder.mkdir()
    return build_program(Path(__file__).with_name("access_cost.cu"), objects, folder, *flags)


def measure(program: Path) -> dict[str, float]:
    return {name: float(ns) for name, ns in re.findall(r"^(.*?) +([\d.]+) ns$", start(program).stdout, re.MULTILINE)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        objects = compile_runtime(Path(name))
        programs = {
            "with": build(Path(name) / "with", objects, *CHECK_FLAGS),
            "without": build(Path(name) / "without", objects),
        }
        runs = [{version: measure(program) for version, program in programs.items()} for _ in range(RUNS)]
        print(f"{'ns for each access':<22} {'with':>6} {'without':>8} {'difference':>10}")
        for kernel in runs[0]["with"]:
            with_sanitizer, without = (min(run[version][kernel] for run in runs) for version in programs)
            print(f"{kernel:<22} {with_sanitizer:6.1f} {without:8.1f} {with_sanitizer - without:10.1f}")
