"""Generate the marked blocks in README.md and handouts/*.md.

python3 -m grader.python.docs.tables            writes the blocks that are stale
python3 -m grader.python.docs.tables --check    lists stale blocks and stale results; exits with 1 if there are any

A block is the text between its marker and the next `<!-- end -->`, each alone on its line:

    <!-- table: labs -->             every lab: title, stages, points
    <!-- table: rubric -->           how journals are marked, from handouts/rubric.json
    <!-- table: contract LAB -->     the lab's buffers, from labs/LAB/lab.json
    <!-- table: stages LAB -->       the lab's stages, from the same file
    <!-- table: results LAB -->      the measured times, from handouts/results/*.json (grader/python/docs/results.py)
    <!-- table: expected LAB -->     the reference solutions' times and shares of the bound, by GPU
    <!-- table: rates LAB -->        the measured amounts per second, next to those of source.json (see rates.py)
    <!-- table: counters LAB -->     the sanitizer's counts for the lab's solutions, from handouts/counters.json
    <!-- table: source LAB -->       the figures of labs/LAB/source.json, next to the measured ones
    <!-- table: mistakes LAB -->     wrong submissions and the causes that they get, from tests/labs/LAB/wrong.json
    <!-- table: modelled -->         the errors of modelled times, from grader/judge/predict/COMPARED.md
    <!-- table: kinds -->            the kinds of bugs that an answer to `make bug` can name
    <!-- table: profile LAB STAGE STAGE -->  Nsight Compute's counts of two stages, from tests/cpu/check/compared.json,
                                     and their times, from handouts/results/*.json
    <!-- table: sweep LAB STAGE -->  a stage's times for every choice of its tunables, from handouts/results/*.json
    <!-- help: VERB -->              the output of build/warplab VERB --help; VERB warplab: build/warplab --help

labs/LAB/source.json, schema 1:

    {"schema": 1, "machine": "GTX 480", "iterations": the iterations that were timed,
     "columns": ["Kernel", …] the names of the figures, "ours": [keys of MEASURED_COLUMNS below],
     "rows": [{"stage": …, "dataset": …, "figures": ["0.016 s", …], "scale": 64, "part_of": another dataset}]}

source.json has the figures of the material that the lab comes from. A stage or dataset that the material lacks gets a
row without figures. A row for the material's CPU has words as its stage, such as "CPU, 1 core". If a stage is timed on
a part of the material's dataset, "scale" (default: 1) is the factor from its time to the whole dataset's, and "part_of"
is the lab's dataset that is the whole. If all times are for one of several parts of an iteration, "part" is the name of
this part, and "parts" is the number of parts.

The result of a stage is stale if the stage's solution has changed since it was measured.
"""

from __future__ import annotations

import difflib
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
from grader.python.common.labs import choose_labs, find_labs, read_manifest
from grader.python.common.report import Measurement
from grader.python.common.rubric import read_rubric
from grader.python.common.units import (
    NONE,
    show_bandwidth,
    show_factor,
    show_number,
    show_points,
    show_seconds,
    show_share,
)
from grader.python.docs.code_hash import hash_code
from grader.python.docs.counters import FILE as COUNTERS_FILE
from grader.python.docs.counters import Counters, read_counters
from grader.python.docs.modelled import choose_worst, describe_comparison, read_compared
from grader.python.docs.rates import make_rates
from grader.python.docs.results import Peer, Results, SweepResult, read_results
from grader.python.journal.exercise import KINDS
from grader.python.journal.inspection import COUNTERS
from grader.python.journal.sweep import Point

END = "<!-- end -->"
TYPES = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned", "uint8": "unsigned char"}


@dataclass(frozen=True)
class Sources:
    """The places from which the blocks take their contents."""

    root: Path
    build: Path
    without: Sequence[str] = ()  # labs to omit

    def labs(self) -> list[str]:
        return [lab for lab in find_labs(self.root) if lab not in self.without]

    def manifest(self, lab: str) -> dict[str, Any]:
        """Read labs/LAB/lab.json. Raises UserError."""
        choose_labs(self.root, [lab])
        return read_manifest(self.root, lab)

    def results(self) -> dict[Path, Results]:
        """Read all results files; return them by path from the root. Raises UserError."""
        files = sorted((self.root / "handouts/results").glob("*.json"))
        return {file.relative_to(self.root): read_results(file) for file in files}

    def counters(self) -> Counters:
        """Read handouts/counters.json. Raises UserError."""
        return read_counters(self.root / COUNTERS_FILE)


