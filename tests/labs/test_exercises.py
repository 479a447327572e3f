"""The exercises of `make bug`: in each, the sanitizer finds one kind of bug at a line that is known to be wrong, and
the text does not name the bug. test_inspect.py tests that the sanitizer finds nothing in the solutions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.python.journal.exercise import KINDS, find_key, inspect, read_exercises
from grader.python.release.exercises import Entry, make_exercises, read_list, strip_comments
from tests.labs import wrong
from tests.labs.conftest import BACKEND, BUILD, ROOT, labs, stages
from tests.share import share_of

LISTED = [exercise for lab in labs() for exercise in read_list(ROOT, lab)]
REVEALING_WORDS = re.compile(r"(?i)bug|wrong|forgot|missing|//|/\*|race|not[ _](?:cleared|awaited)")
MAX_LINES = 4  # with a finding, so that "which line?" has an answer


def name_of(listed: Entry) -> str:
    return f"{listed.lab}/{listed.name}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make all exercises, as in an instructor's checkout."""
    folder = tmp_path_factory.mktemp("exercises")
    for lab in labs():
        for name, content in make_exercises(ROOT, lab, stages(lab)).items():
            (folder / lab).mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
    return folder


def find_planted(listed: Entry) -> tuple[str, list[int]]:
    """Return the stage of the submission that an exercise is made from, and the known lines of its bug."""
    if listed.source.parts[1] == "corpus":
        rows = json.loads((ROOT / "tests/corpus/corpus.json").read_text())
        row = next(row for row in rows if Path("tests/corpus", row["file"]) == listed.source)
        return row["stage"].partition("/")[2], row["lines"]
    row = next(row for row in wrong.entries(listed.lab) if row["file"] == listed.source.name)
    return row["stage"], [row["inspect"][1]]


def test_a_lab_with_exercises_has_at_least_three_from_different_submissions() -> None:
    assert len(LISTED) >= 20
    assert len({exercise.source for exercise in LISTED}) == len(LISTED)
    for lab in {exercise.lab for exercise in LISTED}:
        assert len(read_list(ROOT, lab)) >= 3, lab


@pytest.mark.parametrize("listed", LISTED, ids=name_of)
def test_an_exercise_is_for_its_submissions_stage_and_does_not_name_the_bug(listed: Entry, folder: Path) -> None:
    assert find_planted(listed)[0] in (listed.stage, listed.stage[:2])
    heading, code = (folder / listed.lab / f"{listed.name}.cu").read_text().split("\n", 1)
    assert heading == f"// Exercise {listed.name} of {listed.lab}, for {listed.stage}: which line is wrong, and how?"
    assert not REVEALING_WORDS.search(code), REVEALING_WORDS.search(code)


@pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is part of the CPU backend")
@pytest.mark.parametrize("listed", share_of(LISTED, lambda listed: listed.lab, name_of, 5), ids=name_of)
def test_the_sanitizer_finds_one_kind_of_bug_at_the_planted_lines(listed: Entry, folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    exercise = next(exercise for exercise in read_exercises(folder, listed.lab) if exercise.name == listed.name)
    inspection = inspect(exercise, BUILD)
    key = find_key(inspection)
    assert len({name for answer in key for name, kind in KINDS.items() if answer.cause in kind.causes}) == 1, key
    assert 1 <= len({answer.line for answer in key}) <= MAX_LINES and all(answer.line for answer in key), key
    assert inspection.question.endswith("?")
    source = wrong.source_of(listed.lab, listed.source.name, folder / "patched")
    lines = (source if listed.source.parts[1] == "labs" else ROOT / listed.source).read_text().splitlines()
    planted = {strip_comments(lines[number - 1]).strip() for number in find_planted(listed)[1]}
    assert planted & {text.strip() for answer in key for text in (answer.text, answer.other_text)}, (planted, key)
