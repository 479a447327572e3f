"""Count the students of a class who made each mistake, by stage, in total and over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.outputs.handouts import find_answer, name_file
from grader.python.batch.policy.points import FinalPoints
from grader.python.common.markup import Html, tag
from grader.python.common.units import plural

NO_MISTAKE = ("", "missing_file", "refused_feature")  # causes that are not a mistake in the student's code
MAX_SHOWN = 15  # mistakes on the page; mistakes.csv has all
MAX_DAYS = 21  # if the hand-ins span more days, mistakes are counted by week
MAX_PERIODS = 60  # on the page, because times that students invent can be years apart
BAR_WIDTH, BAR_HEIGHT = 7, 22

Cause = tuple[list[str], str, str, str]  # members, time of the hand-in, stage, cause


@dataclass(frozen=True)
class Mistake:
    """A cause of failure of a stage, and how many of the students who handed in the stage made it."""

    stage: str
    cause: str
    count: int
    student_count: int  # students who handed in the stage


@dataclass
class Periods:
    """For each period, which is a day or a week: the students who handed in a stage, by stage and first day of the
    period, and those who made a mistake at least once in the period, by stage, cause and first day."""

    days: int = 1  # length of a period
    handed_in: dict[tuple[str, date], set[str]] = field(default_factory=lambda: defaultdict(set))
    made: dict[tuple[str, str, date], set[str]] = field(default_factory=lambda: defaultdict(set))

    def first_days(self) -> list[date]:
        """Return the first day of each period, also of those without hand-ins, but only of the last MAX_PERIODS."""
        days = [day for _, day in self.handed_in]
        if not days:
            return []
        count = (max(days) - min(days)).days // self.days + 1
        return [max(days) - timedelta(self.days * number) for number in range(min(count, MAX_PERIODS))][::-1]


def count_mistakes(finals: Sequence[FinalPoints], stages: Sequence[str]) -> list[Mistake]:
    """Return the mistakes in the hand-ins that count, the most frequent of each stage first."""
    mistakes = []
    for stage in stages:
        causes = [graded.cause for final in finals for graded in final.row.stages if graded.stage == stage]
        handed_in = len(causes) - causes.count("missing_file")
        counts = Counter(cause for cause in causes if cause not in NO_MISTAKE)
        mistakes += [Mistake(stage, cause, count, handed_in) for cause, count in counts.most_common()]
    return mistakes


def count_over_time(causes: Sequence[Cause]) -> Periods:
    """Return the mistakes in all hand-ins, including those that students replaced later, by day. If the hand-ins span
    more than MAX_DAYS days, return them by week, from Monday on. Days are those of this machine's time zone."""
    dated = [(read_day(time), members, stage, cause) for members, time, stage, cause in causes if time]
    days = [day for day, *_ in dated]
    periods = Periods(7 if days and (max(days) - min(days)).days >= MAX_DAYS else 1)
    for day, members, stage, cause in dated:
        first = day - timedelta(day.weekday()) if periods.days == 7 else day
        if cause != "missing_file":
            periods.handed_in[stage, first].update(members)
        if cause not in NO_MISTAKE:
            periods.made[stage, cause, first].update(members)
    return periods


def read_day(time: str) -> date:
    """Return the day of a time in this machine's time zone. A time without a zone is in this zone, too."""
    return datetime.fromisoformat(time).astimezone().date()


