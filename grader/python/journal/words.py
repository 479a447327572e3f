"""The words and figures of a lab journal, shared by its page and its Markdown. Values that were not measured are
omitted.

Every number comes from a report, or is a ratio of two numbers measured on one machine and one dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.python.common.report import Measurement
from grader.python.common.units import NONE, plural, show_bandwidth, show_factor, show_number, show_seconds, show_share
from grader.python.journal.inspection import COUNTERS, DatasetCounters, Inspection
from grader.python.journal.optimisations import Journal, Optimisation, Row, Timeline, Version
from grader.python.journal.records import Record

NOT_MEASURED = "Not measured yet."
MIN_CHANGE = 0.01  # relative; a smaller change of a counter counts as none
MAX_CAUSES = 6
MAX_TRIES = 40
MAX_CHOICES = 12
NOISE = (
    "A change counts as larger than the noise if its 95% interval does not contain 1. The interval "
    "contains the speedups that a Mann-Whitney test of the two sets of samples does not reject."
)


@dataclass(frozen=True)
class Source:
    """The figures of the material that the lab comes from (labs/<lab>/source.json), which are shown next to the
    student's."""

    machine: str
    columns: list[str]
    figures: dict[tuple[str, str], list[str]]  # keyed by stage and dataset

    def figures_of(self, row: Row) -> list[str]:
        """Return the figures for a row; a dash for each column if there are none."""
        key = (row.optimisation.stage, row.measurement.dataset)
        return self.figures.get(key) or [NONE] * len(self.columns)


def read_source(content: dict[str, Any]) -> Source:
    """Build a Source from the content of source.json."""
    figures = {(row["stage"], row["dataset"]): row.get("figures", []) for row in content["rows"]}
    return Source(content["machine"], list(content["columns"]), figures)


def describe_result(journal: Journal) -> str:
    """Return the journal's result as one sentence."""
    count = plural(len(journal.shown), "optimisation")
    timeline = journal.main
    if timeline is None:
        return f"{count}, none measured yet" if journal.shown else "Nothing is recorded yet"
    best, first = timeline.best, timeline.rows[0]
    iterations = plural(best.measurement.iterations, "iteration")
    if best is first:
        words = f"{show_seconds(best.time_s)} for {iterations}"
    else:
        words = f"From {show_seconds(first.time_s)} to {show_seconds(best.time_s)} for {iterations}"
    if not timeline.place.is_gpu:
        return f"{words}, on the CPU backend"
    parts = []
    if best.measurement.speedup_sequential:
        parts.append(f"{show_factor(best.measurement.speedup_sequential)} as fast as one core")
    fraction = best.measurement.bound_fraction
    if fraction > 1:
        parts.append(f"{show_factor(fraction)} as fast as the bound of a straightforward kernel")
    elif fraction:
        parts.append(f"{show_share(fraction)} of the bandwidth bound")
    return f"{words}: {', '.join(parts)}" if parts else words


def describe_facts(journal: Journal) -> list[tuple[str, str]]:
    """Return the facts shown below the result, as names and values."""
    times = sorted(
        record.time
        for optimisation in journal.optimisations
        for version in optimisation.versions
        for record in version.records
    )
    hours = [
        optimisation.note.hours
        for optimisation in journal.optimisations
        if optimisation.note and optimisation.note.hours is not None
    ]
    when = ""
    if times:
        first, last = times[0][:10], times[-1][:10]
        when = first if first == last else f"{first} to {last}"
    facts = [
        ("Optimisations", str(len(journal.shown)) if journal.shown else ""),
        ("Recorded", when),
        ("Entries", f"{journal.records:,}" if journal.records else ""),
        ("Hours noted", show_number(sum(hours), 2) if hours else ""),
        ("Quiz", journal.quiz),
        ("Measured on", ", ".join(name_place(timelines) for timelines in journal.timelines.values())),
    ]
    return [(name, value) for name, value in facts if value]


def name_place(timelines: Sequence[Timeline]) -> str:
    """Name the place of the measurements, and the imported reports they come from."""
    rows = [row for timeline in timelines for row in timeline.rows]
    imported = sorted({row.record.imported_from for row in rows if row.record.imported_from})
    name = timelines[0].place.name
    if not imported:
        return name
    part = "" if all(row.record.imported_from for row in rows) else "in part "
    return f"{name}, {part}from {' and '.join(imported)}"


def show_speedup(value: float) -> str:
    """Format a speedup: 14.2x, or a fraction such as 1/162 if it is below 0.1."""
    return f"1/{show_number(1 / value)}" if 0 < value < 0.1 else show_factor(value)


