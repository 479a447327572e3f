"""List and open the files in a hand-in's folder, which students may change at the same time. Only `open_below` opens
them; it follows no links."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

from grader.python.batch.ingest.archive import (
    MAX_ENTRIES,
    MAX_NAME,
    Kind,
    Part,
    RefusedError,
    is_hidden,
    kind_of_file,
    show,
)
from grader.python.batch.ingest.times import past_time

DATABASE = "batch.sqlite"  # in a batch's folder
SQLITE_START = b"SQLite format 3\0"
NEVER_FOLLOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def list_parts(entry: Path) -> list[Part]:
    """Return the files in a hand-in's folder, newest first, but archives last. If the hand-in is a file, return only
    that file, whose kind is never "ignored". Raises OSError."""
    status = entry.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return [make_part(entry, "", status)]
    return sorted(walk(entry), key=lambda part: (part.kind == "archive", -past_time(part.time_s)))


def walk(folder: Path) -> Iterator[Part]:
    """Yield all files in a folder and in the folders in it, except hidden ones; outer files come first. If a folder
    cannot be read, yield it as a part whose check raises the error. If there are more than MAX_ENTRIES files and
    folders, yield the first ones, and then a part whose check raises RefusedError.
    """
    waiting, remaining = deque([""]), MAX_ENTRIES
    while waiting and remaining > 0:
        inside = waiting.popleft()
        remaining -= inside.count("/") + 1  # opening the folder takes as many steps
        try:
            if len(inside) > MAX_NAME:
                raise RefusedError("too_deep")
            entries = list_folder(folder, inside, remaining)
        except (OSError, RefusedError) as error:
            yield Part(inside or folder.name, 0, 0, "other", partial(raise_again, error), contextlib.nullcontext)
            continue
        remaining -= len(entries)
        for name, status in entries:
            if stat.S_ISDIR(status.st_mode):
                waiting.append(name)
            else:
                yield make_part(folder, name, status)
    if remaining <= 0:
        too_many = RefusedError("too_many_files", f"at most {MAX_ENTRIES}")
        yield Part(folder.name, 0, 0, "other", partial(raise_again, too_many), contextlib.nullcontext)


def list_folder(folder: Path, inside: str, max_entries: int) -> list[tuple[str, os.stat_result]]:
    """Return at most `max_entries` entries of the folder `inside`, which is a path below `folder`. Each has its path
    below `folder` and its status. Raises OSError."""
    entries = []
    with open_below(folder, inside, os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as scanned:
        for entry in islice((entry for entry in scanned if not is_hidden(entry.name)), max(max_entries, 0)):
            with contextlib.suppress(FileNotFoundError):  # it was removed in the meantime
                entries.append((f"{inside}/{entry.name}".lstrip("/"), entry.stat(follow_symlinks=False)))
    return sorted(entries)


@contextlib.contextmanager
def open_below(folder: Path, name: str, flags: int = 0) -> Iterator[int]:
    """Open the path `name` below a folder, or the folder or file itself if the path is empty, and yield the descriptor.
    Raises OSError if any component of the path is a link, even one that a student puts there at this moment."""
    *around, last = [str(folder), *(name.split("/") if name else [])]
    descriptor = None
    with contextlib.ExitStack() as opened:
        for part, part_flags in [*((part, os.O_DIRECTORY) for part in around), (last, flags)]:
            descriptor = os.open(part, NEVER_FOLLOW | part_flags, dir_fd=descriptor)
            opened.callback(os.close, descriptor)
        assert descriptor is not None
        yield descriptor


def holds_batch(folder: Path) -> bool:
    """Return whether a folder belongs to a batch, because it contains a batch's database."""
    try:
        with open_file(folder, DATABASE) as stream:
            return stream.read(len(SQLITE_START)) == SQLITE_START
    except (OSError, RefusedError):
        return False


def make_part(folder: Path, name: str, status: os.stat_result) -> Part:
    """Return a file of a folder as a part; if the name is empty, `folder` itself is the file."""
    own_name = name or folder.name
    kind: Kind = kind_of_file(own_name)
    if kind == "ignored" and not name:
        kind = "other"
    check = partial(require_file, own_name, status.st_mode)
    return Part(own_name, status.st_size, status.st_mtime, kind, check, partial(open_file, folder, name))


def require_file(name: str, mode: int) -> None:
    """Raise RefusedError if a mode is not that of a regular file: reading other kinds may block."""
    if not stat.S_ISREG(mode):
        raise RefusedError("link" if stat.S_ISLNK(mode) else "device", show(name))


@contextlib.contextmanager
def open_file(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a regular file. Raises RefusedError if it is of another kind, OSError if it cannot be opened."""
    with open_below(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as stream:
        require_file(name, os.fstat(descriptor).st_mode)
        yield stream


def raise_again(error: Exception) -> None:
    raise error
