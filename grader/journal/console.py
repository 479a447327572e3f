"""What every Python command of the kit shares: how it reads and writes files, and how it tells what went wrong.

Exit status of every command: 0 done, 1 something is not as it should be, 2 misuse or our side broke, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.journal.markup import show_text

INTERRUPTED = 130
KILLED_AFTER_S = 10
MOST_DIGITS = 40  # of a whole number


class UserError(Exception):
    """One clear message: what happened, where, and what to try."""


def run_command(
    command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None, most_s: int = 0
) -> int:
    """Runs a command's main function and turns what goes wrong into one message on stderr and an exit status. `most_s`:
    seconds of processor time that it may take; 0 for any."""
    if most_s:
        limit_processor_time(most_s)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no dash still gets the rest
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
        # The reader (head, less) went away. Python would complain again while flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say_error(explain_os_error(error))
        return 2
    except RecursionError:
        say_error("A file is nested too deeply to be read.")
        return 2


def limit_processor_time(most_s: int) -> None:
    """Raise UserError after this many seconds of processor time. If a single call, such as a regular expression, does
    not return in time, the kernel ends the process later."""

    def stop(*_: object) -> None:
        raise UserError(
            f"Stopped after {most_s} s of processor time. One of the input files is too long or damaged: look for "
            "a very long file among your notes and records."
        )

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(time.process_time()) + 1 + most_s
    last = soft + KILLED_AFTER_S if hard == resource.RLIM_INFINITY else hard
    signal.signal(signal.SIGXCPU, stop)
    resource.setrlimit(resource.RLIMIT_CPU, (min(soft, last), last))


def say(*words: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print text without escape sequences or direction marks.

    All terminal output goes through this function, so it escapes every untrusted text (names, causes, messages).
    """
    print(show_text(sep.join(map(str, words))), end=end, flush=flush)


def say_error(message: str) -> None:
    """Prints a message to stderr, escaped as say() does."""
    with contextlib.suppress(OSError):
        print(show_text(message), file=sys.stderr, flush=True)


def write_document(text: str) -> None:
    """Write a document (CSV, JSON …) to stdout: to a terminal as say() does, to a file or a pipe unchanged, because
    its line ends and its byte order mark belong to it."""
    sys.stdout.write(show_text(text) if sys.stdout.isatty() else text)


def explain_os_error(error: OSError) -> str:
    """The system's reason and the file it is about, without a stack trace."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def read_text(file: Path) -> str:
    """Reads UTF-8 text with its line ends as they are. Raises UserError naming the file."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{file}:{line}: not UTF-8 text. Save the file as UTF-8.") from None
    except OSError as error:
        raise UserError(explain_os_error(error)) from None


def read_json(file: Path) -> Any:
    """Reads a JSON file, with or without a byte order mark. Raises UserError naming file and line."""
    try:
        return parse_json(read_text(file).removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UserError(f"{file}:{error.lineno}: not valid JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: cannot be read as JSON: {error}.") from None


def parse_json(text: str) -> Any:
    """Parses untrusted JSON. Raises ValueError, RecursionError."""
    return json.loads(text, parse_int=parse_whole)


def parse_whole(digits: str) -> int:
    """Parses a whole number of JSON. Raises ValueError if it has too many digits."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number in it has {len(digits):,} digits, more than the limit of {MOST_DIGITS}")
    return int(digits)


def write_atomically(file: Path, content: str | bytes) -> None:
    """Writes a file in one step, making its folder: an interrupted run leaves the old file. Raises UserError."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = file.with_name(f".{file.name[:40]}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(file)
    except OSError as error:
        raise UserError(f"Cannot write {file}: {error.strerror or error}.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def find_labs(root: Path) -> list[str]:
    """Names of all labs, sorted: every folder of labs/ with a lab.json."""
    return sorted(manifest.parent.name for manifest in (root / "labs").glob("*/lab.json"))


def choose_labs(root: Path, wanted: Sequence[str]) -> list[str]:
    """The labs asked for, or all when none is named. Raises UserError naming the choices."""
    labs = find_labs(root)
    for name in wanted:
        if name not in labs:
            raise UserError(f"No lab is called {name!r}. Labs: {', '.join(labs) or 'none'}.")
    return list(wanted) or labs


def read_stages(root: Path, lab: str) -> dict[str, str]:
    """A lab's stages with their titles, in their order. Raises UserError when lab.json cannot be read."""
    file = root / "labs" / lab / "lab.json"
    try:
        return {str(stage["id"]): str(stage.get("title", stage["id"])) for stage in read_json(file)["stages"]}
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"{file}: no list of stages with ids.") from None
