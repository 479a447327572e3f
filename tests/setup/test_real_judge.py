"""The real judge on unusual machines, in a copy of this checkout with its built programs."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.layout.tree import BUILD, ROOT, copy_built, project_files
from tests.setup.machine import Machine

LAB = min((manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json")), default="")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

pytestmark = pytest.mark.skipif(not (BUILD / "warplab").exists(), reason="build/warplab is not built")


def copy_project(folder: Path) -> None:
    """Copy the project, except tests and handouts, with the files' times, so that nothing is built again."""
    for file in project_files():
        if file.parts[0] not in ("tests", "handouts"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)


@pytest.fixture
def public_folder():
    """Make a folder that other users can read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def real_machine(public_folder):
    """Return a function that runs commands on a machine with the system's compilers and headers; also return this
    machine."""
    machine = Machine(public_folder / "machine")
    for program in ("bwrap", "aarch64-linux-gnu-g++", "qemu-aarch64", "sinfo", "munge"):
        machine.remove_programs(program)
        if path := shutil.which(program):
            (machine.bin / program).symlink_to(path)
    return lambda *words, **more: machine.run(*words, WARPLAB_TEST_ROOT="", **more), machine


def test_a_path_can_contain_spaces(public_folder, real_machine):
    run, _ = real_machine
    folder = public_folder / "my own 'labs' (copy)"
    copy_project(folder)
    copy_built(folder / "build")
    output = run("make", "start", "check", f"LAB={LAB}", "STAGE=1", "BACKEND=cpu", cwd=folder)
    assert output.status == 1  # the starter fails
    assert output.has("work", "failed", "Cause:")
    assert "  compile judge" not in output.out  # all objects were copied
    output = run("make", "check", f"LAB={LAB}", "STAGE=1", "BACKEND=cpu", "TREE=solutions", cwd=folder)
    assert output.status == 0, output.out
    assert output.has("passed", "backend: cpu")
    assert "  compile" not in output.out


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_read_only_checkout_can_be_used(public_folder, real_machine):
    run, _ = real_machine
    folder = public_folder / "checkout"
    copy_project(folder)
    writable = public_folder / "mine"
    copy_built(writable / "build")
    for path in [writable, *writable.rglob("*")]:
        os.chown(path, 65534, 65534, follow_symlinks=False)
    words = [f"LAB={LAB}", "STAGE=1", "BACKEND=cpu"]
    output = run("make", "check", *words, cwd=folder, prefix=NOBODY)
    assert output.status == 2
    assert output.has("read-only", "make BUILD=")
    settings = [f"BUILD={writable}/build", f"WORK={writable}/my work"]
    output = run("make", "check", *words, *settings, cwd=folder, prefix=NOBODY)
    assert output.has("failed", "Cause:")
    assert list((writable / "my work" / LAB).glob("01_*.cu"))
    output = run("make", "check", *words, *settings, "TREE=solutions", cwd=folder, prefix=NOBODY)
    assert output.status == 0, output.out


def judge(run, *words: str, work: Path, **more):
    return run(BUILD / "warplab", *words, "--work", work, "--build", BUILD, cwd=ROOT, **more)


def test_without_python_and_network_a_check_works(public_folder, real_machine):
    run, machine = real_machine
    machine.remove_programs("python*")
    machine.add_program("apt-get", "exit 100")
    output = judge(run, "check", LAB, "1", "--backend", "cpu", "--tree", "solutions", work=public_folder / "work")
    assert output.status == 0, output.out
    assert output.has("passed")


def test_without_nvcc_the_gpu_backend_says_so(public_folder, real_machine):
    run, machine = real_machine
    machine.remove_programs("nvcc")
    output = judge(run, "check", LAB, "1", "--backend", "cuda", "--tree", "solutions", work=public_folder / "work")
    assert output.status == 2
    assert "Traceback" not in output.out
    assert any(word in output.out for word in ("nvcc", "GPU")), output.out


def test_without_a_compiler_the_judge_says_so(public_folder, real_machine):
    run, machine = real_machine
    machine.remove_programs("g++*", "c++*", "x86_64-linux-gnu-g++*")
    output = judge(run, "check", LAB, "1", "--backend", "cpu", "--tree", "solutions", work=public_folder / "work")
    assert output.status == 2, output.out
    assert output.has("g++")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "LAB"),
        (["check", "no_such_lab"], LAB),
        (["check", LAB, "99"], "01_"),
        (["check", LAB, "1", "--backend", "abacus"], "cpu"),
        (["check", LAB, "1", "--dataset", "nonesuch"], "dataset"),
        (["dance"], "--help"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_wrong_arguments_give_one_message(public_folder, real_machine, words, message):
    run, _ = real_machine
    output = judge(run, *words, work=public_folder / "work")
    assert output.status == 2, output.out
    assert output.has(message)
    assert len(output.out.splitlines()) < 12, output.out


@pytest.mark.parametrize("words", [["--source", "nowhere.cu"], ["--tree", "nowhere"]], ids=lambda words: words[0])
def test_a_missing_file_is_reported_with_its_name(public_folder, real_machine, words):
    run, _ = real_machine
    output = judge(run, "check", LAB, "1", *words, work=public_folder / "work")
    assert output.status == 2
    assert output.has("There is no", "nowhere")


@pytest.mark.parametrize(
    ("verb", "expected", "other_options"),
    [
        ("check", ["LAB [STAGE]", "LAB TEXT REQUIRED", "--dataset", "--backend"], ["--unscored", "--gpu", "--image"]),
        ("grade", ["[LAB]", "--unscored", "--upto", "--precise", "--gpu"], ["--image", "--report "]),
        ("inspect", ["or a whole id\n", "--gpu"], ["--upto"]),
        ("show", ["--image", "--set", "--work"], ["--dataset", "--json"]),
        ("import", ["--report TEXT REQUIRED"], ["LAB TEXT"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_verb_lists_only_its_own_options(public_folder, real_machine, verb, expected, other_options):
    run, _ = real_machine
    output = run(BUILD / "warplab", verb, "--help", cwd=ROOT)
    assert output.status == 0
    assert output.has(*expected)
    assert [word for word in other_options if word in output.out] == []
