"""Exports of reports with hostile names and texts follow the rules of each system that reads them."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import random
import re
import unicodedata
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.python.batch.ingest import person_names, roster
from grader.python.batch.ingest.columns import CANVAS_NUMBER, OWN_ID
from grader.python.batch.outputs import formats
from grader.python.batch.outputs.cells import NUMBER, defuse, write_csv
from grader.python.batch.outputs.export import list_warnings
from grader.python.batch.outputs.formats import ONE_REPORT, autolab, github, github_log, gradescope, prairielearn
from grader.python.batch.outputs.gradebooks import canvas, compare_maxima, moodle, warn_of_new_column
from grader.python.batch.outputs.report_text import describe_report, hide_names
from grader.python.batch.outputs.rows import Entry
from grader.python.common import documents
from grader.python.common.console import UserError
from grader.python.common.documents import TOO_LARGE, from_json
from grader.python.common.report import Report, read_report
from tests.python import samples
from tests.python.support import run_module

HOSTILE_TEXTS = [
    'a "quoted" name',
    "O'Neil, Ada",
    "two\nlines\r\nof it",
    '=cmd|" /C calc"!A0',
    "+1+1",
    "-2",
    "@SUM(1)",
    "\t=1+1",
    "std::min: no colon: here",
    "\u202egnp.exe\u202c",
    "عربي",
    "👩‍🚀 emoji",
    "nul\0in\x1b[31mit",
    "lone \ud800 surrogate",
    "::set-output name=result::pwned",
    "x" * 300_000,
    "]]></x><script>alert(1)</script>",
    "",
]
HIDDEN = "hidden_secret_size"


def make_report(json_report: dict[str, Any]) -> Report:
    report: Report = from_json(Report, json_report, "")
    return report


def hostile_report(text: str) -> Report:
    """Return a report in which this text replaces every text that a student or a lab can choose."""
    report = make_report(samples.report())
    for stage in report.stages:
        stage.title = stage.output = stage.compilation.log = text
        stage.notes = [text]
        for check in stage.checks:
            if check.failure:
                check.failure.message = check.failure.hint = text
    report.stages[0].compilation.verdict = "failed"
    report.stages[0].compilation.failure = report.stages[2].checks[1].failure
    return report


def hidden_report() -> Report:
    """Return a report in which hidden datasets fail, with their names in every text that may contain them."""
    report = make_report(samples.report())
    for stage in report.stages:
        stage.output = f"printed on {HIDDEN}: 4711"
        stage.notes = [f"{HIDDEN} was cut"]
        for check in stage.checks:
            if check.hidden:
                check.dataset, check.verdict = HIDDEN, "failed"
                check.failure = make_report(samples.report()).stages[2].checks[1].failure
                assert check.failure and check.failure.place
                check.failure.message = f"The data of {HIDDEN} is 987654321."
                check.failure.place.expected = "987654321"
        assert stage.score
        stage.score.correctness_why = f"only {HIDDEN} passed"
    return report


def unjudged_report() -> Report:
    report = make_report(samples.cpu_report())
    for stage in report.stages:
        stage.score, stage.verdict = None, "error"
    report.total.points = report.total.max = report.total.pending = 0
    report.total.without_score = len(report.stages)
    return report


def parse_json(text: str) -> Any:
    """Parse strictly: no NaN, no lone surrogate, no raw control character."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    content = json.loads(text.encode("utf-8").decode(), parse_constant=refuse)
    json.dumps(content, ensure_ascii=False).encode()
    assert not [
        text for text in strings(content) if re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\ud800-\udfff]", text)
    ]
    return content


def strings(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict):
        return [text for key, value in content.items() for text in [*strings(key), *strings(value)]]
    return [text for entry in content for text in strings(entry)] if isinstance(content, list) else []


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_gradescope(text: str) -> dict[str, Any]:
    content: dict[str, Any] = parse_json(text)
    visibilities = {"hidden", "after_due_date", "after_published", "visible"}
    formats = {"text", "html", "simple_format", "md", "ansi"}
    top = {"score", "execution_time", "output", "output_format", "visibility", "stdout_visibility", "extra_data"}
    assert set(content) <= top | {"tests", "leaderboard"}
    assert is_number(content["score"]) and content["visibility"] in visibilities and content["output_format"] in formats
    for test in content["tests"]:
        keys = {"score", "max_score", "status", "name", "number", "output", "output_format", "tags", "visibility"}
        assert set(test) <= keys | {"extra_data"}
        assert test["visibility"] == "visible"  # a hidden test would hide the total
        assert test["output_format"] in formats and isinstance(test["name"], str) and isinstance(test["number"], str)
        assert test.get("status") in ("passed", "failed", None)
        assert ("score" in test) == ("max_score" in test) and all(
            is_number(test.get(key, 0)) for key in ("score", "max_score")
        )
        assert 0 <= test.get("score", 0) <= test.get("max_score", 0)
    assert abs(sum(test.get("score", 0) for test in content["tests"]) - content["score"]) < 0.05
    assert len(text.encode()) < 2_000_000
    return content


def check_autolab(text: str) -> dict[str, float]:
    *before, presentation, last = text.splitlines()
    assert not [line for line in before if line.startswith("{")]
    for line in (presentation, last):
        for string in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            assert not re.search(r"\w:", string), string  # Autolab's parser would quote such a word again
    parsed = parse_json(presentation)
    assert parsed["_presentation"] == "semantic" and set(parsed) == {"_presentation", "stages", *parsed["stages"]}
    for stage in parsed["stages"]:
        for test in parsed[stage].values():
            assert set(test) == {"passed", "hint"} and isinstance(test["passed"], bool)
    content = parse_json(last)
    assert list(content) == ["scores"]
    scores: dict[str, float] = content["scores"]
    assert scores and all(re.fullmatch(r"[a-z0-9_]+", name) and is_number(score) for name, score in scores.items())
    return scores


