"""Make a copy of the project in which a key replaces each sentence of the judge and the runtime.

This file lists the sentences of other programs that the judge reads; they stay. If a decision of the judge depended on
any other sentence, the copy would decide differently.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.labs.conftest import BUILD, ROOT

# Parts whose sentences are replaced.
WITH_SENTENCES = ["grader/judge", "grader/runner", "grader/cpu/runtime", "grader/cpu/include", "grader/model/score.cpp"]
COPIED = ["datasets", "grader", "labs", "solutions", "starter"]
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|^[ ]*\#[^\n]*(?:\\\n[^\n]*)*"""
    r"""|'(?:\\.|[^'\\\n])+'|(?P<text>"(?:\\.|[^"\\\n])*")""",
    re.DOTALL | re.MULTILINE,
)
SENTENCE = re.compile(r"[A-Za-z’'`]{2,}[,;:]? [a-z]{2,}")
# Text that GCC, its linker, nvcc, the C++ library, compute-sanitizer and Linux print, and that the judge reads.
FOREIGN = re.compile(
    "|".join(
        map(
            re.escape,
            [
                "terminate called after throwing an instance of",
                "Assembler messages:",
                "internal compiler error: ",
                "Killed signal terminated program",
                "File size limit exceeded signal terminated program",
                "relocation truncated",
                "No such file or directory",
                "Permission denied",
                "cannot open source file",
                "extended character",
                "at end of input",
                "was not declared in this scope",
                "is undefined",
                "conflicting declaration",
                "redeclaration of",
                "too few arguments",
                "too many arguments",
                "no matching function for call",
                "cannot convert",
                "invalid conversion",
                "is incompatible with parameter",
                'expected a \\";\\"',
                ": in function ",
                "multiple definition of `",
                "undefined reference to `",
                "Saved host backtrace",
                "Host Frame",
                "model name",
                "search starts here:",
                "End of search list",
            ],
        )
    )
)
# Files that only read the output of compilers.
READERS = {"diagnostics.cpp", "contract.cpp", "remedy.cpp", "resources.cpp", "toolchain.cpp", "symbols.cpp"}


def without_sentences(text: str, keys: list[str]) -> str:
    """Replace each literal that contains a sentence by a key, and add the literal to `keys`."""

    def replace(token: re.Match) -> str:
        literal = token["text"]
        if literal is None or not SENTENCE.search(literal) or FOREIGN.search(literal):
            return token[0]
        keys.append(literal)
        return f'"w{len(keys)}"'

    return TOKEN.sub(replace, text)


def files_with_sentences(root: Path) -> list[Path]:
    files = []
    for part in WITH_SENTENCES:
        path = root / part
        files += [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
    return [file for file in files if file.suffix in (".cpp", ".h", ".inc") and file.name not in READERS]


def make_copy(folder: Path) -> int:
    """Copy the project, replace its sentences, and build the judge. Return the number of replaced literals."""
    for part in COPIED:
        shutil.copytree(ROOT / part, folder / part)
    keys: list[str] = []
    for file in files_with_sentences(folder):
        file.write_text(without_sentences(file.read_text(), keys))
    build = (ROOT / BUILD).resolve()
    for part in ("labs", "cpu"):
        shutil.copytree(build / part, folder / "build" / part)
    flags = "CXXFLAGS=-std=c++20 -O1 -fPIC -pthread -I. -MMD -MP -w"
    command = ["make", "-j2", "-f", "grader/build.mk", flags, "build/warplab"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return len(keys)
