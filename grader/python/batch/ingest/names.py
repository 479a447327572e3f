"""Read the names that course systems give to hand-ins.

lovelaceada_LATE_1234_567890_FILE                      Canvas
anon_aB3xY_567890_FILE                                 Canvas, anonymous assignment
Ada Lovelace_123_assignsubmission_file_FILE            Moodle, a folder or a file
Default group_assignsubmission_file_FILE               Moodle, all students without a group in the assignment

Students choose the first and the last part, so some names can be read in several ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.python.batch.ingest.person_names import compose

MOODLE_MARK = re.compile(r"_(?P<id>[0-9]+)_assignsubmission_(?P<kind>file|onlinetext)_?")
DEFAULT_TEAM = re.compile(r"(?P<name>[^_]+)_assignsubmission_(?P<kind>file|onlinetext)(?=_|\Z)_?")
CANVAS_MARK = re.compile(r"_(?=(?P<id>[1-9][0-9]*)_(?P<attempt>[1-9][0-9]*)_)")  # the marks may overlap
CANVAS_NAME = re.compile(r"[^\s.-]+")  # Canvas removes all other characters
ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<id>anon_[A-Za-z0-9]{5})_(?P<attempt>[1-9][0-9]*)_(?P<file>.+)", re.DOTALL)
ANONYMOUS_ID = "anon_"
STAGE_DIGITS = 2  # digits of the number at the beginning of a stage's file name
STAGE_FILE = re.compile(r"\d\d_")
LATE = "_LATE"
MAX_CHARACTERS = 1000  # no course system writes longer names; file systems allow 255 bytes
# Additions by Canvas, browsers and desktops to a file's name, before or after its ending: -1, (1), - Copy.
COPY = r"[ +_]?\(\d{1,4}\)|[ +_-]{1,3}(?:copy|kopie|copie|copia)(?:[ +_]?\(?\d{1,4}\)?)?"
ADDITION = rf"(?:-\d{{1,4}}|{COPY})"
ADDITIONS = re.compile(rf"{ADDITION}$", re.I)
COPIES = re.compile(rf"(?:{COPY})$", re.I)
TEXT = re.compile(r"\.txt$", re.I)  # desktops add it to files that look like text
ENDING = re.compile(r"\.(?:cuh?|c|cc|cpp|cxx|zip|tgz|tbz2?|txz|7z|rar|tar|gz|bz2|xz|zst)$", re.I)
MAX_ADDED = 5  # additions that are removed from one name
MAX_ADDITION = 40  # characters of an addition or an ending
SUBMITTED = re.compile(  # a name by `make submit`; a browser may unpack the archive, or add to the name
    r"(?P<lab>\w+)-(?P<ids>.+)-(?P<time>\d{4}-\d\d-\d\d-\d{6})"
    rf"{ADDITION}{{0,3}}(?:\.tar{ADDITION}{{0,3}}(?:\.gz)?|\.tgz){ADDITION}{{0,3}}(?:\.zip)?",
    re.DOTALL | re.IGNORECASE,
)
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class Reading:
    """One way to read a name that a course system wrote. `id` is the system's id of the student or the group."""

    name: str
    id: str
    file: str
    attempt: int = 0
    late: bool = False
    of_moodle: bool = False
    typed: bool = False  # text in Moodle's page, not a file


System = Callable[[str], list[Reading]]


def read_canvas(name: str) -> list[Reading]:
    """Return each way to read a name as one that Canvas wrote, in the order of the ids in it."""
    if len(name) > MAX_CHARACTERS:
        return []
    readings = []
    if match := ANONYMOUS.fullmatch(name):
        readings.append(Reading("", match["id"], match["file"], int(match["attempt"]), bool(match["late"])))
        if match["late"]:  # Canvas writes students' names in lower case
            return readings
    for mark in CANVAS_MARK.finditer(name):
        student, file = name[: mark.start()], name[mark.end("attempt") + 1 :]
        late = student.endswith(LATE)
        student = student.removesuffix(LATE)
        if CANVAS_NAME.fullmatch(student) and file:
            readings.append(Reading(student, mark["id"], file, int(mark["attempt"]), late))
    return [reading for reading in readings if len(str(reading.attempt)) > STAGE_DIGITS] or readings[:1]


def read_moodle(name: str) -> list[Reading]:
    """Return each way to read a name as one that Moodle wrote, in the order of the ids in it. The default team has no
    number, so its name is its id."""
    if len(name) > MAX_CHARACTERS:
        return []
    readings = [
        Reading(name[: mark.start()], mark["id"], name[mark.end() :], of_moodle=True, typed=mark["kind"] != "file")
        for mark in MOODLE_MARK.finditer(name)
        if mark.start()
    ]
    if not readings and (mark := DEFAULT_TEAM.match(name)):
        team, typed = mark["name"], mark["kind"] != "file"
        readings.append(Reading(team, team, name[mark.end() :], of_moodle=True, typed=typed))
    return readings


