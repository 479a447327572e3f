"""The environment for modules of the project that run as separate processes."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[4]


def python_path() -> str:
    """Return the value of PYTHONPATH with which Python finds the project from any folder."""
    return os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
