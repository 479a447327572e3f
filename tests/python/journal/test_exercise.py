"""Tests of make bug and make bugs: outcomes of answers, stored records, and refusals of invalid input."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.common.report import Finding
from grader.python.journal.exercise import KINDS, Outcome, compare, find_kind, read_standings
from grader.python.release.exercises import make_exercises
from tests.layout.tree import BUILD
from tests.python.support import ROOT, run_module

MODULE = "grader.python.journal.exercise"
LAB, NAME, STAGE = "dot_product", "02a", "02_dyadic_interleaved"
needs_build = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")


def finding(cause: str, line: int, other_line: int = 0) -> Finding:
    return Finding(cause, line=line, other_line=other_line, message="What happened.")


RACES = [finding("race", 9, 12), finding("atomic_race", 20, 9)]


@pytest.mark.parametrize(
    ("line", "kind", "outcome"),
    [
        (9, "race", Outcome.FOUND),
        (20, "race", Outcome.FOUND),
        (12, "race", Outcome.SECOND),
        (10, "race", Outcome.KIND),
        (9, "leak", Outcome.LINE),
        (12, "leak", Outcome.LINE),
        (10, "leak", Outcome.NEITHER),
    ],
)
def test_an_answer_is_compared_with_the_findings(line, kind, outcome):
    assert compare(RACES, line, kind) == outcome


def test_every_cause_of_a_defect_is_a_kind():
    """The causes are those of the sanitizer, except for three notes."""
    text = (ROOT / "grader/judge/sanitizer/finding_words.cpp").read_text()
    notes = {"same_value", "beside_atomic", "unset_constant"}
    causes = set(re.findall(r"cause::(\w+)", text)) - notes
    assert {cause for kind in KINDS.values() for cause in kind.causes} == causes


def test_kinds_are_found_by_name_cause_and_other_words():
    assert find_kind("Out of bounds") == find_kind("out-of-bounds") == "out_of_bounds"
    assert find_kind("return_before_barrier") == "divergent_barrier"
    assert find_kind("missing barrier") == "race"
    with pytest.raises(UserError, match=r"'raec' is not a kind of bug. Did you mean race\? Kinds:\n +race "):
        find_kind("raec")


@pytest.fixture
def exercises(tmp_path: Path) -> Path:
    folder = tmp_path / "exercises"
    for name, content in make_exercises(ROOT, LAB, [STAGE]).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def bug(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    places = ("--exercises", folder / "exercises", "--work", folder / "work", "--build", BUILD)
    return run_module(MODULE, *words, *places)


def line_of(exercises: Path, code: str) -> str:
    lines = (exercises / LAB / f"{NAME}.cu").read_text().splitlines()
    return str(next(number for number, line in enumerate(lines, 1) if code in line))


@needs_build
def test_an_exercise_can_be_solved_step_by_step(tmp_path, exercises):
    started = bug(tmp_path, LAB, NAME)
    copy = tmp_path / "work" / LAB / f"exercises/{NAME}.cu"
    assert started.returncode == 0 and str(copy) in started.stdout and "LINE=… KIND=…" in started.stdout
    assert copy.read_bytes() == (exercises / LAB / f"{NAME}.cu").read_bytes()
    copy.write_text(copy.read_text() + "// my own words\n")  # is kept, but answers refer to the original exercise
    load, add = line_of(exercises, "= i < len"), line_of(exercises, "+= input_s")
    question = "Question: What ensures that one of the two threads is first?"
    result = bug(tmp_path, LAB, "--line", add, "--kind", "race")  # without EXERCISE: the last one
    assert result.returncode == 1 and f"EXERCISE={NAME}" in result.stdout
    assert (
        f"Right kind, and line {add} is involved as the second access." in result.stdout and question in result.stdout
    )
    assert f"{copy} was changed. LINE refers to the original exercise: " in result.stdout
    result = bug(tmp_path, LAB, NAME, "--line", "1", "--kind", "race")
    assert result.returncode == 1 and "Right kind, other line" in result.stdout and question in result.stdout
    assert ".cu:" not in result.stdout  # no finding before the end
    result = bug(tmp_path, LAB, NAME, "--line", load, "--kind", "race")
    assert result.returncode == 0 and result.stdout.startswith(f"{copy} was changed.")
    assert f"{NAME}.cu:{load}: race\n    Race on element" in result.stdout
    assert f"make check LAB={LAB} STAGE=02 SOURCE={copy}" in result.stdout
    assert copy.read_text().endswith("// my own words\n")
    records = [json.loads(line) for line in (tmp_path / "work" / LAB / "journal/exercises.jsonl").open()]
    assert [record["outcome"] for record in records] == ["begun", "second", "kind", "found"]
    assert {key: records[3][key] for key in ("exercise", "line", "kind")} == {
        "exercise": NAME,
        "line": int(load),
        "kind": "race",
    }
    output = bug(tmp_path, "--list").stdout
    assert f"{LAB}: 1 of " in output and re.search(rf"{NAME}  {STAGE}  \*\*   found, 3 answers", output)


@needs_build
def test_giving_up_shows_the_finding(tmp_path, exercises):
    result = bug(tmp_path, LAB, NAME, "--give-up")
    assert result.returncode == 0 and f"{NAME}.cu:{line_of(exercises, '= i < len')}: race" in result.stdout
    assert f"{NAME}  {STAGE}  **   given up" in bug(tmp_path, "--list").stdout


@needs_build
def test_the_students_own_inspections_are_kept(tmp_path, exercises):
    page = BUILD / "inspect" / f"{LAB}-{STAGE}.json"
    before = page.stat().st_mtime_ns if page.exists() else None
    bug(tmp_path, LAB, NAME, "--give-up")
    assert (page.stat().st_mtime_ns if page.exists() else None) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([LAB], f"Which exercise? Type  make bug LAB={LAB} EXERCISE=NAME,  with NAME one of: {NAME}"),
        ([LAB, "09z"], f"{LAB} has no exercise 09z."),
        ([LAB, NAME, "--line", "3"], "An answer is a line, 1 to "),
        ([LAB, NAME, "--kind", "race"], "An answer is a line, 1 to "),
        ([LAB, NAME, "--line", "999", "--kind", "race"], "An answer is a line, 1 to "),
        ([LAB, NAME, "--line", "3", "--kind", "sloppy"], "'sloppy' is not a kind of bug. Kinds:\n"),
        (
            ["heat_dissipation"],
            "There are no exercises for heat_dissipation. The instructor releases them with a kit.",
        ),
        (["heat_dissipation", "--list"], "There are no exercises for heat_dissipation."),
    ],
)
def test_invalid_input_is_refused_and_not_recorded(tmp_path, exercises, words, message):
    result = bug(tmp_path, *words)
    assert result.returncode == 2 and message in result.stderr
    assert not (tmp_path / "work").exists()


def test_records_that_cannot_be_read_are_ignored(tmp_path):
    file = tmp_path / "work" / LAB / "journal/exercises.jsonl"
    file.parent.mkdir(parents=True)
    record = {"exercise": NAME, "outcome": "neither"}
    file.write_text("\n".join(["{", "[1]", '{"exercise": "02a", "outcome": "new"}', json.dumps(record), ""]))
    assert read_standings(tmp_path / "work", LAB)[NAME].describe() == "1 answer"
