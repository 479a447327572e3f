"""Compare compute-sanitizer's results for the corpus, on a GPU, with the expectations of its rows.

    python3 -m tests.corpus.compare_with_sanitizer --json FILE     (needs a GPU and build/warplab)
    python3 -m tests.corpus.compare_with_sanitizer --show FILE     prints the table of a file

Each submission runs under memcheck, racecheck, initcheck and synccheck. A submission with a seeded bug runs on the
first small dataset on which the CPU backend's sanitizer finds the bug, all others on the lab's first dataset. If FILE
exists, only the rows without complete answers run. `on_gpu.json` is such a file. Standard library and pytest only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus.test_corpus import CORPUS, ROWS, Outcome, is_found, run_warplab
from tests.cpu.check.compare_with_sanitizer import TOOLS, find_program, is_complete, sanitize, version
from tests.labs.conftest import ROOT


def small_datasets(lab: str) -> list[str]:
    recipes = json.loads((ROOT / "datasets" / lab / "public.json").read_text())["datasets"]
    return [recipe["name"] for recipe in recipes if "check" in recipe["uses"] and "cuda-only" not in recipe["uses"]]


def dataset_that_shows(row: dict, report: Path) -> str:
    """Return the first small dataset on which the CPU backend's sanitizer finds the bug; otherwise the lab's first."""
    lab, stage = row["stage"].split("/")
    datasets = small_datasets(lab)
    for name in datasets if row["expect"] == "finding" else []:
        options = ["--source", CORPUS / row["file"], "--dataset", name, "--no-nvcc", "--json", report]
        report.unlink(missing_ok=True)
        run_warplab("inspect", lab, stage, *options)
        if report.exists():
            inspection = json.loads(report.read_text())
            if is_found(row, Outcome(passed=inspection["passed"], findings=inspection["findings"])):
                return name
    return datasets[0]


def judge(row: dict, folder: Path, end: float) -> dict:
    """Return the tools' answers for a row; `not run` after the time limit."""
    begin = time.monotonic()
    lab, stage = row["stage"].split("/")
    dataset = dataset_that_shows(row, folder / row["file"].replace("/", "-")) if begin < end else ""
    tools = sanitize(lab, stage, CORPUS / row["file"], dataset, end - time.monotonic())
    return {"file": row["file"], "dataset": dataset, "seconds": round(time.monotonic() - begin, 1), "tools": tools}


def points_at(row: dict, tools: dict) -> bool:
    """Return whether a tool names one of the lines of the seeded bug."""
    lines = set(row.get("lines", []))
    return any(answer["verdict"] == "findings" and lines & set(answer["lines"]) for answer in tools.values())


def show(answers: list[dict]) -> None:
    """Print for each kind how many rows ran, were clean, or were found at their line. Then print the correct rows for
    which a tool reported an error."""
    rows = {row["file"]: row for row in ROWS}
    kinds: dict[str, Counter] = defaultdict(Counter)
    for finished in answers:
        row, tools = rows[finished["file"]], finished["tools"]
        verdicts = {answer["verdict"] for answer in tools.values()}
        kind = row.get("kind", row["expect"])
        counts = kinds[kind]
        counts["rows"] += 1
        counts["ran"] += is_complete(finished)
        counts["clean"] += verdicts == {"clean"}
        counts["at a line"] += points_at(row, tools)
        if row["expect"] == "accept" and "findings" in verdicts:
            findings = {tool: answer["lines"] for tool, answer in tools.items() if answer["verdict"] == "findings"}
            print(f"correct, but with findings: {finished['file']}: {findings}")
    for kind, counts in sorted(kinds.items()):
        print(f"{kind:<22}" + "".join(f"{name} {counts[name]:<6}" for name in ("rows", "ran", "clean", "at a line")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit-s", type=float, default=3600, help="start no run after this number of seconds")
    options = parser.parse_args()
    if options.show:
        show(json.loads(options.show.read_text())["rows"])
        return 0
    end = time.monotonic() + options.limit_s
    known = json.loads(options.json.read_text())["rows"] if options.json.exists() else []
    answered = [answer for answer in known if is_complete(answer)]
    finished = {answer["file"] for answer in answered}
    rows = [row for row in ROWS if row["expect"] != "refuse" and row["file"] not in finished]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as pool:
        answers = answered + list(pool.map(lambda row: judge(row, Path(folder), end), rows))
    answers.sort(key=lambda answer: answer["file"])
    gpu = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    name = subprocess.run(gpu, capture_output=True, text=True, check=False).stdout.strip()
    report = {"gpu": name, "tool": version(find_program("compute-sanitizer")), "tools": list(TOOLS), "rows": answers}
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    show(answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
