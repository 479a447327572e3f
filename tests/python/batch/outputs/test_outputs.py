"""The outputs of a batch: gradebook.csv, feedback and report.html."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.python.batch.outputs import write as outputs
from grader.python.batch.outputs.dashboard import count_all, make_dashboard, make_remarks, pseudonym
from grader.python.batch.outputs.feedback import describe_submission, redact
from grader.python.batch.policy.points import Policy, finals
from grader.python.batch.policy.similarity import (
    MAX_CHARACTERS,
    MAX_OWNERS,
    MAX_STOPPED,
    ComparisonLimitError,
    SimilarPair,
    find_similar,
    simplify,
)
from grader.python.batch.policy.suspicious import Remark, find_remarks
from grader.python.batch.store.database import Database
from grader.python.batch.store.rows import Row, Stage
from grader.python.batch.store.settings import Settings
from tests.labs.conftest import ROOT
from tests.python import samples
from tests.python.batch.batches import STAGES, Course

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SECRET = "PLANTED SECRET"


def gradebook(course: Course) -> dict[str, dict[str, str]]:
    with (course.out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        return {line["id"]: line for line in csv.DictReader(file)}


def test_dates_points_and_overrides_reach_the_gradebook(course: Course) -> None:
    for student in ("al1", "at2", "gh3", "jb4"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    assert gradebook(course)["al1"]["points"] == "12"
    assert gradebook(course)["al1"]["pending"] == "8"
    late = ("--at", "2020-01-01T00:00Z", "--percent-per-day", "10", "--most-days", "5")
    course.run_verb("due", *late)
    course.run_verb("report")
    assert gradebook(course)["al1"]["points"] == "12"  # a file's date does not count, because it may be the download's
    course.run_verb("due", *late, "--trust-file-dates")
    course.run_verb("extend", "--student", "at2", "--until", "2100-01-01T00:00Z", "--reason", "ill")
    course.run_verb("points", "--student", "at2", "--item", "journal", "--points", "3", "--of", "5", "--reason", "good")
    course.run_verb("override", "--student", "gh3", "--points", "7.5", "--reason", "=shown in person")
    course.run_verb("report")
    book = gradebook(course)
    assert [book[student]["points"] for student in ("al1", "at2", "gh3", "jb4")] == ["0", "15", "7.5", "0"]
    assert (book["at2"]["of"], book["at2"]["journal"], book["al1"]["late_penalty"]) == ("25", "3", "12")
    assert book["gh3"]["override"] == "'=shown in person"
    assert "Together 15 of 25 points" in (course.out / "feedback/at2/feedback.txt").read_text()
    page = (course.out / "feedback/at2/index.html").read_text()
    assert '<p class="lead">Together 15 of 25 points for at2</p><p>The code: 2 of 2 stages passed' in page


def test_a_partner_does_not_see_decisions_for_one_student_alone(course: Course) -> None:
    course.hand_in("al1-at2", "fine", "fine")
    (course.root / "roster.csv").write_text("id\nal1\nat2\n")
    course.grade("--roster", course.root / "roster.csv")
    course.run_verb("points", "--student", "al1", "--item", "talk", "--points", "2", "--of", "5", "--reason", "good")
    course.run_verb("report")
    output = (course.out / "feedback/al1+at2/feedback.txt").read_text()
    assert "talk" not in output and "Together" not in output
    assert "A decision concerns only one of you" in output
    course.run_verb("points", "--student", "at2", "--item", "talk", "--points", "2", "--of", "5", "--reason", "good")
    course.run_verb("report")
    output = (course.out / "feedback/al1+at2/feedback.txt").read_text()
    assert output == (course.out / "feedback/al1/feedback.txt").read_text()
    assert "talk: 2 of 5 points." in output and "Together 14 of 25 points for al1 and at2" in output


def test_feedback_mentions_an_item_without_points(course: Course) -> None:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    course.run_verb("points", "--student", "al1", "--item", "talk", "--points", "2", "--of", "5", "--reason", "good")
    course.run_verb("report")
    output = (course.out / "feedback/at2/feedback.txt").read_text()
    assert "talk: no points yet, of 5." in output and "Together 12 of 25 points" in output


def test_the_page_counts_both_submissions_and_students() -> None:
    alone = Row("al1", "", ["al1"], "", "", [], "graded", "", 0)
    team = Row("at2+gh3", "", ["at2", "gh3"], "", "", [], "graded", "", 0)
    absent = Row("zz9", "", ["zz9"], "", "", [], "not_submitted", "", 0)
    assert count_all([alone]) == "1 submission"
    assert count_all([alone, team]) == "2 submissions by 3 students"
    assert count_all([alone, team, absent]) == "2 submissions by 3 of 4 students"


def test_decisions_are_checked_and_their_effect_is_printed(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    roster = course.root / "roster.csv"
    roster.write_text("id,login,name\nal1,Ada.L@uni.example,Ada\n")
    course.grade("--roster", roster)
    reason = ("--reason", "x")
    for words, message in (
        (("due", "--at", "2020-01-01T00:00"), "no time zone"),
        (("due", "--at", "2020-01-01T00:00Z", "--percent-per-day", "-5"), "--percent-per-day -5: give 0 to 100"),
        (("due", "--at", "2020-01-01T00:00Z", "--percent-per-day", "nan"), "give 0 to 100"),
        (("due", "--at", "2020-01-01T00:00Z", "--grace-minutes", "1e308"), "give a number from 0 to 14400000"),
        (("due", "--at", "2020-01-01T00:00Z", "--most-days", "-1"), "'-1': give a whole number from 0 to 10000"),
        (("due", "--at", "2020-01-01T00:00Z", "--grace-minutes", "-1"), "'-1': give a number from 0 to"),
        (("extend", "--student", "al1", "--until", "2020-01-01", *reason), "no time zone"),
        (("points", "--student", "al1", "--points", "12", "--of", "10", *reason), "--points 12: give 0 to 10"),
        (("override", "--student", "al1", "--points", "-7", *reason), "--points -7: give 0 to 20"),
        (("override", "--student", "al1", "--points", "700", *reason), "--points 700: give 0 to 20"),
        (("override", "--student", "bob", "--points", "7", *reason), "No student has the name bob"),
    ):
        result = course.run_verb(*words)
        assert result.returncode == 2 and message in result.stderr, (words, result.stderr)
    result = course.run_verb("due", "--at", "2020-01-01T00:00Z", "--percent-per-day", "10")
    assert "0 of 1 are late" in result.stdout and "--trust-file-dates" in result.stdout
    result = course.run_verb("points", "--student", "ada.l@uni.example", "--points", "3", "--of", "0", *reason)
    assert "al1 (Ada): 15 of 20 points" in result.stdout and "report" in result.stdout, result.stderr


def points_after(hours: float, policy: Policy) -> float:
    handed_in = datetime.fromtimestamp(policy.due.timestamp() + 3600 * hours, UTC) if policy.due else None
    row = Row("k", "", ["s"], handed_in.isoformat() if handed_in else "", "", [], "graded", "", 0, 1, 10, 20)
    (final,) = finals(row, policy, 20)
    assert final.points is not None
    return final.points


def test_each_day_that_has_begun_counts_as_late() -> None:
    policy = Policy(datetime(2026, 1, 1, tzinfo=UTC), percent_per_day=10, max_days=2)
    assert [points_after(hours, policy) for hours in (-1, 0, 0.1, 24, 24.1, 48, 48.1)] == [10, 10, 9, 9, 8, 8, 0]


def test_after_the_grace_time_lateness_counts_from_the_due_date() -> None:
    policy = Policy(datetime(2026, 1, 1, tzinfo=UTC), grace_minutes=15, percent_per_day=10)
    assert [points_after(hours, policy) for hours in (0.25, 0.26, 24, 24.1)] == [10, 9, 9, 8]


def test_feedback_of_a_late_hand_in_shows_both_times() -> None:
    row = Row("k", "", ["s"], "2026-11-22T23:30:00Z", "the archive's name", [], "graded", "", 0, 1, 10, 20)
    policy = Policy(datetime.fromisoformat("2026-11-21T23:59+01:00"), percent_per_day=10)
    assert describe_submission(row, finals(row, policy, 20)) == [
        "Handed in 2 days late (rounded up to whole days): at 2026-11-23 00:30:00, as the archive's name says, and "
        "due at 2026-11-21 23:59:00 (UTC+01:00). 2 points less."
    ]
    policy.extensions["s"] = datetime(2026, 11, 22, 12, tzinfo=UTC)
    (sentence,) = describe_submission(row, finals(row, policy, 20))
    assert (
        "1 day late" in sentence
        and "at 2026-11-22 23:30:00, as" in sentence
        and "due at 2026-11-22 12:00:00 (UTC)" in sentence
    )


def test_a_hand_in_with_nothing_to_grade_causes_a_remark() -> None:
    row = Row("k", "", ["s"], "", "", [], "nothing_to_grade", "It holds 01.cu.", 0)
    (remark,) = find_remarks([row], [])
    assert (remark.key, remark.title, remark.detail) == ("k", "nothing to grade", "It holds 01.cu.")


def test_a_judge_error_has_empty_points_instead_of_zero() -> None:
    row = Row("k", "", ["s"], "", "", [], "judge_error", "", 0)
    assert finals(row, Policy(), 20)[0].points is None
    assert finals(row, Policy(overrides={"s": (3, "seen", None)}), 20)[0].points == 3


def test_the_maxima_of_given_points_are_computed_once_for_all_students() -> None:
    class CountedPoints(dict[str, dict[str, tuple[float, float]]]):
        reads = 0

        def values(self) -> Any:
            self.reads += 1
            return super().values()

    points = CountedPoints(s={"talk": (3, 8)}, t={"talk": (4, 8), "poster": (1, 2)})
    row = Row("k", "", ["s", "t", "u"], "", "", [], "graded", "", 0, 1, 10, 20)
    results = finals(row, Policy(points=points), 20)
    assert [(final.points, final.max_points) for final in results] == [(13, 30), (15, 30), (10, 30)]
    assert points.reads == 1


def test_no_cell_of_the_gradebook_is_a_formula(course: Course) -> None:
    course.hand_in("=cmd|' /C calc'!A0", "fine", "fine")
    course.hand_in("@SUM(A1)", "fine", "fine")
    course.grade()
    assert not [cell for line in gradebook(course).values() for cell in line.values() if cell.startswith(("=", "@"))]


def test_feedback_contains_no_data_of_hidden_datasets() -> None:
    place = {"buffer": "out", "index": 77, "expected": SECRET, "actual": SECRET}
    failure = {"cause": "tail_lost", "message": f"{SECRET} of 77", "hint": f"{SECRET} times 77", "place": place}
    public = {"cause": "tail_lost", "message": "Not run, because of hidden_secret.", "hint": "", "place": None}
    checks = [
        samples.check("hidden_secret", hidden=True, verdict="failed", failure=failure),
        samples.check("hidden_huge", hidden=True, skipped=True, skipped_why=f"needs {SECRET}"),
        samples.check("one", verdict="failed", failure=public, blocked_by="hidden_secret"),
    ]
    for check in checks[:2]:
        check["wall_s"] = 123.25
        check["added_later"] = SECRET
    stage = samples.stage(
        "01_first", "First", checks=checks, output=f"printed {SECRET}", notes=["hidden_secret took long"]
    )
    stage["source"] = "/srv/course/batch/submissions/al1/lab/01_first.cu"
    stage["compilation"]["log"] = "/srv/course/batch/submissions/al1/lab/01_first.cu:3: error"
    stage["phases"] = [{"phase": "check", "wall_s": 123.25}]
    stage["check_mode"] = {"verdict": "passed", "remark": "", "datasets": [], "wall_s": 123.25, "findings": []}
    report = samples.report(stages=[stage], tree="/srv/course/batch/submissions/al1")
    feedback = json.dumps(redact(report))
    for leak in (SECRET, "hidden_", "/srv/course", "lab-7", "77", "123.25"):
        assert leak not in feedback, leak
    assert "tail_lost" in feedback
    assert SECRET in json.dumps(report)  # the report in the database stays complete


def make_rows(count: int) -> list[Row]:
    chance = random.Random(count)
    rows = []
    for number in range(count):
        stages = []
        for stage in (f"{n:02}_stage" for n in range(1, 13)):
            ratio = chance.lognormvariate(0.2, 0.5)
            verdict = chance.choice(["passed"] * 8 + ["failed"])
            timed = verdict == "passed"
            cause = "" if timed else "tail_lost"
            values = (0.07 * ratio, 0.06, ratio, ratio * 0.997, ratio * 1.003) if timed else (None,) * 5
            stages.append(
                Stage(stage, verdict, cause, f"{number}{stage}", 5.0 * timed, 5, 0, *values, number % 50 == 0)
            )
        points = sum(stage.points or 0 for stage in stages)
        name = "<script>alert(1)</script>" if number == 7 else f"Student {number}"
        key = f"s{number:04}"
        graded = (number, points, 60, 0, "", "cuda", "namespace", stages)
        rows.append(Row(key, name, [key], "", "", [], "graded", "", 1, *graded))
    return rows


def test_the_distribution_counts_only_students_who_handed_in() -> None:
    rows = make_rows(3)
    for row, points in zip(rows, (30, 30, 60), strict=True):
        row.points = points
    absent = [Row(key, "", [key], "", "", [], "not_submitted", "", 0) for key in ("x1", "x2", "x3", "x4")]
    assert "3 students; the median is 50% of the points." in page_of(rows)
    page = page_of(rows + absent)
    assert "3 students; the median is 50% of the points; without 4 students who handed in nothing." in page
    assert "<title>0 to 5%: 0 students" in page


def page_of(rows: list[Row]) -> str:
    latest = [final for row in rows for final in finals(row, Policy(), 60)]
    stages = [f"{n:02}_stage" for n in range(1, 13)]
    return make_dashboard("lab: batch", ["Warplab 0.1"], rows, latest, find_remarks(rows, []), stages, "secret")


def test_many_similar_pairs_hide_no_later_remark() -> None:
    pairs = [Remark(6, f"s{number}", "", "similar") for number in range(30)]
    page = str(make_remarks([*pairs, Remark(9, "al1", "", "still the starter")], [], {}))
    first = page.partition("<details")[0]
    assert "still the starter" in first and first.count("similar<") == 11


def test_many_remarks_of_one_kind_do_not_hide_others() -> None:
    crowd = [Remark(1, f"s{number}", "", "nothing to grade") for number in range(500)]
    page = str(make_remarks([*crowd, Remark(6, "al1", "", "similar")], [], {}))
    assert "similar" in page and "450 that are not listed" in page


def test_the_page_runs_only_its_own_script_and_escapes_names() -> None:
    page = page_of(make_rows(20))
    assert "<script>alert" not in page
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'".replace("'", "&#x27;") in page
    assert not re.search(r"(src|href)=\"(https?:)?//", page)


PROBE = """<script>
addEventListener("load", () => {
    const header = [...document.querySelectorAll("#submissions thead th")][3].querySelector("button");
    header.click();
    const points = [...document.querySelectorAll("#submissions tbody tr")].map((row) => row.cells[3].dataset.value);
    const best = Math.max(...points);
    const names = [...document.querySelectorAll("#submissions thead th")][0].querySelector("button");
    names.click();
    const first = document.querySelector("#submissions tbody tr").cells[0].textContent;
    const box = document.querySelector("#search");
    box.value = "s0007";
    box.dispatchEvent(new Event("input"));
    const shown = document.querySelector("#shown").textContent;
    document.documentElement.dataset.found = [Number(points[0]) === best, first, shown].join(";");
});
</script>"""


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
def test_search_and_sort_work_in_a_browser(tmp_path: Path) -> None:
    page = page_of(make_rows(500)).replace("</body>", f"{PROBE}</body>")
    page = re.sub(r"script-src [^;]*;", "script-src &#x27;unsafe-inline&#x27;;", page)
    (tmp_path / "report.html").write_text(page)
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=3000", "--dump-dom", (tmp_path / "report.html").as_uri()]
    dumped = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False).stdout
    match = re.search(r'data-found="([^"]*)"', dumped)
    assert match, dumped[:500]
    sorted_right, first, shown = match[1].split(";")
    assert (sorted_right, first, shown) == ("true", "s0000", "1 of 500")


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
def test_search_ignores_accents_and_case() -> None:
    script = Path(outputs.__file__).with_name("dashboard.js").read_text()
    fold = (
        script[script.index("const SPELT") : script.index("const body")]
        + script[script.index("function fold") :].split("function search")[0]
    )
    names = ["Łukasz WÓJCIK", "Đặng Nguyễn Thị Minh", "Søren Weiß", "İbrahim Yılmaz", "Ὀδυσσεύς", "王 伟"]
    command = ["node", "-e", f"{fold} console.log(JSON.stringify({json.dumps(names)}.map(fold)))"]
    folded = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    plain = ["lukasz wojcik", "dang nguyen thi minh", "soren weiss", "ibrahim yilmaz", "οδυσσευς", "王 伟"]
    assert folded == plain


def test_the_mistakes_of_a_class_are_counted(course: Course) -> None:
    for student, texts in (("al1", ("compile_error", "fine")), ("at2", ("compile_error", "compile_error")),
                           ("gh3", ("fine",)), ("jb4", ("fine", "fine"))):  # fmt: skip
        course.hand_in(student, *texts)
    course.grade()
    text = (course.out / "mistakes.csv").read_text("utf-8-sig")
    assert list(csv.reader(text.splitlines())) == [
        ["stage", "mistake", "students", "of", "handout", "paragraph"],
        ["01_first", "compile_error", "2", "4", "handouts/lab.md#01_first", ""],
        ["02_second", "compile_error", "1", "3", "handouts/lab.md#02_second", ""],
    ]
    assert "No files are similar." in (course.out / "similar.html").read_text()
    page = (course.out / "report.html").read_text()
    assert '<a href="similar.html">' in page
    link = f'<a href="{(course.root / "handouts/lab.md").as_uri()}#01_first">01_first</a>'
    assert f'<td>compile_error</td><td class="number">2 of 4</td><td>{link}</td>' in page
    today = datetime.now().astimezone().date()
    over_time = (course.out / "mistakes_over_time.csv").read_text("utf-8-sig").splitlines()
    assert over_time[:2] == ["from,days,stage,mistake,students,of", f"{today},1,01_first,compile_error,2,4"]


def test_tables_for_spreadsheets_begin_with_a_byte_order_mark_and_those_for_canvas_do_not(course: Course) -> None:
    course.hand_in("zoë", "fine", "fine")
    course.grade()
    assert (course.out / "gradebook.csv").read_bytes().startswith(b"\xef\xbb\xbfid,name")
    course.run_verb("export", "--format", "canvas", "--output", course.root / "canvas.csv")
    assert (course.root / "canvas.csv").read_bytes().startswith(b"Student,ID")


def test_the_first_click_on_a_text_column_sorts_from_a_to_z() -> None:
    """The script tests the header's class, which only columns of numbers have."""
    heads = re.findall(r"<th([^>]*)><button[^>]*>([^<]*)</button>", page_of(make_rows(1)))
    numbers = {name for attributes, name in heads if 'class="number"' in attributes}
    assert {"Points", "Pending", "Late", "01"} <= numbers and not {"Student", "Name", "Status", "Remarks"} & numbers
    assert 'before ? before === "ascending" : header.classList.contains("number")' in page_of(make_rows(1))


