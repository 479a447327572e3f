"""Complete the report of a judge that was stopped at the time limit. Stages that were judged keep their results. The
stage on which the judge was stopped fails if it took long and the judge still grades the reference. The remaining time
is used for the stages after it, and a stage for which no time is left is marked as not reached."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.python.batch.grade.judge import Running, read_judged, run_judge
from grader.python.batch.grade.merge import KINDS, sum_points
from grader.python.batch.grade.reference import is_reference_graded
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.labs import read_manifest
from grader.python.common.report import Report, parse_report

Json = dict[str, Any]
# If a stage takes this share of the whole time, the judge counts as hanging. Of ten minutes, that is about the judge's
# own limit for a stage, which is ten times the time of the slowest solution on one slow core.
HANG_SHARE = 0.15
SHARE = 0.8  # the stage's share of the remaining time; the rest is for grading the reference
MIN_S = 0.5  # with less time left, no judge is started
HANG_MESSAGE = (
    "The judge did not finish this file, although it grades the reference in this time. Look for endless loops and for "
    "work that grows too fast with the size of the input."
)
NOT_REACHED_MESSAGE = (
    "The time for this submission ended before this stage was judged. Hand in again, or ask the instructor to grade it."
)


@dataclass
class RemainingWork:
    """The stages of a submission that are still to be judged, until the time `end_s` of time.monotonic(). `whole_s`:
    the time limit for the whole submission."""

    settings: Settings
    tree: Path
    whole_s: float
    end_s: float
    stages: list[Json] = field(default_factory=list)  # the results so far, in the order of the stages

    def left_s(self) -> float:
        return self.end_s - time.monotonic()


def read_clock_offset() -> float:
    """Return the difference between the system's clock, which dates files, and time.monotonic(), in seconds. It changes
    only if the clock is set."""
    return time.time() - time.monotonic()


def complete(stopped: Graded, settings: Settings, end_s: float, offset_s: float) -> Report | None:
    """Judge the remaining stages of a submission on which the judge was stopped, and return the report on all stages;
    None if no stage has a score. The time settings.timeout_s for the whole submission ends at `end_s`. `offset_s`: the
    result of read_clock_offset() when grading began."""
    tree = place_of(settings.folder, "submissions", stopped.key)
    report, took_s = read_unfinished(tree / f"{settings.lab}.unfinished.json", settings.timeout_s, offset_s)
    rest = RemainingWork(settings, tree, settings.timeout_s, end_s, report["stages"] if report else [])
    manifest_stages = {stage["id"]: stage for stage in read_manifest(settings.root, settings.lab)["stages"]}
    for stage in settings.graded_stages()[len(rest.stages) :]:
        result, own_report = judge_stage(rest, stage, manifest_stages[stage], took_s)
        report, took_s = report or own_report, 0.0
        rest.stages.append(result)
    if report is None:
        report = empty_report(settings)
    verdicts = [stage["verdict"] for stage in rest.stages]
    report |= {"stages": rest.stages, "total": sum_points(rest.stages)}
    report["verdict"] = next((verdict for verdict in ("failed", "error") if verdict in verdicts), "passed")
    return parse_report(json.dumps(report)) if any(stage["score"] for stage in rest.stages) else None


def read_unfinished(file: Path, whole_s: float, offset_s: float) -> tuple[Json | None, float]:
    """Return the unfinished report of a stopped judge, and the seconds since it was written; None and `whole_s` if
    there is none. If the clock was set, the seconds may be too few, but never too many, because many seconds can let a
    stage fail."""
    with contextlib.suppress(OSError, TypeError, ValueError, RecursionError):
        text = file.read_text(encoding="utf-8")
        parse_report(text)
        content: Json = json.loads(text)
        now_s = time.monotonic() + min(offset_s, read_clock_offset())
        return content, min(max(now_s - file.stat().st_mtime, 0), whole_s)
    return None, whole_s


def judge_stage(rest: RemainingWork, stage: str, stage_manifest: Json, took_s: float) -> tuple[Json, Json | None]:
    """Return the result of one stage and, if the judge ended, its report. `stage_manifest`: the stage's part of the
    manifest; `took_s`: for how many seconds a judge worked on this stage before it was stopped."""
    settings = replace(rest.settings, stage=stage)
    if took_s < HANG_SHARE * rest.whole_s and rest.left_s() > MIN_S:
        begin = time.monotonic()
        bounded = replace(settings, timeout_s=SHARE * rest.left_s())
        status, _ = run_judge(bounded.command(rest.tree, rest.tree), bounded, Running(), {})
        text, judged = read_judged(rest.tree / f"{settings.lab}.json", status)
        if judged and judged.stages:
            content: Json = json.loads(text)
            return content["stages"][0], content
        took_s = max(took_s, time.monotonic() - begin)
    if took_s >= HANG_SHARE * rest.whole_s and rest.left_s() > MIN_S:
        bounded = replace(settings, timeout_s=SHARE * rest.left_s())
        if is_reference_graded(bounded, Running(), {}):
            return describe(rest, stage_manifest, HANG_MESSAGE), None
    return describe(rest, stage_manifest, ""), None


def describe(rest: RemainingWork, stage_manifest: Json, message: str) -> Json:
    """Return the result of a stage that no judge finished. With a message, the stage fails and gets no points; without
    one, it is marked as not reached and has no score."""
    file = rest.tree / rest.settings.lab / f"{stage_manifest['id']}.cu"
    failure = {"cause": "timeout", "message": message, "hint": "", "place": None}
    points: Json = {}
    for kind in KINDS:
        points |= {kind: 0, f"{kind}_max": stage_manifest["points"][kind], f"{kind}_pending": False, f"{kind}_why": ""}
    points |= {"total": 0, "max": sum(stage_manifest["points"][kind] for kind in KINDS)}
    not_reached = {"cause": "not_reached", "message": NOT_REACHED_MESSAGE, "hint": "", "place": None}
    return {
        "stage": stage_manifest["id"],
        "title": str(stage_manifest.get("title", "")),
        "source": str(file),
        "source_hash": hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "",
        "verdict": "failed" if message else "error",
        "compilation": {
            "verdict": "failed" if message else "error",
            "failure": failure if message else None,
            "log": "",
            "wall_s": 0,
            "cached": False,
            "nvcc": {"answer": "not_asked", "log": ""},
        },
        "checks": [],
        "check_mode": None,
        "measurements": [],
        "phases": [],
        "error": None if message else not_reached,
        "score": points if message else None,
        "output": "",
        "notes": [],
    }


def empty_report(settings: Settings) -> Json:
    """Return a report without stages, because no judge wrote one."""
    machine = dict.fromkeys(("host", "os", "cpu", "gpu", "driver", "cuda", "compiler"), "")
    return {
        "schema": 1,
        "verb": "grade",
        "lab": settings.lab,
        "backend": settings.backend,
        "sandbox": "",
        "sandbox_remark": "",
        "tree": "",
        "time": "",
        "warplab": "",
        "machine": {**machine, "cpu_cores": 0},
    }
