"""The modelled times that `bench` prints on a machine without a GPU, and the points that `grade` gives for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

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
# All lanes of a warp access one bank, in lines 8 and 10.
CONFLICTS = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    __shared__ float tile[32 * 32];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned column = threadIdx.x % 32, row = threadIdx.x / 32;
    float sum = i < n ? a[i] : 0;
    for (int k = 0; k < 16; ++k) {
        tile[column * 32 + row] = sum;
        __syncthreads();
        sum = tile[column * 32 + row];
        __syncthreads();
    }
    if (i < n) out[i] = sum + b[i];
}
std::size_t vector_add_scratch_bytes(std::size_t) { return 0; }
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    add<<<static_cast<unsigned>((n + 1023) / 1024), 1024>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
"""
# Shared memory allows only two blocks at once, and the host waits for each of many launches.
FEW_AT_ONCE = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    extern __shared__ float pad[];
    pad[threadIdx.x] = 1;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (a[i] + b[i]) * pad[threadIdx.x];
}
std::size_t vector_add_scratch_bytes(std::size_t) { return 0; }
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    CUDA_CHECK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    for (std::size_t first = 0; first < n; first += 1048576) {
        const std::size_t count = n - first < 1048576 ? n - first : 1048576;
        const unsigned blocks = static_cast<unsigned>((count + 63) / 64);
        add<<<blocks, 64, 100000>>>(a + first, b + first, out + first, count);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }
}
"""
SOLUTION = ROOT / "solutions/vector_add/02_grid_stride.cu"
HOST = "launches, copies and waits of the host"
WRONG = STRIDED.replace("a[i] + b[i]", "a[i] - b[i]")


def bench(source: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "warplab"), "bench", "vector_add", "02", "--backend", "cpu", "--no-check-mode"]
    command += ["--no-nvcc", "--source", str(source), *words]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False)


def words_of(result: subprocess.CompletedProcess[str]) -> str:
    return " ".join(result.stdout.split())


def ratio_in(result: subprocess.CompletedProcess[str]) -> float:
    match = RATIO.search(words_of(result))
    assert match, result.stdout + result.stderr
    return float(match[1])


def test_the_reference_solution_is_modelled_as_fast_as_itself() -> None:
    result = bench(ROOT / "solutions/vector_add/02_grid_stride.cu")
    assert result.returncode == 0
    assert 0.9 < ratio_in(result) < 1.1
    assert "The limit is memory" in words_of(result)


def test_accesses_that_are_far_apart_are_modelled_as_slow(tmp_path: Path) -> None:
    (tmp_path / "strided.cu").write_text(STRIDED)
    assert ratio_in(bench(tmp_path / "strided.cu")) > 2


def test_bench_tries_more_threads_at_once_and_no_waits_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "few.cu").write_text(FEW_AT_ONCE)
    words = words_of(bench(tmp_path / "few.cu"))
    assert "A multiprocessor runs at most 2 blocks of 64 threads at once." in words
    more = re.search(r"If registers and shared memory allowed 2048 threads at once: ([\d.]+) times as fast", words)
    no_waits = re.search(rf"Without {HOST}: ([\d.]+) times as fast, modelled\.", words)
    assert more and 1.1 <= float(more[1]) < 4, words
    assert no_waits and 1.1 <= float(no_waits[1]) < 4, words
    words = words_of(bench(SOLUTION))
    assert "threads at once: " not in words and f"Without {HOST}" not in words


def test_bench_prints_the_measured_baseline_and_the_modelled_speedup() -> None:
    words = words_of(bench(ROOT / "solutions/vector_add/02_grid_stride.cu"))
    match = re.search(
        r"timed\S*: (\S+ \S+) for 1000 iterations, modelled .* The CPU baseline is (\S+ \S+) for 1000 iterations, "
        r"measured on one core of this machine\. The speedup over it is (\S+)x \((\S+)x to (\S+)x\), modelled\.",
        words,
    )
    assert match, words
    modelled_s, baseline_s = seconds_in(match[1]), seconds_in(match[2])
    assert float(match[3]) == pytest.approx(baseline_s / modelled_s, rel=0.02)
    assert float(match[4]) < float(match[3]) < float(match[5])


def test_bench_accepts_the_name_of_a_dataset_that_needs_a_gpu() -> None:
    result = bench(SOLUTION, "--dataset", "timed_16m")
    assert result.returncode == 0
    assert "timed_16m: " in words_of(result) and "passed" in words_of(result)


def test_the_journal_keeps_the_modelled_time_and_the_speed_points_stay_pending(tmp_path: Path) -> None:
    (tmp_path / "vector_add").mkdir()
    (tmp_path / "vector_add/02_grid_stride.cu").write_text(SOLUTION.read_text())
    command = [str(BUILD / "warplab"), "bench", "vector_add", "02", "--backend", "cpu", "--no-check-mode", "--no-nvcc"]
    subprocess.run([*command, "--work", str(tmp_path)], cwd=ROOT, capture_output=True, check=True)
    lines = (tmp_path / "vector_add/journal/records.jsonl").read_text().splitlines()
    (stage,) = json.loads(lines[-1])["report"]["stages"]
    assert stage["modelled_time"]["time"]["median"] > 0 and not stage["measurements"]
    assert stage["score"]["speed_pending"] and not stage["score"].get("speed_modelled")


def seconds_in(words: str) -> float:
    number, unit = words.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def inspect(
    tmp_path: Path, source: Path, *words: str, stage: tuple[str, str] = ("vector_add", "02")
) -> tuple[str, dict[str, Any]]:
    """Inspect a file. Return the terminal's text and the inspection."""
    command = [str(BUILD / "warplab"), "inspect", *stage, "--no-nvcc", "--source", str(source)]
    command += ["--report-dir", str(tmp_path / "inspected"), *words]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (file,) = (tmp_path / "inspected").glob("*.json")
    return result.stdout, json.loads(file.read_text())


