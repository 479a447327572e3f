"""Each lab's manifest matches the lab's files, and generated files are up to date."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.layout.tree import uncommitted_labs


def stages(root, lab) -> list[str]:
    return [stage["id"] for stage in json.loads((root / "labs" / lab / "lab.json").read_text())["stages"]]


def test_there_are_labs_and_each_has_its_files(root, labs):
    assert labs
    for lab in labs:
        for file in ("lab.h", "driver.cu", "oracle.cpp"):
            assert (root / "labs" / lab / file).is_file(), f"labs/{lab}/{file} is missing"
        assert (root / "datasets" / lab / "public.json").is_file(), f"datasets/{lab}/public.json is missing"
        assert (root / "handouts" / f"{lab}.md").is_file(), f"handouts/{lab}.md is missing"


@pytest.mark.parametrize("tree", ["solutions", "starter"])
def test_each_stage_has_a_file_and_each_file_a_stage(root, labs, tree):
    for lab in labs:
        on_disk = sorted(file.stem for file in (root / tree / lab).glob("*.cu"))
        assert on_disk == sorted(stages(root, lab)), f"{tree}/{lab} and lab.json differ"


def test_the_manifest_states_whether_the_driver_divides_scratch(root, labs):
    for lab in labs:
        divides = json.loads((root / "labs" / lab / "lab.json").read_text()).get("divides_scratch", False)
        names = "name_part(" in (root / "labs" / lab / "driver.cu").read_text()
        assert divides == names, f"labs/{lab}: divides_scratch of lab.json and name_part in driver.cu differ"


def test_stage_ids_are_numbered_in_order(root, labs):
    for lab in labs:
        ids = stages(root, lab)
        assert all(re.fullmatch(r"\d\d_[a-z0-9_]+", stage) for stage in ids), ids
        assert [int(stage[:2]) for stage in ids] == list(range(1, len(ids) + 1)), ids


@pytest.mark.parametrize("folder", ["labs", "solutions", "starter", "datasets", "handouts"])
def test_every_folder_belongs_to_a_lab(root, files, labs, folder):
    for file in files:
        if file.parts[0] == folder and len(file.parts) > 2:
            assert file.parts[1] in [*labs, "results", "pictures", "example-journal", "instructor"], (
                f"{file}: there is no such lab"
            )


def test_manifests_fit_their_schemas(root, labs):
    jsonschema = pytest.importorskip("jsonschema")
    schemas = root / "grader/model/schema"
    for lab in labs:
        manifest = json.loads((root / "labs" / lab / "lab.json").read_text())
        jsonschema.validate(manifest, json.loads((schemas / "lab.schema.json").read_text()))
        for recipes in (root / "datasets" / lab).glob("*.json"):
            schema = json.loads((schemas / "datasets.schema.json").read_text())
            jsonschema.validate(json.loads(recipes.read_text()), schema)


def check_generated(root, module, *options) -> str:
    """Return the module's list of stale files; empty if all are up to date."""
    command = [sys.executable, "-m", f"grader.python.{module}", "--check", *options]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return result.stdout + result.stderr if result.returncode else ""


def test_starters_are_fresh(root):
    assert check_generated(root, "release.starters") == ""


def test_tables_are_fresh(root):
    build = ["--build", os.environ.get("WARPLAB_BUILD", "build")]
    stale = check_generated(root, "docs.tables", *build)
    new = uncommitted_labs()
    if stale and new:  # the documents need not contain an uncommitted lab
        stale = check_generated(root, "docs.tables", *build, *[f"--without={lab}" for lab in new])
    assert stale == "", f"{stale}\nmake docs regenerates them"
