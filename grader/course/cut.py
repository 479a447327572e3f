"""Leaves later stages out of a lab: out of its lab.json, its datasets and its handout."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course.tables import Sources, renew
from grader.journal.console import UserError, read_json, read_text


@dataclass(frozen=True)
class CutSources(Sources):
    """What the documents' tables are made from when some stages are left out."""

    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def labs(self) -> list[str]:
        """Names of the labs that stay, sorted."""
        return sorted(self.manifests)

    def manifest(self, lab: str) -> dict[str, Any]:
        """The lab's manifest without the stages left out."""
        return self.manifests[lab]


def cut_labs(root: Path, labs: Sequence[str], upto: str) -> CutSources:
    """The labs' manifests up to a stage: a number, which counts in every lab, or one lab's stage id; empty: all of
    them. Raises UserError when no lab has such a stage."""
    manifests = {lab: read_json(root / "labs" / lab / "lab.json") for lab in labs}
    if not upto:
        return CutSources(root, root / "build", manifests=manifests)
    ids = [stage["id"] for manifest in manifests.values() for stage in manifest["stages"]]
    if not re.fullmatch(r"\d{1,2}", upto) and (upto not in ids or len(labs) > 1):
        raise UserError(
            f"UPTO={upto}: a stage's number (3: stages 1 to 3 of every lab), or with one lab its stage's id. "
            f"Stages: {', '.join(ids)}."
        )
    last = int(upto[:2])
    if not any(int(stage[:2]) == last for stage in ids):
        raise UserError(f"UPTO={upto}: no lab has a stage of this number. Stages: {', '.join(ids)}.")
    cut = {lab: cut_manifest(manifest, last) for lab, manifest in manifests.items()}
    return CutSources(root, root / "build", manifests=cut)


def cut_manifest(manifest: dict[str, Any], last: int) -> dict[str, Any]:
    """lab.json with the stages up to a number; the points are those of these stages."""
    stages = [stage for stage in manifest["stages"] if int(stage["id"][:2]) <= last]
    ids = [stage["id"] for stage in stages]
    cut = manifest | {"stages": stages, "points": sum(sum(stage["points"].values()) for stage in stages)}
    if "peers" in cut:
        cut["peers"] = [peer for peer in cut["peers"] if peer["stage"] in ids]
    return cut


def stage_ids(manifest: dict[str, Any]) -> list[str]:
    """Ids of a manifest's stages."""
    return [stage["id"] for stage in manifest["stages"]]


def cut_datasets(recipes: dict[str, Any], kept: Sequence[str]) -> dict[str, Any]:
    """public.json without the datasets that are for stages left out."""
    datasets = []
    for dataset in recipes["datasets"]:
        stages = [stage for stage in dataset.get("stages", kept) if stage in kept]
        if stages:
            datasets.append(dataset | ({"stages": stages} if "stages" in dataset else {}))
    return recipes | {"datasets": datasets}


def cut_handout(sources: CutSources, lab: str) -> str:
    """A handout without the sections of the stages left out, its tables made anew. What follows the stages compares
    all of them and is left out, too, but for the table of counters, to which the stages' sections point."""
    file = sources.root / "handouts" / f"{lab}.md"
    everything = stage_ids(read_json(sources.root / "labs" / lab / "lab.json"))
    kept = stage_ids(sources.manifest(lab))
    text = read_text(file)
    if kept == everything:
        return text
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    titles = [section.partition("\n")[0].removeprefix("## ").strip() for section in sections]
    first = next((number for number, title in enumerate(titles) if title in everything), len(titles))
    stay = [
        section
        for number, (title, section) in enumerate(zip(titles, sections, strict=True))
        if number < first or title in kept or "<!-- table: counters" in section
    ]
    return renew(sources, "".join(stay), file).rstrip("\n") + "\n"


def show_json(content: dict[str, Any]) -> str:
    """JSON as a file."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