def check_github(text: str) -> dict[str, Any]:
    assert text.count("\n") == 1
    content: dict[str, Any] = parse_json(base64.b64decode(text, validate=False).decode())
    assert set(content) == {"version", "status", "max_score", "tests"} and content["version"] == 1
    keys = {"name", "status", "score", "message", "test_code", "filename", "line_no", "duration"}
    for test in content["tests"]:
        assert set(test) == keys and test["status"] in ("pass", "fail", "error")
        assert test["score"] == (test["status"] == "pass")  # all tests have the same weight
    scored = [test for test in content["tests"] if test["status"] != "error"]
    assert content["max_score"] == len(scored)
    passed = sum(test["status"] == "pass" for test in content["tests"])
    assert passed == sum(test["score"] for test in content["tests"])
    assert content["status"] == ("error" if not scored else "pass" if passed == len(content["tests"]) else "fail")
    return content


def check_prairielearn(text: str) -> dict[str, Any]:
    content: dict[str, Any] = parse_json(text)
    assert len(text.encode()) <= 1 << 20
    if not content.get("gradable", True):
        assert content["format_errors"]
        return content
    assert 0 <= content["score"] <= 1
    with_points = [test for test in content["tests"] if "points" in test and "max_points" in test]
    assert len(with_points) in (0, len(content["tests"]))
    for test in content["tests"]:
        assert isinstance(test["name"], str) and all(is_number(test[key]) for key in ("points", "max_points"))
    assert all({"label", "url"} <= set(image) for image in content["images"])
    return content


VALIDATORS = {
    "gradescope": check_gradescope,
    "autolab": check_autolab,
    "github": check_github,
    "prairielearn": check_prairielearn,
}


def check_csv(text: str) -> list[list[str]]:
    text.encode("utf-8")
    csv.field_size_limit(10_000_000)
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert len({len(row) for row in rows}) == 1
    for row in rows[1:]:
        for cell in row:
            assert cell in ("-", "") or re.fullmatch(r"-?[\d.]+", cell) or not re.match(r"\s*[=+\-@]", cell), cell
            assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", cell.replace("\r\n", "\n"))
    return rows


@pytest.mark.parametrize("system", ONE_REPORT)
@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=[f"hostile{number}" for number in range(len(HOSTILE_TEXTS))])
def test_hostile_names_do_not_break_any_format(system, text):
    VALIDATORS[system](ONE_REPORT[system](hostile_report(text)))


@pytest.mark.parametrize("system", ONE_REPORT)
def test_no_format_has_raw_characters(system):
    report = hostile_report("\u202e\x1b[2J")
    report.warplab = report.sandbox = "\u202e"
    text = base64.b64decode(ONE_REPORT[system](report)).decode() if system == "github" else ONE_REPORT[system](report)
    assert not re.search(r"\\u202e|\\u001b|[\u202e\x1b]", text)


@pytest.mark.parametrize("system", ONE_REPORT)
def test_a_lab_with_many_stages_can_be_exported(system):
    report = hostile_report("😀" * 20_000)
    report.stages *= 12
    report.total.points, report.total.max = report.total.points * 12, report.total.max * 12
    text = ONE_REPORT[system](report)
    if system != "gradescope":
        VALIDATORS[system](text)


@pytest.mark.parametrize("system", [*ONE_REPORT, "canvas", "moodle"])
def test_hidden_datasets_are_in_no_format(system):
    report = hidden_report()
    if system in ONE_REPORT:
        text = ONE_REPORT[system](report)
    else:
        text = {"canvas": canvas, "moodle": moodle}[system]([Entry("al1", report)])[0]
    text = base64.b64decode(text).decode() if system == "github" else text
    for word in (HIDDEN, "987654321", "987,654,321", "4711"):
        assert word not in text, word
    if system != "canvas":
        assert "0 of 1 hidden dataset passed (tail_lost)" in text
        assert "only a hidden dataset passed" in text


def test_exports_do_not_contain_the_graders_folders():
    report = make_report(samples.cpu_report())
    report.stages[1].source = "/tmp/graded/work/add/02_grid_stride.cu"
    assert report.stages[1].compilation.failure
    report.stages[1].compilation.failure.message = f"{report.stages[1].source}:17: expected ';'"
    assert "\n02_grid_stride.cu:17: expected" in describe_report(report) and "/tmp" not in describe_report(report)


def test_a_note_that_may_explain_wrong_outputs_is_exported():
    def is_exported(cause: str) -> bool:
        note = samples.finding(cause=cause, message="It is 0.", note=True)
        inspected = {"verdict": "passed", "remark": "", "datasets": 1, "wall_s": 0.4, "findings": [note]}
        report = samples.report(stages=[samples.stage("01_first", "First", check_mode=inspected)])
        return "Sanitizer, line 17: It is 0." in describe_report(make_report(report))

    assert is_exported("unset_constant") and is_exported("absent_lane") and not is_exported("beside_atomic")


