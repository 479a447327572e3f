"""The identification of students by file names, the roster, and course systems' gradebooks."""

from __future__ import annotations

import csv
import html
import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.store.conversions import SCHEMA
from tests.python.batch.batches import LAB, STAGES, Course

ROSTER = (
    "id,name,email,canvas id\nat200,Alan Turing,at@x,1002\nzo8,Zoë Ångström,zo@x,1003\nal1,Ada Lovelace,al@x,1001\n"
)
WITHOUT_NUMBERS = "\n".join(line.rpartition(",")[0] for line in ROSTER.splitlines()) + "\n"


def write_roster(course: Course, text: str) -> Path:
    file = course.root / "roster.csv"
    file.write_text(text)
    return file


def gradebook(course: Course) -> dict[str, dict[str, str]]:
    course.run_verb("report")
    return {
        line["id"]: line for line in csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    }


def pack(course: Course, name: str) -> None:
    folder = course.hand_in("packed", "fine", "fine")
    shutil.make_archive(str(course.root / "packed"), "gztar", folder)
    shutil.rmtree(folder)
    (course.root / "packed.tar.gz").rename(course.handed_in / name)


def test_a_canvas_name_is_found_in_a_roster_with_ordinary_names(course: Course) -> None:
    pack(course, "turingalan_1002_77_work.tar.gz")
    result = course.grade("--roster", write_roster(course, WITHOUT_NUMBERS))
    assert "Not on the roster" not in result.stderr
    assert course.statuses()["at200"] == "graded"


def test_a_name_with_accents_as_a_mac_writes_it_is_found(course: Course) -> None:
    name = unicodedata.normalize("NFD", "Zoë Ångström_2001_assignsubmission_file_")
    course.hand_in(name, "fine", "fine")
    assert "Not on the roster" not in course.grade("--roster", write_roster(course, WITHOUT_NUMBERS)).stderr
    assert course.statuses()["zo8"] == "graded"
    by_name = unicodedata.normalize("NFD", "Zoë Ångström")
    result = course.run_verb("override", "--student", by_name, "--points", "3", "--reason", "shown")
    assert "zo8 (Zoë Ångström): 3 of 20" in result.stdout, result.stderr


def test_a_stranger_is_listed_with_instructions(course: Course) -> None:
    pack(course, "nobodynora_1009_77_work.tar.gz")
    output = course.grade("--roster", write_roster(course, ROSTER)).stderr
    assert "Not on the roster: 1009 (nobodynora). If they are on the roster under another id, add a column" in output
    assert "(Canvas ID or Moodle ID for a course system's number, login for any other name" in output


def test_a_partner_without_a_hand_in_gets_the_points_of_the_uploaded_archive(course: Course) -> None:
    pack(course, f"turingalan_1002_77_{LAB}-at200-al1-2026-11-20-101010.tar.gz")
    roster = write_roster(course, ROSTER)
    course.grade("--roster", roster)
    points = {student: line["points"] for student, line in gradebook(course).items()}
    assert points == {"at200": "12", "al1": "12", "zo8": "0"}
    course.hand_in("al1", "fine")  # her own hand-in counts for her, although his archive's name contains her id
    course.grade("--roster", roster)
    book = gradebook(course)
    assert (book["al1"]["points"], book["at200"]["points"]) == ("6", "12")
    assert book["at200"]["name"] == "Alan Turing"
    assert "Its name also contains al1, who has a separate hand-in." not in book["al1"]["remarks"]


def test_each_partner_has_a_line_under_their_own_name(course: Course) -> None:
    pack(course, f"turingalan_1002_77_{LAB}-at200-al1-2026-11-20-101010.tar.gz")
    course.hand_in("zo8-gh3", "fine")
    course.grade("--roster", write_roster(course, f'{ROSTER}gh3,"Hopper, Grace",,\n'))
    book = gradebook(course)
    names = {"at200": "Alan Turing", "al1": "Ada Lovelace", "zo8": "Zoë Ångström", "gh3": "Hopper, Grace"}
    assert {student: line["name"] for student, line in book.items()} == names
    assert f"</th><td>{names['gh3']}</td>" in (course.out / "report.html").read_text()
    assert book["al1"]["remarks"] == "For at200 and al1, according to its name."
    assert book["gh3"]["remarks"].startswith("For zo8 and gh3, according to its name.")
    feedback = (course.out / "feedback/al1/feedback.txt").read_text()
    assert "For at200 and al1, according to its name." in feedback


