"""Tests of feedback_zip.py: from the names in the zip, the importers of both systems find the right students."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.python.batch.batches import LAB, Course
from tests.python.batch.ingest.test_archive import make_tar, make_zip
from tests.python.batch.test_course_systems import TEAMS, hand_in


def as_moodle(name: str, participants: Mapping[int, str]) -> tuple[str, str] | None:
    """Return a file's participant and name, as mod/assign/feedback/file/importziplib.php of Moodle 4.5 finds them."""
    parts = name.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdecimal() or int(info[1]) not in participants:
            continue
        if info[2:4] != ["assignfeedback", "file"]:
            continue
        return participants[int(info[1])], "/".join([info[4] if len(info) > 4 else "", *parts])
    return None


def as_canvas(name: str) -> tuple[str, str] | None:
    """Return the user and the attachment of a file, as Canvas's infer_comment_context_from_filename finds them."""
    parts = name.split("_")
    numbers = [part for part in parts if part.isdecimal()]
    if parts[0] == "anon":
        return parts[1], numbers[0] if numbers[0] != parts[1] else numbers[1]
    return None if parts[-1].startswith("link") or len(numbers) < 2 else (numbers[0], numbers[1])


def export(course: Course, system: str, status: int = 0) -> dict[str, bytes]:
    file = course.root / "feedback.zip"
    result = course.run_verb("export", "--feedback", system, "--output", file)
    assert result.returncode == status, result.stderr
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_moodle_gives_each_student_and_group_the_right_feedback(course: Course) -> None:
    (course.root / "roster.csv").write_text(TEAMS)
    hand_in(course.handed_in, "Team 5_5_assignsubmission_file", "Zoe_7_Alone_341_assignsubmission_file")
    course.grade("--roster", course.root / "roster.csv")
    files = export(course, "moodle")
    results = {as_moodle(name, {5: "Team 5", 341: "Zoe", 270: "Ada", 7: "wrong"}) for name in files}
    names = ("feedback.html", "feedback.txt")
    assert results == {(recipient, name) for recipient in ("Team 5", "Zoe") for name in names}
    assert all(b"02_second" in content for content in files.values())


def test_moodle_gives_no_group_the_feedback_of_a_student_with_its_number(course: Course) -> None:
    """The importer of a group assignment reads only the groups' numbers (get_participant_mapping), and the default team
    has none; Grace Hopper's number in the worksheet is Team 5's."""
    (course.root / "roster.csv").write_text(TEAMS)
    hand_in(course.handed_in, "Team 5_5_assignsubmission_file", "Default group_assignsubmission_file", "5")
    course.grade("--roster", course.root / "roster.csv")
    files = export(course, "moodle", 1)
    assert all(b"02_second" in content for content in files.values()) and len(files) == 2
    assert {as_moodle(name, {5: "Team 5", 341: "wrong"}) for name in files} == {
        ("Team 5", "feedback.html"), ("Team 5", "feedback.txt")
    }  # fmt: skip


def test_moodle_gives_a_credited_partner_the_same_feedback(course: Course) -> None:
    roster = course.root / "roster.csv"
    roster.write_text("id,name,moodle id\nal1,Ada Lovelace,34\nat2,Alan Turing,35\ngh3,Grace Hopper,\n")
    name = f"Ada Lovelace_34_assignsubmission_file_{LAB}-al1-at2-gh3-2026-11-20-101010.tar.gz"
    (course.handed_in / name).write_bytes(make_tar(("01_first.cu", b"x")))
    course.grade("--roster", roster)
    result = course.run_verb("export", "--feedback", "moodle", "--output", course.root / "feedback.zip")
    assert "1 student with no known number in Moodle, omitted: gh3." in result.stderr
    people = {as_moodle(name, {34: "al1", 35: "at2"}) for name in export(course, "moodle", 1)}
    assert {recipient for recipient, _ in filter(None, people)} == {"al1", "at2"}


def test_canvas_shows_feedback_under_the_attachments_name(course: Course) -> None:
    hand_in_zip = make_zip(("01_first.cu", b"1"))
    (course.handed_in / "lovelaceada_LATE_1234_600001_lab1.zip").write_bytes(hand_in_zip)
    (course.handed_in / "lovelaceada_LATE_1234_600002_02_second.cu").write_bytes(b"2")
    (course.handed_in / "watson_parkermary_99_1235_600003_lab-1.tar.gz").write_bytes(make_tar(("01_first.cu", b"1")))
    (course.handed_in / "turingalan_1236_600004_01_first.cu").write_bytes(b"1")
    course.grade()
    (course.out / "feedback/1234/journal.html").write_text("the journal")
    files = {as_canvas(name): (name, content) for name, content in export(course, "canvas", 1).items()}
    name, content = files["1234", "600001"]
    assert name.endswith("_feedback.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == ["feedback.html", "feedback.txt", "journal.html"]
        assert archive.read("journal.html") == b"the journal"
    assert files["1236", "600004"][1].startswith(b"Graded; some stages were not handed in.")
    assert len(files) == 2, "the other name can be read in several ways"


def test_canvas_accepts_feedback_for_anonymous_students(course: Course) -> None:
    (course.handed_in / "LATE_anon_12345_600002_lab1.tar.gz").write_bytes(make_tar(("01_first.cu", b"1")))
    (course.handed_in / "anon_aB3xY_600003_01_first.cu").write_bytes(b"1")
    course.grade()
    files = {as_canvas(name): content for name, content in export(course, "canvas").items()}
    assert set(files) == {("12345", "600002"), ("aB3xY", "600003")}
    with tarfile.open(fileobj=io.BytesIO(files["12345", "600002"])) as archive:
        assert archive.getnames() == ["feedback.html", "feedback.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--feedback", "moodle"), "add --output FILE.zip"),
        (("--feedback", "moodle", "--gradebook", "x", "--output", "y.zip"), "omit --gradebook"),
        (("--feedback", "moodle", "--format", "moodle"), "not allowed with"),
    ],
)
def test_wrong_arguments_give_a_message(course: Course, words: tuple[str, ...], message: str) -> None:
    course.hand_in("al1", "fine")
    course.grade()
    result = course.run_verb("export", *words)
    assert result.returncode == 2 and message in result.stderr


def test_feedback_that_lacks_the_latest_decisions_is_not_exported(course: Course) -> None:
    course.hand_in("al1", "fine")
    course.grade()
    course.run_verb("override", "--student", "al1", "--points", "3", "--reason", "x")
    result = course.run_verb("export", "--feedback", "canvas", "--output", course.root / "y.zip")
    assert "does not have all decisions yet. Type: warplab-course report" in result.stderr and result.returncode == 2
    assert not Path(course.root / "y.zip").exists()
