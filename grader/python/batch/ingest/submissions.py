"""Find submissions in a folder as Canvas, Moodle or `make submit` name them, or as plain folders; read a roster.

lovelaceada_LATE_1234_567890_LAB-al123-2026-11-21-040506.tar.gz    Canvas
Ada Lovelace_123_assignsubmission_file_/…                          Moodle, a folder or a file
LAB-al123-2026-11-21-040506.tar.gz                                 make submit
al123/…, al123.zip                                                 anything else: the name is the id
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from grader.python.batch.ingest.archive import (
    CLOCKS_DIFFER_S,
    MANIFEST,
    MOST_BYTES,
    Part,
    is_archive,
    is_folder,
    is_hidden,
    kind_of_file,
    list_parts,
    most_bytes,
    open_below,
)
from grader.python.batch.ingest.called import agree, as_claimed, compose, spellings, words_of
from grader.python.batch.ingest.columns import (
    IDS,
    NOTHING,
    NUMBERS,
    Identifier,
    cells_by_title,
    columns_of,
    read_person,
    read_rows,
)
from grader.python.batch.ingest.names import ADDITION, Reading, choose_systems, file_name, list_readings, says_student
from grader.python.batch.ingest.notes import Note, kind_of, make_note
from grader.python.batch.ingest.reader import read_apart
from grader.python.common.console import UserError, read_text
from grader.python.journal.submit import name_part

SUBMITTED = re.compile(  # a browser may unpack it, or add to its name
    r"(?P<lab>\w+)-(?P<ids>.+)-(?P<time>\d{4}-\d\d-\d\d-\d{6})"
    rf"{ADDITION}{{0,3}}(?:\.tar{ADDITION}{{0,3}}(?:\.gz)?|\.tgz){ADDITION}{{0,3}}(?:\.zip)?",
    re.DOTALL | re.IGNORECASE,
)
TIMES = ("handedin", "submitted", "submittedat")
FILE_DATE = "the file's date"
DOUBTED_DATE = "the file's date, since another time is invalid or in the future"
FILE_DATES = (FILE_DATE, DOUBTED_DATE)
MOST_NAMED = 3  # files listed in a sentence
HOW_TO_TELL = "To tell them apart, add a column such as Canvas ID or Moodle ID to the roster."
HOW_TO_DECIDE = "Ask these students who worked together, and decide with `override` or `points`."
HOW_TO_AGREE = "If both names mean one person, write this name into the roster, and repeat the command."
HOW_TO_NUMBER = "Use a roster with this assignment's numbers: for Moodle, its grading worksheet."
FEW = 2  # names that differ, among students whose numbers agree
MANIFEST_S = 2.0  # how long reading a manifest may take
MOST_STEPS = 20_000  # names on the paths of files whose contents are hashed
FIRST_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # earlier times are invalid
CLOCKS_DIFFER = timedelta(seconds=CLOCKS_DIFFER_S)  # maximum clock difference; later times lie in the future
ANOTHER = " (another)"  # added to a key that another submission has
NO_TIME = datetime.min.replace(tzinfo=UTC)  # earlier than all others
NO_SUCH_TIME = "the time in its name is invalid or in the future, so others of the same student count before it."
NO_SUCH_DATE = "Its file's date is in the future, so others of the same student count before it."
UNREADABLE = "unreadable"  # fingerprint of unreadable hand-ins
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")

T = TypeVar("T")


@dataclass
class Student:
    """A line of the roster."""

    id: str
    name: str = ""
    aliases: set[str] = field(default_factory=set)
    handed_in: str = ""
    numbers: set[str] = field(default_factory=set)  # of course systems, as they write them into names
    ids: set[Identifier] = field(default_factory=set)  # all of them, with their namespaces


@dataclass
class Submission:
    """A hand-in of one student or team. `handed_in` is its time, ISO 8601 in UTC; `known_by` names the origin of that
    time."""

    key: str
    name: str = ""
    entries: list[Path] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    handed_in: str = ""
    known_by: str = ""
    notes: list[str] = field(default_factory=list)
    fingerprint: str = ""  # of what was handed in
    team: str = ""  # ids in the name of an archive that a course system took in
    called: str = ""  # its key if no roster identifies the student
    written: bool = False  # whether `make submit` wrote the key; it replaces some characters of ids
    own: tuple[str, ...] = ()  # roster ids in its name, without credited partners
    claim: str = ""  # the likely roster id, if the name can be read in several ways
    of_system: bool = False  # whether the key is a course system's number
    certain: bool = False  # whether an id or number identifies the student; students can choose names
    graded_notes: list[str] | None = None  # of the previous grading, if the same contents are graded again


@dataclass(frozen=True)
class Earlier:
    """A submission of an earlier download. `called` is its key without a roster."""

    key: str
    called: str
    members: Sequence[str]
    own: Sequence[str]  # members without credited partners
    certain: bool = True  # as a Submission's


@dataclass
class Entry:
    """One file or folder of the folder of submissions, with the information from its name."""

    path: Path
    key: str
    name: str = ""
    attempt: int = 0
    time: datetime | None = None
    late: bool = False
    team: str = ""  # ids in the name of `make submit`'s archive
    note: str = ""
    doubt: str = ""  # why the time in its name is ignored
    written: bool = False  # whether `make submit` wrote the key
    claim: str = ""  # the likely roster id, if the name can be read in several ways
    of_system: bool = False  # whether a course system's own number identifies the student
    typed: bool = False  # whether it was typed into Moodle's page, not uploaded as a file

    def when(self) -> tuple[datetime, int]:
        """Return the sort key by which the later entry counts."""
        return self.time or NO_TIME, self.attempt

    def order(self) -> tuple[datetime, int, str]:
        """Return the sort key that also orders entries of one time, by name."""
        return *self.when(), self.path.name

    def is_readable(self) -> bool:
        """Return whether it can hold code or files that belong to code; a picture of code, for example, cannot."""
        return self.is_whole() or kind_of_file(file_name(show_name(self.path))) != "ignored"

    def is_whole(self) -> bool:
        """Return whether it is everything that was handed in at one time, not one of several files."""
        return self.path.is_symlink() or self.path.is_dir() or is_archive(self.path.name)


def find_submissions(
    folder: Path, lab: str, roster: Sequence[Student], out: Path | None = None, earlier: Sequence[Earlier] = ()
) -> tuple[list[Submission], list[str]]:
    """Return all submissions of a lab, sorted by key, and a sentence about each other entry.

    The batch's own folder, `out`, may be among the entries. `earlier`: submissions of earlier downloads; a new
    submission never displaces one of them because of a name.
    """
    entries, strangers = list_entries(folder, lab, roster, out)
    separate_names([entry for entry in entries if entry.of_system], students_by_alias(roster))
    separate_forms([entry for entry in entries if entry.written], roster)
    by_key: dict[tuple[str, bool, str], list[Entry]] = {}  # one key may be written by different means
    for entry in entries:
        if not entry.typed:
            by_key.setdefault((entry.key, entry.written, entry.claim), []).append(entry)
    keys = {key for key, *_ in by_key}
    typed = {entry.key: entry.name for entry in entries if entry.typed and entry.key not in keys}
    strangers += [f"{name} typed something into Moodle, and handed in no file." for name in typed.values()]
    found = [make_submission(key, entries) for (key, *_), entries in by_key.items()]
    identify(found, roster, earlier)
    ids = {student.id for student in roster}
    return sorted(give_keys(merge_same(found), earlier, ids), key=lambda submission: submission.key), strangers


def list_entries(folder: Path, lab: str, roster: Sequence[Student], out: Path | None) -> tuple[list[Entry], list[str]]:
    """Return the entries of a folder of submissions, and a sentence about each file that is not a submission."""
    paths = [path for path in sorted(folder.iterdir()) if not is_hidden(path.name) and not is_same(path, out)]
    shown = Counter(map(show_name, paths))
    systems, known = choose_systems(list(shown)), students_by_alias(roster)
    entries, strangers = [], []
    for path in paths:
        name = show_name(path)
        readings = list_readings(name, systems)
        entry = understand(path, lab, readings, choose_reading(readings, known))
        if isinstance(entry, str):
            strangers.append(entry)
            continue
        if shown[name] > 1 and not entry.of_system:  # two keys that look the same
            entry.key += f" ({hashlib.sha256(path.name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]})"
        entries.append(entry)
    return entries, strangers


def choose_reading(readings: Sequence[Reading], known: Mapping[str, Student]) -> Reading | None:
    """Return the only reading of a name, or the only one with both the id and the name of one student. `known`:
    students by alias."""
    fitting = [one for one in readings if has_name(known.get(alias_key(one.id)), one.name)]
    chosen = fitting if len(readings) > 1 else readings
    return chosen[0] if len(chosen) == 1 else None


def has_name(student: Student | None, name: str) -> bool:
    """Return whether this is the student's name; the order of words, spaces and underscores are ignored."""
    return student is not None and squeeze(name) in set(map(squeeze, spellings(student.name)))


