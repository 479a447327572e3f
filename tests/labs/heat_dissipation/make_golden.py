"""Write golden.json, the results of the picture datasets, computed with numpy and independently of the lab's oracle.

.venv/bin/python tests/labs/heat_dissipation/make_golden.py    writes it next to this file; it is committed
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DATASETS = HERE.parents[2] / "datasets/heat_dissipation"


def read_picture(name: str) -> np.ndarray:
    """Return the picture's brightness, from 0 to 1."""
    lines = [line.partition("#")[0] for line in (DATASETS / name).read_text().splitlines()]
    magic, width, height, white, *pixels = " ".join(lines).split()
    assert magic == "P2"
    return np.array(pixels, dtype=float).reshape(int(height), int(width)) / float(white)


def solve(parameters: dict) -> dict:
    """Iterate until the end; numpy.roll makes the columns wrap around."""
    field = parameters["low"] + read_picture(parameters["temperature"]) * (parameters["high"] - parameters["low"])
    conductivity = read_picture(parameters["conductivity"])
    above, below = field[:1].copy(), field[-1:].copy()
    direct, diagonal = math.sqrt(2) / (math.sqrt(2) + 1) / 4, 1 / (math.sqrt(2) + 1) / 4
    iterations, change = 0, 0.0
    while iterations < parameters["iterations"]:
        padded = np.concatenate([above, field, below])
        sides = np.roll(padded, 1, axis=1) + np.roll(padded, -1, axis=1)
        direct_sum = padded[:-2] + padded[2:] + sides[1:-1]
        diagonal_sum = sides[:-2] + sides[2:]
        new = conductivity * field + (1 - conductivity) * (direct * direct_sum + diagonal * diagonal_sum)
        change = float(np.abs(new - field).max())
        field, iterations = new, iterations + 1
        if change < parameters.get("threshold", 0):
            break
    rows, columns = field.shape
    cells = [[row, column] for row in (0, rows // 2, rows - 1) for column in (0, columns // 3, columns - 1)]
    return {
        "iterations": iterations,
        "largest_change": change,
        "minimum": float(field.min()),
        "maximum": float(field.max()),
        "mean": float(field.mean()),
        "cells": [[*cell, float(field[tuple(cell)])] for cell in cells],
    }


if __name__ == "__main__":
    datasets = json.loads((DATASETS / "public.json").read_text())["datasets"]
    golden = {recipe["name"]: solve(recipe["parameters"]) for recipe in datasets if recipe["generator"] == "pgm"}
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")
