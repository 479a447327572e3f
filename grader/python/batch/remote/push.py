"""Return grades and feedback to Canvas.

Each attempt first reads what Canvas has for the student, so that nothing is written twice. A grade is written only if
it differs, and feedback only if no comment contains its mark, which is a hash of the files' names and contents."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.python.batch.remote.connection import reading_answers, try_again
from grader.python.common.console import UserError
from grader.python.common.units import name_some, show_points

MARK = "Warplab feedback"
NOT_STORED = "Check the assignment's maximum, its kind of grade, and whether its grades are locked."


@dataclass(frozen=True)
class StudentResult:
    """A student's points, and the feedback files by name."""

    student: str
    points: float | None
    files: Mapping[str, bytes]

    def mark(self) -> str:
        """Return the words that identify a comment with these files."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return f"{MARK} {digest.hexdigest()[:12]}"


@dataclass
class Pushed:
    """The result of a push."""

    changes: list[str] = field(default_factory=list)  # a line on each student whose results were, or would be, written
    same: int = 0  # the number of students for whom the course system was up to date
    failed: dict[str, str] = field(default_factory=dict)  # the reason of each failure, by student
    deducted: dict[str, float] = field(default_factory=dict)  # points that Canvas itself deducts, by student


def push(assignment: Any, returned: Mapping[str, StudentResult], send: bool) -> Pushed:
    """Send grades and feedback to Canvas, or only determine what would change. `returned`: the results by the users'
    numbers."""
    pushed = Pushed()
    for user, result in returned.items():
        try:
            with reading_answers():
                change = try_again(
                    lambda user=user, result=result: push_one(assignment, user, result, send, pushed), result.student
                )
                remaining_change = push_one(assignment, user, result, False, pushed) if change and send else ""
            if remaining_change:
                raise UserError(
                    f"Canvas answered that it stored this, but it did not: {remaining_change}. {NOT_STORED}"
                )
        except UserError as error:
            pushed.failed[result.student] = f"{result.student}: {error}"
            continue
        if change:
            pushed.changes.append(f"{result.student}: {change}")
        else:
            pushed.same += 1
    return pushed


def push_one(assignment: Any, user: str, result: StudentResult, send: bool, pushed: Pushed) -> str:
    """Write the grade and the files that Canvas does not have, and record the points that Canvas deducts. Return a
    short description of the changes; empty if there are none. Raises UserError, and the exceptions that try_again()
    catches."""
    submission = try_again(
        lambda: assignment.get_submission(int(user), include=["submission_comments"]), f"submission of {result.student}"
    )
    if submission.user_id != int(user):
        raise ValueError("the submission of another user")
    changes, words = {}, []
    before = getattr(submission, "entered_score", None)
    deducted = getattr(submission, "points_deducted", None)
    pushed.deducted.pop(result.student, None)
    if isinstance(deducted, int | float) and deducted > 0:
        pushed.deducted[result.student] = deducted
    is_excused = bool(getattr(submission, "excused", False))
    if result.points is not None and not is_excused and (before is None or abs(before - result.points) > 0.005):
        changes["submission"] = {"posted_grade": show_points(result.points)}
        words.append(f"{'no grade' if before is None else show_points(before)} -> {show_points(result.points)}")
    comments = getattr(submission, "submission_comments", None) or []
    if result.files and not any(result.mark() in (comment.get("comment") or "") for comment in comments):
        words.append(f"feedback ({', '.join(sorted(result.files))})")
        changes["comment"] = {"text_comment": f"Your feedback is attached. ({result.mark()})"}
    if send and changes:
        if "comment" in changes:
            changes["comment"]["file_ids"] = upload(submission, result.files)
        submission.edit(**changes)
    return ", ".join(words)


def describe_deductions(pushed: Pushed) -> str:
    """Return a sentence on points that Canvas's own late policy deducts; empty if there are none."""
    if not pushed.deducted:
        return ""
    deductions = [f"{student} ({show_points(points)})" for student, points in pushed.deducted.items()]
    return (
        f"Canvas's late policy deducts points of its own from the stored grades: {name_some(deductions)}. If `due` "
        "deducts points as well, these students lose twice: switch off one of the two."
    )


def upload(submission: Any, files: Mapping[str, bytes]) -> list[int]:
    """Upload files for a comment, and return the numbers that Canvas gives them. A file of an interrupted attempt
    belongs to no comment, so no student sees it."""
    url = f"courses/{submission.course_id}/assignments/{submission.assignment_id}/submissions/{submission.user_id}"
    numbers = []
    with tempfile.TemporaryDirectory() as folder:
        for name, content in sorted(files.items()):
            (file := Path(folder) / name).write_bytes(content)
            numbers.append(
                try_again(lambda file=file: upload_one(submission._requester, f"{url}/comments/files", file), name)
            )
    return numbers


def upload_one(requester: Any, url: str, file: Path) -> int:
    """Upload a file, and return the number that Canvas gives it. Raises exceptions that try_again() catches, for
    example if a part is missing."""
    from canvasapi.upload import Uploader

    is_complete, answer = Uploader(requester, url, file).start()
    if not is_complete or answer.get("size", file.stat().st_size) != file.stat().st_size:
        raise ValueError("an incomplete file")
    return int(answer["id"])