def squeeze(name: str) -> str:
    """Return the letters, digits and marks of a name, case folded."""
    return "".join(words_of(name)).replace("_", "")


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
                entry.note = of_several(show_name(entry.path))


def separate_forms(entries: Sequence[Entry], roster: Sequence[Student]) -> None:
    """Give new keys to entries that `make submit` named with a form that several students' ids share.

    The key becomes the ids in the entry's manifest. If the manifest is inconclusive, each entry gets a different key
    and is assigned to nobody.
    """
    forms, known = ids_by_form(roster), students_by_alias(roster)
    for entry in entries:
        if all(len(forms[alias_key(part)]) == 1 for part in split_team(entry.key, forms.keys())):
            continue
        ids: list[str] = attempt(partial(read_ids, entry.path), [])
        entry.written = False
        if "-".join(map(name_part, ids)) == entry.key and split_team("-".join(ids), known.keys()) == ids:
            entry.key = "-".join(ids)
        else:
            entry.key = show_name(entry.path)
            entry.note = of_several(entry.key, "Put it into a folder that has the student's id for a name.")


def read_ids(archive: Path) -> list[str]:
    """Return the authors' ids in the manifest of an archive of `make submit`. Raises any exception."""
    files = read_apart([archive], MANIFEST_S).files
    (manifest,) = [file.content for file in files if PurePosixPath(file.name).name == MANIFEST]
    return [str(author["id"]) for author in json.loads(manifest)["authors"]]


