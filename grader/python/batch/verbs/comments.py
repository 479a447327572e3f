"""Enter comments on lines of code, and students' requests to grade again."""

from __future__ import annotations

import argparse

from grader.python.batch.ingest.times import now
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import find_own_keys, find_students, names_of, with_name
from grader.python.batch.store.places import place_of
from grader.python.batch.verbs.decide import record_decision
from grader.python.common.console import UserError, say
from grader.python.common.labs import find_stage
from grader.python.common.units import plural

MAX_CODE = 120  # characters of a line that the feedback shows


def comment(options: argparse.Namespace) -> int:
    """Comment on a line of a student's code, or remove the comment."""
    database = open_batch(options.folder)
    settings = stored_settings(database)
    (key,) = find_own_keys(database, [options.student])
    stage = find_stage(settings.lab, settings.stages, options.stage)
    row = next(row for row in database.rows() if row.key == key)
    replaced = [comment.text for comment in row.comments if (comment.stage, comment.line) == (stage, options.line)]
    if options.undo and not replaced:
        raise UserError(f"{with_name(key, {key: row.name})}: no comment on {stage}, line {options.line}.")
    code = read_line(database, key, stage, options.line) if not options.undo else ""
    line = {"student": key, "stage": stage, "line": options.line, "code": code, "kept": not options.undo}
    line |= {"reason": options.text or "removed", "time": now(), "fingerprint": row.fingerprint}
    database.insert("comments", [line])
    result = "comment removed" if options.undo else code
    say(f"{with_name(key, {key: row.name})}, {stage}, line {options.line}: {result}")
    if replaced and not options.undo:
        say(f"This replaces the comment: {replaced[0]}")
    record_decision(database)
    return 0


def read_line(database: Database, key: str, stage: str, line: int) -> str:
    """Return the beginning of a line of a graded file. Raises UserError if there is no such file or line."""
    settings = stored_settings(database)
    file = place_of(settings.folder, "submissions", key) / settings.lab / f"{stage}.cu"
    if not file.is_file():
        raise UserError(f"{key} has no graded file of {stage}.")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if line > len(lines):
        raise UserError(f"--line {line}: {stage}.cu of {key} has {plural(len(lines), 'line')}.")
    return lines[line - 1].strip()[:MAX_CODE]


def request(options: argparse.Namespace) -> int:
    """Record a student's request to grade again, or the answer to it."""
    database = open_batch(options.folder)
    (student,) = find_students(database, [options.student])
    student_name, is_open = with_name(student, names_of(database)), student in database.requests()
    if options.answer and not is_open:
        raise UserError(f"{student_name} has no open request.")
    if options.text and is_open:
        raise UserError(
            f"{student_name} has an open request: {database.requests()[student]} Answer it first, with --answer."
        )
    line = {"student": student, "open": not options.answer, "reason": options.answer or options.text, "time": now()}
    database.insert("requests", [line])
    say(f"{student_name}: {'answered' if options.answer else 'a request to grade again; answer it with --answer'}")
    record_decision(database)
    return 0
