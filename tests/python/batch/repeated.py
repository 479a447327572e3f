"""Grade the reference solutions repeatedly; report differing verdicts and points, and the variation of times.

    python3 -m tests.python.batch.repeated --times 20 --backend cpu --json FILE [--labs L …] [--precise]

`--times` students hand in each lab's solutions, and one batch grades them all. An honest hand-in must get the same
verdict and points each time, must not be implausible, and may be ambiguous at most once in 100 timings. A stage's
spread is computed from the ratios of its time to the reference's, which is timed in alternation: the largest minus the
smallest ratio, divided by their median. Because both are the same program, the true ratio is 1: `missed` counts the
timings whose interval does not contain 1. `--limit-s S` ends the grading after S seconds and keeps the results,
`--with FILE` adds the results of an earlier run, and `--show FILE` prints a file's contents and grades nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.python.batch.store.database import Database

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BUILD") or "build")
LABS = sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))


def hand_in(lab: str, since: str, folder: Path) -> None:
    """Copy the lab's solutions to `folder`, beginning with the stage `since`."""
    shutil.copytree(ROOT / "solutions" / lab, folder)
    for earlier in (file for file in folder.glob("*.cu") if file.stem < since):
        earlier.unlink()


def grade(lab: str, times: int, since: str, folder: Path, options: list[str], end: float) -> list[dict[str, Any]]:
    """Return the reports of one lab's solutions from `since` on, graded `times` times, or as often as possible until
    `end` (s, monotonic clock). Exit if the batch ends with an unexpected result."""
    handed_in, out = folder / f"{lab} handed in", folder / lab
    for number in range(times):
        hand_in(lab, since, handed_in / f"s{number:03}")
    command = [sys.executable, "-m", "grader.python.batch", "grade", handed_in, "--lab", lab, "--out", out]
    command += ["--build", BUILD, *options]
    batch = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=sys.stderr)
    try:
        batch.wait(timeout=None if end == math.inf else end - time.monotonic())
        stopped = False
    except subprocess.TimeoutExpired:
        batch.send_signal(signal.SIGINT)
        batch.wait()
        stopped = True
    if not (out / "batch.sqlite").exists():
        sys.exit(f"{lab}: the batch did not begin.")
    database = Database(out / "batch.sqlite")
    counts = database.counts()
    expected = {"graded", "needs_review"} | ({"missing_stages"} if since else set()) | ({""} if stopped else set())
    if set(counts) - expected or sum(counts.values()) != times:
        sys.exit(f"{lab}: {counts}")
    reports = [json.loads(database.report(row.grade)) for row in database.rows() if row.grade]
    database.close()
    return reports


SAMPLES = ("dataset", "calls_per_sample", "samples_s", "reference_samples_s", "samples_of_rounds", "reference_ratio")


def write_samples(lab: str, reports: list[dict[str, Any]], file: Path) -> None:
    """Append a line for each timing, with its samples."""
    with file.open("a", encoding="utf-8") as lines:
        for number, report in enumerate(reports):
            for stage in report["stages"]:
                place = {"lab": lab, "stage": stage["stage"], "number": number}
                for timed in stage["measurements"]:
                    lines.write(json.dumps(place | {name: timed[name] for name in SAMPLES}) + "\n")


