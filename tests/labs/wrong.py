"""The wrong submissions of the labs: wrong.json lists them. A file is a .cu, or a .patch of a solution."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def entries(lab: str) -> list[dict]:
    """Return the rows of a lab's wrong.json."""
    return json.loads((ROOT / "tests/labs" / lab / "wrong.json").read_text())


def source_of(lab: str, file: str, folder: Path) -> Path:
    """Return the path of a wrong submission's .cu. A patch is applied to a copy of its solution in `folder`; a patch
    that no longer applies is an AssertionError."""
    listed = ROOT / "tests/labs" / lab / file
    if listed.suffix != ".patch":
        return listed
    (solution,) = re.findall(r"^--- a/(\S+)$", listed.read_text(), re.MULTILINE)
    copy = folder / solution
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text((ROOT / solution).read_text())
    # Without a ceiling, git would look for the paths in a repository around the folder.
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    applied = subprocess.run(
        ["git", "apply", "--unidiff-zero", listed], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert applied.returncode == 0, (
        f"{listed.relative_to(ROOT)} no longer applies to {solution}: {applied.stderr.strip()}. Make the same mistake "
        "in a copy of the solution, and write `diff -U1` of the two to the patch, below its first lines."
    )
    return copy.rename(folder / listed.with_suffix(".cu").name)
