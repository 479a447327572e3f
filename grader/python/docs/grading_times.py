"""Measure the time of each phase of grading, with the reference solutions.

python3 -m grader.python.docs.grading_times [--labs L …] [--stages N …] [--json FILE]    grades, then prints the table
python3 -m grader.python.docs.grading_times --show FILE                                prints the table of a file

A separate judge grades each stage, as in a batch. Run the program twice on a new machine: the first run also measures
baselines and compiles the code that all submissions share. The program needs only the standard library.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, run_command, say, say_error
from grader.python.common.labs import choose_labs, read_stages

ROOT = Path(__file__).resolve().parents[3]
Json = dict[str, Any]

# The judge does not hold the GPU in these phases. In `check_mode` the sanitizer runs on the CPU.
WITHOUT_GPU = {"compile", "check_mode", "compile_reference", "baselines", "inputs", "wait_for_gpu", "nvcc"}


def grade(build: Path, lab: str, stage: str, report: Path) -> Json:
    """Grade a stage's solution and return the phases. Raises UserError with the judge's output if it did not pass."""
    command = [build / "warplab", "grade", lab, stage, "--tree", "solutions", "--build", build, "--json", report]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise UserError(f"{lab}/{stage} did not pass:\n{result.stdout}{result.stderr}")
    report_json = json.loads(report.read_text())
    phases = {phase["phase"]: round(phase["wall_s"], 3) for phase in report_json["stages"][0]["phases"]}
    return {"lab": lab, "stage": stage, "gpu": report_json["machine"]["gpu"], "phases": phases}


def choose_stages(lab: str, numbers: list[int]) -> Iterator[str]:
    """Yield the lab's stages with these numbers, or all stages if there are no numbers."""
    return (stage for number, stage in enumerate(read_stages(ROOT, lab), 1) if not numbers or number in numbers)


def gpu_held_s(row: Json) -> float:
    return sum(seconds for name, seconds in row["phases"].items() if name not in WITHOUT_GPU)


def lines(rows: list[Json]) -> Iterator[str]:
    """Yield the table: seconds by stage and phase, then the median and the slowest on each GPU."""
    names = list(dict.fromkeys(name for row in rows for name in row["phases"]))
    yield f"{'stage':<44}{'all':>7}{'GPU held':>10}" + "".join(f"{name[:15]:>16}" for name in names)
    totals = [sum(row["phases"].values()) for row in rows]
    for row, total in sorted(zip(rows, totals, strict=True), key=lambda pair: -pair[1]):
        parts = "".join(f"{row['phases'].get(name, 0):>16.2f}" for name in names)
        yield f"{row['lab'] + '/' + row['stage']:<44}{total:>7.2f}{gpu_held_s(row):>10.2f}{parts}"
    for gpu in dict.fromkeys(row["gpu"] for row in rows):
        of_gpu = [(total, gpu_held_s(row)) for row, total in zip(rows, totals, strict=True) if row["gpu"] == gpu]
        for what, seconds in zip(("in all", "GPU held"), zip(*of_gpu, strict=True), strict=True):
            yield (
                f"{len(of_gpu)} stages on {gpu or 'the CPU backend'}, {what}: "
                f"median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s, sum {sum(seconds):.0f} s"
            )


def write(rows: list[Json], file: Path | None) -> None:
    if file:
        file.write_text(json.dumps({"stages": rows}, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labs", nargs="+", default=[])
    parser.add_argument("--stages", nargs="+", type=int, default=[], metavar="N")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.show:
        rows = json.loads(options.show.read_text())["stages"]
    else:
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for lab in choose_labs(ROOT, options.labs):
                for stage in choose_stages(lab, options.stages):
                    rows.append(grade(options.build.absolute(), lab, stage, Path(folder) / "report.json"))
                    say_error(f"{lab}/{stage}: {sum(rows[-1]['phases'].values()):.1f} s")
                    write(rows, options.json)
    for line in lines(rows):
        say(line)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
