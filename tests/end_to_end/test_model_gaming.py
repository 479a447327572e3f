"""Attempts to make slow code look fast to the model. Each file solves vector_add's second stage and is slow on a GPU,
except for "an idle launch before short work".

A file in CLOSED must get no modelled time, or a slow one. A file in OPEN still gets a fast one, and the model's README
lists it. If a change of the model detects a file in OPEN, its test fails: then correct the README.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.labs.conftest import BUILD, ROOT
from tests.share import THOROUGH, share_of

FRAME = """#include "labs/vector_add/lab.h"
{before}
__global__ void add(const float* a, const float* b, float* out, std::size_t n, unsigned turns) {{
    const std::size_t first = std::size_t{{blockIdx.x}} * blockDim.x + threadIdx.x;
    {kernel}
}}
std::size_t vector_add_scratch_bytes(std::size_t) {{ return 0; }}
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {{
    if (n == 0) return;
    constexpr unsigned turns = 2000;
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    {host}
    CUDA_CHECK(cudaGetLastError());
}}
"""
# A long computation without effect, written so that the compiler cannot remove it.
WASTE = """for (unsigned k = 0; k < turns && {when}; ++k) state = state * 1664525u + k;
    if (state == turns && sum == 3.25e37f) sum = 0;"""
SIMPLE = """if (first >= n) return;
    float sum = a[first] + b[first];
    unsigned state = threadIdx.x;
    """
LAUNCH = "add<<<blocks, 256>>>(a, b, out, n, turns);"
STORE = " out[first] = sum;"


def waste_time(when: str, host: str = LAUNCH, before: str = "") -> str:
    """Return a program that wastes time if a condition holds."""
    kernel = SIMPLE + WASTE.format(when=when) + STORE
    return FRAME.format(kernel=kernel, host=host, before=before)


BY_MACRO = """#ifdef __WARPLAB_CPU__
constexpr bool on_gpu = false;
#else
constexpr bool on_gpu = true;
#endif"""
BY_DIGRAPH = BY_MACRO.replace("#ifdef", "%:ifdef")
BEHIND_MACRO = "#define HERE __WARPLAB_CPU__\n#if HERE\n" + BY_MACRO.split("\n", 1)[1]
MACROS_TEXT = """#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
constexpr bool on_gpu = TEXT_OF(__WARPLAB_CPU__)[0] == '_';"""
MACROS_NAME = """#define NAME(x) on_gpu_##x
#define NAME_OF(x) NAME(x)
constexpr bool on_gpu_1 = false, on_gpu___WARPLAB_CPU__ = true, on_gpu = NAME_OF(__WARPLAB_CPU__);"""
ONE_BLOCK_WORKS = """if (blockIdx.x == 0)
        for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[i] + b[i];"""
ONE_THREAD_WORKS = "if (first == 0)\n        for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];"
LAST_BLOCK_WORKS = ONE_BLOCK_WORKS.replace("blockIdx.x == 0", "blockIdx.x == gridDim.x - 1")
LATER_CALLS = "static int calls = 0;\n    add<<<blocks, 256>>>(a, b, out, n, ++calls > 1 ? turns : 0);"

CLOSED = {
    "a different program on a GPU": waste_time("on_gpu", before=BY_MACRO),
    "a different program, by a digraph": waste_time("on_gpu", before=BY_DIGRAPH),
    "a different program, by a condition in a macro": waste_time("on_gpu", before=BEHIND_MACRO),
    "a different program, by a macro's text": waste_time("on_gpu", before=MACROS_TEXT),
    "a different program, by a macro as a name": waste_time("on_gpu", before=MACROS_NAME),
    "the first block does all the work": FRAME.format(kernel=ONE_BLOCK_WORKS, host=LAUNCH, before=""),
    "the last block does all the work": FRAME.format(kernel=LAST_BLOCK_WORKS, host=LAUNCH, before=""),
    "one thread does all the work": FRAME.format(kernel=ONE_THREAD_WORKS, host=LAUNCH, before=""),
    "every fifth block wastes time": waste_time("blockIdx.x % 5 == 0"),
    "a launch like the first one": waste_time("true", f"add<<<blocks, 256>>>(a, b, out, n, 0);\n    {LAUNCH}"),
    "an idle launch before short work": waste_time("false", f"add<<<blocks, 256>>>(a, b, out, 0, 0);\n    {LAUNCH}"),
    "the last lane of each warp": waste_time("threadIdx.x % 32 == 31"),
    "blocks chosen by their data": waste_time("a[first / 256 * 256] > 0"),
}