def make_rubric(sources: Sources) -> list[str]:
    rows = []
    for criterion in read_rubric(sources.root).criteria:
        names = [f"{criterion.name}: {criterion.about}"] + [""] * (len(criterion.levels) - 1)
        rows += [
            [name, show_points(level.points), level.about] for name, level in zip(names, criterion.levels, strict=True)
        ]
    return make_table(["Criterion", "Points>", "If"], rows)


def make_labs(sources: Sources) -> list[str]:
    rows = []
    for lab in sources.labs():
        manifest = sources.manifest(lab)
        points = show_points(manifest["points"])
        rows.append([f"[{lab}](handouts/{lab}.md)", manifest["about"], str(len(manifest["stages"])), points])
    return make_table(["Lab", "Topic", "Stages>", "Points>"], rows)


def make_contract(sources: Sources, lab: str) -> list[str]:
    """Make a row for each buffer of a lab, in the order of its function's arguments."""
    rows = []
    for buffer in sources.manifest(lab)["buffers"]:
        pointer = f"{'const ' if buffer['role'] == 'input' else ''}{TYPES.get(buffer['type'], buffer['type'])}*"
        role = {"inout": "input and output"}.get(buffer["role"], buffer["role"])
        rows.append([f"`{buffer['name']}`", f"`{pointer}`", role, buffer["about"]])
    return make_table(["Buffer", "Type", "Role", "Holds"], rows)


def make_stages(sources: Sources, lab: str) -> list[str]:
    rows = []
    for stage in sources.manifest(lab)["stages"]:
        points = show_points(sum(stage["points"].values()))
        rows.append([f"`{stage['id']}`", stage["title"], stage["idea"], points])
    return make_table(["Stage", "Title", "Idea", "Points>"], rows)


def make_results(sources: Sources, lab: str) -> list[str]:
    """Make a table that compares the GPUs, if there are several. Then make a sentence and a table for each GPU.

    A GPU's table has a row for each stage and dataset, then the libraries. The line below it names the stages that were
    not timed on this GPU.
    """
    manifest = sources.manifest(lab)
    iterations = int(manifest.get("benchmark", {}).get("iterations", 1000))
    gpus = measured_on(sources, lab)
    lines = compare_gpus(gpus, lab, manifest, iterations) if len(gpus) > 1 else []
    for results in gpus:
        rows = []
        for stage in (stage["id"] for stage in manifest["stages"]):
            result = results.stages.get(f"{lab}/{stage}")
            rows += [measured_row(stage, measurement) for measurement in (result.measurements if result else [])]
        rows.sort(key=lambda row: row[1])  # by dataset; stable, so stages stay in order
        rows += [peer_row(peer, iterations) for peer in results.peers.get(lab, [])]
        names = [
            "Stage",
            "Dataset",
            "Time>",
            "GB/s>",
            "Of bound>",
            "1 core>",
            "vs 1 core>",
            "vs all cores>",
            "Limited by",
        ]
        lines += [describe_machine(results, lab, iterations), "", *make_table(names, rows), ""]
        lines += name_untimed(results, lab, manifest)
    return lines[:-1] if lines else ["Not measured yet."]


def name_untimed(results: Results, lab: str, manifest: dict[str, Any]) -> list[str]:
    """Return a line that names the stages without a time on this GPU, and an empty line; nothing if all have a time."""
    ids = (stage["id"] for stage in manifest["stages"])
    untimed = [f"`{stage}`" for stage in ids if f"{lab}/{stage}" not in results.stages]
    return [f"Not timed on this GPU yet: {', '.join(untimed)}.", ""] if untimed else []


