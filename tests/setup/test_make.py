"""make and ./warplab on unusual machines and with unusual arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.setup.machine import Machine


@pytest.fixture
def make(machine):
    return lambda folder, *words, **variables: machine.run("make", *words, cwd=folder, **variables)


@pytest.fixture
def warplab(machine):
    return lambda folder, *words, **more: machine.run(folder / "warplab", *words, **({"cwd": folder} | more))


@pytest.fixture(params=["make", "warplab"])
def either(request):
    """Run a test twice, with make and with ./warplab, which must behave in the same way."""
    return request.getfixturevalue(request.param)


def test_help_builds_nothing_and_shows_the_labs(checkout, make, warplab):
    folder = checkout()
    output = make(folder)
    assert output.status == 0
    assert output.has("make check LAB=", "sample", "Next:")
    assert not (folder / "build").exists()
    assert make(folder, "help") == warplab(folder) == warplab(folder, "help") == warplab(folder, "--help") == output


def test_a_kit_has_no_verbs_for_instructors(checkout, make):
    folder = checkout()
    assert make(folder).has("make demo", "make kit", "Next: make demo, or make start")
    (folder / "grader/course.sh").unlink()
    output = make(folder)
    assert output.status == 0
    assert not any(word in output.out for word in ("demo", "instructors", "no verb"))
    assert output.has("make check LAB=", "Next: make start")
    output = make(folder, "demo")
    assert output.status == 2
    assert output.has("There is no verb demo in this students' kit. Verbs: help start quiz check")
    assert make(folder, "check", "LAB=sample").has("judge: [check] [sample]\n")


def test_arguments_reach_the_judge_as_typed(checkout, either):
    folder = checkout("a folder with spaces")
    output = either(
        folder, "check", "LAB=sample", "STAGE=0 2", "DATASET=a 'b\" $HOME $(shell echo x); y", "TREE=a b", "FORCE=1"
    )
    assert output.status == 0
    words = "[check] [sample] [0 2] [--dataset] [a 'b\" $HOME $(shell echo x); y] [--tree] [a b] [--force]"
    assert output.has(f"judge: {words}\n", "compile grader/judge/cli/main.cpp", "link    build/warplab")
    assert either(folder, "check", "LAB=sample").out == "judge: [check] [sample]\n"
    values = ["$(shell touch made)", "`touch made`", "$$(LAB)", "a\nb\\\n", "\\ \\\\ ", "* [a] ?", 'é\t="', "-x --", ""]
    for value in values:
        arguments = f" [--source] [{value}]" if value else ""
        assert either(folder, "check", "LAB=sample", f"SOURCE={value}").out == f"judge: [check] [sample]{arguments}\n"
    assert not (folder / "made").exists()


def test_environment_variables_of_a_cluster_are_ignored(checkout, either):
    variables = {
        "WORK": "/scratch/me",
        "TREE": "oak",
        "FORCE": "yes",
        "BUILD": "77",
        "OUT": "/out",
        "CXXFLAGS": "-nonsense",
    }
    assert either(checkout(), "check", "LAB=sample", **variables).has("judge: [check] [sample]\n")


def test_the_program_ignores_the_goals_of_an_outer_make(checkout, warplab):
    outer = {
        "MAKEFLAGS": " -j3 -- LAB=other CXX=nonsense",
        "MAKELEVEL": "1",
        "MAKEOVERRIDES": "${-*-command-variables-*-}",
    }
    assert warplab(checkout(), "check", "sample", **outer).has("judge: [check] [sample]\n")


def test_build_settings_on_the_command_line_are_used(checkout, either, machine):
    machine.add_program("g++-9", "echo 9.1.0")
    folder = checkout()
    output = either(folder, "check", "LAB=sample", "CXXFLAGS=-DTWO WORDS")
    assert output.status == 2 and output.has("WORDS: No such file")
    assert either(folder, "check", "LAB=sample", "CXX=g++-9").has("g++-9 is version 9.1.0")


def test_the_program_and_make_return_the_judges_status(checkout, make, warplab):
    folder = checkout()
    (folder / "grader/judge/cli/main.cpp").write_text("int main(int words, char**) { return words - 2; }\n")
    make(folder, "program")
    for words, status in (("LAB=sample",), 1), (("LAB=sample", "STAGE=1"), 2):
        assert warplab(folder, "check", *words).status == status
        assert make(folder, "check", *words).status == status
    assert make(folder, "check", "LAB=sample").out == ""  # make adds nothing if a check fails
    assert warplab(folder, "device").status == make(folder, "device").status == 0


def test_make_stops_at_the_first_verb_that_fails(checkout, make):
    folder = checkout()
    (folder / "grader/judge/cli/main.cpp").write_text(
        "#include <cstdio>\nint main(int, char** words) { std::puts(words[1]); return 1; }\n"
    )
    output = make(folder, "check", "bench", "LAB=sample")
    assert output.status == 1 and output.out.endswith("check\n")


def test_a_dry_run_runs_nothing(checkout, make):
    folder = checkout()
    assert make(folder, "-n", "check", "LAB=sample").status == 0
    assert not (folder / "build").exists()


def test_the_program_accepts_arguments_without_names(checkout, warplab):
    folder = checkout()
    expected = "judge: [check] [sample] [02] [--backend] [cpu] [--tree] [a b]\n"
    assert warplab(folder, "check", "sample", "02", "BACKEND=cpu", "TREE=a b").has(expected)
    assert warplab(folder, "check", "sample", "02", "BACKEND=cpu", "--tree", "a b").has(expected)
    assert warplab(folder, "check", "--help").has("judge: [check] [--help]\n")
    assert warplab(folder, "check", "sample", "02", "03").has("There is no verb 03. If it is part of a value, ")
    assert warplab(folder, "clean", "--help").status == 2 and (folder / "build").exists()


def test_the_program_works_from_any_folder(checkout, warplab):
    folder = checkout()
    inner = folder / "work/sample/deeper"
    inner.mkdir(parents=True)
    (inner / "solutions").mkdir()
    (folder / "labs/other").mkdir()
    (folder / "labs/other/lab.json").write_text("{}\n")
    link = folder.parent / "link"
    link.symlink_to(folder / "warplab")
    for cwd in inner, inner.parent:
        assert warplab(folder, "check", "02", cwd=cwd).has("judge: [check] [sample] [02]\n")
        assert warplab(folder, "check", "all", cwd=cwd).has("judge: [check] [sample]\n")
        assert warplab(folder, "check", "other", cwd=cwd).has("judge: [check] [other]\n")
        words = ("SOURCE=a.cu", "JSON=/b", "TREE=solutions")
        expected = f"judge: [check] [sample] [--tree] [solutions] [--source] [{cwd}/a.cu] [--json] [/b]\n"
        assert warplab(folder, "check", *words, cwd=cwd).has(expected)
    assert warplab(folder, "check", cwd=folder.parent).has("As in your last command: LAB=other\n")
    assert warplab(folder, "check", "sample", "TREE=mine", cwd=inner).has(f" [--tree] [{inner}/mine]\n")


def test_make_works_in_a_labs_work_folder(checkout, make):
    folder = checkout()
    work = folder / "work/sample"
    work.mkdir(parents=True)
    (work / "Makefile").write_text("include ../../Makefile\n")  # as `start` writes it
    assert make(work, "check", "STAGE=02", "SOURCE=a.cu").has(f"[check] [sample] [02] [--source] [{work}/a.cu]\n")
    assert make(work).has("make check LAB=")


def test_the_last_lab_and_stage_are_used_again(checkout, either):
    folder = checkout()
    for stage in ("02_second", "03_third"):
        (folder / f"starter/sample/{stage}.cu").write_text("\n")
    either(folder, "check", "LAB=sample", "STAGE=2")
    (folder / "labs/other").mkdir()
    (folder / "labs/other/lab.json").write_text("{}\n")
    last = "As in your last command: LAB=sample STAGE=2\n"
    assert either(folder, "check").out == f"{last}judge: [check] [sample] [2]\n"
    assert either(folder, "profile").out == f"{last}judge: [profile] [sample] [2]\n"
    assert either(folder, "show").out == "As in your last command: LAB=sample\njudge: [show] [sample]\n"
    assert either(folder, "check", "STAGE=3").has("LAB=sample\njudge: [check] [sample] [3]\n")
    assert either(folder, "check", "LAB=sample").out == "judge: [check] [sample]\n"  # all stages that were started
    assert either(folder, "profile", "LAB=sample").has("STAGE=3\njudge: [profile] [sample] [3]\n")
    assert either(folder, "check", "LAB=other").out == "judge: [check] [other]\n"
    assert either(folder, "check").out == "As in your last command: LAB=other\njudge: [check] [other]\n"
    assert either(folder, "check", "STAGE=all").has("judge: [check] [other]\n")


@pytest.mark.parametrize("stage", ["9", "01_frist", "1,9", "*"])
def test_a_stage_that_does_not_exist_is_not_remembered(checkout, either, stage):
    folder = checkout()
    either(folder, "check", "LAB=sample", "STAGE=1")
    either(folder, "check", "LAB=sample", f"STAGE={stage}")
    assert either(folder, "check").has("As in your last command: LAB=sample STAGE=1\n")


def test_files_outside_the_work_folder_are_not_remembered(checkout, either):
    folder = checkout()
    either(folder, "check", "LAB=sample", "STAGE=2", "TREE=solutions")
    assert either(folder, "check").has("Which lab?")
    assert not (folder / "work").exists()


def test_a_work_folder_has_its_own_last_lab(checkout, either):
    folder = checkout()
    either(folder, "check", "LAB=sample", f"WORK={folder}/mine")
    assert either(folder, "check").has("Which lab?")
    assert either(folder, "check", f"WORK={folder}/mine").has("As in your last command: LAB=sample\n")


def test_a_verb_that_takes_one_stage_runs_for_each_stage_of_a_list(checkout, either):
    output = either(checkout(), "profile", "LAB=sample", "STAGE=1,02")
    assert output.has("judge: [profile] [sample] [1]\njudge: [profile] [sample] [02]\n")
    assert either(checkout("other"), "check", "LAB=sample", "STAGE=1,2").has("judge: [check] [sample] [1,2]\n")


@pytest.mark.parametrize("verb", ["start", "check", "grade", "device", "journal", "gradescope"])
def test_an_unknown_lab_is_refused_before_anything_is_built(checkout, either, verb):
    folder = checkout()
    output = either(folder, verb, "LAB=smaple")
    assert output.has("There is no lab smaple. Did you mean sample? Labs: sample")
    assert not (folder / "build").exists() and not (folder / "work").exists()


def test_the_labs_are_in_the_courses_order(checkout, make):
    folder = checkout()
    for name, text in ("a", "{}"), ("z", '{\n  "order": 1\n}'), ("y", '{\n  "order": 12\n}'):
        (folder / "labs" / name).mkdir()
        (folder / "labs" / name / "lab.json").write_text(text)
    assert make(folder, "start").has("one of: z y a sample")
    assert make(folder).has("\nz\ny\na\nsample\n", "make start LAB=z.")


def test_a_lower_case_variable_is_refused(checkout, either):
    folder = checkout()
    output = either(folder, "check", "lab=sample")
    assert output.status == 2
    assert output.has("Write lab= in capitals")
    assert not (folder / "build").exists()


def test_a_misspelt_variable_is_refused_with_a_list_of_the_known_ones(checkout, either):
    folder = checkout()
    output = either(folder, "check", "LAB=sample", "STAG=2")
    assert output.status == 2
    assert output.has("There is no variable STAG=. Did you mean STAGE? Variables: LAB STAGE ")
    assert either(folder, "submit", "LAB=sample", "AUTHOR=Ada").has("Did you mean AUTHORS?")
    assert not (folder / "build").exists()


def test_verbs_run_in_the_order_typed(checkout, make):
    output = make(checkout(), "start", "check", "LAB=sample", "BACKEND=cpu")
    assert output.has("judge: [start] [sample] [--backend] [cpu]\njudge: [check] [sample] [--backend] [cpu]\n")


@pytest.mark.parametrize("words", [("LABS=sample,", "other:2"), ("LAB=sample", "UPTO=", "2"), ("other", "LABS=a,")])
def test_a_value_with_a_blank_is_refused_before_a_verb_begins(checkout, make, words):
    folder = checkout()
    output = make(folder, "kit", *words)
    assert output.status == 2
    stray = next(word for word in words if "=" not in word)
    assert output.has(f"There is no verb {stray}. If it is part of a value, write the value without blanks, as in ")
    assert len(output.out.splitlines()) == 2  # the second line is make's own
    assert make(folder, "check", "LAB=sample", "2").has("There is no verb 2. ") and not (folder / "build").exists()


def test_the_program_refuses_a_value_with_a_blank_too(checkout, warplab):
    folder = checkout()
    assert warplab(folder, "kit", "LABS=sample,", "other:2").has("There is no verb other:2. If it is part of a value, ")
    assert not (folder / "build").exists()


@pytest.mark.parametrize("word", ["it's", "a:b", "c%d", "chekc"])
def test_an_unknown_verb_is_refused_with_its_name(checkout, either, word):
    output = either(checkout(), word)
    assert output.status == 2
    assert output.has(f"There is no verb {word}.", "Verbs: help start quiz check")
    assert (" Did you mean check?" in output.out) == (word == "chekc")


def test_new_lab_without_a_name_is_refused(checkout, either):
    output = either(checkout(), "new-lab")
    assert output.status == 2
    assert output.has("Type  make new-lab LAB=NAME,  for example LAB=my_lab")


@pytest.mark.parametrize("verb", ["check", "start", "bench", "sweep", "profile", "sanitize", "show", "submit"])
def test_a_verb_without_its_lab_names_the_labs_and_builds_nothing(checkout, either, verb):
    folder = checkout()
    output = either(folder, verb)
    assert output.status == 2
    assert output.has(f"make {verb} LAB=NAME", "sample")
    assert not (folder / "build").exists()


def test_only_changed_files_are_built_again(checkout, make):
    folder = checkout()
    make(folder, "check", "LAB=sample")
    version = folder / "grader/model/version.h"
    version.write_text(version.read_text() + "// changed\n")
    output = make(folder, "check", "LAB=sample")
    assert output.has("compile grader/model/version.cpp", "compile grader/judge/cli/main.cpp")
    assert "rewriter" not in output.out and "oracle" not in output.out


def test_only_the_labs_own_oracle_is_built(checkout, make):
    folder = checkout()
    shutil.copytree(folder / "labs/sample", folder / "labs/other")
    output = make(folder, "check", "LAB=other")
    assert output.has("link    build/labs/other/oracle.so", "judge: [check] [other]\n")
    assert not (folder / "build/labs/sample").exists()
    assert make(folder, "grade").has("link    build/labs/sample/oracle.so", "judge: [grade]\n")


def test_files_of_a_folder_are_compiled_together_and_a_new_one_is_found(checkout, make):
    folder = checkout()
    for name in "one", "two":
        (folder / f"grader/judge/{name}.cpp").write_text(f"namespace {name} {{ int f() {{ return 1; }} }}\n")
    assert make(folder, "check", "LAB=sample").out.count("compile judge\n") == 1
    (folder / "grader/judge/three.cpp").write_text("int three() { return missing; }\n")
    assert make(folder, "check", "LAB=sample").has("grader/judge/three.cpp:1")


def test_the_first_build_shows_its_progress_on_a_terminal(checkout, machine):
    folder = checkout()
    output = machine.run("script", "-qec", "./warplab check sample", "/dev/null", cwd=folder)
    assert output.has(
        "Building Warplab, once: about 1 minute.", " of 5 parts, ", " s left: main.cpp", "judge: [check] [sample]"
    )
    assert "  compile" not in output.out
    (folder / "grader/judge/cli/main.cpp").write_text("int main() { return nothing; }\n")
    shutil.rmtree(folder / "build")
    output = machine.run("script", "-qec", "./warplab check sample", "/dev/null", cwd=folder)
    assert output.status == 2 and output.has("main.cpp:1", "nothing")


def test_clean_prints_what_must_be_built_again(checkout, either):
    folder = checkout()
    either(folder, "check", "LAB=sample")
    output = either(folder, "clean")
    assert output.has("Removed build/.", "about a minute", "Your files in work/ stay.")
    assert not (folder / "build").exists() and (folder / "work").exists()


def test_a_compile_error_in_the_project_ends_with_status_2(checkout, make):
    folder = checkout()
    (folder / "grader/judge/cli/main.cpp").write_text("int main() { return nothing; }\n")
    output = make(folder, "check", "LAB=sample")
    assert output.status == 2
    assert output.has("grader/judge/cli/main.cpp:1", "nothing")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_read_only_checkout_is_reported_and_other_folders_work(checkout):
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    with tempfile.TemporaryDirectory() as name:
        public = Path(name)
        public.chmod(0o755)
        machine = Machine(public / "machine")
        folder = Path(shutil.copytree(checkout(), public / "checkout"))
        output = machine.run("make", "check", "LAB=sample", cwd=folder, prefix=nobody)
        assert output.status == 2
        assert output.has("Cannot write to the folder build", "read-only", "make BUILD=$HOME/warplab-build WORK=")

        build = public / "elsewhere"
        build.mkdir()
        os.chown(build, 65534, 65534)
        words = ("check", "LAB=sample", f"BUILD={build}", f"WORK={build}/my work")
        output = machine.run("make", *words, cwd=folder, prefix=nobody)
        assert output.has(f"judge: [check] [sample] [--build] [{build}] [--work] [{build}/my work]\n")


def test_two_commands_at_once_build_once(checkout, make):
    folder = checkout()
    with ThreadPoolExecutor() as pool:
        output = list(pool.map(lambda _: make(folder, "check", "LAB=sample"), range(2)))
    assert [run.status for run in output] == [0, 0], output
    assert sum(run.out.count("link    build/warplab") for run in output) == 1, output


def test_without_file_locks_the_project_is_built(checkout, make, machine):
    machine.remove_programs("flock")
    output = make(checkout(), "check", "LAB=sample")
    assert output.status == 0 and output.has("judge: [check] [sample]\n")


def test_build_folder_with_spaces_is_refused(checkout, make, tmp_path):
    output = make(checkout(), "check", "LAB=sample", f"BUILD={tmp_path}/my build")
    assert output.status == 2
    assert output.has("a folder with spaces")


def test_without_python_a_message_says_so(checkout, make, machine):
    machine.remove_programs("python*")
    machine.add_program("apt-get", "exit 100")
    folder = checkout()
    output = make(folder, "check", "LAB=sample")
    assert output.status == 2
    assert output.has("Still missing: python3")
    output = make(folder, "submit", "LAB=sample")
    assert output.status == 2
    assert output.has("python3 is missing", "make submit")


def test_a_complete_machine_needs_no_network(checkout, make, machine):
    machine.add_program("apt-get", "exit 100")
    assert make(checkout(), "check", "LAB=sample").has("judge: [check] [sample]\n")


def test_an_old_compiler_is_reported_before_compiling(checkout, make, machine):
    machine.add_program("g++", "echo 11.4.0")
    output = make(checkout(), "check", "LAB=sample")
    assert output.status == 2
    assert output.has("version 11.4.0")
    assert "  compile" not in output.out


def test_the_last_line_counts_all_tests(run_tests):
    result = run_tests("[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\nwhy\n[  FAILED  ] A.c (0 ms)\n", 1)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"


def test_a_test_program_that_crashes_is_a_failure(run_tests):
    result = run_tests("[ RUN      ] A.b\n", 139)
    assert result.returncode == 1
    assert "ended (139) in A.b" in result.stdout
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_a_labs_name_also_selects_cpp_tests_in_camel_case(run_tests, tmp_path):
    run_tests("", 0, only="dot_product")
    assert "--gtest_filter=*dot_product*:*DotProduct*\n" in (tmp_path / "runner/given").read_text()


@pytest.fixture
def run_tests(tmp_path):
    """Return a function that runs tests/run.py without Python tests and with a fake test program, whose first shard
    prints the given text."""
    root = tmp_path / "runner"
    (root / "tests").mkdir(parents=True)
    shutil.copy("tests/run.py", root / "tests")

    def run(text: str, status: int, only: str = "A") -> subprocess.CompletedProcess[str]:
        (root / "text").write_text(text)
        first = f'[ "$GTEST_SHARD_INDEX" = 0 ] || exit 0; echo "$*" >"{root}/given"; cat "{root}/text"; exit {status}'
        for program, script in {"build/tests": first, ".venv/bin/python": "exit 5"}.items():
            (root / program).parent.mkdir(parents=True, exist_ok=True)
            (root / program).write_text(f"#!/bin/sh\n{script}\n")
            (root / program).chmod(0o755)
        environment = os.environ | {"BUILD": "build", "VENV": ".venv", "ONLY": only}
        command = [sys.executable, "tests/run.py"]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    return run


def test_show_runs_the_labs_script_with_the_judges_data(checkout, either):
    folder = checkout()
    output = either(folder, "show", "LAB=sample", "IMAGE=my photo.png", "SET=a=1 b=2")
    assert output.status == 0
    assert output.has("judge: [show] [sample] [--image] [my photo.png] [--set] [a=1] [b=2]\n")
    (folder / "labs/sample/show.py").write_text("import sys\nprint('draws', sys.argv[1])\n")
    assert "draws" not in either(folder, "show", "LAB=sample").out  # nothing was written
    (folder / "build/show/sample").mkdir(parents=True)
    (folder / "build/show/sample/data.csv").write_text("1\n")
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / ".venv/ready").touch()
    assert either(folder, "show", "LAB=sample").has("draws build/show/sample\n")


def test_show_reports_packages_that_cannot_be_installed(checkout, make, machine):
    machine.add_program("python3", 'case "$*" in -V) echo Python 3.9.2;; *"(3, 11)"*) exit 1;; esac')
    folder = checkout()
    (folder / "labs/sample/show.py").write_text("print('draws')\n")
    (folder / "build/show/sample").mkdir(parents=True)
    (folder / "build/show/sample/data.csv").write_text("1\n")
    output = make(folder, "show", "LAB=sample")
    assert output.status == 2
    assert output.has("Python 3.9.2, and this needs 3.11 or newer")


def test_paths_of_rosters_are_relative_to_the_callers_folder(checkout, warplab, tmp_path):
    folder = checkout()
    (venv := tmp_path / "venv" / "bin").mkdir(parents=True)
    (venv / "python").write_text("#!/bin/sh\nprintf '[%s]' \"$@\"\n")
    (venv / "python").chmod(0o755)
    for marker in ("ready", "course"):
        (tmp_path / "venv" / marker).touch()
    (folder / "with, comma.csv").touch()
    words = ("batch", "LAB=sample", "SUBMISSIONS=in", "OUT=out", f"VENV={tmp_path / 'venv'}")

    def rosters(value: str, cwd: Path) -> str:
        output = warplab(folder, *words, f"ROSTER={value}", cwd=cwd)
        assert output.status == 0, output.out
        return output.out[output.out.rindex("[--build]") :].partition("]")[2].partition("]")[2]

    assert rosters("one.csv,/two.csv", folder) == f"[--roster][{folder}/one.csv][--roster][/two.csv]"
    assert rosters("with, comma.csv", folder) == f"[--roster][{folder}/with, comma.csv]"
    subfolder = folder / "labs"
    assert rosters("a.csv,../b.csv", subfolder) == f"[--roster][{subfolder}/a.csv][--roster][{subfolder}/../b.csv]"
    assert rosters("", folder) == ""
