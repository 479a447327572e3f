"""Fuzz all targets for a long time: those in C++ with libFuzzer and clang's sanitizers, those in Python with atheris.

Each target gets a fixed number of inputs, times FUZZ_SCALE (default: 1). If an input breaks an invariant, it is left in
build/fuzz/: fix the defect, and keep the input in corpus/<target>/ or python_corpus/<target>/.

    python -m tests.fuzz.soak_fuzz [TARGET…]              fuzzes and prints each target's result
    python -m tests.fuzz.soak_fuzz --keep TARGET…         also adds inputs of new coverage to the corpus
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
KEPT = BUILD / "fuzz"
# At least 10^7 in total, in proportion to each target's inputs per second.
CPP_INPUTS = {
    "answer": 3_000_000,
    "status_page": 1_600_000,
    "compiler": 2_000_000,
    "source": 150_000,
    "object_file": 2_000_000,
    "image": 1_000_000,
    "report": 600_000,
    "manifest": 500_000,
}
PYTHON_INPUTS = {
    "hand_in": 40_000,
    "download": 150_000,
    "roster": 200_000,
    "gradebook": 150_000,
    "decisions": 5_000,
    "export": 20_000,
    "journal": 20_000,
    "document": 60_000,
}
MAX_CORPUS_BYTES = 50_000  # of one target
SANITIZERS = "address,undefined,float-cast-overflow"
FLAGS = ["-std=c++20", "-O1", "-g", "-fno-sanitize=vptr", "-fno-sanitize-recover=all", "-I.", f"-I{BUILD}", "-pthread"]
CPP_LIMITS = ["-max_len=4096", "-rss_limit_mb=1024", "-malloc_limit_mb=64", "-timeout=60"]
PYTHON_LIMITS = ["-max_len=8192", "-rss_limit_mb=3000", "-timeout=60"]
# Sources that the targets call; no_judge.cpp replaces the rest.
SOURCES = [
    *(f"grader/common/{name}.cpp" for name in ("hash", "json_node", "nearest", "text", "utf8")),
    *(f"grader/model/{name}.cpp" for name in ("manifest", "report", "statistics")),
    *(f"grader/judge/present/{name}.cpp" for name in ("render", "table")),
    *(f"grader/judge/run/{name}.cpp" for name in ("inbox", "ending")),
    *(
        f"grader/judge/sanitizer/{name}.cpp"
        for name in ("array_names", "counts", "finding_words", "findings", "occupancy")
    ),
    *(f"grader/judge/cli/{name}.cpp" for name in ("import", "records")),
    *(
        f"grader/judge/compile/{name}.cpp"
        for name in ("contract", "diagnostics", "hand_in", "object_file", "remedy", "resources", "source", "symbols")
    ),
    "grader/common/image.cpp",
    *sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("grader/cpu/rewriter/*.cpp") if file.name != "main.cpp"),
    "tests/fuzz/no_judge.cpp",
    *(f"generated/{name}.cpp" for name in ("report", "inspection", "sweep", "record")),
]


def run(command: list, **environment: str) -> tuple[int, str]:
    """Run a command, and return its exit status and all its output."""
    result = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def compile_one(source: str, folder: Path) -> Path:
    """Compile a source to an object file. Raises RuntimeError with the compiler's message."""
    root = BUILD if source.startswith("generated/") else ROOT
    object_file = folder / source.replace("/", "_").replace(".cpp", ".o")
    status, output = run(
        ["clang++", f"-fsanitize=fuzzer-no-link,{SANITIZERS}", *FLAGS, "-c", "-o", object_file, root / source]
    )
    if status != 0:
        raise RuntimeError(f"{source} does not compile: {output[-2000:]}")
    return object_file


def build(folder: Path, pool: ThreadPoolExecutor) -> Path:
    """Build the program of all C++ targets. Raises RuntimeError with the message of the compiler or the linker."""
    objects = [pool.submit(compile_one, source, folder) for source in ("tests/fuzz/libfuzzer.cpp", *SOURCES)]
    program = folder / "fuzz"
    flags = [f"-fsanitize=fuzzer,{SANITIZERS}", "-fno-sanitize=vptr", "-o", program]
    status, output = run(["clang++", *flags, *(job.result() for job in objects), "-lfmt", "-lcrypto"])
    if status != 0:
        raise RuntimeError(f"The fuzzer does not link: {output[-2000:]}")
    return program