def test_a_partner_has_the_same_feedback_until_the_partnership_ends(course: Course) -> None:
    def read(student: str) -> dict[str, str]:
        folder = course.out / "feedback" / student
        return {file.name: file.read_text() for file in folder.iterdir()} if folder.is_dir() else {}

    name = f"turingalan_1002_77_{LAB}-at200-al1-2026-11-20-101010.tar.gz"
    pack(course, name)
    course.grade("--roster", write_roster(course, ROSTER))
    assert read("al1") == read("at200") and "report.json" in read("al1") and not read("zo8")
    (course.handed_in / "al1.zip").write_bytes(b"PK")  # her own hand-in, which has no report
    course.grade()
    assert set(read("al1")) == {"feedback.txt", "index.html"} and "Its end is missing." in read("al1")["feedback.txt"]
    (course.handed_in / "al1.zip").unlink()
    shutil.rmtree(course.out)
    course.grade("--roster", write_roster(course, ROSTER))
    assert read("al1") == read("at200")
    (course.handed_in / name).rename(course.handed_in / name.replace("-al1", ""))
    course.grade()
    assert read("at200") and not read("al1")


def test_remarks_on_a_partner_follow_later_hand_ins(course: Course) -> None:
    course.hand_in("packed", "fine")  # only one stage
    shutil.make_archive(str(course.root / "packed"), "gztar", course.handed_in / "packed")
    shutil.rmtree(course.handed_in / "packed")
    name = f"turingalan_1002_77_{LAB}-at200-al1-2026-11-20-101010.tar.gz"
    (course.root / "packed.tar.gz").rename(course.handed_in / name)
    credited = "For at200 and al1, according to its name."
    not_credited = "Its name also contains al1, who has a separate hand-in."
    missing = f"Not handed in: {STAGES[1]}"

    def remarks() -> str:
        feedback = (course.out / "feedback" / "at200" / "feedback.txt").read_text()
        assert missing in feedback  # this note concerns the files, which are unchanged
        return feedback

    course.grade("--roster", write_roster(course, ROSTER))
    assert credited in remarks()
    course.hand_in("al1", "fine")
    course.grade()
    assert not_credited in remarks() and credited not in remarks()
    write_roster(course, ROSTER.replace("al1,", "al9,"))
    course.grade()
    assert not_credited not in remarks() and credited not in remarks()
    assert course.log("end") == ["at200", "al1"]  # no submission was graded twice because of this


def test_remarks_of_an_earlier_grading_are_removed(course: Course) -> None:
    course.hand_in("al1", "fine")
    course.grade()
    assert course.database().rows()[0].notes == [f"Not handed in: {STAGES[1]}"]
    course.hand_in("al1", "fine", "fine")
    course.grade()
    assert course.database().rows()[0].notes == []


def test_a_batch_of_schema_1_keeps_its_remarks(course: Course) -> None:
    course.hand_in("al1", "fine")
    course.hand_in("at2", "fine", "fine")
    course.grade()
    database = course.database()
    database.query("UPDATE submissions SET notes = graded_notes")
    database.query("ALTER TABLE submissions DROP COLUMN graded_notes")
    # Schema 1 stored relative paths as they were typed.
    database.query("UPDATE submissions SET entries = ? WHERE key = 'al1'", [json.dumps(["handed in/al1"])])
    database.set_values(schema=1)
    assert course.database().entries() == [course.handed_in / "al1", course.handed_in / "at2"]
    assert course.grade().returncode == 0
    notes = {row.key: row.notes for row in course.database().rows()}
    assert notes == {"al1": [f"Not handed in: {STAGES[1]}"], "at2": []}
    assert course.database().read_value("schema") == SCHEMA and len(course.log("end")) == 2


def test_partners_are_credited_by_an_archive_in_moodles_folder(course: Course) -> None:
    folder = course.handed_in / "Alan Turing_1002_assignsubmission_file_"
    folder.mkdir()
    pack(course, f"{folder.name}/{LAB}-at200-al1-2026-11-20-101010.tar.gz")
    course.grade("--roster", write_roster(course, ROSTER))
    (row,) = [row for row in course.database().rows() if row.status == "graded"]
    assert row.members == ["at200", "al1"] and row.handed_in == "2026-11-20T10:10:10Z"


