"""Parse the names of files and folders among the submissions, as Canvas, Moodle or `make submit` write them.

lovelaceada_LATE_1234_567890_LAB-al123-2026-11-21-040506.tar.gz    Canvas
Ada Lovelace_123_assignsubmission_file_/…                          Moodle, a folder or a file
LAB-al123-2026-11-21-040506.tar.gz                                 make submit
al123/…, al123.zip                                                 anything else: the name is the id
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from grader.python.batch.ingest.archive import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    is_archive,
    is_folder,
    is_hidden,
    kind_of_file,
)
from grader.python.batch.ingest.folders import DATABASE, holds_batch, open_below
from grader.python.batch.ingest.names import (
    SUBMITTED,
    Reading,
    choose_systems,
    file_name,
    is_anonymous,
    keep_anonymous,
    list_readings,
    show_name,
    strip_archive,
)
from grader.python.batch.ingest.notes import Note, make_note
from grader.python.batch.ingest.reader import read_in_child
from grader.python.batch.ingest.roster import Student, alias_key, has_name, ids_by_form, split_team, students_by_alias
from grader.python.batch.ingest.times import read_time
from grader.python.journal.submit import name_part

HOW_TO_DISTINGUISH = "To tell them apart, add a column such as Canvas ID or Moodle ID to the roster."
MANIFEST_S = 2.0  # how long reading a manifest may take
NO_TIME = datetime.min.replace(tzinfo=UTC)  # earlier than all others
NO_SUCH_TIME = (
    "the time in its name is invalid or in the future, so other hand-ins of the same student count before it."
)
T = TypeVar("T")


@dataclass
class Entry:
    """A file or folder among the submissions, with the information that its name contains."""

    path: Path
    key: str
    name: str = ""
    attempt: int = 0  # Canvas's number of the upload; 0 if there is none
    time: datetime | None = None
    late: bool = False
    team: str = ""  # ids in the name of `make submit`'s archive
    note: str = ""
    doubt: str = ""  # why the time in its name is ignored
    by_make_submit: bool = False  # whether `make submit` wrote the key into the name
    claim: str = ""  # the likely id on the roster, if the name can be read in several ways
    has_system_number: bool = False  # whether the key is a course system's number
    named_by_canvas: bool = False  # whether Canvas wrote the name; Canvas marks late hand-ins in it
    typed: bool = False  # whether the student typed it into a page of Moodle and uploaded no file

    def when(self) -> tuple[datetime, int]:
        """Return the sort key for a student's entries: the last one counts."""
        return self.time or NO_TIME, self.attempt

    def order(self) -> tuple[datetime, int, str]:
        """Return a sort key that also orders entries with the same time, by their names."""
        return *self.when(), self.path.name

    def is_readable(self) -> bool:
        """Return whether the entry can contain files that a grade needs. A picture of code, for example, cannot."""
        return self.is_whole() or kind_of_file(file_name(show_name(self.path))) != "ignored"

    def is_whole(self) -> bool:
        """Return whether the entry is a complete hand-in, not one of several files."""
        return self.path.is_symlink() or is_folder(self.path) or is_archive(self.path.name)


def list_entries(folder: Path, lab: str, roster: Sequence[Student], out: Path | None) -> tuple[list[Entry], list[str]]:
    """Return the entries of a folder of submissions, and a sentence about each file that is not a submission."""
    paths = [path for path in sorted(folder.iterdir()) if not is_hidden(path.name) and not is_same(path, out)]
    counts = Counter(map(show_name, paths))
    systems, by_alias = choose_systems(list(counts)), students_by_alias(roster)
    is_anonymous_download = is_anonymous(counts)
    entries, left_out = [], []
    for path in paths:
        name = show_name(path)
        readings = list_readings(name, systems)
        if len(readings) > 1 and is_anonymous_download:
            readings = keep_anonymous(readings)
        if not readings and holds_batch(path):  # no course system named this folder
            left_out.append(f"{name} is the folder of another batch, not a hand-in: {DATABASE} is in it.")
            continue
        entry = read_name_of_entry(path, lab, readings, choose_reading(readings, by_alias))
        if isinstance(entry, str):
            left_out.append(entry)
            continue
        if counts[name] > 1 and not entry.has_system_number:  # two names that look the same
            entry.key += f" ({hashlib.sha256(path.name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]})"
        entries.append(entry)
    return entries, left_out


def choose_reading(readings: Sequence[Reading], by_alias: Mapping[str, Student]) -> Reading | None:
    """Return the only reading of a name; if there are several, the only one whose id and name belong to one student.
    Return None if that does not decide. `by_alias`: the students by each of their ids."""
    fitting = [reading for reading in readings if has_name(by_alias.get(alias_key(reading.id)), reading.name)]
    chosen = fitting if len(readings) > 1 else readings
    return chosen[0] if len(chosen) == 1 else None


def separate_names(entries: Sequence[Entry], known: Mapping[str, Student]) -> None:
    """Give different keys to entries with the same id but different names, because a course system has one name for
    each id. Only the entry with the student's name on the roster then claims the id."""
    names: dict[str, set[str]] = {}
    for entry in entries:
        names.setdefault(entry.key, set()).add(entry.name)
    for entry in entries:
        if len(names[entry.key]) > 1:
            entry.claim = entry.key if has_name(known.get(alias_key(entry.key)), entry.name) else ""
            entry.key = f"{entry.name}_{entry.key}"
            if not entry.claim:
                entry.note = note_several_matches(show_name(entry.path))


