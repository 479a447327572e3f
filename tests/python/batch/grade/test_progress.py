"""Tests of progress.py and judges_at_once(): the predicted remaining time of a batch."""

from __future__ import annotations

import pytest

from grader.python.batch.grade.progress import Progress
from grader.python.batch.grade.run import judges_at_once
from grader.python.batch.store.rows import Graded


def after(progress: Progress, *graded: tuple[str, float]) -> str:
    """Return the text on the remaining time after these statuses and durations in s."""
    for status, wall_s in graded:
        progress.add(Graded("al1", status, wall_s=wall_s))
    return progress.left()


def test_quick_refusals_do_not_shorten_the_prediction() -> None:
    progress = Progress(20, 0, 2)
    assert after(progress) == "20 left"
    assert after(progress, *[("archive_refused", 0.01)] * 4, *[("did_not_compile", 0.5)] * 4) == "12 left"
    assert after(progress, ("graded", 20)) == "11 left, about 2 min"  # (11 - 2 / 2) * 20 s / 2
    assert after(progress, ("nothing_to_grade", 0)) == "10 left, about 90 s"


def test_with_one_judge_the_prediction_reaches_zero_only_at_the_end() -> None:
    progress = Progress(20, 8, 1)
    assert after(progress, *[("graded", 20)] * 10) == "10 left, about 3 min"
    assert after(progress, *[("graded", 20)] * 9) == "1 left, about 10 s"
    assert after(progress, ("graded", 20)) == "0 left"


def test_the_prediction_uses_recent_durations() -> None:
    assert after(Progress(100, 0, 1), *[("graded", 1)] * 30, *[("missing_stages", 40)] * 20) == "50 left, about 33 min"


def test_there_is_no_prediction_for_a_cluster() -> None:
    assert after(Progress(20, 0, 0), ("graded", 20)) == "19 left"


def test_a_long_reason_is_cut_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    for detail in ("The archive holds report.docx.", "word " * 40):
        Progress(20, 0, 1).say(Graded("al1", "nothing_to_grade", detail=detail))
    short, long = capsys.readouterr().out.splitlines()
    assert "(The archive holds report.docx.), " in short
    assert " word …), " in long and len(long) < 200


def test_each_gpu_counts_as_one_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert (judges_at_once("cuda", 16), judges_at_once("cpu", 16)) == (2, 16)
