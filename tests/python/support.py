"""Helpers for the tests of the Python packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYCACHE = ROOT / "build/pycache"


def run_module(
    module: str, *arguments: str | Path, stdin: str | None = None, cwd: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a module as a user does, but not on a terminal, so it must not wait for input."""
    make_variables = ("FORCE", "AUTHORS", "LAB", "STAGE", "BUILD", "WORK")  # make's, when make runs the tests
    environment = {name: value for name, value in os.environ.items() if name not in make_variables}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(PYCACHE), **variables}
    process = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in process.stderr, process.stderr
    return process
