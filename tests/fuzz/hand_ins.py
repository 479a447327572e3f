"""Fuzz hand-ins of students and course systems, from bytes to statuses and outputs; no judge runs."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from grader.python.batch.grade import grading, opening
from grader.python.batch.grade.grading import grade_submission
from grader.python.batch.grade.other_lab import require_own_lab
from grader.python.batch.ingest.reader import Contents, read_all
from grader.python.batch.ingest.roster import Student
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.ingest.unpack import unpack
from grader.python.batch.outputs.dashboard import make_dashboard
from grader.python.batch.outputs.own_gradebook import make_gradebook
from grader.python.batch.policy.points import Policy, choose_latest, finals
from grader.python.batch.policy.suspicious import find_remarks
from grader.python.batch.store.places import folder_name
from grader.python.batch.store.rows import STATUSES, Graded, Row
from grader.python.batch.store.settings import Settings
from grader.python.common.labs import read_stages
from tests.fuzz.invariants import refusing, require, require_csv, require_html, require_message

ROOT = Path(__file__).resolve().parents[2]
LAB = "vector_add"
STAGES = tuple(read_stages(ROOT, LAB))
HONEST = {f"{STAGES[0]}.cu": b"// honest\n"}
MAX_NAME = 180  # bytes
ROSTER = [
    Student("ada", "Ada Lovelace", {"ada", "11"}, numbers={"11"}),
    Student("bob", "Bob Babbage", {"bob", "12"}, numbers={"12"}),
    Student("eve", "Eve Mallory", {"eve", "13"}, numbers={"13"}),
]


def make_settings(folder: Path) -> Settings:
    """Make a batch's settings in a separate folder."""
    return Settings(LAB, STAGES, ROOT, folder / "build", folder, "cpu")


@contextlib.contextmanager
def without_judge() -> Iterator[dict[str, dict[str, bytes]]]:
    """Replace the judge by a stub that grades each submission. Hand-ins are read in this process, so that a fuzzer
    observes the reader. Yields the files by submission."""
    files_of: dict[str, dict[str, bytes]] = {}

    def judge(files: dict[str, bytes], submission: Submission, *others: object) -> None:
        files_of[submission.key] = files
        next(row for row in others if isinstance(row, Graded)).status = "graded"

    def run_judge(*_: object) -> tuple[int, str]:
        return 2, "No journal is rendered here."

    def read_here(entries: Sequence[Path], _: float) -> Contents:
        return read_all(entries)

    with (
        mock.patch.multiple(grading, judge=judge, run_judge=run_judge),
        mock.patch.object(opening, "read_in_child", read_here),
    ):
        yield files_of


def grade(submissions: list[Submission], folder: Path) -> tuple[list[Row], dict[str, dict[str, bytes]]]:
    """Grade submissions without a judge, and check each status. Return rows and the files that reached the judge."""
    settings, rows = make_settings(folder), []
    with without_judge() as files_of:
        for submission in submissions:
            graded = grade_submission(submission, settings)
            require(graded.status in STATUSES, "each hand-in gets a status")
            require(graded.status != "judge_error", f"no hand-in makes the judge fail: {graded.detail[:200]}")
            require(
                (graded.status == "graded") == (submission.key in files_of),
                "only judged submissions are graded",
            )
            notes = submission.notes + graded.notes
            rows.append(make_row(submission, graded, notes))
    return rows, files_of


def make_row(submission: Submission, graded: Graded, notes: list[str]) -> Row:
    """Make a row of the database, with a grade of 0 points."""
    members, handed_in = list(submission.members), submission.handed_in
    output = (notes, graded.status, graded.detail)
    return Row(
        submission.key, submission.name, members, handed_in, submission.known_by, *output, wall_s=0, max_points=10
    )


def require_outputs(rows: list[Row], left_out: list[str]) -> None:
    """Require that the gradebook and the page are valid for these rows."""
    policy = Policy(due=datetime(2026, 11, 21, tzinfo=UTC), percent_per_day=10)
    latest = choose_latest(final for row in rows for final in finals(row, policy, 10))
    require_csv(make_gradebook(latest, [], STAGES), "gradebook.csv")
    remarks = find_remarks(rows, [])
    require_html(make_dashboard("batch", [], rows, latest, remarks, STAGES, "secret", left_out), "report.html")


def require_apart(submissions: list[Submission]) -> None:
    """Require different keys and folders, even on case-insensitive file systems, and an owner of each submission."""
    folders = [folder_name(submission.key).casefold() for submission in submissions]
    require(len(set(folders)) == len(folders), "each submission has its own folder")
    require(all(folder.strip(".") and "/" not in folder for folder in folders), "a folder's name is one path component")
    members = [member for submission in submissions for member in set(submission.members)]
    require(all(submission.key and submission.members for submission in submissions), "each submission has an owner")
    require(all("\0" not in member for member in members), "an owner's id is text")


