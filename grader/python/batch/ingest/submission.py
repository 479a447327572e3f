"""A hand-in, as the other modules of a batch know it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

CANVAS, MOODLE = "Canvas", "Moodle"
NAMED_TIME = "the archive's name"
WORKSHEET = "Moodle's worksheet"  # its times have no zone
FILE_DATE = "the file's date"
DOUBTED_DATE = "the file's date, since another time is invalid or in the future"
FILE_DATES = (FILE_DATE, DOUBTED_DATE)
ANOTHER = " (another)"  # added to a key that another submission has


@dataclass
class Submission:
    """A hand-in of one student or team. `handed_in` is its time, ISO 8601 in UTC, or without a zone if it is from
    Moodle's worksheet; `known_by` names the origin of that time."""

    key: str
    name: str = ""
    entries: list[Path] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    handed_in: str = ""
    known_by: str = ""
    notes: list[str] = field(default_factory=list)
    fingerprint: str = ""  # a hash of the hand-in's contents
    team: str = ""  # ids in the name of an archive that came through a course system
    called: str = ""  # its key if no roster identifies the student
    written: bool = False  # whether `make submit`, which replaces some characters of ids, wrote the key
    own: tuple[str, ...] = ()  # roster ids in its name, without credited partners
    group: list[str] = field(default_factory=list)  # roster ids in its name, or its students' group on the roster
    claim: str = ""  # the likely roster id, if the name can be read in several ways
    of_system: bool = False  # whether the key is a course system's number
    certain: bool = False  # whether an id or number identifies the student; students can choose names
    named_time: str = ""  # the time that `make submit` wrote into the name, which students can change
    marked_by: str = ""  # the course system that marks whether it is late; empty if none does
    marked_late: bool = False
    graded_notes: list[str] | None = None  # the previous grading's notes, if the same contents are graded again


@dataclass(frozen=True)
class EarlierSubmission:
    """A submission of an earlier download. `called` is its key without a roster."""

    key: str
    called: str
    members: Sequence[str]
    own: Sequence[str]  # members without credited partners
    certain: bool = True  # as in Submission


def is_key_of_students(key: str, ids: Set[str]) -> bool:
    """Return whether a key is that of a student with one of these ids, or of a team."""
    return key in ids or ids.issuperset(key.split("+"))


def order_by_time(handed_in: str, known_by: str) -> tuple[bool, str]:
    """Return the sort key for the latest of several submissions: a time in the future, which a student can write into
    a name or a file, sorts first."""
    return known_by != DOUBTED_DATE, handed_in
