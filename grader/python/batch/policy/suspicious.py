"""List the hand-ins that an instructor should review first, with the reasons. A remark is not an accusation, and
changes no points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from grader.python.batch.grade.progress import show_duration
from grader.python.batch.ingest.notes import IN_DOUBT, kind_of
from grader.python.batch.policy.points import FinalPoints, Policy
from grader.python.batch.policy.similarity import SimilarPair
from grader.python.batch.store.rows import Row, Stage

FULL_POINTS_RATIO = 1.2  # multiple of the reference's time up to which a stage gets all speed points
NEAR_SHARE = 0.01  # a ratio is near the limit if it differs by less than this share
SLOW_RATIO = 10  # a stage is slow from this multiple of the reference's time on
# The rank and the title of the remark on each of these statuses.
BY_STATUS = {
    "judge_error": (0, "judge failed"),
    "judge_crashed": (0, "crashes the judge"),
    "archive_refused": (1, "not opened"),
    "nothing_to_grade": (1, "nothing to grade"),
}
# The kinds of notes for each title of a remark.
BY_NOTE = {
    "several files of one stage": ("to_choose",),
    "names others": ("names_others",),
    "student not identified": IN_DOUBT,
}
# Grading a hand-in took long if it exceeded both: this time, and this multiple of the median.
LONG_S, LONG_MULTIPLE = 60, 5


@dataclass(frozen=True)
class Remark:
    """A reason to review a hand-in. Smaller ranks come first."""

    rank: int
    key: str
    stage: str  # empty if the remark concerns the whole hand-in
    title: str
    detail: str = ""


def find_remarks(
    rows: Sequence[Row],
    pairs: Sequence[SimilarPair],
    untouched: Collection[tuple[str, str]] = (),
    finals: Sequence[FinalPoints] = (),
    copied_records: Sequence[tuple[str, str]] = (),
) -> list[Remark]:
    """Return all remarks, the most serious first. `untouched`: the key and stage of each file that is still the
    starter, so that equal files are not copies. `finals`: the students' points. `copied_records`: see
    find_copied_records()."""
    remarks = [remark for row in rows for remark in review_submission(row)]
    remarks += [remark for final in finals for remark in review_decisions(final)]
    remarks += find_equal_files(rows, untouched)
    remarks += [Remark(5, key, "", "records of another journal", owner) for key, owner in copied_records]
    remarks += [Remark(9, key, stage, "still the starter") for key, stage in sorted(untouched)]
    remarks += [Remark(4, row.key, "", "took long", show_duration(row.wall_s)) for row in find_slowest_hand_ins(rows)]
    by_key = {row.key: row for row in rows}
    hashes = {(row.key, stage.stage): stage.source_hash for row in rows for stage in row.stages}
    for pair in pairs:
        if pair.first in by_key and pair.second in by_key and by_key[pair.first].is_teammate(by_key[pair.second]):
            continue
        first_hash, second_hash = (hashes.get((key, pair.stage), "") for key in (pair.first, pair.second))
        if not first_hash or first_hash != second_hash:  # find_equal_files() reports identical files
            share = f"{pair.share:.0%} of it is also in the file of {pair.second}"
            remarks.append(Remark(6, pair.first, pair.stage, "similar", share))
    return sorted(remarks, key=lambda remark: (remark.rank, remark.key, remark.stage))


def find_slowest_hand_ins(rows: Sequence[Row]) -> list[Row]:
    """Return the hand-ins whose grading took far longer than that of the others, the slowest first."""
    times = [row.wall_s for row in rows if row.wall_s]
    limit_s = max(LONG_S, LONG_MULTIPLE * median(times)) if times else LONG_S
    return sorted((row for row in rows if row.wall_s >= limit_s), key=lambda row: -row.wall_s)


def review_submission(row: Row) -> list[Remark]:
    remarks = []
    if row.status in BY_STATUS:
        rank, title = BY_STATUS[row.status]
        remarks.append(Remark(rank, row.key, "", title, row.detail))
    for title, kinds in BY_NOTE.items():
        remarks += [Remark(1, row.key, "", title, note) for note in row.notes if kind_of(note) in kinds]
    if row.sandbox == "none":
        remarks.append(Remark(3, row.key, "", "graded without a sandbox"))
    for stage in row.stages:
        remarks += review_stage(row.key, stage)
    by_hash: dict[str, list[str]] = defaultdict(list)
    for stage in row.stages:
        if stage.source_hash and stage.cause != "missing_file":
            by_hash[stage.source_hash].append(stage.stage)
    for stages in by_hash.values():
        if len(stages) > 1:
            remarks.append(Remark(5, row.key, stages[0], "the same file as another stage", ", ".join(stages[1:])))
    return remarks


def review_decisions(final: FinalPoints) -> list[Remark]:
    """Return remarks on an override that is older than the hand-in, and on lateness that is in doubt."""
    remarks = []
    if final.is_override_old:
        remarks.append(Remark(1, final.row.key, "", "changed under an override", describe_old_override(final)))
    if final.lateness.doubt:
        title = "times disagree" if final.lateness.source else "late or not? Decide"
        remarks.append(Remark(1, final.row.key, "", title, final.lateness.doubt))
    return remarks


def describe_old_override(final: FinalPoints) -> str:
    """Return a sentence on an override after which the student handed in again."""
    return (
        f"{final.student} handed in new files after the points were set by hand ({final.override}). Those "
        "points still count: set them again, or remove them with override --undo."
    )


def find_changed_drops(dropped: Sequence[Row], policy: Policy) -> list[Remark]:
    """Return a remark for each hand-in that changed after it was dropped."""
    changed = [row for row in dropped if row.fingerprint != policy.drops[row.key][1]]
    return [Remark(1, row.key, "", "changed after it was dropped", describe_changed_drop(row)) for row in changed]


def find_requests(finals: Sequence[FinalPoints], requests: Mapping[str, str]) -> list[Remark]:
    """Return a remark for each student with an open request. `requests`: their texts, by student."""
    asking = [final for final in finals if final.student in requests]
    return [
        Remark(1, final.row.key, "", "asks for a regrade", f"{final.student}: {requests[final.student]}")
        for final in asking
    ]


def describe_changed_drop(row: Row) -> str:
    """Return a sentence on a dropped hand-in that was handed in again."""
    return (
        f"{row.key} was handed in again after it was dropped. It still gives no points: drop it again, "
        "or include it with drop --undo."
    )


def review_stage(key: str, stage: Stage) -> list[Remark]:
    if stage.cause == "implausible_timing":
        return [Remark(2, key, stage.stage, "implausible timing", "the report gives the reason")]
    remarks = []
    ratio, low, high = stage.ratio, stage.ratio_low, stage.ratio_high
    if stage.cause in ("protocol", "timed_output_wrong", "kept_state"):
        remarks.append(Remark(3, key, stage.stage, stage.cause.replace("_", " ")))
    if ratio is None or low is None or high is None:
        return remarks
    if ratio >= SLOW_RATIO:
        remarks.append(Remark(4, key, stage.stage, "slow", f"{ratio:.3g} times the reference's time"))
    if stage.ambiguous:
        remarks.append(
            Remark(7, key, stage.stage, "unstable", f"between {low:.4g} and {high:.4g} times the reference's time")
        )
    if low <= FULL_POINTS_RATIO <= high or abs(ratio / FULL_POINTS_RATIO - 1) < NEAR_SHARE:
        remarks.append(
            Remark(
                8,
                key,
                stage.stage,
                "near a limit",
                f"{ratio:.4g} times the reference's time; all points up to {FULL_POINTS_RATIO}",
            )
        )
    return remarks


def find_equal_files(rows: Sequence[Row], untouched: Collection[tuple[str, str]]) -> list[Remark]:
    """Return a remark for each file that is equal in several submissions, unless all of these are of one team."""
    owners: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        for stage in row.stages:
            is_own = stage.cause not in ("missing_file", "empty_file") and (row.key, stage.stage) not in untouched
            if stage.source_hash and is_own:
                owners[stage.stage, stage.source_hash].append(row)
    remarks = []
    for (stage, _), same in owners.items():
        if all(row.is_teammate(other) for row, other in combinations(same, 2)):
            continue
        keys = [row.key for row in same]
        other_keys = f"{', '.join(keys[1:6])}{' …' * (len(keys) > 6)}"
        remarks.append(Remark(5, keys[0], stage, "the same file as others", other_keys))
    return remarks
