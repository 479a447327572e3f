"""Read untrusted archives.

Archives are read in memory and within bounds, and a name in an archive never becomes a path: a submission is a
dictionary of names and bytes, and only the files of stages are written to disk. If bytes make a reader raise any
exception, it becomes a RefusedError for that hand-in (`refusing_damage`). The rules for archives and for folders
(folders.py) are the same: a file that no grade needs is not read and causes no refusal; if a file cannot be read, only
that file is refused.
"""

from __future__ import annotations

import bz2
import calendar
import contextlib
import errno
import gzip
import io
import lzma
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.python.batch.ingest import tar
from grader.python.batch.ingest.names import is_course_systems_name, original_name
from grader.python.batch.ingest.times import past_time
from grader.python.journal.quiz import ANSWERS

MAX_ARCHIVE_BYTES = 100_000_000  # including ignored files, such as .git/
MAX_BYTES = 64_000_000  # all files of one kind together, unpacked
MAX_ARCHIVES_BYTES = 200_000_000  # all archives of a hand-in together
MAX_FILE_BYTES = 10_000_000
MAX_FILES = 2000  # per kind of file
MAX_ENTRIES = 50_000  # per archive or folder, including ignored entries; listing them takes about 2 s
MAX_INFLATED = 300_000_000  # bytes of an unpacked tar, without ignored files
CHUNK_BYTES = 1_000_000
MAX_NAME = 300  # characters
XZ_MEMORY_BYTES = 128_000_000
NO_GZIP_START = "Not a gzipped file"  # Python's message if no further gzip stream follows
XZ_MAGIC, XZ_PIECE_BYTES = b"\xfd7zXZ\x00", 16_384
NO_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the time in a zip without times
RECORDS = "records.jsonl"  # a journal's measurements
MANIFEST = "manifest.json"  # written by `make submit`
MAX_MANIFEST_BYTES = 1_000_000  # a larger one is ignored, because there is no time limit for parsing
ZIP_END_BYTES = 70_000  # enough for the end of a zip's directory and the longest comment
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
ARCHIVE_ENDINGS = (*ARCHIVES, ".7z", ".rar", ".gz", ".zst")  # also of kinds that are refused
BUILD = "build"  # a folder of a kit; students do not write in it
# Endings of a stage's file, including those that an editor or a desktop gives it.
CODE_ENDINGS = (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".txt")
# Matches all names that kind_of_file() does not ignore. It is a quick test, because a hand-in may contain thousands of
# other names.
MAY_BE_NEEDED = re.compile(r"\.(?:c|t|zip|7z|rar|gz|bz2|xz|zst|json|md)", re.IGNORECASE)
DRIVE = re.compile(r"^.:(?:/|$)")
NAMED_LIKE_STAGE = re.compile(r"(?:^|[_-])\d\d_[^/]*$")
OTHER_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!": "RAR", b"\x28\xb5\x2f\xfd": "Zstandard"}
# Python's zipfile reads other compression methods without a bound on the unpacked size.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MEANINGS = {
    "too_large": "it is larger than can be read",
    "too_many_files": "it contains more files than a lab has",
    "bomb": "it would be too large when unpacked",
    "overlap": "several of its files use the same bytes",
    "traversal": "a name in it points outside its folder",
    "link": "it contains a link",
    "device": "it contains an entry that is neither a file nor a folder",
    "bad_name": "a name in it is not UTF-8, or too long",
    "name_clash": "two names in it are the same, or differ only in upper and lower case",
    "encrypted": "it is encrypted",
    "empty": "the file is empty",
    "truncated": "its end is missing",
    "damaged": "it is damaged",
    "unknown_method": "its compression method is not supported; use zip with deflate",
    "too_deep": "its folders are nested too deeply",
    "nested": "it is inside more than two other archives",
    "unknown_format": "it is neither a zip nor a tar archive",
    "ambiguous": "it is a tar archive and a zip archive at the same time",
    "unreadable": "it cannot be read",
    "too_slow": "reading it takes too much time or memory",
}
MACHINE_ERRORS = (errno.EIO, errno.EMFILE, errno.ENFILE)
Kind = Literal["code", "archive", "other", "ignored"]


