"""`serve` with a fake judge: hand-ins arrive, change and exceed limits, and the process is killed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.python.batch.__main__ import main
from grader.python.batch.outputs.write import write_outputs
from grader.python.batch.store.database import Database
from grader.python.batch.store.queue import Place, list_waiting
from grader.python.batch.store.settings import Settings
from grader.python.batch.verbs import serve as verb
from tests.python.batch.batches import LAB, ROOT, STAGES, Course, environment
from tests.python.batch.ingest.test_archive import make_zip
from tests.python.batch.remote.moodle import TOKEN, Moodle

WITHOUT_SETTLING = ("--settle-s", "0")


def serve_command(course: Course, *more: str | Path) -> list[str]:
    words = ["--lab", LAB, "--out", course.out, "--root", course.root, "--build", course.build, "--jobs", "2"]
    return course.command("serve", course.handed_in, *words, "--backend", "cpu", *more)


@contextmanager
def serving(course: Course, *more: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run `serve` until the end of the block. It must stop cleanly unless it was killed."""
    process = subprocess.Popen(
        serve_command(course, *more), cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=300)
        assert process.returncode in (0, -signal.SIGKILL), output
        assert "Traceback" not in output, output
    finally:
        process.kill()
        process.wait()


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until the condition is true. Fail if the process ends first, or after five minutes."""
    end_s = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, "serve ended before the condition was true"
        assert time.monotonic() < end_s, "the condition did not become true"
        time.sleep(0.05)


def read_queue(course: Course) -> str:
    """Return the queue's page as text, without the spaces that align its columns."""
    file = course.out / "queue/queue.txt"
    return re.sub(" {2,}", "  ", file.read_text()) if file.is_file() else ""


def find_statuses(course: Course) -> dict[str, str]:
    return course.statuses() if (course.out / "queue/queue.txt").is_file() else {}


def has_statuses(course: Course, **statuses: str) -> Callable[[], bool]:
    return lambda: find_statuses(course) == statuses


def list_grades(course: Course) -> list[str]:
    """Return the key of each stored grade."""
    rows = course.database().query("SELECT key FROM grades") if find_statuses(course) else []
    return sorted(key for (key,) in rows)


def code_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def test_a_partly_written_archive_is_graded_once_it_is_complete(course: Course) -> None:
    complete = make_zip(*((f"{stage}.cu", b"fine") for stage in STAGES))
    archive = course.handed_in / "bo2.zip"
    archive.write_bytes(complete[:100])
    with serving(course, "--settle-s", "1") as process:
        wait_until(lambda: "1 hand-in still arriving" in read_queue(course), process)
        course.hand_in("al1", "fine", "fine")
        wait_until(lambda: f"{code_of(complete[:100])}  incomplete" in read_queue(course), process)
        archive.write_bytes(complete)
        wait_until(has_statuses(course, al1="graded", bo2="graded"), process)
        wait_until(lambda: f"{code_of(complete)}  graded" in read_queue(course), process)
    assert sorted(course.log("begin")) == ["al1", "bo2"]
    assert course.database().query("SELECT DISTINCT reason FROM grades") == [("",)], "none is graded again"
    assert (course.out / "feedback/bo2/feedback.txt").is_file()
    pages = read_queue(course) + (course.out / "queue/queue.html").read_text()
    assert "al1" not in pages and "bo2" not in pages and "12" not in [word.strip(".,") for word in pages.split()]
    assert (course.out / "queue/queue.html").stat().st_mode & 0o777 == 0o644


def test_a_damaged_archive_gets_feedback_with_the_reason(course: Course) -> None:
    (course.handed_in / "bo2.zip").write_bytes(make_zip(("01_first.cu", b"fine"))[:80])
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(has_statuses(course, bo2="archive_refused"), process)
    assert "damaged" in (course.out / "feedback/bo2/feedback.txt").read_text()


def test_the_queue_shows_place_and_expected_time(course: Course) -> None:
    course.hand_in("al1", "sleep 1", "fine")
    with serving(course, *WITHOUT_SETTLING, "--jobs", "1") as process:
        wait_until(has_statuses(course, al1="graded"), process)
        for student in ("zo1", "bo2", "at3"):
            course.hand_in(student, "sleep 300" if student == "zo1" else "fine", "fine")
            wait_until(lambda s=student: s in find_statuses(course), process)
        wait_until(lambda: "2nd in line, about" in read_queue(course), process)
        lines = read_queue(course).splitlines()
        process.kill()
    states = [line.partition("  ")[2].split(",")[0] for line in lines if "  " in line]
    assert states == ["being graded", "1st in line", "2nd in line", "graded"]
    codes = [line.split()[0] for line in lines if "in line" in line]
    assert codes == [code_of(f"// {student}\nfine\n".encode()) for student in ("bo2", "at3")], "by arrival, not by name"