def test_further_failures_are_exported_with_their_causes():
    def failed(name: str, cause: str, message: str) -> dict[str, Any]:
        return samples.check(
            name, verdict="failed", failure={"cause": cause, "message": message, "hint": f"Try {cause}.", "place": None}
        )

    checks = [failed("one", "tail_lost", "It is 1."), failed("two", "tail_lost", "It is 2.")]
    checks += [failed("huge", "overflow", "x" * 100_000), failed("vast", "overflow", "It is 4.")]
    stage = samples.stage("01_first", "First", verdict="failed", checks=checks)
    output = describe_report(make_report(samples.report(stages=[stage])))
    assert "\nAlso did not pass: two (tail_lost); huge, vast (overflow)\nhuge: xxx" in output
    assert output.count("Try tail_lost.") == output.count("\nHint: Try overflow.") == 1 and len(output) < 1000
    output = describe_report(make_report(samples.report(stages=[stage | {"checks": [checks[0], checks[2]]}])))
    assert "Also did not pass: huge (overflow)" in output


def test_times_are_exported():
    assert "bench_2_24: 0.08830\u00a0s for 1000 iterations, 1.03× the reference's time" in describe_report(
        make_report(samples.report())
    )


def test_exported_points_equal_the_reports():
    report = make_report(samples.report())
    content = check_gradescope(gradescope(report))
    assert content["score"] == pytest.approx(report.total.points, abs=0.01)
    assert [test["score"] for test in content["tests"]] == [7.83, 7.83, 2.0, 7.83, 7.83]
    assert [test["status"] for test in content["tests"]] == ["passed", "passed", "failed", "passed", "passed"]
    assert content["extra_data"]["source_hashes"]["01_serial_block_sum"] == "5f2a" * 16
    assert check_autolab(autolab(report)) == {
        stage.stage: round(stage.score.total, 2) for stage in report.stages if stage.score
    }
    assert check_prairielearn(prairielearn(report))["score"] == pytest.approx(
        report.total.points / report.total.max, abs=1e-5
    )
    content = check_github(github(report))
    assert content["max_score"] == 40  # 50 without hygiene, which is pending in all five stages
    assert sum(test["score"] for test in content["tests"]) == 8 + 8 + 2 + 8 + 8


def test_pending_points_are_mentioned():
    report = make_report(samples.cpu_report())
    assert report.total.pending == 6
    assert "6 are pending" in json.loads(gradescope(report))["output"]
    assert "6 are pending" in autolab(report)
    assert "4 points are pending" in prairielearn(report)
    assert "speed pending" in base64.b64decode(github(report)).decode()
    report.total.without_score = False
    assert "speed pending" in moodle([Entry("al1", report)])[0]


def test_modelled_points_are_named_wherever_the_total_stands():
    modelled = samples.score(speed=2, speed_pending=False, speed_modelled=True, hygiene=2, hygiene_pending=False)
    report = make_report(samples.report(stages=[samples.stage("01_one", "One", score=modelled)]))
    words = "2 of the points are modelled: a GPU's measurement replaces them"
    assert words in json.loads(gradescope(report))["output"] and words in autolab(report)
    assert json.loads(gradescope(report))["extra_data"]["modelled"] == 2
    assert json.loads(prairielearn(report))["tests"][0]["message"] == "2 points are modelled"
    assert list_warnings([Entry("al1", report)], []) == [
        "A GPU's measurement would replace the points for modelled times of: al1."
    ]
    report.stages[0].score.speed_modelled = False
    assert "modelled" not in json.loads(gradescope(report))["output"] + autolab(report) + prairielearn(report)
    assert not list_warnings([Entry("al1", report)], [])


def test_pending_points_name_the_place_that_decides():
    report = make_report(samples.cpu_report())
    scores = [stage.score for stage in report.stages if stage.score]
    for score in scores:
        score.hygiene_pending = False
    assert "they are decided later, on a GPU." in describe_report(report)
    scores[0].hygiene_pending = True
    assert "they are decided later, on a GPU or by the sanitizer." in describe_report(report)


def test_a_stage_that_needs_a_gpu_is_pending_in_every_format():
    stages = [samples.stage("01_a", "A"), samples.refused_stage("02_b", "B")]
    report = make_report(samples.report(stages=stages))
    assert report.total.pending == 2 + 10
    assert "correctness pending, hygiene pending, speed pending" in describe_report(report)
    assert "grading on a GPU decides, because the CPU backend refuses the file" in describe_report(report)
    assert "12 are pending" in check_gradescope(gradescope(report))["output"]
    assert "10 points are pending" in prairielearn(report)
    content = check_github(github(report))
    assert (content["max_score"], content["tests"][-1]["status"]) == (8, "error")
    assert check_github(github(make_report(samples.report(stages=stages[1:]))))["status"] == "error"


def test_a_judge_error_does_not_become_zero_points():
    """A stage that could not be judged has no score in any format; if nothing was judged, there is no result."""
    report = make_report(samples.cpu_report())
    lost = check_gradescope(gradescope(report))["tests"][2]
    assert "score" not in lost and "status" not in lost and "costs no points" in lost["output"]
    assert "03_vector_loads" not in check_autolab(autolab(report))
    assert check_github(github(report))["tests"][-1]["status"] == "error"
    assert canvas([Entry("al1", report)])[0].splitlines()[2].endswith(",")
    book = "Student,ID,SIS Login ID,Section,Lab (1)\nAda,1,al1,CS,7\n"
    assert canvas([Entry("al1", report)], book, "Lab (1)")[0].splitlines()[1].endswith(",7"), (
        "Canvas deletes empty grades"
    )
    for convert in (gradescope, autolab):
        with pytest.raises(UserError, match="no stage could be judged"):
            convert(unjudged_report())
    assert check_prairielearn(prairielearn(unjudged_report()))["gradable"] is False
    assert check_github(github(unjudged_report()))["status"] == "error"


