"""The wrong submissions of the labs: wrong.json lists them. A file is a .cu, or a .patch of a solution."""

from __future__ import annotations

import json
from pathlib import Path

from grader.python.release.exercises import read_source

ROOT = Path(__file__).resolve().parents[2]


def entries(lab: str) -> list[dict]:
    """Return the rows of a lab's wrong.json."""
    return json.loads((ROOT / "tests/labs" / lab / "wrong.json").read_text())


def source_of(lab: str, file: str, folder: Path) -> Path:
    """Return the path of a wrong submission's .cu file. If the submission is a patch, write the patched solution to
    `folder`. Raises UserError if a patch no longer applies."""
    path = Path("tests/labs", lab, file)
    if path.suffix != ".patch":
        return ROOT / path
    copy = folder / path.with_suffix(".cu").name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(read_source(ROOT, path))
    return copy
