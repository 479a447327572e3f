"""If the judge fails on a submission and can grade the reference, the submission is the cause and gets no points."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.python.batch import autograde
from grader.python.batch.grade import unfinished
from grader.python.batch.grade.judge import Running, run_judge
from grader.python.batch.grade.reference import attribute_failure
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from tests.python.batch.batches import LAB, STAGES, Course


def points(course: Course) -> dict[str, str]:
    """Return each student's points in gradebook.csv."""
    lines = csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    return {line["id"]: line["points"] for line in lines}


@pytest.mark.parametrize("folder", ["solutions", "starter"])
def test_a_failure_that_the_reference_does_not_cause_costs_points(course: Course, folder: str) -> None:
    course.add_reference("fine", "fine")
    if folder == "starter":
        shutil.rmtree(course.root / "starter")
        (course.root / "solutions").rename(course.root / "starter")
    course.hand_in("al1", "fine", "fine")
    course.hand_in("mal2", "fine", "crash")
    course.hand_in("mal3", "garbage", "fine")
    course.hand_in("mal4", "sleep 300", "fine")
    result = course.grade("--timeout-s", "4")
    assert result.returncode == 0, result.stdout + result.stderr
    cheats = ("mal2", "mal3", "mal4")
    assert course.statuses() == {**dict.fromkeys(cheats, "judge_crashed"), "al1": "graded"}
    assert points(course) == {**dict.fromkeys(cheats, "0"), "al1": "12"}
    log = course.log("begin")
    assert log.count(folder) == 2 and log[-1] == folder and "mal2" in log[log.index(folder) : -1]
    assert not list(course.out.glob("reference*"))
    exported = course.out.with_name("canvas.csv")
    course.run_verb("export", "--format", "canvas", "--output", exported)
    assert {line.split(",")[0]: line.rsplit(",", 1)[1] for line in exported.read_text().splitlines()[2:]} == {
        **dict.fromkeys(cheats, "0"), "al1": "12",
    }  # fmt: skip
    output = course.run_verb("status").stdout
    for outcome in ("crashed (signal 8: Floating", "wrote no valid report (exit status 1)", "did not end within 4 s"):
        assert f"judge crashed: The judge {outcome}" in output
    first_remark = (course.out / "report.html").read_text().partition("Review these first")[2].partition("<td>")[2]
    assert "mal2" in first_remark[:60] and "crashes the judge" in first_remark[:400]
    text = (course.out / "feedback/mal2/feedback.txt").read_text()
    assert "grades the reference" in text and "ask the instructor" in text and str(course.root) not in text


@pytest.mark.parametrize("broken", ["crash", "garbage", "implausible", "sleep 300"])
def test_a_failure_that_also_occurs_with_the_reference_costs_nothing(course: Course, broken: str) -> None:
    course.add_reference("fine", broken)
    course.hand_in("al1", "crash", "fine")
    result = course.grade("--timeout-s", "2")
    assert result.returncode == 1, result.stdout + result.stderr
    assert course.statuses() == {"al1": "judge_error"} and points(course) == {"al1": ""}


def test_without_a_reference_a_failure_costs_nothing(course: Course) -> None:
    course.hand_in("al1", "crash", "fine")
    course.grade()
    assert course.statuses() == {"al1": "judge_error"} and points(course) == {"al1": ""}


def test_a_failure_that_does_not_recur_costs_nothing(course: Course) -> None:
    course.add_reference("repair the judge", "fine")
    course.hand_in("al1", "crash", "fine")
    result = course.grade()
    assert result.returncode == 0, result.stdout + result.stderr
    assert course.statuses() == {"al1": "graded"} and points(course) == {"al1": "12"}


def test_a_machine_that_fails_before_the_second_attempt_costs_no_points(course: Course) -> None:
    course.add_reference("works once", "fine")
    course.hand_in("al1", "crash", "fine")
    assert course.grade().returncode == 1
    assert course.statuses() == {"al1": "judge_error"} and points(course) == {"al1": ""}


def test_the_feedback_of_a_submission_that_crashes_the_judge_begins_with_the_failure() -> None:
    caused = attribute_failure(Graded("al1", "judge_error", judge_failure="It crashed.", report="{}"))
    assert (caused.status, caused.report) == ("judge_crashed", "") and caused.detail.startswith("It crashed. ")


def test_a_regrade_of_pending_points_keeps_decided_points_if_the_judge_crashes(course: Course) -> None:
    course.add_reference("fine", "fine")
    (course.build / "repaired").touch()
    course.hand_in("al1", "crash", "fine")
    course.grade()
    assert points(course) == {"al1": "12"}
    (course.build / "repaired").unlink()
    assert "The points are the same" in course.run_verb("regrade", "--pending", "--backend", "cpu").stdout
    assert course.statuses() == {"al1": "judge_crashed"} and points(course) == {"al1": "12"}
    assert "12 points and 8 pending before, 0 points now" in course.run_verb("regrade", "--all").stdout
    assert course.statuses() == {"al1": "judge_crashed"} and points(course) == {"al1": "0"}
    (course.build / "repaired").touch()
    shutil.rmtree(course.handed_in)
    assert course.run_verb("regrade", "--errors").returncode == 0
    assert course.statuses() == {"al1": "graded"} and points(course) == {"al1": "12"}


