"""Tests of handouts/example-journal: its records can be read, and the committed journal is rendered from them."""

from __future__ import annotations

import pytest

from grader.python.common.labs import read_stages
from grader.python.journal.journal import Rendered, render
from grader.python.journal.optimisations import read_journal
from tests.python.support import ROOT

LAB = "saturating_histogram"
FOLDER = ROOT / "handouts" / "example-journal"

recorded = pytest.mark.skipif(
    not (FOLDER / "records.jsonl").exists(), reason="handouts/example-journal/records.jsonl was not recorded yet"
)


@pytest.fixture(scope="module")
def rendered() -> Rendered:
    return render(ROOT, LAB, FOLDER, with_source=True)


def test_every_stage_has_a_note_with_goal_and_expectation() -> None:
    optimisations = {optimisation.stage: optimisation for optimisation in read_journal(ROOT, LAB, FOLDER).optimisations}
    assert list(optimisations) == list(read_stages(ROOT, LAB))
    for optimisation in optimisations.values():
        assert optimisation.note is not None
        assert optimisation.note.missing == [], optimisation.stage
        assert optimisation.note.hours is None, "the hours were not counted"


@recorded
def test_every_stage_was_measured_on_one_gpu(rendered: Rendered) -> None:
    journal = read_journal(ROOT, LAB, FOLDER)
    assert rendered.problems == []
    assert len(journal.places) == 1
    assert journal.main is not None and journal.main.place.is_gpu
    assert [row.optimisation.stage for row in journal.main.rows] == list(read_stages(ROOT, LAB))
    assert all(optimisation.inspection(journal.main.place) for optimisation in journal.optimisations)


@recorded
def test_the_committed_journal_is_up_to_date(rendered: Rendered) -> None:
    stale = "is stale: make example-journal"
    assert (FOLDER / "journal.html").read_text(encoding="utf-8") == rendered.page, f"journal.html {stale}"
    assert (FOLDER / "journal.md").read_text(encoding="utf-8") == rendered.markdown, f"journal.md {stale}"


@recorded
def test_the_journal_shows_the_materials_figures(rendered: Rendered) -> None:
    for figure in ("GTX 680: time", "38.807 s", "0.711 s"):
        assert figure in rendered.page
        assert figure in rendered.markdown
