"""Run compute-sanitizer on kernels/*.cu, or on wrong submissions, to compare it with Warplab's sanitizer.

    python3 -m tests.cpu.check.compare_with_sanitizer --json FILE     (needs a GPU, nvcc and compute-sanitizer)
    … --submissions                                          (instead of kernels/*.cu; needs build/warplab, too)

The wrong submissions are those of the labs in which Warplab must name a line. Each program is compiled with line
numbers and runs under memcheck, racecheck, initcheck and synccheck. The JSON has, for each program, the kind and the
lines of the planted mistake, and each tool's verdict: `clean`, `findings` (words, lines, count), `timeout`, `error` or
`not run`. A submission is run by `build/warplab sanitize` on the first dataset on which Warplab finds its mistake.
Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.labs import wrong
from tests.labs.conftest import labs

KERNELS = Path(__file__).with_name("kernels")
TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "racecheck": ["--racecheck-report", "all"],
    "initcheck": [],
    "synccheck": [],
}
# The tool that runs first, by a word in the program's name. The time limit may be reached before all tools have run.
LIKELY = {"race": "racecheck", "uninitialised": "initcheck", "divergent": "synccheck", "return_before": "synccheck"}

HANGS = "divergent_barrier_trip_count"  # runs last, because it keeps the GPU busy until its time limit
ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / (os.environ.get("BUILD") or "build")
SUMMARY = re.compile(r"^(memcheck|racecheck|initcheck|synccheck) +(clean|found problems)", re.MULTILINE)

TOOL_LIMIT_S = 20
MAX_KEPT_CHARACTERS = 4000
MARK = re.compile(r"//! (\w+)$")
RECORD = re.compile(r"^========= (?! )(.*)$")
LINE = re.compile(r"\.cu:(\d+)")
# Lines that every run prints or that only repeat others.
NOISE = re.compile(
    r"COMPUTE-SANITIZER|SUMMARY|ERROR SUMMARY|LEAK SUMMARY|RACECHECK SUMMARY|Target application returned|^$"
)


def find_program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer")
    if not path:
        sys.exit(f"{name} is neither on the PATH nor in /usr/local/cuda. It comes with the CUDA Toolkit.")
    return path


def planted_mistakes(kernel: Path) -> list[tuple[str, int]]:
    lines = enumerate(kernel.read_text().splitlines(), 1)
    return sorted((mark[1], number) for number, line in lines if (mark := MARK.search(line)))


def compile_kernel(nvcc: str, kernel: Path, program: Path) -> str:
    """Return the compiler's message if the program does not compile, otherwise an empty string."""
    flags = ["-std=c++17", "-O1", "-arch=native", "-lineinfo", "--extended-lambda", "-Xcompiler=-g"]
    result = subprocess.run([nvcc, *flags, "-o", program, kernel], capture_output=True, text=True, check=False)
    return result.stderr[:MAX_KEPT_CHARACTERS] if result.returncode else ""


def read_findings(output: str) -> list[dict]:
    """Return the tool's findings: the text without addresses, the program's lines that it names, and how often
    each occurs."""
    counts: dict[tuple[str, tuple[int, ...], tuple[int, ...]], int] = {}
    words, in_kernel, on_host = "", [], []

    def close() -> None:
        if words and not NOISE.search(words):
            key = (words, tuple(dict.fromkeys(in_kernel)), tuple(dict.fromkeys(on_host)))
            counts[key] = counts.get(key, 0) + 1

    for line in output.splitlines():
        if start := RECORD.match(line):
            close()
            words, in_kernel, on_host = re.sub(r"0x[0-9a-f]+", "ADDRESS", start[1]).strip(), [], []
        is_caller = "Device Frame" in line and in_kernel  # the first frame with a line counts; one in a header has none
        if line.startswith("=========") and not is_caller:
            (on_host if "Host Frame" in line else in_kernel).extend(int(number) for number in LINE.findall(line))
    close()
    return [
        {"words": words, "lines": list(in_kernel), "host_lines": list(on_host), "count": count}
        for (words, in_kernel, on_host), count in counts.items()
    ]


