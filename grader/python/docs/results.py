"""Make handouts/results/<gpu>.json from reports of the reference solutions: the figures that the documents show.

build/warplab grade --tree solutions --unscored --precise    on a machine with the GPU, then
python3 -m grader.python.docs.results build/report/*.json [--sweeps build/sweep/*.json] [--peers PEERS.json]

A results file, schema 1:

    {"schema": 1, "gpu": the GPU's name, "driver": …, "cuda": …, "cpu": …, "cpu_cores": …,
     "stages": {"<lab>/<stage>": {"code_hash": of solutions/<lab>/<stage>.cu (code_hash.py),
                                  "revision": version of the grader, "time": ISO 8601 in UTC,
                                  "measurements": [as in the report]}},
     "sweeps": {"<lab>/<stage>": {"code_hash", "revision", "time": as of a stage,
                                  "dataset": …, "iterations": 1000, "points": [as in the sweep]}},
     "peers": {"<lab>": [{"name": "cublasSdot", "dataset": …, "median_s": …, "iterations": 1000}]}}

New measurements of stages, sweeps and peers replace the old ones; other entries of a file for the same GPU and driver
stay. PEERS.json contains the value of "peers".
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
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
from grader.python.common.documents import SCHEMA, from_json, read_document
from grader.python.common.report import Measurement, Report, read_report
from grader.python.docs.code_hash import hash_code
from grader.python.journal.sweep import Point, Sweep, read_sweep


@dataclass
class StageResult:
    """The measurements of one stage's solution, and the hash of the measured code."""

    code_hash: str = ""
    revision: str = ""
    time: str = ""
    measurements: list[Measurement] = field(default_factory=list)


@dataclass
class SweepResult:
    """The times of a stage's solution with every choice of its tunables, and the hash of the measured code."""

    code_hash: str = ""
    revision: str = ""
    time: str = ""
    dataset: str = ""
    iterations: int = 1000
    points: list[Point] = field(default_factory=list)


@dataclass
class Peer:
    """A library's time for comparison, in seconds for `iterations` iterations on one dataset."""

    name: str = ""
    dataset: str = ""
    median_s: float = 0
    iterations: int = 1000


@dataclass
class Results:
    """All measurements on one GPU."""

    schema: int = SCHEMA
    gpu: str = ""
    driver: str = ""
    cuda: str = ""
    cpu: str = ""
    cpu_cores: int = 0
    stages: dict[str, StageResult] = field(default_factory=dict)
    sweeps: dict[str, SweepResult] = field(default_factory=dict)
    peers: dict[str, list[Peer]] = field(default_factory=dict)


def read_results(file: Path) -> Results:
    """Read a results file. Raises UserError with the file's name and the place in it."""
    results: Results = read_document(
        Results, file, "a results file", "To regenerate it, see grader/python/docs/results.py."
    )
    return results


def read_peers(file: Path) -> dict[str, list[Peer]]:
    """Read a file that contains the `peers` of a results file. Raises UserError with the file's name and the place in
    it."""
    try:
        peers: dict[str, list[Peer]] = from_json(dict[str, list[Peer]], read_json(file), "")
        if any(peer.median_s <= 0 or peer.iterations <= 0 or not peer.name for lab in peers.values() for peer in lab):
            raise TypeError("every peer has a name, median_s above 0 and iterations above 0.")
    except TypeError as error:
        raise UserError(f"{file}: {error}") from None
    return peers


def require_solutions(file: Path, measured: Report | Sweep) -> None:
    """Raise UserError unless the times are those of reference solutions on a GPU."""
    gpu = measured.machine.gpu if isinstance(measured, Report) else measured.gpu
    if measured.backend != "cuda" or not gpu:
        raise UserError(f"{file}: measured without a GPU (backend {measured.backend}); results need a GPU.")
    if measured.tree != "solutions":
        tree = measured.tree or "an unknown tree"
        raise UserError(f"{file}: these are the times of {tree}, not of solutions. Measure with TREE=solutions.")


def find_code(name: str, source_hash: str) -> str:
    """Return the hash of a solution's code. Raises UserError if the solution is not the file that was measured."""
    solution = Path("solutions") / f"{name}.cu"
    text = read_text(solution)
    if hashlib.sha256(text.encode()).hexdigest() != source_hash:
        raise UserError(f"{solution} was changed since it was measured. Measure it again.")
    return hash_code(text)


