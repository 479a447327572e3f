"""A lab journal's contents: the records of each optimisation, and the times that can be compared.

Times are compared only if one machine measured them with one backend on one dataset. This module measures nothing;
medians, speedups over the CPU and fractions of the bound come from the reports.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, read_json
from grader.python.common.labs import current_id, read_manifest, read_stages
from grader.python.common.report import Machine, Measurement
from grader.python.journal.inspection import Inspection
from grader.python.journal.notes import Note, name_note, read_notes
from grader.python.journal.quiz import ANSWERS, read_score
from grader.python.journal.records import Record, Records, read_records
from grader.python.journal.sweep import Sweep

CONFIDENCE = 1.96  # standard deviations: 95%


@dataclass(frozen=True)
class Place:
    """A machine with a backend. Times of the same place can be compared."""

    backend: str
    gpu: str
    cpu: str
    host: str

    @property
    def name(self) -> str:
        """Return the place's name for a heading."""
        host = f" ({self.host})" if self.host else ""
        return f"{self.gpu or 'GPU'}{host}" if self.is_gpu else f"CPU backend{host or ' of ' + self.cpu}"

    @property
    def is_gpu(self) -> bool:
        """Return whether a GPU ran the code. Only then is a time compared with the CPU's or with the memory-bandwidth
        bound."""
        return self.backend == "cuda"


@dataclass(eq=False)
class Version:
    """Consecutive records of one text of a stage's file."""

    source_hash: str
    records: list[Record] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Return the verdict of the last report on all datasets; '' if there is none."""
        return next((stage_report.verdict for stage_report in self.reports(whole=True)), "")

    @property
    def begun(self) -> datetime:
        """Return the time of the version's first record; imported records count only if there are no others."""
        own_records = [record for record in self.records if not record.imported_from]
        return (own_records or self.records)[0].when

    @property
    def cause(self) -> str:
        """Return the cause of the last report's failure; '' if it states none."""
        for stage_report in self.reports():
            failures = [
                stage_report.error,
                stage_report.compilation.failure,
                *(check.failure for check in stage_report.checks),
            ]
            failures += [
                finding
                for finding in (stage_report.check_mode.findings if stage_report.check_mode else [])
                if not finding.note
            ]
            return next((failure.cause for failure in failures if failure and failure.cause), "")
        return ""

    def reports(self, whole: bool = False) -> list[Any]:
        """Return the stage reports, the last one first; if `whole`, only those on all datasets."""
        records = [
            record for record in reversed(self.records) if record.stage_report and not (whole and record.dataset)
        ]
        return [record.stage_report for record in records]

    def measured(self, place: Place) -> dict[str, tuple[Record, Measurement]]:
        """Return the last measurement on each dataset at a place, with its record."""
        at_place = [record for record in self.records if record.report and place_of(record) == place]
        return {timed.dataset: (record, timed) for record in at_place for timed in record.measurements}


@dataclass(eq=False)
class Optimisation:
    """A stage, or one of several steps within it."""

    stage: str
    number: int
    title: str
    note: Note | None = None
    versions: list[Version] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return the note's name without its ending: 02_one_block, 02_one_block-2."""
        return name_note(self.stage, self.number).removesuffix(".md")

    @property
    def name(self) -> str:
        """Return the title, with the step's number for later steps."""
        return self.title if self.number == 1 else f"{self.title}, step {self.number}"

    @property
    def is_begun(self) -> bool:
        """Return whether a version passed, or there is a note that has text or versions."""
        has_note = self.note is not None and bool(self.note.written or self.versions)
        return has_note or any(version.verdict == "passed" for version in self.versions)

    def chosen(self, place: Place | None) -> Version | None:
        """Return the version to show: the last that passed and was timed at a place, else the last that passed, else
        the last."""
        passed = [version for version in self.versions if version.verdict == "passed"]
        timed = [version for version in passed if place and version.measured(place)]
        return next((versions[-1] for versions in (timed, passed, self.versions) if versions), None)

    def records_of_chosen(self, place: Place | None) -> list[Record]:
        """Return the records of the chosen version's text, the last one first. Records of other texts do not describe
        this version."""
        chosen = self.chosen(place)
        versions = [version for version in self.versions if chosen and version.source_hash == chosen.source_hash]
        return [record for version in reversed(versions) for record in reversed(version.records)]

    def inspection(self, place: Place | None) -> Inspection | None:
        """Return the last inspection of the chosen version."""
        return next((record.inspection for record in self.records_of_chosen(place) if record.inspection), None)

    def sweep(self, place: Place) -> Sweep | None:
        """Return the last sweep of the chosen version at a place, among those that contain times."""
        records = self.records_of_chosen(place)
        sweeps = [record.sweep for record in records if record.sweep and place_of(record) == place]
        return next((sweep for sweep in sweeps if any(point.median_s > 0 for point in sweep.timed)), None)


