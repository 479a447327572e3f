"""A hand-in with any bytes and names gets a status, and all other hand-ins get their points."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.python.batch.grade import grading, opening
from grader.python.batch.grade.grading import grade_submission
from grader.python.batch.grade.judge import Running
from grader.python.batch.grade.run import grade_here, keep
from grader.python.batch.ingest.archive import RefusedError
from grader.python.batch.ingest.reader import read_all
from grader.python.batch.ingest.roster import Student
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_fingerprint, find_submissions
from grader.python.batch.ingest.unpack import unpack
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.store.database import Database
from grader.python.batch.store.places import earlier_name, folder_name, place_of
from grader.python.batch.store.rows import STATUSES, Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, say, say_error, write_atomically, write_document
from tests.python.batch.batches import LAB, STAGES, Course
from tests.python.batch.ingest.test_archive import HOSTILE, make_tar, make_zip, read_archive

FILES = tuple((f"{stage}.cu", f"// {stage}".encode()) for stage in STAGES)
SETTINGS = Settings(LAB, STAGES, Path(), Path(), Path(), "cpu")


def judge(command: Sequence[str], settings: Settings, running: Running, environment: dict[str, str]) -> tuple[int, str]:
    """Replace the judge: every submission passes. Journals are not rendered."""
    if "--report-dir" not in command:
        return 1, ""
    reports = Path(command[command.index("--report-dir") + 1])
    shutil.copy(settings.build / "report.json", reports / f"{LAB}.json")
    return 0, ""


def grade_all(course: Course, roster: Sequence[Student] = ()) -> dict[str, Graded]:
    """Run the whole batch in this process, from the folder of submissions to the outputs."""
    course.out.mkdir(exist_ok=True)
    settings = Settings(LAB, STAGES, course.root, course.build, course.out, "cpu")
    database = Database(course.out / "batch.sqlite")
    places = {"root": str(course.root), "build": str(course.build), "folder": str(course.out)}
    database.set_values(settings=vars(settings) | places)
    submissions, _ = find_submissions(course.handed_in, LAB, roster, course.out)
    database.enter(submissions)
    graded = {}
    for hand_in in grade_here(database.waiting(), settings, "cpu", 2):
        keep(database, hand_in, "")
        graded[hand_in.key] = hand_in
    write_outputs(database, settings)
    return graded


def pax_tar(**headers: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in FILES:
            entry = tarfile.TarInfo(name)
            entry.size, entry.pax_headers = len(content), headers
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def bad_lzma() -> bytes:
    """Return a zip whose member has invalid LZMA properties, so that Python's lzma raises its own error."""
    archive = make_zip(*FILES, method=zipfile.ZIP_LZMA)
    return archive.replace(b"\x09\x04\x05\x00\x5d", b"\x09\x04\x05\x00\xff")


