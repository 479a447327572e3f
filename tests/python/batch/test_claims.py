"""Students choose file names, display names and partners' ids; these never take points from another student."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from grader.python.batch.ingest.archive import kind_of_file
from grader.python.batch.ingest.contents import pick_stages
from grader.python.batch.ingest.notes import IN_DOUBT, has_kind, kind_of
from grader.python.batch.ingest.person_names import agree, words_of
from grader.python.batch.ingest.roster import read_roster
from grader.python.batch.ingest.submission import EarlierSubmission, Submission
from grader.python.batch.ingest.submissions import find_submissions
from tests.python.batch.batches import LAB, Course
from tests.python.batch.ingest.test_archive import make_tar
from tests.python.batch.ingest.test_contents import loose
from tests.python.batch.test_displacement import archive_in, downgrade_database, download, points

NAMES = "id,name\nal1,Ada Lovelace\nbo2,Bob Byte\nma6,Mallory Malice\n"
NUMBERS = "id,name,Moodle ID\nal1,Ada Lovelace,12\nbo2,Bob Byte,13\nma6,Mallory Malice,66\n"
BOB, MALLORY = "Bob Byte_13_assignsubmission_file_", "Mallory Malice_66_assignsubmission_file_"
ADA, AS_ADA = "Ada Lovelace_12_assignsubmission_file_", "Ada Lovelace_66_assignsubmission_file_"


def fill(course: Course, **texts: str) -> None:
    """Write other code into the hand-ins whose names begin with the keywords."""
    for begin, text in texts.items():
        (folder,) = [path for path in course.handed_in.iterdir() if path.name.startswith(begin)]
        for file in folder.iterdir():
            file.unlink()
        course.hand_in(folder.name, text, text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "handed in"
    path.mkdir()
    return path


def find(folder: Path, roster: str, *names: str, earlier: tuple[EarlierSubmission, ...] = ()) -> dict[str, Submission]:
    for name in names:
        top, _, file = name.partition("/")
        (folder / top).mkdir(exist_ok=True)
        (folder / top / (file or "01_first.cu")).write_text(name)
    (file_ := folder.with_name("roster.csv")).write_text(roster)
    return {
        submission.key: submission
        for submission in find_submissions(folder, "lab", read_roster(file_), earlier=earlier)[0]
    }


@pytest.mark.parametrize("roster", [NAMES, NUMBERS])
@pytest.mark.parametrize("later", [False, True])
def test_a_partner_named_by_several_hand_ins_gets_the_most_points(course: Course, roster: str, later: bool) -> None:
    bob, mallory = archive_in(BOB, "bo2-al1", 20), archive_in(MALLORY, "ma6-al1", 22)
    if later:
        download(course, bob, roster=roster)
    course.handed_in.mkdir(exist_ok=True)
    bad = download(course, mallory, text="compile_error", roster=roster)
    assert points(course)["al1"][1] == ("12" if later else "0")
    output = bad if later else download(course, bob, roster=roster)
    assert {student: points(course)[student][1] for student in ("al1", "bo2", "ma6")} == {
        "al1": "12",
        "bo2": "12",
        "ma6": "0",
    }
    assert "Several hand-ins may be of one student: bo2 and ma6 may belong to al1" in output
    first, _, _ = (course.out / "report.html").read_text().partition("<h2>Submissions</h2>")
    assert "bo2 and ma6 may belong to al1" in first
    feedback = (course.out / "feedback/al1/feedback.txt").read_text()
    assert feedback.split("\n\n")[-1] == (course.out / "feedback/bo2/feedback.txt").read_text().split("\n\n")[-1]


@pytest.mark.parametrize("name", [AS_ADA, "Ada Lovelace_12_assignsubmission_file_x_66_assignsubmission_file_"])
@pytest.mark.parametrize("good", [True, False])
def test_a_display_name_takes_no_partners_points(course: Course, name: str, good: bool) -> None:
    roster = NAMES if name == AS_ADA else "id,name,Moodle ID\nal1,Ada Lovelace,12\nbo2,Bob Byte,13\n"
    download(course, archive_in(BOB, "bo2-al1", 20), text="fine" if good else "compile_error", roster=roster)
    output = download(course, name, text="compile_error" if good else "fine")
    assert points(course)["al1"] == ("graded", "12")
    assert "Several hand-ins may be of one student: " in output and " may belong to al1" in output


def test_naming_a_partner_takes_no_points_from_a_student_found_by_name(course: Course) -> None:
    download(course, ADA, archive_in(MALLORY, "ma6-al1", 22), roster=NAMES)
    fill(course, Mallory="compile_error")
    course.grade()
    assert points(course)["al1"] == ("graded", "12")


def test_partners_who_both_hand_in_do_not_conflict(folder: Path) -> None:
    file = "lab-al1-bo2-2026-11-20-100000.tar.gz"
    submissions = find(folder, NAMES, f"{ADA}/{file}", f"{BOB}/{file}")
    assert sorted(submissions) == ["al1", "bo2"] and not any(
        has_kind(submission.notes, "rivals") for submission in submissions.values()
    )


def test_a_hand_in_found_by_number_belongs_to_no_other_student(folder: Path) -> None:
    submissions = find(folder, NUMBERS, ADA, f"{MALLORY}/lab-ma6-al1-2026-11-22-100000.tar.gz")
    assert submissions["ma6"].members == ["ma6"] and not has_kind(submissions["ma6"].notes, "rivals")


# --- unidentified hand-ins count for no student ---

WORKSHEET = "Identifier,Full name\nParticipant 7,Yara Santos\nParticipant 8,Zed Zimmer\n"


@pytest.mark.parametrize("name", ["Team 5", "Yara Zimmer", "Mei Santos", "\u738b \u4f1f"])
def test_a_number_with_a_different_name_counts_for_no_student(course: Course, name: str) -> None:
    output = download(course, f"{name}_7_assignsubmission_file_", roster=WORKSHEET)
    assert points(course) == {"7": ("not_submitted", "0"), "7 (another)": ("graded", "12"), "8": ("not_submitted", "0")}
    assert "The number belongs to a student with a different name: 7 is Yara Santos on the roster" in output
    (book := course.root / "book.csv").write_text(f"{WORKSHEET.splitlines()[0]},Grade\nParticipant 7,Yara Santos,\n")
    exported = course.run_verb("export", "--format", "moodle", "--gradebook", book)
    assert "Participant 7" not in exported.stdout
    assert exported.returncode == 1 and "or has a different name: 7 (another) (not on the roster)" in exported.stderr


def test_a_strangers_number_fills_no_row_of_an_export(course: Course) -> None:
    download(course, "Team 5_7_assignsubmission_file_", roster=NAMES)
    (book := course.root / "book.csv").write_text("Identifier,Full name,Grade\nParticipant 7,Yara Santos,\n")
    exported = course.run_verb("export", "--format", "moodle", "--gradebook", book)
    assert "Participant 7" not in exported.stdout and exported.returncode == 1


def test_a_stranger_with_a_students_number_does_not_displace_the_student(course: Course) -> None:
    names = ("Yara Santos_12_assignsubmission_file_", "Zoe Later_7_assignsubmission_file_")
    download(course, *names, roster=WORKSHEET)
    fill(course, Zoe="compile_error")
    course.grade()
    assert points(course)["7"] == ("graded", "12") and points(course)["7 (another)"][1] == "0"


def test_a_stranger_with_a_teams_key_uses_none_of_the_teams_attempts(course: Course) -> None:
    (roster := course.root / "roster.csv").write_text("id,name\nal1,Ada Lovelace\nbo2,Bo Long\n")
    course.hand_in("al1+bo2", "fine", "fine")
    course.grade("--roster", roster)
    team = course.handed_in / f"{LAB}-al1-bo2-2026-11-21-040506.tar"
    team.write_bytes(make_tar(("01_first.cu", b"compile_error"), ("02_second.cu", b"compile_error")))
    course.grade()
    assert {key: points for key, (_, points) in points(course).items()} == {
        "al1": "0", "bo2": "0", "al1+bo2 (another)": "12"
    }  # fmt: skip
    assert course.database().query("SELECT count(*) FROM grades WHERE key = 'al1+bo2'") == [(1,)]


def test_an_earlier_stranger_loses_an_id_that_the_roster_assigns(course: Course) -> None:
    download(course, "Team 5_7_assignsubmission_file_", roster=NAMES)
    result = course.run_verb("override", "--student", "7", "--points", "3", "--reason", "shown")
    assert result.returncode == 0
    downgrade_database(course)
    (course.root / "roster.csv").write_text(WORKSHEET)
    (course.handed_in / "Team 5_7_assignsubmission_file_").rename(
        course.handed_in / "Zed Zimmer_8_assignsubmission_file_"
    )
    course.grade()
    assert {student: points(course)[student] for student in ("7", "8", "7 (another)")} == {
        "7": ("not_submitted", "0"), "8": ("graded", "12"), "7 (another)": ("graded", "3")
    }  # fmt: skip


# --- rosters that do not match ---

PEOPLE = ["Mei Brown", "Nora Brown", "Mei Schulz", "Pablo Schulz", "Nora Weber", "\u738b \u4f1f", "Jos\u00e9 Weber"]


@pytest.mark.parametrize("column", ["Moodle ID", "Canvas ID", "id", "ID number", "Identifier"])
@pytest.mark.parametrize("shift", range(1, len(PEOPLE)))
def test_numbers_of_another_assignment_are_ignored(folder: Path, column: str, shift: int) -> None:
    prefix = "Participant " if column == "Identifier" else ""
    roster = f"login,name,{column}\n" + "".join(f"u{at},{name},{prefix}{at + 1}\n" for at, name in enumerate(PEOPLE))
    submissions = find(folder, roster, *(f"{name}_{(at + shift) % len(PEOPLE) + 1}_assignsubmission_file_"
                                   for at, name in enumerate(PEOPLE)))  # fmt: skip
    names = {
        submission.name: submission.entries[0].name.partition("_")[0]
        for submission in submissions.values()
        if submission.own
    }
    assert len(names) == len(PEOPLE) and all(expected == actual for expected, actual in names.items())
    doubts = [note for submission in submissions.values() for note in submission.notes if kind_of(note) in IN_DOUBT]
    assert bool(doubts) == (column in ("Moodle ID", "Canvas ID", "Identifier"))


def test_running_numbers_are_not_canvas_numbers(folder: Path) -> None:
    (folder / "brownnora_7_500_x.zip").write_text("")
    assert sorted(find(folder, "id,name\n7,Zed Zimmer\n8,Nora Brown\n")) == ["8"]
    assert sorted(find(folder, "id,name\n7,Zed Zimmer\n")) == ["7 (another)"]
    submissions = find(folder, "id,name,Canvas ID\nz1,Zed Zimmer,7\n")
    assert has_kind(submissions["7"].notes, "other_name") and not submissions["7"].own


def test_one_different_name_leaves_the_other_numbers_alone(folder: Path) -> None:
    submissions = find(folder, NUMBERS, "Ada Lovelace_66_assignsubmission_file_", BOB)
    assert (
        not submissions["66"].own and submissions["bo2"].own and not has_kind(submissions["66"].notes, "found_by_name")
    )


# --- names in all scripts ---

PAIRS = [
    ("\u0915\u092e\u0932 \u0936\u0930\u094d\u092e\u093e", "\u0915\u092e\u0932\u093e \u0936\u0930\u094d\u092e\u093e"),
    ("\u0e19\u0e34\u0e14 \u0e41\u0e01\u0e49\u0e27", "\u0e19\u0e31\u0e14 \u0e41\u0e01\u0e49\u0e27"),
    ("\u0bb0\u0bbe\u0bae\u0ba9", "\u0bb0\u0bae\u0ba9"),
    ("\u1798\u17c9\u17b6\u179a\u17b8", "\u1798\u17b8\u179a\u17c9\u17b6"),
    ("\u05d3\u05b8\u05df", "\u05d3\u05b6\u05df"),
    ("Jan Gro\u00df", "Jan Gross"),
    ("\u00c6sa", "Aesa"),
    ("Zo\u00eb", "Zoe"),
]


@pytest.mark.parametrize(("roster_name", "other_name"), PAIRS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_that_differs_in_a_mark_or_letter_is_not_found(
    folder: Path, roster_name: str, other_name: str, form: str
) -> None:
    for at, name in enumerate((other_name, roster_name)):
        submissions = find(
            folder, f"id,name\nk1,{roster_name}\n", unicodedata.normalize(form, f"{name}_{at}_assignsubmission_file_")
        )
        assert ("k1" in submissions) == bool(at)


def test_words_with_different_letters_or_marks_are_different() -> None:
    scripts = [
        "az",
        "\u0430\u044f",
        "\u0391\u03a9",
        "\u0621\u0652",
        "\u0904\u094d",
        "\u0e01\u0e4d",
        "\u1780\u17d3",
        "\u3041\u3096",
    ]
    for first, last in scripts:
        signs = [chr(code) for code in range(ord(first), ord(last) + 1)]
        visible = [c for c in signs if unicodedata.category(c)[0] in "LM" and unicodedata.name(c, "")]
        base = next(c for c in visible if unicodedata.category(c)[0] == "L")
        by_words: dict[tuple[str, ...], str] = {}
        for c in visible:
            name = unicodedata.normalize("NFKC", f"{base}{c}{base}").casefold()
            assert by_words.setdefault(tuple(words_of(f"{base}{c}{base}")), name) == name


@pytest.mark.parametrize(
    "name",
    [
        "\u0dc1\u0dca\u200d\u0dbb\u0dd3\u0db8\u0dcf\u0dbd\u0dca",
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
        "Ada\u00a0 Lovelace",
    ],
)
def test_names_with_joiners_are_found(folder: Path, name: str) -> None:
    assert "k1" in find(folder, f"id,name\nk1,{name}\n", f"{name}_66_assignsubmission_file_")


@pytest.mark.parametrize(
    ("roster_name", "other_name", "same"),
    [
        ("J\u00fcrgen Gro\u00df", "Juergen Gross", True),
        ("J\u00fcrgen Gro\u00df", "Jurgen Gross", True),
        ("\u00c6sa \u00d8rn", "Aesa Orn", True),
        ("Alan Turing", "Alan M. Turing", True),
        ("Lovelace, Ada", "lovelaceada", True),
        (
            "\u0936\u0930\u094d\u092e\u093e, \u092a\u094d\u0930\u093f\u092f\u093e",
            "\u0936\u0930\u092e\u092a\u0930\u092f",
            True,
        ),
        ("Zo\u00eb", "Zo\u251c\u00bd", True),
        ("\u738b \u4f1f", "\ufffd\ufffd \ufffd", None),
        ("Ada", "Participant", None),
        ("\u738b \u4f1f", "Hugo Weber", False),
        ("Mei Brown", "Nora Brown", False),
        ("Mei Li", "Meiko Li", False),
        ("\u0915\u092e\u0932", "\u0915\u092e\u0932\u093e", False),
        ("\u738b", "\u738b\u82b3", False),
    ],
)
def test_names_agree_despite_different_spellings(roster_name: str, other_name: str, same: bool | None) -> None:
    assert agree(roster_name, other_name) is same


# --- names changed by browsers ---

COPIES = ["{} (1){}", "{}(1){}", "{}-1{}", "{} (1) (2){}", "{} - Copy{}", "{}_1{}", "{} copy 2{}", "{} {}"]
COPY_NAMES = [pattern.format("01_first", ".cu") for pattern in COPIES if pattern != "{}_1{}"]
COPY_NAMES += [
    "01_first_1.cu",
    "01_first.cu (1)",
    "01_first.cu-1",
    "01_first.cu.txt.txt",
    "01_first (1).cu.txt",
    "01_first.cu (1).txt",
]


@pytest.mark.parametrize("name", COPY_NAMES)
def test_a_stages_file_is_found_under_a_browsers_name(name: str) -> None:
    assert kind_of_file(name) != "ignored"
    assert pick_stages(loose({f"lab/{name}": b"1"}), "lab", ("01_first", "02_first_1"))[0] == {"01_first": b"1"}


def test_a_number_at_the_end_of_a_stages_name_is_kept() -> None:
    files = {"02_tile_8.cu": b"8", "02_tile.cu": b"0"}
    assert pick_stages(loose(files), "lab", ("02_tile", "02_tile_8"))[0] == {"02_tile": b"0", "02_tile_8": b"8"}


ENDINGS = [".tar.gz", " (1).tar.gz", "(1).tar.gz", "-1.tar.gz", ".tar", ".tar (1).gz", ".tar-1.gz", ".tgz", " (1).tar"]
ENDINGS += [" copy.tar.gz", " - Copy (2).tar.gz", " (1).tgz", ".tar.gz.zip"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("place", [f"{ADA}/", "Ada Lovelace_12_assignsubmission_file_", ""])
def test_partners_in_a_name_that_a_browser_changed_are_credited(folder: Path, ending: str, place: str) -> None:
    name = f"{place}lab-al1-bo2-2026-11-20-100000{ending}"
    if place.endswith("/"):
        submissions = find(folder, NUMBERS, name)
    else:
        (folder / name).write_text("")
        submissions = find(folder, NUMBERS)
    (submission,) = submissions.values()
    assert submission.members == ["al1", "bo2"] and submission.handed_in == "2026-11-20T10:00:00Z"


# --- missing rosters ---


def test_a_missing_roster_stops_the_batch(course: Course) -> None:
    download(course, archive_in(ADA, "al1-bo2", 20), roster=NUMBERS)
    before = points(course)
    (course.root / "roster.csv").rename(course.root / "moved.csv")
    for result in (course.grade(), course.run_verb("override", "--student", "al1", "--points", "1", "--reason", "x"),
                 course.run_verb("export", "--format", "moodle")):  # fmt: skip
        assert result.returncode == 2 and "The batch's roster is no longer there: " in result.stderr
    course.run_verb("report")
    assert points(course) == before
    assert course.grade("--no-roster").returncode == 0
    assert course.grade("--roster", course.root / "moved.csv").returncode == 0
