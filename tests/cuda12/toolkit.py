"""A CUDA 12 toolkit in a separate folder: nvcc from Debian 13's package, headers and runtime from NVIDIA's wheels
(which lack nvcc in version 12). Nothing is installed into the system."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WHEELS = {  # requirement: folders that are copied from the wheel
    "nvidia-cuda-cccl-cu12==12.6.77": [
        "nvidia/cuda_cccl/include"
    ],  # older wheels lack <cuda/atomic> and similar headers
    "nvidia-cuda-nvcc-cu12==12.4.131": ["nvidia/cuda_nvcc/include"],
    "nvidia-cuda-runtime-cu12==12.4.127": ["nvidia/cuda_runtime/include"],
    "nvidia-cuda-runtime-cu12==12.9.79": ["nvidia/cuda_runtime/lib"],  # older wheels lack the static library
}
NEWEST_GCC = 13
PROGRAMS = {  # in Debian's package: in the toolkit
    "usr/bin/cudafe++": "bin",
    "usr/bin/fatbinary": "bin",
    "usr/bin/nvlink": "bin",
    "usr/bin/ptxas": "bin",
    "usr/lib/nvidia-cuda-toolkit/bin/nvcc": "bin",
    "usr/lib/nvidia-cuda-toolkit/bin/crt": "bin/crt",
    "usr/lib/nvidia-cuda-toolkit/bin/cicc": "nvvm/bin",
    "usr/lib/nvidia-cuda-toolkit/libdevice": "nvvm/libdevice",
}
PROFILE = """TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
"""


class UnavailableError(Exception):
    """The reason why CUDA 12 is not available; the text appears in the tests' output."""


def run(*command: object, **options: object) -> str:
    """Return the command's output. If the command fails, raise UnavailableError with the last line of the output."""
    try:
        result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=400, **options)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnavailableError(str(problem)) from None
    if result.returncode:
        output = (result.stdout + result.stderr).strip().splitlines()
        raise UnavailableError(f"{Path(str(command[0])).name} {command[1]}: {output[-1] if output else 'failed'}")
    return result.stdout


def download_package(folder: Path) -> Path:
    """Download Debian 13's package with nvcc 12.4 from the archive in this machine's package lists."""
    archives = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
    if not archives.split():
        raise UnavailableError("apt-get knows no Debian archive here: try `apt-get update`")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb {archives.split()[0]} trixie non-free\n")
    (folder / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{folder}/sources.list"; Dir::Etc::sourceparts "-"; Dir::State::lists "{folder}/lists";'
        f'Dir::Cache "{folder}/cache"; APT::Sandbox::User "{os.environ.get("USER", "root")}";\n'
    )
    options = {"cwd": folder, "env": os.environ | {"APT_CONFIG": str(folder / "apt.conf")}}
    run("apt-get", "update", "--error-on=any", **options)
    run("apt-get", "download", "nvidia-cuda-toolkit", **options)
    return next(folder.glob("nvidia-cuda-toolkit_*.deb"))


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def assemble(toolkit: Path, folder: Path) -> None:
    """Write bin/nvcc, nvvm, include and lib64 below `toolkit`; `folder` is for temporary files."""
    package = download_package(folder)
    run("dpkg-deb", "--extract", package, folder / "package")
    for source, target in PROGRAMS.items():
        copy(folder / "package" / source, toolkit / target)
    (toolkit / "bin/nvcc.profile").write_text(PROFILE)
    for number, (wheel, parts) in enumerate(WHEELS.items()):
        wheel_folder = folder / f"wheel{number}"
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"--target={wheel_folder}", wheel)
        for part in parts:
            copy(wheel_folder / part, toolkit / Path(part).name.replace("lib", "lib64"))


def find_toolkit(build: Path) -> Path:
    """Return build/cuda12.4, creating it at first use. Raises UnavailableError if that fails."""
    toolkit = build.resolve() / "cuda12.4"
    if platform.machine() != "x86_64":
        raise UnavailableError("it is fetched for x86-64 only")
    if int(run(os.environ.get("CXX", "g++"), "-dumpversion").split(".")[0]) > NEWEST_GCC:
        raise UnavailableError(f"nvcc 12.4 takes g++ up to {NEWEST_GCC}: try CXX=g++-{NEWEST_GCC}")
    build.mkdir(parents=True, exist_ok=True)
    with (build / "cuda12.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in parallel
        if not toolkit.exists():
            with tempfile.TemporaryDirectory(dir=build.resolve(), prefix="cuda12-") as name:
                assemble(Path(name) / "toolkit", Path(name))
                (Path(name) / "toolkit").rename(toolkit)
    return toolkit
