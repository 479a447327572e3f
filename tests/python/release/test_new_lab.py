"""Tests of new_lab.py: it writes a complete skeleton, refuses invalid names, and overwrites nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.python.release.new_lab import list_files, make_files
from tests.python.support import ROOT, run_module

MODULE = "grader.python.release.new_lab"


def test_new_lab_writes_every_file_and_prints_the_next_steps(tmp_path: Path) -> None:
    result = run_module(MODULE, "matrix_transpose", "--root", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    files = {file.relative_to(tmp_path) for file in tmp_path.rglob("*") if file.is_file()}
    assert files == {*list_files("matrix_transpose"), Path("starter/matrix_transpose/01_first.cu")}
    assert all(str(file) in result.stdout for file in files)
    assert "make grade LAB=matrix_transpose TREE=solutions" in result.stdout


def test_no_placeholder_is_left_and_every_template_is_used() -> None:
    files = make_files("scratch")
    assert not [file for file, text in files.items() if re.search(r"@\w+@", text)]
    templates = {file.name for file in (ROOT / "grader/python/release/new_lab").iterdir()}
    assert templates == set(list_files("scratch").values())


def test_each_stage_has_its_files_its_points_and_its_section() -> None:
    stages = ["01_naive", "02_shared_tile", "03_vector_loads"]
    files = make_files("scratch", stages)
    for tree in ("solutions", "starter"):
        assert {file.stem for file in files if file.parts[0] == tree} == set(stages)
    manifest = json.loads(files[Path("labs/scratch/lab.json")])
    assert [(stage["id"], stage["title"]) for stage in manifest["stages"]][1] == ("02_shared_tile", "Shared tile")
    assert manifest["points"] == 30
    handout = files[Path("handouts/scratch.md")]
    assert re.findall(r"^## (\d\d_\w+)$", handout, re.MULTILINE) == stages and "STAGE=03" in handout
    (wrong,) = json.loads(files[Path("tests/labs/scratch/wrong.json")])
    assert (wrong["stage"], wrong["file"]) == ("01_naive", "01_naive_copies.cu")
    assert Path("tests/labs/scratch/01_naive_copies.cu") in files
    assert not [file for file, text in files.items() if re.search(r"@\w+@", text)]


@pytest.mark.parametrize(
    ("stages", "message"),
    [("02_tile", "02_tile is stage 1"), ("01_a,03_b", "03_b is stage 2"), ("01", "'01' cannot be a stage"),
     ("01_A", "cannot be a stage"), ("01_a,01_a", "01_a is stage 2"), (",", "names no stage")],
)  # fmt: skip
def test_invalid_stages_are_refused_and_nothing_is_written(tmp_path: Path, stages: str, message: str) -> None:
    result = run_module(MODULE, "scratch", "--stages", stages, "--root", tmp_path)
    assert result.returncode == 2 and message in result.stderr
    assert not list(tmp_path.iterdir())


def test_generated_lines_are_short_enough_even_with_a_long_name() -> None:
    for file, text in make_files("x" * 20).items():
        if file.suffix in (".cu", ".h", ".cpp"):
            assert max(map(len, text.splitlines())) <= 120, file


def test_json_fits_the_schemas_and_points_add_up() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    files = make_files("scratch")
    for name, schema in (
        ("labs/scratch/lab.json", "lab"),
        ("labs/scratch/quiz.json", "quiz"),
        ("datasets/scratch/public.json", "datasets"),
        ("datasets/scratch/hidden.json", "datasets"),
    ):
        jsonschema.validate(
            json.loads(files[Path(name)]), json.loads((ROOT / f"grader/model/schema/{schema}.schema.json").read_text())
        )
    manifest = json.loads(files[Path("labs/scratch/lab.json")])
    assert manifest["points"] == sum(sum(stage["points"].values()) for stage in manifest["stages"])
    (wrong,) = json.loads(files[Path("tests/labs/scratch/wrong.json")])
    assert Path("tests/labs/scratch") / wrong["file"] in files
    assert f'"{wrong["cause"]}"' in files[Path("labs/scratch/oracle.cpp")]
    assert wrong["message_contains"] in files[Path("labs/scratch/oracle.cpp")]


def test_an_oracle_that_explains_three_mistakes_is_short() -> None:
    """The skeleton's oracle_test.cpp, which test_new_lab_builds.py runs, tests that it names the mistakes."""
    files = make_files("scratch")
    tested = re.findall(r'"(\w+)"\);$', files[Path("tests/labs/scratch/oracle_test.cpp")], re.MULTILINE)
    assert {"factor_forgotten", "added_to_garbage", "tail_lost"} <= set(tested)
    assert len(files[Path("labs/scratch/oracle.cpp")].splitlines()) <= 120


def test_the_starter_lacks_the_lines_that_students_write() -> None:
    files = make_files("scratch")
    starter, solution = files[Path("starter/scratch/01_first.cu")], files[Path("solutions/scratch/01_first.cu")]
    assert "out[i] = factor * in[i];" in solution.split("//@ begin")[1]
    assert "factor * in[i]" not in starter
    assert "TODO" in starter


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "cannot be a lab's name"),
        ("Matrix", "lower-case"),
        ("1d", "begins with a letter"),
        ("a-b", "lower-case"),
        ("a b", "lower-case"),
        ("a__b", "single underscores"),
        ("_a", "begins with a letter"),
        ("../x", "lower-case"),
        ("a\n", "lower-case"),
        ("größe", "lower-case"),
        ("int", "has another meaning"),
        ("main", "has another meaning"),
        ("results", "has another meaning"),
        ("x" * 41, "longer than 40"),
    ],
)
def test_invalid_names_are_refused(tmp_path: Path, name: str, message: str) -> None:
    result = run_module(MODULE, name, "--root", tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["labs/scratch/x", "solutions/scratch/x", "handouts/scratch.md", "tests/labs/scratch/x"]
)
def test_an_existing_lab_is_not_overwritten(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("mine")
    result = run_module(MODULE, "scratch", "--root", tmp_path)
    assert result.returncode == 2
    assert "already exists" in result.stderr
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [tmp_path / path]
