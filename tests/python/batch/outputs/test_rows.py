"""Tests of rows.py: an id in a gradebook counts only in its own namespace, and only with a name that agrees."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.outputs.gradebooks import canvas, moodle
from grader.python.batch.outputs.rows import Entry
from grader.python.common.console import UserError
from grader.python.common.report import Report, Total

CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)\n"
MOODLE = "Identifier,Full name,Email address,Grade\n"
BOOKS = {
    "canvas": CANVAS + '"Zimmer, Zed",7,,,A,\n"Brown, Mei",8,,,A,\n',
    "moodle": MOODLE + "Participant 7,Zed Zimmer,,\nParticipant 8,Mei Brown,,\n",
}


def entries_of(folder: Path, roster: str, points: dict[str, int]) -> list[Entry]:
    (file := folder / "roster.csv").write_text(roster)
    return [
        Entry(student.id, Report(lab="lab", total=Total(points[student.id], 10, 0)), [], student.name, student.ids)
        for student in read_roster(file)
        if student.id in points
    ]


def export(system: str, entries: list[Entry], book: str) -> tuple[dict[str, str], list[str]]:
    """Return the points by the name in each row, and the students without a row."""
    text, unknown = canvas(entries, book, "Lab (1)") if system == "canvas" else moodle(entries, book)
    at = -1 if system == "canvas" else 3
    return {row[0 if system == "canvas" else 1]: row[at] for row in [*csv.reader(io.StringIO(text))][1:]}, unknown


@pytest.mark.parametrize("system", BOOKS)
def test_the_rosters_own_numbers_are_not_a_course_systems_numbers(system: str, tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name\n7,Mei Brown\n8,Zed Zimmer\n", {"7": 9, "8": 1})
    points, unknown = export(system, entries, BOOKS[system])
    names = ("Brown, Mei", "Zimmer, Zed") if system == "canvas" else ("Mei Brown", "Zed Zimmer")
    assert [points[name] for name in names] == ["9", "1"] and not unknown


@pytest.mark.parametrize("system", BOOKS)
def test_the_rosters_own_numbers_without_names_fill_no_row(system: str, tmp_path: Path) -> None:
    points, unknown = export(system, entries_of(tmp_path, "id\n7\n8\n", {"7": 9, "8": 1}), BOOKS[system])
    assert not any(points.values()) and unknown == ["7", "8"]


@pytest.mark.parametrize("column", ["Canvas ID", "Moodle ID"])
def test_numbers_of_the_same_system_count_without_names(column: str, tmp_path: Path) -> None:
    entries = entries_of(tmp_path, f"login,{column}\nmei,8\nzed,7\n", {"mei": 9, "zed": 1})
    for system in BOOKS:
        points, unknown = export(system, entries, BOOKS[system])
        fits = system in column.lower()
        assert sorted(filter(None, points.values())) == (["1", "9"] if fits else [])
        assert unknown == ([] if fits else ["mei", "zed"])


def test_a_worksheet_of_another_assignment_is_refused_with_its_rows(tmp_path: Path) -> None:
    roster = "Identifier,Full name\nParticipant 7,Mei Brown\nParticipant 8,Zed Zimmer\n"
    with pytest.raises(UserError) as error:
        export("moodle", entries_of(tmp_path, roster, {"7": 9, "8": 1}), BOOKS["moodle"])
    assert "Participant 7 is Zed Zimmer in the gradebook, and Mei Brown in the batch; " in str(error.value)
    assert "Participant 8 is Mei Brown in the gradebook, and Zed Zimmer in the batch. " in str(error.value)


def test_only_the_row_of_a_changed_name_is_left_out(tmp_path: Path) -> None:
    roster = "Identifier,Full name\nParticipant 6,Ada Lovelace\nParticipant 7,Zed Zimmer\nParticipant 8,Mei Brown\n"
    entries = entries_of(tmp_path, roster, {"6": 5, "7": 1, "8": 9})
    points, unknown = export("moodle", entries, BOOKS["moodle"] + "Participant 6,Mallory Malice,,\n")
    assert points == {"Zed Zimmer": "1", "Mei Brown": "9"} and unknown == ["6"]


@pytest.mark.parametrize("second_name", ["Mei Brown Lee", "M. Brown"])
@pytest.mark.parametrize("absent", [True, False])
def test_a_number_with_another_students_exact_name_is_refused(second_name: str, absent: bool, tmp_path: Path) -> None:
    roster = f"Identifier,Full name\nParticipant 7,Mei Brown\nParticipant 8,{second_name}\n"
    book = MOODLE + f"Participant 7,{second_name},,\nParticipant 8,Mei Brown,,\n"
    with pytest.raises(UserError, match="Participant 7 is"):
        export("moodle", entries_of(tmp_path, roster, {"7": 9} if absent else {"7": 9, "8": 1}), book)


def test_a_number_counts_if_words_of_the_name_are_missing(tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name,Moodle ID\nmei,Mei Lan Brown,8\n", {"mei": 9})
    assert export("moodle", entries, BOOKS["moodle"]) == ({"Mei Brown": "9"}, [])


@pytest.mark.parametrize("system", BOOKS)
@pytest.mark.parametrize("name", ["al123", "ada example org", "ada@example.org"])
def test_a_display_name_that_looks_like_an_id_takes_no_row(system: str, name: str, tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name,email\nal123,Ada King,ada@example.org\n", {"al123": 9})
    book = {"canvas": f"{CANVAS}{name},66,,,A,\n", "moodle": f"{MOODLE}Participant 66,{name},,\n"}[system]
    points, unknown = export(system, entries, book)
    assert not any(points.values()) and unknown == ["al123"]


def test_an_address_with_a_different_name_is_refused(tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name,email\nal123,Ada King,ada@example.org\n", {"al123": 9})
    with pytest.raises(UserError, match=r"ada@example\.org is Zed Zimmer in the gradebook, and Ada King in the batch"):
        export("moodle", entries, MOODLE + "Participant 66,Zed Zimmer,ada@example.org,\n")


def test_the_same_name_with_another_canvas_number_is_another_student(tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name,Canvas ID\nal123,Mei Brown,99\n", {"al123": 9})
    assert export("canvas", entries, BOOKS["canvas"])[1] == ["al123"]


NAME_COLUMNS = {
    "first_last": "First name,Last name,ID number,Grade\nZed,Zimmer,7,\nMei,Brown,8,\n",
    "surname_first": "Surname,First name,ID number,Grade\nZimmer,Zed,7,\nBrown,Mei,8,\n",
    "name": "Name,ID number,Unused,Grade\nZed Zimmer,7,,\nMei Brown,8,,\n",
    "student_name": "Student Name,ID number,Unused,Grade\nZed Zimmer,7,,\nMei Brown,8,,\n",
}


@pytest.mark.parametrize("titles", NAME_COLUMNS)
def test_names_are_compared_in_one_column_or_two(titles: str, tmp_path: Path) -> None:
    book = NAME_COLUMNS[titles]
    entries = entries_of(tmp_path, "id,name\n7,Mei Brown\n8,Zed Zimmer\n", {"7": 9, "8": 1})
    with pytest.raises(UserError, match=r"7 is Z.* in the gradebook, and Mei Brown in the batch"):
        moodle(entries, book)
    same = entries_of(tmp_path, "id,name\n7,Zed Zimmer\n8,Mei Brown\n", {"7": 9, "8": 1})
    filled, unknown = moodle(same, book)
    assert [row[:2] for row in csv.reader(io.StringIO(filled))][1:] == [["7", "9"], ["8", "1"]] and not unknown


def test_a_name_in_two_columns_finds_a_student_without_a_common_id(tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name\nmei,Mei Brown\nzed,Zed Zimmer\n", {"mei": 9, "zed": 1})
    filled, unknown = moodle(entries, "First name,Surname,Email address\nZed,Zimmer,z@x.org\nMei,Brown,m@x.org\n")
    assert [row[:2] for row in csv.reader(io.StringIO(filled))][1:] == [["z@x.org", "1"], ["m@x.org", "9"]]
    assert not unknown


def test_a_running_number_without_a_name_to_compare_fills_no_row(tmp_path: Path) -> None:
    entries = entries_of(tmp_path, "id,name\n7,Mei Brown\n20260007,Zed Zimmer\n", {"7": 9, "20260007": 1})
    filled, unknown = moodle(entries, "ID number,Grade\n7,\n20260007,\n")
    assert [row[:2] for row in csv.reader(io.StringIO(filled))][1:] == [["20260007", "1"]] and unknown == ["7"]


def test_the_courses_own_numbers_distinguish_students_with_the_same_name(tmp_path: Path) -> None:
    roster = "id,name\n4711,Ada Lovelace\n4712,Ann Lee\n4713,Ann Lee\n"
    entries = entries_of(tmp_path, roster, {"4711": 5, "4712": 6, "4713": 7})
    text, unknown = canvas(entries, "Student,ID\nAda Lovelace,4711\nAnn Lee,4712\nAnn Lee,4713\n")
    assert [row[-1] for row in csv.reader(io.StringIO(text))][1:] == ["5", "6", "7"] and not unknown


def test_a_name_that_fits_two_rows_fills_neither(tmp_path: Path) -> None:
    """Mallory is called Ada Lovelace in the course system, where the real Ada has a middle name."""
    entries = entries_of(tmp_path, "id,name\nada,Ada Lovelace\nzed,Zed Zimmer\n", {"ada": 9, "zed": 1})
    names = ("Ada Lovelace", "Ada M. Lovelace", "Zed Zimmer", "Mei Zimmer")
    book = MOODLE + "".join(f"Participant {number},{name},,\n" for number, name in enumerate(names, 7))
    points, unknown = export("moodle", entries, book)
    assert points == {"Zed Zimmer": "1"} and unknown == ["ada"]