def measured_on(sources: Sources, lab: str) -> list[Results]:
    """Return the results of each GPU on which the lab was timed, sorted by the number of timings, most first.

    The timings of libraries count, too.
    """

    def count(results: Results) -> int:
        stages = [stage for name, stage in results.stages.items() if name.startswith(f"{lab}/")]
        return sum(len(stage.measurements) for stage in stages) + len(results.peers.get(lab, []))

    return sorted(filter(count, sources.results().values()), key=count, reverse=True)


def compare_gpus(gpus: list[Results], lab: str, manifest: dict[str, Any], iterations: int) -> list[str]:
    """Make a sentence and a table with a column for each GPU, and a row for each stage and dataset that was timed on at
    least two GPUs."""
    rows = []
    for stage in (stage["id"] for stage in manifest["stages"]):
        times: dict[str, dict[str, float]] = {}
        for results in gpus:
            result = results.stages.get(f"{lab}/{stage}")
            for measured in result.measurements if result else []:
                times.setdefault(measured.dataset, {})[results.gpu] = measured.median_s
        rows += [
            [f"`{stage}`", dataset, *(show_seconds(by_gpu[gpu.gpu]) if gpu.gpu in by_gpu else NONE for gpu in gpus)]
            for dataset, by_gpu in times.items()
            if len(by_gpu) > 1
        ]
    rows.sort(key=lambda row: row[1])
    names = ["Stage", "Dataset", *(f"{results.gpu}>" for results in gpus)]
    return [f"Seconds for {iterations} iterations, kernels only, by GPU:", "", *make_table(names, rows), ""]


def make_expected(sources: Sources, lab: str) -> list[str]:
    """Make a row for each stage and dataset, with each GPU's time and share of its bound."""
    gpus = measured_on(sources, lab)
    rows: dict[tuple[str, str], list[str]] = {}
    for at, results in enumerate(gpus):
        for stage in (stage["id"] for stage in sources.manifest(lab)["stages"]):
            result = results.stages.get(f"{lab}/{stage}")
            for measured in result.measurements if result else []:
                row = rows.setdefault((measured.dataset, stage), [NONE, NONE] * len(gpus))
                row[2 * at : 2 * at + 2] = show_seconds(measured.median_s), show_share(measured.bound_fraction)
    names = ["Stage", "Dataset", *(name for results in gpus for name in (f"{results.gpu}>", "Of bound>"))]
    table = [[f"`{stage}`", dataset, *cells] for (dataset, stage), cells in sorted(rows.items())]
    return make_table(names, table) if rows else ["Not measured yet."]


@dataclass(frozen=True)
class ScaledMeasurement:
    """A measurement, scaled to the iterations of the figures in source.json."""

    measured: Measurement
    share: float  # source.json's iterations divided by the measured ones, times the row's scale
    calls: float  # the number of calls that made the measured iterations
    transfers: float  # for the iterations of source.json; one transfer per call was measured
    before: ScaledMeasurement | None  # the row above, unless a new list of stages begins

    def kernel_s(self) -> float:
        return self.measured.median_s * self.share

    def transfer_s(self) -> float:
        return self.measured.transfer_s * self.transfers / self.calls

    def total_s(self) -> float:
        return self.kernel_s() + self.transfer_s()

    def step(self) -> float | None:
        return self.before.kernel_s() / self.kernel_s() if self.before and self.kernel_s() else None

    def speedup_total(self) -> float | None:
        return self.measured.sequential_s * self.share / self.total_s() if self.total_s() else None

    def gflops(self) -> str:
        rate = self.measured.flops * self.calls / self.measured.median_s if self.measured.median_s else None
        return show_number(rate / 1e9) if rate else NONE


