"""Build targets of programs.mk, which all tests share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / (os.environ.get("BUILD") or "build")


def build_target(name: str) -> Path:
    """Build a file in the folder of the runtime's tests if it is outdated, and return its path.

    Tests run in several processes, but only one builds at a time. Raises CalledProcessError."""
    folder = BUILD / "cpu/runtime-tests"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {variable: value for variable, value in os.environ.items() if not variable.startswith("MAKE")}
    make = ["flock", str(folder / "lock"), "make", "-s", "-j2", "-f", "tests/cpu/runtime/programs.mk"]
    targets = [f"BUILD={os.path.relpath(BUILD, ROOT)}", os.path.relpath(folder / name, ROOT)]
    subprocess.run([*make, *targets], cwd=ROOT, env=environment, check=True)
    return folder / name