SEEDS = {
    "stored.zip": make_zip(*FILES, method=zipfile.ZIP_STORED),
    "deflated.zip": make_zip(*FILES),
    "lzma.zip": make_zip(*FILES, method=zipfile.ZIP_LZMA),
    "bzip2.zip": make_zip(*FILES, method=zipfile.ZIP_BZIP2),
    "bad.zip": bad_lzma(),
    "plain.tar": make_tar(*FILES),
    "long.tar": make_tar(("folder/" * 30 + "01_first.cu", b"// first")),
    "pax.tar": pax_tar(mtime="nan", size="-512", path="\ud800.cu".encode("utf-8", "replace").decode()),
    "sparse.tar": pax_tar(**{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "01_first.cu"}),
    "odd_time.tar": pax_tar(mtime="1e400"),
    "gzip.tar.gz": gzip.compress(make_tar(*FILES)),
    "bzip2.tar.bz2": bz2.compress(make_tar(*FILES)),
    "xz.tar.xz": lzma.compress(make_tar(*FILES)),
    "inner.zip": make_zip(("inner.tar.gz", gzip.compress(make_tar(*FILES)))),
    "journal.zip": make_zip(*FILES, ("journal/records.jsonl", b"{" * 5000), ("journal/01_first.md", b"\xff\0")),
}


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with some overwritten, removed or duplicated."""
    for _ in range(chance.choice((0, 1, 1, 2, 8))):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 4, 30, 600))
        piece = chance.choice(
            (b"", bytes(length), b"\xff" * length, chance.randbytes(length), data[at : at + length] * 2)
        )
        data = data[:at] + piece + data[at + chance.choice((0, length)) :]
    return data


def test_any_bytes_get_a_status_and_cost_others_nothing(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "run_judge", judge)
    monkeypatch.setattr(opening, "read_in_child", lambda entries, _: read_all(entries))  # 350 processes would take long
    chance = random.Random(1)
    for number in range(300):
        name = chance.choice(list(SEEDS))
        (course.handed_in / f"eve{number}-{name}").write_bytes(mutate(SEEDS[name], chance))
    for name, (_, make) in HOSTILE.items():
        (course.handed_in / f"{name}.tar").write_bytes(make())
    for student in ("al1", "at2", "gh3"):
        course.hand_in(student, "fine", "fine")
    graded = grade_all(course)
    assert {graded[student].status for student in ("al1", "at2", "gh3")} == {"graded"}
    assert {hand_in.status for hand_in in graded.values()} <= STATUSES.keys() - {"judge_error"}
    assert len(graded) == 303 + len(HOSTILE)
    points = {
        line["id"]: line["points"] for line in csv.DictReader((course.out / "gradebook.csv").open(encoding="utf-8-sig"))
    }
    assert {points[student] for student in ("al1", "at2", "gh3")} == {"12"}


@pytest.mark.parametrize("name", SEEDS)
def test_no_mutation_of_the_download_writes_outside_its_folder(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    for number in range(15):
        file = tmp_path / f"{number}-{name}"
        file.write_bytes(mutate(SEEDS[name], chance))
        try:
            unpack(file, tmp_path / "out", LAB)
        except UserError as error:
            assert str(file) in str(error)


def test_an_invalid_member_costs_only_its_own_hand_in(course: Course) -> None:
    (course.handed_in / "eve.zip").write_bytes(bad_lzma())
    course.hand_in("al1", "fine", "fine")
    assert course.grade().returncode == 0
    assert course.statuses() == {"eve": "archive_refused", "al1": "graded"}


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_with_an_unbounded_compression_method_is_refused(method: int) -> None:
    with pytest.raises(RefusedError) as error:
        read_archive(make_zip(("01_first.cu", bytes(10**6)), method=method))
    assert error.value.reason == "unknown_method"


def test_an_unsupported_member_is_omitted_only_from_its_hand_in(course: Course) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("eve_66_1_01_first.cu", b"fine", compress_type=zipfile.ZIP_LZMA)
        archive.writestr("ada_12_1_01_first.cu", b"fine")
        archive.writestr("ada_12_2_02_second.cu", b"fine")
    course.handed_in = course.handed_in.with_name("all.zip")
    course.handed_in.write_bytes(buffer.getvalue())
    result = course.grade()
    assert "Skipped: all.zip: not everything was unpacked; its compression method is not supported" in result.stderr
    assert course.statuses() == {"66": "nothing_to_grade", "12": "graded"}


def nest(folder: Path, depth: int) -> None:
    """Make nested folders. 3000 of them exceed the maximum length of a path and Python's recursion limit."""
    folder.mkdir()
    code = f"import os\nos.chdir({str(folder)!r})\nfor _ in range({depth}): os.mkdir('d'); os.chdir('d')\n"
    subprocess.run([sys.executable, "-c", code + "open('01_first.cu', 'w')"], check=True)


