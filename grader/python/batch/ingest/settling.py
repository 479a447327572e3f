"""Watch a folder to which hand-ins may still be written."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from grader.python.batch.ingest.archive import is_hidden
from grader.python.batch.ingest.folders import list_parts

BUSY_DIVISOR = 10  # examining the entries takes at most one tenth of the time

State = tuple[tuple[str, int, float], ...]  # an entry's state: the name, size in bytes and time of each file


class FolderWatcher:
    """Measures for how long each entry of a folder has not changed. It uses its own clock instead of files' dates,
    because an upload may set these. `clock` returns seconds."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic):
        self.folder, self.clock = folder, clock
        self.seen: dict[Path, tuple[State, float]] = {}  # each entry's state, and since when it has not changed
        self.updated_s, self.next_s = clock(), -math.inf

    def update(self) -> bool:
        """Examine all entries, and return whether one of them is new, changed or gone. After a long update, for example
        because a student handed in very many files, do nothing for a while. Raises OSError."""
        begin_s = self.clock()
        if begin_s < self.next_s:
            return False
        before, self.seen, self.updated_s = self.seen, {}, begin_s
        for path in self.folder.iterdir():
            if not is_hidden(path.name):
                state = read_state(path)
                last_seen = before.get(path)
                self.seen[path] = last_seen if last_seen and last_seen[0] == state else (state, self.clock())
        self.next_s = self.clock() + BUSY_DIVISOR * (self.clock() - begin_s)
        return self.seen != before

    def unchanged_s(self, entries: Iterable[Path]) -> float:
        """Return for how many seconds all these entries had not changed at the last update; 0 if one was not there."""
        since = [self.seen[path][1] if path in self.seen else math.inf for path in entries]
        return max(0.0, self.updated_s - max(since, default=math.inf))


def read_state(path: Path) -> State:
    """Return a value that changes when the entry is written to; empty if the entry is removed at the same time."""
    try:
        return tuple((part.name, part.size, part.time_s) for part in list_parts(path))
    except OSError:
        return ()