def run_tool(sanitizer: str, tool: str, program: Path, end: float) -> dict:
    limit_s = min(TOOL_LIMIT_S, end - time.monotonic())
    if limit_s <= 1:
        return {"verdict": "not run"}
    options = TOOLS.get(tool, [])
    command = [sanitizer, "--tool", tool, "--print-limit", "20", *options, program] if tool in TOOLS else [program]
    begin = time.monotonic()
    try:
        process = subprocess.run(command, capture_output=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired as expired:
        text = (expired.stdout or b"").decode(errors="replace")
        return {"verdict": "timeout", "findings": read_findings(text), "output": text[:MAX_KEPT_CHARACTERS]}
    text = (process.stdout + process.stderr).decode(errors="replace")
    result = {
        "status": process.returncode,
        "wall_s": round(time.monotonic() - begin, 2),
        "findings": read_findings(text),
    }
    if tool in TOOLS and "SUMMARY" not in text:
        result["verdict"] = "error"
    else:
        result["verdict"] = "findings" if result["findings"] else "clean"
    if result["verdict"] != "clean":
        result["output"] = text[:MAX_KEPT_CHARACTERS]
    return result


def tools_in_order(kernel: Path) -> list[str]:
    first = next((tool for word, tool in LIKELY.items() if word in kernel.stem), "memcheck")
    return [first, *(tool for tool in TOOLS if tool != first), "plain"]


def run_tools(nvcc: str, sanitizer: str, kernels: list[Path], folder: Path, workers: int, limit_s: float) -> list[dict]:
    end = time.monotonic() + limit_s
    rows = [{"kernel": k.stem, "planted": planted_mistakes(k), "tools": {}} for k in kernels]
    with ThreadPoolExecutor(workers) as pool:
        messages = list(pool.map(lambda k: compile_kernel(nvcc, k, folder / k.stem), kernels))
        jobs = []
        for number in range(len(TOOLS) + 1):
            for kernel, row, message in zip(kernels, rows, messages, strict=True):
                tool = tools_in_order(kernel)[number]
                if message:
                    row["tools"][tool] = {"verdict": "error", "output": message}
                else:
                    jobs.append((row, tool, pool.submit(run_tool, sanitizer, tool, folder / kernel.stem, end)))
        for row, tool, job in jobs:
            row["tools"][tool] = job.result()
    return rows


def submissions(only: list[str], folder: Path) -> list[dict]:
    """Return the entries of the labs' wrong.json that name a line for the sanitizer, and whose LAB/FILE contains one of
    the words. Patches are applied in `folder`."""
    entries = []
    for lab in labs():
        for entry in wrong.entries(lab):
            if "inspect" in entry and any(word in f"{lab}/{entry['file']}" for word in only):
                source = wrong.source_of(lab, entry["file"], folder / lab)
                entries.append({"lab": lab, "source": source, **entry})
    return entries


def find_dataset(entry: dict, folder: Path) -> str:
    """Return the first small public dataset on which Warplab finds the mistake; empty if there is none."""
    for recipe in json.loads((ROOT / "datasets" / entry["lab"] / "public.json").read_text())["datasets"]:
        if "check" not in recipe["uses"] or "cuda-only" in recipe["uses"]:
            continue
        report = folder / f"{entry['lab']}-{entry['source'].stem}.json"
        report.unlink(missing_ok=True)
        options = ["--source", entry["source"], "--dataset", recipe["name"], "--no-nvcc", "--json", report]
        command = [BUILD / "warplab", "inspect", entry["lab"], entry["stage"], *options]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        findings = json.loads(report.read_text())["findings"] if report.exists() else []
        if entry["inspect"] in [[finding["cause"], finding["line"]] for finding in findings]:
            return recipe["name"]
    return ""


def run_bounded(command: list, seconds: float) -> str:
    """Run a command for at most `seconds`, and return its output. At the limit, all its processes are killed, even if
    this program has ended: a kernel that waits forever would slow down every later program on the GPU."""
    limited = ["timeout", "--signal=KILL", f"{max(seconds, 1):.0f}", *map(str, command)]
    with tempfile.TemporaryFile("w+") as output:
        subprocess.run(limited, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        return output.read()


def sanitize(lab: str, stage: str, source: Path, dataset: str, seconds: float) -> dict[str, dict]:
    """Run each tool on a file and one dataset with `build/warplab sanitize`. Return verdicts, lines and output."""
    tools: dict[str, dict] = {tool: {"verdict": "not run"} for tool in TOOLS}
    if seconds <= 1:
        return tools
    command = [BUILD / "warplab", "sanitize", lab, stage, "--source", source, "--dataset", dataset]
    parts = SUMMARY.split(run_bounded(command, min(3 * TOOL_LIMIT_S, seconds)))[1:]
    for tool, verdict, words in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        lines = re.findall(rf"{re.escape(source.name)}:(\d+)", words)
        message = words.split("    The check failed: ")[0].partition(":\n")[2].strip()
        tools[tool] = {"verdict": "clean", "lines": []}
        if "The tool gave no summary" in words:
            tools[tool] = {"verdict": "error", "output": words[:2000]}
        elif verdict != "clean" and message:
            tools[tool] = {"verdict": "findings", "lines": sorted(set(map(int, lines))), "output": message[:2000]}
    return tools


def sanitize_submission(entry: dict, folder: Path, end: float) -> dict:
    dataset = find_dataset(entry, folder) if time.monotonic() < end else ""
    tools = sanitize(entry["lab"], entry["stage"], entry["source"], dataset, end - time.monotonic())
    name = f"{entry['lab']}/{entry['source'].stem}"
    return {"submission": name, "planted": entry["inspect"], "dataset": dataset, "tools": tools}


def sanitize_submissions(entries: list[dict], folder: Path, workers: int, limit_s: float) -> list[dict]:
    if not (BUILD / "warplab").exists():
        sys.exit("build/warplab is not built: make program")
    end = time.monotonic() + limit_s
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda entry: sanitize_submission(entry, folder, end), entries))


