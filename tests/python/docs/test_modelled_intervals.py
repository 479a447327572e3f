"""Compare modelled times and their intervals with the committed timings of the H200 and the H100.

Each solution of an earlier stage of a lab serves as a slow submission for a later stage. COMPARED.md has modelled and
measured times of both, so the test needs neither a GPU nor the model. To print the figures, type python3 -m
tests.python.docs.test_modelled_intervals.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from grader.python.docs.modelled import FILE, choose_worst, describe_comparison, read_compared
from tests.python.support import ROOT

PREDICT = ROOT / "grader/judge/predict"
GPUS = ["h200", "h100"]
# Constants of grader/model/score.cpp: ratios to the reference's time, and a share of the speed points.
FULL_POINTS_RATIO, CLEAR_STEP_RATIO, NO_POINTS_RATIO, DECIDED_SHARE = 1.2, 1.4, 4.8, 0.1

Times = dict[int, tuple[float, float]]  # measured and modelled, by stage


def read_times(gpu: str) -> dict[tuple[str, str], Times]:
    """Return the times on a GPU by lab and dataset."""
    times: dict[tuple[str, str], Times] = defaultdict(dict)
    for row in read_compared(ROOT)[gpu]:
        times[row.lab, row.dataset][int(row.stage[:2])] = (row.measured_us, row.modelled_us)
    return times


def times_on(gpu: str) -> dict[tuple[str, str], Times]:
    """Return the times on a GPU that has a file of constants ("h100")."""
    return read_times(json.loads((PREDICT / f"gpus/{gpu}.json").read_text())["name"])


def speed_share(ratio: float, previous: float | None) -> float:
    """Return the share of the speed points for a time. `ratio` is this time, and `previous` the time of the previous
    stage's solution, both divided by the time of the stage's solution."""
    no_points = previous if previous and previous >= CLEAR_STEP_RATIO else NO_POINTS_RATIO
    return min(1.0, max(0.0, math.log(no_points / ratio) / math.log(no_points / FULL_POINTS_RATIO)))


def interval(ratio: float, gpu: dict[str, Any]) -> tuple[float, float]:
    """Return the interval of a modelled ratio."""
    spread = min(gpu["ratio_spread"]["most"], gpu["ratio_spread"]["least"] * max(ratio, 1 / ratio))
    return ratio / spread, ratio * spread


def shares_between(low: float, high: float, previous: tuple[float, float] | None) -> tuple[float, float]:
    """Return the smallest and the largest share of the speed points for a ratio between `low` and `high`. `previous` is
    the interval of the ratio of the previous stage's solution."""
    marks = [previous[0], sorted((*previous, CLEAR_STEP_RATIO))[1], previous[1]] if previous else [None]
    return min(speed_share(high, mark) for mark in marks), max(speed_share(low, mark) for mark in marks)


def figures(name: str, outside: list[str] | None = None) -> dict[str, float]:
    """Return the figures of a GPU ("h100") in the table of grader/judge/predict/README.md, as fractions. Add to
    `outside` the pairs whose points are outside their range."""
    gpu = json.loads((PREDICT / f"gpus/{name}.json").read_text())
    within, in_points, decided, equal = [], [], [], []
    factors = []
    for (lab, dataset), times in read_times(gpu["name"]).items():
        factors += [max(measured / modelled, modelled / measured) for measured, modelled in times.values()]
        for slow, fast in combinations(sorted(times), 2):
            measured, ratio = (times[slow][i] / times[fast][i] for i in (0, 1))
            before = times.get(max((stage for stage in times if stage < fast), default=0))  # none before the first
            previous = [before[i] / times[fast][i] for i in (0, 1)] if before else None
            shortest, longest = interval(ratio, gpu)
            within.append(shortest <= measured <= longest)
            earned = speed_share(measured, previous[0] if previous else None)
            low, high = shares_between(shortest, longest, interval(previous[1], gpu) if previous else None)
            in_points.append(low - 0.005 <= earned <= high + 0.005)
            if outside is not None and not in_points[-1]:
                outside.append(f"{lab}/{slow:02} handed in as {fast:02}, {dataset}")
            decided.append(high - low <= DECIDED_SHARE)
            if decided[-1]:
                equal.append(abs(high - earned) <= DECIDED_SHARE)
    count = len(within)
    return {
        "times": sum(factor <= gpu["spread"] for factor in factors) / len(factors),
        "ratios": sum(within) / count,
        "points": sum(in_points) / count,
        "decided": sum(decided) / count,
        "equal": sum(equal) / len(equal),
    }


