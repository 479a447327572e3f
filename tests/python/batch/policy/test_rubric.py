"""Marks by the rubric: levels give points, which feedback, gradebook and history show."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.common.rubric import read_rubric
from tests.python.batch.batches import Course
from tests.python.support import ROOT


def level(name: str, points: float) -> dict[str, object]:
    return {"name": name, "points": points, "about": f"It is {name}."}


RUBRIC = {
    "schema": 1,
    "criteria": [
        {"name": "prediction", "about": "x", "levels": [level("missing", 0), level("half", 1.5), level("complete", 3)]},
        {"name": "clear words", "about": "x", "levels": [level("missing", 0), level("complete", 2)]},
    ],
}


def write_rubric(root: Path, rubric: object = RUBRIC) -> None:
    (root / "handouts").mkdir(exist_ok=True)
    (root / "handouts/rubric.json").write_text(json.dumps(rubric))


@pytest.fixture
def graded(course: Course) -> Course:
    """Grade the hand-ins of a course that has a rubric."""
    write_rubric(course.root)
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    return course


def gradebook(course: Course) -> dict[str, dict[str, str]]:
    lines = csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    return {line["id"]: line for line in lines}


def mark(course: Course, criterion: str, level: str, *more: str) -> str:
    student = [] if more else ["--student", "al1"]
    options = ["--criterion", criterion, "--level", level, "--reason", "why", *student, *more]
    result = course.run_verb("mark", *options)
    return result.stdout + result.stderr


def test_a_level_gives_points_and_the_student_reads_its_sentence(graded: Course) -> None:
    before = float(gradebook(graded)["al1"]["points"])
    mark(graded, "prediction", "half")
    mark(graded, "clear words", "2")
    graded.run_verb("report")
    book = gradebook(graded)
    assert (book["al1"]["journal: prediction"], book["al1"]["journal: clear words"]) == ("1.5", "2")
    assert book["at2"]["journal: prediction"] == ""
    assert float(book["al1"]["points"]) == before + 3.5
    assert float(book["at2"]["of"]) == float(book["al1"]["of"]) == 20 + 5
    output = (graded.out / "feedback/al1/feedback.txt").read_text()
    assert "journal: prediction: 1.5 of 3 points. It is half." in output
    assert "journal: clear words: 2 of 2 points. It is complete." in output and "why" not in output
    assert "journal: prediction: no points yet, of 3." in (graded.out / "feedback/at2/feedback.txt").read_text()


def test_the_last_graders_level_counts_and_the_history_names_all_graders(
    graded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for grader, chosen in (("ada", "missing"), ("alan", "complete")):
        monkeypatch.setenv("LOGNAME", grader)
        output = mark(graded, "prediction", chosen)
    assert "This replaces: al1, journal: prediction 0 of 3 (why), by ada, 20" in output
    assert "This replaces" not in mark(graded, "prediction", chosen), "the same decision"
    graded.run_verb("report")
    assert gradebook(graded)["al1"]["journal: prediction"] == "3"
    output = graded.run_verb("history", "--student", "al1").stdout
    assert (
        "By hand, no longer valid, " in output and "by ada: al1, journal: prediction 0 of 3, replaced (why)" in output
    )
    assert "by alan: al1, journal: prediction 3 of 3 (why)" in output
    undo = ["--student", "al1", "--criterion", "prediction", "--undo", "--reason", "wrong person"]
    assert graded.run_verb("mark", *undo).returncode == 0
    assert "al1: no points for journal: prediction to remove." in graded.run_verb("mark", *undo).stderr


def test_a_file_marks_all_students_or_none(graded: Course) -> None:
    file = graded.root / "marks.csv"
    file.write_text('id,Prediction,clear words,reason\nal1,complete,,good\nat2,"1,5",complete,\nzz9,complete,,\n')
    assert "marks.csv:4: No student has the name zz9." in graded.run_verb("mark", "--from", file).stderr
    file.write_text("id,prediction\nal1,complete\nat2,excellent\n")
    output = graded.run_verb("mark", "--from", file).stderr
    assert output.endswith(
        "marks.csv:3: 'excellent' is not a level of prediction. Levels: missing (0), half (1.5), complete (3).\n"
    )
    graded.run_verb("report")
    assert "journal: prediction" not in gradebook(graded)["al1"]
    file.write_text('id,Prediction,clear words,reason\nal1,complete,,good\nat2,"1,5",complete,\n')
    output = graded.run_verb("mark", "--from", file).stdout
    assert "Journals: 2 students marked by marks.csv; 1 of 2 have a level for each criterion now." in output
    assert "Partners" not in output  # al1 has an empty cell, and no partner
    file.write_text("id,prediction,clear wrods\nat2,half,complete\n")
    assert "marks.csv has no level for: clear words.\n" in graded.run_verb("mark", "--from", file).stdout
    graded.run_verb("report")
    book = gradebook(graded)
    assert [book[student]["journal: prediction"] for student in ("al1", "at2")] == ["3", "1.5"]
    assert [book[student]["journal: clear words"] for student in ("al1", "at2")] == ["", "2"]
    history = graded.run_verb("history", "--student", "al1").stdout
    assert "journal: prediction 3 of 3 (good)" in history and "clear words" not in history


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--criterion", "style", "--level", "half"], "no criterion 'style'. Criteria: prediction, clear words."),
        (["--criterion", "prediction", "--level", "2"], "'2' is not a level of prediction."),
        (["--criterion", "prediction"], "--level: the level is missing. To remove the earlier decision, add --undo."),
        (["--level", "half"], "--criterion: choose one of: prediction, clear words."),
    ],
)
def test_a_criterion_or_level_that_the_rubric_lacks_is_refused(
    graded: Course, options: list[str], message: str
) -> None:
    result = graded.run_verb("mark", "--student", "al1", "--reason", "why", *options)
    assert (result.returncode, message in result.stderr) == (2, True), result.stderr


def test_points_for_the_whole_journal_and_for_criteria_cannot_be_combined(graded: Course) -> None:
    points = ["--student", "al1", "--points", "1", "--of", "2", "--reason", "why"]
    graded.run_verb("points", *points)
    assert "There are points for the journal as a whole" in mark(graded, "prediction", "half")
    graded.run_verb("points", "--student", "al1", "--undo", "--reason", "by the rubric")
    mark(graded, "prediction", "half")
    for item in ("journal", "Journal: prediction"):
        assert "marks journals by criteria" in graded.run_verb("points", *points, "--item", item).stderr


def test_another_rubric_does_not_mix_with_earlier_marks(graded: Course) -> None:
    mark(graded, "prediction", "half")
    changed = json.loads(json.dumps(RUBRIC))
    changed["criteria"][0]["levels"][2]["points"] = 4
    write_rubric(graded.root, changed)
    output = mark(graded, "prediction", "half", "--student", "at2")
    assert "journal: prediction has the maximum 3 for others, not 4." in output
    (graded.root / "handouts/rubric.json").unlink()
    assert "rubric.json" in mark(graded, "prediction", "half")
    assert graded.run_verb("report").returncode == 0  # feedback then shows the points alone
    assert "journal: prediction: 1.5 of 3 points.\n" in (graded.out / "feedback/al1/feedback.txt").read_text()


def repeat_points(rubric: dict) -> None:
    rubric["criteria"][0]["levels"][1]["points"] = 3


def repeat_name(rubric: dict) -> None:
    rubric["criteria"][1]["name"] = "prediction"


def remove_levels(rubric: dict) -> None:
    rubric["criteria"][0]["levels"] = []


@pytest.mark.parametrize("spoil", [repeat_points, repeat_name, remove_levels])
def test_a_rubric_whose_levels_are_not_clear_is_refused(tmp_path: Path, spoil) -> None:
    rubric = json.loads(json.dumps(RUBRIC))
    spoil(rubric)
    write_rubric(tmp_path, rubric)
    with pytest.raises(UserError, match=r"rubric\.json: the (criteria|levels of prediction) must have different"):
        read_rubric(tmp_path)


def test_the_projects_rubric_fits_its_schema_and_students_see_each_level() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "grader/model/schema/rubric.schema.json").read_text())
    jsonschema.validate(json.loads((ROOT / "handouts/rubric.json").read_text()), schema)
    readme = (ROOT / "README.md").read_text()
    rubric = read_rubric(ROOT)
    assert all(level.about in readme for criterion in rubric.criteria for level in criterion.levels)