MEASURED_COLUMNS: dict[str, tuple[str, Callable[[ScaledMeasurement], str]]] = {
    "kernel": ("kernels", lambda row: show_seconds(row.kernel_s())),
    "step": ("vs the row above", lambda row: show_factor(row.step())),
    "bound": ("of bound", lambda row: show_share(row.measured.bound_fraction)),
    "transfer": ("transfer", lambda row: show_seconds(row.transfer_s())),
    "total": ("with transfer", lambda row: show_seconds(row.total_s())),
    "sequential": ("1 core", lambda row: show_seconds(row.measured.sequential_s * row.share or None)),
    "speedup": ("vs 1 core", lambda row: show_factor(row.measured.speedup_sequential)),
    "speedup_openmp": ("vs all cores", lambda row: show_factor(row.measured.speedup_openmp)),
    "speedup_total": ("vs 1 core, with transfer", lambda row: show_factor(row.speedup_total())),
    "gflops": ("GFLOP/s", ScaledMeasurement.gflops),
}


def make_source(sources: Sources, lab: str) -> list[str]:
    """Make a row for each row of source.json: its figures, and the measurements on the GPU with the most timings."""
    benchmark = sources.manifest(lab).get("benchmark", {})
    source = read_json(sources.root / "labs" / lab / "source.json")
    gpus = measured_on(sources, lab)[:1]
    names = ["Stage", "Dataset", *(f"{source['machine']}: {name}>" for name in source["columns"])]
    names += [f"{results.gpu}: {MEASURED_COLUMNS[key][0]}>" for results in gpus for key in source["ours"]]
    iterations, per_call = int(source["iterations"]), int(benchmark.get("iterations_per_call", 1))
    per_gpu = [find_measurements(results, lab, source["rows"], iterations, per_call) for results in gpus]
    rows = []
    for number, row in enumerate(source["rows"]):
        figures = row.get("figures") or [NONE] * len(source["columns"])
        cells = [row["stage"] if row["stage"].startswith("CPU") else f"`{row['stage']}`", row["dataset"], *figures]
        for measurements in per_gpu:
            measurement = measurements[number]
            cells += [MEASURED_COLUMNS[key][1](measurement) if measurement else NONE for key in source["ours"]]
        rows.append(cells)
    return make_table(names, rows)


def find_measurements(
    results: Results, lab: str, rows: Sequence[dict[str, Any]], iterations: int, per_call: int
) -> list[ScaledMeasurement | None]:
    """Return the measurement of each row's stage and dataset; None if there is none."""
    measurements: list[ScaledMeasurement | None] = []
    for number, row in enumerate(rows):
        continues_list = number > 0 and rows[number - 1]["stage"] < row["stage"]
        stage = results.stages.get(f"{lab}/{row['stage']}")
        on_dataset = [timed for timed in (stage.measurements if stage else []) if timed.dataset == row["dataset"]]
        measured = on_dataset[0] if on_dataset else None
        if measured is None:
            measurements.append(None)
            continue
        scale = row.get("scale", 1)
        share, calls = scale * iterations / measured.iterations, measured.iterations / per_call
        # A solver that stops early still transfers its data to the GPU and back once.
        transfers = scale * max(1.0, iterations / per_call)
        measurements.append(
            ScaledMeasurement(measured, share, calls, transfers, measurements[-1] if continues_list else None)
        )
    return measurements


# The meanings of the counters whose titles do not explain them.
MEANINGS = {
    "device_bytes": "Bytes requested: 32 for each sector of a request; the minimum counts the bytes that must move.",
    "thread_bytes": "Bytes of threads: bytes that threads load and store, without atomics; the minimum is the same.",
    "device_accesses": "Accesses: loads and stores of single threads.",
    "sectors": "Sectors: the minimum is the number that the same bytes would need if they were contiguous.",
}


