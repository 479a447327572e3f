"""Tests of results.py and tables.py: figures and tables come from files, and stale figures are reported."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from grader.python.docs.results import read_results
from tests.python import samples
from tests.python.support import run_module

RESULTS, TABLES = "grader.python.docs.results", "grader.python.docs.tables"
SOURCE = "// a solution\nint code;\n"
HASH = hashlib.sha256(SOURCE.encode()).hexdigest()
LAB = {
    "title": "A lab",
    "about": "Adds | and pipes.",
    "points": 12.5,
    "buffers": [
        {"name": "a", "type": "float32", "role": "input", "about": "n elements"},
        {"name": "heat", "type": "float64", "role": "inout", "about": "n elements, before and after"},
        {"name": "bins", "type": "uint8", "role": "output", "about": "256 bins"},
    ],
    "stages": [
        {
            "id": "01_first",
            "title": "First",
            "idea": "As simple as can be.",
            "points": {"correctness": 5, "speed": 2.5},
        },
        {"id": "02_second", "title": "Second", "idea": "Better.", "points": {"correctness": 5}},
    ],
}
HANDOUT = """# A lab

<!-- table: contract lab -->
<!-- end -->

Words between.

<!-- table: stages lab -->
old
<!-- end -->

<!-- table: results lab -->
<!-- end -->
"""
EXPECTED = """# A lab

<!-- table: contract lab -->
| Buffer | Type | Role | Holds |
| --- | --- | --- | --- |
| `a` | `const float*` | input | n elements |
| `heat` | `double*` | input and output | n elements, before and after |
| `bins` | `unsigned char*` | output | 256 bins |
<!-- end -->

Words between.

<!-- table: stages lab -->
| Stage | Title | Idea | Points |
| --- | --- | --- | --: |
| `01_first` | First | As simple as can be. | 7.5 |
| `02_second` | Second | Better. | 5 |
<!-- end -->

<!-- table: results lab -->
{results}
<!-- end -->
"""
MEASURED = """NVIDIA H200, driver 570.86.15, CUDA 13.0; CPU: AMD EPYC 9654, 16 cores; revision 0.1 (af92a6f), \
2026-11-21. Time: seconds for 1000 iterations, kernels only. Of bound: memory-bandwidth bound divided \
by time. 1 core: the CPU's seconds when the stage was timed; compare two stages' "vs 1 core" only if these are equal.

| Stage | Dataset | Time | GB/s | Of bound | 1 core | vs 1 core | vs all cores | Limited by |
| --- | --- | --: | --: | --: | --: | --: | --: | --- |
| `01_first` | bench_2_24 | 0.1000 s | 1343 | 30% | 9.810 s | 98.1× | 17.2× | barriers |
| `02_second` | bench_2_24 | 0.03000 s | 4476 | 99% | 9.810 s | 327× | 57.3× | device memory |
| `01_first` | bench_2_28 | 1.000 s | 134 | 3% | 9.810 s | 9.81× | 1.72× | barriers |
| cublasSdot | bench_2_24 | 0.03100 s | – | – | – | – | – | – |"""


def write(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Make a project with one lab, its handout, and no results."""
    write(tmp_path / "labs/lab/lab.json", LAB)
    write(tmp_path / "handouts/lab.md", HANDOUT)
    write(tmp_path / "README.md", "<!-- table: labs -->\n<!-- end -->\n")
    for stage in ("01_first", "02_second"):
        write(tmp_path / f"solutions/lab/{stage}.cu", SOURCE)
    return tmp_path


def report(**changes: Any) -> dict[str, Any]:
    first = [samples.measurement(0.1, "barriers"), samples.measurement(1.0, "barriers", dataset="bench_2_28")]
    second = [samples.measurement(0.03)]
    stages = [
        samples.stage("01_first", "First", measurements=first, source_hash=HASH),
        samples.stage("02_second", "Second", measurements=second, source_hash=HASH),
    ]
    return samples.report(lab="lab", tree="solutions", stages=stages) | changes


def measure(course: Path, content: Any, *arguments: str | Path) -> Any:
    return run_module(RESULTS, write(course / "report.json", content), *arguments, cwd=course)


