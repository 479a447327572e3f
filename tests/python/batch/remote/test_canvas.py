"""pull and push against a simulated Canvas with faults: nothing is written twice, and nothing is lost."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.python.batch.__main__ import main
from grader.python.batch.remote import connection, exchange, push
from grader.python.batch.remote.pull import name_file, pull
from grader.python.common.console import UserError
from tests.python.batch.batches import Course
from tests.python.batch.ingest.test_archive import make_zip
from tests.python.batch.remote.canvas import FAULTS, TOKEN, Canvas

pytest.importorskip("canvasapi")
STUDENTS = 300 if os.environ.get("WARPLAB_THOROUGH") else 40
ASSIGNMENT = ("--course", "12", "--assignment", "34")


@pytest.fixture
def canvas(monkeypatch: pytest.MonkeyPatch, without_pauses: None) -> Iterator[Canvas]:
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    simulated = Canvas()
    yield simulated
    simulated.server.shutdown()


def run(*words: str | Path) -> int:
    return main(list(map(str, words)))


def fill(canvas: Canvas, count: int) -> None:
    for number in range(count):
        texts = [("01_first.cu", f"fine {number}".encode()), ("02_second.cu", f"fine {number}".encode())]
        files: Sequence[tuple[str, bytes]] = texts if number % 3 else [("lab 1.zip", make_zip(*texts))]
        handed_in = () if number % 10 == 9 else files
        canvas.add(7000 + number, f"Ann Lee{number}", f"u{number:03}x", *handed_in, late=number % 7 == 0)


def grade(course: Course, folder: Path) -> subprocess.CompletedProcess[str]:
    course.handed_in = folder / "hand-ins"
    return course.grade("--roster", folder / "roster.csv")


def test_pull_grade_and_push_of_a_course_work_despite_faults(canvas: Canvas, course: Course, tmp_path: Path) -> None:
    fill(canvas, STUDENTS)
    canvas.share = 0.3
    pulled = tmp_path / "pulled"
    assert run("pull", pulled, "--canvas", canvas.url, *ASSIGNMENT) == 0
    files = {file.name: file.read_bytes() for file in (pulled / "hand-ins").iterdir()}
    assert sorted(files.values()) == sorted(canvas.files.values())
    assert "leeann_LATE_7000_500000_lab 1.zip" not in files and any(
        name.startswith("lee0ann_LATE_7000_") for name in files
    )
    result = grade(course, pulled)
    assert result.returncode == 0 and "roster" not in result.stderr.lower(), result.stderr
    assert run("push", course.out, "--canvas", canvas.url, *ASSIGNMENT) == 0
    assert not canvas.writes, "without --send, nothing is written"
    for _ in range(2):  # the second time changes nothing
        assert run("push", course.out, "--canvas", canvas.url, *ASSIGNMENT, "--send") == 0
    handed_in = {number: submission for number, submission in canvas.submissions.items() if submission["attachments"]}
    assert set(canvas.writes) == set(handed_in) and set(canvas.writes.values()) == {1}
    assert set(canvas.faults) == set(FAULTS)
    with (course.out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        points = {line["id"]: float(line["points"]) for line in csv.DictReader(file) if line["points"]}
    for submission in handed_in.values():
        login = submission["user"]["login_id"]
        (comment,) = submission["submission_comments"]
        uploaded = {file["display_name"]: canvas.uploads[file["id"]][1] for file in comment["attachments"]}
        assert submission["entered_score"] == points[login]
        assert uploaded["feedback.txt"] == (course.out / f"feedback/{login}/feedback.txt").read_bytes()
        assert uploaded["feedback.html"] == (course.out / f"feedback/{login}/index.html").read_bytes()
    for file in (course.out / "batch.sqlite", *pulled.iterdir()):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()


def test_pull_continues_and_keeps_only_the_last_attempt(canvas: Canvas, tmp_path: Path, capsys) -> None:
    fill(canvas, 4)
    pulled = tmp_path / "pulled"
    run("pull", pulled, "--canvas", canvas.url, *ASSIGNMENT)
    first, *_ = sorted((pulled / "hand-ins").iterdir())
    first.write_bytes(b"half")
    canvas.add(7001, "Ann Lee1", "u001x", ("01_first.cu", b"again"))
    canvas.submissions[7000]["cached_due_date"] = "2026-11-24T10:00:00Z"  # only for this student
    canvas.submissions[7002]["cached_due_date"] = "2026-11-19T10:00:00Z"
    capsys.readouterr()
    run("pull", pulled, "--canvas", canvas.url, *ASSIGNMENT)
    assert "4 students, 5 files, 2 of them new." in capsys.readouterr().out
    contents = [file.read_bytes() for file in (pulled / "hand-ins").iterdir() if "_7001_" in file.name]
    assert contents == [b"again"] and first.read_bytes() != b"half"
    rows = list(csv.DictReader((pulled / "roster.csv").read_text().splitlines()))
    assert rows[0] == {"id": "u000x", "name": "Ann Lee0", "canvas id": "7000", "email": "",
                       "submitted": "2026-11-20T10:00:00Z", "extended until": "2026-11-24T10:00:00Z"}  # fmt: skip
    assert [row["extended until"] for row in rows[1:]] == ["", "", ""]


def test_a_file_with_a_long_name_is_fetched(canvas: Canvas, tmp_path: Path) -> None:
    canvas.add(1, "Ann Lee", "al1", ("漢" * 90 + ".cu", b"long"), ("ж" * 90 + ".cu", b"long"), (".cu", b"hidden"))
    canvas.add(2, "李" * 40 + " Lee", "ll2", ("01_first.cu", b"next"))
    assert run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT) == 0
    contents = sorted(file.read_bytes() for file in (tmp_path / "pulled/hand-ins").iterdir())
    assert contents == [b"hidden", b"long", b"long", b"next"]


def test_files_that_never_have_the_announced_size_are_listed(canvas: Canvas, tmp_path: Path, capsys) -> None:
    fill(canvas, 2)
    canvas.files[500_000] = b"other than Canvas says"
    assert run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT) == 1
    assert "Not fetched (1): lee0ann_LATE_7000_500000_lab 1.zip." in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [{"user": None}, {"attachments": [{"id": 1}]}, {"attachments": [{}], "user": 7}])
def test_a_wrong_answer_about_one_student_costs_no_file(canvas: Canvas, tmp_path: Path, wrong: dict[str, Any]) -> None:
    fill(canvas, 2)
    assert run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT) == 0
    before = {file.name.partition("_")[2] for file in (tmp_path / "pulled/hand-ins").iterdir()}
    canvas.submissions[7000] |= wrong
    run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT)
    assert {file.name.partition("_")[2] for file in (tmp_path / "pulled/hand-ins").iterdir()} == before


def test_push_prints_the_changes_and_skips_excused_students(
    canvas: Canvas, course: Course, tmp_path: Path, capsys
) -> None:
    fill(canvas, 3)
    run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT)
    grade(course, tmp_path / "pulled")
    canvas.submissions[7001] |= {"entered_score": 5.0, "points_deducted": 0.5}
    canvas.submissions[7002]["excused"] = True
    del canvas.submissions[7000]
    capsys.readouterr()
    assert run("push", course.out, "--canvas", canvas.url, *ASSIGNMENT) == 1
    output = capsys.readouterr()
    assert "u001x: 5 -> 12, feedback (feedback.html, feedback.txt)" in output.out
    assert "u002x: feedback (feedback.html, feedback.txt)" in output.out
    assert "2 students would change (add --send to write)" in output.out
    assert "Canvas has no submission of u000x" in output.err
    assert "Canvas's late policy deducts points of its own from the stored grades: u001x (0.5)." in output.err


def test_two_pushes_at_once_write_each_comment_once(
    canvas: Canvas, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(canvas, 2)
    run("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT)
    grade(course, tmp_path / "pulled")
    barrier, upload, refused = threading.Barrier(2), push.upload, []

    def wait_for_other_push(*words: object) -> list[int]:
        with contextlib.suppress(threading.BrokenBarrierError):
            barrier.wait(2)
        return upload(*words)

    def push_all() -> None:
        try:
            run("push", course.out, "--canvas", canvas.url, *ASSIGNMENT, "--send")
        except UserError as error:
            refused.append(str(error))

    monkeypatch.setattr(push, "upload", wait_for_other_push)
    threads = [threading.Thread(target=push_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(submission["submission_comments"]) for submission in canvas.submissions.values()] == [1, 1]
    assert len(refused) == 1 and "another push of this batch is running" in refused[0]


def test_serve_grades_and_returns_each_hand_in_once_despite_faults(
    canvas: Canvas, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(canvas, 3)
    queue, met = course.out / "queue/queue.txt", []
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    def act() -> None:
        """Let Canvas fail and recover, hand in again, and stop the program, which runs in the main thread."""
        end_s = time.monotonic() + 300
        for condition in (
            lambda: queue.is_file() and "The course system has not answered since" in queue.read_text(),
            lambda: sum(canvas.writes.values()) == 3,
            lambda: canvas.writes[7001] == 2,
        ):
            while not condition() and time.monotonic() < end_s:
                time.sleep(0.05)
            met.append(condition())
            canvas.is_down = False
            if len(met) == 2:
                canvas.add(7001, "Ann Lee1", "u001x", ("01_first.cu", b"again"))
        os.kill(os.getpid(), signal.SIGTERM)

    canvas.is_down = True
    monkeypatch.setattr(connection, "RETRY_PAUSES_S", (0,))
    monkeypatch.setattr(exchange, "MAX_PAUSE_S", 0.5)
    words = ["--lab", "lab", "--out", course.out, "--root", course.root, "--build", course.build, "--backend", "cpu"]
    words += ["--jobs", "2", "--every-s", "1", "--canvas", canvas.url, *ASSIGNMENT, "--send"]
    (thread := threading.Thread(target=act)).start()
    try:
        assert run("serve", tmp_path / "pulled", *words) == 0
    finally:
        thread.join()
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
            signal.signal(number, handler)
    assert met == [True, True, True]
    assert canvas.writes == {7000: 1, 7001: 2, 7002: 1}
    assert not [word for word in ("u001x", "Ann", "7001") if word in queue.read_text()]


def test_a_missing_exposed_or_wrong_token_is_refused(canvas: Canvas, tmp_path: Path, capsys, monkeypatch) -> None:
    pull_words = ("pull", tmp_path / "pulled", "--canvas", canvas.url, *ASSIGNMENT)
    from grader.python.common.console import UserError

    monkeypatch.delenv("CANVAS_TOKEN")
    (file := tmp_path / "token").write_text(TOKEN + "\n")
    for words, mode, message in (
        (pull_words, 0o600, "No access token"),
        ((*pull_words, "--token-file", file), 0o644, "Other users can read"),
        (
            (*pull_words[:3], "http://canvas.example.edu", *ASSIGNMENT, "--token-file", file),
            0o600,
            "with https://",
        ),
    ):
        file.chmod(mode)
        with pytest.raises(UserError, match=message):
            run(*words)
    assert run(*pull_words, "--token-file", file) == 0
    file.write_text("wrong")
    with pytest.raises(UserError, match="does not accept the access token"):
        run(*pull_words, "--token-file", file)


def test_ids_from_the_server_cannot_place_files_outside_the_folder() -> None:
    submission = SimpleNamespace(user={"sortable_name": "Lovelace, Ada"}, late=False, user_id="../../7")
    name = name_file(submission, SimpleNamespace(id="/8", display_name="01.cu"))
    assert "/" not in name and name.startswith("lovelaceada_")
    plain = SimpleNamespace(user={"sortable_name": "Lovelace, Ada"}, late=True, user_id=7)
    assert name_file(plain, SimpleNamespace(id=8, display_name="01.cu")) == "lovelaceada_LATE_7_8_01.cu"


def test_a_file_that_is_too_large_to_be_read_is_not_fetched(canvas: Canvas, course: Course, tmp_path: Path) -> None:
    canvas.add(7000, "Ada Lovelace", "al1", ("lab.zip", b"the file is larger than the memory"))
    canvas.submissions[7000]["attachments"][0]["size"] = 10**10
    canvas.add(7001, "Alan Turing", "at2", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"))
    for _ in range(2):  # the second time, both files exist
        assert run("pull", tmp_path, "--canvas", canvas.url, *ASSIGNMENT) == 0
    grade(course, tmp_path)
    assert course.statuses() == {"al1": "archive_refused", "at2": "graded"}
    assert "larger than can be read" in (course.out / "feedback/al1/feedback.txt").read_text()


def test_an_endless_list_of_submissions_is_refused(canvas: Canvas, tmp_path: Path) -> None:
    submission = SimpleNamespace(user_id=7000, attachments=[])
    assignment = SimpleNamespace(get_submissions=lambda **_: itertools.repeat(submission))
    with pytest.raises(UserError, match="the list of submissions failed"):
        pull(assignment, tmp_path)


def test_a_login_equal_to_another_students_number_or_address_blocks_no_student(
    canvas: Canvas, course: Course, tmp_path: Path
) -> None:
    texts = ("01_first.cu", b"fine"), ("02_second.cu", b"fine")
    for number, login in enumerate(("al1", "7000", "bo2", "bo2", "cy3")):
        canvas.add(7000 + number, f"Ann Lee{number}", login, *texts)
    canvas.submissions[7004]["user"]["email"] = "al1"
    run("pull", tmp_path, "--canvas", canvas.url, *ASSIGNMENT)
    assert not grade(course, tmp_path).stderr
    assert course.statuses() == dict.fromkeys(("al1", "7001", "7002", "7003", "cy3"), "graded")
