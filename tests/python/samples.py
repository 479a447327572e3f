"""Generated reports for tests; together they contain everything that a report's page shows."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]
STAGES = [
    ("01_serial_block_sum", "Serial sum per block", 0.1312, "one thread adds up a whole block"),
    ("02_dyadic_interleaved", "Dyadic sum, neighbours first", 0.0883, "divergent warps and barriers"),
    ("03_dyadic_sequential", "Dyadic sum, halves", 0.0614, "barriers"),
    ("04_dyadic_cpu_tail", "Kernel by kernel, the rest on the CPU", 0.0702, "the wait for the last copy"),
    ("05_warp_shuffle", "Registers and shuffles", 0.0309, "device memory"),
]

KINDS = ("correctness", "hygiene", "speed")
COMPILES = {"answer": "compiles", "log": ""}  # nvcc's answer


def measurement(median_s: float = 0.0783, limit: str = "device memory", **changes: Any) -> Json:
    """Return a measurement of one dataset, with ten samples that differ slightly."""
    noise = random.Random(median_s)
    samples = [median_s * noise.gauss(1, 0.003) for _ in range(10)]
    conditions = [
        {"sm_clock_mhz": 1980, "temperature_c": 51, "throttle": "", "copy_bytes_per_s": 4.25e12} for _ in samples
    ]
    conditions[7] |= {"sm_clock_mhz": 1845, "throttle": "power cap"}
    return {
        "dataset": "bench_2_24",
        "iterations": 1000,
        "calls_per_sample": 1000,
        "cut": False,
        "samples_s": samples,
        "reference_samples_s": [sample / 1.031 for sample in samples],
        "samples_of_rounds": [len(samples)],
        "conditions": conditions,
        "median_s": median_s,
        "reference_s": median_s / 1.031,
        "reference_ratio": {"median": 1.031, "low": 1.027, "high": 1.036},
        "previous_ratio": None,
        "ended_by": "ratio_known",
        "ambiguous": False,
        "scored": True,
        "sequential_s": 9.81,
        "openmp_s": 1.72,
        "openmp_threads": 16,
        "speedup_sequential": 9.81 / median_s if median_s else 0,
        "speedup_openmp": 1.72 / median_s if median_s else 0,
        "transfer_s": 4.9,
        "floor_s": 0.0266,
        "bound_s": 0.0296,
        "bound_fraction": 0.0296 / median_s if median_s else 0,
        "floor_bytes": 134217728,
        "bound_bytes": 134217728,
        "flops": 33554432,
        "bandwidth_bytes_per_s": 4.536e12,
        "limit": limit,
        "caveats": [],
    } | changes


def score(**changes: Any) -> Json:
    """Return a score with nearly all speed points; hygiene is pending."""
    points = {
        "correctness": 6,
        "hygiene": 0,
        "speed": 1.83,
        "correctness_max": 6,
        "correctness_pending": False,
        "correctness_why": "",
        "hygiene_max": 2,
        "speed_max": 2,
        "hygiene_pending": True,
        "speed_pending": False,
        "hygiene_why": "the sanitizer was skipped",
        "speed_why": "",
        "speed_modelled": False,
    } | changes
    return points | {"total": sum(points[kind] for kind in KINDS), "max": sum(points[f"{kind}_max"] for kind in KINDS)}


def check(dataset: str, **changes: Any) -> Json:
    """Return the check of a dataset that passed."""
    return {
        "dataset": dataset,
        "hidden": False,
        "points": 1,
        "verdict": "passed",
        "skipped": False,
        "skipped_why": "",
        "failure": None,
        "wall_s": 0.0123,
        "empty": False,
        "blocked_by": "",
    } | changes


def finding(**changes: Any) -> Json:
    """Return a finding of the sanitizer at one line."""
    return {
        "cause": "race",
        "note": False,
        "kernel": "partial_sum_kernel",
        "line": 17,
        "text": "sums[i] += sums[i + s];",
        "other_line": 12,
        "other_text": "sums[i] = a[i] * b[i];",
        "count": 384,
        "buffer": "",
        "message": "Race on element 2 of the shared variable sums.",
        "hint": "A __syncthreads() belongs between the two lines.",
    } | changes


def stage(name: str, title: str, **changes: Any) -> Json:
    """Return a stage that passed on every dataset and was not timed."""
    return {
        "stage": name,
        "title": title,
        "source": f"work/dot/{name}.cu",
        "source_hash": "5f2a" * 16,
        "verdict": "passed",
        "compilation": {
            "verdict": "passed",
            "failure": None,
            "log": "",
            "wall_s": 0.8,
            "cached": False,
            "nvcc": COMPILES,
        },
        "checks": [check("one"), check("ragged"), check("secret", hidden=True, points=2)],
        "check_mode": None,
        "measurements": [],
        "modelled_time": None,
        "phases": [],
        "error": None,
        "score": score(),
        "output": "",
        "notes": [],
    } | changes


def refused_stage(name: str, title: str) -> Json:
    """Return a stage that only the CPU backend refused, so all its points are pending."""
    failure = {"cause": "refused_feature", "message": "Line 2: Thrust cannot run on the CPU backend.", "hint": ""}
    compilation = {"verdict": "failed", "failure": failure, "log": "", "wall_s": 0.1, "cached": False, "nvcc": COMPILES}
    points = dict.fromkeys(KINDS, 0) | {f"{kind}_pending": True for kind in KINDS}
    why = "grading on a GPU decides, because the CPU backend refuses the file"
    pending = score(**points, correctness_why=why, hygiene_why="", speed_why="")
    return stage(name, title, verdict="failed", compilation=compilation, checks=[], score=pending)


def report(**changes: Any) -> Json:
    """Return a report of one lab on a GPU, with four timed stages and a failed one."""
    stages = [stage(name, title, measurements=[measurement(time, limit)]) for name, title, time, limit in STAGES]
    place = {"buffer": "out", "index": 0, "expected": "-1839201", "actual": "-1839188"}
    failure = {
        "cause": "tail_lost",
        "message": "The last 31 of 100031 products are missing from out[0].",
        "hint": "How many blocks does n = 100031 need? n / BLOCK rounds down.",
        "place": place,
    }
    stages[2] |= {
        "verdict": "failed",
        "checks": [
            check("one"),
            check("ragged", verdict="failed", failure=failure),
            check("huge", skipped=True, skipped_why="needs 3 GB, and 2 GB are free", points=0),
        ],
        "check_mode": {
            "verdict": "failed",
            "remark": "",
            "datasets": 1,
            "wall_s": 0.4,
            "findings": [finding(), finding(note=True, message="A note that costs no points.")],
        },
        "measurements": [],
        "score": score(correctness=2, speed=0),
        "output": "block 0 sums 4711\nblock 1 sums 815\n",
        "notes": ["The file has Windows line endings; they do no harm."],
    }
    stages[0]["measurements"][0] |= {
        "cut": True,
        "calls_per_sample": 130,
        "ambiguous": True,
        "scored": True,
        "caveats": [
            "A sample was cut to 130 of 1000 calls; its time is scaled up.",
            "The interval stayed wider than 1%: ambiguous.",
        ],
    }
    content = {
        "schema": 1,
        "verb": "grade",
        "lab": "dot",
        "backend": "cuda",
        "sandbox": "namespace",
        "sandbox_remark": "",
        "tree": "work",
        "time": "2026-11-21T04:05:06Z",
        "warplab": "0.1 (af92a6f)",
        "machine": {
            "host": "lab-7",
            "cpu": "AMD EPYC 9654",
            "cpu_cores": 16,
            "gpu": "NVIDIA H200",
            "driver": "570.86.15",
            "cuda": "13.0",
            "compiler": "nvcc 13.0.48",
            "os": "Debian 12",
        },
        "stages": stages,
    } | changes
    verdicts = [entry["verdict"] for entry in stages]
    verdict = next((name for name in ("failed", "error") if name in verdicts), "passed")
    return {"verdict": verdict, "total": total(content["stages"])} | content


def total(stages: list[Json]) -> Json:
    """Return the total points of all stages, as grader/model adds them up."""
    scores = [entry["score"] for entry in stages if entry.get("score")]
    return {
        "points": sum(entry["total"] for entry in scores),
        "max": sum(entry["max"] for entry in scores),
        "pending": sum(entry[f"{kind}_max"] for entry in scores for kind in KINDS if entry[f"{kind}_pending"]),
        "without_score": len(stages) - len(scores),
    }


def cpu_report() -> Json:
    """Return a report without a GPU, with a stage that does not compile and a stage that could not be judged."""
    broken = stage(
        "02_grid_stride", "Grid-stride loop", verdict="failed", checks=[], score=score(correctness=0, speed=0)
    )
    broken["compilation"] = {
        "verdict": "failed",
        "failure": {
            "cause": "compile_error",
            "message": "work/add/02_grid_stride.cu:17: expected ';' before '}' token",
            "hint": "",
            "place": None,
        },
        "cached": False,
        "nvcc": {"answer": "not_found", "log": ""},
        "log": "02_grid_stride.cu:17:42: error: expected ';' before '}' token\n"
        "   17 |     for (size_t i = first; i < n; i += step) out[i] = a[i] + b[i]\n"
        "      |                                                                  ^\n"
        "      |                                                                  ;\n",
        "wall_s": 0.4,
    }
    lost = stage("03_vector_loads", "128-bit loads", verdict="error", checks=[], score=None)
    lost["error"] = {
        "cause": "sandbox",
        "message": "The sandbox could not be started: bwrap is not installed.",
        "hint": "Type  make setup-demo,  or ask who runs this machine. This costs no points.",
        "place": None,
    }
    pending = score(speed=0, speed_pending=True, speed_why="needs a GPU")
    stages = [stage("01_one_thread_per_element", "One thread per element", score=pending), broken, lost]
    machine: Json = dict.fromkeys(("host", "os", "cpu", "gpu", "driver", "cuda", "compiler"), "")
    machine |= {"cpu": "Intel Core i5-8250U", "cpu_cores": 4, "compiler": "g++ 12.2"}
    return report(lab="add", backend="cpu", stages=stages, machine=machine)
