"""Generated lab journals for tests, with records in the format of build/warplab, one per line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.python import samples

Json = dict[str, Any]
LAB = "dot"
STAGES = {"01_serial": "Serial sum", "02_tree": "Tree", "03_shuffle": "Shuffles"}
SOURCE = """// Adds up.
__global__ void sum_kernel(const int* a, int* out) {{
    int sum = {0};
    *out = sum + a[0];
}}
"""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def time(minute: int) -> str:
    return f"2026-11-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00Z"


def make_record(kind: str, minute: int, stage: str, **content: Any) -> Json:
    return {"schema": 1, "kind": kind, "time": time(minute), "lab": LAB, "stage": stage} | content


def source(minute: int, stage: str, text: str) -> Json:
    return make_record("source", minute, stage, hash=sha(text), file=f"{stage}.cu", text=text)


def report(
    minute: int, stage: str, text: str, median_s: float | None = None, verdict: str = "passed", **changes: Any
) -> Json:
    """Return the record of a stage's check or, with a time, of its bench; `changes` override keys of the record."""
    stage_report = samples.stage(stage, STAGES.get(stage, stage), source_hash=sha(text), verdict=verdict)
    if median_s is not None:
        stage_report["measurements"] = [samples.measurement(median_s)]
    if verdict == "failed":
        stage_report["checks"][1] = samples.check(
            "ragged", verdict="failed", failure={"cause": "tail_lost", "message": "The tail is lost."}
        )
    verb = "check" if median_s is None else "bench"
    content = samples.report(lab=LAB, verb=verb, time=time(minute), stages=[stage_report])
    return make_record("report", minute, stage, verb=verb, source_hash=sha(text), report=content) | changes


def change_machine(record: Json, backend: str = "cuda", **machine: str) -> Json:
    """Return the record with another machine or backend."""
    content = record["report"] | {"backend": backend, "machine": record["report"]["machine"] | machine}
    return record | {"report": content}


def sweep(minute: int, stage: str, text: str) -> Json:
    points = [
        {"defines": {"BLOCK": block}, "median_s": time_s, "low_s": time_s, "high_s": time_s, "failure": ""}
        for block, time_s in ((128, 0.07), (256, 0.05), (512, 0.06))
    ]
    content = {"schema": 1, "lab": LAB, "stage": stage, "backend": "cuda", "dataset": "bench_2_24", "points": points}
    machine = samples.report()["machine"]
    return make_record("sweep", minute, stage, source_hash=sha(text), backend="cuda", machine=machine, sweep=content)


def inspection(minute: int, stage: str, text: str, **counters: float) -> Json:
    counted = {"dataset": "ragged", "least_bytes": 4096, "device_bytes": 15.4, "sectors": 5.1} | counters
    content = {"schema": 1, "lab": LAB, "stage": stage, "datasets": 1, "passed": True, "counters": [counted]}
    return make_record("inspection", minute, stage, source_hash=sha(text), inspection=content)


def write_course(root: Path, records: Sequence[Json | str], **notes: str) -> Path:
    """Write a course with the lab and its journal, and return the journal's folder. Notes are by stage."""
    manifest = {
        "title": "Dot product",
        "stages": [{"id": stage, "title": title} for stage, title in STAGES.items()],
        "buffers": [{"name": "a", "role": "input"}, {"name": "out", "role": "output"}],
        "benchmark": {"iterations": 1000, "iterations_per_call": 1},
    }
    (root / "labs" / LAB).mkdir(parents=True)
    (root / "labs" / LAB / "lab.json").write_text(json.dumps(manifest))
    folder = root / "work" / LAB / "journal"
    folder.mkdir(parents=True)
    if records:
        texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
        (folder / "records.jsonl").write_text("\n".join(texts) + "\n")
    for stage, text in notes.items():
        (folder / f"{stage}.md").write_text(text)
    return folder


def complete_journal() -> list[Json]:
    """Return the records of a journal with failures, a discarded version, a sweep, counters, a second machine and the
    CPU backend."""
    first, second, third = (SOURCE.format(value) for value in ("a[1]", "a[2] * 2", "__shfl_down_sync(~0u, a[3], 1)"))
    given_up = SOURCE.format("a[4]")
    bench = report(31, "02_tree", second, 0.0614)
    return [
        source(1, "01_serial", first),
        report(1, "01_serial", first, verdict="failed"),
        report(2, "01_serial", first + " ", verdict="passed"),
        source(3, "01_serial", first),
        report(3, "01_serial", first, 0.1312),
        report(4, "01_serial", first, 0.1315),
        inspection(5, "01_serial", first),
        source(20, "02_tree", given_up),
        report(20, "02_tree", given_up, 0.0883),
        source(30, "02_tree", second),
        report(30, "02_tree", second),
        bench,
        inspection(32, "02_tree", second, device_bytes=1.25),
        sweep(33, "02_tree", second),
        change_machine(bench, gpu="NVIDIA T4", host="batch-1") | {"imported_from": "report.json"},
        change_machine(report(34, "02_tree", second, 7.5), backend="cpu", gpu="", host="laptop"),
        source(40, "03_shuffle", third),
        report(40, "03_shuffle", third, verdict="failed"),
    ]
