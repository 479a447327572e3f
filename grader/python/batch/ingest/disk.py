"""Detect a full disk or a folder that was moved, so that no submission is blamed for it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from grader.python.common.console import UserError

MIN_FREE_BYTES = 64_000_000


def raise_if_full(folder: Path, error: OSError | None = None) -> None:
    """Raise DiskFullError if the disk is full and MovedError if the folder does not exist, so that no submission is
    blamed for it."""
    if not folder.is_dir():
        raise MovedError(describe_moved_folder(folder))
    full = error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if full or shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        raise DiskFullError(
            f"{folder}: the disk is full. All grades so far are kept: free some space, then repeat the same command."
        )


class DiskFullError(UserError):
    """The disk is full: the batch stops, and everything written so far is kept."""


class MovedError(UserError):
    """The batch's folder was moved or deleted during a command. No submission is at fault."""


def describe_moved_folder(folder: Path) -> str:
    """Return what happened to a batch's folder, and what to do."""
    return (
        f"{folder} was moved or deleted while this command ran. If you still have it, delete what was written here "
        "since then, and move it back. Then repeat the same command."
    )
