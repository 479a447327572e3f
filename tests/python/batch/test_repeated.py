"""Tests of the recorded results of repeated grading: no solution failed, and README's figures match."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.python.batch.repeated import faults

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]


def read_stages(backend: str) -> list[dict]:
    return json.loads((FOLDER / f"repeated_{backend}.json").read_text())["stages"]


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_no_solution_failed_or_lost_points(backend: str) -> None:
    assert not faults(read_stages(backend))


def test_readme_states_the_recorded_variation_of_the_ratio() -> None:
    stages = read_stages("cuda")
    deviations = [row["deviation"] for row in stages]
    spread = max(row["spread"] for row in stages)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"standard deviation of {100 * min(deviations):.3f} to" in readme
    assert f" to {max(deviations):.2%} and a range of at most {spread:.2%}" in readme
    assert min(row["times"] for row in stages) == 3
    assert "graded at least three times" in readme
    assert sum(row["times"] >= 20 for row in stages) == 8
    assert "eight stages 20 times" in readme
