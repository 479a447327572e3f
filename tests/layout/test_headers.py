"""Headers and sources compile alone, the precompiled header instantiates few templates, and the runtime exports what
its headers declare."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.layout.tree import BUILD, ROOT, project_files
from tests.share import share_of

FOR_CLANG = "grader/editor/"
HEADERS = [
    file
    for file in project_files()
    if file.parts[0] in ("grader", "labs") and not str(file).startswith(FOR_CLANG)
    if file.suffix == ".h" or (file.parts[:3] == ("grader", "cpu", "include") and file.suffix in ("", ".cuh"))
]
# The build compiles the files of a folder together, so a missing #include would go unnoticed.
COMPILED_TOGETHER = ("grader/common", "grader/model", "grader/judge/", "grader/cpu/rewriter/")
SOURCES = [file for file in project_files() if file.suffix == ".cpp" and str(file).startswith(COMPILED_TOGETHER)]


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.parametrize("header", share_of(HEADERS, lambda file: file.parts[0], str, 40), ids=str)
def test_header_compiles_alone(header):
    # Headers for students' code are C++17; some of the others include cuda_runtime.h.
    students = header.name == "lab.h" or header.parts[:3] == ("grader", "cpu", "include")
    standard = "-std=c++17" if students else "-std=c++20"
    command = [
        "g++",
        standard,
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-fmax-errors=3",
        "-fopenmp",
        "-I.",
        f"-I{BUILD}",
        "-Igrader/cpu/include",
    ]
    command += ["-include", str(header), "-x", "c++", "/dev/null"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0 or result.stderr:
        pytest.fail(result.stderr[:2000], pytrace=False)


@pytest.mark.skipif(not os.environ.get("WARPLAB_THOROUGH"), reason="takes minutes: WARPLAB_THOROUGH=1 runs it")
@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_source_compiles_alone(source):
    command = ["g++", "-std=c++20", "-fsyntax-only", "-fmax-errors=3", "-I.", f"-I{BUILD}", str(source)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:2000]


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.parametrize("macro", ["WARPLAB_CPU_HOOKED", "WARPLAB_CPU_FAST", "WARPLAB_CPU_ALGORITHM"])
def test_a_file_with_the_precompiled_header_instantiates_few_templates(tmp_path, macro):
    header = ROOT / "grader/cpu/include/cuda_runtime.h"
    flags = ["-std=c++17", "-O1", f"-D{macro}", f"-I{tmp_path}", f"-I{header.parent}"]
    subprocess.run(["g++", *flags, "-x", "c++-header", header, "-o", tmp_path / "cuda_runtime.h.gch"], check=True)
    (tmp_path / "empty.cpp").touch()
    command = ["g++", *flags, "-Winvalid-pch", "-include", "cuda_runtime.h", "-c", "empty.cpp"]
    subprocess.run([*command, "-fdump-tree-original=dump"], cwd=tmp_path, check=True)
    instantiated = re.findall(r"^;; Function (.*\[with .*)", (tmp_path / "dump").read_text(), re.MULTILINE)
    assert [name for name in instantiated if " std::" not in name] == []
    assert len(instantiated) < 20  # inline functions of <cmath>, such as std::fmin


DECLARATION = re.compile(
    r"^(?:\[\[noreturn\]\] |__attribute__\(\(.*?\)\) )*(?:const )?\w+[ *&]+(\w+)\([^;{}]*?\)"
    r'(?: noexcept)?(?: __asm__\("(\w+)"\))?;',
    re.MULTILINE,
)


def declared_functions() -> set[str]:
    """Return the functions that the runtime defines for students' files."""
    texts = [file.read_text() for file in (ROOT / "grader/cpu/include/warplab_cpu").glob("*.h")]
    plain = [text.replace("= {}", "") for text in texts]
    return {symbol or name for text in plain for name, symbol in DECLARATION.findall(text)}


def exported_functions(folder) -> set[str]:
    """Return the names that remain visible after objcopy --localize-hidden."""
    command = ["g++", "-std=c++20", "-fvisibility=hidden", "-pthread", "-I.", "-c"]
    sources = sorted((ROOT / "grader/cpu/runtime").glob("*.cpp"))
    objects = [str(folder / f"{source.stem}.o") for source in sources]
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                lambda source, to: subprocess.run([*command, source, "-o", to], cwd=ROOT, check=True), sources, objects
            )
        )
    for file in objects:
        subprocess.run(["objcopy", "--localize-hidden", file], check=True)
    symbols = subprocess.run(["nm", "-C", "--defined-only", "-g", *objects], capture_output=True, text=True, check=True)
    return set(re.findall(r" [TWi] (?:warplab_cpu::)?(\w+)(?:\(|$)", symbols.stdout, re.MULTILINE))


@pytest.mark.skipif(not os.environ.get("WARPLAB_THOROUGH"), reason="compiles the runtime: WARPLAB_THOROUGH=1 runs it")
@pytest.mark.skipif(not shutil.which("g++") or not shutil.which("nm"), reason="no g++ or binutils")
def test_runtime_exports_what_its_headers_declare(tmp_path):
    declared = declared_functions()
    assert {"cudaMalloc", "__trap", "warp_shuffle", "run_pending"} <= declared
    assert sorted(declared - exported_functions(tmp_path)) == []
