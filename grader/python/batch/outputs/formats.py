"""Convert one report to the formats of Gradescope, Autolab, GitHub Classroom and PrairieLearn.

This module computes no score and names no hidden dataset. All formats show the pending points.

If no stage of a report could be judged, there are no points to write: Gradescope and Autolab get no result, so they
report that grading failed; GitHub and PrairieLearn get a special status; a gradebook gets an empty cell.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from grader.python.batch.outputs.report_text import (
    describe_report,
    describe_stage,
    describe_total,
    hidden_names,
    hide_names,
)
from grader.python.common.console import UserError
from grader.python.common.documents import show_json, show_texts
from grader.python.common.markup import show_text
from grader.python.common.report import Report, StageReport, modelled_points
from grader.python.common.units import show_points

MAX_BYTES = 16_000  # per stage's text; PrairieLearn accepts 1 MiB in total


def clip(text: str, max_bytes: int = MAX_BYTES) -> str:
    """Return the text as printable characters. Of a longer text, return the first `max_bytes` of UTF-8 and a remark
    that it was shortened."""
    printable = show_text(text)
    encoded = printable.encode()
    if len(encoded) <= max_bytes:
        return printable
    return encoded[:max_bytes].decode(errors="ignore") + "\n... (shortened)"


def round_points(value: float) -> float:
    """Round points to two decimals, as all texts show them."""
    return round(value, 2) if math.isfinite(value) else 0.0


def require_points(report: Report) -> None:
    """Raise UserError if no stage has a score. That is not the student's fault, so 0 points would be wrong."""
    if any(stage.score for stage in report.stages):
        return
    reasons = [stage.error.message for stage in report.stages if stage.error]
    raise UserError(f"{report.lab}: no stage could be judged, so there are no points to write. {' '.join(reasons[:1])}")


def name_of(stage: StageReport) -> str:
    """Return a stage's name as students see it."""
    return clip(f"{stage.stage}: {stage.title}" if stage.title else stage.stage, 200)


def gradescope(report: Report) -> str:
    """Return Gradescope's results.json, with a test for each stage. Pending points are in the texts, but not in the
    score."""
    require_points(report)
    tests, hidden = [], hidden_names(report)
    for number, stage in enumerate(report.stages, start=1):
        test: dict[str, Any] = {"name": name_of(stage), "number": str(number), "visibility": "visible"}
        if stage.score:
            test |= {"score": round_points(stage.score.total), "max_score": round_points(stage.score.max)}
            test["status"] = "passed" if stage.verdict == "passed" else "failed"
        tests.append(test | {"output": clip(describe_stage(stage, hidden)), "output_format": "text"})
    return show_json(
        {
            "score": round_points(report.total.points),
            "output": describe_total(report),
            "output_format": "text",
            "visibility": "visible",
            "tests": tests,
            "extra_data": {
                "lab": report.lab,
                "warplab": report.warplab,
                "sandbox": report.sandbox,
                "pending": round_points(report.total.pending),
                "modelled": round_points(modelled_points(report)),
                "source_hashes": {stage.stage: stage.source_hash for stage in report.stages},
            },
        }
    )


def autolab(report: Report) -> str:
    """Return Autolab's output: the feedback, a line for the table of tests, and a last line with the scores. Each stage
    is a problem."""
    require_points(report)
    text = "".join(f"  {line}\n" for line in describe_report(report).splitlines())
    tests: dict[str, dict[str, Any]] = {}
    hidden = hidden_names(report)
    for stage in report.stages:
        checks = [check for check in stage.checks if not check.hidden and not check.skipped]
        tests[stage.stage] = {
            check.dataset: {
                "passed": check.verdict == "passed",
                "hint": space_colons(clip(hide_names(check.failure.message, hidden), 500)) if check.failure else "",
            }
            for check in checks
        } or {"compiles": {"passed": stage.compilation.verdict == "passed", "hint": ""}}
    scores = {stage.stage: round_points(stage.score.total) for stage in report.stages if stage.score}
    presentation = {"_presentation": "semantic", "stages": list(tests), **tests}
    return f"{text}{json.dumps(show_texts(presentation))}\n{json.dumps(show_texts({'scores': scores}))}\n"


