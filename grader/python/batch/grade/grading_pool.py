"""Grade hand-ins while more arrive, with as many judges in parallel as `grade_here`.

A hand-in is copied into the batch when its grading begins, so its files may change afterwards. As in a batch, hand-ins
with doubtful results are graded again, one at a time, while no other hand-in is graded. If other hand-ins wait, this
takes at most a third of the time: otherwise, a few students could keep all others waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace

from grader.python.batch.grade.journals import keep_journal
from grader.python.batch.grade.judge import Running
from grader.python.batch.grade.opening import open_submission
from grader.python.batch.grade.run import Submit, choose_workers, confirm, is_in_doubt, judges_at_once, list_gpus
from grader.python.batch.grade.tree import write_tree
from grader.python.batch.ingest.disk import raise_if_full
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings

HAND_INS_PER_GPU = 4  # two are judged, and the next two are compiled
OTHERS_MULTIPLE = 2  # after a hand-in was graded alone, the others get this multiple of its time


class GradingPool:
    """Hand-ins that are being graded on this machine. Call all methods from one thread."""

    def __init__(self, submit: Submit, settings: Settings, running: Running, gpus: Sequence[str], at_once: int):
        self.submit, self.settings, self.running, self.gpus, self.at_once = submit, settings, running, gpus, at_once
        self.max_grading = at_once * (HAND_INS_PER_GPU if gpus else 1)
        self.threads = ThreadPoolExecutor(self.max_grading)
        self.grading: dict[Future[Graded | None], Submission] = {}
        self.doubted: list[tuple[Submission, Graded]] = []
        self.confirming: Future[list[Graded]] | None = None
        self.confirming_since_s, self.confirm_after_s = 0.0, -math.inf

    def list_begun(self) -> list[str]:
        """Return the keys of all hand-ins whose grading has begun and that have no final result yet."""
        return [submission.key for submission in [*self.grading.values(), *(doubtful for doubtful, _ in self.doubted)]]

    def has_room(self) -> bool:
        """Return whether another hand-in may begin."""
        must_confirm = bool(self.doubted) and time.monotonic() >= self.confirm_after_s
        return not self.confirming and not must_confirm and len(self.grading) < self.max_grading

    def start(self, submission: Submission, skip_unfinished: bool) -> None:
        """Begin to grade a hand-in. `skip_unfinished`: skip it if it may be incomplete."""
        self.grading[self.threads.submit(self.grade, submission, skip_unfinished)] = submission

    def grade(self, submission: Submission, skip_unfinished: bool) -> Graded | None:
        """Return the result; None if the hand-in changed or may be incomplete."""
        copied = take_copy(submission, self.settings, skip_unfinished)
        return self.submit(copied).result() if copied else None

    def take(self, max_s: float) -> list[tuple[str, Graded | None]]:
        """Wait at most `max_s` seconds for results, and return the final ones with the hand-ins' keys; None stands for
        a hand-in that was skipped. If no hand-in is being graded, begin to confirm a doubtful result. Raises
        DiskFullError."""
        if self.doubted and not self.grading and not self.confirming:
            self.confirm_next()
        futures = [self.confirming] if self.confirming else list(self.grading)
        done, _ = wait(futures, max_s, FIRST_COMPLETED)
        if self.confirming:
            return self.take_confirmed() if done else []
        results = []
        for future in done:
            submission, graded = self.grading.pop(future), future.result()
            if graded and is_in_doubt(graded, alone=self.max_grading == 1):
                self.doubted.append((submission, graded))
            else:
                results.append((submission.key, graded))
        return results

    def confirm_next(self) -> None:
        """Begin to grade the first doubtful hand-in again, alone."""
        first, self.confirming_since_s = self.doubted[:1], time.monotonic()
        self.confirming = self.threads.submit(lambda: list(confirm(first, self.settings, self.running, self.gpus)))

    def take_confirmed(self) -> list[tuple[str, Graded | None]]:
        """Return the result of the hand-in that was graded again."""
        assert self.confirming
        graded = self.confirming.result()
        self.doubted, self.confirming = self.doubted[1:], None
        now_s = time.monotonic()
        self.confirm_after_s = now_s + OTHERS_MULTIPLE * (now_s - self.confirming_since_s)
        return [(result.key, result) for result in graded]


@contextmanager
def open_grading_pool(settings: Settings, backend: str, jobs: int) -> Iterator[GradingPool]:
    """Yield a pool. At the end, wait for the hand-ins in progress; on an exception, stop their judges."""
    running, gpus = Running(), list_gpus() if backend == "cuda" else []
    with choose_workers(settings, running, gpus, jobs) as submit:
        pool = GradingPool(submit, settings, running, gpus, judges_at_once(backend, jobs))
        try:
            yield pool
        except BaseException:
            running.stop()
            raise
        finally:
            pool.threads.shutdown()


def take_copy(submission: Submission, settings: Settings, skip_unfinished: bool) -> Submission | None:
    """Copy a hand-in's files and journal into the batch, and return the hand-in with the notes that make
    open_submission() use the copy. Return None if the hand-in changed after its fingerprint was computed, or if it may
    be unfinished and `skip_unfinished` is set. Return a hand-in without a file to grade unchanged. Raises
    DiskFullError."""
    opened = open_submission(submission, settings)
    if opened.journal is None and opened.picked:  # already the batch's copy
        return submission
    if opened.has_changed or (skip_unfinished and opened.may_be_unfinished):
        return None
    if not opened.picked:
        return submission
    journal, folder = (place_of(settings.folder, part, submission.key) for part in ("journals", "submissions"))
    try:
        remarks = keep_journal(opened.journal or {}, settings.lab, settings.stages, journal)
        write_tree(folder, settings.lab, opened.picked, submission.fingerprint, settings.graded_stages())
    except OSError as error:
        raise_if_full(settings.folder, error)
        return submission  # grading fails as well, and sets the status
    return replace(submission, graded_notes=[*opened.notes, *remarks])
