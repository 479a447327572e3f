"""`warplab watch` with the real judge: a student saves files, and the test compares the output."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.cases import program
from tests.labs.conftest import BUILD, ROOT

LAB, STAGE = "vector_add", "02_grid_stride"
TIMEOUT_S = 120  # enough on a busy machine; ends a test that hangs
HANGING_PROGRAM = program(kernel="for (volatile bool on = n > 0; on;) {}")


class Watch:
    """A running `warplab watch`."""

    def __init__(self, work: Path):
        self.file = work / LAB / f"{STAGE}.cu"
        command = [BUILD / "warplab", "watch", LAB, "02", "--backend", "cpu", "--work", work]
        self.process = subprocess.Popen(
            [*map(str, command)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.killer = threading.Timer(TIMEOUT_S, self.process.kill)
        self.killer.start()

    def read_until(self, words: str) -> str:
        """Return the output up to the line with these words."""
        output = ""
        for line in self.process.stdout:
            output += line
            if words in line:
                return output
        raise AssertionError(f"watch ended without printing '{words}':\n{output}")

    def save(self, text: str) -> None:
        self.file.write_text(text)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait()
        self.killer.cancel()
        return status


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    running = Watch(tmp_path / "work")
    running.read_until("Watching.")  # the starter's result
    yield running
    running.end()


def test_each_save_is_checked(watch: Watch) -> None:
    watch.save(program(kernel="if (i + 1 < n) out[i] = a[i] + b[i];"))
    output = watch.read_until("Watching.")
    assert f"{STAGE}: failed" in output
    assert "✗ one n=1" in output and "✓ empty n=0" in output and "- beyond_int n=2,148,483,651" in output
    assert f"Next: edit {watch.file} and save it\n" in output
    watch.save(program())
    output = watch.read_until("Watching.")
    assert f"{STAGE}: passed" in output and "✗" not in output
    assert "speed, up to 2 more" in output and "Next: edit " in output


def test_a_file_that_an_editor_renames_is_checked(watch: Watch) -> None:
    new_file = watch.file.with_suffix(".swp")
    new_file.write_text(program())
    new_file.rename(watch.file)
    assert "passed" in watch.read_until("Watching.")


def test_another_stage_of_the_lab_is_checked_when_it_is_saved(watch: Watch) -> None:
    third = "03_vector_loads"
    watch.file.with_name(f"{third}.cu").write_text(program())
    assert f"{third}: passed" in watch.read_until("Watching.")


def descendants(process: int) -> list[int]:
    """Return the descendants of a process."""
    try:
        direct = [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return direct + [descendant for child in direct for descendant in descendants(child)]


def find_runner(process: int) -> int | None:
    """Return the descendant of `process` that runs the student's code, or None."""
    for child in descendants(process):
        try:
            if Path(f"/proc/{child}/comm").read_text() == "runner\n":
                return child
        except OSError:  # it has just ended
            continue
    return None


def test_saving_ends_a_check_that_hangs(watch: Watch) -> None:
    watch.save(HANGING_PROGRAM)
    while (hanging := find_runner(watch.process.pid)) is None:
        threading.Event().wait(0.01)
    watch.save(program())
    assert f"{STAGE}: passed" in watch.read_until(f"{STAGE}: ")
    assert hanging not in descendants(watch.process.pid)
    assert not Path(f"/proc/{hanging}/exe").exists()


def test_the_same_text_is_not_checked_again(watch: Watch) -> None:
    watch.save(program())
    watch.read_until("Watching.")
    watch.save(program())
    watch.save(program(before="// changed"))
    output = watch.read_until("Watching.")
    assert output.count(f"{STAGE}: passed") == 1
    records = (watch.file.parent / "journal/records.jsonl").read_text().splitlines()
    assert sum('"kind":"report"' in record for record in records) == 3  # the starter, and two versions


def test_watch_sleeps_between_saves(watch: Watch) -> None:
    stat = Path(f"/proc/{watch.process.pid}/stat")
    before = stat.read_text().rpartition(")")[2].split()
    threading.Event().wait(1)
    after = stat.read_text().rpartition(")")[2].split()
    assert after[0] == "S" and after[11:13] == before[11:13]  # it sleeps and uses no processor time


def test_ctrl_c_ends_watch_without_an_error(watch: Watch) -> None:
    assert watch.end() == 0


def test_only_the_students_own_files_are_watched(tmp_path: Path) -> None:
    command = [BUILD / "warplab", "watch", LAB, "--tree", "solutions", "--work", tmp_path]
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "omit TREE and SOURCE" in result.stderr


def test_watch_ends_if_the_folder_is_moved_away(watch: Watch) -> None:
    watch.file.parent.rename(watch.file.parent.with_name("moved"))
    assert "no longer exists" in watch.read_until("no longer exists")


def test_a_file_that_becomes_a_pipe_is_named(watch: Watch) -> None:
    os.mkfifo(pipe := watch.file.with_suffix(".pipe"))
    pipe.rename(watch.file)
    assert "is not a regular file" in watch.read_until("Watching.")
