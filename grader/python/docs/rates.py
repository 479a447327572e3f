"""The table of a lab's rates: amounts per second during a part of a call, as the material that the lab comes from
gives them and as measured on each GPU. It is made from handouts/results/*.json and labs/LAB/rates.json, schema 1:

    {"schema": 1, "dataset": the dataset whose measurement is shown, "multiprocessors": {GPU: their number},
     "amounts": [{"name", "unit": "GB/s" or "G/s", "each": bytes or pieces per part,
     "times_split": whether every block of a part moves it}],
     "stages": [{"stage", "split": blocks per part, "blocks_per_multiprocessor", "busy_bytes": bytes of a part that the
     cache has to keep}]}

It also needs labs/LAB/source.json (see tables.py): a row's first figure is microseconds per part ("53 us"). Then come
one figure for each amount, and the working set: the bytes that all parts in progress keep busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.python.common.units import NONE, show_factor, show_number
from grader.python.docs.results import Results

Row = list[str]


def make_rates(
    rates: Mapping[str, Any], source: Mapping[str, Any], lab: str, per_call: int, gpus: Mapping[Path, Results]
) -> tuple[Row, list[Row]]:
    """Return the column names ('>' at the end marks numbers) and the rows: those of source.json, then each GPU's."""
    amounts = rates["amounts"]
    names = ["Machine", "Stage", f"Per {source['part']}>", "vs the row above>"]
    names += [f"{amount['name']}>" for amount in amounts] + ["Working set>"]
    times = [(row["stage"], float(row["figures"][0].split()[0]) * 1e-6, row["figures"][1:]) for row in source["rows"]]
    rows = make_rows(source["machine"], times)
    for results in gpus.values():
        rows += make_rows(results.gpu, find_times(rates, lab, per_call / source["parts"], results))
    return names, rows


def make_rows(machine: str, times: Sequence[tuple[str, float, Row]]) -> list[Row]:
    """Return a row for each (name, seconds, figures), with the speedup over the row above."""
    rows = []
    before = 0.0
    for name, seconds, figures in times:
        rows.append([machine, name, microseconds(seconds), show_factor(before / seconds), *figures])
        before = seconds
    return rows


def find_times(rates: Mapping[str, Any], lab: str, iterations: float, results: Results) -> list[tuple[str, float, Row]]:
    """Return (stage, seconds per part, figures) of every stage measured on this GPU. `iterations`: those of
    one part."""
    times: list[tuple[str, float, Row]] = []
    for rate in rates["stages"]:
        stage = results.stages.get(f"{lab}/{rate['stage']}")
        for measured in stage.measurements if stage else []:
            if measured.dataset == rates["dataset"]:
                seconds = measured.median_s / measured.iterations * iterations
                times.append((f"`{rate['stage']}`", seconds, show_figures(rates, rate, seconds, results.gpu)))
    return times


def show_figures(rates: Mapping[str, Any], stage: Mapping[str, Any], seconds: float, gpu: str) -> Row:
    """Return the amounts per second, and the working set if the GPU's number of multiprocessors is known."""
    cells = []
    for amount in rates["amounts"]:
        times = stage["split"] if amount.get("times_split") else 1
        cells.append(f"{show_number(amount['each'] * times / seconds / 1e9)}\N{NO-BREAK SPACE}{amount['unit']}")
    multiprocessors = rates["multiprocessors"].get(gpu)
    if not multiprocessors:
        return [*cells, NONE]
    at_a_time = multiprocessors * stage["blocks_per_multiprocessor"] / stage["split"]
    return [*cells, f"{show_number(at_a_time * stage['busy_bytes'] / 1e6)}\N{NO-BREAK SPACE}MB"]


def microseconds(seconds: float) -> str:
    """Format seconds as microseconds: 12.3 us."""
    return f"{show_number(seconds * 1e6)}\N{NO-BREAK SPACE}us"
