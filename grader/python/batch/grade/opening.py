"""Open a hand-in, and choose the files to grade, without running anything."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.python.batch.grade.tree import is_copy
from grader.python.batch.ingest.archive import MANIFEST, MAX_MANIFEST_BYTES, RefusedError, is_archive, is_folder
from grader.python.batch.ingest.contents import pick_journal_files, pick_stages, show_own_path, show_path
from grader.python.batch.ingest.names import file_name
from grader.python.batch.ingest.notes import make_note
from grader.python.batch.ingest.reader import Contents, File, KilledError, read_in_child
from grader.python.batch.ingest.submission import Submission
from grader.python.batch.ingest.submissions import find_fingerprint
from grader.python.batch.store.places import place_of
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from grader.python.common.labs import current_id, find_labs, is_same_stage, read_stages
from grader.python.common.markup import show_text
from grader.python.common.units import name_some, plural

MAX_REASON = 500  # characters of a reason
MAX_KIT = 10**6  # kits have smaller numbers
MAX_STAGES = 100  # stages in a manifest
MAX_REFUSED = 3  # unreadable parts of a hand-in that the notes name
CHANGED = (
    "Its files were changed or removed after the batch had listed them. Put them back if they are missing, and repeat "
    "the grade command."
)
# Reasons for refusing a file that also occur while the file is still being written.
UNFINISHED = ("empty", "truncated", "damaged", "unknown_format")


def explain_nothing_to_grade(files: Sequence[str], unread: Sequence[str], settings: Settings, is_empty: bool) -> str:
    """Return a sentence on why none of these files is graded. `unread`: names of files that were not read; `is_empty`:
    whether the hand-in has no file at all."""
    sources = list_sources(files)
    stage = f"{settings.graded_stages()[0]}.cu"
    if is_empty:
        return f"It is empty: there is no file in it. Hand in files such as {stage}."
    reason = f"No file has the name of a stage of {settings.lab}, such as {stage}."
    if other_lab := find_other_lab(sources, settings):
        reason = f"This is for the lab {other_lab}, not {settings.lab}."
    names = dict.fromkeys([*sources, *sorted(filter(is_archive, files)), *files, *unread])
    return reason + (f" It holds {name_some([show_own_path(name) for name in names])}." if names else "")


def list_sources(files: Sequence[str]) -> list[str]:
    """Return the names of files with code, sorted."""
    return sorted(name for name in files if name.endswith((".cu", ".cpp")))


def explain_how_to_choose(stages: Sequence[str], entries: Sequence[Path]) -> list[str]:
    """Return a note on how to choose the file of each of `stages`, whose newest file cannot be determined; an empty
    list if there are no such stages."""
    if not stages:
        return []
    folder = entries[0] if is_folder(entries[0]) else entries[0].parent
    how = f"delete the others from {folder}"
    if len(entries) == 1 and not is_folder(entries[0]):
        how = f"replace {entries[0]} by that file"
    return [make_note("to_choose", f" {how}, and repeat the command. Stages: {name_some(stages)}.")]


def find_other_lab(names: Sequence[str], settings: Settings) -> str:
    """Return another lab that has a stage with the name of one of these files, or an empty string. Ignore labs whose
    lab.json is invalid, because an instructor may be writing one."""
    stems = {PurePosixPath(file_name(name)).stem.casefold() for name in names}
    for lab in find_labs(settings.root):
        with contextlib.suppress(UserError):
            stages = [] if lab == settings.lab else map(str.casefold, read_stages(settings.root, lab))
            if any(is_same_stage(stem, stage) for stage in stages for stem in stems):
                return lab
    return ""


@dataclass(frozen=True)
class Kit:
    """The students' kit that a hand-in comes from: its number, 0 if it has none, and the lab's stages in it."""

    number: int
    stages: tuple[str, ...]


@dataclass
class Opened:
    """A hand-in's contents: the names of all files, the journal's files, and the `picked` file of each stage. The
    journal is None if the batch has it already. If nothing can be judged, `status` and `detail` give the reason."""

    files: list[str] = field(default_factory=list)
    journal: dict[str, bytes] | None = field(default_factory=dict)
    picked: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    status: str = ""
    detail: str = ""
    was_killed: bool = False  # whether the reader of the hand-in was killed, through no fault of the student
    may_be_unfinished: bool = False  # whether a part looks as if it were still being written
    has_changed: bool = False  # whether the contents changed after the batch had listed the hand-in
    kit: Kit | None = None  # the student's kit, which the manifest of `make submit` names

    def size(self) -> int:
        """Return the number of bytes of the picked files and of the journal."""
        return sum(map(len, (*self.picked.values(), *(self.journal or {}).values())))


def open_submission(submission: Submission, settings: Settings) -> Opened:
    """Read a hand-in and choose the files to grade, without running anything. If its contents were graded before, use
    the batch's own copy, because the hand-in may have been removed or changed. If the contents changed after the batch
    had listed them, do not grade them: their time is different, and they may be beyond the limit of attempts. Raises
    only interruptions; each hand-in gets a status or files to judge."""
    opened = read_submission(submission, settings)
    comes_from_copy = opened.journal is None and opened.picked
    if comes_from_copy or find_fingerprint(submission.entries) == submission.fingerprint:
        return opened
    return Opened(journal=None, status="judge_error", detail=CHANGED, has_changed=True)


def read_submission(submission: Submission, settings: Settings) -> Opened:
    """Do the same as open_submission, but do not check whether the contents have changed."""
    opened = Opened()
    try:
        if submission.graded_notes is not None and (copy := read_copy(submission, settings)):
            return Opened(journal=None, picked=copy, notes=list(submission.graded_notes))
        contents = read_in_child(submission.entries, settings.timeout_s)
        opened.files = [file.name for file in contents.files]
        opened.may_be_unfinished = any(refused.reason in UNFINISHED for _, refused in contents.refused)
        opened.kit = find_kit(contents.files, settings)
        opened.journal = pick_journal_files(contents.files, settings.lab)
        opened.picked, opened.notes, ties = pick_stages(
            contents.files, settings.lab, settings.graded_stages(), read_starters(settings)
        )
        opened.notes += explain_how_to_choose(ties, submission.entries)
        opened.notes += describe_kit(opened.kit, settings.graded_stages())
        if not opened.picked:
            opened.status, opened.detail = explain_missing_stages(opened, contents, settings)
        opened.notes += [f"{show_path(name)} was not read: {why}" for name, why in contents.refused[:MAX_REFUSED]]
    except RefusedError as refused:
        return Opened(status="archive_refused", detail=describe_refusal(refused))
    except Exception as error:
        was_killed = isinstance(error, KilledError)
        return Opened(journal=None, status="judge_error", detail=describe_error(error), was_killed=was_killed)
    return opened


def find_kit(files: Sequence[File], settings: Settings) -> Kit | None:
    """Return the student's kit, which the manifest of `make submit` names; None if there is no valid manifest. The
    stages have their current ids, even if the kit is older."""
    for file in files:
        if PurePosixPath(file.name).name != MANIFEST or len(file.content) > MAX_MANIFEST_BYTES:
            continue
        with contextlib.suppress(ValueError, RecursionError):
            manifest = json.loads(file.content)
            if is_manifest(manifest) and manifest["lab"] == settings.lab:
                stages = tuple(current_id(settings.stages, stage) for stage in manifest["stages"])
                return Kit(manifest["kit"], stages)
    return None


def describe_kit(kit: Kit | None, graded: Sequence[str]) -> list[str]:
    """Return a note on stages that are graded although the student's kit lacks them according to its manifest."""
    missing = [stage for stage in graded if kit and stage not in kit.stages]
    if not kit or not missing:
        return []
    origin = f"kit {kit.number}" if kit.number else "a kit"
    count = f"{len(graded) - len(missing)} of the {plural(len(graded), 'stage')}"
    return [f"It comes from {origin}, which has only {count} that are graded. The kit lacks {name_some(missing)}."]