def test_written_tables_are_up_to_date(course: Path) -> None:
    assert run_module(TABLES, "--check", cwd=course).returncode == 1
    assert (course / "handouts/lab.md").read_text() == HANDOUT
    result = run_module(TABLES, cwd=course)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "README.md: written\nhandouts/lab.md: written\n"
    assert (course / "handouts/lab.md").read_text() == EXPECTED.format(results="Not measured yet.")
    assert (course / "README.md").read_text() == (
        "<!-- table: labs -->\n| Lab | Topic | Stages | Points |\n| --- | --- | --: | --: |\n"
        "| [lab](handouts/lab.md) | Adds &#124; and pipes. | 2 | 12.5 |\n<!-- end -->\n"
    )
    result = run_module(TABLES, "--check", cwd=course)
    assert (result.returncode, result.stdout) == (0, "")


def test_results_are_written_and_shown(course: Path) -> None:
    peers = {"lab": [{"name": "cublasSdot", "dataset": "bench_2_24", "median_s": 0.0031, "iterations": 100}]}
    result = measure(course, report(), "--peers", write(course / "peers.json", peers))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "handouts/results/nvidia-h200.json: lab/01_first, lab/02_second\n"
    run_module(TABLES, cwd=course)
    page = (course / "handouts/lab.md").read_text().replace("\u00a0", " ")
    assert page == EXPECTED.format(results=MEASURED)
    assert run_module(TABLES, "--check", cwd=course).returncode == 0


def test_a_stage_without_a_result_is_named(course: Path) -> None:
    content = report()
    content["stages"] = content["stages"][1:]
    measure(course, content)
    run_module(TABLES, cwd=course)
    page = (course / "handouts/lab.md").read_text()
    assert "\n\nNot timed on this GPU yet: `01_first`.\n<!-- end -->" in page


def test_several_gpus_are_compared(course: Path) -> None:
    peers = {"lab": [{"name": "cublasSdot", "dataset": "bench_2_24", "median_s": 0.0031, "iterations": 100}]}
    measure(course, report(), "--peers", write(course / "peers.json", peers))
    second = report(machine=samples.report()["machine"] | {"gpu": "NVIDIA A100"})
    second["stages"][0]["measurements"] = [samples.measurement(0.2, "barriers")]
    assert measure(course, second).returncode == 0
    source = {"schema": 1, "machine": "GTX 480", "iterations": 10, "columns": ["Kernel"], "ours": ["kernel"]}
    rows = [{"stage": "01_first", "dataset": "bench_2_24", "figures": ["0.016 s"]}]
    write(course / "labs/lab/source.json", source | {"rows": rows})
    write(course / "handouts/source.md", "<!-- table: source lab -->\n<!-- end -->\n")
    run_module(TABLES, cwd=course)
    page = (course / "handouts/lab.md").read_text().replace("\u00a0", " ")
    compared = page.partition("kernels only, by GPU:")[2].split("\n\n")[1].splitlines()
    assert compared[0] == "| Stage | Dataset | NVIDIA H200 | NVIDIA A100 |"
    assert compared[2] == "| `01_first` | bench_2_24 | 0.1000 s | 0.2000 s |"
    assert compared[3].startswith("| `02_second` | bench_2_24 |")
    assert len(compared) == 4, "bench_2_28 was timed only on one GPU"
    assert "NVIDIA A100, driver" in page and "NVIDIA H200, driver" in page
    source_table = (course / "handouts/source.md").read_text()
    assert "NVIDIA H200: kernels" in source_table and "A100" not in source_table


