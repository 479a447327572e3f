"""Tests of reader.py and contents.py: all files of a hand-in are read, and the newest file of each stage counts."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import socket
import sys
import tarfile
import time
import zipfile
from calendar import timegm
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from grader.python.batch.grade import opening
from grader.python.batch.grade.opening import Opened, open_submission
from grader.python.batch.ingest import contents, folders, reader, submissions
from grader.python.batch.ingest.archive import MAX_FILES, RefusedError
from grader.python.batch.ingest.contents import pick_journal_files, pick_stages
from grader.python.batch.ingest.module_path import PROJECT
from grader.python.batch.ingest.notes import is_for_instructor
from grader.python.batch.ingest.reader import Contents, File, read_all, read_in_child
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.store.settings import Settings
from tests.python.batch.ingest.test_archive import GOOD, make_zip

STAGES = ("01_first", "02_second")
FIRST, SECOND = "01_first.cu", "02_second.cu"
SETTINGS = Settings("lab", STAGES, Path(__file__).resolve().parents[4], Path(), Path(), "cpu")
STARTERS = {"01_first": b"starter\n", "02_second": b"starter\n"}
OLD, NEW, LATER = (2025, 11, 20, 10, 0, 0), (2025, 11, 20, 12, 0, 0), (2025, 11, 20, 14, 0, 0)
UNKNOWN, FUTURE = (1980, 1, 1, 0, 0, 0), (2099, 1, 1, 0, 0, 0)
RAR = b"Rar!\x1a\7\0"
Time = tuple[int, int, int, int, int, int]


def pack(files: Mapping[str, bytes], time: Time = OLD) -> bytes:
    return make_zip(*((zipfile.ZipInfo(name, time), content) for name, content in files.items()))


def pack_tar(files: Mapping[str, bytes], time: Time = OLD) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), timegm(time)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def hand_in(folder: Path, files: Mapping[str, bytes], time: Time = OLD) -> Opened:
    """Hand in one student's files, under the names that a course system or a person gives them, and open them."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (timegm(time), timegm(time)))
    (submission,), left_out = find_submissions(folder, "lab", [])
    assert not left_out
    return open_submission(submission, SETTINGS)


