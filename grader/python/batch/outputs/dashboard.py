"""Make report.html: the whole batch on one page, which loads no other file. A script in it searches and sorts the
table.

The page shows points from the database and computes none.
"""

from __future__ import annotations

import hmac
import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from grader.python.batch.grade.journals import JOURNAL
from grader.python.batch.policy.points import FinalPoints
from grader.python.batch.policy.suspicious import SLOW_RATIO, Remark
from grader.python.batch.store.places import folder_name
from grader.python.batch.store.rows import INTERNAL_FAILURES, STATUSES, Row, Stage, in_words
from grader.python.common.markup import Child, Html, join, tag
from grader.python.common.page import make_document
from grader.python.common.units import NONE, plural, show_points, show_seconds
from grader.python.journal.quiz import Score

HERE = Path(__file__).parent
SIMILAR = "similar.html"
BINS = 20  # of the histogram of points
ROW_HEIGHT = 30  # of the plot of a stage, in pixels
FIRST_REMARKS, FIRST_OF_RANK = 12, 4  # remarks that are not folded, and how many of each rank come first
MAX_REMARKS = 50  # remarks of each rank on the page
LEADERS = 20  # of each stage
MARKS = {"passed": "\N{CHECK MARK}", "failed": "\N{MULTIPLICATION X}", "error": "!"}
ADJECTIVES = "amber brave calm deft eager fair glad hardy ivory jolly keen lucid merry noble olive proud quiet rapid "
ADJECTIVES += "sunny tidy urban vivid witty young"
ANIMALS = "adder badger crane dingo egret ferret gecko heron ibis jackal koala lynx marten newt otter puffin quail "
ANIMALS += "raven stoat tapir urchin viper wombat yak"


def make_dashboard(
    title: str, facts: Sequence[str], rows: Sequence[Row], finals: Sequence[FinalPoints], remarks: Sequence[Remark],
    stages: Sequence[str], secret: str, notes: Sequence[str] = (), journals: Collection[str] = (),
    mistakes: Html | None = None, quizzes: Mapping[str, Score] = {}, dropped: Sequence[tuple[Row, str]] = (),
) -> str:  # fmt: skip
    """Return the page. `facts`: how the batch was graded; `finals`: the points of all students; `secret`: the key for
    pseudonyms; `notes`: sentences about what could not be examined, and why; `journals`: the keys of the submissions
    with a page for the journal; `mistakes`: the section on the class's mistakes; `quizzes`: the quiz scores by the
    submissions' keys; `dropped`: the excluded hand-ins with the reasons."""
    script = (HERE / "dashboard.js").read_text(encoding="utf-8")
    style = (HERE / "dashboard.css").read_text(encoding="utf-8")
    body = join(
        make_header(title, facts, rows),
        make_remarks(remarks, notes, {row.key: row.name for row in rows}),
        make_distribution(finals),
        mistakes,
        make_times(rows, stages),
        make_quiz(quizzes),
        make_table(finals, stages, journals, quizzes),
        make_dropped(dropped),
        make_leaderboard(rows, stages, secret),
    )
    return make_document(title, body, style, script=script)


def make_header(title: str, facts: Sequence[str], rows: Sequence[Row]) -> Html:
    """Return the page's header with the number of submissions of each status: first those that wait, then failures of
    the judge."""
    counts = Counter(row.status for row in rows)
    items = []
    for status in ["", *STATUSES]:
        words = join(tag("strong", counts[status]), f" {in_words(status)}")
        kind = "internal" if status in INTERNAL_FAILURES else None
        if counts[status]:
            items.append(tag("li", words, title=STATUSES.get(status), class_=kind))
    return tag(
        "header", tag("h1", title), tag("p", count_all(rows), class_="lead"), tag("ul", *items, class_="counts"),
        tag("p", " \N{MIDDLE DOT} ".join(facts), class_="caption"),
    )  # fmt: skip


def count_all(rows: Sequence[Row]) -> str:
    """Return the number of submissions and, if it differs because of teams or of students who handed in nothing, the
    number of students."""
    handed_in = [row for row in rows if row.status != "not_submitted"]
    everyone, present = members_of(rows), members_of(handed_in)
    lead = plural(len(handed_in), "submission")
    if len(everyone) == len(handed_in):
        return lead
    return f"{lead} by {f'{len(present)} of ' if present != everyone else ''}{plural(len(everyone), 'student')}"


def members_of(rows: Sequence[Row]) -> set[str]:
    return {member for row in rows for member in row.members}