def test_partners_are_credited_by_their_names(course: Course) -> None:
    pack(course, f"turingalan_1002_77_{LAB}-turingalan-lovelaceada-2026-11-20-101010.tar.gz")
    course.grade("--roster", write_roster(course, ROSTER))
    assert [row.members for row in course.database().rows() if row.status == "graded"] == [["at200", "al1"]]


def test_a_partner_who_is_not_on_the_roster_is_reported(course: Course) -> None:
    pack(course, f"turingalan_1002_77_{LAB}-at200-somebody-2026-11-20-101010.tar.gz")
    course.grade("--roster", write_roster(course, ROSTER))
    (row,) = [row for row in course.database().rows() if row.status == "graded"]
    assert row.members == ["at200"]
    assert row.notes == [
        "Its name contains the ids at200-somebody, but the roster does not contain all of them. If they are logins, "
        "give a second roster that contains logins."
    ]


def test_a_surname_of_several_words_is_found(course: Course) -> None:
    pack(course, "vonneumannjohn_1009_77_work.tar.gz")
    result = course.grade("--roster", write_roster(course, ROSTER + "jn133,John von Neumann,,\n"))
    assert "Not on the roster" not in result.stderr and course.statuses()["jn133"] == "graded"


def test_only_members_of_the_team_can_credit_partners(course: Course) -> None:
    pack(course, f"turingalan_1002_77_{LAB}-zo8-al1-2026-11-20-101010.tar.gz")
    course.grade("--roster", write_roster(course, ROSTER))
    assert [name for name, status in course.statuses().items() if status == "graded"] == ["at200"]
    remark = "The archive's name says zo8 and al1, and not at200, who handed it in."
    assert remark in gradebook(course)["at200"]["remarks"]
    first, _, _ = (course.out / "report.html").read_text().partition("<h2>Submissions</h2>")
    assert f"<td>names others</td><td>{html.escape(remark)}</td>" in first
    assert "name says" not in (course.out / "feedback/at200/feedback.txt").read_text()


def test_a_corrected_roster_assigns_ids_to_earlier_grades(course: Course) -> None:
    pack(course, "turingalan_1002_77_work.tar.gz")
    pack(course, "ångströmzoë_1003_77_work.tar.gz")
    course.grade("--roster", write_roster(course, "id,name\nat200,A. M. Turing\nzo8,Zoë\n"))
    assert course.statuses() == {"1002": "graded", "1003": "graded", "at200": "not_submitted", "zo8": "not_submitted"}
    course.run_verb("points", "--student", "1002", "--points", "3", "--of", "5", "--reason", "journal")
    graded = len(course.log("end"))
    result = course.grade("--roster", write_roster(course, ROSTER))
    assert "1002 is now at200, according to the roster." in result.stdout and "No longer among" not in result.stderr
    assert course.statuses() == {"at200": "graded", "zo8": "graded", "al1": "not_submitted"}
    assert len(course.log("end")) == graded  # no submission is graded twice
    assert gradebook(course)["at200"]["points"] == "15"
    assert sorted(folder.name for folder in (course.out / "feedback").iterdir()) == ["at200", "zo8"]


def test_a_corrected_roster_also_matches_students_who_hand_in_again(course: Course) -> None:
    pack(course, "turingalan_1002_77_work.tar.gz")
    course.grade("--roster", write_roster(course, "id,name\nat200,A. M. Turing\n"))
    course.run_verb("points", "--student", "1002", "--points", "3", "--of", "5", "--reason", "journal")
    (course.handed_in / "turingalan_1002_77_work.tar.gz").unlink()
    course.hand_in("packed", "fine")
    shutil.make_archive(str(course.handed_in / "turingalan_1002_78_work-1"), "gztar", course.handed_in / "packed")
    shutil.rmtree(course.handed_in / "packed")
    result = course.grade("--roster", write_roster(course, ROSTER))
    assert "1002 is now at200, according to the roster." in result.stdout and "No longer among" not in result.stderr
    assert course.statuses() == {"at200": "missing_stages", "zo8": "not_submitted", "al1": "not_submitted"}
    assert gradebook(course)["at200"]["journal"] == "3"


