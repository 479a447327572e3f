"""Detect that the disk is full or that the batch's folder was moved, so that no submission is blamed for either."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from grader.python.common.console import UserError

MIN_FREE_BYTES = 64_000_000  # with less, the disk counts as full


def raise_if_full(folder: Path, error: OSError | None = None) -> None:
    """Raise MovedError if the folder does not exist, and DiskFullError if its disk is full or `error` says so."""
    if not folder.is_dir():
        raise MovedError(describe_moved_folder(folder))
    is_full = error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if is_full or shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        raise DiskFullError(
            f"{folder}: the disk is full. All grades so far are kept: free some space, then repeat the same command."
        )


class DiskFullError(UserError):
    """The disk is full: the batch stops, and everything written so far is kept."""


class MovedError(UserError):
    """The batch's folder was moved or deleted during a command. This is not the fault of a submission."""


def describe_moved_folder(folder: Path) -> str:
    """Return a message on a batch's folder that was moved or deleted, and on what to do."""
    return (
        f"{folder} was moved or deleted while this command ran. If you still have it, delete what was written here "
        "since then, and move it back. Then repeat the same command."
    )
