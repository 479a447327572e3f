"""Messages about mistakes that need more than a small change of a reference solution."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.labs import wrong
from tests.labs.conftest import BACKEND, BUILD, ROOT, check
from tests.labs.test_inspect import inspect

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is part of the CPU backend")

STAGE = "01_one_thread_per_element"
ADD = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
void vector_add_host(const float*, const float*, float*, std::size_t) {}
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
"""
CREATED_IN_EACH_CALL = """    cudaStream_t stream;
    cudaEvent_t done;
    cudaStreamCreate(&stream);
    cudaEventCreate(&done);
    add<<<(n + 255) / 256, 256, 0, stream>>>(a, b, out, n);
    cudaEventRecord(done, stream);
    cudaEventSynchronize(done);
"""
DESTROYED = CREATED_IN_EACH_CALL + "    cudaEventDestroy(done);\n    cudaStreamDestroy(stream);\n"
CREATED_ONCE = (
    CREATED_IN_EACH_CALL.replace("cudaStream_t stream", "static cudaStream_t stream")
    .replace("cudaEvent_t done", "static cudaEvent_t done")
    .replace("cudaStreamCreate(", "if (!stream) cudaStreamCreate(")
    .replace("cudaEventCreate(", "if (!done) cudaEventCreate(")
)


LAUNCH = "    add<<<(n + 255) / 256, 256>>>(a, b, out, n);\n}\n"


def findings(body: str, folder: Path) -> list[tuple[str, int]]:
    source = folder / "vector_add.cu"
    source.write_text(ADD + body + "}\n")
    return [
        (finding["cause"], finding["line"]) for finding in inspect("vector_add", STAGE, source, folder)[1]["findings"]
    ]


def test_streams_and_events_that_each_call_creates_are_findings(tmp_path):
    assert findings(CREATED_IN_EACH_CALL, tmp_path) == [("not_destroyed", 11), ("not_destroyed", 12)]


@pytest.mark.parametrize("body", [DESTROYED, CREATED_ONCE], ids=["destroyed", "created_once"])
def test_streams_and_events_that_are_destroyed_or_kept_are_not_findings(body, tmp_path):
    assert findings(body, tmp_path) == []


HANDLED_ERROR = """    add<<<1, 4096>>>(a, b, out, n);
    cudaGetLastError();
    add<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaEventRecord(nullptr));
"""


def test_a_message_does_not_repeat_the_words_of_a_handled_error(tmp_path):
    source = tmp_path / "vector_add.cu"
    source.write_text(ADD + HANDLED_ERROR + "}\n")
    result = check("vector_add", STAGE, source, tmp_path, "--no-check-mode", "--dataset", "above_block")
    failure = result.failures()[0]
    assert "cudaEventRecord" in failure["message"]
    assert "4096" not in failure["message"] + failure["hint"]


def test_inspect_lists_the_datasets_that_it_omitted():
    command = [BUILD / "warplab", "inspect", "vector_add", STAGE, "--tree", "solutions", "--no-nvcc"]
    outputs = [
        subprocess.run([*map(str, command), *more], cwd=ROOT, capture_output=True, text=True).stdout
        for more in ([], ["--dataset", "one"])
    ]
    words = " ".join(outputs[0].split())
    assert "Not inspected: readable, ragged (too large; DATASET=NAME inspects a single dataset)." in words
    assert "Not inspected" not in outputs[1]


def test_a_swapped_grid_and_block_are_found_as_on_a_large_gpu(tmp_path):
    """The sanitizer finds a swapped launch; the test of all wrong submissions runs without the sanitizer."""
    source = wrong.source_of("vector_add", "02_blocks_and_threads_swapped.patch", tmp_path)
    result = check("vector_add", "02", source, tmp_path)
    failure = result.failures()[0]
    assert failure["cause"] == "launch_failed"
    assert failure["message"].startswith("On a GPU with 132 multiprocessors, such as an H100: ")
    assert "are the two swapped?" in failure["hint"]


