"""Plot modelled against measured times of all reference solutions, with a picture for each GPU in COMPARED.md."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from drawing import Drawing, run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader.python.docs.modelled import Compared, read_compared  # noqa: E402

LEFT, RIGHT, TOP, BOTTOM = 80, 520, 50, 490
UNITS = {0: "1 us", 3: "1 ms", 6: "1 s"}
KINDS = [(colour, corner) for corner in (5, 0) for colour in "BADC"]  # circles, then squares


def draw_compared(gpu: str, rows: Sequence[Compared]) -> Drawing:
    """Draw a point for each timing. On the line, the model is right; between the broken lines, it is off by less than a
    factor of 2."""
    times = [time for row in rows for time in (row.measured_us, row.modelled_us)]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(time: float) -> float:
        return LEFT + (math.log10(time) - low) / (high - low) * (RIGHT - LEFT)

    def y(time: float) -> float:
        return BOTTOM - (math.log10(time) - low) / (high - low) * (BOTTOM - TOP)

    picture = Drawing(760, 550, f"Modelled and measured times of the reference solutions, {gpu}")
    picture.text(20, 28, f"modelled time of an iteration, {gpu}", "b")
    picture.text(RIGHT, BOTTOM + 42, "measured time of an iteration", "e b")
    for decade in range(low, high + 1):
        time, base = 10.0**decade, decade // 3 * 3
        words = UNITS[base].replace("1", str(10 ** (decade - base)), 1)
        picture.rect(LEFT, y(time), RIGHT - LEFT, 0.4, "N")
        picture.rect(x(time), TOP, 0.4, BOTTOM - TOP, "N")
        picture.text(LEFT - 8, y(time) + 4, words, "e s")
        picture.text(x(time), BOTTOM + 18, words, "m s")
    first, last = 10.0**low, 10.0**high
    picture.line(x(first), y(first), x(last), y(last))
    picture.line(x(first), y(2 * first), x(last / 2), y(last), kind="r")
    picture.line(x(2 * first), y(first), x(last), y(last / 2), kind="r")
    labs = list(dict.fromkeys(row.lab for row in sorted(rows, key=lambda row: -row.factor)))  # the worst first
    for (colour, corner), lab in zip(KINDS, labs, strict=False):
        for row in rows:
            if row.lab == lab:
                picture.rect(x(row.measured_us) - 4, y(row.modelled_us) - 4, 8, 8, colour, corner)
    for number, ((colour, corner), lab) in enumerate(zip(KINDS, labs, strict=False)):
        picture.rect(546, 70 + 26 * number, 10, 10, colour, corner)
        picture.text(564, 80 + 26 * number, lab)
    below = 100 + 26 * len(labs)
    picture.line(542, below, 560, below)
    picture.text(566, below + 4, "the model is right", "s")
    picture.line(542, below + 22, 560, below + 22, kind="r")
    picture.text(566, below + 26, "off by a factor of 2", "s")
    return picture


def name_picture(gpu: str) -> str:
    return "modelled_times_" + re.sub(r"\W+", "_", gpu.lower())


run({name_picture(gpu): partial(draw_compared, gpu, rows) for gpu, rows in read_compared(ROOT).items()})
