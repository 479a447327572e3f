"""A simulated machine: folders with links and files, from which tests can remove programs and packages."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

HEADERS = [
    "nlohmann/json.hpp",
    "CLI/CLI.hpp",
    "fmt/format.h",
    "openssl/evp.h",
    "seccomp.h",
    "stb/stb_image.h",
    "gtest/gtest.h",
    "gmock/gmock.h",
]

STUB_JUDGE = """#include <cstdio>
#include "grader/model/version.h"
int main(int count, char** words) {
    std::printf("judge:");
    for (int i = 1; i < count; i++) std::printf(" [%s]", words[i]);
    std::printf("\\n");
}
"""


@dataclass
class Result:
    status: int
    out: str

    def has(self, *parts: str) -> bool:
        """Fail if the output lacks a part or contains a stack trace. Return True, for use in an assertion."""
        missing = [part for part in parts if part not in self.out]
        assert not missing, f"{missing} not in:\n{self.out}"
        assert "Traceback" not in self.out
        return True


class Machine:
    def __init__(self, folder: Path):
        self.root = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        for program in Path("/usr/bin").iterdir():
            (self.bin / program.name).symlink_to(program)
        for header in HEADERS:
            file = folder / "usr/include" / header
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        for program in ("bwrap", "aarch64-linux-gnu-g++", "qemu-aarch64", "sinfo", "munge"):
            self.add_program(program, "exit 0")
        self.add_program("apt-get", "echo apt-get was called >&2; exit 1")
        (folder / "etc/apparmor.d").mkdir(parents=True)
        (folder / "etc/os-release").write_text('ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n')

    def remove_programs(self, *programs: str) -> None:
        for program in programs:
            for link in self.bin.glob(program):
                link.unlink()

    def remove_header(self, header: str) -> None:
        (self.root / "usr/include" / header).unlink()

    def add_program(self, name: str, script: str) -> None:
        self.remove_programs(name)
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def run(self, *command: str | Path, cwd: Path, prefix: tuple[str, ...] = (), **variables: str) -> Result:
        environment = {"PATH": str(self.bin), "HOME": str(self.root), "WARPLAB_TEST_ROOT": str(self.root)} | variables
        result = subprocess.run(
            [*prefix, *command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Result(result.returncode, result.stdout)
