"""Pack all feedback into one zip that Moodle or Canvas can import.

For Moodle ("Upload multiple feedback files in a zip"), files are named NAME_NUMBER_assignfeedback_file_FILE. Moodle
ignores the name. The number is that in the names of the download: a student's in this assignment, or a group's. The
default team of a group assignment has no number, so Moodle accepts no files for it.

For Canvas ("Upload Submissions"), files are named NAME_USER_ATTACHMENT_FILE, where ATTACHMENT is the number of a file
that the student handed in. Canvas shows the feedback under the name of that file, which therefore determines the
format: an archive if the student handed in an archive, otherwise text.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.python.batch.grade.journals import JOURNAL
from grader.python.batch.ingest.archive import is_archive
from grader.python.batch.ingest.columns import MOODLE_NUMBER
from grader.python.batch.ingest.names import (
    ANONYMOUS_ID,
    Reading,
    System,
    original_name,
    read_canvas,
    read_moodle,
    show_name,
)
from grader.python.batch.ingest.roster import Student
from grader.python.batch.policy.points import FinalPoints
from grader.python.batch.store.places import place_of

# The files of the feedback, and their names in the zip.
FILES = {"index.html": "feedback.html", "feedback.txt": "feedback.txt", JOURNAL: JOURNAL}
TEXT = "feedback.txt"
MAX_NAME = 40  # characters of a student's name
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # of all files in the zip


@dataclass
class Packed:
    """The files of the zip by name, and the students without files, because their numbers are not known."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def pack_for_moodle(
    folder: Path, finals: Sequence[FinalPoints], entries: Mapping[str, Sequence[Path]], roster: Mapping[str, Student]
) -> Packed:
    """Return the feedback of the students of `finals`. `entries`: the files and folders of each hand-in, by its key."""
    packed = Packed()
    for final in finals:
        readings = read_own_name(final, entries, roster, read_moodle)
        numbers = [(reading.name, reading.id) for reading in readings if reading.id.isdecimal()]
        student = roster.get(final.student)
        if not numbers and student and not student.group:  # in a group assignment, the number could be a group's
            numbers = [(student.name, value) for kind, value in student.ids if kind == MOODLE_NUMBER]
        if not numbers:
            packed.left_out.append(final.student)
        for name, number in numbers[:1]:
            for file, content in read_feedback(folder, final).items():
                packed.files[f"{plain(name)}_{number}_assignfeedback_file_{file}"] = content
    return packed


def pack_for_canvas(
    folder: Path, finals: Sequence[FinalPoints], entries: Mapping[str, Sequence[Path]], roster: Mapping[str, Student]
) -> Packed:
    """Return the feedback of the students of `finals`. Canvas cannot store the feedback of a partner without an
    attachment."""
    packed = Packed()
    for final in finals:
        readings = read_own_name(final, entries, roster, read_canvas)
        if not readings:
            packed.left_out.append(final.student)
            continue
        chosen = max(readings, key=lambda reading: (is_archive(reading.file), reading.attempt))
        name = chosen.id if chosen.id.startswith(ANONYMOUS_ID) else f"{plain(chosen.name)}_{chosen.id}"
        file, content = choose_format(chosen, read_feedback(folder, final))
        packed.files[f"{name}_{chosen.attempt}_{file}"] = content
    return packed


def read_own_name(
    final: FinalPoints, entries: Mapping[str, Sequence[Path]], roster: Mapping[str, Student], system: System
) -> list[Reading]:
    """Return the readings of the names that a course system gave to a student's own hand-in; none for a credited
    partner. If a name can be read in several ways, because students choose parts of it, a reading counts only if its
    number is the student's on the roster."""
    if final.student not in final.row.own_members():
        return []
    numbers = roster[final.student].numbers if final.student in roster else set()
    system_names = []
    for path in entries.get(final.row.key, ()):
        readings = system(show_name(path))
        if len(readings) > 1:
            readings = [reading for reading in readings if reading.id in numbers]
        system_names += readings if len(readings) == 1 else []
    return system_names


def read_own_numbers(
    final: FinalPoints, entries: Mapping[str, Sequence[Path]], roster: Mapping[str, Student]
) -> list[str]:
    """Return the student's numbers in Canvas that the names of the student's own hand-in contain."""
    return list(
        dict.fromkeys(entry.id for entry in read_own_name(final, entries, roster, read_canvas) if entry.id.isdecimal())
    )


def read_feedback(folder: Path, final: FinalPoints) -> dict[str, bytes]:
    """Return the feedback files of a student, by their names in the zip. They contain no journal for a credited
    partner. Raises OSError."""
    key = final.row.key if final.student in final.row.own_members() else final.student
    place = place_of(folder, "feedback", key)
    return {new: (place / name).read_bytes() for name, new in FILES.items() if (place / name).is_file()}


def choose_format(attachment: Reading, files: Mapping[str, bytes]) -> tuple[str, bytes]:
    """Return the name and the content of the feedback in the format that follows from the attachment's name."""
    name = original_name(attachment.file).lower()
    if name.endswith(".zip"):
        return "feedback.zip", pack_zip(files)
    if name.endswith((".tar.gz", ".tgz")):
        return "feedback.tar.gz", pack_tar(files)
    return TEXT, files.get(TEXT, b"")


def pack_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip whose bytes depend only on the files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, FIXED_TIME), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def pack_tar(files: Mapping[str, bytes]) -> bytes:
    """Return a compressed tar of the files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def plain(name: str) -> str:
    """Return a name without signs that the course systems read as separators, and without digits that Canvas could take
    for a number."""
    return re.sub(r"[\W\d_]+", " ", name).strip()[:MAX_NAME].strip() or "student"
