"""Grade one submission: open it, give its stages to `build/warplab grade`, and describe the result.

This module computes no points: they are the report's. Whatever a submission does, grade_submission returns one Graded
with one of the fixed statuses; only a full disk and an interruption end the batch.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from grader.python.batch.grade.journals import JOURNAL, RENDERING_S, keep_journal, render_journal
from grader.python.batch.ingest.archive import RefusedError, is_archive, is_folder
from grader.python.batch.ingest.contents import pick_journal_files, pick_stages, show_path
from grader.python.batch.ingest.disk import DiskFullError, raise_if_full
from grader.python.batch.ingest.names import file_name
from grader.python.batch.ingest.notes import make_note
from grader.python.batch.ingest.reader import Contents, KilledError, read_apart
from grader.python.batch.ingest.submissions import Submission, name_some
from grader.python.batch.store.database import Graded, Stage, summarise
from grader.python.batch.store.places import place_of
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError
from grader.python.common.labs import find_labs, read_stages
from grader.python.common.markup import show_text
from grader.python.common.report import Failure, Report, StageReport, parse_report

ATTEMPTS = 2  # if our side breaks
MINIMUM_S = 1.0  # minimum time for a judge to report an error
TIMED_OUT = 124  # exit status of a judge that was stopped
TIME_OUTS = ("timeout", "compile_timeout")
MOST_WORDS = 500
MARK = "fingerprint"  # file next to the copy of a hand-in's files
MOST_REFUSED = 3  # unreadable parts of a hand-in that the notes name
LINKED = ("grader/common", "grader/io", "grader/judge", "grader/model")  # the sources of build/warplab
JUDGING = (*LINKED, "grader/runner", "grader/cpu/include", "grader/cpu/rewriter", "grader/cpu/runtime")


@dataclass
class Running:
    """The running judges, which an interruption must end."""

    processes: set[subprocess.Popen[bytes]] = field(default_factory=set)
    stopping: bool = False

    def stop(self) -> None:
        """Kill the judges and all processes that they started."""
        self.stopping = True
        for process in list(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


class StoppedError(Exception):
    """The batch is being interrupted; unfinished grades are not kept."""


def why_nothing(files: dict[str, bytes], settings: Settings, empty: bool) -> str:
    """Return the reason why none of these files is graded."""
    sources = list_sources(files)
    stage = f"{settings.wanted()[0]}.cu"
    if empty:
        return f"It is empty: there is no file in it. Hand in files such as {stage}."
    why = f"No file is called as a stage of {settings.lab}, such as {stage}."
    if other := find_other_lab(sources, settings):
        why = f"This is of the lab {other}, not {settings.lab}."
    named = list(map(show_path, sources + sorted(filter(is_archive, files))))
    return why + (f" It holds {name_some(named)}." if sources else "")


def list_sources(files: dict[str, bytes]) -> list[str]:
    """Return the names of files with code, sorted."""
    return sorted(name for name in files if name.endswith((".cu", ".cpp")))


def tell_how_to_choose(stages: Sequence[str], entries: Sequence[Path]) -> list[str]:
    """Return a note on stages with several files, if no time shows which file is the newest."""
    if not stages:
        return []
    folder = entries[0] if is_folder(entries[0]) else entries[0].parent
    how = f"delete the others from {folder}"
    if len(entries) == 1 and not is_folder(entries[0]):
        how = f"replace {entries[0]} by it"
    return [make_note("to_choose", f" {how}, and repeat the command. Stages: {name_some(stages)}.")]


def find_other_lab(names: Sequence[str], settings: Settings) -> str:
    """Return another lab that has a stage with the name of one of these files; empty if there is none."""
    stems = {PurePosixPath(file_name(name)).stem.casefold() for name in names}
    others = [lab for lab in find_labs(settings.root) if lab != settings.lab]
    return next((lab for lab in others if stems & set(map(str.casefold, read_stages(settings.root, lab)))), "")


@dataclass
class Opened:
    """A hand-in's contents: all files, and those of the journal and of the stages. The journal is None if the batch has
    it already. If nothing can be judged, `status` and `detail` give the reason."""

    files: dict[str, bytes] = field(default_factory=dict)
    journal: dict[str, bytes] | None = field(default_factory=dict)
    picked: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    status: str = ""
    detail: str = ""
    was_killed: bool = False  # whether another process killed the one that read it


def open_submission(submission: Submission, settings: Settings) -> Opened:
    """Read a hand-in and choose the files to grade, without running anything. If its contents were graded before, use
    the batch's own copy, because the hand-in may have been removed or changed. Raises only interruptions: every hand-in
    gets a status or files to judge."""
    opened = Opened()
    try:
        if submission.graded_notes is not None and (copy := read_copy(submission, settings)):
            return Opened(journal=None, picked=copy, notes=list(submission.graded_notes))
        contents = read_apart(submission.entries, settings.timeout_s)
        opened.files = {file.name: file.content for file in contents.files}
        opened.journal = pick_journal_files(contents.files, settings.lab)
        opened.picked, opened.notes, ties = pick_stages(contents.files, settings.lab, settings.wanted())
        opened.notes += tell_how_to_choose(ties, submission.entries)
        if not opened.picked:
            opened.status, opened.detail = judge_nothing(opened, contents, settings)
        opened.notes += [f"{show_path(name)} was not read: {why}" for name, why in contents.refused[:MOST_REFUSED]]
    except RefusedError as refused:
        return Opened(status="archive_refused", detail=describe_refusal(refused))
    except Exception as error:
        was_killed = isinstance(error, KilledError)
        return Opened(journal=None, status="judge_error", detail=describe_error(error), was_killed=was_killed)
    return opened


def read_copy(submission: Submission, settings: Settings) -> dict[str, bytes]:
    """Return the files that were graded before, by stage. Return none if they are of other contents, for example after
    a batch was killed. Raises OSError."""
    folder = place_of(settings.folder, "submissions", submission.key)
    if not has_fingerprint(folder, submission.fingerprint):
        return {}
    tree = folder / settings.lab
    files = {stage: tree / f"{stage}.cu" for stage in settings.wanted()}
    return {stage: file.read_bytes() for stage, file in files.items() if file.is_file()}


def judge_nothing(opened: Opened, contents: Contents, settings: Settings) -> tuple[str, str]:
    """Return the status of a hand-in without a stage's file, and the reason."""
    if contents.refused and not list_sources(opened.files):
        return "archive_refused", describe_refusal(contents.refused.pop(0)[1])
    return "nothing_to_grade", why_nothing(opened.files, settings, contents.is_empty and not contents.files)