def test_folders_nested_deeply_are_refused(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    nest(course.handed_in / "eve", 3000)
    (course.handed_in / "mallory.zip").write_bytes(make_zip(("d/" * 1500 + "01_first.cu", b"")))
    course.hand_in("al1", "fine", "fine")
    monkeypatch.setattr(grading, "run_judge", judge)
    statuses = {key: hand_in.status for key, hand_in in grade_all(course).items()}
    subprocess.run(["rm", "-rf", course.handed_in / "eve"], check=True)  # pytest would delete it recursively
    assert statuses == {"eve": "archive_refused", "mallory": "archive_refused", "al1": "graded"}


def test_a_reader_that_raises_does_not_end_the_batch(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exception of Python's readers becomes a refusal."""
    data = make_zip(*FILES)
    for error in (RecursionError, MemoryError, OverflowError, lzma.LZMAError, NotImplementedError, AssertionError):
        with monkeypatch.context() as patched:
            patched.setattr(zipfile, "ZipFile", lambda *_, error=error: (_ for _ in ()).throw(error))
            with pytest.raises(RefusedError):
                read_archive(data)
            (course.handed_in / "al1.zip").write_bytes(data)
            assert read_all([course.handed_in / "al1.zip"]).refused


def test_an_internal_error_affects_only_its_submission(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_error(*_: object) -> None:
        raise RuntimeError("\udcff /srv/course")

    monkeypatch.setattr(grading, "run_judge", judge)
    monkeypatch.setattr(grading, "keep_journal", raise_error)
    course.hand_in("al1", "fine", "fine")
    assert grade_all(course)["al1"].status == "graded"
    monkeypatch.setattr(opening, "pick_stages", raise_error)
    course.hand_in("al1", "other", "fine")
    assert grade_all(course)["al1"].status == "judge_error"


def test_a_device_is_written_to_and_not_replaced() -> None:
    reader, writer = os.pipe()
    write_document("12\r\n", Path(f"/dev/fd/{writer}"))
    assert os.read(reader, 10) == b"12\r\n"
    for end in (reader, writer):
        os.close(end)


def test_a_link_that_another_user_prepared_is_not_followed(tmp_path: Path) -> None:
    (notes := tmp_path / "notes").write_text("The instructor's own.")
    (tmp_path / f".grades.csv.{os.getpid()}.tmp").symlink_to(notes)
    write_atomically(file := tmp_path / "grades.csv", "12")
    assert file.read_text() == "12" and not file.is_symlink()
    assert notes.read_text() == "The instructor's own."


def test_links_at_the_top_are_refused_and_not_followed(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = course.root / "solutions"
    solutions.mkdir()
    for name, content in FILES:
        (solutions / name).write_bytes(content)
    (solutions / "al1.zip").write_bytes(make_zip(*FILES))
    (course.handed_in / "mallory").symlink_to(solutions)
    (course.handed_in / "eve.zip").symlink_to(solutions / "al1.zip")
    (course.handed_in / "trudy_66_1_01_first.cu").symlink_to(solutions / "01_first.cu")
    (course.handed_in / "nobody").symlink_to(course.root / "not there")
    for name in ("long.er", "Oscar_67_assignsubmission_file_"):
        (course.handed_in / name).symlink_to("a" * 300)  # looking it up is an error
    course.hand_in("al1", "fine", "fine")
    monkeypatch.setattr(grading, "run_judge", judge)
    graded = grade_all(course)
    assert graded.pop("al1").status == "graded"
    assert {key: hand_in.status for key, hand_in in graded.items()} == dict.fromkeys(
        ("mallory", "eve", "66", "nobody", "long.er", "67"), "archive_refused"
    )
    assert all("It contains a link" in hand_in.detail for hand_in in graded.values())
    assert not any("solutions" in file.read_text() for file in (course.out / "feedback").rglob("*.txt"))


def test_the_folder_of_submissions_may_be_a_link(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    link = course.root / "link"
    link.symlink_to(course.handed_in)
    course.handed_in = link
    course.grade()
    assert course.statuses() == {"al1": "graded"}


def test_no_name_maps_to_another_hand_ins_folder(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "run_judge", judge)
    names = ["ada@x.org", earlier_name("ada@x.org"), folder_name("ada@x.org")]
    for name in names:
        course.hand_in(name, "fine", "fine")
    grade_all(course)
    for name in names:
        (copied,) = place_of(course.out, "submissions", name).glob(f"{LAB}/{STAGES[0]}.cu")
        assert copied.read_text() == f"// {name}\nfine\n"
    assert len(list((course.out / "feedback").iterdir())) == len(names)


def test_an_earlier_batch_continues_with_its_folders(course: Course) -> None:
    course.hand_in("ada@x.org", "fine", "fine")
    course.grade()
    for part in ("submissions", "feedback"):
        place_of(course.out, part, "ada@x.org").rename(course.out / part / earlier_name("ada@x.org"))
    course.database().set_values(schema=2)
    assert course.grade().returncode == 0
    for part in ("submissions", "feedback"):
        assert [folder.name for folder in (course.out / part).iterdir()] == [folder_name("ada@x.org")]
    assert course.log("end") == [folder_name("ada@x.org")]  # nothing was graded again


def test_a_batch_of_schema_8_continues_with_its_folders(course: Course) -> None:
    course.hand_in("-rf", "fine", "fine")
    course.grade()
    for part in ("submissions", "feedback"):
        place_of(course.out, part, "-rf").rename(course.out / part / "-rf")
    course.database().set_values(schema=8)
    assert course.grade().returncode == 0
    for part in ("submissions", "feedback"):
        assert [folder.name for folder in (course.out / part).iterdir()] == [folder_name("-rf")]
    assert course.log("end") == [folder_name("-rf")]  # nothing was graded again


def test_only_the_instructor_can_read_a_batchs_folder(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    (course.hand_in("at2") / "journal").mkdir()
    course.grade()
    for path in (course.out, *course.out.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_feedback_hides_the_instructors_folders(course: Course) -> None:
    report = (course.build / "report.json").read_text()
    log = f"{course.build}/cache/x.cu: error; {course.root}/labs/lab/lab.h; {course.out}/submissions/y"
    (course.build / "report.json").write_text(report.replace('"log": ""', f'"log": {json.dumps(log)}'))
    course.hand_in("al1", "compile_error", "compile_error")
    course.grade()
    for file in (course.out / "feedback" / "al1").iterdir():
        assert str(course.root.parent) not in file.read_text(), file.name


def test_an_invalid_time_does_not_stop_the_batch(course: Course) -> None:
    (course.handed_in / f"{LAB}-al1-0001-01-01-000000.tar.gz").write_bytes(gzip.compress(make_tar(*FILES)))
    (course.handed_in / f"{LAB}-at2-9999-12-31-235959.tar.gz").write_bytes(gzip.compress(make_tar(*FILES)))
    os.utime(course.hand_in("gh3", "fine", "fine"), (2**40, 2**40))
    course.grade()
    assert course.run_verb("due", "--at", "2026-11-21T23:59+14:00", "--trust-file-dates").returncode == 0
    assert course.run_verb("report").returncode == 0
    assert set(course.statuses().values()) == {"graded"}


def test_output_has_no_escape_sequences_or_direction_marks(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a\x1b[2J\x9b31m\x07\u202e\u2066\u200b\u200d\u2028\udcff\U000e0041b\rc"
    say(hostile)
    say_error(hostile)
    for output in capsys.readouterr():
        assert output[:-1].isprintable() and output.startswith("a") and output.endswith("c\n")


def test_grading_ends_at_the_time_limit_of_one_hand_in(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def judge_slowly(command: Sequence[str], settings: Settings, *_: object) -> tuple[int, str]:
        limits.append(settings.timeout_s)
        return 3, "The judge broke."

    monkeypatch.setattr(grading, "run_judge", judge_slowly)
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(grading.time, "monotonic", lambda: next(clock))
    course.out.mkdir()
    course.hand_in("al1", "fine", "fine")
    settings = Settings(LAB, STAGES, course.root, course.build, course.out, "cpu", timeout_s=500)
    entries = [course.handed_in / "al1"]
    grade_submission(Submission("al1", entries=entries, fingerprint=find_fingerprint(entries)), settings)
    assert limits == sorted(limits, reverse=True) and max(limits) < 500
