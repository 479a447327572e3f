"""Test a course with a real Moodle: download, grade, import, use the web services, and compare each field.

    MOODLE=DIR .venv/bin/python -m tests.python.batch.moodle.round_trip     DIR: an unpacked Moodle, 4.1 to 5.0

**This has not been run against a Moodle yet**, because no copy of Moodle was available. Its calls of Moodle's functions
follow Moodle's repository (inside.php names the files), and this script was run with a stub in place of inside.php.
Other tests use the recorded files in ../recorded and the simulated Moodle in ../remote.

The script copies DIR, installs the copy with its own installer on a private MariaDB and PHP's web server, both on
loopback and in a temporary folder, and removes everything at the end. `make soak MOODLE=DIR` runs it, and installs PHP
and MariaDB if they are missing.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.python.batch.store.places import place_of

ROOT = Path(__file__).resolve().parents[4]
BUILD = Path(os.environ.get("BUILD") or "build")
INSIDE = Path(__file__).with_name("inside.php")
LAB, STAGES = "vector_add", ("01_one_thread_per_element", "02_grid_stride")
NEEDED = ("version.php", "admin/cli/install.php", "mod/assign/classes/downloader.php")
TOOLS = ("php", "mariadbd", "mariadb", "mariadb-install-db")
START_S, INSTALL_S = 60, 1800
NAMES = (
    ("Seán", "O'Brien"), ("Zoë", "Müller-Lüdenscheidt"), ("José María", "García Márquez"), ("王", "伟"),
    ("Anna 2", "Bauer_99"), ("Anne-Sophie", "de La Fontaine"), ("John", "Smith"), ("John", "Smith"),
    ('Tim "Tiny"', "Jones"), ("Ada", "Lovelace, Jr."), ("Nobody", "Absent"),
)  # fmt: skip
POINTS = 20


class StopError(Exception):
    """The reason why the round trip cannot run, as a message to the user."""


def find_moodle() -> Path:
    """Return the source tree that MOODLE names. Raises StopError."""
    path = os.environ.get("MOODLE", "")
    if not path:
        raise StopError("No Moodle: set MOODLE=DIR to its source tree. Other tests use recorded files instead.")
    folder = Path(path).expanduser().resolve()
    if missing := [name for name in NEEDED if not (folder / name).is_file()]:
        raise StopError(
            f"{folder} is not a Moodle from 4.1 to 5.0: it has no {missing[0]}. Choose the folder that has it."
        )
    if missing := [name for name in TOOLS if not find_tool(name)]:
        raise StopError(f"{', '.join(missing)} missing: type  MOODLE={path} sh grader/setup.sh soak")
    return folder


def find_tool(name: str) -> str:
    """Return a program's path, which may be in an sbin folder. Return an empty string if it is missing."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def release_of(moodle: Path) -> str:
    """Return Moodle's version, for example 4.5.6 (Build: 20250811)."""
    match = re.search(r"\$release\s*=\s*'([^']+)'", (moodle / "version.php").read_text(errors="replace"))
    return match[1] if match else "unknown"


def say(text: str) -> None:
    print(f"moodle: {text}", file=sys.stderr, flush=True)


