from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.setup.machine import STUB_JUDGE, Machine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(tmp_path) -> Machine:
    """Make a complete machine in a separate folder; tests remove parts of it."""
    return Machine(tmp_path / "machine")


@pytest.fixture
def checkout(tmp_path) -> Callable[..., Path]:
    """Return a function that makes a small checkout: the project's Makefile, build rules and scripts, one lab, and a
    judge that prints its arguments."""

    def make(name: str = "checkout") -> Path:
        folder = tmp_path / name
        (folder / "grader/judge/cli").mkdir(parents=True)
        (folder / "grader/model").mkdir()
        for file in ("Makefile", "warplab"):
            shutil.copy(ROOT / file, folder)
        for file in [*(ROOT / "grader").glob("*.sh"), ROOT / "grader/build.mk", ROOT / "grader/requirements.txt"]:
            shutil.copy(file, folder / "grader")
        for file in (ROOT / "grader/model").glob("version.*"):
            shutil.copy(file, folder / "grader/model")
        (folder / "grader/precompiled.h").write_text("// empty, so that it compiles quickly\n")
        (folder / "grader/judge/cli/main.cpp").write_text(STUB_JUDGE)
        (folder / "grader/cpu/rewriter").mkdir(parents=True)
        (folder / "grader/cpu/rewriter/main.cpp").write_text("int main() {}\n")
        (folder / "labs/sample").mkdir(parents=True)
        (folder / "labs/precompiled.h").write_text("// empty, so that it compiles quickly\n")
        (folder / "labs/sample/lab.json").write_text("{}\n")
        (folder / "labs/sample/oracle.cpp").write_text('extern "C" int warplab_oracle() { return 1; }\n')
        (folder / "starter/sample").mkdir(parents=True)
        (folder / "starter/sample/01_first.cu").write_text("\n")
        return folder

    return make