def test_without_the_option_the_last_roster_is_used(course: Course) -> None:
    pack(course, "turingalan_1002_77_work.tar.gz")
    roster = write_roster(course, ROSTER)
    course.grade("--roster", roster)
    result = course.grade()
    assert f"Roster: {roster}, as before." in result.stdout and not result.stderr
    assert set(course.statuses()) == {"at200", "zo8", "al1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,email\na1,x@y\na2,X@Y\n", "roster.csv:3: X@Y is also in line 2, but must belong to one student."),
        ("PK\3\4 a zip", "is a spreadsheet. Save it as CSV"),
        ("i\0d\0\n\0a\0l\0001\0\n\0", "probably UTF-16. Save the file as CSV"),
        ("id,name\nal1,Ada\nbo2,B\0b\n", "roster.csv: Line 3 has a NUL character, which no text contains."),
        ("id,submitted\nal1,9999-12-31T23:59-23:00\n", "'9999-12-31T23:59-23:00' is not between the years 2000"),
        ("id,submitted\nal1,0026-11-21T10:00Z\n", "roster.csv:2: '0026-11-21T10:00Z' is not between the years 2000"),
    ],
)
def test_unusable_rosters_are_refused(course: Course, text: str, message: str) -> None:
    course.hand_in("al1", "fine")
    result = course.grade("--roster", write_roster(course, text))
    assert result.returncode == 2 and message in result.stderr


def test_a_gradebooks_own_ids_identify_students(course: Course) -> None:
    """Moodle's worksheet has a number, a name and an address; the batch has the roster's id."""
    for name in ("Alan Turing_2001_assignsubmission_file_", "Ada Lovelace_2002_assignsubmission_file_"):
        course.hand_in(name, "fine", "fine")
    course.grade("--roster", write_roster(course, WITHOUT_NUMBERS))
    book = course.root / "moodle.csv"
    book.write_text(
        "Identifier,Full name,Email address\n"
        'Participant 2001,"Turing, Alan",other@x\nParticipant 2002,A. Lovelace,al@x\nParticipant 7,Alan Turing,at@x\n'
    )
    result = course.run_verb("export", "--format", "moodle", "--gradebook", book)
    lines = {line["Identifier"]: line["Grade"] for line in csv.DictReader(result.stdout.splitlines())}
    # An address takes precedence over a name, so a student with the same name gets no points.
    assert lines == {"Participant 2002": "12", "Participant 7": "12"}, result.stderr


def test_a_mistyped_id_is_refused_with_a_suggestion(course: Course) -> None:
    course.hand_in("al123", "fine")
    course.grade()
    result = course.run_verb("override", "--student", "al132", "--points", "3", "--reason", "shown")
    assert result.returncode == 2 and "No student has the name al132. Is it al123? Give an id" in result.stderr


def test_later_commands_repeat_which_files_were_skipped(course: Course) -> None:
    course.hand_in("al1", "fine")
    (course.handed_in / "other-wl7-2026-11-20-101010.tar.gz").write_bytes(b"")
    course.grade()
    sentence = f"other-wl7-2026-11-20-101010.tar.gz: belongs to the lab other, not {LAB}."
    assert f"Skipped: {sentence}" in course.run_verb("status").stdout
    assert f"Not part of the batch: {sentence}" in (course.out / "report.html").read_text()


@pytest.mark.parametrize(
    ("title", "cells", "is_named"),
    [("Matrikel", ("1001", "1002"), True), ("Tutorial", ("Monday", "Monday"), False), ("Login", ("ada", "bob"), False)],
)
def test_a_column_that_may_have_ids_is_named_if_it_is_not_used(
    title: str, cells: tuple[str, str], is_named: bool, tmp_path: Path, capsys
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(f"id,name,{title}\nal1,Ada,{cells[0]}\nbo1,Bob,{cells[1]}\n")
    assert [student.id for student in read_roster(roster)] == ["al1", "bo1"]
    assert (f"the column {title} is not used" in capsys.readouterr().err) == is_named


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\u202e", "\xad"])
def test_an_id_with_invisible_characters_is_reported(course: Course, hidden: str) -> None:
    course.hand_in("al1", "fine", "fine")
    result = course.grade("--roster", write_roster(course, f"id,name\nzo8,Zoë\nal{hidden}1,Ada\n"))
    assert f"roster.csv:3: the id {f'al{hidden}1'!a} has invisible characters" in result.stderr
    assert "roster.csv:2" not in result.stderr