def of_several(name: str, advice: str = HOW_TO_TELL) -> Note:
    """Return the note on a name that matches several students."""
    return make_note("of_several", f", so it is assigned to none: {name} {advice}")


def is_same(path: Path, out: Path | None) -> bool:
    """Return whether the path is the batch's own folder."""
    return out is not None and not path.is_symlink() and path.resolve() == out.resolve()


def attempt(read: Callable[[], T], otherwise: T) -> T:
    """Return the result of reading a hand-in, or `otherwise` after any exception.

    A hand-in that cannot be read never ends a batch: grading opens it again and sets its status.
    """
    try:
        return read()
    except Exception:
        return otherwise


def understand(path: Path, lab: str, readings: Sequence[Reading], reading: Reading | None) -> Entry | str:
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
            name = attempt(lambda: newest_archive(path, lab), "")
    if entry.typed:
        return entry
    if match := SUBMITTED.fullmatch(name):
        if match["lab"].lower() != lab:
            return f"{name}: of the lab {match['lab']}, not {lab}."
        entry.time, entry.team = read_time(match["time"]), match["ids"]
        if not entry.time:
            entry.doubt = f"{name}: {NO_SUCH_TIME}"
        if not reading:
            entry.key, entry.written = match["ids"], True
    elif not reading:
        if not entry.is_whole():
            return f"{name}: neither an archive nor a folder, and its name does not say whose it is."
        entry.key = name if path.is_dir() else strip_archive(name)
    return entry


def apply_reading(entry: Entry, reading: Reading, certain: bool) -> None:
    """Fill in an entry from a course system's name. An uncertain id is only a claim, like a name."""
    entry.key, entry.name = reading.id, reading.name
    entry.attempt, entry.late, entry.typed = reading.attempt, reading.late, reading.typed and certain
    entry.of_system = certain
    if not certain:
        entry.key, entry.claim = f"{reading.name}_{reading.id}", reading.id


