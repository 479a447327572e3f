"""Write COMPARED.md, which compares the sanitizer with NVIDIA's tools, from compared.json.

    python3 -m tests.cpu.check.compared                                      writes COMPARED.md again
    python3 -m tests.cpu.check.compared --sanitizer A.json --counts B.json   adds new measurements first

A.json is from compare_with_sanitizer.py (with --submissions or without), B.json from compare_with_ncu.py. Standard
library only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from grader.python.docs.code_hash import hash_lines
from tests.labs import wrong

FOLDER = Path(__file__).parent
DATA, DOCUMENT = FOLDER / "compared.json", FOLDER / "COMPARED.md"
SUBMISSIONS = FOLDER.parents[1] / "labs"
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
SETTINGS = "memcheck with `--leak-check full`, racecheck with `--racecheck-report all`"  # of compare_with_sanitizer.py

# Ignored findings: programs end without freeing memory (a leak for memcheck), and calls fail after an earlier error.
FOLLOWS = ("Program hit cudaErrorLaunchFailure", "Program hit cudaErrorIllegalAddress")

# Mistakes of host code: the tool names the line of the call. Findings in later kernels only follow from the mistake.
ON_HOST = {"device_memory", "copy_direction", "copy_size", "leak", "invalid_free", "failed_launch"}

# Printed by a tool if the program itself reports a failure.
NOTHING_FOUND = "Target application returned an error"
NO_ANSWER = {"not run", "timeout", "error"}

# Submissions in which the tools name only other lines.
OTHER_LINES = {
    "heat_dissipation/01_columns_not_guarded": "memcheck names the first read of the same block that goes out of "
    "bounds, line 23, and initcheck the next one; Warplab names both, too, and the planted line is a later write",
    "heat_dissipation/04_barrier_in_the_if": "synccheck names the barrier in the `if`; Warplab names the write "
    "before the barrier, which races, and the warp function that waits forever for the lane that is in the `if`",
    "large_histogram/02_cleared_while_counting": "initcheck names the accesses before the bins are cleared, which "
    "depend on the order of blocks; Warplab names the clearing, which races with these accesses in any order",
    "smoothing_filter/03_barrier_in_branch": "racecheck names the accesses that read too early, as Warplab does",
}

# By program, the line of a wait at a barrier that synccheck names; Warplab names the accesses that are too early.
WAITS = {"unfinished_async_copy": 44, "unfinished_async_source": 52}

# Programs in which nvcc assigns a load to the line that uses the value.
NEXT_LINE = {"misaligned_float4", "out_of_bounds_vector"}

KINDS = {
    "out_of_bounds": "an index beyond device, shared or constant memory, or beyond one dimension of an array",
    "use_after_free": "memory that was freed",
    "uninitialised": "a read of memory that was never written",
    "race": "two plain accesses, at least one of them a write, with no barrier between them",
    "atomic_race": "a plain access and an atomic, with no barrier between them",
    "divergent_barrier": "threads of a block at two different barriers",
    "return_before_barrier": "threads that return before a barrier at which other threads wait",
    "lane_mask": "a warp function's mask that lacks the calling lane, or contains a lane that never arrives",
    "misaligned": "a vector at an address that is not a multiple of its size",
    "unfinished": "an access to memory that an unfinished copy or kernel still uses",
    "host_memory": "a kernel that uses a host pointer",
    "device_memory": "host code that uses a device pointer",
    "beyond_vector": "an access between the size and the capacity of a `std::vector`",
    "copy_direction": "a copy whose direction does not fit its source or its destination",
    "copy_size": "a copy or a fill larger than the memory",
    "leak": "memory that is not freed",
    "invalid_free": "a pointer that is freed twice, or that was never allocated",
    "failed_launch": "a failed launch whose error the program did not check",
    "note": "a plain read next to atomics that is harmless: never a failure",
    "same_value": "plain writes of the same value: never a failure",
    "absent_lane": "the value of a lane that does not take part in a shuffle: never a failure by itself",
    "constant_written": "a kernel's write to `__constant__` memory",
    "unset_constant": "a `__constant__` that nothing was copied to: never a failure by itself",
}

# The reason why a count differs, by stage and kind of request; "" stands for all kinds.
TURNS = (
    "the lanes of a warp run a loop or a branch different numbers of times; Warplab combines the k-th accesses of all "
    "lanes at a place into one request, although these accesses may be of different iterations"
)
FIRST_BLOCKS = "Warplab counts the first 32 blocks of a grid, Nsight Compute all, including the partly filled last one"
TIMING = "on a GPU, warps that use the banks at the same time need a few more passes; how many differs from run to run"
CONTENTION = "a GPU serves lanes that update one word one after the other, and counts the sector again each time"
AGAIN = (
    "one lane per block updates eight bytes, so a request is one sector; the GPU counted 54 in 50 requests, most "
    "likely because it repeated an update that collided with another block's"
)
LOOPS = (
    "each lane repeats its atomic until no other lane has changed the word; on a GPU, lanes leave this loop at "
    "different times and then read alone, with few sectors per request, and the number of repetitions depends on the "
    "timing"
)
WHY = {
    "vector_add/03_vector_loads": {"": FIRST_BLOCKS},
    "smoothing_filter/04_tile_parallel": {"": TURNS},
    "smoothing_filter/07_rows_ahead": {"": TURNS},
    "image_histogram/01_global_atomics": {"atomic_sectors": CONTENTION},
    "heat_dissipation/06_batched_checks": {"atomic_sectors": AGAIN},
    "large_histogram/03_four_reads": {"": LOOPS},
    "large_histogram/05_centered": {"": LOOPS},
    "saturating_histogram/04_shared_bins": {"shared_load_passes": TIMING},
    "saturating_histogram/10_coalesced_partials": {"shared_load_passes": TIMING},
    "saturating_histogram/11_packed_reads": {"shared_load_passes": TIMING},
}
REQUESTS = {
    "load_sectors": "loads: sectors",
    "store_sectors": "stores: sectors",
    "atomic_sectors": "atomics: sectors",
    "shared_load_passes": "shared loads: passes",
    "shared_store_passes": "shared stores: passes",
}


def source_hash(program: str) -> str:
    file = FOLDER / "kernels" / f"{program}.cu"
    return hash_lines(file.read_text()) if file.exists() else ""


def kind_of(program: str) -> str:
    """Return the kind of mistake that a program's name states; empty for a correct program."""
    return next((kind for kind in KINDS if program.startswith(f"{kind}_")), "")


