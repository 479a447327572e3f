"""The handling of a cluster's tasks, tested without a cluster."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.python.batch.grade import slurm
from grader.python.batch.grade.slurm import is_result
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError


def test_a_job_number_that_slurm_reuses_gives_no_result_to_another_student() -> None:
    submission = Submission("al1", fingerprint="equal files")
    assert is_result(Graded("al1", "graded", fingerprint="equal files"), submission)
    assert not is_result(Graded("bo2", "graded", fingerprint="equal files"), submission)
    assert not is_result(Graded("al1", "graded", fingerprint="other files"), submission)


def test_a_controller_that_does_not_answer_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("POLL_S", "SILENT_S", "GRACE_S"):
        monkeypatch.setattr(slurm, name, 0)
    silent = iter(range(3))

    def alive(_: Any) -> set[str]:
        if next(silent, None) is not None:
            raise OSError("Unable to contact slurm controller")
        return set()

    job = SimpleNamespace(job_id="7_0", paths=SimpleNamespace(result_pickle=tmp_path / "none"))
    assert list(slurm.wait_for(SimpleNamespace(alive=alive), {"al1": job})) == [("al1", None)]
    output = capsys.readouterr().err
    assert output.count("Slurm has not answered") == 1
    assert "Unable to contact slurm controller" in output and "Ctrl-C" in output


@pytest.mark.parametrize(("command", "reason"), [("echo bad partition >&2", "bad partition"), ("", "exit status 3")])
def test_the_message_contains_sbatchs_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, reason: str
) -> None:
    pytest.importorskip("submitit")
    program = tmp_path / "sbatch"
    program.write_text(f"#!/bin/sh\n{command}\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("PYTHONPATH", "")
    settings = Settings("lab", ("01_first",), tmp_path, tmp_path, tmp_path, "cpu")
    with pytest.raises(UserError, match=reason):
        slurm.Cluster(settings, {}).submit(print, [("hello",)])
