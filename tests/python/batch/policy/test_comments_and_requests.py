"""Comments on lines of code, and requests to grade again."""

from __future__ import annotations

import csv

import pytest

from grader.python.batch.outputs.feedback import describe_comment
from grader.python.batch.store.rows import Comment
from tests.python.batch.batches import Course


@pytest.fixture
def graded(course: Course) -> Course:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine <b>", "fine")
    course.grade()
    return course


def run_verb(course: Course, verb: str, *words: str) -> str:
    result = course.run_verb(verb, "--student", "al1", *words)
    return result.stdout if result.returncode == 0 else result.stderr


def read_feedback(course: Course, name: str = "al1/feedback.txt") -> str:
    course.run_verb("report")
    return (course.out / "feedback" / name).read_text()


def test_a_comment_is_in_the_students_feedback(graded: Course) -> None:
    on_line = ("--stage", "01", "--line", "2")
    output = run_verb(graded, "comment", *on_line, "--text", "Name this.")
    assert output.startswith("al1, 01_first, line 2: fine <b>\n")
    assert "Comment on 01_first.cu, line 2: `fine <b>`: Name this." in read_feedback(graded)
    assert "fine &lt;b&gt;`: Name this." in (graded.out / "feedback/al1/index.html").read_text()
    assert "Comment" not in (graded.out / "feedback/at2/feedback.txt").read_text()
    graded.hand_in("al1", "better", "fine")
    graded.grade()
    assert "Comment on 01_first.cu of an earlier hand-in, line 2: `fine <b>`" in read_feedback(graded)
    assert "comment removed" in run_verb(graded, "comment", *on_line, "--undo")
    assert "Comment" not in read_feedback(graded)
    output = graded.run_verb("history", "--student", "al1").stdout
    assert "comment on 01_first, line 2, removed (Name this.)" in output


def test_a_second_comment_on_a_line_replaces_the_first_and_says_so(graded: Course) -> None:
    on_line = ("--stage", "01", "--line", "2")
    assert "replaces" not in run_verb(graded, "comment", *on_line, "--text", "Name this.")
    output = run_verb(graded, "comment", *on_line, "--text", "Both are too long.")
    assert output.splitlines()[1] == "This replaces the comment: Name this."
    feedback = read_feedback(graded)
    assert "Both are too long." in feedback and "Name this." not in feedback


def test_a_comment_on_an_empty_line_quotes_nothing() -> None:
    assert describe_comment(Comment("01_first", 3, "", "Why?", False)) == "Comment on 01_first.cu, line 3: Why?"


def test_a_comment_on_a_missing_line_is_refused(graded: Course) -> None:
    assert "01_first.cu of al1 has 2 lines" in run_verb(graded, "comment", "--stage", "1", "--line", "3", "--text", "x")
    assert "no comment on 01_first, line 1" in run_verb(graded, "comment", "--stage", "1", "--line", "1", "--undo")


def test_a_request_is_listed_until_it_is_answered(graded: Course) -> None:
    assert "al1 has no open request" in run_verb(graded, "request", "--answer", "no")
    assert "al1: a request to grade again; answer it with --answer" in run_verb(
        graded, "request", "--text", "Stage 2 is right."
    )
    assert "al1 has an open request: Stage 2 is right." in run_verb(graded, "request", "--text", "again")
    graded.run_verb("report")
    assert "<td>asks for a regrade</td><td>al1: Stage 2 is right.</td>" in (graded.out / "report.html").read_text()
    assert "al1, asks for a regrade (Stage 2 is right.)" in graded.run_verb("status").stdout
    run_verb(graded, "request", "--answer", "It is not.")
    graded.run_verb("report")
    assert "asks for a regrade" not in (graded.out / "report.html").read_text()
    output = graded.run_verb("history", "--student", "al1").stdout
    assert "asks for a regrade, answered (Stage 2 is right.)" in output and "request answered (It is not.)" in output
    book = csv.DictReader((graded.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    assert {line["id"]: line["points"] for line in book} == {"al1": "12", "at2": "12"}
