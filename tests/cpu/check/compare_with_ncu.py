"""Compare Nsight Compute's counts with those of `make inspect`, for reference solutions of every lab.

    python3 tests/cpu/check/compare_with_ncu.py --json FILE     (needs a GPU, ncu, nvcc and build/warplab)

Each stage runs on a small public dataset, once under ncu and once under the sanitizer. The JSON has both results for
each kernel: requests and sectors of device memory by loads, stores and atomics, and passes over the banks of shared
memory. Only ratios are comparable: ncu counts the first launches, the sanitizer the first blocks. Standard library
only.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / (os.environ.get("BUILD") or "build")

STAGES = [
    ("vector_add", "01_one_thread_per_element", "readable"),
    ("vector_add", "02_grid_stride", "readable"),
    ("vector_add", "03_vector_loads", "readable"),
    ("dot_product", "01_serial_block_sum", "extremes"),
    ("dot_product", "02_dyadic_interleaved", "extremes"),
    ("dot_product", "03_dyadic_sequential", "extremes"),
    ("dot_product", "05_warp_shuffle", "extremes"),
    ("smoothing_filter", "01_naive", "own_weights"),
    ("smoothing_filter", "02_constant_filter", "own_weights"),
    ("smoothing_filter", "04_tile_parallel", "own_weights"),
    ("smoothing_filter", "07_rows_ahead", "own_weights"),
    ("image_histogram", "01_global_atomics", "odd_blocks"),
    ("image_histogram", "03_shared_bins", "odd_blocks"),
    ("image_histogram", "05_private_bins", "odd_blocks"),
    ("heat_dissipation", "02_merged_mirror", "blocks"),
    ("heat_dissipation", "06_batched_checks", "blocks"),
    ("large_histogram", "03_four_reads", "counts"),
    ("large_histogram", "05_centered", "counts"),
    ("saturating_histogram", "04_shared_bins", "whole_steps"),
    ("saturating_histogram", "10_coalesced_partials", "whole_steps"),
    ("saturating_histogram", "11_packed_reads", "whole_steps"),
]

OPERATIONS = ["ld", "st", "red", "atom"]
METRICS = [
    *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in OPERATIONS),
    *(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"smsp__sass_inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")),
    "smsp__sass_inst_executed_op_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
]
MAX_S = 60  # one stage under ncu, or `warplab prepare`
MAX_INSPECT_S = 300  # one stage under the sanitizer; the first one also compiles the headers


def find_ncu() -> str:
    path = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if not path:
        sys.exit("ncu is neither on the PATH nor in /usr/local/cuda/bin. It comes with the CUDA Toolkit.")
    return path


def known_metrics(ncu: str) -> list[str]:
    """Return the METRICS that this GPU supports; all of them if ncu lists none."""
    output = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, check=False).stdout
    names = {line.split()[0] for line in output.splitlines() if line.strip()}
    supported = [metric for metric in METRICS if metric.rsplit(".", 1)[0] in names]
    return supported or METRICS


def run(command: list[object], limit_s: float) -> tuple[int, str]:
    try:
        result = subprocess.run(
            [*map(str, command)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        return 124, (expired.stdout or b"").decode(errors="replace")
    return result.returncode, result.stdout.decode(errors="replace")


def base_name(kernel: str) -> str:
    """Return the name without types and arguments: `sum_kernel` for `void sum_kernel<256>(int *)` and
    `sum_kernel<256>`."""
    return re.sub(r"^void ", "", kernel).split("<")[0].split("(")[0].split("::")[-1].strip()


def read_csv(output: str) -> dict[str, dict[str, float]]:
    """Return, for each kernel, the number of launches and the sum of each metric."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if first is None:
        return {}
    kernels: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(line for line in lines[first:] if line.startswith('"')):
        if not row["ID"]:  # the units
            continue
        sums = kernels.setdefault(base_name(row["Kernel Name"]), {"launches": 0})
        sums["launches"] += 1
        for metric in METRICS:
            text = (row.get(metric) or "").replace(",", "")
            if re.fullmatch(r"[0-9.]+(e[+-]?\d+)?", text):
                sums[metric] = sums.get(metric, 0) + float(text)
    return kernels


def count_with_ncu(lab: str, stage: str, dataset: str, metrics: list[str]) -> dict:
    command = [BUILD / "warplab", "profile", lab, stage, "--tree", "solutions", "--dataset", dataset]
    status, output = run([*command, "--metrics", ",".join(metrics)], MAX_S)
    kernels = read_csv(output)
    return {"status": status, "kernels": kernels, **({} if kernels else {"output": output[-3000:]})}


def count_with_sanitizer(lab: str, stage: str, dataset: str, folder: Path) -> dict:
    report = folder / f"{lab}-{stage}.json"
    command = [BUILD / "warplab", "inspect", lab, stage, "--tree", "solutions", "--dataset", dataset, "--json", report]
    status, output = run(command, MAX_INSPECT_S)
    if not report.exists():
        return {"status": status, "kernels": {}, "output": output[-3000:]}
    kernels: dict[str, dict[str, int]] = {}
    for line in json.loads(report.read_text())["counts"]:
        add_line(kernels.setdefault(base_name(line["kernel"]), {}), line)
    return {"status": status, "kernels": kernels}