def describe_refusal(refused: RefusedError) -> str:
    """Return a sentence that says why a file or archive was not read."""
    why = str(refused)
    return why[0].upper() + why[1:]


def describe_error(error: Exception) -> str:
    """Describe a failure on our side for the instructor."""
    return show_text(f"{type(error).__name__}: {error}")[:MOST_WORDS]


def grade_submission(
    submission: Submission,
    settings: Settings,
    running: Running | None = None,
    environment: dict[str, str] | None = None,
) -> Graded:
    """Grade one submission within settings.timeout_s. Raises only DiskFullError and StoppedError."""
    work = Work(settings, running or Running(), environment or {})
    graded = Graded(submission.key, "judge_error", fingerprint=submission.fingerprint)
    try:
        opened = open_submission(submission, settings)
        graded.status, graded.detail, graded.notes = opened.status, opened.detail, opened.notes
        graded.was_killed = opened.was_killed
        if opened.journal is not None:  # the copy has other contents; a batch that is killed here must not use it
            (place_of(settings.folder, "submissions", submission.key) / MARK).unlink(missing_ok=True)
        graded.notes += add_journal(opened.journal, submission.key, work)  # replaces an earlier journal
        if opened.picked:
            judge(opened.picked, submission, work, graded)
    except (DiskFullError, StoppedError):
        raise
    except Exception as error:
        if isinstance(error, OSError):
            raise_if_full(settings.folder, error)
        graded.status, graded.detail = "judge_error", describe_error(error)
    graded.notes = list(dict.fromkeys(graded.notes))
    graded.wall_s = work.spent_s()
    return graded


@dataclass
class Work:
    """The state of grading one hand-in: its settings, the running judges, and its remaining time."""

    settings: Settings
    running: Running
    environment: dict[str, str]
    begin: float = field(default_factory=lambda: time.monotonic())

    def spent_s(self) -> float:
        """Return the seconds since it began."""
        return time.monotonic() - self.begin

    def bounded(self, most_s: float) -> Settings:
        """Return settings whose time limit is the remaining time, but at most `most_s` seconds."""
        return replace(self.settings, timeout_s=max(min(most_s, self.settings.timeout_s - self.spent_s()), MINIMUM_S))


def add_journal(files: dict[str, bytes] | None, key: str, work: Work) -> list[str]:
    """Keep a submission's journal, unless it is None, and render it next to the feedback. Return remarks; a journal
    does not change points. Raises DiskFullError and StoppedError."""
    settings = work.settings
    kept = place_of(settings.folder, "journals", key)
    page = place_of(settings.folder, "feedback", key) / JOURNAL
    bounded = work.bounded(2 * RENDERING_S)
    try:
        remarks = [] if files is None else keep_journal(files, settings.lab, settings.stages, kept)
        return remarks + render_journal(
            kept,
            page,
            settings.root,
            settings.lab,
            lambda command, more: run_judge(command, bounded, work.running, more),
        )
    except (DiskFullError, StoppedError):
        raise
    except Exception as error:
        if isinstance(error, OSError):
            raise_if_full(settings.folder, error)
        return ["The journal could not be saved."]


