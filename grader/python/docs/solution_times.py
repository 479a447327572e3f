"""Model the times of the reference solutions on every GPU, for students' kits, which do not contain the solutions.

python3 -m grader.python.docs.solution_times [LAB …]      (without a LAB: all labs; a minute or two per lab and GPU)

The program writes labs/<lab>/modelled_times.json. For each stage, the file has the dataset on which the judge models
the stage, and for each GPU two times in seconds: of the stage's solution, and of the previous stage's solution (null
for a first stage, or if that stage does not use the dataset). Run the program again after a change of the model, a
solution or a dataset.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, make_parser, read_json, run_command, say, write_atomically
from grader.python.common.labs import choose_labs, read_stages
from grader.python.docs.code_hash import hash_code

ROOT = Path(__file__).resolve().parents[3]
GPUS = ROOT / "grader/judge/predict/gpus"
FILE = "modelled_times.json"
Json = dict[str, Any]


def model_lab(lab: str, gpu: str) -> list[Json]:
    """Model all solutions of a lab on a GPU, and return the stages of the report. Raises UserError with the judge's
    output if one does not pass."""
    build = Path(os.environ.get("BUILD") or ROOT / "build")
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.json"
        words = ["bench", lab, "--tree", "solutions", "--backend", "cpu", "--gpu", gpu, "--json", report]
        result = subprocess.run([build / "warplab", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise UserError(f"{lab} on {gpu}:\n{result.stdout}{result.stderr}")
        stages: list[Json] = read_json(report)["stages"]
    return stages


def times_of(stage: Json) -> list[float | None]:
    """Return the modelled seconds of a stage's solution and of the previous stage's solution, with four digits. Raises
    UserError if the solution has no modelled time."""
    modelled = stage["modelled_time"]
    if not modelled or modelled["reference_s"] is None:
        reason = modelled["why_not"] if modelled else "it did not pass"
        raise UserError(f"The solution of {stage['stage']} has no modelled time: {reason}.")
    seconds, ratio = modelled["reference_s"], modelled["previous_ratio"]
    previous = ratio["median"] * seconds if ratio else None
    return [value and float(f"{value:.4g}") for value in (seconds, previous)]


def make_times(lab: str, gpus: Sequence[str]) -> Json:
    """Return the contents of a lab's file."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = dict(zip(gpus, pool.map(lambda gpu: model_lab(lab, gpu), gpus), strict=True))
    stages: Json = {}
    for index, stage in enumerate(read_stages(ROOT, lab)):
        code = (ROOT / "solutions" / lab / f"{stage}.cu").read_text(encoding="utf-8")
        seconds = {gpu: times_of(report[index]) for gpu, report in reports.items()}
        dataset = reports[gpus[0]][index]["modelled_time"]["dataset"]
        stages[stage] = {"dataset": dataset, "code": hash_code(code), "seconds": seconds}
    return stages


def show(stages: Json) -> str:
    """Return JSON with a line for each GPU."""
    text = json.dumps(stages, indent=2)
    return re.sub(r"\[\s+([^\]]+?),\s+([^\]]+?)\s+\]", r"[\1, \2]", text) + "\n"


def main(arguments: Sequence[str]) -> int:
    parser = make_parser("python3 -m grader.python.docs.solution_times", __doc__)
    parser.add_argument("labs", nargs="*", metavar="LAB")
    options = parser.parse_args(arguments)
    gpus = sorted(file.stem for file in GPUS.glob("*.json"))
    for lab in choose_labs(ROOT, options.labs):
        say(f"{lab}: modelling on {', '.join(gpus)} …", flush=True)
        write_atomically(ROOT / "labs" / lab / FILE, show(make_times(lab, gpus)))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
