"""Grade one submission on a course system's machine, without a GPU, and write the results file of that system.

python3 -m grader.python.batch.autograde LAB SUBMISSION… --format gradescope|autolab [--output FILE]

Each SUBMISSION is a part of one hand-in: a folder, an archive of `make submit`, or a stage's .cu file. The scripts in
grader/python/release/services/ run this command. After a failure that is not the student's fault, the exit status is 2
and there is no result, so that the course system reports that grading failed. If the judge crashes on a submission but
then grades the reference, the submission is the cause and gets 0 points. If the time runs out, the stages that were
judged keep their points (see grade/unfinished.py).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.python.batch.grade.grading import MINIMUM_S, grade_submission
from grader.python.batch.grade.judge import Running
from grader.python.batch.grade.reference import attribute_failure, is_reference_graded
from grader.python.batch.grade.unfinished import complete, read_clock_offset
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_fingerprint
from grader.python.batch.outputs.formats import ONE_REPORT
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, make_parser, run_command, write_document
from grader.python.common.labs import SPEEDS, choose_labs, read_stages
from grader.python.common.markup import show_text

STUDENTS_FAULT = ("nothing_to_grade", "archive_refused", "judge_crashed")
TIME_LIMIT_S = 560  # Gradescope stops after ten minutes
# The submission's share of that time. The rest is for finding the cause if the judge fails or a stage takes too long.
SHARE = 0.8


def refuse(format_name: str, stages: Sequence[str], reason: str) -> str:
    """Return the result for a submission that cannot be graded."""
    message = show_text(reason)
    if format_name == "gradescope":
        return json.dumps({"score": 0, "output": message, "output_format": "text", "visibility": "visible"}) + "\n"
    return f"  {message}\n{json.dumps({'scores': dict.fromkeys(stages, 0)})}\n"


def grade(settings: Settings, submission: Sequence[Path], format_name: str) -> str:
    """Return the result for the course system. Raises UserError if grading failed and the submission is not the
    cause."""
    handed_in = Submission("submission", entries=list(submission), fingerprint=find_fingerprint(submission))
    bounded_settings, end_s = (
        replace(settings, timeout_s=SHARE * settings.timeout_s),
        time.monotonic() + settings.timeout_s,
    )
    offset_s = read_clock_offset()
    graded = grade_submission(handed_in, bounded_settings)
    if graded.was_killed:
        left_s = SHARE * (end_s - time.monotonic())
        graded = grade_submission(handed_in, replace(settings, timeout_s=max(left_s, MINIMUM_S)))
    if graded.judge_failure and graded.ran_out:
        graded.judged = complete(graded, settings, end_s, offset_s)
    elif graded.judge_failure:
        settings_for_rest = replace(settings, timeout_s=max(end_s - time.monotonic(), MINIMUM_S))
        graded = attribute_failure(graded) if is_reference_graded(settings_for_rest, Running(), {}) else graded
    if graded.status in STUDENTS_FAULT:
        prefix = "The hand-in was not opened. " if graded.status == "archive_refused" else ""
        return refuse(format_name, settings.stages, prefix + graded.detail)
    if not graded.judged:
        raise UserError(f"Not graded, for a reason other than the submission: {graded.detail}")
    return ONE_REPORT[format_name](graded.judged)


def main(arguments: Sequence[str]) -> int:
    """Grade, and write the result. Return exit status 0, whatever the points are. Raises UserError after an internal
    failure, for which run_command returns 2."""
    parser = make_parser("python3 -m grader.python.batch.autograde", __doc__)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("submission", nargs="+", type=Path, metavar="SUBMISSION")
    parser.add_argument("--format", required=True, choices=["gradescope", "autolab"])
    parser.add_argument("--output", type=Path, help="the file to write (default: the terminal)")
    parser.add_argument("--unsafe", action="store_true", help="grade even without a sandbox")
    parser.add_argument("--speed", default="", choices=SPEEDS, help="where speed points come from (default: measured)")
    parser.add_argument("--seconds", type=float, default=TIME_LIMIT_S, help="time limit (default: %(default)s)")
    options = parser.parse_args(arguments)
    root = Path.cwd()
    (lab,) = choose_labs(root, [options.lab])
    stages = tuple(read_stages(root, lab))
    submission = [file.absolute() for file in options.submission]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # the graded code runs as another user
        settings = Settings(
            lab,
            stages,
            root,
            root / "build",
            folder,
            "cpu",
            nvcc=False,
            unsafe=options.unsafe,
            timeout_s=options.seconds,
            speed=options.speed,
        )
        text = grade(settings, submission, options.format)
    write_document(text, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
