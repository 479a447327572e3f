"""Read all files of one hand-in: files, folders, archives, and archives in these.

Reading some bytes takes much time or memory, which cannot be foreseen. Therefore, `read_in_child` reads each hand-in in
a separate process with limits. It lists parts that cannot be read, and still reads all other files. One process,

    python3 -m grader.python.batch.ingest.reader

loads all modules once and forks these processes, because a fork takes a tenth of the time of a new start.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from grader.python.batch.ingest.archive import (
    MAX_BYTES,
    MAX_FILES,
    MAX_NAME,
    Kind,
    Member,
    Part,
    RefusedError,
    as_text,
    has_hidden_part,
    is_archive,
    is_named_like_stage,
    list_members,
    max_bytes,
    max_bytes_together,
    own_name,
    read_part,
    refuse_unreadable,
)
from grader.python.batch.ingest.folders import list_parts
from grader.python.batch.ingest.module_path import python_path

MAX_LEVELS = 2  # archives in archives; deeper ones are not opened
READING_S = 20  # processor time; the largest hand-in takes about 5
WALL_MULTIPLE = 10  # limit of the time that passes, as a multiple of the processor time; the machine may be busy
MAX_MEMORY_BYTES = 1_500_000_000
MAX_ARCHIVES = 100  # opened archives of one hand-in
MAX_REFUSED = 100  # names that are kept of refused parts, and of ignored files; the feedback lists a few
MAX_ANSWER_BYTES = 4 * MAX_BYTES + 50_000_000  # enough for the files of all kinds at their limits, and for the names
CHUNK_BYTES = 1_000_000
# Signals of crashes, which a hand-in may cause: Python itself can crash when it reaches its memory limit.
CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP)


class KilledError(Exception):
    """Another process, or the kernel for lack of memory, killed the process that read a hand-in. This is not the
    student's fault."""


@dataclass(frozen=True)
class File(Member):
    """A file of a hand-in. `places`: the names of the entry and of the archives around the file, outermost first.
    `name` begins with as many of them as are necessary to distinguish the file from others."""

    places: tuple[str, ...]


@dataclass
class Contents:
    """A hand-in's files; the names of parts that cannot be read, with the reasons; and the names of files that no grade
    needs. `is_empty`: whether the hand-in contains nothing but folders, archives and hidden files."""

    files: list[File] = field(default_factory=list)
    refused: list[tuple[str, RefusedError]] = field(default_factory=list)
    is_empty: bool = True
    ignored: list[str] = field(default_factory=list)


def read_in_child(entries: Sequence[Path], limit_s: float) -> Contents:
    """Read a hand-in in a separate process, within `limit_s` and READING_S seconds of processor time. Raises
    RefusedError if the smaller limit is exceeded, or if the process fails or crashes; OSError if the process also fails
    without a hand-in; KilledError if another process kills it."""
    cpu_s = max(1, int(min(limit_s, READING_S)))
    status, data = run_reader(entries, cpu_s)
    if status == 0:
        return parse(data)
    has_crashed = -status in CRASHES
    if status < 0 and status != -signal.SIGXCPU and not has_crashed:
        raise KilledError(f"The reader of hand-ins was killed (signal {-status}). Is there enough memory?")
    if (status > 0 or has_crashed) and run_reader([], cpu_s)[0] != 0:
        raise OSError(f"the reader of hand-ins ended with status {status}")
    raise RefusedError("too_slow")


def run_reader(entries: Sequence[Path], cpu_s: int) -> tuple[int, bytes]:
    """Return the exit status of the process that reads a hand-in, and its output. The status is -SIGXCPU if the process
    took too long or wrote more than MAX_ANSWER_BYTES, and negative for other signals."""
    with contextlib.ExitStack() as stack:
        pipes = [
            [stack.enter_context(os.fdopen(end, mode)) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)]
            for _ in range(3)
        ]
        (child_question, question), (output, child_output), (status, child_status) = pipes
        child_ends = (child_question, child_output, child_status)
        server.ask(f"{cpu_s} {cpu_s * WALL_MULTIPLE}", [end.fileno() for end in child_ends])
        for end in child_ends:
            end.close()
        data = exchange(question, output, json.dumps([str(entry) for entry in entries]).encode())
        if data is None:
            return -signal.SIGXCPU, b""
        ended = status.read()
        return int(ended) if ended else server.find_status(), data


