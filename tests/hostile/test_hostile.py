"""Hand-ins that cheat or do harm, one technique each. Each must get its stated outcome and no points for wrong outputs,
must not reach anything outside its sandbox, and must leave nothing behind; after some of them (`honest_next`), an
honest hand-in must pass. Some hand-ins are honest but look like a cheat to an overly broad rule: they must get all
points.

hostile.json states each file's outcome: `verdict`, `cause` (one of several if it depends on the machine) and `points`
(or the minimum and the maximum). `uid` and `cuda` contain the differences at that level and on that backend. Files
with `twice` are graded twice, and the second run looks for traces of the first. `speed_at_most` is the maximum number
of speed points on a GPU. Files with `check_mode` run under the sanitizer, whose verdict is `sanitizer`. Files with
`timed` also run on the datasets that only a GPU gets, because all timed datasets of their lab are among these. The
judge tries to model the time of files with `modelled`: their trace must be refused, or be modelled ("in_time"). `open`
means that the attack still works and that SANDBOX.md lists it. `slow` files run only with WARPLAB_THOROUGH=1, and so
do all files at the level `uid` (without bubblewrap), except for a few `short` ones. Without WARPLAB_THOROUGH=1, only a
share of the files runs: sampled().

@ROOT@, @BUILD@, @OUTSIDE@, @PORT@ and @NAME@ in a file represent values that a cheat would have to guess: the course's
folder, its build folder, another student's folder, a port on which a server listens, and the name by which the test
finds the file's processes. @900 TEXT@ represents 900 times TEXT.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from grader.python.common.report import read_report
from tests.hostile.without import without
from tests.labs.conftest import BACKEND, BUILD, ROOT
from tests.share import THOROUGH, share_of

FOLDER = Path(__file__).parent
ENTRIES = json.loads((FOLDER / "hostile.json").read_text())
AT_LEVEL_UID = [entry for entry in ENTRIES if BACKEND in entry["backends"] and (THOROUGH or entry.get("short"))]
LAB, STAGE = "dot_product", "01_serial_block_sum"
HONEST = ROOT / "solutions" / LAB / f"{STAGE}.cu"
Graded = tuple[dict, str]
MAX_REPORTED = 1_000_000  # characters of the report and of the output
CANARY = "canary-b7d1f0c35a"  # in the environment and in another student's file


def grade(
    source: Path, folder: Path, missing: Sequence[str], entry: Mapping[str, Any] = MappingProxyType({})
) -> Graded:
    """Grade a file on a machine without the mechanisms in `missing`. Return the report and the output."""
    lab, stage = entry.get("lab", LAB), entry.get("stage", STAGE)
    report = folder / f"{source.stem}.json"
    command = [BUILD / "warplab", "grade", lab, stage, "--source", source, "--backend", BACKEND, "--no-nvcc"]
    command += ["--json", report, "--report-dir", folder]
    command += [] if entry.get("timed") else ["--no-cuda-only"]
    command += [] if entry.get("check_mode") else ["--no-check-mode"]
    command += ["--speed", "modelled"] if entry.get("modelled") else []
    process = subprocess.run(
        [*without(*missing), *map(str, command)],
        cwd=ROOT,
        env=os.environ | {"WARPLAB_TEST_CANARY": CANARY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    output = process.stdout + process.stderr
    if "needs a sandbox" in process.stderr:
        pytest.skip("no sandbox is available")
    assert report.exists(), f"status {process.returncode}: {output}"
    read_report(report)  # a batch or an autograder can read it, whatever the submission forged
    return json.loads(report.read_text()), output


def failures(stage: dict) -> list[dict]:
    """Return every failure of the stage, in the order in which they were found."""
    candidates = [stage["compilation"].get("failure"), stage.get("error")]
    candidates += [check.get("failure") for check in stage["checks"]]
    return [failure for failure in candidates if failure]


def as_list(value: object) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def name_of(entry: dict) -> str:
    return Path(entry["file"]).stem


def earned(stage: dict) -> float:
    """Return the points without speed, which is pending on the CPU backend; 0 for a stage that was not judged."""
    if stage["score"] is None:
        return 0
    return stage["score"]["correctness"] + stage["score"]["hygiene"]


def left_running(name: str) -> list[str]:
    """Return the processes and threads with this name. Others may start and end during the search."""
    threads = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for thread in (process / "task").iterdir():
                with contextlib.suppress(OSError):
                    if (thread / "comm").read_text().strip() == name:
                        threads.append(thread.name)
    return threads


def with_headers(text: str) -> str:
    """Replace each #include of a header in this folder with its text, because a hand-in is one file."""
    header = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
    return header.sub(lambda include: (FOLDER / include[1]).read_text().removeprefix("#pragma once\n"), text)


