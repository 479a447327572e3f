"""The rows of a batch's database: submissions with their status, grades and stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.python.batch.ingest.notes import has_kind, read_notes
from grader.python.common.report import Report, StageReport

# Every submission that does not wait to be graded has exactly one of these. Internal failures come first and cost
# nobody points; next, submissions that an instructor should review.
STATUSES = {
    "judge_error": "the judge failed: no points are lost; grade it again",
    "judge_crashed": "the judge fails on this hand-in, but grades the reference: no points; please review",
    "needs_review": "timed faster than is physically possible: please review",
    "archive_refused": "the archive was not opened: it is damaged, unsafe, or of an unsupported kind",
    "nothing_to_grade": "the hand-in contains no file of this lab",
    "did_not_compile": "no stage compiles",
    "missing_stages": "graded; some stages were not handed in",
    "graded": "graded, all stages",
    "not_submitted": "on the roster, but nothing was handed in",
}
INTERNAL_FAILURES = ("judge_error",)
HAS_POINTS = ("needs_review", "did_not_compile", "missing_stages", "graded")


@dataclass
class Stage:
    """The values of a stage that tables and plots need. Times are in seconds, None if nothing was timed."""

    stage: str
    verdict: str
    cause: str
    source_hash: str
    points: float | None
    max_points: float | None
    pending: float | None
    time_s: float | None
    bound_s: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ambiguous: bool
    modelled: float = 0  # of `points`, those for a modelled time


@dataclass(frozen=True)
class Comment:
    """An instructor's comment on a line of a file. `is_old`: another hand-in came later."""

    stage: str
    line: int
    code: str
    text: str
    is_old: bool


@dataclass
class Row:
    """A submission with its newest grade, without the report."""

    key: str
    name: str
    members: list[str]
    handed_in: str
    known_by: str
    notes: list[str]
    status: str
    detail: str
    wall_s: float
    grade: int | None = None
    points: float = 0
    max_points: float = 0
    pending: float = 0
    time: str = ""
    backend: str = ""
    sandbox: str = ""
    stages: list[Stage] = field(default_factory=list)
    fingerprint: str = ""
    named_time: str = ""  # this one and the next two: as in Submission
    marked_by: str = ""
    marked_late: bool = False
    team: list[str] = field(default_factory=list)  # as `group` in Submission
    comments: list[Comment] = field(default_factory=list)
    graded_as: str = ""  # the status that is stored with the grade

    def own_members(self) -> list[str]:
        """Return the members without credited partners."""
        return own_members(self.key, self.members)

    def is_teammate(self, other: Row) -> bool:
        """Return whether both hand-ins belong to one team: each names the students of the other. It is not enough if
        only one does, because it may name a student whose work it copied."""
        return set(self.own_members()) <= set(other.team) and set(other.own_members()) <= set(self.team)

    def is_certain(self) -> bool:
        """Return whether an id or a course system's number identifies the student, and not only a name, which students
        can choose."""
        return not has_kind(self.notes, "found_by_name")


@dataclass
class Graded:
    """The result of grading a submission; `report` is report.json as it was written, empty if there is none."""

    key: str
    status: str
    detail: str = ""
    report: str = ""
    judged: Report | None = None  # the report, parsed
    notes: list[str] = field(default_factory=list)
    wall_s: float = 0
    fingerprint: str = ""
    ran_out: bool = False  # whether time or memory ran out, possibly because of hand-ins graded in parallel
    was_killed: bool = False  # whether the process that read the hand-in was killed, possibly for lack of memory
    judge_failure: str = ""  # how the judge ended, if it wrote no valid report


def in_words(status: str) -> str:
    """Return a status in words; "waiting" if it is empty."""
    return status.replace("_", " ") or "waiting"


def summarise(stage: StageReport) -> Stage:
    """Return the values that the database keeps for one stage of a report."""
    measured = stage.main_measurement
    failures = [stage.error, stage.compilation.failure, *(check.failure for check in stage.checks)]
    findings = [finding.cause for finding in stage.check_mode.findings if not finding.note] if stage.check_mode else []
    causes = [failure.cause for failure in failures if failure] + findings
    interval = measured.reference_ratio if measured else None
    return Stage(
        stage.stage,
        stage.verdict,
        causes[0] if causes and stage.verdict != "passed" else "",
        stage.source_hash,
        stage.score.total if stage.score else None,
        stage.score.max if stage.score else None,
        stage.score.pending if stage.score else None,
        measured.median_s if measured else None,
        measured.bound_s if measured else None,
        interval.median if interval else None,
        interval.low if interval else None,
        interval.high if interval else None,
        bool(measured and measured.ambiguous),
        stage.score.modelled if stage.score else 0,
    )


def join_notes(*notes: str) -> list[str]:
    """Join lists of notes in the database's format into one list without repetitions."""
    return list(dict.fromkeys(note for notes_text in notes for note in read_notes(notes_text)))


def own_members(key: str, members: Sequence[str]) -> list[str]:
    """Return the members whose ids, joined by +, are the submission's key; the other members are credited partners. If
    the key does not consist of members' ids, return all members."""
    counts = [count for count in range(1, len(members)) if "+".join(members[:count]) == key]
    return list(members[: counts[0]] if counts else members)
