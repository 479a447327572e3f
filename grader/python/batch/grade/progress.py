"""Show a batch's progress: on a terminal, one line that changes; otherwise, one line per submission."""

from __future__ import annotations

import sys
from collections import deque
from statistics import fmean
from textwrap import shorten

from grader.python.batch.store.rows import INTERNAL_FAILURES, Graded, in_words
from grader.python.common.console import say
from grader.python.common.markup import show_text
from grader.python.common.units import plural

GRADED = ("graded", "missing_stages")
MAX_DETAIL = 120  # characters of a reason
MAX_RECENT = 20  # number of recent submissions whose durations predict the remaining time


def show_duration(seconds: float) -> str:
    """Return a rounded duration: 40 s, 12 min, 3 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def predict_s(mean_s: float, queue: int, running: int, at_once: int) -> float:
    """Return the expected seconds until `queue` submissions are graded. `running` of them are in progress and, on
    average, half done. `mean_s`: the mean duration of a submission."""
    return mean_s * (queue - running / 2) / at_once


class Progress:
    """Counts graded submissions and prints the counts. Use it in a with statement. `total`: the number of submissions
    to grade; `before`: how many have a result already; `at_once`: how many are graded in parallel, 0 if unknown."""

    def __init__(self, total: int, before: int, at_once: int):
        self.total, self.before, self.at_once = total, before, at_once
        self.done = self.failed = self.internal = 0
        self.recent_s: deque[float] = deque(maxlen=MAX_RECENT)

    def __enter__(self) -> Progress:
        say(self.begin(), flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def add(self, graded: Graded) -> None:
        """Count a graded submission and print it."""
        self.done += 1
        self.internal += graded.status in INTERNAL_FAILURES
        self.failed += graded.status not in (*GRADED, *INTERNAL_FAILURES)
        if graded.status in GRADED:  # a refusal takes no time, so it does not predict the others
            self.recent_s.append(graded.wall_s)
        self.say(graded)

    def begin(self) -> str:
        """Return the text that is shown until the first result, which can take minutes."""
        at_once = f", {min(self.at_once, self.total)} at a time" if self.at_once else ""
        return f"Grading {plural(self.total, 'hand-in')}{at_once} …"

    def left(self) -> str:
        """Return how many submissions are left, and the approximate remaining time if it can be predicted."""
        queue = self.total - self.done
        running = min(self.at_once, queue)
        if not running or not self.recent_s:
            return f"{queue} left"
        return f"{queue} left, about {show_duration(predict_s(fmean(self.recent_s), queue, running, running))}"

    def counts(self) -> str:
        """Return the counts as text: done, failed, internal failures, left."""
        internal = f", {plural(self.internal, 'failure')} of the judge" if self.internal else ""
        return f"{self.before + self.done} done, {self.failed} not graded{internal}, {self.left()}"

    def say(self, graded: Graded) -> None:
        detail = f" ({shorten(graded.detail.splitlines()[0], MAX_DETAIL, placeholder=' …')})" if graded.detail else ""
        say(f"{graded.key}: {in_words(graded.status)}{detail}, {graded.wall_s:.1f} s; {self.counts()}", flush=True)


class LiveProgress(Progress):
    """Shows the counts in one line that changes, and failures above it."""

    def __enter__(self) -> Progress:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        super().__enter__()
        self.bar = Bar(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self.task = self.bar.add_task(self.counts(), total=self.before + self.total, completed=self.before)
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, graded: Graded) -> None:
        from rich.markup import escape

        self.bar.update(self.task, advance=1, description=self.counts())
        if graded.status not in GRADED:
            line = f"{graded.key}: {in_words(graded.status)}. {graded.detail.partition(chr(10))[0][:120]}"
            self.bar.console.print(escape(show_text(line)))


def make_progress(total: int, before: int, at_once: int) -> Progress:
    """Return a LiveProgress if stdout is a terminal and rich is installed, otherwise a Progress."""
    try:
        import rich  # noqa: F401
    except ImportError:
        return Progress(total, before, at_once)
    return (LiveProgress if sys.stdout.isatty() else Progress)(total, before, at_once)
