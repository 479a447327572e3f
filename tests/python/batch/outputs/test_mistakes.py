"""The mistakes of a class over time, and the handouts' paragraphs that explain them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import date
from html import escape
from pathlib import Path

import pytest

from grader.python.batch.outputs.handouts import TOPICS, find_answer, read_handout, read_sections
from grader.python.batch.outputs.mistakes import (
    Mistake,
    count_over_time,
    link_answer,
    list_mistakes,
    list_over_time,
    make_mistakes,
)
from tests.python.batch.batches import Course
from tests.python.support import ROOT

LABS = sorted(file.parent.name for file in (ROOT / "tests/labs").glob("*/wrong.json"))


def list_wrong(lab: str) -> Iterator[tuple[str, str]]:
    """Yield the stage and each cause of the lab's wrong submissions."""
    for entry in json.loads((ROOT / f"tests/labs/{lab}/wrong.json").read_text()):
        causes = entry.get("cause", [])
        yield from ((entry["stage"], cause) for cause in ([causes] if isinstance(causes, str) else causes))


@pytest.mark.parametrize("lab", LABS)
def test_each_known_mistake_links_to_a_section_and_a_paragraph_of_it(lab: str) -> None:
    handout = read_handout(ROOT, lab)
    sections = dict(read_sections(handout))
    anchors = {line[3:].lower().replace(" ", "-") for line in handout.splitlines() if line.startswith("## ")}
    wrong = list(list_wrong(lab))
    for stage, cause in wrong:
        answer = find_answer(handout, stage, cause)
        assert answer.anchor() in anchors
        assert not answer.paragraph or answer.paragraph in sections[answer.section]
    answered = sum(bool(find_answer(handout, stage, cause).paragraph) for stage, cause in wrong)
    assert answered >= len(wrong) / 2, "most mistakes have a paragraph, not only a section"


@pytest.mark.parametrize(
    ("lab", "stage", "cause", "section", "begins"),
    [
        ("dot_product", "01_serial_block_sum", "race", "01_serial_block_sum", "- **Barrier.**"),
        ("dot_product", "01_serial_block_sum", "not_cleared", "01_serial_block_sum", "- **Initial value.**"),
        ("dot_product", "01_serial_block_sum", "lost_updates", "01_serial_block_sum", "- **Atomic.**"),
        ("dot_product", "01_serial_block_sum", "tail_lost", "01_serial_block_sum", "3. Launch"),
        (
            "vector_add",
            "03_vector_loads",
            "out_of_bounds_write",
            "01_one_thread_per_element",
            "All blocks have the same",
        ),
        ("heat_dissipation", "01_separate_mirror", "threshold_counts", "The contract", "- **End.**"),
        ("dot_product", "01_serial_block_sum", "wrong_value", "01_serial_block_sum", ""),
    ],
)
def test_a_mistake_is_answered_by_the_paragraph_on_its_topic(
    lab: str, stage: str, cause: str, section: str, begins: str
) -> None:
    answer = find_answer(read_handout(ROOT, lab), stage, cause)
    assert answer.section == section and answer.paragraph.startswith(begins)
    assert bool(answer.paragraph) == bool(begins)


def test_the_paragraph_is_in_the_table_and_on_the_page() -> None:
    lab, mistake = "heat_dissipation", Mistake("01_separate_mirror", "threshold_counts", 2, 4)
    handout = read_handout(ROOT, lab)
    paragraph = find_answer(handout, mistake.stage, mistake.cause).paragraph
    (_, row) = csv.reader(io.StringIO(list_mistakes([mistake], lab, handout)))
    assert paragraph and row[-1].lstrip("'") == paragraph  # a cell that begins like a formula has an apostrophe
    _, folded = link_answer(mistake, lab, ROOT, handout)
    assert "<details>" in str(folded) and escape(paragraph[:40], quote=False) in str(folded)


def test_each_cause_has_one_topic_and_exists_in_the_judge() -> None:
    causes = [cause for causes, _ in TOPICS for cause in causes.split()]
    assert len(causes) == len(set(causes))
    sources = [*ROOT.glob("labs/*/*.cpp"), *ROOT.glob("labs/*/*.h"), *ROOT.glob("grader/**/*.cpp")]
    sources += ROOT.glob("grader/**/*.h")
    text = " ".join(file.read_text() for file in sources)
    assert [cause for cause in causes if f'"{cause}"' not in text] == []


def test_mistakes_are_counted_by_the_day_of_the_hand_in() -> None:
    periods = count_over_time(
        [
            (["al1"], "2026-11-20T12:00:00Z", "01_first", "race"),
            (["al1"], "2026-11-20T12:30:00Z", "01_first", "race"),  # again on that day
            (["bo2", "cy3"], "2026-11-20T12:00:00Z", "01_first", ""),
            (["al1"], "2026-11-22T12:00:00Z", "01_first", "tail_lost"),
            (["di4"], "2026-11-22T12:00:00Z", "01_first", "missing_file"),
        ]
    )
    assert periods.first_days() == [date(2026, 11, 20), date(2026, 11, 21), date(2026, 11, 22)]
    assert list_over_time(periods).splitlines()[1:] == [
        "2026-11-20,1,01_first,race,1,3",
        "2026-11-22,1,01_first,tail_lost,1,1",
    ]
    page = make_mistakes([Mistake("01_first", "race", 1, 3)], periods, "lab", Path("/course"), "") or ""
    assert "<title>2026-11-20: 1 of 3</title>" in page and "<title>2026-11-21: 0 of 0</title>" in page
    assert "from 2026-11-20 to 2026-11-22" in page


def test_mistakes_of_a_term_are_counted_by_week() -> None:
    causes = [(["al1"], f"2026-{day}T12:00:00Z", "01_first", "race") for day in ("10-01", "10-04", "10-05", "11-20")]
    periods = count_over_time(causes)
    assert len(periods.first_days()) == 8 and periods.first_days()[0] == date(2026, 9, 28)
    assert list_over_time(periods).splitlines()[1:3] == [
        "2026-09-28,7,01_first,race,1,1",
        "2026-10-05,7,01_first,race,1,1",
    ]
    far = count_over_time([*causes, (["al1"], "2001-01-01T12:00:00", "01_first", "race")])
    assert len(far.first_days()) == 60


def test_replaced_hand_ins_count_over_time_and_regrades_do_not(course: Course) -> None:
    course.hand_in("al1", "compile_error", "fine")
    course.grade()
    course.hand_in("al1", "fine", "compile_error")
    course.grade()
    course.run_verb("regrade", "--all", "--reason", "again")
    lines = (course.out / "mistakes_over_time.csv").read_text("utf-8-sig").splitlines()[1:]
    assert [line.split(",", 2)[2] for line in lines] == [
        "01_first,compile_error,1,1",
        "02_second,compile_error,1,1",
    ]
