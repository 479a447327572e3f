"""Isolation of hand-ins that are graded at the same time."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.python.batch.grade import grading, grading_pool, opening, run
from grader.python.batch.grade.grading_pool import GradingPool
from grader.python.batch.grade.judge import Running
from grader.python.batch.grade.run import grade_here, split_cores
from grader.python.batch.ingest.reader import Contents, KilledError, read_all
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from tests.python.batch.batches import LAB, STAGES, Course

FAILURE = {"cause": "timeout", "message": "No answer after 20 s.", "hint": "", "place": None}


class Judge:
    """A judge whose first two runs, which are simultaneous, fail with `cause`, such as a timeout. The submission
    `endless` always fails."""

    def __init__(self, course: Course, cause: str):
        self.course, self.cause = course, cause
        self.lock, self.active = threading.Lock(), 0
        self.runs: list[tuple[str, int]] = []
        self.cores: list[set[int]] = []
        self.barrier = threading.Barrier(2)

    def __call__(
        self, command: Sequence[str], settings: Settings, running: Running, environment: dict[str, str]
    ) -> tuple[int, str]:
        if "--report-dir" not in command:
            return 0, ""
        reports = Path(command[command.index("--report-dir") + 1])
        with self.lock:
            self.active += 1
            first = len(self.runs) < 2
            self.runs.append((reports.name, self.active))
            self.cores.append(os.sched_getaffinity(0))
        if first:
            self.barrier.wait(timeout=30)  # both runs are in progress here
        report = json.loads((self.course.build / "report.json").read_text())
        if first or reports.name == "endless":
            stage = report["stages"][0]
            failure = {**FAILURE, "cause": self.cause}
            if self.cause == "compile_timeout":
                stage["compilation"] |= {"verdict": "failed", "failure": failure}
            else:
                stage["checks"][0] |= {"verdict": "failed", "failure": failure}
            stage["verdict"] = "failed"
        (reports / f"{LAB}.json").write_text(json.dumps(report))
        with self.lock:
            self.active -= 1
        if self.cause == "stopped" and first:
            return grading.TIMED_OUT, ""
        return 1, ""


def grade(course: Course, judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, jobs: int = 2) -> list[Graded]:
    monkeypatch.setattr(grading, "run_judge", judge)
    monkeypatch.setattr(run, "run_judge", judge)
    course.out.mkdir()
    submissions, _ = find_submissions(course.handed_in, LAB, [])
    settings = Settings(LAB, STAGES, course.root, course.build, course.out, "cpu")
    return list(grade_here(submissions, settings, "cpu", jobs))


@pytest.mark.parametrize("cause", ["timeout", "compile_timeout", "out_of_memory", "stopped"])
def test_a_lack_of_time_or_memory_next_to_others_is_retried_alone(
    course: Course, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    for student in ("al1", "endless"):
        course.hand_in(student, "fine", "fine")
    judge = Judge(course, cause)
    graded = {hand_in.key: hand_in for hand_in in grade(course, judge, monkeypatch)}
    assert sorted(name for name, _ in judge.runs) == ["al1", "al1", "endless", "endless"]
    assert [running for _, running in judge.runs[2:]] == [1, 1]
    assert graded["al1"].status == "graded" and not graded["al1"].ran_out
    assert cause not in graded["al1"].report and (cause == "stopped" or cause in graded["endless"].report)


def test_a_judge_that_is_killed_next_to_others_is_retried_alone(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel kills the judge if memory is short. Then the submission is not the cause, although the judge can grade
    the reference."""
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.add_reference("fine", "fine")
    judge = Judge(course, "wrong_value")
    judge.barrier = threading.Barrier(1)
    calls: list[str] = []

    def fail_then_judge(command: Sequence[str], *rest: Any) -> tuple[int, str]:
        calls.extend(word for word in command if word == "--report-dir")
        return (-9, "") if len(calls) <= 4 else judge(command, *rest)

    graded = grade(course, fail_then_judge, monkeypatch)
    assert {hand_in.key: hand_in.status for hand_in in graded} == {"al1": "graded", "at2": "graded"}
    assert sorted(name for name, _ in judge.runs) == ["al1", "at2"] and not any(
        hand_in.judge_failure for hand_in in graded
    )


def test_hand_ins_with_other_failures_are_graded_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    judge = Judge(course, "wrong_value")
    assert len(grade(course, judge, monkeypatch)) == 2
    assert len(judge.runs) == 2


def test_judges_on_the_cpu_have_their_own_cores(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    assert split_cores([0, 1, 2, 3, 4], 2) == [[0, 1], [2, 3]]
    assert split_cores([0, 1], 2) == [[0], [1]]
    assert split_cores([0, 1], 3) == [[0, 1]] * 3  # too few cores to share
    if len(run.cores()) < 2:
        pytest.skip("one core")
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    judge = Judge(course, "wrong_value")
    grade(course, judge, monkeypatch)
    assert not judge.cores[0] & judge.cores[1]


def test_a_queue_confirms_one_time_out_and_then_grades_others(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0]

    def submit(submission: Submission) -> Future[Graded]:
        result: Future[Graded] = Future()
        result.set_result(Graded(submission.key, "graded", ran_out=submission.key.startswith("endless")))
        return result

    def confirm(doubted: Sequence[tuple[Submission, Graded]], *_: object) -> Iterator[Graded]:
        seconds[0] += 60
        for _, graded in doubted:
            yield graded

    def take() -> list[str]:
        results: list[tuple[str, Graded | None]] = []
        while not results and pool.list_begun():
            results = pool.take(60)
        return [key for key, _ in results]

    for student in ("endless1", "endless2", "al1"):
        course.hand_in(student, "fine", "fine")
    monkeypatch.setattr(grading_pool, "confirm", confirm)
    monkeypatch.setattr(grading_pool, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    settings = Settings(LAB, STAGES, course.root, course.build, course.out, "cpu")
    by_key = {submission.key: submission for submission in find_submissions(course.handed_in, LAB, [])[0]}
    pool = GradingPool(submit, settings, Running(), [], at_once=2)
    for key in ("endless1", "endless2"):
        pool.start(by_key[key], skip_unfinished=False)
    confirmed = take()
    assert len(confirmed) == len(pool.list_begun()) == 1
    assert pool.has_room(), "others are graded for twice the time that the confirmation took"
    pool.start(by_key["al1"], skip_unfinished=False)
    assert take() == ["al1"] and pool.has_room()
    seconds[0] += 120
    assert not pool.has_room()
    assert sorted(confirmed + take()) == ["endless1", "endless2"] and not pool.list_begun()
    pool.threads.shutdown()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("kills", [1, 9])
def test_a_hand_in_whose_reader_is_killed_is_read_once_more_at_the_end(
    course: Course, monkeypatch: pytest.MonkeyPatch, jobs: int, kills: int
) -> None:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    reads: list[str] = []

    def read_or_fail(entries: Sequence[Path], limit_s: float) -> Contents:
        reads.append(entries[0].name)
        if entries[0].name == "al1" and reads.count("al1") <= kills:
            raise KilledError("killed")
        return read_all(entries)

    monkeypatch.setattr(opening, "read_in_child", read_or_fail)
    judge = Judge(course, "wrong_value")
    judge.barrier = threading.Barrier(1)
    graded = {hand_in.key: hand_in.status for hand_in in grade(course, judge, monkeypatch, jobs)}
    assert sorted(reads) == ["al1", "al1", "at2"] and reads[-1] == "al1"
    assert graded == {"al1": "graded" if kills == 1 else "judge_error", "at2": "graded"}
