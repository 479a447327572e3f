"""Tests of inspection.py: the page shows findings and counts at their lines, as text, and fetches nothing."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

from grader.python.journal.inspection import make_page, read_inspection
from tests.python.pages import Reader, make_hostile
from tests.python.support import run_module

MODULE = "grader.python.journal.inspection"
SAMPLE: dict[str, Any] = {
    "schema": 1,
    "lab": "dot_product",
    "stage": "02_dyadic_interleaved",
    "datasets": 10,
    "passed": True,
    "wrong": "",
    "wrong_hint": "",
    "file": "02_dyadic_interleaved.cu",
    "source": ["__global__ void k(int* a) {", "\ta[threadIdx.x * 2] += 1;", "}"],
    "findings": [
        {"cause": "race", "line": 2, "other_line": 1, "note": False, "count": 12345, "message": "M1", "hint": "H1"},
        {"cause": "same_value", "line": 0, "other_line": 0, "note": True, "count": 1, "message": "M2", "hint": ""},
    ],
    "lines": [
        {
            "line": 2,
            "heat": 0.5,
            "requests": 34986,
            "lanes": 5.25,
            "sectors": 8.0,
            "fewest_sectors": 4.0,
            "passes": None,
            "clashes": 3.2,
            "costly": ["lanes", "sectors"],
        }
    ],
    "limits": [{"held": True, "message": "L1"}, {"held": False, "message": "Technique not used, or needless work: L2"}],
    "gpu": {"name": "H200", "threads": 2048},
    "kernels": [
        {
            "kernel": "k",
            "launches": 3,
            "block": [16, 16, 1],
            "static_shared_bytes": 1024,
            "dynamic_shared_bytes": 512,
            "registers": 40,
            "spilled_bytes": 8,
            "resident_threads": 1536,
            "resident_share": 0.75,
            "limit": "registers",
        }
    ],
    "device_bytes": 3.1e6,
    "least_bytes": 1e6,
}


def write(folder: Path, content: dict[str, Any] = SAMPLE) -> Path:
    file = folder / "dot_product-02.json"
    file.write_text(json.dumps(content))
    return file


def page_of(folder: Path, content: dict[str, Any] = SAMPLE) -> str:
    return make_page(read_inspection(write(folder, content)))


def test_modelled_shares_have_their_own_column(tmp_path: Path) -> None:
    modelled = {
        "gpu": "NVIDIA H200",
        "dataset": "timed_16m",
        "why_not": "",
        "shares": [{"line": 1, "share": 0.003}, {"line": 2, "share": 0.724}],
    }
    page = page_of(tmp_path, {**SAMPLE, "modelled": modelled})
    assert re.findall(r'data-label="modelled"[^>]*><span>([^<]*)</span>', page) == ["", "72%", ""]
    assert (
        "on the NVIDIA H200 with the dataset timed_16m; this column is modelled, the others are counted"
        in Reader(page).text
    )
    assert page.count('<th scope="col" class="number">Modelled</th>') == 1


def test_without_modelled_shares_there_is_no_column(tmp_path: Path) -> None:
    assert ">Modelled<" not in page_of(tmp_path) and "odelled shares" not in page_of(tmp_path)
    page = page_of(tmp_path, {**SAMPLE, "modelled": {"gpu": "", "dataset": "", "why_not": "W1", "shares": []}})
    assert "No modelled shares: W1." in Reader(page).text and 'data-label="modelled"' not in page


def test_the_page_shows_all_findings_and_counts(tmp_path: Path) -> None:
    text = Reader(page_of(tmp_path)).text
    for words in (
        "1 finding on 10 datasets",
        "a[threadIdx.x * 2] += 1;",
        "12,345 times",
        "with line 1",
        "H1",
        "M2",
        "34,986",
        "8.0 / 4.0",
        "16 × 16 threads",
        "1,536 bytes",
        "40, 8 bytes spilled",
        "1536 of 2048",
        "registers",
        "3.10×",
        "Technique not used, or needless work: L2",
    ):
        assert words in text, words
    assert "L1" not in text


def test_a_finding_is_below_its_line_and_costly_counts_are_marked(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert page.index("threadIdx</span>.x * <span") < page.index("M1") < page.index("<code>}</code>")
    costly = re.findall(r'data-label="(\w+)" class="number costly"', page)
    assert costly == ["lanes", "sectors"]
    assert "--heat: 50%" in page


def test_the_page_says_that_registers_are_unknown(tmp_path: Path) -> None:
    content = copy.deepcopy(SAMPLE)
    content["kernels"][0] |= {"registers": None, "spilled_bytes": 0}
    text = Reader(page_of(tmp_path, content)).text
    assert "not known" in text and "at most 1536 of 2048" in text


def test_hostile_text_is_shown_as_text_and_nothing_is_fetched(tmp_path: Path) -> None:
    page = page_of(tmp_path, make_hostile(SAMPLE))
    page.encode("utf-8")
    reader = Reader(page)
    for tag, attributes in reader.tags:
        assert tag not in ("script", "link", "iframe", "img", "object", "embed", "base", "form")
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert "<script>alert(1)</script>" in reader.text
    assert not re.search(r"url\(|@import", page)


def test_the_page_shows_the_last_inspection(tmp_path: Path) -> None:
    assert run_module(MODULE, tmp_path).stdout == ""
    (tmp_path / "older.json").write_text("not an inspection")
    os.utime(tmp_path / "older.json", (1, 1))
    file = write(tmp_path)
    assert run_module(MODULE, tmp_path).stdout == f"Page: {file.with_suffix('.html')}\n"
    assert run_module(MODULE, tmp_path).stdout == ""
    os.utime(file)
    assert run_module(MODULE, tmp_path).stdout != ""


def test_an_invalid_inspection_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"schema": 2})
    result = run_module(MODULE, tmp_path)
    assert result.returncode == 2 and "make inspect" in result.stderr


def test_the_page_shows_wrong_answers_with_a_hint(tmp_path: Path) -> None:
    assert "Wrong answers" not in page_of(tmp_path)
    page = page_of(tmp_path, SAMPLE | {"passed": False, "wrong": "It fails on 1 dataset: W1 < W2.", "wrong_hint": "H9"})
    assert "It fails on 1 dataset: W1 &lt; W2." in page and "H9" in page


def test_the_source_is_coloured(tmp_path: Path) -> None:
    lines = [
        '__global__ void k() { int i = 0x1f; // "not" a string',
        "/* for",
        "if */ #x",
        "#define A \"a//b\" 'c'",
        "x<y>'",
    ]
    page = page_of(tmp_path, SAMPLE | {"source": lines, "findings": [], "lines": []})
    for kind, text in (
        ("keyword", "__global__"),
        ("keyword", "int"),
        ("literal", "0x1f"),
        ("comment", "// &quot;not&quot; a string"),
        ("comment", "/* for"),
        ("comment", "if */"),
        ("directive", "#define"),
        ("string", "&quot;a//b&quot;"),
        ("string", "&#x27;c&#x27;"),
    ):
        assert f'<span class="{kind}">{text}</span>' in page, text
    text = Reader(page).text
    assert all(re.sub(r"\s", "", line) in re.sub(r"\s", "", text) for line in lines)


def test_a_page_without_findings_says_so(tmp_path: Path) -> None:
    clean = SAMPLE | {"findings": [], "datasets": 8}
    assert "Nothing found on 8 datasets" in Reader(page_of(tmp_path, clean)).text
    wrong = clean | {"passed": False, "wrong": "W"}
    assert "No finding on 8 datasets, but some answers are wrong" in Reader(page_of(tmp_path, wrong)).text


def test_only_a_costly_line_has_the_warning_colour(tmp_path: Path) -> None:
    assert 'class="at hot costly"' in page_of(tmp_path)
    content = copy.deepcopy(SAMPLE)
    content["lines"][0]["costly"] = []
    page = page_of(tmp_path, content)
    assert 'class="at hot"' in page and "costly" not in page.partition("</style>")[2]
