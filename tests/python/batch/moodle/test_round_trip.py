"""Tests of round_trip.py with a stub in place of inside.php, and of the private MariaDB if MariaDB is installed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.python.batch import php
from tests.python.batch.batches import STAGES, Course
from tests.python.batch.moodle import round_trip
from tests.python.batch.outputs.test_feedback_zip import as_moodle
from tests.python.batch.remote.moodle import TOKEN, Moodle

HEADER = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed"]
HEADER += ["Last modified (submission)", "Last modified (grade)", "Feedback comments"]


class Inside:
    """A minimal stub of inside.php. With `loses`, its importers lose one student's grade, replace another student's
    comment, and lose a third student's files."""

    def __init__(self, moodle: Moodle, loses: bool):
        self.moodle, self.loses = moodle, loses
        self.description: dict[str, Any] = {}
        self.states: dict[str, dict[str, dict[str, Any]]] = {}

    def act(self, action: str, first: Any, second: Any = None) -> bytes:
        if action == "make":
            return self.make(json.loads(Path(first).read_text()), Path(second))
        name = ("by API", "by hand", "teams")[int(first) - 77]
        call: dict[str, Callable[..., bytes]] = {
            "download": self.download, "worksheet": self.worksheet, "import-grades": self.import_grades,
            "import-feedback": self.import_feedback, "show": self.show,
        }  # fmt: skip
        return call[action](name, *([second] if second else []))

    def make(self, description: dict[str, Any], output: Path) -> bytes:
        self.description = description
        numbers = {"by API": 77, "by hand": 78, "teams": 79}  # the simulated Moodle has 77
        output.write_text(json.dumps({"course": 12, "assignments": numbers, "token": TOKEN}))
        for number, (name, student) in enumerate(description["students"].items()):
            files = description["assignments"]["by API"]["hand_ins"].get(name, [])
            contents = [(Path(file).name, Path(file).read_bytes()) for file in files]
            self.moodle.add(100 + number, name, f"{student['first']} {student['last']}", *contents)
            self.moodle.users[-1]["email"] = student["email"]
        self.moodle.shows_names = False
        for name in description["assignments"]:
            self.states[name] = {user: {"number": str(9 + at), "grade": None, "comment": "", "files": {}}
                                 for at, user in enumerate(description["students"])}  # fmt: skip
        return b""

    def people(self, name: str) -> dict[str, tuple[str, str]]:
        """Return, by user name, the name and the number that begin the paths of a student's or group's files."""
        students = self.description["students"].values()
        groups = dict.fromkeys(student["group"] for student in students if student["group"])
        teams = {team: str(7 + at) for at, team in enumerate(groups)}
        people = {}
        for user, student in self.description["students"].items():
            name_and_number = f"{student['first']} {student['last']}", self.states[name][user]["number"]
            if self.description["assignments"][name]["team"]:
                name_and_number = (
                    (student["group"], teams[student["group"]]) if student["group"] else ("Default group", "")
                )
            people[user] = name_and_number[0].replace("_", " ").replace('"', ""), name_and_number[1]
        return people

    def download(self, name: str) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for user, files in self.description["assignments"][name]["hand_ins"].items():
                for file in map(Path, files):
                    prefix = "_".join(self.people(name)[user])
                    archive.write(file, f"{prefix}_assignsubmission_file/{file.name}")
        return buffer.getvalue()

    def worksheet(self, name: str) -> bytes:
        team = self.description["assignments"][name]["team"]
        rows = [[*HEADER[:4], *["Group"] * team, *HEADER[4:]]]
        for user, student in self.description["students"].items():
            state = self.states[name][user]
            person = [
                f"Participant {state['number']}",
                f"{student['first']} {student['last']}",
                student["email"],
                "Submitted -  - ",
            ]
            rows.append([*person, *[student["group"] or "Default group"] * team, "", "12.00", "Yes", "-", "-", ""])
        return "\ufeff".encode() + "".join(map(php.write_row, rows)).encode()

    def import_grades(self, name: str, file: Path) -> bytes:
        header, *rows = php.read_rows(file.read_text("utf-8-sig").replace("\r\n", "\n"))
        for row in rows:
            cells = dict(zip(header, row, strict=True))
            state = next(
                student
                for student in self.states[name].values()
                if f"Participant {student['number']}" == cells["Identifier"]
            )
            lost = state["number"] if self.loses else ""
            if cells["Grade"] and lost != "10":
                state["grade"] = float(cells["Grade"])
            state["comment"] = cells["Feedback comments"] if lost != "11" else "x"
        return b""

    def import_feedback(self, name: str, file: Path) -> bytes:
        people = self.people(name)
        with zipfile.ZipFile(file) as archive:
            for entry in archive.namelist():
                match = as_moodle(entry, {int(number): number for _, number in people.values() if number})
                for user, (_, number) in people.items():
                    if match and number == match[0] and not (self.loses and number == "12"):
                        digest = hashlib.sha256(archive.read(entry)).hexdigest()
                        self.states[name][user]["files"][match[1]] = digest
        return b""

    def show(self, name: str, output: Path) -> bytes:
        state = self.states[name]
        for user in self.moodle.users if name == "by API" else ():
            if grade := self.moodle.grades.get(user["id"]):
                files = {path: hashlib.sha256(content).hexdigest() for path, content in grade["files"].items()}
                state[user["username"]] |= {"grade": float(grade["grade"]), "comment": grade["comment"], "files": files}
        output.write_text(json.dumps(state))
        return b""