def apply_first_reading(entry: Entry, reading: Reading) -> None:
    """Fill in an entry whose name can be read in several ways.

    The text before a course system's first mark belongs to the uploader and is the same in all names of one uploader,
    so that uploader's files form one submission, which is assigned to nobody.
    """
    entry.key = f"{reading.name}_{reading.id}"
    entry.attempt, entry.late = reading.attempt, reading.late
    entry.note = of_several(f"{entry.key}_\N{HORIZONTAL ELLIPSIS}")


def read_system_name(name: str) -> dict[str, str] | None:
    """Return the student's name and id and the file name, from a name that Canvas or Moodle wrote."""
    readings = [reading for reading in list_readings(name) if not reading.typed]
    return {"name": readings[0].name, "id": readings[0].id, "file": readings[0].file} if readings else None


def lab_in_name(path: Path) -> str:
    """Return the lab that `make submit` wrote into an archive's name; empty if the name contains none."""
    name = show_name(path)
    if match := read_system_name(name):
        name = match["file"]
    match = SUBMITTED.fullmatch(name)
    return match["lab"].lower() if match else ""


def newest_archive(folder: Path, lab: str) -> str:
    """Return the name of the latest of `make submit`'s archives of the lab in a folder; empty if there is none."""
    with open_below(folder, "", os.O_DIRECTORY) as descriptor:
        names = os.listdir(descriptor)  # noqa: PTH208 - a descriptor
    matches = [match for name in names if (match := SUBMITTED.fullmatch(show_name(Path(name))))]
    of_lab = [match for match in matches if match["lab"].lower() == lab]
    return max(of_lab, key=lambda match: read_time(match["time"]) or NO_TIME)[0] if of_lab else ""


def says_whose(name: str) -> bool:
    """Return whether a course system or `make submit` gave a file or folder its name."""
    return says_student(name) or bool(SUBMITTED.fullmatch(name))


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
    return re.sub(r"(\.tar)?\.\w+$", "", name) or name


def read_time(text: str) -> datetime | None:
    """Return the time in an archive's name; None if it is invalid or in the future."""
    try:
        time = datetime.strptime(text, "%Y-%m-%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return time if FIRST_TIME <= time <= datetime.now(UTC) + CLOCKS_DIFFER else None


def make_submission(key: str, entries: list[Entry]) -> Submission:
    """Return a submission with all entries, and the time of the latest."""
    used = choose_entries(entries)
    submission = Submission(key, used[-1].name, [entry.path for entry in used], [key], team=used[-1].team, called=key)
    submission.written, submission.claim = used[-1].written, used[-1].claim
    submission.of_system = used[-1].of_system
    submission.notes += dict.fromkeys(entry.note for entry in used if entry.note)
    submission.notes += [entry.doubt for entry in entries if entry.doubt]
    if any(entry.late for entry in used):
        submission.notes.append("Canvas calls it late.")
    time = used[-1].time
    if time:
        submission.handed_in, submission.known_by = show_time(time), "the archive's name"
    else:
        date_by_files(submission, doubted=any(entry.doubt for entry in used))
    submission.fingerprint = attempt(lambda: fingerprint(submission.entries), UNREADABLE)
    return submission


def date_by_files(submission: Submission, doubted: bool) -> None:
    """Set a submission's time to its newest file's date, or to today if that lies in the future."""
    newest = attempt(lambda: find_newest_date(submission.entries), 0.0)
    now = datetime.now(UTC)
    in_future = newest > (now + CLOCKS_DIFFER).timestamp()
    submission.handed_in = show_time(now if in_future else datetime.fromtimestamp(max(newest, 0.0), UTC))
    submission.notes += [NO_SUCH_DATE] if in_future else []
    submission.known_by = DOUBTED_DATE if in_future or doubted else FILE_DATE


def find_newest_date(entries: Sequence[Path]) -> float:
    """Return the time of the last change of code or an archive, else of any file, else of the empty folder, in seconds
    since 1970. A folder's own time does not depend on changes to the files in it, and a journal grows without new
    code. Raises OSError."""
    parts = [part for entry in entries for part in list_parts(entry)]
    code = [part.time_s for part in parts if part.kind in ("code", "archive")]
    return max(code or [part.time_s for part in parts] or [entry.lstat().st_mtime for entry in entries])


def order_by_time(handed_in: str, known_by: str) -> tuple[bool, str]:
    """Return the sort key for the latest of several submissions: a time in the future, which a student can write into
    a name or a file, sorts first."""
    return known_by != DOUBTED_DATE, handed_in


def choose_entries(entries: list[Entry]) -> list[Entry]:
    """Return the readable entries, the newest last, because the newest file of each stage counts; all entries if none
    is readable."""
    readable = [entry for entry in entries if entry.is_readable()]
    return sorted(readable or entries, key=Entry.order)


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 time; without a zone it is UTC. Raises UserError if it is invalid."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text!r} is no time. Write it like 2026-11-21T23:59+01:00.") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def parse_zoned_time(text: str) -> datetime:
    """Parse an ISO 8601 time that an instructor typed. The zone is required, because one hour can make a hand-in late.
    Raises UserError."""
    time = parse_time(text)
    if datetime.fromisoformat(text).tzinfo is None:
        raise UserError(f"{text!r} says no time zone. Write it like 2026-11-21T23:59+01:00, or with Z for UTC.")
    return time


