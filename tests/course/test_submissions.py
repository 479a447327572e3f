"""grader/course/batch/submissions.py: whose is what, and which of several counts."""

from __future__ import annotations

import calendar
import csv
import io
import os
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.course.batch import archive, submissions
from grader.course.batch.places import folder_name
from grader.course.batch.submissions import (
    DOUBTED_DATE,
    NO_SUCH_DATE,
    NO_SUCH_TIME,
    Submission,
    find_submissions,
    pick_stages,
    read_roster,
)
from grader.journal.console import UserError

STAGES = ("01_first", "02_second")


def find(folder: Path, roster: str = "") -> tuple[dict[str, Submission], list[str]]:
    students = []
    if roster:
        file = folder.with_name("roster.csv")
        file.write_text(roster)
        students = read_roster(file)
    found, strangers = find_submissions(folder, "lab", students)
    assert len({one.key for one in found}) == len(found)
    return {one.key: one for one in found}, strangers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "handed in"
    made.mkdir()
    return made


def test_canvas_names(folder: Path) -> None:
    for name in ("lovelaceada_12_900_lab.zip", "turingalan_LATE_34_901_01_first.cu", "turingalan_34_902_02_second.cu"):
        (folder / name).write_text(name)
    found, strangers = find(folder)
    assert not strangers
    assert {key: len(one.entries) for key, one in found.items()} == {"12": 1, "34": 2}
    assert found["12"].name == "lovelaceada"
    assert "Canvas calls it late." in found["34"].notes


@pytest.mark.parametrize(
    ("names", "used"),
    [
        (("c_5_100_01_first.cu", "c_5_200_01_first.cu"), ["c_5_200_01_first.cu"]),
        (("c_5_100_01_first.cu", "c_5_200_01_first-1.cu"), ["c_5_200_01_first-1.cu"]),
        (("c_5_100_01_first.cu", "c_5_101_02_second.cu"), ["c_5_100_01_first.cu", "c_5_101_02_second.cu"]),
        (("c_5_100_hw.zip", "c_5_200_01_first.cu"), ["c_5_200_01_first.cu"]),
        (("c_5_100_01_first.cu", "c_5_200_hw.zip"), ["c_5_200_hw.zip"]),
        (("c_5_100_01_first.cu", "c_5_200_photo.jpg"), ["c_5_100_01_first.cu"]),
        (("A_5_assignsubmission_file_hw.zip", "A_5_assignsubmission_file_01_first.cu"), None),  # at one time: both
    ],
)
def test_what_was_handed_in_last_counts(folder: Path, names: tuple[str, ...], used: list[str] | None) -> None:
    for name in names:
        (folder / name).write_text(name)
    found, _ = find(folder)
    assert sorted(entry.name for entry in found["5"].entries) == (sorted(names) if used is None else used)
    left_out = [name for name in names if used is not None and name not in used and not name.endswith(".jpg")]
    assert found["5"].notes == [f"Not used, because a later one is there: {name}" for name in left_out]


def test_what_is_typed_into_moodle_is_no_file(folder: Path) -> None:
    for name in (
        "Ada_5_assignsubmission_onlinetext_",
        "Ada_5_assignsubmission_file_",
        "Bob_6_assignsubmission_onlinetext_",
    ):
        (folder / name).mkdir()
    found, strangers = find(folder)
    assert list(found) == ["5"]
    assert strangers == ["Bob typed something into Moodle, and handed in no file."]


def test_moodle_names(folder: Path) -> None:
    (folder / "Ada M. Lovelace_12_assignsubmission_file_").mkdir()
    (folder / "Alan_Turing_34_assignsubmission_file_lab.zip").write_text("")
    found, _ = find(folder)
    assert {key: one.name for key, one in found.items()} == {"12": "Ada M. Lovelace", "34": "Alan_Turing"}


OLD, NEW = (2026, 11, 20, 10, 0, 0), (2026, 11, 20, 12, 0, 0)
UNKNOWN = (1980, 1, 1, 0, 0, 0)


