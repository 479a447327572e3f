"""The modelled times in students' kits belong to the labs' stages, solutions and datasets, and to all GPUs."""

from __future__ import annotations

import json

import pytest

from grader.python.common.labs import find_labs, read_stages
from grader.python.docs.code_hash import hash_code
from grader.python.docs.solution_times import FILE, GPUS
from tests.layout.tree import uncommitted_labs
from tests.python.support import ROOT

RUN = "Run python3 -m grader.python.docs.solution_times LAB, and commit labs/LAB/modelled_times.json."


@pytest.mark.parametrize("lab", sorted(set(find_labs(ROOT)) - set(uncommitted_labs())))
def test_the_times_are_those_of_the_labs_solutions(lab: str) -> None:
    stages = json.loads((ROOT / "labs" / lab / FILE).read_text())
    assert list(stages) == list(read_stages(ROOT, lab)), RUN
    timed = json.loads((ROOT / "datasets" / lab / "public.json").read_text())["datasets"]
    for stage, entry in stages.items():
        assert entry["code"] == hash_code((ROOT / "solutions" / lab / f"{stage}.cu").read_text()), (stage, RUN)
        assert entry["dataset"] in [dataset["name"] for dataset in timed], (stage, RUN)
        assert set(entry["seconds"]) == {file.stem for file in GPUS.glob("*.json")}, (stage, RUN)
        for gpu, (seconds, previous_s) in entry["seconds"].items():
            assert seconds > 0 and (previous_s is None or previous_s > 0), (stage, gpu)
