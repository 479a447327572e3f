"""Editors understand a student's .cu file: clangd parses it without a CUDA Toolkit, and VS Code finds the places in the
judge's messages.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.setup.conftest import ROOT
from tests.share import share_of

FILES = [*sorted(ROOT.glob("starter/*/*.cu")), *sorted(ROOT.glob("solutions/*/*.cu"))]
PATTERNS = {
    task["label"]: task["problemMatcher"]["pattern"]["regexp"]
    for task in json.loads((ROOT / ".vscode/tasks.json").read_text())["tasks"]
    if task["problemMatcher"]
}


@pytest.fixture
def clangd(checkout, machine):
    """Return a function that writes a text to a file in work/ and returns clangd's errors about it."""
    if not shutil.which("clangd"):
        pytest.skip("clangd is not installed")
    folder = checkout('a folder "with" quotes\'')
    for part in ("labs", "starter", "grader"):
        shutil.rmtree(folder / part)
    (folder / "grader").mkdir()
    for part in (
        "labs",
        "starter",
        "grader/cpu",
        "grader/editor",
        "grader/runner",
        "grader/setup.sh",
        "grader/course.sh",
        ".clangd",
    ):
        (folder / part).symlink_to(ROOT / part)
    machine.run("sh", "-c", "./warplab start vector_add", cwd=folder)  # nothing can be built there

    def errors(lab: str, text: str) -> list[str]:
        file = folder / "work" / lab / "01_mine.cu"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        command = ["clangd", f"--check={file}"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert "compile_commands.json" in result.stderr
        return [line for line in result.stderr.splitlines() if re.match(r"E\[[\d:.]+\] \[", line)]

    return errors


@pytest.mark.parametrize(
    "file",
    share_of(FILES, lambda file: file.parent.parent.name, str, 16),
    ids=lambda file: f"{file.parent.parent.name}-{file.parent.name}-{file.stem}",
)
def test_clangd_finds_no_error(clangd, file: Path) -> None:
    assert clangd(file.parent.name, file.read_text()) == []


def test_clangd_finds_a_mistake(clangd) -> None:
    text = (ROOT / "solutions/vector_add/01_one_thread_per_element.cu").read_text()
    assert any("Line" in error and "'aa'" in error for error in clangd("vector_add", text.replace("a[i] +", "aa[i] +")))


@pytest.mark.parametrize(
    ("label", "line", "expected"),
    [
        (
            "Warplab: check this file",
            "    work/vector_add/01_one.cu:14:25: error: ‘aa’ was not declared in this scope",
            ("work/vector_add/01_one.cu", "14", "25", "error", "‘aa’ was not declared in this scope"),
        ),
        ("Warplab: inspect this file", "work/dot_product/02.cu:10: race", ("work/dot_product/02.cu", "10", "race")),
    ],
)
def test_vs_code_finds_the_place_of_a_message(label: str, line: str, expected: tuple[str, ...]) -> None:
    assert re.match(PATTERNS[label], line).groups() == expected


def test_the_container_has_all_packages_of_the_setup() -> None:
    dockerfile = (ROOT / ".devcontainer/Dockerfile").read_text()
    script = (ROOT / "grader/setup.sh").read_text().partition('[ "$1" = demo ] && return')[0]
    for package in re.findall(r"^    need (\S+) ", script, re.MULTILINE):
        assert re.search(rf"\s{re.escape(package)}\s", dockerfile), package
    assert json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["build"]["dockerfile"] == "Dockerfile"