def show_time(time: datetime) -> str:
    """Return the time as ISO 8601 in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fingerprint(entries: Sequence[Path]) -> str:
    """Return a hash of the names and contents of all files that are not ignored. Once it has read as much as one
    hand-in may have, it hashes sizes and times instead of contents, so that no student's files delay the others."""
    digest, bytes_left, steps_left = hashlib.sha256(), MOST_BYTES, MOST_STEPS
    for entry in entries:
        for part in sorted((part for part in list_parts(entry) if part.kind != "ignored"), key=lambda part: part.name):
            may_be_read = part.size <= most_bytes(part.kind)
            bytes_left -= part.size if may_be_read else 0
            steps_left -= part.name.count("/") + 1
            reads = may_be_read and bytes_left >= 0 and steps_left >= 0
            content = attempt(partial(hash_content, part), bytes(32)) if reads else hash_date(part)
            digest.update(os.fsencode(part.name) + b"\0" + content)
    return digest.hexdigest()


def hash_content(part: Part) -> bytes:
    """Return 32 bytes, so that no content can be mistaken for the next file's name. Raises RefusedError, OSError."""
    part.check()
    with part.open() as stream:
        return hashlib.sha256(stream.read(part.size)).digest()


def hash_date(part: Part) -> bytes:
    """Return 32 bytes that change with a file's size or time."""
    return hashlib.sha256(f"{part.size} {part.time_s}".encode()).digest()


def identify(found: Sequence[Submission], roster: Sequence[Student], earlier: Sequence[Earlier] = ()) -> None:
    """Identify submissions by the roster: by id or number first, then by name if the name is unambiguous; then credit
    partners."""
    identify_by_number([one for one in found if one.of_system and not one.claim], roster)
    known, written = students_by_alias(roster), students_as_written(roster)
    for submission in found:
        if not submission.of_system and not submission.claim:
            ids = written if submission.written else known
            team = [ids[alias_key(part)] for part in split_team(submission.key, set(ids))]
            assign(submission, team, certain=True)
    current = {one.called for one in found} | {one.key for one in found if one.own}
    earlier = [one for one in earlier if not {one.called, one.key} & current]
    unknown = [one for one in found if not one.own and "other_name" not in map(kind_of, one.notes)]
    identify_by_name(unknown, found, roster, earlier)
    if roster:
        for submission in found:
            submission.notes += [] if submission.own else [make_note("not_on_roster")]
    credit_partners(found, roster, earlier)
    note_rivals(found, earlier)