def judge(picked: dict[str, bytes], submission: Submission, work: Work, graded: Graded) -> None:
    """Run the judge, and fill in `graded`. If our side broke without a timeout, run it once more in the remaining
    time."""
    settings = work.settings
    folder = place_of(settings.folder, "submissions", submission.key)
    tree = write_tree(folder, settings.lab, picked, submission.fingerprint)
    for _ in range(ATTEMPTS):
        bounded = work.bounded(settings.timeout_s)
        status, words = run_judge(settings.command(tree, folder), bounded, work.running, work.environment)
        graded.report, found = read_report(folder / f"{settings.lab}.json", status)
        if found:
            graded.judge_failure = ""
            graded.status, graded.detail = settle(found, len(picked) < len(settings.wanted()))
            graded.detail = hide_folders(graded.detail, [f"{tree}/{settings.lab}", *settings.folders()])
            graded.timed_out = has_time_out(found)
        else:
            graded.judge_failure = tell_failure(status, settings.timeout_s)
            graded.timed_out = status == TIMED_OUT
            own_words = words[-MOST_WORDS:] if status >= 0 and not graded.timed_out else ""
            graded.status, graded.detail = "judge_error", own_words or graded.judge_failure
        raise_if_full(settings.folder)
        if graded.status != "judge_error" or graded.timed_out:
            break
    graded.detail = show_text(graded.detail)
    missing = [stage for stage in settings.wanted() if stage not in picked]
    if missing:
        graded.notes.append(f"Not handed in: {', '.join(missing)}")


def tell_failure(status: int, timeout_s: float) -> str:
    """Return a sentence on how a judge ended that gave no report. It has no word of the judge's, because students may
    read it."""
    if status == TIMED_OUT:
        return f"The judge did not end within {timeout_s:.0f} s and was stopped."
    if status < 0:
        return f"The judge crashed (signal {-status}: {signal.strsignal(-status) or 'unknown'})."
    return f"The judge wrote no valid report (exit status {status})."


def hide_folders(text: str, folders: Sequence[str]) -> str:
    """Return the text without the instructor's folders, because students read it."""
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder.rstrip('/')}/", "") if folder.strip("/") else text
    return text


def has_time_out(report: Report) -> bool:
    """Return whether a stage timed out, which hand-ins that are graded at the same time may have caused."""
    failures = [
        failure
        for stage in report.stages
        for failure in (stage.error, stage.compilation.failure, *(check.failure for check in stage.checks))
    ]
    return any(failure is not None and failure.cause in TIME_OUTS for failure in failures)


def write_tree(folder: Path, lab: str, picked: dict[str, bytes], fingerprint: str = "") -> Path:
    """Write the stages' files where the judge looks for them, under the stages' names, and last the fingerprint of the
    hand-in that they come from. If the files or the fingerprint are there already, keep them, because the batch may be
    killed here."""
    (folder / f"{lab}.json").unlink(missing_ok=True)
    names = {f"{stage}.cu": content for stage, content in picked.items()}
    kept = (folder / lab).is_dir() and {file.name: file.read_bytes() for file in (folder / lab).iterdir()} == names
    if not kept:
        (folder / MARK).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / lab).mkdir(parents=True)
        for name, content in names.items():
            (folder / lab / name).write_bytes(content)
    if not has_fingerprint(folder, fingerprint):
        (folder / f"{MARK}.new").write_text(fingerprint, encoding="utf-8")
        (folder / f"{MARK}.new").replace(folder / MARK)
    return folder


def has_fingerprint(folder: Path, fingerprint: str) -> bool:
    """Return whether a folder holds the files of the hand-in with this fingerprint. Raises OSError."""
    return (folder / MARK).is_file() and (folder / MARK).read_text(encoding="utf-8") == fingerprint


