"""The batch from an instructor's command line, with a fake judge."""

from __future__ import annotations

import csv
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from grader.python.batch.grade import grading
from grader.python.batch.grade.tree import write_tree
from grader.python.batch.grade.versions import is_stale
from grader.python.batch.ingest.archive import MEANINGS
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.store.opened import stored_settings
from grader.python.batch.store.rows import STATUSES
from tests.python import samples
from tests.python.batch.batches import LAB, ROOT, STAGES, Course, environment
from tests.python.batch.ingest.test_archive import make_zip


def test_each_submission_gets_one_status(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "fine")
    course.hand_in("gh3", "compile_error", "compile_error")
    course.hand_in("cs4", "break the judge", "fine")
    course.hand_in("dk5", "implausible", "fine")
    course.hand_in("ed6")
    (course.handed_in / "fb7.tar.gz").write_bytes(b"")
    roster = course.root / "roster.csv"
    roster.write_text("id,name\nal1,Ada\ncs4,Claude\nzz9,Zuse\n")
    result = course.grade("--roster", roster)
    assert result.returncode == 1, result.stdout + result.stderr
    expected = {
        "al1": "graded",
        "at2": "missing_stages",
        "gh3": "did_not_compile",
        "cs4": "judge_error",
        "dk5": "needs_review",
        "ed6": "nothing_to_grade",
        "fb7": "archive_refused",
        "zz9": "not_submitted",
    }
    assert course.statuses() == expected
    assert set(expected.values()) == STATUSES.keys() - {"judge_crashed"}  # needs a reference
    assert next(iter(course.statuses())) == "cs4"  # internal failures come first
    more = course.run_verb("override", "--student", "dk5", "--points", "20", "--reason", "judged by hand")
    assert more.returncode == 0, more.stderr  # including the points of the stage that could not be judged
    course.run_verb("override", "--student", "dk5", "--undo")
    output = course.run_verb("status").stdout
    assert "cs4: judge error: The judge broke." in output
    assert "fb7: archive refused: The file is empty.\n" in output
    message = (course.out / "feedback/fb7/feedback.txt").read_text()
    for text in (output, result.stdout, message):  # no text shows the names used in the database
        assert not [name for name in (*STATUSES, *MEANINGS) if "_" in name and name in text]
    assert course.log("begin").count("cs4") == 4  # twice next to others, and twice alone


def add_other_lab(course: Course) -> None:
    other = course.root / "labs" / "other"
    other.mkdir()
    (other / "lab.json").write_text(json.dumps({"stages": [{"id": "01_another"}]}))


