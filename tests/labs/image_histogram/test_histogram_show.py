"""`show` on this lab: the CSV contains the right counts, for grey and colour, and the plot is drawn."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT

np = pytest.importorskip("numpy")
image_module = pytest.importorskip("PIL.Image")


def show(folder: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `show` for stage 01, by default with its solution. The results are saved in `folder`."""
    command = [BUILD / "warplab", "show", "image_histogram", "01", "--tree", "solutions", "--backend", "cpu", *options]
    command += ["--build", folder / "build"]
    (folder / "build").mkdir(exist_ok=True)
    for part in ("labs", "cpu", "cache"):  # all that `show` reads from the build folder
        if not (folder / "build" / part).exists():
            (folder / "build" / part).symlink_to((ROOT / BUILD / part).resolve())
    return subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)


def read_columns(folder: Path) -> dict[str, list[int]]:
    with (folder / "histogram.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [int(row[name]) for row in rows] for name in rows[0]}


@pytest.mark.parametrize(("mode", "names"), [("L", ["grey"]), ("RGB", ["red", "green", "blue"])])
def test_histogram_of_a_picture_is_right_and_drawn(mode: str, names: list[str], tmp_path: Path) -> None:
    shape = (23, 41) if mode == "L" else (23, 41, 3)
    pixels = np.random.default_rng(7).integers(0, 200, shape).astype(np.uint8)
    image_module.fromarray(pixels, mode=mode).save(tmp_path / "noise.png")
    result = show(tmp_path, "--image", tmp_path / "noise.png")
    assert result.returncode == 0, result.stdout + result.stderr
    folder = tmp_path / "build/show/image_histogram"
    columns = read_columns(folder)
    assert list(columns) == ["value", *names]
    assert columns["value"] == list(range(256))
    for k, name in enumerate(names):
        channel = pixels.reshape(23, 41, -1)[:, :, k]
        assert columns[name] == np.bincount(channel.ravel(), minlength=256).tolist()
    pytest.importorskip("matplotlib")
    draw = [sys.executable, ROOT / "labs/image_histogram/show.py", folder]
    drawing = subprocess.run([*map(str, draw)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert drawing.returncode == 0, drawing.stderr
    plot = image_module.open(folder / "histogram.png")
    assert plot.width > plot.height > 300


def test_histogram_of_the_labs_picture_has_all_pixels(tmp_path: Path) -> None:
    result = show(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    columns = read_columns(tmp_path / "build/show/image_histogram")
    width, height = image_module.open(ROOT / "datasets/image_histogram/picture.png").size
    assert [sum(columns[name]) for name in ("red", "green", "blue")] == [width * height] * 3


def test_a_wrong_submission_writes_its_histogram_and_shows_its_cause(tmp_path: Path) -> None:
    result = show(tmp_path, "--source", ROOT / "tests/labs/image_histogram/01_blocks_rounded_down.cu")
    assert result.returncode == 1
    assert "histogram.csv" in result.stdout
    assert "Cause: tail_lost" in result.stdout


def test_an_unknown_setting_gets_a_clear_message(tmp_path: Path) -> None:
    result = show(tmp_path, "--set", "times=3")
    assert result.returncode == 2
    assert "Its settings: none" in result.stderr
