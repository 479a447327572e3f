"""The project's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def uncommitted_labs() -> list[str]:
    """Labs that git does not track, such as a skeleton fresh from `make new-lab`; outside a git checkout, none."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--others", "--exclude-standard", "labs/*/lab.json"]
    listed = subprocess.run(command, capture_output=True, check=False).stdout.decode()
    return sorted(Path(name).parent.name for name in listed.split("\0") if name)


def committed_files() -> list[Path]:
    """Files git tracks (or would, if added), relative to the root; outside a git checkout, nothing."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False).stdout.decode()
    return sorted(Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file())
