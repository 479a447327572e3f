"""The terminal output that README.md shows is what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.python.support import ROOT

PROGRAM = ROOT / (os.environ.get("BUILD") or "build") / "warplab"
BLOCK = re.compile(r"^```console\n\$ (?P<command>.*)\n(?P<output>[^`]*)^```", re.MULTILINE)


def read_block(verb: str) -> tuple[str, str]:
    """Return the command and the output that the README shows for a verb of make."""
    for block in BLOCK.finditer((ROOT / "README.md").read_text()):
        if block["command"].split()[1] == verb:
            return block["command"], block["output"]
    raise AssertionError(f"README.md shows no  make {verb}")


def run_program(*arguments: str | Path) -> str:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    command = [PROGRAM, *arguments, "--backend", "cpu", "--build", PROGRAM.parent]
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    ).stdout


def test_the_failing_check_in_the_readme_equals_the_output():
    command, output = read_block("check")
    variables = dict(word.split("=", 1) for word in command.split() if "=" in word)
    printed = run_program("check", variables["LAB"], variables["STAGE"], "--source", variables["SOURCE"])
    assert printed.partition("\n01_")[2] == output.removeprefix("01_")  # the lines above it name this machine's CPU


def test_the_finding_in_the_readme_equals_the_output():
    command, output = read_block("inspect")
    variables = dict(word.split("=", 1) for word in command.split() if "=" in word)
    assert output in run_program("inspect", variables["LAB"], variables["STAGE"], "--source", variables["SOURCE"])


def test_the_demo_tables_in_the_readme_equal_the_output(tmp_path):
    """Other labs can have longer names, which make the columns wider, so widths are not compared."""

    def squeeze(text: str) -> str:
        return re.sub(" +", " ", text)

    _, output = read_block("demo")
    labs = re.findall(r"^(\w+): .* points", output, re.MULTILINE)
    assert labs
    for lab in labs:
        as_demo = ("--tree", "solutions", "--no-check-mode", "--no-nvcc", "--report-dir", tmp_path)
        tables = run_program("grade", lab, *as_demo).partition("\nstage ")[2]
        for paragraph in f"stage {tables}".partition("\nReports:")[0].strip().split("\n\n"):
            assert squeeze(paragraph) in squeeze(output)
