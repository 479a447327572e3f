"""Unpack a course system's archive of all hand-ins into the batch's own folder, once.

    OUT/handed-in/<hash of the archive>/files/           a folder of submissions
    OUT/handed-in/<hash of the archive>/left_out.json    sentences about files that were not unpacked

Students control the contents of the archive, so one student's hand-in must not affect the others. A file that cannot
be unpacked is left out. If a hand-in is too large, its remaining files are left out. Archives in the archive stay
packed; they are opened one by one later. The whole archive is refused if the download itself is damaged or encrypted,
or if it is the hand-in of a single student.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from grader.python.batch.ingest import tar
from grader.python.batch.ingest.archive import (
    MANIFEST,
    MAX_FILES,
    ZIP_END_BYTES,
    Kind,
    RefusedError,
    check_tar_member,
    check_zip_entry,
    has_hidden_part,
    is_archive,
    is_folder,
    is_hidden,
    is_zip,
    kind_of_file,
    plain_name,
    refusing_damage,
    require_end,
    require_no_overlap,
    show,
)
from grader.python.batch.ingest.disk import raise_if_full
from grader.python.batch.ingest.names import SUBMITTED, is_hand_in_name, read_system_name, strip_archive
from grader.python.batch.ingest.roster import Student, alias_key, students_by_alias
from grader.python.common.console import UserError, read_json, say

FOLDER = "handed-in"
MAX_HAND_INS = 200_000  # enough for hundreds of students with some hundred loose files each
MAX_HAND_IN_BYTES = 200_000_000  # for the files of one kind; equal to the reader's limit for archives
MAX_PART_BYTES = 255  # Linux's limit for the name of a file or folder
START_BYTES = tar.BLOCK  # enough to identify an archive's kind
CHUNK_BYTES = 1_000_000
LATEST_S = 2**32  # file systems may not store later dates
COMPRESSED: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
OWN_PARTS = ("journal", "reports", "starter", "work")  # folders of one student's work
# Reasons for which a file is omitted and the rest of the archive is unpacked.
FILE_REASONS = ("link", "device", "traversal", "bad_name", "name_clash")
FILE_REASONS += ("too_large", "too_many_files", "unknown_method")
NAME_ERRORS = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
ADVICE = {
    "encrypted": "Unpack it with its password, and give the folder.",
    "unknown_format": "SUBMISSIONS is a folder of hand-ins, or a zip or tar archive of them.",
    "bomb": "Unpack it, and give the folder.",
}
Counted = tuple[str, Kind]  # a hand-in and a kind of file: these files share one limit
DOWNLOAD_AGAIN = "Download it again; or unpack it, and give the folder."


@dataclass
class Member:
    """A file or folder in an archive. `check` raises RefusedError if it is neither."""

    name: str
    is_folder: bool
    time_s: float
    check: Callable[[], None]
    open: Callable[[], tar.Stream]


@dataclass
class Unpacked:
    """The files written so far, below `folder`."""

    folder: Path
    depth: int = 1  # parts of a name that identify the hand-in
    hand_ins: set[str] = field(default_factory=set)
    members: Counter[Counted] = field(default_factory=Counter)
    bytes: Counter[Counted] = field(default_factory=Counter)
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)  # a sentence by hand-in and reason


def unpack(file: Path, out: Path, lab: str) -> tuple[Path, list[str]]:
    """Unpack an archive, and return the folder of submissions in the batch's folder, and sentences about hand-ins of
    which a part was left out. An archive that was unpacked before is not unpacked again. Raises UserError,
    OSError."""
    with file.open("rb") as stream:
        require_archive(file, stream.read(START_BYTES))
        stream.seek(0)
        place = out / FOLDER / hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    if not place.is_dir():
        say(f"Unpacking {file} to {place} …", flush=True)
        part = place.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        try:
            unpack_whole(file, part, lab)
            part.rename(place)  # comes last, so that an interrupted unpacking starts again
        except RefusedError as refused:
            raise explain_refusal(file, refused) from None
        except OSError as error:
            raise_if_full(out, error)
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return find_hand_ins(place / "files", lab), read_json(place / "left_out.json")


def require_archive(file: Path, start: bytes) -> None:
    """Raise UserError if a file's first bytes are not those of an archive."""
    if not start:
        raise explain_refusal(file, RefusedError("empty"))
    if not start.startswith((b"PK", *COMPRESSED)) and start[257:262] != b"ustar":
        raise explain_refusal(file, RefusedError("unknown_format"))