def test_a_hand_in_that_changes_while_it_is_graded_is_graded_again(course: Course) -> None:
    course.hand_in("al1", "sleep 1", "fine")
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(lambda: "al1" in course.log("begin"), process)
        course.hand_in("al1", "better", "fine")
        wait_until(lambda: len(list_grades(course)) == 2, process)
    assert course.log("begin") == ["al1", "al1"]
    assert "better" in (course.out / f"submissions/al1/{LAB}/{STAGES[0]}.cu").read_text()
    fingerprints = course.database().query("SELECT count(DISTINCT fingerprint) FROM grades")
    assert fingerprints == [(2,)] and list_waiting(course.database()) == []


def test_removing_a_hand_in_or_changing_the_roster_during_grading_delays_no_other(course: Course) -> None:
    removed = course.hand_in("al1", "sleep 300", "fine")
    (roster := course.root / "roster.csv").write_text("id\nal1\n")
    with serving(course, *WITHOUT_SETTLING, "--roster", roster) as process:
        wait_until(lambda: "al1" in course.log("begin"), process)
        shutil.rmtree(removed)
        roster.write_text("id\nal1\nbo2\n")
        course.hand_in("bo2", "fine", "fine")
        wait_until(has_statuses(course, al1="", bo2="graded"), process)
        process.kill()


