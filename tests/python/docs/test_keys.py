"""The instructor's keys answer each question of the handouts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.python.common.labs import find_labs

ROOT = Path(__file__).resolve().parents[3]
HANDOUTS = [ROOT / "handouts" / f"{lab}.md" for lab in find_labs(ROOT)]
KEYS = sorted((ROOT / "handouts/instructor/keys").glob("*.md"))
NUMBERED = re.compile(r"(\d+)\. ")


def numbers_by_stage(text: str, begin: str) -> dict[str, list[int]]:
    """Return the numbers of the list items after the line that begins with `begin`, for each '## NN_stage'."""
    numbers: dict[str, list[int]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        stage = section.split("\n", 1)[0]
        if not re.fullmatch(r"\d\d_\w+", stage):
            continue
        lines = section.split("\n")[1:]
        first = next((at for at, line in enumerate(lines) if line.startswith(begin)), len(lines))
        numbers[stage] = [int(match[1]) for line in lines[first:] if (match := NUMBERED.match(line))]
    return numbers


@pytest.mark.parametrize("handout", HANDOUTS, ids=lambda handout: handout.stem)
def test_a_key_answers_each_question(handout: Path) -> None:
    questions = numbers_by_stage(handout.read_text(), "**Question")
    answers = numbers_by_stage((ROOT / "handouts/instructor/keys" / handout.name).read_text(), "")
    assert answers == questions
    assert all(questions.values()), "each stage has questions"


def test_the_instructors_page_names_all_keys() -> None:
    page = (ROOT / "handouts/instructor/README.md").read_text()
    assert sorted(re.findall(r"\(keys/(\w+\.md)\)", page)) == [key.name for key in KEYS]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.stem)
def test_a_key_has_the_times_of_each_measured_gpu(key: Path) -> None:
    rows = [line.split(" | ") for line in key.read_text().splitlines() if re.match(r"\| `\d\d_\w+` \| timed_", line)]
    gpus = [json.loads(file.read_text()) for file in sorted((ROOT / "handouts/results").glob("*.json"))]
    names = [name.partition("/") for results in gpus for name in results["stages"]]
    assert {row[0].strip("| `") for row in rows} == {stage for lab, _, stage in names if lab == key.stem}
    timed = [results["gpu"] for results in gpus if any(name.startswith(f"{key.stem}/") for name in results["stages"])]
    assert len(timed) > 1 and all(gpu in key.read_text() for gpu in timed)