def identify_by_number(found: Sequence[Submission], roster: Sequence[Student]) -> None:
    """Assign submissions to students by the course system's numbers, unless the names differ.

    If most names differ, the roster's numbers belong to a different assignment, or the download's belong to teams; then
    no number counts. Other ids of the roster may be running numbers, so they count only for a student with the
    submission's name.
    """
    numbers = {number: student for student in roster for number in student.numbers}
    pairs = [(one, numbers[one.key], one.name) for one in found if one.key in numbers]
    names = squeezed_names(roster)
    agreed = [may_be_called(student, name, names) for _, student, name in pairs]
    differing = [pair for pair, fits in zip(pairs, agreed, strict=True) if fits is False]
    misfit = len(differing) > max(FEW, agreed.count(True))
    for (submission, student, name), fits in zip(pairs, agreed, strict=True):
        if misfit:
            submission.claim = student.id if has_name(student, name) else ""
        elif fits is False:
            submission.notes.append(make_note("other_name", f" {tell_names(submission, student)} {HOW_TO_AGREE}"))
        else:
            assign(submission, [student], certain=True)
    if misfit:
        rest = f" for {len(differing)} of {len(pairs)} the names differ, such as: {tell_names(*differing[0][:2])}"
        differing[0][0].notes.append(make_note("other_numbers", f"{rest} {HOW_TO_NUMBER}"))
    known = students_by_alias(roster)
    for submission in found:
        if submission.key not in numbers and has_name(known.get(alias_key(submission.key)), submission.name):
            submission.claim = submission.key


def may_be_called(student: Student, name: str, roster_names: Set[str]) -> bool | None:
    """Return whether a course system's name can be that of the student with its number; None if they cannot be
    compared. Another student's name cannot. `roster_names`: squeezed_names() of the roster."""
    agreed = agree(student.name, name)
    if not agreed or has_name(student, name):
        return agreed
    return squeeze(name) not in roster_names


def squeezed_names(roster: Sequence[Student]) -> set[str]:
    """Return all spellings of all students' names, as has_name() compares them."""
    return {squeeze(name) for student in roster for name in spellings(student.name)}


def tell_names(submission: Submission, student: Student) -> str:
    """Return a sentence with both names of a number: the roster's and the hand-in's."""
    return f"{submission.called} is {student.name} on the roster, and {submission.name} here."


def assign(submission: Submission, team: Sequence[Student], certain: bool) -> None:
    """Assign a submission to these students, if there are any."""
    if not team:
        return
    submission.own, submission.certain = tuple(dict.fromkeys(student.id for student in team)), certain
    submission.key, submission.members = "+".join(submission.own), list(submission.own)
    submission.name = ", ".join(student.name or student.id for student in team)
    if times := [student.handed_in for student in team if student.handed_in]:
        submission.handed_in, submission.known_by = max(times), "the roster"


def identify_by_name(
    unknown: Sequence[Submission], found: Sequence[Submission], roster: Sequence[Student], earlier: Sequence[Earlier]
) -> None:
    """Assign a submission to the student whose name it has, but only if no other submission belongs to that student or
    has that name, because students choose their names. Other submissions stay separate, with a remark for the
    instructor."""
    claims = claimed_students(unknown, roster)
    owners = {member: one.called or one.key for one in earlier for member in one.own}
    owners |= {member: one.called for one in found for member in one.own}
    rivals = Counter(student.id for _, student in claims)
    numbers = {number for student in roster for number in student.numbers}
    for submission, student in claims:
        if rivals[student.id] == 1 and student.id not in owners:
            number = f"{submission.called} with that name" if submission.called in numbers else submission.called
            rest = f" {number}: found by the name, {submission.name}."
            submission.notes.append(make_note("found_by_name", rest))
            assign(submission, [student], certain=False)
            continue
        others = [one.called for one, other in claims if other is student and one is not submission]
        others += [owners[student.id]] if student.id in owners else []
        rest = (
            f" {submission.called} is called {submission.name}, and so is {student.id} of the roster, but "
            f"{' and '.join(sorted(others))} may belong to that student, too. {HOW_TO_TELL}"
        )
        submission.notes.append(make_note("same_name", rest))


def claimed_students(found: Sequence[Submission], roster: Sequence[Student]) -> list[tuple[Submission, Student]]:
    """Return each submission with the one student of the roster, if any, whose name it has."""
    named, known = names_of_one(roster), students_by_alias(roster)
    return [
        (one, known[alias_key(one.claim)]) if one.claim else (one, named[name])
        for one in found
        for name in ([""] if one.claim else as_claimed(one.name))
        if one.claim or name in named
    ]


