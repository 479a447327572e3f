"""The data about a hand-in that all modules of a batch use."""

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
ANOTHER = " (another)"  # is appended to a key that belongs to another submission or student


@dataclass
class Submission:
    """A hand-in of one student or team. `handed_in` is its time, ISO 8601 in UTC, or without a zone if it is from
    Moodle's worksheet; `known_by` names the source of that time."""

    key: str
    name: str = ""
    entries: list[Path] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    handed_in: str = ""
    known_by: str = ""
    notes: list[str] = field(default_factory=list)
    fingerprint: str = ""  # a hash of the hand-in's contents
    team: str = ""  # ids in the name of an archive that came through a course system
    key_without_roster: str = ""  # its key if no roster identifies the student
    by_make_submit: bool = False  # whether `make submit`, which replaces some characters of ids, wrote the key
    own: tuple[str, ...] = ()  # the roster's ids of the students whom its name identifies, without credited partners
    group: list[str] = field(default_factory=list)  # roster ids in its name, or its students' group on the roster
    claim: str = ""  # the likely id on the roster, if the name can be read in several ways
    has_system_number: bool = False  # whether the key is a course system's number
    certain: bool = False  # whether an id or number identifies the student, and not a name that the student chose
    named_time: str = ""  # the time that `make submit` wrote into the name, which students can change
    marked_by: str = ""  # the course system that states whether the hand-in is late; empty if none does
    marked_late: bool = False
    graded_notes: list[str] | None = None  # notes of an earlier grading of the same contents; None: not graded yet


@dataclass(frozen=True)
class EarlierSubmission:
    """A submission of an earlier download. The fields are those of Submission with the same names."""

    key: str
    key_without_roster: str
    members: Sequence[str]
    own: Sequence[str]
    certain: bool = True


def is_key_of_students(key: str, ids: Set[str]) -> bool:
    """Return whether a key is one of these ids, or that of a team whose ids are all among them."""
    return key in ids or ids.issuperset(key.split("+"))


def order_by_time(handed_in: str, known_by: str) -> tuple[bool, str]:
    """Return the sort key of a submission's time; the latest submission has the largest. A time that replaces an
    invalid or future one comes first, because a student can write such a time into a name or a file."""
    return known_by != DOUBTED_DATE, handed_in
