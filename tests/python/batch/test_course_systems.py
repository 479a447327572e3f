"""Hand-ins and rosters as Moodle and Canvas write them: groups, numbers without logins, shared names."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.python.batch.ingest.names import read_moodle
from grader.python.batch.ingest.roster import read_roster, read_rosters
from grader.python.batch.ingest.submission import WORKSHEET, Submission
from grader.python.batch.ingest.submissions import find_submissions
from grader.python.batch.outputs.gradebooks import canvas
from grader.python.batch.outputs.rows import Entry
from grader.python.common.console import UserError
from grader.python.common.report import Report, Total
from tests.python.batch.batches import LAB, STAGES, Course
from tests.python.batch.ingest.test_archive import make_zip
from tests.python.batch.test_roster import gradebook

HEADER = 'Identifier,"Full name","Email address",Status,Group,Grade,"Maximum grade","Last modified (submission)"\n'
TEAMS = HEADER + "".join(
    f'"Participant {number}","{name}",{login}@x,"{status} -  - ","{group}",,20.00,"{time}"\n'
    for number, name, login, group, status, time in (
        (270, "Ada Lovelace", "al1", "Team 5", "Submitted for grading", "Friday, 20 November 2026, 10:00 AM"),
        (337, "Alan Turing", "at2", "Team 5", "Submitted for grading", "Friday, 20 November 2026, 10:00 AM"),
        (5, "Grace Hopper", "gh3", "Team 3", "Submitted for grading", "Friday, 20 November 2026, 10:00 AM"),
        (341, "Zoe Alone", "za4", "Default group", "No submission", "-"),
    )
)
LOGINS = "id,email\nal1,al1@x\nat2,at2@x\ngh3,gh3@x\nza4,za4@x\n"


def find(folder: Path, *rosters: str) -> dict[str, Submission]:
    files = []
    for number, text in enumerate(rosters):
        files.append(folder.with_name(f"roster{number}.csv"))
        files[-1].write_text(text)
    return {submission.key: submission for submission in find_submissions(folder, LAB, read_rosters(files))[0]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (path := tmp_path / "handed in").mkdir()
    return path


def hand_in(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir()
        (folder / name / f"{STAGES[0]}.cu").write_text(name)


def test_a_groups_hand_in_belongs_to_all_its_students(folder: Path) -> None:
    """The number in the folder's name is the group's; in the worksheet, 5 is Grace Hopper's number."""
    hand_in(folder, "Team 5_5_assignsubmission_file", "Team 3_3_assignsubmission_file")
    submissions = find(folder, TEAMS)
    assert {key: (submission.members, submission.known_by) for key, submission in submissions.items()} == {
        "270+337": (["270", "337"], WORKSHEET), "5": (["5"], WORKSHEET),
    }  # fmt: skip
    assert submissions["270+337"].notes == ["For 270 and 337, according to Moodle's worksheet."]


def test_members_of_a_group_may_be_marked_differently(folder: Path) -> None:
    """One of the two has an extension."""
    late = TEAMS.replace("Submitted for grading -  - ", "Submitted for grading - 3 hours late -  - ")
    extended = late.replace("3 hours late -  - ", "Extension granted until: Friday, 20 November 2026, 11:00 AM - ", 1)
    hand_in(folder, "Team 5_5_assignsubmission_file")
    for text, marked in ((late, ("Moodle", True)), (extended, ("", False))):
        submission = find(folder, text)["270+337"]
        assert (submission.marked_by, submission.marked_late) == marked


def test_canvas_names_a_groups_hand_in_by_the_group_and_one_student(folder: Path, capsys) -> None:
    """The columns are those of Canvas's list of groups, and the names follow its content_zipper.rb."""
    hand_in(folder, "team1_LATE_8001_500_lab", "team1_8003_501_lab", "hoppergrace_8004_502_lab")
    gradebook = 'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",8001,al1,CS\n"Turing, Alan",8002,at2,CS\n'
    gradebook += '"Lamarr, Hedy",8003,hl3,CS\n"Hopper, Grace",8004,gh4,CS\n'
    groups = "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
    for number, name, login, group in (
        (8001, "Lovelace, Ada", "al1", "Team #1"),
        (8002, "Turing, Alan", "at2", "Team #1"),
        (8003, "Lamarr, Hedy", "hl3", ""),
        (8004, "Hopper, Grace", "gh4", ""),
    ):
        groups += f'"{name}",{number},s{number},{login},CS,{group},7,\n'
    for rosters in ((groups,), (gradebook, groups)):
        submissions = find(folder, *rosters)
        assert {key: (submission.members, submission.marked_late) for key, submission in submissions.items()} == {
            "al1+at2": (["al1", "at2"], True), "gh4": (["gh4"], False), "8003": (["8003"], False),
        }, rosters  # fmt: skip
        assert "For al1 and at2, according to the roster." in submissions["al1+at2"].notes
    assert "is not used" not in capsys.readouterr().err


