"""Read tar archives in one forward pass: ustar, GNU's long names, and the path, size and time of pax headers.

Python's tarfile seeks backwards if a size is negative and takes time quadratic in the size of a header (CVE-2025-8194,
CVE-2024-6232). This reader's memory is bounded by the bytes that it reads, and its time by these and the number of
members.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

BLOCK = 512
CHUNK_BYTES = 1_000_000
MAX_HEADER_BYTES = 100_000  # the limit for a long name or a pax header
MAX_RECORDS = 100  # per pax header; a file's attributes need about ten
MAX_HEADERS = 8  # extension headers before one member
FILES, FOLDER, LINKS = (b"0", b"\0", b"7"), b"5", (b"1", b"2")
WITHOUT_CONTENT = (*LINKS, b"3", b"4", FOLDER, b"6")  # includes devices and pipes, whatever size they state
SPARSE = b"S"  # a sparse file; its stored content is incomplete, so it is refused like a device
LONG_NAME, LONG_LINK, PAX, PAX_OF_ALL = b"L", b"K", b"x", b"g"


class Stream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes: ...


class TarError(Exception):
    """Invalid tar archive."""


@dataclass
class Member:
    """A member's header. `kind`: the type flag; `size`: in bytes; `time_s`: in seconds since 1970."""

    name: str
    kind: bytes
    size: int
    time_s: float

    def is_folder(self) -> bool:
        return self.kind == FOLDER or (self.is_file() and self.name.endswith("/"))

    def is_file(self) -> bool:
        return self.kind in FILES

    def is_link(self) -> bool:
        return self.kind in LINKS


class Content:
    """The content of one member, which can be read once."""

    def __init__(self, stream: Stream, size: int):
        self.stream, self.left = stream, size

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, empty at the end. Raises EOFError if the archive ends earlier."""
        data = self.stream.read(min(size, self.left)) if self.left else b""
        if not data and size and self.left:
            raise EOFError
        self.left -= len(data)
        return data

    def skip(self) -> None:
        while self.read(CHUNK_BYTES):
            pass


def read_members(stream: Stream) -> Iterator[tuple[Member, Content]]:
    """Yield each member with its content, in the archive's order. Raises TarError, EOFError."""
    values: dict[str, str] = {}  # values from the headers before the member, by pax keyword
    headers = 0
    while (block := read_exactly(stream, BLOCK)) and block.strip(b"\0"):
        member = parse_header(block)
        if member.kind in (LONG_NAME, LONG_LINK, PAX, PAX_OF_ALL):
            headers += 1
            if headers > MAX_HEADERS:
                raise TarError
            values |= read_extension(stream, member)
            continue
        has_more = member.kind == SPARSE and block[482]  # whether more of GNU's map of the holes follows
        while has_more:
            has_more = read_whole(stream, BLOCK)[504]
        member = complete(member, values)
        values, headers = {}, 0
        content = Content(stream, 0 if member.kind in WITHOUT_CONTENT else member.size)
        padding = -content.left % BLOCK
        yield member, content
        content.skip()
        stream.read(padding)


def read_exactly(stream: Stream, size: int) -> bytes:
    """Return `size` bytes, or none at the end of the stream. Raises EOFError if fewer are left."""
    parts, remaining = [], size
    while remaining and (part := stream.read(remaining)):
        parts.append(part)
        remaining -= len(part)
    if remaining and parts:
        raise EOFError
    return b"".join(parts)


def read_whole(stream: Stream, size: int) -> bytes:
    """Return `size` bytes. Raises EOFError if fewer are left, or none."""
    content = read_exactly(stream, size)
    if len(content) < size:
        raise EOFError
    return content


def parse_header(block: bytes) -> Member:
    """Parse one block. Raises TarError if its checksum or a number is invalid."""
    if read_number(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise TarError
    name = read_text(block[:100])
    if block[257:263] == b"ustar\0" and (prefix := read_text(block[345:500])):
        name = f"{prefix}/{name}"
    return Member(name, block[156:157], read_number(block[124:136]), read_time(block[136:148]))


def is_header(block: bytes, may_be_old: bool = False) -> bool:
    """Return whether a block is a valid header of a ustar archive or, if `may_be_old`, of any tar archive."""
    try:
        return len(block) == BLOCK and (may_be_old or block[257:262] == b"ustar") and bool(parse_header(block))
    except TarError:
        return False


def read_text(field: bytes) -> str:
    """Decode a field up to its first NUL; bytes that are not UTF-8 become surrogates."""
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def read_number(field: bytes) -> int:
    """Parse octal digits, or GNU's base 256. Raises TarError if the value is negative or not a number."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.replace(b"\0", b" ").strip()
    if digits.strip(b"01234567"):
        raise TarError
    return int(digits or b"0", 8)


def read_time(field: bytes) -> int:
    """Parse a time as read_number() does. Return 0 if it is invalid, because the archive can be read without it."""
    try:
        return read_number(field)
    except TarError:
        return 0


def read_extension(stream: Stream, member: Member) -> dict[str, str]:
    """Read the values that an extension header gives the next member, by pax keyword. Raises TarError, EOFError."""
    if member.size > MAX_HEADER_BYTES:
        raise TarError
    content = read_whole(stream, member.size + -member.size % BLOCK)[: member.size]
    if member.kind == LONG_NAME:
        return {"path": read_text(content)}
    return parse_pax(content) if member.kind == PAX else {}


def parse_pax(content: bytes) -> dict[str, str]:
    """Parse records such as b"12 path=a.cu\\n"; the last record of a keyword counts. Raises TarError."""
    records: dict[str, str] = {}
    at = count = 0
    while at < len(content):
        count += 1
        if count > MAX_RECORDS:
            raise TarError
        length, space, _ = content[at : at + 20].partition(b" ")
        if not space or not length.isdigit() or int(length) <= len(length) + 1:
            raise TarError
        key, equals, value = content[at + len(length) + 1 : at + int(length) - 1].partition(b"=")
        if not equals:
            raise TarError
        records[key.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        at += int(length)
    return records


def complete(member: Member, values: dict[str, str]) -> Member:
    """Return the member with the values of the headers before it. Raises TarError if the size in these is invalid."""
    is_sparse = member.is_file() and any(key.startswith("GNU.sparse.") for key in values)
    kind = SPARSE if is_sparse else member.kind
    name = values.get("path", member.name)
    size, time_s = values.get("size", ""), values.get("mtime", "")
    if size and not (size.isascii() and size.isdigit() and len(size) < 20):
        raise TarError
    try:
        seconds = float(time_s) if time_s else float(member.time_s)
    except (ValueError, OverflowError):
        seconds = 0.0
    return Member(name, kind, int(size) if size else member.size, seconds if math.isfinite(seconds) else 0.0)