def test_the_materials_figures_are_next_to_the_measured_ones(course: Path) -> None:
    handout = "# A lab\n\n<!-- table: source lab -->\n<!-- end -->\n"
    write(course / "handouts/lab.md", handout)
    rows = [
        {"stage": "01_first", "dataset": "bench_2_24", "figures": ["0.016 s", "9.2×"]},
        {"stage": "02_second", "dataset": "bench_2_28"},
        {"stage": "CPU, 1 core", "dataset": "bench_2_28", "figures": ["2 s", "1×"]},
    ]
    keys = ["kernel", "transfer", "total", "sequential", "speedup", "speedup_openmp", "speedup_total", "gflops"]
    source = {"schema": 1, "machine": "GTX 480", "iterations": 10, "columns": ["Kernel", "Speedup"], "ours": keys}
    write(course / "labs/lab/source.json", source | {"rows": rows})
    run_module(TABLES, cwd=course)
    page = (course / "handouts/lab.md").read_text()
    assert "| Stage | Dataset | GTX 480: Kernel | GTX 480: Speedup |\n" in page
    assert "| `02_second` | bench_2_28 | – | – |\n" in page

    measure(course, report())
    run_module(TABLES, cwd=course)
    lines = (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()
    first = [cell.strip() for cell in lines[5].strip("|").split("|")]
    assert first[:4] == ["`01_first`", "bench_2_24", "0.016 s", "9.2×"]
    assert dict(zip(keys, first[4:], strict=True))["kernel"] == "0.001000 s"
    assert dict(zip(keys, first[4:], strict=True))["speedup"] == "98.1×"
    assert dict(zip(keys, first[4:], strict=True))["sequential"] == "0.09810 s"
    assert lines[6].endswith("| – | – | – | – | – | – | – | – |")
    assert lines[7].startswith("| CPU, 1 core | bench_2_28 | 2 s | 1× | – |")


def test_the_transfer_of_a_solver_counts_once_for_any_number_of_iterations(course: Path) -> None:
    manifest = json.loads((course / "labs/lab/lab.json").read_text())
    manifest["benchmark"] = {"iterations": 1000, "iterations_per_call": 1000}
    write(course / "labs/lab/lab.json", manifest)
    source = {"schema": 1, "machine": "GTX 480", "iterations": 200, "columns": ["Kernel"]}
    rows = [{"stage": "01_first", "dataset": "bench_2_24", "figures": ["2 s"]}]
    write(course / "labs/lab/source.json", source | {"ours": ["kernel", "transfer", "total"], "rows": rows})
    write(course / "handouts/lab.md", "<!-- table: source lab -->\n<!-- end -->\n")
    measured = report()
    measured["stages"][0]["measurements"][0] |= {"median_s": 1.0, "transfer_s": 0.5, "iterations": 1000}
    measure(course, measured)
    run_module(TABLES, cwd=course)
    row = (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()[3]
    assert [cell.strip() for cell in row.strip("|").split("|")][3:] == ["0.2000 s", "0.5000 s", "0.7000 s"]


def test_the_table_of_rates_shows_published_and_measured_rates(course: Path) -> None:
    rates: dict[str, Any] = {"schema": 1, "dataset": "bench_2_24", "multiprocessors": {"NVIDIA H200": 100}}
    rates["amounts"] = [
        {"name": "input", "unit": "GB/s", "each": 4_000_000},
        {"name": "reads", "unit": "GB/s", "each": 4_000_000, "times_split": True},
    ]
    rates["stages"] = [{"stage": "01_first", "split": 4, "blocks_per_multiprocessor": 2, "busy_bytes": 10_000}]
    write(course / "labs/lab/rates.json", rates)
    source: dict[str, Any] = {"schema": 1, "machine": "V100", "iterations": 1, "part": "row", "parts": 10}
    source["rows"] = [
        {"stage": "one", "figures": ["30 us", "–", "–", "–"]},
        {"stage": "two", "figures": ["20 us", "1 GB/s", "2 GB/s", "3 MB"]},
    ]
    write(course / "labs/lab/source.json", source)
    write(course / "handouts/lab.md", "<!-- table: rates lab -->\n<!-- end -->\n")
    measured = report()
    measured["stages"][0]["measurements"][0] |= {"median_s": 0.02, "iterations": 1000}
    measure(course, measured)
    run_module(TABLES, cwd=course)
    lines = (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == ["Machine", "Stage", "Per row", "vs the row above", "input", "reads", "Working set"]
    assert cells[2] == ["V100", "one", "30.0 us", "–", "–", "–", "–"]
    assert cells[3] == ["V100", "two", "20.0 us", "1.50×", "1 GB/s", "2 GB/s", "3 MB"]
    # A call on 10 rows takes 20 us. At a time, 200 blocks run, which are 50 rows of 10 KB.
    assert cells[4] == ["NVIDIA H200", "`01_first`", "2.00 us", "–", "2000 GB/s", "8000 GB/s", "0.500 MB"]


def test_the_table_of_published_figures_shows_the_speedup_of_each_step(course: Path) -> None:
    write(course / "handouts/lab.md", "# A lab\n\n<!-- table: source lab -->\n<!-- end -->\n")
    rows = [
        {"stage": "01_first", "dataset": "bench_2_24", "scale": 6},
        {"stage": "02_second", "dataset": "bench_2_24"},
        {"stage": "01_first", "dataset": "bench_2_28"},
    ]
    source = {"schema": 1, "machine": "GTX 480", "iterations": 10, "columns": [], "ours": ["kernel", "step", "bound"]}
    write(course / "labs/lab/source.json", source | {"rows": rows})
    measure(course, report())
    run_module(TABLES, cwd=course)
    lines = (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[5:8]]
    assert [row[2:4] for row in cells] == [["0.006000 s", "–"], ["0.0003000 s", "20.0×"], ["0.01000 s", "–"]]
    assert all(row[4].endswith("%") for row in cells)


def test_the_results_file_keeps_results_that_were_not_measured_again(course: Path) -> None:
    measure(course, report())
    file = course / "handouts/results/nvidia-h200.json"
    text = file.read_text()
    assert max(map(len, text.splitlines())) < 400
    newer = report(time="2026-12-01T00:00:00Z", stages=report()["stages"][1:])
    newer["stages"][0]["measurements"][0]["median_s"] = 0.029
    assert measure(course, newer).returncode == 0
    results = read_results(file)
    assert sorted(results.stages) == ["lab/01_first", "lab/02_second"]
    assert results.stages["lab/02_second"].measurements[0].median_s == 0.029
    assert (
        results.stages["lab/01_first"].measurements[0].samples_s
        == report()["stages"][0]["measurements"][0]["samples_s"]
    )
    times = [stage.time for _, stage in sorted(results.stages.items())]
    assert times == ["2026-11-21T04:05:06Z", "2026-12-01T00:00:00Z"]
    measure(course, report())
    assert file.read_text().replace("2026-12-01T00:00:00Z", "2026-11-21T04:05:06Z") == text


def sweep(choices: dict[tuple[int, ...], float], **changes: Any) -> dict[str, Any]:
    """Return a sweep of lab/01_first over the macros of `choices`; a time of 0 marks a choice that failed."""
    points = []
    for values, time in choices.items():
        defines = dict(zip(("BLOCK", "RUN", "AHEAD"), values, strict=False))
        timed = {"median_s": time, "low_s": time, "high_s": time} if time else {"failure": "too many threads"}
        points.append({"defines": defines, **timed})
    machine = samples.report()["machine"]
    header = {"schema": 1, "lab": "lab", "stage": "01_first", "backend": "cuda", "tree": "solutions"}
    header |= {"source_hash": HASH, "dataset": "timed", "time": "2026-11-21T04:05:06Z", "warplab": "0.1 (af92a6f)"}
    return header | {"gpu": machine["gpu"], "driver": machine["driver"], "points": points} | changes


def store_sweep(course: Path, content: Any) -> Any:
    return run_module(RESULTS, "--sweeps", write(course / "sweep.json", content), cwd=course)


def show_sweep(course: Path, defaults: dict[str, int]) -> list[str]:
    """Return the lines that show the latest sweep, for a stage whose tunables have these default values."""
    manifest = json.loads((course / "labs/lab/lab.json").read_text())
    manifest["stages"][0]["tunables"] = [{"macro": macro, "default": value} for macro, value in defaults.items()]
    write(course / "labs/lab/lab.json", manifest)
    write(course / "handouts/lab.md", "<!-- table: sweep lab 01_first -->\n<!-- end -->\n")
    assert run_module(TABLES, cwd=course).returncode == 0
    return (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()[1:-1]


def test_the_profilers_counts_are_next_to_the_times(course: Path) -> None:
    counts = [
        {"stage": f"lab/{stage}", "dataset": "small", "kernel": "k", "per_request": {"load_sectors": [3.5, profiled]}}
        for stage, profiled in (("01_first", 4.0), ("02_second", 1.256))
    ]
    write(course / "tests/cpu/check/compared.json", {"machine": "an NVIDIA H200, or an H100", "counts": counts})
    write(course / "handouts/lab.md", "<!-- table: profile lab 01_first 02_second -->\n<!-- end -->\n")
    measure(course, report())
    assert run_module(TABLES, cwd=course).returncode == 0
    assert (course / "handouts/lab.md").read_text().replace("\u00a0", " ").splitlines()[1:-1] == [
        "Nsight Compute's counts for dataset small, on an NVIDIA H200.",
        "",
        "| Stage | Sectors per load request | Time of 1000 iterations on bench_2_24, NVIDIA H200 |",
        "| --- | --: | --: |",
        "| `01_first` | 4.00 | 0.1000 s |",
        "| `02_second` | 1.26 | 0.03000 s |",
    ]


def test_a_sweep_of_all_combinations_is_a_grid(course: Path) -> None:
    assert show_sweep(course, {"BLOCK": 64, "RUN": 4}) == ["Not measured yet."]
    times = {(256, 4): 0.05, (256, 1): 0.04, (64, 1): 0.1, (64, 4): 0}
    result = store_sweep(course, sweep(times))
    assert result.stdout == "handouts/results/nvidia-h200.json: sweep of lab/01_first\n"
    assert show_sweep(course, {"BLOCK": 64, "RUN": 4}) == [
        "NVIDIA H200, timed, revision 0.1 (af92a6f): the best time is in seconds for 1000 iterations; the other "
        "times are multiples of it. The reference solution uses `BLOCK=64 RUN=4`.",
        "",
        "| `BLOCK` | `RUN` 1 | `RUN` 4 |",
        "| --: | --: | --: |",
        "| 64 | 2.50× | – |",
        "| 256 | **0.04000 s** | 1.25× |",
    ]
    threes = {(block, run, ahead): 0.01 * block + ahead for block in (1, 2) for run in (1, 4) for ahead in (1, 2)}
    store_sweep(course, sweep(threes))
    assert show_sweep(course, {"BLOCK": 1, "RUN": 1, "AHEAD": 1})[2:5] == [
        "| `BLOCK` | `RUN` | `AHEAD` 1 | `AHEAD` 2 |",
        "| --: | --: | --: | --: |",
        "| 1 | 1 | **1.010 s** | 1.99× |",
    ]


def test_a_sweep_of_one_tunable_at_a_time_is_a_list(course: Path) -> None:
    store_sweep(course, sweep({(256, 1): 0.05, (64, 1): 0, (512, 1): 0.1, (256, 4): 0.04}))
    assert show_sweep(course, {"BLOCK": 256, "RUN": 1})[2:] == [
        "| `BLOCK` | `RUN` | Time |",
        "| --: | --: | --: |",
        "| 256 | 4 | **0.04000 s** |",
        "| 256 | 1 | 1.25× |",
        "| 512 | 1 | 2.50× |",
        "| 64 | 1 | – |",
    ]


def test_a_newer_sweep_replaces_an_older_one(course: Path) -> None:
    measure(course, report(), "--sweeps", write(course / "sweep.json", sweep({(256, 1): 0.05, (64, 1): 0.06})))
    assert store_sweep(course, sweep({(256, 1): 0.03, (64, 1): 0.06})).returncode == 0
    file = course / "handouts/results/nvidia-h200.json"
    results = read_results(file)
    assert sorted(results.stages) == ["lab/01_first", "lab/02_second"]
    assert [point.median_s for point in results.sweeps["lab/01_first"].points] == [0.03, 0.06]
    assert '{"defines": {"BLOCK": 64, "RUN": 1}, "median_s": 0.06, ' in file.read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "cpu", "gpu": ""}, "measured without a GPU"),
        ({"tree": "work"}, "these are the times of work, not of solutions"),
        ({"tree": ""}, "these are the times of an unknown tree, not of solutions"),
        ({"driver": "999.1"}, "measured on NVIDIA H200 with driver 999.1, the others on"),
        ({"points": [{"defines": {"BLOCK": 1}, "failure": "no"}]}, "the sweep timed none of the choices"),
    ],
)
def test_an_unsuitable_sweep_is_refused(course: Path, changes: dict[str, Any], message: str) -> None:
    measure(course, report())
    before = (course / "handouts/results/nvidia-h200.json").read_text()
    result = store_sweep(course, sweep({(256, 1): 0.05}, **changes))
    assert result.returncode == 2
    assert message in result.stderr
    assert (course / "handouts/results/nvidia-h200.json").read_text() == before


