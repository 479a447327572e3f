"""The drawings that scripts make are those that are committed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.python.support import ROOT

SCRIPTS = [file for file in sorted((ROOT / "handouts/pictures").glob("*.py")) if file.name != "drawing.py"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.stem)
def test_drawings_are_fresh(script: Path) -> None:
    command = [sys.executable, "-B", script, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
