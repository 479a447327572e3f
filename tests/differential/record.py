"""Compile generated programs with nvcc, run them on this machine's GPU, and add their digests to `recorded.json`.

    python3 -m tests.differential.record --programs 10000

Standard library only. `--compile-only --arch sm_90` needs no GPU: it shows that nvcc accepts the programs. Programs are
compiled in groups of 100, as many groups at once as there are cores. `--first` is the number of the first program, so
that a long recording can be made in parts.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.differential.emit import program
from tests.differential.recorded import FAILED, FILE, GROUP, group_cases, hash_of, load, save

FLAGS = ["-std=c++17", "-O3", "-fmad=false", "-w", f"-I{Path(__file__).parent}"]
LIMIT_S = 60


def find_nvcc() -> str:
    path = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not path:
        sys.exit("nvcc is neither on the PATH nor in /usr/local/cuda/bin. Install the CUDA Toolkit.")
    return path


def describe_device() -> str:
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        sys.exit("nvidia-smi names no GPU. Use --compile-only on a machine without one.")


def compile_group(nvcc: str, group: int, folder: Path, arch: str) -> tuple[int, str, str]:
    """Return the group, the hash of its source, and nvcc's message if it failed."""
    text = program(group_cases(group), group * GROUP)
    source = folder / f"group_{group}.cu"
    source.write_text(text)
    command = [nvcc, *FLAGS, f"-arch={arch}", "-o", folder / f"group_{group}", source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return group, hash_of(text), (result.stdout + result.stderr)[:3000] if result.returncode else ""


def run_group(executable: Path, group: int) -> str:
    """Run the group, then each case without a result in its own process. Return all digests."""
    numbers = range(group * GROUP, (group + 1) * GROUP)
    digests = run_cases(executable, [])
    for number in numbers:
        if number not in digests:
            digests |= run_cases(executable, [number])
    for number in numbers:
        if number not in digests:
            print(f"Case {number} gives no digest on this GPU.", flush=True)
    return "".join(digests.get(number, FAILED) for number in numbers)


def run_cases(executable: Path, numbers: list[int]) -> dict[int, str]:
    try:
        result = subprocess.run(
            [executable, *map(str, numbers)], capture_output=True, text=True, timeout=LIMIT_S, check=False
        ).stdout
    except subprocess.TimeoutExpired as stopped:
        result = (stopped.stdout or b"").decode(errors="replace")
    return {int(n): digest for n, digest in re.findall(r"^digest (\d+) ([0-9a-f]{16})$", result, re.MULTILINE)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000, help=f"number of programs, a multiple of {GROUP}")
    parser.add_argument("--first", type=int, default=0, help=f"number of the first program, a multiple of {GROUP}")
    parser.add_argument("--arch", default="native", help="nvcc's -arch")
    parser.add_argument("--compile-only", action="store_true", help="run and record nothing")
    options = parser.parse_args()
    if options.programs % GROUP or options.first % GROUP:
        parser.error(f"Give multiples of {GROUP}: programs are compiled in groups of {GROUP}.")
    nvcc, record, failures = find_nvcc(), load(), 0
    if not options.compile_only:
        record["device"] = describe_device()
    groups = range(options.first // GROUP, (options.first + options.programs) // GROUP)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        results = pool.map(lambda group: compile_group(nvcc, group, folder, options.arch), groups)
        for group, source, error in results:
            failures += bool(error)
            if error:
                print(f"nvcc rejects the programs from {group * GROUP} on:\n{error}", flush=True)
            elif not options.compile_only:
                digests = run_group(folder / f"group_{group}", group)
                failures += digests.count(FAILED)
                record["groups"][str(group)] = {"source": source, "digests": digests}
                save(record)
            (folder / f"group_{group}").unlink(missing_ok=True)
    result = "compiled" if options.compile_only else f"recorded in {FILE.name}"
    print(f"{len(groups) * GROUP} programs {result}, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
