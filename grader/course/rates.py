"""The table of a lab's rates: what its source measured for a part of a call, and what each GPU of ours did, in amounts
per second. What it shows comes from labs/LAB/rates.json, schema 1, and from handouts/results/*.json:

    {"schema": 1, "part": "histogram", "parts": how many a call makes, "dataset": which measurement is shown,
     "multiprocessors": {GPU: how many}, "amounts": [{"name", "unit": "GB/s" or "G/s", "each": bytes or pieces a part,
     "times_split": whether every block of a part moves it}],
     "source": {"machine", "rows": [{"name", "us": microseconds a part, "figures": one per amount, and a working set}]},
     "stages": [{"stage", "split": blocks per part, "blocks_per_multiprocessor", "busy_bytes": of a part, that the
     cache has to keep}]}

A working set is what the parts that are being made at a time keep busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.course.results import Results
from grader.journal.units import NONE, show_factor, show_number

Row = list[str]


def make_rates(
    rates: Mapping[str, Any], lab: str, per_call: int, gpus: Mapping[Path, Results]
) -> tuple[Row, list[Row]]:
    """Names of the columns ('>' at the end of those of numbers) and rows: the source's, then each GPU's."""
    amounts = rates["amounts"]
    names = ["Machine", "Stage", f"Per {rates['part']}>", "vs the row above>"]
    names += [f"{amount['name']}>" for amount in amounts] + ["Working set>"]
    source = rates["source"]
    times = [(row["name"], row["us"] * 1e-6, row.get("figures")) for row in source["rows"]]
    rows = make_rows(source["machine"], times, len(amounts) + 1)
    for results in gpus.values():
        rows += make_rows(results.gpu, find_times(rates, lab, per_call, results), len(amounts) + 1)
    return names, rows


def make_rows(machine: str, times: Sequence[tuple[str, float, Row | None]], figures: int) -> list[Row]:
    """A line for each (name, seconds, figures), with how many times faster it is than the one before."""
    rows = []
    before = 0.0
    for name, seconds, shown in times:
        rows.append([machine, name, microseconds(seconds), show_factor(before / seconds), *(shown or [NONE] * figures)])
        before = seconds
    return rows


def find_times(
    rates: Mapping[str, Any], lab: str, per_call: int, results: Results
) -> list[tuple[str, float, Row | None]]:
    """(stage, seconds a part, figures) of every stage that was measured on this GPU."""
    found: list[tuple[str, float, Row | None]] = []
    for one in rates["stages"]:
        stage = results.stages.get(f"{lab}/{one['stage']}")
        for measured in stage.measurements if stage else []:
            if measured.dataset == rates["dataset"]:
                seconds = measured.median_s / measured.iterations * per_call / rates["parts"]
                found.append((f"`{one['stage']}`", seconds, show_figures(rates, one, seconds, results.gpu)))
    return found


def show_figures(rates: Mapping[str, Any], stage: Mapping[str, Any], seconds: float, gpu: str) -> Row:
    """Amounts per second, and the working set where the GPU's multiprocessors are known."""
    shown = []
    for amount in rates["amounts"]:
        times = stage["split"] if amount.get("times_split") else 1
        shown.append(f"{show_number(amount['each'] * times / seconds / 1e9)}\N{NO-BREAK SPACE}{amount['unit']}")
    multiprocessors = rates["multiprocessors"].get(gpu)
    if not multiprocessors:
        return [*shown, NONE]
    at_a_time = multiprocessors * stage["blocks_per_multiprocessor"] / stage["split"]
    return [*shown, f"{show_number(at_a_time * stage['busy_bytes'] / 1e6)}\N{NO-BREAK SPACE}MB"]


def microseconds(seconds: float) -> str:
    """12.3 us."""
    return f"{show_number(seconds * 1e6)}\N{NO-BREAK SPACE}us"
