"""Run the C++ tests (build/tests) and the Python tests in parallel. The last line of output has the totals of both.

`make test` calls this program. `make test ONLY=Manifest` runs the tests whose name contains Manifest.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD") or "build")
VENV = Path(os.environ.get("VENV") or ".venv")
CORES = max(1, min(4, os.cpu_count() or 1))
SHARDS = max(1, CORES // 2)  # processes of the C++ tests
WORKERS = CORES + 2  # processes of the Python tests, some of which wait a long time for a cluster or a time-out
SILENCE_LIMIT_S = 900  # programs are built before some tests, which takes minutes if the machine is busy


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def summary(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{self.passed} passed, {len(self.failed)} failed{skipped}"


def filter_by_name(only: str) -> str:
    """Return a filter for C++ tests whose name contains the word, even in CamelCase: DotProduct for dot_product."""
    as_type = "".join(part[:1].upper() + part[1:] for part in only.split("_"))
    return f"*{only}*:*{as_type}*"


class Shard:
    """One process of build/tests that runs its share of the tests. A thread reads its output and prints failures."""

    def __init__(self, index: int, only: str, environment: dict[str, str]):
        self.tally = Tally()
        self.running = self.last = ""
        self.stopped = False
        self.last_heard = time.monotonic()
        shard = {"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(index)}
        self.process = subprocess.Popen(
            [BUILD / "tests", "--gtest_color=no", f"--gtest_filter={filter_by_name(only)}"],
            env=environment | shard,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        output: list[str] = []
        for line in self.process.stdout:
            self.last_heard = time.monotonic()
            outcome = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w/]+\.[\w/]+)", line)
            if not outcome:
                output.append(line)
            elif outcome[1] == "RUN":
                self.running, output = outcome[2], []
            elif outcome[2] == self.running:  # excludes the list at the end
                self.finish(outcome[1], "".join(output))
        status = self.process.wait()
        if self.running:
            print(f"{''.join(output[-40:])}  The test program ended ({status}) in {self.running}.", flush=True)
            self.tally.failed.append(f"{self.running} (and the rest of its share was not run)")
        elif status not in (0, 1):
            self.tally.failed.append(f"build/tests ended with status {status} after {self.last or 'no test'}")

    def finish(self, outcome: str, output: str) -> None:
        if outcome == "OK":
            self.tally.passed += 1
        elif outcome == "FAILED":
            self.tally.failed.append(self.running)
            print(f"  FAILED {self.running}\n{output}", flush=True)
        else:
            reason = " ".join(line.strip() for line in output.splitlines() if ": Skipped" not in line).strip()
            self.tally.skipped.append(f"{self.running}: {reason or 'no reason given'}")
        self.running, self.last = "", self.running

    def hangs(self) -> bool:
        return time.monotonic() - self.last_heard > SILENCE_LIMIT_S


class CppTests:
    """All shards, which run in the background."""

    def __init__(self, only: str, environment: dict[str, str]):
        self.start = time.monotonic()
        self.folder = Path(tempfile.mkdtemp(prefix="warplab-tests-"))  # another checkout's tests may run, too
        self.folder.chmod(0o755)  # sandboxed programs have other users
        environment = environment | {"TEST_TMPDIR": f"{self.folder}/"}
        self.shards = [Shard(index, only, environment) for index in range(SHARDS)]
        self.watch = threading.Thread(target=self.stop_hanging_shards)
        self.watch.start()

    def stop_hanging_shards(self) -> None:
        while any(shard.reader.is_alive() for shard in self.shards):
            for shard in self.shards:
                shard.reader.join(timeout=0.5)
                if shard.reader.is_alive() and not shard.stopped and shard.hangs():
                    name = shard.running or f"The test after {shard.last}"
                    print(f"  {name} printed nothing for {SILENCE_LIMIT_S} s and is stopped.", flush=True)
                    shard.process.kill()
                    shard.stopped = True
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"\n  C++ tests: {self.tally().summary()} in {time.monotonic() - self.start:.0f} s", flush=True)

    def tally(self) -> Tally:
        total = Tally()
        for shard in self.shards:
            total.add(shard.tally)
        return total

    def finish(self) -> Tally:
        self.watch.join()
        return self.tally()

    def stop(self) -> None:
        for shard in self.shards:
            shard.process.kill()


def run_python(only: str, environment: dict[str, str]) -> Tally:
    results = BUILD / "pytest.xml"
    results.unlink(missing_ok=True)
    command = [VENV / "bin/python", "-m", "pytest", "-q", "-n", str(WORKERS), "--no-header", f"--junitxml={results}"]
    command += ["-o", f"cache_dir={BUILD / 'pytest-cache'}"] + (["-k", only] if only else [])
    status = subprocess.run(command, env=environment, check=False).returncode
    nothing_selected = status == 5
    tally = read_junit(results) if results.exists() else Tally()
    if status not in (0, 1) and not (only and nothing_selected):
        tally.failed.append(f"pytest ended with status {status}")
    return tally


def read_junit(file: Path) -> Tally:
    tally = Tally()
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif skipped is not None:
            tally.skipped.append(f"{name}: {skipped.get('message')}")
        else:
            tally.passed += 1
    return tally


def environment_for_tests() -> dict[str, str]:
    """Return the environment of the tests. Make's own variables are dropped, because tests call make themselves.

    Python may keep its bytecode, in the build folder, because the tests start thousands of programs.
    """
    dropped = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "LAB", "STAGE", "DATASET", "BACKEND")
    dropped += ("PYTHONDONTWRITEBYTECODE",)
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment["GOMP_SPINCOUNT"] = "10000"  # like build/warplab, because tests run in parallel
    return environment | {"WARPLAB_ROOT": str(ROOT), "WARPLAB_BUILD": str((ROOT / BUILD).resolve())}


def main() -> int:
    os.chdir(ROOT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores SIGINT, but tests send it
    only = os.environ.get("ONLY", "")
    environment = environment_for_tests()
    shutil.rmtree(BUILD / "pycache", ignore_errors=True)  # tests that copy the code leave bytecode of each copy
    print("C++ and Python tests, in parallel", flush=True)
    cpp = CppTests(only, environment)
    try:
        total = run_python(only, environment)
        total.add(cpp.finish())
    except KeyboardInterrupt:
        cpp.stop()
        return 130
    for skipped in total.skipped:
        print(f"  skipped {skipped}")
    for failed in total.failed:
        print(f"  FAILED {failed}")
    print(total.summary(), flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
