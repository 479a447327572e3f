"""Tests of columns.py, cells.py and gradebooks.py with Moodle's grading worksheet, which PHP writes and reads."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.python.batch.ingest.columns import read_rows
from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.outputs.gradebooks import canvas, moodle
from grader.python.batch.outputs.rows import Entry
from grader.python.common.console import UserError
from grader.python.common.report import Report, Total
from tests.python.batch import php

HEADER = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed"]
HEADER += ["Last modified (submission)", "Online text", "Last modified (grade)", "Feedback comments"]
FORGED = 'x\\"\n' + ",".join(["Participant 066", "Mallory", "m@x", "-", "10", "10.00", "Yes", "-", "z"])
TYPED = {
    "code": '<pre>printf("%s \\"%d\\", %f\\n", a, b);\nreturn 0;</pre>',
    "backslash_at_the_end": "C:\\temp\\",
    "two_backslashes": 'a \\\\" b \\\\',
    "forged_row": FORGED,
    "forged_quoted_row": 'x\n"Participant 66",Mallory,m@x,-,10,10.00,Yes,-,z,-,\n',
    "forged_escaped_row": 'x\\\n\\"Participant 66\\",Mallory,m@x,-,10,10.00,Yes,-,z,-,\n\\',
}


def person(number: int, name: str, text: str = "", comment: str = "") -> list[str]:
    return [f"Participant {number}", name, f"u{number}@x", "Graded", "", "10.00", "Yes", "-", text, "-", comment]


def write_worksheet(*people: Sequence[str]) -> str:
    return "".join(map(php.write_row, [HEADER, *people]))


def entry(number: int, points: float) -> Entry:
    return Entry(str(number), Report(lab="lab", total=Total(points, 10, 0)))


@pytest.mark.parametrize("kind", TYPED)
def test_a_students_text_does_not_change_other_rows(kind: str, tmp_path: Path) -> None:
    book = write_worksheet(person(12, "Ada"), person(66, "Mallory", TYPED[kind]), person(13, "Bob"))
    rows = [row for _, row in read_rows(book)]
    assert [row[0] for row in rows[1:]] == ["Participant 12", "Participant 66", "Participant 13"]
    assert rows[1] == person(12, "Ada") and rows[3] == person(13, "Bob") and rows[2][:8] == person(66, "Mallory")[:8]
    (roster := tmp_path / "roster.csv").write_text(book)
    assert [(student.id, student.name) for student in read_roster(roster)] == [
        ("12", "Ada"),
        ("66", "Mallory"),
        ("13", "Bob"),
    ]
    text, unknown = moodle([entry(12, 8), entry(66, 1), entry(13, 9)], book)
    grades = [("Participant 12", "8"), ("Participant 66", "1"), ("Participant 13", "9")]
    for read_table in (php.read_rows, lambda text: list(csv.reader(io.StringIO(text)))):
        header, *filled = read_table(text.replace("\r\n", "\n"))
        assert [(row[0], row[header.index("Grade")]) for row in filled] == grades and not unknown
        assert {len(row) for row in filled} == {len(header)}


def test_a_students_name_does_not_change_other_rows() -> None:
    for name in ("Mal, \\", 'x\\",y', *TYPED.values()):
        rows = read_rows(write_worksheet(person(12, "Ada"), person(66, name, 'say "hi"'), person(13, "Bob")))
        assert [row[0] for _, row in rows[1:]] == ["Participant 12", "Participant 66", "Participant 13"]
        assert rows[1][1] == person(12, "Ada") and rows[3][1] == person(13, "Bob")


PEOPLE = [["First name", "Last name", "ID number", "Department", "Email address"]]
PEOPLE += [["Ada", "Lovelace", "al1", "Comp Sci", "ada@x"], ["Alan", "Turing", "at2", "Comp Sci", "alan@x"]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("last", ["Lory", 'L\\"', "L\\", 'L\\",x', ',at2,,alan@x,"', 'b\\"'])
@pytest.mark.parametrize("first", ["Mal", 'Mal\\"', "Mal\\", 'M\\"al', 'Mal\\",zz,"', "Mal ;"])
def test_a_name_in_a_list_of_participants_does_not_change_other_rows(
    tmp_path: Path, first: str, last: str, separator: str
) -> None:
    people = [PEOPLE[0], [first, last, "mal", "CS", "mal@x"], *PEOPLE[1:]]
    lines = [separator.join(map(php.write_cell, cells)) for cells in people]
    for ending in ("\n", "\r\n"):
        (roster := tmp_path / "roster.csv").write_text(ending.join([*lines, ""]), newline="")
        known = {student.id: (student.name, student.aliases) for student in read_roster(roster)}
        assert known["al1"] == ("Ada Lovelace", {"al1", "ada@x"}) and known["at2"] == ("Alan Turing", {"at2", "alan@x"})


def test_a_table_that_a_spreadsheet_saved_with_line_breaks_is_read() -> None:
    rows = [["id", "name", "reason"], ["al1", "Ada", 'say \\"no\\" to\nall of it'], ["at2", "Alan", ""]]
    for ending in ("\n", "\r"):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator=ending).writerows(rows)
        assert [row for _, row in read_rows(text.getvalue())] == rows


def test_csv_that_php_wrote_is_read_back() -> None:
    chance = random.Random(22)
    for _ in range(2000):
        texts = ["".join(chance.choices('a ,"\n\\;', k=chance.randrange(9))) for _ in range(2)]
        if any(text.endswith("\\") for text in texts):  # ambiguous in PHP's dialect
            continue
        people = [person(number, "Ada", *texts) for number in (12, 13)]
        assert [row for _, row in read_rows(write_worksheet(*people))] == [HEADER, *people], texts


def test_php_and_python_read_the_same_cells() -> None:
    chance = random.Random(23)
    for _ in range(5000):
        parts = ['"', "\\", ",", "\n", " ", "a", ";", '\\"', '""', "=", "'"]
        rows = [["".join(chance.choices(parts, k=chance.randrange(8))) for _ in range(3)] for _ in range(3)]
        text = write_csv([["id", "a", "b"], *rows]).replace("\r\n", "\n")
        cells = list(csv.reader(io.StringIO(text, newline="")))
        assert php.read_rows(text) == cells and {len(row) for row in cells} == {3}, rows


def test_a_worksheet_that_a_spreadsheet_saved_is_read() -> None:
    text = io.StringIO()
    csv.writer(text).writerows([HEADER, person(12, "Ada", 'say \\"no\\'), person(13, "Bob")])
    assert [row for _, row in read_rows(text.getvalue())][1] == person(12, "Ada", 'say \\"no\\')


@pytest.mark.parametrize("cell", ["Participant 066", "Participant 12", "return 0;</pre>", "Participant 1x"])
def test_a_worksheet_that_a_students_text_broke_is_refused(cell: str) -> None:
    rows = [HEADER, person(12, "Ada"), [cell, *person(13, "Bob")[1:]]]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    with pytest.raises(UserError, match=f"Line 3: '{cell}' (is|occurs) .*download the worksheet again"):
        read_rows(text.getvalue())


FOREIGN = (
    "ID,Vollst\xe4ndiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann ge\xe4ndert werden,"
    "Zuletzt ge\xe4ndert (Abgabe),Texteingabe online,Zuletzt ge\xe4ndert (Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in34,Ada,al@x,Zur Bewertung abgegeben -  - ,,"30,00",Ja,"Freitag, 20. November 2026, 10:00",,-,\n'
    'Teilnehmer/in77,Bob,bo@x,Keine Abgabe -  - ,,"30,00",Ja,-,"a\nTeilnehmer/in34,b",-,\n',
    "\u8b58\u5225,\u540d,\u72b6\u614b,\u7d44,\u70b9,\u6700\u5927,\u5909\u66f4,\u63d0\u51fa,\u8a55\u5b9a,\u8a55\n"
    "\u53c2\u52a0\u800534,Ada,\u6e08 - - ,\u4e00,,30.00,\u53ef,-,-,\n"
    "\u53c2\u52a0\u800577,Bob,\u672a - - ,\u4e8c,,30.00,\u53ef,-,-,\n",
    "Identifiant,Statut,Note,Max,Modifiable,Remis,Modifi\xe9,Commentaire\n"
    "Participant 34,Remis -  - ,,30.00,Oui,-,-,\nParticipant 77,Remis -  - ,,30.00,Oui,-,-,\n",
)


@pytest.mark.parametrize("book", FOREIGN, ids=["german", "japanese_groups", "french_blind"])
def test_a_worksheet_in_another_language_keeps_its_language(book: str, tmp_path: Path) -> None:
    (roster := tmp_path / "roster.csv").write_text(book)
    students = read_roster(roster)
    assert [(student.id, student.numbers) for student in students] == [("34", {"34"}), ("77", {"77"})]
    names = [student.name for student in students]
    assert names == ([] if "Ada" not in book else ["Ada", "Bob"]) or not names[0]
    text, unknown = moodle([entry(34, 8)], book)
    header, row = csv.reader(io.StringIO(text))
    titles = next(csv.reader(io.StringIO(book)))
    assert not unknown and header[0] == titles[0] and header[-1] == titles[-1]
    assert (
        row[0] == book.split("\n")[1].partition(",")[0]
        and row[header.index(titles[titles.index(header[-3]) - 1])] == "8"
    )
    assert row[-1].startswith("lab: 8 of 10 points.")


# The columns of mod/assign/gradingtable.php (github.com/moodle/moodle, commit 1494620bfbb3) with a marking workflow,
# and the German words of its language pack.
WORKFLOW = (
    "ID,Vollst\xe4ndiger Name,Status,{extra}Bewertung,Bestwertung,Status des Bewertungsworkflows,"
    "Bewertung kann ge\xe4ndert werden,Zuletzt ge\xe4ndert (Abgabe),Zuletzt ge\xe4ndert (Bewertung),Feedback\n"
    'Teilnehmer/in34,Ada,Abgegeben -  - ,{cells},"30,00",Nicht bewertet,Ja,"Freitag, 20. November 2026, 10:00",-,\n'
    'Teilnehmer/in77,Bob,Abgegeben -  - ,{cells},"30,00",In Bewertung,Ja,-,-,\n'
)


@pytest.mark.parametrize("groups", [(), ("Gruppe",)])
def test_equal_grades_are_not_read_as_the_maximum(tmp_path: Path, groups: tuple[str, ...]) -> None:
    """All students have the maximum: a worksheet that was filled before, in another language."""
    titles = ("ID", "Vollständiger Name", "Status", *groups, "Bewertung", "Bestwertung", "Änderbar", "Abgabe", "B", "F")
    people = [
        (f"Teilnehmer/in{at}", f"Ada{at}", "Abgegeben -  - ", *groups, "30,00", "30,00", "Ja", "-", "-", "")
        for at in (34, 77)
    ]
    book = "".join(map(php.write_row, [titles, *people]))
    (roster := tmp_path / "roster.csv").write_text(book)
    assert [(student.id, student.group) for student in read_roster(roster)] == [
        (at, "".join(groups)) for at in ("34", "77")
    ]
    header, row = csv.reader(io.StringIO(moodle([entry(34, 8)], book)[0]))
    assert row[header.index("Bewertung")] == "8"


def test_markers_are_not_read_as_groups(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(WORKFLOW.format(extra="", cells=""))
    assert [(student.id, student.group) for student in read_roster(roster)] == [("34", ""), ("77", "")]
    text, unknown = moodle([entry(34, 8)], roster.read_text())
    assert not unknown and ",8," in text.replace('"', "")
    roster.write_text(WORKFLOW.format(extra="Gruppe,Bewerter/in,", cells="Team 5,Grace,"))
    assert [student.group for student in read_roster(roster)] == ["Team 5", "Team 5"]
    roster.write_text(WORKFLOW.format(extra="Bewerter/in,", cells="Grace,"))
    with pytest.raises(UserError, match="columns are not recognised"):
        read_roster(roster)


def test_other_tables_are_not_read_as_worksheets(tmp_path: Path) -> None:
    (roster := tmp_path / "roster.csv").write_text("id,name,status,most,x,y,z,a\nal1,Ada,in - out,1.00,a,b,c,d\n")
    assert [(student.id, student.numbers) for student in read_roster(roster)] == [("al1", set())]


def test_a_worksheet_whose_columns_are_not_recognised_is_refused(tmp_path: Path) -> None:
    book = "ID,Vollst\xe4ndiger Name,Bewertung\nTeilnehmer/in34,Ada,\nTeilnehmer/in77,Bob,\n"
    (roster := tmp_path / "roster.csv").write_text(book)
    for read_table in (lambda: read_roster(roster), lambda: moodle([entry(34, 8)], book)):
        with pytest.raises(UserError, match=r"another language.* Set your language in Moodle to English"):
            read_table()


def test_an_export_changes_no_other_students_row() -> None:
    comment = "- see me; -2 for style \U0001f468\u200d\U0001f4bb"
    name = "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"
    bob = person(13, name, comment=comment)
    header, *rows = php.read_rows(moodle([entry(12, 8)], write_worksheet(person(12, name), bob))[0])
    assert [row[:2] for row in rows] == [["Participant 12", name]] and "Online text" not in header
    book = f"Student,ID,Notes,Lab (1)\n=Ada,12,{comment},\n{name},13,{comment},-\n"
    rows = list(csv.reader(io.StringIO(canvas([entry(12, 8)], book, "Lab (1)")[0])))
    assert rows[1:] == [["'=Ada", "12", comment, "8"], [name, "13", comment, "-"]]
