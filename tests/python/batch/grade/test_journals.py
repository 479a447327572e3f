"""Journals in a batch are kept, rendered again and linked; invalid contents result only in a remark."""

from __future__ import annotations

import csv
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from grader.python.batch.grade.journals import keep_journal, pick_journal, render_journal
from grader.python.batch.grade.versions import hash_judging
from grader.python.batch.ingest.reader import read_all
from grader.python.journal.notes import MAX_BYTES as MAX_NOTE_BYTES
from grader.python.journal.submit import MAX_JOURNAL_BYTES
from tests.python.batch.batches import LAB, STAGES, Course
from tests.python.journal import journals
from tests.python.pages import Reader

SCRIPT = "<script>alert(1)</script>"


def records(*lines: journals.Json) -> bytes:
    return "".join(json.dumps(line | {"lab": LAB}) + "\n" for line in lines).encode()


def hand_in_archive(course: Course, student: str, files: dict[str, bytes]) -> None:
    """Hand in an archive with both stages, as `make submit` packs it."""
    contents = {f"{stage}.cu": b"fine" for stage in STAGES} | files
    with tarfile.open(course.handed_in / f"{LAB}-{student}-2026-11-21-040506.tar.gz", "w:gz") as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"{LAB}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def test_a_note_with_a_stages_earlier_number_is_kept() -> None:
    files = {f"{LAB}/journal/{name}": b"words" for name in ("07_second.md", "07_second-2.md", "07_other.md")}
    assert pick_journal(files, LAB, STAGES) == ({"07_second.md": b"words", "07_second-2.md": b"words"}, [])


def test_a_journal_is_kept_rendered_and_linked(course: Course) -> None:
    timed = journals.report(1, STAGES[0], "x", 0.0614)
    hand_in_archive(
        course,
        "al1",
        {
            "journal/records.jsonl": records(timed),
            f"journal/{STAGES[0]}.md": b"# Goal\nHalve the steps.\n",
            "journal/journal.html": b"their own",
            "journal/other.md": b"no note",
        },
    )
    course.hand_in("at2", "fine", "fine")
    course.grade()
    journal = course.out / "journals" / "al1"
    assert sorted(file.name for file in journal.iterdir()) == [f"{STAGES[0]}.md", "records.jsonl"]
    page = (course.out / "feedback/al1/journal.html").read_text()
    assert "Halve the steps." in page
    assert "0.06140" in page
    assert "their own" not in page
    dashboard = (course.out / "report.html").read_text()
    assert dashboard.count('href="feedback/al1/journal.html"') == 1
    assert "at2/journal.html" not in dashboard
    assert 'href="journal.html"' in (course.out / "feedback/al1/index.html").read_text()
    assert "journal.html" not in (course.out / "feedback/at2/index.html").read_text()
    (course.handed_in / "al1.zip").write_bytes(b"PK")  # handed in again, damaged
    (course.handed_in / f"{LAB}-al1-2026-11-21-040506.tar.gz").unlink()
    course.grade()
    assert not (course.out / "feedback/al1/journal.html").exists()
    assert not journal.exists()


def make_quiz() -> str:
    """Return a quiz with two questions, whose answers are the numbers 1 and 2."""
    number = {"why": "w", "mistakes": [{"value": 0, "why": "w"}], "otherwise": "w"}
    questions = [
        {"id": f"q{right}", "section": "s", "text": "t", "number": number | {"right": right}} for right in (1, 2)
    ]
    return json.dumps({"schema": 1, "questions": questions})


def make_answers(lab: str, *answers: tuple[str, str]) -> bytes:
    return json.dumps(
        {"schema": 1, "lab": lab, "score": 9, "answers": [{"question": q, "answer": a} for q, a in answers]}
    ).encode()


def test_answers_to_the_quiz_are_judged_again_and_give_no_points(course: Course) -> None:
    (course.root / "labs" / LAB / "quiz.json").write_text(make_quiz())
    handed_in = {
        "al1": make_answers(LAB, ("q1", "1"), ("q2", "1"), ("q2", "2")),
        "at2": make_answers("other", ("q1", "1")),
        "gh3": b"{",
    }
    for student, content in handed_in.items():
        hand_in_archive(course, student, {"journal/quiz.json": content})
    course.hand_in("jb4", "fine", "fine")
    course.grade()
    book = list(csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines()))
    assert [(line["quiz_right"], line["quiz_of"]) for line in book] == [("1", "2"), ("", ""), ("", ""), ("", "")]
    assert len({(line["points"], line["of"]) for line in book}) == 1
    page = (course.out / "report.html").read_text()
    assert '<button type="button" title="right on the first try">Quiz</button>' in page
    assert '<td data-value="1" class="number">1 / 2</td>' in page
    assert page.index('>q2</th><td class="number">0 of 1<') < page.index('>q1</th><td class="number">1 of 1<')
    assert "1 of 2 right on the first try" in (course.out / "feedback/al1/journal.html").read_text()
    assert "quiz.json has no valid answers" in (course.out / "feedback/gh3/journal.html").read_text()


