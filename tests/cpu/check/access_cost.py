"""Prints what an access costs in check mode: the least of five runs, in ns of processor time.

python3 tests/cpu/check/access_cost.py     (in .venv; needs build/cpu/rewrite)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.cpu.check.test_check_mode import CHECK_FLAGS, build_program, compile_runtime, start

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        objects = compile_runtime(folder, "g++")
        program = build_program(Path(__file__).with_name("access_cost.cu"), objects, folder, *CHECK_FLAGS)
        print(start(program).stdout, end="")