def set_machine(results: Results, file: Path, gpu: str, driver: str) -> None:
    """Record the GPU and its driver. Raises UserError if the results belong to a different GPU or driver."""
    if results.gpu and (results.gpu, results.driver) != (gpu, driver):
        raise UserError(
            f"{file}: measured on {gpu} with driver {driver}, the others on {results.gpu} with driver "
            f"{results.driver}. A results file belongs to one machine: pass only its reports, or delete the old file."
        )
    results.gpu, results.driver = gpu, driver


def add_report(results: Results, report: Report, file: Path, revision: str | None) -> list[str]:
    """Add a report's measurements and return the added stages. Raises UserError if the report is unsuitable."""
    require_solutions(file, report)
    machine = report.machine
    set_machine(results, file, machine.gpu, machine.driver)
    results.cuda, results.cpu, results.cpu_cores = machine.cuda, machine.cpu, machine.cpu_cores
    stages = []
    for stage in report.stages:
        if stage.verdict != "passed":
            raise UserError(f"{file}: {report.lab}/{stage.stage} is {stage.verdict}; only passed stages have results.")
        if stage.measurements:
            stages.append(f"{report.lab}/{stage.stage}")
            results.stages[stages[-1]] = StageResult(
                find_code(stages[-1], stage.source_hash), revision or report.warplab, report.time, stage.measurements
            )
    return stages


def add_sweep(results: Results, sweep: Sweep, file: Path, revision: str | None) -> str:
    """Add a sweep and return its name for the message. Raises UserError if the sweep is unsuitable."""
    require_solutions(file, sweep)
    set_machine(results, file, sweep.gpu, sweep.driver)
    if not sweep.timed:
        raise UserError(f"{file}: the sweep timed none of the choices, so there is nothing to keep.")
    name = f"{sweep.lab}/{sweep.stage}"
    results.sweeps[name] = SweepResult(
        find_code(name, sweep.source_hash),
        revision or sweep.warplab,
        sweep.time,
        sweep.dataset,
        sweep.iterations,
        sweep.points,
    )
    return f"sweep of {name}"


def name_file(gpu: str) -> str:
    """Return the file's name for a GPU: nvidia-h200.json."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-") + ".json"


def show_results(results: Results) -> str:
    """Return the file's text. Stages, sweeps and peers are sorted, and a list of numbers or a sweep's point takes one
    line, so that a new measurement gives a small diff."""
    content: dict[str, Any] = asdict(results)
    for kind in ("stages", "sweeps", "peers"):
        content[kind] = dict(sorted(content[kind].items()))
    text = json.dumps(content, indent=1, ensure_ascii=False)
    text = re.sub(r"\[\s*([-+.\deE,\s]+?)\s*\]", lambda numbers: f"[{' '.join(numbers[1].split())}]", text)
    point = r'\{\s*"defines": \{[^{}]*\},[^{}]*\}'
    return re.sub(point, lambda match: " ".join(match[0].split()).replace("{ ", "{").replace(" }", "}"), text) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the results file. If a report or a sweep is unsuitable, nothing is written and the exit status is 2."""
    parser = make_parser("python3 -m grader.python.docs.results", __doc__)
    parser.add_argument("reports", nargs="*", type=Path, metavar="REPORT", help="reports of TREE=solutions on one GPU")
    parser.add_argument("--sweeps", nargs="+", type=Path, default=[], metavar="SWEEP", help="sweeps of TREE=solutions")
    parser.add_argument("--revision", help="the git revision, if the reports come from outside a git checkout")
    parser.add_argument("--peers", type=Path, help="times of libraries, for comparison")
    parser.add_argument("--folder", type=Path, default=Path("handouts/results"), help="the folder of the results")
    options = parser.parse_args(arguments)
    reports = [(file, read_report(file)) for file in options.reports]
    sweeps = [(file, read_sweep(file)) for file in options.sweeps]
    if not reports and not sweeps:
        raise UserError("There is no report and no sweep. Make some on a machine with a GPU: make grade TREE=solutions")
    output: Path = options.folder / name_file(reports[0][1].machine.gpu if reports else sweeps[0][1].gpu)
    results = read_results(output) if output.exists() else Results()
    added = [stage for file, report in reports for stage in add_report(results, report, file, options.revision)]
    added += [add_sweep(results, sweep, file, options.revision) for file, sweep in sweeps]
    if not added:
        raise UserError("None of the reports has a measurement; nothing was written.")
    if options.peers:
        results.peers |= read_peers(options.peers)
    write_atomically(output, show_results(results))
    say(f"{output}: {', '.join(added)}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