def test_a_changed_solution_makes_its_sweep_stale(course: Path) -> None:
    store_sweep(course, sweep({(256, 1): 0.05}))
    write(course / "solutions/lab/01_first.cu", "int changed;\n")
    result = run_module(TABLES, cwd=course)
    assert result.returncode == 1
    assert "nvidia-h200.json: solutions/lab/01_first.cu was changed since it was measured" in result.stdout


def test_a_changed_comment_keeps_the_result(course: Path) -> None:
    measure(course, report())
    run_module(TABLES, cwd=course)
    write(course / "solutions/lab/01_first.cu", SOURCE.replace("a solution", "another comment"))
    assert run_module(TABLES, "--check", cwd=course).returncode == 0


def test_a_solution_that_was_changed_since_the_report_has_no_result(course: Path) -> None:
    write(course / "solutions/lab/01_first.cu", SOURCE.replace("a solution", "another comment"))
    result = measure(course, report())
    assert result.returncode == 2
    assert "01_first.cu was changed since it was measured. Measure it again." in result.stderr


def test_a_changed_solution_makes_its_result_stale(course: Path) -> None:
    measure(course, report())
    run_module(TABLES, cwd=course)
    write(course / "solutions/lab/01_first.cu", "int changed;\n")
    (course / "solutions/lab/02_second.cu").unlink()
    result = run_module(TABLES, "--check", cwd=course)
    assert result.returncode == 1
    assert "nvidia-h200.json: solutions/lab/01_first.cu was changed since it was measured" in result.stdout
    assert "nvidia-h200.json: lab/02_second was measured, but there is no solutions/lab/02_second.cu" in result.stdout


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "cpu"}, "measured without a GPU"),
        ({"tree": "work"}, "these are the times of work, not of solutions"),
        ({"stages": [samples.stage("01_first", "", verdict="failed")]}, "lab/01_first is failed"),
        ({"stages": [samples.stage("01_first", "")]}, "None of the reports has a measurement"),
        ({"schema": 3}, "schema 3"),
    ],
)
def test_an_unsuitable_report_is_refused(course: Path, changes: dict[str, Any], message: str) -> None:
    result = measure(course, report(**changes))
    assert result.returncode == 2
    assert message in result.stderr
    assert not (course / "handouts/results").exists()


