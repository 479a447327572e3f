"""Functions that all Python commands share: file input and output, and error messages.

Exit status of every command: 0 success, 1 a problem was found, 2 wrong usage, an unreadable file or an internal error,
3 out of memory, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.python.common.markup import show_text

OUT_OF_MEMORY = 3
INTERRUPTED = 130
KILLED_AFTER_S = 10
MAX_TEXT_BYTES = 256 << 20  # many times the size of any text that is read whole
MAX_DIGITS = 40  # per whole number
DEVICES = (Path("/dev"), Path("/dev/fd"))  # folders in which only root can write


class UserError(Exception):
    """One clear message: what happened, where, and what to try next."""


def run_command(command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None, max_s: int = 0) -> int:
    """Run a command's main function; turn errors into one message on stderr and an exit status. `max_s` limits the
    processor time in seconds; 0 means no limit."""
    if max_s:
        limit_processor_time(max_s)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot encode a dash still gets the rest
    try:
        status = command(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except UserError as error:
        say_error(str(error))
        return 2
    except KeyboardInterrupt:
        say_error("Interrupted; nothing more was done.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe. Without dup2, Python would report the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say_error(explain_os_error(error))
        return 2
    except RecursionError:
        say_error("A file is nested too deeply to be read.")
        return 2
    except MemoryError:
        say_error("This machine has too little free memory for this command. Look for a very large input file.")
        return OUT_OF_MEMORY


def make_parser(prog: str, about: str | None, root: bool = False) -> argparse.ArgumentParser:
    """Return a parser that describes a command by the first line of its module's docstring, `about`. If `root`, it has
    an option for the project's folder."""
    parser = argparse.ArgumentParser(prog=prog, description=(about or "").partition("\n")[0])
    if root:
        parser.add_argument("--root", type=Path, default=Path(), help="the project's folder (default: this one)")
    return parser


def limit_processor_time(max_s: int) -> None:
    """Raise UserError after this many seconds of processor time. If a single call, such as a regular expression, does
    not return in time, the kernel ends the process later."""

    def stop(*_: object) -> None:
        raise UserError(
            f"Stopped after {max_s} s of processor time. One of the input files is too long or damaged: look for "
            "a very long file among your notes and records."
        )

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(time.process_time()) + 1 + max_s
    last = soft + KILLED_AFTER_S if hard == resource.RLIM_INFINITY else hard
    signal.signal(signal.SIGXCPU, stop)
    resource.setrlimit(resource.RLIMIT_CPU, (min(soft, last), last))


def say(*words: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print text without escape sequences or direction marks.

    Commands call this function instead of print(), so that every untrusted text (names, causes, messages) is escaped.
    """
    print(show_text(sep.join(map(str, words))), end=end, flush=flush)


def say_error(message: str) -> None:
    """Print a message to stderr, escaped as say() does."""
    with contextlib.suppress(OSError):
        print(show_text(message), file=sys.stderr, flush=True)


def write_document(text: str, output: Path | None = None) -> None:
    """Write a document (CSV, JSON …) to a file, or else to stdout: to a terminal as say() does, to a pipe unchanged,
    because its line endings and its byte order mark belong to it. A device, such as /dev/stdout, is written to:
    write_atomically() would replace it. Raises UserError, OSError."""
    if output and output.parent in DEVICES:
        with output.open("wb") as stream:
            stream.write(text.encode())
    elif output:
        write_atomically(output, text)
    else:
        sys.stdout.write(show_text(text) if sys.stdout.isatty() else text)


def explain_os_error(error: OSError) -> str:
    """Return the system's reason and the file's name, without a stack trace."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def read_bytes(file: Path, max_bytes: int = -1) -> bytes:
    """Read a regular file, at most `max_bytes` of it if that is not negative. Raises OSError, for example if it is of
    another kind: a pipe without a writer would never end, and a device such as /dev/zero has no end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(max_bytes)
    finally:
        os.close(descriptor)


def read_text(file: Path) -> str:
    """Read UTF-8 text with its line endings unchanged. Raises UserError with the file's name."""
    try:
        content = read_bytes(file, MAX_TEXT_BYTES + 1)
        if len(content) > MAX_TEXT_BYTES:
            raise UserError(
                f"{file}: has more than {MAX_TEXT_BYTES >> 20} MB, so it is not read. Is it the right file?"
            )
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{file}:{line}: not UTF-8 text. Save the file as UTF-8.") from None
    except OSError as error:
        raise UserError(explain_os_error(error)) from None


def read_json(file: Path) -> Any:
    """Read a JSON file, with or without a byte order mark. Raises UserError with the file's name and line."""
    try:
        return parse_json(read_text(file).removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UserError(f"{file}:{error.lineno}: not valid JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: cannot be read as JSON: {error}.") from None


def parse_json(text: str) -> Any:
    """Parse untrusted JSON. Raises ValueError or RecursionError."""
    return json.loads(text, parse_int=parse_whole)


def parse_whole(digits: str) -> int:
    """Parse a JSON integer. Raises ValueError if it has too many digits."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number in it has {len(digits):,} digits, more than the limit of {MAX_DIGITS}")
    return int(digits)


def write_atomically(file: Path, content: str | bytes) -> None:
    """Write a file atomically and create its folder; after an interruption, the old file stays. Raises UserError."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = file.with_name(f".{file.name[:40]}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as stream:  # another user of a shared folder may have created it
            stream.write(data)
        temporary.replace(file)
    except OSError as error:
        raise UserError(f"Cannot write {file}: {error.strerror or error}.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
