"""The sanitizer on the labs: it finds nothing in solutions, names the line in wrong submissions, and its counters show
the effect of the stages' techniques."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.labs import wrong
from tests.labs.conftest import BACKEND, BUILD, EVERY_STAGE, NOT_MODELLED, ROOT, labs, stages
from tests.python.test_schemas import violations
from tests.share import THOROUGH, share_of

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is part of the CPU backend")


def inspect(lab: str, stage: str, source: Path, folder: Path, *options: str) -> tuple[int, dict]:
    """Return the exit status and the JSON of `build/warplab inspect`. Without options, nothing is compiled with nvcc
    and, except with WARPLAB_THOROUGH=1, nothing is modelled."""
    report = folder / f"{stage}.json"
    command = [BUILD / "warplab", "inspect", lab, stage, "--source", source, "--json", report]
    command += options or ["--no-nvcc", *(() if THOROUGH else NOT_MODELLED)]
    process = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, errors="replace")
    assert report.exists(), process.stdout + process.stderr
    inspection = json.loads(report.read_text())
    assert violations("inspection", inspection) == []
    return process.returncode, inspection


def inspect_solution(lab: str, stage: str, folder: Path) -> dict:
    return inspect(lab, stage, ROOT / "solutions" / lab / f"{stage}.cu", folder)[1]


@pytest.mark.parametrize(("lab", "stage"), share_of(EVERY_STAGE, lambda row: row[0], "/".join, 3))
def test_solutions_have_no_finding_and_stay_within_their_limits(lab: str, stage: str, tmp_path: Path) -> None:
    report = inspect_solution(lab, stage, tmp_path)
    assert [limit for limit in report["limits"] if not limit["held"]] == []
    assert report["datasets"] > 0
    assert [finding for finding in report["findings"] if not finding["note"]] == []


def earlier_stages() -> list:
    """Return cases of a lab, a stage that limits a counter, and an earlier stage.

    A lab's only case is its last such stage, with the previous stage. With WARPLAB_THOROUGH=1, every such stage has a
    case with the previous stage, and one with the first stage.
    """
    cases = []
    for lab in labs():
        ids = stages(lab)
        manifest = json.loads((ROOT / "labs" / lab / "lab.json").read_text())
        numbers = [number for number, stage in enumerate(manifest["stages"]) if stage.get("counters")]
        for number in numbers if THOROUGH else numbers[-1:]:
            earlier = {ids[0], ids[number - 1]} if THOROUGH else {ids[number - 1]}
            cases += [(lab, ids[number], stage) for stage in sorted(earlier)]
    return cases


@pytest.mark.parametrize(("lab", "stage", "earlier"), earlier_stages())
def test_an_earlier_stage_exceeds_a_limit(lab: str, stage: str, earlier: str, tmp_path: Path) -> None:
    """An earlier stage passes every dataset (or breaks a rule of this stage), but lacks this stage's technique."""
    status, report = inspect(lab, stage, ROOT / "solutions" / lab / f"{earlier}.cu", tmp_path)
    broken = [limit for limit in report["limits"] if not limit["held"]]
    assert status == (0 if report["passed"] else 1)  # as for check: a missing technique is a note
    assert broken or not report["passed"]
    assert all(limit["message"].startswith("Technique not used, or needless work: ") for limit in broken)


def wrong_submissions() -> list:
    entries = []
    for lab in labs():
        for entry in wrong.entries(lab):
            if "inspect" in entry:
                entries.append(pytest.param(lab, entry, id=f"{lab}/{Path(entry['file']).stem}"))
    return entries


def sample_wrong_submissions() -> list:
    """Return a share of the wrong submissions of each cause."""
    return share_of(wrong_submissions(), lambda row: row.values[1]["inspect"][0], lambda row: row.id, 20)


@pytest.mark.parametrize(("lab", "entry"), sample_wrong_submissions())
def test_a_wrong_submission_is_found_with_its_line(lab: str, entry: dict, tmp_path: Path) -> None:
    status, report = inspect(lab, entry["stage"], wrong.source_of(lab, entry["file"], tmp_path), tmp_path)
    assert status == 1
    assert entry["inspect"] in [[finding["cause"], finding["line"]] for finding in report["findings"]], report[
        "findings"
    ]


