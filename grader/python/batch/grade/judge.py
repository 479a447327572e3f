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

TIMED_OUT = 124  # exit status of a judge that was stopped at the time limit


@dataclass
class Running:
    """The judges that are running, and that an interruption must end."""

    processes: set[subprocess.Popen[bytes]] = field(default_factory=set)
    stopping: bool = False

    def stop(self) -> None:
        """Kill the judges and all processes that they started."""
        self.stopping = True
        for process in list(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


class StoppedError(Exception):
    """The batch was interrupted. Unfinished grades are discarded."""


def describe_failure(status: int, timeout_s: float) -> str:
    """Return a sentence on how a judge ended without a report. Students may read it, so it contains nothing of the
    judge's output."""
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
    """Run a command of the judge within settings.timeout_s. Return its exit status (TIMED_OUT if it was stopped) and
    its output to stderr. `environment`: further variables. Raises StoppedError."""
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
    """Return the report of a judge that ended with this exit status, as text and parsed; "" and None if the judge did
    not finish, or if the report is missing or invalid."""
    try:
        text = file.read_text(encoding="utf-8") if status in (0, 1, 2) else ""
        return text, parse_report(text)
    except (OSError, TypeError, ValueError, RecursionError):
        return "", None


def try_judge(settings: Settings) -> Report:
    """Run a trial of the judge: grade an empty folder, and return the report, which contains the judge's version and
    the sandbox level. Raises UserError if the judge does not work here."""
    if not (settings.build / "warplab").is_file():
        raise UserError(f"{settings.build / 'warplab'} does not exist. Build it first: make program")
    folder = settings.folder / "trial"
    try:
        tree = write_tree(folder, settings.lab, {})
        status, errors = run_judge(settings.command(tree, folder), settings, Running(), {})
        file = folder / f"{settings.lab}.json"
        if status != 1 or not file.is_file():
            raise UserError(f"The judge cannot grade here: {errors or f'status {status}'}")
        return parse_report(file.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
