"""Tests of lateness.py: a course system's times and marks take precedence over times that students choose."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path

import pytest

from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.ingest.submission import FILE_DATE, NAMED_TIME, WORKSHEET
from grader.python.batch.policy.lateness import Lateness, measure_lateness
from grader.python.batch.store.rows import Row
from grader.python.batch.verbs import decide
from tests.python.batch.batches import LAB, Course
from tests.python.batch.ingest.test_archive import make_zip

DUE = datetime.fromisoformat("2026-11-21T23:59+01:00")
ON_TIME, LATE, LATER = "2026-11-20T10:00:00Z", "2026-11-22T10:00:00Z", "2026-11-23T10:00:00Z"


def measure(row: Row, extended: bool = False, grace_minutes: float = 0, trust_dates: bool = False) -> Lateness:
    return measure_lateness(row, DUE, extended, grace_minutes, trust_dates)


def make_row(handed_in: str, known_by: str, marked: str = "", named_time: str = "") -> Row:
    system, _, mark = marked.partition(" ")
    time_in_name = handed_in if known_by == NAMED_TIME else named_time
    return Row("k", "", ["s"], handed_in, known_by, [], "graded", "", 0, named_time=time_in_name, marked_by=system,
               marked_late=mark == "late")  # fmt: skip


# A hand-in (its time, the source of the time, the course system's mark, and the time in the archive's name); then the
# expected days of lateness, their source, and a part of the doubt.
SOURCES: dict[str, tuple[Row, int, str, str]] = {
    "name_on_time": (make_row(ON_TIME, NAMED_TIME), 0, NAMED_TIME, ""),
    "name_late": (make_row(LATER, NAMED_TIME), 2, NAMED_TIME, ""),
    "back_dated_name": (make_row(ON_TIME, NAMED_TIME, "Canvas late"), 1, "Canvas's LATE mark", "marks it late, but"),
    "marked_and_late": (make_row(LATER, NAMED_TIME, "Canvas late"), 2, f"Canvas's LATE mark and {NAMED_TIME}", ""),
    "mark_alone": (make_row(ON_TIME, FILE_DATE, "Canvas late"), 1, "Canvas's LATE mark", ""),
    "late_name_without_a_mark": (make_row(LATE, NAMED_TIME, "Canvas not"), 0, "Canvas, which marks others", "not mark"),
    "not_marked": (make_row(ON_TIME, NAMED_TIME, "Canvas not"), 0, "Canvas, which marks others", ""),
    "file_not_marked": (make_row(LATER, FILE_DATE, "Canvas not"), 0, "Canvas, which marks others", ""),
    "roster_overrides_the_mark": (make_row(ON_TIME, "the roster", "Canvas late"), 0, "the roster", ""),
    "worksheet_in_the_dates_zone": (make_row("2026-11-21T23:58:00", WORKSHEET, "Moodle not"), 0, WORKSHEET, ""),
    "worksheet_late": (make_row("2026-11-22T00:00:00", WORKSHEET, "Moodle late"), 1, WORKSHEET, ""),
    "worksheet_of_another_zone": (
        make_row("2026-11-21T23:00:00", WORKSHEET, "Moodle late"), 0, WORKSHEET, "calls it late, but its time there"
    ),
    "worksheet_overrides_the_name": (
        make_row("2026-11-22T10:00:00", WORKSHEET, "Moodle late", ON_TIME), 1, WORKSHEET,
        "the archive's name says 2026-11-20 10:00:00 UTC",
    ),
    "worksheet_without_a_time": (make_row(LATER, FILE_DATE, "Moodle late"), 1, "Moodle's late mark", ""),
    "back_dated_name_in_moodle": (
        make_row(ON_TIME, NAMED_TIME, "Moodle late"), 1, "Moodle's late mark", "Moodle marks it late, but"
    ),
    "file_date": (make_row(LATER, FILE_DATE), 0, "", ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_the_course_systems_time_decides_lateness(kind: str) -> None:
    row, days, source, doubt = SOURCES[kind]
    lateness = measure(row)
    assert lateness.days == days and lateness.source.startswith(source), lateness
    assert bool(lateness.doubt) == bool(doubt) and doubt in lateness.doubt, lateness


def test_a_late_mark_does_not_count_for_a_student_with_an_extension() -> None:
    row = make_row(ON_TIME, NAMED_TIME, "Canvas late")
    assert (measure(row).days, measure(row, extended=True).days) == (1, 0)


def test_the_grace_time_applies_if_mark_and_time_agree() -> None:
    row = make_row("2026-11-21T23:04:00Z", NAMED_TIME, "Canvas late")
    assert (measure(row, grace_minutes=15).days, measure(row).days) == (0, 1)
    assert measure(make_row("2026-11-21T20:00:00Z", NAMED_TIME, "Canvas late"), grace_minutes=15).days == 1


def submit(course: Course, name: str) -> None:
    (course.handed_in / name).write_bytes(make_zip(("01_first.cu", name.encode()), ("02_second.cu", name.encode())))


def read_gradebook(course: Course) -> dict[str, dict[str, str]]:
    with (course.out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        return {line["id"]: line for line in csv.DictReader(file)}


def test_a_back_dated_archive_is_late_if_canvas_says_so(course: Course) -> None:
    submit(course, f"ada_LATE_17_500_{LAB}-al1-2026-11-01-101010.tar.gz")
    submit(course, f"bob_18_501_{LAB}-bo2-2026-11-25-101010.tar.gz")
    submit(course, "anon_aB3xY_502_a.zip")
    submit(course, "LATE_anon_Zz9Zz_503_a.zip")
    course.grade()
    result = course.run_verb("due", "--at", "2026-11-21T23:59+01:00", "--percent-per-day", "10")
    assert "2 of 4 are late.\nSources of the time disagree (2): 17 (ada): Canvas marks it late" in result.stdout
    course.run_verb("report")
    book = read_gradebook(course)
    assert {key: line["late_days"] for key, line in book.items()} == {
        "17": "1", "18": "0", "anon_aB3xY": "0", "anon_Zz9Zz": "1",
    }  # fmt: skip
    assert book["17"]["time_from"] == "Canvas's LATE mark"
    page = (course.out / "report.html").read_text()
    assert page.count("<td>times disagree</td>") == 2 and 'title="by Canvas&#x27;s LATE mark"' in page.replace(
        "&#39;", "&#x27;"
    )
    assert (
        "1 day late (rounded up to whole days): by Canvas's LATE mark, and due at"
        in (course.out / "feedback/17/feedback.txt").read_text()
    )


WORKSHEET_CSV = """Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Last modified (submission)"
"Participant 5","Ada Lovelace",al@x,"Submitted for grading -  - ",,20.00,"Friday, 20 November 2026, 10:00 AM"
"Participant 6","Alan Turing",a@x,"Submitted for grading - 10 hours late - ",,20.00,"Sunday, 22 November 2026, 10:00 AM"
"Participant 7","Grace Hopper",gh@x,"No submission - Assignment is overdue by: 2 days - ",,20.00,-
"""


def test_due_says_that_more_times_disagree_than_it_lists(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "MAX_DOUBTS", 1)
    for number in (17, 18):
        submit(course, f"ada_LATE_{number}_50{number}_{LAB}-al{number}-2026-11-01-101010.tar.gz")
    course.grade()
    output = course.run_verb("due", "--at", "2026-11-21T23:59+01:00").stdout
    assert output.count("Canvas marks it late") == 1 and "UTC. report.html lists all.\n" in output


def test_the_worksheets_times_override_those_in_names(course: Course, tmp_path: Path) -> None:
    (roster := tmp_path / "worksheet.csv").write_text(WORKSHEET_CSV)
    for name in (f"Ada Lovelace_5_assignsubmission_file_{LAB}-al-2026-11-25-101010.tar.gz",
                 f"Alan Turing_6_assignsubmission_file_{LAB}-at-2026-11-01-101010.tar.gz"):  # fmt: skip
        submit(course, name)
    course.grade("--roster", roster)
    output = course.run_verb("due", "--at", "2026-11-21T23:59+01:00", "--percent-per-day", "10").stdout
    assert (
        "1 of 3 are late." in output
        and "6 (Alan Turing): Moodle's worksheet says 2026-11-22 10:00:00, but the archive's name" in output
    )
    course.run_verb("report")
    book = read_gradebook(course)
    assert [(book[key]["late_days"], book[key]["time_from"]) for key in "567"] == [
        ("0", WORKSHEET), ("1", WORKSHEET), ("0", ""),
    ]  # fmt: skip


def test_an_extension_in_moodles_worksheet_counts(course: Course, tmp_path: Path) -> None:
    """The status is as mod/assign/gradingtable.php writes it. Moodle's late mark refers to the extension."""
    statuses = {
        5: "Submitted for grading -  - Extension granted until: Tuesday, 24 November 2026, 10:00 AM - ",
        6: "Submitted for grading - 1 day 2 hours late - Graded - Extension granted until: "
        "Tuesday, 24 November 2026, 10:00 AM",
        7: "No submission - Extension granted until: Tuesday, 24 November 2026, 10:00 AM - ",
        8: "Submitted for grading - 3 days late - ",
    }
    times = {5: "Tuesday, 24 November 2026, 9:59 AM", 6: "Wednesday, 25 November 2026, 12:00 PM", 7: "-",
             8: "Tuesday, 24 November 2026, 9:59 AM"}  # fmt: skip
    rows = [
        f'"Participant {at}",Student{at},s{at}@x,"{status}",,20.00,"{times[at]}"' for at, status in statuses.items()
    ]
    (roster := tmp_path / "worksheet.csv").write_text("\n".join([WORKSHEET_CSV.splitlines()[0], *rows, ""]))
    for at in (5, 6, 8):
        submit(course, f"Student{at}_{at}_assignsubmission_file_a.zip")
    course.grade("--roster", roster)
    output = course.run_verb("due", "--at", "2026-11-21T23:59+01:00", "--percent-per-day", "10").stdout
    assert (
        "2 of 4 are late.\nExtensions, according to the roster: 5 (Student5) until 2026-11-24 10:00:00+01:00, 6"
        in output
    )
    assert "Sources of the time disagree" not in output
    course.run_verb("report")
    assert {key: line["late_days"] for key, line in read_gradebook(course).items()} == {
        "5": "0", "6": "2", "7": "0", "8": "3",
    }  # fmt: skip
    assert "due at 2026-11-24 10:00" in (course.out / "feedback/6/feedback.txt").read_text()
    (roster := tmp_path / "later.csv").write_text("id,name,moodle id,extended until\ns5,Student5,5,2026-11-23T00:00Z\n")
    course.grade("--roster", roster)
    for verb in (("status",), ("history", "--student", "s5")):
        assert "s5 (Student5) until 2026-11-23 00:00:00+00:00" in course.run_verb(*verb).stdout