def show_short_time(seconds: float) -> str:
    """Format a time in seconds with a suitable unit: 14.39 us."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "\N{MICRO SIGN}s")):
        if seconds * factor >= 1:
            return f"{show_number(seconds * factor, 4)}\N{NO-BREAK SPACE}{unit}"
    return f"{show_number(seconds * 1e9, 4)}\N{NO-BREAK SPACE}ns"


def describe_bound(journal: Journal, timeline: Timeline) -> list[tuple[str, str]]:
    """Derive the maximum possible speed step by step: a number and its meaning. Return an empty list if it is
    unknown."""
    timed = timeline.latest
    if not timeline.place.is_gpu or min(timed.bound_s, timed.bound_bytes, timed.bandwidth_bytes_per_s) <= 0:
        return []
    per_call = journal.iterations_per_call
    unit = "an iteration" if per_call == 1 else f"a call of {per_call:,} iterations"
    calls = timed.iterations / per_call
    min_seconds = timed.bound_bytes / timed.bandwidth_bytes_per_s
    steps = [
        (f"= {show_short_time(min_seconds)}", f"the minimum for {unit}"),
        (f"\N{MULTIPLICATION SIGN} {show_number(calls, 1)}", "of them"),
    ]
    return [
        (
            f"{timed.bound_bytes:,.0f}\N{NO-BREAK SPACE}bytes",
            f"moved in {unit}: {describe_counted_bytes(journal, timed)}",
        ),
        (
            f"\N{DIVISION SIGN} {show_bandwidth(timed.bandwidth_bytes_per_s)}",
            "the GPU's memory bandwidth, measured after each round of samples",
        ),
        *(steps if calls != 1 else []),
        (f"= {show_seconds(timed.bound_s)}", f"for {timed.iterations:,} iterations on {timeline.dataset}"),
    ]


def explain_time_below_bound(timeline: Timeline) -> str:
    """Explain how a time can be below the bound; return '' if no time is."""
    if not timeline.place.is_gpu or all(row.measurement.bound_fraction <= 1 for row in timeline.rows):
        return ""
    return (
        "If a time is below this bound, a cache, or several iterations in one pass over memory, save bytes that a "
        "straightforward kernel moves."
    )


def explain_missing_bound(timeline: Timeline) -> str:
    """Explain why there is no bound."""
    if timeline.place.is_gpu:
        return NOT_MEASURED
    return (
        "Times of the CPU backend say nothing about how fast the code is on a GPU, and are compared "
        "with neither the bound nor the CPU."
    )


def describe_counted_bytes(journal: Journal, timed: Measurement) -> str:
    """Describe the bytes that the bound counts."""
    if abs(timed.floor_bytes - timed.bound_bytes) > 0.001 * timed.bound_bytes:
        return f"the bytes of a straightforward kernel (each buffer once would be {timed.floor_bytes:,.0f} bytes)"
    reads, writes = " and ".join(journal.inputs), " and ".join(journal.outputs)
    return f"{reads or 'the input'} read once, {writes or 'the output'} written once"


def describe_cpu(timeline: Timeline) -> list[tuple[str, str]]:
    """Return the CPU reference: times in seconds and their meaning."""
    timed = timeline.latest
    iterations = f"for {timed.iterations:,} iterations on {timeline.dataset}"
    lines = []
    if timed.sequential_s:
        lines.append((show_seconds(timed.sequential_s), f"one core, {iterations}"))
    if timed.openmp_s:
        lines.append((show_seconds(timed.openmp_s), f"{plural(timed.openmp_threads, 'thread')}, {iterations}"))
    return lines


def describe_cpu_drift(timeline: Timeline) -> str:
    """Report that the CPU's time varied between runs; return '' if it did not."""
    times = [row.measurement.sequential_s * row.scale for row in timeline.rows if row.measurement.sequential_s > 0]
    if not times or max(times) < 1.05 * min(times):
        return ""
    return (
        f"The CPU took between {show_seconds(min(times))} and {show_seconds(max(times))}; each speedup uses the "
        "CPU time that was measured with its own samples."
    )


def compared_names(timeline: Timeline, source: Source | None) -> list[str]:
    """Return the column names of a timeline's table, after the optimisation and its time."""
    names = ["vs 1 core", "vs all cores", "vs previous", "vs best", "Of bound"]
    names = names if timeline.place.is_gpu else ["vs previous", "vs best"]
    return names + ([f"{source.machine}: {column}" for column in source.columns] if source else [])