class RefusedError(Exception):
    """The reason why a file or a hand-in is not read, as the end of a sentence. `reason` is a key of MEANINGS."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{MEANINGS[reason]}{f' ({detail})' if detail else ''}.")
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class Member:
    """A file that was read. `time_s` is the time of its last change, in seconds since 1970 (a zip has no zone: UTC is
    assumed); 0 if it is unknown."""

    name: str
    content: bytes
    time_s: float


@dataclass(frozen=True)
class Part:
    """A file of an archive or a folder, not read yet. Ignored parts are not read, checked or counted. `check` raises
    RefusedError if the part is not a plain file; `open` raises OSError, and other errors for damaged archives."""

    name: str
    size: int  # in bytes
    time_s: float  # its last change, in seconds since 1970; 0 if unknown
    kind: Kind
    check: Callable[[], None]
    open: Callable[[], AbstractContextManager[tar.Stream]]


def is_archive(name: str) -> bool:
    """Return whether a file's name is that of an archive of any kind."""
    return original_name(name).lower().endswith(ARCHIVE_ENDINGS)


def kind_of_file(path: str) -> Kind:
    """Return the kind of a file by its path in a submission. Each kind has its own limits, so that any number of other
    files cannot displace the code. Hidden files, build outputs, and files that no grade and no message needs are
    ignored."""
    path = path.replace("\\", "/")
    folder, _, last = path.rpartition("/")
    if not MAY_BE_NEEDED.search(last) or has_hidden_part(path):
        return "ignored"
    name = original_name(last).lower()
    if is_named_like_stage(name):
        return "code"
    if BUILD in folder.split("/"):
        return "ignored"
    if name.endswith(".cu"):
        return "code"
    if name.endswith(ARCHIVE_ENDINGS):
        return "archive"
    return "other" if name.endswith(".cpp") or name == MANIFEST or is_journal(path) else "ignored"


def is_named_like_stage(name: str) -> bool:
    """Return whether a file's name, in lower case and without folders, may be a stage's, possibly after a prefix by a
    course system."""
    return name.endswith(CODE_ENDINGS) and bool(NAMED_LIKE_STAGE.search(name))


def has_hidden_part(path: str) -> bool:
    """Return whether a file, or a folder on its path, is hidden."""
    return any(is_hidden(part) for part in path.replace("\\", "/").split("/") if part not in (".", ".."))


def is_folder(path: Path) -> bool:
    """Return whether the path is a folder. A link counts as none: a student chooses its target, and looking it up may
    fail."""
    with contextlib.suppress(OSError):  # it was removed in the meantime
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def list_members(data: bytes) -> Iterator[Part]:
    """Yield all files of an archive. The caller must read each file before it asks for the next one. Raises
    RefusedError if the next file cannot be found."""
    if not data:
        raise RefusedError("empty")
    with refusing_damage():
        if is_zip(data):
            yield from list_zip(data)
        else:
            require_no_zip(data[-ZIP_END_BYTES:])
            yield from list_tar(Bounded(inflate(data)))


def is_zip(start: bytes) -> bool:
    """Return whether these are the first bytes of a zip, and not of a tar whose first name begins with PK."""
    return start.startswith(b"PK") and not tar.is_header(start[: tar.BLOCK])


def require_no_zip(end: bytes) -> None:
    """Raise RefusedError if a file that begins as a tar ends as a zip. Programs would disagree on its contents."""
    for match in re.finditer(rb"PK\x05\x06.{16}(..)", end, re.DOTALL):  # the last two bytes: a comment's length
        if int.from_bytes(match[1], "little") == len(end) - match.end():
            raise RefusedError("ambiguous")


def read_part(part: Part, name: str) -> Member:
    """Read a part, and return it with the name `name`. Raises RefusedError if it cannot be read or is too large."""
    with refusing_damage():
        limit = max_bytes(part.kind)
        content = b""
        if part.size <= limit:
            with part.open() as stream:
                content = stream.read(limit + 1)
        if max(part.size, len(content)) > limit:
            raise RefusedError("too_large", f"at most {limit // 10**6} MB, enough for what `make submit` packs")
        return Member(name, content, past_time(part.time_s))


@contextlib.contextmanager
def refusing_damage() -> Iterator[None]:
    """Convert all exceptions from reading an archive to RefusedError, except errors of the machine.

    No list of the exceptions that readers may raise would be complete, so this also converts exceptions that a mistake
    in the program causes. Therefore, use it only around the reading of untrusted bytes.
    """
    try:
        yield
    except RefusedError:
        raise
    except EOFError:
        raise RefusedError("truncated") from None
    except MemoryError:
        raise RefusedError("too_slow") from None
    except OSError as error:
        raise refuse_unreadable(error) from None
    except Exception:
        raise RefusedError("damaged") from None


def refuse_unreadable(error: OSError) -> RefusedError:
    """Return the reason why a file is not read. Raises the error itself if the machine is at fault, and not the
    student."""
    if error.errno in MACHINE_ERRORS:
        raise error
    return RefusedError("unreadable" if error.errno else "damaged", error.strerror or "")