MOODLE, CANVAS = "Ada_5_assignsubmission_file_", "ada_5_"
REPORT = pack({"report.pdf": b"%PDF", "figure.png": b"x"}, LATER)
SUBMIT = "lab-al1-2025-11-20-120000.tar.gz"
MAC = {SUBMIT: pack_tar({f"lab/{FIRST}": b"1"}), f"__MACOSX/._{SUBMIT}": b"\0\5\x16\7"}
# The files that one student hands in, and the contents of those that are graded, one character each.
HONEST: dict[str, tuple[dict[str, bytes], str]] = {
    "canvas_code_then_report": ({f"{CANVAS}500_{FIRST}": b"1", f"{CANVAS}501_report.zip": REPORT}, "1"),
    "canvas_two_zips": ({f"{CANVAS}500_code.zip": pack({FIRST: b"1"}), f"{CANVAS}501_report.zip": REPORT}, "1"),
    "canvas_rar": ({f"{CANVAS}500_code.zip": pack({FIRST: b"1"}), f"{CANVAS}501_report.rar": RAR}, "1"),
    "canvas_notes": ({f"{CANVAS}500_lab.zip": pack({FIRST: b"1"}), f"{CANVAS}501_notes.json": b"{}"}, "1"),
    "canvas_one_file_again": (
        {f"{CANVAS}500_lab.zip": pack({FIRST: b"1", SECOND: b"old"}, LATER), f"{CANVAS}501_{SECOND}": b"2"},
        "12",
    ),
    "canvas_file_next_to_an_archive": (
        {f"{CANVAS}500_{FIRST}": b"1", f"{CANVAS}501_lab.zip": pack({FIRST: b"old", SECOND: b"2"}, LATER)},
        "12",
    ),
    "moodle_two_zips": ({f"{MOODLE}/code.zip": pack({FIRST: b"1"}), f"{MOODLE}/report.zip": REPORT}, "1"),
    "moodle_files": ({f"{MOODLE}code.zip": pack({FIRST: b"1"}), f"{MOODLE}report.zip": REPORT}, "1"),
    "moodle_file_next_to_an_archive": (
        {f"{MOODLE}/lab.zip": pack({FIRST: b"old", SECOND: b"2"}, LATER), f"{MOODLE}/{FIRST}": b"1"},
        "12",
    ),
    "moodle_flat_file_next_to_an_archive": (
        {f"{MOODLE}lab.zip": pack({FIRST: b"old", SECOND: b"2"}, LATER), f"{MOODLE}{FIRST}": b"1"},
        "12",
    ),
    "file_next_to_an_archive_in_an_archive": (
        {f"{MOODLE}/a.zip": pack({FIRST: b"1", SUBMIT: pack_tar({f"lab/{FIRST}": b"old", f"lab/{SECOND}": b"2"})})},
        "12",
    ),
    "file_in_a_newer_archive": (
        {f"{MOODLE}/a.zip": pack({FIRST: b"old", "b.zip": pack({FIRST: b"o", SECOND: b"2"}, LATER)}),
         f"{MOODLE}/c.zip": pack({FIRST: b"1"}, NEW)},
        "12",
    ),
    "starter_next_to_an_archive": (
        {f"{MOODLE}/lab.zip": pack({FIRST: b"1", SECOND: b"2"}), f"{MOODLE}/{FIRST}": b"starter \r\n"},
        "12",
    ),
    "starter_that_an_editor_saved": (
        {f"{MOODLE}/lab.zip": pack({FIRST: b"1", SECOND: b"2"}), f"{MOODLE}/{FIRST}": b"\xef\xbb\xbfstarter\r\n\r\n"},
        "12",
    ),
    "built_files": (
        {"al1/kit.zip": pack({f"kit/build/inspect/{FIRST}": b"old", f"kit/work/lab/{FIRST}": b"1"}, LATER)},
        "1",
    ),
    "only_in_build": ({"al1/build.zip": pack({f"build/{FIRST}": b"1"})}, "1"),
    "student_called_build": ({f"build/build/{FIRST}": b"1"}, "1"),
    "copies": ({f"{CANVAS}500_01_first - Copy.cu": b"1", f"{CANVAS}501_02_second (1) - Copy (2).cu.txt": b"2"}, "12"),
    "text_files": ({f"{CANVAS}500_01_first.txt": b"1", f"{CANVAS}501_02_second (1).txt": b"2"}, "12"),
    "text_in_an_archive": ({f"{MOODLE}/a.zip": pack({"01_first.txt": b"1", "x/02_second.cpp": b"2"})}, "12"),
    "output_next_to_code": ({f"al1/{FIRST}": b"1", "al1/01_first.txt": b"x", "al1/out_01_first.txt": b"x"}, "1"),
    "output_alone": ({f"{MOODLE}/{FIRST}": b"1", f"{MOODLE}/output_02_second.txt": b"x"}, "1"),
    "words_after_the_name": (
        {"al1/01_first_final.cu": b"1", "al1/02_second_fixed (1).cu": b"2", "al1/02_seconds.cu": b"x"},
        "12",
    ),
    "longer_name_next_to_the_exact_name": ({"al1/01_first_old.cu": b"x", f"al1/{FIRST}": b"1"}, "1"),
    "other_separators": ({"al1/01 First.cu": b"1", "al1/lovelace-02-second.cu": b"2"}, "12"),
    "no_number": ({"al1/First.cu": b"1", "al1/second.cu": b"2", "al1/second half.cu": b"x"}, "12"),
    "stage_number_in_a_name": ({"al1/Stage 1.cu": b"1", "al1/2_second.cu": b"2", "al1/3.cu": b"x"}, "12"),
    "partial_name": ({"al1/01_fir.cu": b"x", "al1/stage01.cu": b"1", "al1/02_.cu": b"2"}, "12"),
    "starter_next_to_another_name": ({"al1/01_first-v2.cu": b"1", f"al1/{FIRST}": b"starter\n"}, "1"),
    "two_endings": ({"al1/01_first.cu.cpp": b"1", "al1/02_second.cu.c": b"2"}, "12"),
    "versions": ({"al1/01_first_v8.cu": b"x", "al1/01_first_v9.cu": b"1"}, "1"),
    "versions_of_two_digits": ({"al1/01_first_v9.cu": b"x", "al1/01_first_v10.cu": b"1"}, "1"),
    "second_upload": ({f"al1/{FIRST}": b"x", "al1/01_first (1).cu": b"1"}, "1"),
    "number_alone": ({"al1/01.cu": b"1", "al1/02.cu": b"2", "al1/02 second.cu": b"2", "al1/03.cu": b"3"}, "12"),
    "moodle_newer_file": ({f"{MOODLE}/lab.zip": pack({FIRST: b"old", SECOND: b"2"}), f"{MOODLE}/{FIRST}": b"1"}, "12"),
    "moodle_damaged": ({f"{MOODLE}/a.zip": b"PK", f"{MOODLE}/b.tar.gz": pack_tar({FIRST: b"1"})}, "1"),
    "moodle_mac": ({f"{MOODLE}/lab.zip": pack(MAC)}, "1"),
    "other_endings": ({"al1/a.tbz2": bz2.compress(gzip.decompress(pack_tar({FIRST: b"1"}))),
                       "al1/b.TXZ": lzma.compress(gzip.decompress(pack_tar({SECOND: b"2"})))}, "12"),
    "canvas_mac": ({f"{CANVAS}500_lab.zip": pack(MAC)}, "1"),
    "zip_in_a_folder": ({f"{MOODLE}/lab.zip": pack({SUBMIT: pack_tar({f"lab/{FIRST}": b"1"})})}, "1"),
    "three_archives_deep": ({"al1/a.zip": pack({"b.zip": pack({"c.tgz": pack_tar({FIRST: b"1"})})})}, "1"),
    "submitted_twice": (
        {
            f"{MOODLE}/{SUBMIT}": pack_tar({FIRST: b"1"}),
            f"{MOODLE}/lab-al1-2025-11-20-110000.tar.gz": pack_tar({FIRST: b"old", SECOND: b"2"}, LATER),
        },
        "12",
    ),
    "submitted_in_the_future": (
        {
            f"{MOODLE}/{SUBMIT}": pack_tar({FIRST: b"1"}),
            f"{MOODLE}/lab-al1-2099-11-20-110000.tar.gz": pack_tar({FIRST: b"old"}, LATER),
        },
        "1",
    ),
    "another_labs_archive": (
        {
            f"{MOODLE}/a.zip": pack({FIRST: b"1"}),
            f"{MOODLE}/other-al1-2025-12-20-110000.tar.gz": pack_tar({FIRST: b"old"}),
        },
        "1",
    ),
    "zip_and_tar": ({f"{MOODLE}/a.zip": pack({FIRST: b"old"}), f"{MOODLE}/b.tgz": pack_tar({FIRST: b"1"}, LATER)}, "1"),
    "unknown_time": ({f"{MOODLE}/a.zip": pack({FIRST: b"1"}), f"{MOODLE}/b.zip": pack({FIRST: b"o"}, UNKNOWN)}, "1"),
    "future_time": ({f"{MOODLE}/a.zip": pack({FIRST: b"1"}), f"{MOODLE}/b.zip": pack({FIRST: b"o"}, FUTURE)}, "1"),
    "kit": ({"al1/kit.zip": pack({f"starter/lab/{FIRST}": b"old"}, LATER), f"al1/{FIRST}": b"1"}, "1"),
    "eighteen_megabytes": (
        {f"{MOODLE}/a.zip": make_zip((FIRST, b"1"), *((f"part{n}.cu", bytes(6_000_000)) for n in range(3)), method=0)},
        "1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HONEST)
def test_the_right_file_of_each_stage_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(opening, "read_starters", lambda _: STARTERS)
    files, counts = HONEST[kind]
    opened = hand_in(tmp_path, files, NEW)
    assert "".join(content.decode() for content in opened.picked.values()) == counts, (opened.detail, opened.notes)


def test_feedback_lists_unused_files(tmp_path: Path) -> None:
    files = {f"{MOODLE}/a.zip": pack({FIRST: b"old", SECOND: b"old"}), f"{MOODLE}/b.zip": pack({FIRST: b"1"}, NEW)}
    files |= {f"{MOODLE}/c.zip": pack({SECOND: b"old", FIRST: b"1"}), f"{MOODLE}/d.rar": RAR}
    assert hand_in(tmp_path, files).notes == [
        "01_first from b.zip: it is the newest. Not used for this stage: a.zip",
        "Used: 01_first from b.zip; 02_second from c.zip.",
        "d.rar was not read: it is neither a zip nor a tar archive (it is RAR; hand in a .zip or a .tar.gz).",
    ]


@pytest.mark.parametrize("form", [f"{CANVAS}500_", f"{MOODLE}/", MOODLE])
def test_feedback_states_the_origin_of_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """The archive's first stage is the starter; the student attached the right file separately."""
    monkeypatch.setattr(opening, "read_starters", lambda _: STARTERS)
    opened = hand_in(tmp_path, {f"{form}lab1.zip": pack({FIRST: b"starter", SECOND: b"2"}), f"{form}{FIRST}": b"1"})
    assert opened.picked == {"01_first": b"1", "02_second": b"2"}
    assert len(opened.notes) == 1 and opened.notes[0].startswith("Used: 01_first from single files; 02_second from ")
    assert opened.notes[0].endswith("lab1.zip.") and not is_for_instructor(opened.notes[0])


def pack_large(folder: str, endings: str = "o") -> bytes:
    """Return an archive with a stage and 25 MB in a folder."""
    noise = os.urandom(5_000_000)
    return make_zip((FIRST, b"1"), *((f"{folder}{number}.{endings}", noise) for number in range(5)), method=0)


UPLOAD_NAMES = ("ada_5_500_lab.zip", f"{MOODLE}/lab.zip", f"{MOODLE}lab.zip", "al1.zip", "al1/lab.zip")
SAME: dict[str, tuple[Callable[[], bytes], str]] = {
    "three_deep": (lambda: pack({"a.zip": pack({"b.zip": pack({FIRST: b"1"})})}), ""),
    "four_deep": (
        lambda: pack({"a.zip": pack({"b.zip": pack({"c.zip": pack({FIRST: b"1"})})})}),
        "It is inside more than two other archives.",
    ),
    "nine_megabytes": (lambda: make_zip((FIRST, b"1"), ("x.cu", bytes(9_000_000)), method=0), ""),
    "repository": (lambda: pack_large(".git/objects/"), ""),
    "built": (lambda: pack_large("kit/build/", "cu"), ""),
    "of_a_mac": (lambda: pack_large("__MACOSX/", "zip"), ""),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_files_get_the_same_result_from_every_course_system(tmp_path: Path, kind: str) -> None:
    make, detail = SAME[kind]
    data = make()
    for number, name in enumerate(UPLOAD_NAMES):
        opened = hand_in(tmp_path / str(number), {name: data})
        assert (opened.picked, opened.detail) == ({} if detail else {"01_first": b"1"}, detail), name


def test_ignored_files_of_a_tar_are_not_counted(tmp_path: Path) -> None:
    files = {f".git/{number}": bytes(40_000_000) for number in range(9)} | {FIRST: b"1"}
    assert hand_in(tmp_path, {"al1/a.tgz": pack_tar(files)}).picked == {"01_first": b"1"}


def test_feedback_lists_the_files_of_a_hand_in_without_code(tmp_path: Path) -> None:
    for number, (files, listed) in enumerate((
        ({f"{CANVAS}500_report.docx": b"x"}, "report.docx"),
        ({f"{MOODLE}/a.zip": pack({"x/report.docx": b"x", ".git/y": b""})}, "x/report.docx"),
        ({f"{MOODLE}/kernel.cu": b"x", f"{MOODLE}/lab1.pdf": b"x"}, "kernel.cu and lab1.pdf"),
    )):  # fmt: skip
        opened = hand_in(tmp_path / str(number), files)
        assert opened.status == "nothing_to_grade" and opened.detail.endswith(f" It holds {listed}."), opened.detail


def test_a_file_next_to_an_archive_takes_precedence_and_feedback_says_so(tmp_path: Path) -> None:
    files = {f"{MOODLE}/lab1.zip": pack({FIRST: b"old", SECOND: b"2"}, LATER), f"{MOODLE}/{FIRST}": b"1"}
    assert hand_in(tmp_path, files).notes == [
        "01_first from 01_first.cu: a file next to an archive counts before those in it. "
        "Not used for this stage: lab1.zip",
        "Used: 01_first from single files; 02_second from lab1.zip.",
    ]


def test_feedback_mentions_an_unchanged_starter_and_a_changed_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "read_starters", lambda _: STARTERS)
    opened = hand_in(tmp_path, {f"al1/{FIRST}": b"starter ", "al1/02_second.txt": b"2"})
    assert opened.notes == ["02_second.txt was used as 02_second.cu.", "01_first is still the starter."]


@pytest.mark.parametrize("time", [NEW, UNKNOWN])
def test_if_the_newest_file_is_unknown_one_counts_and_a_note_says_so(tmp_path: Path, time: Time) -> None:
    files = {f"{MOODLE}/{name}.zip": pack({FIRST: name.encode()}, time) for name in "ab"}
    opened = hand_in(tmp_path, files)
    assert opened.picked == {"01_first": b"b"}
    assert opened.notes == [
        "01_first from b.zip: the times do not show which is the newest. Not used for this stage: a.zip",
        f"To have one of them graded, delete the others from {tmp_path / MOODLE}, and repeat the command. "
        "Stages: 01_first.",
    ]
    assert list(map(is_for_instructor, opened.notes)) == [False, True]


def test_the_journal_of_the_newest_archive_counts(tmp_path: Path) -> None:
    files = {
        f"{MOODLE}/lab-al1-2025-11-20-1{hour}0000.tar.gz": pack_tar(
            {f"lab/{FIRST}": b"1", "lab/journal/records.jsonl": f"{hour}".encode()}
        )
        for hour in (3, 4, 2)
    }
    assert list(hand_in(tmp_path, files).journal.values()) == [b"4"]
    assert pick_journal_files([], "lab") == {}


@pytest.mark.parametrize("slow", ["empty_streams", "extra_fields"])
def test_a_hand_in_that_takes_too_long_to_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    monkeypatch.setattr(reader, "READING_S", 1)
    data = gzip.compress(b"") * 1_000_000 if slow == "empty_streams" else long_extras(290)
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / f"a.{'gz' if slow == 'empty_streams' else 'zip'}").write_bytes(data)
    (tmp_path / "eve" / FIRST).write_bytes(b"1")
    (submission,), _ = find_submissions(tmp_path, "lab", [])  # opens no archive
    opened = open_submission(submission, SETTINGS)
    assert (opened.status, opened.detail) == ("archive_refused", "Reading it takes too much time or memory.")


def long_extras(count: int) -> bytes:
    """Return a zip of files with 16,000 empty extra fields each, for which zipfile takes quadratic time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.md", b"")
        for entry in archive.infolist():
            entry.extra = b"\xff\xfe\0\0" * 16_000
    return buffer.getvalue()


def replace_reader(monkeypatch: pytest.MonkeyPatch, program: Path, statement: str) -> None:
    """Replace the function that reads a list of entries with one that runs this statement."""
    module = reader.__name__
    lines = [f"#!{sys.executable}", "import os, resource, signal, sys, time", f"sys.path.insert(0, {str(PROJECT)!r})"]
    lines += [
        f"import {module} as reader",
        "def read_all(entries, cpu_s):",
        f"    {statement}",
        "    return reader.Contents()",
    ]
    program.write_text("\n".join([*lines, "reader.read_all = read_all", "reader.main()", ""]))
    program.chmod(0o755)
    start_reader(monkeypatch, str(program))


def start_reader(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Replace the server of readers with a new one, which runs this program."""
    monkeypatch.setattr(reader.sys, "executable", program)
    monkeypatch.setattr(reader, "server", reader.Server())


def test_a_reader_that_fails_costs_no_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FIRST).write_bytes(b"1")
    start_reader(monkeypatch, "/bin/false")
    with pytest.raises(OSError, match="ended with status 1"):
        read_in_child([tmp_path / FIRST], 5)