def is_complete(row: dict) -> bool:
    """Return whether every tool gave an answer or timed out."""
    return all(answer["verdict"] not in ("not run", "error") for answer in row["tools"].values())


def summarise(result: dict) -> str:
    if result["verdict"] != "findings":
        return result["verdict"]
    lines = sorted({line for finding in result["findings"] for line in finding["lines"] or finding["host_lines"]})
    return "lines " + ",".join(map(str, lines)) if lines else "no line"


def print_table(rows: list[dict]) -> None:
    print(f"{'program':<40} {'planted at':<12}" + "".join(f" {tool:<14}" for tool in TOOLS) + " plain")
    for row in rows:
        lines = ",".join(str(line) for _, line in row["planted"]) or "-"
        cells = "".join(f" {summarise(row['tools'][tool])[:14]:<14}" for tool in TOOLS)
        print(f"{row['kernel']:<40} {lines:<12}{cells} {row['tools']['plain'].get('status', '-')}")


def version(program: str) -> str:
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return next((line.strip() for line in words.splitlines() if "ersion" in line or "release" in line), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[""], help="only programs whose names contain one of these words")
    parser.add_argument("--new", action="store_true", help="only programs for which compared.json lacks an answer")
    parser.add_argument("--submissions", action="store_true", help="the labs' wrong submissions instead")
    parser.add_argument("--workers", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--limit-s", type=float, default=140, help="start no run after this number of seconds")
    options = parser.parse_args()
    nvcc, sanitizer = find_program("nvcc"), find_program("compute-sanitizer")
    kernels = (k for k in KERNELS.glob("*.cu") if any(word in k.stem for word in options.only))
    known = json.loads(Path(__file__).with_name("compared.json").read_text()) if options.new else {}
    answered = {
        name for part in ("programs", "submissions") for name, row in known.get(part, {}).items() if is_complete(row)
    }
    kernels = sorted((k for k in kernels if k.stem not in answered), key=lambda k: (k.stem == HANGS, k))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        limits = (options.workers, options.limit_s)
        rows = [] if options.submissions else run_tools(nvcc, sanitizer, kernels, Path(folder), *limits)
        entries = submissions(options.only, Path(folder)) if options.submissions else []
        unanswered = [entry for entry in entries if f"{entry['lab']}/{entry['source'].stem}" not in answered]
        answers = sanitize_submissions(unanswered, Path(folder), *limits)
    wall_s = round(time.monotonic() - begin, 1)
    report = {"schema": 1, "tool": version(sanitizer), "nvcc": version(nvcc), "wall_s": wall_s, "programs": rows}
    report["submissions"] = answers
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    print_table(rows)
    for row in answers:
        results = {tool: result.get("lines", result["verdict"]) for tool, result in row["tools"].items()}
        print(
            f"{row['submission']:<44} {row['planted'][0]} {row['planted'][1]} on {row['dataset'] or 'none'}: {results}"
        )
    print(f"{len(rows)} programs and {len(answers)} submissions in {wall_s} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