def test_an_interruption_while_the_reference_is_graded_decides_nothing(course: Course) -> None:
    course.add_reference("sleep 300", "fine")
    course.hand_in("al1", "crash", "fine")
    process = course.start()
    course.wait_for("solutions", process)
    assert course.kill(process, signal.SIGINT) == 130
    assert course.statuses() == {"al1": ""}
    course.add_reference("fine", "fine")
    assert course.grade().returncode == 0
    assert course.statuses() == {"al1": "judge_crashed"}


def test_an_interruption_ends_the_judge_that_the_same_thread_waits_for(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupt(process: subprocess.Popen[bytes], *_: object, **__: object) -> None:
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_judge(["sleep", "300"], Settings(LAB, STAGES, course.root, course.build, course.out, ""), Running(), {})
    assert started[0].wait(timeout=60) == -signal.SIGKILL


@pytest.mark.parametrize("text", ["crash", "garbage"])
def test_an_autograder_gives_no_points_for_a_failure_that_the_reference_does_not_cause(
    course: Course, tmp_path: Path, text: str
) -> None:
    settings = Settings(LAB, STAGES, course.root, course.build, tmp_path, "cpu", timeout_s=5)
    handed_in = [course.hand_in("al1", text, "fine")]
    with pytest.raises(UserError, match="a reason other than the submission"):
        autograde.grade(settings, handed_in, "gradescope")
    course.add_reference("fine", "fine")
    result = json.loads(autograde.grade(settings, handed_in, "gradescope"))
    assert result["score"] == 0 and "grades the reference" in result["output"]
    scores = autograde.grade(settings, handed_in, "autolab").splitlines()[-1]
    assert json.loads(scores) == {"scores": dict.fromkeys(STAGES, 0)}
    course.add_reference("fine", "crash")
    with pytest.raises(UserError, match="a reason other than the submission"):
        autograde.grade(replace(settings, timeout_s=2), handed_in, "gradescope")


class Autograder:
    """The autograder of a course system, with a time limit of a few seconds for a hand-in with two stages."""

    def __init__(self, course: Course, folder: Path, seconds: float = 8):
        self.course, self.settings = course, Settings(LAB, STAGES, course.root, course.build, folder, "cpu")
        self.settings = replace(self.settings, timeout_s=seconds)

    def grade(self, *texts: str) -> list[tuple[float | None, str]]:
        """Return each stage's points (None if it shows none) and its text."""
        handed_in = [self.course.hand_in("al1", *texts)]
        result = json.loads(autograde.grade(self.settings, handed_in, "gradescope"))
        tests = result["tests"]
        assert result["score"] == sum(test.get("score", 0) for test in tests)
        return [(test.get("score"), test["output"]) for test in tests]


def test_an_autograder_keeps_the_points_of_stages_that_were_judged_in_time(course: Course, tmp_path: Path) -> None:
    autograder = Autograder(course, tmp_path)
    course.add_reference("fine", "fine")
    (first, _), (second, output) = autograder.grade("fine", "sleep 300")
    assert (first, second) == (6, 0) and "it grades the reference" in output and "timeout" in output


def test_an_autograder_continues_after_a_stage_that_hangs(course: Course, tmp_path: Path) -> None:
    course.add_reference("fine", "fine")
    (first, output), (second, _) = Autograder(course, tmp_path).grade("sleep 300", "fine")
    assert (first, second) == (0, 6) and "it grades the reference" in output


def test_an_autograder_says_which_stages_it_did_not_reach(course: Course, tmp_path: Path) -> None:
    course.add_reference("fine", "sleep 300")
    (first, _), (second, output) = Autograder(course, tmp_path).grade("fine", "sleep 300")
    assert (first, second) == (6, None) and "ended before this stage was judged" in output


def test_an_autograder_judges_a_stage_again_if_the_limit_stopped_it(course: Course, tmp_path: Path) -> None:
    course.add_reference("fine", "fine")
    assert [points for points, _ in Autograder(course, tmp_path, 10).grade("sleep 7", "sleep 1.2")] == [6, 6]


@pytest.mark.parametrize("jump_s", [-3600, 0, 3600])
def test_a_changed_clock_does_not_lengthen_the_time_of_a_stage(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    file, offset_s = tmp_path / "unfinished.json", unfinished.read_clock_offset()
    file.write_text((course.build / "report.json").read_text())
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + jump_s)
    report, took_s = unfinished.read_unfinished(file, 448, offset_s)
    assert report and took_s < 60


def test_an_autograder_gives_no_result_if_the_reference_takes_too_long_too(course: Course, tmp_path: Path) -> None:
    course.add_reference("sleep 300", "fine")
    with pytest.raises(UserError, match="a reason other than the submission"):
        Autograder(course, tmp_path, 5).grade("sleep 300", "fine")