def test_a_student_with_a_groups_name_is_not_the_group(folder: Path) -> None:
    hand_in(folder, "Grace Hopper_5_assignsubmission_file")
    assert list(find(folder, TEAMS.replace("Team 5", "Grace Hopper"))) == ["5"]


def test_a_second_roster_adds_the_logins(folder: Path) -> None:
    hand_in(folder, "Team 5_5_assignsubmission_file")
    for rosters in ((TEAMS, LOGINS), (LOGINS, TEAMS)):
        assert find(folder, *rosters)["al1+at2"].known_by == WORKSHEET
    (second := folder.with_name("other.csv")).write_text("id,name,email\nal1,Mallory Other,al1@x\n")
    (first := folder.with_name("first.csv")).write_text(TEAMS)
    second.write_text("id,email,login\nal1,al1@x,at2@x\n")
    with pytest.raises(UserError, match="the ids of al1 belong to two students of the other roster: 270 and 337"):
        read_rosters([first, second])


def test_one_changed_name_is_accepted_but_rosters_with_different_names_are_refused(tmp_path: Path, capsys) -> None:
    (first := tmp_path / "first.csv").write_text("id,name\n" + "".join(f"a{n},Ann Lee{n}\n" for n in range(4)))
    (second := tmp_path / "other.csv").write_text("id,name\na0,Xavier Zed\na1,Ann Lee1\n")
    assert next(student.name for student in read_rosters([first, second])) == "Ann Lee0"
    assert (
        "a0 is Xavier Zed here, and Ann Lee0 in the other roster. The id identifies the student."
        in capsys.readouterr().err
    )
    second.write_text("id,name\n" + "".join(f"a{n},Bob Hay{n}\n" for n in range(4)))
    with pytest.raises(UserError, match="Most names differ"):
        read_rosters([first, second])


def test_two_rosters_are_kept_for_the_next_command(course: Course) -> None:
    files = [course.root / "worksheet.csv", course.root / "logins.csv"]
    for file, text in zip(files, (TEAMS, LOGINS), strict=True):
        file.write_text(text)
    hand_in(course.handed_in, "Team 5_5_assignsubmission_file")
    course.grade("--roster", files[0], "--roster", files[1])
    assert f"Roster: {files[0]} and {files[1]}, as before." in course.grade().stdout
    assert {key: line["points"] for key, line in gradebook(course).items()} == {
        "al1": "6", "at2": "6", "gh3": "0", "za4": "0",
    }  # fmt: skip
    course.database().set_values(roster=str(files[0]))  # as earlier versions stored it
    assert f"Roster: {files[0]}, as before." in course.grade().stdout


JOHNS = "id,name\nu013x,John Smith\nu014x,John Smith\nu015x,Ada Lovelace\n"


def test_a_message_on_a_shared_name_lists_its_students(course: Course) -> None:
    (roster := course.root / "roster.csv").write_text(JOHNS)
    hand_in(course.handed_in, "John Smith_7_assignsubmission_file")
    output = course.grade("--roster", roster).stderr
    assert "7 is not assigned. Two students are called John Smith: u013x, u014x." in output
    output = course.run_verb("override", "--student", "john smith", "--points", "3", "--reason", "x").stderr
    assert "Two students are called john smith: u013x, u014x. Give an id." in output
    output = course.run_verb("extend", "--student", "Ada Lovelace", "--student", "John Smith", "--student", "Nobody",
                       "--until", "2026-12-01T00:00Z", "--reason", "x").stderr  # fmt: skip
    assert "2 of 3 names do not identify a student: Two students are called John Smith: u013x, u014x. Give" in output
    assert "Give an id. No student has the name Nobody. Give an id of gradebook.csv" in output
    (marks := course.root / "marks.csv").write_text("name,points\nJohn Smith,3\nAda Lovelace,3\nNobody,2\n")
    output = course.run_verb("points", "--from", marks, "--item", "journal", "--of", "5").stderr
    assert (
        "2 lines are invalid: " in output and "marks.csv:2: Two students are called John Smith: u013x, u014x." in output
    )
    assert "marks.csv:4: No student has the name Nobody." in output


