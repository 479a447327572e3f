"""The lab journal as one page: self-contained HTML that fetches nothing, runs no script and prints well."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.common.charts import draw_samples
from grader.python.common.markup import Html, join, tag, wrap_name
from grader.python.common.page import badge, make_document, make_text
from grader.python.common.units import NONE, plural, show_factor, show_seconds
from grader.python.journal.charts import draw_roofline, draw_speedups, draw_times
from grader.python.journal.difference import Difference, compare_texts
from grader.python.journal.inspection import Inspection
from grader.python.journal.notes import Note
from grader.python.journal.optimisations import Journal, Optimisation, Row, Timeline, Version
from grader.python.journal.predictions import NAMES, describe_predictions, find_predictions
from grader.python.journal.prose import make_prose
from grader.python.journal.sweep import Sweep
from grader.python.journal.words import (
    MAX_CHOICES,
    MAX_TRIES,
    NOT_MEASURED,
    Source,
    choose_counts,
    compared_names,
    compared_values,
    counter_columns,
    describe_bound,
    describe_change,
    describe_columns,
    describe_counters,
    describe_cpu,
    describe_cpu_drift,
    describe_facts,
    describe_failed_versions,
    describe_figures,
    describe_later_failure,
    describe_measurement,
    describe_noise,
    describe_other_datasets,
    describe_result,
    describe_samples,
    describe_state,
    explain_missing_bound,
    explain_time_below_bound,
    list_discarded_versions,
    name_place,
)

MAX_OPEN = 45  # lines; a longer difference is folded
TYPES = {".png": "image/png", ".gif": "image/gif", ".jpg": "image/jpeg", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Picture:
    """A picture that `make show` drew."""

    name: str
    content: bytes


def make_page(journal: Journal, source: Source | None, pictures: Sequence[Picture], remark: str = "") -> str:
    """Return the whole page. `remark` explains missing pictures."""
    header = tag(
        "header",
        tag("h1", journal.title, ": lab journal"),
        tag("p", describe_result(journal), class_="lead"),
        tag(
            "dl",
            *(tag("div", tag("dt", name), tag("dd", value)) for name, value in describe_facts(journal)),
            class_="facts",
        ),
    )
    main = tag(
        "main",
        *(tag("p", problem, class_="note bad") for problem in journal.problems),
        make_start(journal) if not journal.shown else None,
        make_measured(journal, journal.main, source),
        make_predictions(journal),
        *make_articles(journal),
        make_unfinished(journal),
        make_pictures(pictures, remark),
        *(make_elsewhere(journal, timelines) for timelines in list(journal.timelines.values())[1:]),
        make_method(journal.main),
    )
    style = Path(__file__).with_name("journal.css").read_text(encoding="utf-8")
    return make_document(f"{journal.title}: lab journal", join(header, main), style, images=True)


def make_start(journal: Journal) -> Html:
    """Tell the student how to begin when the journal is empty."""
    return tag(
        "p",
        "The judge fills this journal: every ",
        tag("code", f"make check LAB={journal.lab} STAGE=01"),
        ", bench, sweep and inspect on your files adds an entry. Your own words go into notes: ",
        tag("code", f"make note LAB={journal.lab} STAGE=01"),
        class_="note",
    )


def make_measured(journal: Journal, timeline: Timeline | None, source: Source | None) -> Html | None:
    """Make the bound, the CPU's times, the plots and the table of one place; None if nothing was timed and only the CPU
    backend ran."""
    if timeline is None and not journal.has_gpu:
        return None
    if timeline is None:
        advice = "make device shows this machine's memory bandwidth, make bench times a stage; both need a GPU."
        return tag("section", tag("h2", "Maximum possible speed"), tag("p", f"{NOT_MEASURED} {advice}", class_="note"))
    return join(
        tag("div", make_bound(journal, timeline), make_cpu(timeline), class_="two"),
        tag("section", tag("h2", "Every optimisation"), draw_times(timeline), make_table(timeline, source)),
        make_plots(timeline),
    )


def make_bound(journal: Journal, timeline: Timeline) -> Html:
    """Make the derivation of the bound, one line per step, or the reason why there is no bound."""
    formula, beyond = make_sum(describe_bound(journal, timeline), has_result=True), explain_time_below_bound(timeline)
    return tag(
        "section",
        tag("h2", "Maximum possible speed"),
        formula or tag("p", explain_missing_bound(timeline), class_="note"),
        tag("p", beyond, class_="caption") if beyond else None,
    )


def make_cpu(timeline: Timeline) -> Html | None:
    """Make the CPU times that GPU times are compared with; None if there are none, or for the CPU backend."""
    times = make_sum(describe_cpu(timeline)) if timeline.place.is_gpu else None
    if times is None:
        return None
    drift = describe_cpu_drift(timeline)
    caption = tag("p", drift, class_="caption") if drift else None
    return tag("section", tag("h2", "CPU reference"), times, caption)


def make_sum(lines: Sequence[tuple[str, str]], has_result: bool = False) -> Html | None:
    """List numbers one below the other, each with its meaning. If `has_result`, the last one is the result."""
    if not lines:
        return None
    rows = [tag("div", tag("dt", value), tag("dd", words)) for value, words in lines]
    return tag("dl", *rows, class_="sum result" if has_result else "sum")


def make_predictions(journal: Journal) -> Html | None:
    """Make a table of predicted and measured times; None if nothing was predicted."""
    predictions = find_predictions(journal)
    if not predictions:
        return None
    rows = [prediction.cells for prediction in predictions]
    table = make_small_table(NAMES, rows, describe_predictions(predictions))
    return tag("section", tag("h2", "Predicted and measured times"), table, class_="predictions")


def make_plots(timeline: Timeline) -> Html | None:
    """Make the speedup and roofline plots, next to each other."""
    speedups, roofline = draw_speedups(timeline), draw_roofline(timeline)
    plots = [
        tag("section", tag("h2", title), plot)
        for title, plot in (("Speedup", speedups), ("Roofline", roofline))
        if plot
    ]
    return tag("div", *plots, class_="two") if plots else None


def make_table(timeline: Timeline, source: Source | None) -> Html:
    """Make a table with one line per optimisation."""
    names = ["Time", *compared_names(timeline, source)]
    head = tag(
        "tr", tag("th", "Optimisation", scope="col"), *(tag("th", name, scope="col", class_="number") for name in names)
    )
    rows = []
    for row in timeline.rows:
        values = [show_seconds(row.time_s), *compared_values(timeline, row, source)]
        link = tag("a", wrap_name(row.optimisation.id), href=f"#{row.optimisation.id}")
        cells = [
            tag("td", tag("span", value), data_label=name, class_="number" + (" none" if value == NONE else ""))
            for name, value in zip(names, values, strict=True)
        ]
        title = tag("span", row.optimisation.name, class_="title")
        rows.append(tag("tr", tag("th", link, title, scope="row"), *cells))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="summary")
    return join(table, tag("p", describe_columns(timeline, source), class_="caption"))


def make_articles(journal: Journal) -> list[Html]:
    """Make an article for each optimisation, compared with the previous one."""
    articles, before = [], None
    for number, optimisation in enumerate(journal.shown, 1):
        articles.append(make_article(journal, number, optimisation, before))
        before = optimisation
    return articles


def make_article(journal: Journal, number: int, optimisation: Optimisation, before: Optimisation | None) -> Html:
    """Make one optimisation's article: words next to figures, then changes and discarded versions."""
    timeline = journal.main
    place = timeline.place if timeline else None
    measured = journal.measured(optimisation)
    chosen = optimisation.chosen(place)
    verdict = badge(chosen.verdict) if chosen and chosen.verdict else None
    heading = tag("h2", tag("span", str(number), class_="ordinal"), tag("span", optimisation.name), verdict)
    note = describe_later_failure(optimisation, chosen) if measured else describe_state(journal, optimisation, chosen)
    figures = join(
        make_figures(journal, *measured) if measured else None,
        tag("p", note, class_="note") if note else None,
    )
    last = before.inspection(place) if before else None
    columns = "two words" if optimisation.note else "figures"
    return tag(
        "article",
        heading,
        tag("p", tag("code", optimisation.id), class_="id"),
        tag("div", make_words(journal, optimisation), tag("div", figures, class_="figures"), class_=columns),
        make_changed(journal, optimisation, before),
        make_counters(last, optimisation.inspection(place), before),
        make_sweep(optimisation.sweep(place)) if place else None,
        make_discarded_versions(optimisation, timeline),
        make_code(journal, chosen),
        id=optimisation.id,
        class_="optimisation",
    )


