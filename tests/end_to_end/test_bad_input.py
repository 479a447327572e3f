"""Bad hand-ins get one clear message: the right cause, the place, what to try next, the right exit status, and no
internal names."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.cases import COMPILING, CONTRACT, FILES, RUNNING, Case, program
from tests.labs.conftest import BUILD, ROOT, check
from tests.share import THOROUGH, share_of

STAGE = "02_grid_stride"


def sample_bad_hand_ins() -> list[Case]:
    """Return a share of FILES, of COMPILING and of RUNNING; with ONLY or WARPLAB_THOROUGH, return all cases."""
    return [case for group in (FILES, COMPILING, RUNNING) for case in share_of(group, type, str, 8)]


def write(case: Case, folder: Path) -> Path:
    """Write the case to a file with the case's name, and return the file."""
    source = folder / f"{case.name}.cu"
    source.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    return source


@pytest.mark.parametrize("case", sample_bad_hand_ins(), ids=str)
def test_a_bad_hand_in_gets_one_clear_message(case: Case, tmp_path: Path) -> None:
    result = check("vector_add", STAGE, write(case, tmp_path), tmp_path, "--dataset", case.dataset)
    for internal in ("build/cache", "student.c", "Traceback"):
        assert internal not in result.output
    assert len(result.output) < 100_000
    if not case.cause:
        assert result.status in (0, 1), result.output
        return
    first = result.failures()[0]
    assert result.status == 1, result.output
    assert first["cause"] == case.cause, result.output
    words = (first["message"] + " " + first["hint"] + " " + result.stage["compilation"]["log"]).lower()
    for expected in case.words:
        assert expected.lower() in words, result.output


def test_a_file_larger_than_any_hand_in_is_not_read(tmp_path: Path) -> None:
    """A sparse file uses no disk space, but reading it would fill the judge's memory."""
    source = tmp_path / "sparse.cu"
    with source.open("wb") as file:
        file.truncate(1 << 42)
    result = check("vector_add", STAGE, source, tmp_path)
    assert result.failures()[0]["cause"] == "compile_error", result.output
    assert "a hand-in may have at most" in result.output


def grade_without_gpu(source: Path, folder: Path, *options: str) -> dict:
    """Return the stage's report. Skip the test if it needs nvcc and nvcc is missing."""
    command = [BUILD / "warplab", "grade", "vector_add", STAGE, "--source", source, "--backend", "cpu", "--unsafe"]
    command += ["--report-dir", folder, "--no-cuda-only", *options]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    stage = json.loads((folder / "vector_add.json").read_text())["stages"][0]
    if stage["compilation"]["nvcc"]["answer"] == "not_found":
        pytest.skip("nvcc is missing")
    return stage


def test_a_race_that_split_kernels_hide_is_found_with_fibers(tmp_path: Path) -> None:
    """A split kernel treats __syncwarp() as a barrier of the block, which hides this race; fibers do not."""
    kernel = (
        "__shared__ float s[256]; s[threadIdx.x] = i < n ? a[i] + b[i] : 0; __syncwarp(); "
        "const std::size_t other = i - threadIdx.x + (threadIdx.x ^ 128); "
        "if (other < n) out[other] = s[threadIdx.x ^ 128];"
    )
    (source := tmp_path / "warps.cu").write_text(program(kernel=kernel))
    result = check("vector_add", STAGE, source, tmp_path)
    causes = {entry["dataset"]: (entry["failure"] or {}).get("cause") for entry in result.stage["checks"]}
    assert causes["ragged"] == "race", result.output


