"""Make the page that shows students the state of the queue: the codes of hand-ins, but no names, points or verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.python.common.markup import Html, join, tag
from grader.python.common.page import make_document
from grader.python.common.units import plural

REFRESH_S = 15
CODE_EXPLANATION = (
    "Each hand-in has a code: the first 8 characters that `sha256sum FILE` prints for the file that was handed in. "
    "`make submit` prints it, too."
)


@dataclass(frozen=True)
class Line:
    """A hand-in on the page: its code, its state, and the expected waiting time or the time when it was graded."""

    code: str
    state: str
    when: str


@dataclass
class QueueState:
    """The content of the page. `time`: when the page was written; `arriving`: the number of hand-ins that may be
    incomplete; `notice`: the reason why the queue is delayed, without names of students."""

    title: str
    time: str
    lines: list[Line] = field(default_factory=list)
    arriving: int = 0
    notice: str = ""

    def sum_up(self) -> str:
        """Return the state in one sentence."""
        waiting = sum("in line" in line.state for line in self.lines)
        arriving = f"; {plural(self.arriving, 'hand-in')} still arriving" if self.arriving else ""
        return f"{waiting} waiting{arriving}. Written at {self.time}."


def show_place(place: int) -> str:
    """Return a place in line: 1st, 2nd, 3rd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10 if place % 100 not in (11, 12, 13) else 0, "th")
    return f"{place}{ending} in line"


def make_queue_text(state: QueueState) -> str:
    """Return the page as plain text."""
    width = max((len(line.code) for line in state.lines), default=0)
    lines = [f"{line.code:{width}}  {', '.join(filter(None, [line.state, line.when]))}" for line in state.lines]
    return "\n".join([state.title, state.sum_up(), *filter(None, [state.notice]), "", *lines, "", CODE_EXPLANATION, ""])


def make_queue_page(state: QueueState) -> str:
    """Return the page, which reloads itself every REFRESH_S seconds."""
    head = tag("tr", *(tag("th", name, scope="col") for name in ("Code", "State", "When")))
    body = [
        tag("tr", tag("th", tag("code", line.code), scope="row"), tag("td", line.state), tag("td", line.when))
        for line in state.lines
    ]
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide") if body else None
    notice = tag("p", state.notice, class_="note") if state.notice else None
    header = tag("header", tag("h1", state.title), tag("p", state.sum_up(), class_="lead"))
    return make_document(
        state.title,
        join(header, notice, table, tag("p", *mark_code(CODE_EXPLANATION), class_="caption")),
        refresh_s=REFRESH_S,
    )


def mark_code(text: str) -> Sequence[Html | str]:
    """Return a text with the parts between backquotes marked as code."""
    return [tag("code", part) if number % 2 else part for number, part in enumerate(text.split("`"))]
