"""Run the autograders in folders with the layout of Gradescope and Autolab, without a GPU, with and without namespaces.
The services themselves were not tested."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.python.release.leaks import find_answers, squeeze
from grader.python.release.services import read_secret
from tests.layout.tree import cache_of_level_uid, copy_harness
from tests.python.batch.outputs.test_formats import check_autolab, check_gradescope
from tests.python.support import ROOT, run_module

BUILD = Path(os.environ.get("WARPLAB_BUILD") or ROOT / "build")
LAB = "vector_add"
STAGES = [stage["id"] for stage in json.loads((ROOT / "labs" / LAB / "lab.json").read_text())["stages"]]
HIDDEN = [recipe["name"] for recipe in json.loads((ROOT / "datasets" / LAB / "hidden.json").read_text())["datasets"]]
NO_NAMESPACES = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"

needs_build = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")


def pack(archive: Path, *words: str) -> Path:
    result = run_module("grader.python.release.services", *words, "--output", archive, "--build", BUILD)
    assert result.returncode == 0, result.stderr
    return archive


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """Yield a folder that other users can read, for example a sandbox's user."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def unpack(readable_folder: Path, *words: str) -> Path:
    """Make Gradescope's folder as it is after setup.sh, and return it. The programs are copied, because setup.sh takes
    minutes to build them."""
    folder = readable_folder / "autograder"
    for name in ("submission", "results"):
        (folder / name).mkdir(parents=True)
    with zipfile.ZipFile(pack(readable_folder / "autograder.zip", "gradescope", LAB, *words)) as archive:
        for entry in archive.infolist():
            archive.extract(entry, folder / "source")
            (folder / "source" / entry.filename).chmod(entry.external_attr >> 16)
    for program in ("warplab", "cpu/rewrite", f"labs/{LAB}/oracle.so"):
        (folder / "source/build" / program).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(BUILD / program, folder / "source/build" / program)
    copy_harness(folder / "source/build/cache")
    return folder


@pytest.fixture
def autograder(readable_folder) -> Path:
    return unpack(readable_folder)


