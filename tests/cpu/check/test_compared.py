"""COMPARED.md is what compared.py makes of compared.json, and says what the programs and the counters still do."""

from __future__ import annotations

import json

import pytest

from tests.cpu.check import compared
from tests.cpu.check.compare_with_ncu import BUILD, count_in_check_mode

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
def test_everything_that_compute_sanitizer_finds_is_found(name):
    entry = DATA["programs"][name]
    if compared.source_hash(name) != entry["source_hash"]:
        pytest.skip("the program was changed since")
    later = 1 if name in compared.NEXT_LINE else 0
    theirs = {line - later for tool in compared.TOOLS for line in compared.lines_of(entry["tools"][tool])}
    assert theirs <= set(compared.planted_lines(name))  # which test_check_mode.py shows to be found


def test_every_difference_of_a_count_is_explained():
    for row in DATA["counts"]:
        for request, (ours, theirs) in row["per_request"].items():
            assert ours == theirs or compared.why(row, request), (row["stage"], request)


@built
@pytest.mark.parametrize("stage", EQUAL)
def test_counts_are_those_of_nsight_compute(stage, tmp_path):
    rows = [row for row in DATA["counts"] if row["stage"] == stage]
    counted = count_in_check_mode(*stage.split("/"), rows[0]["dataset"], tmp_path)
    ours = counted["kernels"][rows[0]["kernel"]]
    for memory, operation in (("load", "load"), ("store", "store")):
        pair = rows[0]["per_request"].get(f"{memory}_sectors")
        if pair:
            sectors = ours[f"device_{operation}_sectors"] / ours[f"device_{operation}_requests"]
            assert round(sectors, 4) == pair[1]
