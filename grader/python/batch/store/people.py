"""Find the students of a batch by ids and names that an instructor typed or wrote into a file."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

from grader.python.batch.ingest.columns import CANVAS_NUMBER, NUMBERS, Identifier
from grader.python.batch.ingest.person_names import compose, lookup_keys
from grader.python.batch.ingest.roster import (
    Student,
    can_have_name,
    describe_shared_name,
    read_rosters,
    squeezed_names,
    students_of_names,
    students_of_unique_names,
)
from grader.python.batch.store.database import Database
from grader.python.common.console import UserError
from grader.python.common.markup import show_text

MAX_WRONG = 10  # names in one message
MAX_COMPARED = 100  # characters of a name that are compared with other names


class StudentsByCell:
    """Finds the students of a batch by the cells of a file of points. An id counts only in its own namespace, and only
    if the names agree, because a number may be from another list."""

    def __init__(self, database: Database):
        dropped, roster = database.dropped(), roster_of(database)
        rows = [row for row in database.rows() if row.key not in dropped]
        members = {member for row in rows for member in row.members}
        self.strangers = members - {student.id for student in roster}
        self.names = {row.members[0]: row.name for row in rows if len(row.members) == 1}
        self.names |= {student.id: student.name for student in roster}
        self.roster_names = squeezed_names(roster)
        self.namesakes = students_of_names(roster)
        self.by_name = {name: student.id for name, student in students_of_unique_names(roster).items()}
        self.by_number = {
            identifier: student.id for student in roster for identifier in student.ids if identifier[0] in NUMBERS
        }
        self.by_id = self.by_name | {value: student.id for student in roster for kind, value in student.ids
                                     if kind not in NUMBERS}  # fmt: skip
        self.by_id |= {student.id.casefold(): student.id for student in roster}

    def find(self, ids: Sequence[tuple[Identifier, str]], name: str) -> str:
        """Return the student with these ids, or with the name if no id can be used. Raises UserError if no student
        fits, or if the ids and the name belong to different students."""
        numbers = {
            word: student for number, word in ids if number[0] in NUMBERS and (student := self.find_number(number))
        }
        unsure = {
            word for (kind, _), word in ids if kind == CANVAS_NUMBER and not self.fits(word, name)
        } | numbers.keys()
        words = [word for (kind, _), word in ids if kind not in NUMBERS and word not in unsure][:1]
        students = [*numbers.values(), *(self.pick(word, self.by_id) for word in words)]
        if not students:
            students = [self.pick(name or ids[0][1], self.by_name)]
        if len(set(students)) > 1:
            raise UserError(f"The ids in this line belong to different students: {', '.join(dict.fromkeys(students))}.")
        self.require_name(students[0], name)
        return students[0]

    def fits(self, word: str, name: str) -> bool:
        """Return whether the roster has an id, and the name can belong to the student with this id."""
        student = self.by_id.get(word.casefold(), "")
        return can_have_name(Student(student, self.names.get(student, "")), name, self.roster_names) is True

    def find_number(self, identifier: Identifier) -> str:
        """Return the student with a course system's number; empty if there is none."""
        return self.by_number.get(identifier, identifier[1] if identifier[1] in self.strangers else "")

    def pick(self, word: str, by_word: Mapping[str, str]) -> str:
        """Return the student with this id or name, on the roster or not. `by_word`: the roster's ids by such words.
        Raises UserError."""
        word = compose(word)
        students = {by_word[key] for key in (word.casefold(), *lookup_keys(word)) if key in by_word}
        return pick_student(word, self.strangers | students, by_word, self.namesakes)

    def require_name(self, student: str, name: str) -> None:
        """Raise UserError if the name in a line cannot be the student's."""
        roster_name = self.names.get(student, "")
        if can_have_name(Student(student, roster_name), name, self.roster_names) is False:
            raise UserError(
                f"The id belongs to {roster_name}, but the name is {show_text(name)}. Correct the line, or the name on "
                "the roster."
            )