@pytest.mark.parametrize(
    "statement",
    ["if entries: sys.exit(1)", "while entries: print('y' * 1000)", "if entries: os.kill(os.getpid(), signal.SIGSEGV)"],
)
def test_a_reader_that_fails_for_one_hand_in_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    replace_reader(monkeypatch, tmp_path / "python", statement)
    monkeypatch.setattr(reader, "MAX_ANSWER_BYTES", 3_000_000)
    with pytest.raises(RefusedError, match="too much time or memory"):
        read_in_child([tmp_path / FIRST], 60)
    assert read_in_child([], 60).files == []


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_a_reader_that_another_process_kills_costs_no_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal: str
) -> None:
    """The kernel kills a reader in the same way if memory is short."""
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / FIRST).write_bytes(b"1")
    (submission,), _ = find_submissions(tmp_path, "lab", [])
    replace_reader(monkeypatch, tmp_path / "python", f"os.kill(os.getpid(), signal.SIG{signal})")
    opened = open_submission(submission, SETTINGS)
    assert (opened.status, opened.was_killed) == ("judge_error", True)
    assert "The reader of hand-ins was killed" in opened.detail


def test_the_server_of_readers_starts_again_after_it_was_killed(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(b"1")
    read_in_child([tmp_path / FIRST], 5)
    assert reader.server.process
    reader.server.process.kill()
    reader.server.process.wait()
    assert len(read_in_child([tmp_path / FIRST], 5).files) == 1


def test_a_reader_that_waits_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_reader(monkeypatch, tmp_path / "python", "time.sleep(60)")
    monkeypatch.setattr(reader, "WALL_MULTIPLE", 0.2)
    with pytest.raises(RefusedError, match="too much time or memory"):
        read_in_child([tmp_path / FIRST], 1)


@pytest.mark.parametrize(
    ("number", "is_machine_error"), [(errno.EIO, True), (errno.EMFILE, True), (errno.EACCES, False)]
)
@pytest.mark.parametrize("broken", ["open_file", "list_folder"])
def test_an_error_of_the_machine_is_not_the_students_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, number: int, is_machine_error: bool
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / FIRST).write_bytes(b"fine")
    monkeypatch.setattr(folders, broken, fail)
    if is_machine_error:
        with pytest.raises(OSError, match=os.strerror(number)):
            read_all([tmp_path])
    else:
        assert read_all([tmp_path]).refused