def write_archive(file: Path, *times: tuple[int, ...]) -> None:
    """A zip or tar of one file a time."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w") as archive:
            for number, time in enumerate(times):
                archive.writestr(zipfile.ZipInfo(f"0{number}_first.cu", time), file.name)
        return
    with tarfile.open(file, "w:gz") as archive:
        for number, time in enumerate(times):
            member = tarfile.TarInfo(f"0{number}_first.cu")
            member.mtime = calendar.timegm(time)
            archive.addfile(member, io.BytesIO())


@pytest.mark.parametrize(
    ("archives", "note"),
    [
        ({"a.zip": [OLD, NEW], "b.zip": [OLD]}, "a.zip counts: the newest file is in it. Not used: b.zip"),
        ({"a.tgz": [OLD], "b.tgz": [NEW]}, "b.tgz counts: the newest file is in it. Not used: a.tgz"),
        (
            {"lab-al1-2026-11-20-120000.tar.gz": [NEW], "lab-al1-2026-11-20-130000.tar.gz": [OLD]},
            "lab-al1-2026-11-20-130000.tar.gz counts: the time in its name is the latest. Not used: "
            "lab-al1-2026-11-20-120000.tar.gz",
        ),
        (
            {"a.zip": [OLD], "other-al1-2026-11-20-130000.tar.gz": [NEW]},
            "a.zip counts: the others' names say another lab. Not used: other-al1-2026-11-20-130000.tar.gz",
        ),
        ({"a.zip": [NEW], "b.zip": [NEW]}, ""),
        ({"a.zip": [NEW], "b.zip": [UNKNOWN]}, ""),
        ({"a.zip": [NEW], "b.zip": []}, ""),
        ({"a.zip": [OLD], "b.tgz": [NEW]}, ""),  # a zip's times are of no zone
        ({"a.zip": [OLD, NEW]}, ""),
    ],
)
def test_of_archives_in_one_folder_the_latest_counts(folder: Path, archives: dict[str, Any], note: str) -> None:
    own = folder / "Ada_5_assignsubmission_file_"
    own.mkdir()
    for name, times in archives.items():
        write_archive(own / name, *times)
    found, _ = find(folder)
    used = note.partition(" counts")[0]
    assert (found["5"].entries, found["5"].notes) == ([own / used], [note] if note else [])
    assert (found["5"].known_by == "the archive's name") == used.startswith("lab-")
    (own / "01_first.cu.txt").write_text("")  # code beside them counts
    assert find(folder)[0]["5"].entries == [own]


def test_a_damaged_archive_beside_another_leaves_the_choice(folder: Path) -> None:
    own = folder / "Ada_5_assignsubmission_file_"
    own.mkdir()
    write_archive(own / "a.zip", OLD)
    (own / "b.zip").write_bytes(b"PK")
    assert find(folder)[0]["5"].entries == [own]


@pytest.mark.parametrize("time", ["2099-01-01-000000", "2026-13-45-999999"])
def test_an_invalid_or_future_time_makes_no_archive_the_latest(folder: Path, time: str) -> None:
    for name in ("lab-al1-2026-11-20-120000.tar.gz", f"lab-al1-{time}.tar.gz", f"lab-at2-{time}.tar.gz"):
        (folder / name).write_text(name)
    (folder / f"lab-AL1-{time}.tar.gz").write_text("another name of al1")
    found, _ = find(folder, "id\nal1\nat2\n")
    assert [path.name for path in found["al1"].entries] == ["lab-al1-2026-11-20-120000.tar.gz"]
    assert f"lab-al1-{time}.tar.gz: {NO_SUCH_TIME}" in found["al1"].notes
    assert (found["at2"].known_by, found["at2"].handed_in[:4]) == (DOUBTED_DATE, str(datetime.now(UTC).year))
    assert f"lab-at2-{time}.tar.gz: {NO_SUCH_TIME}" in found["at2"].notes


def test_an_archive_in_a_folder_is_not_chosen_by_a_time_in_the_future(folder: Path) -> None:
    own = folder / "Ada_5_assignsubmission_file_"
    own.mkdir()
    write_archive(own / "lab-al1-2026-11-20-120000.tar.gz", NEW)
    write_archive(own / "lab-al1-2099-11-20-120000.tar.gz", OLD)
    assert [path.name for path in find(folder)[0]["5"].entries] == ["lab-al1-2026-11-20-120000.tar.gz"]
    write_archive(own / "lab-al1-2099-11-20-120000.tar.gz", (2098, 1, 1, 0, 0, 0))
    assert find(folder)[0]["5"].entries == [own]


def test_a_files_date_in_the_future_becomes_today_and_counts_last(folder: Path) -> None:
    for name in ("al1", "AL1"):
        (folder / name).mkdir()
        (folder / name / "01_first.cu").write_text(name)
    os.utime(folder / "AL1", (4e9, 4e9))
    found, _ = find(folder, "id\nal1\n")
    assert found["al1"].entries == [folder / "al1"]
    (folder / "al1" / "01_first.cu").unlink()
    (folder / "al1").rmdir()
    found, _ = find(folder, "id\nal1\n")
    assert found["al1"].known_by == DOUBTED_DATE and NO_SUCH_DATE in found["al1"].notes
    assert found["al1"].handed_in[:4] == str(datetime.now(UTC).year)


def test_names_of_make_submit_and_the_latest_counts(folder: Path) -> None:
    for name in ("lab-al1-2026-11-20-120000.tar.gz", "lab-al1-2026-11-21-120000.tar.gz"):
        (folder / name).write_text(name)
    (folder / "lab-al1-at2-2026-11-19-120000.tar.gz").write_text("team")
    (folder / "other-al1-2026-11-21-120000.tar.gz").write_text("other")
    found, strangers = find(folder)
    assert found["al1"].entries[0].name == "lab-al1-2026-11-21-120000.tar.gz"
    assert found["al1"].handed_in == "2026-11-21T12:00:00Z"
    assert "lab-al1-2026-11-20-120000.tar.gz" in found["al1"].notes[0]
    assert found["al1-at2"].members == ["al1-at2"]
    assert strangers == ["other-al1-2026-11-21-120000.tar.gz: of the lab other, not lab."]


def test_a_canvas_upload_of_make_submit_keeps_its_time(folder: Path) -> None:
    (folder / "lovelaceada_12_900_lab-al1-2026-11-20-120000.tar.gz").write_text("")
    found, _ = find(folder)
    assert found["12"].handed_in == "2026-11-20T12:00:00Z"


def test_plain_folders_and_archives(folder: Path) -> None:
    (folder / "al1").mkdir()
    for name in ("at2.tar.gz", "cs3.zip", "readme.txt", ".DS_Store"):
        (folder / name).write_text("")
    (folder / "__MACOSX").mkdir()
    found, strangers = find(folder)
    assert set(found) == {"al1", "at2", "cs3"}
    assert len(strangers) == 1 and strangers[0].startswith("readme.txt: ")


def test_the_roster_names_students_and_teams(folder: Path) -> None:
    (folder / "lab-al-1-at2-2026-11-19-120000.tar.gz").write_text("")
    (folder / "hopper_77_900_lab.zip").write_text("")
    (folder / "nobody.zip").write_text("")
    roster = "Student,ID,SIS Login ID\n    Points Possible,,\nLovelace; Ada,al-1,ada\nTuring,at2,alan\n"
    found, _ = find(folder, roster + "Hopper,gh3,77\n")
    assert found["al-1+at2"].members == ["al-1", "at2"]
    assert found["al-1+at2"].name == "Lovelace; Ada, Turing"
    assert found["gh3"].name == "Hopper"
    assert found["nobody"].notes == ["Not on the roster."]


def test_who_has_another_number_in_the_archive_is_found_by_name(folder: Path) -> None:
    (folder / "Emmy Noether_77123_assignsubmission_file_").mkdir()
    (folder / "lovelaceada_12_900_lab.zip").write_text("")
    (folder / "John Smith_5_assignsubmission_file_").mkdir()
    roster = "ID number,First name,Surname\n2001,Emmy,Noether\n2002,Lovelace,Ada\n2003,John,Smith\n2004,John,Smith\n"
    found, _ = find(folder, roster)
    assert found["2001"].notes == ["The roster has no 77123: found by the name, Emmy Noether."]
    assert found["2002"].members == ["2002"]
    assert found["5"].notes == ["Not on the roster."]  # two have that name


def test_the_roster_may_say_when_it_was_handed_in(folder: Path) -> None:
    (folder / "lab-al1-2026-11-19-120000.tar.gz").write_text("")
    found, _ = find(folder, "id,submitted\nal1,2026-11-20T12:00+01:00\n")
    assert (found["al1"].handed_in, found["al1"].known_by) == ("2026-11-20T11:00:00Z", "the roster")


def test_two_names_of_one_student_are_one_submission(folder: Path) -> None:
    (folder / "al1").mkdir()
    os.utime(folder / "al1", (10**9, 10**9))
    (folder / "ada@example.edu").mkdir()
    found, _ = find(folder, "id;name;email\nal1;Ada;ada@example.edu\n")
    assert list(found) == ["al1"]
    assert found["al1"].entries[0].name == "ada@example.edu"
    assert "al1" in found["al1"].notes[0]


def test_moodles_worksheet_is_a_roster(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_bytes(b'\xef\xbb\xbfIdentifier,"Full name","Email address"\r\nParticipant 12,"Ada\nL",a@b.c\r\n')
    (student,) = read_roster(file)
    assert (student.id, student.name, student.aliases) == ("12", "Ada\nL", {"12", "a@b.c"})


@pytest.mark.parametrize(
    ("text", "says"), [("name\nAda\n", "no column id"), ("id\n1\n1\n", ":3: the id 1"), ("", "id")]
)
def test_a_bad_roster_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(UserError, match=says):
        read_roster(tmp_path / "roster.csv")


def test_a_text_that_a_student_typed_delays_no_roster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composing takes time quadratic in the length of a run of accents; only short texts are composed."""
    lengths: list[int] = []
    compose = submissions.compose
    monkeypatch.setattr(submissions, "compose", lambda text: lengths.append(len(text)) or compose(text))
    csv.field_size_limit(131_072)
    typed = "\u0315\u0300" * 200_000
    (file := tmp_path / "roster.csv").write_text(
        f'Identifier,Full name,Online text\nParticipant 7,Zoe\u0308,"{typed}"\nParticipant 8,{typed},\n'
    )
    zoe, other = read_roster(file)
    assert (zoe.id, zoe.name, other.id) == ("7", "Zo\xeb", "8")
    assert max(lengths) <= 300


