"""report.json, schema 1, as build/warplab writes it: grader/model/report.schema.json; report.h describes each field.

All times are seconds; a measurement's times are seconds for `iterations` iterations. 0 means not measured. This module
recomputes no verdict, point, time or ratio.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from grader.python.common.console import UserError
from grader.python.common.documents import TOO_MUCH, AtMost, Between, from_json, read_document

MOST_POINTS = 10_000  # per report: the largest lab has 60; some formats have a line for each point
MOST_STAGES = 120  # the largest lab has 12
MOST_CHECKS = 400  # per stage; the largest lab has 32 datasets
Points = Annotated[float, Between(0, MOST_POINTS)]


@dataclass
class Place:
    """The first wrong element of an output."""

    buffer: str = ""
    index: int = 0
    expected: str = ""
    actual: str = ""


@dataclass
class Failure:
    """The reason why something did not pass."""

    cause: str = ""
    message: str = ""
    hint: str = ""
    place: Place | None = None


@dataclass
class Check:
    """The correctness result of one dataset."""

    dataset: str = ""
    hidden: bool = False
    points: Points = 0
    verdict: str = "error"
    skipped: bool = False
    skipped_why: str = ""
    failure: Failure | None = None
    wall_s: float = 0
    empty: bool = False
    blocked_by: str = ""


@dataclass
class Finding:
    """A finding of the sanitizer at one line."""

    cause: str = ""
    note: bool = False
    kernel: str = ""
    line: int = 0
    text: str = ""
    other_line: int = 0
    other_text: str = ""
    count: int = 0
    message: str = ""
    hint: str = ""

    @property
    def explains(self) -> bool:
        """Return whether to show it to the student: a defect, or a note that reports contain only for wrong answers."""
        return not self.note or self.cause in ("absent_lane", "unset_constant")


@dataclass
class CheckMode:
    """The sanitizer's result: small datasets run once more with every access checked."""

    verdict: str = "error"
    remark: str = ""
    datasets: int = 0
    wall_s: float = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass
class Interval:
    """A median with its 95% interval."""

    median: float = 0
    low: float = 0
    high: float = 0


@dataclass
class Conditions:
    """The GPU's state while one sample ran."""

    sm_clock_mhz: int | None = None
    temperature_c: int | None = None
    throttle: str = ""
    copy_bytes_per_s: float | None = None


@dataclass
class Measurement:
    """The times of one dataset."""

    dataset: str = ""
    iterations: int = 1000
    calls_per_sample: int = 1000
    cut: bool = False
    samples_s: list[float] = field(default_factory=list)
    reference_samples_s: list[float] = field(default_factory=list)
    samples_of_rounds: list[int] = field(default_factory=list)
    conditions: list[Conditions] = field(default_factory=list)
    median_s: float = 0
    reference_s: float | None = None
    reference_ratio: Interval | None = None
    ambiguous: bool = False
    scored: bool = True
    sequential_s: float = 0
    openmp_s: float = 0
    openmp_threads: int = 1
    speedup_sequential: float = 0
    speedup_openmp: float = 0
    transfer_s: float = 0
    floor_s: float = 0
    bound_s: float = 0
    bound_fraction: float = 0
    floor_bytes: float = 0
    bound_bytes: float = 0
    flops: float = 0
    bandwidth_bytes_per_s: float = 0
    limit: str = ""
    caveats: list[str] = field(default_factory=list)

    @property
    def over_reference(self) -> float | None:
        """Return the time divided by the reference's: 2 takes twice as long. None if the reference was not timed
        alongside."""
        return self.reference_ratio.median if self.reference_ratio else None


@dataclass
class Score:
    """The points of one stage."""

    correctness: Points = 0
    hygiene: Points = 0
    speed: Points = 0
    correctness_max: Points = 0
    hygiene_max: Points = 0
    speed_max: Points = 0
    correctness_pending: bool = False
    hygiene_pending: bool = False
    speed_pending: bool = False
    correctness_why: str = ""
    hygiene_why: str = ""
    speed_why: str = ""
    total: Points = 0
    max: Points = 0

    @property
    def pending(self) -> float:
        """Return the points that a later run on a GPU or with the sanitizer decides."""
        kinds = ("correctness", "hygiene", "speed")
        return sum(getattr(self, f"{kind}_max") for kind in kinds if getattr(self, f"{kind}_pending"))


@dataclass
class Compilation:
    """The compiler's result for the student's file."""

    verdict: str = "error"
    failure: Failure | None = None
    log: str = ""
    wall_s: float = 0
    cached: bool = False


@dataclass
class StageReport:
    """All results of one stage."""

    stage: str = ""
    title: str = ""
    source: str = ""
    source_hash: str = ""
    verdict: str = "error"
    compilation: Compilation = field(default_factory=Compilation)
    checks: Annotated[list[Check], AtMost(MOST_CHECKS)] = field(default_factory=list)
    check_mode: CheckMode | None = None
    measurements: list[Measurement] = field(default_factory=list)
    error: Failure | None = None
    score: Score | None = None
    output: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def main_measurement(self) -> Measurement | None:
        """Return the measurement that moves the most data; it represents the stage in a table with one line per
        stage."""
        return max(self.measurements, key=lambda measurement: measurement.bound_bytes, default=None)


@dataclass
class Machine:
    """The machine of a run."""

    host: str = ""
    cpu: str = ""
    gpu: str = ""
    driver: str = ""
    cuda: str = ""
    compiler: str = ""
    os: str = ""
    cpu_cores: int = 0


@dataclass
class Total:
    """The points of all stages that have a score."""

    points: Points = 0
    max: Points = 0
    pending: Points = 0
    without_score: int = 0


@dataclass
class Report:
    """One run of `build/warplab check|bench|grade` on one lab."""

    schema: int = 0
    verb: str = ""
    lab: str = ""
    backend: str = ""
    sandbox: str = ""
    sandbox_remark: str = ""
    tree: str = ""
    time: str = ""
    warplab: str = ""
    machine: Machine = field(default_factory=Machine)
    total: Total = field(default_factory=Total)
    stages: Annotated[list[StageReport], AtMost(MOST_STAGES)] = field(default_factory=list)


def read_report(file: Path) -> Report:
    """Read a report. Raises UserError with the file's name and the place in it."""
    report: Report = read_document(Report, file, "a report of build/warplab")
    if not report.lab:
        raise UserError(f"{file}: /lab is missing or empty.")
    points = sum(stage.score.max for stage in report.stages if stage.score)
    if points > MOST_POINTS:
        raise UserError(
            f"{file}: the stages have {points:,.0f} points together, more than the limit of {MOST_POINTS:,}. {TOO_MUCH}"
        )
    return report


def parse_report(text: str) -> Report:
    """Return a report from its JSON. Raises TypeError or ValueError with the place."""
    report: Report = from_json(Report, json.loads(text), "")
    return report