class Server:
    """The connection to the process that forks the readers. That process starts with the first question, and ends with
    this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: socket.socket | None = None

    def ask(self, limits: str, descriptors: Sequence[int]) -> None:
        """Have a child read the hand-in whose paths it reads from the first descriptor, and write the contents to the
        second one and its exit status to the third one. If the server has ended, nothing is written."""
        with self.lock:
            if not self.process or not self.connection or self.process.poll() is not None:
                self.start()
            assert self.connection
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                socket.send_fds(self.connection, [limits.encode()], descriptors)

    def start(self) -> None:
        own_end, servers_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if self.connection:
            self.connection.close()
        self.connection = own_end
        with servers_end:
            self.process = subprocess.Popen(
                [sys.executable, "-S", "-P", "-m", "grader.python.batch.ingest.reader"],
                stdin=servers_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": python_path()},
            )

    def find_status(self) -> int:
        """Return the status of a child for which none was reported: the server's own, or -SIGKILL if the server
        runs."""
        assert self.process
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(1) or -signal.SIGKILL
        return -signal.SIGKILL


server = Server()


def exchange(question: IO[bytes], output: IO[bytes], text: bytes) -> bytes | None:
    """Write a question to a child and return its output; None if it exceeds MAX_ANSWER_BYTES."""
    with contextlib.suppress(BrokenPipeError), question:
        question.write(text)
    chunks, remaining_bytes = [], MAX_ANSWER_BYTES
    while chunk := output.read(CHUNK_BYTES):
        remaining_bytes -= len(chunk)
        if remaining_bytes < 0:
            return None  # the child ends when it writes to the closed pipe
        chunks.append(chunk)
    return b"".join(chunks)


def parse(data: bytes) -> Contents:
    """Parse the output of the process that read a hand-in. Raises OSError if that process reports one."""
    at = data.index(b"\n") + 1
    answer = json.loads(data[:at])
    if answer["error"]:
        raise OSError(answer["error"])
    contents = Contents([], [(name, RefusedError(*why)) for name, *why in answer["refused"]], answer["is_empty"])
    contents.ignored = answer["ignored"]
    for name, size, time_s, places in answer["files"]:  # no copy of all bytes: there may be hundreds of MB
        contents.files.append(File(name, data[at : at + size], time_s, tuple(places)))
        at += size
    return contents


def read_all(entries: Sequence[Path], cpu_s: float = READING_S) -> Contents:
    """Read a hand-in within the limits of one hand-in, the last entry first. Refuse further archives after half of
    `cpu_s` seconds of processor time. Raises OSError if an entry no longer exists, which is not the student's fault."""
    reader = Reader(len(entries) > 1, time.process_time() + cpu_s / 2)
    for entry in reversed(entries):
        is_folder = stat.S_ISDIR(entry.lstat().st_mode)
        with reader.refusing(entry.name):
            reader.read_parts(list_parts(entry), (entry.name,) if is_folder else ())
    return reader.contents


class Budget:
    """Counts the files of a kind, including refused ones, and the bytes of those that were read. Code named like a
    stage is a kind of its own, so that libraries that are read first cannot use up its limit."""

    def __init__(self, max_bytes: int) -> None:
        self.files = self.bytes = 0
        self.max_bytes = max_bytes

    def add_file(self) -> None:
        """Count one file. Raises RefusedError if it exceeds the limit."""
        self.files += 1
        if self.files > MAX_FILES:
            raise RefusedError("too_many_files", f"at most {MAX_FILES}")

    def require_room(self, size: int) -> None:
        """Raise RefusedError if `size` more bytes exceed the limit."""
        if self.bytes + size > self.max_bytes:
            raise RefusedError("bomb", f"at most {self.max_bytes // 10**6} MB")


