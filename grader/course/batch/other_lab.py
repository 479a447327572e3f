"""Refuses another lab's hand-ins, given by mistake, before anything is graded: all would get 0 points for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.course.batch.grading import Settings, find_other_lab, open_submission
from grader.course.batch.submissions import Submission, lab_in_name
from grader.journal.console import UserError

READING_S = 2.0  # of a hand-in: nobody delays the others
MOST_SAMPLED = 20  # all of hundreds take seconds to read
FEW = 2  # hand-ins of this lab, in a download of another


def require_own_lab(submissions: Path, folder: Path, found: Sequence[Submission], settings: Settings) -> None:
    """Raises UserError if most hand-ins that can be read are of one other lab, and hardly any is of this one. `folder`:
    where they lie; `submissions`: what was given, for the message. With a roster, strangers do not count: a student may
    hand in as many as there are students."""
    found = [one for one in found if one.own] or found
    named = [lab for path in folder.iterdir() if (lab := lab_in_name(path)) not in ("", settings.lab)]
    sample = labs_of(found[:: len(found) // MOST_SAMPLED + 1], settings) or named
    if not found_most(sample, settings.lab):
        return
    labs = labs_of(found, settings)  # all of them: the sample may err
    if other := found_most(labs or named, settings.lab):
        labs += named
        raise UserError(
            f"{submissions}: {labs.count(other)} of {len(labs)} hand-ins are of the lab {other}, not {settings.lab}. "
            f"Nothing was graded. To grade them, say LAB={other} (--lab {other}) and another OUT; or give the "
            f"hand-ins of {settings.lab}."
        )


def found_most(labs: Sequence[str], own: str) -> str:
    """Return the lab to which more than half belong; '' if no lab has so many, or if more than FEW belong to `own`."""
    most = next((lab for lab, count in Counter(labs).items() if 2 * count > len(labs)), "")
    return most if most != own and labs.count(own) <= FEW else ""


def labs_of(found: Sequence[Submission], settings: Settings) -> list[str]:
    """Return the lab of each hand-in that can be read: this one if it has a stage of it, and empty if it has no stage
    of any."""
    labs = []
    for submission in found:
        opened = open_submission(submission, replace(settings, stage="", upto="", timeout_s=READING_S))
        if opened.status in ("archive_refused", "judge_error"):
            continue
        sources = [name for name in opened.files if name.endswith(".cu")]
        labs.append(settings.lab if opened.picked else find_other_lab(sources, settings))
    return labs
