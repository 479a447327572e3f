"""Tests of sweep.py: it prints and draws all choices and the best one; an invalid file gives one message."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from grader.python.common.documents import from_json
from grader.python.journal.sweep import Point, choose_ticks, draw_plot, format_bars, read_sweep
from tests.python.support import run_module

MODULE = "grader.python.journal.sweep"
TIMES = {(64, 1): 0.1, (64, 4): 0.08, (256, 1): 0.05, (256, 4): 0.0401, (1024, 1): 0.06, (1024, 4): 0.04}


def point(time: float, failure: str = "", **defines: int) -> dict[str, Any]:
    spread = {"median_s": time, "low_s": time * 0.99, "high_s": time * 1.02} if not failure else {}
    return {"defines": defines, "failure": failure, **spread}


def sweep(**changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "lab": "lab",
        "stage": "01_first",
        "backend": "cuda",
        "dataset": "timed",
        "gpu": "NVIDIA H200",
        "bound_s": 0.03,
        "points": [point(time, BLOCK=block, VECTORS=vectors) for (block, vectors), time in TIMES.items()],
    } | changes


def write(tmp_path: Path, content: Any) -> Path:
    file = tmp_path / "sweep.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_bars_show_times_ratios_and_the_best(tmp_path: Path) -> None:
    text = format_bars(read_sweep(write(tmp_path, sweep())), 100, "#").replace("\u00a0", " ")
    lines = text.splitlines()
    assert lines[0] == "lab/01_first on timed, NVIDIA H200: seconds for 1000 iterations"
    assert lines[1].startswith("  BLOCK=64 VECTORS=1      0.1000 s   2.50×  ####")
    assert lines[6].endswith("#  best")
    assert lines[1].count("#") == round(lines[6].count("#") * 2.5)
    assert lines[7] == "Best: BLOCK=1024 VECTORS=4; within its noise: BLOCK=256 VECTORS=4."
    assert max(map(len, lines)) <= 100


def test_a_choice_that_was_not_timed_shows_the_reason(tmp_path: Path) -> None:
    points = [point(0.2, BLOCK=64), point(0, "needs 64 KB of shared memory", BLOCK=2048)]
    text = format_bars(read_sweep(write(tmp_path, sweep(points=points))), 80, "#")
    assert "  BLOCK=2048  needs 64 KB of shared memory" in text
    assert text.endswith("Best: BLOCK=64.")


def test_the_cpu_backend_is_reported(tmp_path: Path) -> None:
    assert "cpu backend" in format_bars(read_sweep(write(tmp_path, sweep(backend="cpu", gpu=""))), 80, "#")


def test_the_plot_has_one_panel_per_tunable_and_one_dot_per_choice(tmp_path: Path) -> None:
    svg = draw_plot(read_sweep(write(tmp_path, sweep())))
    tree = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(f".//{name}circle")) == 2 * len(TIMES)
    assert len(tree.findall(f".//{name}polyline")) == 2
    assert len([dot for dot in tree.iter(f"{name}circle") if dot.get("class") == "winner"]) == 2
    texts = [text.text for text in tree.iter(f"{name}text")]
    assert {"BLOCK", "VECTORS", "64", "1024", "4"} <= set(texts)
    assert (tree.findtext(f"{name}title") or "").endswith("best BLOCK=1024 VECTORS=4")
    for attribute in [value for element in tree.iter() for value in element.attrib.values()]:
        assert "nan" not in attribute


def test_hostile_names_are_shown_as_text(tmp_path: Path) -> None:
    hostile = sweep(lab="</title><script>alert(1)</script>", dataset="\x1b[2J\u202e", points=[point(1, **{"<x>": 1})])
    file = write(tmp_path, hostile)
    svg = draw_plot(read_sweep(file))
    ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert "\x1b" not in run_module(MODULE, file).stdout


@pytest.mark.parametrize("times", [[1.0], [1.0, 1.0], [0.001, 1000], [1e-9, 2e-9], [0.0400, 0.0401]])
def test_ticks_are_few_and_round_and_enclose_all_times(times: list[float]) -> None:
    ticks = choose_ticks(times)
    assert ticks[0] <= min(times)
    assert ticks[-1] >= max(times)
    assert 2 <= len(ticks) <= 8
    assert ticks == sorted(set(ticks))


def test_the_command_writes_the_plot_next_to_the_json(tmp_path: Path) -> None:
    result = run_module(MODULE, write(tmp_path, sweep()))
    assert result.returncode == 0
    assert f"Plot: {tmp_path / 'sweep.svg'}" in result.stdout
    ElementTree.parse(tmp_path / "sweep.svg")


def test_a_folder_means_its_newest_sweep(tmp_path: Path) -> None:
    assert "No sweep in" in run_module(MODULE, tmp_path).stderr
    for name, age in (("a", 1), ("b", 3), ("c", 2)):
        write(tmp_path, sweep(lab=name)).rename(tmp_path / f"{name}.json")
        os.utime(tmp_path / f"{name}.json", (age, age))
    result = run_module(MODULE, tmp_path, "--plot-only")
    assert result.stdout == f"Plot: {tmp_path / 'b.svg'}\n"


def test_a_terminal_without_unicode_gets_plain_bars(tmp_path: Path) -> None:
    result = run_module(MODULE, write(tmp_path, sweep()), PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "####" in result.stdout


def test_a_sweep_without_times_says_so(tmp_path: Path) -> None:
    result = run_module(MODULE, write(tmp_path, sweep(points=[point(0, "does not compile", BLOCK=1)])))
    assert result.returncode == 1
    assert "No choice could be timed" in result.stdout
    assert not (tmp_path / "sweep.svg").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not valid JSON"),
        ("[]", "not a sweep"),
        (sweep(schema=2), "schema 2"),
        (sweep(points=[]), "no points"),
        (sweep(points=[point(1, A=1), point(1, B=1)]), "/points/1/defines: every point defines the same macros"),
        (sweep(points=[point(1)]), "at least one"),
        (sweep(points=[point(1, A="x")]), "/points/0/defines/A: expected a whole number"),
        (sweep(points=[{"defines": {"A": 1}}]), "/points/0: expected 1e-12 <= low_s"),
        (sweep(points=[point(5e-324, A=1)]), "/points/0: expected 1e-12 <= low_s"),  # the plot would have no axis
        (sweep(points=[point(1, A=1) | {"low_s": 2}]), "/points/0: expected 1e-12 <= low_s"),
        (sweep(points=7), "/points: expected a list"),
    ],
)
def test_an_invalid_file_gives_one_message(tmp_path: Path, content: Any, message: str) -> None:
    result = run_module(MODULE, write(tmp_path, content))
    assert result.returncode == 2
    assert message in result.stderr


def test_a_point_without_macros_has_an_empty_name() -> None:
    point = from_json(Point, {"median_s": 1, "low_s": 1, "high_s": 1, "failure": ""}, "")
    assert point.name == ""
