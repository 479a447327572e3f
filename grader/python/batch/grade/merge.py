"""Fill in a report's pending points from another report on the same submission, such as a GPU's.

python3 -m grader.python.batch.grade.merge REPORT OTHER [--output FILE]

REPORT was written first, for example without a GPU, and OTHER later, about the same files. Decided correctness points
of REPORT stay.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, make_parser, read_json, run_command, write_document
from grader.python.common.documents import show_json
from grader.python.common.report import read_report

Json = dict[str, Any]
# The part of a report that is copied together with the points of a kind.
PART_OF_KIND = {"hygiene": "check_mode", "speed": "measurements"}
KINDS = ("correctness", *PART_OF_KIND)


def read_complete(file: Path) -> Json:
    """Return a report as JSON, with defaults for missing keys. Raises UserError that names the file."""
    parsed = asdict(read_report(file))
    completed: Json = complete(read_json(file), parsed)
    return completed


def complete(content: Any, parsed: Any) -> Any:
    """Return a report, or a part of one, as JSON: `parsed`, which has defaults for missing keys, with the unknown keys
    of `content` added. `content`: the part as the file has it; `parsed`: the same part from read_report()."""
    if isinstance(parsed, dict) and isinstance(content, dict):
        return {**content, **{key: complete(content.get(key, value), value) for key, value in parsed.items()}}
    if isinstance(parsed, list):
        return [complete(*pair) for pair in zip(content, parsed, strict=True)]
    return parsed


def merge_reports(report: Json, other: Json) -> Json:
    """Return the first report with its pending points, and its stages without a score, replaced by those of the other.

    Both are reports as JSON. Raises UserError if they are about different labs or different sources.
    """
    if report["lab"] != other["lab"]:
        raise UserError(
            f"One report is about {report['lab']}, the other one about {other['lab']}. Give two reports about one lab."
        )
    merged = copy.deepcopy(report)
    other_stages = {stage["stage"]: stage for stage in other["stages"]}
    for number, stage in enumerate(merged["stages"]):
        if stage["stage"] in other_stages:
            merged["stages"][number] = merge_stages(stage, other_stages[stage["stage"]])
    merged["total"] = sum_points(merged["stages"])
    verdicts = [stage["verdict"] for stage in merged["stages"]]
    merged["verdict"] = next((verdict for verdict in ("failed", "error") if verdict in verdicts), "passed")
    merged["machine"] = {key: value or other["machine"].get(key, "") for key, value in report["machine"].items()}
    return merged


def merge_stages(stage: Json, other: Json) -> Json:
    """Return the first report's stage, with its pending points replaced by those of the other report. Raises UserError
    if the sources differ."""
    if stage["source_hash"] != other["source_hash"]:
        raise UserError(
            f"{stage['stage']}: the reports are about different sources ({stage['source_hash'][:12]} and "
            f"{other['source_hash'][:12]}), so no points can be taken from one to the other. Grade the same files."
        )
    if other["score"] is None:
        return stage
    if stage["score"] is None or decides(other, stage, "correctness"):
        return copy.deepcopy(other)
    merged = copy.deepcopy(stage)
    for kind, part in PART_OF_KIND.items():
        if decides(other, stage, kind):
            for key in (kind, f"{kind}_pending", f"{kind}_why"):
                merged["score"][key] = other["score"][key]
            if kind == "speed":
                merged["score"]["speed_modelled"] = is_modelled(other["score"])
            merged[part] = copy.deepcopy(other[part])
    merged["score"]["total"] = sum(merged["score"][kind] for kind in KINDS)
    failed = other["verdict"] == "failed" and not is_pending(other["score"], "correctness")
    if stage["verdict"] == "passed" and failed:
        merged["verdict"] = "failed"
        merged["notes"] = [
            *stage["notes"],
            "It passed when it was graded first, and failed on the machine where the rest was graded.",
        ]
    return merged


def decides(other: Json, stage: Json, kind: str) -> bool:
    """Return whether the points of a kind in `other` replace those in `stage`, because they are decided in
    `other` and pending in `stage`, or measured in `other` and modelled in `stage`. Both stages have a score."""
    if is_pending(other["score"], kind):
        return False
    if kind == "speed" and is_modelled(stage["score"]) and not is_modelled(other["score"]):
        return True
    return is_pending(stage["score"], kind)


def is_modelled(score: Json) -> bool:
    """Return whether the speed points come from a modelled time; False for reports of earlier versions, without this
    key."""
    return bool(score.get("speed_modelled"))


def is_pending(score: Json, kind: str) -> bool:
    """Return whether the points of a kind are pending; False for correctness in reports of earlier versions, without
    this key."""
    return bool(score.get(f"{kind}_pending"))


def sum_points(stages: Sequence[Json]) -> Json:
    """Return a report's `total`: sums over the stages that have a score."""
    scores = [stage["score"] for stage in stages if stage["score"] is not None]
    return {
        "points": sum(score["total"] for score in scores),
        "max": sum(score["max"] for score in scores),
        "pending": sum(score[f"{kind}_max"] for score in scores for kind in KINDS if is_pending(score, kind)),
        "without_score": len(stages) - len(scores),
    }


def main(arguments: Sequence[str]) -> int:
    """Merge the reports, and return 0. Raises UserError (exit status 2) if they do not belong together."""
    parser = make_parser("python3 -m grader.python.batch.grade.merge", __doc__)
    parser.add_argument("report", type=Path, metavar="REPORT", help="the first report, with points pending")
    parser.add_argument("other", type=Path, metavar="OTHER", help="a later report on the same files, such as a GPU's")
    parser.add_argument("--output", type=Path, help="the file to write (default: the terminal)")
    options = parser.parse_args(arguments)
    merged = merge_reports(read_complete(options.report), read_complete(options.other))
    text = show_json(merged)
    write_document(text, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
