"""Tests of archive.py: hostile and broken archives are refused with a reason, and valid archives are read."""

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
from pathlib import Path

import pytest

from grader.python.batch.ingest import archive
from grader.python.batch.ingest.archive import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_FILES,
    RefusedError,
)
from grader.python.batch.ingest.reader import File, Reader, read_in_child

GOOD = {"lab/01_first.cu": b"int main;\n", "lab/manifest.json": b"hello\n"}


def read_archive(data: bytes) -> list[File]:
    """Read an archive and return its files. Raise the first RefusedError of the archive or of a file in it."""
    reader = Reader(several=False)
    reader.read_archive(data, ("a.zip",), 0)
    for _, refused in reader.contents.refused:
        raise refused
    return reader.contents.files


def contents_of(data: bytes) -> dict[str, bytes]:
    return {file.name: file.content for file in read_archive(data)}


def make_tar(*members: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            entry = tarfile.TarInfo(member[0])
            entry.size = len(member[1])
            archive.addfile(entry, io.BytesIO(member[1]))
    return buffer.getvalue()


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def zip_mode(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    return entry


def sparse() -> bytes:
    """Return a tar with a member that claims to be 1 TB large and has no content."""
    data = bytearray(make_tar(("a.cu", b"")))
    data[124:136] = (0x80 << 88 | 10**12).to_bytes(12, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def negative_size() -> bytes:
    """Return a tar with a member whose negative size makes the reader return to that member."""
    data = bytearray(make_tar(("a.cu", b"")))
    data[124:136] = (2**96 - 512).to_bytes(12, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


def many_members() -> bytes:
    return gzip.compress(make_tar(special("d", tarfile.DIRTYPE))[:512] * (MAX_ENTRIES + 1), 1)


def pax_headers(count: int, records: int) -> bytes:
    """Return headers that have no effect, each with this number of records."""
    content = b"8 a=bcd\n" * records
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, len(content)
    return (header.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)) * count


def overlapping(count: int) -> bytes:
    """Return a zip whose members all share one deflate stream, which fills most of the archive and inflates to nothing.
    Each local header except the first is in the extra fields of those before it, so that every name is correct."""
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
    unlocked = make_zip(("a.cu", b"1"), method=0)
    return unlocked.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")


GOOD_TAR, GOOD_ZIP = make_tar(*GOOD.items()), make_zip(*GOOD.items())
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "symbolic_link": ("link", lambda: make_tar(special("01_first.cu", tarfile.SYMTYPE, "/etc/passwd"))),
    "hard_link": ("link", lambda: make_tar(special("01_first.cu", tarfile.LNKTYPE, "../secret"))),
    "link_in_zip": ("link", lambda: make_zip((zip_mode("a.cu", stat.S_IFLNK | 0o777), b"/etc/passwd"))),
    "device": ("device", lambda: make_tar(special("null.cu", tarfile.CHRTYPE))),
    "pipe": ("device", lambda: make_tar(special("pipe.cu", tarfile.FIFOTYPE))),
    "pipe_in_zip": ("device", lambda: make_zip((zip_mode("a.cu", stat.S_IFIFO), b""))),
    "zip_bomb": ("too_large", lambda: make_zip(("a.cu", bytes(MAX_BYTES + 1)))),
    "many_large_files": ("bomb", lambda: make_zip(*((f"part{n}.cu", bytes(9_000_000)) for n in range(9)))),
    "gzip_bomb": ("bomb", lambda: gzip.compress(GOOD_TAR) + gzip.compress(bytes(10**7), 1) * 31),
    "bzip2_bomb": ("bomb", lambda: bz2.compress(GOOD_TAR) + bz2.compress(bytes(10**7), 1) * 31),
    "shared_stream": ("overlap", lambda: overlapping(3)),
    "claimed_size": ("truncated", sparse),
    "loop": ("damaged", negative_size),
    "pax_records": ("damaged", lambda: gzip.compress(pax_headers(1, 101) + GOOD_TAR)),
    "pax_headers": ("damaged", lambda: gzip.compress(pax_headers(9, 1) + GOOD_TAR)),
    "many_files_tar": ("too_many_files", many_members),
    "many_files_zip": ("too_many_files", lambda: make_zip(*((f"part{n}.cu", b"") for n in range(3 * MAX_FILES)))),
    "many_files": ("too_many_files", lambda: make_tar(*((f"part{n}.cu", b"") for n in range(MAX_FILES + 1)))),
    "control_characters": ("bad_name", lambda: make_tar(("a\x1b[2J\n.cu", b""))),
    "long_name": ("bad_name", lambda: make_tar(("a" * 5000 + ".cu", b""))),
    "truncated_tar": ("truncated", lambda: make_tar(("a.cu", b"x" * 5000))[:3000]),
    "truncated_gzip": ("truncated", lambda: gzip.compress(make_tar(("a.cu", os.urandom(5000))))[:3000]),
    "truncated_xz": ("truncated", lambda: lzma.compress(GOOD_TAR)[:-40]),
    "truncated_zip": ("truncated", lambda: GOOD_ZIP[:-30]),
    "changed_zip": ("damaged", lambda: make_zip(("a.cu", b"abc"), method=0).replace(b"abc", b"abd")),
    "changed_gzip": ("damaged", lambda: gzip.compress(GOOD_TAR)[:-8] + bytes(8)),
    "changed_gzip_and_more": ("damaged", lambda: gzip.compress(GOOD_TAR)[:-8] + bytes(8) + b"\r\n"),
    "encrypted": ("encrypted", encrypted),
    "zip_after_tar": ("ambiguous", lambda: GOOD_TAR + make_zip(("a.cu", b"1"))),
    "zip_after_xz": ("ambiguous", lambda: lzma.compress(GOOD_TAR) + GOOD_ZIP),
    "zip_in_a_tar's_name": ("ambiguous", lambda: make_tar(("PK\3\4/a.cu", b"")) + GOOD_ZIP),
    "rar": ("unknown_format", lambda: b"Rar!\x1a\x07\x01\0"),
    "no_archive": ("unknown_format", lambda: b"not an archive"),
    "compressed_file": ("unknown_format", lambda: gzip.compress(b"__global__ void k() {}\n" * 40)),
    "nothing": ("empty", lambda: b""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_with_its_reason(name: str) -> None:
    reason, make = HOSTILE[name]
    with pytest.raises(RefusedError) as error:
        read_archive(make())
    assert error.value.reason == reason, str(error.value)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "name, expected",
    [
        ("../01_first.cu", "01_first.cu"),
        ("lab/../../x.cu", "lab/x.cu"),
        ("/lab/ada/01_first.cu", "lab/ada/01_first.cu"),
        ("..\\..\\x.cu", "x.cu"),
        ("C:\\lab\\x.cu", "lab/x.cu"),
        ("./x:y.cu", "x:y.cu"),
    ],
)
@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_what_leads_outside_an_archive_has_no_effect(make: Callable[..., bytes], name: str, expected: str) -> None:
    assert contents_of(make((name, b"1"))) == {expected: b"1"}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_an_inflated_tar_is_bounded(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_INFLATED", 2_000_000)
    assert contents_of(pack(GOOD_TAR)) == GOOD
    with pytest.raises(RefusedError) as error:
        read_archive(pack(GOOD_TAR + bytes(2_000_000)))
    assert error.value.reason == "bomb"


IGNORED: dict[str, tuple[str | tarfile.TarInfo, bytes]] = {
    "profile": ("lab/profile.nsys-rep", bytes(11_000_000)),
    "profile_too_large_for_all_files": ("lab/profile.nsys-rep", bytes(MAX_BYTES + 1)),
    "link": (special("lab/.venv/bin/python", tarfile.SYMTYPE, "/usr/bin/python3"), b""),
    "link_to_another_folder": (special("lab/lab.h", tarfile.SYMTYPE, "../lab.h"), b""),
    "hard_link": (special("lab/copy.txt", tarfile.LNKTYPE, "lab/01_first.cu"), b""),
    "pipe": (special("lab/pipe", tarfile.FIFOTYPE), b""),
    "volume_label": (special("my label", b"V"), b""),
    "incremental_backup": (special("lab/", b"D"), b""),
    "capitals": ("LAB/NOTES.TXT", b""),
    "bad_name": ("lab/\x1b.txt", b""),
    "elsewhere": ("../lab/notes.txt", b""),
}


@pytest.mark.parametrize("name", IGNORED)
def test_a_file_that_grading_does_not_need_causes_no_refusal(name: str) -> None:
    member, content = IGNORED[name]
    ignored = (member, content) if isinstance(member, str) else member
    assert contents_of(gzip.compress(make_tar(ignored, *GOOD.items()))) == GOOD
    if isinstance(ignored, tuple):
        assert contents_of(make_zip(ignored, *GOOD.items())) == GOOD


@pytest.mark.parametrize("folder", ["lab/build/", "lab/.venv/", "__MACOSX/"])
def test_files_that_grading_does_not_need_are_not_counted(folder: str) -> None:
    many = [(f"{folder}{number}.o", b"x") for number in range(MAX_FILES + 1)]
    assert contents_of(make_tar(*many, *GOOD.items())) == contents_of(make_zip(*many, *GOOD.items())) == GOOD


# The archives of HOSTILE in which only the hostile file is refused if they also contain other files.
ALONE = (
    "symbolic_link", "hard_link", "link_in_zip", "device", "zip_bomb", "long_name", "changed_zip", "encrypted",
)  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_only_the_file_that_cannot_be_read_is_refused(name: str) -> None:
    reason, make = HOSTILE[name]
    data = make()
    reader = Reader(several=False)
    if data.startswith(b"PK"):
        buffer = io.BytesIO(data)
        with zipfile.ZipFile(buffer, "a") as archive:
            for member in GOOD.items():
                archive.writestr(*member)
        data = buffer.getvalue()
    else:
        data = data[: -len(data) % 512 or None].rstrip(b"\0") + b""
        data += bytes(-len(data) % 512) + GOOD_TAR
    reader.read_archive(data, ("a.zip",), 0)
    assert {file.name: file.content for file in reader.contents.files} == GOOD
    assert [refused.reason for _, refused in reader.contents.refused] == [reason]


def test_all_files_with_the_same_name_are_read() -> None:
    """Names that differ only in case are two files, as in a folder."""
    members = [("a.cu", b"1"), ("A.cu", b"2"), ("./a.cu", b"3")]
    for data in (make_tar(*members), make_zip(*members)):
        assert [(file.name, file.content) for file in read_archive(data)] == [
            ("a.cu", b"1"),
            ("A.cu", b"2"),
            ("a.cu", b"3"),
        ]


def test_a_sparse_file_costs_no_other_file() -> None:
    """GNU tar writes further blocks of the map of holes after the header."""
    info = special("lab/profile.bin", b"S")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert contents_of(bytes(header) + b"1".ljust(504) + b"\1" + bytes(7) + b"1" * 504 + bytes(8) + GOOD_TAR) == GOOD


def test_a_folder_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    assert contents_of(make_tar(("\xdcbung 1/01_first.cu", b"1"))) == {"\ufffdbung 1/01_first.cu": b"1"}
    (inside := tmp_path / "ada" / os.fsdecode(b"\xdcbung 1")).mkdir(parents=True)
    (inside / "01_first.cu").write_bytes(b"1")
    contents = read_in_child([tmp_path / "ada"], 60)
    assert [(file.name, file.content) for file in contents.files] == [("\ufffdbung 1/01_first.cu", b"1")]


def in_two_streams(content: bytes) -> bytes:
    """Compress with xz in two streams and padding, like programs that compress in parallel."""
    return lzma.compress(content[:1000]) + bytes(8) + lzma.compress(content[1000:]) + bytes(4)


def without_magic(content: bytes) -> bytes:
    """Return a tar without the mark "ustar", as in the oldest format."""
    blocks = [content[at : at + 512] for at in range(0, len(content), 512)]
    return b"".join(remove_magic(block) if block[257:262] == b"ustar" else block for block in blocks)


def remove_magic(block: bytes) -> bytes:
    header = block[:148] + b" " * 8 + block[156:257] + bytes(255)
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def with_line_break(content: bytes) -> bytes:
    """Compress with gzip, and add a line break, as some mail programs and web servers do."""
    return gzip.compress(content) + b"\r\n"


PACKS = [bytes, gzip.compress, bz2.compress, lzma.compress, in_two_streams, without_magic, with_line_break]


@pytest.mark.parametrize("pack", PACKS)
def test_tars_are_read(pack: Callable[[bytes], bytes]) -> None:
    assert contents_of(pack(GOOD_TAR)) == GOOD


def test_a_tar_may_look_like_a_zip() -> None:
    members = {"PKumar/01_first.cu": b"1", "PKumar/other.txt": GOOD_ZIP}
    assert contents_of(make_tar(*members.items())) == {"PKumar/01_first.cu": b"1"}


def test_the_attributes_of_a_file_are_skipped() -> None:
    assert contents_of(gzip.compress(pax_headers(8, 100) + GOOD_TAR)) == GOOD


def test_zips_are_read() -> None:
    assert list(contents_of(overlapping(1))) == ["000_1_1_a.cu"]
    assert contents_of(GOOD_ZIP) == GOOD
    assert contents_of(make_zip(("lab\\01.cu", b"1"))) == {"lab/01.cu": b"1"}


def test_files_that_the_operating_system_adds_are_left_out() -> None:
    added = [(name, b"") for name in ("__MACOSX/lab/._01_first.cu", "lab/._01_first.cu", ".DS_Store", "lab/.git/x.cu")]
    assert contents_of(make_zip(*GOOD.items(), *added)) == contents_of(make_tar(*added, *GOOD.items())) == GOOD


def test_times_are_read_and_are_unknown_if_they_are_invalid() -> None:
    def zip_time(*date: int) -> float:
        return read_archive(make_zip((zipfile.ZipInfo("a.cu", date), b"")))[0].time_s

    assert zip_time(2026, 11, 20, 10, 0, 0) == 1_795_168_800
    assert zip_time(1980, 1, 1, 0, 0, 0) == zip_time(2099, 1, 1, 0, 0, 0) == zip_time(2026, 0, 0, 0, 0, 0) == 0
    for time_s, expected_s in ((1_795_168_800, 1_795_168_800), (0, 0), (5_000_000_000, 0)):
        member = tarfile.TarInfo("a.cu")
        member.mtime = time_s
        assert read_archive(make_tar(member))[0].time_s == expected_s


def old_file(name: str, content: bytes) -> bytes:
    """Return a member of GNU tar's default format with a date before 1970, without the archive's end."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), -43_200
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def test_a_date_before_1970_is_accepted() -> None:
    (member,) = read_archive(old_file("a.cu", b"one") + bytes(1024))
    assert (member.name, member.content, member.time_s) == ("a.cu", b"one", 0)


def test_a_prefix_of_an_archive_is_refused_or_read() -> None:
    for complete in (GOOD_ZIP, gzip.compress(GOOD_TAR), lzma.compress(GOOD_TAR)):
        for length in range(0, len(complete), 7):
            try:
                read_archive(complete[:length])
            except RefusedError:
                continue


def test_an_archive_with_a_changed_byte_does_not_crash_the_reader() -> None:
    for complete in (GOOD_ZIP, GOOD_TAR[:2048]):
        for place in range(len(complete)):
            changed = bytearray(complete)
            changed[place] ^= 0xFF
            try:
                read_archive(bytes(changed))
            except RefusedError:
                continue
