"""Tests of submissions.py: the owner of each submission, and the choice between several submissions."""

from __future__ import annotations

import csv
import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.python.batch.ingest import columns, names, submissions
from grader.python.batch.ingest.entries import NO_SUCH_TIME
from grader.python.batch.ingest.notes import has_kind
from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.ingest.submission import DOUBTED_DATE, FILE_DATE, Submission
from grader.python.batch.ingest.submissions import NO_SUCH_DATE, find_submissions
from grader.python.batch.store.places import folder_name
from grader.python.common.console import UserError
from grader.python.journal.submit import name_part
from tests.python.batch.ingest.test_archive import make_tar


def find(folder: Path, roster: str = "") -> tuple[dict[str, Submission], list[str]]:
    students = []
    if roster:
        file = folder.with_name("roster.csv")
        file.write_text(roster)
        students = read_roster(file)
    submissions, left_out = find_submissions(folder, "lab", students)
    assert len({submission.key for submission in submissions}) == len(submissions)
    return {submission.key: submission for submission in submissions}, left_out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "handed in"
    path.mkdir()
    return path


def test_names_from_canvas_are_parsed(folder: Path) -> None:
    for name in ("lovelaceada_12_900_lab.zip", "turingalan_LATE_34_901_01_first.cu", "turingalan_34_902_02_second.cu"):
        (folder / name).write_text(name)
    submissions, left_out = find(folder)
    assert not left_out
    assert {key: len(submission.entries) for key, submission in submissions.items()} == {"12": 1, "34": 2}
    assert submissions["12"].name == "lovelaceada"
    assert "Canvas calls it late." in submissions["34"].notes


def test_names_from_an_anonymous_canvas_assignment_are_parsed(folder: Path) -> None:
    for name in ("anon_aB3xY_600000_lab1.zip", "LATE_anon_77123_600002_lab1.zip", "anon_12345_600005_lab1.zip",
                 "studenttest_99999_600100_lab1.zip"):  # fmt: skip
        (folder / name).write_text(name)
    submissions, left_out = find(folder)
    assert not left_out
    assert {key: (submission.marked_by, submission.marked_late) for key, submission in submissions.items()} == {
        "anon_aB3xY": ("Canvas", False), "anon_77123": ("Canvas", True), "anon_12345": ("Canvas", False),
        "99999": ("Canvas", False),
    }  # fmt: skip


def test_a_late_mark_counts_in_an_ambiguous_name(folder: Path) -> None:
    (folder / "malicemallory_LATE_2000_600001_x_7000_500_01_first.cu").write_text("late")
    ((key, submission),) = find(folder)[0].items()
    assert key == "malicemallory_2000" and "Canvas calls it late." in submission.notes


def test_a_course_systems_numbers_have_ascii_digits(folder: Path) -> None:
    (folder / "mallory_2000_600001_x_7\u0660\u0661_500_01_first.cu").write_text("x")
    assert list(find(folder)[0]) == ["2000"]


@pytest.mark.parametrize(
    "names",
    [
        ("c_5_100_01_first.cu", "c_5_101_02_second.cu"),
        ("c_5_200_hw.zip", "c_5_300_01_first.cu"),
        ("A_5_assignsubmission_file_01_first.cu", "A_5_assignsubmission_file_hw.zip"),
        ("c_5_99999_hw.zip", "c_5_100000_lab-al1-2026-11-20-120000.tar.gz"),
    ],
)
def test_all_files_of_a_hand_in_are_listed_from_old_to_new(folder: Path, names: tuple[str, ...]) -> None:
    for name in (*names, f"{names[0]}.jpg"):
        (folder / name).write_text(name)
    submissions, _ = find(folder)
    assert [entry.name for entry in submissions["5"].entries] == list(names) and not submissions["5"].notes


def test_text_that_is_typed_into_moodle_is_not_a_file(folder: Path) -> None:
    for name in (
        "Ada_5_assignsubmission_onlinetext_",
        "Ada_5_assignsubmission_file_",
        "Bob_6_assignsubmission_onlinetext_",
    ):
        (folder / name).mkdir()
    submissions, left_out = find(folder)
    assert list(submissions) == ["5"]
    assert left_out == ["Bob typed something into Moodle, and handed in no file."]


