"""Compare the results of the CPU backend and the sanitizer for the corpus with CUDA's rules; see README.md here.

`make test` runs a share of the rows of each expectation and kind; WARPLAB_THOROUGH=1 runs all.
`python3 -m tests.corpus.test_corpus` runs all rows and prints the three rates and the rows that fail;
`make soak` keeps both.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.labs.conftest import BACKEND, BUILD, NOT_MODELLED, ROOT
from tests.share import share_of

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="the sanitizer is part of the CPU backend")
CORPUS = ROOT / "tests/corpus"
ROWS = json.loads((CORPUS / "corpus.json").read_text())

# The sanitizer's causes for each kind of the corpus.
CAUSES = {
    "api_misuse": {"copy_direction", "copy_size", "failed_launch", "invalid_free"},
    "bad_mask": {"lane_mask", "absent_lane"},
    "barrier_divergence": {"divergent_barrier", "return_before_barrier"},
    "deadlock": set(),
    "double_free": {"invalid_free"},
    "host_access": {"host_memory", "device_memory"},
    "leak": {"leak"},
    "misaligned": {"misaligned"},
    "missing_fence": {"race", "atomic_race"},
    "missing_host_sync": {"unfinished_work"},
    "missing_syncwarp": {"race", "atomic_race"},
    "narrow_scope": {"race", "atomic_race"},
    "out_of_bounds": {"out_of_bounds", "copy_size"},
    "race": {"race", "atomic_race", "unfinished_work"},
    "return_before_barrier": {"return_before_barrier"},
    "uninitialised": {"uninitialised"},
    "use_after_free": {"use_after_free"},
}

# Causes of failed datasets for each kind of the corpus, if the message names the line.
FAILURES = {
    "api_misuse": {"cuda_error", "launch_failed"},
    "barrier_divergence": {"deadlock"},
    "deadlock": {"deadlock"},
    "double_free": {"cuda_error"},
    "out_of_bounds": {"crash"},
    "use_after_free": {"cuda_error", "crash"},
}

# Rows that do not get their expected outcome yet, by reason. Remove a row from here when it passes.
KNOWN_FAILURES = {
    "a barrier that some threads never reach is a note if the outputs are right": [
        "dot_product/02_barrier_in_branch.cu"
    ],
    "plain writes of one value are a note, which costs nothing": ["vector_add/02_stride_of_one_block.cu"],
}
KNOWN = {file: why for why, files in KNOWN_FAILURES.items() for file in files}


@dataclass
class Outcome:
    """The result of a student's command for a file: why it did not compile, or its findings and failures."""

    cause: str = ""
    message: str = ""
    passed: bool = False
    findings: list[dict] = field(default_factory=list)
    notes: list[dict] = field(default_factory=list)
    failures: list[dict] = field(default_factory=list)  # of datasets

    def __str__(self) -> str:
        sentences = [f"{finding['cause']} in line {finding['line']}" for finding in self.findings]
        sentences += [f"note: {note['cause']} in line {note['line']}" for note in self.notes]
        if self.cause:
            return f"{self.cause}: {self.message}"
        sentences += [f"{failure['cause']}: {failure['message']}" for failure in self.failures[:1]]
        return f"{'passed' if self.passed else 'failed'}; {', '.join(sentences) or 'no finding'}"


def run_row(row: dict, folder: Path) -> Outcome:
    """Inspect the file on small datasets. If it should pass, or did not get its outcome, check it on all datasets."""
    report = folder / "report.json"
    lab, stage = row["stage"].split("/")
    options = [lab, stage, "--source", CORPUS / row["file"], "--json", report, "--no-nvcc"]
    output, outcome = run_warplab("inspect", *options, *NOT_MODELLED), Outcome()
    if report.exists():
        inspection = json.loads(report.read_text())
        outcome.passed = inspection["passed"]
        outcome.findings = [finding for finding in inspection["findings"] if not finding["note"]]
        outcome.notes = [finding for finding in inspection["findings"] if finding["note"]]
        if row["expect"] != "accept" and is_expected(row, outcome):
            return outcome
        report.unlink()
    output += run_warplab("check", *options, "--backend", "cpu", "--no-check-mode")
    assert report.exists(), output
    checked = json.loads(report.read_text())["stages"][0]
    if refusal := checked["compilation"]["failure"]:
        return Outcome(refusal["cause"], refusal["message"])
    outcome.passed = outcome.passed and checked["verdict"] == "passed"
    outcome.failures = [check["failure"] for check in checked["checks"] if check["failure"]]
    return outcome


