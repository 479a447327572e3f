"""The committed drawings equal those that the scripts generate, and have descriptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.python.support import ROOT

SCRIPTS = [file for file in sorted((ROOT / "handouts/pictures").glob("*.py")) if file.name != "drawing.py"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.stem)
def test_committed_drawings_equal_generated_ones(script: Path) -> None:
    command = [sys.executable, "-B", script, "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("file", sorted((ROOT / "handouts/pictures").glob("*.svg")), ids=lambda file: file.stem)
def test_a_drawing_has_a_description(file: Path) -> None:
    drawing = ElementTree.parse(file).getroot()
    title, description = (drawing.findtext(f"{{*}}{tag}") or "" for tag in ("title", "desc"))
    assert title and title not in description and len(description.split()) > len(title.split())


@pytest.mark.parametrize("file", sorted((ROOT / "handouts/pictures").glob("*_ladder.svg")), ids=lambda file: file.stem)
def test_the_datasets_of_a_ladder_differ_without_colour(file: Path) -> None:
    drawing = ElementTree.parse(file).getroot()
    colours = {box.get("class") for box in drawing.findall("{*}rect") if box.get("width") == "12"}
    letters = {text.text for text in drawing.findall("{*}text") if text.get("class") == "m k"}
    lines = {line.get("class") for line in drawing.findall("{*}path") if "l" in (line.get("class") or "")}
    assert len(colours) == len(letters) == len(lines) > 1
