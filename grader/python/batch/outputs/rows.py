"""Find each student's row in a gradebook: by an id of the same namespace, otherwise by the name.

The same number identifies different students in different namespaces: Canvas's, Moodle's and the course's own.
Therefore, ids are compared only within a namespace, and names only with names. If an id matches, the name must match as
well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.python.batch.ingest.columns import (
    ANY_ID,
    CANVAS_NUMBER,
    MOODLE_NUMBER,
    NUMBERS,
    OWN_ID,
    PARTICIPANT,
    Identifier,
    is_own_number,
    is_running_number,
    read_person,
)
from grader.python.batch.ingest.person_names import agree, lookup_keys, spellings, words_of
from grader.python.common.console import UserError
from grader.python.common.markup import show_text
from grader.python.common.report import Report

MAX_CONTRADICTIONS = 20  # contradictions that a message lists
HOW_TO_CORRECT = (
    "If both names mean one student, write the gradebook's name into the roster. If the numbers belong to another "
    "assignment, use a roster with the numbers of this gradebook (for Moodle, its grading worksheet). Then repeat the "
    "grade command."
)


@dataclass(frozen=True)
class Entry:
    """One student's report, with the name and the ids that a gradebook may have for the student. `remarks` are shown
    before the feedback. Without `ids`, any column of ids may contain `student`. A stranger is a person who is not on
    the roster, and gets no row."""

    student: str
    report: Report
    remarks: Sequence[str] = ()
    name: str = ""
    ids: Collection[Identifier] = ()
    is_stranger: bool = False

    def identifiers(self) -> set[Identifier]:
        """Return all ids, or `student` with an unknown namespace if there are none."""
        return set(self.ids) or {(ANY_ID, self.student.casefold())}

    def name_keys(self) -> set[str]:
        """Return all spellings of the name. If it is unknown and `student` has several words, these are the name."""
        return set(spellings(self.name or (self.student if " " in self.student.strip() else "")))


@dataclass(frozen=True)
class Line:
    """A row of a gradebook, and its student's ids and name."""

    row: list[str]
    ids: set[Identifier]
    name: str

    def name_keys(self) -> set[str]:
        """Return the lookup keys of the name."""
        return set(lookup_keys(self.name))


Claims = list[tuple[Line, set[str]]]  # lines, and the students to whom each may belong