def make_counters(sources: Sources, lab: str) -> list[str]:
    """Make a row for each stage: the sanitizer's counts for its solution; those with a limit are bold. The sentences
    before the table explain its columns."""
    rows, dataset = [], ""
    for stage in sources.manifest(lab)["stages"]:
        counted = sources.counters().stages.get(f"{lab}/{stage['id']}")
        if counted is None:
            continue
        dataset = counted.dataset
        limited = {limit["counter"]: limit["at_most"] for limit in stage.get("counters", [])}
        cells = []
        for name, (_, show) in COUNTERS.items():
            value, limit = counted.counters.get(name), limited.get(name)
            text = show(value) if value else NONE
            cells.append(
                text if limit is None else f"**{show(value) if value else 0}**, at most {show(limit) if limit else 0}"
            )
        rows.append([f"`{stage['id']}`", *cells])
    if not rows:
        return ["Not counted yet."]
    names = ["Stage", *(f"{name}>" for name, _ in COUNTERS.values())]
    columns = [number for number in range(len(names)) if any(row[number] != NONE for row in rows)]
    table = make_table([names[number] for number in columns], [[row[number] for number in columns] for row in rows])
    counters = list(COUNTERS)
    meanings = [MEANINGS[counters[number - 1]] for number in columns[1:] if counters[number - 1] in MEANINGS]
    text = f"`make inspect` on dataset {dataset}, for each stage's reference solution."
    return [" ".join([text, "Bold: the stage has a limit for this count.", *meanings]), "", *table]


def make_mistakes(sources: Sources, lab: str) -> list[str]:
    """Make a row for each wrong submission among the lab's tests: its name in words, its cause, the sanitizer's finding
    and a part of the message."""
    rows = []
    for entry in json.loads((sources.root / "tests/labs" / lab / "wrong.json").read_text()):
        number, _, name = Path(entry["file"]).stem.partition("_")
        causes = [entry["cause"]] if isinstance(entry["cause"], str) else entry["cause"]
        finding = f"`{entry['inspect'][0]}`" if "inspect" in entry else NONE
        message = entry["message_contains"] or NONE
        rows.append([number, name.replace("_", " "), " or ".join(f"`{cause}`" for cause in causes), finding, message])
    return make_table(["Stage", "Mistake", "Cause", "Sanitizer's finding", "Part of the message"], rows)


PROFILED = {
    "load_sectors": "Sectors per load request>",
    "store_sectors": "Sectors per store request>",
    "shared_load_passes": "Passes per shared load>",
    "shared_store_passes": "Passes per shared store>",
}


def make_profile(sources: Sources, lab: str, *stages: str) -> list[str]:
    """Make a sentence and a table with a row for each stage: Nsight Compute's counts, and each GPU's time on the first
    dataset that was measured."""
    compared = read_json(sources.root / "tests/cpu/check/compared.json")
    iterations = sources.manifest(lab).get("benchmark", {}).get("iterations", 1000)
    stage_names = [f"{lab}/{stage}" for stage in stages]
    counted = {count["stage"]: count for count in compared["counts"] if count["stage"] in stage_names}
    names = [name for name in PROFILED if any(name in count["per_request"] for count in counted.values())]
    rows = [[f"`{stage}`"] for stage in stages]
    for row, stage in zip(rows, stage_names, strict=True):
        profiled = counted[stage]["per_request"] if stage in counted else {}
        row += [f"{profiled[name][1]:.2f}" if name in profiled else NONE for name in names]
    times = []
    for results in sources.results().values():
        measured = [results.stages[stage].measurements[0] if stage in results.stages else None for stage in stage_names]
        if any(measured):
            dataset = next(measurement.dataset for measurement in measured if measurement)
            times.append(f"Time of {iterations} iterations on {dataset}, {results.gpu}>")
            for row, measurement in zip(rows, measured, strict=True):
                row.append(show_seconds(measurement.median_s) if measurement else NONE)
    datasets = " and ".join(sorted({count["dataset"] for count in counted.values()}))
    about = f"Nsight Compute's counts for dataset {datasets}, on {compared['machine'].partition(',')[0]}."
    return [about, "", *make_table(["Stage", *(PROFILED[name] for name in names), *times], rows)]


def make_modelled(sources: Sources) -> list[str]:
    """Make a sentence and a table for each GPU whose modelled times were compared with measured ones."""
    stages = {f"{lab}/{stage['id']}" for lab in sources.labs() for stage in sources.manifest(lab)["stages"]}
    lines: list[str] = []
    for gpu, compared in read_compared(sources.root).items():
        rows = [
            [
                f"`{row.lab}/{row.stage}`",
                row.dataset,
                f"{row.measured_us:,.0f}",
                f"{row.modelled_us:,.0f}",
                f"{show_factor(row.factor)} too {'slow' if row.ratio > 1 else 'fast'}",
            ]
            for row in choose_worst(compared)
            if f"{row.lab}/{row.stage}" in stages
        ]
        names = ["Stage", "Worst dataset", "Measured, us>", "Modelled, us>", "The model is>"]
        lines += [describe_comparison(gpu, compared), "", *make_table(names, rows), ""]
    return lines[:-1]