def make_words(journal: Journal, optimisation: Optimisation) -> Html:
    """Make the student's own words, and the list of prompts without an answer."""
    note: Note | None = optimisation.note
    if note is None:
        command = f"make note LAB={journal.lab} STAGE={optimisation.stage[:2]}"
        return tag("div", tag("p", "No note yet: ", tag("code", command), class_="unwritten"))
    sections = [join(tag("h3", title) if title else None, make_prose(text)) for title, text in note.written]
    missing = tag("p", f"Not written yet: {', '.join(note.missing)}.", class_="unwritten") if note.missing else None
    return tag("div", *sections, missing, class_="prose")


def make_figures(journal: Journal, timeline: Timeline, row: Row) -> Html:
    """Make the time, the samples and the comparisons of one optimisation."""
    timed = row.measurement
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in describe_figures(timeline, row)]
    change = describe_change(timeline, row)
    other_datasets = describe_other_datasets(journal, timeline, row)
    return join(
        tag(
            "p",
            tag("strong", show_seconds(row.time_s), class_="time"),
            " ",
            describe_measurement(row),
            class_="headline",
        ),
        tag("p", change, class_="change") if change else None,
        tag("dl", *facts, class_="numbers"),
        draw_samples(timed),
        tag("p", describe_samples(row), class_="caption"),
        *(tag("p", caveat, class_="note") for caveat in timed.caveats),
        make_small_table(["Also timed", "Time", "vs 1 core", "Of bound"], other_datasets) if other_datasets else None,
    )