def test_names_from_moodle_are_parsed(folder: Path) -> None:
    (folder / "Ada M. Lovelace_12_assignsubmission_file_").mkdir()
    (folder / "Alan_Turing_34_assignsubmission_file_lab.zip").write_text("")
    submissions, _ = find(folder)
    assert {key: submission.name for key, submission in submissions.items()} == {
        "12": "Ada M. Lovelace",
        "34": "Alan_Turing",
    }


@pytest.mark.parametrize("time", ["2099-01-01-000000", "2026-13-45-999999"])
def test_an_invalid_or_future_time_makes_no_archive_the_latest(folder: Path, time: str) -> None:
    for name in ("lab-al1-2026-11-20-120000.tar.gz", f"lab-al1-{time}.tar.gz", f"lab-at2-{time}.tar.gz"):
        (folder / name).write_text(name)
    (folder / f"lab-AL1-{time}.tar.gz").write_text("another name of al1")
    submissions, _ = find(folder, "id\nal1\nat2\n")
    assert submissions["al1"].handed_in == "2026-11-20T12:00:00Z"
    assert f"lab-al1-{time}.tar.gz: {NO_SUCH_TIME}" in submissions["al1"].notes
    assert (submissions["at2"].known_by, submissions["at2"].handed_in[:4]) == (
        DOUBTED_DATE,
        str(datetime.now(UTC).year),
    )
    assert f"lab-at2-{time}.tar.gz: {NO_SUCH_TIME}" in submissions["at2"].notes


def test_the_newest_archive_in_moodles_folder_determines_time_and_authors(folder: Path) -> None:
    (ada := folder / "Ada_5_assignsubmission_file_").mkdir()
    for name in ("a.zip", "lab-al1-2026-11-20-120000.tar.gz", "lab-al1-2026-11-20-130000.tar.gz"):
        (ada / name).write_text("")
    (ada / "lab-al1-2099-11-20-130000.tar.gz").write_text("")
    (ada / "other-al1-2026-11-20-140000.tar.gz").write_text("")
    submissions, _ = find(folder)
    assert (submissions["5"].entries, submissions["5"].notes) == ([ada], [])
    assert (submissions["5"].handed_in, submissions["5"].known_by) == ("2026-11-20T13:00:00Z", "the archive's name")


def test_a_files_date_in_the_future_becomes_today_and_counts_last(folder: Path) -> None:
    for name in ("al1", "AL1"):
        (folder / name).mkdir()
        (folder / name / "01_first.cu").write_text(name)
    os.utime(folder / "AL1" / "01_first.cu", (4e9, 4e9))
    submissions, _ = find(folder, "id\nal1\n")
    assert submissions["al1"].entries == [folder / "al1"]
    (folder / "al1" / "01_first.cu").unlink()
    (folder / "al1").rmdir()
    submissions, _ = find(folder, "id\nal1\n")
    assert submissions["al1"].known_by == DOUBTED_DATE and NO_SUCH_DATE in submissions["al1"].notes
    assert submissions["al1"].handed_in[:4] == str(datetime.now(UTC).year)


def test_a_folders_date_is_that_of_its_newest_relevant_file(folder: Path) -> None:
    (folder / "al1").mkdir()
    later = dict.fromkeys(("report.pdf", "notes.cpp", "journal/records.jsonl"), 1.79e9)
    (folder / "al1/journal").mkdir()
    for name, time_s in {"01_first.cu": 1_700_000_000, "02_second.cu": 1_690_000_000, **later}.items():
        (folder / "al1" / name).write_text(name)
        os.utime(folder / "al1" / name, (time_s, time_s))
    os.utime(folder / "al1", (1_600_000_000, 1_600_000_000))
    submissions, _ = find(folder)
    assert (submissions["al1"].handed_in, submissions["al1"].known_by) == ("2023-11-14T22:13:20Z", FILE_DATE)


def test_a_folder_without_code_has_the_date_of_its_newest_file(folder: Path) -> None:
    (folder / "al1").mkdir()
    (folder / "al1" / "report.pdf").write_text("")
    os.utime(folder / "al1" / "report.pdf", (1_700_000_000, 1_700_000_000))
    assert find(folder)[0]["al1"].handed_in == "2023-11-14T22:13:20Z"