def make_kinds() -> list[str]:
    """Make a row for each kind of bug that an answer to `make bug` can name."""
    rows = [[f"`{name}`", kind.about] for name, kind in KINDS.items()]
    return make_table(["Kind", "What happens"], rows)


def make_rates_table(sources: Sources, lab: str) -> list[str]:
    """Make the amounts per second of source.json and of each GPU; see rates.py."""
    per_call = int(sources.manifest(lab).get("benchmark", {}).get("iterations_per_call", 1))
    rates, source = (read_json(sources.root / "labs" / lab / f"{name}.json") for name in ("rates", "source"))
    return make_table(*make_rates(rates, source, lab, per_call, sources.results()))


def make_sweep(sources: Sources, lab: str, stage: str) -> list[str]:
    """Make a sentence and a table for each GPU that swept the stage.

    The table is a grid if every combination was timed, or else a list. Times are relative to the best, which is bold
    and in seconds.
    """
    stages = {stage["id"]: stage for stage in sources.manifest(lab)["stages"]}
    if stage not in stages:
        raise UserError(f"{lab} has no stage '{stage}'. Stages: {', '.join(stages)}.")
    defaults = {tunable["macro"]: tunable["default"] for tunable in stages[stage].get("tunables", [])}
    lines: list[str] = []
    for results in sources.results().values():
        if not (swept := results.sweeps.get(f"{lab}/{stage}")):
            continue
        best = min(point.median_s for point in swept.points if not point.failure)
        combinations = math.prod(len({point.defines[macro] for point in swept.points}) for macro in defaults)
        is_grid = len(defaults) > 1 and len(swept.points) == combinations
        table = make_grid(list(defaults), swept, best) if is_grid else make_list(list(defaults), swept, best)
        lines += [describe_sweep(results, swept, defaults), "", *table, ""]
    return lines[:-1] if lines else ["Not measured yet."]


def describe_sweep(results: Results, swept: SweepResult, defaults: dict[str, int]) -> str:
    """Return the sentence above a sweep's table: the machine, the dataset, and the solution's default choice."""
    choice = next((point.name for point in swept.points if point.defines == defaults), "")
    default_choice = f" The reference solution uses `{choice}`." if choice else ""
    return (
        f"{results.gpu}, {swept.dataset}, revision {swept.revision}: the best time is in seconds for "
        f"{swept.iterations} iterations; the other times are multiples of it.{default_choice}"
    )


def make_grid(macros: Sequence[str], swept: SweepResult, best: float) -> list[str]:
    """Make a column for each value of the last macro and a row for each choice of the others."""
    *down, across = macros
    times = {tuple(point.defines[macro] for macro in macros): show_point(point, best) for point in swept.points}
    columns = sorted({choice[-1] for choice in times})
    names = [f"`{macro}`>" for macro in down] + [f"`{across}` {value}>" for value in columns]
    lines = sorted({choice[:-1] for choice in times})
    return make_table(names, [[*map(str, line), *(times[*line, value] for value in columns)] for line in lines])


def make_list(macros: Sequence[str], swept: SweepResult, best: float) -> list[str]:
    """Make a row for each choice, the fastest first."""
    points = sorted(swept.points, key=lambda point: (bool(point.failure), point.median_s))
    rows = [[*(str(point.defines[macro]) for macro in macros), show_point(point, best)] for point in points]
    return make_table([*(f"`{macro}`>" for macro in macros), "Time>"], rows)


def show_point(point: Point, best: float) -> str:
    """Format a choice's time as a multiple of the best time; format the best time in seconds."""
    if point.failure:
        return NONE
    return f"**{show_seconds(best)}**" if point.median_s == best else show_factor(point.median_s / best)


