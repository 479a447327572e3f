"""A fake course for tests of the batch: one lab with two stages, and a judge that grades by words in the source."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from grader.python.batch.__main__ import main
from grader.python.batch.store.database import Database
from grader.python.common.console import run_command
from tests.python import samples
from tests.python.support import PYCACHE, ROOT

LAB = "lab"
STAGES = ("01_first", "02_second")

# The fake judge. It writes a line to the file `log` in its folder when it begins and when it ends, so that tests can
# count how often it graded a submission.
JUDGE = (
    f"#!{sys.executable} -SE"
    + """
import hashlib, json, os, shutil, signal, sys, time
from pathlib import Path
arguments = sys.argv[1:]
if arguments[0] == "baselines":
    open(Path(__file__).parent / "log", "a").write("baselines of lab\\n")
    sys.exit()
tree = Path(arguments[arguments.index("--tree") + 1])
reports = Path(arguments[arguments.index("--report-dir") + 1])
here = Path(__file__).parent
key = "/".join(tree.parts[-2:])
log = open(here / "log", "a", buffering=1)
log.write(f"begin {arguments[0]} {key}\\n")
gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "")
if gpu and arguments[0] == "grade":
    if (here / f"gpu {gpu}").exists():
        log.write(f"clash {gpu}\\n")
    (here / f"gpu {gpu}").mkdir(exist_ok=True)
report = json.loads((here / "report.json").read_text())
report["warplab"] = (here / "version").read_text().strip()
verdicts = []
if not arguments[2].startswith("--"):
    report["stages"] = [stage for stage in report["stages"] if stage["stage"] == arguments[2]]
unfinished = reports / "lab.unfinished.json"
for number, stage in enumerate(report["stages"]):
    if number:
        done = dict(report, stages=report["stages"][:number])
        unfinished.with_suffix(".new").write_text(json.dumps(done))
        unfinished.with_suffix(".new").rename(unfinished)
    file = tree / "lab" / (stage["stage"] + ".cu")
    text = file.read_text(errors="replace") if file.exists() else "missing"
    stage["source"] = str(file)
    stage["source_hash"] = hashlib.sha256(text.encode()).hexdigest()
    if "sleep" in text:
        time.sleep(float(text.partition("sleep ")[2].split()[0]))
    if "fill the disk" in text and not (here / "repaired").exists():
        (reports / "filler").write_bytes(bytes(10_000_000))
    if "break the judge" in text and not (here / "repaired").exists():
        (here / "broken").touch()
        sys.exit("The judge broke.")
    if "crash" in text and not (here / "repaired").exists():
        os.kill(os.getpid(), signal.SIGFPE)
    if "kill the task" in text:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(300)
    if "repair the judge" in text:
        (here / "repaired").touch()
    if "works once" in text:
        if (here / "worked").exists():
            os.kill(os.getpid(), signal.SIGFPE)
        (here / "worked").touch()
    if "garbage" in text:
        (reports / "lab.json").write_text('{"stages": [1')
        sys.exit(1)
    for cause in ("missing", "compile_error"):
        if cause in text:
            failure = {"cause": cause.replace("missing", "missing_file"), "message": cause, "hint": "", "place": None}
            stage["compilation"] |= {"verdict": "failed", "failure": failure}
            stage["verdict"], stage["checks"] = "failed", []
            stage["score"] |= {"correctness": 0, "total": 0}
    if "implausible" in text:
        stage["verdict"] = "error"
        stage["error"] = {"cause": "implausible_timing", "message": "Too fast.", "hint": "", "place": None}
        stage["score"] = None
    verdicts.append(stage["verdict"])
scores = [stage["score"] for stage in report["stages"] if stage["score"]]
report["total"]["points"] = sum(score["total"] for score in scores)
file = reports / "lab.json"
file.with_suffix(".new").write_text(json.dumps(report))
file.with_suffix(".new").rename(file)
if gpu and arguments[0] == "grade":
    shutil.rmtree(here / f"gpu {gpu}", ignore_errors=True)  # every node of a cluster has its own GPU 0
    log.write(f"timed {gpu} {key}\\n")
