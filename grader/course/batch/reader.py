"""Reads everything that one student handed in: files, folders, archives, and archives in these.

python3 -m grader.course.batch.reader < HAND_IN    a JSON list of paths; prints JSON, and then the bytes of all files

Some bytes cost a reader much time or memory, in ways that nobody can foresee. So `read_apart` runs this program in a
process of its own, with limits for one hand-in. It lists parts that cannot be read, and still reads all other files.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.course.batch.archive import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    Member,
    RefusedError,
    is_archive,
    is_folder,
    is_journal,
    is_useful,
    most_bytes,
    past_time,
    plain_name,
    read_archive,
    read_bounded,
    require_bounds,
    walk,
)

MOST_LEVELS = 2  # of archives in archives; deeper archives are not opened
READING_S = 20  # of processor time: the largest hand-in takes about 5
WAITING = 10  # factor: on a busy machine, this much more time may pass
MOST_MEMORY_BYTES = 1_500_000_000
MOST_ARCHIVES = 100  # that are opened, in one hand-in
MOST_REFUSED = 100  # parts whose names are kept; the feedback lists a few
MOST_ANSWER_BYTES = MOST_BYTES + 50_000_000  # all files, and their names
CHUNK_BYTES = 1_000_000
PROJECT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class File(Member):
    """A file of a hand-in. `places` are the names of the entry and of the archives around the file, outermost
    first; `name` begins with as many of them as distinguish it from others."""

    places: tuple[str, ...]


@dataclass
class Contents:
    """A hand-in's files, and the name of each part that cannot be read, with the reason."""

    files: list[File] = field(default_factory=list)
    refused: list[tuple[str, RefusedError]] = field(default_factory=list)


def read_apart(entries: Sequence[Path], limit_s: float) -> Contents:
    """Read a hand-in in a process of its own, for READING_S or `limit_s` seconds. Raises RefusedError if that is
    not enough, or the process ends in any other way; OSError if it fails without a hand-in, too."""
    cpu_s = max(1, int(min(limit_s, READING_S)))
    status, data = run_reader(entries, cpu_s)
    if status == 0:
        return parse(data)
    if status > 0 and run_reader([], cpu_s)[0] != 0:
        raise OSError(f"the reader of hand-ins ended with status {status}")
    raise RefusedError("too_slow")