def describe_machine(results: Results, lab: str, iterations: int) -> str:
    """Return the sentence above a results table."""
    stages = [result for name, result in results.stages.items() if name.startswith(f"{lab}/")]
    revisions = ", ".join(sorted({result.revision for result in stages}))
    day = max((result.time[:10] for result in stages), default="")
    cpu = f"; CPU: {results.cpu}, {results.cpu_cores} cores" if results.cpu else ""
    cuda = f", CUDA {results.cuda}" if results.cuda else ""
    return (
        f"{results.gpu}, driver {results.driver}{cuda}{cpu}; revision {revisions}, {day}. "
        f"Time: seconds for {iterations} iterations, kernels only. "
        "Of bound: memory-bandwidth bound divided by time. "
        "1 core: the CPU's seconds when the stage was timed; compare two stages' \"vs 1 core\" only if these are equal."
    )


def measured_row(stage: str, measurement: Measurement) -> list[str]:
    """Return one measurement's row. Its GB/s are the bytes of the bound divided by the time."""
    share = measurement.bound_fraction
    return [
        f"`{stage}`",
        measurement.dataset,
        show_seconds(measurement.median_s),
        show_bandwidth(share * measurement.bandwidth_bytes_per_s).removesuffix("\N{NO-BREAK SPACE}GB/s"),
        show_share(share),
        show_seconds(measurement.sequential_s or None),
        show_factor(measurement.speedup_sequential),
        show_factor(measurement.speedup_openmp),
        measurement.limit or NONE,
    ]


def peer_row(peer: Peer, iterations: int) -> list[str]:
    """Return a library's row, scaled to the lab's iterations."""
    return [peer.name, peer.dataset, show_seconds(peer.median_s * iterations / peer.iterations), *[NONE] * 6]