def test_commands_in_a_students_text_do_not_reach_githubs_runner():
    token = uuid.uuid4().hex
    report = hostile_report(f"::set-output name=result::pwned\n::{token}::\n::set-env name=PATH::x")
    first, *inside, last = github_log(report, token).splitlines()
    assert (first, last) == (f"::stop-commands::{token}", f"::{token}::")
    assert inside and not [line for line in inside if token in line]


def entries(*students: str) -> list[Entry]:
    return [Entry(student, make_report(samples.report())) for student in students]


def test_a_canvas_gradebook_is_written_without_an_exported_one():
    text, unknown = canvas(entries(*HOSTILE_TEXTS[:-1]), title="Dot product (1234)")
    header, possible, *rows = check_csv(text)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Dot product (1234)"]
    assert possible[0].strip() == "Points Possible" and possible[5] == "50"
    assert [row[5] for row in rows] == ["33.32"] * (len(HOSTILE_TEXTS) - 1) and unknown == []


@pytest.mark.parametrize("system", [canvas, moodle])
def test_a_course_systems_number_is_not_written_as_a_login(system: Callable[..., tuple[str, list[str]]]) -> None:
    (entry,) = entries("7001")
    assert "7001" in system([entry])[0]
    with pytest.raises(UserError, match="not logins: 7001"):
        system([replace(entry, ids={(CANVAS_NUMBER, "7001"), (OWN_ID, "al1")})])


def test_an_exported_canvas_gradebook_is_filled_in():
    exported = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Other (1),Dot (7)\r\n"
        "    Points Possible,,,,,10,\r\n"
        '"Lovelace, Ada",11,S1,al1,A,3,\r\n"Turing, Alan",12,S2,at2,A,,EX\r\n"=cmd, Eve",13,S3,eve,A,,\r\n'
    )
    text, unknown = canvas(entries("al1", "S2", "nobody"), exported, "Dot (7)")
    assert text.startswith("\ufeffStudent,")  # the byte order mark is kept
    rows = check_csv(text.removeprefix("\ufeff"))
    assert rows[1] == ["    Points Possible", "", "", "", "", "10", "50"]
    assert rows[2] == ["Lovelace, Ada", "11", "S1", "al1", "A", "3", "33.32"]
    assert rows[3][6] == "EX" and rows[4] == ["'=cmd, Eve", "13", "S3", "eve", "A", "", ""]
    assert unknown == ["nobody"]
    added = check_csv(canvas(entries("al1"), exported.removeprefix("\ufeff"), "New one")[0])
    assert added[0][7] == "New one" and [row[7] for row in added[1:]] == ["50", "33.32", "", ""]


@pytest.mark.parametrize("title", ["Final Score", "current grade (3)", "Labs Final Points", "Override Score"])
def test_canvas_titles_that_are_dropped_are_refused(title):
    with pytest.raises(UserError, match="Canvas ignores"):
        canvas(entries("al1"), title=title)


def test_a_column_that_identifies_students_cannot_hold_points():
    with pytest.raises(UserError, match="identifies a student"):
        canvas(entries("al1"), title="SIS Login ID")


CANVAS = (
    "Student,ID,SIS Login ID,Section,Notes,Dot (7),Old (8),Labs Final Points (9),Twice (1),Twice (2),Final Score\n"
    "    Points Possible,,,,,20.00,(read only),50,50,50,(read only)\nAda,11,al1,A,,,,,,,\n"
)


@pytest.mark.parametrize(
    ("title", "message"),
    [
        (
            "Dot (1234)",
            "No assignment column is called 'Dot \\(1234\\)'. --title .*: Dot \\(7\\), Twice \\(1\\), Twice \\(2\\)$",
        ),
        ("Old (8)", "No assignment column is called 'Old"),
        ("Twice", "--title must be one of: Twice \\(1\\), Twice \\(2\\)$"),
    ],
)
def test_a_title_that_is_not_an_assignment_is_refused(title, message):
    with pytest.raises(UserError, match=message):
        canvas(entries("al1"), CANVAS, title)


def test_a_title_is_found_without_its_number_and_a_new_one_causes_a_warning():
    assert check_csv(canvas(entries("al1"), CANVAS, "dot")[0])[2][5] == "33.32"
    assert warn_of_new_column(entries("al1"), CANVAS, "dot") == []
    assert canvas(entries("al1"), CANVAS, "Next lab")[0].splitlines()[0].endswith(",Next lab")
    (warning,) = warn_of_new_column(entries("al1"), CANVAS, "Next lab")
    assert "no column 'Next lab' yet" in warning and warning.endswith(
        "--title must be one of: Dot (7), Twice (1), Twice (2)"
    )


def test_a_different_maximum_is_kept_with_a_warning():
    assert check_csv(canvas(entries("al1"), CANVAS, "Dot (7)")[0])[1][5] == "20.00"
    (warning,) = compare_maxima(entries("al1"), "canvas", CANVAS, "Dot (7)")
    assert "The column 'Dot (7)' has 20 points in Canvas, but the maximum here is 50." in warning
    assert compare_maxima(entries("al1"), "canvas", CANVAS, "Twice (1)") == []
    assert compare_maxima(entries("al1"), "canvas", CANVAS, "Next lab") == []