def make_remarks(remarks: Sequence[Remark], notes: Sequence[str], names: Mapping[str, str]) -> Html:
    """Return the section with the submissions to review first."""
    paragraphs = [tag("p", note, class_="note") for note in notes]
    if not remarks:
        return tag("section", tag("h2", "Review these first"), *paragraphs, tag("p", "Nothing stands out."))
    chosen = first_of_each_rank(remarks, MAX_REMARKS)
    leading = first_of_each_rank(chosen, FIRST_OF_RANK)
    first = [*leading, *(remark for remark in chosen if remark not in leading)][:FIRST_REMARKS]
    serious, minor = [item for item in chosen if item in first], [item for item in chosen if item not in first]
    details = None
    if minor:
        left_out = len(remarks) - len(chosen)
        words = f"{len(minor)} more" + (f", and {left_out} that are not listed" if left_out > 0 else "")
        details = tag("details", tag("summary", words), make_remarks_table(minor, names))
    side_by_side = tag("a", "Similar files side by side", href=SIMILAR)
    caption = tag("p", "These are hints, not verdicts; no points depend on them. ", side_by_side, ".", class_="caption")
    return tag(
        "section", tag("h2", "Review these first"), *paragraphs, make_remarks_table(serious, names), details, caption
    )


def first_of_each_rank(remarks: Sequence[Remark], max_per_rank: int) -> list[Remark]:
    """Return at most `max_per_rank` remarks of each rank, so that one rank cannot crowd out the others."""
    counts: Counter[int] = Counter()
    chosen = []
    for remark in remarks:
        counts[remark.rank] += 1
        if counts[remark.rank] <= max_per_rank:
            chosen.append(remark)
    return chosen


def make_remarks_table(remarks: Sequence[Remark], names: Mapping[str, str]) -> Html:
    titles = [tag("th", name, scope="col") for name in ("Submission", "Name", "Stage", "What", "")]
    lines = []
    for remark in remarks:
        cells = (link(remark.key), names.get(remark.key, ""), remark.stage, remark.title, remark.detail)
        lines.append(tag("tr", *(tag("td", cell) for cell in cells)))
    return tag("div", tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *lines)), class_="wide")


def link(key: str) -> Html:
    """Return a link to a submission's feedback."""
    return tag("a", key, href=f"feedback/{folder_name(key)}/index.html")


def make_distribution(finals: Sequence[FinalPoints]) -> Html | None:
    """Return the section with a histogram of the points of the students who handed in; None if there are no points."""
    present = [final for final in finals if final.row.status != "not_submitted"]
    shares = [final.points / final.max_points for final in present if final.points is not None and final.max_points > 0]
    if not shares:
        return None
    bins = Counter(min(max(int(share * BINS), 0), BINS - 1) for share in shares)
    tallest = max(bins.values())
    bars = []
    for index in range(BINS):
        height = 120 * bins[index] / tallest
        words = f"{100 * index // BINS} to {100 * (index + 1) // BINS}%: {plural(bins[index], 'student')}"
        bar = tag("rect", x=f"{100 * index / BINS + 0.3}%", width=f"{100 / BINS - 0.6}%", y=f"{130 - height:.1f}",
                  height=f"{height:.1f}", class_="bar")  # fmt: skip
        bars.append(tag("g", tag("title", words), bar))
    ticks = [
        tag("text", f"{percent}%", x=f"{percent}%", y=148,
            text_anchor={0: "start", 100: "end"}.get(percent, "middle"))
        for percent in (0, 25, 50, 75, 100)
    ]  # fmt: skip
    middle = statistics.median(shares)
    label = f"{plural(len(shares), 'student')}; the median is {middle:.0%} of the points"
    if absent := len(finals) - len(present):
        label += f"; without {plural(absent, 'student')} who handed in nothing"
    line = tag("line", x1="0", x2="100%", y1=130.5, y2=130.5, class_="axis")
    picture = tag("svg", *bars, line, *ticks, width="100%", height=154, role="img", aria_label=label)
    return tag("section", tag("h2", "Points"), tag("figure", picture, tag("figcaption", label, ".")))