def explain_refusal(file: Path, refused: RefusedError) -> UserError:
    """Return an error with the reason why an archive of all hand-ins is not unpacked, and what to try."""
    return UserError(f"{file}: {refused} {ADVICE.get(refused.reason, DOWNLOAD_AGAIN)}")


def unpack_whole(file: Path, part: Path, lab: str) -> None:
    """Write files/ and left_out.json. Raises RefusedError, UserError, OSError."""
    unpacked = Unpacked(part / "files")
    unpacked.folder.mkdir(parents=True)
    with file.open("rb") as stream:
        unpacked.depth = hand_in_depth(read_members(stream))
        for member in read_members(stream):
            unpack_member(member, unpacked)
    tops = list(unpacked.folder.iterdir())
    tops += make_empty_folders(unpacked, {top.name for top in tops})
    if not tops:
        raise UserError(f"{file}: the archive contains no files. {DOWNLOAD_AGAIN}")
    if example := find_sign_of_one_student(find_hand_ins(unpacked.folder, lab), lab):
        raise UserError(
            f"{file}: looks like the hand-in of one student, because {example} is at its top. SUBMISSIONS must be an "
            "archive of all hand-ins, or a folder: move this archive into a folder, and choose the folder."
        )
    sentences = [f"{file.name}: {sentence}" for sentence in unpacked.left_out.values()]
    (part / "left_out.json").write_text(json.dumps(sentences), encoding="utf-8")


def hand_in_depth(members: Iterable[Member]) -> int:
    """Return how many parts of a name identify a file's hand-in: one, or two if the first part is a folder that holds
    all hand-ins. Raises RefusedError."""
    tops = {top for member in members if (top := top_of(member)) and not is_hidden(top)}
    return 1 if len(tops) != 1 or is_hand_in_name(next(iter(tops))) else 2


def top_of(member: Member) -> str:
    """Return the first part of a member's name; empty if the member is refused."""
    try:
        member.check()
        return checked_name(member.name).partition("/")[0]
    except RefusedError:
        return ""


def split_name(name: str) -> list[str]:
    """Return the parts of a member's name."""
    return [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]


def make_empty_folders(unpacked: Unpacked, tops: Set[str]) -> list[Path]:
    """Make an empty folder for each hand-in without unpacked files, so that it gets a status, too. Return the
    folders."""
    numbers = {match["id"] for top in tops if (match := read_system_name(top))}
    folders = []
    for hand_in, _ in unpacked.left_out:
        match = read_system_name(hand_in)
        is_whole = match or is_archive(hand_in) or "." not in hand_in  # not a loose file without a student
        if "/" in hand_in or hand_in in tops or not is_whole or (match and match["id"] in numbers):
            continue
        with contextlib.suppress(RefusedError):  # not a valid name for a folder
            folder = unpacked.folder / checked_name(hand_in)
            make_folder(folder)
            folders.append(folder)
    return list(dict.fromkeys(folders))


def read_members(stream: IO[bytes]) -> Iterator[Member]:
    """Yield the members of an archive with all hand-ins. Raises RefusedError if it cannot be read."""
    stream.seek(0)
    start = stream.read(START_BYTES)
    with refusing_damage():
        yield from read_zip(stream) if is_zip(start) else read_tar(stream, start)