def test_a_loop_that_keeps_only_its_last_value_is_found_as_on_a_small_gpu(tmp_path):
    solution = (ROOT / "solutions/heat_dissipation/03_shared_maxdiff.cu").read_text()
    source = tmp_path / "03_last_change_kept.cu"
    source.write_text(solution.replace("largest = std::fmax(largest, std::fabs", "largest = (std::fabs"))
    failure = check("heat_dissipation", "03", source, tmp_path).failures()[0]
    assert failure["cause"] == "lost_maximum"
    assert failure["message"].startswith("On a GPU with 1 multiprocessor, where each thread has more elements: ")


def test_an_int_that_counts_elements_is_noted_if_a_skipped_dataset_exceeds_it(tmp_path):
    source = tmp_path / "vector_add.cu"
    for index, noted in (
        ("int i = blockIdx.x * blockDim.x", True),
        ("int i = blockDim.x * blockIdx.x", True),
        ("int i = std::size_t{blockIdx.x} * blockDim.x", True),
        ("std::size_t i = blockIdx.x * 256ull", False),
    ):
        source.write_text(ADD.replace("std::size_t i = std::size_t{blockIdx.x} * blockDim.x", index) + LAUNCH)
        notes = check("vector_add", "02_grid_stride", source, tmp_path, "--no-check-mode").stage["notes"]
        assert any("Line 3: i is an int" in note and "beyond_int" in note for note in notes) == noted


def test_the_sanitizer_runs_the_dataset_that_fails_without_a_cause(tmp_path):
    """By default, it omits large datasets, and only one of these reaches the second kernel."""
    source = wrong.source_of("dot_product", "04_arguments_swapped.patch", tmp_path)
    result = check("dot_product", "04_dyadic_cpu_tail", source, tmp_path)
    (failure,) = result.failures()
    assert failure["cause"] == "uninitialised"
    assert "add_kernel reads element 3907 of scratch" in failure["message"]


def test_a_vector_that_only_reserves_memory_explains_an_output_of_0(tmp_path):
    source = wrong.source_of("dot_product", "04_reserved_not_resized.patch", tmp_path)
    failure = check("dot_product", "04_dyadic_cpu_tail", source, tmp_path).failures()[0]
    assert failure["message"].startswith("Line 68: cudaMemcpy: the destination is too small")


def test_a_grid_that_is_too_small_is_named_with_its_line(tmp_path):
    """If there are several launches, the launch with the most threads is named."""
    source = tmp_path / "vector_add.cu"
    rounded_down = "    add<<<1, 32>>>(a, b, out, 0);\n    add<<<n / 64 + !(n / 64), 64>>>(a, b, out, n);\n}\n"
    source.write_text(ADD + rounded_down)
    result = check("vector_add", STAGE, source, tmp_path, "--no-check-mode", "--dataset", "above_block")
    failure = result.failures()[0]
    assert failure["cause"] == "tail_lost"
    assert failure["message"].endswith(" Line 10 launches 4 blocks of 64 threads.")


def test_a_function_without_its_return_is_the_cause_of_a_crash(tmp_path):
    source = wrong.source_of("vector_add", "02_return_forgotten.patch", tmp_path)
    failure = check("vector_add", "02", source, tmp_path, "--dataset", "three").failures()[0]
    assert failure["message"].startswith("The function that begins at line 24 returns a value")


def grade(lab: str, stage: str, source: Path, folder: Path, *options: str) -> dict:
    """Return the stage's first failure when an instructor grades it."""
    command = [BUILD / "warplab", "grade", lab, stage, "--source", source, "--backend", "cpu", "--no-nvcc", "--unsafe"]
    subprocess.run([*map(str, command), "--report-dir", str(folder), *options], cwd=ROOT, capture_output=True)
    stages = json.loads((folder / f"{lab}.json").read_text())["stages"]
    return next(check["failure"] for check in stages[0]["checks"] if check["failure"])