def compared_values(timeline: Timeline, row: Row, source: Source | None) -> list[str]:
    """Return a row's values for the columns of compared_names()."""
    timed = row.measurement
    before = show_speedup(row.change.ratio) if row.change else NONE
    best = "best" if row is timeline.best else show_speedup(timeline.best.time_s / row.time_s)
    best = best if len(timeline.rows) > 1 else NONE
    values = [before, best]
    if timeline.place.is_gpu:
        cpu = [show_speedup(timed.speedup_sequential), show_speedup(timed.speedup_openmp)]
        values = [*cpu, *values, show_share(timed.bound_fraction)]
    return values + (source.figures_of(row) if source else [])


def describe_columns(timeline: Timeline, source: Source | None) -> str:
    """Explain the table's columns."""
    scaled = {row.measurement.dataset for row in timeline.rows if row.scale != 1}
    parts = ", ".join(
        f"{row.optimisation.id} was timed on {row.measurement.dataset} and is multiplied by {row.scale:g}"
        for row in timeline.rows
        if row.measurement.dataset in scaled
    )
    words = (
        f"Time: the median, in seconds for {timeline.latest.iterations:,} iterations on {timeline.dataset}. "
        "vs: how many times as fast, above 1 is faster."
    )
    if timeline.place.is_gpu:
        words += " Of bound: the bound's time over this time."
    if source:
        words += f" {source.machine}: the times in the material that the lab comes from, "
        words += "measured on another machine and with other code."
    return f"{words} {parts}." if parts else words


def describe_measurement(row: Row) -> str:
    """State the iterations and the dataset of a row's time."""
    words = f"for {row.measurement.iterations:,} iterations on {row.measurement.dataset}"
    return f"{words}, multiplied by {row.scale:g}" if row.scale != 1 else words


def describe_change(timeline: Timeline, row: Row) -> str:
    """Describe the speedup over the previous optimisation and compare it with noise; return '' for the first."""
    if row.change is None:
        return ""
    before = timeline.rows[timeline.rows.index(row) - 1].optimisation.id
    change = row.change
    words = f"{show_factor(change.ratio)} as fast as {before}"
    if change.is_clear is None or change.low is None or change.high is None:
        return f"{words}; too few samples to tell it from noise."
    words += f" (95% interval {show_number(change.low, 4)} to {show_number(change.high, 4)}): "
    if not change.is_clear:
        return f"{words}within the noise."
    return f"{words}{'faster' if change.ratio > 1 else 'slower'} by more than the noise."


def describe_noise(timeline: Timeline) -> str:
    """Explain how a change is distinguished from noise."""
    if timeline.spread is None:
        return f"{NOISE} No file was timed twice, so the variation from run to run is unknown."
    spread = show_share(timeline.spread) if timeline.spread else "0%"
    return f"{NOISE} The change must also exceed {spread}, the variation between runs of one file."


def describe_samples(row: Row) -> str:
    """List all samples, as the report contains them."""
    return f"In seconds: {', '.join(show_number(sample, 4) for sample in row.measurement.samples_s)}"


def describe_figures(timeline: Timeline, row: Row) -> list[tuple[str, str]]:
    """Return an optimisation's figures except its time, as names and values."""
    timed = row.measurement
    figures = list(zip(compared_names(timeline, None), compared_values(timeline, row, None), strict=True))
    if not timeline.place.is_gpu:
        return [(name, value) for name, value in figures if value != NONE]
    if interval := timed.reference_ratio:
        low, median, high = (show_number(value, 4) for value in (interval.low, interval.median, interval.high))
        figures.append(("Time over reference's", f"{median} ({low} to {high})"))
    figures.append(("Limited by", timed.limit or NONE))
    return [(name, value) for name, value in figures if value != NONE]


def describe_other_datasets(journal: Journal, shown: Timeline, row: Row) -> list[list[str]]:
    """Return the row's times on other datasets at the same place: dataset, time, vs 1 core, of bound."""
    timelines = [timeline for timeline in journal.timelines[shown.place] if timeline is not shown]
    others = [(timeline, row_there) for timeline in timelines if (row_there := timeline.row(row.optimisation))]
    return [
        [
            timeline.dataset,
            show_seconds(row_there.time_s),
            show_speedup(row_there.measurement.speedup_sequential if timeline.place.is_gpu else 0),
            show_share(row_there.measurement.bound_fraction if timeline.place.is_gpu else 0),
        ]
        for timeline, row_there in others
    ]