def follows(finding: dict, kind: str) -> bool:
    """Return whether a finding only follows from another one, or can be ignored."""
    leaked = finding["words"].startswith("Leaked")
    if leaked or kind == "leak":
        return leaked != (kind == "leak")
    if "call to cudaGetLastError" in finding["words"]:
        return True
    return finding["words"].startswith(FOLLOWS) or (kind in ON_HOST and bool(finding["lines"]))


def select_findings(result: dict, kind: str) -> dict:
    """Return one tool's findings for one program, without findings that follow from others."""
    if result["verdict"] not in ("clean", "findings"):
        return {"verdict": result["verdict"]}
    findings = [
        {
            "words": finding["words"].split(" at ADDRESS")[0].split(" detected at")[0],
            "lines": finding["host_lines"][:1] if kind in ON_HOST else finding["lines"],
        }
        for finding in result["findings"]
        if not follows(finding, kind)
    ]
    unique = [finding for i, finding in enumerate(findings) if finding not in findings[:i]]
    return {"verdict": "findings", "findings": unique} if unique else {"verdict": "clean"}


def newest(answers: dict, known: dict) -> dict:
    """Return each tool's answer, or its earlier answer if it has none now."""
    return {tool: known.get(tool, new) if new["verdict"] in NO_ANSWER else new for tool, new in answers.items()}