def test_the_list_of_refused_files_in_nested_archives_is_bounded(tmp_path: Path) -> None:
    inner = pack_tar({f"{number}.zip": b"" for number in range(MAX_FILES - 10)})
    (file := tmp_path / "a.zip").write_bytes(make_zip(*((f"{number}.tgz", inner) for number in range(4))))
    result = read_all([file])
    assert not result.files and len(result.refused) == reader.MAX_REFUSED


@pytest.mark.parametrize("crowd", ["x.json", "x.cpp", "x.gz", "journal/x.md", "x.cu"])
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_many_other_files_do_not_displace_a_stages_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crowd: str, form: str
) -> None:
    monkeypatch.setattr(reader, "MAX_FILES", 20)
    monkeypatch.setattr(reader, "MAX_BYTES", 200 if form == "folder" else reader.MAX_BYTES)
    names = [f"{number}/{crowd}" for number in range(30)]
    (folder := tmp_path / "al1").mkdir()
    for name, content in [*((name, bytes(50)) for name in names), (FIRST, b"1")]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    os.utime(folder / FIRST, (1e9, 1e9))
    (archive := tmp_path / "al1.zip").write_bytes(make_zip(*((name, bytes(50)) for name in names), (FIRST, b"1")))
    assert FIRST in [file.name for file in read_all([folder if form == "folder" else archive]).files]