def is_manifest(manifest: object) -> bool:
    """Return whether a value has the form of the manifest of `make submit`. Students can hand in anything."""
    return (
        isinstance(manifest, dict)
        and isinstance(kit := manifest.get("kit"), int)
        and 0 <= kit < MAX_KIT
        and isinstance(stages := manifest.get("stages"), list)
        and len(stages) <= MAX_STAGES
        and all(isinstance(stage, str) for stage in stages)
        and isinstance(manifest.get("lab"), str)
    )


def read_starters(settings: Settings) -> dict[str, bytes]:
    """Return the starters of the stages to grade, without stages that have none. Raises OSError."""
    folder = settings.root / "starter" / settings.lab
    files = {stage: folder / f"{stage}.cu" for stage in settings.graded_stages()}
    return {stage: file.read_bytes() for stage, file in files.items() if file.is_file()}


def read_copy(submission: Submission, settings: Settings) -> dict[str, bytes]:
    """Return the files that were graded before, by stage; none if they come from other contents of the hand-in, for
    example because the batch was killed, or if the lab had other stages then. Raises OSError."""
    folder = place_of(settings.folder, "submissions", submission.key)
    if not is_copy(folder, submission.fingerprint, settings.graded_stages()):
        return {}
    tree = folder / settings.lab
    files = {stage: tree / f"{stage}.cu" for stage in settings.graded_stages()}
    return {stage: file.read_bytes() for stage, file in files.items() if file.is_file()}


def explain_missing_stages(opened: Opened, contents: Contents, settings: Settings) -> tuple[str, str]:
    """Return the status of a hand-in in which no stage's file was found, and the reason."""
    if contents.refused and not list_sources(opened.files):
        return "archive_refused", describe_refusal(contents.refused.pop(0)[1])
    return "nothing_to_grade", explain_nothing_to_grade(
        opened.files, contents.ignored, settings, contents.is_empty and not contents.files
    )


def describe_refusal(refused: RefusedError) -> str:
    """Return a sentence on why a file or archive was not read."""
    reason = str(refused)
    return reason[0].upper() + reason[1:]


def describe_error(error: Exception) -> str:
    """Return a description of an internal failure, for the instructor."""
    return show_text(f"{type(error).__name__}: {error}")[:MAX_REASON]
