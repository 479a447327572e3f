"""Find grades that come from another version of the lab or of the judge."""

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
    """Return two hashes, joined by +: of the lab's files that affect its points (manifest, driver, oracle, datasets,
    solutions), and of the sources of the judge. Other parts (pages, batches, other labs) do not change them."""
    folders = [f"{folder}/{lab}" for folder in ("labs", "datasets", "solutions")]
    of_lab = hash_files(root, folders, excluded_ending="quiz.json")
    return f"{of_lab}+{hash_files(root, JUDGING, excluded_ending='.md')}"


def hash_files(root: Path, folders: Sequence[str], excluded_ending: str) -> str:
    """Return a hash of the names and contents of all files, except those whose names end with `excluded_ending`."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and not file.name.endswith(excluded_ending):
                digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def is_stale(kept_hashes: str, kept_version: str, judging_hashes: str, version: str) -> bool:
    """Return whether a grade comes from another version of the lab or of the judge. `kept_hashes`, `judging_hashes`:
    the results of hash_judging() when the hand-in was graded, and now; `kept_version`, `version`: the judge's version
    then and now. Earlier batches kept only the lab's hash; for them, the version shows whether the judge has
    changed."""
    if "+" in kept_hashes:
        return kept_hashes != judging_hashes
    return kept_hashes != judging_hashes.partition("+")[0] or kept_version != version


def find_stale(database: Database, judging_hashes: str, version: str) -> list[str]:
    """Return the keys of the submissions whose grade comes from another version of the lab or of the judge, without
    dropped ones. The other parameters: as in is_stale()."""
    dropped = database.dropped()
    grades = database.query(
        "SELECT s.key, g.lab_hash, g.warplab FROM submissions s JOIN grades g ON g.id = s.grade ORDER BY s.key"
    )
    stale = [key for key, kept, kept_version in grades if is_stale(kept, kept_version, judging_hashes, version)]
    return [key for key in stale if key not in dropped]


def require_built(settings: Settings) -> None:
    """Raise UserError if the program is older than its sources, because its grades would be attributed to the newer
    sources."""
    built = (settings.build / "warplab").stat().st_mtime
    sources = [file for folder in LINKED for file in (settings.root / folder).rglob("*.cpp")]
    if newer := sorted(file for file in sources if file.stat().st_mtime > built):
        raise UserError(f"{newer[0]} is newer than {settings.build / 'warplab'}. Build it first: make program")
