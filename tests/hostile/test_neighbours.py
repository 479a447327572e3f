"""A submission that uses up processor time or the GPU's memory does not change the points of other submissions."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hostile.test_hostile import BACKEND, FOLDER, HONEST, failures, grade, left_running
from tests.hostile.test_killed_judge import AT_BOTH_LEVELS, start_judge, wait_until
from tests.share import THOROUGH

SPINS = r"""
#include <sys/prctl.h>
#include <unistd.h>

#include <system_error>
#include <thread>

#include "labs/dot_product/lab.h"

static void spin() {
    prctl(PR_SET_NAME, "@NAME@");
    for (volatile unsigned long turns = 0;; turns = turns + 1) {
    }
}

static bool begin() {
    for (int i = 0; i < 200; ++i)
        if (fork() == 0) {
            setsid();  // the scheduler gives each session a share
            spin();
        }
    for (int i = 0; i < 50; ++i) try {
            std::thread(spin).detach();
        } catch (const std::system_error&) {
        }
    return true;
}

void dot_product_prepare(std::size_t) {
    static const bool begun = begin();
    sleep(begun ? 14 : 0);  // below the limit, for every dataset
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
"""
TAKES_THE_COMPILER_SECONDS = """
template <int depth, unsigned path>
struct Tree {
    static constexpr unsigned leaves = Tree<depth - 1, 2 * path>::leaves + Tree<depth - 1, 2 * path + 1>::leaves;
};
template <unsigned path>
struct Tree<0, path> {
    static constexpr unsigned leaves = 1;
};
static_assert(Tree<14, 1>::leaves == 16384);
"""


@pytest.fixture
def one_core() -> Iterator[None]:
    """Run everything that the test starts on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.skipif(BACKEND != "cpu", reason="tests processor time, so only on the CPU backend")
@pytest.mark.usefixtures("one_core")
@(AT_BOTH_LEVELS if THOROUGH else pytest.mark.parametrize("missing", [[]], ids=["namespace"]))
def test_spinning_threads_cost_other_submissions_no_points(missing: list[str], tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    name = f"n{tmp_path.stat().st_ino % 10**9}"
    (tmp_path / "spinner").mkdir()
    source = tmp_path / "spinner" / "spins.cu"
    source.write_text(SPINS.replace("@NAME@", name))
    neighbour = tmp_path / "honest.cu"
    neighbour.write_text(f"{HONEST.read_text()}{TAKES_THE_COMPILER_SECONDS}// {name}: compiled here, too\n")
    # On one core, the shared harness takes longer to compile than the wait below, so it is compiled first.
    grade(HONEST, tmp_path, missing)
    spinner = start_judge(source, missing)
    try:
        assert wait_until(lambda: len(left_running(name)) > 40, 60), "the threads never ran"
        report, output = grade(neighbour, tmp_path, missing)
    finally:
        spinner.terminate()
        spinner.wait()
    stage = report["stages"][0]
    assert stage["verdict"] == "passed" and not failures(stage), output
    assert stage["score"]["correctness"] == stage["score"]["correctness_max"], output


@pytest.mark.skipif(BACKEND != "cuda", reason="needs a GPU")
def test_hoarding_gpu_memory_costs_other_submissions_no_points(tmp_path: Path) -> None:
    finished = threading.Event()

    def hoard(folder: Path) -> int:
        count = 0
        while not finished.is_set():
            grade(FOLDER / "hoards_gpu_memory.cu", folder, [])
            count += 1
        return count

    folders = [tmp_path / str(i) for i in range(4)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as pool:
        hoarders = [pool.submit(hoard, folder) for folder in folders[1:]]
        try:
            results = [grade(HONEST, folders[0], []) for _ in range(3)]
        finally:
            finished.set()
    assert sum(hoarder.result() for hoarder in hoarders) >= len(hoarders)
    for report, output in results:
        stage = report["stages"][0]
        assert stage["verdict"] == "passed" and not failures(stage), output
        assert stage["score"]["correctness"] == stage["score"]["correctness_max"], output
        assert not any(check["skipped_why"].startswith("does not fit") for check in stage["checks"]), output
