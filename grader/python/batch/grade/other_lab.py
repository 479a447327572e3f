"""Before grading, refuse a download of another lab, and stages that the students do not have. Otherwise, such a mistake
of the instructor would cost all students points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.python.batch.grade.opening import Opened, find_other_lab, open_submission
from grader.python.batch.ingest.names import lab_in_name
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from grader.python.common.units import name_some, plural

READING_S = 2.0  # the limit per hand-in, so that none delays the others
MAX_SAMPLED = 20  # hand-ins that are read first, because reading hundreds takes seconds
MAX_OWN = 2  # maximum number of hand-ins of this lab in a download of another lab


def require_own_lab(submissions: Path, folder: Path, hand_ins: Sequence[Submission], settings: Settings) -> None:
    """Raise UserError if most readable hand-ins are of one other lab, and at most MAX_OWN are of this one. `folder`:
    the folder with the hand-ins; `submissions`: the path that the user gave, for the message. With a roster, only the
    hand-ins of its students count, because another person may hand in many archives."""
    hand_ins = [submission for submission in hand_ins if submission.own] or hand_ins
    entries = {entry for submission in hand_ins for entry in submission.entries}
    named = [
        lab for path in folder.iterdir() if path not in entries and (lab := lab_in_name(path)) not in ("", settings.lab)
    ]
    opened = open_all(hand_ins[:: len(hand_ins) // MAX_SAMPLED + 1], settings)
    if not find_majority(labs_of(opened, settings) or named, settings.lab):
        require_released_stages(submissions, opened, settings)
        return
    labs = labs_of(open_all(hand_ins, settings), settings)  # all of them, because the sample may be wrong
    if other := find_majority(labs or named, settings.lab):
        labs += named
        raise UserError(
            f"{submissions}: {labs.count(other)} of {len(labs)} hand-ins are of the lab {other}, not {settings.lab}. "
            f"Nothing was graded. To grade them, choose LAB={other} (--lab {other}) and a different OUT; or choose the "
            f"hand-ins of {settings.lab}."
        )


def find_majority(labs: Sequence[str], own_lab: str) -> str:
    """Return the lab of more than half of the hand-ins; '' if there is no such lab, or if more than MAX_OWN are of
    `own_lab`."""
    majority = next((lab for lab, count in Counter(labs).items() if 2 * count > len(labs)), "")
    return majority if majority != own_lab and labs.count(own_lab) <= MAX_OWN else ""


def require_released_stages(submissions: Path, opened: Sequence[tuple[Submission, Opened]], settings: Settings) -> None:
    """Raise UserError if more than half of the hand-ins with code come from one kit with fewer stages of the lab than
    would be graded, and the command does not choose the stages. If more than MAX_OWN hand-ins name that kit, hand-ins
    that name no kit and have no file of the other stages count, too. A few forged or old hand-ins therefore do not stop
    the batch."""
    hand_ins = sum(bool(hand_in.picked or hand_in.kit) for _, hand_in in opened)
    kits = Counter(hand_in.kit for _, hand_in in opened if hand_in.kit)
    if settings.stage or settings.upto or not kits:
        return
    kit, count = kits.most_common(1)[0]
    missing = [stage for stage in settings.stages if stage not in kit.stages]
    released_stages = [stage for stage in settings.stages if stage in kit.stages]
    without_kit = [
        hand_in
        for _, hand_in in opened
        if hand_in.picked and not hand_in.kit and not set(missing) & set(hand_in.picked)
    ]
    if 2 * (count + (len(without_kit) if count > MAX_OWN else 0)) <= hand_ins or not missing or not released_stages:
        return
    origin = f"kit {kit.number}" if kit.number else "a kit"
    last = released_stages[-1][:2]
    how = f"UPTO={last} (--upto {last})"
    if released_stages != list(settings.stages[: len(released_stages)]):  # the lab has new stages in between
        how = f"use the version of Warplab that made the kit, which lacks {name_some(missing)}"
    raise UserError(
        f"{submissions}: {count} of {hand_ins} hand-ins come from {origin}, which has "
        f"{plural(len(released_stages), 'stage')} of {settings.lab}, but {plural(len(settings.stages), 'stage')} would "
        "be graded. Nothing was graded. To grade "
        f"the stages that students have: {how}. To grade all of them: UPTO={settings.stages[-1][:2]}."
    )


def open_all(hand_ins: Sequence[Submission], settings: Settings) -> list[tuple[Submission, Opened]]:
    """Open these hand-ins, except those whose archives' names show that they are for another lab."""
    settings = replace(settings, stage="", upto="", timeout_s=READING_S)
    return [
        (submission, Opened() if other_lab_of(submission, settings) else open_submission(submission, settings))
        for submission in hand_ins
    ]


def other_lab_of(submission: Submission, settings: Settings) -> str:
    """Return the lab that the names of all archives of a hand-in contain, if it is another lab than the batch's;
    otherwise an empty string."""
    labs = {lab_in_name(entry) for entry in submission.entries}
    return labs.pop() if len(labs) == 1 and not labs & {"", settings.lab} else ""


def labs_of(hand_ins: Sequence[tuple[Submission, Opened]], settings: Settings) -> list[str]:
    """Return the lab of each hand-in that can be read: the batch's lab if the hand-in has one of that lab's stages,
    and '' if it has no stage of any lab."""
    labs = []
    for submission, opened in hand_ins:
        if opened.status in ("archive_refused", "judge_error"):
            continue
        sources = [name for name in opened.files if name.endswith(".cu")]
        other = other_lab_of(submission, settings) or find_other_lab(sources, settings)
        labs.append(settings.lab if opened.picked else other)
    return labs