def total(report: dict, memory: str, counter: str, atomic: bool = False) -> int:
    counts = [count for count in report["counts"] if count["memory"] == memory and count["atomic"] == atomic]
    return sum(count[counter] for count in counts)


def test_sequential_addressing_keeps_lanes_busy(tmp_path: Path) -> None:
    interleaved = inspect_solution("dot_product", "02_dyadic_interleaved", tmp_path)
    sequential = inspect_solution("dot_product", "03_dyadic_sequential", tmp_path)
    before, after = total(interleaved, "shared", "requests"), total(sequential, "shared", "requests")
    assert after < before / 2  # the same additions, in warps with few idle lanes


def test_a_tile_saves_sectors_of_device_memory(tmp_path: Path) -> None:
    direct = inspect_solution("smoothing_filter", "02_constant_filter", tmp_path)
    tiled = inspect_solution("smoothing_filter", "04_tile_parallel", tmp_path)
    assert total(tiled, "device", "sectors") < total(direct, "device", "sectors") / 4


def test_shared_bins_save_atomics_on_device_memory(tmp_path: Path) -> None:
    direct = inspect_solution("image_histogram", "01_global_atomics", tmp_path)
    shared = inspect_solution("image_histogram", "03_shared_bins", tmp_path)
    assert total(direct, "shared", "requests", atomic=True) == 0
    assert total(shared, "shared", "requests", atomic=True) > 10 * total(shared, "device", "requests", atomic=True)


def kernel(report: dict, name: str) -> dict:
    return next(kernel for kernel in report["kernels"] if kernel["kernel"].startswith(name))


def test_kernels_are_described_as_they_were_launched(tmp_path: Path) -> None:
    shape = kernel(inspect_solution("dot_product", "02_dyadic_interleaved", tmp_path), "dot_product_kernel")
    assert shape["block"] == [256, 1, 1]
    assert (shape["static_shared_bytes"], shape["dynamic_shared_bytes"]) == (256 * 4, 0)
    assert 0 < shape["launches"] <= shape["blocks"]
    shape = kernel(inspect_solution("image_histogram", "05_private_bins", tmp_path), "image_histogram_kernel")
    assert shape["static_shared_bytes"] + shape["dynamic_shared_bytes"] == 32 * 256 * 4 + 1


def test_registers_and_shared_memory_limit_the_occupancy(tmp_path: Path) -> None:
    source = ROOT / "solutions/image_histogram/05_private_bins.cu"
    small = inspect("image_histogram", "05_private_bins", source, tmp_path, "--gpu", "rtx 2080")[1]
    large = inspect("image_histogram", "05_private_bins", source, tmp_path, "--gpu", "B200")[1]
    few, many = (kernel(report, "image_histogram_kernel") for report in (small, large))
    assert (small["gpu"]["name"], few["limit"], few["resident_blocks"]) == ("RTX 2080", "shared memory", 1)
    assert many["resident_blocks"] > few["resident_blocks"]
    assert (few["registers"] or 0) > 0 or not shutil.which("nvcc")


