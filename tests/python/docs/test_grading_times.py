"""Tests of the table of grading times by phase."""

from __future__ import annotations

from grader.python.docs.grading_times import choose_stages, lines

ROWS = [
    {"lab": "a", "stage": "01_x", "gpu": "H", "phases": {"compile": 1.0, "check": 2.0}},
    {"lab": "a", "stage": "02_y", "gpu": "H", "phases": {"compile": 1.5, "samples": 4.0}},
    {"lab": "b", "stage": "01_z", "gpu": "H", "phases": {"compile": 0.5}},
]


def test_the_slowest_stage_comes_first_and_the_sum_last():
    table = list(lines(ROWS))
    assert table[0].split() == ["stage", "all", "GPU", "held", "compile", "check", "samples"]
    assert [line.split()[:3] for line in table[1:4]] == [
        ["a/02_y", "5.50", "4.00"],
        ["a/01_x", "3.00", "2.00"],
        ["b/01_z", "0.50", "0.00"],
    ]
    assert table[1].split()[3:] == ["1.50", "0.00", "4.00"]
    assert table[4] == "3 stages on H, in all: median 3.00 s, slowest 5.50 s, sum 9 s"
    assert table[5] == "3 stages on H, GPU held: median 2.00 s, slowest 4.00 s, sum 6 s"


def test_each_gpu_has_its_own_median():
    on_another = {"lab": "b", "stage": "02_z", "gpu": "I", "phases": {"compile": 1.0, "check": 7.0}}
    *_, in_all, gpu_held = lines([*ROWS, on_another])
    assert in_all == "1 stages on I, in all: median 8.00 s, slowest 8.00 s, sum 8 s"
    assert gpu_held == "1 stages on I, GPU held: median 7.00 s, slowest 7.00 s, sum 7 s"


def test_stages_are_chosen_by_number():
    assert list(choose_stages("vector_add", [2])) == ["02_grid_stride"]
    assert len(list(choose_stages("vector_add", []))) == 3