def make_help(sources: Sources, verb: str) -> list[str]:
    """Return a verb's help as a code block. Raises UserError if the program is not built or lacks the verb."""
    program = sources.build / "warplab"
    arguments = [] if verb == "warplab" else [verb]
    try:
        result = subprocess.run(
            [str(program.absolute()), *arguments, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise UserError(f"{program} cannot be run, and the documents quote its help. Build it: make program") from None
    if result.returncode != 0:
        raise UserError(f"{program} {verb} --help: {result.stderr.strip() or 'failed'}")
    return ["```text", *(line.rstrip() for line in result.stdout.strip().splitlines()), "```"]


def make_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Make a Markdown table; a name that ends in '>' is a column of numbers."""
    rule = ["--:" if name.endswith(">") else "---" for name in names]
    lines = [[name.removesuffix(">") for name in names], rule, *rows]
    return [f"| {' | '.join(cell.replace('|', '&#124;').replace(chr(10), ' ') for cell in line)} |" for line in lines]


TABLES: dict[str, Callable[[Sources, str], list[str]]] = {
    "contract": make_contract,
    "stages": make_stages,
    "results": make_results,
    "source": make_source,
    "expected": make_expected,
    "rates": make_rates_table,
    "counters": make_counters,
    "mistakes": make_mistakes,
}


def make_block(sources: Sources, marker: str) -> list[str] | None:
    """Return the lines that belong below a marker; None if the line is not a marker. Raises UserError."""
    words = marker.removeprefix("<!--").removesuffix("-->").split()
    if not marker.startswith("<!--") or not marker.endswith("-->") or not words or words[0] not in ("table:", "help:"):
        return None
    if words[0] == "help:" and len(words) == 2:
        return make_help(sources, words[1])
    if words == ["table:", "labs"]:
        return make_labs(sources)
    if words == ["table:", "rubric"]:
        return make_rubric(sources)
    if len(words) == 5 and words[:2] == ["table:", "profile"]:
        return make_profile(sources, *words[2:])
    if words == ["table:", "modelled"]:
        return make_modelled(sources)
    if words == ["table:", "kinds"]:
        return make_kinds()
    if len(words) == 4 and words[:2] == ["table:", "sweep"]:
        return make_sweep(sources, *words[2:])
    if len(words) == 3 and words[0] == "table:" and words[1] in TABLES:
        return TABLES[words[1]](sources, words[2])
    kinds = ", ".join(["labs", "rubric", "modelled", *(f"{kind} LAB" for kind in TABLES), "sweep LAB STAGE"])
    raise UserError(f"'{marker}' is not a block. Blocks are 'table:' with {kinds}, and 'help: VERB'.")


def regenerate(sources: Sources, text: str, file: Path) -> str:
    """Return a document with its blocks regenerated. Raises UserError with file and line."""
    lines = text.split("\n")
    renewed: list[str] = []
    index = 0
    while index < len(lines):
        renewed.append(lines[index])
        try:
            block = make_block(sources, lines[index].strip())
        except UserError as error:
            raise UserError(f"{file}:{index + 1}: {error}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file}:{index + 1}: lab.json lacks a key that this table needs: {error}") from None
        if block is not None:
            renewed += block
            index = find_end(lines, index, file)
            renewed.append(lines[index])
        elif lines[index].strip() == END:
            raise UserError(f"{file}:{index + 1}: '{END}' without a block before it.")
        index += 1
    return "\n".join(renewed)


def find_end(lines: Sequence[str], start: int, file: Path) -> int:
    """Return the index of the line that ends a block. Raises UserError with file and line."""
    for index in range(start + 1, len(lines)):
        text = lines[index].strip()
        if text == END:
            return index
        if text.startswith(("<!-- table:", "<!-- help:")):
            break
    raise UserError(f"{file}:{start + 1}: this block has no '{END}' after it.")


def find_documents(sources: Sources) -> list[Path]:
    """Return README.md, the handouts and the instructor's pages, relative to the root."""
    handouts = sources.root / "handouts"
    documents = [
        sources.root / "README.md",
        *sorted(handouts.glob("*.md")),
        *sorted(handouts.glob("instructor/**/*.md")),
    ]
    return [file.relative_to(sources.root) for file in documents if file.is_file() and file.stem not in sources.without]


def find_stale_results(sources: Sources) -> Iterator[str]:
    """Yield a sentence for each measured or counted stage whose solution has changed or is missing."""
    for name, counted in sources.counters().stages.items():
        solution = sources.root / "solutions" / f"{name}.cu"
        if not solution.is_file() or hash_code(read_text(solution)) != counted.code_hash:
            yield f"{COUNTERS_FILE}: solutions/{name}.cu has changed since it was counted. Count again: make counters"
    for file, results in sources.results().items():
        for name, result in [*results.stages.items(), *results.sweeps.items()]:
            solution = Path("solutions") / f"{name}.cu"
            if not (sources.root / solution).is_file():
                yield f"{file}: {name} was measured, but there is no {solution}."
            elif hash_code(read_text(sources.root / solution)) != result.code_hash:
                yield f"{file}: {solution} was changed since it was measured. Measure again: make results"


def main(arguments: Sequence[str]) -> int:
    """Write or check the blocks. Return 1 if --check finds a stale block, or if results or counts are stale."""
    parser = make_parser("python3 -m grader.python.docs.tables", __doc__, root=True)
    parser.add_argument("--check", action="store_true", help="write nothing; list stale documents and exit with 1")
    parser.add_argument("--build", type=Path, help="where warplab is built (default: build in the project's folder)")
    parser.add_argument("--without", metavar="LAB", action="append", default=[], help="ignore this lab")
    options = parser.parse_args(arguments)
    sources = Sources(options.root, options.build or options.root / "build", options.without)
    stale = list(find_stale_results(sources))
    for sentence in stale:
        say(sentence)
    for file in find_documents(sources):
        text = read_text(sources.root / file)
        renewed = regenerate(sources, text, file)
        if renewed == text:
            continue
        if options.check:
            stale.append(str(file))
            differences = difflib.unified_diff(
                text.splitlines(), renewed.splitlines(), f"{file} (found)", "(generated)"
            )
            say(f"{file}: stale. To regenerate it: make docs", *differences, sep="\n")
        else:
            write_atomically(sources.root / file, renewed)
            say(f"{file}: written")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
