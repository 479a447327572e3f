"""The dependencies by which make decides which files to compile again."""

from __future__ import annotations

import os
import subprocess

BUILD = os.environ.get("BUILD") or "build"


def test_oracles_are_rebuilt_if_one_of_their_headers_changes(root):
    """The program cannot load an oracle that was compiled with an old header."""
    command = ["make", "-pn", "-f", "grader/build.mk", f"BUILD={BUILD}", "program"]
    output = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    (rule,) = (line for line in output.splitlines() if line.startswith(f"{BUILD}/precompiled/labs.h.gch:"))
    assert "grader/model/manifest.h" in rule


def test_the_test_program_is_relinked_if_a_test_is_deleted(root):
    """A deleted file has no time that make could compare, so make compares the list of names with the previous list."""
    command = ["make", "-pn", "-f", "grader/build.mk", f"BUILD={BUILD}", "tests"]
    output = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    (rule,) = (line for line in output.splitlines() if line.startswith(f"{BUILD}/tests:"))
    assert f"{BUILD}/test-objects" in rule