def test_an_unknown_gpu_is_refused_with_a_list_of_the_known_ones() -> None:
    command = [str(BUILD / "warplab"), "inspect", "dot_product", "01", "--tree", "solutions", "--gpu", "RTX 308"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 2
    assert "RTX 3080" in process.stderr and "H200" in process.stderr


def test_counted_bytes_are_those_that_the_source_requests(tmp_path: Path) -> None:
    """Each element counts once, in whole sectors for small datasets. All blocks count, not only inspected blocks."""
    once = inspect_solution("vector_add", "01_one_thread_per_element", tmp_path)
    assert 1 <= once["device_bytes"] / once["least_bytes"] < 1.1
    naive = inspect_solution("smoothing_filter", "01_naive", tmp_path)
    assert naive["device_bytes"] / naive["least_bytes"] > 10


HEAT = """#include "labs/heat_dissipation/lab.h"
__global__ void spoil(double* field, std::size_t count) {
    field[count] = 0;
    field[-1] = 0;
}
std::size_t heat_dissipation_scratch_bytes(std::size_t, std::size_t, std::size_t) { return 8; }
HeatState heat_dissipation(double* current, double*, const double*, std::size_t rows, std::size_t columns, double,
                           std::size_t, void*) {
    spoil<<<1, 1>>>(current, (rows + 2) * (columns + 2));
    return {current, 0, 0};
}
"""
HEAT_SCRATCH = """#include "labs/heat_dissipation/lab.h"
__global__ void clear(double* changes, std::size_t rows, std::size_t columns) {
    for (std::size_t i = 0; i < rows; ++i) changes[i * columns] = 0;
}
std::size_t heat_dissipation_scratch_bytes(std::size_t rows, std::size_t columns, std::size_t) {
    return rows * columns;
}
HeatState heat_dissipation(double* current, double*, const double*, std::size_t rows, std::size_t columns, double,
                           std::size_t, void* scratch) {
    clear<<<1, 1>>>(static_cast<double*>(scratch), rows, columns);
    return {current, 0, 0};
}
"""
FAR = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out) {
    out[threadIdx.x + (std::size_t{1} << 36)] = a[0] + b[0];
}
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n) add<<<1, 32>>>(a, b, out);
}
"""
IN_PREPARE = """#include "labs/smoothing_filter/lab.h"
__constant__ float weights[25];
void smoothing_filter_prepare(int, int, const float* filter) { weights[0] = filter[0]; }
__global__ void smooth(const float* image, float* out) { out[0] = weights[0] * image[0]; }
void smoothing_filter(const float* image, float* out, int, int, const float*, void*) { smooth<<<1, 1>>>(image, out); }
"""
HOST = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[i] + b[i];
}
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) { add<<<1, 256>>>(a, b, out, n); }
void vector_add_host(const float* a, const float*, float* out, std::size_t n) {
    float* copy;
    cudaMalloc(&copy, n * sizeof out + 4);
    cudaMemcpy(copy, a, n * sizeof(float) + 4, cudaMemcpyHostToDevice);
    cudaMemcpy(out, copy, n * sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(copy);
}
"""
MESSAGES = [
    ("vector_add", "01_one_thread_per_element", HOST, 9, "the source is too small"),
    ("vector_add", "01_one_thread_per_element", HOST, 10, "the destination is too small"),
    ("heat_dissipation", "01_separate_mirror", HEAT, 3, " of current, which has only "),
    ("heat_dissipation", "01_separate_mirror", HEAT, 4, "Kernel spoil writes element -1 of current, "),
    # The first element beyond scratch is nearer to `current`, which follows it.
    ("heat_dissipation", "01_separate_mirror", HEAT_SCRATCH, 3, "element 405 of scratch, which has only 393 elements"),
    ("vector_add", "01_one_thread_per_element", FAR, 3, "Kernel add writes an address far from all memory"),
    ("smoothing_filter", "02_constant_filter", IN_PREPARE, 3, "Host code writes element 0 of the device variable"),
]


@pytest.mark.parametrize(("lab", "stage", "text", "line", "words"), MESSAGES, ids=lambda value: str(value)[:20])
def test_the_message_of_a_finding_names_the_memory_and_the_element(
    lab: str, stage: str, text: str, line: int, words: str, tmp_path: Path
) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text(text)
    findings = inspect(lab, stage, source, tmp_path)[1]["findings"]
    assert [finding for finding in findings if finding["line"] == line and words in finding["message"]], findings


ROUNDED_DOWN = """#include "labs/vector_add/lab.h"
__global__ void add(const float* a, const float* b, float* out) {
    std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}
void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n >= 256) add<<<n / 256, 256>>>(a, b, out);
}
"""


def test_the_first_wrong_dataset_comes_with_its_hint(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text(ROUNDED_DOWN)
    command = [BUILD / "warplab", "inspect", "vector_add", "01_one_thread_per_element", "--dataset", "above_block"]
    command += ["--source", source, "--no-nvcc"]
    output = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True).stdout
    assert "Hint: Round the number of blocks up" in output, output


def test_after_a_deadlock_no_other_dataset_runs() -> None:
    source = ROOT / "tests/corpus/dot_product/01_flag_nobody_sets.cu"
    command = [BUILD / "warplab", "inspect", "dot_product", "01", "--source", source, "--no-nvcc"]
    output = " ".join(subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True).stdout.split())
    assert "under the sanitizer on 1 dataset " in output and "It fails on course: Deadlock" in output, output
    assert "Not run after that: below_block, whole_block," in output, output