def prepare(entry: dict, folder: Path, name: str, port: int) -> Path:
    """Write the file with its placeholders replaced, in a folder that only the sandbox protects. Return its path."""
    for parent in (folder, *folder.parents[:-2]):
        parent.chmod(parent.stat().st_mode | 0o055)
    text = with_headers((FOLDER / entry["file"]).read_text())
    outside = folder / "outside"
    outside.mkdir()
    (outside / "another_student.cu").write_text(f"// {CANARY}\n")
    placeholders = {"ROOT": ROOT, "BUILD": (ROOT / BUILD).resolve(), "OUTSIDE": outside, "PORT": port, "NAME": name}
    for placeholder, value in placeholders.items():
        text = text.replace(f"@{placeholder}@", str(value))
    text = re.sub(r"@(\d+) (.*?)@", lambda repeated: int(repeated[1]) * repeated[2], text)
    source = folder / entry["file"]
    source.write_text(text)
    return source


def grade_honest(folder: Path, missing: Sequence[str]) -> None:
    report, output = grade(HONEST, folder, missing)
    stage = report["stages"][0]
    assert stage["verdict"] == "passed", output
    assert stage["score"]["correctness"] == stage["score"]["correctness_max"]


@pytest.fixture(scope="module", autouse=True)
def judges_keys() -> Iterator[None]:
    """Put a key into the judge's keyrings, like a Kerberos login."""
    if os.uname().machine != "x86_64":
        yield
        return
    add_key, keyctl, revoke = 248, 250, 3
    libc = ctypes.CDLL(None)
    session_and_user = (-3, -4)
    keys = [libc.syscall(add_key, b"user", b"warplab-canary", b"ticket", 6, ring) for ring in session_and_user]
    yield
    for key in keys:
        libc.syscall(keyctl, revoke, key)


def tries_to_break_out(entry: dict) -> bool:
    """Return whether a hand-in is not refused before it runs, does not deceive the sanitizer in a known way, and is not
    honest."""
    is_refused = set(as_list(entry["cause"])) <= {"refused_feature", "compile_error"}
    return "open" not in entry and not is_refused and not entry["file"].startswith("honest_")


def sampled() -> list[dict]:
    """Return a share of the hand-ins that try to break out, and fewer of the others; all with WARPLAB_THOROUGH=1."""
    attacks = [entry for entry in ENTRIES if tries_to_break_out(entry)]
    others = [entry for entry in ENTRIES if not tries_to_break_out(entry)]
    return [
        *share_of(attacks, lambda entry: str(entry["cause"]), name_of, 4),
        *share_of(others, lambda entry: (str(entry["cause"]), "open" in entry), name_of, 12),
    ]