def pack_from_kit(text: str, number: int, *stages: str) -> bytes:
    manifest = {"lab": LAB, "kit": number, "stages": stages}
    return make_zip((f"{LAB}/{STAGES[0]}.cu", text.encode()), (f"{LAB}/manifest.json", json.dumps(manifest).encode()))


def test_stages_that_the_students_kit_does_not_have_are_not_graded(course: Course) -> None:
    for student in ("al1", "at2", "za5"):
        (course.handed_in / f"{student}.zip").write_bytes(pack_from_kit(student, 4, STAGES[0]))
    (course.handed_in / "gh3.zip").write_bytes(pack_from_kit("gh3", 5, *STAGES))
    course.hand_in("jb4", "fine")
    (course.handed_in / "odd.zip").write_bytes(make_zip((f"{LAB}/manifest.json", b'{"lab": "lab", "kit": []}')))
    result = course.grade()
    assert result.returncode == 2 and not course.out.joinpath("batch.sqlite").exists()
    assert (
        "3 of 5 hand-ins come from kit 4, which has 1 stage of lab, but 2 stages would be graded. Nothing was graded. "
        "To grade the stages that students have: UPTO=01 (--upto 01). To grade all of them: UPTO=02."
    ) in result.stderr
    assert course.grade("--upto", "01").returncode == 0
    assert course.statuses()["al1"] == "graded"


def test_stages_that_are_newer_than_the_kit_are_not_graded_by_mistake(course: Course) -> None:
    """The kit's stages are known although they have other numbers today."""
    for student in ("al1", "at2", "za5"):
        (course.handed_in / f"{student}.zip").write_bytes(pack_from_kit(student, 4, *STAGES))
    course.insert_stage()
    result = course.grade()
    assert (
        "3 of 3 hand-ins come from kit 4, which has 2 stages of lab, but 3 stages would be graded. Nothing was graded. "
        "To grade the stages that students have: use the version of Warplab that made the kit, which lacks 02_between. "
        "To grade all of them: UPTO=03."
    ) in result.stderr


def test_stages_that_only_some_kits_lack_are_reported(course: Course) -> None:
    (course.handed_in / "al1.zip").write_bytes(pack_from_kit("fine", 4, STAGES[0]))
    for student in ("at2", "gh3"):
        (course.handed_in / f"{student}.zip").write_bytes(pack_from_kit("fine", 5, *STAGES))
    assert course.grade().returncode == 0
    note = f"It comes from kit 4, which has only 1 of the 2 stages that are graded. The kit lacks {STAGES[1]}."
    assert note in (course.out / "feedback/al1/feedback.txt").read_text().replace("\n", " ")
    assert (course.out / "report.html").read_text().count(note) == 1


def test_a_forged_manifest_neither_stops_a_batch_nor_causes_a_judge_error(course: Course) -> None:
    (course.handed_in / "mal.zip").write_bytes(pack_from_kit("fine", 4, STAGES[0]))
    course.hand_in("al1", "fine", "fine")
    kits = ("1e999", "-1e999", "NaN", "true", "[1]", "-1", "1" * 5000, '"4"', "null")
    for number, kit in enumerate(kits):
        manifest = f'{{"lab": "{LAB}", "kit": {kit}, "stages": ["{STAGES[0]}"]}}'.encode()
        archive = make_zip((f"{LAB}/{STAGES[0]}.cu", b"fine"), (f"{LAB}/manifest.json", manifest))
        (course.handed_in / f"odd{number}.zip").write_bytes(archive)
    for number, manifest in enumerate(
        (b"[" * 100_000, b"[]", b"7", b'{"lab": "lab", "kit": 1, "stages": [[]]}', b"\xff")
    ):
        archive = make_zip((f"{LAB}/{STAGES[0]}.cu", b"fine"), (f"{LAB}/manifest.json", manifest))
        (course.handed_in / f"worse{number}.zip").write_bytes(archive)
    assert course.grade().returncode == 0
    assert set(course.statuses().values()) == {"graded", "missing_stages"}


def test_an_archive_for_another_lab_belongs_to_its_student(course: Course) -> None:
    (course.root / "labs" / "other").mkdir()
    (course.root / "labs" / "other" / "lab.json").write_text(json.dumps({"stages": [{"id": "01_another"}]}))
    (course.root / "roster.csv").write_text("id,name,canvas id\nu036x,Priya Sharma,7468\nu037x,Ada Lovelace,7469\n")
    archive = make_zip(("other/01_another.cu", b"1"))
    (course.handed_in / "sharmapriya_7468_500252_other-u036x-2026-11-20-100000.tar.gz").write_bytes(archive)
    (course.handed_in / "lovelaceada_7469_500253_01_first.cu").write_text("1")
    course.grade("--roster", course.root / "roster.csv")
    rows = {row.key: (row.status, row.detail) for row in course.database().rows()}
    assert rows["u036x"] == ("nothing_to_grade", f"This is for the lab other, not {LAB}. It holds other/01_another.cu.")
    assert rows["u037x"][0] == "missing_stages"


