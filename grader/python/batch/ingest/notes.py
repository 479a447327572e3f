"""Notes on a submission. Students choose parts of a note's text, so code depends only on the note's kind."""

from __future__ import annotations

import json
from collections.abc import Iterable

NOT_ON_ROSTER = "Not on the roster."
FOUND_BY_NAME = "The roster has no"
TO_CHOOSE = "To have one of them graded,"
NAMES_OTHERS = "The archive's name says"
OF_SEVERAL = "Its name matches several students"
SAME_NAME = "A name alone does not identify the student:"
OTHER_NAME = "The number belongs to a student with a different name:"
OTHER_NUMBERS = "The roster's numbers are not used:"
RIVALS = "Several hand-ins may be of one student:"
# Kinds of notes that only instructors read, with the beginnings of their texts.
FOR_INSTRUCTOR = {
    "not_on_roster": NOT_ON_ROSTER,
    "found_by_name": FOUND_BY_NAME,
    "to_choose": TO_CHOOSE,
    "names_others": NAMES_OTHERS,
    "of_several": OF_SEVERAL,
    "same_name": SAME_NAME,
    "other_name": OTHER_NAME,
    "other_numbers": OTHER_NUMBERS,
    "rivals": RIVALS,
}
OF_GROUP = "of_group"  # the kind of a note that a group's members may read
IN_DOUBT = ("same_name", "of_several", "other_name", "other_numbers", "rivals")  # kinds: the student is in doubt


class Note(str):
    """A note with its kind. Students may read the notes whose kind is empty."""

    kind: str

    def __new__(cls, text: str, kind: str = "") -> Note:
        note = super().__new__(cls, text)
        note.kind = kind
        return note


def make_note(kind: str, text: str = "") -> Note:
    """Return a note for the instructor: the text with which its kind begins, and `text`."""
    return Note(f"{FOR_INSTRUCTOR[kind]}{text}", kind)


def kind_of(note: str) -> str:
    """Return a note's kind; empty if it has none."""
    return note.kind if isinstance(note, Note) else ""


def has_kind(notes: Iterable[str], kind: str) -> bool:
    return kind in map(kind_of, notes)


def is_for_instructor(note: str) -> bool:
    return kind_of(note) in FOR_INSTRUCTOR


def write_notes(notes: Iterable[str]) -> str:
    """Return notes as the database keeps them: JSON, with a kind as [kind, text]."""
    return json.dumps([[kind_of(note), note] if kind_of(note) else note for note in notes])


def read_notes(text: str) -> list[str]:
    return [note if isinstance(note, str) else Note(note[1], note[0]) for note in json.loads(text)]


def guess_kinds(text: str) -> str:
    """Return notes of an earlier database with kinds, which follow from the beginnings of their texts."""
    return write_notes(
        next((Note(note, kind) for kind, begin in FOR_INSTRUCTOR.items() if note.startswith(begin)), note)
        for note in read_notes(text)
    )
