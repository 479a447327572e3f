"""Tests of quiz.py: it asks questions on a terminal, and stores each answer; the lab's file decides the score."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.journal.journal import render
from grader.python.journal.quiz import Question, count_first_tries, read_answers, read_quiz, read_score
from tests.python.journal.journals import LAB, write_course
from tests.python.support import ROOT, run_module

MODULE = "grader.python.journal.quiz"
CTRL_D = "\x04"
QUIZ = {
    "schema": 1,
    "questions": [
        {
            "id": "colour",
            "section": "Theory",
            "text": "Which one?",
            "choices": [
                {"text": "red", "why": "Red is wrong."},
                {"text": "green", "right": True, "why": "Green is right."},
                {"text": "blue", "why": "Blue is wrong."},
            ],
        },
        {
            "id": "count",
            "section": "01_serial",
            "text": "How many?",
            "number": {
                "right": 391,
                "tolerance": 0.5,
                "unit": "blocks",
                "why": "Rounded up.",
                "mistakes": [{"value": 390, "why": "Rounded down."}],
                "otherwise": "Divide.",
            },
        },
    ],
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    write_course(tmp_path, [])
    (tmp_path / "labs" / LAB / "quiz.json").write_text(json.dumps(QUIZ))
    return tmp_path


def take_quiz(root: Path, keys: str, *options: str) -> str:
    """Run the quiz on a terminal, type the text there, and return the output."""
    command = [sys.executable, "-m", MODULE, LAB, "--root", str(root), "--work", str(root / "work"), *options]
    return run_on_terminal(keys, *command)


def run_on_terminal(keys: str, *command: str) -> str:
    controller, child = pty.openpty()
    os.write(controller, keys.encode())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command, stdin=child, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120
    )
    os.close(child)
    os.close(controller)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def answers_file(root: Path) -> Path:
    return root / "work" / LAB / "journal/quiz.json"


def score(root: Path) -> str:
    return str(read_score(root, LAB, answers_file(root).parent))


def write_answers(root: Path, *answers: tuple[str, str], lab: str = LAB) -> None:
    content = {
        "schema": 1,
        "lab": lab,
        "answers": [{"question": question, "answer": answer} for question, answer in answers],
    }
    answers_file(root).write_text(json.dumps(content))


def test_right_answers_are_confirmed_with_the_reason(course: Path) -> None:
    output = take_quiz(course, "b\n391\n")
    assert "a) red\n  b) green\n  c) blue\n" in output
    assert "Your answer (blocks): " in output
    assert "Right. Green is right." in output and "Right. Rounded up." in output
    assert f"The quiz of {LAB}: 2 of 2 right on the first try." in output
    assert json.loads(answers_file(course).read_text())["answers"] == [
        {"question": "colour", "answer": "green"},
        {"question": "count", "answer": "391"},
    ]


def test_a_wrong_answer_shows_its_reason_and_the_question_comes_again_after_the_others(course: Path) -> None:
    output = take_quiz(course, "A\n390\nb\n7\n391.4\n")
    assert "Not right. Red is wrong.\nRead “Theory” in handouts/dot.md. You will be asked again.\n" in output
    assert "Not right. Rounded down.\n" in output and "Not right. Divide.\n" in output
    assert (
        output.index("Rounded down")
        < output.index("Green is right")
        < output.index("Divide")
        < output.index("Rounded up")
    )
    assert "0 of 2 right on the first try" in output
    assert "To answer all questions again: make quiz LAB=dot NEW=1" in output


def test_the_quiz_continues_where_it_was_stopped(course: Path) -> None:
    output = take_quiz(course, f"c\n391\n{CTRL_D}")
    assert "1 of 2 right on the first try.\nTo continue: make quiz LAB=dot\n" in output
    output = take_quiz(course, "b\n")
    assert output.startswith("1 to answer.")
    assert "How many?" not in output and "1 of 2 right on the first try" in output


def test_a_finished_quiz_asks_nothing_unless_it_is_begun_again(course: Path) -> None:
    take_quiz(course, "a\n391\nb\n")
    result = run_module(MODULE, LAB, "--root", course, "--work", course / "work")  # no terminal
    assert (result.returncode, result.stdout.strip().splitlines()[0]) == (
        0,
        "The quiz of dot: 1 of 2 right on the first try.",
    )
    result = take_quiz(course, "b\n391\n", "--new")
    assert "1 of 2 right on the first try.\nThis time: 2 of 2 right on the first try.\n" in result


def test_an_invalid_answer_is_asked_for_again(course: Path) -> None:
    output = take_quiz(course, "\nd\nbc\ngreen\nb\nmany\n3,91\n1e\n391\n")
    assert output.count("Type a letter: a, b, c\n") == 4
    assert output.count("Type a number such as 48 or 0.5, without a unit.\n") == 3
    assert len(read_answers(answers_file(course), LAB)) == 2


@pytest.mark.parametrize("program", ["make", "./warplab"])
def test_the_quiz_verb_asks_on_the_callers_terminal(tmp_path: Path, program: str) -> None:
    quiz = read_quiz(ROOT, "vector_add")
    output = run_on_terminal(CTRL_D, program, "quiz", "LAB=vector_add", f"WORK={tmp_path}")
    assert output.startswith(f"{len(quiz.questions)} to answer.")
    answers = [{"question": question.id, "answer": right_answer(question)} for question in quiz.questions]
    (tmp_path / "vector_add/journal").mkdir(parents=True)
    file = tmp_path / "vector_add/journal/quiz.json"
    file.write_text(json.dumps({"schema": 1, "lab": "vector_add", "answers": answers}))
    assert "To answer all questions again" in run_on_terminal("", program, "quiz", f"WORK={tmp_path}")
    assert "to answer." in run_on_terminal(CTRL_D, program, "quiz", "NEW=1", f"WORK={tmp_path}")


def right_answer(question: Question) -> str:
    if question.number:
        return f"{question.number.right:g}"
    return next(choice.text for choice in question.choices if choice.right)


def test_without_a_terminal_the_message_says_where_to_type(course: Path) -> None:
    result = run_module(MODULE, LAB, "--root", course, "--work", course / "work")
    assert (result.returncode, result.stderr) == (
        2,
        "The quiz needs a terminal, but its input is not one. Type in a terminal: make quiz LAB=dot\n",
    )
    assert not answers_file(course).exists()


def test_a_lab_without_a_quiz_says_so(tmp_path: Path) -> None:
    write_course(tmp_path, [])
    result = run_module(MODULE, LAB, "--root", tmp_path)
    assert (result.returncode, "dot has no quiz: there is no " in result.stderr) == (2, True)
    assert read_score(tmp_path, LAB, tmp_path / "work" / LAB / "journal") is None


def test_the_labs_file_decides_which_answers_are_right(course: Path) -> None:
    """A score in the student's file is ignored, and so is an answer that the quiz does not offer."""
    write_answers(course, ("colour", "red"), ("colour", "green"), ("count", "391"), ("other", "x"))
    content = json.loads(answers_file(course).read_text())
    content |= {"score": 99}
    content["answers"][0]["right"] = True
    answers_file(course).write_text(json.dumps(content))
    assert score(course) == "1 of 2 right on the first try"
    write_answers(course, ("colour", "violet"), ("count", "nan"), ("count", "9" * 30 + "e99"))
    assert score(course) == "0 of 2 right on the first try, 1 not answered"


