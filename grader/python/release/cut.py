"""Remove later stages from a lab: from its lab.json, its datasets and its handout."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, read_text
from grader.python.common.labs import find_stage, is_called, read_manifest
from grader.python.docs.tables import Sources, regenerate


@dataclass(frozen=True)
class CutSources(Sources):
    """The sources of the documents' tables when some stages are removed."""

    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def labs(self) -> list[str]:
        """Return the names of the kept labs, sorted."""
        return sorted(self.manifests)

    def manifest(self, lab: str) -> dict[str, Any]:
        """Return the lab's manifest without the removed stages."""
        return self.manifests[lab]


def cut_labs(root: Path, labs: Mapping[str, str], upto: str = "") -> CutSources:
    """Cut each lab's manifest after its own last stage, or after `upto` if it has none. Raises UserError.

    `upto` is a stage number for all labs without a last stage, or the stage's id, number or slug if there is only one
    such lab. If `upto` is empty, labs without a last stage keep all stages.
    """
    manifests = {lab: read_manifest(root, lab) for lab in labs}
    stages = {lab: stage_ids(manifest) for lab, manifest in manifests.items()}
    lasts = {lab: int(find_stage(lab, stages[lab], last)[:2]) for lab, last in labs.items() if last}
    if upto:
        other_labs = {lab: ids for lab, ids in stages.items() if lab not in lasts}
        lasts |= dict.fromkeys(other_labs, find_number(other_labs, upto))
    for lab, last in lasts.items():
        manifests[lab] = cut_manifest(manifests[lab], last)
    return CutSources(root, root / "build", manifests=manifests)


def find_number(labs: Mapping[str, Sequence[str]], upto: str) -> int:
    """Return the number of the stage `upto`, which must be the last one of all these labs. Raises UserError."""
    if not labs:
        raise UserError(f"UPTO={upto}: every lab has its own last stage, so UPTO has no effect. Omit it.")
    matches = [(lab, stage) for lab, stages in labs.items() for stage in stages if is_called(stage, upto)]
    if matches and (upto.isdigit() or len(labs) == 1):
        return int(matches[0][1][:2])
    if matches:
        raise UserError(
            f"UPTO={upto}: this stage belongs to {matches[0][0]}, but for several labs, UPTO must be a number. "
            f"For one lab only: LABS={matches[0][0]}:{upto},…"
        )
    listing = "".join(f"\n  {lab}: {', '.join(stages)}" for lab, stages in labs.items())
    raise UserError(f"UPTO={upto}: no lab has such a stage. Stages:{listing}")


def cut_manifest(manifest: dict[str, Any], last: int) -> dict[str, Any]:
    """Return lab.json with the stages up to a number, and with their points and peers only."""
    stages = [stage for stage in manifest["stages"] if int(stage["id"][:2]) <= last]
    ids = [stage["id"] for stage in stages]
    cut = manifest | {"stages": stages, "points": sum(sum(stage["points"].values()) for stage in stages)}
    if "peers" in cut:
        cut["peers"] = [peer for peer in cut["peers"] if peer["stage"] in ids]
    return cut


def stage_ids(manifest: dict[str, Any]) -> list[str]:
    return [stage["id"] for stage in manifest["stages"]]


def cut_datasets(recipes: dict[str, Any], kept_stages: Sequence[str]) -> dict[str, Any]:
    """Return the dataset recipes without the datasets that only removed stages use."""
    datasets = []
    for dataset in recipes["datasets"]:
        stages = [stage for stage in dataset.get("stages", kept_stages) if stage in kept_stages]
        if stages:
            datasets.append(dataset | ({"stages": stages} if "stages" in dataset else {}))
    return recipes | {"datasets": datasets}


def cut_handout(sources: CutSources, lab: str) -> str:
    """Return a handout without the sections of removed stages, with its tables regenerated. The sections after the
    stages compare all stages and are removed, too, except for the section with the table of counters, to which the
    stages' sections refer."""
    file = sources.root / "handouts" / f"{lab}.md"
    everything = stage_ids(read_manifest(sources.root, lab))
    stages = stage_ids(sources.manifest(lab))
    text = read_text(file)
    if stages == everything:
        return text
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    titles = [section.partition("\n")[0].removeprefix("## ").strip() for section in sections]
    first = next((number for number, title in enumerate(titles) if title in everything), len(titles))
    stay = [
        section
        for number, (title, section) in enumerate(zip(titles, sections, strict=True))
        if number < first or title in stages or "<!-- table: counters" in section
    ]
    return regenerate(sources, "".join(stay), file).rstrip("\n") + "\n"


def show_json(content: dict[str, Any]) -> str:
    """Return JSON as a file's text."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
