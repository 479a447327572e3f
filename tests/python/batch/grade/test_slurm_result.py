"""Results of tasks on a cluster, without a cluster."""

from __future__ import annotations

from grader.python.batch.grade.slurm import is_result
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.rows import Graded


def test_a_result_under_a_number_that_slurm_used_again_is_no_other_students() -> None:
    submission = Submission("al1", fingerprint="equal files")
    assert is_result(Graded("al1", "graded", fingerprint="equal files"), submission)
    assert not is_result(Graded("bo2", "graded", fingerprint="equal files"), submission)
    assert not is_result(Graded("al1", "graded", fingerprint="other files"), submission)
