"""Grading by Slurm, with a real controller and real nodes; see cluster.py."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.batch.batches import ROOT, Course, environment
from tests.python.batch.cluster import Slurm, find_obstacle

pytest.importorskip("submitit")
pytestmark = pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle())


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with Slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        before = dict(os.environ)
        os.environ |= cluster.environment
        yield cluster
        os.environ.clear()
        os.environ.update(before)


SLURM_OPTIONS = ("--executor", "slurm", "--slurm", "gres=gpu:1")


def wait_until(condition, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition was not met within {seconds} s"
        time.sleep(0.1)


def start(course: Course) -> subprocess.Popen[str]:
    command = course.grade_command(*SLURM_OPTIONS)
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_an_array_is_graded_and_gathered(slurm: Slurm, course: Course) -> None:
    for number in range(6):
        course.hand_in(f"s{number}", "compile_error" if number == 3 else "fine", "fine")
    result = course.grade(*SLURM_OPTIONS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert course.statuses() == {f"s{number}": "graded" for number in range(6)}
    assert sorted(course.log("end")) == [f"s{number}" for number in range(6)]
    assert len(list((course.out / "slurm").glob("*_result.pkl"))) == 7  # six submissions and the trial
    assert course.run_verb("regrade", "--student", "s1", *SLURM_OPTIONS).returncode == 0
    assert course.log("end").count("s1") == 2  # graded again, not collected again


def test_tasks_import_nothing_from_a_hand_in(slurm: Slurm, course: Course) -> None:
    (course.hand_in("submitit", "fine", "fine") / "__init__.py").write_text("raise SystemExit")
    command = [ROOT / "grader/warplab-course", *course.grade_words(*SLURM_OPTIONS)]
    process = subprocess.run(command, cwd=course.handed_in, check=False, capture_output=True, text=True)
    assert course.statuses() == {"submitit": "graded"}, process.stdout + process.stderr


def test_a_submission_that_crashes_the_judge_has_no_points(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "crash", "fine")
    course.hand_in("s1", "fine", "fine")
    course.add_reference("fine", "fine")
    result = course.grade(*SLURM_OPTIONS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert course.statuses() == {"s0": "judge_crashed", "s1": "graded"}
    assert course.log("end").count("solutions") == 2  # before and after the second task of s0, on its node


def test_a_submission_that_ends_its_tasks_has_no_points(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "kill the task", "fine")
    course.hand_in("s1", "kill the task", "fine")
    course.hand_in("s2", "fine", "fine")
    course.add_reference("fine", "fine")
    result = course.grade(*SLURM_OPTIONS)
    assert result.returncode == 0, result.stdout + result.stderr
    assert course.statuses() == {"s0": "judge_crashed", "s1": "judge_crashed", "s2": "graded"}
    assert course.log("end").count("solutions") == 5  # before each second and third task, and at the end


def test_tasks_that_also_die_with_the_reference_cost_nothing(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "kill the task", "fine")
    course.add_reference("kill the task", "fine")
    assert course.grade(*SLURM_OPTIONS).returncode == 1
    assert course.statuses() == {"s0": "judge_error"}


def test_tasks_that_a_person_cancels_cost_nothing(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "sleep 300", "fine")
    course.add_reference("fine", "fine")
    process = start(course)

    def running() -> set[str]:
        return set(slurm.ask("squeue", "-h", "-o", "%i", "-t", "R").split())

    cancelled: set[str] = {""}
    for references in range(3):
        wait_until(lambda: course.log("begin")[-1:] == ["s0"] and running() - cancelled)
        wait_until(lambda number=references: len(list((course.out / "slurm").glob("*_reference"))) == number)
        (job,) = running() - cancelled
        slurm.ask("scancel", job)
        cancelled.add(job)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1, output
    assert course.statuses() == {"s0": "judge_error"}


def test_no_other_batch_starts_while_tasks_of_a_killed_batch_run(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "sleep 8", "fine")
    process = start(course)
    wait_until(lambda: course.log("begin"))
    process.kill()
    process.communicate()
    for result in (
        course.grade(),
        course.run_verb("regrade", "--all", *SLURM_OPTIONS),
        course.run_verb("regrade", "--all"),
    ):
        assert (
            result.returncode == 2
            and "still wait or run on the cluster" in result.stderr
            and "scancel " in result.stderr
        )
    assert course.log("begin") == ["s0"]
    assert course.grade(*SLURM_OPTIONS).returncode == 0
    assert course.statuses() == {"s0": "graded"} and course.log("begin") == ["s0"]
    assert course.run_verb("regrade", "--all").returncode == 0


def test_a_restarted_batch_gathers_the_results_of_its_tasks(slurm: Slurm, course: Course) -> None:
    for number in range(3):
        course.hand_in(f"s{number}", "sleep 2", "fine")
    process = start(course)
    wait_until(lambda: course.log("begin"))
    process.kill()
    process.communicate()
    wait_until(lambda: len(course.log("end")) == 3)
    assert course.grade(*SLURM_OPTIONS).returncode == 0
    assert sorted(course.log("begin")) == ["s0", "s1", "s2"]
    assert set(course.statuses().values()) == {"graded"}


def test_an_interruption_cancels_the_tasks(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "sleep 300", "fine")
    process = start(course)
    wait_until(lambda: course.log("begin"))
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    wait_until(lambda: not slurm.job_states_by_node())


def test_the_tasks_of_a_lost_node_run_again(slurm: Slurm, course: Course) -> None:
    for number in range(4):
        course.hand_in(f"s{number}", "fine" if number > 1 else "sleep 8", "fine")
    process = start(course)
    wait_until(lambda: slurm.job_states_by_node().get("n1") == "RUNNING" and len(course.log("begin")) == 2)
    slurm.power_off("n1")
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 0, output
    assert course.statuses() == {f"s{number}": "graded" for number in range(4)}
    started = course.log("begin")
    assert len(started) > 4  # the lost task began twice
    assert sorted(course.log("end")) == [f"s{number}" for number in range(4)]
    graded = course.database().query("SELECT COUNT(*) FROM grades")
    assert graded == [(4,)]


def test_a_cancelled_task_is_submitted_again(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "sleep 5", "fine")
    process = start(course)
    wait_until(lambda: course.log("begin"))
    (job,) = slurm.ask("squeue", "-h", "-o", "%i", "-t", "R").split()
    slurm.ask("scancel", job)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert course.log("begin") == ["s0", "s0"]
    assert course.statuses() == {"s0": "graded"}


@pytest.mark.skipif(not os.environ.get("WARPLAB_THOROUGH"), reason="takes minutes: WARPLAB_THOROUGH=1 runs it")
def test_a_task_that_repeatedly_exceeds_slurms_time_becomes_a_judge_error(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "sleep 600", "fine")
    course.hand_in("s1", "fine", "fine")
    result = course.grade(*SLURM_OPTIONS, "--slurm", "time=1")
    assert result.returncode == 1, result.stdout + result.stderr
    assert len(list((course.out / "slurm").glob("*_submission.sh"))) == 4  # the trial, both students, s0 twice more
    assert course.statuses() == {"s0": "judge_error", "s1": "graded"}
    assert "Slurm's time limit; --slurm time=MINUTES" in course.run_verb("status").stdout
    assert not slurm.job_states_by_node()


def test_a_wrong_parameter_gives_one_clear_message(slurm: Slurm, course: Course) -> None:
    course.hand_in("s0", "fine", "fine")
    result = course.grade("--executor", "slurm", "--slurm", "partition=nowhere")
    assert result.returncode == 2
    assert "Slurm rejects the jobs" in result.stderr
    result = course.grade("--executor", "slurm", "--slurm", "nowhere")
    assert result.returncode == 2
    assert "write NAME=VALUE" in result.stderr


def test_the_stopped_cluster_leaves_no_processes(tmp_path: Path) -> None:
    with Slurm(tmp_path / "slurm") as cluster:
        pids = [process.pid for process in cluster.processes.values()]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
