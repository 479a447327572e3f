"""Compare modelled and measured times of variants that were written without sight of the model.

python3 -m tests.judge.predict.blind_variants SET --model FILE      models the times on an H200; needs no GPU
python3 -m tests.judge.predict.blind_variants SET --measure FILE    measures them on this machine's GPU
python3 -m tests.judge.predict.blind_variants SET                   prints the comparison of the committed files

A SET is a folder in tests/judge/predict_variants. It contains the variants in LAB/STAGE; modelled.json, which was
committed before any variant was timed; and measured.json. Each time is for the benchmark's iterations of one dataset,
and stands beside the reference solution's time. The first set's misses led to changes of the model; the second set was
modelled after these.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SETS = ROOT / "tests/judge/predict_variants"
GPU = "H200"
Json = dict[str, Any]


def bench(source: Path, *options: str) -> Json:
    """Return the report of the variant's stage. Raises RuntimeError with the judge's output if it did not pass."""
    lab, stage = source.parts[-3:-1]
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [ROOT / "build/warplab", "bench", lab, stage, "--source", source, "--json", report.name, *options]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{source}:\n{result.stdout}{result.stderr}")
        stages = json.loads(Path(report.name).read_text())["stages"]
        return stages[0]


def model(source: Path) -> Json:
    times = bench(source, "--backend", "cpu", "--gpu", GPU, "--no-check-mode")["modelled_time"]
    return {"dataset": times["dataset"], "time_s": times["time"]["median"], "reference_s": times["reference_s"]}


def measure(source: Path, datasets: dict[str, str]) -> Json:
    dataset = datasets[name_of(source)]
    [times] = bench(source, "--backend", "cuda", "--no-check-mode", "--dataset", dataset)["measurements"]
    return {"dataset": dataset, "time_s": times["median_s"], "reference_s": times["reference_s"]}


def name_of(source: Path) -> str:
    """Return LAB/STAGE/VARIANT."""
    return str(Path(*source.parts[-3:]).with_suffix(""))


def write_rows(variants: Path, file: Path, time: Callable[[Path], Json]) -> None:
    """Time every variant and write the rows by name, after each variant. Continue a file that has some of them."""
    rows = json.loads(file.read_text()) if file.exists() else {}
    for source in sorted(variants.rglob("*.cu")):
        name = name_of(source)
        if name in rows:
            continue
        try:
            rows[name] = time(source)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        print(f"{name}: {ratio_of(rows[name]):.2f}", flush=True)
        file.write_text(json.dumps(rows, indent=1) + "\n")


def read_rows(variants: Path, kind: str) -> Json:
    """`kind`: modelled or measured."""
    return json.loads((variants / f"{kind}.json").read_text())


def ratio_of(row: Json) -> float:
    """Return the variant's time divided by the reference's."""
    return row["time_s"] / row["reference_s"]


def ranks(values: list[float]) -> list[int]:
    """Return each value's place in ascending order."""
    order = sorted(values)
    return [order.index(value) for value in values]


def factor(a: float, b: float) -> float:
    return max(a, b) / min(a, b)


def compare(modelled: Json, measured: Json) -> Iterator[str]:
    """Yield the worst variants, and a summary of all variants that both files have."""
    names = [name for name in modelled if name in measured]
    ratios = {name: [ratio_of(rows[name]) for rows in (measured, modelled)] for name in names}
    ratio_factors = {name: factor(*ratios[name]) for name in names}
    time_factors = [factor(modelled[name]["time_s"], measured[name]["time_s"]) for name in names]
    yield f"{'variant':<70}{'measured ratio':>15}{'modelled ratio':>15}{'factor':>8}"
    for name in sorted(names, key=lambda name: -ratio_factors[name]):
        yield f"{name:<70}{ratios[name][0]:>15.2f}{ratios[name][1]:>15.2f}{ratio_factors[name]:>8.2f}"
    places = [ranks([rows[name]["time_s"] for name in names]) for rows in (measured, modelled)]
    within = sum(value <= 1.5 for value in ratio_factors.values())
    yield (
        f"{len(names)} variants: Spearman of the times {statistics.correlation(*places):.3f}; "
        f"median factor of the times {statistics.median(time_factors):.2f}, worst {max(time_factors):.2f}; "
        f"ratio to the reference within 1.5 for {within} ({100 * within / len(names):.0f}%)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(folder.name for folder in SETS.iterdir()), metavar="SET")
    parser.add_argument("--model", type=Path, metavar="FILE")
    parser.add_argument("--measure", type=Path, metavar="FILE")
    options = parser.parse_args()
    variants = SETS / options.set
    if options.model:
        write_rows(variants, options.model, model)
        return
    modelled = read_rows(variants, "modelled")
    if options.measure:
        datasets = {name: row["dataset"] for name, row in modelled.items()}
        write_rows(variants, options.measure, lambda source: measure(source, datasets))
        return
    print(*compare(modelled, read_rows(variants, "measured")), sep="\n")


if __name__ == "__main__":
    main()
