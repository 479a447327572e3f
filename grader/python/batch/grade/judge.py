"""Run build/warplab, and read its report."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.python.batch.grade.tree import write_tree
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from grader.python.common.report import Report, parse_report

TIMED_OUT = 124  # exit status of a judge that was stopped


@dataclass
class Running:
    """The running judges, which an interruption must end."""

    processes: set[subprocess.Popen[bytes]] = field(default_factory=set)
    stopping: bool = False

    def stop(self) -> None:
        """Kill the judges and all processes that they started."""
        self.stopping = True
        for process in list(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


class StoppedError(Exception):
    """The batch is being interrupted; unfinished grades are not kept."""


def describe_failure(status: int, timeout_s: float) -> str:
    """Return a sentence on how a judge ended without a report. It contains none of the judge's output, because students
    may read it."""
    if status == TIMED_OUT:
        return f"The judge did not end within {timeout_s:.0f} s and was stopped."
    if status < 0:
        return f"The judge crashed (signal {-status}: {signal.strsignal(-status) or 'unknown'})."
    return f"The judge wrote no valid report (exit status {status})."


def hide_folders(text: str, folders: Sequence[str]) -> str:
    """Return the text without the paths of the instructor's folders, because students read it."""
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder.rstrip('/')}/", "") if folder.strip("/") else text
    return text


def run_judge(
    command: Sequence[str], settings: Settings, running: Running, environment: dict[str, str]
) -> tuple[int, str]:
    """Run a command within settings.timeout_s. Return its exit status (TIMED_OUT if it was stopped) and the end of its
    stderr. Raises StoppedError."""
    if running.stopping:
        raise StoppedError
    process = subprocess.Popen(
        command,
        cwd=settings.root,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running.processes.add(process)
    try:
        _, output = process.communicate(timeout=settings.timeout_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        status, output = TIMED_OUT, describe_failure(TIMED_OUT, settings.timeout_s).encode()
    except BaseException:  # an interruption of this thread
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        running.processes.discard(process)
    if running.stopping:
        raise StoppedError
    return status, output.decode("utf-8", "replace").strip()


def read_judged(file: Path, status: int) -> tuple[str, Report | None]:
    """Return the text and the content of the report of a judge with this exit status; "" and None if the judge did not
    finish, or if the report is missing or invalid."""
    try:
        text = file.read_text(encoding="utf-8") if status in (0, 1, 2) else ""
        return text, parse_report(text)
    except (OSError, TypeError, ValueError, RecursionError):
        return "", None


def try_judge(settings: Settings) -> Report:
    """Grade an empty folder, and return the report: it shows that the judge works here, its version and its sandbox.
    Raises UserError."""
    if not (settings.build / "warplab").is_file():
        raise UserError(f"{settings.build / 'warplab'} does not exist. Build it first: make program")
    folder = settings.folder / "trial"
    try:
        tree = write_tree(folder, settings.lab, {})
        status, words = run_judge(settings.command(tree, folder), settings, Running(), {})
        file = folder / f"{settings.lab}.json"
        if status != 1 or not file.is_file():
            raise UserError(f"The judge cannot grade here: {words or f'status {status}'}")
        return parse_report(file.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
