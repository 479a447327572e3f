"""The project's files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WARPLAB_BUILD") or ROOT / "build")
BUILT = (
    "compiler",
    "cpu",
    "generated",
    "labs",
    "machine",
    "objects",
    "oracle-objects",
    "precompiled",
    "revision",
    "together",
    "warplab",
)


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


def copy_built(folder: Path) -> None:
    """What `make program` has built, without its tests: all else in BUILD may change while other tests run."""
    folder.mkdir(parents=True)
    for name in BUILT:
        if (BUILD / name).is_dir():
            shutil.copytree(BUILD / name, folder / name, ignore=shutil.ignore_patterns("tests*", "runtime-tests"))
        elif (BUILD / name).exists():
            shutil.copy2(BUILD / name, folder / name)