def add_sanitizer_results(data: dict, report: dict) -> None:
    """Add measurements. A tool's old answer stays until it answers again or the program changes. Skip programs that
    did not compile."""
    data["sanitizer"] = f"compute-sanitizer {report['tool'].removeprefix('Version ').split()[0]}"
    programs = data.get("programs", {})
    for row in report["programs"]:
        name = row["kernel"]
        if all(row["tools"][tool]["verdict"] == "error" for tool in TOOLS):
            continue
        before, now = programs.get(name, {}), source_hash(name)
        known = before["tools"] if before.get("source_hash") == now else {}
        tools = newest({tool: select_findings(row["tools"][tool], kind_of(name)) for tool in TOOLS}, known)
        programs[name] = {"source_hash": now, "tools": tools}
        if (row["tools"]["plain"].get("status") or 0) < 0:
            programs[name]["crashes"] = True
    data["programs"] = {name: programs[name] for name in sorted(programs) if source_hash(name)}


def submission_hash(submission: str) -> str:
    """Return the hash of a submission's source; empty if it no longer exists. `submission` is LAB/FILE without the
    suffix."""
    lab, stem = submission.split("/")
    if not (file := next((SUBMISSIONS / lab).glob(f"{stem}.[cp]*"), None)):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        return hash_lines(wrong.source_of(lab, file.name, Path(folder)).read_text())


def count_inspected() -> int:
    """Return the number of wrong submissions in which Warplab must name a line."""
    return sum(
        "inspect" in entry for file in SUBMISSIONS.glob("*/wrong.json") for entry in json.loads(file.read_text())
    )


def select_answer(result: dict) -> dict:
    """Return one tool's answer for one submission, without its text. A failure of the program alone is no finding."""
    nothing = all(line.strip() in ("", NOTHING_FOUND) for line in result.get("output", "").splitlines())
    if result["verdict"] == "findings" and not result["lines"] and nothing:
        return {"verdict": "clean"}
    return {key: value for key, value in result.items() if key in ("verdict", "lines")}


def format_error(row: dict) -> str:
    """Return how a row of `submissions` differs from the format of compare_with_sanitizer.py; empty if it does not."""
    if missing := {"submission", "planted", "dataset", "tools"} - row.keys():
        return f"has no {', '.join(sorted(missing))}"
    planted = row["planted"]
    if not isinstance(planted, list) or [type(part) for part in planted] != [str, int]:
        return f"plants {planted}, which is not a cause and a line"
    if set(row["tools"]) != set(TOOLS):
        return f"was run under {', '.join(sorted(row['tools']))}, not under {', '.join(sorted(TOOLS))}"
    for tool, result in row["tools"].items():
        verdict = result.get("verdict")
        if verdict not in {"clean", "findings"} | NO_ANSWER:
            return f"has the verdict {verdict!r} of {tool}"
        if verdict == "findings" and "lines" not in result:
            return f"has findings of {tool} without lines"
    return ""


def add_submissions(data: dict, report: dict) -> None:
    """Add measurements. A tool's old answer stays until it answers again or the submission changes."""
    submissions = data.setdefault("submissions", {})
    for number, row in enumerate(report.get("submissions", []), 1):
        if error := format_error(row):
            sys.exit(
                f"Submission {number} ({row.get('submission', 'without a name')}) {error}. Is the file from "
                "compare_with_sanitizer.py --submissions, of this version?"
            )
        name = row["submission"]
        before, now = submissions.get(name, {}), submission_hash(name)
        known = before["tools"] if before.get("source_hash") == now else {}
        tools = newest({tool: select_answer(row["tools"][tool]) for tool in TOOLS}, known)
        dataset = row["dataset"] or (before.get("dataset", "") if known else "")
        submissions[name] = {"source_hash": now, "planted": row["planted"], "dataset": dataset, "tools": tools}
    data["submissions"] = {name: submissions[name] for name in sorted(submissions) if submission_hash(name)}


def add_counts(data: dict, report: dict) -> None:
    data["counts"] = [
        {
            "stage": f"{row['lab']}/{row['stage']}",
            "dataset": row["dataset"],
            "kernel": kernel["kernel"],
            "per_request": {name: pair for name, pair in kernel["per_request"].items() if pair != [None, None]},
        }
        for row in report["stages"]
        for kernel in row["kernels"]
        if kernel["ncu"]
    ]


def lines_of(result: dict) -> list[int]:
    return sorted({line for finding in result.get("findings", []) for line in finding["lines"]})


