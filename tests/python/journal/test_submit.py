"""Tests of submit.py: which files it packs and which it refuses, and that each refusal is one clear message."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.journal.authors import Author, parse_authors
from grader.python.journal.submit import collect, make_archive, make_manifest, name_archive, same_text
from tests.python import samples
from tests.python.support import ROOT, run_module

MODULE = "grader.python.journal.submit"
ADA = "Ada Lovelace <al123>"
NOW = datetime(2026, 11, 21, 4, 5, 6, tzinfo=UTC)
STAGES = ("01_first", "02_second")


def write(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def write_report(root: Path, stage: str, source: bytes, **changes: object) -> None:
    stage_report = samples.stage(stage, stage, source_hash=hashlib.sha256(source).hexdigest(), **changes)
    write(root / f"work/lab/reports/{stage}.json", json.dumps(samples.report(lab="lab", stages=[stage_report])))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Make a course with one lab of two stages, whose reports are current."""
    write(tmp_path / "labs/lab/lab.json", json.dumps({"stages": [{"id": stage} for stage in STAGES]}))
    for stage in STAGES:
        write(tmp_path / f"starter/lab/{stage}.cu", f"// TODO {stage}\n")
        source = f"// done {stage}\n"
        write(tmp_path / f"work/lab/{stage}.cu", source)
        write_report(tmp_path, stage, source.encode())
    return tmp_path


def test_a_report_with_a_stages_earlier_number_is_packed(course: Path) -> None:
    stage_report = samples.stage("07_second", "second", source_hash=hashlib.sha256(b"// done 02_second\n").hexdigest())
    write(course / "work/lab/reports/02_second.json", json.dumps(samples.report(lab="lab", stages=[stage_report])))
    submission = collect(course, course / "work", "lab", course / "build")
    assert "reports/02_second.json" in submission.files and submission.warnings == []


