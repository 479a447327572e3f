"""Equal files raise suspicion, except between members of one team."""

from __future__ import annotations

import os
from pathlib import Path

from grader.python.batch.ingest.submission import Submission
from grader.python.batch.policy.copied_records import find_copied_records
from grader.python.batch.policy.similarity import SimilarPair
from grader.python.batch.policy.suspicious import find_remarks
from grader.python.batch.store.database import Database
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Row, Stage
from tests.python.batch.ingest.test_submissions import find

CANVAS = "id,name,canvas id\nal1,Ada Lovelace,12\nat2,Alan Turing,13\nkj3,Katherine Johnson,14\n"
MOODLE = """Identifier,"Full name","Email address",Status,Group,Grade,"Maximum grade"
"Participant 12","Ada Lovelace",a@x,"Submitted for grading -  - ",{0},,20.00
"Participant 13","Alan Turing",b@x,"Submitted for grading -  - ",{0},,20.00
"""


def read_rows(folder: Path, roster: str, *names: str) -> list[Row]:
    """Return the rows of a batch with these hand-ins, all with the same file."""
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (10**9 + number, 10**9 + number))
    submissions, _ = find(folder, roster)
    database = Database(folder.with_name("batch.sqlite"))
    database.enter(submissions.values())
    rows = database.rows()
    for row in rows:
        row.stages = [Stage("01_first", "passed", "", "hash", 6, 6, 0, None, None, None, None, None, False)]
    return rows


def list_suspects(rows: list[Row]) -> list[tuple[str, str]]:
    pairs = [SimilarPair("02_second", rows[0].key, row.key, 0.95) for row in rows[1:]]
    kinds = ("the same file as others", "similar")
    return [(remark.key, remark.title) for remark in find_remarks(rows, pairs) if remark.title in kinds]


def test_members_who_both_upload_the_teams_archive_are_not_suspected(tmp_path: Path) -> None:
    team = "lab-al1-at2-2026-11-21-101010.tar.gz"
    rows = read_rows(tmp_path / "in", CANVAS, f"lovelaceada_12_500_{team}", f"turingalan_13_501_{team}")
    assert [row.key for row in rows] == ["al1", "at2"] and list_suspects(rows) == []


def test_naming_the_author_of_a_copied_file_hides_nothing(tmp_path: Path) -> None:
    rows = read_rows(
        tmp_path / "in", CANVAS, "lovelaceada_12_500_lab-al1-2026-11-21-101010.tar.gz",
        "turingalan_13_501_lab-at2-al1-2026-11-21-101010.tar.gz",
    )  # fmt: skip
    assert list_suspects(rows) == [("al1", "the same file as others"), ("al1", "similar")]


def test_a_third_student_with_the_teams_file_is_reported(tmp_path: Path) -> None:
    team = "lab-al1-at2-2026-11-21-101010.tar.gz"
    names = [f"{prefix}_{team}" for prefix in ("lovelaceada_12_500", "turingalan_13_501", "johnsonkatherine_14_502")]
    assert ("al1", "the same file as others") in list_suspects(read_rows(tmp_path / "in", CANVAS, *names))


def test_a_group_on_the_roster_is_a_team_if_it_is_small(tmp_path: Path) -> None:
    names = ("Ada Lovelace_12_assignsubmission_file_lab.zip", "Alan Turing_13_assignsubmission_file_lab.zip")
    (tmp_path / "one").mkdir()
    assert list_suspects(read_rows(tmp_path / "one/in", MOODLE.format("Team 1"), *names)) == []
    more = "".join(f'"Participant {n}","Student {chr(65 + n)}",{n}@x,"-","Default group",,20.00\n' for n in range(10))
    (tmp_path / "all").mkdir()
    assert list_suspects(read_rows(tmp_path / "all/in", MOODLE.format('"Default group"') + more, *names))


def test_a_team_shares_its_journal(tmp_path: Path) -> None:
    def copied(*teams: list[str]) -> list[tuple[str, str]]:
        rows = [
            Row(key, "", [key], "", "", [], "graded", "", 0, team=team) for key, team in zip("ab", teams, strict=True)
        ]
        for row in rows:
            file = place_of(tmp_path, "journals", row.key) / "records.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("one record\n")
        return find_copied_records(rows, tmp_path, tmp_path / "no example")

    assert copied([], []) == [("b", "a")] and copied(["b"], []) == [("b", "a")] and copied(["b"], ["a"]) == []


def test_the_database_keeps_the_group(tmp_path: Path) -> None:
    database = Database(tmp_path / "batch.sqlite")
    database.enter([Submission("al1", group=["al1", "at2"])])
    assert database.rows()[0].team == ["al1", "at2"]
