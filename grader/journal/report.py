"""report.json, schema 1, as build/warplab writes it: grader/core/report.schema.json, and report.h says what each means.

All times are seconds; a measurement's are seconds for `iterations` iterations. 0 is: not measured. Nothing here
recomputes a verdict, a point, a time or a ratio.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.journal.console import UserError, read_json

SCHEMA = 1
NOT_FINITE = ("nan", "inf", "-inf")  # JSON has no such numbers; they come as words


@dataclass
class Place:
    """The first wrong element of an output."""

    buffer: str = ""
    index: int = 0
    expected: str = ""
    actual: str = ""


@dataclass
class Failure:
    """Why something did not pass."""

    cause: str = ""
    message: str = ""
    hint: str = ""
    place: Place | None = None


@dataclass
class Check:
    """One dataset checked."""

    dataset: str = ""
    hidden: bool = False
    points: float = 0
    verdict: str = "error"
    skipped: bool = False
    skipped_why: str = ""
    failure: Failure | None = None
    wall_s: float = 0
    empty: bool = False


@dataclass
class Finding:
    """What check mode saw at one line."""

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


@dataclass
class CheckMode:
    """Small datasets run once more with every access watched."""

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
    """How the GPU was while one sample ran."""

    sm_clock_mhz: int | None = None
    temperature_c: int | None = None
    throttle: str = ""
    copy_bytes_per_s: float | None = None


@dataclass
class Measurement:
    """One dataset timed."""

    dataset: str = ""
    iterations: int = 1000
    calls_per_sample: int = 1000
    cut: bool = False
    samples_s: list[float] = field(default_factory=list)
    conditions: list[Conditions] = field(default_factory=list)
    median_s: float = 0
    reference_s: float | None = None
    reference_ratio: Interval | None = None
    ambiguous: bool = False
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
        """Time over the reference's: 1 is as fast, 2 takes twice as long; None when it was not timed alongside."""
        return self.reference_ratio.median if self.reference_ratio else None


@dataclass
class Score:
    """Points of one stage."""

    correctness: float = 0
    hygiene: float = 0
    speed: float = 0
    correctness_max: float = 0
    hygiene_max: float = 0
    speed_max: float = 0
    hygiene_pending: bool = False
    speed_pending: bool = False
    correctness_why: str = ""
    hygiene_why: str = ""
    speed_why: str = ""
    total: float = 0
    max: float = 0

    @property
    def pending(self) -> float:
        """Points that a later run on a GPU or in check mode decides."""
        return self.hygiene_max * self.hygiene_pending + self.speed_max * self.speed_pending


@dataclass
class Compilation:
    """What the compiler said about the student's file."""

    verdict: str = "error"
    failure: Failure | None = None
    log: str = ""
    wall_s: float = 0
    cached: bool = False
    nvcc: str = ""


@dataclass
class StageReport:
    """All that was found about one stage."""

    stage: str = ""
    title: str = ""
    source: str = ""
    source_hash: str = ""
    verdict: str = "error"
    compilation: Compilation = field(default_factory=Compilation)
    checks: list[Check] = field(default_factory=list)
    check_mode: CheckMode | None = None
    measurements: list[Measurement] = field(default_factory=list)
    error: Failure | None = None
    score: Score | None = None
    output: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def main_measurement(self) -> Measurement | None:
        """The one that moves most data: it stands for the stage in a table of one line a stage."""
        return max(self.measurements, key=lambda measurement: measurement.bound_bytes, default=None)


@dataclass
class Machine:
    """Where it ran."""

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
    """Points over the stages that have a score."""

    points: float = 0
    max: float = 0
    pending: float = 0
    without_score: int = 0


@dataclass
class Report:
    """One run of `build/warplab check|bench|grade` on one lab."""

    schema: int = 0
    verb: str = ""
    lab: str = ""
    backend: str = ""
    sandbox: str = ""
    tree: str = ""
    time: str = ""
    warplab: str = ""
    machine: Machine = field(default_factory=Machine)
    total: Total = field(default_factory=Total)
    stages: list[StageReport] = field(default_factory=list)


def read_report(file: Path) -> Report:
    """Reads one report. Raises UserError naming the file and the place in it."""
    json = read_json(file)
    if not isinstance(json, dict) or "schema" not in json or "stages" not in json:
        raise UserError(f"{file}: not a report of build/warplab (no 'schema' or no 'stages').")
    if json["schema"] != SCHEMA:
        raise UserError(f"{file}: schema {json['schema']!r}; this version reads schema {SCHEMA}.")
    try:
        report: Report = from_json(Report, json, "")
    except TypeError as error:
        raise UserError(f"{file}: {error}") from None
    if not report.lab:
        raise UserError(f"{file}: /lab is missing or empty.")
    return report


def from_json(wanted: Any, value: Any, place: str) -> Any:
    """Converts JSON to a dataclass or a plain type. Unknown keys are let through, missing ones take their default.

    Raises TypeError with a JSON pointer and what was expected there.
    """
    if isinstance(wanted, types.UnionType):  # the only unions are optionals
        return None if value is None else from_json(typing.get_args(wanted)[0], value, place)
    if typing.get_origin(wanted) is list:
        if not isinstance(value, list):
            raise TypeError(f"{place}: expected a list.")
        (item,) = typing.get_args(wanted)
        return [from_json(item, entry, f"{place}/{index}") for index, entry in enumerate(value)]
    if typing.get_origin(wanted) is dict:
        if not isinstance(value, dict):
            raise TypeError(f"{place}: expected an object.")
        item = typing.get_args(wanted)[1]
        return {key: from_json(item, entry, f"{place}/{key}") for key, entry in value.items()}
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        if not isinstance(value, dict):
            raise TypeError(f"{place or '/'}: expected an object.")
        hints = typing.get_type_hints(wanted)
        names = [entry.name for entry in dataclasses.fields(wanted) if entry.name in value]
        return wanted(**{name: from_json(hints[name], value[name], f"{place}/{name}") for name in names})
    return plain_from_json(wanted, value, place)


def plain_from_json(wanted: type, value: Any, place: str) -> Any:
    """Converts a JSON string, number or boolean. What is not finite counts as not measured."""
    if wanted is str and isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written again
    if wanted is bool and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    if wanted is float and (is_number or value in NOT_FINITE):
        return float(value) if is_number else 0.0
    if wanted is int and is_number and value == int(value):
        return int(value)
    names = {str: "a string", bool: "true or false", float: "a finite number", int: "a whole number"}
    raise TypeError(f"{place}: expected {names[wanted]}.")
