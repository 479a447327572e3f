"""Plant words in the secret places of a course. A hand-in that searches all readable files must not find them, and
the student's results must not contain them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.python.batch.outputs.feedback import redact
from grader.python.batch.outputs.report_page import make_page
from grader.python.batch.outputs.report_text import describe_report
from grader.python.common.report import read_report
from tests.hostile.test_hostile import HONEST, LAB, STAGE
from tests.hostile.without import without
from tests.labs.conftest import BUILD, ROOT
from tests.share import THOROUGH

SEARCHER = Path(__file__).parent / "canaries/searches_everywhere.cu"
SECRET = "ca" * 32
FINDABLE = "canary_that_may_be_found"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course with planted words in its hidden datasets' recipes, its secret, a solution and a hand-in."""
    root = tmp_path_factory.mktemp("course")
    for folder in (root, *root.parents[:-2]):  # so that only the sandbox protects the course
        folder.chmod(0o755)
    for part in ("labs", "datasets", "solutions", "grader"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", ".secret"))
    hidden = root / "datasets" / LAB / "hidden.json"
    recipes = json.loads(hidden.read_text())
    for number, recipe in enumerate(recipes["datasets"]):
        recipe["name"] = f"hidden_canary_dataset_{number}"
        recipe["about"] = "canary_about_a_dataset"
    hidden.write_text(json.dumps(recipes))
    secret = root / "datasets/.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    with (root / "solutions" / LAB / f"{STAGE}.cu").open("a") as solution:
        solution.write("// canary_in_a_solution\n")
    (root / "work" / LAB).mkdir(parents=True)
    (root / "work" / LAB / f"{STAGE}.cu").write_text("// canary_of_another_student\n" + HONEST.read_text())
    return root


def grade(course: Path, source: Path, folder: Path, *missing: str, options: Sequence[str] = ()) -> tuple[Path, str]:
    """Grade a file with a planted word in the judge's environment. Return the report and the output."""
    report = folder / "report.json"
    build = (ROOT / BUILD).resolve()
    command = [build / "warplab", "grade", LAB, STAGE, "--source", source, "--backend", "cpu", "--build", build]
    command += ["--no-nvcc", "--no-check-mode", "--json", report, "--report-dir", folder, *options]
    process = subprocess.run(
        [*without(*missing), *map(str, command)],
        cwd=course,
        env=os.environ | {"CANARY": "canary_in_the_environment"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "needs a sandbox" in process.stderr:
        pytest.skip("no sandbox is available")
    assert report.exists(), process.stdout + process.stderr
    return report, process.stdout + process.stderr


@pytest.mark.parametrize("missing", ["", *(["bwrap"] if THOROUGH and os.geteuid() == 0 else [])])
def test_a_program_finds_no_planted_secret(course: Path, tmp_path: Path, missing: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    grade(course, course / "work" / LAB / f"{STAGE}.cu", other)  # so that its compiled program is in the cache
    source = tmp_path / "handed in" / f"{STAGE}.cu"
    source.parent.mkdir()
    source.write_text(SEARCHER.read_text().replace("@FINDABLE@", FINDABLE))
    report, printed = grade(course, source, tmp_path, *missing.split())
    assert not missing or json.loads(report.read_text())["sandbox"] == "uid"
    stage = json.loads(report.read_text())["stages"][0]
    assert stage["verdict"] == "passed", printed
    assert "searched " in stage["output"]
    matches = {line for line in stage["output"].splitlines() if line.startswith("FOUND")}
    assert any(FINDABLE in line for line in matches)
    is_cut_off = f"FOUND {FINDABLE}".startswith  # where the output was shortened
    assert not [line for line in matches if FINDABLE not in line and not is_cut_off(line)]

    redacted = tmp_path / "redacted.json"
    redacted.write_text(json.dumps(redact(json.loads(report.read_text()))))
    page = make_page([read_report(redacted)])
    for output in (redacted.read_text(), describe_report(read_report(report)), str(page)):
        assert "canary" not in output
        assert SECRET not in output
    assert SECRET not in report.read_text() + printed
    assert "canary_dataset" in report.read_text()  # the instructor's report shows that the words were planted


def hidden_inputs(course: Path, folder: Path, comment: str) -> str:
    """Return the line in which a program prints inputs of a hidden dataset. `comment` makes the program different."""
    shows = r'__global__ void shows(const int* a) { printf("FIRST %d %d\n", a[0], a[1]); }'
    text = HONEST.read_text().replace("\nvoid dot_product(", f"\n{shows}\nvoid dot_product(")
    text = text.replace("/*scratch*/) {", "/*scratch*/) { if (n) shows<<<1, 1>>>(a);")
    folder.mkdir()
    source = folder / f"{STAGE}.cu"
    source.write_text(f"#include <cstdio>\n// {comment}\n{text}")
    report, printed = grade(course, source, folder, options=["--dataset", "hidden_canary_dataset_2"])
    stage = json.loads(report.read_text())["stages"][0]
    assert stage["verdict"] == "passed", printed
    return next(line for line in stage["output"].splitlines() if line.startswith("FIRST"))


def test_each_file_has_its_own_hidden_inputs(course: Path, tmp_path: Path) -> None:
    """Hidden data that one program stores anywhere must be of no use to another one."""
    first = hidden_inputs(course, tmp_path / "first", "of one student")
    assert first == hidden_inputs(course, tmp_path / "again", "of one student")
    assert first != hidden_inputs(course, tmp_path / "second", "of another student")