def space_colons(text: str) -> str:
    """Return the text with a space before colons, because Autolab takes `word:` inside a string for a key."""
    return re.sub(r"(?<![\s:]):", " :", text)


def github(report: Report) -> str:
    """Return the `result` of an autograding step: base64 of JSON with one test for each whole point. The tests have
    equal weight, so the counts of tests and of points agree. Pending points are omitted from both."""
    hidden = hidden_names(report)
    tests = [test for stage in report.stages for test in github_tests(stage, hidden)]
    if all(test["status"] == "error" for test in tests):
        status = "error"
    else:
        status = "pass" if all(test["status"] == "pass" for test in tests) else "fail"
    content = {"version": 1, "status": status, "max_score": sum(test["score_max"] for test in tests), "tests": tests}
    for test in tests:
        del test["score_max"]
    return base64.b64encode(json.dumps(show_texts(content)).encode()).decode() + "\n"


def github_tests(stage: StageReport, hidden: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a test for each decided point of a stage. If the stage has no score, or if all its points are pending,
    return a single test with the status error."""
    about = {"test_code": "", "filename": f"{stage.stage}.cu", "line_no": 0, "duration": 0}
    text = clip(describe_stage(stage, hidden))
    decided = round(stage.score.max - stage.score.pending) if stage.score else 0
    if not stage.score or (stage.score.pending and not decided):
        return [{"name": name_of(stage), "status": "error", "score": 0, "score_max": 0, "message": text} | about]
    reached = min(round(stage.score.total), decided)
    return [
        {
            "name": f"{name_of(stage)}, point {number} of {decided}",
            "status": "pass" if number <= reached else "fail",
            "score": int(number <= reached),
            "score_max": 1,
            "message": text if number == 1 else "",
        }
        | about
        for number in range(1, decided + 1)
    ]


def github_log(report: Report, token: str) -> str:
    """Return the feedback for the log of a GitHub action. Between the lines with the token, GitHub's runner executes no
    commands that the feedback contains."""
    return f"::stop-commands::{token}\n{describe_report(report).replace(token, '')}::{token}::\n"


def prairielearn(report: Report) -> str:
    """Return PrairieLearn's results.json with a test for each stage, or a result that is not gradable if no stage could
    be judged."""
    if not any(stage.score for stage in report.stages):
        return show_json(
            {"gradable": False, "message": describe_total(report), "format_errors": [clip(describe_report(report))]}
        )
    max_bytes_per_stage = min(MAX_BYTES, 900_000 // max(len(report.stages), 1))
    tests, hidden = [], hidden_names(report)
    for stage in report.stages:
        earned, maximum = (round_points(stage.score.total), round_points(stage.score.max)) if stage.score else (0, 0)
        parts = {"pending": stage.score.pending, "modelled": stage.score.modelled} if stage.score else {}
        message = ", ".join(f"{show_points(points)} points are {kind}" for kind, points in parts.items() if points)
        tests.append(
            {
                "name": name_of(stage),
                "description": clip(stage.title, 200),
                "points": earned,
                "max_points": maximum,
                "message": message,
                "output": clip(describe_stage(stage, hidden), max_bytes_per_stage),
            }
        )
    share = report.total.points / report.total.max if report.total.max else 0
    return show_json(
        {
            "gradable": True,
            "score": round(min(max(share, 0), 1), 6),
            "message": describe_total(report),
            "output": "",
            "images": [],
            "tests": tests,
        }
    )


Rows = list[list[str]]


def grade_of(report: Report) -> str:
    """Return a gradebook's cell: the points so far. It is empty if a stage could not be judged, because the student
    must not lose points for that."""
    return "" if report.total.without_score or not report.total.max else show_points(round_points(report.total.points))


ONE_REPORT: dict[str, Callable[[Report], str]] = {
    "gradescope": gradescope,
    "autolab": autolab,
    "github": github,
    "prairielearn": prairielearn,
}
