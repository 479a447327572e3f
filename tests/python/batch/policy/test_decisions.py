"""The instructor's decisions: points from a CSV file, due dates, extensions, overrides."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from grader.python.batch.store import people
from grader.python.batch.store.opened import open_batch
from grader.python.batch.store.people import pick_student
from grader.python.common.console import UserError
from tests.python.batch.batches import Course


@pytest.fixture
def graded(course: Course) -> Course:
    roster = course.root / "roster.csv"
    roster.write_text(
        "id,name,email\nal1,Ada Lovelace,ada@example.org\nat2,Alan Turing,alan@example.org\nkj3,Kit,k@x.y\n"
    )
    for student in ("al1", "at2", "kj3"):
        course.hand_in(student, "fine", "fine")
    assert course.grade("--roster", roster).returncode == 0
    return course


def gradebook(course: Course) -> dict[str, dict[str, str]]:
    course.run_verb("report")
    return {
        line["id"]: line for line in csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines())
    }


def mark(course: Course, text: str, *more: str) -> tuple[int, str]:
    file: Path = course.root / "marks.csv"
    file.write_text(text)
    result = course.run_verb("points", "--from", file, "--of", "10", *more)
    return result.returncode, result.stdout + result.stderr


def test_marks_are_read_from_a_file(graded: Course) -> None:
    code, output = mark(
        graded, "\ufeffE-mail;Points;Comment\nada@example.org;7,5;good plots\nAlan@example.org;10;\nk@x.y;;\n"
    )
    assert code == 0 and "journal: 2 students marked by marks.csv; 2 of 3 have points for it now." in output
    lines = gradebook(graded)
    assert [(lines[student]["points"], lines[student]["of"]) for student in ("al1", "at2", "kj3")] == [
        ("19.5", "30"),
        ("22", "30"),
        ("12", "30"),
    ]
    status = graded.run_verb("status").stdout
    assert "journal 7.5 of 10 (good plots)" in status and "journal 10 of 10 (marks.csv)" in status


def test_a_second_file_prints_how_many_students_have_points(graded: Course) -> None:
    mark(graded, "id,points\nal1,7\nat2,0\n")
    assert "journal: 1 student marked by marks.csv; 3 of 3 have points" in mark(graded, "id,points\nkj3,8\n")[1]
    assert "journal: 1 student marked by marks.csv; 3 of 3 have points" in mark(graded, "id,points\nkj3,9\n")[1]
    graded.run_verb("points", "--student", "al1", "--undo", "--reason", "an error")
    assert "journal: 1 student marked by marks.csv; 2 of 3 have points" in mark(graded, "id,points\nkj3,9\n")[1]
    assert "plots: 1 student marked by marks.csv; 1 of 3" in mark(graded, "id,points\nkj3,9\n", "--item", "plots")[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,points\nal1,7\nxx9,8\n", "marks.csv:3: No student has the name xx9"),
        ("id,points\nal1,7\nat2,12\n", "marks.csv:3: 12 points: give 0 to 10"),
        ("id,points\nal1,7\nat2,-1\n", "marks.csv:3: -1 points: give 0 to 10"),
        ("id,points\nal1,7\nat2,good\n", "marks.csv:3: 'good' is not a number"),
        ("id,points\nal1,7\nat2,nan\n", "marks.csv:3: nan points: give 0 to 10"),
        ("id,points\nal1,7\nada@example.org,8\n", "marks.csv:3: al1 is also in"),
        ("id,points\nal1,7\n,8\n", "marks.csv:3: 8 points without a student"),
        ("id,marked\nal1,7\n", "no column points"),
        ("points\n7\n", "no column id"),
        ("", "no column id"),
    ],
)
def test_a_file_with_a_mistake_marks_no_student(graded: Course, text: str, words: str) -> None:
    code, output = mark(graded, text)
    assert code == 2 and words in output and "Traceback" not in output
    assert "journal" not in graded.run_verb("status").stdout


def test_a_file_cannot_be_combined_with_points_for_one_student(graded: Course) -> None:
    assert "omit --points and --undo" in mark(graded, "id,points\nal1,7\n", "--points", "7")[1]
    result = graded.run_verb("points", "--from", graded.root / "gone.csv", "--of", "10")
    assert result.returncode == 2 and "gone.csv" in result.stderr
    result = graded.run_verb("points", "--student", "al1", "--points", "7", "--of", "10")
    assert result.returncode == 2 and "--reason" in result.stderr
    result = graded.run_verb("points", "--student", "al1", "--of", "10", "--reason", "good")
    assert result.returncode == 2 and "--points" in result.stderr


def test_options_of_the_due_date_that_are_not_given_are_kept(graded: Course) -> None:
    def due(*words: str) -> str:
        result = graded.run_verb("due", *words)
        return result.stdout if result.returncode == 0 else result.stderr

    assert "There is no due date yet: add --at" in due("--percent-per-day", "10")
    assert "There is no due date to remove" in due("--undo")
    assert "Due" not in graded.run_verb("status").stdout
    output = due("--at", "2020-01-01T00:00Z")
    assert "Due 2020-01-01T00:00:00+00:00; no deduction for lateness." in output
    due("--percent-per-day", "10", "--most-days", "5", "--grace-minutes", "15", "--trust-file-dates")
    deduction = "each day or part of a day costs 10% of the earned points; no points after 5 days; 15 minutes of grace"
    output = due("--at", "2020-01-02T00:00Z")
    assert f"Due 2020-01-02T00:00:00+00:00; {deduction}; files' dates count. 3 of 3 are late." in output
    assert f"{deduction}." in due("--no-trust-file-dates")
    assert f"Due 2020-01-02T00:00:00+00:00; {deduction}." in graded.run_verb("status").stdout
    graded.run_verb("report")
    assert deduction in (graded.out / "report.html").read_text()
    assert "Nothing to change" in due() and "omit the other options" in due("--undo", "--at", "2020-01-01T00:00Z")
    assert "No due date. 0 of 3 are late." in due("--undo")
    assert "Due" not in graded.run_verb("status").stdout and due("--at", "2020-01-01T00:00Z").count("no deduction") == 1


def test_a_decision_that_does_not_exist_cannot_be_undone(graded: Course) -> None:
    graded.run_verb("points", "--student", "al1", "--points", "7", "--of", "10", "--reason", "good")
    options = ("--student", "al1", "--student", "at2", "--undo", "--reason", "an error")
    for words, message in (
        (("override", *options), "al1 (Ada Lovelace), at2 (Alan Turing): no override to remove"),
        (("extend", *options), "al1 (Ada Lovelace), at2 (Alan Turing): no extension to remove"),
        (("points", *options), "at2 (Alan Turing): no points for journal to remove"),
        (("points", *options, "--item", "nope"), "no points for nope to remove. Points were given for: journal."),
    ):
        result = graded.run_verb(*words)
        assert result.returncode == 2 and message in result.stderr, result
    assert "revoked" not in graded.run_verb("status").stdout
    assert graded.run_verb("points", "--student", "al1", "--undo", "--reason", "an error").returncode == 0
    assert graded.run_verb("points", "--student", "al1", "--undo", "--reason", "again").returncode == 2


def test_partners_without_points_are_reported(course: Course) -> None:
    for team in ("al1-at2-kj3", "gh4"):
        course.hand_in(team, "fine", "fine")
    (course.root / "roster.csv").write_text("id\nal1\nat2\nkj3\ngh4\n")
    course.grade("--roster", course.root / "roster.csv")

    def give_points(student: str, *more: str) -> str:
        return course.run_verb("points", "--student", student, "--reason", "x", *more).stdout

    options = ("--points", "7", "--of", "10")
    assert "Partners" not in give_points("gh4", *options)
    words = "Partners of the same hand-in without points for journal: at2, kj3."
    assert words in give_points("al1", *options)
    assert "Partners" not in give_points("al1", "--undo")
    assert "without points for journal: al1, kj3." in mark(course, "id,points\nat2,7\n")[1]
    assert "Partners" not in give_points("al1", "--student", "kj3", *options)


def test_status_marks_decisions_that_are_no_longer_in_force(graded: Course) -> None:
    al1, at2 = ("--student", "al1", "--reason", "x"), ("--student", "at2", "--reason", "x")
    for words in (
        ("override", *al1, "--points", "5"),
        ("override", *al1, "--points", "15"),
        ("override", *at2, "--points", "3"),
        ("extend", *at2, "--until", "2020-01-02T00:00Z"),
        ("override", *at2, "--undo"),
        ("points", *al1, "--points", "7", "--of", "10"),
        ("points", *al1, "--points", "1", "--of", "2", "--item", "plots"),
        ("points", *al1, "--points", "8", "--of", "10"),
    ):
        assert graded.run_verb(*words).returncode == 0
    output = [
        line.split(": ", 1) for line in graded.run_verb("status").stdout.splitlines() if line.startswith("By hand")
    ]
    in_force = {decision for prefix, decision in output if "no longer valid" not in prefix}
    replaced = {decision for prefix, decision in output if prefix.startswith("By hand, no longer valid, 20")}
    assert in_force == {
        "al1 (Ada Lovelace), set to 15 points (x)",
        "at2 (Alan Turing), until 2020-01-02T00:00:00+00:00 (x)",
        "al1 (Ada Lovelace), journal 8 of 10 (x)",
        "al1 (Ada Lovelace), plots 1 of 2 (x)",
    }
    assert replaced == {
        "al1 (Ada Lovelace), set to 5 points, replaced (x)",
        "at2 (Alan Turing), set to 3 points, undone (x)",
        "at2 (Alan Turing), override revoked (x)",
        "al1 (Ada Lovelace), journal 7 of 10, replaced (x)",
    }
    assert {decision for _, decision in output[: len(in_force)]} == in_force


def test_each_item_has_its_own_column(graded: Course) -> None:
    for item, message in (
        ("status", "--item status: gradebook.csv has"),
        ("ID", "--item ID: "),
        (" ", "--item is empty"),
    ):
        result = graded.run_verb(
            "points", "--student", "al1", "--points", "1", "--of", "1", "--reason", "x", "--item", item
        )
        assert result.returncode == 2 and message in result.stderr
    assert "--item 01_first: " in mark(graded, "id,points\nal1,7\n", "--item", "01_first")[1]


def test_another_spelling_of_an_items_name_is_refused(graded: Course) -> None:
    mark(graded, "id,points\nal1,7\n")
    for item in ("Journal", " journal", "journal\n"):
        result = graded.run_verb(
            "points", "--student", "al1", "--points", "1", "--of", "1", "--reason", "x", "--item", item
        )
        assert result.returncode == 2 and "there are points for journal already" in result.stderr
        assert "for journal already" in mark(graded, "id,points\nal1,7\n", "--item", item)[1]
    assert mark(graded, "id,points\nal1,8\n", "--item", "journal")[0] == 0
    assert gradebook(graded)["al1"]["of"] == "30"


def test_an_extension_never_shortens_the_time(course: Course) -> None:
    roster = course.root / "roster.csv"
    roster.write_text("id,submitted\nal1,2020-01-05T00:00Z\nat2,2020-01-05T00:00Z\n")
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.grade("--roster", roster)
    course.run_verb("due", "--at", "2020-01-01T00:00Z", "--percent-per-day", "10")
    course.run_verb("extend", "--student", "al1", "--until", "2020-01-03T00:00Z", "--reason", "ill")
    assert [line["late_days"] for line in gradebook(course).values()] == ["2", "4"]
    course.run_verb("due", "--at", "2020-01-04T00:00Z")
    assert [line["late_days"] for line in gradebook(course).values()] == ["1", "1"]
    course.run_verb("due", "--at", "2020-01-06T00:00Z")
    assert [line["late_days"] for line in gradebook(course).values()] == ["0", "0"]
    assert "0 of 2 are late" in course.run_verb("due", "--undo").stdout


def test_status_lists_decisions_that_the_outputs_lack(graded: Course) -> None:
    options = ("--student", "al1", "--reason", "x")
    (marks := graded.root / "marks.csv").write_text("id,points\nal1,7\n")
    decisions = (
        ("due", "--at", "2020-01-01T00:00Z"),
        ("extend", *options, "--until", "2020-01-02T00:00Z"),
        ("points", *options, "--points", "7", "--of", "10"),
        ("points", "--from", marks, "--of", "10"),
        ("override", *options, "--points", "7"),
        ("without", "--kind", "speed"),
        ("without", "--undo"),
        ("override", *options, "--undo"),
    )
    for number, words in enumerate(decisions, 1):
        output = graded.run_verb(*words).stdout
        assert f"To update gradebook, feedback and page: warplab-course report {graded.out}" in output
        assert graded.database().read_value("decided") == number
    reminder = f"page do not have all decisions yet: warplab-course report {graded.out}\n"
    assert reminder in graded.run_verb("status").stdout
    graded.run_verb("report")
    assert reminder not in graded.run_verb("status").stdout


MEMBERS = {"al1", "Ada Lovelace", "\u00c5l1", "\u00e5l1", "66"}
IDS = {
    "al1": "al1",
    "ada lovelace": "al1",
    " adalovelace": "al1",
    "adalovelace": "al1",
    "lovelaceada": "al1",
    "\u00e5l1": "\u00e5l1",
}


@pytest.mark.parametrize("word", ["Ada Lovelace", "ada lovelace", "\u00c5l1"])
def test_a_word_that_names_a_student_and_a_stranger_is_refused(word: str) -> None:
    with pytest.raises(UserError) as error:
        pick_student(word, MEMBERS, IDS)
    student, stranger = ("\u00e5l1", "\u00c5l1") if word == "\u00c5l1" else ("al1", "Ada Lovelace")
    assert f"{word} may mean {student}, who is on the roster, or {stranger}, who is not." in str(error.value)


@pytest.mark.parametrize(
    ("word", "student"),
    [("al1", "al1"), ("AL1", "al1"), ("\u00e5l1", "\u00e5l1"), ("66", "66"), ("Lovelace, Ada", "al1")],
)
def test_the_roster_decides_first(word: str, student: str) -> None:
    assert pick_student(word, MEMBERS, IDS) == student


def test_a_similar_name_suggests_the_id() -> None:
    with pytest.raises(UserError, match=r"No student has the name Ada Lovelase\. Is it al1\?"):
        pick_student("Ada Lovelase", {"al1"}, IDS)


def test_only_names_in_the_message_are_compared_with_the_rosters(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(people.difflib, "get_close_matches", lambda word, *_, **__: compared.append(word) or [])
    with pytest.raises(UserError) as error:
        people.find_each([f"z{i}" * 100 for i in range(300)], lambda word: pick_student(word, {"al1"}, IDS))
    assert "300 of 300 names" in str(error.value) and "And 290 more names." in str(error.value)
    assert len(compared) == people.MAX_WRONG and max(map(len, compared)) <= people.MAX_COMPARED


def test_the_rosters_are_read_once_for_all_names(graded: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(people, "read_rosters", lambda files: calls.append(files) or [])
    people.find_own_keys(open_batch(graded.out), ["al1"] * 50)
    assert len(calls) == 1


def test_a_strangers_folder_does_not_receive_a_students_decision(graded: Course) -> None:
    graded.hand_in("Ada Lovelace", "fine")
    graded.grade()
    for command in (("override", "--student", "Ada Lovelace", "--points", "9", "--reason", "shown"),
                    ("regrade", "--student", "ada lovelace")):  # fmt: skip
        result = graded.run_verb(*command)
        assert result.returncode == 2 and "may mean al1, who is on the roster, or Ada Lovelace" in result.stderr
    code, result = mark(graded, "name,points\nada lovelace,7\n")
    assert code == 2 and "marks.csv:2: ada lovelace may mean al1, who is on the roster, or Ada Lovelace" in result


ROSTER_OF_TWO = "id,name,Moodle ID\n1,Ada Lovelace,7\n2,Zed Zimmer,8\n"


@pytest.fixture
def two_students(course: Course) -> Course:
    course.hand_in("1", "fine")
    course.hand_in("2", "fine")
    (roster := course.root / "roster.csv").write_text(ROSTER_OF_TWO)
    assert course.grade("--roster", roster).returncode == 0
    return course


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('Student,ID,points\n"Zimmer, Zed",1,9\n', "1 student marked"),  # Canvas's ID is not an id of this roster
        (
            'name,id,points\n"Zimmer, Zed",1,9\n',
            "marks.csv:2: The id belongs to Ada Lovelace, but the name is Zimmer, Zed.",
        ),
        (
            "First name,Last name,id,points\nZed,Zimmer,1,9\n",
            "The id belongs to Ada Lovelace, but the name is Zed Zimmer.",
        ),
        ("Surname,First name,id,points\n,,2,9\n", "the name is missing, so the number 2 cannot be checked."),
        ("Surname,First name,points\nZimmer,Zed,9\n", "1 student marked"),
        (
            "Identifier,Full name,points\nParticipant 7,Zed Zimmer,9\n",
            "The id belongs to Ada Lovelace, but the name is Zed",
        ),
        ("Canvas ID,points\n1,9\n", "marks.csv:2: No student has the name 1."),
        ("id,points\n7,9\n", "marks.csv:2: No student has the name 7."),
        ("id,Moodle ID,points\n1,8,9\n", "marks.csv:2: The ids in this line belong to different students: 2, 1."),
        ("name,points\n1,9\n", "marks.csv:2: No student has the name 1."),
        ("Identifier,points\nParticipant 8,9\n", "1 student marked"),
        ("Identifier,Full name,points\nParticipant 8,Z. Zimmer,9\n", "1 student marked"),
    ],
)
def test_ids_in_a_file_of_points_count_only_in_their_namespace(two_students: Course, text: str, message: str) -> None:
    code, output = mark(two_students, text)
    assert message in output and (code == 0) == ("marked" in message), output
    if code == 0:
        assert gradebook(two_students)["2"]["journal"] == "9" and not gradebook(two_students)["1"]["journal"]


@pytest.mark.parametrize("points", ["inf", "1e999", "1e308"])
def test_points_that_are_not_finite_are_refused(graded: Course, points: str) -> None:
    (marks := graded.root / "marks.csv").write_text(f"id,points\nal1,{points}\n")
    for words in (
        ("--from", marks, "--of", "0"),
        ("--student", "al1", "--points", points, "--of", "0", "--reason", "x"),
        ("--student", "al1", "--points", "1", "--of", points, "--reason", "x"),
    ):
        result = graded.run_verb("points", *words)
        assert result.returncode == 2 and "Traceback" not in result.stderr, result.stderr


def test_a_unique_name_identifies_a_student_even_without_a_roster(course: Course) -> None:
    for name, number in (("Ada Lovelace", 5), ("Alan Turing", 6), ("Alan Turing", 7)):
        course.hand_in(f"{name}_{number}_assignsubmission_file_", "fine", "fine")
    course.grade()
    result = course.run_verb("override", "--student", "ada lovelace", "--points", "5", "--reason", "shown")
    assert result.returncode == 0 and result.stdout.startswith("5 (Ada Lovelace): 5 of 20 points, set by hand"), result
    assert "5 (Ada Lovelace), set to 5 points (shown)" in course.run_verb("status").stdout
    result = course.run_verb("extend", "--student", "Alan Turing", "--until", "2100-01-01T00:00Z", "--reason", "ill")
    assert result.returncode == 2 and "Two students are called Alan Turing: 6, 7. Give an id." in result.stderr
    result = course.run_verb("extend", "--student", "7", "--undo", "--reason", "no")
    assert result.returncode == 2 and "7 (Alan Turing): no extension to remove." in result.stderr