def make_mistakes(mistakes: Sequence[Mistake], periods: Periods, lab: str, root: Path, handout: str) -> Html | None:
    """Return the page's section on the class's mistakes, or None if there are none."""
    if not mistakes:
        return None
    frequent = sorted(mistakes, key=lambda mistake: (-mistake.count, mistake.stage, mistake.cause))[:MAX_SHOWN]
    days = periods.first_days()
    has_several_periods = len(days) > 1
    names = ["Stage", "Mistake", "Students", *(["Over time"] if has_several_periods else []), "Handout"]
    lines = [
        tag(
            "tr",
            tag("td", entry.stage),
            tag("td", entry.cause),
            tag("td", f"{entry.count} of {entry.student_count}", class_="number"),
            tag("td", draw_bars(entry, periods, days)) if has_several_periods else None,
            tag("td", *link_answer(entry, lab, root, handout)),
        )
        for entry in frequent
    ]
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    table = tag("div", tag("table", head, tag("tbody", *lines)), class_="wide")
    caption = f"{plural(len(mistakes), 'mistake')} in total; mistakes.csv lists them."
    if has_several_periods:
        unit = "week" if periods.days == 7 else "day"
        caption += (
            f" Over time: of the students who handed in the stage in a {unit}, the share who made the mistake, from "
            f"{days[0]} to {days[-1]}; mistakes_over_time.csv has the numbers."
        )
    return tag("section", tag("h2", "Mistakes"), table, tag("p", caption, class_="caption"))


def draw_bars(mistake: Mistake, periods: Periods, days: Sequence[date]) -> Html:
    """Return a picture with a bar for each period, which shows the share of its students who made the mistake."""
    bars = []
    for number, day in enumerate(days):
        handed_in = len(periods.handed_in.get((mistake.stage, day), ()))
        count = len(periods.made.get((mistake.stage, mistake.cause, day), ()))
        height = BAR_HEIGHT * count / handed_in if handed_in else 0
        bar = tag("rect", x=number * BAR_WIDTH, width=BAR_WIDTH - 1, y=f"{BAR_HEIGHT - height:.1f}",
                  height=f"{height:.1f}", class_="bar")  # fmt: skip
        full_height = BAR_HEIGHT if handed_in else 0  # a gap if nobody handed in
        space = tag("rect", x=number * BAR_WIDTH, width=BAR_WIDTH - 1, y=0, height=full_height, class_="space")
        bars.append(tag("g", tag("title", f"{day}: {count} of {handed_in}"), space, bar))
    width = len(days) * BAR_WIDTH
    line = tag("line", x1=0, x2=width, y1=BAR_HEIGHT + 0.5, y2=BAR_HEIGHT + 0.5, class_="axis")
    label = f"{mistake.cause} over time"
    return tag("svg", *bars, line, width=width, height=BAR_HEIGHT + 1, role="img", aria_label=label)


def link_answer(mistake: Mistake, lab: str, root: Path, handout: str) -> list[Html]:
    """Return a link to the handout's section that explains a mistake and, folded, the paragraph."""
    answer = find_answer(handout, mistake.stage, mistake.cause)
    link = tag("a", answer.section, href=f"{(root / name_file(lab)).absolute().as_uri()}#{answer.anchor()}")
    return [link] if not answer.paragraph else [link, tag("details", tag("summary", "paragraph"), answer.paragraph)]


def list_mistakes(mistakes: Sequence[Mistake], lab: str, handout: str) -> str:
    """Return the mistakes as CSV."""
    rows = []
    for mistake in mistakes:
        answer = find_answer(handout, mistake.stage, mistake.cause)
        link = f"{name_file(lab)}#{answer.anchor()}"
        counts = [str(mistake.count), str(mistake.student_count)]
        rows.append([mistake.stage, mistake.cause, *counts, link, answer.paragraph])
    return write_csv([["stage", "mistake", "students", "of", "handout", "paragraph"], *rows])


def list_over_time(periods: Periods) -> str:
    """Return the mistakes as CSV, by period; the first two columns are the period's first day and number of days."""
    rows = [
        [str(day), str(periods.days), stage, cause, str(len(students)), str(len(periods.handed_in[stage, day]))]
        for (stage, cause, day), students in sorted(
            periods.made.items(), key=lambda group: (group[0][2], *group[0][:2])
        )
    ]
    return write_csv([["from", "days", "stage", "mistake", "students", "of"], *rows])
