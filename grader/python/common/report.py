"""report.json, schema 1, as build/warplab writes it: grader/model/schema/report.schema.json.

This module recomputes no verdict, point, time or ratio.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError
from grader.python.common.documents import TOO_LARGE, from_json, read_document
from grader.python.common.schema_types import defined_by, type_of

MAX_POINTS = 10_000  # per report: the largest lab has 80; some formats have a line for each point
OLD_ANSWERS = {"": "not_asked", "ok": "compiles", "not found": "not_found"}
NO_ANSWER_BECAUSE = "could not be asked: "

Machine = type_of("report", "machine")
Total = type_of("report", "total")
Place = type_of("report", "place")
Failure = type_of("report", "failure")
Check = type_of("report", "check")
Interval = type_of("report", "interval")
SampleConditions = type_of("report", "sample_conditions")


@defined_by("report", "nvcc_answer")
class NvccAnswer:
    @classmethod
    def from_text(cls, text: str) -> Any:
        """Read the text that earlier versions wrote."""
        if text in OLD_ANSWERS:
            return cls(OLD_ANSWERS[text])
        reason = text.removeprefix(NO_ANSWER_BECAUSE)
        return cls("refuses" if reason == text else "no_answer", reason)


@defined_by("report", "finding")
class Finding:
    @property
    def is_shown(self) -> bool:
        """Return whether the student sees the finding: a defect, or a note that reports contain only for wrong
        answers."""
        return not self.note or self.cause in ("absent_lane", "unset_constant", "kept_value")


@defined_by("report", "measurement")
class Measurement:
    @property
    def over_reference(self) -> float | None:
        """Return the time divided by the reference's: 2 takes twice as long. None if the reference was not timed
        alongside."""
        return self.reference_ratio.median if self.reference_ratio else None


@defined_by("report", "score")
class Score:
    @property
    def pending(self) -> float:
        """Return the points that a later run on a GPU or with the sanitizer decides."""
        kinds = ("correctness", "hygiene", "speed")
        return sum(getattr(self, f"{kind}_max") for kind in kinds if getattr(self, f"{kind}_pending"))

    @property
    def modelled(self) -> float:
        """Return the points that are given for a modelled time, and that a GPU's measurement would replace."""
        return self.speed if self.speed_modelled and not self.speed_pending else 0


Compilation = type_of("report", "compilation")
SanitizerResult = type_of("report", "sanitizer_result")
ModelledTime = type_of("report", "modelled_time")


@defined_by("report", "stage_report")
class StageReport:
    @property
    def main_measurement(self) -> Measurement | None:
        """Return the measurement that moves the most data; it represents the stage in a table with one line per
        stage."""
        return max(self.measurements, key=lambda measurement: measurement.bound_bytes, default=None)


Report = type_of("report")


def modelled_points(report: Report) -> float:
    """Return the points that stages have for modelled times."""
    return float(sum(stage.score.modelled for stage in report.stages if stage.score))


def read_report(file: Path) -> Report:
    """Read a report. Raises UserError with the file's name and the place in it."""
    report: Report = read_document(Report, file, "a report of build/warplab")
    if not report.lab:
        raise UserError(f"{file}: /lab is missing or empty.")
    points = sum(stage.score.max for stage in report.stages if stage.score)
    if points > MAX_POINTS:
        raise UserError(
            f"{file}: the stages have {points:,.0f} points together, more than the limit of {MAX_POINTS:,}. {TOO_LARGE}"
        )
    return report


def parse_report(text: str) -> Report:
    """Return a report from its JSON. Raises TypeError or ValueError with the place."""
    report: Report = from_json(Report, json.loads(text), "")
    return report
