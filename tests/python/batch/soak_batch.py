"""Measure the speed of a batch, and test it with many submissions and kills; `make soak` runs this.

    python3 -m tests.python.batch.soak_batch    runs only this part of the soak

Submissions differ in a comment and a constant, so that each is compiled; the rows of the large database are generated.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.python.batch.grade.grading import summarise_report
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.report import parse_report
from tests.python import samples

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BUILD") or "build")
LAB, STAGE = "vector_add", "02_grid_stride"
JOBS = len(os.sched_getaffinity(0))


def hand_in(folder: Path, count: int, mark: str, stages: Sequence[str]) -> Path:
    """Write correct submissions that all differ."""
    for number in range(count):
        student = folder / f"s{number:04}"
        student.mkdir(parents=True)
        for stage in stages:
            source = (ROOT / "solutions" / LAB / f"{stage}.cu").read_text()
            constant = f"\nconstexpr int number_of_this_submission = {number};\n"
            (student / f"{stage}.cu").write_text(f"// {mark} {number}\n{source}{constant}")
    return folder


def grade(folder: Path, count: int, *options: str, whole_lab: bool = False, jobs: int = JOBS) -> dict[str, Any]:
    """Grade one stage, or the whole lab, of `count` submissions. Return the submissions per minute, the maximum that
    the compiler alone would allow, and the time that is neither for compiling nor for running."""
    mark = f"{time.time_ns()}"
    stages = sorted(file.stem for file in (ROOT / "solutions" / LAB).glob("*.cu")) if whole_lab else [STAGE]
    handed_in, out = hand_in(folder / f"handed in {mark}", count, mark, stages), folder / f"out {mark}"
    command = [sys.executable, "-m", "grader.python.batch", "grade", handed_in, "--lab", LAB, "--jobs", jobs]
    command += [] if whole_lab else ["--stage", STAGE]
    command += ["--out", out, "--build", BUILD, "--backend", "cpu", "--no-nvcc", *options]
    begin = time.monotonic()
    result = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    wall_s = time.monotonic() - begin
    database = Database(out / "batch.sqlite")
    unaccounted_s, compiling = [], []
    for row in database.rows():
        reported = json.loads(database.report(row.grade))["stages"] if row.grade else []
        compiling.append(sum(stage["compilation"]["wall_s"] for stage in reported))
        check_mode_s = sum(stage["check_mode"]["wall_s"] for stage in reported if stage["check_mode"])
        running_s = sum(check["wall_s"] for stage in reported for check in stage["checks"])
        unaccounted_s.append(row.wall_s - compiling[-1] - running_s - check_mode_s)
    counts = database.counts()
    database.close()
    problems = (
        [] if counts == {"graded": count} else [{"counts": counts, "output": (result.stdout + result.stderr)[-2000:]}]
    )
    return {
        "what": f"{count} submissions, {'whole lab' if whole_lab else 'one stage'}, {jobs} at a time, "
        + (" ".join(options) or "with the sanitizer"),
        "wall_s": round(wall_s, 1),
        "per_minute": round(60 * count / wall_s, 1),
        "per_minute_if_only_compiling": round(60 * count * jobs / sum(compiling), 1) if sum(compiling) else None,
        "not_compiling_or_running_s": round(statistics.median(unaccounted_s), 3) if unaccounted_s else None,
        "found": problems,
    }


def fill(folder: Path, count: int) -> dict[str, Any]:
    """Write generated rows to the database, the gradebook, the feedback and the page."""
    out = folder / "large"
    out.mkdir()
    database = Database(out / "batch.sqlite")
    settings = Settings(LAB, (STAGE,), ROOT, BUILD, out, "cpu")
    database.set_values(settings=json.loads(json.dumps(asdict(settings), default=str)))
    begin = time.monotonic()
    database.enter(Submission(f"s{number:05}", f"Student {number}", [], [f"s{number:05}"]) for number in range(count))
    for number in range(count):
        stage = samples.stage(STAGE, "Grid", source_hash=f"{number:064x}", measurements=[samples.measurement(0.05)])
        report = json.dumps(samples.report(lab=LAB, stages=[stage]))
        graded = Graded(f"s{number:05}", "graded", report=report)
        database.keep(graded, *summarise_report(parse_report(report), "hash"))
    entered_s = time.monotonic() - begin
    write_outputs(database, settings)
    lines = len((out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    problems = []
    if lines != count + 1 or peak > 1e9:
        problems.append({"lines": lines, "peak_bytes": peak})
    return {
        "what": f"{count} rows through database, gradebook, feedback and page",
        "entered_s": round(entered_s, 1),
        "wall_s": round(time.monotonic() - begin, 1),
        "peak_bytes": peak,
        "page_bytes": (out / "report.html").stat().st_size,
        "found": problems,
    }


def kill(kills: int) -> dict[str, Any]:
    """Run the test that kills a batch at random moments."""
    test = "tests/python/batch/test_batch.py::test_a_batch_killed_at_any_moment_continues_without_losing_results"
    environment = {**os.environ, "WARPLAB_KILLS": str(kills)}
    command = [sys.executable, "-m", "pytest", "-q", test]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    problems = [] if result.returncode == 0 else [{"output": result.stdout[-2000:]}]
    return {"what": f"a batch killed {kills} times", "kills": kills, "found": problems}


def soak(
    submissions: int = 500, with_check_mode: int = 100, whole_labs: int = 50, rows: int = 10_000, kills: int = 100
) -> list[dict[str, Any]]:
    """Run all parts, and return their results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        grade(folder, 2, "--no-check-mode")  # builds the files that all submissions share
        grade(folder, 2)
        return [
            grade(folder, submissions, "--no-check-mode"),
            grade(folder, with_check_mode),
            grade(folder, whole_labs, whole_lab=True),
            grade(folder, 20, "--no-check-mode", jobs=1),
            fill(folder, rows),
            kill(kills),
        ]


if __name__ == "__main__":
    print(json.dumps(soak(*map(int, sys.argv[1:])), indent=2))
