"""Each lab has a quiz that fits its schema. Its sections are in every kit's handout, and its answers get the intended
results."""

from __future__ import annotations

import copy
import json
import re

import pytest

from grader.python.common.labs import read_stages
from grader.python.journal.quiz import Quiz, read_quiz
from grader.python.release.cut import cut_handout, cut_labs
from tests.labs.conftest import ROOT

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((ROOT / "grader/model/schema/quiz.schema.json").read_text())
LABS = sorted(file.parent.name for file in ROOT.glob("labs/*/lab.json"))


def complaints(quiz: dict) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(quiz)]


def read(lab: str) -> Quiz:
    return read_quiz(ROOT, lab)


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_a_quiz_that_fits_its_schema(lab: str) -> None:
    assert complaints(json.loads((ROOT / "labs" / lab / "quiz.json").read_text())) == []
    ids = [question.id for question in read(lab).questions]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("lab", LABS)
def test_the_sections_are_in_the_handout_of_the_smallest_kit(lab: str) -> None:
    first = next(iter(read_stages(ROOT, lab)))
    handout = cut_handout(cut_labs(ROOT, {lab: first}), lab)
    sections = re.findall(r"^## (.+)$", handout, re.MULTILINE)
    assert first in sections
    for question in read(lab).questions:
        assert question.section in sections, f"{lab}, {question.id}"


@pytest.mark.parametrize("lab", LABS)
def test_each_answer_gets_the_intended_result_and_its_own_reason(lab: str) -> None:
    for question in read(lab).questions:
        place = f"{lab}, {question.id}"
        if question.number:
            expected = [(f"{question.number.right:g}", True, question.number.why)]
            expected += [(f"{mistake.value:g}", False, mistake.why) for mistake in question.number.mistakes]
            assert not question.judge("123456789.5").is_right, place
            assert question.judge("123456789.5").why == question.number.otherwise, place
        else:
            expected = [(choice.text, choice.right, choice.why) for choice in question.choices]
        for answer, is_right, why in expected:
            result = question.judge(answer)
            assert (result.is_right, result.why) == (is_right, why), f"{place}: {answer}"
        (right,) = (answer for answer, is_right, _ in expected if is_right)
        gives_away = re.compile(rf"(?<![\w.,]){re.escape(right)}(?![.,]?\w)")
        assert [why for _, is_right, why in expected if not is_right and gives_away.search(why)] == [], place


@pytest.mark.parametrize("lab", LABS)
def test_the_right_choice_is_not_always_at_the_same_place(lab: str) -> None:
    rights = [[choice.right for choice in question.choices] for question in read(lab).questions if question.choices]
    places = [right.index(True) for right in rights]
    assert len(places) == 1 or len(set(places)) > 1


WRONG = {
    "too few questions": lambda quiz: quiz.update(questions=quiz["questions"][:4]),
    "unknown key": lambda quiz: quiz["questions"][0].update(hint="x"),
    "no section": lambda quiz: quiz["questions"][0].pop("section"),
    "two right choices": lambda quiz: [choice.update(right=True) for choice in choices(quiz)],
    "no right choice": lambda quiz: [choice.pop("right", None) for choice in choices(quiz)],
    "a choice without a reason": lambda quiz: choices(quiz)[0].pop("why"),
    "an empty reason": lambda quiz: choices(quiz)[0].update(why=" "),
    "choices and a number": lambda quiz: quiz["questions"][0].update(choices=choices(quiz)),
    "neither choices nor a number": lambda quiz: quiz["questions"][0].pop("number"),
    "no known mistake": lambda quiz: quiz["questions"][0]["number"].update(mistakes=[]),
    "negative tolerance": lambda quiz: quiz["questions"][0]["number"].update(tolerance=-1),
}


def choices(quiz: dict) -> list[dict]:
    return next(question["choices"] for question in quiz["questions"] if "choices" in question)


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_quizzes_do_not_fit(wrong: str) -> None:
    quiz = copy.deepcopy(json.loads((ROOT / "labs/vector_add/quiz.json").read_text()))
    WRONG[wrong](quiz)
    assert complaints(quiz)