@pytest.mark.parametrize("maximum", ["Maximum grade", "Maximum Grade"])
def test_moodles_maximum_is_recognised_in_any_spelling(maximum):
    worksheet = f"Identifier,Email address,Grade,{maximum}\nParticipant 7,al1,-,{{0}}\nParticipant 8,at2,-,{{0}}\n"
    different, above = compare_maxima(entries("al1", "at2"), "moodle", worksheet.format("20.00"))
    assert f"'{maximum}' has the maximum 20, but the maximum here is 50. Set" in different
    assert above == "Moodle omits grades above its maximum, 20, but not their feedback: al1, at2."
    assert len(compare_maxima(entries("al1"), "moodle", worksheet.format('"100,00"'))) == 1
    assert compare_maxima(entries("al1"), "moodle", worksheet.format("50.00")) == []
    assert compare_maxima(entries("al1"), "moodle", "username\nal1\n") == []


def test_gradebooks_with_semicolons_are_read_and_written_with_commas():
    text, unknown = canvas(entries("al1"), CANVAS.replace(",", ";").replace("20.00", "20,00"), "dot")
    assert text == canvas(entries("al1"), CANVAS.replace("20.00", '"20,00"'), "dot")[0] and unknown == []
    worksheet = "Identifier;Full name;Grade;Maximum grade\nParticipant 7;Lovelace, Ada;-;20,00\n"
    text, unknown = moodle(entries("7"), f"\ufeff{worksheet}")
    assert text.startswith("\ufeffIdentifier,Full name,Grade,Maximum grade,Feedback comments\r\n") and unknown == []
    assert check_csv(text)[1][:4] == ["Participant 7", "Lovelace, Ada", "33.32", "20,00"]
    assert len(compare_maxima(entries("7"), "moodle", worksheet)) == 2


def test_lines_with_more_cells_than_the_header_are_refused_unless_those_are_empty():
    text, _ = canvas(entries("al1"), "Student,ID\nAda,al1,,\nAlan\n", "Lab 1")
    assert check_csv(text) == [["Student", "ID", "Lab 1"], ["Ada", "al1", "33.32"], ["Alan", "", ""]]
    with pytest.raises(UserError, match="Line 3 of the gradebook has more cells"):
        canvas(entries("al1"), "Student,ID\nAda,al1\nAlan,at2,7\n", "Lab 1")


def test_one_table_collects_the_labs_of_a_term():
    """One lab's export serves as the gradebook for the next lab, as described in BATCH.md."""
    first, _ = canvas(entries("al1", "at2"), 'Student,ID\n"Lovelace, Ada",al1\nAlan,at2\n=Eve,eve\n', "Lab 1")
    second, unknown = canvas(entries("at2"), first, "Lab 2")
    assert check_csv(second) == [
        ["Student", "ID", "Lab 1", "Lab 2"],
        ["Lovelace, Ada", "al1", "33.32", ""],
        ["Alan", "at2", "33.32", "33.32"],
        ["'=Eve", "eve", "", ""],
    ]
    assert unknown == []


def test_the_export_deletes_no_grade_in_moodle():
    """An import into the gradebook ignores an empty grade: update_grade_item in
    grade/import/csv/classes/load_data.php (github.com/moodle/moodle, commit 0289d8c76654). An import of a worksheet
    skips it: process_import_grades in mod/assign/feedback/offline/locallib.php (commit 04975560d10b)."""
    unjudged = make_report(samples.cpu_report())
    people = [*entries("7"), Entry("8", unjudged)]
    people[1].report.lab = people[0].report.lab
    for book, count in (
        ("", 1),
        ("username,First name\n7,Ada\n8,Alan\n", 1),
        ("username,Grade\n7,\n8,12\n", 2),
        ("Identifier,Full name,Grade\nParticipant 7,Ada,\nParticipant 8,Alan,\n", 2),
    ):
        text, unknown = moodle(people, book)
        assert len(check_csv(text)) == 1 + count and not unknown, book


def test_grades_and_feedback_for_moodle_are_written():
    header, *rows = check_csv(moodle(entries(*HOSTILE_TEXTS[:-1]))[0])
    assert header == ["username", "Grade", "Feedback comments"]
    assert all(row[1] == "33.32" and "tail_lost" in row[2] for row in rows)
    worksheet = (
        "Identifier,Full name,Email address,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
        "Participant 7,Ada Lovelace,ada@example.com,-,50.00,-,\nParticipant 8,Alan Turing,alan@example.com,-,50.00,-,\n"
    )
    text, unknown = moodle(entries("ada@example.com", "nobody@example.com"), worksheet)
    header, ada = check_csv(text)  # an import does not change students who are not in it
    assert header == worksheet.splitlines()[0].split(",")
    assert ada[3] == "33.32" and "hidden dataset" in ada[6] and ada[5] == "-"
    assert unknown == ["nobody@example.com"]
    text, unknown = moodle(entries("8"), worksheet)  # the number by which Moodle's archives name Participant 8
    assert [row[3] for row in check_csv(text)[1:]] == ["33.32"] and unknown == []


def test_moodles_comments_are_html_with_the_students_markup_as_text():
    """Moodle stores imported comments as HTML, so line breaks need a tag, and a compiler's messages quote students'
    lines."""
    markup = '#error <img src=//evil.example/x.png><<<grid, block>>> & <br>; <= =1; "-2 x<=\uff1d'
    report = make_report(samples.cpu_report())
    assert report.stages[1].compilation.failure
    report.stages[1].compilation.failure.message = markup
    report.total.without_score = False
    for worksheet in ("", "username,Grade\nal1,\n"):
        (_, (*_, comment)) = check_csv(moodle([Entry("al1", report, ["Two <b>days</b> late."])], worksheet)[0])
        shown_lines = re.split("<br>", comment)
        assert not re.search("[<>\n]", "".join(shown_lines))
        lines = describe_report(report).rstrip("\n").split("\n")
        assert [html.unescape(line) for line in shown_lines] == ["Two <b>days</b> late.", *lines] and markup in lines