def read_zip(stream: IO[bytes]) -> Iterator[Member]:
    """Yield the members of a zip archive in its order."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - ZIP_END_BYTES))
    require_end(stream.read())
    with zipfile.ZipFile(stream) as archive:
        require_no_overlap(archive.infolist(), size)
        for entry in archive.infolist():
            check = partial(check_zip_entry, entry)
            yield Member(entry.filename, entry.is_dir(), zip_time_s(entry), check, partial(archive.open, entry))


def zip_time_s(entry: zipfile.ZipInfo) -> float:
    """Return an entry's time in seconds since 1970, 0 if it has none."""
    try:
        return time.mktime((*entry.date_time, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0


def read_tar(stream: IO[bytes], start: bytes) -> Iterator[Member]:
    """Yield the members of a tar archive in its order. `start`: its first bytes."""
    stream.seek(0)
    openers = [opener for magic, opener in COMPRESSED.items() if start.startswith(magic)]
    for member, content in tar.read_members(openers[0](stream) if openers else stream):
        check = partial(check_tar_member, member)
        yield Member(member.name, member.is_folder(), member.time_s, check, partial(open_content, content))


def open_content(content: tar.Content) -> tar.Content:
    """Return the content unchanged, because the reader of the tar has already opened it."""
    return content


def unpack_member(member: Member, unpacked: Unpacked) -> None:
    """Write a member to the path that its name gives, or record why it is omitted. For files that no grade needs, which
    have limits of their own, nothing is recorded. Raises OSError, and RefusedError if the whole archive is refused."""
    parts = split_name(member.name)
    has_system_name = bool(parts) and is_hand_in_name(parts[0])
    hand_in = "/".join(parts[: unpacked.depth])
    kind = kind_in(parts, unpacked.depth)
    needed = len(parts) <= unpacked.depth or kind != "ignored"
    counted = (hand_in, kind)
    try:
        if len(parts) > 1 and (has_system_name or not needed):  # the student gets a folder even if the file is refused
            make_folder(unpacked.folder / checked_name(parts[0] if has_system_name else hand_in))
        count_member(counted, unpacked)
        member.check()
        write_member(member, counted, unpacked)
    except RefusedError as refused:
        if refused.reason not in FILE_REASONS:
            raise
        if needed:
            unpacked.left_out.setdefault((hand_in, refused.reason), f"not everything was unpacked; {refused}")


def kind_in(parts: Sequence[str], depth: int) -> Kind:
    """Return the kind of a file by the parts of its name, of which the first `depth` identify the hand-in."""
    if has_hidden_part("/".join(parts[:depth])):
        return "ignored"
    return kind_of_file("/".join(parts[depth:] or parts[-1:]))


def write_member(member: Member, counted: Counted, unpacked: Unpacked) -> None:
    """Write a file or make a folder. Raises RefusedError, for example if the file system rejects the name; OSError."""
    target = unpacked.folder / checked_name(member.name)
    try:
        make_folder(target if member.is_folder else target.parent)
        if not member.is_folder:
            write_file(member, target, counted, unpacked)
    except OSError as error:
        if error.errno not in NAME_ERRORS:
            raise
        raise RefusedError("bad_name", show(member.name)) from None


def count_member(counted: Counted, unpacked: Unpacked) -> None:
    """Count a member. Raises RefusedError if its hand-in has too many members of its kind, or if there are too many
    hand-ins."""
    unpacked.members[counted] += 1
    unpacked.hand_ins.add(counted[0])
    if unpacked.members[counted] > 2 * MAX_FILES:
        raise RefusedError("too_many_files", f"at most {2 * MAX_FILES}, in {show(counted[0])}")
    if len(unpacked.hand_ins) > MAX_HAND_INS:
        raise RefusedError("bomb", f"at most {MAX_HAND_INS} hand-ins")


def checked_name(name: str) -> str:
    """Return a member's name as a relative path that can be written. Raises RefusedError if the name is invalid or too
    long."""
    name = plain_name(name)
    if any(len(os.fsencode(part)) > MAX_PART_BYTES for part in name.split("/")):
        raise RefusedError("bad_name", show(name))
    return name


def make_folder(folder: Path) -> None:
    """Make a folder if it does not exist. Raises RefusedError if a file has its name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RefusedError("name_clash", show(folder.name)) from None


def write_file(member: Member, target: Path, counted: Counted, unpacked: Unpacked) -> None:
    """Write a file with its date, up to the size limit of its hand-in. Raises RefusedError, OSError."""
    remaining_bytes = MAX_HAND_IN_BYTES - unpacked.bytes[counted]
    too_large = RefusedError(
        "too_large", f"{show(member.name)}, with at most {MAX_HAND_IN_BYTES // 10**6} MB per hand-in"
    )
    if not remaining_bytes:
        raise too_large
    with refusing_damage():
        stream = member.open()
    with open_new(target) as file:
        while chunk := read_chunk(stream, min(remaining_bytes + 1, CHUNK_BYTES)):
            file.write(chunk[:remaining_bytes])
            if len(chunk) > remaining_bytes:
                unpacked.bytes[counted] = MAX_HAND_IN_BYTES
                raise too_large
            remaining_bytes -= len(chunk)
    unpacked.bytes[counted] = MAX_HAND_IN_BYTES - remaining_bytes
    date = min(max(0, member.time_s), LATEST_S)
    os.utime(target, (date, date))


def read_chunk(stream: tar.Stream, size: int) -> bytes:
    """Return the next bytes. Raises RefusedError."""
    with refusing_damage():
        return stream.read(size)


def open_new(target: Path) -> IO[bytes]:
    """Create a file. Raises RefusedError if its name is taken, OSError."""
    try:
        return target.open("xb")
    except FileExistsError:
        raise RefusedError("name_clash", show(target.name)) from None


def list_visible(folder: Path) -> list[Path]:
    """Return the paths in a folder, without hidden ones."""
    return [path for path in folder.iterdir() if not is_hidden(path.name)]


def find_hand_ins(folder: Path, lab: str) -> Path:
    """Return the folder itself, or the only folder in it if that one contains hand-ins: a name by a course system or
    `make submit`, or two archives or folders that are not parts of one student's work. Other files make no
    difference."""
    tops = list_visible(folder)
    if len(tops) != 1 or not tops[0].is_dir() or is_hand_in_name(tops[0].name):
        return folder
    inside = list_visible(tops[0])
    parts = (lab, *OWN_PARTS)
    candidates = [path for path in inside if path.name not in parts and (path.is_dir() or is_archive(path.name))]
    return tops[0] if len(candidates) > 1 or any(is_hand_in_name(path.name) for path in inside) else folder


def find_extracted(folder: Path, roster: Sequence[Student]) -> Path:
    """Return the folder itself, or the only folder in it if that one contains names of several students, as after
    "extract here": names by a course system, or ids of the roster. The parts of one student's work have no such
    names."""
    tops, by_alias = list_visible(folder), students_by_alias(roster)
    if len(tops) != 1 or not is_folder(tops[0]) or is_hand_in_name(tops[0].name):
        return folder
    if alias_key(tops[0].name) in by_alias:
        return folder
    try:
        inside = list_visible(tops[0])
    except OSError:  # a student's own folder, which no other user can read
        return folder
    ids = {name["id"] for path in inside if (name := read_system_name(path.name))}
    owners = {by_alias[key].id for path in inside if (key := alias_key(claimed_id(path.name))) in by_alias}
    return tops[0] if max(len(ids), len(owners)) > 1 else folder


def claimed_id(name: str) -> str:
    """Return the student's id in the name of an archive or folder that no course system named."""
    submitted = SUBMITTED.fullmatch(name)
    return submitted["ids"] if submitted else strip_archive(name) if is_archive(name) else name


def find_sign_of_one_student(folder: Path, lab: str) -> str:
    """Return a name at the top of the archive which shows that the archive is one student's hand-in; empty if there is
    none."""
    tops = sorted(list_visible(folder))
    if any(is_hand_in_name(top.name) for top in tops):
        return ""
    folders = [top for top in tops if top.name == lab or (top / MANIFEST).is_file()]
    files = [top for top in tops if top.name == MANIFEST or top.name.endswith(".cu")]
    other_folders = [top for top in tops if top not in folders and (top.is_dir() or is_archive(top.name))]
    if other_folders:  # a student's loose files must not make the whole archive look like one hand-in
        return ""
    return next(iter([f"{top.name}/" for top in folders] + [top.name for top in files]), "")


def remove_unused(out: Path, used: Iterable[Path]) -> None:
    """Remove unpacked files of earlier downloads, unless one of the paths `used` leads to them."""
    used = list(used)
    for place in (out / FOLDER).iterdir() if (out / FOLDER).is_dir() else ():
        if not any(path.is_relative_to(place) for path in used):
            shutil.rmtree(place, ignore_errors=True)
