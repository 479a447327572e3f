"""All processes of a killed judge end with it, even if a submission tries to survive."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.hostile.test_hostile import BACKEND, LAB, STAGE, left_running
from tests.hostile.without import without
from tests.labs.conftest import BUILD, ROOT

SURVIVES_SIGNALS = r"""
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "labs/dot_product/lab.h"

static void stay() {
    prctl(PR_SET_NAME, "@NAME@");
    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (;;) pause();
}

__attribute__((constructor)) static void leave_processes() {
    if (fork() == 0) stay();
    if (vfork() == 0) _exit(0);
    std::thread(stay).detach();
}

void dot_product(const int*, const int*, int*, std::size_t, void*) { stay(); }
"""
COMPILES_FOR_LONG = r"""
#include "labs/dot_product/lab.h"
template <int depth, int path> struct Tree : Tree<depth - 1, 2 * path>, Tree<depth - 1, 2 * path + 1> {};
template <int path> struct Tree<0, path> {};
static Tree<20, 1> tree_@NAME@;
void dot_product(const int*, const int*, int*, std::size_t, void*) {}
"""
AT_BOTH_LEVELS = pytest.mark.parametrize(
    "missing",
    [
        pytest.param([], id="namespace"),
        pytest.param(["bwrap"], id="uid", marks=pytest.mark.skipif(os.geteuid() != 0, reason="only for root")),
    ],
)


def wait_until(is_true: Callable[[], object], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_true():
            return True
        time.sleep(0.05)
    return False


def read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def descendants(process: int) -> set[int]:
    processes = set()
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, read(children).split()):
            processes |= {child} | descendants(child)
    return processes


def is_alive(process: int) -> bool:
    """Return whether the process is running. Process ids are not reused within the seconds of this test."""
    return "\nState:\tZ" not in (status := read(Path(f"/proc/{process}/status"))) and status != ""


def start_judge(source: Path, missing: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [*without(*missing), BUILD / "warplab", "grade", LAB, STAGE, "--source", source, "--backend", BACKEND]
    command += ["--no-nvcc", "--no-cuda-only", "--no-check-mode", "--report-dir", source.parent]
    quiet = subprocess.DEVNULL
    return subprocess.Popen([str(word) for word in command], cwd=ROOT, stdin=quiet, stdout=quiet, stderr=quiet)


def kill_judge_when(begun: Callable[[], object], judge: subprocess.Popen[bytes]) -> None:
    try:
        assert wait_until(begun, 120), "the submission never ran"
    finally:
        judge.send_signal(signal.SIGKILL)
        judge.wait()


@AT_BOTH_LEVELS
def test_no_process_of_a_run_outlives_the_judge(missing: list[str], tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    name = f"k{tmp_path.stat().st_ino % 10**9}"
    source = tmp_path / "clings.cu"
    source.write_text(SURVIVES_SIGNALS.replace("@NAME@", name))
    kill_judge_when(lambda: left_running(name), start_judge(source, missing))
    assert wait_until(lambda: not left_running(name), 10), left_running(name)


@AT_BOTH_LEVELS
def test_no_compiler_outlives_the_judge(missing: list[str], tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    name = f"k{tmp_path.stat().st_ino % 10**9}"
    source = tmp_path / f"{name}.cu"
    source.write_text(COMPILES_FOR_LONG.replace("@NAME@", name))
    judge = start_judge(source, missing)
    processes: set[int] = set()

    def compiles() -> bool:
        processes.update(descendants(judge.pid))
        commands = [read(Path(f"/proc/{process}/cmdline")).split("\0") for process in processes]
        return any(words[0].endswith("cc1plus") and "-E" not in words for words in commands)

    kill_judge_when(compiles, judge)
    assert wait_until(lambda: not any(map(is_alive, processes)), 10), [
        process for process in processes if is_alive(process)
    ]