def test_the_gradebook_of_the_other_system_is_refused(tmp_path):
    (report := tmp_path / "al1.json").write_text(json.dumps(samples.report()))
    worksheet = "Identifier,Full name,Email address,Grade,Maximum grade\nParticipant 7,Ada,al1,-,50.00\n"
    for system, text, message in (
        ("moodle", CANVAS, "seems to be Canvas's: it has columns Student and ID. Use --format canvas"),
        (
            "canvas",
            worksheet,
            "Identifier, Full name, Email address, Maximum grade. It seems to be Moodle's: use --fo",
        ),
        ("canvas", "Username\nal1\n", "It seems to be Moodle's: use --format moodle"),
    ):
        (book := tmp_path / "book.csv").write_text(text)
        words = ("--format", system, "--gradebook", book, "--title", "Dot (7)", "--output", tmp_path / "out.csv")
        result = run_module("grader.python.batch.outputs.export", report, *words)
        assert result.returncode == 2 and message in result.stderr and not (tmp_path / "out.csv").exists()


def test_ambiguous_gradebooks_are_refused():
    with pytest.raises(UserError, match="More than one report: al1"):
        canvas(entries("al1", "al1"))
    with pytest.raises(UserError, match="about add, dot"):
        moodle([*entries("al1"), Entry("at2", make_report(samples.cpu_report()))])
    with pytest.raises(UserError, match="Not a Canvas gradebook"):
        canvas(entries("al1"), "Identifier,Full name,Email address,Grade\nParticipant 7,Ada,al1,\n")
    with pytest.raises(UserError, match="No column of the gradebook identifies"):
        moodle(entries("al1"), "name of person,grade\n")


BOOKS = {
    "canvas": 'Student,ID,SIS Login ID,Section,Dot (7)\n"Lovelace, Ada",77,al1,s,\n"Bell, Ed",78,be4,s,\n',
    "moodle": "Identifier,Full name,Username,Grade\nParticipant 77,Ada Lovelace,al1,\nParticipant 78,Ed Bell,be4,\n",
}


def export_points(system: str, people: list[Entry], book: str) -> tuple[list[str], list[str]]:
    """Return the points of Ada and of Ed, and the students without a row."""
    text, unknown = canvas(people, book, "Dot (7)") if system == "canvas" else moodle(people, book)
    header, *rows = check_csv(text)
    at = header.index("Dot (7)" if system == "canvas" else "Grade")
    points = {row[0]: row[at] for row in rows}
    students = ("Lovelace, Ada", "Bell, Ed") if system == "canvas" else ("Participant 77", "Participant 78")
    return [points.get(student, "") for student in students], unknown


@pytest.mark.parametrize("system", BOOKS)
def test_a_cell_that_a_student_typed_can_be_as_long_as_the_file(system, monkeypatch):
    """Moodle's worksheet has a column for text that students type into its page."""
    lengths = []
    monkeypatch.setattr(person_names, "fold", lambda text: lengths.append(len(text)) or text)
    csv.field_size_limit(131_072)
    long_text = "\u0315\u0300" * 200_000
    title, ada, ed = BOOKS[system].splitlines()
    book = f"{title},Online text,Name,Full name\n{ada},{long_text},{long_text},{long_text}\n{ed},,,\n"
    assert export_points(system, entries("al1"), book) == (["33.32", ""], [])
    assert max(lengths) <= 300


def test_a_table_that_is_not_csv_is_refused_with_its_line(tmp_path, monkeypatch):
    csv_limit = csv.field_size_limit
    monkeypatch.setattr(csv, "field_size_limit", lambda *_: csv_limit(10))
    (file := tmp_path / "roster.csv").write_text(f"id,name\nal1,{'x' * 11}\n")
    try:
        with pytest.raises(UserError, match=r"roster\.csv: Line 2 cannot be read as CSV: field larger"):
            roster.read_roster(file)
        with pytest.raises(UserError, match="The gradebook: Line 2 cannot be read as CSV"):
            moodle(entries("al1"), file.read_text())
    finally:
        csv_limit(131_072)


@pytest.mark.parametrize("system", BOOKS)
@pytest.mark.parametrize("stranger", ["Lovelace, Ada", "Ada Lovelace", "AL1", "77", "Participant 77", "Ada  lovelace"])
@pytest.mark.parametrize("on_roster", [True, False])
def test_a_strangers_name_does_not_stop_an_export(system, stranger, on_roster):
    (report,) = {entry.report.lab: entry.report for entry in entries("al1")}.values()
    names = {"al1": "Ada Lovelace", "be4": "Ed Bell"}
    people = [Entry(stranger, report, is_stranger=on_roster), *(
        Entry(student, report, [], names[student] if on_roster else "") for student in names)]  # fmt: skip
    contested = not on_roster and stranger in {"AL1", "77", "Participant 77" if system == "moodle" else ""}
    points, unknown = export_points(system, people, BOOKS[system])
    if contested:  # the row's student cannot be determined
        assert points == ["", "33.32"] and unknown == sorted([stranger, "al1"])
    else:
        assert points == ["33.32", "33.32"] and unknown == [stranger]


