"""Grade one submission: open it, give its stages to `build/warplab grade`, and describe the result.

This module computes no points; it takes them from the report. For any submission, grade_submission returns a Graded
with one of the statuses in store/rows.py. Only an interruption, a full disk or a moved folder ends the batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from grader.python.batch.grade.journals import JOURNAL, keep_journal, render_journal
from grader.python.batch.grade.judge import (
    TIMED_OUT,
    Running,
    StoppedError,
    describe_failure,
    hide_folders,
    read_judged,
    run_judge,
)
from grader.python.batch.grade.opening import MAX_REASON, Opened, describe_error, open_submission
from grader.python.batch.grade.tree import MARK, write_tree
from grader.python.batch.ingest.disk import DiskFullError, raise_if_full
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Graded, Stage, summarise
from grader.python.batch.store.settings import Settings
from grader.python.common.markup import show_text
from grader.python.common.report import Failure, Report, StageReport
from grader.python.journal.journal import RENDERING_S

ATTEMPTS = 2  # runs of the judge, if it fails
MINIMUM_S = 1.0  # minimum time for the judge, enough to report an error
RAN_OUT = ("timeout", "compile_timeout", "out_of_memory")  # failures that hand-ins graded at the same time can cause


def grade_submission(
    submission: Submission,
    settings: Settings,
    running: Running | None = None,
    environment: dict[str, str] | None = None,
    opened: Opened | None = None,
) -> Graded:
    """Grade one submission within settings.timeout_s. `opened`: the hand-in's contents, if they were read already.
    Raises only DiskFullError, MovedError and StoppedError."""
    work = Work(settings, running or Running(), environment or {})
    graded = Graded(submission.key, "judge_error", fingerprint=submission.fingerprint)
    try:
        opened = opened or open_submission(submission, settings)
        graded.status, graded.detail, graded.notes = opened.status, opened.detail, opened.notes
        graded.was_killed = opened.was_killed
        if opened.journal is not None:
            # An earlier copy may have other contents, and must not be used if the batch is killed here.
            (place_of(settings.folder, "submissions", submission.key) / MARK).unlink(missing_ok=True)
        graded.notes += add_journal(opened.journal, submission.key, work)  # replaces an earlier journal
        if opened.picked:
            judge(opened.picked, submission, work, graded)
    except (DiskFullError, StoppedError):
        raise
    except Exception as error:
        if isinstance(error, OSError):
            raise_if_full(settings.folder, error)
        graded.status, graded.detail = "judge_error", describe_error(error)
    graded.notes = list(dict.fromkeys(graded.notes))
    graded.wall_s = work.spent_s()
    return graded


@dataclass
class Work:
    """The state of grading one hand-in: its settings, the running judges, and its remaining time."""

    settings: Settings
    running: Running
    environment: dict[str, str]
    begin_s: float = field(default_factory=lambda: time.monotonic())

    def spent_s(self) -> float:
        """Return the seconds since the grading began."""
        return time.monotonic() - self.begin_s

    def bounded(self, max_s: float) -> Settings:
        """Return the settings with the remaining time as the time limit, but at least MINIMUM_S and at most `max_s`
        seconds."""
        return replace(self.settings, timeout_s=max(min(max_s, self.settings.timeout_s - self.spent_s()), MINIMUM_S))


def add_journal(files: dict[str, bytes] | None, key: str, work: Work) -> list[str]:
    """Keep a submission's journal, and render it next to the feedback. If `files` is None, render the journal that was
    kept before. Return remarks; a journal does not change points. Raises DiskFullError and StoppedError."""
    settings = work.settings
    target = place_of(settings.folder, "journals", key)
    page = place_of(settings.folder, "feedback", key) / JOURNAL
    bounded = work.bounded(2 * RENDERING_S)
    try:
        remarks = [] if files is None else keep_journal(files, settings.lab, settings.stages, target)
        return remarks + render_journal(
            target,
            page,
            settings.root,
            settings.lab,
            lambda command, more: run_judge(command, bounded, work.running, more),
        )
    except (DiskFullError, StoppedError):
        raise
    except Exception as error:
        if isinstance(error, OSError):
            raise_if_full(settings.folder, error)
        return ["The journal could not be saved."]


def judge(picked: dict[str, bytes], submission: Submission, work: Work, graded: Graded) -> None:
    """Run the judge, and fill in `graded`. If the judge fails, but not because of the time limit, run it once more in
    the remaining time."""
    settings = work.settings
    folder = place_of(settings.folder, "submissions", submission.key)
    tree = write_tree(folder, settings.lab, picked, submission.fingerprint, settings.graded_stages())
    for _ in range(ATTEMPTS):
        bounded = work.bounded(settings.timeout_s)
        status, errors = run_judge(settings.command(tree, folder), bounded, work.running, work.environment)
        graded.report, graded.judged = read_judged(folder / f"{settings.lab}.json", status)
        if found := graded.judged:
            graded.judge_failure = ""
            graded.status, graded.detail = find_status(found, len(picked) < len(settings.graded_stages()))
            graded.detail = hide_folders(graded.detail, [f"{tree}/{settings.lab}", *settings.folders()])
            graded.ran_out = has_run_out(found)
        else:
            graded.judge_failure = describe_failure(status, settings.timeout_s)
            graded.ran_out = status == TIMED_OUT
            reason = errors[-MAX_REASON:] if status >= 0 and not graded.ran_out else ""
            graded.status, graded.detail = "judge_error", reason or graded.judge_failure
        raise_if_full(settings.folder)
        if graded.status != "judge_error" or graded.ran_out:
            break
    graded.detail = show_text(graded.detail)
    missing = [stage for stage in settings.graded_stages() if stage not in picked]
    if missing:
        graded.notes.append(f"Not handed in: {', '.join(missing)}")


def has_run_out(report: Report) -> bool:
    """Return whether a stage ran out of time or memory, which hand-ins that are graded at the same time may have
    caused."""
    failures = [
        failure
        for stage in report.stages
        for failure in (stage.error, stage.compilation.failure, *(check.failure for check in stage.checks))
    ]
    return any(failure is not None and failure.cause in RAN_OUT for failure in failures)


def find_status(report: Report, missing: bool) -> tuple[str, str]:
    """Return the status that follows from a report, and the reason. `missing`: whether stages were not handed in."""
    with_error = [stage for stage in report.stages if stage.verdict == "error"]
    for stage in with_error:
        if stage.error and stage.error.cause == "implausible_timing":
            return "needs_review", f"{stage.stage}: {stage.error.message}"
    for stage in with_error:
        failures = [stage.error, stage.compilation.failure, *(check.failure for check in stage.checks)]
        words = next((failure.message for failure in failures if failure), "an error without a reason")
        return "judge_error", f"{stage.stage}: {words}"[:MAX_REASON]
    if not report.stages:
        return "judge_error", "The report has no stage."
    handed_in = [stage for stage in report.stages if not has_cause(stage.compilation.failure, "missing_file")]
    if handed_in and all(cannot_compile(stage) for stage in handed_in):
        failure = handed_in[0].compilation.failure
        return "did_not_compile", failure.message[:MAX_REASON] if failure else ""
    return ("missing_stages" if missing else "graded"), ""


def cannot_compile(stage: StageReport) -> bool:
    """Return whether the file failed to compile. If nvcc may accept it on a machine with a GPU, its correctness is
    pending, and this returns False."""
    pending = stage.score is not None and stage.score.correctness_pending
    return stage.compilation.verdict == "failed" and not pending


def has_cause(failure: Failure | None, cause: str) -> bool:
    return failure is not None and failure.cause == cause


def summarise_report(report: Report | None, lab_hash: str) -> tuple[dict[str, Any], list[Stage]]:
    """Return the values of a report that the database keeps in addition to the report's text: columns of the table
    `grades`, and the stages. Without a report, both are empty."""
    if report is None:
        return {}, []
    summary = {
        "points": report.total.points,
        "most": report.total.max,
        "pending": report.total.pending,
        "time": report.time,
        "warplab": report.warplab,
        "lab_hash": lab_hash,
        "backend": report.backend,
        "sandbox": report.sandbox,
    }
    return summary, [summarise(stage) for stage in report.stages]
