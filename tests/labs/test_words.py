"""Results do not depend on sentences: they stay the same if the sentences of the judge and the runtime are replaced."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.labs import wrong
from tests.labs.conftest import BACKEND, BUILD, ROOT, labs
from tests.labs.mutated import make_copy, without_sentences

THOROUGH = bool(os.environ.get("WARPLAB_THOROUGH"))
MAX_PER_LAB = 8


def is_repeatable(entry: dict) -> bool:
    """Return whether the entry has the same results in each run; the outputs of a race differ."""
    cause = entry.get("inspect", [""])[0]
    return "cpu" in entry["backends"] and isinstance(entry["cause"], str) and "race" not in (cause, entry["cause"])


def sample() -> list[tuple[str, dict]]:
    """Return wrong submissions of all labs, with as many different causes as possible."""
    chosen = []
    previous: set[str] = set()
    for lab in labs():
        new = {
            entry["cause"]: entry
            for entry in wrong.entries(lab)
            if is_repeatable(entry) and entry["cause"] not in previous
        }
        chosen += [(lab, entry) for entry in list(new.values())[:MAX_PER_LAB]]
        previous |= set(new)
    return chosen


def judge(root: Path, program: Path, lab: str, entry: dict, source: Path) -> dict[str, Any]:
    """Return the results that must not depend on words: verdicts, causes, points, places and lines."""
    report = source.parent / "report.json"
    report.unlink(missing_ok=True)
    command = [str(program), "check", lab, entry["stage"], "--source", str(source), "--json", str(report)]
    options = ["--dataset", entry["dataset"]] if "dataset" in entry else []
    subprocess.run([*command, "--backend", "cpu", *options], cwd=root, capture_output=True, check=False)
    stage = json.loads(report.read_text())["stages"][0]
    failures = [stage["compilation"].get("failure"), stage.get("error")]
    failures += [check.get("failure") for check in stage["checks"]]
    score = stage.get("score") or {}
    findings = (stage.get("check_mode") or {}).get("findings", [])
    return {
        "verdict": stage["verdict"],
        "checks": [(check["dataset"], check["verdict"], check.get("skipped")) for check in stage["checks"]],
        "causes": [failure["cause"] for failure in failures if failure],
        "sanitizer": (stage.get("check_mode") or {}).get("verdict"),
        "findings": [
            (finding["cause"], finding["line"], finding.get("other_line"), finding.get("note")) for finding in findings
        ],
        "score": {name: value for name, value in score.items() if not name.endswith("_why")},
    }


@pytest.mark.skipif(not THOROUGH or BACKEND != "cpu", reason="compiles the judge again: WARPLAB_THOROUGH=1")
def test_results_do_not_depend_on_sentences(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert make_copy(copy) > 500
    changed_judge = copy / "build/warplab"
    differing = []
    for lab, entry in sample():
        folder = tmp_path / lab / Path(entry["file"]).stem
        folder.mkdir(parents=True)
        source = folder / "hand_in.cu"
        source.write_text(wrong.source_of(lab, entry["file"], folder).read_text())
        with_words = judge(ROOT, (ROOT / BUILD).resolve() / "warplab", lab, entry, source)
        without = judge(copy, changed_judge, lab, entry, source)
        if with_words != without:
            differing.append((lab, entry["file"], with_words, without))
    assert differing == []


def test_sentences_are_found() -> None:
    keys: list[str] = []
    code = 'say("it is full"); // "a comment is kept"\nrun("objcopy", "--keep"); see("at end of input");'
    assert without_sentences(code, keys) == code.replace('"it is full"', '"w1"')
    assert keys == ['"it is full"']
