"""Only one program at a time fetches into a folder."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from grader.python.batch.remote.connection import reading_answers
from grader.python.batch.remote.pull import Pulled
from grader.python.batch.verbs import remote
from grader.python.common.console import UserError


def test_a_second_pull_into_the_same_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, each pull would remove the files that only the other pull has fetched."""
    options = Namespace(moodle="", folder=tmp_path / "new")

    def pull_twice(*_: object) -> Pulled:
        with pytest.raises(UserError, match="another pull into this folder is running"):
            remote.fetch(options)
        return Pulled(7)

    monkeypatch.setattr(remote, "connect_canvas", lambda _: None)
    monkeypatch.setattr(remote.canvas_pull, "pull", pull_twice)
    assert remote.fetch(options).students == 7
    with remote.only_one_pull(options.folder):  # the folder is free again
        pass


@pytest.mark.parametrize("error", [OverflowError("int too large"), RecursionError(), IndexError()])
def test_an_answer_with_impossible_values_gives_one_message(error: Exception) -> None:
    """A file of 2^70 bytes or a list that is nested ten thousand times, for example, causes such an exception."""
    with pytest.raises(UserError, match="not as documented"), reading_answers():
        raise error