def test_suspicious_results_are_listed_by_importance() -> None:
    def stage(name: str, **changes: object) -> Stage:
        values = {"stage": name, "verdict": "passed", "cause": "", "source_hash": name, "points": 1.0,
                  "max_points": 2.0, "pending": 0.0, "time_s": 1.0, "bound_s": 1.0, "ratio": 1.0, "ratio_low": 0.999,
                  "ratio_high": 1.001, "ambiguous": False}  # fmt: skip
        return Stage(**{**values, **changes})

    def row(key: str, *stages: Stage, sandbox: str = "namespace", status: str = "graded") -> Row:
        return Row(key, key, [key], "", "", [], status, "", 0, 1, 1, 2, 0, "", "cuda", sandbox, list(stages))

    rows = [
        row("fine", stage("a")),
        row("mark", stage("b", ratio=1.205, ratio_low=1.203, ratio_high=1.207)),
        row("unstable", stage("c", ambiguous=True)),
        row("slow", stage("d", ratio=50.0, ratio_low=49.0, ratio_high=51.0)),
        row("twice", stage("01", source_hash="x"), stage("02", source_hash="x")),
        row("copy", stage("a", source_hash="y")),
        row("copied", stage("a", source_hash="y")),
        row("fast", stage("e", verdict="error", cause="implausible_timing")),
        row("open", stage("f"), sandbox="none"),
        row("broken", status="archive_refused"),
        row("ours", status="judge_error"),
    ]
    similar = [SimilarPair("a", "copied", "copy", 1.0)]  # no new remark: it is the same file
    remarks = [(remark.key, remark.title) for remark in find_remarks(rows, similar)]
    assert "similar" in [remark.title for remark in find_remarks(rows, [SimilarPair("a", "fine", "copy", 0.9)])]
    assert remarks == [
        ("ours", "judge failed"),
        ("broken", "not opened"),
        ("fast", "implausible timing"),
        ("open", "graded without a sandbox"),
        ("slow", "slow"),
        ("copy", "the same file as others"),
        ("twice", "the same file as another stage"),
        ("unstable", "unstable"),
        ("mark", "near a limit"),
    ]