def submit(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_module(MODULE, "lab", *arguments, cwd=root, **variables)


def archives(root: Path) -> list[Path]:
    return sorted((root / "work").glob("*.tar.gz"))


def unpack(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        assert all(member.isfile() and (member.uid, member.gid, member.mode) == (0, 0, 0o644) for member in members)
        return {member.name: tar.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def test_the_archive_contains_files_reports_authors_and_hashes(course: Path) -> None:
    result = submit(course, "--author", ADA, "--author", "Alan Turing <at456>")
    assert (result.returncode, result.stderr) == (0, "")
    (archive,) = archives(course)
    assert archive.name.startswith("lab-al123-at456-20")
    assert f"Hand in this file: work/{archive.name}" in result.stdout
    assert f"Its code is {hashlib.sha256(archive.read_bytes()).hexdigest()[:8]}: " in result.stdout
    files = unpack(archive)
    manifest = json.loads(files.pop("lab/manifest.json"))
    assert sorted(files) == sorted([f"lab/{s}.cu" for s in STAGES] + [f"lab/reports/{s}.json" for s in STAGES])
    assert {f"lab/{entry['path']}": entry["sha256"] for entry in manifest["files"]} == {
        path: hashlib.sha256(content).hexdigest() for path, content in files.items()
    }
    assert manifest["authors"] == [{"name": "Ada Lovelace", "id": "al123"}, {"name": "Alan Turing", "id": "at456"}]
    assert (manifest["schema"], manifest["lab"], manifest["forced"]) == (1, "lab", False)
    assert (manifest["problems"], manifest["warnings"], manifest["warplab"]) == ([], [], "unknown")
    assert (manifest["kit"], manifest["stages"]) == (0, list(STAGES))
    write(course / "grader/kit.json", '{"number": 3, "labs": {"lab": ["01_first"]}}')
    submit(course, AUTHORS=ADA)
    kits = [json.loads(unpack(file)["lab/manifest.json"])["kit"] for file in archives(course)]
    assert sorted(kits) in ([0, 3], [3])  # an archive that is packed within the same second replaces the first


def test_earlier_archives_are_listed_and_kept(course: Path) -> None:
    old = course / "work/lab-al123-2026-01-31-120000.tar.gz"
    for archive in (old, course / "work/lab_two-al123-2026-01-31-120000.tar.gz", course / "work/lab-notes.tar.gz"):
        archive.write_bytes(b"old")
    result = submit(course, "--author", ADA)
    *_, heading, item, last, _, _ = result.stdout.splitlines()
    assert heading == "Packed earlier; do not hand in:"
    assert item == f"  - work/{old.name}"
    assert last.startswith("Hand in this file: work/lab-al123-20")
    assert old.read_bytes() == b"old"


def test_the_local_time_is_printed_next_to_the_utc_time_of_the_name(course: Path) -> None:
    last = submit(course, "--author", ADA, TZ="HERE-5:30").stdout.splitlines()[-1]
    (archive,) = archives(course)
    packing_time = datetime.strptime(archive.name, "lab-al123-%Y-%m-%d-%H%M%S.tar.gz") + timedelta(hours=5, minutes=30)
    assert last == f"Its name gives the packing time in UTC; in local time: {packing_time:%Y-%m-%d %H:%M:%S} HERE."


def test_the_same_contents_and_time_give_the_same_bytes(course: Path) -> None:
    def pack() -> bytes:
        submission = collect(course, course / "work", "lab", course / "build")
        manifest = make_manifest(submission, [Author("Ada", "a")], "1", NOW)
        return make_archive(submission, manifest, NOW)

    first = pack()
    os.utime(course / "work/lab/01_first.cu", (1, 1))
    assert pack() == first
    assert first[4:8] == bytes(4)  # the time in gzip's header
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        assert tar.getnames() == sorted(tar.getnames())


def test_the_manifest_has_the_programs_version(course: Path) -> None:
    write(course / "build/warplab", "#!/bin/sh\necho warplab 9.8 abc\nsleep 0\n").chmod(0o755)
    submit(course, "--author", ADA)
    assert json.loads(unpack(archives(course)[0])["lab/manifest.json"])["warplab"] == "warplab 9.8 abc"


def test_authors_are_kept_and_used_again(course: Path) -> None:
    assert submit(course, AUTHORS=f"{ADA}; Alan  Turing<at456>").returncode == 0
    result = submit(course)
    assert result.returncode == 0
    assert "Authors: Ada Lovelace <al123>; Alan Turing <at456> (from work/authors.json" in result.stdout


def make_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def make_link(file: Path) -> None:
    file.rename(file.with_suffix(".txt"))
    file.symlink_to(file.with_suffix(".txt"))


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def test_texts_differ_if_one_is_far_longer() -> None:
    assert same_text(b"a  \r\nb\n", b"a\nb") and not same_text(b"a" + b"\n" * 1_000_000, b"a")


BAD_FILES: list[tuple[Callable[[Path], object], str]] = [
    (Path.unlink, "work/lab/02_second.cu is missing."),
    (lambda file: file.write_text(""), "work/lab/02_second.cu is empty."),
    (lambda file: file.write_text(" \n\t\r\n"), "work/lab/02_second.cu is empty."),
    (lambda file: file.write_text("// TODO 02_second\n"), "work/lab/02_second.cu is still the starter."),
    (lambda file: file.write_bytes(b"// TODO 02_second  \r\n"), "work/lab/02_second.cu is still the starter."),
    (lambda file: file.write_bytes(b"x" * 1_000_001), "work/lab/02_second.cu is larger than 1 MB."),
    (make_fifo, "work/lab/02_second.cu is not a regular file."),
    (make_folder, "work/lab/02_second.cu is not a regular file."),
    (make_link, "work/lab/02_second.cu is a symbolic link."),
    (lambda file: file.rename(file.with_name("02_secnd.cu")), "Should it be called 02_second.cu?"),
    (
        lambda file: write(file.with_name("mine.cu"), "x"),
        "work/lab/mine.cu is not a stage of this lab. Move it",
    ),
    (lambda file: write(file.with_name("tools.cuh"), "x"), "A stage is one file"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD_FILES)
def test_files_that_cannot_be_graded_are_refused_unless_forced(
    course: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(course / "work/lab/02_second.cu")
    refused = submit(course, "--author", ADA)
    assert refused.returncode == 1
    assert message in refused.stdout
    assert "make submit LAB=lab FORCE=1" in refused.stdout
    assert archives(course) == []
    forced = submit(course, "--author", ADA, FORCE="1")
    assert forced.returncode == 0, forced.stderr
    assert message in forced.stdout
    files = unpack(archives(course)[0])
    manifest = json.loads(files["lab/manifest.json"])
    assert manifest["forced"] is True
    assert any(message in problem for problem in manifest["problems"])
    assert all(len(content) <= 1_000_000 for content in files.values())
    assert "lab/01_first.cu" in files


def test_all_problems_are_reported_at_once(course: Path) -> None:
    (course / "work/lab/01_first.cu").unlink()
    (course / "work/lab/02_second.cu").write_text("")
    result = submit(course, "--author", ADA)
    assert "01_first.cu is missing" in result.stdout
    assert "02_second.cu is empty" in result.stdout


def test_force_without_any_file_is_refused(course: Path) -> None:
    for stage in STAGES:
        (course / f"work/lab/{stage}.cu").unlink()
    result = submit(course, "--force", "--author", ADA)
    assert result.returncode == 2
    assert "None of the stages' files can be packed" in result.stderr


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (Path.unlink, "02_second was never checked. Check it: make check LAB=lab STAGE=02"),
        (lambda file: file.write_text("{"), "02_second.json:1: not valid JSON"),
        (lambda file: file.write_text("{}"), "not a report of build/warplab"),
        (lambda file: file.write_text(json.dumps(samples.report())), "is not about 02_second"),
        (make_link, "02_second.json is a symbolic link."),
        (make_fifo, "02_second.json is not a regular file."),
    ],
)
def test_a_missing_or_broken_report_is_only_a_warning(
    course: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(course / "work/lab/reports/02_second.json")
    result = submit(course, "--author", ADA)
    assert result.returncode == 0
    assert message in result.stdout
    assert "lab/reports/02_second.json" not in unpack(archives(course)[0])


def write_journal(course: Path) -> Path:
    """Write a journal with one record of the first stage, a note, and pages that are stale. Return its folder."""
    report = samples.report(
        lab="lab", stages=[samples.stage("01_first", "First", measurements=[samples.measurement()])]
    )
    record = {"schema": 1, "kind": "report", "time": "2026-11-21T04:05:06Z", "lab": "lab", "stage": "01_first"}
    folder = course / "work/lab/journal"
    write(folder / "records.jsonl", json.dumps(record | {"source_hash": "5f2a" * 16, "report": report}) + "\n")
    write(folder / "01_first.md", "## Goal\nTo be handed in.\n")
    write(folder / "journal.html", "stale")
    write(folder / "journal.pdf", "not packed")
    return folder


def test_the_journal_is_packed_as_it_is_now(course: Path) -> None:
    write(write_journal(course) / "quiz.json", '{"schema": 1, "lab": "lab", "answers": []}')
    result = submit(course, "--author", ADA)
    assert (result.returncode, result.stderr) == (0, "")
    files = unpack(archives(course)[0])
    names = sorted(path.removeprefix("lab/journal/") for path in files if path.startswith("lab/journal/"))
    assert names == ["01_first.md", "journal.html", "journal.md", "quiz.json", "records.jsonl"]
    assert b"To be handed in." in files["lab/journal/journal.html"]
    assert b"0.07830" in files["lab/journal/journal.md"]
    manifest = json.loads(files["lab/manifest.json"])
    hashes = {f"lab/{entry['path']}": entry["sha256"] for entry in manifest["files"]}
    page = files["lab/journal/journal.html"]
    assert hashes["lab/journal/journal.html"] == hashlib.sha256(page).hexdigest()


def test_a_journal_that_cannot_be_packed_is_only_a_warning(course: Path) -> None:
    folder = write_journal(course)
    make_link(folder / "01_first.md")
    write(folder / "records.jsonl", (folder / "records.jsonl").read_text() + "{half a line")
    result = submit(course, "--author", ADA)
    assert result.returncode == 0
    assert "01_first.md is a symbolic link." in result.stdout
    assert "records.jsonl, line 2, is skipped: not valid JSON" in result.stdout
    files = unpack(archives(course)[0])
    assert "lab/journal/01_first.md" not in files
    assert b"To be handed in." not in files["lab/journal/journal.html"]
    with (folder / "records.jsonl").open("ab") as stream:
        stream.write(b" " * 10_000_000)
    large = submit(course, "--author", ADA)
    assert "records.jsonl is larger than 10 MB: omitted." in large.stdout
    files = unpack(archives(course)[-1])
    assert "lab/journal/records.jsonl" not in files
    assert b"0.07830" in files["lab/journal/journal.md"]


def test_a_record_that_cannot_be_shown_is_only_a_warning(course: Path) -> None:
    records = write_journal(course) / "records.jsonl"
    record = json.loads(records.read_text())
    (measurement, *_) = record["report"]["stages"][0]["measurements"]
    measurement["median_s"] = 5e-324
    write(records, json.dumps(record) + "\n")
    result = submit(course, "--author", ADA)
    assert result.returncode == 0 and "Traceback" not in result.stderr
    assert "The journal could not be made: A record has values that cannot be shown" in result.stdout
    assert "lab/journal/records.jsonl" in unpack(archives(course)[0])


def test_a_stale_report_and_a_failing_stage_cause_warnings(course: Path) -> None:
    write(course / "work/lab/01_first.cu", "// changed\n")
    failed = samples.check("ragged", verdict="failed", failure={"cause": "tail_lost", "message": "…"})
    write_report(course, "02_second", b"// done 02_second\n", verdict="failed", checks=[failed])
    result = submit(course, "--author", ADA)
    assert result.returncode == 0
    assert "01_first was changed since its last report. To make a new one: make check LAB=lab STAGE=01" in result.stdout
    assert "  - 01_first: passed before its last change" in result.stdout
    assert "  - 02_second: failed (tail_lost)" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No author was given"),
        ("Ada", "'Ada' is not of the form"),
        ("Ada <>", "id is empty"),
        ("<al123>", "name is empty"),
        ("Ada <a b>", "has a space"),
        ("Ada <a>; Alan <a>", "given twice"),
        ("Ada <a<b>>", "is not of the form"),
        ("Ada\x1b[31m <a>", "unprintable characters"),
        ("A" * 101 + " <a>", "longer than 100"),
    ],
)
def test_invalid_authors_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse_authors([text])
    assert message in str(error.value)


def test_unusual_names_are_accepted_and_ids_give_safe_file_names(course: Path) -> None:
    authors = parse_authors(["Søren Ødegård, jr. <../../etc>; 李 <-rf>; O'Neil <a/b\\c>"])
    assert name_archive("lab", authors, NOW) == "lab-etc-rf-a_b_c-2026-11-21-040506.tar.gz"
    assert submit(course, "--author", "Søren Ødegård <../../x>").returncode == 0
    assert [file.name.rsplit("-", 4)[0] for file in archives(course)] == ["lab-x"]


def test_an_archives_name_contains_whole_ids_or_is_refused() -> None:
    ids = [f"{'i' * 50}{number}@uni.example" for number in range(4)]
    assert f"lab-{ids[0]}-{ids[1]}-2026-".replace("@", "_") in name_archive(
        "lab", [Author("x", i) for i in ids[:2]], NOW
    )
    with pytest.raises(UserError, match="choose shorter ones"):
        name_archive("lab", [Author("x", i) for i in ids], NOW)


def test_without_a_terminal_the_authors_must_be_given(course: Path) -> None:
    result = submit(course)
    assert result.returncode == 2
    assert result.stderr.startswith('Who hands in? Give the authors like this: AUTHORS="')
    closed = f"cd '{course}' && PYTHONPATH='{ROOT}' '{sys.executable}' -m {MODULE} lab <&-"
    process = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr.startswith("Who hands in?")


@pytest.mark.parametrize("content", ["{", "[]", '{"authors": []}', '{"authors": [{"name": "Ada"}]}'])
def test_broken_authors_file_is_reported(course: Path, content: str) -> None:
    write(course / "work/authors.json", content)
    result = submit(course)
    assert result.returncode == 2
    assert "work/authors.json" in result.stderr


def on_terminal(course: Path, *answers: str) -> tuple[int, str]:
    """Run the command on a terminal, and type the next answer whenever a question that ends with ': ' appears."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(course)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "AUTHORS": ""}
        os.execve(sys.executable, [sys.executable, "-m", MODULE, "lab"], environment)
    output = b""
    remaining = list(answers)
    deadline = time.monotonic() + 30
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                # After the prompt, input() may miss a signal that comes while it sets up the terminal.
                if answers == ("\x03",) and output:
                    os.write(terminal, b"\x03")
                continue
            output += os.read(terminal, 1000)
            if output.endswith(b": ") and remaining:
                os.write(terminal, remaining.pop(0).encode())
        os.kill(pid, signal.SIGKILL)
    except OSError:  # the other end is closed
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert b"Traceback" not in output
    return os.waitstatus_to_exitcode(status), output.decode()


def test_the_authors_are_asked_for_once_on_a_terminal(course: Path) -> None:
    answers = ("Ada Lövelace\n", "al 123\n", "Ada Lövelace\n", "al123\n", "Alan\n", "at456\n", "\n")
    status, output = on_terminal(course, *answers)
    assert status == 0, output
    assert "has a space" in output
    stored = json.loads((course / "work/authors.json").read_text())
    assert stored["authors"] == [{"name": "Ada Lövelace", "id": "al123"}, {"name": "Alan", "id": "at456"}]
    assert submit(course).returncode == 0


@pytest.mark.parametrize(("keys", "status", "message"), [("\x03", 130, "Interrupted"), ("\x04", 2, "No answer")])
def test_an_interrupted_or_unanswered_question_ends_the_command(
    course: Path, keys: str, status: int, message: str
) -> None:
    exit_status, output = on_terminal(course, keys)
    assert (exit_status, message in output) == (status, True), output
    assert archives(course) == []
    assert not (course / "work/authors.json").exists()


def test_an_unknown_lab_or_a_lab_not_started_is_refused(course: Path) -> None:
    result = run_module(MODULE, "../x", cwd=course)
    assert (result.returncode, "Labs: lab." in result.stderr) == (2, True)
    write(course / "labs/other/lab.json", '{"stages": []}')
    result = run_module(MODULE, "other", cwd=course)
    assert (result.returncode, "make start LAB=other" in result.stderr) == (2, True)


def test_an_archive_that_cannot_be_written_gives_a_message(course: Path) -> None:
    write(course / "work/authors.json", json.dumps({"authors": [{"name": "Ada", "id": "a"}]}))
    full = f"ulimit -f 0; PYTHONPATH='{ROOT}' PYTHONDONTWRITEBYTECODE=1 '{sys.executable}' -m {MODULE} lab"
    result = subprocess.run(["sh", "-c", full], cwd=course, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Cannot write work/lab-a-")
    assert "File too large" in result.stderr
    assert "Traceback" not in result.stderr
    assert archives(course) == []


def test_a_students_file_is_never_changed(course: Path) -> None:
    before = {file: file.read_bytes() for file in (course / "work/lab").rglob("*") if file.is_file()}
    submit(course, "--author", ADA)
    assert {file: file.read_bytes() for file in (course / "work/lab").rglob("*") if file.is_file()} == before
