"""Describe how students' points changed when hand-ins were graded again."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grader.python.batch.policy.points import FinalPoints
from grader.python.common.units import plural, show_points

MAX_LINES = 20


def describe_changes(before: Sequence[FinalPoints], now: Sequence[FinalPoints], keys: Collection[str]) -> list[str]:
    """Return a line for each student whose points differ, and a line with the number of students whose points are the
    same. `keys`: the submissions that were to be graded again. Submissions that still wait, and students who handed in
    nothing before, are left out."""
    earlier = {final.student: describe_points(final) for final in before}
    graded = [final for final in now if final.row.key in keys and final.row.status not in ("", "not_submitted")]
    graded = [final for final in graded if final.student in earlier]
    lines = [
        f"{describe_student(final)}: {earlier[final.student]} before, {describe_points(final)} now"
        for final in graded
        if earlier[final.student] != describe_points(final)
    ]
    omitted = len(lines) - MAX_LINES
    unchanged = sum(final.points is not None and earlier[final.student] == describe_points(final) for final in graded)
    return [
        *lines[:MAX_LINES],
        *([f"and {omitted} more"] if omitted > 0 else []),
        *([f"The points are the same for {plural(unchanged, 'student')}."] if unchanged else []),
    ]


def describe_student(final: FinalPoints) -> str:
    """Return a student's id with the name, if that is known."""
    return f"{final.student} ({final.name})" if final.name not in ("", final.student) else final.student


def describe_points(final: FinalPoints) -> str:
    """Return a student's points, such as "12 points and 8 pending", or "no points yet" if the judge failed."""
    if final.points is None:
        return "no points yet"
    pending = f" and {show_points(final.pending)} pending" if final.pending else ""
    modelled = f", {show_points(final.modelled)} of them modelled" if final.modelled else ""
    return f"{show_points(final.points)} points{modelled}{pending}"
