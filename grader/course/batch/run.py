"""Runs a batch: who grades what at the same time, and what happens when it is interrupted.

Submissions are graded by threads that wait for judges; this thread alone writes the database, a transaction a
submission. On the CPU backend as many judges run as there are cores. On GPUs each is timed by one judge at a time,
on a share of the cores; what comes next is compiled ahead on the others, so that nothing disturbs the timing.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from grader.course.batch.database import Database, DiskFullError, Graded
from grader.course.batch.grading import (
    Running,
    Settings,
    describe_error,
    grade_submission,
    open_submission,
    run_judge,
    summary_of,
    write_tree,
)
from grader.course.batch.places import place_of
from grader.course.batch.progress import make_progress
from grader.course.batch.submissions import Submission
from grader.course.merge import merge_reports
from grader.journal.console import UserError

CORES_FOR_TIMING = 2
THREADS_A_JUDGE = 4  # of the CPU backend, where several judges share the machine

Submit = Callable[[Submission], "Future[Graded]"]
Results = Callable[[Sequence[Submission]], "Generator[Graded, None, None]"]


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Two batches never work in one folder. Raises UserError."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # it holds students' work and points
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another batch is running here. Wait for it, or say another OUT.") from None
        yield


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def list_gpus() -> list[str]:
    """What CUDA_VISIBLE_DEVICES may be set to, one GPU each."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if given:
        return given.split(",")
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return listed.stdout.split() if listed.returncode == 0 else []


def judges_at_once(backend: str, jobs: int) -> int:
    """How many submissions grade_here() grades side by side."""
    return (len(list_gpus()) if backend == "cuda" else 0) or jobs


def run_batch(database: Database, settings: Settings, lab_hash: str, results: Results, at_once: int) -> None:
    """Grades all that waits, and writes each result as it comes. Raises KeyboardInterrupt and DiskFullError when every
    judge has ended. `at_once`: how many are graded side by side; 0: not known."""
    waiting = database.waiting()
    counts = database.counts()
    before = sum(counts.values()) - counts.get("not_submitted", 0) - len(waiting)
    with make_progress(len(waiting), before, at_once) as progress, closing(results(waiting)) as graded_ones:
        for graded in graded_ones:
            keep(database, graded, lab_hash)
            progress.add(graded)


def grade_here(
    waiting: Sequence[Submission], settings: Settings, backend: str, jobs: int
) -> Generator[Graded, None, None]:
    """Grades on this machine and yields results as they finish. A submission that timed out next to others, or whose
    reader was killed, is graded once more at the end, alone, and that result counts."""
    running = Running()
    gpus = list_gpus() if backend == "cuda" else []
    if gpus:  # each judge has a share of the cores, so what the CPU can do is measured before
        run_judge(settings.program("baselines", settings.lab), settings, running, {})
    workers = make_gpu_workers(settings, running, gpus) if gpus else make_workers(settings, running, jobs)
    alone = len(waiting) == 1 or (jobs == 1 and not gpus)
    by_key = {submission.key: submission for submission in waiting}
    again = []
    for graded in grade_all(waiting, workers, running):
        if graded.was_killed or (graded.timed_out and not alone):
            again.append(by_key[graded.key])
        else:
            yield graded
    if again:
        environment = {"CUDA_VISIBLE_DEVICES": gpus[0]} if gpus else {}
        yield from grade_all(again, make_workers(settings, running, 1, environment), running)


def grade_all(
    waiting: Sequence[Submission], workers: AbstractContextManager[Submit], running: Running
) -> Generator[Graded, None, None]:
    """Grades with these workers and yields results as they finish."""
    with workers as submit:
        futures = [submit(submission) for submission in waiting]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            running.stop()
            for future in futures:
                future.cancel()
            raise


