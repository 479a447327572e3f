"""Grade the submissions of a batch in parallel, and handle interruptions.

Threads grade submissions by waiting for judges; only the main thread writes the database, in one transaction per
submission. On the CPU backend, as many judges run as there are cores. On GPUs, two judges share each GPU if there are
cores for both: while one times with exclusive use of the GPU, the other one compiles, checks or runs the sanitizer.
Each judge has a share of half of the cores. The next submissions are compiled on the other half, so that they do not
disturb the timing.
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

from grader.python.batch.grade.grading import grade_submission, summarise_report
from grader.python.batch.grade.judge import Running, run_judge
from grader.python.batch.grade.merge import merge_reports
from grader.python.batch.grade.opening import Opened, describe_error, open_submission
from grader.python.batch.grade.progress import make_progress
from grader.python.batch.grade.reference import attribute_failure, is_reference_graded
from grader.python.batch.grade.tree import write_tree
from grader.python.batch.ingest.disk import DiskFullError, MovedError
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.database import Database
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.batch.store.sqlite import LockedError
from grader.python.common.console import UserError, say
from grader.python.common.report import parse_report
from grader.python.common.units import plural

CORES_FOR_TIMING = 2  # minimum per judge on a GPU
JUDGES_PER_GPU = 2
MAX_WAITING_BYTES = 1_000_000  # a larger hand-in is read again later, because hundreds may wait for a GPU
THREADS_PER_JUDGE = 4  # on the CPU backend, if several judges share the machine

Submit = Callable[[Submission], "Future[Graded]"]
Results = Callable[[Sequence[Submission]], "Generator[Graded, None, None]"]


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Lock a batch's folder, so that two batches never run in it. Raises UserError if another batch runs in it, or if
    it belongs to another user, who could read and change it at any time."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise UserError(f"{folder} belongs to another user. Choose an OUT that does not exist yet.")
    folder.chmod(0o700)  # it holds students' work and points
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{folder}: another batch is running here. Wait for it, or choose a different OUT."
            ) from None
        yield


def cores() -> list[int]:
    """Return the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def list_gpus() -> list[str]:
    """Return a value of CUDA_VISIBLE_DEVICES for each GPU."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if visible:
        return visible.split(",")
    try:
        result = subprocess.run(
            ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return result.stdout.split() if result.returncode == 0 else []


def judges_at_once(backend: str, jobs: int) -> int:
    """Return how many submissions grade_here() times in parallel: one per GPU or, without a GPU, one per job."""
    return (len(list_gpus()) if backend == "cuda" else 0) or jobs


def run_batch(database: Database, settings: Settings, lab_hash: str, results: Results, at_once: int) -> None:
    """Grade all submissions that wait, and store each result when it arrives. Raises KeyboardInterrupt and
    DiskFullError after every judge has ended. `at_once`: how many submissions are graded in parallel; 0 if unknown."""
    waiting = database.waiting()
    counts = database.counts()
    before = sum(counts.values()) - counts.get("not_submitted", 0) - len(waiting)
    with make_progress(len(waiting), before, at_once) as progress, closing(results(waiting)) as graded_results:
        for graded in graded_results:
            keep(database, graded, lab_hash)
            progress.add(graded)


def grade_here(
    waiting: Sequence[Submission], settings: Settings, backend: str, jobs: int
) -> Generator[Graded, None, None]:
    """Grade on this machine, and yield results as they finish. Submissions with doubtful results are graded again at
    the end, one at a time (see `confirm`)."""
    running, gpus = Running(), list_gpus() if backend == "cuda" else []
    alone = len(waiting) == 1 or (jobs == 1 and not gpus)
    by_key = {submission.key: submission for submission in waiting}
    doubted = []
    for graded in grade_all(waiting, choose_workers(settings, running, gpus, jobs), running):
        if is_in_doubt(graded, alone):
            doubted.append((by_key[graded.key], graded))
        else:
            yield graded
    yield from confirm(doubted, settings, running, gpus)


def choose_workers(
    settings: Settings, running: Running, gpus: Sequence[str], jobs: int
) -> AbstractContextManager[Submit]:
    """Return the workers for these GPUs or, if there are none, `jobs` workers. On GPUs, measure the CPU baselines
    first, because each judge then has only a share of the cores."""
    if not gpus:
        return make_workers(settings, running, jobs)
    say("Measuring the CPU baselines …", flush=True)
    run_judge(settings.program("baselines", settings.lab), settings, running, {})
    return make_gpu_workers(settings, running, gpus)


def is_in_doubt(graded: Graded, alone: bool) -> bool:
    """Return whether a submission has to be graded again, alone: it ran out of time or memory while others were graded,
    the judge failed on it, or the process that read it was killed."""
    return graded.was_killed or bool(graded.judge_failure) or (graded.ran_out and not alone)


def confirm(
    doubted: Sequence[tuple[Submission, Graded]], settings: Settings, running: Running, gpus: Sequence[str]
) -> Generator[Graded, None, None]:
    """Grade the submissions with doubtful results again, one at a time, and yield the final results. A hand-in counts
    as the cause of the judge's failures only if the judge fails on it twice and grades the reference before and
    after."""
    environment = {"CUDA_VISIBLE_DEVICES": gpus[0]} if gpus else {}
    # The notes make open_submission() use the batch's copy, because the hand-in may have changed.
    to_repeat = [replace(submission, graded_notes=graded.notes) for submission, graded in doubted]
    by_key = {submission.key: submission for submission in to_repeat}
    suspects, failed = {graded.key for _, graded in doubted if graded.judge_failure}, []
    judge_works = True
    while to_repeat:
        say(f"Grading {plural(len(to_repeat), 'hand-in')} again, one at a time …", flush=True)
        judge_works = judge_works and (not suspects or is_reference_graded(settings, running, environment))
        current, to_repeat = to_repeat, []
        for graded in grade_all(current, make_workers(settings, running, 1, environment), running):
            if not graded.judge_failure:
                yield graded
            elif graded.key in suspects:
                failed.append(graded)
            else:
                suspects.add(graded.key)
                to_repeat.append(by_key[graded.key])
    judge_works = judge_works and bool(failed) and is_reference_graded(settings, running, environment)
    yield from map(attribute_failure, failed) if judge_works else failed


def grade_all(
    waiting: Sequence[Submission], workers: AbstractContextManager[Submit], running: Running
) -> Generator[Graded, None, None]:
    """Grade with these workers, and yield results as they finish. On an exception, stop all judges."""
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
    """Store one result. If only the pending points were graded, merge it into the earlier report. If it cannot be
    stored, only this submission becomes a judge_error."""
    try:
        earlier = database.report_to_complete(graded.key)
        if earlier and graded.report:
            graded.report = json.dumps(merge_reports(json.loads(earlier), json.loads(graded.report)))
            graded.judged = parse_report(graded.report)
        summary, stages = summarise_report(graded.judged, lab_hash)
        database.keep(graded, summary, stages)
    except (DiskFullError, LockedError, MovedError):
        raise
    except Exception as error:
        broken = replace(graded, status="judge_error", detail=describe_error(error), report="", judged=None)
        database.keep(broken, {}, [])


@contextmanager
def make_workers(
    settings: Settings, running: Running, jobs: int, environment: Mapping[str, str] | None = None
) -> Iterator[Submit]:
    """Yield a function that submits a hand-in to judges without a GPU. `jobs` judges run in parallel, each on its own
    cores if there are enough."""
    threads = os.environ.get("WARPLAB_THREADS") or str(min(len(cores()), THREADS_PER_JUDGE))
    variables = {**(environment or {}), **({"WARPLAB_THREADS": threads} if jobs > 1 else {})}
    free: SimpleQueue[list[int]] = SimpleQueue()
    for share in split_cores(cores(), jobs):
        free.put(share)

    def grade(submission: Submission) -> Graded:
        share = free.get()
        try:
            os.sched_setaffinity(0, share)  # for this thread and the judge that it starts
            return grade_submission(submission, settings, running, variables)
        finally:
            free.put(share)

    with ThreadPoolExecutor(jobs) as pool:
        yield lambda submission: pool.submit(grade, submission)


def split_cores(all_cores: list[int], jobs: int) -> list[list[int]]:
    """Return the cores of each judge: disjoint shares, or all cores for each if there are fewer cores than judges."""
    share = len(all_cores) // jobs
    return [all_cores[number * share : (number + 1) * share] if share else all_cores for number in range(jobs)]


def share_cores(all_cores: list[int], judges: int) -> tuple[list[list[int]], list[int]]:
    """Return the cores of each judge and the cores left for compiling. All judges together get about half of the cores.
    A judge's threads spin while they wait, which takes time from other programs on the same cores. If there are too few
    cores, each judge may use all of them."""
    share = max(CORES_FOR_TIMING, len(all_cores) // (2 * judges))
    if share * judges > len(all_cores):
        return [all_cores] * judges, all_cores[CORES_FOR_TIMING:]
    shares = [all_cores[number * share : (number + 1) * share] for number in range(judges)]
    return shares, all_cores[judges * share :]


def list_places(gpus: Sequence[str], all_cores: list[int]) -> tuple[list[tuple[str, list[int]]], list[int]]:
    """Return the GPU and the cores of each judge, and the cores left for compiling."""
    enough_cores = len(all_cores) >= 2 * JUDGES_PER_GPU * CORES_FOR_TIMING * len(gpus)
    judges = [*gpus] * (JUDGES_PER_GPU if enough_cores else 1)
    shares, spare = share_cores(all_cores, len(judges))
    return list(zip(judges, shares, strict=True)), spare


@contextmanager
def make_gpu_workers(settings: Settings, running: Running, gpus: Sequence[str]) -> Iterator[Submit]:
    """Yield a function that submits a hand-in to judges on these GPUs. Each judge has a share of the cores, and the
    next hand-ins are compiled on the other cores."""
    places, spare = list_places(gpus, cores())
    free: SimpleQueue[tuple[str, list[int]]] = SimpleQueue()
    for place in places:
        free.put(place)

    def grade(submission: Submission, compiled: Future[Opened | None] | None) -> Graded:
        # If compiling ahead failed, the judge compiles the files again and reports the error.
        opened = compiled.result() if compiled and not compiled.exception() else None
        gpu, share = place = free.get()
        try:
            os.sched_setaffinity(0, share)  # for this thread and the judge that it starts
            return grade_submission(submission, settings, running, {"CUDA_VISIBLE_DEVICES": gpu}, opened)
        finally:
            free.put(place)

    with ThreadPoolExecutor(len(spare) or 1) as compilers, ThreadPoolExecutor(len(places)) as judges:

        def submit(submission: Submission) -> Future[Graded]:
            compiled = compilers.submit(compile_ahead, submission, settings, running, spare) if spare else None
            return judges.submit(grade, submission, compiled)

        try:
            yield submit
        except BaseException:
            compilers.shutdown(wait=False, cancel_futures=True)
            raise


def compile_ahead(submission: Submission, settings: Settings, running: Running, spare: Sequence[int]) -> Opened | None:
    """Compile a submission's programs into the judge's cache. Return its contents, so that they are not read again when
    a GPU is free; None if they are too large to be kept, or if they could not be read."""
    opened = open_submission(submission, settings)
    if opened.picked:
        compile_picked(opened.picked, submission, settings, running, spare)
    return opened if opened.size() <= MAX_WAITING_BYTES and opened.status != "judge_error" else None


def compile_picked(
    picked: dict[str, bytes], submission: Submission, settings: Settings, running: Running, spare: Sequence[int]
) -> None:
    """Compile the files of stages on the spare cores."""
    folder = place_of(settings.folder, "ahead", submission.key)
    try:
        tree = write_tree(folder, settings.lab, picked)
        pinned = ["taskset", "-c", ",".join(map(str, spare))]
        run_judge([*pinned, *settings.command(tree, folder, verb="compile")], settings, running, {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