WRONG = {
    "not JSON": "{",
    "not an object": "[]",
    "another schema": '{"schema": 2, "lab": "dot", "answers": []}',
    "another lab": '{"schema": 1, "lab": "other", "answers": []}',
    "no answers": '{"schema": 1, "lab": "dot"}',
    "an answer that is not text": '{"schema": 1, "lab": "dot", "answers": [{"question": "colour", "answer": 1}]}',
    "too large": " " * 1_000_001,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_invalid_file_gives_one_message_and_a_remark_in_the_journal(course: Path, wrong: str) -> None:
    answers_file(course).write_text(WRONG[wrong])
    with pytest.raises(UserError, match=r"quiz\.json"):
        read_answers(answers_file(course), LAB)
    rendered = render(course, LAB, answers_file(course).parent)
    assert "quiz.json has no valid answers to the quiz; it is omitted." in rendered.problems
    assert str(course) not in rendered.page  # the page goes to students, and to course systems


def test_the_journal_shows_the_score_in_one_line(course: Path) -> None:
    assert "Quiz" not in render(course, LAB, answers_file(course).parent).page
    write_answers(course, ("colour", "green"))
    rendered = render(course, LAB, answers_file(course).parent)
    assert "<dt>Quiz</dt><dd>1 of 2 right on the first try, 1 not answered</dd>" in rendered.page
    assert "- Quiz: 1 of 2 right on the first try, 1 not answered\n" in rendered.markdown


def test_only_the_first_try_counts(course: Path) -> None:
    write_answers(course, ("count", "390"), ("count", "391"), ("colour", "green"), ("colour", "red"))
    result = count_first_tries(read_quiz(course, LAB), read_answers(answers_file(course), LAB))
    assert (result.first, result.right, result.question_count) == ({"colour": True, "count": False}, 1, 2)