def run_warplab(*words: object) -> str:
    """Return the output of a command of build/warplab."""
    command = [str(word) for word in (BUILD / "warplab", *words)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    return process.stdout + process.stderr


def is_refused(row: dict, outcome: Outcome) -> bool:
    """Return whether the file was refused by name, with one of the row's names if it has any."""
    names = row.get("names", [""])
    return outcome.cause == "refused_feature" and any(name in outcome.message for name in names)


def is_found(row: dict, outcome: Outcome) -> bool:
    """Return whether the student sees one of the row's lines with a cause of one of its kinds. Notes are shown only if
    outputs are wrong."""
    kinds, lines = [row["kind"], *row.get("or_kinds", [])], set(row["lines"])
    causes = {cause for kind in kinds for cause in CAUSES[kind]}
    for finding in outcome.findings + ([] if outcome.passed else outcome.notes):
        if finding["cause"] in causes and {finding["line"], finding["other_line"]} & lines:
            return True
    causes_of_failures = {cause for kind in kinds for cause in FAILURES.get(kind, ())}
    for failure in outcome.failures:
        named_lines = map(int, re.findall(r"(?:\.cu:|line )(\d+)", failure["message"]))
        if failure["cause"] in causes_of_failures and lines & set(named_lines):
            return True
    return False


def is_expected(row: dict, outcome: Outcome) -> bool:
    """Return whether the row expects this outcome."""
    if row.get("may_refuse") and is_refused(row, outcome):
        return True
    if row["expect"] == "refuse":
        return is_refused(row, outcome)
    if outcome.cause:
        return False
    if row["expect"] == "finding":
        return is_found(row, outcome)
    return not outcome.findings and outcome.passed == (row["expect"] == "accept")


def run_all(rows: list[dict]) -> dict[str, Outcome]:
    """Run the rows in parallel, one on each core, and return the outcomes by file."""

    def run(row: dict) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            return run_row(row, Path(folder))

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        return dict(zip((row["file"] for row in rows), workers.map(run, rows), strict=True))


def measure(rows: list[dict], outcomes: dict[str, Outcome]) -> dict:
    """Return the three rates, each as [numerator, denominator]."""
    results = [(row, outcomes[row["file"]]) for row in rows]
    correct = [
        (row, out)
        for row, out in results
        if row["expect"] == "accept" and not (row.get("may_refuse") and is_refused(row, out))
    ]
    without_error = [out for row, out in results if row["expect"] in ("accept", "wrong") and not out.cause]
    seeded = [is_found(row, out) for row, out in results if row["expect"] == "finding"]
    return {
        "correct_accepted": [sum(is_expected(row, out) for row, out in correct), len(correct)],
        "falsely_accused": [sum(bool(out.findings) for out in without_error), len(without_error)],
        "seeded_bugs_found": [sum(seeded), len(seeded)],
    }


def disagreements(rows: list[dict], outcomes: dict[str, Outcome]) -> list[str]:
    """Return unexpected rows that are not in KNOWN, and rows in KNOWN that get their expected outcome."""
    lines = []
    for row in rows:
        file, outcome = row["file"], outcomes[row["file"]]
        if is_expected(row, outcome) == (file in KNOWN):
            lines.append(f"{file}: expected {row['expect']} {row.get('kind', '')}, got {outcome}")
    return lines


def chosen_rows() -> list[dict]:
    """Return every row, or a share of each expectation and kind."""
    return share_of(ROWS, lambda row: (row["expect"], row.get("kind", "")), lambda row: row["file"], 48)


@pytest.mark.parametrize("row", chosen_rows(), ids=lambda row: row["file"])
def test_a_row_gets_the_expected_outcome(row: dict, tmp_path: Path) -> None:
    outcome = run_row(row, tmp_path)
    if row["file"] in KNOWN:
        assert not is_expected(row, outcome), "This row gets its expected outcome now: remove it from KNOWN."
    else:
        assert is_expected(row, outcome), f"expected {row}, got {outcome}"


def test_known_rows_are_in_the_corpus() -> None:
    assert set(KNOWN) <= {row["file"] for row in ROWS}


def test_every_file_has_a_row() -> None:
    assert {row["file"] for row in ROWS} == {str(file.relative_to(CORPUS)) for file in CORPUS.glob("*/*.cu")}


def main() -> int:
    outcomes = run_all(ROWS)
    for name, (count, total) in measure(ROWS, outcomes).items():
        print(f"{name.replace('_', ' ')}: {count} of {total} ({100 * count / total:.1f}%)")
    for row in ROWS:
        if not is_expected(row, outcomes[row["file"]]):
            known = KNOWN.get(row["file"], "not known")
            expected = f"{row['expect']} {row.get('kind', '')} {row.get('lines', '')}".strip()
            print(f"{row['file']}: expected {expected}; {outcomes[row['file']]} [{known}]")
    lines = disagreements(ROWS, outcomes)
    print(f"{len(lines)} rows differ from KNOWN")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
