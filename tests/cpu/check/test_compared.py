"""Test that COMPARED.md is up to date with compared.json, and that its statements still hold."""

from __future__ import annotations

import json
import re

import pytest

from tests.cpu.check import compared
from tests.cpu.check.compare_with_ncu import BUILD, count_with_sanitizer

DATA = json.loads(compared.DATA.read_text())
PLANTED = [name for name in DATA["programs"] if compared.kind_of(name)]
EQUAL = [
    "vector_add/01_one_thread_per_element",
    "dot_product/03_dyadic_sequential",
    "smoothing_filter/02_constant_filter",
]

built = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")


def test_document_is_up_to_date():
    assert compared.DOCUMENT.read_text() == compared.make_document(DATA), "run tests/cpu/check/compared.py"


@pytest.mark.parametrize("name", PLANTED)
def test_sanitizer_finds_everything_that_compute_sanitizer_finds(name):
    entry = DATA["programs"][name]
    if compared.source_hash(name) != entry["source_hash"]:
        pytest.skip("the program has changed since it was measured")
    later = 1 if name in compared.NEXT_LINE else 0
    lines = {line - later for tool in compared.TOOLS for line in compared.lines_of(entry["tools"][tool])}
    # test_sanitizer.py tests that the planted lines are found.
    assert lines <= {*compared.planted_lines(name), compared.WAITS.get(name)}


def test_every_difference_of_a_count_is_explained():
    for row in DATA["counts"]:
        for request, (warplab, ncu) in row["per_request"].items():
            assert warplab == ncu or compared.why(row, request), (row["stage"], request)


RACE, NO_GUARD = "dot_product/01_plain_assignment", "dot_product/01_no_bounds_guard"
CLEAN, NOT_RUN, TIMEOUT = (
    {"verdict": "clean", "lines": []},
    {"verdict": "not run"},
    {"verdict": "timeout"},
)


def findings(*lines: int) -> dict:
    return {"verdict": "findings", "lines": list(lines), "output": "Error: Race reported between Write access"}


def row(submission: str, planted: list, *answers: dict, dataset: str = "small") -> dict:
    tools = dict(zip(compared.TOOLS, answers, strict=True))
    return {"submission": submission, "planted": planted, "dataset": dataset, "tools": tools}


def verdicts(data: dict, submission: str) -> list[str]:
    return [data["submissions"][submission]["tools"][tool]["verdict"] for tool in compared.TOOLS]


def add_rows(data: dict, *rows: dict) -> dict:
    compared.add_submissions(data, {"submissions": list(rows)})
    return data


def test_a_new_answer_replaces_the_old_one_and_a_missing_answer_does_not():
    data = add_rows({}, row(RACE, ["race", 12], CLEAN, findings(12), TIMEOUT, NOT_RUN))
    add_rows(data, row(RACE, ["race", 12], TIMEOUT, NOT_RUN, CLEAN, NOT_RUN, dataset=""))
    assert verdicts(data, RACE) == ["clean", "findings", "clean", "not run"]
    assert data["submissions"][RACE]["dataset"] == "small"
    add_rows(data, row(RACE, ["race", 12], CLEAN, CLEAN, CLEAN, findings(12)))
    assert verdicts(data, RACE) == ["clean", "clean", "clean", "findings"]


def test_answers_for_a_changed_submission_are_dropped():
    data = add_rows({}, row(RACE, ["race", 12], CLEAN, findings(12), CLEAN, CLEAN))
    data["submissions"][RACE]["source_hash"] = "another"
    assert compared.count_submissions({}) in compared.make_document(DATA | data)
    add_rows(data, row(RACE, ["race", 12], NOT_RUN, TIMEOUT, NOT_RUN, NOT_RUN, dataset=""))
    assert verdicts(data, RACE) == ["not run", "timeout", "not run", "not run"]
    add_rows(data, row("dot_product/unknown", ["race", 1], CLEAN, CLEAN, CLEAN, CLEAN))
    assert data["submissions"].keys() == {RACE}


