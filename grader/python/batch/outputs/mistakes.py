"""Count the mistakes of a class: how many students made which one in which stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.policy.points import Final
from grader.python.common.markup import Html, tag
from grader.python.common.units import plural

NO_MISTAKE = ("", "missing_file", "refused_feature")  # not of the code that was handed in
SHOWN = 15  # rows on the page; mistakes.csv has all


@dataclass(frozen=True)
class Mistake:
    """A cause of failure of a stage, and how many of the students who handed in the stage made it."""

    stage: str
    cause: str
    count: int
    of: int


def count_mistakes(finals: Sequence[Final], stages: Sequence[str]) -> list[Mistake]:
    """Return the mistakes in the hand-ins that count, the most frequent of each stage first."""
    found = []
    for stage in stages:
        causes = [one.cause for final in finals for one in final.row.stages if one.stage == stage]
        handed_in = len(causes) - causes.count("missing_file")
        counts = Counter(cause for cause in causes if cause not in NO_MISTAKE)
        found += [Mistake(stage, cause, count, handed_in) for cause, count in counts.most_common()]
    return found


def make_mistakes(mistakes: Sequence[Mistake], lab: str) -> Html | None:
    """Return the page's section on the class's mistakes, or None if there are none."""
    if not mistakes:
        return None
    shown = sorted(mistakes, key=lambda one: (-one.count, one.stage, one.cause))[:SHOWN]
    titles = [tag("th", name, scope="col") for name in ("Stage", "Mistake", "Students", "Handout")]
    lines = [
        tag(
            "tr",
            tag("td", one.stage),
            tag("td", one.cause),
            tag("td", f"{one.count} of {one.of}", class_="number"),
            tag("td", find_section(lab, one.stage)),
        )
        for one in shown
    ]
    table = tag("div", tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *lines)), class_="wide")
    caption = f"{plural(len(mistakes), 'mistake')} in total; mistakes.csv lists them."
    return tag("section", tag("h2", "Mistakes"), table, tag("p", caption, class_="caption"))


def find_section(lab: str, stage: str) -> str:
    """Return the handout's section on a stage."""
    return f"handouts/{lab}.md, section {stage}"


def list_mistakes(mistakes: Sequence[Mistake], lab: str) -> str:
    """Return the mistakes as CSV."""
    rows = [[one.stage, one.cause, str(one.count), str(one.of), find_section(lab, one.stage)] for one in mistakes]
    return write_csv([["stage", "mistake", "students", "of", "handout"], *rows])
