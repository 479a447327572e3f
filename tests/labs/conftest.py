"""Helpers for the tests of the labs: they run the judge's command."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or "build")
BACKEND = os.environ.get("BACKEND") or "cpu"
# The model does not know this GPU, so `inspect` does not model times, which would take most of its time.
# tests/end_to_end/test_modelled.py tests modelled times.
NOT_MODELLED = ("--gpu", "GTX 1080")


@dataclass
class CheckResult:
    """The result of `build/warplab check` for one file: its exit status, the report's stage and its output."""

    status: int
    stage: dict
    output: str

    def failures(self) -> list[dict]:
        """Return every failure of the stage, in the order in which they were found."""
        failures = [self.stage["compilation"].get("failure"), self.stage.get("error")]
        failures += [check.get("failure") for check in self.stage["checks"]]
        return [failure for failure in failures if failure]


def check(lab: str, stage: str, source: Path, folder: Path, *options: str) -> CheckResult:
    """Check `source` as a stage of a lab, on the backend that the tests use."""
    report = folder / "report.json"
    command = [BUILD / "warplab", "check", lab, stage, "--source", source, "--backend", BACKEND, "--json", report]
    process = subprocess.run([*map(str, command), *options], cwd=ROOT, capture_output=True, text=True, errors="replace")
    output = process.stdout + process.stderr
    assert report.exists(), output
    return CheckResult(process.returncode, json.loads(report.read_text())["stages"][0], output)


def labs() -> list[str]:
    """Return the names of all labs."""
    return sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))


def stages(lab: str) -> list[str]:
    """Return the ids of a lab's stages."""
    return [stage["id"] for stage in json.loads((ROOT / "labs" / lab / "lab.json").read_text())["stages"]]


EVERY_STAGE = [(lab, stage) for lab in labs() for stage in stages(lab)]
