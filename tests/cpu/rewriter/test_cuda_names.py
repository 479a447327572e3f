"""Each name of CUDA's runtime API and device functions exists on the CPU backend, or is refused with a reason.

Otherwise, g++ would report it as if the student had mistyped the name.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
REWRITE = ROOT / (os.environ.get("BUILD") or "build") / "cpu/rewrite"
NVCC = shutil.which("nvcc")
CUDA = Path(os.path.realpath(NVCC)).parents[1] / "include" if NVCC else Path("/nonexistent")

DEVICE_HEADERS = [
    "crt/device_functions.h", "crt/device_double_functions.h", "crt/math_functions.h", "crt/sm_70_rt.h",
    "crt/sm_80_rt.h", "crt/sm_90_rt.h", "crt/sm_100_rt.h", "device_atomic_functions.h", "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_atomic_functions.h", "sm_32_intrinsics.h",
    "sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h",
]  # fmt: skip
# Internal names of the headers, which no program uses.
INTERNAL = re.compile(
    r"_[A-Za-z]|syncthreads_|__(func|DEPRECATED|DOUBLE_BITS|FLOAT_BITS|has_trivial|NV_ATOMIC|nv_(al|mem)|cmath_power|cuda|pow_helper|is_triv"
    r"|(is|sign)(finite|inf|nan|bit)|finite)|cuda\w+_(st|enum|ptsz)$|d(add|mul|sub)$"
    r"|(u?(int|ll)|double|float)2\w+$|fdivide$|ull2double|__signbit|__CUDART"
)

pytestmark = pytest.mark.skipif(
    not REWRITE.exists() or not (CUDA / "cuda_runtime_api.h").exists(), reason="build/cpu/rewrite or nvcc is missing"
)


def without_comments(header: str) -> str:
    path = CUDA / header
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S) if path.exists() else ""


def names_of_cuda() -> set[str]:
    names = set(re.findall(r"CUDARTAPI\s+(cuda[A-Z]\w*)\s*\(", without_comments("cuda_runtime_api.h")))
    names |= set(re.findall(r"\b(cuda[A-Z]\w*)\s*\([^)]*\)\s*\n\{", without_comments("cuda_runtime.h")))
    names |= set(
        re.findall(r"(?:struct|enum|union)\s+(?:__device_builtin__\s+)?(cuda\w+)", without_comments("driver_types.h"))
    )
    for header in DEVICE_HEADERS:
        names |= set(
            re.findall(
                r"\b([a-z_]\w*)\s*\([^;{}()]*\)\s*(?:__THROW|throw\(\))?\s*(?:asm\s*\([^)]*\))?\s*(?:__DEF_IF_HOST|;)",
                without_comments(header),
            )
        )
    for header in ("cuda_fp16.h", "cuda_bf16.h"):
        names |= set(re.findall(r"_DECL__[^;{}()]*?\b(\w+)\s*\([^;{}()]*\)\s*;", without_comments(header)))
        names |= set(re.findall(r"typedef\s+\w+\s+(\w+)\s*;", without_comments(header)))
    return {name for name in names if not INTERNAL.match(name)}


def names_of_backend() -> set[str]:
    include = ROOT / "grader/cpu/include"
    flags = ["-std=c++17", "-I", include, "-include", "cuda_runtime.h", "-x", "c++"]
    source = "#include <cooperative_groups/scan.h>\n#include <cuda_bf16.h>\n"
    result = subprocess.run(
        ["g++", *flags, "-E", "-dD", "-P", "-"], input=source, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"[A-Za-z_]\w*", result.stdout))


def is_refused(name: str, folder: Path) -> bool:
    source = folder / "name.cu"
    source.write_text(f"void f() {{ {name}(1); }}\n")
    result = subprocess.run([REWRITE, source, folder / "name.cpp"], capture_output=True, text=True, check=False)
    return result.returncode in (1, 3) and f"error: {name}" in result.stderr


def test_each_name_exists_or_is_refused(tmp_path):
    missing = sorted(name for name in names_of_cuda() - names_of_backend() if not is_refused(name, tmp_path))
    assert missing == []


def test_each_header_exists_or_is_refused(tmp_path):
    """A toolkit's header that g++ found in its search path would redefine names of the backend's headers."""
    include = ROOT / "grader/cpu/include"
    headers = [path for folder in (CUDA, CUDA / "cooperative_groups", CUDA / "nvtx3") for path in folder.glob("*.h*")]
    names = [str(path.relative_to(CUDA)) for path in headers]
    names = [name for name in names if not (include / name).exists()]
    (source := tmp_path / "headers.cu").write_text("")
    missing = []
    for name in [*names, "crt/host_config.h", "thrust/sort.h", "nv/target", "cccl/cub/cub.cuh"]:
        source.write_text(f"#include <{name}>\n")
        result = subprocess.run([REWRITE, source, tmp_path / "out"], capture_output=True, text=True, check=False)
        if "cannot run on the CPU backend" not in result.stderr:
            missing.append(name)
    assert missing == []
