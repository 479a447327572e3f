"""Draw the fields that `make show LAB=heat_dissipation` has saved: before.png, after.png, and cooling.gif.

python3 labs/heat_dissipation/show.py FOLDER    FOLDER contains fields.json and fields.f32
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw

mpl.use("Agg")

import matplotlib.pyplot as plt

COLOURS = mpl.colormaps["inferno"]
FRAME_MS = 120
MIN_ACROSS = 256  # the minimum width of a frame, in pixels
NAN_COLOUR = (0, 0.8, 0.8, 1)


def read_fields(folder: Path) -> tuple[dict, np.ndarray]:
    """Return the description of the fields, and a field for each report, preceded by the initial field."""
    about = json.loads((folder / "fields.json").read_text())
    fields = np.fromfile(folder / "fields.f32", dtype=np.float32)
    return about, fields.reshape(len(about["iterations"]), about["rows"], about["columns"])


def draw_map(file: Path, field: np.ndarray, about: dict, title: str) -> None:
    """Draw a heat map with its scale."""
    colours = COLOURS.with_extremes(bad=NAN_COLOUR)
    figure, axes = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    image = axes.imshow(field, cmap=colours, vmin=about["low"], vmax=about["high"], interpolation="nearest")
    figure.colorbar(image, label="temperature")
    axes.set(title=title, xlabel="column", ylabel="row")
    figure.savefig(file, dpi=100)
    plt.close(figure)


def make_frame(field: np.ndarray, about: dict, label: str) -> Image.Image:
    """Return a field in colours, at least MIN_ACROSS pixels wide, with the iterations below it."""
    span = about["high"] - about["low"] or 1
    colours = COLOURS.with_extremes(bad=NAN_COLOUR)((np.ma.masked_invalid(field) - about["low"]) / span, bytes=True)
    picture = Image.fromarray(colours[..., :3].copy())
    scale = max(1, -(-MIN_ACROSS // picture.width))
    picture = picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST)
    frame = Image.new("RGB", (picture.width, picture.height + 18), "white")
    frame.paste(picture)
    ImageDraw.Draw(frame).text((4, picture.height + 3), label, fill="black")
    return frame.quantize(64, dither=Image.Dither.NONE)


def main(folder: Path) -> None:
    """Write the three pictures to the folder."""
    about, fields = read_fields(folder)
    labels = [f"{count:,} iterations" for count in about["iterations"]]
    draw_map(folder / "before.png", fields[0], about, "before")
    draw_map(folder / "after.png", fields[-1], about, f"after {labels[-1]}")
    frames = [make_frame(field, about, label) for field, label in zip(fields, labels, strict=True)]
    frames[0].save(
        folder / "cooling.gif",
        save_all=True,
        append_images=frames[1:],
        duration=[FRAME_MS * 5, *[FRAME_MS] * (len(frames) - 2), FRAME_MS * 10][: len(frames)],
        loop=0,
    )
    for name in ("before.png", "after.png", "cooling.gif"):
        print(f"  {folder / name}")


if __name__ == "__main__" and (Path(sys.argv[1]) / "fields.json").exists():  # missing if the code failed early
    main(Path(sys.argv[1]))
