"""Write a gradebook with the final points, or a zip with all feedback, for Canvas or Moodle."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from grader.python.batch.ingest.columns import NUMBERS, OWN_ID, Identifier
from grader.python.batch.ingest.submission import ANOTHER
from grader.python.batch.outputs.export import export_gradebook
from grader.python.batch.outputs.feedback import describe_submission, sum_up
from grader.python.batch.outputs.feedback_zip import pack_for_canvas, pack_for_moodle, pack_zip
from grader.python.batch.outputs.rows import Entry
from grader.python.batch.policy.finals import all_finals
from grader.python.batch.policy.points import FinalPoints, remove_points
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import roster_of
from grader.python.batch.store.settings import Settings
from grader.python.common.console import UserError, say, say_error, write_atomically
from grader.python.common.report import Report, Total, parse_report
from grader.python.common.units import name_some, plural


def export(options: argparse.Namespace) -> int:
    """Write a gradebook with the final points. Return the exit status: 1 if a student is not in the course's gradebook
    or roster, if the maximum in the gradebook differs, or if students were graded on different stages."""
    database = open_batch(options.folder)
    if options.output and options.output.resolve().parent == options.folder.resolve():
        raise UserError(f"{options.output}: among the batch's own files. Choose an --output elsewhere.")
    if options.feedback:
        return export_feedback(database, options)
    settings = stored_settings(database)
    decided = [final for final in all_finals(database, settings) if is_decided(final)]
    roster = {student.id: student for student in roster_of(database)}
    strangers = {final.student for final in decided if roster and final.student not in roster}
    entries = [
        Entry(
            f"{final.student} (not on the roster)" if final.student in strangers else final.student,
            report_of(database, settings, final),
            [*describe_submission(final.row, [final]), *sum_up([final])],
            roster[final.student].name if final.student in roster else final.row.name,
            roster[final.student].ids if final.student in roster else ids_without_roster(final),
            final.student in strangers,
        )
        for final in decided
        if options.gradebook or final.student not in strangers  # without a gradebook, each entry would get a row
    ]
    if waiting := [final.student for final in decided if not final.row.status]:
        say_error(f"These hand-ins wait to be graded again, and their earlier points count: {', '.join(waiting)}.")
    if unequal := find_graded_on_other_stages(decided):
        say_error(
            f"Graded on fewer or other stages than the hand-in that was graded last: {name_some(unequal)}. Their "
            f"points are not comparable. To grade them again: warplab-course regrade {options.folder} --changed"
        )
    return max(export_gradebook(entries, options.format, options), int(bool(strangers or unequal)))


def export_feedback(database: Database, options: argparse.Namespace) -> int:
    """Write a zip with the feedback of all students who handed in. Return the exit status: 1 if the course system's
    number of a student is not known."""
    if options.gradebook or options.title:
        raise UserError(
            "--feedback: omit --gradebook and --title, because the names of hand-ins have the students' numbers."
        )
    if not options.output:
        raise UserError("--feedback: add --output FILE.zip, the zip to write.")
    if database.read_value("decided") != database.read_value("shown"):
        raise UserError(f"The feedback does not have all decisions yet. Type: warplab-course report {options.folder}")
    finals = [final for final in all_finals(database, stored_settings(database)) if final.row.status != "not_submitted"]
    folder, entries = options.folder.resolve(), database.entries_by_key()
    roster = {student.id: student for student in roster_of(database)}
    pack = pack_for_moodle if options.feedback == "moodle" else pack_for_canvas
    packed = pack(folder, finals, entries, roster)
    write_atomically(options.output, pack_zip(packed.files))
    say(f"{options.output}: feedback for {plural(len(finals) - len(packed.left_out), 'student')}.")
    if packed.left_out:
        reasons = {
            "moodle": "no known number in Moodle",
            "canvas": "no attachment in Canvas to which feedback can belong",
        }
        say_error(
            f"{plural(len(packed.left_out), 'student')} with {reasons[options.feedback]}, omitted: "
            f"{', '.join(packed.left_out)}. Their feedback is in {options.folder / 'feedback'}."
        )
    return 1 if packed.left_out else 0


def find_graded_on_other_stages(finals: Sequence[FinalPoints]) -> list[str]:
    """Return the students who were graded on other stages than the hand-in that was graded last. Students with an
    override are omitted, because an override does not depend on stages."""
    graded = [final for final in finals if final.row.stages and not final.override]
    last = max((final.row for final in graded), key=lambda row: row.grade or 0, default=None)
    stages = {stage.stage for stage in last.stages} if last else set()
    return [final.student for final in graded if {stage.stage for stage in final.row.stages} != stages]


def ids_without_roster(final: FinalPoints) -> set[Identifier]:
    """Return the identifiers of a student who is not on a roster. If the hand-in has a student's name, a course system
    named it, so a numeric key is that system's number. Any other key is an id that the student chose."""
    key = final.student.removesuffix(ANOTHER)
    of_system = bool(final.row.name) and key.isdecimal()
    return {(kind, key.casefold()) for kind in (NUMBERS if of_system else (OWN_ID,))}


def is_decided(final: FinalPoints) -> bool:
    """Return whether a student has points to export. A student who handed in nothing has some only if they were given
    by hand."""
    by_hand = bool(final.override or final.given)
    return final.points is not None and (final.row.status != "not_submitted" or by_hand)


def report_of(database: Database, settings: Settings, final: FinalPoints) -> Report:
    """Return a report with the final points as its total. If nothing was judged, the report has no stages."""
    judged = parse_report(database.report(final.row.grade)) if final.row.grade else Report(lab=settings.lab)
    report = remove_points(judged, final.excluded_kinds)
    report.total = Total(final.points or 0, final.max_points, final.pending)
    return report
