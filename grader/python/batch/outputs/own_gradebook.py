"""Make gradebook.csv, with a line per student, for spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.python.batch.ingest.submission import FILE_DATES
from grader.python.batch.outputs.cells import write_csv
from grader.python.batch.policy.points import FinalPoints
from grader.python.common.units import show_points
from grader.python.journal.quiz import Score


def make_gradebook(
    finals: Sequence[FinalPoints], items: Sequence[str], stages: Sequence[str], quizzes: Mapping[str, Score] = {}
) -> str:
    """Return the gradebook as CSV. Points are plain numbers; a cell without a value is empty. `items`: the items of
    points given by hand; `quizzes`: the quiz scores by the submissions' keys."""
    before, after = columns_around(stages)
    rows = [[*before, *items, *after]]
    for final in finals:
        row = final.row
        by_stage = {stage.stage: stage.points for stage in row.stages}
        judged = show_points(row.points) if row.grade is not None else ""
        numbers = [number(final.points), show_points(final.max_points), show_points(final.pending)]
        numbers += [show_points(final.modelled), judged]
        numbers += [str(final.lateness.days), show_points(final.penalty)]
        numbers += [number(final.given.get(item)) for item in items]
        numbers += [number(by_stage.get(stage)) for stage in stages]
        quiz = quizzes.get(row.key)
        numbers += [str(quiz.right), str(quiz.question_count)] if quiz else ["", ""]
        reason = "another hand-in has at least as many points" if final.chosen_by_points else "there is a later hand-in"
        unused = [f"Not used, because {reason}: {', '.join(final.unused)}"] if final.unused else []
        remarks = "; ".join([*([row.detail] if row.detail else []), *row.notes, *unused])
        words = [final.student, final.name, row.status or "waiting"]
        rows.append([*words, *numbers, final.override, row.handed_in, name_time(final), remarks])
    return write_csv(rows)


def columns_around(stages: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the titles of the columns before those of the points given by hand, and of the columns after them."""
    before = ["id", "name", "status", "points", "of", "pending", "modelled", "judged", "late_days", "late_penalty"]
    return before, [*stages, "quiz_right", "quiz_of", "override", "handed_in", "time_from", "remarks"]


def name_time(final: FinalPoints) -> str:
    """Return the source of a hand-in's time, with a remark if it does not decide on lateness."""
    source = final.lateness.source or final.row.known_by
    is_unused = source in FILE_DATES and not final.lateness.source
    return f"{source} (not counted as late)" if is_unused else source


def number(value: float | None) -> str:
    """Return a number as text; empty for None."""
    return "" if value is None else show_points(value)
