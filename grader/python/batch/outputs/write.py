"""Write all outputs of a batch: gradebook.csv, the mistakes, feedback/, similar.html and report.html."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path

from grader.python.batch.grade.journals import JOURNAL
from grader.python.batch.grade.opening import describe_error, read_starters
from grader.python.batch.outputs.dashboard import SIMILAR, make_dashboard
from grader.python.batch.outputs.feedback import write_feedback
from grader.python.batch.outputs.handouts import read_handout
from grader.python.batch.outputs.mistakes import (
    count_mistakes,
    count_over_time,
    list_mistakes,
    list_over_time,
    make_mistakes,
)
from grader.python.batch.outputs.own_gradebook import make_gradebook
from grader.python.batch.outputs.similar import make_similar
from grader.python.batch.policy.clusters import Cluster, find_clusters
from grader.python.batch.policy.copied_records import find_copied_records
from grader.python.batch.policy.finals import points_of, rows_that_count, use_roster_names
from grader.python.batch.policy.points import FinalPoints, Policy, choose_latest, describe_policy, finals, read_policy
from grader.python.batch.policy.similarity import ComparisonLimitError, SimilarPair, find_similar
from grader.python.batch.policy.suspicious import find_changed_drops, find_remarks, find_requests
from grader.python.batch.store.database import Database
from grader.python.batch.store.places import folder_name, place_of
from grader.python.batch.store.rows import Row
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, write_atomically
from grader.python.journal.quiz import Score, read_score
from grader.python.journal.submit import same_text

EXCEL_MARK = "\ufeff"  # the byte order mark; without it, Excel garbles letters with accents


def write_outputs(database: Database, settings: Settings) -> Path:
    """Write all outputs, and return the path of the page."""
    decided, policy = database.read_value("decided"), read_policy(database)
    rows, lab_points = rows_that_count(database, policy), points_of(settings, policy)
    by_key = {row.key: finals(row, policy, lab_points) for row in rows}
    everyone = use_roster_names(database, choose_latest(final for row in rows for final in by_key[row.key]))
    feedback_problems = []
    for row in rows:
        if row.status not in ("", "not_submitted"):
            feedback_problems += try_feedback(
                place_of(settings.folder, "feedback", row.key), database, row, by_key[row.key]
            )
    feedback_problems += share_feedback(settings.folder / "feedback", database, rows, everyone, by_key)
    quizzes = read_quizzes(rows, settings)
    gradebook = make_gradebook(everyone, policy.items(), settings.graded_stages(), quizzes)
    write_atomically(settings.folder / "gradebook.csv", EXCEL_MARK + gradebook)
    mistakes = count_mistakes(everyone, settings.graded_stages())
    periods, handout = count_over_time(database.causes()), read_handout(settings.root, settings.lab)
    listed = list_mistakes(mistakes, settings.lab, handout)
    write_atomically(settings.folder / "mistakes.csv", EXCEL_MARK + listed)
    write_atomically(settings.folder / "mistakes_over_time.csv", EXCEL_MARK + list_over_time(periods))
    pairs, notes = compare(database, rows, settings)
    notes += feedback_problems
    notes += [f"Not part of the batch: {sentence}" for sentence in database.read_value("left_out") or []]
    title = f"{settings.lab}: batch"
    file = settings.folder / "report.html"
    example = settings.root / "handouts/example-journal/records.jsonl"
    copied = find_copied_records(rows, settings.folder, example)
    untouched = find_unchanged_starters(rows, settings)
    write_similar(settings, rows, find_clusters(rows, pairs, untouched))
    dropped = [row for row in database.rows() if row.key in policy.drops]
    remarks = find_remarks(rows, pairs, untouched, everyone, copied)
    remarks = find_changed_drops(dropped, policy) + find_requests(everyone, database.requests()) + remarks
    secret = database.read_value("secret") or ""
    facts = describe(database, policy)
    journals = {row.key for row in rows if (place_of(settings.folder, "feedback", row.key) / JOURNAL).is_file()}
    page = make_dashboard(
        title, facts, rows, everyone, remarks, settings.graded_stages(), secret, notes, journals,
        make_mistakes(mistakes, periods, settings.lab, settings.root, handout), quizzes,
        [(row, policy.drops[row.key][0]) for row in dropped],
    )  # fmt: skip
    write_atomically(file, page)
    database.set_values(shown=decided)
    return file


def read_quizzes(rows: Sequence[Row], settings: Settings) -> dict[str, Score]:
    """Return the scores of the submitted answers to the quiz by key, judged by the lab's own quiz. Invalid answers have
    no score; the student's journal reports them."""
    scores = {}
    for row in rows:
        with contextlib.suppress(UserError):
            score = read_score(settings.root, settings.lab, place_of(settings.folder, "journals", row.key))
            scores |= {row.key: score} if score else {}
    return scores


def try_feedback(folder: Path, database: Database, row: Row, finals: list[FinalPoints]) -> list[str]:
    """Write feedback. Return a sentence for the instructor if the report cannot be rendered. Raises UserError or
    OSError if the feedback cannot be written."""
    try:
        write_feedback(folder, database, row, finals)
    except (UserError, OSError):
        raise
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)  # it may contain the feedback on an earlier grading
        return [f"{row.key} has no feedback: {describe_error(error)}"]
    return []


