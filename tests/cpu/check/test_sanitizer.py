"""The sanitizer finds every planted mistake of kernels/*.cu at its lines, and nothing else.

If a line of a program ends with `//! KIND`, a finding of that kind must name the line. A program without
such a mark must run without a finding and print `ok`.

The same is true on aarch64, under qemu-user. WARPLAB_THOROUGH=1 tests every program on both architectures.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cpu.runtime.programs import build_target
from tests.share import THOROUGH, share_of

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / (os.environ.get("BUILD") or "build")
KERNELS = sorted(Path(__file__).with_name("kernels").glob("*.cu"))

RUNTIME_FLAGS = ["-std=c++20", "-O2", "-g1", "-pthread", "-I."]
INCLUDE_FLAGS = ["-Igrader/cpu/include", "-include", "cuda_runtime.h"]
LINKER = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []

ONLY_FORWARD = {"correct_block_chain"}  # each block waits for the previous one, and one block runs at a time

# Without hooks, a thread that only reads does not let other threads run.
NEEDS_HOOKS = {
    "correct_polled_flag",
    "correct_polled_turns",
    "correct_grid_barrier_of_threads",
    "correct_totals_set_back",
}

MARK = re.compile(r"//! (\w+)$")
FINDING = re.compile(
    r"^warplab-finding: (\w+) pc=0x([0-9a-f]+) other=0x([0-9a-f]+) line=(\d+) other_line=(\d+)", re.MULTILINE
)
GUARD = re.compile(r"^warplab-guard: pc=0x([0-9a-f]+)", re.MULTILINE)
FRAME = re.compile(r"\.cu:(\d+)")

CROSS_COMPILER, EMULATOR = "aarch64-linux-gnu-g++", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]

pytestmark = pytest.mark.skipif(not (BUILD / "cpu/rewrite").exists(), reason="build/cpu/rewrite is not built")


def flags_of_judge(function: str) -> list[str]:
    text = (ROOT / "grader/judge/compile/toolchain.cpp").read_text()
    return re.findall(r'"(-[^"]*)"', re.search(rf"Flags {function}\([^)]*\) \{{.*?\n\}}", text, re.DOTALL)[0])


STUDENT_FLAGS, CHECK_FLAGS = flags_of_judge("student_cpu_flags"), flags_of_judge("sanitizer_flags")
CHECK_FLAGS += flags_of_judge("with_hooks")


def run(*command: object) -> str:
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.fail(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"[:4000], pytrace=False)
    return result.stdout


def compile_runtime(folder: Path, compiler: str = "g++") -> list[Path]:
    """Return the object for backward runs, and the runtime, which all tests share (programs.mk)."""
    archive = build_target(f"{'cross' if compiler == CROSS_COMPILER else 'native'}/runtime.a")
    backward = folder / "backward.o"
    run(compiler, *RUNTIME_FLAGS, "-c", Path(__file__).with_name("backward.cpp"), "-o", backward)
    return [backward, archive]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory) -> list[Path]:
    return compile_runtime(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="module")
def precompiled(tmp_path_factory) -> str:
    """Return the flag that makes g++ use the precompiled cuda_runtime.h, for the sanitizer."""
    include = shutil.copytree(ROOT / "grader/cpu/include", tmp_path_factory.mktemp("precompiled") / "include")
    header = include / "cuda_runtime.h"
    run("g++", *STUDENT_FLAGS, *CHECK_FLAGS, "-x", "c++-header", header, "-o", f"{header}.gch")
    return f"-I{include}"


@pytest.fixture(scope="module")
def cross_runtime(tmp_path_factory) -> list[Path]:
    return compile_runtime(tmp_path_factory.mktemp("cross_runtime"), CROSS_COMPILER)


def build_program(kernel: Path, runtime: list[Path], folder: Path, *flags: str, compiler: str = "g++") -> Path:
    rewritten, object_file, program = folder / "k.cpp", folder / "k.o", folder / "k"
    run(BUILD / "cpu/rewrite", kernel, rewritten, "--name", kernel.name)
    run(compiler, *STUDENT_FLAGS, *flags, *INCLUDE_FLAGS, "-c", rewritten, "-o", object_file)
    objcopy = compiler.replace("g++", "objcopy")  # hides the file's new and delete from the runtime, as the judge does
    run(objcopy, "--wildcard", *(f"--localize-symbol=_Z{name}*" for name in ("nw", "na", "dl", "da")), object_file)
    run(compiler, object_file, *runtime, *(LINKER if compiler == "g++" else []), "-pthread", "-o", program)
    return program


def start(*command: object, **variables: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"WARPLAB_THREADS": "1"} | variables
    return subprocess.run(
        [*map(str, command)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def planted_mistakes(kernel: Path) -> set[tuple[str, int]]:
    lines = enumerate(kernel.read_text().splitlines(), 1)
    return {(mark[1], number) for number, line in lines if (mark := MARK.search(line))}


def line_of_student(program: Path, address: str) -> int:
    """Return the line of the .cu file to which an address belongs, the innermost if functions are inlined, or 0."""
    place = FRAME.search(run("addr2line", "-i", "-s", "-e", program, f"0x{address}"))
    return int(place[1]) if place else 0


def findings_of(program: Path, stderr: str) -> set[tuple[str, int]]:
    findings = set()
    for kind, pc, other, line, other_line in FINDING.findall(stderr):
        lines = {line_of_student(program, address) for address in (pc, other) if int(address, 16)} | {int(line)}
        without_other_line = kind in {"out_of_bounds", "uninitialised"}  # their other line is the allocation's
        lines |= {int(other_line)} if not int(other, 16) and not without_other_line else set()
        findings |= {(kind, number) for number in lines - {0}} or {(kind, 0)}
    guards = {line_of_student(program, address) for address in GUARD.findall(stderr)}
    findings = {("note" if kind == "atomic_race" and line in guards else kind, line) for kind, line in findings}
    return {(kind, line) for kind, line in findings if not follows(kind, line, findings)}


def follows(kind: str, line: int, findings: set[tuple[str, int]]) -> bool:
    """Return whether another finding at this line explains this one, so that the judge does not show it."""
    others = {other for other, place in findings if place == line} - {kind}
    return (
        (kind == "note" and bool(others))
        or (kind == "uninitialised" and bool(others & {"race", "atomic_race"}))
        or (kind == "absent_lane" and "lane_mask" in others)
        or (kind in {"host_memory", "unset_constant"} and "out_of_bounds" in others)
    )


def findings_shown(program: Path, result: subprocess.CompletedProcess) -> set[tuple[str, int]]:
    """Return the findings that the judge would show. If outputs are right, it shows no absent lanes, unset
    constants or kept values."""
    findings = findings_of(program, result.stderr)
    harmless = {"absent_lane", "unset_constant", "kept_value"} if result.stdout == "ok\n" else set()
    return {finding for finding in findings if finding[0] not in harmless}


def programs() -> list[Path]:
    """Return a share of the programs of each kind; all with WARPLAB_THOROUGH=1."""
    return share_of(
        KERNELS, lambda kernel: min((kind for kind, _ in planted_mistakes(kernel)), default=""), name_of, 16
    )


def name_of(kernel: Path) -> str:
    return kernel.stem


def test_every_program_states_its_planted_mistake():
    for kernel in KERNELS:
        kinds = {kind for kind, _ in planted_mistakes(kernel)} or {"correct"}
        assert len(kinds) == 1 and kernel.name.startswith(f"{min(kinds)}_"), kernel.name
        assert kernel.read_text().startswith("// "), kernel.name


@pytest.mark.parametrize("kernel", programs(), ids=lambda kernel: kernel.stem)
def test_the_planted_mistakes_are_found_and_nothing_else(kernel, runtime, precompiled, tmp_path):
    program = build_program(kernel, runtime, tmp_path, *CHECK_FLAGS, precompiled)
    for order in ({}, {"BACKWARD": "1"}):
        if order and kernel.stem in ONLY_FORWARD:
            continue
        result = start(program, **order)
        assert findings_shown(program, result) == planted_mistakes(kernel), result.stderr
        if not planted_mistakes(kernel):
            assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr


@pytest.mark.skipif(not THOROUGH, reason="takes minutes: WARPLAB_THOROUGH=1 runs it")
@pytest.mark.skipif(not shutil.which(CROSS_COMPILER), reason=f"there is no {CROSS_COMPILER}")
@pytest.mark.skipif(not shutil.which(EMULATOR[0]), reason=f"there is no {EMULATOR[0]}")
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_findings_are_the_same_on_aarch64(kernel, cross_runtime, tmp_path):
    program = build_program(kernel, cross_runtime, tmp_path, *CHECK_FLAGS, compiler=CROSS_COMPILER)
    result = start(*EMULATOR, program)
    assert findings_shown(program, result) == planted_mistakes(kernel), result.stderr


@pytest.mark.parametrize(
    "kernel",
    share_of(
        [kernel for kernel in KERNELS if not planted_mistakes(kernel) and kernel.stem not in NEEDS_HOOKS],
        lambda _: "",
        name_of,
        16,
    ),
    ids=name_of,
)
def test_correct_programs_are_right_without_the_sanitizer(kernel, runtime, tmp_path):
    result = start(build_program(kernel, runtime, tmp_path))
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr
