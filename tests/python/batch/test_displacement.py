"""After a later download or with a better roster, each student keeps the points of an earlier hand-in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.python.batch.ingest.roster import Student
from grader.python.batch.ingest.submissions import find_submissions
from tests.python.batch.batches import LAB, STAGES, Course

ROSTER = "id,name\nal1,Ada Lovelace\nbo2,Bob Byte\nma6,Mallory Malice\n"
ADA, MALLORY = "Ada Lovelace_12_assignsubmission_file_", "Mallory Malice_66_assignsubmission_file_"


def download(course: Course, *names: str, text: str = "fine", roster: str = "") -> str:
    """Grade a download of folders in place of the previous one; the part of a name after "/" is an archive in the
    folder. Return stderr."""
    shutil.rmtree(course.handed_in)
    course.handed_in.mkdir()
    for name in names:
        folder, _, archive = name.partition("/")
        course.hand_in(folder, text, text)
        if archive:
            packed = shutil.make_archive(str(course.root / "packed"), "gztar", course.handed_in / folder)
            shutil.rmtree(course.handed_in / folder)
            (course.handed_in / folder).mkdir()
            Path(packed).rename(course.handed_in / name)
    file = course.root / "roster.csv"
    if roster:
        file.write_text(roster)
    return course.grade(*(("--roster", file) if file.is_file() else ())).stderr


def archive_in(folder: str, ids: str, day: int) -> str:
    return f"{folder}/{LAB}-{ids}-2026-11-{day}-100000.tar.gz"


def points(course: Course) -> dict[str, tuple[str, str]]:
    lines = course.gradebook()
    return {line["id"]: (line["status"], line["points"]) for line in lines}


def test_a_partner_named_in_a_later_download_keeps_their_own_hand_in(course: Course) -> None:
    download(course, archive_in(ADA, "al1", 20), roster=ROSTER)
    download(course, archive_in(MALLORY, "ma6-al1", 22), text="compile_error")
    assert points(course)["al1"] == ("graded", "12") and points(course)["ma6"][1] == "0"
    assert (
        "Its name also contains al1, who has a separate hand-in."
        in (course.out / "feedback/ma6/feedback.txt").read_text()
    )


def test_a_students_own_hand_in_replaces_one_as_a_partner(course: Course) -> None:
    download(course, archive_in(MALLORY, "ma6-al1", 22), text="compile_error", roster=ROSTER)
    assert points(course)["al1"][1] == "0"
    download(course, archive_in(ADA, "al1", 20))
    assert points(course)["al1"] == ("graded", "12")


def test_the_same_team_may_hand_in_again(course: Course) -> None:
    download(course, archive_in(MALLORY, "ma6-bo2", 20), text="compile_error", roster=ROSTER)
    download(course, archive_in(MALLORY, "ma6-bo2", 21))
    assert points(course)["bo2"] == points(course)["ma6"] == ("graded", "12")


def test_the_same_display_name_in_a_later_download_replaces_no_hand_in(course: Course) -> None:
    download(course, ADA, roster=ROSTER)
    output = download(course, ADA.replace("12", "66"), text="compile_error")
    assert points(course)["al1"] == ("graded", "12") and points(course)["66"][1] == "0"
    assert (
        "A name alone does not identify the student: 66 has the name Ada Lovelace" in output and "12 may be" in output
    )
    download(course, ADA, text="missing")  # the same number means the same student
    assert points(course)["al1"][1] == "0"


def downgrade_database(course: Course) -> None:
    """Turn the database into one of schema 3."""
    database = course.database()
    for key, *texts in database.query("SELECT key, notes, graded_notes FROM submissions"):
        plain = [
            json.dumps([note if isinstance(note, str) else note[1] for note in json.loads(text)]) for text in texts
        ]
        database.query("UPDATE submissions SET notes = ?, graded_notes = ? WHERE key = ?", [*plain, key])
    database.query("ALTER TABLE submissions DROP COLUMN called")
    database.set_values(schema=3)


def test_a_batch_of_an_earlier_version_keeps_the_owners_of_hand_ins(course: Course) -> None:
    download(
        course, archive_in(ADA, "al1", 20), archive_in("Bob Byte_13_assignsubmission_file_", "bo2", 20), roster=ROSTER
    )
    downgrade_database(course)
    output = download(course, archive_in(ADA.replace("12", "66"), "bo2", 22), text="compile_error")
    assert {points(course)[student] for student in ("al1", "bo2")} == {
        ("graded", "12")
    } and "al1 on the roster" in output
    course.run_verb("report")
    assert "found by name" not in (course.out / "feedback/al1/feedback.txt").read_text()


def decide(course: Course, student: str, value: int) -> None:
    result = course.run_verb("override", "--student", student, "--points", str(value), "--reason", "shown")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("old", [False, True])
def test_decisions_follow_the_number_of_the_course_system(course: Course, old: bool) -> None:
    names = ("Ada X_12_assignsubmission_file_", "Zed Y_99_assignsubmission_file_")
    download(course, *(archive_in(name, "x", 20) for name in names), roster="id,name\nada1,A\nzed9,Z\n")
    content = (course.handed_in / archive_in(names[0], "x", 20)).read_bytes()
    for name in names:  # Zed copied Ada's two archives
        for day in (19, 20):
            (course.handed_in / archive_in(name, "x", day)).write_bytes(content)
    course.grade()
    decide(course, "12", 10)
    decide(course, "99", 1)
    if old:
        downgrade_database(course)
    (course.root / "roster.csv").write_text("id,name,Moodle ID\nada1,Ada,12\nzed9,Zed,99\n")
    result = course.grade()
    assert "12 is now ada1" in result.stdout and "99 is now zed9" in result.stdout
    assert {student: points(course)[student][1] for student in ("ada1", "zed9")} == {"ada1": "10", "zed9": "1"}


def test_decisions_stay_with_the_student_if_the_hand_in_belongs_to_another(course: Course) -> None:
    download(course, ADA, roster=ROSTER)
    decide(course, "al1", 10)
    (course.root / "roster.csv").write_text("id,name,Moodle ID\nal1,Ada Byron,13\nma6,Ada Lovelace,12\n")
    assert "al1 is now ma6" in course.grade().stdout
    assert points(course)["ma6"] == ("graded", "12") and points(course)["al1"] == ("not_submitted", "10")


def test_equal_files_of_several_students_do_not_cause_a_rename(tmp_path: Path, course: Course) -> None:
    for name in ("a", "b"):
        course.hand_in(name)
        (course.handed_in / name / f"{STAGES[0]}.cu").write_text("same")
    course.out.mkdir()
    database = course.database()
    database.enter(find_submissions(course.handed_in, LAB, [])[0])
    for name in ("a", "b"):
        (course.handed_in / name).rename(tmp_path / name)
    (course.handed_in / "c").mkdir()
    (tmp_path / "a" / f"{STAGES[0]}.cu").rename(course.handed_in / "c" / f"{STAGES[0]}.cu")
    (submission,), _ = find_submissions(course.handed_in, LAB, [Student("c", "", {"c"})])
    assert database.find_renamed([submission]) == []


def test_a_file_name_does_not_become_a_note_for_the_instructor(course: Course) -> None:
    name = "A name alone does not identify the student: al1"
    folder = course.hand_in("ma6", "fine", "fine")
    for place in (name, f"{name} too"):
        (folder / place).mkdir()
        (folder / place / f"{STAGES[0]}.cu").write_text(place)
    (folder / f"{STAGES[0]}.cu").unlink()
    course.grade()
    first, _, _ = (course.out / "report.html").read_text().partition("<h2>Submissions</h2>")
    assert "student not identified" not in first
    assert f"{name} too/{STAGES[0]}.cu was graded" in (course.out / "feedback/ma6/feedback.txt").read_text()