def keep(database: Database, graded: Graded, lab_hash: str) -> None:
    """Writes one result; if only pending points were requested, it completes the earlier report. A result that cannot
    be written becomes a judge_error of that submission only."""
    try:
        earlier = database.report_to_complete(graded.key)
        if earlier and graded.report:
            graded.report = json.dumps(merge_reports(json.loads(earlier), json.loads(graded.report)))
        summary, stages = summary_of(graded, lab_hash)
        database.keep(graded, summary, stages)
    except DiskFullError:
        raise
    except Exception as error:
        broken = replace(graded, status="judge_error", detail=describe_error(error), report="")
        database.keep(broken, {}, [])


@contextmanager
def make_workers(
    settings: Settings, running: Running, jobs: int, environment: Mapping[str, str] | None = None
) -> Iterator[Submit]:
    """Runs untimed judges in parallel, each on its own cores if there are enough."""
    threads = os.environ.get("WARPLAB_THREADS") or str(min(len(cores()), THREADS_A_JUDGE))
    more = {**(environment or {}), **({"WARPLAB_THREADS": threads} if jobs > 1 else {})}
    free: SimpleQueue[list[int]] = SimpleQueue()
    for share in split_cores(cores(), jobs):
        free.put(share)

    def grade(submission: Submission) -> Graded:
        share = free.get()
        try:
            os.sched_setaffinity(0, share)  # of this thread, and of the judge that it starts
            return grade_submission(submission, settings, running, more)
        finally:
            free.put(share)

    with ThreadPoolExecutor(jobs) as pool:
        yield lambda submission: pool.submit(grade, submission)


def split_cores(of_all: list[int], jobs: int) -> list[list[int]]:
    """Return cores for each judge: disjoint shares, or all cores for each if there are too few."""
    each = len(of_all) // jobs
    return [of_all[number * each : (number + 1) * each] if each else of_all for number in range(jobs)]


def share_cores(of_all: list[int], gpus: int) -> tuple[list[list[int]], list[int]]:
    """Cores for each GPU's judge, half of them in all, and those left for compiling. A judge's threads wait by
    spinning, which takes the time of whatever runs on the same cores. Where there are too few, judges have them all."""
    each = max(CORES_FOR_TIMING, len(of_all) // (2 * gpus))
    if each * gpus > len(of_all):
        return [of_all] * gpus, of_all[CORES_FOR_TIMING:]
    shares = [of_all[number * each : (number + 1) * each] for number in range(gpus)]
    return shares, of_all[gpus * each :]


@contextmanager
def make_gpu_workers(settings: Settings, running: Running, gpus: Sequence[str]) -> Iterator[Submit]:
    """One judge a GPU on its share of the cores, and compilers ahead of them on the others."""
    shares, spare = share_cores(cores(), len(gpus))
    free: SimpleQueue[tuple[str, list[int]]] = SimpleQueue()
    for place in zip(gpus, shares, strict=True):
        free.put(place)

    def grade(submission: Submission, compiled: Future[None] | None) -> Graded:
        if compiled:
            compiled.exception()  # what did not compile ahead is compiled, and reported, by the judge
        gpu, share = place = free.get()
        try:
            os.sched_setaffinity(0, share)  # of this thread, and of the judge that it starts
            return grade_submission(submission, settings, running, {"CUDA_VISIBLE_DEVICES": gpu})
        finally:
            free.put(place)

    with ThreadPoolExecutor(len(spare) or 1) as compilers, ThreadPoolExecutor(len(gpus)) as judges:

        def submit(submission: Submission) -> Future[Graded]:
            compiled = compilers.submit(compile_ahead, submission, settings, running, spare) if spare else None
            return judges.submit(grade, submission, compiled)

        try:
            yield submit
        except BaseException:
            compilers.shutdown(wait=False, cancel_futures=True)
            raise


def compile_ahead(submission: Submission, settings: Settings, running: Running, spare: Sequence[int]) -> None:
    """Fills the judge's cache with a submission's programs."""
    opened = open_submission(submission, settings)
    if not opened.picked:
        return
    folder = place_of(settings.folder, "ahead", submission.key)
    try:
        tree = write_tree(folder, settings.lab, opened.picked)
        pinned = ["taskset", "-c", ",".join(map(str, spare))]
        run_judge([*pinned, *settings.command(tree, folder, verb="compile")], settings, running, {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