def make_small_table(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> Html:
    """Make a table with words in the first column and numbers in the others. It scrolls if it is too wide."""
    kinds = ["", *["number"] * (len(names) - 1)]
    head = tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in zip(names, kinds, strict=True)))
    body = [tag("tr", *(tag("td", value, class_=kind) for value, kind in zip(row, kinds, strict=True))) for row in rows]
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="checks")
    return join(tag("div", table, class_="scroll"), tag("p", caption, class_="caption") if caption else None)


def make_changed(journal: Journal, optimisation: Optimisation, before: Optimisation | None) -> Html | None:
    """Show the changes since the previous optimisation; None if there is nothing to compare."""
    place = journal.main.place if journal.main else None
    old, new = before.chosen(place) if before else None, optimisation.chosen(place)
    if before is None or old is None or new is None:
        return None
    starters = [journal.starters.get(item.stage, "") for item in (before, optimisation)]
    difference = compare_texts(*(journal.sources.get(version.source_hash) for version in (old, new)), starters)
    counts = f": {plural(difference.added, 'line')} added, {difference.removed} removed" if difference.lines else ""
    summary = tag("summary", f"Changes since {before.id}{counts}")
    is_open = "" if len(difference.lines) <= MAX_OPEN else None
    remark = tag("p", difference.remark, class_="caption") if difference.remark else None
    return tag("details", summary, make_difference(difference), remark, open=is_open)


def make_difference(difference: Difference) -> Html | None:
    """Show the changed lines on coloured backgrounds; None if there are no lines."""
    if not difference.lines:
        return None
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = [tag("span", line or " ", class_=kinds.get(line[:1])) for line in difference.lines]
    return tag("pre", *lines, class_="difference", tabindex=0)


def make_counters(before: Inspection | None, after: Inspection | None, last: Optimisation | None) -> Html | None:
    """Make a table of the counters of `make inspect` that changed."""
    counts = choose_counts(before, after)
    if counts is None or after is None:
        return None
    old, new = counts
    rows = describe_counters(old, new)
    place = f"Counted by make inspect on {new.dataset}"
    if not rows:
        return tag("p", f"{place}: no counter changed.", class_="caption")
    names, counter_rows = counter_columns(old, last.id if last else "", rows)
    caption = f"{place}{'; the counters that changed' if old else ''}."
    return tag("section", tag("h3", "Counters"), make_small_table(names, counter_rows, caption))