def make_times(rows: Sequence[Row], stages: Sequence[str]) -> Html:
    """Return the section with a plot for each stage of the times divided by the bandwidth bound. All plots have the
    same logarithmic axis."""
    timed = {stage: [measured for row in rows for measured in row.stages if measured.stage == stage and measured.time_s
                     and measured.bound_s] for stage in stages}  # fmt: skip
    factors = [
        measured.time_s / measured.bound_s
        for results in timed.values()
        for measured in results
        if measured.time_s and measured.bound_s
    ]
    if not factors:
        return tag("section", tag("h2", "Time against bound"), tag("p", "Nothing was timed; times need a GPU."))
    low, high = min(0.8, *factors), max(2.0, *factors) * 1.05
    figures = [draw_stage(stage, results, low, high) for stage, results in timed.items() if results]
    caption = (
        f"Each dot is one submission's time, as a multiple of the bandwidth bound of a straightforward kernel "
        f"(line: 1); the axis is logarithmic, from {low:.2g} to {high:.3g}. Red: more than {SLOW_RATIO} times the "
        "reference's time."
    )
    return tag("section", tag("h2", "Time against bound"), *figures, tag("p", caption, class_="caption"))


def draw_stage(stage: str, timed: Sequence[Stage], low: float, high: float) -> Html:
    """Return the plot of one stage, with a dot for each submission."""

    def across(factor: float) -> str:
        return f"{100 * math.log(factor / low) / math.log(high / low):.2f}%"

    dots = []
    for result in timed:
        if not result.time_s or not result.bound_s:
            continue
        slow = result.ratio is not None and result.ratio >= SLOW_RATIO
        dots.append(tag("circle", cx=across(result.time_s / result.bound_s), cy=ROW_HEIGHT / 2, r=4,
                        class_="slow" if slow else "dot"))  # fmt: skip
    bound = tag("line", x1=across(1), x2=across(1), y1=2, y2=ROW_HEIGHT - 2, class_="bound")
    times = sorted(result.time_s for result in timed if result.time_s)
    label = f"{stage}: {plural(len(times), 'time')} from {show_seconds(times[0])} to {show_seconds(times[-1])}"
    picture = tag("svg", *dots, bound, width="100%", height=ROW_HEIGHT, role="img", aria_label=label)
    return tag("figure", tag("figcaption", label), picture)


def make_quiz(quizzes: Mapping[str, Score]) -> Html | None:
    """Return the section on the quiz's questions, beginning with those that most students got wrong; None if no student
    answered any."""
    tries: dict[str, list[bool]] = {}
    for score in quizzes.values():
        for question, is_right in score.first.items():
            tries.setdefault(question, []).append(is_right)
    if not tries:
        return None
    lines = [
        tag(
            "tr",
            tag("th", question, scope="row"),
            tag("td", f"{sum(first_tries)} of {len(first_tries)}", class_="number"),
        )
        for question, first_tries in sorted(tries.items(), key=lambda item: sum(item[1]) / len(item[1]))
    ]
    titles = [tag("th", "Question", scope="col"), tag("th", "Right on the first try", scope="col", class_="number")]
    table = tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *lines))
    return tag("section", tag("h2", "Quiz"), tag("div", table, class_="wide"))


def make_table(
    finals: Sequence[FinalPoints], stages: Sequence[str], journals: Collection[str], quizzes: Mapping[str, Score]
) -> Html:
    """Return the table with one row per student, which the script searches and sorts."""
    columns = [("Student", ""), ("Name", ""), ("Status", ""), ("Points", "number"), ("Pending", "number"),
               ("Late", "number"), *((stage[:2], "number") for stage in stages),
               *([("Quiz", "number")] if quizzes else []), ("Remarks", "")]  # fmt: skip
    titles = dict(zip((stage[:2] for stage in stages), stages, strict=True)) | {"Quiz": "right on the first try"}
    head = [
        tag("th", tag("button", name, type="button", title=titles.get(name)), scope="col", class_=kind or None)
        for name, kind in columns
    ]
    body = [
        make_line(final, stages, final.row.key in journals, [quiz_cell(quizzes.get(final.row.key))] if quizzes else [])
        for final in finals
    ]
    tools = tag(
        "div",
        tag("label", tag("input", type="search", id="search", placeholder="id, name, status, cause …",
                         aria_label="Search")),
        tag("span", id="shown", aria_live="polite"), class_="tools",
    )  # fmt: skip
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), id="submissions")
    return tag("section", tag("h2", "Submissions"), tools, tag("div", table, class_="wide"))


