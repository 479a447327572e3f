"""The intervals of modelled times, against the committed comparison with the H200's timings.

Every earlier solution of a lab stands for a slow submission of a later stage. COMPARED.md has the times of both,
modelled and measured, so this needs neither a GPU nor the model. python3 -m tests.python.docs.test_modelled_intervals
prints the figures.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from itertools import combinations

from tests.python.support import ROOT

PREDICT = ROOT / "grader/judge/predict"
ROW = re.compile(r"\| (\w+)/(\d\d)_\w+ \| (\w+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \|")
FULL, CLEAR, ZERO, OPEN = 1.2, 1.4, 4.8, 0.1  # grader/model/score.cpp

Times = dict[int, tuple[float, float]]  # measured and modelled, by stage


def read_times() -> dict[tuple[str, str], Times]:
    """Return the times by lab and dataset."""
    times: dict[tuple[str, str], Times] = defaultdict(dict)
    for lab, stage, dataset, measured, modelled in ROW.findall((PREDICT / "COMPARED.md").read_text()):
        times[lab, dataset][int(stage)] = (float(measured), float(modelled))
    return times


def share(ratio: float, previous: float | None) -> float:
    zero = previous if previous and previous >= CLEAR else ZERO
    return min(1.0, max(0.0, math.log(zero / ratio) / math.log(zero / FULL)))


def figures() -> dict[str, float]:
    """Return how often the intervals hold what was measured, as shares."""
    gpu = json.loads((PREDICT / "gpus/h200.json").read_text())
    least, most = gpu["ratio_spread"]["least"], gpu["ratio_spread"]["most"]
    held, in_points, decided, equal = [], [], [], []
    factors = []
    for times in read_times().values():
        factors += [max(one / two, two / one) for one, two in times.values()]
        for slow, fast in combinations(sorted(times), 2):
            measured, ratio = (times[slow][i] / times[fast][i] for i in (0, 1))
            before = times.get(fast - 1)
            previous = [before[i] / times[fast][i] for i in (0, 1)] if before else [None, None]
            spread = min(most, least * max(ratio, 1 / ratio))
            held.append(ratio / spread <= measured <= ratio * spread)
            earned = share(measured, previous[0])
            low, high = share(ratio * spread, previous[1]), share(ratio / spread, previous[1])
            in_points.append(low - 0.005 <= earned <= high + 0.005)
            decided.append(high - low <= OPEN)
            if decided[-1]:
                equal.append(abs(high - earned) <= OPEN)
    count = len(held)
    return {
        "times": sum(factor <= gpu["spread"] for factor in factors) / len(factors),
        "pairs": count,
        "ratios": sum(held) / count,
        "points": sum(in_points) / count,
        "decided": sum(decided) / count,
        "equal": sum(equal) / len(equal),
    }


def test_the_intervals_hold_what_was_measured():
    found = figures()
    assert found["ratios"] >= 0.85 and found["points"] >= 0.85 and found["equal"] >= 0.9


def test_the_models_page_has_these_figures():
    page = " ".join((PREDICT / "README.md").read_text().split())
    found = figures()
    assert f"Of {found['pairs']} pairs of solutions, {found['ratios']:.0%} had" in page
    assert f"{found['points']:.0%} had the measured points inside the range" in page
    assert f"The points of {found['decided']:.0%} were decided, and {found['equal']:.0%} of these" in page


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name}: {value:.3f}")
