"""Points that are pending in one report come from the other one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from grader.python.batch.grade.merge import merge_reports, sum_points
from grader.python.common.console import UserError
from tests.python import samples
from tests.python.support import run_module

Json = dict[str, Any]
NAME, TITLE = "01_one_thread_per_element", "One thread per element"
PENDING = {"speed": 0, "speed_pending": True, "speed_why": "not timed"}
CLEAN = {"hygiene": 2, "hygiene_pending": False, "hygiene_why": ""}
CHECKED = {"verdict": "passed", "remark": "", "datasets": 3, "wall_s": 1, "findings": []}


def make_report(backend: str, *stages: Json) -> Json:
    return samples.report(lab="add", backend=backend, stages=list(stages))


def cpu_report() -> Json:
    return make_report("cpu", samples.stage(NAME, TITLE, score=samples.score(**PENDING, **CLEAN), check_mode=CHECKED))


def gpu_report(**changes: Any) -> Json:
    return make_report("cuda", samples.stage(NAME, TITLE, measurements=[samples.measurement()]) | changes)


def test_pending_speed_comes_from_the_gpu_and_hygiene_is_kept():
    first, second = cpu_report(), gpu_report()
    before = copy.deepcopy((first, second))
    merged = merge_reports(first, second)
    assert (first, second) == before
    (stage,) = merged["stages"]
    assert (stage["score"]["speed"], stage["score"]["speed_pending"]) == (1.83, False)
    assert (stage["score"]["hygiene"], stage["check_mode"]) == (2, CHECKED)
    assert stage["measurements"] == second["stages"][0]["measurements"]
    assert stage["score"]["total"] == pytest.approx(6 + 2 + 1.83)
    assert merged["total"] == {"points": pytest.approx(9.83), "max": 10, "pending": 0, "without_score": 0}
    assert merged["backend"] == "cpu" and merged["verdict"] == "passed"


@pytest.mark.parametrize("points", [0, 2])
def test_measured_speed_replaces_higher_and_lower_modelled_speed(points: float):
    modelled = {"speed": points, "speed_pending": False, "speed_modelled": True, "speed_why": "modelled for an H200"}
    first = make_report("cpu", samples.stage(NAME, TITLE, score=samples.score(**modelled, **CLEAN), check_mode=CHECKED))
    for merged in (merge_reports(first, gpu_report()), merge_reports(gpu_report(), first)):
        (stage,) = merged["stages"]
        assert (stage["score"]["speed"], bool(stage["score"].get("speed_modelled"))) == (1.83, False)
    assert merge_reports(first, first)["stages"][0]["score"]["speed"] == points


def test_either_order_gives_the_same_points():
    assert merge_reports(cpu_report(), gpu_report())["total"] == merge_reports(gpu_report(), cpu_report())["total"]


def test_decided_points_are_kept():
    failed = samples.score(correctness=1, speed=0, speed_why="no points until every dataset passes", **CLEAN)
    first = make_report("cpu", samples.stage(NAME, TITLE, verdict="failed", score=failed))
    assert merge_reports(first, gpu_report())["stages"] == first["stages"]


def test_a_failure_on_the_gpu_alone_is_noted():
    second = gpu_report(
        verdict="failed", score=samples.score(correctness=4, speed=0, speed_why="no points until all pass")
    )
    merged = merge_reports(cpu_report(), second)
    (stage,) = merged["stages"]
    assert (merged["verdict"], stage["verdict"]) == ("failed", "failed")
    assert (stage["score"]["correctness"], stage["score"]["speed"], stage["score"]["speed_pending"]) == (6, 0, False)
    assert "failed on the machine where the rest was graded" in stage["notes"][-1]


def test_a_stage_without_a_score_is_taken_from_the_other_report():
    broken = make_report("cpu", samples.stage(NAME, TITLE, verdict="error", score=None))
    assert merge_reports(broken, gpu_report())["stages"] == gpu_report()["stages"]
    assert merge_reports(cpu_report(), make_report("cuda", broken["stages"][0]))["stages"] == cpu_report()["stages"]


@pytest.mark.parametrize("verdict", ["passed", "failed"])
def test_the_gpu_decides_a_stage_that_the_cpu_backend_refused(verdict: str):
    second = gpu_report(verdict=verdict, score=samples.score(correctness=6 if verdict == "passed" else 0, **CLEAN))
    refused = make_report("cpu", samples.refused_stage(NAME, TITLE))
    assert refused["total"] == {"points": 0, "max": 10, "pending": 10, "without_score": 0}
    merged = merge_reports(refused, second)
    assert merged["stages"] == second["stages"]
    assert (merged["verdict"], merged["total"]) == (verdict, second["total"])
    assert merge_reports(second, refused)["stages"] == second["stages"]


def test_a_report_without_correctness_pending_is_merged():
    first = cpu_report()
    del first["stages"][0]["score"]["correctness_pending"]
    assert merge_reports(first, gpu_report())["total"] == merge_reports(cpu_report(), gpu_report())["total"]


def test_a_stage_that_the_other_report_lacks_stays_pending():
    merged = merge_reports(cpu_report(), make_report("cuda"))
    assert merged["stages"] == cpu_report()["stages"] and merged["total"]["pending"] == 2


def test_reports_of_different_sources_are_refused():
    with pytest.raises(UserError, match=r"different sources \(5f2a5f2a5f2a and 77ab"):
        merge_reports(cpu_report(), gpu_report(source_hash="77ab" * 16))


def test_reports_of_different_labs_are_refused():
    with pytest.raises(UserError, match="about add, the other one about dot"):
        merge_reports(cpu_report(), samples.report())


def test_totals_equal_those_of_the_judge():
    for report in (samples.report(), samples.cpu_report()):
        assert sum_points(report["stages"]) == report["total"]


def test_the_command_merges_two_reports(tmp_path):
    (first := tmp_path / "cpu.json").write_text(json.dumps(cpu_report()))
    (second := tmp_path / "gpu.json").write_text(json.dumps(gpu_report()))
    result = run_module("grader.python.batch.grade.merge", first, second, "--output", tmp_path / "merged.json")
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "merged.json").read_text()) == merge_reports(cpu_report(), gpu_report())
    second.write_text(json.dumps(gpu_report(source_hash="77ab" * 16)))
    result = run_module("grader.python.batch.grade.merge", first, second)
    assert (result.returncode, result.stdout) == (2, "") and "different sources" in result.stderr


def test_the_command_merges_a_report_that_lacks_keys(tmp_path):
    (first := tmp_path / "cpu.json").write_text(json.dumps(cpu_report()))
    score = {"correctness": 1, "correctness_max": 2, "speed": "nan"}
    bare = {"schema": 1, "verb": "grade", "lab": cpu_report()["lab"], "backend": "cpu", "stages": []}
    bare["stages"].append(
        {"stage": "01_a", "verdict": "passed", "score": score, "compilation": {"verdict": "passed", "nvcc": "ok"}}
    )
    (second := tmp_path / "bare.json").write_text(json.dumps(bare))
    for files in ((first, second), (second, first), (second, second)):
        result = run_module("grader.python.batch.grade.merge", *files)
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["lab"] == bare["lab"]
    assert json.loads(result.stdout)["stages"][0]["score"]["speed"] == 0


def test_no_raw_control_characters_are_printed_even_from_unknown_keys(tmp_path):
    report = samples.report() | {"\u202ekey\x1b[31m": ["\u009b31m", float("inf")]}
    report["stages"][0]["title"] = "\u202etitle\x1b]0;x\x07"
    (file := tmp_path / "report.json").write_text(json.dumps(report))
    result = run_module("grader.python.batch.grade.merge", file, file)
    assert result.returncode == 0 and json.loads(result.stdout)["lab"] == report["lab"]
    assert not set(result.stdout) & set("\u202e\x1b\x07\u009b") and "Infinity" not in result.stdout


def test_a_byte_order_mark_is_skipped(tmp_path):
    (file := tmp_path / "report.json").write_text("\ufeff" + json.dumps(samples.report()))
    assert run_module("grader.python.batch.grade.merge", file, file).returncode == 0


def test_a_number_with_too_many_digits_is_reported(tmp_path):
    text = json.dumps(samples.report() | {"unknown": 1234567}).replace("1234567", "9" * 5000)
    (file := tmp_path / "report.json").write_text(text)
    result = run_module("grader.python.batch.grade.merge", file, file)
    assert result.returncode == 2
    assert (
        result.stderr
        == f"{file}: cannot be read as JSON: a number in it has 5,000 digits, more than the limit of 40.\n"
    )
