"""The slides contain every stage of a lab with its idea, pictures and questions, and need no other file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.python.common.labs import find_labs, read_manifest
from grader.python.docs.slides import find_terms, find_times, make_page

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("lab", find_labs(ROOT))
def test_the_slides_contain_every_part_of_a_lab(lab: str) -> None:
    page = make_page(ROOT, lab)
    handout = (ROOT / "handouts" / f"{lab}.md").read_text()
    for stage in read_manifest(ROOT, lab)["stages"]:
        assert f"<h2>{stage['id'][:2]} " in page
    assert handout.count("**Questions for your journal**") == len(
        re.findall(r"<ol>", re.sub(r"(?s)<details>.*?</details>", "", page))
    )
    assert page.count("data:image/svg+xml") >= handout.count("](pictures/") // 2 > 0
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "<h2>Results</h2>" in page and "**" not in re.sub(r"(?s)<pre>.*?</pre>|<code>.*?</code>", "", page)
    assert "To do" not in page


def test_a_term_is_a_list_item_that_begins_in_bold() -> None:
    section = (
        "Words.\n\n- **Barrier.** Waits for\n  all.\n- plain\n- **Atomic.** One.\n\n**To do**\n\n- **No.** Not this.\n"
    )
    assert [" ".join(term.split()) for term in find_terms(section)] == [
        "- **Barrier.** Waits for all.",
        "- **Atomic.** One.",
    ]


def test_the_times_are_those_of_one_dataset() -> None:
    rows = ["| Stage | Dataset | A |", "| --- | --- | --: |", "| 01 | small | 1 s |", "| 02 | small | 2 s |"]
    table = "\n".join([*rows, "| 01 | large | 9 s |", ""])
    times = find_times(f"Seconds:\n\n{table}\nAnother GPU.\n<!-- end -->\n")
    assert "2 s" in times and "large" not in times and "Another" not in times
