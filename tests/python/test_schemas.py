"""The JSON Schemas of grader/model/schema describe every key, and refuse only invalid documents.

The tested reports are the expected outputs of tests/model/report_test.cpp.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
from referencing import Registry, Resource  # noqa: E402  (comes with jsonschema)

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(file.name.split(".")[0] for file in sorted((ROOT / "grader/model/schema").glob("*.schema.json")))
REPORTS = sorted((ROOT / "tests/model/expected").glob("report*.json"))


def read_json(file: Path):
    return json.loads(file.read_text(encoding="utf-8"))


def schema(name: str) -> dict:
    return read_json(ROOT / f"grader/model/schema/{name}.schema.json")


def validator(name: str, schema=schema):
    resources = [(f"{name}.schema.json", Resource.from_contents(schema(name))) for name in NAMES]
    return jsonschema.Draft202012Validator(schema(name), registry=Registry().with_resources(resources))


def lenient_schema(name: str) -> dict:
    """Return the schema for readers, which does not require the keys that writers must write."""
    lenient = schema(name)
    for _, node in objects(lenient):
        node.pop("required", None)
    return lenient


def violations(name: str, document) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]


def objects(node, path="#"):
    """Yield the path and the content of each part of a schema that lists properties."""
    if isinstance(node, dict):
        if "properties" in node and "if" not in path:
            yield path, node
        for key, inner in node.items():
            yield from objects(inner, f"{path}/{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from objects(inner, f"{path}/{index}")


def resolve(node: dict, root: dict) -> dict:
    while "$ref" in node:
        file, _, path = node["$ref"].partition("#/")
        root = target = schema(file.removesuffix(".schema.json")) if file else root
        for part in path.split("/") if path else []:
            target = target[part]
        node = {key: value for key, value in node.items() if key != "$ref"} | target
    return node


@pytest.mark.parametrize("name", NAMES)
def test_each_schema_is_valid(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_described(name):
    root = schema(name)
    for path, node in objects(root):
        if path.rsplit("/", 1)[-1] in ("if", "then", "else", "contains"):
            continue
        for key, described in node["properties"].items():
            assert resolve(described, root).get("description"), f"{path}: {key} has no description"
        assert set(node.get("required", [])) <= set(node["properties"]), path


@pytest.mark.parametrize("file", sorted(ROOT.glob("labs/*/lab.json")), ids=lambda file: file.parent.name)
def test_manifests_fit_the_schema(file):
    assert violations("lab", read_json(file)) == []


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("datasets/*/*.json")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_datasets_fit_the_schema(file):
    assert violations("datasets", read_json(file)) == []


def test_there_are_reports():
    assert [file.name for file in REPORTS] == ["report.json", "report_bare.json"]


@pytest.mark.parametrize("file", REPORTS, ids=lambda file: file.stem)
def test_reports_fit_the_schema(file):
    assert violations("report", read_json(file)) == []


def test_the_schema_names_every_key_that_is_written():
    """A new key of report.cpp must be described, too, so this test forbids additional keys."""
    strict = schema("report")
    for _, node in objects(strict):
        node["additionalProperties"] = False
    errors = [error.message for error in jsonschema.Draft202012Validator(strict).iter_errors(read_json(REPORTS[0]))]
    assert errors == []


def test_every_key_of_a_report_is_required():
    for path, node in objects(schema("report")):
        assert set(node["required"]) == {
            key for key, definition in node["properties"].items() if "writeOnly" not in definition
        }, path


def test_old_records_fit_except_for_keys_of_later_versions():
    """The example journal was recorded with an earlier version."""
    records = (ROOT / "handouts/example-journal/records.jsonl").read_text().splitlines()
    assert {json.loads(record)["kind"] for record in records} == {"source", "report", "inspection", "sweep"}
    for record in records:
        assert list(validator("record", lenient_schema).iter_errors(json.loads(record))) == []


def test_a_report_may_have_keys_of_later_versions():
    report = read_json(REPORTS[0])
    report["later"] = report["stages"][0]["later"] = 1
    assert violations("report", report) == []


WRONG_REPORTS = {
    "no stages": lambda report: report.pop("stages"),
    "verdict": lambda report: report.update(verdict="good"),
    "backend": lambda report: report.update(backend="gpu"),
    "points as text": lambda report: report["total"].update(points="many"),
    "NaN as null": lambda report: report["stages"][4]["measurements"][0].update(median_s=None),
    "cause with spaces": lambda report: report["stages"][1]["checks"][1]["failure"].update(cause="tail lost"),
    "hash": lambda report: report["stages"][0].update(source_hash="abc"),
    "negative index": lambda report: report["stages"][1]["checks"][1]["failure"]["place"].update(index=-1),
}


@pytest.mark.parametrize("wrong", WRONG_REPORTS)
def test_wrong_reports_do_not_fit(wrong):
    report = copy.deepcopy(read_json(REPORTS[0]))
    WRONG_REPORTS[wrong](report)
    assert violations("report", report)


def dataset(**changes) -> dict:
    complete = {
        "name": "tiny",
        "generator": "random",
        "parameters": {"n": 1},
        "seed": 1,
        "uses": ["check"],
        "points": 1,
        "about": "x",
    }
    merged = {key: value for key, value in (complete | changes).items() if value is not None}
    return {"schema": 1, "datasets": [merged]}


RIGHT_DATASETS = {
    "default": dataset(),
    "timed only": dataset(uses=["bench"], points=None),
    "timed for a table": dataset(uses=["bench", "unscored"], points=None),
    "hidden": dataset(seed=None, uses=None),
    "hidden and timed": dataset(seed=None, uses=["bench", "cuda-only"]),
    "for a stage": dataset(stages=["01_x"]),
}
WRONG_DATASETS = {
    "unknown key": dataset(use=1),
    "unknown use": dataset(uses=["chek"]),
    "no use": dataset(uses=[]),
    "only cuda-only": dataset(uses=["cuda-only"]),
    "only unscored": dataset(uses=["unscored"]),
    "use twice": dataset(uses=["check", "check"]),
    "no points": dataset(points=None),
    "points of 0": dataset(points=0),
    "points for timing only": dataset(uses=["bench"]),
    "public without seed": dataset(seed=None),
    "negative seed": dataset(seed=-1),
    "capital": dataset(name="Tiny"),
    "no stage": dataset(stages=[]),
    "stage by number": dataset(stages=["1"]),
}


@pytest.mark.parametrize("right", RIGHT_DATASETS)
def test_right_datasets_fit(right):
    assert violations("datasets", RIGHT_DATASETS[right]) == []


@pytest.mark.parametrize("wrong", WRONG_DATASETS)
def test_wrong_datasets_do_not_fit(wrong):
    assert violations("datasets", WRONG_DATASETS[wrong])


WRONG_LABS = {
    "unknown key": lambda lab: lab.update(titel="x"),
    "other schema": lambda lab: lab.update(schema=2),
    "stage id": lambda lab: lab["stages"][0].update(id="1_x"),
    "no output": lambda lab: [buffer.update(role="input") for buffer in lab["buffers"]],
    "type": lambda lab: lab["buffers"][0].update(type="float"),
    "negative points": lambda lab: lab["stages"][0]["points"].update(speed=-1),
    "empty title": lambda lab: lab.update(title=" "),
    "macro": lambda lab: lab["stages"][0]["tunables"][0].update(macro="block"),
    "value twice": lambda lab: lab["stages"][0]["tunables"][0].update(values=[1, 1]),
    "no stages": lambda lab: lab.update(stages=[]),
}


@pytest.mark.parametrize("wrong", WRONG_LABS)
def test_wrong_labs_do_not_fit(wrong):
    lab = read_json(ROOT / "labs/vector_add/lab.json")
    assert violations("lab", lab) == []
    WRONG_LABS[wrong](lab)
    assert violations("lab", lab)
