"""Each stage has its part in the handout: theory, a picture, something to do and to measure, questions; and a key."""

from __future__ import annotations

import re

import pytest

from grader.python.common.labs import find_labs, read_manifest
from tests.python.support import ROOT

STAGES = [(lab, stage["id"]) for lab in find_labs(ROOT) for stage in read_manifest(ROOT, lab)["stages"]]
FEWEST_WORDS = 25  # of a stage's theory; what a picture or a list item says counts


def find_section(text: str, stage: str) -> str:
    """Return the part of a handout or a key from a stage's heading to the next one, or nothing."""
    found = re.search(rf"^## {stage}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize(("lab", "stage"), STAGES, ids=["/".join(one) for one in STAGES])
def test_a_stage_has_theory_a_picture_a_measurement_questions_and_a_key(lab: str, stage: str) -> None:
    section = find_section((ROOT / f"handouts/{lab}.md").read_text(), stage)
    theory, to_do, _ = section.partition("**To do")
    pictures = re.findall(r"^!\[[^\]]+\]\((pictures/[^)]+)\)$", section, re.MULTILINE)
    questions = re.findall(r"^\d+\. ", section.partition("**Questions for your journal**")[2], re.MULTILINE)
    measure = re.search(r"\*\*Measure:\*\*\s+(.*?)(?=\n\n)", section, re.DOTALL)
    key = find_section((ROOT / f"handouts/instructor/keys/{lab}.md").read_text(), stage)
    assert len(theory.split()) >= FEWEST_WORDS and to_do, "theory, then something to do"
    assert pictures and all((ROOT / "handouts" / picture).is_file() for picture in pictures), "a picture"
    assert measure and (re.search("make (bench|sweep)", measure[1]) or measure[1] == "as before."), "a measurement"
    assert len(questions) >= 2, "questions"
    assert len(re.findall(r"^\d+\. ", key, re.MULTILINE)) >= len(questions), "a key"


def test_swept_tunables_are_those_of_the_stage() -> None:
    """A measurement that names tunables names those that make sweep tries."""
    for lab, stage in STAGES:
        section = find_section((ROOT / f"handouts/{lab}.md").read_text(), stage)
        named = re.search(
            r"\*\*Measure:\*\*.*?`make sweep`[^.;]*? over ((?:`[A-Z_]+`(?:, | and )?)+)", section, re.DOTALL
        )
        manifest = next(one for one in read_manifest(ROOT, lab)["stages"] if one["id"] == stage)
        macros = {tunable["macro"] for tunable in manifest.get("tunables", [])}
        assert not named or set(re.findall(r"`([A-Z_]+)`", named[1])) <= macros, f"{lab}/{stage}"