def test_an_untouched_starter_is_not_the_same_file_as_others(course: Course) -> None:
    for stage in STAGES:
        (course.root / "starter" / "lab" / f"{stage}.cu").write_text("// starter\n")
    for student, ending in (("al1", "\n"), ("at2", "\n"), ("gh3", " \r\n")):
        folder = course.hand_in(student)
        (folder / f"{STAGES[0]}.cu").write_text(f"// starter{ending}")
        (folder / f"{STAGES[1]}.cu").write_text("// copied")
    course.grade()
    page = (course.out / "report.html").read_text()
    assert page.count("<td>still the starter</td>") == 3
    assert page.count("<td>the same file as others</td>") == 1
    assert "01_first is still the starter." in (course.out / "feedback/gh3/feedback.txt").read_text()


def test_similar_files_are_found_and_the_starter_does_not_count(tmp_path: Path) -> None:
    pytest.importorskip("copydetect")
    solution = (ROOT / "solutions/saturating_histogram/12_bandwidth_bound.cu").read_text()
    starter = ROOT / "starter/saturating_histogram/12_bandwidth_bound.cu"
    other = (ROOT / "solutions/saturating_histogram/10_coalesced_partials.cu").read_text()
    renamed = re.sub(r"\btotals?\b", "sum_of_all", solution).replace("//", "// my own words:")
    texts = {"one": solution, "renamed": renamed, "other": other, "starter": starter.read_text(), "bad": "\0\xff" * 99}
    files = []
    for key, text in texts.items():
        (tmp_path / f"{key}.cu").write_text(text)
        files.append((key, tmp_path / f"{key}.cu"))
    pairs, stopped = find_similar("12", starter, files)
    assert {(pair.first, pair.second) for pair in pairs} == {("one", "renamed")} and stopped == []


