"""Grade a batch on a cluster: job arrays through submitit, one task per submission, GPUs by --gres.

All nodes must be able to access the batch's folder, the project and its build. Each task writes its result next to its
log in OUT/slurm. This process collects the results in the database. If the batch was killed, the next run also collects
the results that tasks wrote in the meantime. squeue, which needs no accounting database, shows which tasks still wait
or run. A task that ended without a result, for example because its node was lost, is submitted again.
"""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.python.batch.grade.grading import grade_submission
from grader.python.batch.grade.judge import Running, try_judge
from grader.python.batch.grade.reference import attribute_failure, is_reference_graded
from grader.python.batch.ingest.disk import DiskFullError
from grader.python.batch.ingest.module_path import python_path
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, say_error
from grader.python.common.report import Report

MAX_TASKS = 1000  # per array: Slurm's default limit, which its administrator can change
MAX_TASKS_PER_HAND_IN = 3  # a task without a result, or with a doubtful one, is followed by another
# If this many tasks graded the reference and then ended without a result, the submission may be the cause.
MAX_LOST_TASKS = 2
POLL_S = 2.0
SILENT_S = 60.0  # print a message if Slurm's controller does not answer for this long
GRACE_S = 10.0  # time for a result to appear on a slow file system after its task has ended


class Cluster:
    """The cluster to which tasks are submitted. `parameters`: options for sbatch, by name."""

    def __init__(self, settings: Settings, parameters: dict[str, str]):
        try:
            import submitit
        except ImportError:
            raise UserError("--executor slurm needs submitit. Install it: sh grader/setup.sh course") from None
        self.folder = settings.folder / "slurm"
        try:
            self.executor = submitit.SlurmExecutor(self.folder)
        except RuntimeError as error:
            raise UserError(f"Slurm is not available on this machine: {error}") from None
        self.job_class = submitit.SlurmJob
        minutes = int(settings.timeout_s * MAX_TASKS_PER_HAND_IN / 60) + 5  # confirm_on_node() judges three times
        options = {
            name: parameters[name] for name in ("partition", "gres", "account", "qos", "mem") if name in parameters
        }
        extra = {name: value for name, value in parameters.items() if name not in (*options, "time", "cpus-per-task")}
        self.executor.update_parameters(
            job_name=f"warplab-{settings.lab}",
            time=int(parameters.get("time", minutes)),
            cpus_per_task=int(parameters.get("cpus-per-task", 1)),
            additional_parameters=extra,
            use_srun=False,
            # Python must import nothing from the task's current folder, which may contain hand-ins.
            setup=[f"export PYTHONPATH={shlex.quote(python_path())}", "export PYTHONSAFEPATH=1"],
            **options,
        )

    def submit(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Submit the tasks as one array, and return the jobs. Raises UserError with sbatch's message."""
        try:
            with self.executor.batch():
                return [self.executor.submit(function, *arguments) for arguments in tasks]
        except Exception as error:
            reason = str(error) or f"{error.__cause__ or type(error).__name__}, without a message"
            raise UserError(f"Slurm rejects the jobs: {reason}") from None

    def job(self, job_id: str) -> Any:
        """Return the job with this id, which an earlier run submitted."""
        return self.job_class(self.folder, job_id)

    def alive(self, jobs: Sequence[Any]) -> set[str]:
        """Return the ids of the jobs that wait or run. Raises OSError if the controller does not answer."""
        if not jobs:
            return set()
        return list_alive([job.job_id for job in jobs])

    def cancel(self, jobs: Sequence[Any]) -> None:
        arrays = sorted({job.job_id.partition("_")[0] for job in jobs})
        if arrays:
            with contextlib.suppress(OSError):
                subprocess.run(["scancel", *arrays], capture_output=True, timeout=60, check=False)


def list_alive(job_ids: Sequence[str]) -> set[str]:
    """Return the ids of all tasks that wait or run in the arrays of these jobs. Raises OSError if the controller does
    not answer."""
    alive_ids: set[str] = set()
    for array in sorted({job_id.partition("_")[0] for job_id in job_ids}):
        result = subprocess.run(
            ["squeue", "-h", "-r", "-o", "%i", "-j", array], capture_output=True, text=True, timeout=60
        )
        if result.returncode != 0 and "Invalid job id" not in result.stderr:
            raise OSError(result.stderr.strip() or f"squeue ended with status {result.returncode}")
        alive_ids.update(result.stdout.split())
    return alive_ids


def require_no_tasks(database: Database) -> None:
    """Raise UserError if tasks of a killed run still wait or run, because they write to the folders of submissions."""
    job_ids = (database.read_value("slurm_jobs") or {}).values()
    alive: set[str] = set()
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # no Slurm on this machine, or no answer
        alive = list_alive(list(job_ids)) & set(job_ids)
    if alive:
        arrays = " ".join(sorted({job_id.partition("_")[0] for job_id in alive}))
        raise UserError(
            "Tasks of an earlier run still wait or run on the cluster. Collect their results with the grade command "
            f"and --executor slurm, or end them: scancel {arrays}"
        )


def grade_on_node(submission: Submission, settings: Settings) -> Graded | str:
    """Grade a submission, as one task. Return the result, or a message if the disk is full and the whole batch must
    stop."""
    os.umask(0o077)  # as in the batch itself
    try:
        return grade_submission(submission, settings)
    except DiskFullError as error:
        return str(error)


def confirm_on_node(submission: Submission, settings: Settings) -> Graded | str:
    """Grade a submission on which an earlier task failed, as one task: grade the reference, then the submission and, if
    the judge fails again, the reference once more. All runs are on one node, so that a broken node does not count
    against the submission."""
    import submitit

    os.umask(0o077)
    judge_works = is_reference_graded(settings, Running(), {})
    if judge_works:  # this file stays if Slurm kills the task while it grades the submission
        reference_mark(settings, submitit.JobEnvironment().job_id).touch()
    graded = grade_on_node(submission, settings)
    if isinstance(graded, str) or not graded.judge_failure:
        return graded
    return attribute_failure(graded) if judge_works and is_reference_graded(settings, Running(), {}) else graded


def reference_mark(settings: Settings, job_id: str) -> Path:
    """Return the path of the file that a task writes after it graded the reference."""
    return settings.folder / "slurm" / f"{job_id}_reference"


def grade_reference_on_node(settings: Settings) -> bool:
    """As one task, grade the reference, and return whether the judge did so without an error."""
    os.umask(0o077)
    return is_reference_graded(settings, Running(), {})


def try_on_node(settings: Settings) -> Report | str:
    """Run the judge's trial before a batch, as one task. Return its report or an error message."""
    try:
        return try_judge(settings)
    except UserError as error:
        return str(error)


def try_by_slurm(settings: Settings, parameters: dict[str, str]) -> Report:
    """Run the judge's trial on a node, and return its report. Raises UserError."""
    cluster = Cluster(settings, parameters)
    (job,) = cluster.submit(try_on_node, [(settings,)])
    for _, outcome in wait_for(cluster, {"trial": job}):
        if isinstance(outcome, Report):
            return outcome
        raise UserError(outcome or f"The trial ended without a result. Its log is in {cluster.folder}.")
    raise AssertionError("wait_for yields every job once")


def grade_by_slurm(
    waiting: Sequence[Submission], settings: Settings, database: Database, parameters: dict[str, str]
) -> Generator[Graded, None, None]:
    """Grade all submissions that wait, and yield results as tasks finish. If an earlier run submitted a job for
    one of them, wait for that job instead of submitting another.

    A submission counts as the cause of its failures, as if the judge had failed on it, under two conditions:
    MAX_LOST_TASKS tasks graded the reference and then ended without a result (cancelled tasks do not count), and
    another task can grade the reference afterwards.
    """
    cluster = Cluster(settings, parameters)
    by_key = {submission.key: submission for submission in waiting}
    earlier = database.read_value("slurm_jobs") or {}
    jobs = {key: cluster.job(job_id) for key, job_id in earlier.items() if key in by_key}
    attempts = dict.fromkeys(jobs, 1)
    to_submit = [key for key in by_key if key not in jobs]
    suspects: set[str] = set()
    lost_tasks: Counter[str] = Counter()
    without_result: list[Graded] = []
    try:
        while to_submit or jobs:
            for function, is_suspect in ((grade_on_node, False), (confirm_on_node, True)):
                chosen = [by_key[key] for key in to_submit if (key in suspects) == is_suspect]
                submit_all(cluster, database, function, settings, chosen, jobs)
            for key in to_submit:
                attempts[key] = attempts.get(key, 0) + 1
            to_submit = []
            for key, outcome in wait_for(cluster, dict(jobs)):
                job = jobs.pop(key)
                is_last = attempts[key] >= MAX_TASKS_PER_HAND_IN
                has_result = is_result(outcome, by_key[key])
                if not has_result or outcome.judge_failure:
                    suspects.add(key)
                    lost_tasks[key] += reference_mark(settings, job.job_id).exists() and not was_cancelled(job)
                if has_result and (is_last or not is_doubtful(outcome)):
                    yield outcome
                elif isinstance(outcome, str) and outcome:
                    raise DiskFullError(outcome)
                elif not is_last:
                    to_submit.append(key)
                else:
                    reason = (
                        f"No result after {MAX_TASKS_PER_HAND_IN} tasks: {explain_missing_result(job)}. Logs: slurm/"
                    )
                    graded = Graded(key, "judge_error", reason, fingerprint=by_key[key].fingerprint)
                    if lost_tasks[key] >= MAX_LOST_TASKS:
                        graded.judge_failure = (
                            "The cluster ended each task that graded it, for example for lack of memory."
                        )
                        without_result.append(graded)
                    else:
                        yield graded
        judge_works = bool(without_result) and judge_works_on_node(cluster, settings)
        yield from map(attribute_failure, without_result) if judge_works else without_result
        database.set_values(slurm_jobs={})
    except BaseException:
        cluster.cancel(list(jobs.values()))
        raise


def judge_works_on_node(cluster: Cluster, settings: Settings) -> bool:
    """Submit a task that grades the reference, and return whether the judge does so without an error."""
    (job,) = cluster.submit(grade_reference_on_node, [(settings,)])
    try:
        return any(outcome is True for _, outcome in wait_for(cluster, {"reference": job}))
    except BaseException:
        cluster.cancel([job])
        raise


def is_doubtful(graded: Graded) -> bool:
    """Return whether another task may give a different result: the reader was killed, or the judge failed."""
    return graded.was_killed or bool(graded.judge_failure and graded.status != "judge_crashed")


def is_result(outcome: Any, submission: Submission) -> bool:
    """Return whether a task returned the result of this submission. The result may belong to another one, because a
    cluster may reuse the number of an earlier task whose result still exists."""
    return (
        isinstance(outcome, Graded) and outcome.key == submission.key and outcome.fingerprint == submission.fingerprint
    )


def submit_all(
    cluster: Cluster,
    database: Database,
    function: Callable[..., Graded | str],
    settings: Settings,
    submissions: Sequence[Submission],
    jobs: dict[str, Any],
) -> None:
    """Submit tasks as arrays, add them to `jobs`, and store their ids at once, so that a killed batch can continue."""
    for first in range(0, len(submissions), MAX_TASKS):
        part = submissions[first : first + MAX_TASKS]
        submitted = cluster.submit(function, [(submission, settings) for submission in part])
        jobs |= {submission.key: job for submission, job in zip(part, submitted, strict=True)}
        database.set_values(slurm_jobs={key: job.job_id for key, job in jobs.items()})


def wait_for(cluster: Cluster, jobs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each job's key and the result of its task, or None if the task ended without a result. While the controller
    does not answer, wait; print a message after SILENT_S seconds."""
    ended: dict[str, float] = {}  # by key: when the task was first found to have ended
    warn_at = time.monotonic() + SILENT_S
    while jobs:
        for key, job in list(jobs.items()):
            if Path(job.paths.result_pickle).exists():
                del jobs[key]
                yield key, read_result(job)
        try:
            alive = cluster.alive(list(jobs.values()))
        except (OSError, subprocess.TimeoutExpired) as error:
            if time.monotonic() > warn_at:
                warn_at = math.inf
                say_error(
                    f"Slurm has not answered for a minute ({error}). The batch waits for it. Ctrl-C stops the batch; "
                    "the same command continues it later."
                )
        else:
            warn_at = time.monotonic() + SILENT_S
            for key, job in list(jobs.items()):
                if job.job_id in alive:
                    ended.pop(key, None)
                elif time.monotonic() - ended.setdefault(key, time.monotonic()) > GRACE_S:
                    del jobs[key]
                    yield key, None
        time.sleep(POLL_S if jobs else 0)


def read_log(job: Any) -> str:
    """Return a task's log, to which no submission can write; empty if it cannot be read, for example because the node
    was lost."""
    with contextlib.suppress(OSError):
        return Path(job.paths.stderr).read_text(errors="replace")
    return ""


def was_cancelled(job: Any) -> bool:
    """Return whether Slurm cancelled the task for a reason other than memory: a person cancelled it, it reached its
    time limit, its node failed, or another job preempted it. (Slurm may also cancel a task that used too much
    memory.)"""
    log = read_log(job)
    return "CANCELLED" in log and "memory" not in log


def explain_missing_result(job: Any) -> str:
    """Return the reason why a task ended without a result, from its log."""
    if "DUE TO TIME LIMIT" in read_log(job):
        return "the last one reached Slurm's time limit; raise it with --slurm time=MINUTES"
    return "nodes were lost, or tasks were cancelled"


def read_result(job: Any) -> Any:
    """Return a task's result, or None if the task raised an exception."""
    try:
        return job.result()
    except Exception:
        return None
