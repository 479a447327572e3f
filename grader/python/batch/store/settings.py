"""The settings of a batch, and the command lines of the judge that follow from them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The settings for grading, which are the same for the whole batch."""

    lab: str
    stages: tuple[str, ...]
    root: Path
    build: Path
    folder: Path  # the batch's folder
    backend: str
    stage: str = ""  # the only stage to grade; empty for several
    check_mode: bool = True
    nvcc: bool = True
    unsafe: bool = False
    timeout_s: float = 1800
    sample_s: float = 0  # the maximum time of a timing sample, in seconds; 0: the judge's default
    precise: bool = False  # whether timing continues until the ratio to the reference is known, not only the points
    upto: str = ""  # the last stage to grade; empty for the lab's last one
    speed: str = ""  # where speed points come from: measured (or empty), modelled or off

    def graded_stages(self) -> tuple[str, ...]:
        """Return the ids of the stages to grade."""
        if self.stage:
            return (self.stage,)
        return self.stages[: self.stages.index(self.upto) + 1] if self.upto else self.stages

    def folders(self) -> list[str]:
        """Return the instructor's folders, whose paths students must not see."""
        return [str(folder) for folder in (self.folder, self.build, self.root)]

    def program(self, *words: str) -> list[str]:
        """Return a command line of the judge. If the batch is killed, the judge is killed, too, so that no process
        remains."""
        before = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        options = ["--build", str(self.build), *(["--backend", self.backend] if self.backend else [])]
        return [*before, str(self.build / "warplab"), *words, *options]

    def command(self, tree: Path, reports: Path, verb: str = "grade") -> list[str]:
        """Return the command line that judges a tree."""
        words = self.program(verb, self.lab, *([self.stage] if self.stage else []))
        words += ["--tree", str(tree), "--report-dir", str(reports)]
        words += ["--upto", self.upto] if self.upto else []
        words += ["--speed", self.speed] if verb == "grade" and self.speed else []
        words += ["--sample-seconds", str(self.sample_s)] if verb == "grade" and self.sample_s else []
        flags = {"--no-check-mode": not self.check_mode, "--no-nvcc": not self.nvcc}
        flags |= {"--unsafe": self.unsafe, "--precise": self.precise}
        return words + [flag for flag, is_given in flags.items() if is_given]
