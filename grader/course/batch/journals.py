"""Students' journals: records and notes are kept in journals/<name>/, and the page is made of them anew.

The page that a student handed in is never used: it may hold anything. What cannot be kept or rendered is a remark and
costs nothing.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from grader.course.batch.archive import RECORDS, is_journal
from grader.journal.journal import RENDERING_S
from grader.journal.notes import MOST_BYTES as MOST_NOTE_BYTES
from grader.journal.submit import MOST_JOURNAL_BYTES

MOST_NOTES = 100
MOST_PAGE_BYTES = 20_000_000
MOST_MEMORY_BYTES = 2_000_000_000
JOURNAL = "journal.html"

PROJECT = Path(__file__).resolve().parents[3]

Run = Callable[[Sequence[str], dict[str, str]], tuple[int, str]]  # command, environment: exit status, what it said


def pick_journal(files: dict[str, bytes], lab: str, stages: Sequence[str]) -> tuple[dict[str, bytes], list[str]]:
    """Records and notes by their plain names, and what is to be said of those that are left out."""
    note = re.compile(rf"(?:{'|'.join(map(re.escape, stages))})(?:-\d{{1,4}})?\.md")
    named = [name for name in files if is_journal(name)]
    named = [name for name in named if PurePosixPath(name).name == RECORDS or note.fullmatch(PurePosixPath(name).name)]
    folders = sorted(
        {PurePosixPath(name).parent for name in named}, key=lambda one: (lab not in one.parts, len(one.parts), one)
    )
    names = sorted(name for name in named if PurePosixPath(name).parent == folders[0])[: MOST_NOTES + 1]
    picked, remarks = {}, []
    for path in map(PurePosixPath, names):
        content = files[str(path)]
        if len(content) <= (MOST_JOURNAL_BYTES if path.name == RECORDS else MOST_NOTE_BYTES):
            picked[path.name] = content
        else:
            remarks.append(f"The journal's {path.name} is too large and was left out.")
    return picked, remarks


def keep_journal(files: dict[str, bytes], lab: str, stages: Sequence[str], kept: Path) -> list[str]:
    """Writes a submission's journal to the folder `kept`, over an earlier one's; returns remarks. Raises OSError."""
    shutil.rmtree(kept, ignore_errors=True)
    picked, remarks = pick_journal(files, lab, stages)
    for name, content in picked.items():
        kept.mkdir(parents=True, exist_ok=True)
        (kept / name).write_bytes(content)
    return remarks


def render_journal(kept: Path, page: Path, root: Path, lab: str, run: Run) -> list[str]:
    """Makes the page of what was kept, in a process of its own: records may be made so that rendering them takes all
    memory, or for ever. Returns remarks. Raises OSError."""
    page.unlink(missing_ok=True)
    if not kept.is_dir():
        return []
    limits = [f"--as={MOST_MEMORY_BYTES}", f"--cpu={RENDERING_S}", f"--fsize={MOST_PAGE_BYTES}"]
    command = ["prlimit", *limits] if shutil.which("prlimit") else []
    command += [sys.executable, "-m", "grader.journal.journal", lab, "--folder", str(kept), "--root", str(root)]
    status, words = run(command, {"PYTHONPATH": str(PROJECT)})
    if status != 0:
        said = words.replace(f"{kept}/", "").splitlines()[-1:]
        why = said[0][-200:] if said and status == 2 else "it takes too much time or memory"
        return [f"The journal could not be rendered: {why}"]
    page.parent.mkdir(parents=True, exist_ok=True)
    (kept / JOURNAL).replace(page)
    return []