def run_judge(
    command: Sequence[str], settings: Settings, running: Running, environment: dict[str, str]
) -> tuple[int, str]:
    """Run a command within settings.timeout_s. Return its exit status (TIMED_OUT if it was stopped) and the end of its
    stderr. Raises StoppedError."""
    if running.stopping:
        raise StoppedError
    process = subprocess.Popen(
        command,
        cwd=settings.root,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running.processes.add(process)
    try:
        _, said = process.communicate(timeout=settings.timeout_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        status, said = TIMED_OUT, tell_failure(TIMED_OUT, settings.timeout_s).encode()
    except BaseException:  # an interruption of this thread
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        running.processes.discard(process)
    if running.stopping:
        raise StoppedError
    return status, said.decode("utf-8", "replace").strip()


def read_report(file: Path, status: int) -> tuple[str, Report | None]:
    """Return the text and the content of the report of a judge with this exit status; "" and None if the judge did not
    finish, or if the report is missing or invalid."""
    try:
        text = file.read_text(encoding="utf-8") if status in (0, 1, 2) else ""
        return text, parse_report(text)
    except (OSError, TypeError, ValueError, RecursionError):
        return "", None


def settle(report: Report, missing: bool) -> tuple[str, str]:
    """Return the status that a report means, and the reason."""
    errors = [stage for stage in report.stages if stage.verdict == "error"]
    for stage in errors:
        if stage.error and stage.error.cause == "implausible_timing":
            return "needs_review", f"{stage.stage}: {stage.error.message}"
    for stage in errors:
        failures = [stage.error, stage.compilation.failure, *(check.failure for check in stage.checks)]
        words = next((failure.message for failure in failures if failure), "an error without a reason")
        return "judge_error", f"{stage.stage}: {words}"[:MOST_WORDS]
    if not report.stages:
        return "judge_error", "The report has no stage."
    handed_in = [stage for stage in report.stages if not has_cause(stage.compilation.failure, "missing_file")]
    if handed_in and all(cannot_compile(stage) for stage in handed_in):
        failure = handed_in[0].compilation.failure
        return "did_not_compile", failure.message[:MOST_WORDS] if failure else ""
    return ("missing_stages" if missing else "graded"), ""


def cannot_compile(stage: StageReport) -> bool:
    """Return whether no compiler accepts the file. If a GPU's compiler may accept it, its correctness is pending."""
    pending = stage.score is not None and stage.score.correctness_pending
    return stage.compilation.verdict == "failed" and not pending


def has_cause(failure: Failure | None, cause: str) -> bool:
    """Return whether a failure has this cause."""
    return failure is not None and failure.cause == cause


def summary_of(graded: Graded, lab_hash: str) -> tuple[dict[str, Any], list[Stage]]:
    """Return the values of a report that the database keeps in addition to the report."""
    if not graded.report:
        return {}, []
    report = parse_report(graded.report)
    summary = {
        "points": report.total.points,
        "most": report.total.max,
        "pending": report.total.pending,
        "time": report.time,
        "warplab": report.warplab,
        "lab_hash": lab_hash,
        "backend": report.backend,
        "sandbox": report.sandbox,
    }
    return summary, [summarise(stage) for stage in report.stages]


def hash_judging(root: Path, lab: str) -> str:
    """Return the hashes of everything that decides a lab's points: of the lab (manifest, driver, oracle, datasets,
    solutions), and of the grader's sources that judge. Other parts (pages, batches, other labs) do not change them."""
    of_lab = hash_files(root, [f"{folder}/{lab}" for folder in ("labs", "datasets", "solutions")])
    return f"{of_lab}+{hash_files(root, JUDGING, leave_out='.md')}"


def hash_files(root: Path, folders: Sequence[str], leave_out: str | None = None) -> str:
    """Return a hash of the names and contents of all files, except those with the suffix `leave_out`."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and file.suffix != leave_out:
                digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def is_stale(kept: str, kept_version: str, judging: str, version: str) -> bool:
    """Return whether a grade comes from another version of the lab or grader. `kept` and `judging` are hash_judging()
    at that time and now. Earlier batches kept only the lab's hash; for them, the version shows whether the grader has
    changed."""
    if "+" in kept:
        return kept != judging
    return kept != judging.partition("+")[0] or kept_version != version


def require_built(settings: Settings) -> None:
    """Raise UserError if the program is older than its sources, because its grades would be recorded as the
    sources'."""
    built = (settings.build / "warplab").stat().st_mtime
    sources = [file for folder in LINKED for file in (settings.root / folder).rglob("*.cpp")]
    if newer := sorted(file for file in sources if file.stat().st_mtime > built):
        raise UserError(f"{newer[0]} is newer than {settings.build / 'warplab'}. Build it first: make program")


def try_judge(settings: Settings) -> Report:
    """Grade an empty folder, and return the report: it shows that the judge works here, its version and its sandbox.
    Raises UserError."""
    if not (settings.build / "warplab").is_file():
        raise UserError(f"{settings.build / 'warplab'} is not there. Build it first: make program")
    folder = settings.folder / "trial"
    try:
        tree = write_tree(folder, settings.lab, {})
        status, words = run_judge(settings.command(tree, folder), settings, Running(), {})
        file = folder / f"{settings.lab}.json"
        if status != 1 or not file.is_file():
            raise UserError(f"The judge cannot grade here: {words or f'status {status}'}")
        return parse_report(file.read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