def test_a_hand_in_beyond_the_limit_is_held_until_more_attempts_are_granted(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    feedback = course.out / "feedback/al1/feedback.txt"
    with serving(course, *WITHOUT_SETTLING, "--attempts", "1") as process:
        wait_until(has_statuses(course, al1="graded"), process)
        course.hand_in("al1", "better", "fine")
        note = "is kept but not graded: the limit for this lab is 1 hand-in per student or team"
        wait_until(lambda: feedback.is_file() and note in feedback.read_text(), process)
        wait_until(lambda: "kept, not graded" in read_queue(course), process)
        assert course.statuses() == {"al1": "graded"} and "12 of 20 points" in feedback.read_text()
        result = course.run_verb("attempts", "--student", "al1", "--more", "1", "--reason", "a power cut")
        assert result.returncode == 0, result.stderr
        (course.handed_in / "al1" / "readme.md").write_text("the folder changes, and is read again")
        wait_until(lambda: len(list_grades(course)) == 2, process)
        wait_until(lambda: note not in feedback.read_text(), process)
    assert "further attempts: 1 (a power cut)" in course.run_verb("history", "--student", "al1").stdout


def test_after_a_kill_everything_is_graded_once(course: Course) -> None:
    students = [f"s{number}" for number in range(6)]
    for student in students:
        course.hand_in(student, "sleep 0.3", "fine")
    for _ in range(2):
        with serving(course, *WITHOUT_SETTLING) as process:
            started = len(course.log("begin"))
            wait_until(lambda started=started: len(course.log("begin")) >= started + 3, process)
            process.kill()
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(lambda: set(find_statuses(course).values()) == {"graded"}, process)
    assert list_grades(course) == students
    assert all((course.out / f"feedback/{student}/feedback.txt").is_file() for student in students)


def test_a_kill_during_a_confirmation_loses_no_result(course: Course) -> None:
    course.add_reference("fine", "fine")
    course.hand_in("al1", "fine", "fine")
    course.hand_in("bo2", "sleep 1 crash", "fine")
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(lambda: course.log("begin").count("bo2") == 3, process)  # twice next to others, then alone
        process.kill()
    assert course.statuses() == {"al1": "graded", "bo2": ""}
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(lambda: find_statuses(course)["bo2"] == "judge_crashed", process)
    assert list_grades(course) == ["al1"]


def test_after_a_signal_running_hand_ins_finish(course: Course) -> None:
    for student in ("al1", "bo2", "cy3"):
        course.hand_in(student, "sleep 4", "fine")
    with serving(course, *WITHOUT_SETTLING) as process:
        wait_until(lambda: {"al1", "bo2"} <= set(course.log("begin")), process)
    assert course.statuses() == {"al1": "graded", "bo2": "graded", "cy3": ""}
    assert "Grading is paused." in read_queue(course) and "1st in line" in read_queue(course)


def test_an_invalid_roster_during_editing_does_not_stop_serve(course: Course) -> None:
    (roster := course.root / "roster.csv").write_text("id,name\nal1,Ada\n")
    course.hand_in("al1", "fine", "fine")
    with serving(course, *WITHOUT_SETTLING, "--roster", roster) as process:
        wait_until(lambda: find_statuses(course).get("al1") == "graded", process)
        roster.write_bytes(b"id,name\n\xff")
        course.hand_in("bo2", "fine", "fine")
        wait_until(lambda: "Tell your instructor" in read_queue(course), process)
        roster.write_text("id,name\nal1,Ada\nbo2,Bob\n")
        wait_until(lambda: find_statuses(course).get("bo2") == "graded", process)


def test_serve_shows_an_extension_that_was_added_to_the_roster_later(course: Course) -> None:
    (roster := course.root / "roster.csv").write_text("id,submitted\nal1,2026-11-20T10:00Z\n")
    course.hand_in("al1", "fine", "fine")
    feedback = course.out / "feedback/al1/feedback.txt"
    with serving(course, *WITHOUT_SETTLING, "--roster", roster) as process:
        wait_until(lambda: feedback.is_file() and find_statuses(course).get("al1") == "graded", process)
        course.run_verb("due", "--at", "2026-11-19T10:00Z", "--percent-per-day", "10")
        course.run_verb("report")
        assert "1 day late" in feedback.read_text()
        roster.write_text("id,submitted,extended until\nal1,2026-11-20T10:00Z,2026-11-21T10:00Z\n")
        course.hand_in("bo2", "fine", "fine")  # otherwise, the roster is read again only after a minute
        wait_until(lambda: "1 day late" not in feedback.read_text(), process)


def test_a_page_that_cannot_be_written_does_not_end_the_queue(course: Course) -> None:
    web = course.root / "web"
    with serving(course, *WITHOUT_SETTLING, "--queue", web) as process:
        wait_until((web / "queue.html").is_file, process)
        web.rename(course.root / "moved")
        web.write_text("not a folder")
        course.hand_in("al1", "fine", "fine")
        wait_until((course.out / "feedback/al1/feedback.txt").is_file, process)
        web.unlink()
        wait_until(lambda: (web / "queue.txt").is_file() and "graded" in (web / "queue.txt").read_text(), process)


def test_serve_fetches_from_moodle_and_returns_grades_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("canvasapi")
    monkeypatch.setenv("MOODLE_TOKEN", TOKEN)
    moodle = Moodle()
    moodle.add(100, "al1", "Ada Lovelace", ("01_first.cu", b"fine"), ("02_second.cu", b"fine"), group=7)
    moodle.add(101, "at2", "Alan Turing")
    moodle.users[1]["groups"] = [{"id": 7, "name": "Team 7"}]
    options = ("--moodle", moodle.url, "--course", "12", "--assignment", "77", "--every-s", "1", "--send")
    try:
        with serving(course, *options) as process:
            wait_until(lambda: set(moodle.saved) == {100, 101}, process)
            moodle.add(102, "gh3", "Grace Hopper", ("01_first.cu", b"fine"))
            moodle.users[2]["groups"] = [{"id": 8, "name": "Team 8"}]
            moodle.submissions[-1] |= {"userid": 0, "groupid": 8}
            wait_until(lambda: len(moodle.grades) == 3, process)
            moodle.users.append({**moodle.users[0], "id": 103, "username": "new", "email": "new@x", "groups": []})
            wait_until(lambda: "new" in (course.handed_in / "roster.csv").read_text(), process)  # a further exchange
    finally:
        moodle.server.shutdown()
    assert {user: float(grade["grade"]) for user, grade in moodle.grades.items()} == {100: 12, 101: 12, 102: 6}
    assert set(moodle.saved.values()) == {1}
    assert all(set(grade["files"]) == {"feedback.html", "feedback.txt"} for grade in moodle.grades.values())
    assert moodle.grades[100]["files"]["feedback.txt"] == (course.out / "feedback/al1/feedback.txt").read_bytes()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--send",), "--send needs a course system"),
        (("--canvas", "https://canvas.example.edu"), "needs --course and --assignment"),
        (("--attempts", "0"), "--attempts: '0': give a whole number"),
    ],
)
def test_wrong_arguments_give_one_clear_message(course: Course, more: tuple[str, ...], message: str) -> None:
    result = course.run(serve_command(course, *more))
    assert result.returncode == 2 and message in result.stderr


def test_a_single_judge_grades_the_next_hand_in_before_outputs_are_written(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = []

    def write(database: Database, settings: Settings) -> Path:
        waiting.append(len(list_waiting(database)))
        return write_outputs(database, settings)

    def stop() -> None:
        end_s = time.monotonic() + 300
        while len(course.log("end")) < 6 and time.monotonic() < end_s:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    for number in range(6):
        course.hand_in(f"s{number}", "fine", "fine")
    monkeypatch.setattr(verb, "write_outputs", write)
    monkeypatch.setattr(verb, "OUTPUTS_S", 300)
    included = Place("included again by another command", "", "")
    monkeypatch.setattr(verb, "list_waiting", lambda database: [included, *list_waiting(database)])
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    (thread := threading.Thread(target=stop)).start()
    try:
        assert main([*serve_command(course, *WITHOUT_SETTLING, "--jobs", "1")[3:]]) == 0
    finally:
        thread.join()
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
            signal.signal(number, handler)
    assert set(course.statuses().values()) == {"graded"} and len(waiting) <= 3, waiting
