"""What takes too long for every run of the tests: `make soak` runs it and writes tests/soak.json.

First, all untrusted input is fuzzed with more than ten million inputs, times FUZZ_SCALE
(tests/fuzz/soak_fuzz.py, with clang and atheris). For SECONDS_EACH (60) every solution is checked again and again, with
1, 2 and 7 threads on the CPU backend. Then tests of which `make test` takes some are run in full
(WARPLAB_THOROUGH=1): check mode on every program and every earlier stage, on aarch64 too where its tools are, slow
hostile hand-ins, all of them at the sandbox's weaker level, some without each of its mechanisms, Slurm's time limit,
CUDA 12 on every stage. All rows of tests/corpus are run, and three rates kept. GENERATED (300) random programs run on
the CPU backend in each of its modes and are compared with an oracle and with what a GPU gave (tests/differential).
Last, batches of submissions: tests/course/soak_batch.py.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD") or "build")
THREADS = (1, 2, 7)
MOST_SHOWN = 20


def run(command: list, **environment: str) -> tuple[int, str]:
    """Exit status and the last lines of what was said."""
    done = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr)[-2000:]


def check_solutions(seconds: float) -> dict:
    labs = sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))
    found, checks = [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for lab in labs:
            for threads in THREADS:
                command = [BUILD / "warplab", "check", lab, "--tree", "solutions", "--backend", "cpu", "--build", BUILD]
                command += ["--no-check-mode"]
                status, said = run(command, WARPLAB_THREADS=str(threads))
                checks += 1
                if status != 0:
                    found.append({"lab": lab, "threads": threads, "status": status, "said": said})
    what = "every stage of a lab's solutions, CPU backend"
    return {"what": what, "threads": THREADS, "labs": labs, "checks": checks, "found": found}


def test_thoroughly() -> dict:
    tests = [
        "tests/cpu/check/test_check_mode.py",
        "tests/labs/test_inspect.py",
        "tests/hostile",
        "tests/course/test_slurm.py",
        "tests/cuda12",
        "tests/layout",
    ]
    status, said = run([sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), *tests], WARPLAB_THOROUGH="1")
    passed = re.search(r"(\d+) passed", said)
    found = [] if status == 0 else [{"status": status, "said": said}]
    what = "check mode on every program and every limited stage, hostile hand-ins, Slurm, CUDA 12 on every stage"
    return {"what": what, "tests": int(passed[1]) if passed else 0, "found": found}


def check_corpus() -> dict:
    """The rates of the corpus, and the rows that differ from what tests/corpus/test_corpus.py knows."""
    from tests.corpus.test_corpus import ROWS, disagreements, measure, run_all

    outcomes = run_all(ROWS)
    found = disagreements(ROWS, outcomes)
    return {"what": "every row of the corpus", "rows": len(ROWS), "rates": measure(ROWS, outcomes), "found": found}


def compare_generated(programs: int) -> dict:
    from tests.differential.compare import compare

    what = "generated programs, CPU backend in each mode, oracle and recorded GPU"
    return {"what": what, **compare(range(programs))}


def find_planted(programs: int) -> dict:
    """The planted bugs that the sanitizer finds; those it misses are listed, and no failure."""
    from tests.differential.plants import inspect, planted

    with tempfile.TemporaryDirectory() as folder:
        result = inspect(planted(range(programs)), Path(folder))
    return {"what": "a bug planted in generated programs, sanitizer", **result, "found": []}


def main() -> int:
    os.chdir(ROOT)
    seconds = float(os.environ.get("SECONDS_EACH") or 60)
    print("Fuzzing untrusted input", flush=True)
    sys.path.insert(0, str(ROOT))
    from tests.fuzz import soak_fuzz

    fuzzed = soak_fuzz.soak()
    print(f"Checking the solutions for {seconds:.0f} s", flush=True)
    ran = [check_solutions(seconds)]
    print("Running in full what make test runs in part", flush=True)
    ran.append(test_thoroughly())
    ran.append(check_corpus())
    print("Comparing generated programs", flush=True)
    programs = int(os.environ.get("GENERATED") or 300)
    ran += [compare_generated(programs), find_planted(programs // 3)]
    print("Grading batches", flush=True)
    from tests.course.soak_batch import soak

    ran += soak() + fuzzed
    failures = sum(len(one["found"]) for one in ran)
    for one in ran:
        one["found"] = one["found"][:MOST_SHOWN]
    report = {"seconds_each": seconds, "ran": ran, "failures": failures}
    (ROOT / "tests/soak.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    inputs = sum(one.get("inputs", 0) for one in ran)
    for one in ran:
        if "skipped" in one:
            print(f"Skipped: {one['what']}: {one['skipped']}")
    done = f"{inputs} fuzzed inputs, {ran[0]['checks']} checks, {ran[1]['tests']} thorough tests"
    print(f"{done}, {failures} failures: tests/soak.json")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