def add_line(sums: dict[str, int], line: dict) -> None:
    def add(operation: str, counts: dict[str, int]) -> None:
        for name, number in counts.items():
            key = f"{line['memory']}_{operation}_{name}"
            sums[key] = sums.get(key, 0) + number

    names = ["requests", "sectors"] if line["memory"] == "device" else ["requests", "bank_passes"]
    if line["atomic"]:
        return add("atomic", {name: line[name] for name in [*names, "same_address"]})
    add("store", {name: line[f"store_{name}"] for name in names})
    add("load", {name: line[name] - line[f"store_{name}"] for name in names})
    return None


def ratio(counts: dict, denominators: list[str], numerators: list[str]) -> float | None:
    below, above = (sum(counts.get(name, 0) for name in names) for names in (denominators, numerators))
    return round(above / below, 4) if below else None


def compare(warplab: dict, ncu: dict) -> dict[str, list[float | None]]:
    """Return the cost of one request, by kind of request: [Warplab's, ncu's]."""

    def sectors(*operations: str) -> float | None:
        names = [
            [f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for op in operations]
            for what in ("requests", "sectors")
        ]
        return ratio(ncu, *names)

    def passes(operation: str) -> float | None:
        instructions = [f"smsp__{kind}inst_executed_op_shared_{operation}.sum" for kind in ("sass_", "")]
        known = next((name for name in instructions if name in ncu), instructions[0])
        return ratio(ncu, [known], [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum"])

    return {
        "load_sectors": [ratio(warplab, ["device_load_requests"], ["device_load_sectors"]), sectors("ld")],
        "store_sectors": [ratio(warplab, ["device_store_requests"], ["device_store_sectors"]), sectors("st")],
        "atomic_sectors": [
            ratio(warplab, ["device_atomic_requests"], ["device_atomic_sectors"]),
            sectors("red", "atom"),
        ],
        "shared_load_passes": [ratio(warplab, ["shared_load_requests"], ["shared_load_bank_passes"]), passes("ld")],
        "shared_store_passes": [ratio(warplab, ["shared_store_requests"], ["shared_store_bank_passes"]), passes("st")],
    }


def read_ncu_counts(report: Path) -> dict[tuple[str, str, str], dict]:
    """Return ncu's counts from the JSON of an earlier run, by stage."""
    return {
        (row["lab"], row["stage"], row["dataset"]): {
            "kernels": {kernel["kernel"]: kernel["ncu"] for kernel in row["kernels"]}
        }
        for row in json.loads(report.read_text())["stages"]
    }


def measure(entry: tuple[str, str, str], from_ncu: dict, folder: Path) -> dict:
    lab, stage, dataset = entry
    counted = count_with_sanitizer(lab, stage, dataset, folder)
    kernels = [
        {"kernel": name, "ours": counts, "ncu": from_ncu["kernels"].get(name, {}),
         "per_request": compare(counts, from_ncu["kernels"].get(name, {}))}
        for name, counts in counted["kernels"].items()
    ]  # fmt: skip
    problems = [result["output"] for result in (from_ncu, counted) if "output" in result]
    return {"lab": lab, "stage": stage, "dataset": dataset, "kernels": kernels, "problems": problems}


def print_stage(row: dict) -> None:
    for kernel in row["kernels"]:
        print(f"{row['lab']}/{row['stage']} {kernel['kernel']} on {row['dataset']}")
        for request, (warplab, ncu) in kernel["per_request"].items():
            if warplab is not None or ncu is not None:
                print(f"    {request:<22} ours {warplab!s:<10} ncu {ncu!s:<10} {'' if warplab == ncu else '*'}")
    for problem in row["problems"]:
        print(f"{row['lab']}/{row['stage']}: no counts\n{problem[-600:]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--ncu", type=Path, help="read ncu's counts from the JSON of an earlier run, without a GPU")
    parser.add_argument("--only", default="", help="only stages whose LAB/STAGE contains this text")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--limit-s", type=float, default=100, help="start no stage after this number of seconds")
    options = parser.parse_args()
    begin = time.monotonic()
    run([BUILD / "warplab", "prepare"], MAX_S)
    earlier = read_ncu_counts(options.ncu) if options.ncu else {}
    metrics = [] if earlier else known_metrics(find_ncu())
    stages = [entry for entry in STAGES if options.only in "/".join(entry)]

    def count(entry: tuple[str, str, str]) -> dict:
        if time.monotonic() > begin + options.limit_s and not earlier:
            return {"kernels": {}, "output": "not run: the time limit was reached"}
        return earlier.get(entry, {"kernels": {}}) if earlier else count_with_ncu(*entry, metrics)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as pool:
        rows = list(pool.map(lambda entry: measure(entry, count(entry), Path(folder)), stages))
    for row in rows:
        print_stage(row)
    wall_s = round(time.monotonic() - begin, 1)
    report = {"schema": 1, "metrics": metrics, "wall_s": wall_s, "stages": rows}
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{len(rows)} stages in {wall_s} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
