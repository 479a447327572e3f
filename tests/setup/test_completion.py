"""Completion of ./warplab and make, in each shell that is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.setup.conftest import ROOT

FOLDER = ROOT / "grader/completion"
IN_BASH = """source {folder}/warplab.bash
COMP_LINE=$1 COMP_POINT=${{#1}}; read -ra COMP_WORDS <<<"$1"
_warplab 2>/dev/null  # compopt needs a terminal
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
IN_ZSH = """compdef() {{ }}; compadd() {{ shift $(( ${{@[(i)--]}} )); print -rl -- $@ }}
words=("${{(@s: :)1}}") CURRENT=$#words
() {{ source {folder}/_warplab }} | grep "^${{words[-1]}}"
"""
IN_FISH = """source {folder}/warplab.fish
complete -C "$argv[1]" | cut -f1
"""


def in_bash(line: str, folder: Path) -> list[str]:
    return completions(["bash", "--norc", "-c", IN_BASH.format(folder=FOLDER), "bash", line], folder)


def in_zsh(line: str, folder: Path) -> list[str]:
    return completions(["zsh", "-f", "-c", IN_ZSH.format(folder=FOLDER), "zsh", line], folder)


def in_fish(line: str, folder: Path) -> list[str]:
    return completions(["fish", "--no-config", "-c", IN_FISH.format(folder=FOLDER), line], folder)


def completions(command: list[str], folder: Path) -> list[str]:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout.split()


@pytest.fixture(params=[in_bash, in_zsh, in_fish])
def complete(request, checkout) -> Callable[[str], list[str]]:
    folder = checkout()
    (folder / "labs/other").mkdir()
    (folder / "labs/other/lab.json").write_text('{\n  "order": 1\n}\n')
    (folder / "work/sample").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder / "work/sample")
    return lambda line, place=".": request.param(line, folder / place)


def test_verbs_labs_and_stages_are_completed(complete) -> None:
    assert complete("./warplab che") == complete("make che") == ["check"]
    assert complete("./warplab check sam") == ["sample"]
    assert complete("./warplab check sample 0") == ["01_first"]
    assert complete("../../warplab check 0", "work/sample") == ["01_first"]
    assert complete("make insp", "work/sample") == ["inspect"]


def test_variables_and_their_values_are_completed(complete) -> None:
    assert complete("make check DATAS")[0].startswith("DATASET=")
    assert [word.removeprefix("LAB=") for word in complete("make check LAB=sam")] == ["sample"]
    assert [word.removeprefix("STAGE=") for word in complete("make check LAB=sample STAGE=0")] == ["01_first"]
    assert [word.removeprefix("BACKEND=") for word in complete("./warplab check BACKEND=cp")] == ["cpu"]


def test_make_completes_no_value_without_a_variable(complete) -> None:
    assert "sample" not in complete("make check sam")  # fish offers LAB=sample


def test_make_in_another_folder_is_not_completed(complete) -> None:
    assert complete("make che", "labs") == []
