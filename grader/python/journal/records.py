"""work/<lab>/journal/records.jsonl: the results of every check, bench, grade, sweep and inspect of a lab, one per line.

Only build/warplab writes it, by appending; grader/model/schema/record.schema.json describes a line. Unknown kinds and
keys are ignored. A line that cannot be read is skipped and reported.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from grader.python.common.console import UserError, explain_os_error, parse_json, read_bytes
from grader.python.common.documents import SCHEMA, from_json
from grader.python.common.report import Measurement, StageReport
from grader.python.common.schema_types import defined_by, words_of
from grader.python.journal.sweep import Sweep  # noqa: F401  (a record's type)

MAX_BYTES = 256 << 20  # many times the size of a term's journal
MAX_SKIPPED = 100  # invalid lines; a killed judge leaves at most one
# Lines of a reference solution with the markers and the text of the starter.
STARTER_MARK = re.compile(r"^[ \t]*//@.*\n", re.MULTILINE)


@defined_by("record")
class Record:
    @property
    def when(self) -> datetime:
        """Return the time of recording, in UTC."""
        return parse_time(self.time)

    @property
    def stage_report(self) -> StageReport | None:
        """Return the only stage of a report; None for other kinds."""
        return self.report.stages[0] if self.report else None

    @property
    def measurements(self) -> list[Measurement]:
        """Return the measurements of a report that passed."""
        result = self.stage_report
        timed = result.measurements if result and result.verdict == "passed" else []
        return [measurement for measurement in timed if measurement.median_s > 0]


@dataclass
class Records:
    """A journal's lines in order, the sources by hash, and a message for each skipped line."""

    entries: list[Record] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def parse_time(text: str) -> datetime:
    """Parse a time and return it in UTC. Raises ValueError."""
    time = datetime.fromisoformat(text)
    try:
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(f"{text} is outside the range of dates in UTC.") from None


def check_time(text: str) -> None:
    """Raise ValueError with the reason if a record's time is missing or invalid."""
    if not text:
        raise ValueError("its time is missing.")
    try:
        parse_time(text)
    except ValueError:
        raise ValueError(f"its time, {text[:40]!r}, does not have the form 2026-11-21T09:30:00Z.") from None


def read_records(file: Path, lab: str) -> Records:
    """Read all records of a lab; none if there is no file. Raises UserError if the file cannot be opened."""
    records = Records()
    try:
        content = read_bytes(file, MAX_BYTES + 1) if file.exists() else b""
    except OSError as error:
        raise UserError(explain_os_error(error)) from None
    if len(content) > MAX_BYTES:
        raise UserError(
            f"{file}: has more than {MAX_BYTES >> 20} MB. Move the file to another folder to begin a new journal."
        )
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            add_record(records, line, lab)
        except (ValueError, TypeError, RecursionError) as error:
            records.skipped.append(f"{file.name}, line {number}, is skipped: {error}")
        if len(records.skipped) == MAX_SKIPPED:
            records.skipped.append(f"{file.name} is not read beyond line {number}, because too many lines are invalid.")
            break
    return records


def find_lab(file: Path) -> str:
    """Return the lab of the first record. Raises UserError if there is none."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        first, _, _ = read_bytes(file, MAX_BYTES).partition(b"\n")
        return str(parse_json(first.decode("utf-8"))["lab"])
    raise UserError(f"{file}: the file has no record, so its lab is not known. Name the lab.")


def add_record(records: Records, line: bytes, lab: str) -> None:
    """Parse one line and add it. Raises TypeError or ValueError with the reason if it is invalid."""
    try:
        content = parse_json(line.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg}.") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"not a record of schema {SCHEMA}.")
    if content.get("kind") not in words_of("record", "kind"):
        return
    record: Record = from_json(Record, content, "")
    check_time(record.time)
    if record.lab != lab:
        raise ValueError(f"it is about the lab {record.lab!r}, not {lab!r}.")
    if record.kind == "source":
        records.sources[record.hash] = STARTER_MARK.sub("", record.text)
        return
    if getattr(record, record.kind) is None or (record.report and len(record.report.stages) != 1):
        raise ValueError(f"its {record.kind} is missing, or does not have exactly one stage.")
    if record.report:
        record.backend, record.machine = record.report.backend, record.report.machine
    records.entries.append(record)