def separate_forms(entries: Sequence[Entry], roster: Sequence[Student]) -> None:
    """Give new keys to entries that `make submit` named with a form that several students' ids share.

    The key becomes the ids in the entry's manifest. If the manifest is inconclusive, each entry gets a different key
    and is assigned to nobody.
    """
    forms, by_alias = ids_by_form(roster), students_by_alias(roster)
    for entry in entries:
        if all(len(forms[alias_key(part)]) == 1 for part in split_team(entry.key, forms.keys())):
            continue
        ids: list[str] = read_or_default(partial(read_ids, entry.path), [])
        entry.by_make_submit = False
        if "-".join(map(name_part, ids)) == entry.key and split_team("-".join(ids), by_alias.keys()) == ids:
            entry.key = "-".join(ids)
        else:
            entry.key = show_name(entry.path)
            entry.note = note_several_matches(entry.key, "Put it into a folder whose name is the student's id.")


def read_ids(archive: Path) -> list[str]:
    """Return the authors' ids in the manifest of an archive of `make submit`. Raises any exception."""
    files = read_in_child([archive], MANIFEST_S).files
    (manifest,) = [file.content for file in files if PurePosixPath(file.name).name == MANIFEST]
    if len(manifest) > MAX_MANIFEST_BYTES:
        return []
    return [str(author["id"]) for author in json.loads(manifest)["authors"]]


def note_several_matches(name: str, advice: str = HOW_TO_DISTINGUISH) -> Note:
    """Return a note for the instructor on a name that matches several students."""
    return make_note("of_several", f", so it is assigned to none: {name} {advice}")


def is_same(path: Path, out: Path | None) -> bool:
    """Return whether the path is the batch's own folder, `out`."""
    return out is not None and not path.is_symlink() and path.resolve() == out.resolve()


def read_or_default(read: Callable[[], T], default: T) -> T:
    """Return the result of reading a hand-in, or `default` after any exception.

    A hand-in that cannot be read never ends a batch: grading opens it again and sets its status.
    """
    try:
        return read()
    except Exception:
        return default


def read_name_of_entry(path: Path, lab: str, readings: Sequence[Reading], reading: Reading | None) -> Entry | str:
    """Return an entry with the information from its name, or the reason why it is not a submission of this lab.

    `readings`: all ways to read the name as a course system's; `reading`: the chosen one.
    """
    name = show_name(path)
    entry = Entry(path, name)
    if readings and not reading:
        apply_first_reading(entry, readings[0])
        return entry
    if reading:
        name = reading.file
        apply_reading(entry, reading, certain=len(readings) == 1)
        if reading.of_moodle and is_folder(path):
            name = read_or_default(lambda: find_newest_archive(path, lab), "")
    if entry.typed:
        return entry
    if match := SUBMITTED.fullmatch(name):
        if match["lab"].lower() != lab:
            return entry if reading else f"{name}: belongs to the lab {match['lab']}, not {lab}."
        entry.time, entry.team = read_time(match["time"]), match["ids"]
        if not entry.time:
            entry.doubt = f"{name}: {NO_SUCH_TIME}"
        if not reading:
            entry.key, entry.by_make_submit = match["ids"], True
    elif not reading:
        if not entry.is_whole():
            return f"{name}: neither an archive nor a folder, and its name does not identify the student."
        entry.key = strip_archive(name) if is_archive(name) and not is_folder(path) else name
    return entry


def apply_reading(entry: Entry, reading: Reading, certain: bool) -> None:
    """Fill in an entry from a course system's name. An uncertain id is only a claim, like a name."""
    entry.key, entry.name = reading.id, reading.name
    entry.attempt, entry.late, entry.typed = reading.attempt, reading.late, reading.typed and certain
    entry.has_system_number, entry.named_by_canvas = certain, not reading.of_moodle
    if not certain:
        entry.key, entry.claim = f"{reading.name}_{reading.id}", reading.id


def apply_first_reading(entry: Entry, reading: Reading) -> None:
    """Fill in an entry whose name can be read in several ways.

    The text before a course system's first mark names the uploader, and is the same in all names of one uploader.
    Therefore, all files of one uploader form one submission, which is assigned to nobody.
    """
    entry.key = f"{reading.name}_{reading.id}"
    entry.attempt, entry.late, entry.named_by_canvas = reading.attempt, reading.late, not reading.of_moodle
    entry.note = note_several_matches(f"{entry.key}_\N{HORIZONTAL ELLIPSIS}")


def find_newest_archive(folder: Path, lab: str) -> str:
    """Return the name of the latest of `make submit`'s archives of the lab in a folder; empty if there is none."""
    with open_below(folder, "", os.O_DIRECTORY) as descriptor:
        names = os.listdir(descriptor)  # noqa: PTH208 - a descriptor
    matches = [match for name in names if (match := SUBMITTED.fullmatch(show_name(Path(name))))]
    of_lab = [match for match in matches if match["lab"].lower() == lab]
    return max(of_lab, key=lambda match: read_time(match["time"]) or NO_TIME)[0] if of_lab else ""