def why(row: dict, request: str) -> str:
    """Return the reason why Warplab's count differs from ncu's; empty if it is unknown."""
    reasons = WHY.get(row["stage"], {})
    return reasons.get(request, reasons.get("", ""))


def show_verdicts(entry: dict) -> str:
    words = []
    for tool in TOOLS:
        result = entry["tools"][tool]
        if result["verdict"] == "findings":
            lines = lines_of(result)
            words.append(
                f"{tool}: {'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}" if lines else tool
            )
    hung = [tool for tool in TOOLS if entry["tools"][tool]["verdict"] == "timeout"]
    if len(hung) == len(TOOLS):
        words.append("the program hangs")
    if entry.get("crashes"):
        words = ["the program crashes"]
    return "; ".join(words) or "nothing"


def table(names: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in [names, ["---"] * len(names), *rows]]


def planted_lines(program: str) -> list[int]:
    text = (FOLDER / "kernels" / f"{program}.cu").read_text()
    return [number for number, line in enumerate(text.splitlines(), 1) if "//! " in line]


def make_kinds(programs: dict[str, dict]) -> list[str]:
    rows = []
    for kind, about in KINDS.items():
        names = [file.stem for file in (FOLDER / "kernels").glob(f"{kind}_*.cu") if kind_of(file.stem) == kind]
        compared = [name for name in names if name in programs]
        with_lines = [name for name in compared if any(lines_of(programs[name]["tools"][tool]) for tool in TOOLS)]
        named = f"{len(with_lines)} of {len(compared)}" if compared else "not run"
        rows.append([f"`{kind}`", about, f"{len(names)} of {len(names)}", named])
    return table(["Kind", "Meaning", "Warplab names", "compute-sanitizer names"], rows)


def make_programs(programs: dict[str, dict]) -> list[str]:
    rows = []
    for name, entry in programs.items():
        if kind_of(name):
            rows.append([f"`{name}`", ", ".join(map(str, planted_lines(name))), show_verdicts(entry)])
    return table(["Program", "Lines that Warplab names", "compute-sanitizer"], rows)


def make_correct(programs: dict[str, dict]) -> list[str]:
    rows = []
    for name, entry in programs.items():
        for tool in TOOLS:
            for finding in entry["tools"][tool].get("findings", []) if not kind_of(name) else []:
                rows.append([f"`{name}`", tool, finding["words"]])
    return table(["Correct program", "Tool", "Report"], rows)


def show_answer(result: dict, line: int) -> str:
    if result["verdict"] != "findings":
        return result["verdict"]
    others = [str(other) for other in result["lines"] if other != line]
    words = [f"**line {line}**"] if line in result["lines"] else []
    words += [f"other line{'s' * (len(others) > 1)} {', '.join(others)}"] if others else []
    return "; ".join(words) or "report without a line"


def make_submissions(submissions: dict[str, dict]) -> list[str]:
    rows = []
    for name, entry in submissions.items():
        cause, line = entry["planted"]
        warplab = f"line {line}, on `{entry['dataset']}`" if entry["dataset"] else "not run"
        rows.append([f"`{name}`", f"`{cause}`", warplab, *(show_answer(entry["tools"][t], line) for t in TOOLS)])
    return table(["Submission", "Planted", "Warplab names", *TOOLS], rows)


def count_submissions(submissions: dict[str, dict]) -> str:
    """Return a sentence: in how many of the tested submissions Warplab and compute-sanitizer name the planted line."""
    tested = [
        entry for entry in submissions.values() if any(entry["tools"][t]["verdict"] not in NO_ANSWER for t in TOOLS)
    ]
    if not tested:
        return "This has not been measured yet."
    findings = [[entry["tools"][t] for t in TOOLS if entry["tools"][t]["verdict"] == "findings"] for entry in tested]
    with_line = sum(
        any(entry["planted"][1] in tool["lines"] for tool in tools)
        for entry, tools in zip(tested, findings, strict=True)
    )
    complete = [all(entry["tools"][t]["verdict"] not in NO_ANSWER for t in TOOLS) for entry in tested]
    silent = sum(not tools and all_ran for tools, all_ran in zip(findings, complete, strict=True))
    unknown = sum(not tools and not all_ran for tools, all_ran in zip(findings, complete, strict=True))
    warplab = sum(bool(entry["dataset"]) for entry in tested)
    unfinished = f" In {unknown}, no tool reports anything, but not all tools ran." if unknown else ""
    return (
        f"Warplab names the line in {warplab} of {len(tested)} submissions; compute-sanitizer names it in "
        f"{with_line}, reports something else in {len(tested) - with_line - silent - unknown} and nothing in {silent}."
        f"{unfinished}"
    )