def test_a_graded_function_without_its_return_is_named(tmp_path):
    """The graded program contains the sanitizer, and is compiled with other options."""
    source = wrong.source_of("vector_add", "02_return_forgotten.patch", tmp_path)
    failure = grade("vector_add", "02", source, tmp_path, "--dataset", "three")
    assert failure["cause"] == "missing_return"
    assert failure["message"].startswith("The function that begins at line 24 returns a value")


def test_a_division_by_zero_is_not_reported_as_a_missing_return(tmp_path):
    """The compiler warns about a return that is missing on a path that no call takes."""
    source = tmp_path / "vector_add.cu"
    text = ADD.replace(
        "if (n == 0) return;", "if (n == 0) return;\n    volatile int none = 0;\n    if (7 / none) return;"
    )
    source.write_text(text + LAUNCH + "int positive(int x) {\n    if (x > 0) return x;\n}\n")
    failure = check("vector_add", STAGE, source, tmp_path, "--no-check-mode", "--dataset", "three").failures()[0]
    assert failure["cause"] != "missing_return"
    assert "divided by zero" in failure["message"]


def test_an_index_beyond_scratch_is_not_reported_as_one_before_the_next_buffer(tmp_path):
    """The kernel has scratch, but not the bins, among its arguments."""
    source = ROOT / "solutions" / "image_histogram" / "04_reduced_partials.cu"
    copy = tmp_path / source.name
    text = source.read_text()
    copy.write_text(
        text.replace("partials[blockIdx.x * bin_count + bin] =", "partials[blockIdx.x + bin_count * bin] =")
    )
    assert copy.read_text() != text
    failure = check("image_histogram", "04", copy, tmp_path, "--dataset", "ragged").failures()[0]
    assert failure["cause"] == "out_of_bounds"
    assert " of scratch, which has only " in failure["message"]


def test_an_index_beyond_a_shared_array_is_not_reported_as_host_memory(tmp_path):
    """Only large datasets reach the wrong index, and the program crashes on these."""
    source = ROOT / "solutions" / "large_histogram" / "04_interleaved_shared.cu"
    copy = tmp_path / source.name
    text = source.read_text()
    copy.write_text(text.replace("window + (y * width + x) / 4", "window + (y * columns() + x) / 4"))
    assert copy.read_text() != text
    failure = check("large_histogram", "04", copy, tmp_path).failures()[0]
    assert failure["cause"] == "out_of_bounds"
    assert " of the shared variable window, which has only 11,776 elements" in failure["message"]


def edit_solution(lab: str, stage: str, old: str, new: str, folder: Path) -> Path:
    """Return a copy of a reference solution with one change."""
    (source,) = (ROOT / "solutions" / lab).glob(f"{stage}*.cu")
    text = source.read_text()
    assert old in text
    copy = folder / source.name
    copy.write_text(text.replace(old, new, 1))
    return copy


def test_an_index_beyond_scratch_explains_pixels_that_seem_to_be_counted_repeatedly(tmp_path):
    source = edit_solution("image_histogram", "04", "(blockIdx.x + half) *", "(blockIdx.x * half) *", tmp_path)
    failure = check("image_histogram", "04", source, tmp_path, "--dataset", "ragged").failures()[0]
    assert failure["cause"] == "out_of_bounds"
    assert "add_kernel reads element" in failure["message"]


def test_the_larger_grid_of_another_kernel_is_not_named(tmp_path):
    """The grid of the first kernel is rounded down; the kernel that reduces rows has the most threads."""
    source = edit_solution("heat_dissipation", "01", "(columns + BLOCK_X - 1) / BLOCK_X", "columns / BLOCK_X", tmp_path)
    failure = check("heat_dissipation", "01", source, tmp_path, "--no-check-mode", "--dataset", "plate").failures()[0]
    assert failure["cause"] == "tail_lost"
    assert "launches" not in failure["message"]


def test_one_block_is_not_named_if_its_threads_take_several_elements(tmp_path):
    slices = "(elements + BLOCK - 1) / BLOCK"
    source = edit_solution("saturating_histogram", "02", slices, "elements / BLOCK", tmp_path)
    result = check("saturating_histogram", "02", source, tmp_path, "--no-check-mode", "--dataset", "ragged")
    failure = result.failures()[0]
    assert failure["cause"] == "tail_lost"
    assert "launches" not in failure["message"]