def test_hand_ins_for_another_lab_are_refused_before_grading(course: Course) -> None:
    add_other_lab(course)
    for student in ("al1", "at2", "gh3"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    before = snapshot(course)
    course.handed_in = course.handed_in.with_name("other.zip")
    other_lab = make_zip(("work/other/01_another.cu", b""))
    hand_ins = [("al1.zip", other_lab), ("at2/01_another.cu", b""), ("gh3.zip", b"PK")]
    by_name = [(f"adalovelace_{number}_99_other-al1-2026-11-21-040506.tar.gz", b"") for number in (17, 18)]
    for members, message in (
        (hand_ins, "2 of 2 hand-ins are of the lab other, not lab. Nothing was graded."),
        ([*hand_ins, ("cs4/01_first.cu", b"fine")], "2 of 3 hand-ins are of the lab other"),
        (by_name, "2 of 2 hand-ins are of the lab other"),
    ):
        course.handed_in.write_bytes(make_zip(*members))
        result = course.grade()
        assert result.returncode == 2 and f"other.zip: {message}" in result.stderr, result.stderr
        assert "choose LAB=other (--lab other) and a different OUT" in result.stderr
        assert snapshot(course) == before
    crowd = [(f"x{number}/01_another.cu", b"") for number in range(4)]
    course.handed_in.write_bytes(make_zip(*((f"s{n}/{STAGES[0]}.cu", b"fine") for n in range(3)), *crowd))
    assert course.grade().returncode == 0, "more than a few are of this lab"
    course.handed_in.write_bytes(make_zip((f"al1/{STAGES[0]}.cu", b"fine"), *crowd))
    (course.root / "roster.csv").write_text("id\nal1\n")
    assert course.grade("--roster", course.root / "roster.csv").returncode == 0, "strangers do not count"
    assert course.grade("--no-roster").returncode == 2
    whole_kit = make_zip(("work/other/01_another.cu", b""), (f"work/{LAB}/{STAGES[0]}.cu", b"fine"))  # a whole kit
    course.handed_in.write_bytes(make_zip(("al1.zip", whole_kit), ("at2/01_another.cu", b"")))
    assert course.grade().returncode == 0


def test_files_handed_in_instead_of_a_stage_are_listed(course: Course) -> None:
    add_other_lab(course)
    for student, name in (("al1", "01_another.cu"), ("at2", "report.docx"), ("gh3", "kernel.cu")):
        (course.hand_in(student) / name).write_text("")
    course.grade()
    no_stage = f"No file has the name of a stage of {LAB}, such as {STAGES[0]}.cu."
    assert {row.key: row.detail for row in course.database().rows()} == {
        "al1": f"This is for the lab other, not {LAB}. It holds 01_another.cu.",
        "at2": f"{no_stage} It holds report.docx.",
        "gh3": f"{no_stage} It holds kernel.cu.",
    }


def test_an_empty_archive_or_folder_is_reported_as_empty(course: Course) -> None:
    course.hand_in("al1")
    (course.hand_in("at2") / "empty.zip").write_bytes(make_zip())
    (course.handed_in / "gh3.zip").write_bytes(make_zip(("folder/", b"")))
    (course.handed_in / "zo8.zip").write_bytes(make_zip(("report.pdf", b"")))
    course.grade()
    details = {row.key: row.detail for row in course.database().rows()}
    empty = f"It is empty: there is no file in it. Hand in files such as {STAGES[0]}.cu."
    assert {student for student, detail in details.items() if detail == empty} == {"al1", "at2", "gh3"}
    assert details["zo8"] == f"No file has the name of a stage of {LAB}, such as {STAGES[0]}.cu. It holds report.pdf."
    assert '<td class="nothing_to_grade">nothing to grade</td>' in (course.out / "report.html").read_text()


def test_the_instructor_chooses_between_two_archives_with_the_same_time(course: Course) -> None:
    member = zipfile.ZipInfo(f"{STAGES[0]}.cu", (2026, 11, 20, 10, 0, 0))
    files = {name: make_zip((member, name.encode())) for name in ("first.zip", "second.zip")}
    name = "Ada_5_assignsubmission_file_"
    course.handed_in.rmdir()
    course.handed_in = course.handed_in.with_name("all.zip")
    course.handed_in.write_bytes(make_zip(*((f"{name}/{file}", content) for file, content in files.items())))
    course.grade()
    (folder,) = course.out.glob(f"handed-in/*/files/{name}")
    instruction = (
        f"To have one of them graded, delete the others from {folder}, and repeat the command. Stages: {STAGES[0]}."
    )
    (row,) = course.database().rows()
    assert row.notes[:2] == [
        f"{STAGES[0]} from second.zip: the times do not show which is the newest. Not used for this stage: first.zip",
        instruction,
    ]
    assert row.status == "missing_stages"
    assert instruction in (course.out / "report.html").read_text()
    assert "To have" not in (course.out / "feedback/5/feedback.txt").read_text()
    (folder / "first.zip").unlink()
    course.grade()
    (row,) = course.database().rows()
    assert row.status == "missing_stages" and instruction not in row.notes


def test_the_later_of_two_archives_is_graded_and_both_are_reported(course: Course) -> None:
    folder = course.hand_in("al1")
    for name, hour in (("first.zip", 10), ("second.zip", 9)):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(zipfile.ZipInfo(f"{STAGES[0]}.cu", (2026, 11, 20, hour, 0, 0)), name)
    course.grade()
    assert (course.out / "submissions/al1" / LAB / f"{STAGES[0]}.cu").read_text() == "first.zip"
    note = f"{STAGES[0]} from first.zip: it is the newest. Not used for this stage: second.zip"
    assert note in (course.out / "feedback/al1/feedback.txt").read_text()
    assert note in (course.out / "gradebook.csv").read_text("utf-8-sig")


def test_a_second_run_grades_only_new_and_changed_hand_ins(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "fine", "fine")
    (roster := course.root / "roster.csv").write_text("id\nal1\nat2\ngh3\n")
    assert course.grade("--roster", roster).returncode == 0
    course.hand_in("gh3", "fine", "fine")
    course.hand_in("at2", "better", "fine")
    assert course.grade().returncode == 0
    assert sorted(course.log("begin")) == ["al1", "at2", "at2", "gh3"]
    reasons = course.database().query("SELECT key, reason FROM grades ORDER BY id")
    assert sorted(reasons) == [("al1", ""), ("at2", ""), ("at2", "handed in again"), ("gh3", "")]


def change(file: Path) -> None:
    """Change a source file of the project."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("changed\n")


def test_regrading_keeps_the_old_score_and_its_reason(course: Course) -> None:
    for student in ("al1", "at2", "gh3"):
        course.hand_in(student, "break the judge" if student == "gh3" else "fine", "fine")
    course.grade()
    assert (
        course.run_verb("regrade", "--student", "al1", "--reason", "a complaint").returncode == 1
    )  # the judge failed on gh3
    (course.build / "repaired").touch()
    assert course.run_verb("regrade", "--errors").returncode == 0
    course.set_version("0.2 (two)")
    assert "0 to regrade" in course.run_verb("regrade", "--changed").stdout  # another commit, which changed other files
    for name in ("course/pages.py", "judge/SANDBOX.md"):
        change(course.root / "grader" / name)
    assert "0 to regrade" in course.run_verb("regrade", "--changed").stdout
    change(course.root / "grader/judge/check/check.cpp")
    result = course.run_verb("regrade", "--changed")
    assert result.returncode == 2 and "check.cpp is newer than" in result.stderr and "make program" in result.stderr
    (course.build / "warplab").touch()
    course.run_verb("regrade", "--changed")
    course.run_verb("regrade", "--changed")  # now no grade is stale
    with (course.root / "labs/lab/lab.json").open("a") as file:
        file.write("\n")
    course.run_verb("regrade", "--changed")
    course.run_verb("regrade", "--all")
    history = course.database().query("SELECT reason FROM grades WHERE key = 'al1' ORDER BY id")
    changed = "lab or grader changed (now 0.2 (two))"
    assert [reason for (reason,) in history] == ["", "asked for: a complaint", changed, changed, "all again"]
    assert course.log("end").count("gh3") == 4
    result = course.run_verb("regrade", "--student", "nobody")
    assert result.returncode == 2
    assert "No student has the name nobody" in result.stderr


def test_a_students_history_has_each_grade_and_decision(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    course.run_verb("regrade", "--student", "al1", "--reason", "a complaint")
    course.run_verb("override", "--student", "al1", "--points", "7", "--reason", "shown in person")
    course.hand_in("al1", "fine", "better")
    course.grade()
    first, *grades, decision = course.run_verb("history", "--student", "al1").stdout.splitlines()
    assert first.startswith("al1: hand-in al1, 20") and first.endswith(": graded")
    assert [line.partition("0.1 (one))")[2] for line in grades] == ["", ": asked for: a complaint", ": handed in again"]
    assert all(": 12 of 20 points, 8 pending (graded, cpu, " in line for line in grades)
    assert re.fullmatch(r"By hand, 20\S+, by \S+: al1, set to 7 points \(shown in person\)", decision)
    assert "No student has the name bob" in course.run_verb("history", "--student", "bob").stderr


def test_regrading_lists_students_whose_points_changed(course: Course) -> None:
    for number in range(22):
        course.hand_in(f"s{number:02}", "fine", "fine")
    course.hand_in("al1", "compile_error", "compile_error")
    course.hand_in("at2", "break the judge", "fine")
    course.grade()
    assert "The points are the same for 23 students." in course.run_verb("regrade", "--all").stdout
    (course.build / "repaired").touch()
    output = course.run_verb("regrade", "--errors").stdout
    assert "at2: no points yet before, 12 points and 8 pending now\n" in output and "the same" not in output
    report = (course.build / "report.json").read_text()
    (course.build / "report.json").write_text(report.replace('"total": 6', '"total": 7.5'))
    output = course.run_verb("regrade", "--all").stdout
    assert "at2: 12 points and 8 pending before, 15 points and 8 pending now\n" in output
    assert "s18: 12 points" in output and "s19: 12 points" not in output
    assert output.endswith("and 3 more\nThe points are the same for 1 student.\n")


def test_grades_are_stale_if_the_lab_or_the_grader_changed(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    ((lab_hash,),) = course.database().query("SELECT lab_hash FROM grades")
    lab, grader = lab_hash.split("+")
    assert len(lab) == len(grader) == 64
    assert not is_stale(lab, "0.1", lab_hash, "0.1")
    assert is_stale(lab, "0.1", lab_hash, "0.2") and is_stale("other", "0.1", lab_hash, "0.1")
    assert not is_stale(lab_hash, "0.1", lab_hash, "0.2") and is_stale(lab_hash, "0.1", f"{lab}+other", "0.1")


def test_pending_points_are_added_to_an_earlier_grade(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    report = json.loads((course.build / "report.json").read_text())
    for stage in report["stages"]:
        stage["score"] |= {"correctness": 1, "hygiene": 2, "speed": 1.5}
        stage["score"] |= {"hygiene_pending": False, "speed_pending": False, "total": 4.5}
    (course.build / "report.json").write_text(json.dumps(report))
    assert course.run_verb("regrade", "--pending", "--backend", "cpu").returncode == 0
    grades = course.database().query("SELECT points, pending, reason FROM grades ORDER BY id")
    assert grades == [(12, 8, ""), (19, 0, "points were pending")]
    assert "0 to regrade" in course.run_verb("regrade", "--pending").stdout


def test_a_gpu_replaces_modelled_points_of_which_none_are_pending(course: Course) -> None:
    report = json.loads((course.build / "report.json").read_text())
    for stage in report["stages"]:
        stage["score"] |= {"hygiene": 2, "hygiene_pending": False, "speed": 2, "speed_pending": False}
        stage["score"] |= {"speed_modelled": True, "total": 2 + 2 + stage["score"]["correctness"]}
    report["total"]["pending"] = 0
    (course.build / "report.json").write_text(json.dumps(report))
    course.hand_in("al1", "fine", "fine")
    course.grade()
    assert "0 to regrade" in course.run_verb("regrade", "--pending", "--backend", "cpu").stdout
    assert [line["modelled"] for line in course.gradebook()] == ["4"]
    page = (course.out / "report.html").read_text()
    assert "<small> 4 modelled</small>" in page and "2 modelled" in page
    database = course.database()  # of schema 9, in which only the reports show the modelled points
    database.query("ALTER TABLE stages DROP COLUMN modelled")
    database.set_values(schema=9)
    assert [[stage.modelled for stage in row.stages] for row in course.database().rows()] == [[2, 2]]
    for stage in report["stages"]:
        stage["score"] |= {"speed": 0.5, "speed_modelled": False, "total": 0.5 + 2 + stage["score"]["correctness"]}
    (course.build / "report.json").write_text(json.dumps(report))
    assert "1 to regrade" in course.run_verb("regrade", "--pending", "--backend", "cuda").stdout
    grades = course.database().query("SELECT points, pending FROM grades ORDER BY id")
    assert grades == [(20, 0), (17, 0)]
    assert "0 to regrade" in course.run_verb("regrade", "--pending", "--backend", "cuda").stdout
    assert [line["modelled"] for line in course.gradebook()] == ["0"]


@pytest.mark.parametrize("original", ["moved", "empty", "changed"])
def test_a_graded_submission_is_regraded_without_the_original_hand_in(course: Course, original: str) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "fine")
    (journal := course.handed_in / "al1" / "journal").mkdir()
    (journal / f"{STAGES[0]}.md").write_text("a note")
    course.grade()
    before = {row.key: row.notes for row in course.database().rows()}
    if original == "moved":
        course.handed_in.rename(course.handed_in.with_name("elsewhere"))
    for student in ("al1", "at2") if original != "moved" else ():
        shutil.rmtree(course.handed_in / student)
        course.hand_in(student, *(["compile_error"] if original == "changed" else []))
    assert course.run_verb("regrade", "--all").returncode == 0
    regraded = course.database().query("SELECT points, status FROM grades WHERE reason = 'all again' ORDER BY key")
    assert regraded == [(12, "graded"), (6, "missing_stages")]
    assert {row.key: row.notes for row in course.database().rows()} == before
    assert (course.out / "feedback/al1/journal.html").is_file()


def test_a_copy_with_another_fingerprint_is_not_graded(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    copy = course.out / "submissions/al1"
    (copy / "fingerprint").write_text("of a later hand-in")
    (copy / LAB / f"{STAGES[0]}.cu").write_text("compile_error")
    assert course.run_verb("regrade", "--all").returncode == 0
    grades = course.database().query("SELECT points FROM grades ORDER BY id")
    assert grades == [(12,), (12,)] and "fine" in (copy / LAB / f"{STAGES[0]}.cu").read_text()


def test_a_copy_is_not_combined_with_the_journal_of_another_hand_in(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hand_in(note: str) -> None:
        course.hand_in("al1", f"fine {note}", "fine")
        (course.handed_in / "al1/journal").mkdir(exist_ok=True)
        (course.handed_in / "al1/journal" / f"{STAGES[0]}.md").write_text(f"{note}\n")

    hand_in("first")
    course.grade()
    hand_in("second")
    settings = stored_settings(course.database())
    (waiting,), _ = find_submissions(course.handed_in, LAB, [])
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(grading, "write_tree", raise_interrupt)
        grading.grade_submission(waiting, settings)
    hand_in("first")
    course.grade()
    assert course.run_verb("regrade", "--all").returncode == 0
    assert (course.out / "journals/al1" / f"{STAGES[0]}.md").read_text() == "first\n"


def raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_partial_copy_of_a_killed_batch_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, LAB, {STAGES[0]: b"fine"}, "first")
    write_bytes = Path.write_bytes

    def write_one(file: Path, data: bytes) -> int:
        if file.stem == STAGES[1]:
            raise KeyboardInterrupt
        return write_bytes(file, data)

    monkeypatch.setattr(Path, "write_bytes", write_one)
    with pytest.raises(KeyboardInterrupt):
        write_tree(tmp_path, LAB, {STAGES[0]: b"other", STAGES[1]: b"fine"}, "second")
    assert not (tmp_path / "fingerprint").exists()


def test_a_failure_to_write_the_fingerprint_keeps_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, LAB, {STAGES[0]: b"fine"}, "first")
    monkeypatch.setattr(Path, "write_text", truncate_and_fail)
    write_tree(tmp_path, LAB, {STAGES[0]: b"fine"}, "first")  # does not write the fingerprint
    with pytest.raises(OSError, match="disk"):
        write_tree(tmp_path, LAB, {STAGES[0]: b"fine"}, "second")
    assert (tmp_path / "fingerprint").read_bytes() == b"first"


def truncate_and_fail(file: Path, *_: object, **__: object) -> None:
    file.write_bytes(b"")
    raise OSError("the disk is full")


def test_folders_of_a_renamed_submission_move_even_if_the_batch_is_killed(course: Course) -> None:
    course.hand_in("7", "fine", "fine")
    course.grade()
    (stale := course.out / "submissions/bea" / LAB).mkdir(parents=True)
    (stale / f"{STAGES[0]}.cu").write_text("compile_error")
    database = course.database()
    database.rename("7", Submission("bea", members=["bea"], key_without_roster="7"), set())
    database.close()  # the batch is killed here
    shutil.rmtree(course.handed_in)
    assert course.run_verb("regrade", "--all").returncode == 0
    assert course.database().query("SELECT key, points FROM grades ORDER BY id") == [("bea", 12), ("bea", 12)]
    assert not (course.out / "submissions/7").exists() and "fine" in (stale / f"{STAGES[0]}.cu").read_text()


def test_a_regrade_without_a_report_keeps_the_points(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    judge = (course.build / "warplab").read_text()
    broken = judge.replace("verdicts = []", 'verdicts = []\nif "/trial" not in str(tree): sys.exit("The judge broke.")')
    (course.build / "warplab").write_text(broken)
    result = course.run_verb("regrade", "--all")
    assert result.returncode == 1 and "The points are the same" in result.stdout, result
    assert course.statuses() == {"al1": "judge_error"}
    line = course.gradebook()[0]
    assert (line["status"], line["points"]) == ("judge_error", "12")
    assert (course.out / "feedback/al1/report.json").is_file()
    (course.build / "warplab").write_text(judge)
    assert course.run_verb("regrade", "--errors").returncode == 0
    assert course.statuses() == {"al1": "graded"}
    (course.build / "warplab").write_text(broken)
    course.hand_in("al1", "better", "fine")
    course.grade()
    assert course.gradebook()[0]["points"] == ""


def test_a_batch_of_schema_4_adds_pending_points(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "fine", "fine")
    course.grade()
    database = course.database()
    database.query("ALTER TABLE submissions DROP COLUMN pending_alone")
    database.query("UPDATE submissions SET status = '', reason = iif(key = 'al1', 'points were pending: GPU', 'all')")
    database.set_values(schema=4)
    assert course.database().report_to_complete("al1") and not course.database().report_to_complete("at2")


def test_stages_that_need_a_gpu_are_graded_and_a_gpu_adds_their_points(course: Course) -> None:
    later = (course.build / "report.json").read_text()
    refused = [samples.refused_stage(stage, stage) for stage in STAGES]
    (course.build / "report.json").write_text(json.dumps(samples.report(lab=LAB, backend="cpu", stages=refused)))
    course.hand_in("al1", "fine", "fine")
    course.grade()
    grades = course.database().query("SELECT points, pending FROM grades")
    assert (course.statuses(), grades) == ({"al1": "graded"}, [(0, 20)])
    assert "refused_feature, 10 pending" in (course.out / "report.html").read_text()
    text = (course.out / "feedback/al1/feedback.txt").read_text()
    assert "correctness: grading on a GPU decides, because the CPU backend refuses the file" in text
    (course.build / "report.json").write_text(later)
    assert course.run_verb("regrade", "--pending", "--backend", "cpu").returncode == 0
    assert course.database().query("SELECT points, pending FROM grades ORDER BY id") == [(0, 20), (12, 8)]


def snapshot(course: Course) -> list[tuple]:
    """Return the submissions, grades and stages of the database, without times."""
    database = course.database()
    rows = database.query(
        "SELECT key, name, members, status, detail, reason, fingerprint FROM submissions ORDER BY key"
    )
    rows += database.query("SELECT key, status, points, most, pending, reason, fingerprint FROM grades ORDER BY key")
    rows += database.query(
        "SELECT key, stage, verdict, cause, stages.points FROM stages JOIN grades ON id = grade ORDER BY key, stage"
    )
    return rows


def hand_in_many(course: Course, count: int) -> None:
    for number in range(count):
        course.hand_in(
            f"s{number:03}", random.Random(number).choice(["fine", "compile_error", "sleep 0.1 fine"]), "fine"
        )


KILLS = int(os.environ.get("WARPLAB_KILLS") or 6)


def test_a_batch_killed_at_any_moment_continues_without_losing_results(
    course: Course, tmp_path_factory: pytest.TempPathFactory
) -> None:
    undisturbed = Course(tmp_path_factory.mktemp("undisturbed"))
    count = 3 * KILLS
    for any_course in (course, undisturbed):
        hand_in_many(any_course, count)
    assert undisturbed.grade().returncode == 0
    chance = random.Random(1)
    previous: list[tuple] = []
    for _ in range(KILLS):
        process = course.start()
        time.sleep(chance.uniform(0.1, 1.5))
        course.kill(process)
        if (course.out / "batch.sqlite").exists():
            current = course.database().query("SELECT id, key, points FROM grades ORDER BY id")
            assert current[: len(previous)] == previous
            previous = current
    assert course.grade().returncode == 0
    assert snapshot(course) == snapshot(undisturbed)
    graded = course.database().query("SELECT key, COUNT(*) FROM grades GROUP BY key HAVING COUNT(*) != 1")
    assert not graded


def test_a_killed_batch_leaves_no_judge_behind(course: Course) -> None:
    course.hand_in("al1", "sleep 300", "fine")
    process = course.start()
    course.wait_for("al1", process)
    course.kill(process)
    time.sleep(0.3)
    judges = [
        command
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if str(course.build / "warplab") in (command := read_command(file))
    ]
    assert not judges


def read_command(file: Path) -> str:
    try:
        return file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def test_an_interruption_ends_the_batch_cleanly(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "sleep 300", "fine")
    process = course.start()
    course.wait_for("at2", process)
    while course.database().counts().get("graded") != 1:
        time.sleep(0.05)
    assert course.kill(process, signal.SIGINT) == 130
    assert course.statuses() == {"al1": "graded", "at2": ""}


def test_a_judge_that_does_not_end_is_stopped(course: Course) -> None:
    course.hand_in("al1", "sleep 300", "fine")
    course.hand_in("at2", "fine", "fine")
    course.grade("--timeout-s", "1.5")
    assert course.statuses() == {"al1": "judge_error", "at2": "graded"}
    assert "did not end within 2 s" in course.run_verb("status").stdout


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_batch_whose_folder_vanishes_stops_with_a_message(course: Course, is_deleted: bool) -> None:
    for number in range(4):
        course.hand_in(f"al{number}", f"sleep 1 {number}", "fine")
    command = [*course.grade_command(), "--jobs", "1"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True)
    while "al1" not in course.log("begin") and process.poll() is None:
        time.sleep(0.02)
    if is_deleted:
        shutil.rmtree(course.out)
    else:
        course.out.rename(course.out.with_name("moved"))
    _, output = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "was moved or deleted while this command ran" in output
    if not is_deleted:
        shutil.rmtree(course.out, ignore_errors=True)
        course.out.with_name("moved").rename(course.out)
        course.grade()
        assert set(course.statuses().values()) == {"graded"}
        assert course.log("begin").count("al0") == 1


def test_contents_that_were_not_listed_are_not_graded(course: Course) -> None:
    course.hand_in("al1", "sleep 1", "fine")
    course.hand_in("gh3", "compile_error", "fine")
    process = subprocess.Popen([*course.grade_command(), "--jobs", "1"], cwd=ROOT, env=environment())
    course.wait_for("al1", process)
    course.hand_in("gh3", "better", "fine")
    process.communicate(timeout=60)
    assert course.statuses() == {"gh3": "judge_error", "al1": "graded"}
    course.grade()  # lists them, with their time
    assert course.statuses() == {"al1": "graded", "gh3": "graded"}
    course.hand_in("gh3", "even better", "fine")
    course.insert_stage()
    course.run_verb("regrade", "--all")  # reads the hand-ins again
    assert course.statuses() == {"gh3": "judge_error", "al1": "missing_stages"}


def test_a_hand_in_that_vanishes_before_grading_is_listed(course: Course) -> None:
    course.hand_in("al1", "sleep 1", "fine")
    course.hand_in("gh3", "fine", "fine")
    command = [*course.grade_command(), "--jobs", "1"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stderr=subprocess.PIPE)
    course.wait_for("al1", process)
    shutil.rmtree(course.handed_in / "gh3")
    process.communicate(timeout=60)
    assert course.statuses() == {"gh3": "judge_error", "al1": "graded"}
    output = course.grade().stderr
    assert "without a result: gh3. If their files are missing, put them back" in output
    assert "kept as graded" not in output
    course.hand_in("gh3", "fine", "fine")
    course.grade()
    course.run_verb("regrade", "--errors")
    assert course.statuses() == {"al1": "graded", "gh3": "graded"}


def test_a_folder_that_another_user_prepared_is_not_used(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    course.hand_in("al1", "fine", "fine")
    course.out.mkdir()
    (notes := course.root / "notes").write_text("The instructor's own.")
    (course.out / "lock").symlink_to(notes)
    assert course.grade().returncode == 2 and notes.read_text()
    (course.out / "lock").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert "belongs to another user" in course.grade().stderr
    assert course.grade().returncode == 0


def test_names_of_hand_ins_do_not_depend_on_the_locale(course: Course) -> None:
    (roster := course.root / "roster.csv").write_text("id\nzöe\n", encoding="utf-8")
    course.hand_in("zöe", "fine", "fine")
    command = [ROOT / "grader/warplab-course", *course.grade_words("--roster", roster)]
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run(command, cwd=ROOT, env=environment() | ascii_only, check=True, capture_output=True)
    assert course.statuses() == {"zöe": "graded"}


def test_two_batches_do_not_share_a_folder(course: Course) -> None:
    course.hand_in("al1", "sleep 3", "fine")
    process = course.start()
    course.wait_for("al1", process)
    second = course.grade()
    assert second.returncode == 2
    assert "another batch is running here" in second.stderr
    process.communicate()
    assert process.returncode == 0


FULL_DISK = """
mount -t tmpfs -o size=70m none "$OUT" || exit 99
"$@"; echo $? >"$SAVED/first"
cp "$OUT"/batch.sqlite* "$SAVED"
rm "$OUT"/submissions/*/filler; touch "$REPAIRED"
"$@"; echo $? >"$SAVED/second"
cp "$OUT"/batch.sqlite* "$OUT/gradebook.csv" "$SAVED"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_stops_the_batch_without_losing_results(course: Course, tmp_path: Path) -> None:
    for number in range(6):
        course.hand_in(f"s{number}", "sleep 1 fill the disk" if number == 3 else "fine", "fine")
    saved = tmp_path / "kept"
    saved.mkdir()
    course.out.mkdir()
    places = {"OUT": str(course.out), "SAVED": str(saved), "REPAIRED": str(course.build / "repaired")}
    command = ["unshare", "-m", "sh", "-c", FULL_DISK, "sh", *course.grade_command("--jobs", "1")]
    result = subprocess.run(command, cwd=ROOT, env=environment() | places, capture_output=True, text=True, check=False)
    if result.returncode == 99 or not (saved / "first").exists():
        pytest.skip(f"no file system can be mounted here: {result.stderr}")
    assert (saved / "first").read_text() == "2\n"
    assert "free some space" in result.stderr and "Traceback" not in result.stderr, result.stderr
    assert (saved / "second").read_text() == "0\n"
    assert [course.log("end").count(f"s{number}") for number in range(4)] == [1, 1, 1, 2]
    with (saved / "gradebook.csv").open(encoding="utf-8-sig") as file:
        assert [line.split(",")[2] for line in file][1:] == ["graded"] * 6


def test_a_full_database_gives_a_message_and_keeps_its_contents(course: Course) -> None:
    from grader.python.batch.ingest.disk import DiskFullError
    from grader.python.batch.store.database import Database
    from grader.python.batch.store.rows import Graded

    hand_in_many(course, 2)
    course.grade()
    before = snapshot(course)
    database = Database(course.out / "batch.sqlite")
    (pages,) = database.query("PRAGMA page_count")[0]
    database.query(f"PRAGMA max_page_count = {pages}")
    summary = dict.fromkeys(("time", "warplab", "lab_hash", "backend", "sandbox"), "")
    summary |= {"points": 1, "most": 2, "pending": 0}
    graded = Graded("s000", "graded", report=str(random.Random(1).randbytes(100_000)))
    with pytest.raises(DiskFullError, match="free some space"):
        database.keep(graded, summary, [])
    database.close()
    assert snapshot(course) == before


def test_a_missing_judge_is_reported_before_grading(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    (course.build / "warplab").unlink()
    result = course.grade()
    assert result.returncode == 2
    assert "make program" in result.stderr
    assert course.statuses() == {"al1": ""}


def test_on_a_terminal_one_line_shows_the_progress(course: Course) -> None:
    hand_in_many(course, 4)
    controller, terminal = pty.openpty()
    process = subprocess.Popen(course.grade_command(), cwd=ROOT, env=environment(), stdout=terminal, stderr=terminal)
    os.close(terminal)
    output = b""
    while True:
        try:
            output += os.read(controller, 4096)
        except OSError:
            break
    assert process.wait() == 0
    assert b"4 done, " in output
    assert b"\x1b[" in output


def test_names_that_are_not_utf_8_and_reports_with_lone_surrogates_are_accepted(course: Course) -> None:
    folder = os.fsencode(course.handed_in)
    for name in (b"gr\xf6\xdfe", b"\xf6_1_2_a.zip", b"\xf6_1_3_a.zip", b"a\nb\x1b[2J", "\u202eabc".encode(), b"=1+1"):
        if name.endswith(b".zip"):
            Path(os.fsdecode(folder + b"/" + name)).write_bytes(make_zip((f"{STAGES[0]}.cu", b"fine")))
        else:
            course.hand_in(os.fsdecode(name), "fine", "fine")
    report = (course.build / "report.json").read_text()
    (course.build / "report.json").write_text(report.replace('"log": ""', '"log": "half: \\ud800"'))
    result = course.grade()
    assert result.returncode == 0, result.stdout + result.stderr
    assert sorted(course.statuses().values()) == ["graded"] * 4 + ["missing_stages"]
    assert len(list((course.out / "feedback").iterdir())) == 5


def test_the_command_works_from_any_folder_and_by_a_link(course: Course, tmp_path: Path) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    link = tmp_path / "warplab-course"
    link.symlink_to(ROOT / "grader/warplab-course")
    for command in ([ROOT / "grader/warplab-course"], [link], [ROOT / "warplab", "course"]):
        result = subprocess.run([*command, "status", "."], cwd=course.out, capture_output=True, text=True, check=False)
        assert result.returncode == 0 and "1 graded" in result.stdout, result.stderr
    result = subprocess.run(
        [link, "grade", "handed in", "--lab", "nonsense", "--out", "out"],
        cwd=course.out.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (
        "No lab is called 'nonsense'. Labs: vector_add, dot_product" in result.stderr
    )  # the project's labs, not this folder's


def test_the_command_runs_with_the_projects_own_python(tmp_path: Path) -> None:
    program = tmp_path / "project/grader/warplab-course"
    program.parent.mkdir(parents=True)
    shutil.copy(ROOT / "grader/warplab-course", program)
    for folder in (".venv", "packages"):
        python = tmp_path / "project" / folder / "bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\necho its own Python\n")
        python.chmod(0o755)
    for venv in ("", ".venv", "packages", str(tmp_path / "project/packages")):
        output = subprocess.check_output([program], cwd=tmp_path, env={**os.environ, "VENV": venv}, text=True)
        assert output == "its own Python\n"


def test_wrong_arguments_give_one_clear_message(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    for command, message in (
        (course.grade_command("--lab", "other"), "No lab is called 'other'"),
        (course.grade_command("--stage", "07"), "lab has no stage 07"),
        (
            course.grade_command("--stage", "01"),
            "contains a batch of all stages. To continue it: omit STAGE (--stage)",
        ),
        (course.grade_command("--out", course.build / "log"), "is a file. OUT is the batch's folder"),
        (course.command("status", course.root), "A batch begins with"),
        (
            course.command("extend", course.out, "--student", "al1", "--until", "soon", "--reason", "x"),
            "'soon' is not a time",
        ),
    ):
        result = course.run(command)
        assert result.returncode == 2
        assert message in result.stderr


def test_a_batch_of_some_stages_prints_how_to_continue(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade("--upto", "1")
    result = course.grade("--stage", "1")
    assert result.returncode == 2
    assert "contains a batch of all stages. To continue it: omit STAGE (--stage)." in result.stderr
    assert course.grade("--upto", "01_first").returncode == 0


def test_a_batch_accepts_stages_that_are_released_later(course: Course) -> None:
    """The hand-ins are read again, and the decisions stay."""
    course.hand_in("al1", "fine", "fine")
    (course.hand_in("al2", "fine", "fine") / "01_first.cu").unlink()
    course.hand_in("gh4", "fine")
    course.grade("--upto", "1")
    assert course.statuses() == {"al1": "graded", "al2": "nothing_to_grade", "gh4": "graded"}
    course.run_verb("override", "--student", "gh4", "--points", "7", "--reason", "shown")
    course.run_verb("points", "--student", "al1", "--points", "3", "--of", "5", "--reason", "good")
    result = course.grade()
    assert "More stages than before: 02_second." in result.stdout
    assert result.stdout.splitlines()[-3:] == [
        "al1: 9 points and 8 pending before, 15 points and 8 pending now",
        "al2: 0 points before, 6 points and 8 pending now",
        "The points are the same for 1 student.",
    ]
    assert course.statuses() == {"al1": "graded", "al2": "missing_stages", "gh4": "missing_stages"}
    with (course.out / "gradebook.csv").open(encoding="utf-8-sig") as file:
        lines = {line["id"]: line for line in csv.DictReader(file)}
    assert (lines["al1"]["points"], lines["al1"]["journal"]) == ("15", "3")  # 12 by the judge
    assert (lines["gh4"]["points"], lines["al2"]["points"], lines["al2"]["02_second"]) == ("7", "6", "6")
    result = course.grade("--upto", "1")
    assert result.returncode == 2 and "contains a batch of all stages. To continue it: omit UPTO" in result.stderr
    assert "More stages" not in course.grade().stdout


def test_a_batch_continues_if_a_stage_gets_another_number(course: Course) -> None:
    """The names of the files in hand-ins, the batch's last stage and the points stay valid."""
    course.hand_in("al1", "fine", "fine")
    course.grade("--upto", "02_second")
    course.insert_stage()
    assert "lab has 16 points" in course.run_verb("without", "--kind", "speed").stdout
    course.run_verb("without", "--undo")
    assert course.grade("--upto", "02_second").returncode == 0
    assert course.statuses() == {"al1": "graded"}
    result = course.run_verb("regrade", "--all")
    assert (result.returncode, course.statuses()) == (0, {"al1": "missing_stages"})
    with (course.out / "gradebook.csv").open(encoding="utf-8-sig") as file:
        (line,) = csv.DictReader(file)
    assert (line["points"], line["01_first"], line["03_second"]) == ("12", "6", "6")
    assert "02_second.cu was used as 03_second.cu." in (course.out / "feedback/al1/feedback.txt").read_text()


def test_a_regraded_batch_knows_its_last_stage_by_the_earlier_number(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade("--upto", "02_second")
    course.insert_stage()
    result = course.run_verb("regrade", "--all")
    assert (result.returncode, course.statuses()) == (0, {"al1": "missing_stages"})


def test_a_hand_in_that_is_gone_keeps_its_points_when_stages_are_added(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    gone = course.hand_in("al2", "fine", "fine")
    course.grade("--upto", "1")
    gone.rename(course.root / "al2")
    result = course.grade()
    assert "No longer among the submissions, and without a result: al2." in result.stderr
    assert course.statuses() == {"al1": "graded", "al2": "judge_error"}
    book = (course.out / "gradebook.csv").read_text("utf-8-sig")
    assert [line["points"] for line in csv.DictReader(book.splitlines())] == ["12", "6"]
    (course.root / "al2").rename(gone)
    course.grade()
    course.run_verb("regrade", "--errors")
    assert course.statuses() == {"al1": "graded", "al2": "graded"}


def test_a_moved_batch_works_in_its_new_folder(course: Course) -> None:
    """`report` and `regrade` work in the batch's current folder, not in the folder where it was graded."""
    course.hand_in("al1", "fine", "fine")
    course.grade()
    moved = course.out.with_name("moved")
    course.out.rename(moved)
    assert course.run(course.command("report", moved)).stdout.strip() == str(moved / "report.html")
    course.run(course.command("regrade", moved, "--all", "--reason", "again"))
    assert not course.out.exists()


def test_a_regrade_that_cannot_begin_changes_nothing(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    (course.build / "warplab").write_text("#!/bin/sh\necho no GPU >&2\nexit 2\n")
    result = course.run_verb("regrade", "--all", "--backend", "cuda", "--reason", "speed")
    assert result.returncode == 2 and "no GPU" in result.stderr
    assert course.statuses() == {"al1": "graded"}


def test_earlier_points_count_until_the_hand_in_is_graded_again(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "fine", "fine")
    course.grade()
    course.database().grade_again(["al1", "at2"], "interrupted")
    course.run_verb("override", "--student", "at2", "--points", "5", "--reason", "shown")
    result = course.run_verb("export", "--format", "canvas")
    cells = {line[3]: line[5] for line in csv.reader(result.stdout.splitlines())}
    assert (cells["al1"], cells["at2"]) == ("12", "5")
    assert "their earlier points count: al1, at2." in result.stderr


def test_a_batch_refuses_a_folder_with_other_files(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.out.mkdir()
    (course.out / "thesis.pdf").touch()
    result = course.grade()
    assert result.returncode == 2 and "contains other files, such as thesis.pdf" in result.stderr
    (course.out / "thesis.pdf").unlink()
    assert course.grade().returncode == 0
    for name in ("gradebook.csv", "new.csv"):
        result = course.run_verb("export", "--format", "canvas", "--output", course.out / name)
        assert result.returncode == 2 and "among the batch's own files" in result.stderr


@pytest.mark.parametrize("part", ["feedback", "submissions", "submissions/ada/lab/01_first.cu"])
def test_the_batchs_own_files_are_not_submissions(course: Course, part: str) -> None:
    course.hand_in("ada", "fine", "fine")
    course.grade()
    path = course.out / part
    command = [str(path) if word == str(course.handed_in) else word for word in course.grade_command()]
    result = course.run(command)
    assert result.returncode == 2 and f"{path} is one of the batch's own files" in result.stderr
    assert course.statuses() == {"ada": "graded"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--jobs", "0"),
        ("--jobs", "-1"),
        ("--timeout-s", "nan"),
        ("--timeout-s", "inf"),
        ("--timeout-s", "1e300"),
    ],
)
def test_an_impossible_number_is_refused(course: Course, option: str, value: str) -> None:
    result = course.grade(option, value)
    assert result.returncode == 2 and f"{option}: '{value}': give a" in result.stderr
    assert not course.out.exists()


@pytest.mark.parametrize("value", ["time=1:00:00", "time=", "cpus-per-task=two"])
def test_an_impossible_number_for_slurm_is_refused(course: Course, value: str) -> None:
    course.hand_in("ada", "fine", "fine")
    result = course.grade("--executor", "slurm", "--slurm", value)
    assert result.returncode == 2 and f"--slurm {value}: give a whole number of" in result.stderr


def test_a_damaged_database_is_reported(course: Course) -> None:
    course.hand_in("ada", "fine", "fine")
    course.grade()
    for damage in ("UPDATE grades SET report = x'00'", "UPDATE facts SET value = '{' WHERE name = 'settings'"):
        with closing(sqlite3.connect(course.out / "batch.sqlite")) as connection, connection:
            connection.execute(damage)
        result = course.run_verb("export", "--format", "canvas")
        assert result.returncode == 2 and "batch.sqlite is damaged" in result.stderr
    with closing(sqlite3.connect(course.out / "batch.sqlite")) as connection, connection:
        connection.execute("DELETE FROM facts WHERE name = 'settings'")  # as if killed before the first grade
    result = course.run_verb("report")
    assert result.returncode == 2 and "nothing was graded yet" in result.stderr


def test_a_locked_database_blames_no_submission(course: Course) -> None:
    course.hand_in("ada", "sleep 1", "fine")
    process = course.start()
    course.wait_for("ada", process)
    with closing(sqlite3.connect(course.out / "batch.sqlite", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(9)  # SQLite waits for five seconds
        connection.execute("ROLLBACK")
    _, output = process.communicate(timeout=60)
    assert process.returncode == 2 and b"another program keeps it locked" in output
    assert course.statuses() == {"ada": ""}
    assert course.grade().returncode == 0 and course.statuses() == {"ada": "graded"}


def test_undecodable_words_are_refused(course: Course) -> None:
    course.hand_in("ada", "fine", "fine")
    course.grade()
    result = course.run_verb("override", "--student", "ada", "--points", "1", "--reason", "\udcff")
    assert result.returncode == 2 and "is not valid UTF-8" in result.stderr


def test_invalid_decisions_are_refused(course: Course) -> None:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    course.run_verb("due", "--at", "2026-11-21T12:00Z")

    def refused(verb: str, *words: str) -> str:
        result = course.run_verb(verb, "--student", "al1", *words)
        assert result.returncode == 2
        return result.stderr

    assert "before the due date" in refused("extend", "--until", "2026-11-20T12:00Z", "--reason", "ill")
    assert "write it as 7.5" in refused("override", "--points", "7,5", "--reason", "shown")
    assert "the text is empty" in refused("override", "--points", "7", "--reason", " ")
    course.run_verb("points", "--student", "at2", "--points", "4", "--of", "5", "--reason", "journal")
    assert "journal has the maximum 5 for others" in refused(
        "points", "--points", "4", "--of", "6", "--reason", "journal"
    )
    course.run_verb("report")
    lines = course.gradebook()
    assert {line["id"]: (line["points"], line["of"]) for line in lines} == {"al1": ("12", "25"), "at2": ("16", "25")}


def test_decisions_are_listed_and_can_be_undone(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    course.run_verb("due", "--at", "2026-11-21T12:00Z")
    student = ("--student", "al1", "--reason")
    course.run_verb("points", *student, "good plots", "--points", "4", "--of", "5")
    course.run_verb("override", *student, "shown", "--points", "7")
    course.run_verb("extend", *student, "ill", "--until", "2026-11-28T12:00Z")
    status = course.run_verb("status").stdout
    assert all(words in status for words in ("journal 4 of 5 (good plots)", "set to 7 points (shown)", "until 2026"))
    assert "al1: 16 of 25 points" in course.run_verb("override", *student, "an error", "--undo").stdout
    assert "al1: 12 of 20 points" in course.run_verb("points", *student, "an error", "--undo").stdout
    course.run_verb("extend", *student, "an error", "--undo")
    assert "al1, override revoked (an error)" in course.run_verb("status").stdout
    assert "--of: give the maximum" in course.run_verb("points", *student, "more", "--points", "3").stderr


def add_a_stage(course: Course, stage: str) -> None:
    lab, report = course.root / "labs" / LAB / "lab.json", course.build / "report.json"
    manifest, content = json.loads(lab.read_text()), json.loads(report.read_text())
    manifest["stages"].append({**manifest["stages"][0], "id": stage})
    content["stages"].append(json.loads(json.dumps(content["stages"][0])) | {"stage": stage})
    lab.write_text(json.dumps(manifest))
    report.write_text(json.dumps(content))


def test_a_regrade_of_a_lab_with_a_new_stage_reads_its_file(course: Course) -> None:
    (course.hand_in("al1", "fine", "fine") / "03_third.cu").write_text("fine")
    course.hand_in("al2", "fine", "fine")
    course.grade()
    add_a_stage(course, "03_third")
    result = course.run_verb("regrade", "--changed")
    assert result.returncode == 0 and "al1: 12 points and 8 pending before, 18 points" in result.stdout, result.stdout
    assert course.statuses() == {"al1": "graded", "al2": "missing_stages"}
    assert "03_third" in (course.out / "gradebook.csv").read_text("utf-8-sig").splitlines()[0]
    shutil.rmtree(course.handed_in)  # from now on, the copy is enough
    assert "The points are the same" in course.run_verb("regrade", "--all").stdout


def test_a_regrade_of_a_lab_with_a_new_stage_without_the_hand_ins_costs_no_points(course: Course) -> None:
    (course.hand_in("al1", "fine", "fine") / "03_third.cu").write_text("fine")
    course.grade()
    add_a_stage(course, "03_third")
    shutil.rmtree(course.handed_in)
    course.run_verb("regrade", "--all")
    assert course.statuses() == {"al1": "judge_error"}
    assert course.database().query("SELECT points FROM grades ORDER BY id DESC LIMIT 1") == [(12,)]


def test_grades_of_a_lab_before_and_after_a_change_are_not_mixed_silently(course: Course) -> None:
    (course.hand_in("al1", "fine", "fine") / "03_third.cu").write_text("fine")
    assert "Graded before" not in course.grade().stderr
    add_a_stage(course, "03_third")
    (course.hand_in("al2", "fine", "fine") / "03_third.cu").write_text("fine")
    export = ("export", "--format", "canvas", "--output", course.root / "canvas.csv")
    assert course.run_verb(*export).returncode == 0
    assert "Graded before the lab or the judge changed: al1." in course.grade().stderr
    result = course.run_verb(*export)
    assert result.returncode == 1 and "stages than the hand-in that was graded last: al1." in result.stderr
    assert "Graded before" not in course.run_verb("regrade", "--changed").stderr
    assert course.run_verb(*export).returncode == 0


def test_the_folder_of_another_batch_is_not_graded(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    second_batch = course.out.with_name("other")
    result = course.run(
        [*course.command("grade", course.out, "--lab", LAB, "--out", second_batch, "--root", course.root)]
    )
    assert result.returncode == 2 and "is the folder of another batch (it contains batch.sqlite)" in result.stderr
    course.out.rename(course.handed_in / "old")
    result = course.grade()
    assert result.returncode == 0 and "Skipped: old is the folder of another batch" in result.stderr
    assert set(course.statuses()) == {"al1"}


def test_the_steps_of_a_batch_are_announced_in_their_order(course: Course) -> None:
    for student in ("al1", "at2", "gh3"):
        course.hand_in(student, "fine", "fine")
    lines = course.grade().stdout.splitlines()
    assert lines[:4] == [
        f"Reading the hand-ins in {course.handed_in} …",
        "Found 3 hand-ins. Examining them …",
        "Checking that the judge works here …",
        "Grading 3 hand-ins, 2 at a time …",
    ]