class Reader:
    """Collects files within the limits of one hand-in. `several`: whether there are several entries, so that each name
    begins with that of its entry. `end_s`: the processor time after which archives are refused, so that an archive
    cannot prevent the reading of other files."""

    def __init__(self, several: bool, end_s: float = math.inf):
        self.contents = Contents()
        self.several, self.archives, self.end_s = several, 0, end_s
        self.budgets: dict[tuple[Kind, bool], Budget] = {}

    @contextlib.contextmanager
    def refusing(self, name: str) -> Iterator[None]:
        """Add a part to the refused ones if it cannot be read. Raises OSError if the machine is the cause."""
        try:
            yield
        except (RefusedError, OSError) as error:
            refused = refuse_unreadable(error) if isinstance(error, OSError) else error
            if len(self.contents.refused) < MAX_REFUSED:
                self.contents.refused.append((name[:MAX_NAME], refused))

    def read_parts(self, parts: Iterable[Part], places: tuple[str, ...], level: int = 0) -> None:
        """Read the files of a folder, or of an archive that lies in `level` - 1 others. Raises RefusedError if the next
        file of an archive cannot be found."""
        for part in parts:
            if self.contents.is_empty:
                self.contents.is_empty = is_archive(part.name) or has_hidden_part(part.name)
            if level and time.process_time() > self.end_s:
                raise RefusedError("too_slow")
            if part.kind == "ignored":
                self.note_ignored(part)
            else:
                with self.refusing("/".join((*places[1:], part.name))):
                    self.read_part(part, places, level)

    def note_ignored(self, part: Part) -> None:
        """Keep the name of a file that is not read, unless it is hidden."""
        if len(self.contents.ignored) < MAX_REFUSED and not has_hidden_part(part.name):
            self.contents.ignored.append(as_text(part.name)[:MAX_NAME])

    def read_part(self, part: Part, places: tuple[str, ...], level: int) -> None:
        """Read one file. Raises RefusedError, OSError."""
        part.check()
        name = own_name(as_text(part.name)) if places else part.name
        of_kind = (part.kind, is_named_like_stage(name.rpartition("/")[2].lower()))
        budget = self.budgets.setdefault(of_kind, Budget(max_bytes_together(part.kind)))
        budget.add_file()
        budget.require_room(min(part.size, max_bytes(part.kind)))
        member = read_part(part, name)
        budget.bytes += len(member.content)
        if part.kind == "archive":
            self.read_archive(member.content, (*places, name), level)
        else:
            self.add(member, places)

    def read_archive(self, data: bytes, places: tuple[str, ...], level: int) -> None:
        """Read an archive that lies in `level` others. Raises RefusedError if a limit is exceeded or the next file
        cannot be found; then none of the archive's files is kept."""
        if level > MAX_LEVELS:
            raise RefusedError("nested")
        if time.process_time() > self.end_s:
            raise RefusedError("too_slow")
        self.archives += 1
        if self.archives > MAX_ARCHIVES:
            raise RefusedError("too_many_files", f"at most {MAX_ARCHIVES} archives")
        before = len(self.contents.files)
        try:
            self.read_parts(list_members(data), places, level + 1)
        except RefusedError:
            del self.contents.files[before:]
            raise

    def add(self, member: Member, places: tuple[str, ...]) -> None:
        """Add a file that was read."""
        name = "/".join((*(places if self.several else places[1:]), member.name))
        self.contents.files.append(File(name, member.content, member.time_s, places or (name,)))


def answer(cpu_s: int) -> None:
    """Read the hand-in that standard input names, within limits, and write its contents. An OSError becomes a part of
    the output; any other failure ends the process with a status other than 0."""
    entries = [Path(name) for name in json.load(sys.stdin)]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))  # SIGXCPU, before the system kills it
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    try:
        contents, error = read_all(entries, cpu_s), ""
    except OSError as broken:
        contents, error = Contents(), str(broken)
    files = [(file.name, len(file.content), file.time_s, file.places) for file in contents.files]
    refused = [(name, refused.reason, refused.detail) for name, refused in contents.refused]
    summary = {"error": error, "files": files, "refused": refused, "is_empty": contents.is_empty}
    header = json.dumps(summary | {"ignored": contents.ignored})
    sys.stdout.buffer.write(header.encode() + b"\n")
    for file in contents.files:
        sys.stdout.buffer.write(file.content)
    sys.stdout.flush()


def fork(work: Callable[[], None]) -> int:
    """Return the id of a new process that does the work and then ends: with status 1 after an exception."""
    if child := os.fork():
        return child
    try:
        work()
    except BaseException:
        os._exit(1)
    os._exit(0)


def watch_child(cpu_s: int, wall_s: float, question: int, output: int, status: int) -> None:
    """Fork a child that reads a hand-in, end it after `wall_s` seconds, and write its exit status. A process of its own
    runs this for each child."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def work() -> None:
        os.dup2(question, 0)
        os.dup2(output, 1)
        os.closerange(3, max(question, output, status) + 1)
        answer(cpu_s)

    child = fork(work)
    os.close(question)
    os.close(output)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGXCPU))  # as after its processor time
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    _, ended = os.waitpid(child, 0)
    os.write(status, str(os.waitstatus_to_exitcode(ended)).encode())


def main() -> None:
    """For each question that arrives at standard input, fork a process that runs watch_child(), until the other side
    closes the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes the processes that watch children
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch ends this process
    connection = socket.socket(fileno=os.dup(0))
    while True:
        limits, descriptors, _, _ = socket.recv_fds(connection, 100, 3)
        if not limits:
            return
        cpu_s, wall_s = limits.split()
        fork(partial(watch_child, int(cpu_s), float(wall_s), *descriptors))
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