def names_only_other_lines(entry: dict) -> bool:
    lines = [line for tool in TOOLS for line in entry["tools"][tool].get("lines", [])]
    return bool(lines) and entry["planted"][1] not in lines


def explain_submissions(submissions: dict[str, dict]) -> list[str]:
    names = [name for name, entry in submissions.items() if names_only_other_lines(entry)]
    return [f"- `{name}`: {OTHER_LINES.get(name, 'not explained yet')}." for name in names]


def make_counts(counts: list[dict]) -> list[str]:
    reasons: list[str] = []
    rows = []
    for row in counts:
        cells = []
        for request in REQUESTS:
            warplab, ncu = row["per_request"].get(request, [None, None])
            if warplab is None or ncu is None:
                cells.append("")
            elif warplab == ncu:
                cells.append(f"{warplab:.2f}")
            else:
                reason = why(row, request)
                reasons += [reason] if reason not in reasons else []
                cells.append(f"{warplab:.2f}, ncu {ncu:.2f} ({reasons.index(reason) + 1})")
        rows.append([f"`{row['stage']}`", f"`{row['kernel']}`", *cells])
    lines = table(["Stage", "Kernel", *REQUESTS.values()], rows)
    return [*lines, "", *(f"{i}. {reason[0].upper()}{reason[1:]}." for i, reason in enumerate(reasons, 1))]


def describe_programs(tested: int, known: int) -> str:
    if tested == known:
        return f"all {known} programs, with its four tools ({SETTINGS})."
    return (
        f"{tested} of the {known} programs, with its four tools ({SETTINGS}). Programs that are newer, or that nvcc "
        "did not compile, did not run."
    )


def make_document(data: dict) -> str:
    programs = {name: entry for name, entry in data["programs"].items() if source_hash(name) == entry["source_hash"]}
    submissions = {
        n: entry for n, entry in data.get("submissions", {}).items() if submission_hash(n) == entry["source_hash"]
    }
    unanswered = {
        name: [tool["verdict"] in NO_ANSWER for tool in entry["tools"].values()] for name, entry in programs.items()
    }
    hanging = [name for name, tools in unanswered.items() if all(tools)]
    template = (FOLDER / "COMPARED.template.md").read_text()
    blocks = {
        "sanitizer": data["sanitizer"],
        "machine": data["machine"],
        "programs": describe_programs(len(programs), len(list((FOLDER / "kernels").glob("*.cu")))),
        "hanging": str(len(hanging)),
        "unfinished": str(sum(map(any, unanswered.values())) - len(hanging)),
        "kinds_table": "\n".join(make_kinds(programs)),
        "programs_table": "\n".join(make_programs(programs)),
        "correct_table": "\n".join(make_correct(programs)),
        "submissions_tested": str(len(submissions)),
        "submissions": str(count_inspected()),
        "submissions_count": count_submissions(submissions),
        "submissions_table": "\n".join(make_submissions(submissions)) if submissions else "",
        "submissions_explained": "\n".join(explain_submissions(submissions)),
        "counts_table": "\n".join(make_counts(data["counts"])),
    }
    for name, text in blocks.items():
        template = template.replace(f"{{{name}}}", text)
    return template


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitizer", type=Path)
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--machine", help="where the new measurements are from")
    options = parser.parse_args()
    data = json.loads(DATA.read_text()) if DATA.exists() else {"schema": 1}
    if options.sanitizer:
        report = json.loads(options.sanitizer.read_text())
        add_sanitizer_results(data, report)
        add_submissions(data, report)
    if options.counts:
        add_counts(data, json.loads(options.counts.read_text()))
    if options.machine:
        data["machine"] = options.machine
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    DOCUMENT.write_text(make_document(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
