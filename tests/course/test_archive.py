"""grader/course/batch/archive.py: hostile and broken archives are refused by name, and good ones are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from grader.course.batch.archive import (
    MOST_BYTES,
    MOST_FILES,
    RefusedError,
    read_archive,
)

GOOD = {"lab/01_first.cu": b"int main;\n", "lab/notes.txt": b"hello\n"}


def contents_of(data: bytes) -> dict[str, bytes]:
    return {member.name: member.content for member in read_archive(data)}


def make_tar(*members: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            entry = tarfile.TarInfo(member[0])
            entry.size = len(member[1])
            archive.addfile(entry, io.BytesIO(member[1]))
    return packed.getvalue()


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def zip_mode(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    return entry


def sparse() -> bytes:
    """A member that says that it is 1 TB large, and holds nothing."""
    data = bytearray(make_tar(("a.cu", b"")))
    data[124:136] = (0x80 << 88 | 10**12).to_bytes(12, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def negative_size() -> bytes:
    """A member that leads the reader back to itself."""
    data = bytearray(make_tar(("a.cu", b"")))
    data[124:136] = (2**96 - 512).to_bytes(12, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def many_members() -> bytes:
    return gzip.compress(make_tar(special("d", tarfile.DIRTYPE))[:512] * 100_000, 1)


def pax_headers(count: int, records: int) -> bytes:
    """Return headers without effect, each with this number of records."""
    content = b"8 a=bcd\n" * records
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, len(content)
    return (header.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)) * count


def overlapping(count: int) -> bytes:
    """Return a zip whose members all point to one deflate stream, without output, of half the archive: local headers
    lie in each other's extra field, so that every name is right."""
    stream = b"\0\0\0\xff\xff" * 20_000 + b"\3\0"  # empty blocks
    names = [f"{number:03}_1_1_a.cu".encode() for number in range(count)]
    body = directory = b""
    extra = sum(30 + len(name) for name in names)
    for name in names:
        offset = len(body)
        extra -= 30 + len(name)
        sizes = (20, 0, 8, 0, 0x5821, 0, len(stream), 0, len(name))
        body += b"PK\3\4" + struct.pack("<HHHHHIIIHH", *sizes, extra) + name
        directory += b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, *sizes, 0, 0, 0, 0, 0o100644 << 16, offset) + name
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body + stream), 0)
    return body + stream + directory + b"PK\5\6" + end


def encrypted() -> bytes:
    unlocked = make_zip(("a", b"1"), method=0)
    return unlocked.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")