@dataclass(frozen=True)
class Change:
    """Time before divided by time after: 2 is twice as fast. `low` and `high` bound the 95% interval of `ratio`.

    `spread` is the relative difference between runs of one text; None if unknown.
    """

    ratio: float
    low: float | None
    high: float | None
    spread: float | None

    @property
    def is_clear(self) -> bool | None:
        """Return whether the change exceeds the noise; None if there are too few samples."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= 1 <= self.high and max(self.ratio, 1 / self.ratio) - 1 > (self.spread or 0)


@dataclass
class Row:
    """An optimisation's time at one place. With `scale` 64, a 64th of the timeline's dataset was timed, and the scaled
    time is comparable."""

    optimisation: Optimisation
    version: Version
    record: Record
    measurement: Measurement
    scale: float = 1
    change: Change | None = None

    @property
    def time_s(self) -> float:
        """Return the seconds for the measurement's iterations, scaled to the whole dataset."""
        return self.measurement.median_s * self.scale


@dataclass
class Timeline:
    """All times on one dataset at one place, in the journal's order."""

    place: Place
    dataset: str
    rows: list[Row]
    spread: float | None

    @property
    def best(self) -> Row:
        return min(self.rows, key=lambda row: row.time_s)

    @property
    def latest(self) -> Measurement:
        """Return the latest measurement of the whole dataset; its bound and baselines are shown for all rows."""
        complete = [row for row in self.rows if row.scale == 1] or self.rows
        return max(complete, key=lambda row: row.record.when).measurement

    def row(self, optimisation: Optimisation) -> Row | None:
        return next((row for row in self.rows if row.optimisation is optimisation), None)


@dataclass
class Journal:
    lab: str
    title: str
    optimisations: list[Optimisation]
    sources: dict[str, str]
    problems: list[str]
    iterations_per_call: int = 1
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    records: int = 0
    starters: dict[str, str] = field(default_factory=dict)  # by stage
    timelines: dict[Place, list[Timeline]] = field(default_factory=dict)
    quiz: str = ""  # the score in words; empty if there are no answers

    @property
    def places(self) -> list[Place]:
        """Return the places with times: GPUs before the CPU backend; of several places of one kind, the one with the
        most rows first."""
        return list(self.timelines)

    @property
    def main(self) -> Timeline | None:
        """Return the timeline that the journal follows; None if nothing was timed."""
        return next(iter(self.timelines.values()))[0] if self.timelines else None

    @property
    def has_gpu(self) -> bool:
        """Return whether a GPU ran any of the code, or nothing ran yet. Other times say nothing about a GPU."""
        records = [
            record
            for optimisation in self.optimisations
            for version in optimisation.versions
            for record in version.records
        ]
        ran = [record.backend for record in records if record.backend]
        return not ran or "cuda" in ran

    def measured(self, optimisation: Optimisation) -> tuple[Timeline, Row] | None:
        """Return an optimisation's time at the main place, on the main dataset if possible; None if it was not measured
        there."""
        timelines = self.timelines[self.main.place] if self.main else []
        rows = ((timeline, timeline.row(optimisation)) for timeline in timelines)
        return next(((timeline, row) for timeline, row in rows if row), None)

    @property
    def shown(self) -> list[Optimisation]:
        return [optimisation for optimisation in self.optimisations if optimisation.is_begun]

    @property
    def unfinished(self) -> list[Optimisation]:
        """Return the optimisations with versions, of which none passed and which have no note."""
        with_versions = [optimisation for optimisation in self.optimisations if optimisation.versions]
        return [optimisation for optimisation in with_versions if not optimisation.is_begun]


def place_of(record: Record) -> Place:
    machine: Machine = record.machine
    return Place(record.backend, machine.gpu if record.backend == "cuda" else "", machine.cpu, machine.host)


