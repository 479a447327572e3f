"""The lab journal as Markdown: the same words and figures as the page, without plots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.python.common.markup import show_text
from grader.python.common.units import plural, show_seconds
from grader.python.journal.difference import compare_texts
from grader.python.journal.optimisations import Journal, Optimisation, Timeline
from grader.python.journal.predictions import NAMES, describe_predictions, find_predictions
from grader.python.journal.words import (
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


def make_markdown(journal: Journal, source: Source | None) -> str:
    blocks = [f"# {journal.title}: lab journal", f"{describe_result(journal)}."]
    facts = [f"- {name}: {value}" for name, value in describe_facts(journal)]
    blocks += ["\n".join(facts)] if facts else []
    blocks += [f"> {problem}" for problem in journal.problems]
    blocks += list(make_speeds(journal, journal.main, source))
    if predictions := find_predictions(journal):
        rows = [prediction.cells for prediction in predictions]
        blocks += ["## Predicted and measured times", make_table(NAMES, rows), describe_predictions(predictions)]
    before = None
    for number, optimisation in enumerate(journal.shown, 1):
        blocks += list(make_optimisation(journal, number, optimisation, before))
        before = optimisation
    if journal.unfinished:
        items = [
            f"- `{optimisation.id}`: {optimisation.versions[-1].verdict or 'not checked'}"
            for optimisation in journal.unfinished
        ]
        blocks += ["## Started, but not passed yet", "\n".join(items)]
    for timelines in list(journal.timelines.values())[1:]:
        blocks += [
            f"## Also measured: {name_place(timelines)}",
            "These are another machine's times: compare them with each other, but not with those above.",
        ]
        blocks += [block for timeline in timelines for block in make_summary(journal, timeline, None)]
    if journal.main and len(journal.main.rows) > 1:
        blocks += ["## Comparison with the noise", describe_noise(journal.main)]
    return show_text("\n\n".join(blocks)) + "\n"


def make_speeds(journal: Journal, timeline: Timeline | None, source: Source | None) -> Iterator[str]:
    """Yield the bound, the CPU reference and the table of a place."""
    if timeline is None and not journal.has_gpu:
        return
    yield "## Maximum possible speed"
    if timeline is None:
        yield NOT_MEASURED
        return
    bound = describe_bound(journal, timeline)
    yield "\n".join(f"- **{value}** {words}" for value, words in bound) if bound else explain_missing_bound(timeline)
    if beyond := explain_time_below_bound(timeline):
        yield beyond
    if timeline.place.is_gpu:
        yield "## CPU reference"
        yield "\n".join(f"- **{value}** {words}" for value, words in describe_cpu(timeline)) or NOT_MEASURED
        if drift := describe_cpu_drift(timeline):
            yield drift
    yield "## Every optimisation"
    yield from make_summary(journal, timeline, source)


def make_summary(journal: Journal, timeline: Timeline, source: Source | None) -> Iterator[str]:
    """Yield a table with one line per optimisation, and the meaning of its columns."""
    names = ["Optimisation", "Time", *compared_names(timeline, source)]
    rows = [
        [f"`{row.optimisation.id}`", show_seconds(row.time_s), *compared_values(timeline, row, source)]
        for row in timeline.rows
    ]
    yield make_table(names, rows)
    yield describe_columns(timeline, source)


def make_optimisation(
    journal: Journal, number: int, optimisation: Optimisation, before: Optimisation | None
) -> Iterator[str]:
    timeline = journal.main
    place = timeline.place if timeline else None
    chosen, measured = optimisation.chosen(place), journal.measured(optimisation)
    yield f"## {number}. {optimisation.name} (`{optimisation.id}`)"
    if optimisation.note:
        for title, text in optimisation.note.written:
            yield f"### {title}\n\n{text}" if title else text
        if optimisation.note.missing:
            yield f"Not written yet: {', '.join(optimisation.note.missing)}."
    if measured:
        among, row = measured
        yield "### Speedup"
        yield f"**{show_seconds(row.time_s)}** {describe_measurement(row)}. {describe_change(among, row)}".rstrip()
        yield f"{plural(len(row.measurement.samples_s), 'sample')}. {describe_samples(row)}."
        other_datasets = describe_other_datasets(journal, among, row)
        if other_datasets:
            yield make_table(["Also timed", "Time", "vs 1 core", "Of bound"], other_datasets)
        if later := describe_later_failure(optimisation, chosen):
            yield later
    else:
        yield describe_state(journal, optimisation, chosen)
    counts = choose_counts(before.inspection(place) if before else None, optimisation.inspection(place))
    if counts and (rows := describe_counters(*counts)):
        yield f"### Counters on {counts[1].dataset}"
        yield make_table(*counter_columns(counts[0], before.id if before else "", rows))
    if tries := list_discarded_versions(optimisation, chosen, timeline):
        yield f"### {plural(len(tries), 'version')} tried and discarded"
        yield make_table(["When (UTC)", "Version", "Time", "vs kept version"], tries[-MAX_TRIES:])
    if failures := describe_failed_versions(optimisation):
        yield failures
    yield from make_changes(journal, optimisation, before)


def make_changes(journal: Journal, optimisation: Optimisation, before: Optimisation | None) -> Iterator[str]:
    """Yield the code of the first optimisation, or the changes of a later one."""
    place = journal.main.place if journal.main else None
    chosen = optimisation.chosen(place)
    last = before.chosen(place) if before else None
    if chosen is None:
        return
    text = journal.sources.get(chosen.source_hash)
    if last is None or before is None:
        if text:
            yield f"### The code\n\n{fence(text, 'cuda')}"
        return
    difference = compare_texts(journal.sources.get(last.source_hash), text)
    yield f"### Changes since `{before.id}`"
    if difference.lines:
        yield fence("\n".join(difference.lines), "diff")
    if difference.remark:
        yield difference.remark


def fence(text: str, language: str) -> str:
    """Return a fenced code block. The fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def make_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the first column is left-aligned, the others right-aligned."""
    marks = ["---", *["--:"] * (len(names) - 1)]
    lines = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in (names, marks, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