def test_results_of_two_machines_are_not_mixed(course: Path) -> None:
    measure(course, report())
    second = report()
    second["machine"] = {**second["machine"], "driver": "999.1"}
    result = measure(course, second)
    assert result.returncode == 2
    assert "measured on NVIDIA H200 with driver 999.1, the others on NVIDIA H200 with driver 570.86.15" in result.stderr


@pytest.mark.parametrize("peers", ['{"lab": [{"name": "x"}]}', '{"lab": 3}', "[]", "{"])
def test_invalid_peers_are_refused(course: Path, peers: str) -> None:
    result = measure(course, report(), "--peers", write(course / "peers.json", peers))
    assert result.returncode == 2
    assert "peers.json" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n<!-- table: stages lab -->\n", "README.md:2: this block has no '<!-- end -->'"),
        ("<!-- table: labs -->\n<!-- table: labs -->\n<!-- end -->\n", "README.md:1: this block has no"),
        ("<!-- end -->\n", "README.md:1: '<!-- end -->' without a block"),
        ("<!-- table: stagse lab -->\n<!-- end -->\n", "README.md:1: '<!-- table: stagse lab -->' is not a block"),
        ("<!-- table: sweep lab -->\n<!-- end -->\n", "README.md:1: '<!-- table: sweep lab -->' is not a block"),
        (
            "<!-- table: sweep lab 9 -->\n<!-- end -->\n",
            "README.md:1: lab has no stage '9'. Stages: 01_first, 02_second.",
        ),
        ("<!-- table: stages lap -->\n<!-- end -->\n", "README.md:1: No lab is called 'lap'. Labs: lab."),
        ("<!-- help: check -->\n<!-- end -->\n", "README.md:1: build/warplab cannot be run"),
    ],
)
def test_wrong_markers_name_file_and_line(course: Path, text: str, message: str) -> None:
    write(course / "README.md", text)
    for arguments in ([], ["--check"]):
        result = run_module(TABLES, *arguments, cwd=course)
        assert result.returncode == 2
        assert message in result.stderr
        assert (course / "README.md").read_text() == text