def read_journal(root: Path, lab: str, folder: Path) -> Journal:
    """Read records, notes and answers to the quiz from a journal's folder; all are optional. Raises UserError."""
    manifest = read_manifest(root, lab)
    stages = read_stages(root, lab)
    records = read_records(folder / "records.jsonl", lab)
    starters = {file.stem: file.read_bytes() for file in (root / "starter" / lab).glob("*.cu")}
    untouched = {hashlib.sha256(text).hexdigest() for text in starters.values()}
    records.entries = [record for record in records.entries if record.source_hash not in untouched]
    for record in records.entries:
        record.stage = current_id(list(stages), record.stage)
    notes = read_notes(folder, list(stages))
    for stage in sorted({record.stage for record in records.entries} - set(stages)):
        stages[stage] = stage  # the lab may have dropped the stage since
    optimisations = [
        optimisation
        for stage, title in stages.items()
        for optimisation in assign_versions(stage, title, records, notes)
    ]
    buffers = manifest.get("buffers", [])
    journal = Journal(
        lab,
        str(manifest.get("title", lab)),
        optimisations,
        records.sources,
        records.skipped + [problem for note in notes for problem in find_problems(note)],
        int(manifest.get("benchmark", {}).get("iterations_per_call", 1)),
        [str(buffer["name"]) for buffer in buffers if buffer.get("role") == "input"],
        [str(buffer["name"]) for buffer in buffers if buffer.get("role") == "output"],
        len(records.entries),
        {stage: text.decode("utf-8", "replace") for stage, text in starters.items()},
    )
    journal.timelines = make_timelines(optimisations, read_parts(root, lab))
    try:
        journal.quiz = str(read_score(root, lab, folder) or "")
    except UserError:
        journal.problems.append(f"{ANSWERS} has no valid answers to the quiz; it is omitted.")
    return journal


def find_problems(note: Note) -> list[str]:
    """Return a sentence for each part of a note that cannot be used."""
    problems = []
    if note.begun is None and note.number > 1:
        problems.append(
            f"{note.file} does not state when it was begun, so no measurement belongs to it. Its first line must look "
            "like this: <!-- begun 2026-11-21T09:30:00Z -->"
        )
    if note.shortened:
        problems.append(f"{note.file} is too long; its end is omitted.")
    return problems


def read_parts(root: Path, lab: str) -> dict[str, tuple[str, float]]:
    """Return the datasets of source.json that are a part of another dataset: by name, the whole dataset and the factor
    from the part's time to the whole's."""
    file = root / "labs" / lab / "source.json"
    rows = read_json(file)["rows"] if file.exists() else []
    return {row["dataset"]: (row["part_of"], float(row["scale"])) for row in rows if "part_of" in row}


def assign_versions(stage: str, title: str, records: Records, notes: Sequence[Note]) -> list[Optimisation]:
    """Assign a stage's versions to its optimisations: each version belongs to the last note begun before it.

    Versions older than the first note belong to the first note as well. Without notes, all versions form one
    optimisation.
    """
    versions = find_versions([record for record in records.entries if record.stage == stage])
    written = [note for note in notes if note.stage == stage]
    optimisations = [Optimisation(stage, note.number, title, note) for note in written]
    if versions and not optimisations:
        optimisations = [Optimisation(stage, 1, title)]
    for version in versions:
        when = version.begun
        notes_begun = [
            optimisation
            for optimisation in optimisations[1:]
            if optimisation.note and optimisation.note.begun is not None and optimisation.note.begun <= when
        ]
        (notes_begun[-1] if notes_begun else optimisations[0]).versions.append(version)
    return optimisations


def find_versions(records: Sequence[Record]) -> list[Version]:
    """Group consecutive records with the same hash. Imported records join the first version with their text, if any."""
    versions: list[Version] = []
    first_with: dict[str, Version] = {}
    for record in sorted(records, key=lambda record: bool(record.imported_from)):  # the student's own records first
        version = first_with.get(record.source_hash) if record.imported_from else versions[-1] if versions else None
        if version is None or version.source_hash != record.source_hash:
            version = Version(record.source_hash)
            versions.append(version)
            first_with.setdefault(record.source_hash, version)
        version.records.append(record)
    order = {id(record): index for index, record in enumerate(records)}
    for version in versions:
        version.records.sort(key=lambda record: order[id(record)])
    return sorted(versions, key=lambda version: order[id(version.records[0])])


