"""Pack the files that git tracks. The same commit gives the same bytes."""

from __future__ import annotations

import io
import posixpath
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from fnmatch import translate
from pathlib import Path

from grader.python.common.console import UserError, explain_os_error, read_text

REVISION = "grader/revision"  # the revision of a copy that is not a git checkout; build.mk reads it
Files = dict[str, bytes]  # by path from the archive's root
OF_EACH_LAB = [
    "labs/{lab}/lab.json",
    "labs/{lab}/quiz.json",
    "labs/{lab}/modelled_times.json",
    "labs/{lab}/*.h",
    "labs/{lab}/driver.cu",
    "labs/{lab}/oracle.cpp",
    "labs/{lab}/show.cpp",
    "labs/{lab}/show.py",
    "datasets/{lab}/*",
    "starter/{lab}/*.cu",
]
HIDDEN = "datasets/*/hidden.json"


def run_git(root: Path, *words: str) -> str:
    """Return git's output. Raises UserError if the folder is not a git checkout."""
    try:
        result = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    except OSError as error:
        raise UserError(f"git: {explain_os_error(error)}") from None
    if result.returncode != 0:
        reason = result.stderr.decode(errors="replace").strip()
        raise UserError(f"git {words[0]}: {reason} Only a git checkout can be packed.")
    return result.stdout.decode()


def list_tracked(root: Path) -> list[str]:
    """Return the paths that git tracks, sorted, so that no other file gets into an archive."""
    return sorted(name for name in run_git(root, "ls-files", "-z").split("\0") if name and (root / name).is_file())


def revision(root: Path) -> str:
    """Return the commit, marked if files were changed since."""
    return run_git(root, "describe", "--always", "--dirty", "--abbrev=10").strip()


def commit_time(root: Path) -> int:
    """Return the commit's time in seconds since 1970; all files in an archive get this time."""
    return int(run_git(root, "log", "-1", "--format=%ct"))


def version(root: Path) -> str:
    """Return the grader's version, without the revision. Raises UserError."""
    file = root / "grader/model/version.cpp"
    match = re.search(r'return "([\w.]+) ', read_text(file))
    if not match:
        raise UserError(f"{file} contains no version.")
    return match[1]


def select(names: Sequence[str], needed: Sequence[str], omitted: Sequence[str], labs: Sequence[str]) -> list[str]:
    """Return the paths that match a pattern in `needed` and none in `omitted`; {lab} in a pattern stands for each
    lab."""

    def join(patterns: Sequence[str]) -> re.Pattern[str]:
        return re.compile("|".join(translate(pattern.format(lab=lab)) for pattern in patterns for lab in labs))

    included, excluded = join(needed), join(omitted)
    return [name for name in names if included.match(name) and not excluded.match(name)]


def mode_of(name: str, content: bytes) -> int:
    """Return a file's mode: scripts and programs are executable, and only the owner can read a secret."""
    if name.endswith(".secret"):
        return 0o600
    return 0o755 if content.startswith((b"#!", b"\x7fELF")) else 0o644


def pack_tar(files: Mapping[str, bytes], folder: str, time: int) -> bytes:
    """Return a reproducible tar: its bytes depend only on the contents and the time. Entries are sorted and have no
    owner."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(posixpath.join(folder, name))
            entry.size, entry.mtime = len(content), time
            entry.mode = mode_of(name, content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
