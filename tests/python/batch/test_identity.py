"""A student cannot replace another student's work, take another's points or hide another's hand-in."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from grader.python.batch.ingest import roster
from grader.python.batch.ingest.names import file_name
from grader.python.batch.ingest.notes import IN_DOUBT, NOT_ON_ROSTER, SAME_NAME, is_for_instructor, kind_of
from grader.python.batch.ingest.roster import Student, split_team
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_submissions
from tests.python.batch.batches import Course
from tests.python.batch.ingest.test_submissions import find

ROSTER = "id,name,email\nal1,Ada Lovelace,ada@x.org\nat2,Alan Turing,alan@x.org\n"
CANVAS_ROSTER = "id,name,canvas id\nal1,Ada Lovelace,12\nat2,Alan Turing,13\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "handed in"
    path.mkdir()
    return path


def hand_in_empty(folder: Path, *names: str) -> None:
    """Make empty hand-ins, each later than the previous one."""
    for number, name in enumerate(names):
        path = folder / name
        path.write_text("") if path.suffix in (".zip", ".gz", ".cu") else path.mkdir()
        os.utime(path, (10**9 + number, 10**9 + number))


def entries(submissions: dict[str, Submission]) -> dict[str, list[str]]:
    return {key: [entry.name for entry in submission.entries] for key, submission in submissions.items()}


@pytest.mark.parametrize(
    "display_name",
    ["Lovelace Ada", "Ada Lovelace", "ADA  LOVELACE", "Lovelace, Ada", "\u200bAda Lovelace", "adalovelace"],
)
def test_a_display_name_replaces_no_hand_in(folder: Path, display_name: str) -> None:
    names = ["Ada Lovelace_12_assignsubmission_file_", f"{display_name}_66_assignsubmission_file_"]
    hand_in_empty(folder, *names)
    submissions, _ = find(folder, ROSTER)
    owner = next(key for key, submission in submissions.items() if submission.entries[0].name == names[0])
    assert sorted(path.name for submission in submissions.values() for path in submission.entries) == sorted(names)
    assert owner in ("12", "al1") and "66" in submissions
    assert submissions["66"].members == ["66"] and NOT_ON_ROSTER in submissions["66"].notes
    if owner == "12":  # ambiguous: the instructor sees both and a remedy
        for key in ("12", "66"):
            (remark,) = [note for note in submissions[key].notes if note.startswith(SAME_NAME)]
            assert "12" in remark and "66" in remark and "al1" in remark and "Canvas ID" in remark
            assert is_for_instructor(remark)


def test_a_name_does_not_override_an_id(folder: Path) -> None:
    hand_in_empty(folder, "lovelaceada_12_900_lab.zip", "lovelaceada_66_901_lab.zip")
    submissions, _ = find(folder, ROSTER.replace("email", "canvas id").replace("ada@x.org", "12"))
    assert entries(submissions) == {"al1": ["lovelaceada_12_900_lab.zip"], "66": ["lovelaceada_66_901_lab.zip"]}


@pytest.mark.parametrize(
    ("roster_name", "display_name"),
    [("Seán O'Brien", "Seán OBrien"), ("Eva Roth/Klein", "Eva RothKlein"), ("Jo &Co Lee", "Jo Co Lee")],
)
def test_characters_that_moodle_omits_make_no_difference(folder: Path, roster_name: str, display_name: str) -> None:
    """The roster has no Moodle numbers, so the names decide."""
    hand_in_empty(folder, f"{display_name}_66_assignsubmission_file_")
    assert list(find(folder, f"id,name\nso1,{roster_name}\nal1,Ada Lovelace\n")[0]) == ["so1"]


def test_words_in_a_different_order_are_a_different_name(folder: Path) -> None:
    hand_in_empty(folder, "Lovelace Ada_66_assignsubmission_file_")
    assert list(find(folder, ROSTER)[0]) == ["66"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("trudy_66_900_x_12_assignsubmission_file_lab.zip", "66"),  # the download is from Canvas
        ("trudy_66_900_x_12_assignsubmission_onlinetext_lab.zip", "66"),
        ("Trudy_66_assignsubmission_file_x_12_assignsubmission_file_lab.zip", ""),
        ("trudy_12_999_66_900_lab.zip", ""),  # the sortable name was Trudy_-12_-999
        ("lovelaceada_12_999_66_900_lab.zip", ""),
    ],
)
def test_a_name_cannot_forge_a_number(folder: Path, name: str, key: str) -> None:
    hand_in_empty(folder, "lovelaceada_12_901_lab.zip", name)
    submissions, _ = find(folder, ROSTER.replace("email", "canvas id").replace("ada@x.org", "12"))
    assert entries(submissions)["al1"] == ["lovelaceada_12_901_lab.zip"]
    (second,) = [submission for submission in submissions if submission != "al1"]
    assert second == key or kind_of(submissions[second].notes[0]) in IN_DOUBT


def test_a_forged_moodle_mark_in_a_canvas_download_is_a_file_name(folder: Path) -> None:
    mallory = "mal_lory_66_900_q_12_assignsubmission_file_lab-al1-2026-11-23-090000.tar.gz"
    hand_in_empty(folder, "lovelaceada_12_901_lab-al1-2026-11-20-100000.tar.gz", "turingalan_13_902_lab.zip", mallory)
    submissions, _ = find(folder, CANVAS_ROSTER)
    assert entries(submissions)["al1"] == ["lovelaceada_12_901_lab-al1-2026-11-20-100000.tar.gz"]


@pytest.mark.parametrize(
    "pattern",
    [
        "malice_66_90{0}_x_700{0}_500_0{0}_first.cu",
        "Mal Lory_66_assignsubmission_file_x_7{0}_assignsubmission_file_0{0}_first.cu",
    ],
)
def test_ambiguous_names_are_one_hand_in_of_their_uploader(folder: Path, pattern: str) -> None:
    names = [pattern.format(number) for number in range(1, 6)]
    hand_in_empty(folder, *names)
    submissions, _ = find(folder)
    (submission,) = submissions.values()
    assert [entry.name for entry in submission.entries] == names and list(map(kind_of, submission.notes)) == [
        "of_several"
    ]


@pytest.mark.parametrize("pattern", ["{}_12_901_lab.zip", "{}_12_assignsubmission_file_lab.zip"])
def test_hand_ins_with_one_id_and_different_names_are_not_merged(folder: Path, pattern: str) -> None:
    ada, mallory = pattern.format("adalovelace"), pattern.format("malice").replace("901", "902")
    hand_in_empty(folder, ada, mallory)
    submissions, _ = find(folder)
    assert sorted(entries(submissions).values()) == [[ada], [mallory]]
    assert all(kind_of(submission.notes[0]) == "of_several" for submission in submissions.values())
    submissions, _ = find(folder, CANVAS_ROSTER)
    assert entries(submissions)["al1"] == [ada] and len(submissions) == 2


@pytest.mark.parametrize(
    ("prefix", "name"),
    [("watson_parkermary_jane_77", "Mary_Jane Watson_Parker"), ("baueranna_2_77", "Anna_2 Bauer")],
)
@pytest.mark.parametrize("file", ["lab.zip", "lab_1_2_final.zip", "2026_1120_lab.zip", "01_first.cu", "12_last.cu"])
def test_names_with_underscores_are_found(folder: Path, prefix: str, name: str, file: str) -> None:
    hand_in_empty(folder, f"{prefix}_500901_{file}", "lovelaceada_12_500902_lab.zip")
    submissions, _ = find(folder, f"{CANVAS_ROSTER}mj7,{name},77\n")
    assert entries(submissions) == {"al1": ["lovelaceada_12_500902_lab.zip"], "mj7": [f"{prefix}_500901_{file}"]}
    assert file_name(f"{prefix}_500901_{file}") == file or not file.endswith(".cu")


def test_loose_files_of_a_name_with_underscores_are_one_hand_in(folder: Path) -> None:
    names = [f"baueranna_2_77_50090{number}_0{number}_stage.cu" for number in (1, 2)]
    hand_in_empty(folder, *names, "lovelaceada_12_500902_lab.zip")
    submissions, _ = find(folder, CANVAS_ROSTER + "ab7,Anna_2 Bauer,77\n")
    assert sorted(entries(submissions)["ab7"]) == names


def test_stages_of_two_digits_need_no_roster(folder: Path) -> None:
    names = ["costaali_79_500901_09_first.cu", "costaali_79_500902_10_second.cu"]
    hand_in_empty(folder, *names)
    assert {key: sorted(files) for key, files in entries(find(folder)[0]).items()} == {"79": names}


def test_an_anonymous_download_has_no_numbers(folder: Path) -> None:
    hand_in_empty(folder, "anon_aB3xY_600000_lab.zip", "anon_9Qk2z_600001_lab-al1-2026-11-20-100000.tar.gz")
    hand_in_empty(folder, "LATE_anon_12345_600002_lab.zip", "anon_xYz12_600003_q_12_assignsubmission_file_z.zip")
    submissions, left_out = find(folder, CANVAS_ROSTER + "mal,Mallory,12345\n")
    assert len(submissions) == 4 and not left_out and not any(submission.own for submission in submissions.values())


def test_the_number_of_a_garbled_name_is_found(folder: Path) -> None:
    hand_in_empty(folder, "Bj+\ufffdrk_12_assignsubmission_file_", "Zo\u251c\u00bd_13_assignsubmission_file_")
    assert sorted(find(folder, "id,name,Moodle ID\nbj1,Bj\u00f6rk,12\nzo2,Zo\u00eb,13\n")[0]) == ["bj1", "zo2"]


def test_a_teams_number_matches_no_student(folder: Path) -> None:
    hand_in_empty(folder, "Team 5_12_assignsubmission_file_", "Alan M. Turing_13_assignsubmission_file_")
    submissions, _ = find(folder, CANVAS_ROSTER)
    assert sorted(submissions) == ["12", "at2"] and kind_of(submissions["12"].notes[0]) == "other_name"
    assert sorted(find(folder, "id,Moodle ID\nal1,12\nat2,13\n")[0]) == ["al1", "at2"]  # there are no names to compare


@pytest.mark.parametrize("name", ["Zo\u00eb", "Zo\u00eb.zip", "lab-Zo\u00eb-2026-11-20-101010.tar.gz"])
def test_names_that_look_the_same_are_different_hand_ins(folder: Path, name: str) -> None:
    hand_in_empty(folder, name, unicodedata.normalize("NFD", name))
    submissions, _ = find(folder)
    assert len(submissions) == 2 and all(len(submission.entries) == 1 for submission in submissions.values())


@pytest.mark.parametrize("name", ["s\u212a1", "\uff53\uff4b\uff11", "sk\u00b9", "\u017fk1", "sk1\u200b"])
def test_lookalike_letters_make_a_different_id(folder: Path, name: str) -> None:
    hand_in_empty(folder, "sk1", name)
    submissions, _ = find(folder, "id,name\nsk1,Ada\n")
    assert entries(submissions)["sk1"] == ["sk1"] and len(submissions) == 2


def test_an_id_of_make_submit_does_not_match_a_folder_name(folder: Path) -> None:
    hand_in_empty(folder, "lab-ada_x.org-2026-11-20-101010.tar.gz", "ada_x.org")
    submissions, _ = find(folder, ROSTER)
    assert entries(submissions)["al1"] == ["lab-ada_x.org-2026-11-20-101010.tar.gz"]
    assert entries(submissions)["ada_x.org"] == ["ada_x.org"]


def test_a_folder_with_a_teams_name_does_not_belong_to_the_team(folder: Path) -> None:
    hand_in_empty(folder, "lab-al1-at2-2026-11-20-101010.tar.gz", "al1+at2")
    submissions, _ = find(folder, ROSTER)
    assert len(submissions) == 2
    assert entries(submissions)["al1+at2"] == ["lab-al1-at2-2026-11-20-101010.tar.gz"]


def test_display_names_do_not_take_a_partners_points(folder: Path) -> None:
    roster = ROSTER.replace("email", "canvas id").replace("alan@x.org", "66").replace("ada@x.org", "")
    hand_in_empty(folder, "Ada Lovelace_12_assignsubmission_file_", "Ada Lovelace_13_assignsubmission_file_")
    hand_in_empty(folder, "turingalan_66_900_lab-at2-al1-2026-11-20-101010.tar.gz")
    submissions, _ = find(folder, roster)
    assert submissions["at2"].members == ["at2", "al1"] and {"12", "13"} < submissions.keys()


def test_a_name_equal_to_anothers_id_finds_its_own_student(folder: Path) -> None:
    hand_in_empty(folder, "al1_66_assignsubmission_file_", "ada@x.org_67_assignsubmission_file_")
    submissions, _ = find(folder, ROSTER)
    assert sorted(submissions) == ["66", "67"]


def test_points_stay_with_their_student(course: Course) -> None:
    roster = course.root / "roster.csv"
    roster.write_text(ROSTER)
    course.hand_in("Ada Lovelace_12_assignsubmission_file_", "fine", "fine")
    course.grade("--roster", roster)
    assert course.statuses() == {"al1": "graded", "at2": "not_submitted"}
    course.hand_in("Ada Lovelace_66_assignsubmission_file_", "fine")
    result = course.grade()
    assert course.statuses() == {"al1": "graded", "12": "graded", "66": "missing_stages", "at2": "not_submitted"}
    assert "is 12 now" not in result.stdout
    assert "Not on the roster (2): 12 (Ada Lovelace), 66 (Ada Lovelace)" in result.stderr
    assert result.stderr.count(SAME_NAME) == 2
    first, _, _ = (course.out / "report.html").read_text().partition("<h2>Submissions</h2>")
    assert first.count(SAME_NAME) == 2
    assert SAME_NAME not in (course.out / "feedback/12/feedback.txt").read_text()


def test_splitting_a_team_name_takes_linear_time() -> None:
    known = {"-".join(["a"] * count) for count in range(1, 9)}
    assert split_team("-".join(["a"] * 120) + "-b", known) == []


def test_ids_with_a_plus_get_different_keys(folder: Path) -> None:
    hand_in_empty(folder, "lab-a+b-c-2026-11-20-101010.tar.gz", "lab-a-b+c-2026-11-20-101010.tar.gz")
    students = [Student(name, aliases={name}) for name in ("a", "c", "a+b", "b+c")]
    submissions, _ = find_submissions(folder, "lab", students)
    assert len({submission.key for submission in submissions}) == 2


def test_matching_a_course_normalises_each_name_only_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The roster has middle names and Moodle has none: a hand-in's name is not compared with all students' names."""
    calls: list[str] = []
    spellings = roster.spellings
    monkeypatch.setattr(roster, "spellings", lambda name: calls.append(name) or spellings(name))
    numbers = list(map(str, range(1, 61)))
    students = [Student(f"s{n}", f"Ann{n} Maria Lee{n}", {f"s{n}", n}, "", {n}) for n in numbers]
    for n in numbers:
        (tmp_path / f"Ann{n} Lee{n}_{n}_assignsubmission_file_").mkdir()
    submissions, _ = find_submissions(tmp_path, "lab", students)
    assert sorted(submission.key for submission in submissions) == sorted(student.id for student in students)
    assert len(calls) <= 10 * len(students)