def zip_time(entry: zipfile.ZipInfo) -> float:
    """Return an entry's time in seconds since 1970; 0 if it has no valid time."""
    try:
        return 0.0 if entry.date_time == NO_ZIP_TIME else calendar.timegm(entry.date_time)
    except (ValueError, OverflowError):
        return 0.0


def own_name(name: str) -> str:
    """Return a member's name as a relative path with forward slashes, without a root, a drive and `..`. `zip ../lab.cu`
    and `tar -P` keep these, and here they have no effect, because no name becomes a path. Raises RefusedError if the
    name is too long, or has control characters or bytes that are not UTF-8."""
    name = name.replace("\\", "/")
    if len(name) > MAX_NAME or any(ord(c) < 32 or 0xD800 <= ord(c) <= 0xDFFF for c in name):
        raise RefusedError("bad_name", show(name))
    return "/".join(part for part in DRIVE.sub("", name).split("/") if part not in ("", ".", ".."))


def plain_name(name: str) -> str:
    """Return the same for an archive of many hand-ins, in which names say whose the files are. Raises RefusedError if
    the name has a root, a drive or `..`, too."""
    plain = own_name(name)
    name = name.replace("\\", "/")
    if name.startswith("/") or DRIVE.match(name) or ".." in name.split("/"):
        raise RefusedError("traversal", show(name))
    return plain


def as_text(name: str) -> str:
    """Return a name in which a substitute replaces each byte that is not UTF-8; older programs write such names."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", name)


def show(name: str) -> str:
    """Escape an untrusted name for a message."""
    return name[:80].encode("unicode_escape", "backslashreplace").decode()


def max_bytes(kind: Kind) -> int:
    """Return the maximum size in bytes of a file of this kind."""
    return MAX_ARCHIVE_BYTES if kind == "archive" else MAX_FILE_BYTES


def max_bytes_together(kind: Kind) -> int:
    """Return the maximum number of bytes of all files of this kind in one hand-in."""
    return MAX_ARCHIVES_BYTES if kind == "archive" else MAX_BYTES


def list_zip(data: bytes) -> Iterator[Part]:
    """Yield the files of a zip archive in its order. Raises RefusedError if the archive is invalid."""
    require_end(data[-ZIP_END_BYTES:])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(files) > MAX_ENTRIES:
            raise RefusedError("too_many_files", f"at most {MAX_ENTRIES}")
        kinds = [kind_of_file(entry.filename) for entry in files]
        needed = [entry for entry, kind in zip(files, kinds, strict=True) if kind != "ignored"]
        require_no_overlap(needed, len(data))
        for entry, kind in zip(files, kinds, strict=True):
            check, read = partial(check_zip_entry, entry), partial(archive.open, entry)
            yield Part(entry.filename, entry.file_size, zip_time(entry), kind, check, read)


def require_end(end: bytes) -> None:
    """Raise RefusedError if a zip archive's last bytes do not contain the end of its directory."""
    if b"PK\x05\x06" not in end:
        raise RefusedError("truncated")


def require_no_overlap(entries: Iterable[zipfile.ZipInfo], size: int) -> None:
    """Raise RefusedError if the members of a zip archive of `size` bytes hold more compressed bytes than the archive.

    If many members share the same bytes, each of them takes time, even if it yields no output. Without such members,
    the time to read an archive is linear in its size."""
    if sum(entry.compress_size for entry in entries) > size:
        raise RefusedError("overlap")


