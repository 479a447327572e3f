"""Each stage has a section in the handout, with theory, a picture, tasks, measurements and questions, and a key."""

from __future__ import annotations

import re

import pytest

from grader.python.common.labs import find_labs, read_manifest
from tests.python.support import ROOT

STAGES = [(lab, stage["id"]) for lab in find_labs(ROOT) for stage in read_manifest(ROOT, lab)["stages"]]
MIN_WORDS = 25  # of a stage's theory, including picture captions and list items


def find_section(text: str, stage: str) -> str:
    """Return the section of a stage in a handout or a key; empty if there is none."""
    match = re.search(rf"^## {stage}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


@pytest.mark.parametrize(("lab", "stage"), STAGES, ids=["/".join(names) for names in STAGES])
def test_a_stage_has_theory_a_picture_a_measurement_questions_and_a_key(lab: str, stage: str) -> None:
    section = find_section((ROOT / f"handouts/{lab}.md").read_text(), stage)
    theory, to_do, _ = section.partition("**To do")
    pictures = re.findall(r"^!\[[^\]]+\]\((pictures/[^)]+)\)$", section, re.MULTILINE)
    questions = re.findall(r"^\d+\. ", section.partition("**Questions for your journal**")[2], re.MULTILINE)
    measure = re.search(r"\*\*Measure:\*\*\s+(.*?)(?=\n\n)", section, re.DOTALL)
    key = find_section((ROOT / f"handouts/instructor/keys/{lab}.md").read_text(), stage)
    assert len(theory.split()) >= MIN_WORDS, f"the theory has fewer than {MIN_WORDS} words"
    assert to_do, "**To do** is missing"
    assert pictures and all((ROOT / "handouts" / picture).is_file() for picture in pictures), "a picture is missing"
    assert measure and (re.search("make (bench|sweep)", measure[1]) or measure[1] == "as before."), (
        "**Measure:** is missing, or names neither make bench nor make sweep"
    )
    assert len(questions) >= 2, "fewer than two questions"
    assert len(re.findall(r"^\d+\. ", key, re.MULTILINE)) >= len(questions), "the key has fewer answers than questions"


def test_measurements_name_tunables_of_the_stage() -> None:
    """If a measurement names tunables, `make sweep` must try them."""
    for lab, stage in STAGES:
        section = find_section((ROOT / f"handouts/{lab}.md").read_text(), stage)
        match = re.search(
            r"\*\*Measure:\*\*.*?`make sweep`[^.;]*? over ((?:`[A-Z_]+`(?:, | and )?)+)", section, re.DOTALL
        )
        manifest = next(entry for entry in read_manifest(ROOT, lab)["stages"] if entry["id"] == stage)
        macros = {tunable["macro"] for tunable in manifest.get("tunables", [])}
        assert not match or set(re.findall(r"`([A-Z_]+)`", match[1])) <= macros, f"{lab}/{stage} lacks a tunable"


MEASURED = re.compile(
    r"\b\d+%(?!\w)|\b\d+ ?[GT]B/s|\b[AHV]\d00\b|\b[\d.]+ (?:us|ms|microseconds)\b|times as (?:fast|long)"
)


def find_measured(code: str) -> list[str]:
    """Return the comments of a file that quote a measurement."""
    return [line for line in re.findall(r"//.*", code) if MEASURED.search(line)]


def test_no_comment_of_a_stage_quotes_a_measurement() -> None:
    """Tables show measured numbers from handouts/results; a number in a comment would become outdated."""
    files = [file for folder in ("solutions", "starter", "labs") for file in (ROOT / folder).glob("*/*.[ch]*")]
    assert len(files) > 80
    quotes = {str(file.relative_to(ROOT)): find_measured(file.read_text()) for file in files}
    assert {file: lines for file, lines in quotes.items() if lines} == {}


def test_a_measurement_in_a_comment_is_found() -> None:
    assert find_measured("// On an H100, the memory's bandwidth limits it: 86% of it is used.\nint a;  // 30 GB/s")
    assert find_measured("// bank w % 32, 512 bytes, stage 12, 16x16, t % 100") == []


# Experiments in the material that the labs come from. Each handout has a table for these sweeps, measured or not.
SWEPT = {
    "vector_add": ["01_one_thread_per_element", "02_grid_stride"],
    "dot_product": ["01_serial_block_sum", "04_dyadic_cpu_tail"],
    "smoothing_filter": ["01_naive", "02_constant_filter", "03_tile_one_loader", "04_tile_parallel"],
    "heat_dissipation": ["01_separate_mirror", "02_merged_mirror", "03_shared_maxdiff"],
    "image_histogram": ["02_strided", "03_shared_bins"],
    "saturating_histogram": ["05_multiple_blocks", "09_unrolled_more"],
    "large_histogram": ["02_split_blocks"],
}


@pytest.mark.parametrize("lab", SWEPT)
def test_a_handout_has_a_table_for_each_sweep_of_the_material(lab: str) -> None:
    tables = re.findall(
        rf"^<!-- table: sweep {lab} (\w+) -->$", (ROOT / f"handouts/{lab}.md").read_text(), re.MULTILINE
    )
    assert set(SWEPT[lab]) <= set(tables)