def compare(lab: str, since: str, reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each stage from `since` on: how often each outcome occurred, and the spread of its ratios."""
    stages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for report in reports:
        for stage in report["stages"]:
            stages[stage["stage"]].append(stage)
    return [{"lab": lab, "stage": name} | summarise(graded) for name, graded in stages.items() if name >= since]


def summarise(graded: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one stage's outcomes, and the ratios of each dataset with their intervals."""
    outcomes: dict[str, int] = defaultdict(int)
    ratios: dict[str, list[float]] = defaultdict(list)
    intervals: dict[str, list[list[float]]] = defaultdict(list)
    ambiguous = 0
    for stage in graded:
        cause = (stage.get("error") or {}).get("cause", "")
        outcomes[" ".join([stage["verdict"], f"{stage['score']['total']:.4g}", cause]).strip()] += 1
        for timed in stage["measurements"]:
            ambiguous += timed["ambiguous"]
            if ratio := timed["reference_ratio"]:
                ratios[timed["dataset"]].append(round(ratio["median"], 5))
                intervals[timed["dataset"]].append([round(ratio["low"], 5), round(ratio["high"], 5)])
    return add_figures({"outcomes": outcomes, "ambiguous": ambiguous, "ratios": ratios, "intervals": intervals})


def add_figures(row: dict[str, Any]) -> dict[str, Any]:
    """Add figures that are computed from the row. `spread` and `deviation` are the maxima over all datasets, or None if
    nothing was timed."""
    ratios = row["ratios"].values()
    spreads = [(max(values) - min(values)) / statistics.median(values) for values in ratios]
    deviations = [statistics.pstdev(values) / statistics.median(values) for values in ratios]
    intervals = [interval for dataset_intervals in row["intervals"].values() for interval in dataset_intervals]
    return row | {
        "times": sum(row["outcomes"].values()),
        "timings": sum(map(len, ratios)),
        "spread": max(spreads, default=None),
        "deviation": max(deviations, default=None),
        "missed": sum(not low <= 1 <= high for low, high in intervals),
    }


def merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a stage that combines two runs."""

    def joined(key: str) -> dict[str, Any]:
        return {name: first[key].get(name, []) + second[key].get(name, []) for name in first[key] | second[key]}

    merged = {"outcomes": dict(Counter(first["outcomes"]) + Counter(second["outcomes"]))}
    merged |= {"ambiguous": first["ambiguous"] + second["ambiguous"]}
    return add_figures(first | merged | {"ratios": joined("ratios"), "intervals": joined("intervals")})


def merge_all(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[dict[str, Any]]:
    merged = {(row["lab"], row["stage"]): row for row in rows}
    for row in others:
        place = row["lab"], row["stage"]
        merged[place] = merge(row, merged[place]) if place in merged else row
    return [merged[place] for place in sorted(merged)]


def show(row: dict[str, Any]) -> None:
    spread = "" if row["spread"] is None else f"spread {row['spread']:.2%}, deviation {row['deviation']:.2%}"
    outcomes = "; ".join(f"{count}x {outcome}" for outcome, count in row["outcomes"].items())
    doubt = f", {row['ambiguous']} of {row['timings']} ambiguous" if row["ambiguous"] else ""
    print(f"{row['lab'] + '/' + row['stage']:<44} {outcomes:<22} {spread}{doubt}", flush=True)


def faults(rows: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each result that an honest solution must not have."""
    sentences = [f"{row['lab']}/{row['stage']}: {row['outcomes']}" for row in rows if len(row["outcomes"]) != 1]
    sentences += [
        f"{row['lab']}/{row['stage']} failed"
        for row in rows
        if not all(outcome.startswith("passed") for outcome in row["outcomes"])
    ]
    timings, ambiguous = sum(row["timings"] for row in rows), sum(row["ambiguous"] for row in rows)
    return sentences + ([f"{ambiguous} of {timings} timings are ambiguous"] if ambiguous * 100 > timings else [])


def repeat(
    labs: list[str], times: int, since: str, options: list[str], limit_s: float, samples: Path | None
) -> Iterator[dict[str, Any]]:
    """Grade lab by lab, and yield the results so far, as JSON, after each lab."""
    begin = time.monotonic()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for lab in labs:
            if time.monotonic() > begin + limit_s:
                return
            reports = grade(lab, times, since, Path(folder), options, begin + limit_s)
            if samples:
                write_samples(lab, reports, samples)
            lab_rows = compare(lab, since, reports)
            rows += lab_rows
            for row in lab_rows:
                show(row)
            yield {
                "what": f"reference solutions, graded repeatedly: {' '.join(options)}",
                "wall_s": round(time.monotonic() - begin, 1),
                "stages": rows,
            }


def add_earlier_runs(report: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """Return the report with the results of earlier runs, and the faults in all of them."""
    report = dict(report)
    for file in files:
        earlier = json.loads(file.read_text())
        report["stages"] = merge_all(report["stages"], earlier["stages"])
        report["wall_s"] = round(report["wall_s"] + earlier["wall_s"], 1)
    return report | {"found": faults(report["stages"])}


def print_totals(report: dict[str, Any]) -> int:
    """Print the totals of all stages. Return the exit status: 1 if there are faults."""
    rows = report["stages"]
    timed = [row for row in rows if row["spread"] is not None]
    if timed:
        worst = max(timed, key=lambda row: float(row["spread"]))
        deviations = [row["deviation"] for row in timed]
        known = sum(len(dataset_intervals) for row in rows for dataset_intervals in row["intervals"].values())
        print(f"Largest spread: {worst['spread']:.2%}, of {worst['lab']}/{worst['stage']}")
        print(f"Deviations: {min(deviations):.3%} to {max(deviations):.3%}")
        print(f"{sum(row['timings'] for row in rows)} timings, {sum(row['ambiguous'] for row in rows)} ambiguous")
        print(f"{sum(row['missed'] for row in rows)} of {known} intervals do not contain 1")
    times = sorted({row["times"] for row in rows})
    print(f"{len(rows)} stages, {' or '.join(map(str, times))} times each, in {report['wall_s']} s")
    print("\n".join(report["found"]) or "Same verdict and points each time.")
    return 1 if report["found"] else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--labs", nargs="+", default=LABS, choices=LABS, metavar="LAB")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precise", action="store_true")
    parser.add_argument("--since", default="", metavar="STAGE", help="the first stage of each lab")
    parser.add_argument("--upto", default="", metavar="STAGE", help="the last stage of each lab")
    parser.add_argument("--no-check-mode", action="store_true")
    parser.add_argument("--limit-s", type=float, default=math.inf)
    parser.add_argument("--with", dest="earlier", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--samples", type=Path, metavar="FILE", help="also write each timing's samples, a line each")
    parser.add_argument("--show", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.show:
        report = json.loads(options.show.read_text())
        for row in report["stages"]:
            show(row)
        return print_totals(report)
    more = ["--backend", options.backend, "--no-nvcc", *(["--precise"] if options.precise else [])]
    more += ["--upto", options.upto] if options.upto else []
    more += ["--no-check-mode"] * options.no_check_mode
    for part in repeat(options.labs, options.times, options.since, more, options.limit_s, options.samples):
        report = add_earlier_runs(part, options.earlier)
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    return print_totals(report)


if __name__ == "__main__":
    sys.exit(main())