class UnknownStudentError(UserError):
    """No student has a name. Similar names are searched only when the message is shown, because the search takes
    long."""

    def __init__(self, student: str, members: Set[str], ids: Mapping[str, str]):
        super().__init__(student)
        self.student, self.members, self.ids = student, members, ids

    def __str__(self) -> str:
        names = sorted(self.members | self.ids.keys())
        close_names = difflib.get_close_matches(self.student[:MAX_COMPARED], names, cutoff=0.7)
        close_ids = dict.fromkeys(self.ids.get(name, name) for name in close_names)
        suggestion = f" Is it {' or '.join(close_ids)}?" if close_ids else ""
        return (
            f"No student has the name {show_text(self.student)}.{suggestion} Give an id of gradebook.csv, or a name or "
            "e-mail of the roster."
        )


def pick_student(
    student: str, members: Set[str], ids: Mapping[str, str], names: Mapping[str, Sequence[Student]] | None = None
) -> str:
    """Return the key of the student with this id or name, preferably one on the roster. `members`: the keys of all
    students; `ids`: the roster's ids by each unique id or name; `names`: the roster's students by each name. Raises
    UserError if no student fits, or if several do."""
    matches = (ids[name] for name in (student.casefold(), *lookup_keys(student)) if name in ids)
    match = next(matches, "")
    strangers = members - set(ids.values())
    word = str if student == match else str.casefold  # an id as the roster writes it identifies one student
    same_id = [stranger for stranger in strangers if word(stranger) == word(student)]
    if match and same_id:
        raise UserError(
            f"{student} may mean {match}, who is on the roster, or {', '.join(sorted(same_id))}, who is not. For the "
            f"first, write the id {match}. For the other, add that student to the roster and repeat the grade command."
        )
    match = match or (student if student in members else "")
    if match not in members:
        namesakes = next((same for name in lookup_keys(student) if (same := (names or {}).get(name))), [])
        if len(namesakes) > 1:
            raise UserError(f"{describe_shared_name(show_text(student), namesakes)} Give an id.")
        raise UnknownStudentError(student, members, ids)
    return match


def names_of(database: Database) -> dict[str, str]:
    """Return the names of all students, by their ids: the roster's, or those in the names of their hand-ins."""
    names = {row.members[0]: row.name for row in database.rows() if len(row.members) == 1}
    return names | {student: name for student, name in (database.read_value("names") or {}).items() if name}


def with_name(student: str, names: Mapping[str, str]) -> str:
    """Return an id with the student's name, if that is known and is not the id itself."""
    name = names.get(student, "")
    return f"{student} ({name})" if name not in ("", student) else student


class StudentsByWord:
    """Finds the students of a batch, and their hand-ins, by ids or names that an instructor typed."""

    def __init__(self, database: Database):
        self.rows, self.roster = database.rows(), roster_of(database)
        self.by_key = {row.key: row for row in self.rows}
        self.members = {member for row in self.rows for member in row.members}
        self.ids, self.namesakes = ids_by_name(self.roster), students_of_names(self.roster)
        self.on_roster = {student.id for student in self.roster}
        strangers = [
            Student(row.key, row.name)
            for row in self.rows
            if row.members == [row.key] and row.key not in self.on_roster
        ]
        self.own_ids = {alias.casefold() for student in self.roster for alias in student.aliases} | {
            stranger.id for stranger in strangers
        }
        self.by_spelling = students_of_names([*self.roster, *strangers])

    def find(self, word: str) -> str:
        """Return the id of the student with this id or name, even if the hand-in is dropped. Raises UserError."""
        if stranger := self.find_named_stranger(word):
            return stranger
        return pick_student(compose(word), self.members, self.ids, self.namesakes)

    def find_named_stranger(self, word: str) -> str:
        """Return the key of a person who is not on the roster, by name. Return an empty string if no such person has
        the name, if the word is an id, or if several students on the roster have the name: then the hand-in is probably
        one of theirs. Raises UserError if the name is ambiguous in another way."""
        if word in self.own_ids or word.casefold() in self.own_ids:
            return ""
        students = {
            student.id: student for name in lookup_keys(compose(word)) for student in self.by_spelling.get(name, ())
        }
        if students.keys() <= self.on_roster or len(students.keys() & self.on_roster) > 1:
            return ""
        if len(students) > 1:
            raise UserError(f"{describe_shared_name(show_text(word), list(students.values()))} Give an id.")
        return next(iter(students))

    def find_key(self, word: str) -> str:
        """Return the key of the submission of a student or team. Raises UserError if there is none."""
        if word in self.by_key and word not in self.by_key[word].members:  # a team's key
            return word
        student = self.find(word)
        return next(
            row.key
            for own in (True, False)
            for row in self.rows
            if student in (row.own_members() if own else row.members)
        )

    def find_own_key(self, word: str) -> str:
        """Return the key of a student's own hand-in, or a hand-in's key unchanged. Raises UserError if the student
        handed in nothing, or is only a partner in another student's hand-in."""
        row = self.by_key[word if word in self.by_key else self.find_key(word)]
        if row.status == "not_submitted":
            raise UserError(f"{word} handed in nothing.")
        if word not in self.by_key and self.find(word) not in row.own_members():
            raise UserError(
                f"{word} is only a partner in the hand-in {row.key}. To name that hand-in, write {row.key}."
            )
        return row.key