def run_autograder(folder: Path, without: str = "", prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the script as Gradescope does. If `without` is "namespaces", bwrap exists but fails."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    if without == "namespaces":
        (programs / "bwrap").write_text(NO_NAMESPACES)
        (programs / "bwrap").chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "AUTOGRADER": str(folder)}
    result = subprocess.run(
        [*prefix, "sh", str(folder / "source/run_autograder")],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr, result.stderr
    return result


def hand_in(folder: Path, *stages: str) -> None:
    """Hand in bare .cu files, as a student uploads them."""
    for stage in stages:
        shutil.copy(ROOT / "solutions" / LAB / f"{stage}.cu", folder / "submission")


def read_result(folder: Path) -> dict[str, Any]:
    text = (folder / "results/results.json").read_text()
    assert not [name for name in HIDDEN if name in text]
    return check_gradescope(text)


def test_the_gradescope_zip_contains_the_autograder(tmp_path):
    archives = [pack(tmp_path / f"{number}.zip", "gradescope", LAB) for number in range(2)]
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert archives[0].stat().st_mode & 0o777 == 0o600  # the course's secret is in it
    with zipfile.ZipFile(archives[0]) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755 and modes["datasets/.secret"] == 0o600
    assert f"labs/{LAB}/oracle.cpp" in files and f"datasets/{LAB}/hidden.json" in files
    assert not [name for name in files if name.startswith(("solutions/", "tests/", "handouts/"))]
    assert {name.split("/")[2] for name in files if name.startswith("grader/python/")} == {"common", "journal", "batch"}
    assert [name for name in sorted(files) if name.startswith("starter/")] == [
        f"starter/{LAB}/{stage}.cu" for stage in STAGES
    ]
    assert {name.split("/")[1] for name in files if name.startswith(("labs/", "datasets/"))} == {
        LAB, "precompiled.h", ".secret",
    }  # fmt: skip
    texts = {name: squeeze(content.decode(errors="replace")) for name, content in files.items()}
    starters = [file.read_bytes() for file in ROOT.glob("starter/*/*.cu")]
    answers = [line for line, place in find_answers(ROOT, starters).items() if f"/{LAB}/" in place]
    assert answers and not [(name, line) for line in answers for name, text in texts.items() if line in text]
    for script in ("setup.sh", "run_autograder"):
        assert subprocess.run(["sh", "-n"], input=files[script], check=False).returncode == 0
        assert b"@" not in files[script] and b"--unsafe" not in files[script]


@pytest.mark.parametrize("system", ["gradescope", "autolab"])
def test_an_unsafe_archive_contains_no_secrets(tmp_path, system):
    if system == "autolab" and not (BUILD / "warplab").exists():
        pytest.skip("build/warplab is not built")
    archive = pack(tmp_path / "archive", system, LAB, "--unsafe")
    if system == "gradescope":
        with zipfile.ZipFile(archive) as zipped:
            files = {name: zipped.read(name) for name in zipped.namelist()}
    else:
        with tarfile.open(archive) as outer:
            inner = outer.extractfile("autograde.tar")
            assert inner
            with tarfile.open(fileobj=io.BytesIO(inner.read())) as packed:
                files = {member.name: packed.extractfile(member).read() for member in packed}  # type: ignore[union-attr]
    assert not [name for name in files if "hidden" in name or ".secret" in name or name.startswith("starter/")]
    script = next(content for name, content in files.items() if Path(name).name.startswith("run_auto"))
    assert b" --unsafe" in script


@needs_build
def test_unreleased_stages_are_omitted(tmp_path):
    with zipfile.ZipFile(pack(tmp_path / "lab.zip", "gradescope", "dot_product", "--upto", "2")) as archive:
        manifest = json.loads(archive.read("labs/dot_product/lab.json"))
        assert [stage["id"][:2] for stage in manifest["stages"]] == ["01", "02"]
        assert manifest["points"] == 20
        for recipes in ("public", "hidden"):  # one of the hidden datasets is only for stage 04
            assert "04_" not in archive.read(f"datasets/dot_product/{recipes}.json").decode()
    result = run_module("grader.python.release.services", "gradescope", "dot_product", "--upto", "9")
    assert result.returncode == 2 and "dot_product has no stage 9" in result.stderr


def test_with_modelled_speed_the_archive_contains_the_solutions_times(tmp_path):
    packed = pack(tmp_path / "lab.zip", "gradescope", LAB, "--speed", "modelled", "--upto", "1")
    with zipfile.ZipFile(packed) as archive:
        assert not [name for name in archive.namelist() if name.startswith("solutions/")]
        assert list(json.loads(archive.read(f"labs/{LAB}/modelled_times.json"))) == [STAGES[0]]
        assert b" --speed modelled" in archive.read("run_autograder")


@pytest.mark.parametrize("speed", ["modelled", "off"])
def test_the_points_to_set_follow_from_the_choice_of_speed(tmp_path, speed):
    command = ("grader.python.release.services", "gradescope", LAB, "--upto", "1", "--output", tmp_path / "lab.zip")
    points = json.loads((ROOT / f"labs/{LAB}/lab.json").read_text())["stages"][0]["points"]
    maximum = sum(points.values()) - (points["speed"] if speed == "off" else 0)
    assert f"et the assignment's points to {maximum}." in run_module(*command, "--speed", speed).stdout


@needs_build
def test_gradescope_gives_modelled_speed_points(readable_folder):
    folder = unpack(readable_folder, "--speed", "modelled")
    hand_in(folder, STAGES[-1])
    assert run_autograder(folder).returncode == 0
    result = read_result(folder)
    output = next(test["output"] for test in result["tests"] if test["name"].startswith(STAGES[-1]))
    assert "modelled for the NVIDIA H200, not measured" in " ".join(output.split())


def test_the_points_that_need_no_gpu_are_printed(tmp_path):
    command = ("grader.python.release.services", "gradescope", LAB, "--upto", "1", "--output", tmp_path / "lab.zip")
    points = json.loads((ROOT / f"labs/{LAB}/lab.json").read_text())["stages"][0]["points"]
    without_speed = points["correctness"] + points["hygiene"]
    output = run_module(*command).stdout
    assert f"Without a GPU, {without_speed} of {sum(points.values())} points are available" in output


def test_the_secret_is_created_once_with_a_message(tmp_path, capsys):
    (tmp_path / "datasets").mkdir()
    first = read_secret(tmp_path)
    assert "keep it, and use the same file wherever you grade" in capsys.readouterr().out
    assert read_secret(tmp_path) == first
    assert not capsys.readouterr().out


def test_an_unknown_lab_is_refused(tmp_path):
    result = run_module("grader.python.release.services", "gradescope", "no_such_lab")
    assert result.returncode == 2 and "No lab is called 'no_such_lab'" in result.stderr


@needs_build
def test_gradescope_grades_bare_files(autograder):
    hand_in(autograder, *STAGES)
    process = run_autograder(autograder)
    assert process.returncode == 0, process.stderr
    result = read_result(autograder)
    assert [test["status"] for test in result["tests"]] == ["passed"] * len(STAGES)
    assert result["extra_data"]["sandbox"] in ("namespace", "uid")
    assert result["score"] + result["extra_data"]["pending"] == 30 and "pending" in result["output"]
    assert re.search(r"\d of \d hidden datasets passed", result["tests"][0]["output"])


@needs_build
@needs_root
def test_gradescope_grades_without_namespaces(autograder):
    """The hand-in is an archive of make submit, graded in a container without CAP_SYS_ADMIN, at the uid level."""
    work = autograder / "work" / LAB
    work.mkdir(parents=True)
    for stage in STAGES[:2]:
        shutil.copy(ROOT / "solutions" / LAB / f"{stage}.cu", work)
    words = ("--work", autograder / "work", "--build", BUILD, "--force", "--author", "Ada Lovelace <al1>")
    submitted = run_module("grader.python.journal.submit", LAB, *words)
    assert submitted.returncode == 0, submitted.stderr
    (archive,) = (autograder / "work").glob("*.tar.gz")
    shutil.move(archive, autograder / "submission")
    no_admin = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    cache = cache_of_level_uid(autograder / "source/build")
    copy_harness(cache)
    try:
        process = run_autograder(autograder, without="namespaces", prefix=no_admin)
    finally:
        shutil.rmtree(cache)
    assert process.returncode == 0, process.stderr
    result = read_result(autograder)
    assert result["extra_data"]["sandbox"] == "uid"
    assert [test["status"] for test in result["tests"]] == ["passed", "passed", "failed"]
    assert 0 < result["score"] < 20


@needs_build
@needs_root
def test_without_any_sandbox_nothing_is_graded(autograder):
    """This is not the student's fault: there is no result, so that Gradescope reports that grading failed."""
    hand_in(autograder, STAGES[0])
    for path in [autograder, *autograder.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
    result = run_autograder(autograder, without="namespaces", prefix=nobody)
    assert result.returncode == 2
    assert "a reason other than the submission" in result.stderr and "sandbox" in result.stderr
    assert not list((autograder / "results").iterdir())


@needs_build
@pytest.mark.parametrize("upload", ["nothing", "another name", "a damaged archive"])
def test_a_hand_in_that_cannot_be_graded_gets_zero_points_and_the_reason(autograder, upload):
    if upload == "another name":
        (autograder / "submission/solution.cu").write_text("int main() {}\n")
    if upload == "a damaged archive":
        (autograder / "submission/mine.tar.gz").write_bytes(b"\x1f\x8bnot really")
    process = run_autograder(autograder)
    assert process.returncode == 0, process.stderr
    result = json.loads((autograder / "results/results.json").read_text())
    assert result["score"] == 0
    no_stage = f"No file has the name of a stage of {LAB}, such as {STAGES[0]}.cu."
    expected = {
        "nothing": "It is empty: there is no file in it.",
        "another name": f"{no_stage} It holds solution.cu.",
        "a damaged archive": "was not opened. It is damaged.",
    }
    assert expected[upload] in result["output"]


@needs_build
@pytest.mark.parametrize(
    ("options", "speed"),
    [((), "speed pending"), (("--speed", "modelled"), "modelled for the NVIDIA H200, not measured")],
)
def test_autolab_grades_a_hand_in(readable_folder, options, speed):
    """Autolab runs make in a folder with its two files and the hand-in, under the name that Autolab gives it."""
    with tarfile.open(pack(readable_folder / "autolab.tar", "autolab", LAB, *options)) as archive:
        assert archive.getnames() == ["autograde-Makefile", "autograde.tar"]
        archive.extractall(readable_folder / "vm", filter="data")
    (readable_folder / "vm/autograde-Makefile").rename(readable_folder / "vm/Makefile")
    copy_harness(readable_folder / "vm/warplab/build/cache")
    handed_in = readable_folder / "vm/handin file.tar"
    with tarfile.open(handed_in, "w") as archive:
        for stage in STAGES[:2]:
            archive.add(ROOT / "solutions" / LAB / f"{stage}.cu", f"{stage}.cu")
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["make"], cwd=readable_folder / "vm", env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert not [name for name in HIDDEN if name in result.stdout]
    scores = check_autolab(result.stdout)
    assert list(scores) == STAGES and scores[STAGES[0]] >= 6 and scores[STAGES[2]] == 0
    assert speed in " ".join(result.stdout.split())
