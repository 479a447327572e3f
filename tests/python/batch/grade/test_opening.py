"""Tests of grader/python/batch/grade/opening.py: finding the lab that a hand-in is for, and its kit."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from grader.python.batch.grade.opening import find_kit, find_other_lab


def test_an_invalid_lab_json_of_another_lab_does_not_matter(tmp_path: Path) -> None:
    for lab, text in {
        "blur": "{",
        "sums": json.dumps({"order": 2, "stages": [{"id": "01_sum", "title": "Sum"}]}),
    }.items():
        (tmp_path / "labs" / lab).mkdir(parents=True)
        (tmp_path / "labs" / lab / "lab.json").write_text(text)
    settings = SimpleNamespace(root=tmp_path, lab="vectors")
    assert find_other_lab(["work/01_sum.cu"], settings) == "sums"
    assert find_other_lab(["work/01_blur.cu"], settings) == ""


def test_a_huge_manifest_is_not_used() -> None:
    """The batch's own process reads the manifest, and nothing limits its time."""
    settings = SimpleNamespace(lab="lab", stages=("01_first",))
    manifest = {"lab": "lab", "kit": 1, "stages": ["01_first"]}
    for changes, is_used in ({}, True), ({"stages": ["99_x"] * 200}, False), ({"warnings": [" " * 2_000_000]}, False):
        file = SimpleNamespace(name="manifest.json", content=json.dumps(manifest | changes).encode())
        assert (find_kit([file], settings) is not None) == is_used