def test_archives_that_take_too_long_do_not_displace_code(tmp_path: Path) -> None:
    (folder := tmp_path / "al1").mkdir()
    (folder / FIRST).write_bytes(b"1")
    (folder / "logs.tar").write_bytes(pack_tar({SECOND: b"2"}))
    os.utime(folder / FIRST, (1e9, 1e9))
    result = read_all([folder], cpu_s=-1e9)
    assert [file.name for file in result.files] == [FIRST]
    assert [(name, error.reason) for name, error in result.refused] == [("logs.tar", "too_slow")]


def test_the_number_of_archives_in_a_hand_in_is_limited(tmp_path: Path) -> None:
    (file := tmp_path / "a.zip").write_bytes(
        make_zip(*((f"{number}.zip", pack({FIRST: b"1"})) for number in range(reader.MAX_ARCHIVES + 7)))
    )
    result = read_all([file])
    assert len(result.files) == reader.MAX_ARCHIVES - 1
    assert [error.reason for _, error in result.refused] == ["too_many_files"] * 8


def test_archive_names_are_read_once_for_all_files_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[Path] = []
    monkeypatch.setattr(contents, "lab_in_name", lambda path: names.append(path) or "")
    archives = [(f"once{number}.zip", pack({FIRST: b"1", SECOND: b"%d" % number})) for number in range(20)]
    (file := tmp_path / "once.zip").write_bytes(make_zip(*archives))
    assert len(pick_stages(read_all([file]).files, "lab", STAGES)[0]) == 2
    assert len(names) == 40  # for each of the 20 inner archives: its name, and the name of the outer archive