def test_an_extension_in_another_language_is_reported(tmp_path: Path, capsys) -> None:
    status = "Zur Bewertung abgegeben -  - Verlängerung bis: Dienstag, 24. November 2026, 10:00 - "
    (roster := tmp_path / "worksheet.csv").write_text(WORKSHEET_CSV.replace("Submitted for grading -  - ", status))
    assert [student.extended for student in read_roster(roster)] == ["", "", ""]
    assert (
        "the status of 1 student may contain an extension, but cannot be read, such as Zur" in capsys.readouterr().err
    )


def test_the_gradebook_says_that_a_files_date_does_not_count(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    course.run_verb("due", "--at", "2020-01-01T00:00+00:00")
    course.run_verb("report")
    assert read_gradebook(course)["al1"]["time_from"] == f"{FILE_DATE} (not counted as late)"
    course.run_verb("due", "--trust-file-dates")
    course.run_verb("report")
    assert read_gradebook(course)["al1"]["time_from"] == FILE_DATE


def test_a_hand_in_that_changes_under_an_override_is_reported(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    course.run_verb("override", "--student", "al1", "--points", "7", "--reason", "shown in person")
    course.grade()
    assert "changed under an override" not in (course.out / "report.html").read_text()
    course.hand_in("al1", "fine", "better")
    course.grade()
    page = (course.out / "report.html").read_text()
    assert "al1 handed in new files after the points were set by hand (shown in person)." in page
    course.run_verb("override", "--student", "al1", "--points", "8", "--reason", "shown again")
    course.run_verb("report")
    assert "changed under an override" not in (course.out / "report.html").read_text()


def test_an_extension_does_not_hide_a_late_mark_without_a_time(course: Course) -> None:
    submit(course, "ada_LATE_17_500_lab.zip")
    submit(course, "bob_18_501_lab.zip")
    course.grade()
    course.run_verb("due", "--at", "2026-11-21T23:59+01:00", "--percent-per-day", "10")
    extended = ("--student", "17", "--until", "2026-11-28T23:59+01:00", "--reason", "ill")
    question = "17 (ada): Canvas marks it late, but does not know the extension to 2026-11-28 23:59:00+01:00"
    assert question in course.run_verb("extend", *extended).stdout
    assert f"Late or not? {question}" in course.run_verb("due", "--percent-per-day", "10").stdout
    course.run_verb("report")
    page = (course.out / "report.html").read_text()
    assert "<td>late or not? Decide</td>" in page and "column `submitted`" in page


def test_a_known_time_decides_if_there_is_an_extension() -> None:
    assert measure(make_row(ON_TIME, NAMED_TIME, "Canvas late"), extended=True).doubt == ""
    assert measure(make_row(LATE, FILE_DATE, "Canvas not"), extended=True).doubt == ""
    assert measure(make_row(LATE, FILE_DATE, "Canvas late"), extended=True, trust_dates=True).days == 1
