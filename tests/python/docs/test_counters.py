"""Tests of counters.py: counts come from `inspect`, the table comes from the counts, and stale counts are reported."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from grader.python.docs.code_hash import hash_code
from tests.python.docs.test_results_and_tables import LAB, SOURCE, write
from tests.python.support import run_module

COUNTERS, TABLES = "grader.python.docs.counters", "grader.python.docs.tables"
PROGRAM = """#!/usr/bin/env python3
import json, sys
stage, report = sys.argv[3], sys.argv[sys.argv.index("--json") + 1]
counted = [
    {"dataset": "tiny", "least_bytes": 10, "device_bytes": 9.5, "device_atomics": 0},
    {"dataset": "course", "least_bytes": 1000, "device_bytes": 2.12345, "device_atomics": 5 if stage[1] == "1" else 0},
]
json.dump({"counters": counted}, open(report, "w"))
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Make a project with one lab whose second stage limits its atomics, and with a fake warplab."""
    lab: dict[str, Any] = copy.deepcopy(LAB)
    lab["stages"][1]["counters"] = [
        {"counter": "device_atomics", "at_most": 0, "dataset": "course", "about": "doing without atomics"}
    ]
    write(tmp_path / "labs/lab/lab.json", lab)
    write(tmp_path / "handouts/lab.md", "<!-- table: counters lab -->\n<!-- end -->\n")
    write(tmp_path / "README.md", "nothing\n")
    for stage in ("01_first", "02_second"):
        write(tmp_path / f"solutions/lab/{stage}.cu", SOURCE)
    write(tmp_path / "build/warplab", PROGRAM).chmod(0o755)
    return tmp_path


def count(course: Path) -> dict[str, Any]:
    assert run_module(COUNTERS, "--root", course, "--build", course / "build").returncode == 0
    content: dict[str, Any] = json.loads((course / "handouts/counters.json").read_text())
    return content


def test_counts_come_from_the_dataset_that_the_limits_name(course: Path) -> None:
    stages = count(course)["stages"]
    assert stages["lab/01_first"] == {
        "code_hash": hash_code(SOURCE),
        "dataset": "course",
        "counters": {"device_bytes": 2.1235, "device_atomics": 5},
    }
    assert list(stages) == ["lab/01_first", "lab/02_second"]


def test_the_table_shows_limits_in_bold(course: Path) -> None:
    assert run_module(TABLES, "--root", course).returncode == 0
    assert "Not counted yet." in (course / "handouts/lab.md").read_text()
    count(course)
    assert run_module(TABLES, "--root", course).returncode == 0
    text = (course / "handouts/lab.md").read_text()
    assert "on dataset course" in text
    assert "Bytes requested: 32 for each sector" in text
    assert "Bytes of threads" not in text, "a column that the table lacks needs no explanation"
    assert "| Stage | Bytes requested, over the minimum | Global atomics per block |" in text
    assert "| `01_first` | 2.12× | 5.00 |" in text
    assert "| `02_second` | 2.12× | **0**, at most 0 |" in text


def test_a_changed_solution_makes_its_counts_stale(course: Path) -> None:
    count(course)
    assert run_module(TABLES, "--root", course).returncode == 0
    write(course / "solutions/lab/02_second.cu", "int another;\n")
    result = run_module(TABLES, "--root", course, "--check")
    assert result.returncode == 1
    assert "solutions/lab/02_second.cu has changed since it was counted" in result.stdout


def test_a_solution_that_inspect_refuses_is_not_counted(course: Path) -> None:
    write(course / "build/warplab", "#!/bin/sh\necho no >&2\nexit 1\n").chmod(0o755)
    result = run_module(COUNTERS, "--root", course, "--build", course / "build")
    assert result.returncode == 2 and "does not pass make inspect" in result.stderr
    assert not (course / "handouts/counters.json").exists()