def test_a_strangers_name_does_not_take_the_row_of_a_student_on_the_roster():
    (report,) = {entry.report.lab: entry.report for entry in entries("al1")}.values()
    people = [Entry("Ed Bell", report, is_stranger=True), Entry("x9", report, [], "Ed Bell")]
    assert export_points("canvas", people, BOOKS["canvas"]) == (["", "33.32"], ["Ed Bell"])


def test_a_student_with_two_rows_is_left_out_and_listed():
    text, unknown = moodle(entries("al1", "at2"), "username,Grade\nal1,\nal1,\nat2,\n")
    assert [row[:2] for row in check_csv(text)[1:]] == [["at2", "33.32"]] and unknown == ["al1"]
    text, unknown = moodle(entries("sam lee", "at2"), "username,Full name,Grade\ns1,Sam Lee,\ns2,Sam Lee,\nat2,,\n")
    assert [row[2] for row in check_csv(text)[1:]] == ["33.32"] and unknown == ["sam lee"]


def test_cells_that_are_formulas_are_defused():
    assert [defuse(cell) for cell in ("=1", "-1", "-x", "+49", "@a", " =1", "a=b", "-")] == [
        "'=1", "-1", "'-x", "+49", "'@a", "' =1", "a=b", "-",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    ["\uff1d1+1", "\uff0b1|x", "\uff0dx", "\uff20SUM", "\ufe66x", "\u2212x", "\u207ax", "\t=1", "\r=1", "\r\n=1",
     "a;=1", "a; =1", "a\t=1", "a\n=1", "\u200b=1", "\u3000=1", ";;=1"],
)  # fmt: skip
def test_no_part_of_a_cell_is_a_formula_in_any_spreadsheet(cell):
    for part in re.split(r"[;\t\n]", unicodedata.normalize("NFKC", defuse(cell))):
        assert not part.strip().startswith(("=", "+", "-", "@", "\u2212")), defuse(cell)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("skips_blanks", [False, True])
def test_no_reader_of_any_separator_finds_a_formula(separator: str, skips_blanks: bool) -> None:
    """Search for a formula's sign at the start of a field, in random tables made of characters that end, begin or quote
    a field."""
    chance = random.Random(4711)
    parts = [*';\t\n",= -+@x1', "\r\n", '"=', ';"', "\uff1d", "al1"]
    for _ in range(3000):
        rows = [["".join(chance.choices(parts, k=chance.randrange(7))) for _ in range(3)] for _ in range(2)]
        text = write_csv(rows)
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=skips_blanks):
            for cell in row:
                start = unicodedata.normalize("NFKC", cell).strip()
                assert not start.startswith(("=", "+", "-", "@")) or cell == "-" or NUMBER.fullmatch(cell), (rows, row)


def test_cells_without_a_formula_are_unchanged() -> None:
    rows = [["al1", 'She said "no"; really', "a, b\nc", "-", "-1.5", "x=1"]]
    assert list(csv.reader(io.StringIO(write_csv(rows), newline=""))) == rows


def test_defusing_takes_time_linear_in_the_length_of_a_cell():
    assert defuse("\n" * 300_000 + " " * 300_000) and defuse(";=" * 100_000).count("'") == 100_000


@pytest.mark.parametrize("value", [2.0**64, 10_001, -1, 1e400, float("nan")])
@pytest.mark.parametrize("field", ["max", "total", "speed_max", "correctness"])
def test_impossible_points_are_refused_with_their_place(tmp_path, field, value):
    report = samples.report()
    report["stages"][0]["score"] = samples.score() | {field: value}
    (tmp_path / "al1.json").write_text(json.dumps(report))
    result = run_module("grader.python.batch.outputs.export", tmp_path / "al1.json", "--format", "github")
    assert result.returncode == 2 and f"/stages/0/score/{field}: expected" in result.stderr


def repeat_stages(report: dict[str, Any], count: int) -> None:
    report["stages"] = [report["stages"][0] | {"stage": f"{number:03}_stage"} for number in range(count)]


def repeat_checks(report: dict[str, Any], count: int) -> None:
    (first, *_) = report["stages"][0]["checks"]
    report["stages"][0]["checks"] = [first | {"dataset": f"d{number}"} for number in range(count)]


def lengthen_title(report: dict[str, Any], count: int) -> None:
    report["stages"][0]["title"] = "x" * count


def add_notes(report: dict[str, Any], count: int) -> None:
    report["stages"][0]["notes"] = [""] * count


def raise_points(report: dict[str, Any], count: int) -> None:
    del report["stages"][1:]
    report["stages"] = [
        report["stages"][0] | {"score": samples.score() | {"max": maximum}} for maximum in (9000, count)
    ]


@pytest.mark.parametrize(
    ("change", "limit", "message"),
    [
        (repeat_stages, 120, "/stages: 121 items exceed the limit of 120."),
        (repeat_checks, 400, "/stages/0/checks: 401 items exceed the limit of 400."),
        (lengthen_title, 1_000_000, "/stages/0/title: 1,000,001 characters exceed the limit of 1,000,000."),
        (add_notes, 10_000, "/stages/0/notes: 10,001 items exceed the limit of 10,000."),
        (raise_points, 1000, "the stages have 10,001 points together, more than the limit of 10,000."),
    ],
)
def test_reports_beyond_a_maximum_are_refused(tmp_path, change, limit, message):
    report = samples.report()
    change(report, limit)
    (file := tmp_path / "al1.json").write_text(json.dumps(report))
    for convert in ONE_REPORT.values():
        assert len(convert(read_report(file))) < 8_000_000
    change(report, limit + 1)
    file.write_text(json.dumps(report))
    with pytest.raises(UserError) as error:
        read_report(file)
    assert f"{message} {TOO_LARGE}" in str(error.value)


