"""Exchange data with a course system in the background, repeatedly, even after failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from grader.python.batch.ingest.times import now
from grader.python.common.console import UserError, explain_os_error

MAX_PAUSE_S = 900.0  # the maximum pause after failures
T = TypeVar("T")


class Exchange(Generic[T]):
    """One kind of exchange, such as fetching hand-ins, in a separate thread: at most one at a time, and `every_s`
    seconds after the previous one. After each failure, the pause doubles, up to MAX_PAUSE_S."""

    def __init__(self, every_s: float):
        self.every_s, self.next_s = every_s, 0.0
        self.failures, self.failed_since, self.error = 0, "", ""
        self.thread: threading.Thread | None = None
        self.result: T | None = None

    def is_running(self) -> bool:
        return self.thread is not None

    def is_due(self) -> bool:
        """Return whether another exchange may begin."""
        return self.thread is None and time.monotonic() >= self.next_s

    def start(self, act: Callable[[], T]) -> None:
        """Begin an exchange. The thread does not delay the end of the program."""
        self.result, self.error = None, ""
        self.thread = threading.Thread(target=self.run, args=[act], daemon=True)
        self.thread.start()

    def run(self, act: Callable[[], T]) -> None:
        """Call the function, and keep its result or its error. No error may end `serve`."""
        try:
            self.result = act()
        except UserError as error:
            self.error = str(error)
        except OSError as error:
            self.error = explain_os_error(error)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"

    def take(self) -> T | None:
        """Return the result of an exchange that has ended since the last call; None if none has ended, or if it
        failed."""
        if self.thread is None or self.thread.is_alive():
            return None
        self.thread = None
        self.failures = self.failures + 1 if self.error else 0
        self.failed_since = (self.failed_since or now()) if self.error else ""
        pause_s = self.every_s * 2 ** min(self.failures, 20)  # without a maximum, 1000 failures would exceed a float
        self.next_s = time.monotonic() + min(pause_s, max(MAX_PAUSE_S, self.every_s))
        return self.result
