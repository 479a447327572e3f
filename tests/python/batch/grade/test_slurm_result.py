"""The handling of a cluster's tasks, tested without a cluster."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.python.batch.grade import slurm
from grader.python.batch.grade.slurm import is_result
from grader.python.batch.ingest.module_path import python_path
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.rows import Graded
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from tests.conftest import read_environment


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


def submit_to_fake(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Submit a task to a cluster whose sbatch runs a command of the shell, and then fails."""
    pytest.importorskip("submitit")
    programs = folder / "programs"
    programs.mkdir()
    for name in ("sbatch", "srun"):
        (programs / name).write_text(f"#!/bin/sh\n{command}\nexit 3\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    settings = Settings("lab", ("01_first",), folder, folder, folder, "cpu")
    slurm.Cluster(settings, {}).submit(print, [("hello",)])


@pytest.mark.parametrize(("command", "reason"), [("echo bad partition >&2", "bad partition"), ("", "exit status 3")])
def test_the_message_contains_sbatchs_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        submit_to_fake(tmp_path, monkeypatch, command)


def test_tasks_import_nothing_from_the_folder_in_which_they_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_environment()
    with pytest.raises(UserError):
        submit_to_fake(tmp_path, monkeypatch, f'cp "$1" "{tmp_path}/script"')
    script = (tmp_path / "script").read_text()
    assert f"\nexport PYTHONPATH={shlex.quote(python_path())}\nexport PYTHONSAFEPATH=1\n" in script
    assert read_environment().keys() == before.keys()  # other programs that this process starts keep their settings