def test_directives_do_not_hide_a_copy_and_many_copies_form_a_ring(tmp_path: Path) -> None:
    pytest.importorskip("copydetect")
    solution = (ROOT / "solutions/dot_product/03_dyadic_sequential.cu").read_text()
    include, code = solution.split('lab.h"\n')
    lines = [line.split("//")[0] for line in code.splitlines() if not line.startswith("#")]
    texts = {
        "one": solution,
        "in_if": f'{include}lab.h"\n#if 0x1\n{code}\n#endif\n',
        "in_macro": f'{include}lab.h"\n# define ALL {" ".join(lines)}\nALL\n',
        "in_digraph": f'{include}lab.h"\n%:define ALL {" ".join(lines)}\nALL\n',
    }
    for key, text in texts.items():
        (tmp_path / key).write_text(text)
    pairs, _ = find_similar("3", tmp_path / "no starter", [(key, tmp_path / key) for key in texts])
    assert {pair.first for pair in pairs} | {pair.second for pair in pairs} == set(texts)
    ring = [f"copy{number}" for number in range(MAX_OWNERS + 5)]
    for number, key in enumerate(ring):
        (tmp_path / key).write_text(f"{solution}\nint own_{number}() {{ return {number} * {number} + 1; }}\n")
    pairs, _ = find_similar("3", tmp_path / "no starter", [(key, tmp_path / key) for key in ring])
    assert {pair.first for pair in pairs} | {pair.second for pair in pairs} == set(ring)


