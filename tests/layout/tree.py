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
# The files and folders in BUILD that copy_built() copies.
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
    """Return the labs that git does not track, such as a new skeleton. Return none outside a git checkout."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--others", "--exclude-standard", "labs/*/lab.json"]
    output = subprocess.run(command, capture_output=True, check=False).stdout.decode()
    return sorted(Path(name).parent.name for name in output.split("\0") if name)


def project_files() -> list[Path]:
    """Return the files that git tracks or does not ignore, relative to the root. Return none outside a git checkout."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, capture_output=True, check=False).stdout.decode()
    return sorted(Path(name) for name in output.split("\0") if name and (ROOT / name).is_file())


@functools.cache
def harness() -> Path:
    """Return the folder of the judge's compiled harness in BUILD's cache. If it is missing, the judge compiles it."""
    words = ["check", "vector_add", "1", "--tree", "solutions", "--no-check-mode", "--dataset", "one"]
    command = [BUILD / "warplab", *words, "--backend", "cpu", "--build", BUILD]
    subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, check=True)
    folders = (BUILD / "cache").glob("harness-cpu-*")
    return max(folders, key=lambda folder: folder.stat().st_mtime)  # the judge updates the time of the used folder


def copy_harness(cache: Path) -> None:
    """Copy the judge's harness to another cache, so that the judge does not compile it again, which takes about
    35 s of processor time."""
    cache.mkdir(parents=True, exist_ok=True)
    shutil.copytree(harness(), cache / harness().name)


def cache_of_level_uid(build: Path) -> Path:
    """Return the cache that the level `uid` uses for a build folder; sandboxed users can enter this cache."""
    return Path("/var/cache/warplab", hashlib.sha256(str(build.resolve()).encode()).hexdigest()[:16])


def copy_built(folder: Path) -> None:
    """Copy the files that `make program` has built, without tests, and the judge's harness. Other files in BUILD may
    change while other tests run."""
    folder.mkdir(parents=True)
    copy_harness(folder / "cache")
    for name in BUILT:
        if (BUILD / name).is_dir():
            shutil.copytree(BUILD / name, folder / name, ignore=shutil.ignore_patterns("tests*", "runtime-tests"))
        elif (BUILD / name).exists():
            shutil.copy2(BUILD / name, folder / name)
