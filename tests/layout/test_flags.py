"""Only the judge contains the flags for students' files; `build/warplab flags` prints them for make."""

from __future__ import annotations

import re


def test_no_other_file_repeats_the_flags(root, files):
    toolchain = "grader/judge/compile/toolchain.cpp"
    body = re.search(r"Flags student_cpu_flags\(.*?\n\}", (root / toolchain).read_text(), re.DOTALL)[0]
    flags = [flag for flag in re.findall(r'"(-f[^"]*)"', body) if "diagnostics" not in flag]
    assert len(flags) > 4
    for file in files:
        build_file = file.suffix == ".mk" or (file.parts[0] == "grader" and file.suffix != ".md")
        if build_file and file.as_posix() != toolchain:
            text = re.sub(r"//.*", "", (root / file).read_bytes().decode(errors="replace"))
            assert [flag for flag in flags if flag in text] == [], f"{file} repeats flags of {toolchain}"