def test_a_changed_manifest_makes_grades_stale_and_a_changed_quiz_does_not(course: Course) -> None:
    before = hash_judging(course.root, LAB)
    (course.root / "labs" / LAB / "quiz.json").write_text(make_quiz())
    assert hash_judging(course.root, LAB) == before
    (course.root / "labs" / LAB / "lab.json").write_text("{}")
    assert hash_judging(course.root, LAB) != before


def test_a_hostile_journal_is_shown_as_text(course: Course) -> None:
    bad = journals.report(1, STAGES[0], SCRIPT, verdict="failed", imported_from=SCRIPT)
    bad["report"]["machine"]["gpu"] = SCRIPT
    timed = journals.change_machine(journals.report(2, STAGES[0], "y", 0.1), gpu=SCRIPT, host=SCRIPT)
    hand_in_archive(
        course,
        "al1",
        {
            "journal/records.jsonl": records(journals.source(1, STAGES[0], SCRIPT), bad, timed)
            + b'{"a": ' + b"[" * 100_000 + b"\n\xff\xfe\n",
            f"journal/{STAGES[0]}.md": f"# {SCRIPT}\n{SCRIPT}\n\n| {SCRIPT} |\n".encode(),
            "journal/journal.html": SCRIPT.encode(),
        },
    )  # fmt: skip
    course.grade()
    assert course.statuses() == {"al1": "graded"}
    page = (course.out / "feedback/al1/journal.html").read_text()
    assert "<script" not in page
    assert SCRIPT in Reader(page).text
    assert "is skipped" in page


def test_a_journal_that_cannot_be_rendered_causes_a_remark(course: Course) -> None:
    first = journals.report(1, STAGES[0], "x", 0.1)
    second = journals.report(2, STAGES[1], "y", 0.1)
    for line in (first, second):  # the page compares each earlier sample with each later one
        line["report"]["stages"][0]["measurements"][0]["samples_s"] = [0.1] * 10_000
    hand_in_archive(course, "al1", {"journal/records.jsonl": records(first, second)})
    course.grade()
    (row,) = course.database().rows()
    assert row.status == "graded"
    assert row.notes == ["The journal could not be rendered: it takes too much time or memory"]
    assert row.notes[0] in (course.out / "feedback/al1/feedback.txt").read_text()
    assert "journal.html" not in (course.out / "report.html").read_text()


def test_only_the_labs_journal_is_picked_without_files_that_are_too_large() -> None:
    files = {
        "x/other/journal/records.jsonl": b"other",
        f"x/{LAB}/journal/records.jsonl": b" " * (MAX_JOURNAL_BYTES + 1),
        f"x/{LAB}/journal/{STAGES[0]}.md": b"first",
        f"x/{LAB}/journal/{STAGES[0]}-2.md": b" " * (MAX_NOTE_BYTES + 1),
        f"x/{LAB}/journal/{STAGES[0]}-x.md": b"none",
        f"x/{LAB}/{STAGES[1]}.md": b"none",
    }
    picked, remarks = pick_journal(files, LAB, STAGES)
    assert picked == {f"{STAGES[0]}.md": b"first"}
    assert [remark.split()[2] for remark in remarks] == [f"{STAGES[0]}-2.md", "records.jsonl"]
    assert pick_journal({}, LAB, STAGES) == ({}, [])


def test_the_reason_why_a_journal_cannot_be_rendered_names_no_instructors_folder(tmp_path: Path) -> None:
    keep_journal({"journal/records.jsonl": b"x"}, LAB, STAGES, tmp_path / "kept")
    output = f"Warning\n{tmp_path}/kept/records.jsonl: cannot be read"
    remarks = render_journal(tmp_path / "kept", tmp_path / "page.html", tmp_path, LAB, lambda *_: (2, output))
    assert remarks == ["The journal could not be rendered: records.jsonl: cannot be read"]


@pytest.mark.parametrize("kind", ["link", "pipe", "huge"])
def test_notes_are_read_although_the_records_cannot_be_read(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / LAB / "journal"
    folder.mkdir(parents=True)
    (folder / f"{STAGES[0]}.md").write_text("words")
    unreadable = folder / "records.jsonl"
    if kind == "link":
        unreadable.symlink_to("/etc/hostname")
    elif kind == "pipe":
        os.mkfifo(unreadable)
    else:
        unreadable.touch()
        os.truncate(unreadable, 10_000_001)
    assert [(file.name, file.content) for file in read_all([tmp_path]).files] == [
        (f"{LAB}/journal/{STAGES[0]}.md", b"words")
    ]