def test_inspect_shows_the_modelled_share_of_each_line(tmp_path: Path) -> None:
    (tmp_path / "conflicts.cu").write_text(CONFLICTS)
    output, inspection = inspect(tmp_path, tmp_path / "conflicts.cu")
    modelled = inspection["modelled"]
    shares = {share["line"]: share["share"] for share in modelled["shares"]}
    assert (modelled["gpu"], modelled["dataset"]) == ("NVIDIA H200", "timed_16m")
    assert 0.95 < sum(shares.values()) <= 1.0001
    assert shares[8] + shares[9] + shares[10] + shares[11] > 0.8  # the loop with the conflicts
    lines = output.splitlines()
    assert "requests lanes   sectors passes clashes modelled line" in lines
    row = next(line for line in lines if " 8 |" in line)
    assert f"{100 * shares[8]:.0f}%" in row
    assert "this column is modelled, the others are counted" in " ".join(lines)


def test_the_scored_dataset_with_the_fewest_elements_is_modelled_even_with_more_iterations(tmp_path: Path) -> None:
    source = ROOT / "solutions/heat_dissipation/06_batched_checks.cu"
    _, inspection = inspect(tmp_path, source, stage=("heat_dissipation", "06"))
    assert inspection["modelled"]["dataset"] == "timed_4096"


def test_inspect_models_nothing_if_outputs_are_wrong_or_the_gpu_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "wrong.cu").write_text(WRONG)
    output, inspection = inspect(tmp_path, tmp_path / "wrong.cu")
    assert "modelled" not in inspection and "modelled" not in output
    output, inspection = inspect(tmp_path, SOLUTION, "--gpu", "GTX 1080")
    assert inspection["modelled"]["why_not"] == "the model does not know the GPU GTX 1080"
    assert "No modelled shares: the model does not know the GPU GTX 1080." in " ".join(output.split())


def gains_in(result: subprocess.CompletedProcess[str]) -> dict[str, float]:
    return {
        access: float(factor)
        for access, factor in re.findall(r"Without (the [a-z ]+ in line \d+): ([\d.]+) times as fast", words_of(result))
    }


def test_the_estimated_gain_of_scattered_accesses_is_close_to_their_cost(tmp_path: Path) -> None:
    (tmp_path / "strided.cu").write_text(STRIDED)
    output = bench(tmp_path / "strided.cu")
    (access,) = gains_in(output)
    assert access == "the scattered accesses in line 5"
    assert gains_in(output)[access] == pytest.approx(ratio_in(output), rel=0.4)


def test_bank_conflicts_are_named_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "conflicts.cu").write_text(CONFLICTS)
    gains = gains_in(bench(tmp_path / "conflicts.cu"))
    assert set(gains) == {"the bank conflicts in line 8", "the bank conflicts in line 10"}
    (tmp_path / "padded.cu").write_text(CONFLICTS.replace("* 32", "* 33"))
    assert not gains_in(bench(tmp_path / "padded.cu"))


def parts_in(result: subprocess.CompletedProcess[str]) -> dict[str, tuple[int, int]]:
    """Return the printed parts of the time: percent and line, which is 0 if none is named."""
    match = re.search(r"Shares of the modelled time, which overlap: (.*?)\.(?: |$)", words_of(result))
    assert match, result.stdout + result.stderr
    parts = re.findall(r"(\w.*?) (\d+)%(?: \(most of it in line (\d+)\))?(?:, |$)", match[1])
    return {name: (int(percent), int(line or 0)) for name, percent, line in parts}


def test_each_part_of_the_time_has_the_line_that_causes_most_of_it(tmp_path: Path) -> None:
    (tmp_path / "conflicts.cu").write_text(CONFLICTS)
    parts = parts_in(bench(tmp_path / "conflicts.cu"))
    assert parts["shared memory"][0] > 50 and parts["shared memory"][1] in (8, 10)
    assert max(parts, key=lambda name: parts[name][0]) == "shared memory" and HOST not in parts


