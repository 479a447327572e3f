"""Tests of grader/python/batch/ingest/unpack.py: archives with all hand-ins, as Canvas and Moodle provide them."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.python.batch.ingest import unpack as unpacking
from grader.python.batch.ingest.archive import MAX_FILES, MEANINGS
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.ingest.unpack import unpack
from grader.python.common.console import UserError
from tests.python.batch.batches import LAB, STAGES, Course
from tests.python.batch.ingest.test_archive import (
    HOSTILE,
    make_tar,
    make_zip,
    many_members,
    negative_size,
    old_file,
    overlapping,
    special,
)

FIRST, SECOND = (f"{stage}.cu" for stage in STAGES)
ADA = ("lovelaceada_12_900_lab.zip", make_zip((f"work/{FIRST}", b"fine"), (f"work/{SECOND}", b"fine")))
ALAN = ("turingalan_LATE_34_901_01_first.cu", b"fine")
GRACE = (f"Grace Hopper_56_assignsubmission_file_/{FIRST}", b"fine")


def hand_in_archive(course: Course, *members: tuple[str, bytes], name: str = "submissions.zip") -> None:
    """Replace the folder of submissions with an archive that contains all hand-ins."""
    course.handed_in = course.handed_in.with_name(name)
    course.handed_in.write_bytes(make_zip(*members))


def unpack_bytes(folder: Path, data: bytes) -> tuple[set[str], list[str]]:
    """Return the names of all files, and the sentences about files that were left out."""
    file = folder / "submissions.zip"
    file.write_bytes(data)
    unpacked, left_out = unpack(file, folder / "out", LAB)
    return {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}, left_out


@pytest.mark.parametrize("name", ["{}", "{}.zip", f"{LAB}-{{}}-2026-11-20-100000.tar.gz"])
def test_hand_ins_in_a_subfolder_may_be_named_by_the_rosters_ids(course: Course, name: str) -> None:
    for student in ("al1", "at2"):
        inner = course.handed_in / "all" / name.format(student)
        inner.parent.mkdir(exist_ok=True)
        if name == "{}":
            inner.mkdir()
            (inner / "01_first.cu").write_text(student)
        else:
            inner.write_bytes(make_zip((f"{LAB}/01_first.cu", student.encode())))
    (roster := course.root / "roster.csv").write_text("id,login\nAl1,\nat2,x\n")
    assert f"The hand-ins are in {course.handed_in / 'all'}." in course.grade("--roster", roster).stdout
    assert course.statuses() == {"Al1": "missing_stages", "at2": "missing_stages"}
    roster.write_text("id,login\nal1,all\nat2,\n")  # `all` is now a student's login, so the folder is a hand-in
    assert "The hand-ins are in" not in course.grade("--roster", roster).stdout


def test_a_single_folder_that_cannot_be_read_is_a_hand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "al1").mkdir()

    def list_top(folder: Path) -> list[Path]:
        if folder == tmp_path:
            return [tmp_path / "al1"]
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(unpacking, "list_visible", list_top)
    assert unpacking.find_extracted(tmp_path, []) == tmp_path


@pytest.mark.parametrize("wrapper", ["submissions (1)", "CS101-Lab 1-1234"])
def test_an_extracted_download_can_be_in_its_own_folder(course: Course, wrapper: str) -> None:
    download = course.handed_in.with_name("extracted") / wrapper
    download.mkdir(parents=True)
    for name, data in (ADA, ALAN):
        (download / name).write_bytes(data)
    course.handed_in = download.parent
    result = course.grade()
    assert f"The hand-ins are in {download}." in result.stdout
    assert set(course.statuses()) == {"12", "34"}


def test_a_zip_of_canvas_or_moodle_is_graded_like_a_folder(course: Course) -> None:
    hand_in_archive(course, ADA, ALAN, GRACE)
    result = course.grade()
    assert result.returncode == 0, result.stderr
    assert course.statuses() == {"12": "graded", "34": "missing_stages", "56": "missing_stages"}
    notes = {row.key: row.notes for row in course.database().rows()}
    assert "Canvas calls it late." in notes["34"]


@pytest.mark.parametrize("name", [".NET_56_assignsubmission_file_", "__MACOSX_56_assignsubmission_file_"])
@pytest.mark.parametrize("ending", [f"/{FIRST}", "lab.zip", FIRST])
def test_a_group_whose_name_begins_like_a_hidden_file_is_not_ignored(course: Course, name: str, ending: str) -> None:
    content = make_zip((FIRST, b"fine")) if ending == "lab.zip" else b"fine"
    hand_in_archive(course, ADA, (name + ending, content), (f"._{name}{ending}", b"of macOS"))
    course.grade()
    assert course.statuses() == {"12": "graded", "56": "missing_stages"}


def test_a_second_run_continues_without_unpacking_again(course: Course) -> None:
    hand_in_archive(course, ADA, ("turingalan_34_901_01_first.cu", b"sleep 300"))
    process = course.start()
    course.wait_for("34", process)
    while course.statuses()["12"] != "graded" and process.poll() is None:
        time.sleep(0.02)
    course.kill(process)
    hand_in_archive(course, ADA, ("turingalan_34_901_01_first.cu", b"fine"))
    assert "Unpacking" in course.grade().stdout
    result = course.grade()
    assert "Unpacking" not in result.stdout and not result.stderr
    assert course.log("end").count("12") == course.log("end").count("34") == 1


def test_a_partly_unpacked_download_is_not_used(course: Course) -> None:
    hand_in_archive(course, ADA)
    course.grade()
    (place,) = (course.out / "handed-in").iterdir()
    half = place.with_suffix(".part")
    place.rename(half)
    (half / "files" / ADA[0]).unlink()
    result = course.grade()
    assert "Unpacking" in result.stdout and not result.stderr
    assert list((course.out / "handed-in").iterdir()) == [place]


def test_a_newer_zip_is_treated_like_a_changed_folder(course: Course) -> None:
    hand_in_archive(course, ADA, ALAN, GRACE)
    course.grade()
    hand_in_archive(course, ADA, ("turingalan_34_955_01_first.cu", b"better"), name="submissions (1).zip")
    result = course.grade()
    assert "No longer among the submissions, and kept as graded: 56" in result.stderr
    assert {key: course.log("end").count(key) for key in ("12", "34", "56")} == {"12": 1, "34": 2, "56": 1}
    assert course.run_verb("regrade", "--all").returncode == 0  # includes a student whose hand-in is no longer there
    assert set(course.statuses().values()) == {"graded", "missing_stages"}


def test_unpacked_downloads_that_are_no_longer_needed_are_removed(course: Course) -> None:
    hand_in_archive(course, ADA, ALAN)
    course.grade()
    hand_in_archive(course, ALAN, ADA)
    course.grade()
    (place,) = (course.out / "handed-in").iterdir()
    assert course.run_verb("regrade", "--all").returncode == 0
    assert all(path.is_relative_to(place) for path in course.database().entries())
    course.handed_in = course.handed_in.with_name("folder")
    course.handed_in.mkdir()
    for name, content in (ADA, ALAN):
        (course.handed_in / name).write_bytes(content)
    course.grade()
    assert not list((course.out / "handed-in").iterdir())
    assert course.log("end").count("12") == 2  # a hand-in that was unpacked by hand is recognised as the same


def test_files_that_tasks_on_a_cluster_may_read_are_kept(course: Course) -> None:
    hand_in_archive(course, ADA, ALAN)
    course.grade()
    course.database().set_values(slurm_jobs={"12": "1_0"})
    hand_in_archive(course, ALAN, ADA)
    course.grade()
    assert len(list((course.out / "handed-in").iterdir())) == 2


def test_a_moved_batch_finds_its_unpacked_files(course: Course) -> None:
    hand_in_archive(course, ADA)
    course.grade()
    course.handed_in.unlink()
    moved = course.out.with_name("moved")
    course.out.rename(moved)
    assert course.run(course.command("regrade", moved, "--all")).returncode == 0


def test_submissions_given_by_a_relative_path_are_found_from_elsewhere(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in("al1", "fine", "fine")
    short = Path(os.path.relpath(course.handed_in, Path.cwd()))
    monkeypatch.setattr(course, "handed_in", short)
    course.grade()
    assert all(entry.is_absolute() and entry.is_dir() for entry in course.database().entries())
    monkeypatch.chdir("/")
    assert all(entry.is_dir() for entry in course.database().entries())


HARMFUL: dict[str, tuple[str, Callable[[], bytes]]] = {
    "parent": ("traversal", lambda: make_zip(ADA, ("Eve_66_assignsubmission_file_/../../../x.cu", b""))),
    "absolute": ("traversal", lambda: make_tar(ADA, ("/etc/x.cu", b""))),
    "backslashes": ("traversal", lambda: make_zip(ADA, ("..\\..\\x.cu", b""))),
    "symbolic_link": ("link", lambda: make_tar(special("eve_66_1_a.cu", tarfile.SYMTYPE, "/etc/passwd"), ADA)),
    "hard_link": ("link", lambda: make_tar(ADA, special("eve", tarfile.LNKTYPE, ADA[0]))),
    "pipe": ("device", lambda: make_tar(special("pipe", tarfile.FIFOTYPE), ADA)),
    "long_part": ("bad_name", lambda: make_zip((f"Eve_66_assignsubmission_file_/{'a' * 280}.cu", b""), ADA)),
    "many_bytes": ("bad_name", lambda: make_zip((f"Eve_66_assignsubmission_file_/{'å' * 200}.cu", b""), ADA)),
    "latin_1_name": ("bad_name", lambda: make_tar(("gr\xf6\xdfe_66_1_a.cu", b""), ADA)),
    "control_characters": ("bad_name", lambda: make_zip(("eve_66_1_\x1b[2J.cu", b""), ADA)),
    "twice": ("name_clash", lambda: make_tar(ADA, (ADA[0], b"another's"))),
    "file_and_folder": ("name_clash", lambda: make_zip(("eve_66_1_a.cu", b""), ("eve_66_1_a.cu/b.cu", b""), ADA)),
    "folder_and_file": ("name_clash", lambda: make_zip(("eve/b.cu", b""), ("eve", b""), ADA)),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_hand_in_does_not_affect_others(tmp_path: Path, name: str) -> None:
    reason, make = HARMFUL[name]
    names, left_out = unpack_bytes(tmp_path, make())
    assert ADA[0] in names
    assert len(left_out) == 1 and f"submissions.zip: not everything was unpacked; {MEANINGS[reason]}" in left_out[0]
    assert left_out[0].isprintable()
    (place,) = (tmp_path / "out" / "handed-in").iterdir()
    assert (place / "files" / ADA[0]).read_bytes() == ADA[1]
    assert {path.name for path in tmp_path.iterdir()} == {"out", "submissions.zip"}
    assert not any(path.is_symlink() for path in place.rglob("*"))


def test_a_student_whose_files_cannot_be_unpacked_counts_as_having_handed_in(tmp_path: Path) -> None:
    (tmp_path / "submissions.zip").write_bytes(HARMFUL["parent"][1]())
    folder, _ = unpack(tmp_path / "submissions.zip", tmp_path / "out", LAB)
    submissions, _ = find_submissions(folder, LAB, [])
    assert [submission.key for submission in submissions] == ["12", "66"]


def test_a_nested_hostile_archive_affects_only_its_student(course: Course) -> None:
    hostile = [(f"eve_{number}_1_a.tar", make()) for number, (_, make) in enumerate(HOSTILE.values(), 100)]
    hand_in_archive(course, *hostile, ADA)
    result = course.grade()
    assert result.returncode == 0 and "Skipped" not in result.stderr
    statuses = course.statuses()
    assert statuses.pop("12") == "graded"
    assert set(statuses.values()) <= {"archive_refused", "nothing_to_grade"} and len(statuses) == len(HOSTILE)


def test_each_hand_in_has_its_own_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_HAND_IN_BYTES", 30_000_000)
    huge = [(f"Eve_66_assignsubmission_file_/{number}.zip", bytes(25_000_000)) for number in range(3)]
    names, left_out = unpack_bytes(tmp_path, make_zip(*huge, ADA, GRACE))
    assert names == {ADA[0], GRACE[0], huge[0][0], huge[1][0]}
    assert len(left_out) == 1 and "unpacked; it is larger than can be read" in left_out[0]
    (place,) = (tmp_path / "out" / "handed-in").iterdir()
    assert [(place / "files" / name).stat().st_size for name, _ in huge[:2]] == [25_000_000, 5_000_000]


def test_a_hand_in_with_too_many_files_is_truncated(tmp_path: Path) -> None:
    many = [(f"Eve_66_assignsubmission_file_/{number}.cu", b"") for number in range(2 * MAX_FILES + 5)]
    names, left_out = unpack_bytes(tmp_path, make_zip(*many, ADA))
    assert len(names) == 2 * MAX_FILES + 1 and ADA[0] in names
    assert len(left_out) == 1 and "it contains more files than a lab has" in left_out[0]


@pytest.mark.parametrize("folder", ["eve", "Eve_66_assignsubmission_file_"])
def test_files_that_grading_does_not_need_do_not_count_towards_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setattr(unpacking, "MAX_HAND_IN_BYTES", 1000)
    monkeypatch.setattr(unpacking, "MAX_FILES", 5)
    link = tarfile.TarInfo(f"{folder}/.venv/bin/python")
    link.type, link.linkname = tarfile.SYMTYPE, "/usr/bin/python3"
    many = [(f"{folder}/build/{number}.o", bytes(500)) for number in range(20)]
    names, left_out = unpack_bytes(tmp_path, make_tar(link, *many, (f"{folder}/{FIRST}", bytes(1000)), ADA))
    assert {f"{folder}/{FIRST}", ADA[0]} <= names and not left_out


@pytest.mark.parametrize("pack", [make_zip, make_tar])
def test_a_plain_folder_with_too_many_files_is_truncated_and_costs_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[..., bytes]
) -> None:
    monkeypatch.setattr(unpacking, "MAX_HAND_INS", 5)
    monkeypatch.setattr(unpacking, "MAX_FILES", 5)
    many = [(f"eve/{number}.cu", b"") for number in range(20)]
    names, left_out = unpack_bytes(tmp_path, pack(*many, (f"al1/{FIRST}", b"fine"), (f"bob/{FIRST}", b"fine")))
    assert {f"al1/{FIRST}", f"bob/{FIRST}"} <= names and len(names) == 10 + 2
    assert len(left_out) == 1 and "it contains more files than a lab has (at most 10, in eve)" in left_out[0]


def test_a_name_that_leads_elsewhere_does_not_turn_the_archive_into_one_hand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MAX_FILES", 5)
    hand_ins = [(f"all/s{number}/{FIRST}", b"fine") for number in range(20)]
    names, left_out = unpack_bytes(tmp_path, make_zip(("../x.cu", b""), *hand_ins))
    assert len(names) == 20 and len(left_out) == 1


def test_a_courses_archive_can_have_more_files_than_a_hand_in(tmp_path: Path) -> None:
    many = [(f"s{number}_{number}_1_{FIRST}", b"fine") for number in range(2 * MAX_FILES + 5)]
    names, left_out = unpack_bytes(tmp_path, make_zip(*many))
    assert len(names) == len(many) and not left_out


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_the_folder_in_a_packed_download_is_found(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    names, left_out = unpack_bytes(tmp_path, pack(make_tar(("./all/al1/a.cu", b""), ("./all/at2.zip", b"PK"))))
    assert names == {"al1/a.cu", "at2.zip"} and not left_out


STRAY_FILES = ("eve.txt", "eve.xz", "eve.cu", "notes/x.txt", f"{LAB}/x.txt", f"{LAB}/{FIRST}", FIRST)


@pytest.mark.parametrize("stray", STRAY_FILES)
@pytest.mark.parametrize("names", [["al1.tar.gz", "at2/01.cu"], ["al1.zip", "at2.zip"], ["al1_12_900_a.cu"]])
def test_a_stray_file_does_not_hide_the_hand_ins_of_a_packed_folder(
    tmp_path: Path, stray: str, names: list[str]
) -> None:
    archive = make_zip(*((f"submissions/{name}", b"PK") for name in names), (f"submissions/{stray}", b"x"))
    (tmp_path / "all.zip").write_bytes(archive)
    folder, left_out = unpack(tmp_path / "all.zip", tmp_path / "out", LAB)
    submissions, not_read = find_submissions(folder, LAB, [])
    assert {submission.key for submission in submissions} - {LAB, "notes"} == (
        {"al1", "at2"} if len(names) == 2 else {"12"}
    )
    assert not left_out and len(not_read) == ("/" not in stray)


def test_the_folder_of_one_student_is_a_hand_in(tmp_path: Path) -> None:
    names, _ = unpack_bytes(tmp_path, make_zip((f"al1/{LAB}/{FIRST}", b""), ("al1/journal/01_first.md", b"")))
    assert names == {f"al1/{LAB}/{FIRST}", "al1/journal/01_first.md"}


def test_unpacked_files_keep_their_dates(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    (packed / "al1").mkdir(parents=True)
    (packed / "al1" / FIRST).touch()
    os.utime(packed / "al1" / FIRST, (1.5e9, 1.5e9))
    shutil.make_archive(str(tmp_path / "all"), "zip", packed)
    folder, _ = unpack(tmp_path / "all.zip", tmp_path / "out", LAB)
    (submission,), _ = find_submissions(folder, LAB, [])
    assert submission.handed_in == "2017-07-14T02:40:00Z"


def test_a_second_download_makes_no_hand_in_late(course: Course) -> None:
    dates = {}
    for day, texts in ((10, ("fine", "fine")), (20, ("fine", "better")), (15, ("fine", "better"))):
        for student, text in zip(("al1", "at2"), texts, strict=True):
            folder = course.hand_in(student, text)
            for path in (*folder.iterdir(), folder):
                os.utime(path, (day * 86400, day * 86400))
        course.grade()
        dates[day] = [row.handed_in[8:10] for row in course.database().rows()]
    assert dates == {10: ["11", "11"], 20: ["11", "21"], 15: ["11", "16"]}
    roster = course.root / "roster.csv"
    roster.write_text("id,submitted\nal1,2000-01-25T12:00Z\nat2,\n")
    course.grade("--roster", roster)
    # The roster's times override the dates of the files.
    assert [row.handed_in[8:10] for row in course.database().rows()] == ["25", "16"]


def test_a_second_run_makes_no_hand_in_with_a_future_date_late(course: Course) -> None:
    for path in (folder := course.hand_in("al1", "fine")).iterdir():
        os.utime(path, (4e9, 4e9))
    course.grade()
    course.database().connection.execute("UPDATE submissions SET handed_in = '2020-01-01T00:00:00Z'")
    course.grade()
    assert course.database().rows()[0].handed_in == "2020-01-01T00:00:00Z"
    (folder / "01_first.cu").write_text("better")
    os.utime(folder / "01_first.cu", (4e9, 4e9))
    course.grade()
    assert course.database().rows()[0].handed_in > "2020-01-01T00:00:00Z"


def huge_header() -> bytes:
    """Return a tar that claims to contain a name of 1 TB."""
    data = bytearray(make_tar(("a" * 200, b"")))
    data[124:136] = (0x80 << 88 | 10**12).to_bytes(12, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


WRONG: dict[str, tuple[str, Callable[[], bytes]]] = {
    "one_student": (f"of one student, because {LAB}/ is at its top", lambda: make_zip((f"{LAB}/{FIRST}", b""))),
    "one_student_another_lab": ("of one student, because other/ is", lambda: make_tar(("other/manifest.json", b"{}"))),
    "one_student_loose_files": (f"of one student, because {FIRST} is", lambda: make_zip((FIRST, b""), (SECOND, b""))),
    "cut": ("its end is missing. Download it again", lambda: make_zip(ADA)[:-30]),
    "cut_tar": ("its end is missing", lambda: gzip.compress(make_tar(("a.zip", os.urandom(5000))))[:3000]),
    "changed": ("it is damaged", lambda: make_zip(("a.zip", b"abc"), method=0).replace(b"abc", b"abd")),
    "encrypted": ("it is encrypted. Unpack it with its password", HOSTILE["encrypted"][1]),
    "shared_stream": ("several of its files use the same bytes", lambda: overlapping(3)),
    "empty": ("the file is empty", lambda: b""),
    "empty_zip": ("the archive contains no files", make_zip),
    "no_archive": ("SUBMISSIONS is a folder of hand-ins, or a zip or tar archive", lambda: b"id,name\n1,Ada\n"),
    "loop": ("it is damaged", lambda: make_tar(("a.zip", b""))[:512] + negative_size()),
    "headers": ("it is damaged", huge_header),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_an_archive_that_is_not_a_courses_download_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    message, make = WRONG[name]
    with pytest.raises(UserError) as error:
        unpack_bytes(tmp_path, make())
    assert f"{tmp_path / 'submissions.zip'}: " in str(error.value) and message in str(error.value)
    assert not list((tmp_path / "out").glob("handed-in/*"))


@pytest.mark.parametrize("start", [b"Rar!\x1a\x07\x01\0", b"id,name\n", b""])
def test_a_file_that_is_not_an_archive_is_not_unpacked(
    tmp_path: Path, start: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError):
        unpack_bytes(tmp_path, start)
    assert "Unpacking" not in capsys.readouterr().out


def test_the_number_of_folders_is_limited(tmp_path: Path) -> None:
    names, left_out = unpack_bytes(tmp_path, gzip.decompress(many_members()) + make_tar(ADA))
    assert names == {ADA[0]} and len(left_out) == 1 and "it contains more files than a lab has" in left_out[0]


def test_a_missing_download_causes_a_message_and_no_folder(course: Course) -> None:
    course.handed_in = course.handed_in.with_name("nothing.zip")
    result = course.grade()
    assert (
        result.returncode == 2
        and "nothing.zip does not exist. SUBMISSIONS is a folder of hand-ins, or an archive" in result.stderr
    )
    assert not course.out.exists()


@pytest.mark.parametrize("name", ["eve/manifest.json", f"{LAB}/{FIRST}", FIRST])
def test_one_students_files_do_not_make_the_archive_look_like_one_hand_in(tmp_path: Path, name: str) -> None:
    names, _ = unpack_bytes(tmp_path, make_zip((f"al1/{FIRST}", b"//"), (f"bob/{FIRST}", b"//"), (name, b"{}")))
    assert {f"al1/{FIRST}", f"bob/{FIRST}"} <= names


def test_one_students_file_does_not_truncate_a_tar_download(tmp_path: Path) -> None:
    sparse = tarfile.TarInfo("subs/c/01.cu")
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    data = b"".join(old_file(f"subs/{student}/01.cu", b"x") for student in "ab") + sparse.tobuf(tarfile.PAX_FORMAT)
    names, left_out = unpack_bytes(tmp_path, data + bytes(1024))
    assert names == {"a/01.cu", "b/01.cu"} and len(left_out) == 1 and "subs/c" in left_out[0]
