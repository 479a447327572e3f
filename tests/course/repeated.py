"""Grades the reference solutions again and again: are verdict and points always the same, and how much do times vary?

    python3 -m tests.course.repeated --times 20 --backend cpu --json FILE [--labs L …] [--sample-seconds S]

Each lab's solutions are handed in by so many students and graded as one batch. An honest hand-in must get the same
verdict and points each time, must not be called implausible, and may be ambiguous at most once in 100 timings. The
spread of a stage is that of the ratio of its time to the reference's, timed beside it: the largest less the smallest,
over their median.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from grader.course.batch.database import Database

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or "build")
LABS = sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))


def grade(lab: str, times: int, folder: Path, options: list[str]) -> list[dict[str, Any]]:
    """The reports of one lab's solutions, graded so many times. Exits when the batch does not end well."""
    handed_in, out = folder / f"{lab} handed in", folder / lab
    for number in range(times):
        shutil.copytree(ROOT / "solutions" / lab, handed_in / f"s{number:03}")
    command = [sys.executable, "-m", "grader.course.batch", "grade", handed_in, "--lab", lab, "--out", out]
    command += ["--build", BUILD, *options]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    database = Database(out / "batch.sqlite")
    counts = database.counts()
    if set(counts) - {"graded", "needs_review"} or sum(counts.values()) != times:
        sys.exit(f"{lab}: {counts}\n{(done.stdout + done.stderr)[-4000:]}")
    reports = [json.loads(database.report(row.grade)) for row in database.rows() if row.grade]
    database.close()
    return reports


def compare(lab: str, reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each stage: its outcomes, how many each, and how its ratios spread."""
    stages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for report in reports:
        for stage in report["stages"]:
            stages[stage["stage"]].append(stage)
    return [{"lab": lab, "stage": name} | summarise(graded) for name, graded in stages.items()]


def summarise(graded: list[dict[str, Any]]) -> dict[str, Any]:
    """One stage's outcomes; `spread` is of the dataset that spreads most, None where nothing was timed."""
    outcomes: dict[str, int] = defaultdict(int)
    ratios: dict[str, list[float]] = defaultdict(list)
    ambiguous = 0
    for stage in graded:
        cause = (stage.get("error") or {}).get("cause", "")
        outcomes[" ".join([stage["verdict"], f"{stage['score']['total']:.4g}", cause]).strip()] += 1
        for timed in stage["measurements"]:
            ambiguous += timed["ambiguous"]
            if timed["reference_ratio"]:
                ratios[timed["dataset"]].append(timed["reference_ratio"]["median"])
    spreads = [(max(values) - min(values)) / statistics.median(values) for values in ratios.values()]
    deviations = [statistics.pstdev(values) / statistics.median(values) for values in ratios.values()]
    return {
        "times": len(graded),
        "outcomes": dict(outcomes),
        "timings": sum(map(len, ratios.values())),
        "ambiguous": ambiguous,
        "spread": max(spreads, default=None),
        "deviation": max(deviations, default=None),
        "ratios": {name: [round(value, 5) for value in values] for name, values in ratios.items()},
    }


def show(row: dict[str, Any]) -> None:
    spread = "" if row["spread"] is None else f"spread {row['spread']:.2%}, deviation {row['deviation']:.2%}"
    same = "; ".join(f"{count}x {outcome}" for outcome, count in row["outcomes"].items())
    doubt = f", {row['ambiguous']} of {row['timings']} ambiguous" if row["ambiguous"] else ""
    print(f"{row['lab'] + '/' + row['stage']:<44} {same:<22} {spread}{doubt}", flush=True)


def faults(rows: list[dict[str, Any]]) -> list[str]:
    """What should not be."""
    found = [f"{row['lab']}/{row['stage']}: {row['outcomes']}" for row in rows if len(row["outcomes"]) != 1]
    found += [
        f"{row['lab']}/{row['stage']} failed" for row in rows if not all(o[:6] == "passed" for o in row["outcomes"])
    ]
    timings, ambiguous = sum(row["timings"] for row in rows), sum(row["ambiguous"] for row in rows)
    return found + ([f"{ambiguous} of {timings} timings are ambiguous"] if ambiguous * 100 > timings else [])


def repeat(labs: list[str], times: int, options: list[str]) -> dict[str, Any]:
    """All of it, as JSON."""
    begin = time.monotonic()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for lab in labs:
            of_lab = compare(lab, grade(lab, times, Path(folder), options))
            rows += of_lab
            for row in of_lab:
                show(row)
    return {
        "what": f"reference solutions graded {times} times: {' '.join(options)}",
        "wall_s": round(time.monotonic() - begin, 1),
        "stages": rows,
        "found": faults(rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--labs", nargs="*", default=LABS, choices=LABS, metavar="LAB")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--sample-seconds", default="1")
    parser.add_argument("--upto", default="", metavar="STAGE", help="the last stage of each lab")
    parser.add_argument("--no-check-mode", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    more = ["--backend", options.backend, "--sample-seconds", options.sample_seconds, "--no-nvcc"]
    more += ["--upto", options.upto] if options.upto else []
    report = repeat(options.labs, options.times, more + ["--no-check-mode"] * options.no_check_mode)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    timed = [row for row in report["stages"] if row["spread"] is not None]
    if timed:
        worst = max(timed, key=lambda row: float(row["spread"]))
        print(f"Largest spread: {worst['spread']:.2%}, of {worst['lab']}/{worst['stage']}")
    print(f"{len(report['stages'])} stages, {options.times} times each, in {report['wall_s']} s")
    print("\n".join(report["found"]) or "Same verdict and points each time.")
    return 1 if report["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
