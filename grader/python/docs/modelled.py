"""Reads the comparison of modelled with measured times, grader/judge/predict/COMPARED.md, for tables and pictures."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = "grader/judge/predict/COMPARED.md"
GPU = re.compile(r"^## (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| (\w+)/(\d\d_\w+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \|$", re.MULTILINE)
CLOSE = 1.5  # a factor; stages with a larger one are named


@dataclass(frozen=True)
class Compared:
    """The modelled and the measured time of a reference solution on a dataset, in microseconds per iteration."""

    lab: str
    stage: str
    dataset: str
    measured_us: float
    modelled_us: float

    @property
    def ratio(self) -> float:
        return self.modelled_us / self.measured_us

    @property
    def factor(self) -> float:
        """Return the factor between modelled and measured time, 1 or more."""
        return max(self.ratio, 1 / self.ratio)


def read_compared(root: Path) -> dict[str, list[Compared]]:
    """Return the rows by GPU, in the order of the page."""
    _, *parts = GPU.split((root / FILE).read_text(encoding="utf-8"))
    return {
        gpu: [Compared(*words, float(measured), float(modelled)) for *words, measured, modelled in ROW.findall(text)]
        for gpu, text in zip(parts[::2], parts[1::2], strict=True)
    }


def describe_comparison(gpu: str, rows: Sequence[Compared]) -> str:
    """Return sentences on the distribution of the model's errors."""
    factors = [row.factor for row in rows]
    near, double = (sum(factor <= limit for factor in factors) / len(factors) for limit in (CLOSE, 2))
    low = sum(row.ratio < 1 for row in rows if row.factor > CLOSE)
    far_off = sum(factor > CLOSE for factor in factors)
    return (
        f"{gpu}: for {near:.0%} of {len(rows)} timings, the modelled time is within a factor of {CLOSE:g} of the "
        f"measured one, and for {double:.0%} within a factor of 2. The median factor is "
        f"{statistics.median(factors):.2f}, and the worst {max(factors):.2f}. The mean absolute error is "
        f"{statistics.fmean(abs(row.ratio - 1) for row in rows):.0%}. Of the {far_off} modelled times that are "
        f"off by more than {CLOSE:g}, {low} are too short."
    )


def choose_worst(rows: Sequence[Compared]) -> list[Compared]:
    """Return the worst timing of each stage that is off by more than CLOSE, the worst first."""
    worst: dict[tuple[str, str], Compared] = {}
    for row in sorted(rows, key=lambda row: -row.factor):
        worst.setdefault((row.lab, row.stage), row)
    return [row for row in worst.values() if row.factor > CLOSE]
