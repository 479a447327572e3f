"""Completes the report of a judge that was stopped at the time limit: stages that were judged keep their results, a
stage on which the judge does not end fails if the reference is graded, and every other stage is marked as not reached.
The remaining time is used for the stages after the one that was stopped."""

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
# A judge that needs this share of the time for one stage counts as hung. With ten minutes, that is about the judge's
# own limit for a submission in a stage, which is ten times what the slowest solution needs on one slow core.
HANGS = 0.15
SHARE = 0.8  # the stage's share of the remaining time; the rest is the reference's
MIN_S = 0.5  # with less time left, no judge is started
HANGING = (
    "The judge did not finish this file, although it grades the reference in this time. Look for endless loops and for "
    "work that grows too fast with the size of the input."
)
NOT_REACHED = (
    "The time for this submission ended before this stage was judged. Hand in again, or ask the instructor to grade it."
)


@dataclass
class Rest:
    """The remaining work for a submission, until `end_s` (of time.monotonic()); the whole work may take `whole_s`."""

    settings: Settings
    tree: Path
    whole_s: float
    end_s: float
    stages: list[Json] = field(default_factory=list)  # judged, failed or not reached, in order

    def left_s(self) -> float:
        return self.end_s - time.monotonic()


def read_clock_offset() -> float:
    """Return the difference between the clock of files and time.monotonic(), in seconds. A changed clock changes it."""
    return time.time() - time.monotonic()


def complete(stopped: Graded, settings: Settings, end_s: float, offset_s: float) -> Report | None:
    """Return the report on all stages of a submission on which the judge was stopped, before `end_s`; None if no stage
    has a result. `settings.timeout_s` is the whole time, which is over at `end_s`, and `offset_s` was the clock's
    offset at its beginning."""
    tree = place_of(settings.folder, "submissions", stopped.key)
    report, took_s = read_unfinished(tree / f"{settings.lab}.unfinished.json", settings.timeout_s, offset_s)
    rest = Rest(settings, tree, settings.timeout_s, end_s, report["stages"] if report else [])
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
    """Return the output of a stopped judge, if any, and the seconds since then. If the clock was changed, these may be
    too few, but never too many: a stage on which the judge seems to work for long may fail."""
    with contextlib.suppress(OSError, TypeError, ValueError, RecursionError):
        text = file.read_text(encoding="utf-8")
        parse_report(text)
        content: Json = json.loads(text)
        now_s = time.monotonic() + min(offset_s, read_clock_offset())
        return content, min(max(now_s - file.stat().st_mtime, 0), whole_s)
    return None, whole_s


def judge_stage(rest: Rest, stage: str, known: Json, took_s: float) -> tuple[Json, Json | None]:
    """Return the result of one stage and, if the judge ended, its report. `took_s`: how long a
    judge worked on this stage before it was stopped."""
    settings = replace(rest.settings, stage=stage)
    if took_s < HANGS * rest.whole_s and rest.left_s() > MIN_S:
        begin = time.monotonic()
        bounded = replace(settings, timeout_s=SHARE * rest.left_s())
        status, _ = run_judge(bounded.command(rest.tree, rest.tree), bounded, Running(), {})
        text, judged = read_judged(rest.tree / f"{settings.lab}.json", status)
        if judged and judged.stages:
            content: Json = json.loads(text)
            return content["stages"][0], content
        took_s = max(took_s, time.monotonic() - begin)
    if took_s >= HANGS * rest.whole_s and rest.left_s() > MIN_S:
        bounded = replace(settings, timeout_s=SHARE * rest.left_s())
        if is_reference_graded(bounded, Running(), {}):
            return describe(rest, known, HANGING), None
    return describe(rest, known, ""), None


def describe(rest: Rest, known: Json, failed: str) -> Json:
    """Return the result of a stage that no judge finished: no points for the reason `failed`, or not reached and no
    score."""
    file = rest.tree / rest.settings.lab / f"{known['id']}.cu"
    failure = {"cause": "timeout", "message": failed, "hint": "", "place": None}
    points: Json = {}
    for kind in KINDS:
        points |= {kind: 0, f"{kind}_max": known["points"][kind], f"{kind}_pending": False, f"{kind}_why": ""}
    points |= {"total": 0, "max": sum(known["points"][kind] for kind in KINDS)}
    not_reached = {"cause": "not_reached", "message": NOT_REACHED, "hint": "", "place": None}
    return {
        "stage": known["id"],
        "title": str(known.get("title", "")),
        "source": str(file),
        "source_hash": hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "",
        "verdict": "failed" if failed else "error",
        "compilation": {
            "verdict": "failed" if failed else "error",
            "failure": failure if failed else None,
            "log": "",
            "wall_s": 0,
            "cached": False,
            "nvcc": {"answer": "not_asked", "log": ""},
        },
        "checks": [],
        "check_mode": None,
        "measurements": [],
        "phases": [],
        "error": None if failed else not_reached,
        "score": points if failed else None,
        "output": "",
        "notes": [],
    }


def empty_report(settings: Settings) -> Json:
    """Return a report without stages, for the case that no judge finished."""
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
