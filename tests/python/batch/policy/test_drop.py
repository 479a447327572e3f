"""The verb `drop`: a dropped hand-in counts for no student."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.python.batch.batches import Course


@pytest.fixture
def graded(course: Course) -> Course:
    """Grade two students of the roster, and a test upload with the same files as one of them."""
    roster = course.root / "roster.csv"
    roster.write_text("id,name\nal1,Ada Lovelace\nat2,Alan Turing\n")
    for student in ("al1", "at2", "ghost"):
        course.hand_in(student, "fine" * 20, "fine")
    for stage in ("01_first", "02_second"):
        (course.handed_in / "ghost" / f"{stage}.cu").write_bytes(
            (course.handed_in / "al1" / f"{stage}.cu").read_bytes()
        )
    assert course.grade("--roster", roster).returncode == 0
    return course


def drop(course: Course, student: str, *more: str) -> tuple[int, str]:
    result = course.run_verb("drop", "--student", student, "--reason", "a test upload", *more)
    return result.returncode, result.stdout + result.stderr


def read_ids(course: Course) -> dict[str, str]:
    course.run_verb("report")
    lines = csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    return {line["id"]: line["status"] for line in lines}


def read_page(course: Course) -> str:
    course.run_verb("report")
    return (course.out / "report.html").read_text()


def export(course: Course, tmp_path: Path) -> str:
    book = tmp_path / "book.csv"
    book.write_text("Student,ID\nAda Lovelace,al1\nAlan Turing,at2\nGhost,ghost\n")
    course.run_verb(
        "export", "--format", "canvas", "--gradebook", book, "--title", "Lab", "--output", tmp_path / "new.csv"
    )
    return (tmp_path / "new.csv").read_text()


def test_a_dropped_hand_in_is_only_in_the_list_of_dropped_ones(graded: Course, tmp_path: Path) -> None:
    assert "the same file as others" in read_page(graded) and "3 submissions" in read_page(graded)
    assert drop(graded, "ghost") == (
        0,
        f"ghost: dropped; it gives no points\nTo update gradebook, feedback and page: warplab-course report "
        f"{graded.out}\n",
    )
    assert read_ids(graded) == {"al1": "graded", "at2": "graded"}
    page = read_page(graded)
    assert "2 submissions" in page and "the same file as others" not in page
    assert page.count("ghost") == 1 and "a test upload" in page
    assert "Ghost,ghost,\n" in export(graded, tmp_path).replace("\r", "")
    output = graded.run_verb("status").stdout
    assert "2 graded" in output and "ghost, hand-in dropped (a test upload)" in output


def test_undo_brings_a_hand_in_back_with_its_history(graded: Course) -> None:
    assert "ghost: not dropped. Nothing was changed." in drop(graded, "ghost", "--undo")[1]
    drop(graded, "ghost")
    assert "ghost: counts again" in drop(graded, "ghost", "--undo")[1]
    assert read_ids(graded)["ghost"] == "graded" and "Dropped" not in read_page(graded)
    output = graded.run_verb("history", "--student", "ghost").stdout
    assert "hand-in dropped, undone (a test upload)" in output and "drop revoked (a test upload)" in output


def test_a_student_on_the_roster_stays_in_the_gradebook(graded: Course) -> None:
    drop(graded, "Alan Turing")
    assert read_ids(graded) == {"al1": "graded", "at2": "not_submitted", "ghost": "graded"}
    assert graded.run_verb("override", "--student", "at2", "--points", "5", "--reason", "shown").returncode == 0


def test_decisions_for_a_dropped_stranger_are_refused_with_the_reason(graded: Course) -> None:
    drop(graded, "ghost")
    for words in (("override", "--points", "5"), ("extend", "--until", "2100-01-01T00:00Z")):
        result = graded.run_verb(words[0], "--student", "ghost", "--reason", "x", *words[1:])
        assert result.returncode == 2 and "The hand-in of ghost is dropped." in result.stderr
    result = graded.run_verb("regrade", "--student", "ghost")
    assert result.returncode == 2 and "Dropped: ghost. Type drop --undo first." in result.stderr
    assert "2 to regrade" in graded.run_verb("regrade", "--all").stdout


def test_a_dropped_hand_in_that_changes_is_not_graded_and_is_reported(graded: Course) -> None:
    drop(graded, "ghost")
    graded.hand_in("ghost", "other", "other")
    before = graded.log("end")
    result = graded.grade()
    assert graded.log("end") == before and "ghost was handed in again after it was dropped" in result.stderr
    assert "changed after it was dropped" in read_page(graded)
    assert "counts again, and waits: repeat the grade command" in drop(graded, "ghost", "--undo")[1]
    graded.grade()
    assert graded.log("end") == [*before, "ghost"] and read_ids(graded)["ghost"] == "graded"


def test_dropping_a_teams_hand_in_drops_it_for_all_members(course: Course) -> None:
    roster = course.root / "roster.csv"
    roster.write_text("id,name\nal1,Ada Lovelace\nat2,Alan Turing\n")
    course.hand_in("al1-at2", "fine", "fine")
    course.grade("--roster", roster)
    assert "al1+at2 (Ada Lovelace, Alan Turing): dropped" in drop(course, "at2")[1]
    assert read_ids(course) == {"al1": "not_submitted", "at2": "not_submitted"}
    assert "No student has the name nobody" in drop(course, "nobody")[1]
    assert "al1+at2 (Ada Lovelace, Alan Turing): counts again" in drop(course, "al1+at2", "--undo")[1]