def write_honest(folder: Path) -> None:
    """Write two students' hand-ins as downloaded from Canvas and from Moodle."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        for name, content in HONEST.items():
            writer.writestr(name, content)
    (folder / "lovelaceada_11_501_lab.zip").write_bytes(archive.getvalue())
    moodle = folder / "Bob Babbage_12_assignsubmission_file_"
    moodle.mkdir()
    for name, content in HONEST.items():
        (moodle / name).write_bytes(content)


def name_hand_in(system: bytes, user: bytes, shown: bytes, file: bytes) -> bytes:
    """Return a course system's name for a file; the user chose the shown name and the file's name. Canvas keeps the
    letters and digits of the shown name, and letters, digits, dots, dashes and underscores of the file's name. Moodle
    keeps everything except slashes."""
    if system == b"canvas":
        shown = bytes(c for c in shown.lower() if chr(c).isalnum() or c >= 0x80)[:60] or b"eve"
        file = bytes(c for c in file if chr(c).isalnum() or c in b"._-" or c >= 0x80)
        return shown + b"_" + user + b"_777_" + (file or b"x")
    cleaned = [bytes(c for c in part if c not in b"/\0") for part in (shown, file)]
    return (cleaned[0][:80].lstrip(b".") or b"eve") + b"_" + user + b"_assignsubmission_file_" + cleaned[1]


def try_hand_in(data: bytes, folder: Path) -> None:
    """Try a hand-in. `data` has three lines (the course system, with "99" if the roster lacks the student; the shown
    name; the file's name, or "folder/file" in Moodle) and then the file's bytes. Require that this student gets a
    status, and that the files of each other student are graded."""
    system, shown, file, content = (data.split(b"\n", 3) + [b""] * 4)[:4]
    user = b"99" if system.endswith(b"99") else b"13"
    system = b"canvas" if system.startswith(b"canvas") else b"moodle"
    handed_in, out = folder / "in", folder / "out"
    handed_in.mkdir()
    out.mkdir()
    write_honest(handed_in)
    first_part, _, rest = file.partition(b"/")
    target = handed_in / os.fsdecode(name_hand_in(system, user, shown, first_part)[: MAX_NAME + 75])
    if rest and system != b"canvas":
        target.mkdir()
        target /= os.fsdecode(bytes(c for c in rest if c not in b"/\0")[:MAX_NAME].lstrip(b".") or b"x")
    target.write_bytes(content)
    submissions, left_out = find_submissions(handed_in, LAB, ROSTER)
    with refusing(), without_judge():
        require_own_lab(handed_in, handed_in, submissions, make_settings(out))
    rows, files_of = grade(submissions, out)
    require_apart(submissions)
    require(len(submissions) > 2 or left_out, "the hand-in gets a status, or is named")
    for student in ("ada", "bob"):
        of_student = [submission for submission in submissions if student in submission.members]
        require(len(of_student) == 1, f"{student} has one submission")
        require(files_of.get(of_student[0].key) == {STAGES[0]: b"// honest\n"}, f"{student}'s own files are graded")
    for sentence in left_out:
        require_message(sentence)
    require_outputs(rows, left_out)


def try_download(data: bytes, folder: Path) -> None:
    """Try an archive of all hand-ins: it is refused, or it is unpacked within the batch's folder, and its hand-ins are
    matched and graded."""
    archive, out = folder / "download.zip", folder / "out"
    archive.write_bytes(data)
    out.mkdir()
    with contextlib.redirect_stdout(io.StringIO()), refusing():
        handed_in, left_out = unpack(archive, out, LAB)
        for sentence in left_out:
            require_message(sentence)
        require_inside(handed_in, out)
        submissions, left_out = find_submissions(handed_in, LAB, ROSTER)
        require_apart(submissions)
        for submission in submissions:
            require(all(path.is_relative_to(handed_in) for path in submission.entries), "entries are unpacked files")
        rows, _ = grade(submissions, out)
        require_outputs(rows, left_out)
    other_files = {path.name for path in folder.iterdir()} - {"download.zip", "out"}
    require(not other_files, "nothing is written elsewhere")


def require_inside(handed_in: Path, out: Path) -> None:
    """Require that only plain files and folders were unpacked, within the batch's own folder."""
    require(handed_in.is_relative_to(out), "the hand-ins are in the batch's folder")
    for path in handed_in.rglob("*"):
        require(not path.is_symlink() and (path.is_file() or path.is_dir()), "only files and folders are unpacked")
