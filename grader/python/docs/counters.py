"""Make handouts/counters.json: the sanitizer's counts for every reference solution, for the handouts' tables.

python3 -m grader.python.docs.counters [--build build] [LAB …]    runs build/warplab inspect on each; needs no GPU

The file, schema 1 (counter_limit in grader/model/schema/lab.schema.json describes the counters):

    {"schema": 1, "stages": {"<lab>/<stage>": {"code_hash": <hash of the solution>, "dataset": …,
                                               "counters": {"device_bytes": 1.05, …}}}}

All stages of a lab are counted on one dataset: the one that the lab's limits name, or else the largest. New counts of a
stage replace the old ones. Stages that no longer exist are removed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grader.python.common.console import (
    UserError,
    make_parser,
    read_json,
    read_text,
    run_command,
    say,
    write_atomically,
)
from grader.python.common.documents import SCHEMA, read_document
from grader.python.common.labs import choose_labs, read_manifest
from grader.python.docs.code_hash import hash_code

FILE = Path("handouts/counters.json")


@dataclass
class StageCounters:
    """The counters of one stage's reference solution, and the hash of the counted code."""

    code_hash: str = ""
    dataset: str = ""
    counters: dict[str, float] = field(default_factory=dict)


@dataclass
class Counters:
    """The content of handouts/counters.json."""

    schema: int = SCHEMA
    stages: dict[str, StageCounters] = field(default_factory=dict)


def read_counters(file: Path) -> Counters:
    """Read the file; without a file, return empty counters. Raises UserError with the file's name and the place in
    it."""
    if not file.exists():
        return Counters()
    counters: Counters = read_document(Counters, file, "a list of counters", "To regenerate it: make counters")
    return counters


def inspect(root: Path, build: Path, lab: str, stage: str) -> dict[str, Any]:
    """Return the full JSON of `warplab inspect` on a reference solution. Raises UserError if the solution does not
    pass."""
    solution = root / "solutions" / lab / f"{stage}.cu"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [build / "warplab", "inspect", lab, stage, "--source", solution, "--json", report, "--build", build]
        result = subprocess.run([*map(str, command)], cwd=root, capture_output=True, text=True, errors="replace")
        if result.returncode != 0 or not report.exists():
            raise UserError(f"{solution} does not pass make inspect:\n{result.stdout}{result.stderr}")
        content: dict[str, Any] = read_json(report)
    return content


def choose_dataset(manifest: dict[str, Any], counted: Sequence[dict[str, Any]]) -> str:
    """Return the dataset of the lab's first limit, or else the dataset that has to move the most bytes."""
    limits = [limit for stage in manifest["stages"] for limit in stage.get("counters", [])]
    if limits:
        return str(limits[0]["dataset"])
    return str(max(counted, key=lambda counter: counter["least_bytes"])["dataset"])


def count_lab(root: Path, build: Path, lab: str) -> dict[str, StageCounters]:
    """Count all stages of a lab; return them by <lab>/<stage>."""
    manifest = read_manifest(root, lab)
    counts = {}
    for stage in (stage["id"] for stage in manifest["stages"]):
        say(f"{lab}/{stage}", flush=True)
        counted = {counter["dataset"]: counter for counter in inspect(root, build, lab, stage)["counters"]}
        dataset = choose_dataset(manifest, list(counted.values()))
        solution = read_text(root / "solutions" / lab / f"{stage}.cu")
        values = {
            name: round(value, 4) for name, value in counted[dataset].items() if name not in ("dataset", "least_bytes")
        }
        counts[f"{lab}/{stage}"] = StageCounters(hash_code(solution), dataset, values)
    return counts


def main(arguments: Sequence[str]) -> int:
    """Count the labs and write the file. If a solution cannot be counted, nothing is written and the exit status is
    2."""
    parser = make_parser("python3 -m grader.python.docs.counters", __doc__, root=True)
    parser.add_argument("labs", nargs="*", metavar="LAB", help="these only (default: all)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="where warplab is built")
    options = parser.parse_args(arguments)
    file = options.root / FILE
    counters = read_counters(file)
    for lab in choose_labs(options.root, options.labs):
        other_labs = {name: stage for name, stage in counters.stages.items() if not name.startswith(f"{lab}/")}
        counters.stages = other_labs | count_lab(options.root.absolute(), options.build.absolute(), lab)
    counters.stages = dict(sorted(counters.stages.items()))
    write_atomically(file, json.dumps(asdict(counters), indent=1) + "\n")
    say(f"{file}: written")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
