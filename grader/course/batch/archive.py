"""Reads what students hand in, trusting none of it.

Archives are read in memory and within bounds, and no name in one ever becomes a path: a submission is a dictionary of
names and bytes, of which only a stage's own file is written anywhere. Whatever bytes make a reader raise, it is a
RefusedError of that hand-in (`refusing_damage`). Folders are walked by `walk` alone, which follows no link.
"""

from __future__ import annotations

import bz2
import calendar
import contextlib
import gzip
import io
import lzma
import os
import stat
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from grader.course.batch import tar
from grader.course.batch.names import original_name

MOST_ARCHIVE_BYTES = 20_000_000
MOST_BYTES = 64_000_000  # unpacked, all files together
MOST_FILE_BYTES = 10_000_000
MOST_FILES = 2000
MOST_WALKED = 2 * MOST_FILES  # including folders
MOST_NAME = 300  # characters
CLOCKS_DIFFER_S = 86_400  # maximum clock difference, time zones included; later times lie in the future
XZ_MEMORY_BYTES = 128_000_000
NO_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the time in a zip without times
RECORDS = "records.jsonl"  # a journal's measurements
ZIP_END_BYTES = 70_000  # where the directory's end is, with the longest comment behind it

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
OTHER_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!": "RAR", b"\x28\xb5\x2f\xfd": "Zstandard"}
# Python's zipfile reads other compression methods without a bound on the unpacked size.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MEANINGS = {
    "too_large": "it is larger than can be read",
    "too_many_files": "it holds more files than a lab has",
    "bomb": "unpacked it would be too large",
    "overlap": "several of its files use the same bytes",
    "traversal": "a name in it leads out of its folder",
    "link": "it holds a link",
    "device": "it holds something that is neither a file nor a folder",
    "bad_name": "a name in it is not UTF-8, or too long",
    "name_clash": "two names in it are the same, or differ in upper and lower case alone",
    "encrypted": "it is encrypted",
    "empty": "there is nothing in the file",
    "truncated": "its end is missing",
    "damaged": "it is damaged",
    "unknown_method": "its compression method is not supported; use zip with deflate",
    "too_deep": "its folders are nested too deeply",
    "unknown_format": "it is neither a zip nor a tar archive",
    "too_slow": "reading it takes too much time or memory",
}


class RefusedError(Exception):
    """Why a submission is not opened, as the end of a sentence. `reason` is a key of MEANINGS."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{MEANINGS[reason]}{f' ({detail})' if detail else ''}.")
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class Member:
    """A file in an archive. `time_s` is the time of its last change, in seconds since 1970 (a zip has no zone: UTC is
    assumed); 0 if it is unknown."""

    name: str
    content: bytes
    time_s: float


def is_archive(name: str) -> bool:
    """Whether a file's name says that it is an archive of any kind."""
    return original_name(name).lower().endswith((*ARCHIVES, ".7z", ".rar", ".gz", ".zst"))


def is_useful(name: str) -> bool:
    """Whether a file's name says that it may be code or a description, or hold them; or code under another name."""
    return original_name(name).lower().endswith((".cu", ".cpp", ".json")) or is_archive(name)