@contextmanager
def begin(monkeypatch: pytest.MonkeyPatch, course: Course, loses: bool = False) -> Iterator[round_trip.Trip]:
    """Yield a round trip for seven students, with a fake judge and the simulated Moodle."""
    pytest.importorskip("canvasapi")
    moodle = Moodle()
    inside = Inside(moodle, loses)

    def write(folder: Path) -> dict[str, list[str]]:
        files = {}
        for number in range(len(round_trip.NAMES) - 1):
            folder.joinpath(name := f"u{number:03}x").mkdir(parents=True)
            for stage in STAGES[: 1 + number % 2]:
                (folder / name / f"{stage}.cu").write_text(f"fine {number}")
            files[name] = sorted(map(str, (folder / name).iterdir()))
        return files

    def grade(trip: round_trip.Trip, hand_ins: Path, roster: Path, out: Path) -> None:
        course.handed_in, course.out = hand_ins, out
        result = course.grade("--roster", roster)
        assert result.returncode == 0, result.stderr

    monkeypatch.setattr(round_trip, "NAMES", round_trip.NAMES[:6] + round_trip.NAMES[-1:])
    monkeypatch.setattr(round_trip, "write_hand_ins", write)
    monkeypatch.setattr(round_trip.Trip, "grade", grade)
    monkeypatch.setattr(round_trip.Trip, "run_inside", lambda trip, *words: inside.act(*words))
    try:
        yield round_trip.Trip(course.root, moodle.url, course.root)
    finally:
        moodle.server.shutdown()


def test_a_correct_round_trip_reports_no_differences(monkeypatch: pytest.MonkeyPatch, course: Course) -> None:
    with begin(monkeypatch, course) as trip:
        trip.run_by_files("by hand")
        trip.run_by_files("teams")
        trip.run_by_api("by API")
    assert trip.found == [] and trip.compared == 7 * (3 + 3 + 2) + 3


def test_data_that_the_importers_lose_is_reported(monkeypatch: pytest.MonkeyPatch, course: Course) -> None:
    with begin(monkeypatch, course, loses=True) as trip:
        trip.run_by_files("by hand")
    assert [line.partition(":")[0] for line in trip.found] == [
        "by hand, u001x, grade", "by hand, u002x, comment", "by hand, u003x, files",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "message"),
    [("", "No Moodle: set MOODLE=DIR to its source tree."), ("{tmp}", "is not a Moodle from 4.1 to 5.0: it has no")],
)
def test_the_reason_why_the_round_trip_cannot_run_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str, message: str
) -> None:
    monkeypatch.setenv("MOODLE", path.format(tmp=tmp_path))
    result = round_trip.soak()
    assert message in result["not_run"] and bool(result["found"]) == bool(path)


@pytest.mark.skipif(not round_trip.find_tool("mariadbd"), reason="MariaDB is not installed")
def test_the_database_is_private_and_is_stopped(tmp_path: Path) -> None:
    port = round_trip.find_port()
    with round_trip.database(tmp_path, port) as password:
        client = [round_trip.find_tool("mariadb"), "--no-defaults", "--host=127.0.0.1", f"--port={port}"]
        output = round_trip.run([*client, "--user=moodle", f"--password={password}", "-e", "SHOW DATABASES"])
        assert b"moodle" in output and b"mysql" not in output
    with pytest.raises(round_trip.StopError, match="ended with 1"):
        round_trip.run([*client, "--user=moodle", f"--password={password}", "-e", "SELECT 1"])