def run_reader(entries: Sequence[Path], cpu_s: int) -> tuple[int, bytes]:
    """Return the exit status of the process that reads a hand-in, and its output; negative if it was killed because
    it took too long or wrote more than MOST_ANSWER_BYTES."""
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-S", "-P", "-m", "grader.course.batch.reader", str(cpu_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    timer = threading.Timer(cpu_s * WAITING, process.kill)
    timer.start()
    try:
        data = exchange(process, json.dumps([str(entry) for entry in entries]).encode())
        return process.wait(), data
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def exchange(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    """Write to a process and read its output. Kill it if the output exceeds MOST_ANSWER_BYTES."""
    assert process.stdin and process.stdout
    with process.stdout, contextlib.suppress(BrokenPipeError):
        with process.stdin:
            process.stdin.write(question)
        chunks, left = [], MOST_ANSWER_BYTES
        while chunk := process.stdout.read(CHUNK_BYTES):
            left -= len(chunk)
            if left < 0:
                process.kill()
                return b""
            chunks.append(chunk)
        return b"".join(chunks)
    return b""


def parse(data: bytes) -> Contents:
    """Parse the output of the process. Raises OSError if the reader itself failed."""
    header, _, rest = data.partition(b"\n")
    listed = json.loads(header)
    if listed["error"]:
        raise OSError(listed["error"])
    contents = Contents(refused=[(name, RefusedError(*why)) for name, *why in listed["refused"]])
    at = 0
    for name, size, time_s, places in listed["files"]:
        contents.files.append(File(name, rest[at : at + size], time_s, tuple(places)))
        at += size
    return contents


def read_all(entries: Sequence[Path]) -> Contents:
    """Read a hand-in within the bounds of one archive, the last entry first. Raises OSError."""
    reader = Reader(several=len(entries) > 1)
    for entry in reversed(entries):
        with reader.refusing(entry.name):
            reader.read_entry(entry)
    return reader.contents


class Reader:
    """Collects files within the bounds of one hand-in. `several`: each name begins with the name of its
    entry. The bounds hold for all members of all archives, whether they are added, opened or refused."""

    def __init__(self, several: bool):
        self.contents = Contents()
        self.several, self.unpacked = several, 0
        self.archives = self.members = 0  # opened, and in these

    @contextlib.contextmanager
    def refusing(self, name: str) -> Iterator[None]:
        """Add a part to the refused ones if it cannot be read."""
        try:
            yield
        except RefusedError as refused:
            if len(self.contents.refused) < MOST_REFUSED:
                self.contents.refused.append((name, refused))

    def read_entry(self, entry: Path) -> None:
        """Read one file or folder that was handed in. Raises RefusedError, OSError."""
        if is_folder(entry):
            for file in list_files(entry):
                self.read_file(file, file.relative_to(entry).as_posix(), (entry.name,))
        elif is_archive(entry.name):
            self.read_inner(read_bounded(entry, most_bytes(entry.name)), (entry.name,))
        else:
            content = read_bounded(entry, MOST_FILE_BYTES)
            self.add(File(entry.name, content, past_time(entry.lstat().st_mtime), (entry.name,)))

    def read_file(self, file: Path, name: str, places: tuple[str, ...]) -> None:
        """Read one file of a folder. Raises OSError."""
        with self.refusing(name):
            content = read_bounded(file, most_bytes(name))
            if is_archive(name):
                self.read_inner(content, (*places, name))
            else:
                self.add_member(Member(plain_name(name), content, past_time(file.lstat().st_mtime)), places)

    def read_inner(self, data: bytes, places: tuple[str, ...], level: int = 0) -> None:
        """Read an archive that lies in `level` others. Raises RefusedError."""
        self.archives += 1
        if self.archives > MOST_ARCHIVES:
            raise RefusedError("too_many_files", f"at most {MOST_ARCHIVES} archives")
        members = read_archive(data)
        require_bounds(self.members + len(members), self.unpacked + sum(len(member.content) for member in members))
        self.members += len(members)
        for member in members:
            if is_archive(member.name) and level < MOST_LEVELS:
                with self.refusing("/".join((*places[1:], member.name))):
                    self.read_inner(member.content, (*places, member.name), level + 1)
            else:
                self.add_member(member, places)

    def add_member(self, member: Member, places: tuple[str, ...]) -> None:
        """Add a file of a folder or archive. Raises RefusedError."""
        name = "/".join((*(places if self.several else places[1:]), member.name))
        self.add(File(name, member.content, member.time_s, places))

    def add(self, file: File) -> None:
        """Add a file. Raises RefusedError."""
        require_bounds(len(self.contents.files) + 1, self.unpacked + len(file.content))
        self.unpacked += len(file.content)
        self.contents.files.append(file)


def list_files(folder: Path) -> list[Path]:
    """List code, descriptions, archives and the journal in a folder, newest first. Raises RefusedError, OSError."""
    found = [Path(entry.path) for entry in walk(folder) if not entry.is_dir(follow_symlinks=False)]
    files = [file for file in found if is_useful(file.name) or is_journal(file.relative_to(folder).as_posix())]
    return sorted(files, key=lambda file: -file.lstat().st_mtime)


def main() -> None:
    """Read the hand-in that standard input names, within limits. Any failure ends the process with an exit status."""
    entries = [Path(name) for name in json.load(sys.stdin)]
    cpu_s = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    try:
        contents, error = read_all(entries), ""
    except OSError as broken:
        contents, error = Contents(), str(broken)
    files = [(file.name, len(file.content), file.time_s, file.places) for file in contents.files]
    refused = [(name, refused.reason, refused.detail) for name, refused in contents.refused]
    header = json.dumps({"error": error, "files": files, "refused": refused})
    sys.stdout.buffer.write(header.encode() + b"\n")
    for file in contents.files:
        sys.stdout.buffer.write(file.content)


if __name__ == "__main__":
    main()
