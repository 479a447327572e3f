"""Draw the times of a lab's stages on a logarithmic scale, next to those of the material that the lab comes from.

The measured times are those of the GPU in handouts/results/*.json that has the most timings of the lab, including those
of libraries. labs/LAB/source.json has the material's times.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from drawing import Drawing

ROOT = Path(__file__).resolve().parents[2]
LEFT, RIGHT, TOP, BOTTOM = 80, 540, 46, 330
UNITS = {-9: "1 ns", -6: "1 us", -3: "1 ms", 0: "1 s", 3: "1000 s"}


def read(file: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / file).read_text())
    return content


def read_results(lab: str) -> dict[str, Any] | None:
    """Return the results file with the most timings of the lab, or None if no file has any."""
    files = [json.loads(file.read_text()) for file in sorted((ROOT / "handouts/results").glob("*.json"))]

    def count(results: dict[str, Any]) -> int:
        stages = [stage for key, stage in results["stages"].items() if key.startswith(f"{lab}/")]
        return sum(len(stage["measurements"]) for stage in stages) + len(results["peers"].get(lab, []))

    return max(filter(count, files), key=count, default=None)


def seconds(figure: str) -> float | None:
    """Return the seconds of a figure such as "0.058 s"; None if it is not a time."""
    number, _, unit = figure.partition(" ")
    factor = {"s": 1, "ms": 1e-3, "us": 1e-6}.get(unit)
    return float(number) * factor if factor else None


class Ladder:
    """The times of a lab's stages, in seconds for an iteration, or for the part of it that the material timed."""

    def __init__(self, lab: str, datasets: dict[str, str], column: int = 0):
        self.lab, self.datasets, self.column = lab, datasets, column
        self.stages = [stage["id"] for stage in read(f"labs/{lab}/lab.json")["stages"]]
        self.results = read_results(lab)
        self.material = read(f"labs/{lab}/source.json")
        self.parts = self.material.get("parts", 1)

    def source(self, dataset: str) -> dict[str, float]:
        """Return the material's times by stage."""
        times = {
            row["stage"]: seconds(row["figures"][self.column])
            for row in self.material["rows"]
            if dataset in (row["dataset"], row.get("part_of")) and row["stage"] in self.stages and row.get("figures")
        }
        return {stage: time / self.material["iterations"] for stage, time in times.items() if time}

    def scales(self, dataset: str) -> dict[tuple[str, str], float]:
        """Return the factor from the time of a timed part to that of the whole dataset, by stage and part."""
        rows = self.material["rows"]
        return {(row["stage"], row["dataset"]): row["scale"] for row in rows if row.get("part_of") == dataset}

    def measured(self, dataset: str, key: str = "median_s") -> dict[str, float]:
        """Return our times, or another figure of the measurements, by stage."""
        times = {}
        scales = self.scales(dataset)
        for stage in self.stages if self.results else []:
            for measurement in self.results["stages"].get(f"{self.lab}/{stage}", {}).get("measurements", []):
                scale = 1 if measurement["dataset"] == dataset else scales.get((stage, measurement["dataset"]), 0)
                if scale > 0 and measurement[key] > 0:
                    times[stage] = measurement[key] / measurement["iterations"] / self.parts * scale
        return times

    def peers(self, dataset: str) -> dict[str, float]:
        """Return the times of libraries by name."""
        peers = self.results["peers"].get(self.lab, []) if self.results else []
        return {
            peer["name"]: peer["median_s"] / peer["iterations"] / self.parts
            for peer in peers
            if peer["dataset"] == dataset
        }