def describe_state(journal: Journal, optimisation: Optimisation, version: Version | None) -> str:
    """Describe an optimisation that was not measured, and name the next command."""
    later = describe_later_failure(optimisation, version)
    verb = "bench" if version and version.verdict == "passed" and not later else "check"
    again = f"make {verb} LAB={journal.lab} STAGE={optimisation.stage[:2]}"
    if version is None:
        return f"{NOT_MEASURED} There are no records of it. Next: {again}"
    verdict = f"The last verdict: {version.verdict}" if version.verdict else "No version was checked on all datasets"
    last = f"{verdict}{describe_cause(version)}."
    if verb == "bench" and not journal.has_gpu:
        return f"{last} Not timed: there was no GPU."
    return f"{NOT_MEASURED} {later or last} Next: {again}"


def describe_later_failure(optimisation: Optimisation, version: Version | None) -> str:
    """State that the last version failed if an earlier one is shown instead; otherwise return ''."""
    last = optimisation.versions[-1] if optimisation.versions else None
    if version is None or last is None or last is version or last.verdict != "failed":
        return ""
    return f"The last version failed{describe_cause(last)}. The journal shows an earlier one, which passed."


def describe_cause(version: Version) -> str:
    """Return the cause in parentheses; '' if the version passed."""
    return f" ({version.cause})" if version.cause and version.verdict != "passed" else ""


def describe_failed_versions(optimisation: Optimisation) -> str:
    """Count the versions that failed, with their causes; return '' if none failed."""
    failed = [version for version in optimisation.versions if version.verdict == "failed"]
    if not failed:
        return ""
    causes = Counter(version.cause for version in failed if version.cause)
    causes_text = ", ".join(
        f"{cause} ({count})" if count > 1 else cause for cause, count in causes.most_common(MAX_CAUSES)
    )
    if len(causes) > MAX_CAUSES:
        causes_text += f" and {plural(len(causes) - MAX_CAUSES, 'other cause')}"
    return f"{plural(len(failed), 'version')} did not pass{f': {causes_text}' if causes_text else ''}."


def list_discarded_versions(
    optimisation: Optimisation, chosen: Version | None, timeline: Timeline | None
) -> list[list[str]]:
    """Return the versions that passed and were discarded: time of recording, hash, time, and speedup over the
    kept version."""

    def measured(version: Version) -> tuple[Record, Measurement] | None:
        return version.measured(timeline.place).get(timeline.dataset) if timeline else None

    final = measured(chosen) if chosen else None
    listed_hashes = {version.source_hash for version in optimisation.versions if version is chosen or measured(version)}
    rows = []
    for version in optimisation.versions:
        record, time, ratio = version.records[-1], "passed, not timed", NONE
        if version is not chosen and (measurement_there := measured(version)):
            record, timed = measurement_there
            time = show_seconds(timed.median_s)
            ratio = show_factor(final[1].median_s / timed.median_s) if final else NONE
        elif (
            version.verdict != "passed" or version.source_hash in listed_hashes or version is optimisation.versions[-1]
        ):
            continue  # the last version is not discarded: it may still be timed
        listed_hashes.add(version.source_hash)
        rows.append([record.time[:16].replace("T", " "), version.source_hash[:8], time, ratio])
    return rows


def describe_counters(before: DatasetCounters | None, after: DatasetCounters) -> list[list[str]]:
    """Return counter, value before and value now for each counter that changed or, if there are no earlier counts, for
    each counter above 0."""
    rows = []
    for name, (title, show) in COUNTERS.items():
        old, new = (getattr(counts, name) if counts else None for counts in (before, after))
        if new is None or (before is None and new == 0):
            continue
        if before is not None and abs(new - (old or 0)) <= MIN_CHANGE * max(abs(new), abs(old or 0)):
            continue
        earlier = NONE if old is None else show(old) if old else "0"
        rows.append([title, earlier, show(new) if new else "0"])
    return rows


def counter_columns(
    before: DatasetCounters | None, name: str, rows: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return names and rows of the counters' table. `name`: the previous optimisation, if it was counted."""
    if before is None:
        return ["Counter", "Now"], [[title, now] for title, _, now in rows]
    return ["Counter", name, "Now"], rows


def choose_counts(
    before: Inspection | None, after: Inspection | None
) -> tuple[DatasetCounters | None, DatasetCounters] | None:
    """Return the counts before and now on the largest dataset that both inspections have or, if they share none, only
    the counts now on the largest dataset. Return None if nothing was counted."""
    if after is None or not after.counters:
        return None
    counted = {counter.dataset: counter for counter in before.counters} if before else {}
    common = [counter for counter in after.counters if counter.dataset in counted] or after.counters
    largest = max(common, key=lambda counter: counter.least_bytes)
    return counted.get(largest.dataset), largest
