"""Tests of report_page.py: the page shows everything that a student needs as text, and fetches nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.python.batch.outputs.report_page import make_page
from grader.python.common.documents import from_json
from grader.python.common.report import Report
from tests.python import samples
from tests.python.pages import Reader, make_hostile
from tests.python.support import ROOT, run_module

MODULE = "grader.python.batch.outputs.report_page"


def page_of(*reports: dict[str, Any]) -> str:
    return make_page([from_json(Report, report, "") for report in reports])


def write_reports(tmp_path: Path, **reports: Any) -> Path:
    for name, report in reports.items():
        (tmp_path / f"{name}.json").write_text(report if isinstance(report, str) else json.dumps(report))
    return tmp_path


def test_samples_are_reports() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "grader/model/schema/report.schema.json").read_text())
    for report in (samples.report(), samples.cpu_report()):
        jsonschema.validate(report, schema)


@pytest.mark.parametrize("is_modelled", [True, False])
def test_modelled_points_are_named_beside_the_total(is_modelled: bool) -> None:
    score = samples.score(speed=1.5, speed_pending=False, speed_modelled=is_modelled)
    page = page_of(samples.report(stages=[samples.stage("01_one", "One", score=score)]))
    assert ("1.5 of them modelled" in page) == is_modelled


def test_the_page_contains_everything_that_a_student_needs() -> None:
    text = Reader(page_of(samples.report(), samples.cpu_report())).text
    for words in (
        "5 of 8 stages passed",
        "1 could not be judged",
        "NVIDIA H200",
        "CPU backend",
        "The last 31 of 100031 products are missing from out[0].",
        "tail_lost",
        "-1839201",
        "How many blocks does n = 100031 need?",
        "needs 3 GB, and 2 GB are free",
        "the sanitizer was skipped",
        "Sanitizer, line 17",
        "Race on element 2 of the shared variable sums.",
        "   17 | sums[i] += sums[i + s];\n   12 | sums[i] = a[i] * b[i];",
        "needs a GPU",
        "0.1312\u00a0s",
        "74.8×",
        "96%",
        "divergent warps and barriers",
        "A sample was cut to 130 of 1000 calls",
        "block 0 sums 4711",
        "expected ';' before '}' token",
        "bwrap is not installed",
        "throttled: power cap",
        "10 samples from",
    ):
        assert words in text, words
    assert "A note that costs no points." not in text


def test_pictures_have_a_text_alternative() -> None:
    tags = Reader(page_of(samples.report())).tags
    charts = [attributes for tag, attributes in tags if attributes.get("class") == "samples"]
    assert len(charts) == 4
    assert all(chart["role"] == "img" and "10 samples" in (chart["aria-label"] or "") for chart in charts)
    assert sum(tag == "circle" for tag, _ in tags) == 40
    assert "+1.0%" in Reader(page_of(samples.report())).text  # noise below 1% does not fill the picture


def test_nothing_is_fetched_and_no_script_runs() -> None:
    page = page_of(samples.report(), samples.cpu_report())
    tags = Reader(page).tags
    policies = [attributes["content"] for _, attributes in tags if "http-equiv" in attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    for tag, attributes in tags:
        assert tag not in ("script", "link", "iframe", "img", "object", "embed", "base", "form", "image", "use")
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "action")]
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://|//[a-z]+\.", page)


def test_hostile_text_is_shown_as_text() -> None:
    hostile = make_hostile(samples.report())
    page = page_of(hostile)
    page.encode("utf-8")
    harmless = page_of(samples.report())
    allowed = {tag for tag, _ in Reader(harmless).tags} | {"details"}
    reader = Reader(page)
    for tag, attributes in reader.tags:
        assert tag in allowed
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
    assert "<script>alert(1)</script>" in reader.text  # shown, not run
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)


def test_links_lead_to_details() -> None:
    tags = Reader(page_of(samples.report(), samples.cpu_report())).tags
    targets = {attributes["id"] for _, attributes in tags if "id" in attributes}
    links = [attributes["href"] for tag, attributes in tags if tag == "a"]
    assert len(links) == 8
    assert all((link or "").removeprefix("#") in targets for link in links)


def test_a_judge_error_does_not_look_like_the_students_mistake() -> None:
    page = page_of(samples.cpu_report())
    assert page.count('class="failure internal"') == 1
    assert page.count('class="failure"') == 1


def test_each_cause_is_shown_once() -> None:
    report = samples.report()
    report["stages"][2]["check_mode"] = None
    failed = report["stages"][2]["checks"][1]
    report["stages"][2]["checks"] += [failed | {"dataset": "later"}, failed | {"dataset": "last"}]
    page = page_of(report)
    assert page.count('class="failure"') == 1
    assert "The same cause: later, last" in page


def test_a_report_without_times_has_no_timing_columns() -> None:
    text = Reader(page_of(samples.cpu_report())).text
    assert "Nothing was timed" in text
    assert "vs reference" not in text


def test_a_check_shows_no_points() -> None:
    assert " points" not in Reader(page_of(samples.report(verb="check"))).text


def test_long_text_is_shortened() -> None:
    report = samples.report()
    report["stages"][0]["output"] = "first" + "x" * 100_000 + "last"
    page = page_of(report)
    assert "characters omitted]" in page
    assert "first" in page
    assert "last" in page
    assert len(page) < 100_000


@pytest.mark.parametrize("samples_s", [[], [0.5], [0.5, 0.0], [1e-9] * 10, [1e9, 1], ["inf", "nan"]])
def test_unusual_samples_give_a_page(samples_s: list[Any]) -> None:
    report = samples.report()
    report["stages"][0]["measurements"][0] |= {"samples_s": samples_s, "conditions": []}
    report["stages"][1]["measurements"][0] |= {"median_s": 0, "reference_ratio": None, "sequential_s": "nan"}
    assert "nan" not in page_of(report).lower().replace("nanum", "")


def test_a_report_without_stages_gives_a_page() -> None:
    assert "0 of 0 stages passed" in page_of(samples.report(stages=[]))


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    result = run_module(MODULE, write_reports(tmp_path, a=samples.report(), b=samples.cpu_report()))
    assert (result.returncode, result.stdout.strip()) == (0, str(tmp_path / "index.html"))
    page = (tmp_path / "index.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<h2>") == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.json:1: not valid JSON"),
        ("[]", "bad.json: not a report"),
        ("[" * 100_000, "bad.json"),
        ("1" * 10_000, "bad.json"),
        (json.dumps(samples.report(schema=2)), "bad.json: schema 2; this version reads schema 1"),
        (json.dumps(samples.report(stages={})), "bad.json: /stages: expected a list"),
        (json.dumps(samples.report(stages=[{"verdict": 3}])), "bad.json: /stages/0/verdict: expected a string"),
        ('{"schema": 1, "lab": "x", "stages": [{"checks": [{"points": NaN}]}]}', "/stages/0/checks/0/points"),
        ('{"schema": 1, "verb": "check", "stages": []}', "bad.json: /lab is missing"),
        (json.dumps(samples.report(verdict="good")), "bad.json: /verdict: expected one of passed, failed, error"),
    ],
)
def test_an_unreadable_report_is_named_and_the_others_are_shown(tmp_path: Path, content: str, message: str) -> None:
    result = run_module(MODULE, write_reports(tmp_path, bad=content, good=samples.report()))
    assert result.returncode == 1
    assert message in result.stderr
    page = (tmp_path / "index.html").read_text()
    assert "bad.json" in page
    assert "05_warp_shuffle" in page


def test_without_any_report_no_page_is_written(tmp_path: Path) -> None:
    result = run_module(MODULE, tmp_path)
    assert result.returncode == 2
    assert "make grade" in result.stderr
    assert not (tmp_path / "index.html").exists()


def test_a_missing_file_or_an_unwritable_page_gives_a_message(tmp_path: Path) -> None:
    assert "No such file" in run_module(MODULE, tmp_path / "none.json").stderr
    (tmp_path / "file").write_text("")
    result = run_module(MODULE, write_reports(tmp_path, a=samples.report()), "--output", tmp_path / "file" / "x.html")
    assert result.returncode == 2
    assert result.stderr.startswith("Cannot write")
