"""Batches on GPUs with a fake judge, and submissions that are compiled before their turn."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from grader.python.batch.grade import opening, run
from grader.python.batch.ingest.reader import read_in_child
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.store.settings import Settings
from tests.labs.conftest import BUILD, ROOT
from tests.python.batch.batches import LAB, STAGES, Course


def grade(course: Course, monkeypatch: pytest.MonkeyPatch, cores: list[int]) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(run, "cores", lambda: cores)
    for number in range(8):
        course.hand_in(f"s{number}", "sleep 0.1", "fine")
    submissions, _ = find_submissions(course.handed_in, LAB, [])
    course.out.mkdir()
    settings = Settings(LAB, STAGES, course.root, course.build, course.out, "cuda")
    graded = list(run.grade_here(submissions, settings, "cuda", 2))
    assert {hand_in.status for hand_in in graded} == {"graded"}, graded
    assert sorted(hand_in.key for hand_in in graded) == sorted(submission.key for submission in submissions)


def test_every_gpu_is_used_and_times_one_submission_at_a_time(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    grade(course, monkeypatch, [0, 1])
    lines = (course.build / "log").read_text().splitlines()
    gpus = [line.split()[1] for line in lines if line.startswith("timed")]
    assert set(gpus) == {"0", "1"} and len(gpus) == 8
    assert lines[0].startswith("baselines")  # before all other runs
    assert not [line for line in lines if line.startswith("clash")]
    assert not [line for line in lines if line.startswith("begin compile")]  # with two cores, both are for timing


def test_waiting_submissions_are_compiled_ahead(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    grade(course, monkeypatch, [0, 1, 1])
    lines = (course.build / "log").read_text().splitlines()
    assert len([line for line in lines if line.startswith("end compile")]) == 8
    for number in range(8):
        compiled = next(index for index, line in enumerate(lines) if line == f"end compile ahead/s{number}")
        timed = next(index for index, line in enumerate(lines) if line == f"begin grade submissions/s{number}")
        assert compiled < timed
    assert not list((course.out / "ahead").iterdir())


@pytest.mark.parametrize(("limit", "times"), [(run.MAX_WAITING_BYTES, 8), (0, 16)])
def test_hand_ins_that_were_compiled_ahead_are_opened_once_unless_they_are_large(
    course: Course, monkeypatch: pytest.MonkeyPatch, limit: int, times: int
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(opening, "read_in_child", lambda *words: opened.append(words) or read_in_child(*words))
    monkeypatch.setattr(run, "MAX_WAITING_BYTES", limit)
    grade(course, monkeypatch, [0, 1, 1])
    assert len(opened) == times


def test_judges_get_their_own_cores_and_compilers_get_the_rest() -> None:
    assert run.share_cores(list(range(16)), 1) == ([list(range(8))], list(range(8, 16)))
    shares, rest = run.share_cores(list(range(64)), 4)
    assert [len(share) for share in shares] == [8] * 4 and rest == list(range(32, 64))
    assert sorted(sum(shares, rest)) == list(range(64))
    assert run.share_cores([0, 1], 1) == ([[0, 1]], [])
    assert run.share_cores([0, 1, 2], 2) == ([[0, 1, 2]] * 2, [2])  # too few cores to share


def test_two_judges_share_a_gpu_if_there_are_enough_cores() -> None:
    places, spare = run.list_places(["0", "1"], list(range(16)))
    assert sorted(gpu for gpu, _ in places) == ["0", "0", "1", "1"]
    assert sorted(sum((share for _, share in places), spare)) == list(range(16))
    assert run.list_places(["0"], list(range(7))) == ([("0", [0, 1, 2])], [3, 4, 5, 6])


def test_a_file_that_was_compiled_ahead_is_not_compiled_again(tmp_path: Path) -> None:
    source = (ROOT / "solutions/vector_add/02_grid_stride.cu").read_text()
    (tmp_path / "02_grid_stride.cu").write_text(f"// {tmp_path}\n{source}")
    words = ["vector_add", "02", "--tree", tmp_path, "--backend", "cpu", "--no-nvcc", "--no-check-mode"]
    for verb, more in (("compile", []), ("grade", ["--report-dir", tmp_path, "--dataset", "readable"])):
        command = [BUILD / "warplab", verb, *words, *more]
        result = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
        if "needs a sandbox" in result.stderr:
            pytest.skip("no sandbox is available")
        assert result.returncode == 0, result.stdout + result.stderr
    (stage,) = json.loads((tmp_path / "vector_add.json").read_text())["stages"]
    assert stage["compilation"]["cached"]
