"""Keep students' journals: store records, notes and answers to the quiz in journals/<name>/, and render the page from
them.

The page in a hand-in is never used, because it may contain anything. If a part cannot be kept or rendered, the
submission gets a remark, but loses no points.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from grader.python.batch.ingest.archive import RECORDS, is_journal
from grader.python.batch.ingest.module_path import python_path
from grader.python.journal.journal import RENDERING_S
from grader.python.journal.notes import MAX_BYTES as MAX_NOTE_BYTES
from grader.python.journal.quiz import ANSWERS, MAX_ANSWERS_BYTES
from grader.python.journal.submit import MAX_JOURNAL_BYTES

MAX_BYTES = {RECORDS: MAX_JOURNAL_BYTES, ANSWERS: MAX_ANSWERS_BYTES}
MAX_NOTES = 100
MAX_PAGE_BYTES = 20_000_000
MAX_MEMORY_BYTES = 2_000_000_000
JOURNAL = "journal.html"

Run = Callable[[Sequence[str], dict[str, str]], tuple[int, str]]  # (command, environment) -> (exit status, stderr)


def pick_journal(files: dict[str, bytes], lab: str, stages: Sequence[str]) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of the records, the notes and the answers to the quiz, by names without folders, and remarks
    on omitted files."""
    # Only the slugs must match, because a note's number may be from an earlier version of the lab.
    slugs = "|".join(re.escape(stage[3:]) for stage in stages)
    note = re.compile(rf"\d\d_(?:{slugs})(?:-\d{{1,4}})?\.md")
    candidates = [name for name in files if is_journal(name)]
    candidates = [
        name for name in candidates if PurePosixPath(name).name in MAX_BYTES or note.fullmatch(PurePosixPath(name).name)
    ]
    folders = sorted(
        {PurePosixPath(name).parent for name in candidates},
        key=lambda folder: (lab not in folder.parts, len(folder.parts), folder),
    )
    names = sorted(name for name in candidates if PurePosixPath(name).parent == folders[0])[: MAX_NOTES + 1]
    picked, remarks = {}, []
    for path in map(PurePosixPath, names):
        content = files[str(path)]
        if len(content) <= MAX_BYTES.get(path.name, MAX_NOTE_BYTES):
            picked[path.name] = content
        else:
            remarks.append(f"The journal's {path.name} is too large and was omitted.")
    return picked, remarks


def keep_journal(files: dict[str, bytes], lab: str, stages: Sequence[str], target: Path) -> list[str]:
    """Write a submission's journal to the folder `target`, and replace an earlier one. Return remarks. Raises
    OSError."""
    shutil.rmtree(target, ignore_errors=True)
    picked, remarks = pick_journal(files, lab, stages)
    for name, content in picked.items():
        target.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    return remarks


def render_journal(journal: Path, page: Path, root: Path, lab: str, run: Run) -> list[str]:
    """Render the page from the journal that was kept, in a separate process, because rendering a student's records may
    take all memory, or may never end. Return remarks. Raises OSError."""
    page.unlink(missing_ok=True)
    if not journal.is_dir():
        return []
    limits = [f"--as={MAX_MEMORY_BYTES}", f"--cpu={RENDERING_S}", f"--fsize={MAX_PAGE_BYTES}"]
    command = ["prlimit", *limits] if shutil.which("prlimit") else []
    command += [sys.executable, "-m", "grader.python.journal.journal", lab]
    command += ["--folder", str(journal), "--root", str(root)]
    status, errors = run(command, {"PYTHONPATH": python_path()})
    if status != 0:
        last_line = errors.replace(f"{journal}/", "").splitlines()[-1:]
        reason = last_line[0][-200:] if last_line and status == 2 else "it takes too much time or memory"
        return [f"The journal could not be rendered: {reason}"]
    page.parent.mkdir(parents=True, exist_ok=True)
    (journal / JOURNAL).replace(page)
    (journal / "journal.md").unlink(missing_ok=True)  # notes may contain HTML, which a viewer of Markdown could run
    return []