def check_zip_entry(entry: zipfile.ZipInfo) -> None:
    """Raise RefusedError if an entry is not a plain file or folder, is encrypted, or has an unsupported compression
    method."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise RefusedError("link", show(entry.filename))
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise RefusedError("device", show(entry.filename))
    if entry.flag_bits & 0x1:
        raise RefusedError("encrypted")
    if entry.compress_type not in ZIP_METHODS:
        raise RefusedError("unknown_method", show(entry.filename))


def inflate(data: bytes) -> tar.Stream:
    """Return a stream of the tar in a file, which may be compressed. Raises RefusedError if the file has an unsupported
    format."""
    for magic, name in OTHER_ARCHIVES.items():
        if data.startswith(magic):
            raise RefusedError("unknown_format", f"it is {name}; hand in a .zip or a .tar.gz")
    if data.startswith(b"\x1f\x8b"):
        return require_tar(Gzip(fileobj=io.BytesIO(data)))
    if data.startswith(b"BZh"):
        return require_tar(bz2.BZ2File(io.BytesIO(data)))
    if data.startswith(XZ_MAGIC):
        return io.BufferedReader(Xz(data))
    if data[257:262] != b"ustar" and not tar.is_header(data[: tar.BLOCK], may_be_old=True):
        if not data.strip(b"\0"):
            raise RefusedError("damaged")
        raise RefusedError("unknown_format", "hand in a .zip or a .tar.gz")
    return io.BytesIO(data)


def require_tar(stream: gzip.GzipFile | bz2.BZ2File) -> tar.Stream:
    """Return the stream from its beginning. Raises RefusedError if it contains a single text file instead of an
    archive."""
    start = stream.read(tar.BLOCK)
    if start and b"\0" not in start:
        raise RefusedError("unknown_format", "it is one compressed file: hand in that file, not compressed")
    stream.seek(0)
    return stream


class Gzip(gzip.GzipFile):
    """The content of a gzip file. Bytes after its end, such as a line break that a mail program adds, are ignored, as
    gzip itself, BZ2File and Xz do."""

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, empty at the end. Raises OSError if the data is damaged, EOFError if its end is
        missing."""
        try:
            return super().read(size)
        except gzip.BadGzipFile as error:
            if not str(error).startswith(NO_GZIP_START):
                raise
            return b""


class Xz(io.RawIOBase):
    """The content of an xz file, which is read within a memory limit, because the file determines how much memory
    reading it takes. Programs that compress in parallel write several streams, one after the other."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0
        self.decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer and return the number of bytes, 0 at the end. Raises RefusedError if the data is damaged or
        takes too much memory, EOFError if its end is missing."""
        content = b""
        while not content and (not self.decompressor.eof or self.begin_next_stream()):
            piece = self.data[self.at : self.at + XZ_PIECE_BYTES] if self.decompressor.needs_input else b""
            if self.decompressor.needs_input and not piece:
                raise EOFError
            self.at += len(piece)
            try:
                content = self.decompressor.decompress(piece, len(buffer))
            except lzma.LZMAError as error:
                raise RefusedError("bomb" if "limit" in str(error) else "damaged") from None
        buffer[: len(content)] = content
        return len(content)

    def begin_next_stream(self) -> bool:
        """Begin the next stream of the file, which may follow after zeros. Return False if there is none."""
        end = self.at - len(self.decompressor.unused_data)
        self.at = next(re.compile(rb"\0*").finditer(self.data, end)).end()
        if not self.data.startswith(XZ_MAGIC, self.at):
            self.data, self.at = b"", len(self.decompressor.unused_data)  # so that a further call returns False, too
            return False
        self.decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES)
        return True


class Bounded:
    """A stream of at most MAX_INFLATED bytes. Ignored files do not count; only the time limit applies to them."""

    def __init__(self, stream: tar.Stream):
        self.stream, self.left = stream, MAX_INFLATED

    def read(self, size: int, /) -> bytes:
        """Return the next bytes. Raises RefusedError after MAX_INFLATED bytes."""
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise RefusedError("bomb", f"at most {MAX_INFLATED // 10**6} MB")
        return data


def list_tar(stream: Bounded) -> Iterator[Part]:
    """Yield the files of a tar archive in its order. Raises RefusedError if it has too many members."""
    for number, (member, content) in enumerate(tar.read_members(stream), 1):
        if number > MAX_ENTRIES:
            raise RefusedError("too_many_files", f"at most {MAX_ENTRIES}")
        if not member.is_folder():
            check, read = partial(check_tar_member, member), partial(contextlib.nullcontext, content)
            part = Part(member.name, member.size, member.time_s, kind_of_file(member.name), check, read)
            stream.left += content.left if part.kind == "ignored" else 0
            yield part
    while stream.read(CHUNK_BYTES):  # read to the end, which verifies the checksum
        pass


def check_tar_member(member: tar.Member) -> None:
    """Raise RefusedError if a member is not a plain file or folder."""
    if member.is_link():
        raise RefusedError("link", show(member.name))
    if not (member.is_folder() or member.is_file()):
        raise RefusedError("device", show(member.name))


def is_hidden(name: str) -> bool:
    """Return whether a file or folder with this name is hidden or created by an operating system. A course system's
    name may begin with a dot, too, because it begins with the name of a person or a group, such as .NET."""
    return name.startswith((".", "__MACOSX")) and (name.startswith("._") or not is_course_systems_name(name))


def is_journal(name: str) -> bool:
    """Return whether a file may belong to a journal, by its path in a submission."""
    path = PurePosixPath(name)
    return path.parent.name == "journal" and (path.name in (RECORDS, ANSWERS) or path.suffix == ".md")
