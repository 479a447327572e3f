"""Find labs and their stages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, read_json

SPEEDS = ("measured", "modelled", "off")  # where a course's speed points come from
STAGE_ID = re.compile(r"\d\d_(?P<slug>[a-z][a-z0-9_]*)")
KIT = "grader/kit.json"  # in a students' kit: its number and the stages that it has


def find_labs(root: Path) -> list[str]:
    """Return the names of all labs in the course's order: the folders of labs/ that contain a lab.json."""
    labs = (manifest.parent.name for manifest in (root / "labs").glob("*/lab.json"))
    return sorted(labs, key=lambda lab: (order_of(root, lab), lab))


def order_of(root: Path, lab: str) -> float:
    """Return the lab's `order`; labs without one are last."""
    try:
        return float(read_manifest(root, lab)["order"])
    except (KeyError, TypeError, ValueError, UserError):
        return math.inf


def choose_labs(root: Path, names: Sequence[str]) -> list[str]:
    """Return the named labs, or all labs if none is named. Raises UserError with the choices if a name is unknown."""
    labs = find_labs(root)
    for name in names:
        if name not in labs:
            raise UserError(f"No lab is called {name!r}. Labs: {', '.join(labs) or 'none'}.")
    return list(names) or labs


def read_manifest(root: Path, lab: str) -> dict[str, Any]:
    """Return the content of a lab's lab.json. Raises UserError."""
    content: dict[str, Any] = read_json(root / "labs" / lab / "lab.json")
    return content


def read_stages(root: Path, lab: str) -> dict[str, str]:
    """Return a lab's stages and their titles, in order. Raises UserError if lab.json cannot be read."""
    try:
        return {str(stage["id"]): str(stage.get("title", stage["id"])) for stage in read_manifest(root, lab)["stages"]}
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"{root / 'labs' / lab / 'lab.json'}: no list of stages with ids.") from None


def read_kit_number(root: Path) -> int:
    """Return the number of the students' kit that this folder was unpacked from; 0 if it is not a kit."""
    file = root / KIT
    number = read_json(file).get("number") if file.is_file() else 0
    return number if isinstance(number, int) else 0


def find_stage(lab: str, stages: Sequence[str], typed: str) -> str:
    """Return the id of the stage typed as its id, number or slug; '' if nothing was typed. Raises UserError."""
    matches = [stage for stage in stages if is_called(stage, typed)]
    if typed and not matches:
        raise UserError(f"{lab} has no stage {typed}. Its stages: {', '.join(stages)}")
    return matches[0] if typed else ""


def is_called(stage: str, typed: str) -> bool:
    """Return whether `typed` is the stage's number, its slug, or its id in this or an earlier version of the lab."""
    return typed in (stage[:2], stage[:2].lstrip("0"), stage[3:]) or is_same_stage(stage, typed)


def is_same_stage(stage_id: str, other: str) -> bool:
    """Return whether two ids mean the same stage. A stage gets a new number if another one is inserted before it, but
    keeps its slug, which no other stage of the lab has."""
    slugs = [match["slug"] if (match := STAGE_ID.fullmatch(stage)) else "" for stage in (stage_id, other)]
    return stage_id == other or "" != slugs[0] == slugs[1]


def current_id(stages: Sequence[str], stage: str) -> str:
    """Return the current id of a stage, given its id in a report, a batch or a file of an earlier version of the lab.
    If the lab no longer has this stage, return the id unchanged."""
    return next((candidate for candidate in stages if is_same_stage(candidate, stage)), stage)
