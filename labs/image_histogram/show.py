"""Draw the result of `make show`: the picture, and next to it how often each value occurs.

.venv/bin/python labs/image_histogram/show.py FOLDER    FOLDER contains picture.png and histogram.csv, and gets
                                                        histogram.png
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import imread

COLOURS = {"grey": "#57606a", "red": "#cf222e", "green": "#1a7f37", "blue": "#0969da"}


def read_counts(table: Path) -> dict[str, list[int]]:
    """Return the columns of histogram.csv by name, without the first, which contains the values 0 to 255."""
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [int(row[name]) for row in rows] for name in rows[0] if name != "value"}


def draw_counts(axes: Axes, name: str, counts: list[int], total: int) -> None:
    """Draw a channel's histogram, in percent of its pixels."""
    shares = [100 * count / total for count in counts]
    axes.stairs(shares, [value - 0.5 for value in range(257)], fill=True, color=COLOURS[name], alpha=0.85)
    axes.set_xlim(-0.5, 255.5)
    axes.set_ylim(0, max(*shares, 0.01) * 1.06)
    axes.set_ylabel(name)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def draw(folder: Path) -> Path:
    """Draw the picture on the left and a histogram for each channel on the right."""
    picture = imread(folder / "picture.png")
    counts = read_counts(folder / "histogram.csv")
    total = picture.shape[0] * picture.shape[1]
    figure, panels = plt.subplot_mosaic(
        [["picture", name] for name in counts], figsize=(10, 4.2), layout="constrained", facecolor="white"
    )
    panels["picture"].imshow(picture, cmap="gray", vmin=0, vmax=255 if picture.dtype.kind == "u" else 1)
    panels["picture"].set_axis_off()
    for name, column in counts.items():
        draw_counts(panels[name], name, column, total)
    panels[next(iter(counts))].set_title("percent of the pixels that have each value", fontsize=10)
    panels[next(reversed(counts))].set_xlabel("value of the pixel")
    file = folder / "histogram.png"
    figure.savefig(file, dpi=110)
    plt.close(figure)
    return file


if __name__ == "__main__" and (Path(sys.argv[1]) / "histogram.csv").exists():  # missing if the code failed early
    print(f"  {draw(Path(sys.argv[1]))}")
