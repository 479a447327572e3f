"""The long form of the fuzzing: libFuzzer with clang's sanitizers on every target, and Python's readers.

An input that breaks a promise is left in build/fuzz/: mend what it shows, and keep it in corpus/<target>/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz import readers

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
INPUTS = {"answer": 400_000, "status_page": 400_000, "report": 150_000, "manifest": 100_000}
DOCUMENTS = 100_000
SANITIZERS = "address,undefined,float-cast-overflow"
FLAGS = ["-std=c++20", "-O1", "-g", "-fno-sanitize=vptr", "-fno-sanitize-recover=all", "-I.", "-pthread"]
# What the targets call; no_judge.cpp stands for the rest.
SOURCES = [
    *(f"grader/core/{name}.cpp" for name in ("json_node", "manifest", "report", "render", "table", "text", "utf8")),
    *(f"grader/core/{name}.cpp" for name in ("nearest", "hash", "statistics")),
    *(f"grader/judge/{name}.cpp" for name in ("answer", "ending", "findings", "counters", "occupancy", "resources")),
    "grader/judge/compilation/diagnostics.cpp",
    "tests/fuzz/no_judge.cpp",
]


def run(command: list) -> tuple[int, str]:
    """Exit status and all that was said."""
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, errors="replace", check=False
    )
    return done.returncode, done.stdout + done.stderr


def compile_one(source: str, made: Path, *flags: str) -> Path:
    """An object file. Raises RuntimeError with the compiler's words."""
    status, said = run(["clang++", f"-fsanitize=fuzzer-no-link,{SANITIZERS}", *FLAGS, *flags, "-c", "-o", made, source])
    if status != 0:
        raise RuntimeError(f"{source} does not compile: {said[-2000:]}")
    return made


def build(folder: Path, pool: ThreadPoolExecutor) -> None:
    """A program for each target, by its name."""
    shared = [pool.submit(compile_one, source, folder / f"{Path(source).stem}.o") for source in SOURCES]
    entries = {
        name: pool.submit(compile_one, "tests/fuzz/libfuzzer.cpp", folder / f"entry_{name}.o", f"-DTARGET={name}")
        for name in INPUTS
    }
    objects = [one.result() for one in shared]
    for name, entry in entries.items():
        flags = [f"-fsanitize=fuzzer,{SANITIZERS}", "-fno-sanitize=vptr", "-o", folder / name]
        status, said = run(["clang++", *flags, entry.result(), *objects, "-lfmt", "-lcrypto"])
        if status != 0:
            raise RuntimeError(f"{name} does not link: {said[-2000:]}")


def fuzz_target(folder: Path, name: str) -> dict:
    """Runs libFuzzer on one target, from its corpus."""
    learnt, kept = folder / f"learnt_{name}", ROOT / "build/fuzz"
    learnt.mkdir()
    kept.mkdir(parents=True, exist_ok=True)
    limits = [f"-runs={INPUTS[name]}", "-max_len=4096", "-rss_limit_mb=1024", "-malloc_limit_mb=64", "-timeout=60"]
    status, said = run([folder / name, *limits, f"-artifact_prefix={kept}/{name}-", learnt, CORPUS / name])
    done = re.search(r"Done (\d+) runs", said)
    found = [] if status == 0 and done else [{"status": status, "said": said[-2000:]}]
    return {"what": f"{name}, libFuzzer, sanitizers", "inputs": int(done[1]) if done else 0, "found": found}


def fuzz_targets() -> list[dict]:
    """All targets, as many at once as there are cores."""
    if not shutil.which("clang++"):
        why = "no clang++ here: apt-get install clang libclang-rt-dev"
        return [{"what": "libFuzzer", "inputs": 0, "found": [{"said": why}]}]
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(made)
        build(folder, pool)
        return list(pool.map(lambda name: fuzz_target(folder, name), INPUTS))


def soak() -> list[dict]:
    """What was fuzzed: how many inputs, and what was found."""
    found = readers.fuzz(DOCUMENTS, seed=1000)
    return [*fuzz_targets(), {"what": "Python's readers", "inputs": DOCUMENTS, "found": found}]
