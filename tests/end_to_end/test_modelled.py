"""The modelled times that `bench` prints on a machine without a GPU."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT

RATIO = re.compile(r"yours is ([\d.]+) times as long")
# Neighbouring threads read elements that are far apart.
STRIDED = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x, run = (n + threads - 1) / threads;
    const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * run;
    for (std::size_t i = first; i < first + run && i < n; ++i) out[i] = a[i] + b[i];
}
std::size_t vector_add_scratch_bytes(std::size_t) { return 0; }
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    add<<<1056, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
"""
WRONG = STRIDED.replace("a[i] + b[i]", "a[i] - b[i]")


def bench(source: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "warplab"), "bench", "vector_add", "02", "--backend", "cpu", "--no-check-mode"]
    command += ["--no-nvcc", "--source", str(source), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def words_of(said: subprocess.CompletedProcess[str]) -> str:
    return " ".join(said.stdout.split())


def ratio_in(said: subprocess.CompletedProcess[str]) -> float:
    found = RATIO.search(words_of(said))
    assert found, said.stdout + said.stderr
    return float(found[1])


def test_the_reference_solution_is_modelled_as_fast_as_itself() -> None:
    said = bench(ROOT / "solutions/vector_add/02_grid_stride.cu")
    assert said.returncode == 0
    assert 0.9 < ratio_in(said) < 1.1
    assert "The limit is memory" in words_of(said)


def test_accesses_that_are_far_apart_are_modelled_as_slow(tmp_path: Path) -> None:
    (tmp_path / "strided.cu").write_text(STRIDED)
    assert ratio_in(bench(tmp_path / "strided.cu")) > 2


def test_what_fails_has_no_modelled_time(tmp_path: Path) -> None:
    (tmp_path / "wrong.cu").write_text(WRONG)
    said = bench(tmp_path / "wrong.cu")
    assert said.returncode == 1
    assert "times as long" not in words_of(said)


@pytest.mark.parametrize("gpu", ["H200", "h200"])
def test_a_known_gpu_may_be_typed_in_any_case(gpu: str) -> None:
    said = bench(ROOT / "solutions/vector_add/02_grid_stride.cu", "--gpu", gpu)
    assert said.returncode == 0


def test_an_unknown_gpu_is_refused_with_the_known_ones() -> None:
    said = bench(ROOT / "solutions/vector_add/02_grid_stride.cu", "--gpu", "voodoo")
    assert said.returncode == 2
    assert "does not know the GPU voodoo. It knows: h100, h200." in said.stderr