def run(command: list[Any], max_status: int = 0, **options: Any) -> bytes:
    """Run a program and return its output. Raises StopError if its exit status is above `max_status`."""
    result = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, check=False, **options)
    if not 0 <= result.returncode <= max_status:
        output = (result.stdout[-1500:] + result.stderr[-1500:]).decode(errors="replace")
        raise StopError(f"{' '.join(map(str, command))[:200]} ended with {result.returncode}:\n{output}")
    return result.stdout


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(command: list[Any], is_ready: Callable[[], bool], log: Path) -> Iterator[None]:
    """Run a server until the end of the block. Raises StopError if it does not start."""
    with log.open("wb") as file:
        process = subprocess.Popen(list(map(str, command)), stdout=file, stderr=subprocess.STDOUT)
    try:
        end_s = time.monotonic() + START_S
        while not is_ready():
            if process.poll() is not None or time.monotonic() > end_s:
                raise StopError(f"{Path(command[0]).name} does not start:\n{log.read_text(errors='replace')[-1500:]}")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        try:
            process.wait(START_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def database(folder: Path, port: int) -> Iterator[str]:
    """Run a private MariaDB on loopback, and return the password of its user `moodle`. Raises StopError."""
    password, data, path = secrets.token_hex(16), folder / "database", folder / "db.sock"
    as_root = ["--user=root"] if os.geteuid() == 0 else []
    make = ["--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
    run([find_tool("mariadb-install-db"), *make, *as_root])
    client = [find_tool("mariadb"), "--no-defaults", f"--socket={path}", "--user=root"]
    command = [find_tool("mariadbd"), "--no-defaults", f"--datadir={data}", f"--socket={path}", *as_root]
    command += ["--bind-address=127.0.0.1", f"--port={port}", f"--pid-file={folder / 'db.pid'}"]

    def is_ready() -> bool:
        return subprocess.run([*client, "-e", "SELECT 1"], capture_output=True, check=False).returncode == 0

    with running(command, is_ready, folder / "database.log"):
        user = f"CREATE USER moodle@'127.0.0.1' IDENTIFIED BY '{password}'; GRANT ALL ON moodle.* TO moodle@'127.0.0.1'"
        run([*client, "-e", f"CREATE DATABASE moodle CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci; {user}"])
        yield password


@contextmanager
def installed(moodle: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """Install a copy of Moodle, and return its root and address while it runs. Raises StopError."""
    root, data_port, web_port = folder / "moodle", find_port(), find_port()
    say(f"copying {moodle}")
    shutil.copytree(moodle, root, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules", "config.php"))
    (folder / "data").mkdir()
    url = f"http://127.0.0.1:{web_port}"
    with database(folder, data_port) as password:
        say("installing Moodle, which takes minutes")
        options = {"wwwroot": url, "dataroot": folder / "data", "dbtype": "mariadb", "dbhost": "127.0.0.1",
                   "dbport": data_port, "dbuser": "moodle", "dbpass": password, "fullname": "Round trip",
                   "shortname": "trip", "adminpass": f"Aa1-{secrets.token_hex(8)}",
                   "adminemail": "admin@trip.example"}  # fmt: skip
        flags = ["--non-interactive", "--agree-license", "--allow-unstable"]
        words = [f"--{name}={value}" for name, value in options.items()]
        run([*php(), root / "admin/cli/install.php", *flags, *words], timeout=INSTALL_S)
        server = [*php(), "-S", f"127.0.0.1:{web_port}", "-t", root]
        with running(server, lambda: responds(f"{url}/webservice/rest/server.php"), folder / "web.log"):
            yield root, url


def php() -> list[str]:
    """Return the command that starts PHP with the limit that Moodle's installer requires."""
    return [find_tool("php"), "-d", "max_input_vars=5000", "-d", "memory_limit=1G", "-d", "display_errors=stderr"]


def responds(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=30).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def write_hand_ins(folder: Path) -> dict[str, list[str]]:
    """Write the hand-ins of all students except the last; two, one or none of their stages are solved. Return the files
    by user name."""
    right = {stage: (ROOT / "solutions" / LAB / f"{stage}.cu").read_text() for stage in STAGES}
    starter = {stage: (ROOT / "starter" / LAB / f"{stage}.cu").read_text() for stage in STAGES}
    files: dict[str, list[str]] = {}
    for number in range(len(NAMES) - 1):
        name = f"u{number:03}x"
        (folder / name).mkdir(parents=True)
        chosen = [right if number % 3 != 2 else starter, right if number % 3 == 0 else starter]
        for stage, texts in zip(STAGES, chosen, strict=True):
            (folder / name / f"{stage}.cu").write_text(f"// hand-in {number}\n{texts[stage]}")
        files[name] = sorted(map(str, (folder / name).iterdir()))
        if number % 4 == 1:  # an archive, with a name that has blanks
            with zipfile.ZipFile(folder / name / "lab 1.zip", "w") as archive:
                for file in files[name]:
                    archive.write(file, Path(file).name)
            files[name] = [str(folder / name / "lab 1.zip")]
    return files


def describe(files: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the course: every student except the last hands in to two assignments, and one of each team to a third."""
    students = {}
    for number, (first, last) in enumerate(NAMES):
        name = f"u{number:03}x"
        team = f"Team_{number // 2}" if number < 6 else ""
        students[name] = {"first": first, "last": last, "email": f"{name}@uni.example", "group": team}
    teams = {f"u{number:03}x": files[f"u{number:03}x"] for number in (0, 2, 4)}
    return {"students": students, "points": POINTS, "assignments": {
        "by hand": {"team": False, "hand_ins": files}, "by API": {"team": False, "hand_ins": files},
        "teams": {"team": True, "hand_ins": teams}}}  # fmt: skip


class Trip:
    """A course in an installed Moodle. `found` lists the differences."""

    def __init__(self, root: Path, url: str, folder: Path):
        self.root, self.url, self.folder, self.found = root, url, folder, list[str]()
        self.compared = 0
        (description := folder / "course.json").write_text(json.dumps(describe(write_hand_ins(folder / "made"))))
        self.run_inside("make", description, folder / "made.json")
        self.made = json.loads((folder / "made.json").read_text())

    def run_inside(self, *words: Any) -> bytes:
        return run([*php(), INSIDE, self.root, *words], timeout=INSTALL_S)

    def run_batch(self, *words: Any) -> bytes:
        token = {**os.environ, "MOODLE_TOKEN": self.made["token"]}
        return run([sys.executable, "-m", "grader.python.batch", *words], max_status=1, env=token)  # 1: with a warning

    def grade(self, hand_ins: Path, roster: Path, out: Path) -> None:
        options = ["--build", BUILD, "--backend", "cpu", "--no-nvcc", "--no-check-mode", "--upto", "02"]
        self.run_batch("grade", hand_ins, "--lab", LAB, "--out", out, "--roster", roster, *options)

    def show(self, name: str) -> dict[str, Any]:
        self.run_inside("show", self.made["assignments"][name], self.folder / "state.json")
        return dict(json.loads((self.folder / "state.json").read_text()))

    def compare(self, field: str, actual: object, expected: object) -> None:
        self.compared += 1
        if actual != expected:
            self.found.append(f"{field}: Moodle has {actual!r:.300}, not {expected!r:.300}")

    def run_by_files(self, name: str) -> None:
        """Download the hand-ins, grade them, import the worksheet and the feedback; compare every student."""
        cmid, folder = self.made["assignments"][name], self.folder / name
        folder.mkdir()
        (folder / "all.zip").write_bytes(self.run_inside("download", cmid))
        (folder / "worksheet.csv").write_bytes(self.run_inside("worksheet", cmid))
        self.grade(folder / "all.zip", folder / "worksheet.csv", folder / "batch")
        worksheet = ["--format", "moodle", "--gradebook", folder / "worksheet.csv"]
        self.run_batch("export", folder / "batch", *worksheet, "--output", folder / "grades.csv")
        self.run_batch("export", folder / "batch", "--feedback", "moodle", "--output", folder / "feedback.zip")
        self.run_inside("import-grades", cmid, folder / "grades.csv")
        self.run_inside("import-feedback", cmid, folder / "feedback.zip")
        rows = {row["Identifier"]: row for row in read_csv(folder / "grades.csv")}
        points, feedback = read_points(folder / "batch"), read_zip(folder / "feedback.zip")
        teams = {row["Identifier"]: row.get("Group", "") for row in read_csv(folder / "worksheet.csv")}
        with zipfile.ZipFile(folder / "all.zip") as archive:
            numbers = dict(entry.split("_")[:2] for entry in archive.namelist())
        for student, state in self.show(name).items():
            row, number = rows.get(f"Participant {state['number']}", {}), state["number"]
            team = teams.get(f"Participant {number}", "")
            self.compare(f"{name}, {student}, grade", round_points(state["grade"]), round_points(points.get(number)))
            self.compare(
                f"{name}, {student}, comment", state["comment"].strip(), row.get("Feedback comments", "").strip()
            )
            expected = feedback.get(numbers.get(team.replace("_", " "), "") if team else number, {})
            self.compare(f"{name}, {student}, files", state["files"] or {}, expected)

    def run_by_api(self, name: str) -> None:
        """Pull, grade and push; compare every student. Pull and push again, which must change nothing."""
        folder = self.folder / name
        where = ["--moodle", self.url, "--course", self.made["course"]]
        where += ["--assignment", self.made["assignments"][name]]
        self.run_batch("pull", folder, *where)
        self.grade(folder / "hand-ins", folder / "roster.csv", folder / "batch")
        self.run_batch("push", folder / "batch", *where, "--send")
        points, state = read_points(folder / "batch"), self.show(name)
        for student, hand_in in state.items():
            address = f"{student}@uni.example"
            self.compare(f"{name}, {student}, grade", round_points(hand_in["grade"]), round_points(points.get(address)))
            place = place_of(folder / "batch", "feedback", address)
            expected = hash_files(place) if hand_in["grade"] is not None else {}
            self.compare(f"{name}, {student}, files", hand_in["files"] or {}, expected)
        self.compare("a second pull", b", 0 of them new" in self.run_batch("pull", folder, *where), True)
        self.compare(
            "a second push", b"0 students written" in self.run_batch("push", folder / "batch", *where, "--send"), True
        )
        self.compare("the state after a second push", self.show(name), state)


def round_points(points: float | None) -> float | None:
    """Round points to two decimals, as the batch's outputs do."""
    return None if points is None else round(points, 2)


def read_csv(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8-sig"))))


def read_points(batch: Path) -> dict[str, float | None]:
    """Return the points in the batch's gradebook; None for students who handed in nothing."""
    graded = {row["id"]: row for row in read_csv(batch / "gradebook.csv")}
    return {name: float(row["points"]) if row["status"] != "not_submitted" else None for name, row in graded.items()}


def read_zip(file: Path) -> dict[str, dict[str, str]]:
    """Return the hashes of the files in the feedback zip, by the student's number or the group's."""
    files: dict[str, dict[str, str]] = {}
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            _, number, _, _, path = name.split("_", 4)
            files.setdefault(number, {})[path] = hashlib.sha256(archive.read(name)).hexdigest()
    return files


def hash_files(folder: Path) -> dict[str, str]:
    """Return the hashes of a student's feedback files, by the names that students see."""
    names = {"index.html": "feedback.html", "feedback.txt": "feedback.txt", "journal.html": "journal.html"}
    return {new: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name, new in names.items() if (folder / name).is_file()}  # fmt: skip


def soak() -> dict[str, Any]:
    """Return the result for `make soak`: the version of Moodle, how many fields were compared, and the differences."""
    title = "a round trip through a real Moodle"
    try:
        moodle = find_moodle()
    except StopError as error:
        return {"what": title, "not_run": str(error), "found": [str(error)] if os.environ.get("MOODLE") else []}
    release = release_of(moodle)
    say(f"Moodle {release}")
    try:
        with tempfile.TemporaryDirectory(prefix="moodle") as folder, installed(moodle, Path(folder)) as (root, url):
            say("making the course")
            trip = Trip(root, url, Path(folder))
            for number, act in enumerate((
                lambda: trip.run_by_files("by hand"),
                lambda: trip.run_by_api("by API"),
                lambda: trip.run_by_files("teams"),
            ), 1):  # fmt: skip
                say(f"assignment {number} of 3 ({trip.compared} fields compared, {len(trip.found)} differ)")
                act()
    except (StopError, subprocess.TimeoutExpired, OSError, KeyError, ValueError) as error:
        return {"what": title, "moodle": release, "found": [f"{type(error).__name__}: {error}"[:3000]]}
    return {"what": title, "moodle": release, "students": len(NAMES), "fields": trip.compared, "found": trip.found}


if __name__ == "__main__":
    result = soak()
    print(json.dumps(result, indent=1, ensure_ascii=False))
    sys.exit(bool(result["found"] or "not_run" in result))