def is_folder(path: Path) -> bool:
    """Return whether the path is a folder and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def read_archive(data: bytes) -> list[Member]:
    """Return all files of an archive, except those that the operating system added. Raises RefusedError."""
    if not data:
        raise RefusedError("empty")
    with refusing_damage():
        members = check_names(read_zip(data) if data.startswith(b"PK") else read_tar(inflate(data)))
        return [member for member in members if not any(map(is_hidden, member.name.split("/")))]


@contextlib.contextmanager
def refusing_damage() -> Iterator[None]:
    """Convert every exception from reading an archive to RefusedError.

    Wrap only the reading of untrusted bytes with it: it converts every exception, so that no list of the exceptions
    that readers may raise has to be complete.
    """
    try:
        yield
    except RefusedError:
        raise
    except EOFError:
        raise RefusedError("truncated") from None
    except MemoryError:
        raise RefusedError("too_slow") from None
    except Exception:
        raise RefusedError("damaged") from None


def check_names(members: Iterable[Member]) -> Iterator[Member]:
    """Lets members through until a name is bad, taken, or one too many, or the whole too large."""
    seen: set[str] = set()
    unpacked = 0
    for number, member in enumerate(members, 1):
        folded = member.name.casefold()
        if folded in seen:
            raise RefusedError("name_clash", show(member.name))
        unpacked += len(member.content)
        require_bounds(number, unpacked)
        seen.add(folded)
        yield member


def past_time(time_s: float) -> float:
    """Return a time, or 0 if it lies in the future."""
    return time_s if 0 < time_s <= time.time() + CLOCKS_DIFFER_S else 0.0


def zip_time(entry: zipfile.ZipInfo) -> float:
    """Return an entry's time, 0 if it has no valid one."""
    try:
        return 0.0 if entry.date_time == NO_ZIP_TIME else past_time(calendar.timegm(entry.date_time))
    except (ValueError, OverflowError):
        return 0.0


def require_bounds(files: int, unpacked: int) -> None:
    """Raise RefusedError if this many files, or their bytes, are too many for one submission."""
    if files > MOST_FILES:
        raise RefusedError("too_many_files", f"at most {MOST_FILES}")
    if unpacked > MOST_BYTES:
        raise RefusedError("bomb", f"at most {MOST_BYTES // 10**6} MB")


def plain_name(name: str) -> str:
    """A member's name with forward slashes. Raises RefusedError where it leads elsewhere or is no text."""
    name = name.replace("\\", "/")
    if len(name) > MOST_NAME or any(ord(c) < 32 or 0xD800 <= ord(c) <= 0xDFFF for c in name):
        raise RefusedError("bad_name", show(name))
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or (len(parts[0]) == 2 and parts[0][1] == ":"):
        raise RefusedError("traversal", show(name))
    return "/".join(part for part in parts if part not in ("", "."))


def show(name: str) -> str:
    """Escape an untrusted name for a message."""
    return name[:80].encode("unicode_escape", "backslashreplace").decode()


def most_bytes(name: str) -> int:
    """Return the maximum size in bytes of a file with this name."""
    return MOST_ARCHIVE_BYTES if is_archive(name) else MOST_FILE_BYTES


def read_zip(data: bytes) -> Iterator[Member]:
    """Files of a zip archive, in its order."""
    require_end(data[-ZIP_END_BYTES:])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if len(archive.infolist()) > 2 * MOST_FILES:
            raise RefusedError("too_many_files", f"at most {MOST_FILES}")
        require_no_overlap(archive.infolist(), len(data))
        left = MOST_BYTES
        for entry in archive.infolist():
            check_zip_entry(entry)
            name = plain_name(entry.filename)
            if entry.is_dir():
                continue
            if min(left, most_bytes(name)) < entry.file_size:
                raise RefusedError("bomb", show(name))
            with archive.open(entry) as stream:
                content = stream.read(entry.file_size + 1)
            left -= len(content)
            yield Member(name, content, zip_time(entry))


def require_end(end: bytes) -> None:
    """Raises RefusedError where a zip archive's last bytes are not its directory's end."""
    if b"PK\x05\x06" not in end:
        raise RefusedError("truncated")


def require_no_overlap(entries: Iterable[zipfile.ZipInfo], size: int) -> None:
    """Raise RefusedError if the members of a zip archive of `size` bytes hold more compressed bytes than the archive.

    Members that share their bytes take time for each member, even if they yield no output. Without them, the time to
    read an archive is linear in its size.
    """
    if sum(entry.compress_size for entry in entries) > size:
        raise RefusedError("overlap")