def test_a_missing_file_is_an_error_of_the_judge(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        read_in_child([tmp_path / "gone.zip"], 5)


def test_reading_in_a_separate_process_gives_the_same_result(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(pack({**GOOD, "b.tgz": pack_tar(GOOD), "c.rar": RAR}))
    (tmp_path / os.fsdecode(b"\xff.cu")).write_bytes(b"2")
    entries = sorted(tmp_path.iterdir())
    separate, direct = read_in_child(entries, 5), read_all(entries)
    assert separate.files == direct.files and len(direct.files) == 5
    assert [(name, str(error)) for name, error in separate.refused] == [
        (name, str(error)) for name, error in direct.refused
    ]


def read(*entries: Path) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    contents: Contents = read_all(entries)
    return {file.name: file.content for file in contents.files}, [
        (name, error.reason) for name, error in contents.refused
    ]


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "handed in"
    (folder / "lab").mkdir(parents=True)
    (folder / "lab" / FIRST).symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / SECOND).write_text("2")
    assert read(folder) == ({SECOND: b"2"}, [(f"lab/{FIRST}", "link")])


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student replaces the folder with a link after the batch listed it and before the batch reads a file in it."""
    (solutions := tmp_path / "solutions").mkdir()
    (solutions / FIRST).write_text("solution")
    (inner := tmp_path / "eve" / "d").mkdir(parents=True)
    (inner / FIRST).write_text("mine")
    monkeypatch.setattr(folders, "require_file", lambda *_: exchange())

    def exchange() -> None:
        if not inner.is_symlink():
            inner.rename(tmp_path / "before")
            inner.symlink_to(solutions)

    assert read(tmp_path / "eve") == ({}, [(f"d/{FIRST}", "unreadable")])
    assert submissions.fingerprint([tmp_path / "eve"]) == submissions.fingerprint([tmp_path / "eve"])


def test_only_the_file_that_vanishes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FIRST).write_text("1")
    (tmp_path / SECOND).write_text("2")
    monkeypatch.setattr(folders, "require_file", lambda *_: (tmp_path / FIRST).unlink(missing_ok=True))
    assert read(tmp_path) == ({SECOND: b"2"}, [(FIRST, "unreadable")])


def test_only_the_file_without_read_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test simulates a permission error, because tests may run as root, which can read everything."""
    for name in (f"open/{FIRST}", f"closed/{SECOND}", "manifest.json"):
        (file := tmp_path / "al1" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1")
    real = os.open

    def refuse(name: str, flags: int, dir_fd: int | None = None) -> int:
        if name in ("closed", "manifest.json"):
            raise PermissionError(13, "Permission denied", name)
        return real(name, flags, dir_fd=dir_fd)

    monkeypatch.setattr(folders.os, "open", refuse)
    files, refused = read(tmp_path / "al1")
    assert files == {f"open/{FIRST}": b"1"}
    assert sorted(refused) == [("closed", "unreadable"), ("manifest.json", "unreadable")]


def test_the_files_at_the_top_of_a_deep_or_large_folder_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_ENTRIES", 50)
    (deep := tmp_path / "eve" / "/".join(["folder"] * 45)).mkdir(parents=True)
    (deep / SECOND).write_text("2")
    (tmp_path / "eve" / FIRST).write_text("1")
    assert read(tmp_path / "eve") == ({FIRST: b"1"}, [("eve", "too_many_files")])
    monkeypatch.undo()
    files, ((name, reason),) = read(tmp_path / "eve")
    assert files == {FIRST: b"1"} and name.startswith("folder/folder") and reason == "too_deep"


def test_a_pipe_in_a_folder_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FIRST)
    assert read(tmp_path) == ({}, [(FIRST, "device")])


def test_a_socket_in_a_folder_costs_no_other_file(tmp_path: Path) -> None:
    (tmp_path / SECOND).write_text("2")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / FIRST))
        assert read(tmp_path) == ({SECOND: b"2"}, [(FIRST, "device")])
        assert read(tmp_path / FIRST) == ({}, [(FIRST, "device")])