def test_the_latest_archive_of_make_submit_counts(folder: Path) -> None:
    for name in ("lab-al1-2026-11-20-120000.tar.gz", "lab-al1-2026-11-21-120000.tar.gz"):
        (folder / name).write_text(name)
    (folder / "lab-al1-at2-2026-11-19-120000.tar.gz").write_text("team")
    (folder / "other-al1-2026-11-21-120000.tar.gz").write_text("other")
    submissions, left_out = find(folder)
    assert [entry.name[8:18] for entry in submissions["al1"].entries] == ["2026-11-20", "2026-11-21"]
    assert submissions["al1"].handed_in == "2026-11-21T12:00:00Z"
    assert submissions["al1-at2"].members == ["al1-at2"]
    assert left_out == ["other-al1-2026-11-21-120000.tar.gz: belongs to the lab other, not lab."]


def test_an_archive_of_make_submit_keeps_its_time_in_canvas(folder: Path) -> None:
    (folder / "lovelaceada_12_900_lab-al1-2026-11-20-120000.tar.gz").write_text("")
    submissions, _ = find(folder)
    assert submissions["12"].handed_in == "2026-11-20T12:00:00Z"


def test_a_plain_folder_or_archive_belongs_to_the_student_in_its_name(folder: Path) -> None:
    (folder / "al1").mkdir()
    for name in ("at2.tar.gz", "cs3.zip", "readme.txt", ".DS_Store"):
        (folder / name).write_text("")
    (folder / "__MACOSX").mkdir()
    submissions, left_out = find(folder)
    assert set(submissions) == {"al1", "at2", "cs3"}
    assert len(left_out) == 1 and left_out[0].startswith("readme.txt: ")


@pytest.mark.parametrize(
    "name",
    ("al-1 (2).zip", "AL-1(1).TAR.GZ", "al-1.tar (1).gz", "al-1 - Copy.tgz", "al-1.zip.zip", "al-1 (1)/", "al-1 /"),
)
def test_a_copy_of_an_archive_or_folder_belongs_to_the_same_student(folder: Path, name: str) -> None:
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_text("")
    submissions, _ = find(folder, "id,name\nal,Alan\nal-1,Ada\n")
    assert list(submissions) == ["al-1"] and submissions["al-1"].own == ("al-1",)


def test_an_id_that_only_resembles_another_one_is_not_a_copy(folder: Path) -> None:
    for name in ("al-2.zip", "al-1-3.zip", "al (another).zip", "al.zip", "al copy.zip"):
        (folder / name).write_text("")
    submissions, _ = find(folder, "id,name\nal,Alan\nal-1,Ada\nal copy,Bo\n")
    assert {key: submission.own for key, submission in submissions.items()} == {
        "al": ("al",),
        "al copy": ("al copy",),
        "al-2": (),
        "al-1-3": (),
        "al (another)": (),
    }


def test_the_roster_names_students_and_teams(folder: Path) -> None:
    (folder / "lab-al_1-at2-2026-11-19-120000.tar.gz").write_text("")
    (folder / "hopper_77_900_lab.zip").write_text("")
    (folder / "nobody.zip").write_text("")
    roster = "Student,ID,SIS Login ID\n    Points Possible,,\nLovelace; Ada,al-1,ada\nTuring,at2,alan\n"
    submissions, _ = find(folder, roster + "Hopper,gh3,77\n")
    assert submissions["al-1+at2"].members == ["al-1", "at2"]
    assert submissions["al-1+at2"].name == "Lovelace; Ada, Turing"
    assert submissions["gh3"].name == "Hopper"
    assert submissions["nobody"].notes == ["Not on the roster."]


def test_a_student_whose_number_is_not_on_the_roster_is_found_by_name(folder: Path) -> None:
    (folder / "Emmy Noether_77123_assignsubmission_file_").mkdir()
    (folder / "lovelaceada_12_900_lab.zip").write_text("")
    (folder / "John Smith_5_assignsubmission_file_").mkdir()
    roster = "ID number,First name,Surname\n2001,Emmy,Noether\n2002,Lovelace,Ada\n2003,John,Smith\n2004,John,Smith\n"
    submissions, _ = find(folder, roster)
    assert submissions["2001"].notes == ["The roster has no 77123. The student was found by name: Emmy Noether."]
    assert submissions["2002"].members == ["2002"]
    assert "Two students are called John Smith: 2003, 2004." in submissions["5"].notes[0]


def test_the_roster_can_contain_the_time_of_a_hand_in(folder: Path) -> None:
    (folder / "lab-al1-2026-11-19-120000.tar.gz").write_text("")
    submissions, _ = find(folder, "id,submitted\nal1,2026-11-20T12:00+01:00\n")
    assert (submissions["al1"].handed_in, submissions["al1"].known_by) == ("2026-11-20T11:00:00Z", "the roster")


