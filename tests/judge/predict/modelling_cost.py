"""Measure how much longer grading takes with a modelled time.

Each reference solution is graded three times, always as a new file: first to store the modelled times of the solutions
with which it is compared in the build folder, then with and without a modelled time. On two idle cores, this takes ten
minutes: python3 -m tests.judge.predict.modelling_cost [LAB …]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.python.support import ROOT


def grading_s(lab: str, stage: str, speed: str, number: int) -> float:
    """Return the seconds that grading takes. Different numbers make the file a new one, which has to be compiled."""
    solution = ROOT / "solutions" / lab / f"{stage}.cu"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{stage}.cu"
        source.write_text(f"{solution.read_text()}\nconstexpr long number_of_file = {number};\n")
        command = [ROOT / "build/warplab", "grade", lab, stage, "--source", source, "--backend", "cpu"]
        options = ["--speed", speed, "--json", Path(folder) / "report.json", "--report-dir", folder]
        start = time.monotonic()
        subprocess.run([*command, *options], cwd=ROOT, capture_output=True, check=True)
        return time.monotonic() - start


def measure(lab: str, stage: str) -> float:
    """Return the seconds that a modelled time adds."""
    number = time.time_ns()
    grading_s(lab, stage, "modelled", number)
    return grading_s(lab, stage, "modelled", number + 1) - grading_s(lab, stage, "off", number + 2)


def main() -> None:
    labs = sys.argv[1:] or [file.parent.name for file in sorted(ROOT.glob("labs/*/lab.json"))]
    costs = []
    for lab in labs:
        for stage in json.loads((ROOT / "labs" / lab / "lab.json").read_text())["stages"]:
            costs.append(measure(lab, stage["id"]))
            print(f"{lab}/{stage['id']}: {costs[-1]:.1f} s", flush=True)
    short = sum(cost <= 3 for cost in costs)
    print(f"Median {statistics.median(costs):.1f} s, {short} of {len(costs)} at most 3 s, longest {max(costs):.1f} s")


if __name__ == "__main__":
    main()
