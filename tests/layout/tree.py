"""The project's files."""

from __future__ import annotations

import functools
import hashlib
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
    "units",
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


@functools.cache
def harness() -> Path:
    """Return what the judge compiled of its own sources in BUILD's cache, which it does first if it is not there."""
    words = ["check", "vector_add", "1", "--tree", "solutions", "--no-check-mode", "--dataset", "one"]
    command = [BUILD / "warplab", *words, "--backend", "cpu", "--build", BUILD]
    subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, check=True)
    made = (BUILD / "cache").glob("harness-cpu-*")
    return max(made, key=lambda folder: folder.stat().st_mtime)  # the judge marks what it uses


def copy_harness(cache: Path) -> None:
    """Copy the judge's harness to another cache, where the judge would compile the same again: 40 s of processor
    time."""
    cache.mkdir(parents=True, exist_ok=True)
    shutil.copytree(harness(), cache / harness().name)


def cache_of_level_uid(build: Path) -> Path:
    """The cache of a build folder at the sandbox's level `uid`, where sandboxed users may enter it."""
    return Path("/var/cache/warplab", hashlib.sha256(str(build.resolve()).encode()).hexdigest()[:16])


def copy_built(folder: Path) -> None:
    """What `make program` has built, without its tests, and the judge's harness: all else in BUILD may change while
    other tests run."""
    folder.mkdir(parents=True)
    copy_harness(folder / "cache")
    for name in BUILT:
        if (BUILD / name).is_dir():
            shutil.copytree(BUILD / name, folder / name, ignore=shutil.ignore_patterns("tests*", "runtime-tests"))
        elif (BUILD / name).exists():
            shutil.copy2(BUILD / name, folder / name)
