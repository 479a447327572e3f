"""Entries of a folder to which other programs still write."""

from __future__ import annotations

import os
from pathlib import Path

from grader.python.batch.ingest.settling import FolderWatcher


def test_the_age_of_an_entry_begins_at_its_last_observed_change(tmp_path: Path) -> None:
    clock_s = 0.0
    settling = FolderWatcher(tmp_path, lambda: clock_s)
    folder, archive = tmp_path / "al1", tmp_path / "bo2.zip"
    folder.mkdir()
    archive.write_bytes(b"half")
    os.utime(archive, (1, 1))  # an old date does not mean that the upload has ended
    assert settling.update() and settling.unchanged_s([folder, archive]) == 0
    clock_s = 5
    assert not settling.update() and settling.unchanged_s([folder, archive]) == 5
    (folder / "01_first.cu").write_text("")
    assert settling.update()
    clock_s = 7
    assert not settling.update()
    assert [settling.unchanged_s(entries) for entries in ([folder], [archive], [folder, archive])] == [2, 7, 2]
    archive.unlink()
    (tmp_path / ".bo2.zip.part").touch()
    assert settling.update() and settling.unchanged_s([archive]) == 0
    assert not settling.update(), "hidden files do not count"


def test_a_folder_of_very_many_files_is_examined_less_often(tmp_path: Path) -> None:
    clock_s, pause_s = [0.0], 0.0

    def clock() -> float:
        clock_s[0] += 1  # so that each examination of the folder takes at least a second
        return clock_s[0] + pause_s

    settling = FolderWatcher(tmp_path, clock)
    assert not settling.update()
    (tmp_path / "al1").mkdir()
    assert not settling.update() and settling.unchanged_s([tmp_path / "al1"]) == 0
    pause_s = 100
    assert settling.update()