GOOD_TAR, GOOD_ZIP = make_tar(*GOOD.items()), make_zip(*GOOD.items())
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "parent_in_tar": ("traversal", lambda: make_tar(("../01_first.cu", b""))),
    "parent_in_zip": ("traversal", lambda: make_zip(("lab/../../x.cu", b""))),
    "absolute_tar": ("traversal", lambda: make_tar(("/etc/cron.d/x", b""))),
    "absolute_zip": ("traversal", lambda: make_zip(("/etc/x", b""))),
    "backslashes": ("traversal", lambda: make_zip(("..\\..\\x.cu", b""))),
    "drive": ("traversal", lambda: make_zip(("C:\\x.cu", b""))),
    "symbolic_link": ("link", lambda: make_tar(special("01_first.cu", tarfile.SYMTYPE, "/etc/passwd"))),
    "hard_link": ("link", lambda: make_tar(special("01_first.cu", tarfile.LNKTYPE, "../secret"))),
    "link_in_zip": ("link", lambda: make_zip((zip_mode("a.cu", stat.S_IFLNK | 0o777), b"/etc/passwd"))),
    "device": ("device", lambda: make_tar(special("null", tarfile.CHRTYPE))),
    "pipe": ("device", lambda: make_tar(special("pipe", tarfile.FIFOTYPE))),
    "pipe_in_zip": ("device", lambda: make_zip((zip_mode("a.cu", stat.S_IFIFO), b""))),
    "zip_bomb": ("bomb", lambda: make_zip(("a.cu", bytes(MOST_BYTES + 1)))),
    "many_halves": ("bomb", lambda: make_zip(*((f"{n}.cu", bytes(9_000_000)) for n in range(9)))),
    "gzip_bomb": ("bomb", lambda: gzip.compress(bytes(MOST_BYTES + 1), 1)),
    "bzip2_bomb": ("bomb", lambda: bz2.compress(bytes(MOST_BYTES + 1), 1)),
    "xz_bomb": ("bomb", lambda: lzma.compress(bytes(MOST_BYTES + 1), preset=0)),
    "shared_stream": ("overlap", lambda: overlapping(3)),
    "claimed_size": ("bomb", sparse),
    "loop": ("damaged", negative_size),
    "pax_records": ("damaged", lambda: gzip.compress(pax_headers(1, 101) + GOOD_TAR)),
    "pax_headers": ("damaged", lambda: gzip.compress(pax_headers(9, 1) + GOOD_TAR)),
    "many_files_tar": ("too_many_files", many_members),
    "many_files_zip": ("too_many_files", lambda: make_zip(*((f"{n}", b"") for n in range(3 * MOST_FILES)))),
    "many_files": ("too_many_files", lambda: make_tar(*((f"{n}", b"") for n in range(MOST_FILES + 1)))),
    "latin_1_name": ("bad_name", lambda: make_tar(("gr\xf6\xdfe.cu", b""))),
    "control_characters": ("bad_name", lambda: make_tar(("a\x1b[2J\n.cu", b""))),
    "long_name": ("bad_name", lambda: make_tar(("a" * 5000 + ".cu", b""))),
    "case_clash": ("name_clash", lambda: make_tar(("a.cu", b"1"), ("A.cu", b"2"))),
    "twice": ("name_clash", lambda: make_tar(("a.cu", b"1"), ("./a.cu", b"2"))),
    "truncated_tar": ("truncated", lambda: make_tar(("a.cu", b"x" * 5000))[:3000]),
    "truncated_gzip": ("truncated", lambda: gzip.compress(make_tar(("a.cu", os.urandom(5000))))[:3000]),
    "truncated_xz": ("truncated", lambda: lzma.compress(GOOD_TAR)[:-40]),
    "truncated_zip": ("truncated", lambda: GOOD_ZIP[:-30]),
    "changed_zip": ("damaged", lambda: make_zip(("a.cu", b"abc"), method=0).replace(b"abc", b"abd")),
    "changed_gzip": ("damaged", lambda: gzip.compress(b"x" * 100)[:-8] + bytes(8)),
    "encrypted": ("encrypted", encrypted),
    "rar": ("unknown_format", lambda: b"Rar!\x1a\x07\x01\0"),
    "no_archive": ("unknown_format", lambda: b"not an archive"),
    "nothing": ("empty", lambda: b""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_by_name(name: str) -> None:
    reason, make = HOSTILE[name]
    with pytest.raises(RefusedError) as refused:
        read_archive(make())
    assert refused.value.reason == reason, str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_tars_are_read(pack: Callable[[bytes], bytes]) -> None:
    assert contents_of(pack(GOOD_TAR)) == GOOD


def test_the_attributes_of_a_file_are_skipped() -> None:
    assert contents_of(gzip.compress(pax_headers(8, 100) + GOOD_TAR)) == GOOD


def test_zips_are_read() -> None:
    assert list(contents_of(overlapping(1))) == ["000_1_1_a.cu"]
    assert contents_of(GOOD_ZIP) == GOOD
    assert contents_of(make_zip(("lab\\01.cu", b"1"))) == {"lab/01.cu": b"1"}


def test_what_the_operating_system_adds_is_left_out() -> None:
    added = [(name, b"") for name in ("__MACOSX/lab/._01_first.cu", "lab/._01_first.cu", ".DS_Store", "lab/.git/x.cu")]
    assert contents_of(make_zip(*GOOD.items(), *added)) == contents_of(make_tar(*added, *GOOD.items())) == GOOD


def test_times_are_read_and_are_unknown_if_they_are_invalid() -> None:
    def zip_time(*date: int) -> float:
        return read_archive(make_zip((zipfile.ZipInfo("a", date), b"")))[0].time_s

    assert zip_time(2026, 11, 20, 10, 0, 0) == 1_795_168_800
    assert zip_time(1980, 1, 1, 0, 0, 0) == zip_time(2099, 1, 1, 0, 0, 0) == zip_time(2026, 0, 0, 0, 0, 0) == 0
    for time_s, read in ((1_795_168_800, 1_795_168_800), (0, 0), (5_000_000_000, 0)):
        member = tarfile.TarInfo("a")
        member.mtime = time_s
        assert read_archive(make_tar(member))[0].time_s == read


def old_file(name: str, content: bytes) -> bytes:
    """Return a member of GNU tar's default format with a date before 1970, without the archive's end."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), -43_200
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def test_a_date_before_1970_is_no_damage() -> None:
    (member,) = read_archive(old_file("a.cu", b"one") + bytes(1024))
    assert (member.name, member.content, member.time_s) == ("a.cu", b"one", 0)


def test_every_prefix_of_an_archive_is_refused_or_read() -> None:
    for whole in (GOOD_ZIP, gzip.compress(GOOD_TAR), lzma.compress(GOOD_TAR)):
        for length in range(0, len(whole), 7):
            try:
                read_archive(whole[:length])
            except RefusedError:
                continue


def test_no_change_of_a_byte_breaks_the_reader() -> None:
    for whole in (GOOD_ZIP, GOOD_TAR[:2048]):
        for place in range(len(whole)):
            changed = bytearray(whole)
            changed[place] ^= 0xFF
            try:
                read_archive(bytes(changed))
            except RefusedError:
                continue