def find_rows(header: Sequence[str], rows: Sequence[list[str]], entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return each student's row.

    A student who fits several rows, or a row that another student fits as well, gets none. By name, a row with
    additional words fits, too, because students choose their names. A row with a stranger's id, or with a name that
    contradicts its id, belongs to no student. Raises UserError if the names contradict the ids in at least half of the
    rows with known ids, because these ids then belong to another assignment."""
    lines, contradicted = remove_contradictions([read_line(header, row) for row in rows], entries)
    claims = claim_by_id(lines, entries)
    chosen = choose(claims)
    excluded = {student for _, students in claims for student in students} | contradicted
    by_name = claim_by_name([line for line, students in claims if not students], entries)
    excluded |= find_rivals([line for line, students in by_name if not students], entries)
    chosen |= choose([(line, students - excluded) for line, students in by_name])
    return {
        entry.student: chosen[entry.student] for entry in entries if entry.student in chosen and not entry.is_stranger
    }


def read_line(header: Sequence[str], row: list[str]) -> Line:
    """Read the cells that identify a row's student."""
    person = read_person(header, row)
    return Line(row, {identifier for identifier, _ in person.ids}, person.name)


def choose(claims: Claims) -> dict[str, list[str]]:
    """Return the row of each student who claims exactly one row that no other student claims."""
    count = Counter(student for _, students in claims for student in students)
    return {min(students): line.row for line, students in claims if len(students) == 1 and count[min(students)] == 1}


def pair_by_id(lines: Sequence[Line], entries: Sequence[Entry]) -> list[tuple[Line, list[tuple[Identifier, Entry]]]]:
    """Return each line with the pairs of an id in it and a student who has that id."""
    known: dict[Identifier, list[Entry]] = {}
    for entry in entries:
        for identifier in entry.identifiers():
            known.setdefault(identifier, []).append(entry)
    return [
        (
            line,
            [
                (identifier, entry)
                for identifier in line.ids
                for key in list_lookup_forms(identifier)
                for entry in known.get(key, ())
                if can_identify(key, line, entry)
            ],
        )
        for line in lines
    ]


def can_identify(identifier: Identifier, line: Line, entry: Entry) -> bool:
    """Return whether a line's id can identify a student. A running number can do so only if the line and the student
    have a name, and a number that may also be Canvas's only if the two names agree."""
    if identifier[0] == OWN_ID and (CANVAS_NUMBER, identifier[1]) in line.ids:
        return agree(entry.name, line.name) is True
    return not is_running_number(identifier) or agree(entry.name, line.name) is not None


def list_lookup_forms(identifier: Identifier) -> list[Identifier]:
    """Return an id, and the forms that it has for a student whose ids have no known namespace."""
    kind, value = identifier
    return [
        identifier,
        (ANY_ID, value),
        *([(ANY_ID, f"{PARTICIPANT.casefold()}{value}")] if kind == MOODLE_NUMBER else []),
    ]


def remove_contradictions(lines: Sequence[Line], entries: Sequence[Entry]) -> tuple[list[Line], set[str]]:
    """Return the lines without those that have a student's id and a different name, and the students with these ids. If
    the id is a number, a name also counts as different if it is exactly another student's and only similar to that of
    the student with the id. Raises UserError as find_rows() does."""
    batch_names = {name for entry in entries for name in entry.name_keys()}
    gradebook_names = {name for line in lines for name in line.name_keys()}
    kept, students, contradictions = [], set(), []
    pairs_of_lines = pair_by_id(lines, [entry for entry in entries if not entry.is_stranger])
    for line, pairs in pairs_of_lines:
        different = []
        for pair, entry in pairs:
            agreed = agree(entry.name, line.name)
            is_number = pair[0] in NUMBERS or is_own_number(pair)
            is_exact = bool(entry.name_keys() & line.name_keys())
            is_another = bool(entry.name_keys() & gradebook_names or line.name_keys() & batch_names)
            if agreed is False or (is_number and agreed and not is_exact and is_another):
                different.append(describe_contradiction(*pair, entry, line))
                students.add(entry.student)
        if different:
            contradictions.append(different[0])
        else:
            kept.append(line)
    if contradictions and 2 * len(contradictions) >= sum(bool(pairs) for _, pairs in pairs_of_lines):
        listing = "; ".join(contradictions[:MAX_CONTRADICTIONS])
        omitted = len(contradictions) - MAX_CONTRADICTIONS
        raise UserError(
            f"Nothing was exported, because rows of the gradebook have a student's id and a different name: {listing}"
            f"{f'; and {omitted} more' if omitted > 0 else ''}. {HOW_TO_CORRECT}"
        )
    return kept, students


def describe_contradiction(kind: str, value: str, entry: Entry, line: Line) -> str:
    """Return a sentence with both names of an id."""
    prefix = PARTICIPANT if kind == MOODLE_NUMBER else ""
    return show_text(f"{prefix}{value} is {line.name} in the gradebook, and {entry.name} in the batch")


def claim_by_id(lines: Sequence[Line], entries: Sequence[Entry]) -> Claims:
    """Return each line with the students who have its ids. A line with a stranger's id may also belong to the student
    who has its name, unless another line has that student's id."""
    claims = [(line, {entry.student for _, entry in pairs}) for line, pairs in pair_by_id(lines, entries)]
    strangers = {entry.student for entry in entries if entry.is_stranger}
    claimants = {student for _, owners in claims for student in owners}
    contested = []
    for (line, owners), (_, by_name) in zip(claims, claim_by_name(lines, entries), strict=True):
        owners = owners - strangers or owners
        contested.append((line, owners | (by_name - claimants) if owners and owners <= strangers else owners))
    return contested


def claim_by_name(lines: Sequence[Line], entries: Sequence[Entry]) -> Claims:
    """Return each line with the student who alone has its name, unless the line and the student have different numbers
    in Canvas, which gives each student only one number."""
    owners: dict[str, list[Entry]] = {}
    for entry in entries:
        for name in () if entry.is_stranger else entry.name_keys():
            owners.setdefault(name, []).append(entry)
    claims = []
    for line in lines:
        claimants = [owners[name][0] for name in line.name_keys() if len(owners.get(name, ())) == 1]
        claims.append((line, {entry.student for entry in claimants if not has_other_number(entry, line)}))
    return claims


def find_rivals(lines: Sequence[Line], entries: Sequence[Entry]) -> set[str]:
    """Return the students to whom one of these lines may belong, although its name is not exactly the student's, for
    example because of a middle name."""
    by_word: dict[str, list[Entry]] = {}
    for entry in entries:
        for word in set(words_of(entry.name)):
            by_word.setdefault(word, []).append(entry)
    return {
        entry.student
        for line in lines
        for entry in {entry.student: entry for word in words_of(line.name) for entry in by_word.get(word, ())}.values()
        if not has_other_number(entry, line) and agree(entry.name, line.name)
    }


def has_other_number(entry: Entry, line: Line) -> bool:
    """Return whether the student's number in Canvas and the line's are both known and differ."""
    own_numbers, line_numbers = (
        {identifier for identifier in ids if identifier[0] == CANVAS_NUMBER} for ids in (entry.identifiers(), line.ids)
    )
    return bool(own_numbers and line_numbers and not own_numbers & line_numbers)