def test_a_key_that_a_manifest_lacks_is_named(course: Path) -> None:
    write(course / "labs/lab/lab.json", '{"stages": [{}]}')
    write(course / "README.md", "<!-- table: stages lab -->\n<!-- end -->\n")
    result = run_module(TABLES, cwd=course)
    assert result.returncode == 2
    assert "README.md:1: lab.json lacks a key that this table needs: 'points'" in result.stderr


def test_the_help_table_equals_the_programs_help(course: Path) -> None:
    program = write(
        course / "build/warplab", '#!/bin/sh\n[ "$1" = bad ] && { echo no >&2; exit 2; }\necho "args: $*  "\n'
    )
    program.chmod(0o755)
    write(course / "README.md", "<!-- help: check -->\n<!-- end -->\n<!-- help: warplab -->\n<!-- end -->\n")
    assert run_module(TABLES, cwd=course).returncode == 0
    assert (course / "README.md").read_text() == (
        "<!-- help: check -->\n```text\nargs: check --help\n```\n<!-- end -->\n"
        "<!-- help: warplab -->\n```text\nargs: --help\n```\n<!-- end -->\n"
    )
    write(course / "README.md", "<!-- help: bad -->\n<!-- end -->\n")
    assert "--help: no" in run_module(TABLES, cwd=course).stderr