SLOW_LEXERS = (
    "int f" + "//a\\\n" * 60,  # Pygments takes exponential time in the number of lines
    "int f" + "//a\\ \r\n" * 60,
    "int" + " " * 29_000,  # and quadratic time in the number of blanks
    "int f" + "\n/**/ " * 5_000,
)


def test_code_is_simplified_before_the_lexer_reads_it() -> None:
    for text in SLOW_LEXERS:
        assert simplify(text) in ("int f\n", "int\n")
    assert simplify('a = R"x("/*)" )x"; b /* c */') == 'a = R"x("/*)" )x"; b\n'  # begins no comment
    assert simplify("int f() <% return a<:0:>; %>") == "int f() { return a[0]; }\n"
    assert simplify('a = "//b"; // c\n\n  d /* e\n */ + \'"\' /* f') == 'a = "//b";\nd + \'"\'\n'
    for text in ("/*" * 200_000, '"\\' * 200_000, "\\ " * 200_000, "'" * 200_000):
        simplify(text)


LEXER = """
import os
class CodeFingerprint:
    def __init__(self, file, *_, fp, **more):
        words = fp.read().split()
        while "endless" in words:
            pass
        kept = "x" * 10**10 if "large" in words else ""
        if "ended" in words:
            os._exit(0)
        self.hashes = [hash(word) for word in words]
"""


