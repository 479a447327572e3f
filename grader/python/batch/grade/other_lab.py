"""Refuse another lab's hand-ins before anything is graded: given by mistake, all would get 0 points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.python.batch.grade.opening import find_other_lab, open_submission
from grader.python.batch.ingest.names import lab_in_name
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError

READING_S = 2.0  # of one hand-in, so that none delays the others
MOST_SAMPLED = 20  # reading hundreds of hand-ins takes seconds
FEW = 2  # maximum number of hand-ins of this lab in a download of another lab


def require_own_lab(submissions: Path, folder: Path, found: Sequence[Submission], settings: Settings) -> None:
    """Raise UserError if most readable hand-ins are of one other lab, and at most FEW are of this one. `folder`: the
    folder with the hand-ins; `submissions`: the path that the user gave, for the message. With a roster, strangers do
    not count, because one student may hand in as many as there are students."""
    found = [one for one in found if one.own] or found
    taken = {entry for one in found for entry in one.entries}
    named = [
        lab for path in folder.iterdir() if path not in taken and (lab := lab_in_name(path)) not in ("", settings.lab)
    ]
    sample = labs_of(found[:: len(found) // MOST_SAMPLED + 1], settings) or named
    if not found_most(sample, settings.lab):
        return
    labs = labs_of(found, settings)  # all of them, because the sample may be wrong
    if other := found_most(labs or named, settings.lab):
        labs += named
        raise UserError(
            f"{submissions}: {labs.count(other)} of {len(labs)} hand-ins are of the lab {other}, not {settings.lab}. "
            f"Nothing was graded. To grade them, say LAB={other} (--lab {other}) and another OUT; or give the "
            f"hand-ins of {settings.lab}."
        )


def found_most(labs: Sequence[str], own: str) -> str:
    """Return the lab of more than half of the hand-ins; '' if there is no such lab, or if more than FEW are of
    `own`."""
    most = next((lab for lab, count in Counter(labs).items() if 2 * count > len(labs)), "")
    return most if most != own and labs.count(own) <= FEW else ""


def labs_of(found: Sequence[Submission], settings: Settings) -> list[str]:
    """Return the lab of each hand-in that can be read: this lab if it has one of its stages, and '' if it has no stage
    of any lab."""
    labs = []
    for submission in found:
        (named, *more) = {lab_in_name(entry) for entry in submission.entries}
        if named not in ("", settings.lab) and not more:
            labs.append(named)
            continue
        opened = open_submission(submission, replace(settings, stage="", upto="", timeout_s=READING_S))
        if opened.status in ("archive_refused", "judge_error"):
            continue
        sources = [name for name in opened.files if name.endswith(".cu")]
        labs.append(settings.lab if opened.picked else find_other_lab(sources, settings))
    return labs