@pytest.mark.parametrize("gpu", GPUS)
def test_intervals_contain_the_measured_times(gpu: str) -> None:
    shares_found = figures(gpu)
    assert 0.85 <= shares_found["times"] <= 0.95
    assert shares_found["ratios"] >= 0.95 and shares_found["points"] >= 0.975 and shares_found["equal"] >= 0.9


def rank_correlation(pairs: list[tuple[float, float]]) -> float:
    """Return Spearman's correlation of the ranks. Equal values have the same rank."""
    first, second = ({value: rank for rank, value in enumerate(sorted(values))} for values in zip(*pairs, strict=True))
    count = len(pairs)
    return 1 - 6 * sum((first[a] - second[b]) ** 2 for a, b in pairs) / (count * (count**2 - 1))


@pytest.mark.parametrize("gpu", GPUS)
def test_modelled_times_reach_the_goals_for_their_errors(gpu: str) -> None:
    pairs = [pair for times in times_on(gpu).values() for pair in times.values()]
    factors = [max(measured / modelled, modelled / measured) for measured, modelled in pairs]
    assert rank_correlation(pairs) >= 0.98
    assert statistics.median(factors) <= 1.15 and max(factors) <= 2.5
    assert sum(factor <= 1.5 for factor in factors) >= 0.9 * len(factors)


def compare_neighbours(gpu: str) -> tuple[int, list[str]]:
    """Return the number of neighbouring stages whose times clearly differ, and those that are in the wrong order."""
    compared, wrong = 0, []
    for (lab, dataset), times in times_on(gpu).items():
        for before, after in pairwise(sorted(times)):
            measured, modelled = (times[before][i] / times[after][i] for i in (0, 1))
            if max(measured, 1 / measured) > 1.2:
                compared += 1
                if (measured > 1) != (modelled > 1):
                    wrong.append(f"{lab}/{before:02} and {after:02}, {dataset}")
    return compared, wrong


@pytest.mark.parametrize("gpu", GPUS)
def test_neighbouring_stages_with_clearly_different_times_are_in_the_right_order(gpu: str) -> None:
    compared, wrong = compare_neighbours(gpu)
    assert compared > 40
    assert len(wrong) <= 1, wrong  # the model's page names it


PAGE = """# Title
## NVIDIA A
| all | 3 | 0.98 | 1.25 | 2.03 | 5.64 |
| vector_add/01_one | timed_1 | 10.00 | 20.00 | 2.00 |
| vector_add/01_one | timed_2 | 10.00 | 40.00 | 4.00 |
| dot/02_two | timed_1 | 90.00 | 10.00 | 0.11 |
| dot/03_three | timed_1 | 10.00 | 11.00 | 1.10 |
## NVIDIA B
| dot/02_two | timed_1 | 1.00 | 1.00 | 1.00 |
"""


def test_the_comparison_is_read_for_each_gpu_and_sorted_from_the_worst_stage(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.parent.mkdir(parents=True)
    file.write_text(PAGE)
    compared = read_compared(tmp_path)
    assert [len(rows) for rows in compared.values()] == [4, 1] and list(compared) == ["NVIDIA A", "NVIDIA B"]
    rows = compared["NVIDIA A"]
    assert [(row.stage, row.dataset) for row in choose_worst(rows)] == [("02_two", "timed_1"), ("01_one", "timed_2")]
    output = describe_comparison("NVIDIA A", rows)
    assert "for 25% of 4 timings" in output and "factor of 1.5 of the measured one" in output
    assert (
        "for 50% within a factor of 2" in output
        and "the worst 9.00. The mean absolute error is 125%. Of the 3" in output
    )
    assert "1 are too short" in output


def test_the_handout_shows_a_picture_for_each_gpu() -> None:
    chapter = (ROOT / "handouts/modelled_time.md").read_text()
    pictures = {file.name for file in (ROOT / "handouts/pictures").glob("modelled_times_*.svg")}
    assert len(pictures) == len(read_compared(ROOT)) and all(f"(pictures/{name})" in chapter for name in pictures)


@pytest.mark.parametrize("gpu", GPUS)
def test_the_models_page_contains_the_computed_figures(gpu: str) -> None:
    assert row_of(gpu) in (PREDICT / "README.md").read_text()


def row_of(gpu: str) -> str:
    shares_found = figures(gpu)
    digits = {"times": 0, "ratios": 0, "points": 1, "decided": 0, "equal": 0}
    shares = [f"{shares_found[name]:.{count}%}" for name, count in digits.items()]
    return f"| {gpu.upper()} | {' | '.join(shares)} |"


if __name__ == "__main__":
    for gpu in GPUS:
        print(row_of(gpu))
        figures(gpu, outside := [])
        compared, wrong = compare_neighbours(gpu)
        print(f"  outside: {outside}\n  neighbours: {compared}, in the wrong order: {wrong}")
