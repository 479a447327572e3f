"""The batch's own copy of the files that are graded, where the judge looks for them."""

from __future__ import annotations

import shutil
from pathlib import Path

MARK = "fingerprint"  # file next to the copy of a hand-in's files


def write_tree(folder: Path, lab: str, picked: dict[str, bytes], fingerprint: str = "") -> Path:
    """Write the stages' files where the judge looks for them, under the stages' names, and last the fingerprint of the
    hand-in that they come from. If the files or the fingerprint are there already, keep them, because the batch may be
    killed here."""
    for report in (f"{lab}.json", f"{lab}.unfinished.json"):
        (folder / report).unlink(missing_ok=True)
    names = {f"{stage}.cu": content for stage, content in picked.items()}
    kept = (folder / lab).is_dir() and {file.name: file.read_bytes() for file in (folder / lab).iterdir()} == names
    if not kept:
        (folder / MARK).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / lab).mkdir(parents=True)
        for name, content in names.items():
            (folder / lab / name).write_bytes(content)
    if not has_fingerprint(folder, fingerprint):
        (folder / f"{MARK}.new").write_text(fingerprint, encoding="utf-8")
        (folder / f"{MARK}.new").replace(folder / MARK)
    return folder


def has_fingerprint(folder: Path, fingerprint: str) -> bool:
    """Return whether a folder holds the files of the hand-in with this fingerprint. Raises OSError."""
    return (folder / MARK).is_file() and (folder / MARK).read_text(encoding="utf-8") == fingerprint
