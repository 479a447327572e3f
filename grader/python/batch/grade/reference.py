"""Find the cause of a failure of the judge. The hand-in is graded again, and the reference before and after it, on the
same machine and with the same options. If only the hand-in fails, it is the cause; otherwise, the judge or the machine
is. Therefore, no hand-in can cause the status `judge_error`, which costs no points, and no student loses points because
of a temporary failure or a faulty node."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from grader.python.batch.grade.judge import Running, read_judged, run_judge
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings

TREES = ("solutions", "starter")  # the first of these folders that has all stages is the reference
CAUSED_BY_SUBMISSION = (
    "The same judge grades the reference with the same options, so something in these files causes it. Look for "
    "accesses outside of arrays, endless loops and writes to memory of the judge, and correct them. "
    "If there are none, ask the instructor to look at the files."
)


def attribute_failure(failed: Graded) -> Graded:
    """Return the result `judge_crashed` for a hand-in that is the cause of the judge's failures."""
    reason = f"{failed.judge_failure} {CAUSED_BY_SUBMISSION}"
    return replace(failed, status="judge_crashed", detail=reason, report="", judged=None)


def is_reference_graded(settings: Settings, running: Running, environment: dict[str, str]) -> bool:
    """Return whether the judge grades the reference without an error, within settings.timeout_s. `environment`:
    variables for the judge. Raises StoppedError."""
    tree = find_reference(settings)
    if not tree:
        return False
    try:  # each call has its own folder, because several tasks of a cluster may run this at the same time
        with tempfile.TemporaryDirectory(prefix="reference-", dir=settings.folder, ignore_cleanup_errors=True) as name:
            status, _ = run_judge(settings.command(tree, Path(name)), settings, running, environment)
            _, report = read_judged(Path(name) / f"{settings.lab}.json", status)
    except OSError:
        return False
    return report is not None and bool(report.stages) and all(stage.verdict != "error" for stage in report.stages)


def find_reference(settings: Settings) -> Path | None:
    """Return the first folder of TREES that has a file of each stage to grade; None if neither has all of them."""
    names = [f"{settings.lab}/{stage}.cu" for stage in settings.graded_stages()]
    trees = [settings.root / tree for tree in TREES]
    return next((tree for tree in trees if all((tree / name).is_file() for name in names)), None)