def test_chance_does_not_decide_the_points_of_a_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block adds 1 without an atomic, and takes long: additions are lost only if blocks run at the same time."""
    monkeypatch.setenv("WARPLAB_THREADS", "2")
    kernel = (
        "if (i < n) out[i] = a[i] + b[i]; if (threadIdx.x > 0) return; "
        "const unsigned old = blocks; unsigned spent = 1; for (unsigned k = 0; k < 20000; ++k) spent = spent * 3 + k; "
        "blocks = old + (spent == 0 ? 2 : 1);"
    )
    before = (
        "__device__ unsigned blocks; "
        "__global__ void check(float* out, unsigned all) { if (blocks != all) out[0] = -1; blocks = 0; }"
    )
    launch = (
        "const unsigned all = unsigned((n + 255) / 256); add_kernel<<<all, 256>>>(a, b, out, n); "
        "check<<<1, 1>>>(out, all);"
    )
    (source := tmp_path / "lost.cu").write_text(program(kernel=kernel, launch=launch, before=before))
    stage = grade_without_gpu(source, tmp_path, "--no-nvcc")
    assert "race" in [entry["cause"] for entry in stage["check_mode"]["findings"]]
    assert [entry for entry in stage["checks"] if entry["verdict"] == "failed"] == []


ARCHITECTURE = "struct S {\n#ifdef __CUDA_ARCH__\n    int a;\n#endif\n    int b;\n};"
UNSUPPORTED = {
    "inline PTX": ("", 'asm volatile("membar.gl;");'),
    "__CUDA_ARCH__ in a struct": (ARCHITECTURE, "S s; s.b = 1;"),
}


@pytest.mark.parametrize("feature", UNSUPPORTED)
@pytest.mark.parametrize("nvcc", ["left out", "compiles it", "refuses it"])
def test_points_are_pending_if_only_the_cpu_backend_refuses_a_file(nvcc: str, feature: str, tmp_path: Path) -> None:
    mistake = "threadIdx.w;" if nvcc == "refuses it" else ""
    before, kernel = UNSUPPORTED[feature]
    (source := tmp_path / "unsupported.cu").write_text(program(before=before, kernel=f"{kernel} {mistake} out[i] = 0;"))
    command = [BUILD / "warplab", "grade", "vector_add", STAGE, "--source", source, "--backend", "cpu", "--unsafe"]
    command += ["--report-dir", tmp_path] + (["--no-nvcc"] if nvcc == "left out" else [])
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    stage = json.loads((tmp_path / "vector_add.json").read_text())["stages"][0]
    if stage["compilation"]["nvcc"]["answer"] == "not_found":
        pytest.skip("nvcc is missing")
    assert (stage["verdict"], stage["compilation"]["failure"]["cause"]) == ("failed", "refused_feature")
    pending = nvcc != "refuses it"
    assert [stage["score"][f"{kind}_pending"] for kind in ("correctness", "hygiene", "speed")] == [pending] * 3
    assert stage["score"]["total"] == 0
    reason = "grading on a GPU decides, because the CPU backend refuses the file"
    assert (reason in " ".join(result.stdout.split())) == pending


@pytest.mark.parametrize("nvcc", ["left out", "compiles it", "refuses it"])
def test_a_gpu_decides_a_file_that_only_nvcc_compiles(nvcc: str, tmp_path: Path) -> None:
    mistake = "threadIdx.w;" if nvcc == "refuses it" else ""
    needs_nvcc = "#ifndef __CUDACC_VER_BUILD__\n#error not nvcc\n#endif"
    (source := tmp_path / "needs_nvcc.cu").write_text(program(before=needs_nvcc, kernel=f"{mistake} out[i] = 0;"))
    stage = grade_without_gpu(source, tmp_path, *["--no-nvcc"] * (nvcc == "left out"))
    pending = nvcc == "compiles it"
    assert stage["compilation"]["failure"]["cause"] == ("refused_feature" if pending else "compile_error")
    assert "not nvcc" in stage["compilation"]["failure"]["message"]
    assert stage["score"]["total"] == 0
    assert [stage["score"][f"{kind}_pending"] for kind in ("correctness", "hygiene", "speed")] == [pending] * 3


def test_a_file_that_does_not_link_fails_although_nvcc_compiles_it(tmp_path: Path) -> None:
    (source := tmp_path / "unlinked.cu").write_text(program(before="void helper();", host="helper();"))
    stage = grade_without_gpu(source, tmp_path)
    assert stage["compilation"]["failure"]["cause"] == "compile_error"
    assert not stage["score"]["correctness_pending"]


def test_a_gpu_does_not_decide_a_file_without_the_labs_function(tmp_path: Path) -> None:
    (source := tmp_path / "nameless.cu").write_text("#ifndef __CUDACC_VER_BUILD__\n#error not nvcc\n#endif\n")
    stage = grade_without_gpu(source, tmp_path)
    assert stage["compilation"]["failure"]["cause"] == "compile_error"
    assert not stage["score"]["correctness_pending"]


def test_the_host_function_must_use_the_device(tmp_path: Path) -> None:
    source = tmp_path / "host.cu"
    host = CONTRACT.replace("vector_add(", "vector_add_host(").replace(", void*", "")
    source.write_text(program() + host + " { for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i]; }\n")
    result = check("vector_add", "01", source, tmp_path, "--dataset", "readable")
    assert result.status == 1, result.output
    first = result.failures()[0]
    assert first["cause"] == "not_launched"
    assert "In vector_add_host" in first["message"]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        *([("replay", "timed_output_wrong"), ("last_slots", "timed_output_wrong")] if THOROUGH else []),  # 10 s each
        ("answers_early", "protocol"),
        ("own_clock", "reserved_symbol"),
    ],
)
def test_forged_submission_is_caught(name: str, cause: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    source = ROOT / "tests/judge/bench/forged" / f"{name}.cu"
    command = [BUILD / "warplab", "bench", "vector_add", "02", "--source", source, "--force", "--backend", "cpu"]
    result = subprocess.run([*command, "--json", report], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    stage = json.loads(report.read_text())["stages"][0]
    failures = [stage["compilation"]["failure"], *(check["failure"] for check in stage["checks"])]
    causes = {failure["cause"] for failure in failures if failure}
    assert cause in causes and causes <= {cause, "timed_output_wrong"}, result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "vector_ad", "01"], 'Did you mean "vector_add"'),
        (["check", "vector_add", "9"], "01_one_thread_per_element"),
        (["check", "vector_add", "01", "--dataset", "readble"], "readable"),
        (["check", "vector_add", "01", "--backend", "gpu"], "cuda or cpu"),
        (["check", "vector_add", "--source", "x.cu"], "STAGE"),
        (["check"], "LAB"),
        (["list", "vector_ad"], 'Did you mean "vector_add"'),
        (["grade", "vector_add", "--tree", "nowhere"], "There is no folder nowhere"),
        (["check", "vector_add", "01", "--source", "nowhere.cu"], "There is no file nowhere.cu"),
        (["check", "vector_add", "01", "--source", "labs"], "labs is a folder"),
        (["chekc", "vector_add"], 'Did you mean "check"'),
        (["frobnicate"], "--help"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_wrong_arguments_get_a_short_message(arguments: list[str], message: str) -> None:
    result = subprocess.run([BUILD / "warplab", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2, result.stdout + result.stderr
    assert message in result.stdout + result.stderr
    assert len(result.stderr.splitlines()) <= 6