def make_dropped(dropped: Sequence[tuple[Row, str]]) -> Html | None:
    """Return the section on the excluded hand-ins, or None if there are none."""
    if not dropped:
        return None
    head = [tag("th", name, scope="col") for name in ("Submission", "Name", "Reason")]
    lines = [tag("tr", tag("td", row.key), tag("td", row.name), tag("td", why)) for row, why in dropped]
    table = tag("div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *lines)), class_="wide")
    caption = "They give no points, and are in no other part of this page. drop --undo includes one again."
    return tag("section", tag("h2", "Dropped"), table, tag("p", caption, class_="caption"))


def make_line(final: FinalPoints, stages: Sequence[str], has_journal: bool, quiz: Sequence[Html]) -> Html:
    """Return one student's row of the table. `quiz`: the quiz's cell, if the table has this column."""
    row = final.row
    by_stage = {stage.stage: stage for stage in row.stages}
    points = NONE if final.points is None else f"{show_points(final.points)} / {show_points(final.max_points)}"
    modelled = tag("small", f" {show_points(final.modelled)} modelled") if final.modelled else None
    remarks = [row.detail, *row.notes, f"Set by hand: {final.override}" if final.override else ""]
    folder = f"feedback/{folder_name(row.key)}"
    journal = tag("a", "journal", href=f"{folder}/{JOURNAL}") if has_journal else None
    words = " \N{MIDDLE DOT} ".join(remark for remark in remarks if remark)[:300]
    has_feedback = row.status not in ("", "not_submitted")
    student = tag("a", final.student, href=f"{folder}/index.html") if has_feedback else final.student
    return tag(
        "tr",
        tag("th", student, scope="row"),
        tag("td", final.name),
        tag("td", in_words(row.status), class_=row.status or None),
        value_cell(join(points, modelled), -1 if final.points is None else final.points),
        value_cell(show_points(final.pending) if final.pending else NONE, final.pending),
        late_cell(final),
        *(stage_cell(by_stage.get(stage)) for stage in stages),
        *quiz,
        tag("td", words or None, " \N{MIDDLE DOT} " if words and journal else None, journal),
    )


def value_cell(shown: Child, value: float) -> Html:
    """Return a cell that the script sorts by `value`."""
    return tag("td", shown, data_value=f"{value:.6g}", class_="number")


def late_cell(final: FinalPoints) -> Html:
    """Return the cell with the days of lateness; the tooltip has the source of the time."""
    days = final.lateness.days
    source = f"by {final.lateness.source}" if final.lateness.source else None
    return tag("td", plural(days, "day") if days else NONE, data_value=f"{days}", class_="number", title=source)


def stage_cell(stage: Stage | None) -> Html:
    """Return a cell with a stage's points, coloured and marked by its verdict; the tooltip has the cause and the
    time."""
    if stage is None:
        return tag("td", NONE, data_value="-1", class_="number")
    points = show_points(stage.points) if stage.points is not None else NONE
    pending = f"{show_points(stage.pending)} pending" if stage.pending else ""
    modelled = f"{show_points(stage.modelled)} modelled" if stage.modelled else ""
    words = [stage.verdict, stage.cause, pending, modelled, show_seconds(stage.time_s) if stage.time_s else ""]
    mark = MARKS.get(stage.verdict, "")
    value = -1 if stage.points is None else stage.points
    title = ", ".join(word for word in words if word)
    return tag("td", f"{points} {mark}", data_value=f"{value:.6g}", class_=f"number {stage.verdict}", title=title)


def quiz_cell(score: Score | None) -> Html:
    """Return the cell with the questions that were answered right on the first try."""
    return value_cell(f"{score.right} / {score.question_count}" if score else NONE, score.right if score else -1)


def pseudonym(secret: str, key: str) -> str:
    """Return a name for a submission that stays the same in this batch and does not identify the student."""
    digest = hmac.digest(secret.encode(), key.encode("utf-8", "surrogateescape"), "sha256")
    adjectives, animals = ADJECTIVES.split(), ANIMALS.split()
    return f"{adjectives[digest[0] % len(adjectives)]} {animals[digest[1] % len(animals)]} {digest[2] % 100:02}"


def make_leaderboard(rows: Sequence[Row], stages: Sequence[str], secret: str) -> Html | None:
    """Return the section with the fastest submissions of each stage, under pseudonyms, so that it can be shown to
    students; None if nothing was timed."""
    lists = []
    for stage in stages:
        times = sorted(
            (stage_row.time_s, pseudonym(secret, row.key))
            for row in rows for stage_row in row.stages
            if stage_row.stage == stage and stage_row.verdict == "passed" and stage_row.time_s
        )[:LEADERS]  # fmt: skip
        if times:
            items = [tag("li", f"{name}: ", show_seconds(time)) for time, name in times]
            lists.append(join(tag("h3", stage), tag("ol", *items)))
    if not lists:
        return None
    return tag(
        "section",
        tag("h2", "Leaderboard"),
        tag("p", "The names are pseudonyms, so you can show this list to students.", class_="caption"),
        *lists,
    )