def test_large_documents_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MAX_BYTES", 2_000_000)
    (file := tmp_path / "al1.json").write_text(json.dumps(samples.report()) + " " * 2_000_000)
    with pytest.raises(UserError, match="larger than 2 MB, and so not a report"):
        read_report(file)


def test_invisible_characters_do_not_split_hidden_names():
    assert hide_names("sec\x1b[0mret_1, secret_10", {"secret_1": "a hidden dataset"}) == "a hidden dataset, secret_10"


@pytest.mark.parametrize("start", ["\x1b]", "\x1b]0;x", "\x1b[", "\x1bP", "\x1b"])
def test_an_unclosed_sequence_in_a_quoted_line_hides_no_other_line(start):
    report = make_report(samples.cpu_report())
    whole = describe_report(report)
    assert report.stages[1].compilation.failure
    report.stages[1].compilation.failure.message += f"\n#error {start}"
    report.stages[1].compilation.log += f"\n#error {start}"
    output = describe_report(report)
    assert set(whole.splitlines()) <= set(output.splitlines()) and "\x1b" not in output


def test_hidden_names_are_collected_once(monkeypatch):
    """The export collects the names once, for any number of checks."""
    report = make_report(samples.report())
    calls = []
    monkeypatch.setattr(formats, "hidden_names", lambda lab: calls.append(lab) or {})
    for convert in ONE_REPORT.values():
        calls.clear()
        convert(report)
        assert len(calls) == 1


@pytest.mark.parametrize("system", [*ONE_REPORT, "canvas", "moodle"])
def test_the_command_writes_each_format(tmp_path, system):
    report = tmp_path / "al1.json"
    report.write_text(json.dumps(samples.report()))
    result = run_module(
        "grader.python.batch.outputs.export", report, "--format", system, "--output", tmp_path / "out/file"
    )
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out/file").read_bytes().decode()
    if system in VALIDATORS:
        VALIDATORS[system](text)
        assert run_module("grader.python.batch.outputs.export", report, "--format", system).stdout == text
    else:
        assert "al1" in {cell for row in check_csv(text) for cell in row}
        assert "Points are pending" in result.stderr
    assert ("::stop-commands::" in result.stdout) == (system == "github")


def test_the_command_lists_students_who_are_not_in_the_gradebook(tmp_path):
    (report := tmp_path / "r.json").write_text(json.dumps(samples.report()))
    (book := tmp_path / "book.csv").write_text("username,Grade\nal1,\n")
    words = (f"al1={report}", f"zoe={report}", "--format", "moodle", "--gradebook", book)
    result = run_module("grader.python.batch.outputs.export", *words)
    assert result.returncode == 1
    assert "or has a different name: zoe." in result.stderr and "33.32" in result.stdout
    assert run_module("grader.python.batch.outputs.export", report, report, "--format", "autolab").returncode == 2
    (tmp_path / "no.json").write_text("{}")
    assert (
        "not a report"
        in run_module("grader.python.batch.outputs.export", tmp_path / "no.json", "--format", "github").stderr
    )


def test_the_judges_own_sample_can_be_exported():
    """tests/model/expected/report.json is a report of the judge that contains parts of every kind."""
    file = Path(__file__).resolve().parents[3] / "model/expected/report.json"
    report = make_report(json.loads(file.read_text()))
    for system, convert in ONE_REPORT.items():
        VALIDATORS[system](convert(report))
    assert "secret_1" not in describe_report(report)


@pytest.mark.parametrize("book", [
    'Student,ID,SIS Login ID,Section,Dot (7)\n"Lovelace, Ada",77,ada7,s,\n"Bell, Ed",78,be4,s,\n',
    'Student,ID,SIS Login ID,Section,Dot (7)\n"Bell, Ed",78,be4,s,\n"Lovelace, Ada",ada7,x,s,\n',
])  # fmt: skip
def test_a_strangers_key_does_not_take_the_row_of_a_student_found_by_name(book):
    (report,) = {entry.report.lab: entry.report for entry in entries("al1")}.values()
    on_roster = [Entry("al1", report, [], "Ada Lovelace"), Entry("be4", report, [], "Ed Bell")]
    points, unknown = export_points("canvas", [Entry("ada7", report, is_stranger=True), *on_roster], book)
    assert sorted(points) == ["", "33.32"] and unknown == ["ada7", "al1"]
    assert export_points("canvas", on_roster, book) == (["33.32", "33.32"], [])


def test_a_student_whose_name_is_points_possible_does_not_get_the_maximum():
    book = "Student,ID,SIS Login ID,Section,Dot (7)\n Points Possible,,,,20\nPoints Possible,79,pp1,s,\nAda,77,al1,s,\n"
    assert [row[4] for row in check_csv(canvas(entries("al1"), book, "Dot (7)")[0])[1:]] == ["20", "", "33.32"]
    without = book.replace(" Points Possible,,,,20\n", "")
    assert [row[4] for row in check_csv(canvas(entries("al1"), without, "Dot (7)")[0])[1:]] == ["", "33.32"]
    assert compare_maxima(entries("al1"), "canvas", without.replace("s,\nAda", "s,9\nAda"), "Dot (7)") == []