@pytest.mark.parametrize("first", ["", "sep=;\n", "sep=;\r\n"])
def test_two_names_of_one_student_are_one_submission(folder: Path, first: str) -> None:
    (folder / "al1").mkdir()
    os.utime(folder / "al1", (10**9, 10**9))
    (folder / "ada@example.edu").mkdir()
    submissions, _ = find(folder, f"{first}id;name;email\nal1;Ada;ada@example.edu\n")
    assert list(submissions) == ["al1"]
    assert submissions["al1"].entries[0].name == "ada@example.edu"
    assert "al1" in submissions["al1"].notes[0]


def test_moodles_worksheet_is_a_roster(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_bytes(b'\xef\xbb\xbfIdentifier,"Full name","Email address"\r\nParticipant 12,"Ada\nL",a@b.c\r\n')
    (student,) = read_roster(file)
    assert (student.id, student.name, student.aliases) == ("12", "Ada\nL", {"12", "a@b.c"})


@pytest.mark.parametrize(
    ("status", "cell", "expected", "late"),
    [
        ("Submitted - ", "Friday, 20 November 2026, 10:00 AM", "2026-11-20T10:00:00", False),
        ("Submitted - 2 days late", "Friday, November 20, 2026, 3:00 PM", "2026-11-20T15:00:00", True),
        ("Submitted - ", "Friday, 20 November 2026, 15:00", "2026-11-20T15:00:00", False),
        ("Abgegeben - 2 Tage verspätet - ", "Freitag, 20. November 2026, 15:00", "", None),
        ("Submitted - 2 days late - ", "2026-11-20 15:00", "", True),
        ("No submission - ", "-", "", None),
    ],
)
def test_a_worksheets_time_is_read_or_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: str, cell: str, expected: str, late: bool | None
) -> None:
    (file := tmp_path / "worksheet.csv").write_text(
        f'Identifier,Status,"Last modified (submission)"\n"Participant 5","{status}","{cell}"\n'
    )
    (student,) = read_roster(file)
    assert (student.modified, student.marked_late) == (expected, late)
    assert (f"1 time of hand-ins cannot be read, such as {cell}" in capsys.readouterr().err) == (
        not expected and cell != "-"
    )


@pytest.mark.parametrize(
    ("text", "message"), [("name\nAda\n", "no column id"), ("id\n1\n1\n", ":3: the id 1"), ("", "id")]
)
def test_an_invalid_roster_is_refused_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(UserError, match=message):
        read_roster(tmp_path / "roster.csv")


def test_assignment_titles_are_not_columns_of_the_roster(tmp_path: Path) -> None:
    (file := tmp_path / "roster.csv").write_text(
        "Student,ID,SIS Login ID,Section,Name (55),Email (3),ID 2 (56),Submitted? (57)\n"
        "    Points Possible,,,,10,10,10,10\n"
        '"Lovelace, Ada",7001,al1,A,9,8,7,-\n"Stone, Bob",7002,bo1,A,9,8,7,6\n'
    )
    assert [(student.id, student.name, sorted(student.aliases), student.numbers) for student in read_roster(file)] == [
        ("7001", "Lovelace, Ada", ["7001", "al1"], {"7001"}),
        ("7002", "Stone, Bob", ["7002", "bo1"], {"7002"}),
    ]


def test_an_empty_cell_is_not_an_id(tmp_path: Path) -> None:
    (file := tmp_path / "roster.csv").write_text("id,email,submitted\nal1,n/a,-\nbo2,N/A,\ncy3,-,\n")
    assert [student.aliases for student in read_roster(file)] == [{"al1"}, {"bo2"}, {"cy3"}]


def test_a_time_in_the_roster_needs_a_time_zone(tmp_path: Path) -> None:
    (file := tmp_path / "roster.csv").write_text("id,submitted\nal1,2026-11-21T23:30+01:00\nbo2,2026-11-21 23:30\n")
    with pytest.raises(UserError, match=r"roster.csv:3: '2026-11-21 23:30' has no time zone"):
        read_roster(file)
    file.write_text("id,submitted\nal1,2026-11-21T23:30+01:00\n")
    assert [student.handed_in for student in read_roster(file)] == ["2026-11-21T22:30:00Z"]