def check_zip_entry(entry: zipfile.ZipInfo) -> None:
    """Raises RefusedError for what is no plain file or folder."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise RefusedError("link", show(entry.filename))
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise RefusedError("device", show(entry.filename))
    if entry.flag_bits & 0x1:
        raise RefusedError("encrypted")
    if entry.compress_type not in ZIP_METHODS:
        raise RefusedError("unknown_method", show(entry.filename))


def inflate(data: bytes) -> bytes:
    """The tar in a compressed file. Raises RefusedError when it is none, or too large."""
    for magic, name in OTHER_ARCHIVES.items():
        if data.startswith(magic):
            raise RefusedError("unknown_format", f"it is {name}; hand in a .zip or a .tar.gz")
    if data.startswith(b"\x1f\x8b"):
        return read_stream(gzip.GzipFile(fileobj=io.BytesIO(data)))
    if data.startswith(b"BZh"):
        return read_stream(bz2.BZ2File(io.BytesIO(data)))
    if data.startswith(b"\xfd7zXZ\x00"):
        return inflate_xz(data)
    if data[257:262] != b"ustar":
        raise RefusedError("unknown_format" if data.strip(b"\0") else "damaged")
    return data


def read_stream(stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File) -> bytes:
    """All of a stream, within bounds."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RefusedError("bomb", f"at most {MOST_BYTES // 10**6} MB")
    return content


def inflate_xz(data: bytes) -> bytes:
    """Within bounds of memory, too: an xz file says itself how much it takes."""
    try:
        decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES)
        content = decompressor.decompress(data, MOST_BYTES + 1)
    except lzma.LZMAError as error:
        raise RefusedError("bomb" if "limit" in str(error) else "damaged") from None
    if len(content) > MOST_BYTES:
        raise RefusedError("bomb", f"at most {MOST_BYTES // 10**6} MB")
    if not decompressor.eof:
        raise EOFError
    return content


def read_tar(data: bytes) -> Iterator[Member]:
    """Files of a tar archive, in its order."""
    for number, (member, stream) in enumerate(tar.read_members(io.BytesIO(data)), 1):
        if number > 2 * MOST_FILES:
            raise RefusedError("too_many_files", f"at most {MOST_FILES}")
        check_tar_member(member)
        name = plain_name(member.name)
        if member.is_folder():
            continue
        if member.size > most_bytes(name):
            raise RefusedError("bomb", show(name))
        yield Member(name, stream.read(member.size), past_time(member.time_s))
        stream.skip()  # raises EOFError if the content is shorter


def check_tar_member(member: tar.Member) -> None:
    """Raises RefusedError for what is no plain file or folder."""
    if member.is_link():
        raise RefusedError("link", show(member.name))
    if not (member.is_folder() or member.is_file()):
        raise RefusedError("device", show(member.name))


def walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all entries below a folder, except hidden ones, and folders before their contents. Raises RefusedError,
    OSError.

    It follows no link and does not recurse: folders may be nested deeper than Python's stack.
    """
    waiting, seen = [folder], 0
    while waiting:
        with os.scandir(waiting.pop()) as listed:
            visible = (entry for entry in listed if not is_hidden(entry.name))
            entries = sorted(islice(visible, MOST_WALKED + 1), key=lambda entry: entry.name)
        seen += len(entries)
        if seen > MOST_WALKED:
            raise RefusedError("too_many_files", f"at most {MOST_FILES}")
        if any(len(entry.path) - len(str(folder)) > MOST_NAME for entry in entries):
            raise RefusedError("too_deep")
        yield from entries
        waiting += [Path(entry.path) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]


def is_hidden(name: str) -> bool:
    """Return whether the operating system creates files of that name, which no student hands in."""
    return name.startswith((".", "__MACOSX"))


def is_journal(name: str) -> bool:
    """Return whether a file may belong to a journal, by its path in a submission."""
    path = PurePosixPath(name)
    return path.parent.name == "journal" and (path.name == RECORDS or path.suffix == ".md")


def read_bounded(file: Path, most_bytes: int) -> bytes:
    """A regular file's bytes, never through a link. Raises RefusedError, OSError."""
    if file.is_symlink():
        raise RefusedError("link", show(file.name))
    if not stat.S_ISREG(file.lstat().st_mode):  # a socket cannot be opened
        raise RefusedError("device", show(file.name))
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RefusedError("device", show(file.name))
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise RefusedError("too_large", f"at most {most_bytes // 10**6} MB, enough for what `make submit` packs")
    return content
