"""Tests of the list of exercises, and of making exercises from wrong submissions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.release.exercises import make_exercises, read_list, read_source, strip_comments

SOLUTION = "// The idea.\n__global__ void k() {\n    guard();  // first\n    work();\n}\n"
PATCH = "--- a/solutions/lab/01_first.cu\n+++ b/solutions/lab/01_first.cu\n@@ -3 +2,0 @@\n-    guard();  // first\n"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Make a lab with two stages, a submission and a patch."""
    (tmp_path / "labs/lab").mkdir(parents=True)
    (tmp_path / "solutions/lab").mkdir(parents=True)
    stages = [{"id": "01_first"}, {"id": "02_second"}]
    (tmp_path / "labs/lab/lab.json").write_text(json.dumps({"stages": stages}))
    (tmp_path / "solutions/lab/01_first.cu").write_text(SOLUTION)
    (tmp_path / "no_guard.patch").write_text(PATCH)
    (tmp_path / "race.cu").write_text("int a;  // the race\n")
    write_list("01a", 1, "no_guard.patch", tmp_path)
    return tmp_path


def entry(name: object, difficulty: object, source: str) -> dict[str, object]:
    return {"name": name, "difficulty": difficulty, "from": source}


def write_list(name: object, difficulty: object, source: str, course: Path) -> None:
    (course / "labs/lab/exercises.json").write_text(json.dumps([entry(name, difficulty, source)]))


def test_comments_are_removed_and_nothing_else():
    code = """// why
int a = 1'000;  // and
/* a
   block */
char s[] = "// no comment /*", c = '"', d = '\\'';  /* end */ int b;


// the last

int e;
"""
    stripped = "int a = 1'000;\nchar s[] = \"// no comment /*\", c = '\"', d = '\\'';   int b;\n\nint e;\n"
    assert strip_comments(code) == stripped


def test_an_entry_in_the_list_makes_an_exercise(course):
    entries = [entry("01a", 1, "no_guard.patch"), entry("02a", 3, "race.cu")]
    (course / "labs/lab/exercises.json").write_text(json.dumps(entries))
    files = make_exercises(course, "lab", ["01_first", "02_second"])
    assert files["lab/01a.cu"].decode() == (
        "// Exercise 01a of lab, for 01_first: which line is wrong, and how?\n__global__ void k() {\n    work();\n}\n"
    )
    assert files["lab/02a.cu"].decode().splitlines()[1:] == ["int a;"]
    output = json.loads(files["lab/exercises.json"])
    assert output[1] == {"name": "02a", "stage": "02_second", "difficulty": 3}  # without its source
    assert set(make_exercises(course, "lab", ["01_first"])) == {"lab/01a.cu", "lab/exercises.json"}
    assert make_exercises(course, "lab", []) == {}


@pytest.mark.parametrize(
    ("name", "difficulty", "message"),
    [
        ("03a", 1, "the name 03a is not a stage's number and a letter. Stages: 01_first, 02_second."),
        ("no_guard", 1, "the name no_guard is not"),
        ("01a", 4, "01a has the difficulty 4. Choose 1, 2 or 3."),
    ],
)
def test_an_invalid_entry_is_reported(course, name, difficulty, message):
    write_list(name, difficulty, "no_guard.patch", course)
    with pytest.raises(UserError, match=message):
        read_list(course, "lab")


def test_unknown_keys_and_names_out_of_order_are_refused(course):
    (course / "labs/lab/exercises.json").write_text(json.dumps([entry("01a", 1, "race.cu") | {"line": 4}]))
    with pytest.raises(UserError, match=r"is not an exercise\. Its keys must be difficulty, from, name"):
        read_list(course, "lab")
    entries = [entry("01b", 1, "race.cu"), entry("01a", 1, "no_guard.patch")]
    (course / "labs/lab/exercises.json").write_text(json.dumps(entries))
    with pytest.raises(UserError, match="in order: 01b, 01a"):
        read_list(course, "lab")


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_a_patch_that_no_longer_applies_is_reported(course):
    (course / "solutions/lab/01_first.cu").write_text(SOLUTION.replace("guard", "check"))
    with pytest.raises(UserError, match=r"no_guard\.patch no longer applies to solutions/lab/01_first\.cu"):
        read_source(course, Path("no_guard.patch"))