def test_a_name_in_a_macro_is_found_on_its_own_line(tmp_path):
    source = tmp_path / "vector_add.cu"
    macro = "#define HERE (std::size_t{blockIdx.x} * blockDim.x \\\n    + thredIdx.x)\n"
    index = "std::size_t{blockIdx.x} * blockDim.x + threadIdx.x"
    source.write_text(macro + ADD.replace(index, "HERE") + LAUNCH)
    failure = check("vector_add", STAGE, source, tmp_path).stage["compilation"]["failure"]
    assert failure["hint"].endswith("It is in the macro HERE, on line 2.")


def test_wrong_elements_that_are_all_0_get_a_hint(tmp_path):
    source = tmp_path / "vector_add.cu"
    source.write_text(ADD.replace("a[i] + b[i]", "i * i % 7 == 1 ? 0 : a[i] + b[i]") + LAUNCH)
    failure = check("vector_add", STAGE, source, tmp_path, "--no-check-mode", "--dataset", "ragged").failures()[0]
    assert failure["hint"].startswith("All wrong elements are 0")


UNORDERED_NODES = """    const float* from[] = {a, b};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams zeros = {};
    zeros.dst = out;
    zeros.elementSize = 4;
    zeros.width = n;
    zeros.height = 1;
    cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros);
    void* arguments[] = {&from[0], &from[1], &out, &n};
    cudaKernelNodeParams launch = {};
    launch.func = (void*)add;
    launch.gridDim = dim3((n + 255) / 256);
    launch.blockDim = dim3(256);
    launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaStreamSynchronize(0);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}
"""


def test_graph_nodes_without_a_dependency_are_not_called_streams(tmp_path):
    source = tmp_path / "vector_add.cu"
    source.write_text(ADD + UNORDERED_NODES)
    (finding,) = inspect("vector_add", STAGE, source, tmp_path)[1]["findings"]
    assert (finding["cause"], finding["line"]) == ("unfinished_work", 4)
    assert "cudaGraphAddMemsetNode at line 19" in finding["message"]
    assert "no dependency orders the two nodes" in finding["message"]
    assert "stream" not in finding["message"] and "cudaGraphAddDependencies" in finding["hint"]


@pytest.mark.parametrize(
    ("lab", "submission", "dataset", "message", "hint"),
    [
        (
            "dot_product",
            "04_pointer_in_bytes.patch",
            "ragged",
            "The pointer that line 62 passes to kernel add_kernel points to element",
            "k counts elements, not bytes",
        ),
        (
            "dot_product",
            "01_products_by_grid_index.patch",
            "ragged",
            "index 256 of products",
            "this thread's number in the grid. Shared memory belongs to one block",
        ),
        (
            "saturating_histogram",
            "10_flat_block.patch",
            "ragged",
            "index 32 of sums",
            "uses threadIdx.y, but line 137 launches blocks of 1024 x 1 threads",
        ),
        (
            "saturating_histogram",
            "11_pitch_in_elements.patch",
            "ragged",
            "of input, which has only",
            "One access of this line takes 4 elements, so an index counts groups of 4",
        ),
        (
            "heat_dissipation",
            "01_block_of_columns_and_rows.patch",
            "plate",
            "launches with blocks of 8 x 32 threads, wrote elements 0 to 7 and 32 to 39",
            "Do the block and the grid of line",
        ),
    ],
)
def test_a_finding_is_explained_by_the_launch(lab, submission, dataset, message, hint, tmp_path):
    source = wrong.source_of(lab, submission, tmp_path)
    stage = next(entry["stage"] for entry in wrong.entries(lab) if entry["file"] == submission)
    failure = check(lab, stage, source, tmp_path, "--dataset", dataset).failures()[0]
    assert message in failure["message"], failure
    assert hint in failure["hint"], failure