def test_a_students_long_text_does_not_delay_reading_the_roster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Composition takes quadratic time in the length of a run of accents, so only short texts are composed."""
    lengths: list[int] = []
    compose = columns.compose
    monkeypatch.setattr(columns, "compose", lambda text: lengths.append(len(text)) or compose(text))
    csv.field_size_limit(131_072)
    long_text = "\u0315\u0300" * 200_000
    (file := tmp_path / "roster.csv").write_text(
        f'Identifier,Full name,Online text\nParticipant 7,Zoe\u0308,"{long_text}"\nParticipant 8,{long_text},\n'
    )
    zoe, second = read_roster(file)
    assert (zoe.id, zoe.name, second.id) == ("7", "Zo\xeb", "8")
    assert max(lengths) <= 300


def test_ids_are_recognised_in_the_form_that_make_submit_writes(folder: Path) -> None:
    for ids in ("a_uni.edu", "b_c-d_e"):
        (folder / f"lab-{ids}-2026-11-19-120000.tar.gz").write_text(ids)
    submissions, _ = find(folder, "id,email\n1,a@uni.edu\nb-c,\nd e,\n")
    assert {key: submission.members for key, submission in submissions.items()} == {
        "1": ["1"],
        "b-c+d e": ["b-c", "d e"],
    }


def test_different_keys_get_different_folder_names() -> None:
    keys = [
        "al1",
        "AL1",
        "a/l1",
        "a l1",
        "../al1",
        "al1" * 50,
        "al1" * 51,
        "\u00e5l1",
        "a+b",
        "",
        ".",
        "..",
        "-rf",
        "_rf",
    ]
    names = [folder_name(key) for key in keys]
    assert names[0] == "al1"
    assert len({name.casefold() for name in names}) == len(keys)
    assert all("/" not in name and name.strip(".") and not name.startswith("-") for name in names)


def test_different_files_have_different_fingerprints(tmp_path: Path) -> None:
    """The cases are contents that include a name, files under other names, and files moved to another folder."""
    trees: tuple[dict[str, bytes], ...] = (
        {"a.cu": b"1", "b.cu": b"2"},
        {"a.cu": b"1b.cu\0" + b"2"},
        {"a.cu": b"1", "c.cu": b"2"},
        {"x/a.cu": b"1", "b.cu": b"2"},
        {"x/a.cu": b"1", "x/b.cu": b"2"},
        {"a.cu": b"", "b.cu": b"12"},
        {"a.cu": b"1", "b.cu/2.cu": b""},
    )
    fingerprints = set()
    for number, tree in enumerate(trees):
        for name, content in tree.items():
            (file := tmp_path / str(number) / "al1" / name).parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        fingerprints.add(submissions.fingerprint([tmp_path / str(number) / "al1"]))
    assert len(fingerprints) == len(trees)
    (tmp_path / "0").rename(tmp_path / "moved")
    assert submissions.fingerprint([tmp_path / "moved/al1"]) in fingerprints


@pytest.mark.parametrize("ids", [("al_12", "al-12"), ("m_ller", "m\xfcller"), ("anna", "anna_"), ("dne", "\xc5dne")])
def test_an_archive_whose_name_fits_two_students_belongs_to_neither(folder: Path, ids: tuple[str, str]) -> None:
    """`make submit` writes both ids in the same form."""
    form = name_part(ids[0])
    for second in (1, 2):
        (folder / f"lab-{form}-2025-11-20-09000{second}.tar.gz").write_bytes(b"%d" % second)
    (folder / f"lab-bo3-{form}-2025-11-20-100000.tar.gz").touch()
    roster = f"id\n{ids[0]}\n{ids[1]}\nbo3\n"
    submissions, _ = find(folder, roster)
    assert len(submissions) == 3 and not any(submission.own for submission in submissions.values())
    assert all(has_kind(submission.notes, "of_several") for submission in submissions.values())
    (folder / ids[1]).mkdir()
    (folder / f"lab-{form}-2025-11-20-090002.tar.gz").rename(folder / ids[1] / f"lab-{form}-2025-11-20-090002.tar.gz")
    assert find(folder, roster)[0][ids[1]].own == (ids[1],)


def test_the_manifest_decides_between_two_students(folder: Path) -> None:
    """The manifest decides if the name fits two students; a manifest with other students than the name is ignored."""
    for at, ids in enumerate((["al-12"], ["al_12"], ["bo3", "al-12"], ["eve"])):
        form = "-".join(map(name_part, ids if ids != ["eve"] else ["al-12"]))
        manifest = json.dumps({"authors": [{"name": "A B", "id": student} for student in ids]}).encode()
        archive = gzip.compress(make_tar(("lab/manifest.json", manifest), ("lab/01_first.cu", b"1")))
        (folder / f"lab-{form}-2025-11-20-09000{at}.tar.gz").write_bytes(archive)
    submissions, _ = find(folder, "id\nal_12\nal-12\nbo3\neve\n")
    assert {key: submission.own for key, submission in submissions.items()} == {
        "al-12": ("al-12",),
        "al_12": ("al_12",),
        "bo3+al-12": ("bo3", "al-12"),
        "lab-al_12-2025-11-20-090003.tar.gz": (),
    }


def test_the_labs_name_may_have_capitals(folder: Path) -> None:
    (folder / "Lab-al1-2025-11-20-100000.tar.gz").touch()
    (folder / "at2_7_1_LAB-at2-2025-11-20-100000.tar.gz").touch()
    submissions, left_out = find(folder)
    assert set(submissions) == {"al1", "7"} and not left_out


def test_a_team_is_not_a_student_whose_id_equals_the_joined_ids(folder: Path) -> None:
    (folder / "lab-al-12-2025-11-20-100000.tar.gz").touch()
    (folder / "lab-al_12-2025-11-20-090000.tar.gz").touch()
    submissions, _ = find(folder, "id\nal\n12\nal-12\n")
    assert {key: len(submission.entries) for key, submission in submissions.items()} == {"al+12": 1, "al-12": 1}


def test_a_partners_name_that_fits_two_students_credits_neither(folder: Path) -> None:
    (folder / "bo_7_1_lab-bo1-al_12-2025-11-20-100000.tar.gz").touch()
    submissions, _ = find(folder, "id,Canvas ID\nbo1,7\nal_12,8\nal-12,9\n")
    assert submissions["bo1"].members == ["bo1"]


def test_a_fingerprint_reads_at_most_the_size_limit_of_a_hand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    hash_content = submissions.hash_content
    monkeypatch.setattr(submissions, "hash_content", lambda part: sizes.append(part.size) or hash_content(part))
    for number in range(30):
        with (tmp_path / f"{number:02}.cu").open("wb") as file:
            file.truncate(9_000_000 if number < 20 else 25_000_000)
    before = submissions.fingerprint([tmp_path])
    assert sizes == [9_000_000] * (submissions.MAX_BYTES // 9_000_000)
    for name in ("00.cu", "19.cu", "29.cu"):
        with (tmp_path / name).open("r+b") as file:
            file.write(b"x")
        changed = submissions.fingerprint([tmp_path])
        assert changed != before
        before = changed


def test_opened_folders_count_towards_the_limit_of_a_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_STEPS", 40)
    opened: list[str] = []
    monkeypatch.setattr(submissions, "hash_content", lambda part: opened.append(part.name) or bytes(32))
    (deep := tmp_path / "/".join("abcdefghi")).mkdir(parents=True)
    for number in range(10):
        (deep / f"{number}.cu").write_text("")
    submissions.fingerprint([tmp_path])
    assert len(opened) == 4


def test_the_folder_of_another_batch_is_not_a_hand_in(folder: Path) -> None:
    for name in ("al1", "old batch", "Ada Lovelace_5_assignsubmission_file_"):
        (folder / name).mkdir()
        (folder / name / "01_first.cu").write_text(name)
    for name in ("old batch", "Ada Lovelace_5_assignsubmission_file_"):
        (folder / name / "batch.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    (folder / "al1/batch.sqlite").write_text("not a database")
    submissions, left_out = find(folder)
    assert set(submissions) == {"al1", "5"}  # a course system names only hand-ins
    assert left_out == ["old batch is the folder of another batch, not a hand-in: batch.sqlite is in it."]


def test_names_are_not_compared_with_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student may upload hundreds of files whose names have several readings."""
    names_read: list[str] = []
    read_canvas = names.read_canvas
    monkeypatch.setattr(names, "read_canvas", lambda name: names_read.append(name) or read_canvas(name))
    for number in range(20):
        (tmp_path / f"malice_7013_{500000 + number}_7013_999_{number}_01_first.cu").write_text("x")
    assert len(find_submissions(tmp_path, "lab", [])[0]) == 1
    assert len(names_read) <= 20