def test_launches_are_a_part_of_the_time(tmp_path: Path) -> None:
    launch = "add<<<static_cast"
    many = f"for (int i = 0; i < 300; ++i) add<<<1, 32>>>(a, b, out, 0);\n    {launch}"
    (tmp_path / "launches.cu").write_text(CONFLICTS.replace(launch, many).replace("k < 16", "k < 1"))
    percent, line = parts_in(bench(tmp_path / "launches.cu"))[HOST]
    assert percent > 50 and line == 0


def test_the_report_says_if_registers_are_assumed() -> None:
    assumed = "nvcc did not report registers: the model assumes 32 for each thread."
    assert assumed in words_of(bench(SOLUTION, NVCC="/nonexistent/nvcc"))
    assert shutil.which("nvcc") is None or assumed not in words_of(bench(SOLUTION))


def grade(tmp_path: Path, source: Path, *words: str) -> dict[str, Any]:
    """Grade a file as vector_add's second stage. Return the stage's part of the report."""
    command = [str(BUILD / "warplab"), "grade", "vector_add", "02", "--backend", "cpu", "--no-check-mode", "--no-nvcc"]
    command += ["--unsafe", "--source", str(source), "--report-dir", str(tmp_path), *words]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    (stage,) = json.loads((tmp_path / "vector_add.json").read_text())["stages"]
    return cast(dict[str, Any], stage)


def test_a_solution_gets_its_provisional_speed_points(tmp_path: Path) -> None:
    stage = grade(tmp_path, SOLUTION, "--speed", "modelled")
    score = stage["score"]
    assert (score["speed"], score["speed_pending"], score["speed_modelled"]) == (score["speed_max"], False, True)
    assert not stage["measurements"] and stage["modelled_time"]["gpu"] == "NVIDIA H200"


def test_a_slow_file_gets_a_range_and_no_points_yet(tmp_path: Path) -> None:
    (tmp_path / "strided.cu").write_text(STRIDED)
    score = grade(tmp_path, tmp_path / "strided.cu", "--speed", "modelled")["score"]
    assert (score["speed"], score["speed_pending"], score["speed_modelled"]) == (0, True, True)
    assert re.search(r"[\d.]+ to [\d.]+ of 2 points", score["speed_why"])


def test_without_modelled_speed_nothing_is_modelled(tmp_path: Path) -> None:
    for words in ([], ["--speed", "measured"]):
        stage = grade(tmp_path, SOLUTION, *words)
        assert stage.get("modelled_time") is None and stage["score"]["speed_pending"]


def test_a_course_can_omit_speed(tmp_path: Path) -> None:
    score = grade(tmp_path, SOLUTION, "--speed", "off")["score"]
    assert (score["speed_max"], score["speed_pending"]) == (0, False)
    assert score["max"] == score["correctness_max"] + score["hygiene_max"]


def test_an_unknown_choice_of_speed_is_rejected(tmp_path: Path) -> None:
    command = [str(BUILD / "warplab"), "grade", "vector_add", "02", "--backend", "cpu", "--speed", "fast"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "Choose measured, modelled or off." in result.stderr


def test_a_failed_stage_has_no_modelled_time(tmp_path: Path) -> None:
    (tmp_path / "wrong.cu").write_text(WRONG)
    result = bench(tmp_path / "wrong.cu")
    assert result.returncode == 1
    assert "times as long" not in words_of(result)


@pytest.mark.parametrize("gpu", ["H200", "h200"])
def test_a_gpus_name_is_case_insensitive(gpu: str) -> None:
    result = bench(ROOT / "solutions/vector_add/02_grid_stride.cu", "--gpu", gpu)
    assert result.returncode == 0


def test_the_report_says_that_a_gpu_is_uncalibrated() -> None:
    output = bench(ROOT / "solutions/vector_add/02_grid_stride.cu", "--gpu", "RTX 4090")
    assert "Modelled for a GPU that this machine does not have: NVIDIA GeForce RTX 4090." in words_of(output)
    assert "Constants of this GPU: uncalibrated: from data sheets, papers and estimates." in words_of(output)


def test_make_passes_the_gpu_to_the_program() -> None:
    command = ["make", "bench", "LAB=vector_add", "STAGE=02", "BACKEND=cpu", "GPU=voodoo"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode != 0 and "does not know the GPU voodoo" in result.stderr


def test_the_error_for_an_unknown_gpu_lists_the_known_ones() -> None:
    result = bench(ROOT / "solutions/vector_add/02_grid_stride.cu", "--gpu", "voodoo")
    assert result.returncode == 2
    assert "does not know the GPU voodoo. Choose one of a100, h100, h200, rtx3090, rtx4090, t4, v100." in result.stderr