SYSTEMS: tuple[System, ...] = (read_canvas, read_moodle)


def choose_systems(names: Sequence[str]) -> Sequence[System]:
    """Return the course systems that may have written all names of a download. If there is no such system, for example
    because the folder was put together by hand, return all systems."""
    return [system for system in SYSTEMS if all(map(system, names))] or SYSTEMS


def keep_anonymous(readings: list[Reading]) -> list[Reading]:
    """Return the anonymous readings of a name, or all if there are none."""
    return [reading for reading in readings if reading.id.startswith(ANONYMOUS_ID)] or readings


def is_anonymous(names: Iterable[str]) -> bool:
    """Return whether a download is of an anonymous assignment, because a name in it can only be read as anonymous."""
    ids = ([reading.id for reading in read_canvas(name)] for name in names)
    return any(of_name and all(reading_id.startswith(ANONYMOUS_ID) for reading_id in of_name) for of_name in ids)


def list_readings(name: str, systems: Sequence[System] = SYSTEMS) -> list[Reading]:
    """Return each way to read a name as one that one of these systems wrote."""
    return [reading for system in systems for reading in system(name)]


def is_course_systems_name(name: str) -> bool:
    """Return whether a course system may have written a name."""
    return bool(list_readings(name))


def file_name(name: str) -> str:
    """Return a file's own name, without additions by course systems and browsers."""
    base = PurePosixPath(name).name
    files = [reading.file for reading in list_readings(base) if reading.file]
    if files:
        base = next((file for file in files if STAGE_FILE.match(file)), files[0])
    return original_name(base)


def original_name(name: str) -> str:
    """Return the name of a stage's file or of an archive without additions by browsers and desktops."""
    bare = strip(name, (ADDITIONS, TEXT))
    ending = ENDING.search(bare, max(0, len(bare) - MAX_ADDITION))
    if not ending:
        return f"{bare}.txt" if TEXT.search(name, max(0, len(name) - MAX_ADDITION)) else name
    stem = strip(bare[: ending.start()], (ADDITIONS,))
    if stem.lower().endswith(".tar"):
        return f"{strip(stem[:-4], (ADDITIONS,))}{stem[-4:]}{ending[0]}"
    return f"{stem}{ending[0]}"


def strip(text: str, added: Sequence[re.Pattern[str]]) -> str:
    """Return a text without additions at its end, of which there may be several."""
    for _ in range(MAX_ADDED):
        text = text.rstrip(" +")
        first = max(0, len(text) - MAX_ADDITION)
        match = next(filter(None, (pattern.search(text, first) for pattern in added)), None)
        if not match:
            break
        text = text[: match.start()]
    return text


def read_system_name(name: str) -> dict[str, str] | None:
    """Return the student's name and id and the file's name, from a name that Canvas or Moodle wrote; None for any other
    name."""
    readings = [reading for reading in list_readings(name) if not reading.typed]
    return {"name": readings[0].name, "id": readings[0].id, "file": readings[0].file} if readings else None


def lab_in_name(path: Path) -> str:
    """Return the lab that `make submit` wrote into an archive's name; empty if the name contains none."""
    name = show_name(path)
    if match := read_system_name(name):
        name = match["file"]
    match = SUBMITTED.fullmatch(name)
    return match["lab"].lower() if match else ""


def is_hand_in_name(name: str) -> bool:
    """Return whether a course system or `make submit` gave a file or folder its name."""
    return is_course_systems_name(name) or bool(SUBMITTED.fullmatch(name))


def show_name(path: Path) -> str:
    """Return a file's name as printable text: letters are composed (macOS decomposes them), and bytes that are not
    UTF-8, invisible characters and lookalikes of ASCII are escaped."""
    return compose("".join(c.encode("unicode_escape").decode() if is_deceptive(c) else c for c in path.name))


def is_deceptive(character: str) -> bool:
    """Return whether a character is invisible or becomes ASCII when composed, such as the Kelvin sign."""
    becomes_ascii = not character.isascii() and compose(character).isascii()
    return becomes_ascii or unicodedata.category(character) in UNPRINTABLE


def strip_archive(name: str) -> str:
    """Return a name without an archive's file extension."""
    return re.sub(r"(\.tar)?\.\w+$", "", name, flags=re.I) or name


def strip_copy(name: str) -> str:
    """Return the name of a folder, or of an archive without its extension, without what browsers and desktops add to
    the name of a copy: "al123 (1)", "al123.tar - Copy", "al123.zip". A number after a dash is left, because it may
    belong to an id."""
    return strip(re.sub(r"(?:\.(?:tar|tgz|gz|zip))+$", "", strip(name, (COPIES,)), flags=re.I), (COPIES,))
