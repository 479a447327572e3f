"""A new lab works: its solution passes, its starter fails, and its wrong submission fails for the stated cause."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.layout.tree import copy_harness, project_files
from tests.python.support import ROOT, run_module
from tests.share import ALL_ROWS

BUILD = Path(os.environ.get("WARPLAB_BUILD") or ROOT / "build")

NEEDED_BY_ORACLE_TESTS = [Path("tests/paths.h"), Path("tests/labs/oracle_case.h")]

pytestmark = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")


@pytest.fixture
def project() -> Iterator[Path]:
    """Yield a copy of the grader and its built programs, with a new lab, in a folder that sandboxed users can read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        built = [BUILD / "warplab", BUILD / "cpu/rewrite"]
        sources = [file for file in project_files() if file.parts[0] == "grader"] + NEEDED_BY_ORACLE_TESTS
        for file in [ROOT / file for file in sources] + built:
            copy = folder / (Path("build") / file.relative_to(BUILD) if file in built else file.relative_to(ROOT))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        copy_harness(folder / "build/cache")
        assert run_module("grader.python.release.new_lab", "scratch", "--root", folder).returncode == 0
        build_oracle(folder)
        yield folder


def build_oracle(folder: Path) -> None:
    oracle = folder / "build/labs/scratch/oracle.so"
    oracle.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-fopenmp", "-fPIC", "-shared", "-I."]
    run_in(folder, "g++", *flags, "-o", oracle, "labs/scratch/oracle.cpp")


def run_in(folder: Path, *command: str | Path) -> None:
    """Run a command with the folder's own build. It must succeed and print only to stdout."""
    environment = {name: value for name, value in os.environ.items() if name != "WARPLAB_BUILD"}
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


def judge_objects() -> list[Path]:
    """Return the judge's objects that build/tests links: one per unit, and one per file that is compiled alone."""
    alone = [file.with_suffix(".o") for file in project_files() if file.name in ("version.cpp", "image.cpp")]
    return [
        *(file for file in alone if file.parts[0] == "grader"),
        *map(Path, ("base.o", "bench.o", "compile.o", "json.o", "judge.o")),
    ]


def judge(project: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run the judge, and return the exit status and the stage's report."""
    report = project / "report.json"
    report.unlink(missing_ok=True)
    command = ["build/warplab", *arguments, "--backend", "cpu", "--json", str(report)]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=120)
    assert report.exists(), result.stdout + result.stderr
    return result.returncode, json.loads(report.read_text())["stages"][0]


def test_the_skeleton_is_a_complete_lab(project: Path) -> None:
    """All of this is one test, because building takes most of the time."""
    status, stage = judge(project, "check", "scratch", "--tree", "solutions")
    assert (status, stage["verdict"], stage["compilation"]["log"]) == (0, "passed", "")

    status, stage = judge(project, "check", "scratch", "--tree", "starter")
    assert (status, stage["verdict"], stage["compilation"]["log"]) == (1, "failed", "")

    (wrong,) = json.loads((project / "tests/labs/scratch/wrong.json").read_text())
    source = f"tests/labs/scratch/{wrong['file']}"
    status, stage = judge(project, "check", "scratch", wrong["stage"], "--source", source)
    failure = next(check["failure"] for check in stage["checks"] if check["failure"])
    assert (status, stage["verdict"], failure["cause"]) == (1, wrong["verdict"], wrong["cause"])
    assert wrong["message_contains"] in failure["message"]

    (solution,) = (project / "solutions/scratch").glob("*.cu")
    for share, passes in (("0x1p-24f", True), ("0x1p-22f", False)):  # the first one changes only the last bit
        rounded = project / "rounded.cu"
        rounded.write_text(solution.read_text().replace("factor * in[i]", f"factor * in[i] + factor * in[i] * {share}"))
        status, stage = judge(project, "check", "scratch", solution.stem, "--source", "rounded.cu")
        assert (stage["verdict"] == "passed") == passes, stage["checks"]

    objects = [BUILD / "objects" / name for name in judge_objects()]
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Wno-array-bounds", "-rdynamic", "-I."]
    libraries = ["-lgtest_main", "-lgtest", "-lfmt", "-lcrypto", "-lseccomp", "-lgomp", "-ldl", "-pthread"]
    run_in(project, "g++", *flags, "-o", "tests/run", "tests/labs/scratch/oracle_test.cpp", *objects, *libraries)
    run_in(project, "tests/run")


def replace_in(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in pairs:
        assert old in text, (file, old)
        text = text.replace(old, new)
    file.write_text(text)


@pytest.mark.skipif(not ALL_ROWS, reason="takes minutes: ONLY=new_lab runs it")
def test_a_buffer_can_hold_both_the_input_and_the_output(project: Path) -> None:
    """Change the skeleton to one buffer: values[i] *= factor."""
    lab = project / "labs/scratch"
    out = '{"name": "out", "type": "float32", "role": "output", "about": "n elements: factor * in[i]"}'
    replace_in(
        lab / "lab.json", ('"role": "input", "about": "n elements"},', '"role": "inout", "about": "n"}'), (out, "")
    )
    replace_in(
        lab / "oracle.cpp",
        ("enum Buffer { in, out };", "enum Buffer { in = 0, out = 0 };"),
        ("__restrict", ""),
        (", Array(ElementType::float32, count)}", "}"),
        ("[&](std::size_t i) { return from[i]; }", "[&](std::size_t i) { return output.before[i]; }"),
        ("[&] { return output.guess_unwritten({}); }, ", ""),
    )
    replace_in(lab / "driver.cu", ("call.buffer<float>(1)", "call.buffer<float>(0)"))
    build_oracle(project)
    status, stage = judge(project, "check", "scratch", "--tree", "solutions")
    assert (status, stage["verdict"], stage["check_mode"]["findings"]) == (0, "passed", [])

    (solution,) = (project / "solutions/scratch").glob("*.cu")
    for old, new, cause in [
        ("out[i] = factor * in[i]", "out[i] = factor * factor * in[i]", "wrong_value"),
        ("out[i] = factor * in[i]", "(void)out, (void)in, (void)factor", "factor_forgotten"),
        ("out[i] = factor * in[i]", "out[i] = factor * in[i + 1]", "race"),
    ]:
        text = solution.read_text()
        wrong = project / "wrong.cu"
        wrong.write_text(text.replace(old, new))
        status, stage = judge(project, "check", "scratch", "01", "--source", str(wrong), "--no-check-mode")
        causes = [check["failure"]["cause"] for check in stage["checks"] if check["failure"]]
        assert (status, causes[:1]) == (1, [cause]), (new, causes)

    status, stage = judge(project, "grade", "scratch", "--tree", "solutions", "--force", "--no-nvcc")
    assert (status, stage["verdict"]) == (0, "passed"), stage
    assert [measurement["dataset"] for measurement in stage["measurements"]] == ["timed"]