def test_a_file_that_takes_too_much_to_compare_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "copydetect.py").write_text(LEXER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = " ".join(map(str, range(20)))
    texts = {"a": "", "b": "endless ", "c": "large ", "d": "ended ", "e": "", "f": "ended ", "small": "endless"}
    for key, text in texts.items():
        (tmp_path / key).write_text(text + words * (key != "small"))  # too small to be compared
    files = [(key, tmp_path / key) for key in texts]
    pairs, left_out = find_similar("12", tmp_path / "no starter", files)
    assert pairs == [SimilarPair("12", "a", "e", 1.0)] and left_out == ["b", "c", "d", "f"]
    with pytest.raises(ComparisonLimitError):
        find_similar("12", tmp_path / "no starter", [("d", tmp_path / "d")] * MAX_STOPPED)


def test_the_comparison_imports_only_what_it_needs() -> None:
    pytest.importorskip("copydetect")
    program = "import sys; from grader.python.batch.policy import similarity; similarity.import_fingerprinter()"
    printing = "print({'matplotlib.figure', 'jinja2.environment', 'tqdm.std'} & sys.modules.keys())"
    command = [sys.executable, "-c", f"{program}; {printing}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_long_comments_hide_no_code_and_a_file_of_too_much_code_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "copydetect.py").write_text(LEXER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = " ".join(map(str, range(20)))
    comment = f"/* {'z' * MAX_CHARACTERS} */"
    texts = {"a": words, "hidden": f"{comment}\n{words}", "long": f"{'z ' * MAX_CHARACTERS}{words}"}
    for key, text in texts.items():
        (tmp_path / key).write_text(text)
    pairs, left_out = find_similar("12", tmp_path / "no starter", [(key, tmp_path / key) for key in texts])
    assert pairs == [SimilarPair("12", "a", "hidden", 1.0)] and left_out == ["long"]


def test_outputs_are_written_even_if_too_many_files_take_too_long_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(*_: object) -> None:
        compared.append(1)
        raise ComparisonLimitError

    monkeypatch.setattr(outputs, "find_similar", compare)
    settings = Settings("dot", ("a",), tmp_path, tmp_path, tmp_path, "cpu")
    database = Database(tmp_path / "batch.sqlite")
    for _ in range(2):
        pairs, notes = outputs.compare(database, [], settings)
        assert pairs == [] and notes[0].startswith("a: the files were not compared")
    assert compared == [1]


def test_files_are_compared_again_only_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[list[str]] = []

    def compare(stage: str, starter: Path, files: list[tuple[str, Path]]) -> tuple[list[SimilarPair], list[str]]:
        compared.append([key for key, _ in files])
        return [SimilarPair(stage, "ann", "bob", 0.95)], ["bob"]

    monkeypatch.setattr(outputs, "find_similar", compare)
    settings = Settings("dot", ("a",), tmp_path, tmp_path, tmp_path, "cpu")
    database = Database(tmp_path / "batch.sqlite")
    rows = [Row(key, "", [key], "", "", [], "graded", "", 0) for key in ("ann", "bob")]
    files = [tmp_path / f"submissions/{row.key}/dot/a.cu" for row in rows]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(f"// {file}")
    for _ in range(2):
        pairs, notes = outputs.compare(database, rows, settings)
        assert pairs == [SimilarPair("a", "ann", "bob", 0.95)]
        assert notes == [
            "a: files not compared completely, because they are too long or take too much time or memory: bob."
        ]
    assert compared == [["ann", "bob"]]
    files[0].write_text("another")
    outputs.compare(database, rows, settings)
    outputs.compare(database, rows[:1], settings)
    assert compared[1:] == [["ann", "bob"], ["ann"]]


def test_pseudonyms_are_stable_and_reveal_nothing() -> None:
    names = {pseudonym("secret", f"s{number}") for number in range(100)}
    assert len(names) > 90
    assert pseudonym("secret", "s1") == pseudonym("secret", "s1") != pseudonym("other", "s1")


def test_every_submission_gets_feedback(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.hand_in("at2", "compile_error")
    (course.handed_in / "gh3.zip").write_bytes(b"PK")
    course.grade()
    for student, message in (
        ("al1", "12 of 20 points so far; 8 are pending"),
        ("at2", "compile_error"),
        ("gh3", "Its end is missing."),
    ):
        folder = course.out / "feedback" / student
        assert message in (folder / "feedback.txt").read_text()
        assert (folder / "index.html").read_text().startswith("<!doctype html>")
        assert (folder / "report.json").exists() == (student != "gh3")
    assert str(course.out) not in (course.out / "feedback/at2/report.json").read_text()
    assert STAGES[0] in (course.out / "report.html").read_text()


def test_final_points_reach_canvas_and_moodle(course: Course) -> None:
    for student in ("al1", "at2"):
        course.hand_in(student, "fine", "fine")
    course.grade()
    course.run_verb("override", "--student", "at2", "--points", "7.5", "--reason", "shown")
    result = course.run_verb("export", "--format", "canvas", "--title", "Lab (77)")
    assert result.returncode == 0, result.stderr
    lines = [line for line in csv.reader(result.stdout.splitlines()) if line]
    assert [(line[3], line[5]) for line in lines[2:]] == [("al1", "12"), ("at2", "7.5")]
    exported = course.root / "canvas.csv"
    exported.write_text("Student,ID,SIS User ID,SIS Login ID,Section,Lab (77)\nAda,1,,al1,A,\nAlan,2,,at2,A,\n")
    for title, unknown in (("Lab", False), ("Another", True)):
        result = course.run_verb("export", "--format", "canvas", "--title", title, "--gradebook", exported)
        assert result.returncode == 0 and "Points are pending, so these are not final: al1." in result.stderr
        assert ("Canvas has no column 'Another' yet" in result.stderr) == unknown
    output = course.root / "new.csv"
    words = ("--format", "canvas", "--gradebook", exported, "--output", output, "--title")
    result = course.run_verb("export", *words, "Lab (78)")
    assert result.returncode == 2 and "--title must be one of: Lab (77)" in result.stderr and not output.exists()
    exported.write_text(exported.read_text().replace("\n", "\n    Points Possible,,,,,15\n", 1))
    result = course.run_verb("export", *words, "Lab (77)")
    assert result.returncode == 1 and "has 15 points in Canvas, but the maximum here is 20." in result.stderr
    assert "Points Possible,,,,,15" in output.read_text()
    roster = course.root / "moodle.csv"
    roster.write_text("Username\nal1\n")
    result = course.run_verb("export", "--format", "moodle", "--gradebook", roster)
    assert result.returncode == 1
    assert "al1,12," in result.stdout
    assert "at2" in result.stderr


def test_points_of_an_excluded_kind_are_omitted_everywhere(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    report = json.loads((course.build / "report.json").read_text())
    for stage in report["stages"]:  # the next submission gets decided speed points
        stage["score"] |= {"speed": 1.5, "speed_pending": False, "total": 7.5}
    report["total"]["pending"] = 4
    (course.build / "report.json").write_text(json.dumps(report))
    course.hand_in("at2", "fine", "fine")
    roster = course.root / "roster.csv"
    roster.write_text("id\nal1\nat2\nzz9\n")
    course.grade("--roster", roster)
    course.run_verb("points", "--student", "al1", "--points", "3", "--of", "5", "--reason", "good")
    before = gradebook(course)["at2"]
    assert "All kinds of points count already" in course.run_verb("without", "--undo").stderr
    result = course.run_verb("without", "--kind", "speed")
    assert "Not counted for any student: speed points. lab has 16 points" in result.stdout, result.stderr
    course.run_verb("report")
    book = gradebook(course)
    values = {student: [book[student][column] for column in ("points", "of", "pending", STAGES[0])] for student in book}
    assert values == {"al1": ["15", "21", "4", "6"], "at2": ["12", "21", "4", "6"], "zz9": ["0", "21", "0", ""]}
    for student, words in (("al1", "Together 15 of 21 points"), ("at2", "Together 12 of 21 points")):
        page = (course.out / f"feedback/{student}/index.html").read_text()
        assert words in page and "Not counted for any student: speed points." in page
        text = (course.out / f"feedback/{student}/feedback.txt").read_text()
        assert "Points: 6 of 8 (correctness 6 of 6, hygiene pending)" in text and "speed pending" not in text
        shown = json.loads((course.out / f"feedback/{student}/report.json").read_text())
        assert (shown["total"]["points"], shown["total"]["max"]) == (12, 16)
        assert [stage["score"]["speed_max"] for stage in shown["stages"]] == [0, 0]
        assert "<dt>Speed" not in page and "12 of 16 points \N{MIDDLE DOT} 4 pending" in page
    page = (course.out / "report.html").read_text()
    assert "Not counted for any student: speed points." in page and "12 / 21" in page
    assert "Not counted for any student: speed points." in course.run_verb("status").stdout
    lines = list(csv.reader(course.run_verb("export", "--format", "canvas").stdout.splitlines()))
    assert [line[5] for line in lines[1:]] == ["21", "15", "12"]
    result = course.run_verb("export", "--format", "moodle").stdout
    assert "lab: 12 of 21 points" in result and "speed pending" not in result
    assert "give 0 to 21" in course.run_verb("override", "--student", "at2", "--points", "22", "--reason", "x").stderr
    assert "All kinds of points count. lab has 20 points" in course.run_verb("without", "--undo").stdout
    course.run_verb("report")
    assert gradebook(course)["at2"] == before | {"points": "15", "of": "25", "journal": ""}


def test_a_student_who_hands_in_alone_and_in_a_team_counts_once(course: Course) -> None:
    """The latest submission counts; the time of a plain folder is that of its files."""
    for hours_ago, student in enumerate(("al1-at2", "al1")):
        for file in course.hand_in(student, "fine", *["fine"] * hours_ago).iterdir():
            os.utime(file, (1_000_000 - 3600 * hours_ago,) * 2)
        os.utime(course.handed_in / student, (1_000_000 - 3600 * hours_ago,) * 2)
    roster = course.root / "roster.csv"
    roster.write_text("id,name\nal1,Ada\nat2,Alan\n")
    course.grade("--roster", roster)
    book = list(csv.DictReader((course.out / "gradebook.csv").read_text("utf-8-sig").splitlines()))
    assert [(line["id"], line["name"]) for line in book] == [("al1", "Ada"), ("at2", "Alan")]
    assert "Not used, because there is a later hand-in: al1" in book[0]["remarks"]
    assert "For al1, a later submission counts instead." in (course.out / "feedback/al1/feedback.txt").read_text()
    assert course.run_verb("export", "--format", "canvas").returncode == 0
    assert (
        course.run_verb("extend", "--student", "Ada", "--until", "2026-12-01T10:00Z", "--reason", "ill").returncode == 0
    )


def test_the_batchs_own_folder_is_not_a_hand_in(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    command = course.grade_command()
    command[command.index("--out") + 1] = str(course.handed_in / "batch")
    for upto, status in (("99", 2), ("", 0), ("", 0)):
        assert course.run([*command, "--upto", upto]).returncode == status
        assert (course.handed_in / "batch").exists() == (status == 0)
    assert [row.key for row in Database(course.handed_in / "batch/batch.sqlite").rows()] == ["al1"]


def test_a_hand_in_that_was_deleted_is_kept_and_reported(course: Course) -> None:
    course.hand_in("al1", "fine", "fine")
    course.grade()
    shutil.move(course.handed_in / "al1", course.root / "elsewhere")
    course.hand_in("at2", "fine", "fine")
    result = course.grade()
    assert "No longer among the submissions, and kept as graded: al1" in result.stderr
    assert set(course.statuses()) == {"al1", "at2"}


def test_points_given_by_hand_are_exported_even_if_nothing_was_graded(course: Course) -> None:
    course.hand_in("al1", "break the judge", "fine")
    for student in ("at2", "gh3"):
        course.hand_in(student)
        (course.handed_in / student / "essay.txt").write_text("Dear all")
    roster = course.root / "roster.csv"
    roster.write_text("id\nal1\nat2\ngh3\njb4\nkt5\n")
    course.grade("--roster", roster)
    cells = {
        line[3]: line[5] for line in csv.reader(course.run_verb("export", "--format", "canvas").stdout.splitlines())
    }
    page = (course.out / "report.html").read_text()
    assert "feedback/at2/" in page and "feedback/jb4/" not in page  # no hand-in, no feedback
    assert cells.get("at2") == cells.get("gh3") == "0"
    assert not cells.keys() & {"al1", "jb4", "kt5"}  # a judge error or no hand-in: no row instead of 0 points
    for student in ("al1", "at2", "jb4"):
        course.run_verb("override", "--student", student, "--points", "7.5", "--reason", "shown in person")
    output = course.run_verb("export", "--format", "moodle").stdout
    assert 'at2,7.5,"The hand-in contains no file of this lab.' in output and "Points were set by hand." in output
    course.run_verb("report")
    assert "shown in person" not in output and "shown in person" in (course.out / "gradebook.csv").read_text(
        "utf-8-sig"
    )
    cells = {
        line[3]: line[5] for line in csv.reader(course.run_verb("export", "--format", "canvas").stdout.splitlines())
    }
    assert [cells.get(student) for student in ("al1", "at2", "gh3", "jb4", "kt5")] == ["7.5", "7.5", "0", "7.5", None]