def alias_key(alias: str) -> str:
    """Return the key of an id: ASCII case is ignored; other letters stay, because folding could confuse two ids."""
    return alias.lower() if alias.isascii() else alias


def students_by_alias(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each of their ids."""
    return {alias_key(alias): student for student in roster for alias in student.aliases}


def ids_by_form(roster: Sequence[Student]) -> dict[str, set[str]]:
    """Return the students by each form in which `make submit` writes their ids into a name. Forms of several ids may be
    the same."""
    forms: dict[str, set[str]] = {}
    for student in roster:
        for alias in student.aliases:
            forms.setdefault(alias_key(name_part(alias)), set()).add(student.id)
    return forms


def students_as_written(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each of their ids in the form that `make submit` writes into a name, if it is unique."""
    by_id = {student.id: student for student in roster}
    return {form: by_id[min(ids)] for form, ids in ids_by_form(roster).items() if len(ids) == 1}


def credit_partners(found: Sequence[Submission], roster: Sequence[Student], earlier: Sequence[Earlier]) -> None:
    """Add the partners in an archive's name, unless they have, or had earlier, a hand-in of their own. If only a name
    links such a hand-in to them, policy.rank() decides, so that nobody can replace another student's work."""
    known, forms = students_as_written(roster), ids_by_form(roster)
    named = {name: student for name, student in names_of_one(roster).items() if name not in forms}
    present = {member for one in (*found, *earlier) for member in one.own}
    certain = {member for one in (*found, *earlier) if one.certain for member in one.own}
    for submission in found:
        team = [known.get(alias_key(part)) or named[alias_key(part)]
                for part in split_team(submission.team, known.keys() | named.keys())]  # fmt: skip
        if known and submission.team and not team:
            submission.notes.append(
                f"Its name says {submission.team}, and not each of these is one student of the roster."
            )
        if team and not {student.id for student in team} & set(submission.own):
            said = " and ".join(student.id for student in team)
            rest = f" {said}, and not {submission.key}, who handed it in."
            submission.notes.append(make_note("names_others", rest))
            continue
        for student in team:
            if student.id in submission.members:
                continue
            if student.id in present:
                submission.notes.append(f"Its name says {student.id}, too, who handed in something else.")
            if student.id not in certain:
                submission.members.append(student.id)
                submission.name += f", {student.name or student.id}"
        if len(submission.members) > 1:
            submission.notes.append(f"For {' and '.join(submission.members)}, as its name says.")


def note_rivals(found: Sequence[Submission], earlier: Sequence[Earlier]) -> None:
    """Add a remark for the instructor to hand-ins of different teams that may belong to one student: several name that
    student as a partner, or one does and another has the student's name."""
    claims: dict[str, list[Submission | Earlier]] = {}
    for one in (*found, *earlier):
        for member in one.members if one.own else ():
            claims.setdefault(member, []).append(one)
    certain = {member for one in (*found, *earlier) if one.certain for member in one.own}
    for student, rivals in claims.items():
        teams, owners = {frozenset(one.members) for one in rivals}, {tuple(one.own) for one in rivals}
        if student in certain or len(teams) == 1 or len(owners) == 1:
            continue
        others = " and ".join(sorted(one.key if one.key != student else one.called for one in rivals))
        rest = f" {others} may be of {student}, and the one with the most points counts. {HOW_TO_DECIDE}"
        for one in rivals:
            if isinstance(one, Submission):
                one.notes.append(make_note("rivals", rest))


def names_of_one(roster: Sequence[Student]) -> dict[str, Student]:
    """Return the students by each spelling of their names, without spellings that several students share."""
    called = Counter(name for student in roster for name in set(spellings(student.name)))
    return {name: student for student in roster for name in spellings(student.name) if called[name] == 1}


def split_team(key: str, known: Set[str]) -> list[str]:
    """Return the ids that `make submit` joined with '-' if all of them are known, else none; ids may contain a '-'."""
    parts = key.split("-")
    teams: list[list[str]] = [
        [] for _ in range(len(parts) + 1)
    ]  # ids in all parts from that index on; empty if a part is unknown
    for start in reversed(range(len(parts))):
        for end in range(len(parts), start, -1):
            one = "-".join(parts[start:end])
            if alias_key(one) in known and (end == len(parts) or teams[end]):
                teams[start] = [one, *teams[end]]
                break
    return teams[0]


def merge_same(found: Sequence[Submission]) -> list[Submission]:
    """Keep one submission per team of the roster, the latest: two names on disk may belong to one student."""
    merged: dict[tuple[str, ...], Submission] = {}
    for submission in sorted(found, key=lambda one: order_by_time(one.handed_in, one.known_by)):
        whose = ("roster", *submission.own) if submission.own else ("name", submission.called)
        if earlier := merged.get(whose):
            names = ", ".join(map(show_name, earlier.entries))
            submission.notes.append(f"Not used, because a later one is there: {names}")
        merged[whose] = submission
    return list(merged.values())


def give_keys(found: Sequence[Submission], earlier: Sequence[Earlier], ids: Set[str]) -> Sequence[Submission]:
    """Give each submission a unique key, those on the roster first, because ids and names may hold any character. A
    student who is not on the roster gets neither an id of the roster nor the key of another's earlier submission, and
    counts only under that unique key."""
    taken: set[str] = set()
    owners = {one.key: one.called for one in earlier}
    for submission in sorted(found, key=lambda one: (not one.own, one.own, one.called)):
        while submission.key in taken or (not submission.own and is_of_another(submission, owners, ids)):
            submission.key += ANOTHER
        submission.members = submission.members if submission.own else [submission.key]
        taken.add(submission.key)
    return found


def is_of_another(submission: Submission, owners: Mapping[str, str], ids: Set[str]) -> bool:
    """Return whether a submission's key is an id of the roster, or the key of another student's earlier submission."""
    return submission.key in ids or owners.get(submission.key, submission.called) != submission.called


def name_some(names: Sequence[str]) -> str:
    """Join names, for example "a.cu, b.cu, c.cu and 4 more"."""
    more = len(names) - MOST_NAMED
    named = [*names[:MOST_NAMED], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)


def read_roster(file: Path) -> list[Student]:
    """Return the students in a CSV file with a column id (or a course system's name for it) and a column name. Raises
    UserError."""
    header, lines = read_table(file)
    if not columns_of(header, IDS):
        raise UserError(f"{file}: no column id. Its first line names the columns: id, name, and also login, email …")
    roster: dict[str, Student] = {}
    lines_of: dict[str, int] = {}
    for number, line in lines:
        try:
            student = read_student(header, line)
        except UserError as error:
            raise UserError(f"{file}:{number}: {error}") from None
        if student is None:
            continue
        if student.id in roster:
            raise UserError(f"{file}:{number}: the id {student.id} is there twice.")
        roster[student.id] = student
        for alias in sorted(student.aliases):
            line_of_it = lines_of.setdefault(alias.casefold(), number)
            if line_of_it != number:
                raise UserError(f"{file}:{number}: {alias} is in line {line_of_it} too, and can be one student only.")
    return list(roster.values())


def read_table(file: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the titles of a CSV file's columns, and its other lines with their numbers. Raises UserError."""
    if file.is_file() and is_spreadsheet(file):
        raise UserError(f"{file} is a spreadsheet. Save it as CSV (UTF-8) and give that.")
    try:
        rows = read_rows(read_text(file))
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    return rows[0][1] if rows else [], rows[1:]


def is_spreadsheet(file: Path) -> bool:
    """Return whether a file is an .xlsx or .ods, which are zip archives."""
    with file.open("rb") as stream:
        return stream.read(2) == b"PK"


def read_student(header: Sequence[str], line: Sequence[str]) -> Student | None:
    """Return the student in one line; None if the line has no id, like Canvas's second line. Raises UserError."""
    person, cells = read_person(header, line), cells_by_title(header, line)
    if not person.ids:
        return None
    times = [parse_zoned_time(cells[column]) for column in TIMES if cells.get(column, "") not in NOTHING]
    handed_in = show_time(max(times)) if times else ""
    words = [word for _, word in person.ids]
    numbers = {word for (kind, _), word in person.ids if kind in NUMBERS}
    return Student(words[0], person.name, set(words), handed_in, numbers, {one for one, _ in person.ids})