log.write(f"end {arguments[0]} {key}\\n")
sys.exit(1 if "failed" in verdicts else 2 if "error" in verdicts else 0)
"""
)


class Course:
    """A course's folder, its hand-ins in `handed_in`, and the batch in `out`."""

    def __init__(self, folder: Path):
        self.root, self.handed_in, self.out = folder / "course", folder / "handed in", folder / "out"
        self.build = self.root / "build"
        (self.root / "labs" / LAB).mkdir(parents=True)
        (self.root / "starter" / LAB).mkdir(parents=True)
        self.build.mkdir()
        self.handed_in.mkdir()
        stages = [{"id": stage, "points": {"correctness": 6, "hygiene": 2, "speed": 2}} for stage in STAGES]
        (self.root / "labs" / LAB / "lab.json").write_text(json.dumps({"points": 20, "stages": stages}))
        graded = [samples.stage(stage, stage, score=samples.score(speed=0, speed_pending=True)) for stage in STAGES]
        report = samples.report(lab=LAB, backend="cpu", stages=graded)
        (self.build / "report.json").write_text(json.dumps(report))
        (self.build / "warplab").write_text(JUDGE)
        (self.build / "warplab").chmod(0o755)
        self.set_version("0.1 (one)")
        (self.build / "log").touch()

    def insert_stage(self) -> None:
        """Insert a stage before the second one, which gets the next number."""
        ids = (STAGES[0], "02_between", "03_second")
        stages = [{"id": stage, "points": {"correctness": 6, "hygiene": 2, "speed": 2}} for stage in ids]
        (self.root / "labs" / LAB / "lab.json").write_text(json.dumps({"points": 30, "stages": stages}))
        graded = [samples.stage(stage, stage, score=samples.score(speed=0, speed_pending=True)) for stage in ids]
        (self.build / "report.json").write_text(json.dumps(samples.report(lab=LAB, backend="cpu", stages=graded)))

    def set_version(self, version: str) -> None:
        (self.build / "version").write_text(version)

    def hand_in(self, student: str, *texts: str) -> Path:
        """Hand in a plain folder with the files of the first stages, and return it."""
        folder = self.handed_in / student
        folder.mkdir(parents=True, exist_ok=True)
        for stage, text in zip(STAGES, texts, strict=False):
            (folder / f"{stage}.cu").write_text(f"// {student}\n{text}\n", errors="surrogateescape")
        return folder

    def add_reference(self, *texts: str) -> None:
        """Write the solutions of both stages."""
        folder = self.root / "solutions" / LAB
        folder.mkdir(parents=True, exist_ok=True)
        for stage, text in zip(STAGES, texts, strict=True):
            (folder / f"{stage}.cu").write_text(text)

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "grader.python.batch", *map(str, words)]

    def grade_words(self, *more: str | Path) -> list[str | Path]:
        words = ["--lab", LAB, "--out", self.out, "--root", self.root, "--build", self.build, "--jobs", "2"]
        return ["grade", self.handed_in, *words, "--backend", "cpu", *more]

    def grade_command(self, *more: str | Path) -> list[str]:
        return self.command(*self.grade_words(*more))

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900
        )
        assert "Traceback" not in result.stderr, result.stderr
        return result

    def grade(self, *more: str | Path) -> subprocess.CompletedProcess[str]:
        return run_here(self.grade_words(*more))

    def run_verb(self, verb: str, *more: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a verb that reads or changes the batch, in this process, because starting another one takes longer."""
        return run_here([verb, self.out, *more])

    def database(self) -> Database:
        return Database(self.out / "batch.sqlite")

    def statuses(self) -> dict[str, str]:
        return {row.key: row.status for row in self.database().rows()}

    def log(self, event: str) -> list[str]:
        """Return the submissions' keys in the order in which the judge began or ended them, without trial runs."""
        lines = [line.split(maxsplit=2) for line in (self.build / "log").read_text().splitlines()]
        keys = [words[2].partition("/")[2] for words in lines if words[0] == event]
        return [key for key in keys if key != "trial"]

    def start(self) -> subprocess.Popen[bytes]:
        nowhere = subprocess.DEVNULL
        command = self.grade_command()
        return subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdin=nowhere, stdout=nowhere, stderr=subprocess.PIPE
        )

    def gradebook(self) -> list[dict[str, str]]:
        """Return the lines of gradebook.csv."""
        return list(csv.DictReader((self.out / "gradebook.csv").read_text("utf-8-sig").splitlines()))

    def wait_for(self, key: str, process: subprocess.Popen[bytes]) -> None:
        """Wait until the judge has begun with a submission, or the process has ended."""
        while key not in self.log("begin") and process.poll() is None:
            time.sleep(0.02)

    def kill(self, process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> int:
        """Send a signal to a process, and return its exit status."""
        process.send_signal(number)
        _, output = process.communicate(timeout=60)
        assert b"Traceback" not in output, output.decode()
        return process.returncode


def run_here(words: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a batch's verb in this process as if in the project's folder without a terminal."""
    arguments = [str(word) for word in words]
    output, errors = io.StringIO(), io.StringIO()
    mask = os.umask(0o077)
    try:
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = run_command(main, arguments)
    except SystemExit as end:  # argparse refuses words, or prints its help
        status = int(end.code or 0)
    finally:
        os.umask(mask)
    return subprocess.CompletedProcess(arguments, status, output.getvalue(), errors.getvalue())


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(PYCACHE)}
