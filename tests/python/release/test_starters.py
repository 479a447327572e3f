"""Tests of starters.py: it makes starters from marked solutions, and reports errors with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.release.starters import make_starter
from tests.python.support import ROOT, run_module

MODULE = "grader.python.release.starters"
SOLUTION = """\
// idea
void f(int n) {
    //@ begin
    work(n);
    //@ starter
    //@ // TODO: work on n elements
    //@
    //@     (void)n;
    //@ end
}
"""
STARTER = """\
// idea
void f(int n) {
    // TODO: work on n elements

        (void)n;
}
"""


def course(tmp_path: Path, solution: str = SOLUTION, starter: str | None = STARTER) -> Path:
    for tree, text in (("solutions", solution), ("starter", starter)):
        folder = tmp_path / tree / "lab"
        folder.mkdir(parents=True)
        if text is not None:
            (folder / "01_first.cu").write_text(text)
    return tmp_path


def test_solution_lines_are_removed_and_replacement_lines_lose_their_marker() -> None:
    assert make_starter(SOLUTION, Path("s.cu")) == STARTER


def test_replacement_is_optional() -> None:
    assert make_starter("// TODO: all\n//@ begin\nx\n//@ end\ny\n", Path("s.cu")) == "// TODO: all\ny\n"


def test_windows_line_ends_are_kept() -> None:
    starter = make_starter(SOLUTION.replace("\n", "\r\n"), Path("s.cu"))
    assert starter == STARTER.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n//@ begin\nTODO\n", "s.cu:2: '//@ begin' without an '//@ end'"),
        ("TODO\n//@ end\n", "s.cu:2: '//@ end' without"),
        ("TODO\n//@ starter\n", "s.cu:2: '//@ starter' without"),
        ("//@ begin\n//@ begin\n//@ end\n", "s.cu:2: '//@ begin' inside the block that line 1 opens"),
        ("//@ begin\nx\n//@ starter\n//@ starter\n//@ end\n", "s.cu:4: '//@ starter' without"),
        ("//@ begin\nx\n//@ starter\nplain\n//@ end\n", "s.cu:4: between"),
        ("//@ begin\n//@ TODO\n//@ end\n", "s.cu:2: '//@ TODO' is not a marker"),
        ("//@ begin\n//@ starter\n//@TODO\n//@ end\n", "s.cu:3: '//@TODO' is not a marker"),
        ("//@\n", "s.cu:1: '//@' is not a marker"),
        ("//@ beginn\n//@ end\n", "s.cu:1: '//@ beginn' is not a marker"),
        ("// TODO\n", "s.cu:1: no '//@ begin'"),
        ("\n//@ begin\nx\n//@ end\n", "s.cu:2: the starter has no TODO"),
        ("", "s.cu:1: no '//@ begin'"),
    ],
)
def test_wrong_markers_name_file_and_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        make_starter(text, Path("s.cu"))
    assert str(error.value).startswith(message)


def test_check_passes_when_fresh(tmp_path: Path) -> None:
    result = run_module(MODULE, "--check", "--root", course(tmp_path))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_check_lists_stale_starters(tmp_path: Path) -> None:
    result = run_module(MODULE, "--check", "--root", course(tmp_path, starter=STARTER.replace("TODO", "todo")))
    assert result.returncode == 1
    assert "starter/lab/01_first.cu: stale." in result.stdout
    assert "-    // todo: work on n elements\n+    // TODO: work on n elements\n" in result.stdout


def test_write_updates_starters_and_check_then_passes(tmp_path: Path) -> None:
    course(tmp_path, starter=None)
    assert "missing" in run_module(MODULE, "--check", "--root", tmp_path).stdout
    assert run_module(MODULE, "--write", "--root", tmp_path).returncode == 0
    assert (tmp_path / "starter/lab/01_first.cu").read_text() == STARTER
    assert run_module(MODULE, "--check", "--root", tmp_path).returncode == 0


def test_starter_without_a_solution_is_named_and_never_deleted(tmp_path: Path) -> None:
    left_over = course(tmp_path) / "starter/lab/02_gone.cu"
    left_over.write_text("x")
    for action in ("--check", "--write"):
        result = run_module(MODULE, action, "--root", tmp_path)
        assert result.returncode == 1
        assert "starter/lab/02_gone.cu: no solution has this name" in result.stdout
    assert left_over.exists()


def test_unknown_lab_names_the_choices(tmp_path: Path) -> None:
    result = run_module(MODULE, "--check", "--root", course(tmp_path), "other")
    assert result.returncode == 2
    assert "Labs: lab." in result.stderr


def test_a_binary_solution_gives_one_message(tmp_path: Path) -> None:
    (course(tmp_path) / "solutions/lab/01_first.cu").write_bytes(b"a\n\xff\xfe")
    result = run_module(MODULE, "--check", "--root", tmp_path)
    assert result.returncode == 2
    assert "01_first.cu:2: not UTF-8" in result.stderr


def test_an_unwritable_folder_gives_one_message(tmp_path: Path) -> None:
    course(tmp_path, starter=None)
    (tmp_path / "starter/lab").rmdir()
    (tmp_path / "starter/lab").write_text("a file where a folder should be")
    result = run_module(MODULE, "--write", "--root", tmp_path)
    assert result.returncode == 2
    assert "Cannot write" in result.stderr


def test_the_projects_starters_are_fresh() -> None:
    result = run_module(MODULE, "--check", "--root", ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