@dataclass
class Fuzzer:
    """One target's fuzzing run: the command without libFuzzer's options, and those options."""

    name: str
    tool: str
    command: list
    limits: list[str]
    inputs: int
    corpus: Path

    def run(self, *options: str | Path) -> tuple[int, str]:
        """Run the fuzzer, and return its exit status and all its output."""
        return run([*self.command, *self.limits, *options], WARPLAB_FUZZ=self.name)

    def fuzz(self, shards: int, new_inputs: Path) -> dict:
        """Try one shard of the inputs, starting from the corpus. Inputs with new coverage go to `new_inputs`."""
        count = math.ceil(self.inputs * float(os.environ.get("FUZZ_SCALE") or 1) / shards)
        status, output = self.run(f"-runs={count}", f"-artifact_prefix={KEPT}/{self.name}-", new_inputs, self.corpus)
        return read_result(f"{self.name}, {self.tool}", status, output)

    def describe_broken(self, kept_before: set[Path]) -> list[dict]:
        """Return the descriptions of the invariants that were broken in this run."""
        files = sorted(set(KEPT.glob(f"{self.name}-*.txt")) - kept_before)
        return [{"broken": file.read_text("utf-8")} for file in files]

    def keep(self, new_inputs: Path) -> None:
        """Add inputs of `new_inputs` whose coverage the corpus lacks, the smallest first, up to the maximum size."""
        old_files = set(self.corpus.iterdir())
        bytes_left = MAX_CORPUS_BYTES - sum(file.stat().st_size for file in old_files)
        self.run("-merge=1", self.corpus, new_inputs)
        for file in sorted(set(self.corpus.iterdir()) - old_files, key=lambda file: file.stat().st_size):
            bytes_left -= file.stat().st_size
            if bytes_left >= 0:
                file.rename(self.corpus / f"{file.name[:12]}.bin")
            else:
                file.unlink()


def read_result(what: str, status: int, output: str) -> dict:
    """Parse a run's result from libFuzzer's output: coverage counts edges, `new_coverage` those beyond the corpus."""
    match = re.search(r"Done (\d+) runs in (\d+) second", output)
    covered = [int(count) for count in re.findall(r"cov: (\d+)", output)] or [0]
    problems = [] if status == 0 and match else [{"status": status, "output": output[-2000:]}]
    inputs, seconds = (int(match[1]), int(match[2])) if match else (0, 0)
    rate = round(inputs / max(seconds, 1))
    coverage = {"coverage": covered[-1], "new_coverage": covered[-1] - covered[0]}
    return {"what": what, "inputs": inputs, "seconds": seconds, "per_second": rate, **coverage, "found": problems}


def add_up(results: Sequence[dict]) -> dict:
    """Combine the results of a target's shards: inputs and rates add up, and coverage is that of the best shard."""
    sums = {key: sum(result[key] for result in results) for key in ("inputs", "per_second")}
    maxima = {key: max(result[key] for result in results) for key in ("seconds", "coverage", "new_coverage")}
    return {**results[0], **sums, **maxima, "found": [finding for result in results for finding in result["found"]]}


def make_fuzzers(pool: ThreadPoolExecutor, folder: Path, names: Sequence[str]) -> tuple[list[Fuzzer], list[dict]]:
    """Make fuzzers of the targets with these names (without names: all), and results that name missing tools."""
    cpp = {name: count for name, count in CPP_INPUTS.items() if not names or name in names}
    python = {name: count for name, count in PYTHON_INPUTS.items() if not names or name in names}
    fuzzers, skipped = [], []
    if cpp and shutil.which("clang++"):
        program, corpus = build(folder, pool), ROOT / "tests/fuzz/corpus"
        program_and_limits = [program], CPP_LIMITS
        fuzzers += [
            Fuzzer(name, "libFuzzer, sanitizers", *program_and_limits, cpp[name], corpus / name) for name in cpp
        ]
    elif cpp:
        skipped.append({"what": "libFuzzer", "inputs": 0, "skipped": "no clang++: make setup-soak", "found": []})
    if python and importlib.util.find_spec("atheris"):
        command, corpus = [sys.executable, "-m", "tests.fuzz.atheris_fuzz"], ROOT / "tests/fuzz/python_corpus"
        for name, count in python.items():
            fuzzers.append(Fuzzer(name, "atheris", [*command, name, KEPT], PYTHON_LIMITS, count, corpus / name))
    elif python:
        skipped.append({"what": "atheris", "inputs": 0, "skipped": "not installed: make setup-soak", "found": []})
    return fuzzers, skipped


def soak(names: Sequence[str] = (), keep: bool = False) -> list[dict]:
    """Fuzz targets, each in one shard per core. Return a result for each target and for each missing tool."""
    KEPT.mkdir(parents=True, exist_ok=True)
    kept_before = set(KEPT.iterdir())
    shards = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(shards) as pool:
        fuzzers, results = make_fuzzers(pool, Path(folder), names)
        new_inputs = {fuzzer.name: Path(folder, "new_inputs", fuzzer.name) for fuzzer in fuzzers}
        for inputs_folder in new_inputs.values():
            inputs_folder.mkdir(parents=True)
        jobs = [
            [pool.submit(fuzzer.fuzz, shards, new_inputs[fuzzer.name]) for _ in range(shards)] for fuzzer in fuzzers
        ]
        for fuzzer, runs in zip(fuzzers, jobs, strict=True):
            result = add_up([run.result() for run in runs])
            result["found"] += fuzzer.describe_broken(kept_before)
            results.append(result)
            if keep:
                fuzzer.keep(new_inputs[fuzzer.name])
    return results


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word != "--keep"]
    print(json.dumps(soak(chosen, "--keep" in sys.argv), indent=1, ensure_ascii=False))