def share_feedback(
    folder: Path,
    database: Database,
    rows: Sequence[Row],
    everyone: Sequence[FinalPoints],
    by_key: Mapping[str, list[FinalPoints]],
) -> list[str]:
    """Write a submission's feedback, without the journal, for each partner who has no folder, and for each student
    whose own submission does not count because another one does. Remove the folders of former partners. Return the
    sentences of try_feedback()."""
    own_folders = {
        folder_name(row.key)
        for row in rows
        if row.status != "not_submitted" and (row.is_certain() or any(final.counts for final in by_key[row.key]))
    }
    present = [final for final in everyone if final.row.status != "not_submitted"]
    shared = {name: final.row for final in present if (name := folder_name(final.student)) not in own_folders}
    for name in set(database.read_value("shared") or []) - shared.keys() - own_folders:
        shutil.rmtree(folder / name, ignore_errors=True)
    database.set_values(shared=sorted(shared))
    return [
        sentence
        for name, row in shared.items()
        if row.status
        for sentence in try_feedback(folder / name, database, row, by_key[row.key])
    ]


def describe(database: Database, policy: Policy) -> list[str]:
    """Return texts on how the batch was graded, and on the decisions that concern all students."""
    titles = {"warplab": "Warplab", "backend": "backend", "sandbox": "sandbox"}
    facts = [f"{title} {value}" for name, title in titles.items() if (value := database.read_value(name))]
    return facts + describe_policy(policy)


def compare(database: Database, rows: list[Row], settings: Settings) -> tuple[list[SimilarPair], list[str]]:
    """Return the pairs of similar submissions, and sentences about files that were not compared. If the comparison
    fails, return a sentence about that, so that the other outputs are still written. Results are stored and used until
    a stage's files change, because the comparison takes most of the time of the outputs."""
    stored, pairs, notes = database.read_value("alike") or {}, [], []
    starters = {stage: settings.root / "starter" / settings.lab / f"{stage}.cu" for stage in settings.graded_stages()}
    files = {stage: list(files_of(rows, settings, stage)) for stage in starters}
    compared = {stage: hash_files([("", starters[stage]), *files[stage]]) for stage in starters}
    changed = [stage for stage in starters if stored.get(stage, {}).get("of") != compared[stage]]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        comparing = [pool.submit(find_similar, stage, starters[stage], files[stage]) for stage in changed]
        for stage, comparison in zip(changed, comparing, strict=True):
            try:
                result, left_out = comparison.result()
            except (ImportError, OSError):
                return [], ["Similarity was not examined: copydetect does not run here (make batch installs it)."]
            except ComparisonLimitError:
                result, left_out = [], None
            stored[stage] = {"of": compared[stage], "pairs": [astuple(pair) for pair in result], "left_out": left_out}
            database.set_values(alike=stored)  # at once, so that an interruption loses little
    for stage in starters:
        pairs += [SimilarPair(*pair) for pair in stored[stage]["pairs"]]
        notes += describe_partial_comparison(stage, stored[stage].get("left_out", []))
    return pairs, notes


def write_similar(settings: Settings, rows: Sequence[Row], clusters: Sequence[Cluster]) -> None:
    """Write similar.html, with the files as they were graded."""

    def read(key: str, stage: str) -> str:
        file = place_of(settings.folder, "submissions", key) / settings.lab / f"{stage}.cu"
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""

    def read_starter(stage: str) -> str:
        return starters.get(stage, b"").decode("utf-8", "replace")

    starters, names = read_starters(settings), {row.key: row.name for row in rows}
    page = make_similar(f"{settings.lab}: similar files", clusters, read, read_starter, names)
    write_atomically(settings.folder / SIMILAR, page)


def find_unchanged_starters(rows: list[Row], settings: Settings) -> set[tuple[str, str]]:
    """Return the key and the stage of each graded file that is still the starter."""
    starters = read_starters(settings)
    return {
        (key, stage)
        for stage, starter in starters.items()
        for key, file in files_of(rows, settings, stage)
        if same_text(file.read_bytes(), starter)
    }


def describe_partial_comparison(stage: str, keys: Sequence[str] | None) -> list[str]:
    """Return a sentence about the files of a stage that were not compared completely: those of `keys`, or all if
    `keys` is None."""
    if keys is None:
        return [f"{stage}: the files were not compared, because many of them take too much time or memory."]
    if not keys:
        return []
    reason = "because they are too long or take too much time or memory"
    return [f"{stage}: files not compared completely, {reason}: {', '.join(keys)}."]


def hash_files(files: Iterable[tuple[str, Path]]) -> str:
    digest = hashlib.sha256()
    for name, file in files:
        contents = file.read_bytes() if file.is_file() else b""
        digest.update(f"{name}\0{hashlib.sha256(contents).hexdigest()}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def files_of(rows: list[Row], settings: Settings, stage: str) -> Iterator[tuple[str, Path]]:
    """Yield each submission's key and its file of a stage, as it was graded."""
    for row in rows:
        file = place_of(settings.folder, "submissions", row.key) / settings.lab / f"{stage}.cu"
        if file.is_file():
            yield row.key, file