def make_timelines(
    optimisations: Sequence[Optimisation], parts: dict[str, tuple[str, float]]
) -> dict[Place, list[Timeline]]:
    """Return the timelines of each place. The dataset with the most rows comes first; ties are broken by the number of
    bytes that have to move."""
    rows_by_dataset: dict[Place, dict[str, list[Row]]] = {}
    places = {
        place_of(record): None
        for optimisation in optimisations
        for version in optimisation.versions
        for record in version.records
    }
    for place in places:
        for optimisation in optimisations:
            version = optimisation.chosen(place)
            for dataset, (record, timed) in (version.measured(place) if version else {}).items():
                assert version
                if version.verdict == "passed":
                    row = Row(optimisation, version, record, timed)
                    rows_by_dataset.setdefault(place, {}).setdefault(dataset, []).append(row)
    timelines = {
        place: sorted(
            (
                make_timeline(place, dataset, rows, optimisations)
                for dataset, rows in join_parts(by_dataset, parts).items()
            ),
            key=lambda timeline: (-len(timeline.rows), -timeline.latest.bound_bytes),
        )
        for place, by_dataset in rows_by_dataset.items()
    }
    order = sorted(timelines, key=lambda place: (not place.is_gpu, -len(timelines[place][0].rows)))
    return {place: timelines[place] for place in order}


def join_parts(by_dataset: dict[str, list[Row]], parts: dict[str, tuple[str, float]]) -> dict[str, list[Row]]:
    """Return each dataset's rows. A part's row moves, scaled, to the whole dataset if that dataset has no row of the
    same optimisation."""
    joined = {dataset: list(rows) for dataset, rows in by_dataset.items()}
    for dataset, rows in by_dataset.items():
        whole, scale = parts.get(dataset, ("", 1.0))
        if whole not in by_dataset:
            continue
        timed = [row.optimisation for row in by_dataset[whole]]
        for row in rows:
            if row.optimisation not in timed:
                joined[whole].append(Row(row.optimisation, row.version, row.record, row.measurement, scale))
                joined[dataset].remove(row)
    return {dataset: rows for dataset, rows in joined.items() if rows}


def make_timeline(place: Place, dataset: str, rows: list[Row], optimisations: Sequence[Optimisation]) -> Timeline:
    """Return a timeline with its rows in the journal's order, each compared with the previous one."""
    rows = sorted(rows, key=lambda row: optimisations.index(row.optimisation))
    spread = find_spread(
        place, dataset, [version for optimisation in optimisations for version in optimisation.versions]
    )
    for before, after in itertools.pairwise(rows):
        if before.measurement.iterations == after.measurement.iterations:
            after.change = compare(before, after, spread)
    return Timeline(place, dataset, rows, spread)


def find_spread(place: Place, dataset: str, versions: Sequence[Version]) -> float | None:
    """Return the largest relative difference between medians of one text, such as 0.01; None if no text was timed
    twice."""
    medians: dict[str, list[float]] = {}
    for version in versions:
        for record in version.records:
            if record.report and place_of(record) == place:
                times = [timed.median_s for timed in record.measurements if timed.dataset == dataset]
                medians.setdefault(version.source_hash, []).extend(times)
    return max((max(repeated) / min(repeated) - 1 for repeated in medians.values() if len(repeated) > 1), default=None)


def compare(before: Row, after: Row, spread: float | None) -> Change:
    """Return the speedup with its 95% interval. The interval contains the median of the ratios of every sample before
    to every sample after, by the Mann-Whitney test (normal approximation)."""
    old_samples = [sample * before.scale for sample in before.measurement.samples_s if sample > 0]
    new_samples = [sample * after.scale for sample in after.measurement.samples_s if sample > 0]
    ratios = sorted(old / new for old in old_samples for new in new_samples)
    pairs, ratio = len(ratios), before.time_s / after.time_s
    left_out = math.floor(pairs / 2 - CONFIDENCE * math.sqrt(pairs * (len(old_samples) + len(new_samples) + 1) / 12))
    if left_out < 1:
        return Change(ratio, None, None, spread)
    return Change(ratio, ratios[left_out - 1], ratios[pairs - left_out], spread)