def test_a_message_that_only_says_that_the_program_failed_is_not_a_finding():
    failed = {"verdict": "findings", "lines": [], "output": f"{compared.NOTHING_FOUND}\n    "}
    host = failed | {"output": f"Host API memory access error\n    {compared.NOTHING_FOUND}\n"}
    data = add_rows({}, row(RACE, ["race", 12], failed, host, failed | {"lines": [7]}, CLEAN))
    assert verdicts(data, RACE) == ["clean", "findings", "findings", "clean"]


def test_the_table_of_submissions_lists_the_tools_that_name_the_line():
    data = add_rows(
        {},
        row(RACE, ["race", 12], CLEAN, findings(10, 12), NOT_RUN, findings(7, 9)),
        row(NO_GUARD, ["out_of_bounds", 7], CLEAN, CLEAN, findings(), TIMEOUT),
    )
    document = compared.make_document(DATA | data)
    cells = "clean | **line 12**; other line 10 | not run | other lines 7, 9"
    assert f"| `{RACE}` | `race` | line 12, on `small` | {cells} |" in document
    assert compared.explain_submissions(data["submissions"]) == []
    assert (
        f"| `{NO_GUARD}` | `out_of_bounds` | line 7, on `small` | clean | clean | report without a line | timeout |"
        in document
    )
    count = "Warplab names the line in 2 of 2 submissions; compute-sanitizer names it in 1, reports something else in 1"
    assert count in document


def test_a_tool_that_names_only_other_lines_needs_an_explanation():
    data = add_rows({}, row(NO_GUARD, ["out_of_bounds", 7], CLEAN, findings(9), CLEAN, CLEAN))
    assert compared.explain_submissions(data["submissions"]) == [f"- `{NO_GUARD}`: not explained yet."]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"tools": {"memcheck": CLEAN}}, "was run under memcheck, not under initcheck, memcheck, racecheck, synccheck"),
        ({"planted": ["race"]}, "plants ['race'], which is not a cause and a line"),
        ({"tools": {tool: {"verdict": "fine"} for tool in compared.TOOLS}}, "has the verdict 'fine' of memcheck"),
        (
            {"tools": {tool: {"verdict": "findings"} for tool in compared.TOOLS}},
            "has findings of memcheck without lines",
        ),
    ],
)
def test_an_invalid_row_is_rejected(change, why):
    with pytest.raises(SystemExit, match=re.escape(why)):
        add_rows({}, row(RACE, ["race", 12], CLEAN, CLEAN, CLEAN, CLEAN) | change)
    with pytest.raises(SystemExit, match=r"Submission 1 \(without a name\) has no dataset, planted, submission, tools"):
        add_rows({}, {})


def test_sanitizer_names_the_line_in_every_submission_in_which_a_tool_finds_something():
    for name, entry in DATA.get("submissions", {}).items():
        if any(entry["tools"][tool]["verdict"] == "findings" for tool in compared.TOOLS):
            assert entry["dataset"], name
        assert name in compared.OTHER_LINES or not compared.names_only_other_lines(entry), name


@built
@pytest.mark.parametrize("stage", EQUAL)
def test_counts_equal_those_of_nsight_compute(stage, tmp_path):
    rows = [row for row in DATA["counts"] if row["stage"] == stage]
    counted = count_with_sanitizer(*stage.split("/"), rows[0]["dataset"], tmp_path)
    assert counted["kernels"], counted
    counts = counted["kernels"][rows[0]["kernel"]]
    for operation in ("load", "store"):
        pair = rows[0]["per_request"].get(f"{operation}_sectors")
        if pair:
            sectors = counts[f"device_{operation}_sectors"] / counts[f"device_{operation}_requests"]
            assert round(sectors, 4) == pair[1]
