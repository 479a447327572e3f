"""The verbs as a student types them, with the real judge and a temporary work folder."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.end_to_end.cases import program
from tests.labs.conftest import BUILD, ROOT

LAB, STAGE = "vector_add", "02_grid_stride"
thorough = pytest.mark.skipif(not os.environ.get("WARPLAB_THOROUGH"), reason="takes 20 s: WARPLAB_THOROUGH=1 runs it")
SOLUTION = ROOT / "solutions" / LAB / f"{STAGE}.cu"


class Student:
    """A work folder in which a student types commands."""

    def __init__(self, work: Path):
        self.work = work
        self.file = work / LAB / f"{STAGE}.cu"

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        dropped = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "LAB", "STAGE", "DATASET", "FORCE", "AUTHORS")
        environment = {name: value for name, value in os.environ.items() if name not in dropped}
        command = ["make", *words, f"WORK={self.work}", f"BUILD={BUILD}"]
        return subprocess.run(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def check(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(BUILD / "warplab"), "check", LAB, "02", "--backend", "cpu", "--work", str(self.work), *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def write(self, text: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)


@pytest.fixture
def student(tmp_path: Path) -> Student:
    return Student(tmp_path / "work")


def test_check_without_a_lab_names_the_labs(student: Student) -> None:
    result = student.make("check")
    assert result.returncode == 2
    assert "make check LAB=NAME" in result.stderr
    assert LAB in result.stderr


def test_a_mistyped_verb_gets_a_suggestion(student: Student) -> None:
    result = student.make("chekc", f"LAB={LAB}")
    assert result.returncode == 2
    assert "There is no verb chekc. Did you mean check? Verbs: " in result.stderr
    assert len(result.stderr.splitlines()) <= 3


def test_starting_twice_changes_nothing(student: Student) -> None:
    first = student.make("start", f"LAB={LAB}")
    assert first.returncode == 0, first.stdout + first.stderr
    assert str(student.file) in first.stdout
    student.write("// mine\n")
    second = student.make("start", f"LAB={LAB}")
    assert second.returncode == 0
    assert "already complete" in second.stdout
    assert student.file.read_text() == "// mine\n"
    later = sorted(student.file.parent.glob("*.cu"))[1]
    later.unlink()  # as if a later version of the kit added this stage
    assert (
        f"edit {later}, then type  make check LAB={LAB} STAGE={later.name[:2]}"
        in student.make("start", f"LAB={LAB}").stdout
    )


def test_help_shows_the_students_progress(student: Student) -> None:
    student.write(SOLUTION.read_text())
    assert student.check().returncode == 0
    result = student.make("help")
    (line,) = [line for line in result.stdout.splitlines() if STAGE in line]
    assert "passing" in line
    student.write(program(kernel="if (i < n) out[i] = a[i];"))
    assert "changed since" in student.make("help").stdout
    assert student.check().returncode == 1
    assert "failing" in student.make("help").stdout


def test_help_continues_with_the_stage_that_was_edited_last(student: Student) -> None:
    student.write(SOLUTION.read_text() + "// mine\n")
    second_file = student.work / "dot_product" / "03_dyadic_sequential.cu"
    second_file.parent.mkdir()
    second_file.write_text("// mine\n")

    def next_after_editing(edited: Path) -> str:
        for file in (student.file, second_file):
            os.utime(file, (2e9, 2e9) if file == edited else (1e9, 1e9))
        return student.make("help").stdout.splitlines()[-1]

    assert next_after_editing(second_file) == "Next: make check LAB=dot_product STAGE=03"
    assert next_after_editing(student.file) == f"Next: make check LAB={LAB} STAGE=02"
    assert student.check().returncode == 0
    first = student.file.with_name("01_one_thread_per_element.cu")
    without_gpu = f"Next: edit {first}, then type  make check LAB={LAB} STAGE=01"
    assert next_after_editing(student.file) in (without_gpu, f"Next: make bench LAB={LAB} STAGE=02")


def test_the_labs_are_listed_with_points_and_the_stages_of_the_current_lab(student: Student) -> None:
    lines = student.make("help").stdout.splitlines()
    assert lines[2] == f"{LAB:<22} [..........]     0 of 30 points"  # the course's first lab
    assert lines[4].split()[0] == STAGE and lines[6].startswith("dot_product ")
    student.write(SOLUTION.read_text())
    student.check("--no-check-mode")
    output = student.make("help").stdout
    assert f"{LAB:<22} [##........]     6 of 30 points  0 min ago" in output
    assert next(line for line in output.splitlines() if line.startswith(f"  {STAGE}")).split()[1:3] == [
        "passing",
        "6/10",
    ]
    assert output.index(STAGE) < output.index("make check LAB=") < output.index("Next: ")
    student.write(SOLUTION.read_text() + "// changed\n")
    assert f"{LAB:<22} [..........]     0 of 30 points  0 min ago" in student.make("help").stdout


def test_after_a_check_the_next_step_is_reported(student: Student) -> None:
    student.write(SOLUTION.read_text())
    result = student.check()
    assert "speed, up to 2 more: " in result.stdout
    third = student.file.with_name("03_vector_loads.cu")
    assert result.stdout.endswith(f"Next: edit {third}, then type  make check LAB={LAB} STAGE=03\n")
    student.write(program(kernel="if (i + 1 < n) out[i] = a[i] + b[i];"))
    next_step = f"Next: edit {student.file}, then type  make check LAB={LAB} STAGE=02\n"
    assert student.check().stdout.endswith(next_step)
    for solution in (ROOT / "solutions" / LAB).glob("*.cu"):
        student.file.with_name(solution.name).write_text(solution.read_text())
    command = [str(BUILD / "warplab"), "check", LAB, "1,2,3", "--backend", "cpu", "--work", str(student.work)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.count(": passed") == 3
    assert result.stdout.endswith(f"Next: make submit LAB={LAB}  (every stage of {LAB} passes)\n")


def test_no_stage_is_checked_if_a_stage_of_the_list_is_unknown(student: Student) -> None:
    result = student.make("check", f"LAB={LAB}", "STAGE=1,9")
    assert result.returncode == 2 and '"9"' in result.stderr and not result.stdout


def test_one_dataset_shows_what_the_code_prints(student: Student) -> None:
    student.write(program(host='printf("n is %zu\\n", n);', before="#include <cstdio>"))
    result = student.make("check", f"LAB={LAB}", "STAGE=2", "DATASET=warp", "BACKEND=cpu")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "n is 33" in result.stdout


def test_submit_refuses_files_that_cannot_be_graded(student: Student) -> None:
    result = student.make("submit", f"LAB={LAB}")
    assert result.returncode == 2
    assert f"make start LAB={LAB}" in result.stdout + result.stderr
    student.make("start", f"LAB={LAB}")
    student.file.unlink()
    result = student.make("submit", f"LAB={LAB}")
    assert result.returncode == 1
    assert f"{STAGE}.cu is missing" in result.stdout
    assert "is still the starter" in result.stdout
    assert "FORCE=1" in result.stdout
    assert not list(student.work.glob("*.tar.gz"))


def test_names_are_checked_before_anything_is_copied(student: Student) -> None:
    for words in (["--dataset", "readble"], ["--tree", "wrok"]):
        assert student.check(*words).returncode == 2
    assert not student.work.exists()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("folder", "is a folder, not a file"),
        ("/nowhere", "is a link to /nowhere, which does not exist"),
        (f"{STAGE}.cu", f"is a link to {STAGE}.cu, which does not exist"),
    ],
)
def test_a_folder_or_broken_link_instead_of_a_file_is_reported(student: Student, kind: str, message: str) -> None:
    student.file.parent.mkdir(parents=True)
    if kind == "folder":
        student.file.mkdir()
    else:
        student.file.symlink_to(kind)
    result = student.check()
    assert result.returncode == 1, result.stdout + result.stderr
    assert message in " ".join(result.stdout.split())
    assert "missing_file" in result.stdout


def test_the_verdict_is_printed_if_its_report_cannot_be_stored(student: Student) -> None:
    student.write(SOLUTION.read_text())
    (student.file.parent / "reports").write_text("in the way")
    result = student.check()
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout
    assert "cannot be written" in result.stdout


def test_a_missing_stage_is_reported_once_and_only_with_a_sandbox(student: Student, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    command = [BUILD / "warplab", "grade", LAB, "02", "--tree", tmp_path / "tree", "--backend", "cpu"]
    command += ["--report-dir", tmp_path]
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert " ".join(result.stdout.split()).count("There is no file") == 1
    limited = ["prlimit", "--fsize=9", *map(str, command)]
    result = subprocess.run(limited, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "needs a sandbox" in result.stderr, result.stdout + result.stderr


RACE = "if (i < n) { out[i] = a[i] + b[i]; if (i > 0 && out[i - 1] == 12345.f) out[i] = a[i] + b[i]; }"
SAME_VALUE = "if (i < n) out[i] = a[i] + b[i]; if (i + 1 < n) out[i + 1] = a[i + 1] + b[i + 1];"


def test_a_race_fails_the_check_with_its_line(student: Student) -> None:
    student.write(program(kernel=RACE))
    result = student.check()
    words = " ".join(result.stdout.split())
    assert result.returncode == 1, result.stdout + result.stderr
    assert "datasets passed, sanitizer failed" in words
    assert "In line 5: Race on element" in words
    assert "correctness 6 of 6, hygiene 0 of 2, speed pending" in words
    assert f"Next: make inspect LAB={LAB} STAGE=02" in words
    assert "failing" in student.make("help").stdout


@pytest.mark.parametrize(
    "host, message",
    [
        ("CUDA_CHECK(cudaMemset(out, 0, 8 * n));", "cudaMemset: the destination is too small"),
        (
            "CUDA_CHECK(cudaMemcpy(out, a, 4 * n + 4, cudaMemcpyDeviceToDevice));",
            "cudaMemcpy: the destination is too small",
        ),
    ],
)
def test_a_memset_or_copy_beyond_the_labs_buffer_is_reported_with_its_line(
    student: Student, host: str, message: str
) -> None:
    student.write(program(host=host))
    result = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    words = " ".join(result.stdout.split())
    assert f"{STAGE}.cu:9: copy_size {message}" in words, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("int* p; cudaMalloc(&p, 4); cudaFree(p); cudaFree(p);", "that memory was freed before"),
        ("cudaFree(out);", "it points to one of the lab's buffers"),
        ("int x; cudaFree(&x);", "no CUDA function allocated it"),
    ],
)
def test_an_invalid_free_is_reported_with_its_line(student: Student, host: str, message: str) -> None:
    student.write(program(host=host))
    result = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    words = " ".join(result.stdout.split())
    assert f"{STAGE}.cu:9: invalid_free cudaFree does not take this pointer: {message}" in words, words


def test_an_index_beyond_an_array_is_reported_with_the_arrays_name(student: Student) -> None:
    tile = "__shared__ float tile[4][8];\n    tile[threadIdx.x % 4][threadIdx.x % 9] = 1;"
    student.write(program(kernel=f"{tile} if (i < n) out[i] = a[i] + b[i];"))
    result = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    words = " ".join(result.stdout.split())
    assert "uses index 8 of tile[threadIdx.x % 4], declared as float [8], with indices 0 to 7" in words, words


COPY = "__shared__ float s[256]; float p = i < n ? a[i] + b[i] : 0;\n    memcpy(&s[threadIdx.x], &p, sizeof p);"


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (f"{COPY} __syncthreads(); if (i < n) out[i] = s[threadIdx.x];", "No race, no access out of bounds"),
        (f"{COPY} if (i < n) out[i] = s[255 - threadIdx.x];", "race Race on element"),
        ("float x[4]; if (i < n) memcpy(x, a + i, sizeof x); if (i < n) out[i] = x[0] + b[i];", "reads elements"),
    ],
)
def test_the_sanitizer_checks_memcpy_in_a_kernel(student: Student, kernel: str, message: str) -> None:
    student.write(program(kernel=kernel))
    result = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    assert message in " ".join(result.stdout.split()), result.stdout


def test_a_last_iteration_of_few_threads_is_not_reported_as_two_barriers(student: Student) -> None:
    loop = (
        "__shared__ float s[256];\n    if (blockIdx.x == 0) for (std::size_t k = threadIdx.x; k < n; k += 256) {\n"
        "        s[threadIdx.x] = a[k];\n        __syncthreads();\n"
        "        out[k] = s[threadIdx.x] + b[k];\n        __syncthreads();\n    }"
    )
    student.write(program(kernel=loop))
    output = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu").stdout
    assert "never reach this barrier" in output, output
    assert "two different barriers" not in output, output


def test_a_kernel_that_reads_the_judges_host_buffers_gets_a_message(student: Student) -> None:
    first = "01_one_thread_per_element.cu"
    right = (ROOT / "solutions" / LAB / first).read_text()
    student.write("")  # makes the lab's folder
    student.file.with_name(first).write_text(
        right.partition("void vector_add_host")[0]
        + "void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {\n"
        "    vector_add(a, b, out, n, nullptr);\n    cudaDeviceSynchronize();\n}\n"
    )
    result = student.make("inspect", f"LAB={LAB}", "STAGE=01", "BACKEND=cpu")
    assert "reads host memory" in result.stdout, result.stdout


def test_an_uninitialised_variable_is_named_by_the_compiler(student: Student) -> None:
    student.write(program(kernel="float sum; if (i < n) { sum += a[i] + b[i]; out[i] = sum; }"))
    result = student.make("check", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    assert "may be used uninitialized" in result.stdout or "is used uninitialized" in result.stdout, result.stdout


def test_a_printf_with_a_wrong_type_is_reported_but_not_as_the_cause(student: Student) -> None:
    student.write(program(kernel='if (i < n) out[i] = a[i] * .3f + b[i] * .7f; if (i == 3) printf("%d\\n", n);'))
    result = student.check()
    assert "warning: format ‘%d’ expects argument of type ‘int’" in result.stdout
    assert "start there" not in result.stdout and "Cause: wrong_value" in result.stdout


def test_a_lock_between_blocks_is_not_a_race_in_either_order(student: Student) -> None:
    lock = "__device__ int lock, sum;"
    locked = "while (atomicCAS(&lock, 0, 1) != 0) {} __threadfence(); sum += 3; __threadfence(); atomicExch(&lock, 0);"
    student.write(program(kernel=f"if (threadIdx.x == 0) {{ {locked} }} if (i < n) out[i] = a[i] + b[i];", before=lock))
    result = student.make("inspect", f"LAB={LAB}", "STAGE=02", "BACKEND=cpu")
    assert "No race" in result.stdout, result.stdout + result.stderr


def test_without_the_sanitizer_hygiene_is_pending(student: Student) -> None:
    student.write(program(kernel=RACE))
    result = student.check("--no-check-mode")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "hygiene, up to 2 more: the sanitizer was skipped" in result.stdout


def test_a_note_of_the_sanitizer_costs_nothing(student: Student, tmp_path: Path) -> None:
    student.write(program(kernel=SAME_VALUE))
    result = student.check("--json", str(tmp_path / "report.json"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "hygiene 2 of 2" in result.stdout
    (stage,) = json.loads((tmp_path / "report.json").read_text())["stages"]
    assert {finding["cause"] for finding in stage["check_mode"]["findings"]} == {"same_value"}
    assert all(finding["note"] for finding in stage["check_mode"]["findings"])


@pytest.mark.parametrize(
    "kernel",
    [
        "if (threadIdx.x < 128) __syncthreads(); if (i < n) out[i] = a[i] + b[i];",
        "if (threadIdx.x >= 128) return; __syncthreads(); "
        "for (std::size_t k : {i, i + 128}) if (k < n) out[k] = a[k] + b[k];",
    ],
    ids=["in_an_if", "early_return"],
)
def test_a_barrier_that_not_all_threads_reach_is_noted(student: Student, kernel: str) -> None:
    student.write(program(kernel=kernel))
    result = student.check()
    words = " ".join(result.stdout.split())
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Note: Line 5: 128 of 256 threads of block (0,0,0) never reach this barrier." in words, words
    assert "Move it out of the if" in words


@pytest.mark.parametrize(
    ("kernel", "stops"),
    [
        ("while (n > 0 && atomicAdd(out, 0) != 7.5f) {}", True),
        ("if (threadIdx.x % 2) __syncthreads(); else __syncwarp(); if (i < n) out[i] = a[i] + b[i];", False),
    ],
    ids=["a_flag_that_nobody_sets", "different_barriers"],
)
def test_after_a_deadlock_other_datasets_run_unless_threads_keep_retrying(
    kernel: str, stops: bool, student: Student, tmp_path: Path
) -> None:
    student.write(program(kernel=kernel))
    report = tmp_path / "report.json"
    student.check("--no-check-mode", "--json", str(report))
    failures = [check["failure"] for check in json.loads(report.read_text())["stages"][0]["checks"] if check["failure"]]
    assert {failure["cause"] for failure in failures} == ({"deadlock", "not_run"} if stops else {"deadlock"})
    hung = [failure for failure in failures if failure["message"].startswith("Deadlock")]
    assert len(failures) > 5
    assert len(hung) == (1 if stops else len(failures))


def test_datasets_for_a_gpu_are_still_skipped_after_an_endless_call(student: Student, tmp_path: Path) -> None:
    student.write(program(kernel="for (volatile bool on = n > 0; on;) {}"))
    report = tmp_path / "report.json"
    student.check("--no-check-mode", "--json", str(report))
    checks = json.loads(report.read_text())["stages"][0]["checks"]
    not_run = [check for check in checks if check["blocked_by"]]
    recipes = json.loads((ROOT / "datasets" / LAB / "public.json").read_text())["datasets"]
    for_gpus = {recipe["name"] for recipe in recipes if "cuda-only" in recipe["uses"]}
    assert not_run and not {check["dataset"] for check in not_run} & for_gpus
    assert {check["dataset"] for check in checks if check["skipped"]} == for_gpus & {
        check["dataset"] for check in checks
    }
    assert for_gpus & {check["dataset"] for check in checks}


@pytest.mark.parametrize("unscored", [False, pytest.param(True, marks=thorough)])
def test_grade_times_unscored_datasets_only_on_request(tmp_path: Path, unscored: bool) -> None:
    report = tmp_path / "report.json"
    command = [BUILD / "warplab", "grade", "heat_dissipation", "04", "--tree", "solutions", "--backend", "cpu"]
    command += ["--force", "--no-check-mode", "--no-nvcc"] + ["--unscored"] * unscored
    command += ["--json", report, "--report-dir", tmp_path]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    stage = json.loads(report.read_text())["stages"][0]
    assert [(measurement["dataset"], measurement["scored"]) for measurement in stage["measurements"]] == [
        ("timed_1024", False)
    ] * unscored
    assert stage["score"]["speed_pending"]


@thorough
@pytest.mark.parametrize(("orders", "verdict"), [(["kill", "go"], "passed"), (["kill"] * 9, "error")])
def test_a_killed_compiler_does_not_count_against_the_student(tmp_path: Path, orders: list[str], verdict: str) -> None:
    folder = tmp_path / "compiler"
    folder.mkdir()
    fifo = folder / "orders"
    os.mkfifo(fifo)
    wrapper = tmp_path / "g++"
    wrapper.write_text(
        "#!/bin/bash\n"
        f'[[ " $* " == *" student.ii -o student.o "* && $(head -n 1 {fifo}) == kill ]] && kill -KILL $$\n'
        f'exec /usr/bin/g++ -isystem {folder} "$@"\n'
    )
    wrapper.chmod(0o755)
    threading.Thread(target=lambda: [fifo.write_text(f"{order}\n") for order in orders], daemon=True).start()
    report = tmp_path / "report.json"
    command = [BUILD / "warplab", "grade", LAB, "02", "--tree", "starter", "--backend", "cpu", "--no-nvcc"]
    command += ["--no-check-mode", "--json", report, "--report-dir", tmp_path]
    environment = os.environ | {"CXX": str(wrapper)}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    stage = json.loads(report.read_text())["stages"][0]
    assert stage["compilation"]["verdict"] == verdict, result.stdout


def test_the_journal_contains_the_results_of_the_verbs(student: Student) -> None:
    wrong = program(kernel="if (i + 1 < n) out[i] = a[i] + b[i];")
    for text in (wrong, program()):
        student.write(text)
        student.check()
    assert student.make("inspect", f"LAB={LAB}", "STAGE=02").returncode == 0
    result = student.make("note", f"LAB={LAB}", "STAGE=02")
    assert result.returncode == 0, result.stderr
    note = student.work / LAB / "journal" / f"{STAGE}.md"
    assert f"Your note: {note}" in result.stdout
    note.write_text(note.read_text().replace("## Goal\n", "## Goal\nOne thread, many elements.\n"))
    result = student.make("journal", f"LAB={LAB}")
    assert (result.returncode, result.stderr) == (0, "")
    assert "1 optimisation, none measured yet." in result.stdout
    markdown = note.with_name("journal.md").read_text()
    for words in ("One thread, many elements.", "The last verdict: passed.", "1 version did not pass: ", program()):
        assert words in markdown
    assert "| Sectors, over the minimum | 1.00" in markdown


@pytest.mark.parametrize(
    ("words", "before", "has_hooks"),
    [
        (["check"], "", False),
        (["check"], "__device__ volatile int flag;", True),
        (["grade", "--unsafe"], "", True),
        (["grade"], "", True),
    ],
)
def test_hooks_are_compiled_for_grading_and_for_volatile_variables(
    words: list[str], before: str, has_hooks: bool, tmp_path: Path
) -> None:
    """With hooks, a shared variable lies between two guard zones. Every run of the sanitizer finds the mistake, whether
    or not the checked program has hooks."""
    read_beyond_the_end = "if (i < n) out[i] = a[n] == 1234.5f ? a[i] - b[i] : a[i] + b[i];"
    print_size = r'std::printf("%zu bytes\n", sizeof(warplab_cpu::Shared<char>));'
    source, report = tmp_path / "hand_in.cu", tmp_path / "report.json"
    source.write_text(program(kernel=read_beyond_the_end, host=print_size, before=f"#include <cstdio>\n{before}"))
    command = [BUILD / "warplab", *words, LAB, STAGE, "--source", source, "--backend", "cpu", "--json", report]
    command += ["--report-dir", tmp_path, "--no-nvcc"] if "grade" in words else []
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    if "needs a sandbox" in result.stderr:
        pytest.skip("no sandbox is available")
    stage = json.loads(report.read_text())["stages"][0]
    sizes = {int(line.split()[0]) for line in stage["output"].splitlines() if line.endswith(" bytes")}
    assert len(sizes) == 1 and (sizes.pop() > 2048) == has_hooks, stage["output"]
    assert not [check for check in stage["checks"] if check["verdict"] == "failed"], result.stdout
    assert stage["check_mode"]["verdict"] == "failed", result.stdout


UNCOALESCED = "for (std::size_t k = 0; k < 4; ++k) if (i * 4 + k < n) out[i * 4 + k] = a[i * 4 + k] + b[i * 4 + k];"


@pytest.mark.parametrize(
    ("stage", "text", "status"),
    [
        ("02", program(), 0),
        ("02", program(kernel=RACE), 1),
        ("02", program(kernel="if (i + 1 < n) out[i] = a[i] + b[i];"), 1),
        ("02", "nonsense", 1),
        ("03", program(kernel=UNCOALESCED), 0),  # lacks the stage's technique, which only causes a note
    ],
)
def test_inspect_and_check_return_the_same_status(
    student: Student, tmp_path: Path, stage: str, text: str, status: int
) -> None:
    source = tmp_path / "mine.cu"
    source.write_text(text)
    for verb in "check", "inspect":
        command = [
            str(BUILD / "warplab"),
            verb,
            LAB,
            stage,
            "--source",
            str(source),
            "--backend",
            "cpu",
            "--build",
            str(BUILD),
        ]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert result.returncode == status, f"{verb}: {result.stdout}{result.stderr}"


def test_inspect_wraps_the_source_at_the_terminals_width(student: Student, monkeypatch: pytest.MonkeyPatch) -> None:
    long_line = "if (i < n) out[i] = a[i] + b[i]; // " + "x" * 90
    student.write(program(kernel=long_line))
    widths = {}
    for columns in "80", "160":
        monkeypatch.setenv("COLUMNS", columns)
        output = student.make("inspect", f"LAB={LAB}", "STAGE=02").stdout
        widths[columns] = max(len(line) for line in output.splitlines() if "if (i < n) out" in line)
    assert widths["80"] <= 80 < widths["160"] <= 160


def test_a_question_comes_first_and_hint_1_shows_the_hint(student: Student) -> None:
    student.write(program(kernel=RACE))
    question, hint = (
        "What ensures that one of the two threads is first? HINT=1 says what to try.",
        "If many threads update",
    )
    for verb in "check", "inspect":
        without_hint = " ".join(student.make(verb, f"LAB={LAB}", "STAGE=02", "BACKEND=cpu").stdout.split())
        assert question in without_hint and hint not in without_hint, verb
        output = " ".join(student.make(verb, f"LAB={LAB}", "STAGE=02", "BACKEND=cpu", "HINT=1").stdout.split())
        assert question not in output and hint in output, verb
    report = (student.file.parent / "reports" / f"{STAGE}.json").read_text()
    assert hint in report and "HINT=1" not in report  # a report contains the hint
    command = [str(BUILD / "warplab"), "check", LAB, "02", "--source", str(student.file), "--backend", "cpu"]
    direct = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert hint in " ".join(direct.stdout.split())  # only a student is asked first


def test_the_message_for_a_mask_of_absent_lanes_names_a_waiting_lane(student: Student) -> None:
    text = SOLUTION.read_text()
    at = text.index("{", text.index("__global__")) + 1
    student.write(
        text[:at]
        + "\n    if (threadIdx.x / 8 == 5) __shfl_down_sync(0xffffffffu, 1, 4);\n    __syncthreads();"
        + text[at:]
    )
    output = " ".join(student.check("--no-nvcc").stdout.split())
    assert "lane 8 waits for lane 0, which its mask names but which never arrives: thread (40,0,0) of block" in output