@pytest.mark.parametrize("entry", sampled(), ids=name_of)
def test_a_technique_gets_its_stated_outcome(entry: dict, tmp_path: Path) -> None:
    if BACKEND not in entry["backends"]:
        pytest.skip(f"works only on {', '.join(entry['backends'])}")
    if entry.get("slow") and not THOROUGH:
        pytest.skip("takes long: WARPLAB_THOROUGH=1")
    try_technique(entry, tmp_path, ("namespace", "uid"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can use this level")
@pytest.mark.parametrize("entry", AT_LEVEL_UID, ids=name_of)
def test_a_technique_gets_its_stated_outcome_at_level_uid(entry: dict, tmp_path: Path) -> None:
    try_technique(entry | entry.get("uid", {}), tmp_path, "uid", ["bwrap"])


def try_technique(entry: dict, tmp_path: Path, level: str | tuple[str, ...], missing: Sequence[str] = ()) -> None:
    """Assert the outcome of a hand-in. An open attack may depend on chance, for example on addresses that the kernel
    chooses, so one of three runs is enough."""
    for runs_left in range(2 if "open" in entry else 0, -1, -1):
        folder = tmp_path / str(runs_left)
        folder.mkdir()
        try:
            assert_outcome(entry, folder, level, missing)
            return
        except AssertionError:
            if not runs_left:
                raise


def assert_outcome(entry: dict, tmp_path: Path, level: str | tuple[str, ...], missing: Sequence[str] = ()) -> None:
    """Grade the file, and check everything that the table and the docstring of this module state."""
    entry = entry | entry.get(BACKEND, {})
    name = f"w{tmp_path.stat().st_ino % 10**9}"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        source = prepare(entry, tmp_path, name, server.getsockname()[1])
        report, output = grade(source, tmp_path, missing, entry)
        if entry.get("twice"):
            report, output = grade(source, tmp_path, missing, entry)
        with pytest.raises(TimeoutError):
            server.accept()
    assert report["sandbox"] in as_list(level)
    stage = report["stages"][0]
    first = failures(stage)[0]["cause"] if failures(stage) else ""
    assert stage["verdict"] in as_list(entry["verdict"]), output
    assert first in as_list(entry["cause"]), output
    minimum, maximum = entry["points"] if isinstance(entry["points"], list) else [entry["points"]] * 2
    assert minimum - 1e-9 <= earned(stage) <= maximum + 1e-9, output
    assert not [check for check in stage["checks"] if "does not fit" in check["skipped_why"]], output
    if entry.get("modelled") == "in_time":
        assert stage["score"]["speed_why"].startswith("modelled for"), output
    elif entry.get("modelled"):
        assert stage["score"]["speed_pending"] and "trace cannot be used" in stage["score"]["speed_why"], output
    if "sanitizer" in entry:
        assert stage["check_mode"]["verdict"] == entry["sanitizer"], output
        assert stage["score"]["hygiene_pending"] == (entry["sanitizer"] == "unconfirmed"), output
    reaches = "open" in entry and not entry.get("check_mode")
    assert ("REACHED" in stage["output"]) == reaches, stage["output"]
    assert_speed(entry, stage)
    if '"refused"' in source.read_text() and stage["checks"] and not reaches:
        assert "refused" in stage["output"]
    assert_nothing_got_out(report, output)
    # Messages must not show the judge's own names.
    assert "warplab_seen_" not in output or "warplab_seen_" in source.read_text(), output
    assert not left_running(name)
    assert [file.name for file in (tmp_path / "outside").iterdir()] == ["another_student.cu"]
    if entry.get("honest_next"):
        grade_honest(tmp_path, missing)


def assert_speed(entry: dict, stage: dict) -> None:
    """Assert that a slow submission gets only the speed points of its real time, or that its timing is rejected."""
    if BACKEND != "cuda" or "speed_at_most" not in entry or stage["verdict"] != "passed":
        return
    assert not stage["score"]["speed_pending"], stage["score"]
    assert stage["score"]["speed"] <= entry["speed_at_most"], stage["measurements"]


def assert_nothing_got_out(report: dict, output: str) -> None:
    """Assert that visible output holds no canary, no secret, no escape sequences and no flood."""
    secret = ROOT / "datasets/.secret"
    text = json.dumps(report, ensure_ascii=False) + output
    assert CANARY not in text
    assert not secret.exists() or secret.read_text().strip() not in text
    assert "\x1b" not in output
    assert len(text) < MAX_REPORTED


def test_table_and_files_agree() -> None:
    assert sorted(entry["file"] for entry in ENTRIES) == sorted(file.name for file in FOLDER.glob("*.cu"))
    assert len(ENTRIES) >= 40
    for file in FOLDER.glob("*.cu"):
        assert file.read_text().startswith(("// Cheat: ", "// Bomb: ", "// Open: ", "// Honest: ")), file.name


def test_honest_submission_includes_every_header() -> None:
    include = ROOT / "grader/cpu/include"
    headers = {str(file.relative_to(include)) for folder in ("cuda", "cub") for file in (include / folder).rglob("*")}
    supplied = {name for name in headers if (include / name).is_file() and not name.endswith(".h")}
    included = re.findall(r"#include <(.*)>", (FOLDER / "honest_includes_every_header.cu").read_text())
    assert supplied - set(included) == set()


def test_sandbox_md_lists_exactly_the_open_attacks() -> None:
    text = (ROOT / "grader/judge/sandbox/SANDBOX.md").read_text()
    section = text.split("## Deceiving the sanitizer\n")[1].split("\n## ")[0]
    attacks = dict(re.findall(r"^- \*\*(.+?)\.\*\*.*?\(`(\w+\.cu)`\)", section, re.M | re.S))
    assert attacks == {entry["open"]: entry["file"] for entry in ENTRIES if "open" in entry}
    assert len(attacks) == section.count("\n- **")
