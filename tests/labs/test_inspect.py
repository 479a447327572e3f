"""Check mode on the labs: it is silent on solutions, names the line of wrong submissions, and its counters show what a
stage is about."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.labs.conftest import BACKEND, BUILD, ROOT, labs, stages

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="check mode is part of the CPU backend")

# Threads below the picture's last row read rows of the tile that were never loaded, and store nothing.
KNOWN = {("smoothing_filter", "04_tile_parallel")}


def inspect(lab: str, stage: str, source: Path, folder: Path) -> tuple[int, dict]:
    """The exit status, and what `build/warplab inspect` writes as JSON."""
    report = folder / f"{stage}.json"
    command = [BUILD / "warplab", "inspect", lab, stage, "--source", source, "--json", report]
    run = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, errors="replace")
    assert report.exists(), run.stdout + run.stderr
    return run.returncode, json.loads(report.read_text())


def inspect_solution(lab: str, stage: str, folder: Path) -> dict:
    return inspect(lab, stage, ROOT / "solutions" / lab / f"{stage}.cu", folder)[1]


@pytest.mark.parametrize(("lab", "stage"), [(lab, stage) for lab in labs() for stage in stages(lab)])
def test_solutions_give_no_finding(lab: str, stage: str, tmp_path: Path) -> None:
    report = inspect_solution(lab, stage, tmp_path)
    assert report["datasets"] > 0
    found = [one for one in report["findings"] if not one["note"]]
    if (lab, stage) in KNOWN:
        assert found, "it is silent now: take it off the list"
        return
    assert found == []


def wrong_submissions() -> list:
    entries = []
    for lab in labs():
        for entry in json.loads((ROOT / "tests/labs" / lab / "wrong.json").read_text()):
            if "inspect" in entry:
                entries.append(pytest.param(lab, entry, id=f"{lab}/{Path(entry['file']).stem}"))
    return entries


@pytest.mark.parametrize(("lab", "entry"), wrong_submissions())
def test_line_of_a_wrong_submission(lab: str, entry: dict, tmp_path: Path) -> None:
    status, report = inspect(lab, entry["stage"], ROOT / "tests/labs" / lab / entry["file"], tmp_path)
    assert status == 1
    assert entry["inspect"] in [[one["cause"], one["line"]] for one in report["findings"]], report["findings"]


def total(report: dict, memory: str, what: str, atomic: bool = False) -> int:
    counts = [one for one in report["counts"] if one["memory"] == memory and one["atomic"] == atomic]
    return sum(one[what] for one in counts)


def test_sequential_addressing_keeps_lanes_busy(tmp_path: Path) -> None:
    interleaved = inspect_solution("dot_product", "02_dyadic_interleaved", tmp_path)
    sequential = inspect_solution("dot_product", "03_dyadic_sequential", tmp_path)
    before, after = total(interleaved, "shared", "requests"), total(sequential, "shared", "requests")
    assert after < before / 2  # the same additions, by warps of which most lanes take part


def test_a_tile_saves_sectors_of_device_memory(tmp_path: Path) -> None:
    direct = inspect_solution("smoothing_filter", "02_constant_filter", tmp_path)
    tiled = inspect_solution("smoothing_filter", "04_tile_parallel", tmp_path)
    assert total(tiled, "device", "sectors") < total(direct, "device", "sectors") / 4


def test_shared_bins_save_atomics_on_device_memory(tmp_path: Path) -> None:
    direct = inspect_solution("image_histogram", "01_global_atomics", tmp_path)
    shared = inspect_solution("image_histogram", "03_shared_bins", tmp_path)
    assert total(direct, "shared", "requests", atomic=True) == 0
    assert total(shared, "shared", "requests", atomic=True) > 10 * total(shared, "device", "requests", atomic=True)
