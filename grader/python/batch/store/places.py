"""Paths of a hand-in's files in a batch. Only this module turns a key, which is untrusted, into a path."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal, NewType

FolderName = NewType("FolderName", str)  # only letters, digits, '-', '+' and '_'
Part = Literal["submissions", "journals", "feedback", "ahead"]
PARTS: tuple[Part, ...] = ("submissions", "journals", "feedback")
MAX_READABLE = 60  # characters of a key in a folder's name


def folder_name(key: str) -> FolderName:
    """Return a folder's name for a hand-in, unique to its key on every file system.

    A plain id is also the folder's name. For any other key, the name is a readable beginning, '_' and the key's
    SHA-256; a plain id has no '_', so two keys never share a name.
    """
    plain = make_readable(key)
    if plain and plain == key == key.lower():
        return FolderName(plain)
    return FolderName(f"{plain}_{digest_of(key)}")


def make_readable(key: str) -> str:
    """Return the beginning of a key for a folder's name. A '-' at the beginning becomes '_', because commands such as
    rm read it as an option."""
    plain = make_plain(key)
    return "_" + plain[1:] if plain.startswith("-") else plain


def make_plain(key: str) -> str:
    """Return the beginning of a key, with '_' in place of characters that a file system may reject."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-+") else "_" for c in key)[:MAX_READABLE]


def digest_of(key: str) -> str:
    """Return the SHA-256 of a key in hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def place_of(folder: Path, part: Part, key: str) -> Path:
    """Return the path of a part of a hand-in, such as its feedback, in the batch's `folder`."""
    return folder / part / folder_name(key)


def earlier_name(key: str) -> str:
    """Return the name that folder_name() gave a key in schema 1 and 2, in which two keys could share a name."""
    plain = make_plain(key)
    return plain if plain and plain == key == key.lower() else f"{plain or 'x'}-{digest_of(key)[:8]}"


def name_with_dash(key: str) -> str:
    """Return the name that folder_name() gave a key in schema 3 to 8, in which a name could begin with '-'."""
    plain = make_plain(key)
    return plain if plain and plain == key == key.lower() else f"{plain}_{digest_of(key)}"


def move_folders(folder: Path, keys: Collection[str], name: Callable[[str], str] = earlier_name) -> None:
    """Rename the folders of an earlier batch, whose names the function `name` computed from keys. A folder that two
    keys shared stays, because it contains files of both; its contents are written again for each key."""
    counts = Counter(map(name, keys))
    for key in keys:
        for part in PARTS:
            old, new = folder / part / name(key), place_of(folder, part, key)
            if counts[old.name] == 1 and old.is_dir() and not new.exists():
                old.rename(new)