def test_the_file_in_the_labs_folder_is_picked() -> None:
    files = {"old/01_first.cu": b"old", "x/lab/01_first.cu": b"new", "02_SECOND-3.cu": b"2", "03_third.cu": b"3"}
    picked, notes = pick_stages(files, "lab", STAGES)
    assert picked == {"01_first": b"new", "02_second": b"2"}
    assert notes == ["x/lab/01_first.cu was graded; there were also old/01_first.cu"]


def test_a_whole_kit_is_graded_by_the_students_work() -> None:
    files = {"kit/starter/lab/01_first.cu": b"old", "kit/work/lab/01_first.cu": b"new", "02_second.cu.txt": b"2"}
    assert pick_stages(files, "lab", STAGES) == ({"01_first": b"new", "02_second": b"2"}, [])


def test_ids_are_known_as_make_submit_writes_them(folder: Path) -> None:
    for ids in ("a_uni.edu", "b-c-d_e"):
        (folder / f"lab-{ids}-2026-11-19-120000.tar.gz").write_text(ids)
    found, _ = find(folder, "id,email\n1,a@uni.edu\nb-c,\nd e,\n")
    assert {key: one.members for key, one in found.items()} == {"1": ["1"], "b-c+d e": ["b-c", "d e"]}


def test_names_of_folders_differ_wherever_keys_do() -> None:
    keys = ["al1", "AL1", "a/l1", "a l1", "../al1", "al1" * 50, "al1" * 51, "\u00e5l1", "a+b", "", ".", ".."]
    names = [folder_name(key) for key in keys]
    assert names[0] == "al1"
    assert len({name.casefold() for name in names}) == len(keys)
    assert all("/" not in name and name.strip(".") for name in names)


