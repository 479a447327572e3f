"""`show` on this lab: the table of reports is right, pictures are drawn, and invalid input gets a clear message."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT

image_module = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")

PICTURES = ROOT / "datasets/heat_dissipation"
LETTER = ["--image", PICTURES / "letter_temperature.pgm", "--set"]
LETTER += [f"conductivity={PICTURES / 'letter_conductivity.pgm'}"]


def show(folder: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `show` on a solution; it saves its files below `folder`."""
    command = [BUILD / "warplab", "show", "heat_dissipation", "02", "--tree", "solutions", "--backend", "cpu", *options]
    command += ["--build", folder / "build"]
    (folder / "build").mkdir(exist_ok=True)
    for part in ("labs", "cpu", "cache"):  # everything except the folder of pictures
        if not (folder / "build" / part).exists():
            (folder / "build" / part).symlink_to((ROOT / BUILD / part).resolve())
    return subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)


def test_reports_equal_numpys_result_and_pictures_are_drawn(tmp_path: Path) -> None:
    result = show(tmp_path, *LETTER, "low=-40", "high=100", "iterations=40", "every=16")
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert lines[0] == ["iterations", "T(min)", "T(max)", "T(diff)", "T(avg)", "time", "FLOP/s"]
    assert [line[0] for line in lines[1:4]] == ["16", "32", "40"]
    right = json.loads((ROOT / "tests/labs/heat_dissipation/golden.json").read_text())["letter"]
    minimum, maximum, change, mean = (float(word) for word in lines[3][1:5])
    assert (minimum, maximum, mean) == pytest.approx((right["minimum"], right["maximum"], right["mean"]), abs=6e-5)
    assert change == pytest.approx(right["largest_change"], rel=1e-3)

    folder = tmp_path / "build/show/heat_dissipation"
    command = [sys.executable, ROOT / "labs/heat_dissipation/show.py", folder]
    drawing = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert drawing.returncode == 0, drawing.stderr
    for name in ("before.png", "after.png"):
        assert image_module.open(folder / name).size[0] > 300
    assert image_module.open(folder / "cooling.gif").n_frames == 4


def test_show_ends_when_changes_are_below_the_threshold(tmp_path: Path) -> None:
    result = show(tmp_path, *LETTER, "iterations=1000", "every=10", "threshold=20")
    assert result.returncode == 0, result.stdout + result.stderr
    assert len([line for line in result.stdout.splitlines() if line.startswith("  ")]) == 2


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("P2 3 2 9 1 2 3 4 5", [], ":1: the file ends where pixel 2 of row 1 should be"),
        ("P5 1 1 255 x", [], "this is a P5 file"),
        ("P2 1 1 9 4", ["conductivity=datasets/heat_dissipation/letter_conductivity.pgm"], "must have the same size"),
        ("P2 1 1 9 4", ["hot=3"], 'This lab has no setting "hot".'),
        ("P2 1 1 9 4", ["low=cold"], "low=cold: give a number from -1000 to 1000"),
        ("P2 1 1 9 4", ["iterations=100000", "every=1"], "gives at most 1000"),
    ],
)
def test_invalid_input_gets_a_clear_message(text: str, settings: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "hot.pgm").write_text(text)
    result = show(tmp_path, "--image", tmp_path / "hot.pgm", *(["--set", *settings] if settings else []))
    assert result.returncode == 2, result.stdout + result.stderr
    assert message in " ".join(result.stderr.split()), result.stderr