def make_sweep(sweep: Sweep | None) -> Html | None:
    """Make a table of a sweep's fastest choices."""
    if sweep is None or sweep.best is None:
        return None
    timed = sorted(sweep.timed, key=lambda point: point.median_s)
    rows = [
        [point.name, show_seconds(point.median_s), show_factor(point.median_s / timed[0].median_s)]
        for point in timed[:MAX_CHOICES]
    ]
    left_out = len(timed) - len(rows)
    caption = f"Seconds for {sweep.iterations} iterations on {sweep.dataset}; x: time over the best's."
    if left_out:
        caption += f" {plural(left_out, 'slower choice')} omitted."
    summary = tag("summary", f"Sweep: best is {sweep.best.name}, of {plural(len(sweep.points), 'choice')}")
    return tag("details", summary, make_small_table(["Choice", "Time", "\N{MULTIPLICATION SIGN}"], rows, caption))


def make_discarded_versions(optimisation: Optimisation, timeline: Timeline | None) -> Html | None:
    """Show the versions that passed and were discarded, and those that did not pass."""
    chosen = optimisation.chosen(timeline.place if timeline else None)
    tries, failures = list_discarded_versions(optimisation, chosen, timeline), describe_failed_versions(optimisation)
    table = None
    if tries:
        last_tries, left_out = tries[-MAX_TRIES:], len(tries) - MAX_TRIES
        caption = f"{plural(left_out, 'older one')} omitted." if left_out > 0 else ""
        summary = tag("summary", f"{plural(len(tries), 'version')} tried and discarded")
        names = ["When (UTC)", "Version", "Time", "vs kept version"]
        table = tag(
            "details", summary, make_small_table(names, last_tries, caption), open="" if len(tries) <= 6 else None
        )
    return join(table, tag("p", failures, class_="caption") if failures else None) if table or failures else None


def make_code(journal: Journal, chosen: Version | None) -> Html | None:
    """Make the whole file, folded."""
    folded = make_text("The whole file", journal.sources.get(chosen.source_hash, "") if chosen else "")
    return tag("div", folded, class_="whole") if folded else None


def make_unfinished(journal: Journal) -> Html | None:
    """List the stages that were checked, but did not pass and have no note."""
    if not journal.unfinished:
        return None
    items = []
    for optimisation in journal.unfinished:
        version = optimisation.versions[-1]
        cause = f" ({version.cause})" if version.cause else ""
        items.append(tag("li", tag("code", optimisation.id), f" {version.verdict or 'not checked as a whole'}{cause}"))
    return tag("section", tag("h2", "Started, but not passed yet"), tag("ul", *items), class_="unfinished")


def make_pictures(pictures: Sequence[Picture], remark: str) -> Html | None:
    """Embed the pictures of `make show` in the page."""
    if not pictures and not remark:
        return None
    figures = []
    for picture in pictures:
        words = Path(picture.name).stem.replace("_", " ")
        data = base64.b64encode(picture.content).decode("ascii")
        address = f"data:{TYPES[Path(picture.name).suffix.lower()]};base64,{data}"
        image = tag("img", src=address, alt=f"Picture of make show: {words}")
        figures.append(tag("figure", image, tag("figcaption", words)))
    gallery = tag("div", *figures, class_="gallery") if figures else None
    words = tag("p", remark, class_="note") if remark else None
    return tag("section", tag("h2", "What the code computes"), gallery, words)


def make_elsewhere(journal: Journal, timelines: Sequence[Timeline]) -> Html:
    """Show the times of another machine or of the CPU backend separately."""
    timeline = timelines[0]
    cpu = describe_cpu(timeline) if timeline.place.is_gpu else []
    return tag(
        "section",
        tag("h2", f"Also measured: {name_place(timelines)}"),
        tag(
            "p",
            "These are another machine's times: compare them with each other, but not with those above.",
            class_="note",
        ),
        make_sum(describe_bound(journal, timeline), has_result=True)
        or tag("p", explain_missing_bound(timeline), class_="caption"),
        make_sum(cpu),
        draw_times(timeline),
        *(make_table(timeline, None) for timeline in timelines),
        class_="elsewhere",
    )


def make_method(timeline: Timeline | None) -> Html | None:
    """Explain once for all optimisations how a change is distinguished from noise."""
    if timeline is None or len(timeline.rows) < 2:
        return None
    return tag("section", tag("h2", "Comparison with the noise"), tag("p", describe_noise(timeline), class_="caption"))