def find_keys(database: Database, words: Sequence[str]) -> list[str]:
    """Return the keys of the submissions of several students or teams. Raises UserError."""
    return find_each(words, StudentsByWord(database).find_key)


def find_own_keys(database: Database, words: Sequence[str]) -> list[str]:
    """Return the keys of several students' own hand-ins. Raises UserError."""
    return find_each(words, StudentsByWord(database).find_own_key)


def find_students(database: Database, words: Sequence[str]) -> list[str]:
    """Return the ids of several students. Raises UserError for words that do not identify one student, and for students
    who are not on the roster and whose hand-in is dropped."""
    dropped, students = database.dropped(), StudentsByWord(database)
    counting = {member for row in students.rows if row.key not in dropped for member in row.members}
    counting |= students.on_roster
    names = names_of(database)

    def find(word: str) -> str:
        student = students.find(word)
        if student not in counting:
            raise UserError(
                f"The hand-in of {with_name(student, names)} is dropped. To let it count again: drop --undo."
            )
        return student

    return find_each(words, find)


def find_each(words: Sequence[str], find: Callable[[str], str]) -> list[str]:
    """Return the result of `find` for each word. Raises UserError with the first MAX_WRONG errors."""
    results, wrong = [], []
    for word in words:
        try:
            results.append(find(word))
        except UserError as error:
            wrong.append(error)
    if wrong:
        count = f"{len(wrong)} of {len(words)} names do not identify a student: " if len(wrong) > 1 else ""
        omitted = f" And {len(wrong) - MAX_WRONG} more names." if len(wrong) > MAX_WRONG else ""
        raise UserError(f"{count}{' '.join(map(str, wrong[:MAX_WRONG]))}{omitted}")
    return results


def roster_of(database: Database) -> list[Student]:
    """Return the students of the roster; none if the batch has no roster. Raises UserError."""
    return read_rosters(roster_files(database))


def roster_files(database: Database) -> list[Path]:
    """Return the paths of the batch's rosters; none if the batch has no roster. Raises UserError if a file no longer
    exists: without it, hand-ins would get different keys, and exports would omit students."""
    stored = database.read_value("roster") or []
    files = [Path(file) for file in ([stored] if isinstance(stored, str) else stored)]  # earlier batches: one path
    if gone := [file for file in files if not file.is_file()]:
        raise UserError(
            f"The batch's roster is no longer there: {gone[0]}. Put it back, or repeat the grade command with "
            "ROSTER=FILE (--roster FILE). To grade without a roster, add --no-roster to that command."
        )
    return files


def ids_by_name(roster: Sequence[Student]) -> dict[str, str]:
    """Return the students' ids by each of their unique names and of their ids on the roster."""
    ids = {name: student.id for name, student in students_of_unique_names(roster).items()}
    return ids | {alias.casefold(): student.id for student in roster for alias in student.aliases}
