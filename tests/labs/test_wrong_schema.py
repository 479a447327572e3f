"""wrong.schema.json describes every lab's wrong.json, and that of a new lab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.python.release.new_lab import make_files
from tests.labs.conftest import ROOT

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((ROOT / "tests/labs/wrong.schema.json").read_text())
FILES = sorted((ROOT / "tests/labs").glob("*/wrong.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_labs_wrong_json_fits(file: Path) -> None:
    jsonschema.validate(json.loads(file.read_text()), SCHEMA)


def test_a_new_labs_file_fits_and_an_unknown_key_does_not() -> None:
    entries = json.loads(make_files("scratch")[Path("tests/labs/scratch/wrong.json")])
    jsonschema.validate(entries, SCHEMA)
    with pytest.raises(jsonschema.ValidationError, match="Additional properties"):
        jsonschema.validate([entries[0] | {"mesage_contains": ""}], SCHEMA)