def test_loose_files_together_have_the_limits_of_one_archive(tmp_path: Path) -> None:
    large = [tmp_path / f"{number}.cu" for number in range(8)]
    for file in large:
        file.write_bytes(bytes(9_000_000))
    files, refused = read(*large)
    assert list(files) == [f"{number}.cu" for number in range(7, 0, -1)] and refused == [("0.cu", "bomb")]
    many = [tmp_path / f"empty{number}.cu" for number in range(MAX_FILES + 1)]
    for file in many:
        file.touch()
    files, refused = read(*many)
    assert len(files) == MAX_FILES and refused == [("empty0.cu", "too_many_files")]


def test_archives_together_have_the_limits_of_one_archive(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.zip").write_bytes(make_zip(*((f"{n}.cu", bytes(9_000_000)) for n in range(3))))
    files, refused = read(*sorted(tmp_path.iterdir()))
    assert len(files) == 7 and refused == [("1.cu", "bomb"), ("2.cu", "bomb")]


def loose(files: Mapping[str, bytes]) -> list[File]:
    return [File(name, content, 0, ("al1",)) for name, content in files.items()]


def test_the_file_in_the_labs_folder_is_picked() -> None:
    files = {"old/01_first.cu": b"old", "x/lab/01_first.cu": b"new", "02_SECOND-3.cu": b"2", "03_third.cu": b"3"}
    picked, notes, ties = pick_stages(loose(files), "lab", STAGES)
    assert picked == {"01_first": b"new", "02_second": b"2"} and not ties
    assert notes == ["x/lab/01_first.cu was graded, and not old/01_first.cu"]


def test_a_file_may_have_the_number_of_an_earlier_version_of_the_lab() -> None:
    picked, notes, _ = pick_stages(loose({"lab/01_first.cu": b"1", "lab/07_second.cu": b"2"}), "lab", STAGES)
    assert picked == {"01_first": b"1", "02_second": b"2"}
    assert notes == ["07_second.cu was used as 02_second.cu."]
    picked, _, _ = pick_stages(loose({"lab/02_second.cu": b"new", "lab/07_second.cu": b"old"}), "lab", STAGES)
    assert picked == {"02_second": b"new"}


def test_in_a_whole_kit_the_files_in_work_count() -> None:
    files = {"kit/starter/lab/01_first.cu": b"old", "kit/work/lab/01_first.cu": b"new", "02_second.cu.txt": b"2"}
    assert pick_stages(loose(files), "lab", STAGES) == ({"01_first": b"new", "02_second": b"2"}, [], [])
    picked, notes, _ = pick_stages(loose(files | {"kit/old/lab/01_first.cu": b"older"}), "lab", STAGES)
    assert picked["01_first"] == b"new"
    assert notes == ["kit/work/lab/01_first.cu was graded, and not kit/old/lab/01_first.cu"]


def test_digits_of_any_script_can_be_in_a_files_name() -> None:
    for names, last in (
        (("01_first_1a.cu", "01_first_1\N{ARABIC-INDIC DIGIT THREE}.cu"), 1),
        (("01_first v9.cu", "01_first v10.cu"), 1),
        (("01_first v10.cu", "01_first v10b.cu"), 1),
    ):
        for order in (names, names[::-1]):
            picked, _, _ = pick_stages(loose({name: name.encode() for name in order}), "lab", STAGES)
            assert picked["01_first"] == names[last].encode()


def test_names_of_many_zeros_take_little_time() -> None:
    files = {f"{number}/{'0' * 280}1.cu": b"%d" % number for number in range(1500)}
    begin_s = time.process_time()
    picked, _, _ = pick_stages(loose(files), "lab", STAGES)
    assert picked["01_first"] and time.process_time() - begin_s < 2
    assert pick_stages(loose({"000_first.cu": b"", "0002_second.cu": b"2"}), "lab", STAGES)[0] == {"02_second": b"2"}
