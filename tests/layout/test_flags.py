"""The benchmark of the CPU backend compiles as the judge does."""

from __future__ import annotations

import re


def flags_of_the_judge(root, function: str) -> list[str]:
    text = (root / "grader/judge/compile/toolchain.cpp").read_text()
    body = re.search(rf"Flags {function}\(.*?\n\}}", text, re.DOTALL)[0]
    return re.findall(r'"(-[^"]*)"', body)


def flags_of_the_benchmark(root, variable: str) -> list[str]:
    text = (root / "grader/cpu/bench/bench.mk").read_text().replace("\\\n", " ")
    return re.search(rf"^{variable} := (.*)$", text, re.MULTILINE)[1].split()


def test_students_flags_are_the_same(root):
    assert flags_of_the_benchmark(root, "STUDENT_FLAGS") == flags_of_the_judge(root, "student_cpu_flags")


def test_timed_programs_have_no_hooks(root):
    assert flags_of_the_benchmark(root, "FAST_FLAGS") == flags_of_the_judge(root, "fast_cpu_flags")


def test_split_programs_are_optimised_alike(root):
    assert flags_of_the_benchmark(root, "SPLIT_FLAGS") == flags_of_the_judge(root, "split_cpu_flags")


def test_the_runtimes_flags_are_the_same(root):
    judge = [flag for flag in flags_of_the_judge(root, "harness_flags") if flag not in ("-x", "-I")]
    assert flags_of_the_benchmark(root, "RUNTIME_FLAGS") == judge