def test_a_canvas_gradebook_with_split_names_is_a_roster(tmp_path: Path) -> None:
    (file := tmp_path / "gradebook.csv").write_text(
        "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Lab 1 (9)\n    Points Possible,,,,,,20\n"
        "Lovelace,Ada,7052,2026004,al1,CS,\n"
    )
    (student,) = read_roster(file)
    assert (student.name, student.numbers) == ("Ada Lovelace", {"7052"})
    report = Report(lab="lab", total=Total(8, 20, 0))
    text, unknown = canvas([Entry("al1", report, name="Ada Lovelace", ids=student.ids)], file.read_text(), "Lab 1")
    assert not unknown and list(csv.reader(text.splitlines()))[2] == [
        "Lovelace", "Ada", "7052", "2026004", "al1", "CS", "8",
    ]  # fmt: skip


RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize("system", ["moodle", "moodle_anonymous", "canvas"])
def test_every_recorded_hand_in_is_matched_to_its_student(tmp_path: Path, system: str) -> None:
    """Moodle's names were garbled by `unzip` in a locale without UTF-8."""
    for name in json.loads((RECORDED / "names.json").read_text())[system]:
        (file := tmp_path / name).parent.mkdir(exist_ok=True)
        file.write_text(name, errors="surrogateescape")
    roster = read_roster(RECORDED / f"{system}.csv")
    submissions, left_out = find_submissions(tmp_path, "vector_add", roster)
    assert not left_out and len(submissions) == 109
    assert [submission.key for submission in submissions if not submission.own or not submission.certain] == []
    assert sum(submission.marked_late for submission in submissions) == 6
    numbers = {number for submission in submissions for member in submission.own for number in [member]}
    assert len(numbers) == 109


def test_the_recorded_groups_are_read() -> None:
    roster = read_roster(RECORDED / "moodle_groups.csv")
    assert sum(student.group.startswith("Team ") for student in roster) == 12


def test_every_recorded_group_hand_in_belongs_to_all_its_students(course: Course) -> None:
    """The numbers of Moodle's download are the groups'; the worksheet says which students are in a group."""
    names = json.loads((RECORDED / "names.json").read_text())["moodle_groups"]
    archive = make_zip(*((STAGES[0] + ".cu", b"fine"), (STAGES[1] + ".cu", b"fine")))
    (download := course.root / "download.zip").write_bytes(make_zip(*((name, archive) for name in names)))
    course.handed_in = download
    result = course.grade("--roster", RECORDED / "moodle_groups.csv")
    assert result.returncode == 0 and not result.stderr, result.stderr
    with (RECORDED / "moodle_groups.csv").open(encoding="utf-8-sig", newline="") as file:
        teams: dict[str, list[str]] = {}
        for row in csv.DictReader(file):
            teams.setdefault(row["Group"], []).append(row["Identifier"].removeprefix("Participant "))
    del teams["Default group"]
    submissions = {tuple(sorted(row.members)) for row in course.database().rows() if row.grade}
    assert submissions == {tuple(sorted(team)) for team in teams.values()}
    graded = {student for student, line in gradebook(course).items() if line["points"] == "12"}
    assert graded == {student for team in teams.values() for student in team} and len(graded) == 12


def test_the_default_teams_hand_in_belongs_to_students_without_a_group(folder: Path) -> None:
    """Moodle gives this team no number: mod/assign/classes/downloader.php (github.com/moodle/moodle, commit
    da5455238d1a)."""
    hand_in(folder, "Team 5_5_assignsubmission_file", "Default group_assignsubmission_file")
    submissions = find(folder, TEAMS + '"Participant 7","Al One",al2@x,"Submitted -  - ","Default group",,20.00,"-"\n')
    assert {key: submission.members for key, submission in submissions.items()} == {
        "270+337": ["270", "337"],
        "341+7": ["341", "7"],
    }
    assert read_moodle("Default group_assignsubmission_file_01_first.cu")[0].file == "01_first.cu"
    assert not read_moodle("Default group_assignsubmission_files")
