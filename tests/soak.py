"""Tests that take too long for `make test`: `make soak` runs them and writes tests/soak.json.

    .venv/bin/python tests/soak.py [PART…]      runs only these parts, and keeps the results of the others

- fuzz: more than ten million inputs, times FUZZ_SCALE, for all code that reads untrusted data
  (tests/fuzz/soak_fuzz.py, with clang and atheris).
- solutions: checks every solution repeatedly for SECONDS_EACH (60), with 1, 2 and 7 threads on the CPU backend.
- thorough: most tests of which `make test` runs only a share or nothing (WARPLAB_THOROUGH=1), among them every wrong
  submission and exercise; the sanitizer on every program, and also on aarch64 if the tools for it are installed; the
  counters and modelled lines of every solution, and earlier solutions that exceed a stage's limits; all hostile
  hand-ins, at both levels of the sandbox, and some without each of the sandbox's mechanisms; Slurm's time limit; CUDA
  12 on every stage; the linking of the fuzz targets.
- corpus: all rows of tests/corpus, and its rates (see tests/corpus).
- generated: GENERATED (300) random programs on the CPU backend in each of its modes, compared with an oracle and with
  a GPU's recorded results, and bugs planted in some of them (tests/differential).
- batches: batches of submissions (tests/python/batch/soak_batch.py).
- moodle: with MOODLE=DIR, a round trip through a real Moodle (tests/python/batch/moodle/round_trip.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD") or "build")
THREADS = (1, 2, 7)
MAX_SHOWN = 20
PROGRAMS = int(os.environ.get("GENERATED") or 300)
REPORT = ROOT / "tests/soak.json"


def run(command: list, **environment: str) -> tuple[int, str]:
    """Run a command, and return its exit status and the end of its output."""
    result = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return result.returncode, (result.stdout + result.stderr)[-2000:]


def check_solutions(seconds: float) -> dict:
    labs = sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))
    failures, checks = [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for lab in labs:
            for threads in THREADS:
                command = [BUILD / "warplab", "check", lab, "--tree", "solutions", "--backend", "cpu", "--build", BUILD]
                command += ["--no-check-mode"]
                status, output = run(command, WARPLAB_THREADS=str(threads))
                checks += 1
                if status != 0:
                    failures.append({"lab": lab, "threads": threads, "status": status, "output": output})
    description = "every stage of a lab's solutions, CPU backend"
    return {"what": description, "threads": THREADS, "labs": labs, "checks": checks, "found": failures}


def find_thorough_tests() -> list[str]:
    """Return the files with tests, or rows of tables, that `make test` leaves out. The corpus is a part of its own."""
    files = [file for file in sorted((ROOT / "tests").rglob("test_*.py")) if file.parent.name != "corpus"]
    return [str(file) for file in files if re.search(r"WARPLAB_THOROUGH|tests\.share", file.read_text())]


def run_thorough_tests() -> dict:
    tests = find_thorough_tests()
    status, output = run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), *tests], WARPLAB_THOROUGH="1"
    )
    passed = re.search(r"(\d+) passed", output)
    in_cpp = run(
        [BUILD / "tests", "--gtest_filter=CpuRuntimeOnArm.*:Samples.*:StoppingRule.*:OnIdleMachine.*:Fuzz.*"],
        WARPLAB_THOROUGH="1",
    )
    failures = [{"status": status, "output": output} for status, output in ((status, output), in_cpp) if status != 0]
    description = (
        "wrong submissions, the sanitizer on every program and every stage with limits, hostile hand-ins, Slurm, "
        "CUDA 12"
    )
    return {"what": description, "tests": int(passed[1]) if passed else 0, "found": failures}


def check_corpus() -> dict:
    """Return the rates of the corpus, and the rows whose outcome differs from KNOWN in tests/corpus/test_corpus.py."""
    from tests.corpus.test_corpus import ROWS, disagreements, measure, run_all

    outcomes = run_all(ROWS)
    lines = disagreements(ROWS, outcomes)
    return {"what": "every row of the corpus", "rows": len(ROWS), "rates": measure(ROWS, outcomes), "found": lines}


def compare_generated(programs: int) -> dict:
    from tests.differential.compare import compare

    description = "generated programs, CPU backend in each mode, oracle and recorded GPU"
    return {"what": description, **compare(range(programs))}


def find_planted(programs: int) -> dict:
    """Return the planted bugs that the sanitizer finds. Bugs that it misses are listed, but are not failures."""
    from tests.differential.plants import inspect, planted

    with tempfile.TemporaryDirectory() as folder:
        result = inspect(planted(range(programs)), Path(folder))
    return {"what": "a bug planted in generated programs, sanitizer", **result, "found": []}


def fuzz() -> list[dict]:
    from tests.fuzz import soak_fuzz

    return soak_fuzz.soak()


def grade_batches() -> list[dict]:
    from tests.python.batch.soak_batch import soak

    return soak()


def run_moodle_round_trip() -> list[dict]:
    from tests.python.batch.moodle.round_trip import soak

    return [soak()]


PARTS: dict[str, Callable[[], list[dict]]] = {
    "fuzz": fuzz,
    "solutions": lambda: [check_solutions(float(os.environ.get("SECONDS_EACH") or 60))],
    "thorough": lambda: [run_thorough_tests()],
    "corpus": lambda: [check_corpus()],
    "generated": lambda: [compare_generated(PROGRAMS), find_planted(PROGRAMS // 3)],
    "batches": grade_batches,
    "moodle": run_moodle_round_trip,
}


def describe_run() -> dict:
    """Return the commit, whether files differ from it, and the number of cores."""
    _, commit = run(["git", "rev-parse", "--short", "HEAD"])
    status, _ = run(["git", "diff", "--quiet", "HEAD"])
    return {"commit": commit.strip(), "changed": status != 0, "cores": os.cpu_count()}


def main() -> int:
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    names = sys.argv[1:] or list(PARTS)
    if unknown := set(names) - set(PARTS):
        sys.exit(f"{', '.join(sorted(unknown))}: not a part. The parts: {', '.join(PARTS)}.")
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    report = {name: report[name] for name in PARTS if name in report}
    failures = 0
    for name in names:
        print(f"{name} …", flush=True)
        begin, results = time.monotonic(), PARTS[name]()
        failures += sum(len(result["found"]) for result in results)
        for result in results:
            if "skipped" in result:
                print(f"Skipped: {result['what']}: {result['skipped']}")
            result["found"] = result["found"][:MAX_SHOWN]
        report[name] = {**describe_run(), "seconds": round(time.monotonic() - begin), "ran": results}
        report = {name: report[name] for name in PARTS if name in report}
        REPORT.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    print(f"{failures} failures. Results: {REPORT}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
