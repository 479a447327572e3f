"""Determine whether a grade comes from another version of the lab or of the grader."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from grader.python.batch.store.database import Database
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError

LINKED = ("grader/common", "grader/io", "grader/judge", "grader/model")  # the sources of build/warplab
JUDGING = (*LINKED, "grader/runner", "grader/cpu/include", "grader/cpu/rewriter", "grader/cpu/runtime")


def hash_judging(root: Path, lab: str) -> str:
    """Return two hashes: of the lab's files that affect its points (manifest, driver, oracle, datasets, solutions), and
    of the sources of the judge. Other parts (pages, batches, other labs) do not change them."""
    folders = [f"{folder}/{lab}" for folder in ("labs", "datasets", "solutions")]
    of_lab = hash_files(root, folders, leave_out="quiz.json")
    return f"{of_lab}+{hash_files(root, JUDGING, leave_out='.md')}"


def hash_files(root: Path, folders: Sequence[str], leave_out: str) -> str:
    """Return a hash of the names and contents of all files, except those whose names end with `leave_out`."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and not file.name.endswith(leave_out):
                digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def is_stale(kept_hashes: str, kept_version: str, judging: str, version: str) -> bool:
    """Return whether a grade comes from another version of the lab or grader. `kept_hashes` and `judging` are
    hash_judging() at that time and now. Earlier batches kept only the lab's hash; for them, the version shows whether
    the grader has changed."""
    if "+" in kept_hashes:
        return kept_hashes != judging
    return kept_hashes != judging.partition("+")[0] or kept_version != version


def find_stale(database: Database, judging: str, version: str) -> list[str]:
    """Return the keys of the submissions whose grade comes from another version of the lab or grader, without dropped
    submissions."""
    dropped = database.dropped()
    grades = database.query(
        "SELECT s.key, g.lab_hash, g.warplab FROM submissions s JOIN grades g ON g.id = s.grade ORDER BY s.key"
    )
    stale = [key for key, kept, kept_version in grades if is_stale(kept, kept_version, judging, version)]
    return [key for key in stale if key not in dropped]


def require_built(settings: Settings) -> None:
    """Raise UserError if the program is older than its sources, because its grades would be attributed to the newer
    sources."""
    built = (settings.build / "warplab").stat().st_mtime
    sources = [file for folder in LINKED for file in (settings.root / folder).rglob("*.cpp")]
    if newer := sorted(file for file in sources if file.stat().st_mtime > built):
        raise UserError(f"{newer[0]} is newer than {settings.build / 'warplab'}. Build it first: make program")
