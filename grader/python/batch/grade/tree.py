"""The batch's own copy of the files that are graded, where the judge looks for them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

MARK = "fingerprint"  # a file next to the copy, with the hand-in's fingerprint and the ids of the stages to grade


def write_tree(
    folder: Path, lab: str, picked: dict[str, bytes], fingerprint: str = "", stages: Sequence[str] = ()
) -> Path:
    """Write the stages' files where the judge looks for them, then the fingerprint of their hand-in and the `stages` to
    grade. If the files or the fingerprint exist already, do not write them again, because the batch may be killed at
    any time. Return `folder`."""
    for report in (f"{lab}.json", f"{lab}.unfinished.json"):
        (folder / report).unlink(missing_ok=True)
    names = {f"{stage}.cu": content for stage, content in picked.items()}
    is_current = (folder / lab).is_dir() and {
        file.name: file.read_bytes() for file in (folder / lab).iterdir()
    } == names
    if not is_current:
        (folder / MARK).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / lab).mkdir(parents=True)
        for name, content in names.items():
            (folder / lab / name).write_bytes(content)
    mark = "\n".join([fingerprint, *stages])
    if read_mark(folder) != mark.split("\n"):
        (folder / f"{MARK}.new").write_text(mark, encoding="utf-8")
        (folder / f"{MARK}.new").replace(folder / MARK)
    return folder


def is_copy(folder: Path, fingerprint: str, stages: Sequence[str]) -> bool:
    """Return whether a folder contains the files that were copied for these stages from the hand-in with this
    fingerprint. Folders of earlier versions do not name their stages. Raises OSError."""
    mark = read_mark(folder)
    return mark[:1] == [fingerprint] and mark[1:] in ([], list(stages))


def read_mark(folder: Path) -> list[str]:
    """Return the lines of a copy's mark: the fingerprint and the stages; none if there is no complete copy. Raises
    OSError."""
    return (folder / MARK).read_text(encoding="utf-8").split("\n") if (folder / MARK).is_file() else []
