"""Shared fixtures: the project's root, and a way to run a command as its user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture
def run() -> Run:
    """Runs a module of the project with arguments; never from a terminal, so it must not wait for answers."""

    def run_module(
        module: str, *arguments: str | Path, stdin: str | None = None, cwd: Path = ROOT, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        process = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment,
            timeout=60,
        )
        assert "Traceback" not in process.stderr, process.stderr
        return process

    return run_module