def draw_ladder(lab: str, datasets: dict[str, str], title: str, column: int = 0) -> Drawing:
    """Draw the times of a lab's stages. `datasets`: at most four, with the names to show. `column`: the index of the
    material's figure to show."""
    ladder = Ladder(lab, datasets, column)
    picture = Drawing(760, 400, title)
    low, high = find_decades(ladder)
    gpu = ladder.results["gpu"] if ladder.results else "not measured yet"
    picture.text(20, 28, f"time per {ladder.material.get('part', 'iteration')}, kernels only", "b")

    def y(time: float) -> float:
        return BOTTOM - (math.log10(time) - low) / (high - low) * (BOTTOM - TOP)

    def x(stage: str) -> float:
        return LEFT + (ladder.stages.index(stage) + 0.5) * (RIGHT - LEFT) / len(ladder.stages)

    for decade in range(low, high + 1):
        picture.rect(LEFT, y(10.0**decade), RIGHT - LEFT, 0.4, "N")
        base = decade // 3 * 3
        picture.text(LEFT - 8, y(10.0**decade) + 4, UNITS[base].replace("1", str(10 ** (decade - base)), 1), "e s")
    for stage in ladder.stages:
        picture.text(x(stage), BOTTOM + 20, stage[:2], "m")
    picture.text(LEFT, BOTTOM + 42, "stage", "q s")

    sentences = []
    for colour, (dataset, name) in zip("BADC", datasets.items(), strict=False):
        number = "BADC".index(colour)
        row = 74 + 64 * number
        draw_line(picture, [(560, row - 5), (574, row - 5)], number, 6)
        picture.text(586, row, name, "b")
        source, measured = ladder.source(dataset), ladder.measured(dataset)
        draw_line(picture, [(x(s), y(t)) for s, t in source.items()], number, 0)
        draw_line(picture, [(x(s), y(t)) for s, t in measured.items()], number, 6)
        sentences += [
            describe_times(f"{name}, {gpu}", measured),
            describe_times(f"{name}, {ladder.material['machine']}", source),
        ]
        if bound := next(iter(ladder.measured(dataset, "bound_s").values()), None):
            picture.line(LEFT, y(bound), RIGHT, y(bound), kind="r")
        for k, (peer, time) in enumerate(ladder.peers(dataset).items()):
            picture.line(RIGHT - 26, y(time), RIGHT, y(time))
            picture.text(580, row + 18 + 16 * k, f"{peer}: {show_time(time)}", "s")
    picture.rect(560, 330 - 10, 10, 10, "N", 5)
    picture.text(580, 330, gpu, "s")
    picture.rect(560, 350 - 10, 10, 10, "N")
    picture.text(580, 350, ladder.material["machine"], "s")
    picture.line(556, 366, 574, 366, kind="r")
    picture.text(580, 370, "bandwidth bound", "s")
    picture.line(556, 384, 574, 384)
    picture.text(580, 388, "a library", "s")
    picture.description = " ".join(["Time of each stage on a logarithmic scale.", *filter(None, sentences)])
    return picture


def draw_line(picture: Drawing, points: list[tuple[float, float]], dataset: int, corner: int) -> None:
    """Draw points joined by a line. The dataset's number determines the colour, the line and the letter of the points.
    `corner`: the radius of their corners, 6 for circles (our times) and 0 for squares (the material's)."""
    if len(points) > 1:
        picture.line(*(number for point in points for number in point), kind=("l", "l1", "l2", "l3")[dataset])
    for x, y in points:
        picture.rect(x - 6, y - 6, 12, 12, "BADC"[dataset], corner)
        picture.text(x, y + 3, "abcd"[dataset], "m k")


def describe_times(title: str, times: dict[str, float]) -> str:
    """Return a sentence with the time of each stage; empty if there is none."""
    return f"{title}: {', '.join(f'{stage[:2]} {show_time(time)}' for stage, time in times.items())}." if times else ""


def show_time(time: float) -> str:
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if time >= factor:
            return f"{time / factor:.3g} {unit}"
    return f"{time * 1e9:.3g} ns"


def find_decades(ladder: Ladder) -> tuple[int, int]:
    """Return the exponents of the powers of ten that enclose all times."""
    times = [1e-5, 1e-4]
    for dataset in ladder.datasets:
        groups = [
            ladder.source(dataset),
            ladder.measured(dataset),
            ladder.measured(dataset, "bound_s"),
            ladder.peers(dataset),
        ]
        times += [time for group in groups for time in group.values()]
    return math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
