"""Where a batch keeps what belongs to one hand-in. No other code turns a key, which others chose, into a path."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Literal, NewType

FolderName = NewType("FolderName", str)  # of letters, digits, '-', '+' and '_' alone
Part = Literal["submissions", "journals", "feedback", "ahead"]
KEPT: tuple[Part, ...] = ("submissions", "journals", "feedback")
MOST_READABLE = 60  # characters of a key in a folder's name


def folder_name(key: str) -> FolderName:
    """Return a folder's name for a hand-in, different for different keys on every file system.

    A plain id is its own name. Of every other key it is a readable beginning, '_' and the SHA-256: no plain id has a
    '_', so no key's name is another's.
    """
    plain = make_readable(key)
    if plain and plain == key == key.lower():
        return FolderName(plain)
    return FolderName(f"{plain}_{digest_of(key)}")


def make_readable(key: str) -> str:
    """Return the beginning of a key without characters that a file system may not like."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-+") else "_" for c in key)[:MOST_READABLE]


def digest_of(key: str) -> str:
    """Return the SHA-256 of a key in hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def place_of(folder: Path, part: Part, key: str) -> Path:
    """Return where a batch in `folder` keeps a part of a hand-in."""
    return folder / part / folder_name(key)


def earlier_name(key: str) -> str:
    """Return what folder_name() was up to schema 2, where two keys could have one name."""
    plain = make_readable(key)
    return plain if plain and plain == key == key.lower() else f"{plain or 'x'}-{digest_of(key)[:8]}"


def move_folders(folder: Path, keys: Collection[str]) -> None:
    """Give the folders of a batch of schema 2 their names of now. One that two keys shared holds what is of both, and
    stays behind: what is in it is written again for each."""
    sharing = Counter(map(earlier_name, keys))
    for key in keys:
        for part in KEPT:
            old, new = folder / part / earlier_name(key), place_of(folder, part, key)
            if sharing[old.name] == 1 and old.is_dir() and not new.exists():
                old.rename(new)