def test_the_times_of_many_archives_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "newest_time", lambda data: pytest.fail("it was read"))
    (tmp_path / "eve").mkdir()
    for number in range(archive.MOST_COMPARED + 1):
        (tmp_path / "eve" / f"{number}.zip").write_bytes(b"PK")
    found, _ = find_submissions(tmp_path, "lab", [])
    assert [submission.key for submission in found] == ["eve"]


def test_the_times_of_large_archives_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 25_000)
    read: list[bytes] = []
    monkeypatch.setattr(archive, "newest_time", lambda data: read.append(data) or (1,))
    (tmp_path / "eve").mkdir()
    for number in range(8):
        with zipfile.ZipFile(tmp_path / "eve" / f"{number}.zip", "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("a.bin", bytes(10_000))
    find_submissions(tmp_path, "lab", [])
    assert len(read) == 2


def test_other_files_never_have_the_fingerprint_of_earlier_ones(tmp_path: Path) -> None:
    """Contents that hold a name, the same files under other names, and files moved to another folder."""
    trees: tuple[dict[str, bytes], ...] = (
        {"a": b"1", "b": b"2"},
        {"a": b"1b\0" + b"2"},
        {"a": b"1", "c": b"2"},
        {"x/a": b"1", "b": b"2"},
        {"x/a": b"1", "x/b": b"2"},
        {"a": b"", "b": b"12"},
        {"a": b"1", "b/2": b""},
    )
    made = set()
    for number, tree in enumerate(trees):
        for name, content in tree.items():
            (file := tmp_path / str(number) / "al1" / name).parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        made.add(submissions.fingerprint([tmp_path / str(number) / "al1"]))
    assert len(made) == len(trees)
    (tmp_path / "0").rename(tmp_path / "moved")
    assert submissions.fingerprint([tmp_path / "moved/al1"]) in made