def bench_program(folder: Path, text: str, lab: str = "vector_add", stage: str = "02") -> str:
    """Return the output of `bench` for a program."""
    (folder / "file.cu").write_text(text)
    command = [str(BUILD / "warplab"), "bench", lab, stage, "--backend", "cpu", "--no-check-mode"]
    command += ["--no-nvcc", "--source", str(folder / "file.cu")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return " ".join(result.stdout.split())


def ratio_in(output: str) -> float | None:
    match = re.search(r"yours is ([\d.]+) times as long", output)
    return float(match[1]) if match else None


@pytest.mark.parametrize("attempt", share_of(list(CLOSED), lambda _: "", str, 6))
def test_a_closed_attempt_looks_slow_or_is_not_modelled(tmp_path: Path, attempt: str) -> None:
    output = bench_program(tmp_path, CLOSED[attempt])
    ratio = ratio_in(output)
    assert "No modelled time" in output if ratio is None else ratio > 3, output


def test_idle_launches_before_the_work_are_detected(tmp_path: Path) -> None:
    """The work begins after more than 64 idle launches. From then on, the model counts only one block of a launch."""
    solution = (ROOT / "solutions/heat_dissipation/01_separate_mirror.cu").read_text()
    idle = """for (int i = 0; max_iterations > 100 && i < 66; ++i) {
        update_kernel<<<grid, block>>>(current, next, conductivity, changes, 0, 0);
        mirror_kernel<<<line_blocks, line_threads>>>(next, 0, 0);
        reduce_rows_kernel<<<static_cast<unsigned>(rows), line_threads>>>(changes, 0);
        reduce_column_kernel<<<1, line_threads>>>(changes, 0, 0);
    }
    while (state.iterations < max_iterations) {"""
    program = solution.replace("while (state.iterations < max_iterations) {", idle)
    assert "do very different amounts of work" in bench_program(tmp_path, program, "heat_dissipation", "08")


@pytest.mark.skipif(not THOROUGH, reason="models six calls: WARPLAB_THOROUGH=1")
def test_at_least_one_of_six_runs_detects_slow_later_calls(tmp_path: Path) -> None:
    """The traced call is drawn from four, so chance decides whether a run detects that only the first call is fast."""
    ratios = (ratio_in(bench_program(tmp_path, waste_time("true", LATER_CALLS))) for _ in range(6))
    assert any(ratio is None or ratio > 3 for ratio in ratios), "the program looked fast in all six runs"


OPEN = {
    "one block among thousands": waste_time("blockIdx.x == 30011 && n > 10000000"),
    "the driver is absent": waste_time(
        "true",
        'std::FILE* const driver = std::fopen("/proc/driver/nvidia/version", "r");\n'
        "    if (driver) std::fclose(driver);\n    add<<<blocks, 256>>>(a, b, out, n, driver ? turns : 0);",
        "#include <cstdio>",
    ),
    "calls after the hundredth": waste_time(
        "true",
        LATER_CALLS.replace("> 1 ?", "> 100 ?"),
    ),
}


@pytest.mark.parametrize("attempt", share_of(list(OPEN), lambda _: "", str, 6))
def test_an_open_attempt_still_looks_fast(tmp_path: Path, attempt: str) -> None:
    ratio = ratio_in(bench_program(tmp_path, OPEN[attempt]))
    assert ratio is not None and ratio < 2
