"""pull and push against a simulated Moodle with faults."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.python.batch.__main__ import main
from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.remote import moodle as systems
from grader.python.common.console import UserError
from tests.python.batch.batches import Course
from tests.python.batch.ingest.test_archive import make_zip
from tests.python.batch.remote.moodle import FAULTS, TIME_S, TOKEN, Moodle

pytest.importorskip("canvasapi")
ASSIGNMENT = ("--course", "12", "--assignment", "77")


@pytest.fixture
def moodle(monkeypatch: pytest.MonkeyPatch, without_pauses: None) -> Iterator[Moodle]:
    monkeypatch.setenv("MOODLE_TOKEN", TOKEN)
    simulated = Moodle()
    yield simulated
    simulated.server.shutdown()


def run(*words: str | Path) -> int:
    return main(list(map(str, words)))


def test_pull_grade_and_push_work_despite_faults(moodle: Moodle, course: Course, tmp_path: Path, capsys) -> None:
    for number in range(20):
        texts = [("01_first.cu", b"fine %d" % number), ("02_second.cu", b"fine %d" % number)]
        files = texts if number % 3 else [("sub/lab 1.zip", make_zip(*texts))]
        moodle.add(100 + number, f"u{number:03}x", f"Ann Lee{number}", *(() if number == 19 else files))
    moodle.share = 0.3
    pulled = tmp_path / "pulled"
    assert run("pull", pulled, "--moodle", moodle.url, *ASSIGNMENT) == 0
    contents = sorted(file.read_bytes() for file in (pulled / "hand-ins").rglob("*") if file.is_file())
    assert contents == sorted(moodle.files.values())
    course.handed_in = pulled / "hand-ins"
    result = course.grade("--roster", pulled / "roster.csv")
    assert result.returncode == 0 and not result.stderr, result.stderr
    assert course.statuses() == {
        f"u{number:03}x": "not_submitted" if number == 19 else "graded" for number in range(20)
    }
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT) == 0 and not moodle.saved
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0
    before = dict(moodle.grades)
    moodle.share, moodle.saved = 0, type(moodle.saved)()
    capsys.readouterr()
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0
    assert "0 students written; Moodle is up to date for 19." in capsys.readouterr().out
    assert moodle.grades == before and not moodle.saved and set(before) == {100 + number for number in range(19)}
    assert set(moodle.faults) == set(FAULTS)
    for number in range(19):
        grade, feedback = before[100 + number], course.out / f"feedback/u{number:03}x"
        assert float(grade["grade"]) == 12 and set(grade["files"]) == {"feedback.html", "feedback.txt"}
        assert grade["files"]["feedback.txt"] == (feedback / "feedback.txt").read_bytes()
        assert grade["files"]["feedback.html"] == (feedback / "index.html").read_bytes()


def test_a_groups_hand_in_is_graded_once_for_all_its_members(moodle: Moodle, course: Course, tmp_path: Path) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"1"), group=7)
    moodle.add(101, "at2", "Alan Turing", group=0)
    moodle.users[1]["groups"] = [{"id": 7, "name": "Team 7"}]
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    assert {str(file.relative_to(tmp_path / "hand-ins")) for file in (tmp_path / "hand-ins").rglob("*.cu")} == {
        "al1-at2/01_first.cu",
    }
    rows = list(csv.DictReader((tmp_path / "roster.csv").read_text().splitlines()))
    assert [row["submitted"] for row in rows] == ["2026-11-20T10:00:00Z"] * 2
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    assert [row.members for row in course.database().rows()] == [["al1", "at2"]]
    for _ in range(2):  # Moodle lists no grades of members who did not hand in themselves
        assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0
    assert set(moodle.saved.values()) == {1} and set(moodle.grades) == {100, 101}


def test_a_file_that_a_student_replaced_is_fetched_again(moodle: Moodle, tmp_path: Path, capsys) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"1"), ("02_second.cu", b"2"))
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    moodle.files[1] = b"3"  # of the same size
    moodle.submissions[0]["plugins"][1]["fileareas"][0]["files"][0]["timemodified"] += 60
    capsys.readouterr()
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    assert "2 files, 1 of them new" in capsys.readouterr().out
    assert (tmp_path / "hand-ins/al1/01_first.cu").read_bytes() == b"3"


@pytest.mark.parametrize("until_s", [TIME_S, 10**30, None])
def test_extensions_are_in_the_roster(moodle: Moodle, tmp_path: Path, until_s: object, capsys) -> None:
    for user in (100, 101, 102):
        moodle.add(user, f"u{user}", f"Ann Lee{user}", ("01_first.cu", b"1"))
    moodle.extensions = {101: TIME_S + 86400, 100: until_s, 102: 0} if until_s else None
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 0
    assert {student.id: student.extended for student in read_roster(tmp_path / "roster.csv")} == {
        "u100": "2026-11-20T10:00:00Z" if until_s == TIME_S else "",
        "u101": "2026-11-21T10:00:00Z" if until_s else "",
        "u102": "",
    }
    unknown = "Extensions that Moodle grants are not known; use `extend`. Moodle refuses mod_assign_get_user_flags"
    assert (unknown in capsys.readouterr().err) == (until_s is None)


@pytest.mark.parametrize("time_s", [10**30, -(10**30), 2**60, "soon", None, 1e400])
def test_one_invalid_time_does_not_stop_a_pull(moodle: Moodle, tmp_path: Path, time_s: object) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"1"))
    moodle.add(101, "at2", "Alan Turing", ("01_first.cu", b"2"))
    moodle.submissions[0]["timemodified"] = time_s
    moodle.submissions[0]["plugins"][1]["fileareas"][0]["files"][0]["timemodified"] = time_s
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 0
    assert {file.read_bytes() for file in tmp_path.rglob("*.cu")} == {b"1", b"2"}
    rows = list(csv.DictReader((tmp_path / "roster.csv").read_text().splitlines()))
    assert [row["submitted"] for row in rows] == ["", "2026-11-20T10:00:00Z"]
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 0


@pytest.mark.parametrize("size", ["many", None, -1, 10**30, 2**62])
def test_one_invalid_size_does_not_stop_a_pull(moodle: Moodle, tmp_path: Path, size: object, capsys) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"1"))
    moodle.add(101, "at2", "Alan Turing", ("01_first.cu", b"2"))
    moodle.submissions[0]["plugins"][1]["fileareas"][0]["files"][0]["filesize"] = size
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 1
    assert "Not fetched (1): al1/01_first.cu" in capsys.readouterr().err
    assert (tmp_path / "hand-ins/at2/01_first.cu").read_bytes() == b"2"


def test_files_deleted_in_moodle_are_removed_and_names_cannot_leave_the_folder(moodle: Moodle, tmp_path: Path) -> None:
    moodle.add(100, "../al1", "Ada Lovelace", ("../../01_first.cu", b"1"), ("02_second.cu", b"2"))
    run("pull", tmp_path / "in", "--moodle", moodle.url, *ASSIGNMENT)
    files = list(tmp_path.rglob("*.cu"))
    assert len(files) == 2 and all(file.is_relative_to(tmp_path / "in" / "hand-ins") for file in files)
    (tmp_path / "other" / "hand-ins" / "precious").mkdir(parents=True)
    with pytest.raises(UserError, match=r"hand-ins is not from an earlier pull: there is no roster.csv"):
        run("pull", tmp_path / "other", "--moodle", moodle.url, *ASSIGNMENT)
    moodle.submissions.clear()
    run("pull", tmp_path / "in", "--moodle", moodle.url, *ASSIGNMENT)
    assert not list((tmp_path / "in" / "hand-ins").iterdir())


def test_a_students_file_names_do_not_affect_another_student(moodle: Moodle, tmp_path: Path, capsys) -> None:
    moodle.add(100, ".bob", "Mal Lory", ("01_first.cu", b"sabotage"))
    moodle.add(101, "mal", "Mal Two", ("a", b"a file"), ("a/01_first.cu", b"in a folder"), ("ж" * 120 + ".cu", b"long"))
    moodle.add(102, "bob", "Bob Hay", ("01_first.cu", b"honest"))
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 1
    assert "Not fetched (1): mal/a" in capsys.readouterr().err
    contents = {file.read_bytes() for file in (tmp_path / "hand-ins").rglob("*") if file.is_file()}
    assert contents >= {b"sabotage", b"honest", b"long"}
    assert (tmp_path / "hand-ins/bob/01_first.cu").read_bytes() == b"honest"
    rows = list(csv.DictReader((tmp_path / "roster.csv").read_text().splitlines()))
    folders = {file.name for file in (tmp_path / "hand-ins").iterdir()}
    assert folders == {row["id"] for row in rows}


def test_a_team_with_long_names_is_found(moodle: Moodle, course: Course, tmp_path: Path) -> None:
    names = [f"firstname{number}.lastname{number}@students.university.example" for number in range(7)]
    moodle.add(100, names[0], "Ann Lee0", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"), group=7)
    for number, name in enumerate(names[1:], 1):
        moodle.add(100 + number, name, f"Ann Lee{number}")
        moodle.users[-1]["groups"] = [{"id": 7, "name": "Team 7"}]
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    assert set(course.statuses().values()) == {"graded"} and set(course.statuses()) == set(names)


def test_moodles_refusal_is_reported_at_once(moodle: Moodle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="The course 12 has no assignment 5"):
        run("pull", tmp_path, "--moodle", moodle.url, "--course", "12", "--assignment", "5")
    monkeypatch.setenv("MOODLE_TOKEN", "wrong")
    with pytest.raises(UserError, match="Moodle refuses mod_assign_get_assignments: Invalid token"):
        run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)


@pytest.mark.parametrize("name", ["-al1", "@al1", "+al1"])
def test_a_name_that_begins_like_a_formula_is_found(moodle: Moodle, course: Course, tmp_path: Path, name: str) -> None:
    moodle.add(100, name, "Ada Lovelace", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"))
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    assert f"'{name}" in (tmp_path / "roster.csv").read_text(), "no spreadsheet runs it"
    course.handed_in = tmp_path / "hand-ins"
    assert not course.grade("--roster", tmp_path / "roster.csv").stderr
    assert course.statuses() == {name: "graded"}
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0 and set(moodle.grades) == {100}


def test_a_file_that_is_too_large_to_be_read_is_not_fetched(moodle: Moodle, course: Course, tmp_path: Path) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("lab.zip", b"the file is larger than the memory"))
    moodle.submissions[0]["plugins"][1]["fileareas"][0]["files"][0]["filesize"] = 10**10
    moodle.add(101, "at2", "Alan Turing", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"))
    for _ in range(2):  # the second time, both files exist
        assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 0
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    assert course.statuses() == {"al1": "archive_refused", "at2": "graded"}


@pytest.mark.parametrize("answer", [None, [], {}, {"assignments": [], "warnings": [{"message": "No access rights"}]}])
def test_an_answer_without_the_documented_parts_gives_one_message(
    moodle: Moodle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    call = systems.Moodle.call_once
    replaced = "mod_assign_get_submissions"
    monkeypatch.setattr(systems.Moodle, "call_once", lambda *words: answer if words[1] == replaced else call(*words))
    with pytest.raises(UserError, match="answer is not as documented"):
        run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)


def test_a_name_equal_to_another_students_address_blocks_no_student(
    moodle: Moodle, course: Course, tmp_path: Path
) -> None:
    for number, name in enumerate(("al1", "al1@x", "bo2", "cy3")):
        moodle.add(100 + number, name, f"Ann Lee{number}", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"))
    moodle.users[3]["email"] = "BO2@X"
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    rows = list(csv.DictReader((tmp_path / "roster.csv").read_text().splitlines()))
    assert {row["id"]: row["email"] for row in rows} == {"al1": "", "al1@x": "al1@x@x", "bo2": "", "cy3": ""}
    course.handed_in = tmp_path / "hand-ins"
    assert not course.grade("--roster", tmp_path / "roster.csv").stderr
    assert course.statuses() == dict.fromkeys(("al1", "al1@x", "bo2", "cy3"), "graded")


def test_a_name_like_a_teams_takes_nothing_from_the_team(moodle: Moodle, course: Course, tmp_path: Path) -> None:
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"), group=7)
    moodle.add(101, "at2", "Alan Turing")
    moodle.users[1]["groups"] = [{"id": 7, "name": "Team 7"}]
    moodle.add(102, "al1-at2", "Mal Lory")
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    assert course.statuses() == {"al1": "graded", "at2": "graded", "al1-at2": "not_submitted"}


def add_two_hand_ins(moodle: Moodle) -> None:
    """Add two students whose hand-ins pass all tests."""
    for number, name in enumerate(("al1", "at2")):
        moodle.add(100 + number, name, f"Ann Lee{number}", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"))


def test_a_teacher_who_sees_no_user_names_gets_addresses(moodle: Moodle, course: Course, tmp_path: Path) -> None:
    add_two_hand_ins(moodle)
    moodle.users[1]["email"] = ""
    moodle.shows_names = False
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    course.handed_in = tmp_path / "hand-ins"
    assert not course.grade("--roster", tmp_path / "roster.csv").stderr
    assert course.statuses() == {"al1@x": "graded", "user101": "graded"}
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0 and set(moodle.grades) == {
        100,
        101,
    }


def test_students_with_one_address_share_neither_a_folder_nor_a_grade(
    moodle: Moodle, course: Course, tmp_path: Path
) -> None:
    add_two_hand_ins(moodle)
    moodle.users[1]["email"] = "AL1@x"
    moodle.shows_names = False
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    assert course.statuses() == {"user100": "graded", "user101": "graded"}
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 0 and set(moodle.grades) == {
        100,
        101,
    }


@pytest.mark.parametrize("areas", [7, [7], [{"files": [{}]}]])
def test_a_wrong_answer_about_one_student_costs_no_file(moodle: Moodle, tmp_path: Path, areas: object) -> None:
    add_two_hand_ins(moodle)
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 0
    moodle.submissions[0]["plugins"][1]["fileareas"] = areas
    moodle.submissions[1]["plugins"][1]["fileareas"][0]["files"].pop()
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    assert len(list((tmp_path / "hand-ins/al1").iterdir())) == 2 and (tmp_path / "hand-ins/at2").is_dir()


def test_a_teams_time_and_members_come_from_moodle(moodle: Moodle, tmp_path: Path) -> None:
    """Moodle keeps a submission without files for each member of a team. Students who are in no group, or in several
    groups, are in the default team."""
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"1"), group=7)
    moodle.add(101, "at2", "Alan Turing")
    moodle.users[1]["groups"] = [{"id": 7, "name": "Team 7"}]
    moodle.add(102, "gh3", "Grace Hopper")
    moodle.users[2]["groups"] = [{"id": 7, "name": "Team 7"}, {"id": 8, "name": "Team 8"}]
    moodle.add(103, "bl4", "Barbara Liskov")
    moodle.add_submission(0, 0, "submitted", TIME_S + 60, moodle.submissions[0]["plugins"])
    for user in (100, 101, 102, 103):
        moodle.add_submission(user, 0, "submitted", TIME_S - 3600, [])
    moodle.add_submission(0, 9, "submitted", TIME_S, moodle.submissions[0]["plugins"])
    assert run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT) == 1, "nobody is in group 9"
    folders = {file.name for file in (tmp_path / "hand-ins").iterdir()}
    assert folders == {"al1-at2", "bl4-gh3"}
    rows = list(csv.DictReader((tmp_path / "roster.csv").read_text().splitlines()))
    assert [row["submitted"] for row in rows] == ["2026-11-20T10:00:00Z"] * 2 + ["2026-11-20T10:01:00Z"] * 2


def test_a_draft_submission_is_not_a_hand_in(moodle: Moodle, tmp_path: Path) -> None:
    moodle.add(100, "al1", "Ada Lovelace")
    moodle.add_submission(100, 0, "new", TIME_S, [])
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    (row,) = csv.DictReader((tmp_path / "roster.csv").read_text().splitlines())
    assert row["submitted"] == ""


def test_moodles_reason_for_refusing_files_or_a_course_is_reported_at_once(
    moodle: Moodle, course: Course, tmp_path: Path
) -> None:
    add_two_hand_ins(moodle)
    run("pull", tmp_path, "--moodle", moodle.url, *ASSIGNMENT)
    course.handed_in = tmp_path / "hand-ins"
    course.grade("--roster", tmp_path / "roster.csv")
    moodle.gives_files = False
    with pytest.raises(UserError, match="refuses the download of files: Access control exception"):
        run("pull", tmp_path / "other", "--moodle", moodle.url, *ASSIGNMENT)
    assert run("push", course.out, "--moodle", moodle.url, *ASSIGNMENT, "--send") == 1 and not moodle.grades
    moodle.is_enrolled = False
    with pytest.raises(
        UserError, match=r"has no assignment 77\. .* Moodle's reason: No access rights in course context"
    ):
        run("pull", tmp_path / "other", "--moodle", moodle.url, *ASSIGNMENT)
