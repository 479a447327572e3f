"""The journal's predictions: separate columns show the student's, the modelled and the measured time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from grader.python.journal.journal import render
from grader.python.journal.predictions import show_miss
from tests.python.journal import journals
from tests.python.journal.journals import LAB, change_machine, report, source, write_course
from tests.python.pages import Reader

TEXT = "int a;\n"
GPU = "NVIDIA H200"
NOTE = "<!-- begun {} -->\n## Seconds I predict\n50 ms\n"


def modelled(minute: int, seconds: float, gpu: str = GPU, dataset: str = "bench_2_24") -> dict[str, Any]:
    """Return the record of a bench without a GPU, which has a modelled time."""
    record = change_machine(report(minute, "02_tree", TEXT), backend="cpu", gpu="", host="laptop")
    time = {"median": seconds, "low": seconds / 2, "high": 2 * seconds}
    record["report"]["stages"][0]["modelled_time"] = {
        "dataset": dataset,
        "gpu": gpu,
        "source": "measured by `make calibrate`",
        "iterations": 1000,
        "time": time,
        "reference_s": None,
        "reference_ratio": None,
        "previous_ratio": None,
        "sequential_s": 9.8,
        "why_not": "",
    }
    return record | {"verb": "bench"}


def cells_of(root: Path, records: list[dict[str, Any]], begun: int = 1) -> list[str]:
    """Return the cells of the only row in the Markdown. The page must have the same cells."""
    folder = write_course(
        root, [source(1, "02_tree", TEXT), *records], **{"02_tree": NOTE.format(journals.time(begun))}
    )
    rendered = render(root, LAB, folder)
    text = rendered.markdown.replace("\N{NO-BREAK SPACE}", " ")
    head = text[text.index("## Predicted and measured times") :].splitlines()[2:]
    cells = [cell.strip() for cell in head[2].strip("|").split("|")]
    page_text = re.sub(r"\s+", " ", Reader(rendered.page).text)
    assert all(cell.strip("`") in page_text for cell in cells)
    return cells


def test_the_modelled_time_is_next_to_the_students_prediction(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, [modelled(2, 0.08)])
    assert cells[1:] == ["0.05000 s", "0.08000 s (0.04000 s to 0.1600 s)", "–", "–", "–"]


def test_an_imported_measurement_shows_the_error_of_both_predictions(tmp_path: Path) -> None:
    measured = change_machine(report(9, "02_tree", TEXT, 0.1), gpu=GPU, host="node") | {"imported_from": "report.json"}
    cells = cells_of(tmp_path, [modelled(2, 0.25), measured])
    assert cells[3:] == ["0.1000 s", "2.00×, too fast", "2.50×, too slow"]


@pytest.mark.parametrize("change", [{"gpu": "NVIDIA T4"}, {"dataset": "bench_2_20"}])
def test_another_gpu_or_dataset_is_not_compared(tmp_path: Path, change: dict[str, str]) -> None:
    measured = change_machine(report(9, "02_tree", TEXT, 0.1), gpu=GPU)
    assert cells_of(tmp_path, [modelled(2, 0.25, **change), measured])[3:] == ["–", "–", "–"]


def test_a_measurement_of_another_text_is_not_compared(tmp_path: Path) -> None:
    records = [source(8, "02_tree", "int b;\n"), change_machine(report(9, "02_tree", "int b;\n", 0.1), gpu=GPU)]
    assert cells_of(tmp_path, [modelled(2, 0.25), *records])[2] == "–"  # the measured text was never modelled


def test_a_note_that_was_begun_after_the_measurement_is_reported(tmp_path: Path) -> None:
    measured = change_machine(report(9, "02_tree", TEXT, 0.1), gpu=GPU)
    cells_of(tmp_path / "late", [modelled(2, 0.25), measured], begun=10)
    cells_of(tmp_path / "early", [modelled(2, 0.25), measured], begun=1)
    markdown = {
        name: render(tmp_path / name, LAB, tmp_path / name / "work" / LAB / "journal").markdown
        for name in ("late", "early")
    }
    assert "These notes were begun after the measurement: 02_tree." in markdown["late"]
    assert "These notes" not in markdown["early"]


def test_without_predictions_there_is_no_table(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [source(1, "02_tree", TEXT), report(2, "02_tree", TEXT, 0.1)])
    rendered = render(tmp_path, LAB, folder)
    assert "Predicted and measured times" not in rendered.page + rendered.markdown


def test_a_close_prediction_is_not_called_too_fast_or_too_slow() -> None:
    assert [show_miss(1.04, 1), show_miss(1, 1.04), show_miss(3, 1), show_miss(None, 1)] == [
        "less than 5%",
        "less than 5%",
        "3.00×, too slow",
        "–",
    ]
