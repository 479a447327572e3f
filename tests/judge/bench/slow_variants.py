"""Write the programs whose times are recorded on a GPU: all solutions, and slow variants of them.

    python3 -m tests.judge.bench.slow_variants --write FOLDER           writes <lab>.<stage>.<variant>.cu for each
    python3 -m tests.judge.bench.slow_variants --keep GPU RECORDING…    makes traces.json from traces_test.cpp's output

A slow variant is the solution of an earlier stage handed in for a later one, or a solution that also waits on the GPU
in each call. The traces of dot_product/05 and image_histogram/05 were recorded with earlier versions of these
solutions, which have one more fence after the atomicInc. GPU is the name of the results file, such as nvidia-h200, with
the times that the speed points depend on. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from grader.python.common.labs import choose_labs, read_stages

HERE = Path(__file__).parent
ROOT = HERE.resolve().parents[2]
Json = dict[str, Any]
SLOWEST = 6.5  # times as slow as the solution

WAIT = """
__global__ void wait_kernel(long long clocks) {
    const long long begin = clock64();
    while (clock64() - begin < clocks) {}
}
"""


def earlier_stages(lab: str) -> Iterator[tuple[str, str, Path]]:
    """Yield stage, variant and file for each earlier solution that is 1.05 to 6.5 times as slow."""
    times = json.loads((ROOT / "handouts/results/nvidia-h100-80gb-hbm3.json").read_text())["stages"]
    stages = [stage for stage in read_stages(ROOT, lab) if f"{lab}/{stage}" in times]
    first = {stage: times[f"{lab}/{stage}"]["measurements"][0] for stage in stages}
    for number, stage in enumerate(stages):
        for earlier in stages[:number]:
            if first[earlier]["dataset"] != first[stage]["dataset"]:
                continue
            if 1.05 < first[earlier]["median_s"] / first[stage]["median_s"] < SLOWEST:
                yield stage, f"as_{earlier[:2]}", ROOT / "solutions" / lab / f"{earlier}.cu"


def add_waiting(lab: str, stage: str, times_as_slow: float) -> str:
    """Return the solution's text with a kernel that waits at the start of each call, or "" if no times are known."""
    results = json.loads((ROOT / "handouts/results/nvidia-h100-80gb-hbm3.json").read_text())["stages"]
    if f"{lab}/{stage}" not in results:
        return ""
    measured = results[f"{lab}/{stage}"]["measurements"][0]
    call_s = measured["median_s"] / (1 if lab == "heat_dissipation" else measured["iterations"])
    text = (ROOT / "solutions" / lab / f"{stage}.cu").read_text()
    head = re.search(rf"^\w+ {lab}\([^)]*\) \{{\n", text, re.M)
    assert head, stage
    call = f"    wait_kernel<<<1, 1>>>({int((times_as_slow - 1) * call_s * 1.9e9)});\n"
    return text[: head.start()] + WAIT + text[head.start() : head.end()] + call + text[head.end() :]


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    factors = cycle([1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0])
    for lab in choose_labs(ROOT, []):
        for stage in read_stages(ROOT, lab):
            solution = ROOT / "solutions" / lab / f"{stage}.cu"
            (folder / f"{lab}.{stage}.solution.cu").write_text(solution.read_text())
            factor = next(factors)
            if not (text := add_waiting(lab, stage, factor)):
                continue
            name = f"{lab}.{stage}.waits_{round(100 * (factor - 1))}.cu"
            (folder / name).write_text(text)
        for stage, variant, source in earlier_stages(lab):
            (folder / f"{lab}.{stage}.{variant}.cu").write_text(source.read_text())


def reduce_trace(trace: Json, results: Json) -> Json:
    """Return the trace with the sequential CPU's time and the previous stage's ratio, for the speed points."""
    lab, stage = trace["lab"], trace["stage"]
    stages = list(read_stages(ROOT, lab))
    number = stages.index(stage)

    def measured(of_stage: str) -> Json | None:
        rows = results.get(f"{lab}/{of_stage}", {"measurements": []})["measurements"]
        return next((row for row in rows if row["dataset"] == trace["dataset"]), None)

    timed, previous = measured(stage), measured(stages[number - 1]) if number else None
    assert timed
    return {
        "stage": f"{lab}/{stage}",
        "variant": trace["variant"].lstrip("."),
        "iterations": trace["requested_calls"],
        "sequential_s": float(f"{timed['sequential_s']:.4g}"),
        "previous_ratio": round(previous["median_s"] / timed["median_s"], 3) if previous else None,
        "rounds": [
            {name: [float(f"{value:.5g}") for value in values] for name, values in round_.items()}
            for round_ in trace["rounds"]
        ],
    }


def write_traces(gpu: str, recordings: list[Path]) -> None:
    results = json.loads((ROOT / f"handouts/results/{gpu}.json").read_text())
    traces = [reduce_trace(trace, results["stages"]) for file in recordings for trace in json.loads(file.read_text())]
    traces.sort(key=lambda trace: (trace["stage"], trace["variant"]))
    lines = ",\n".join(json.dumps(trace, separators=(",", ":")) for trace in traces)
    (HERE / "traces.json").write_text(f'{{"gpu": "{results["gpu"]}", "traces": [\n{lines}\n]}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--keep", metavar="GPU")
    parser.add_argument("recordings", type=Path, nargs="*")
    options = parser.parse_args()
    if options.write:
        write_all(options.write)
    if options.keep:
        write_traces(options.keep, options.recordings)


if __name__ == "__main__":
    main()
