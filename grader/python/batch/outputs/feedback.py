"""Write a student's feedback: a page, its contents as text, and report.json, all without the data of hidden datasets.

Of a hidden dataset, a student sees the verdict, the weight and the cause. If hidden datasets ran, the output of the
student's program is omitted, because it may contain their data, and so are all times that include those of hidden
datasets. The instructor's paths are always omitted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

from grader.python.batch.grade.journals import JOURNAL
from grader.python.batch.grade.judge import hide_folders
from grader.python.batch.ingest.notes import is_for_instructor
from grader.python.batch.outputs.report_page import make_page
from grader.python.batch.outputs.report_text import describe_report, hide_names
from grader.python.batch.policy.lateness import LATE_MARKS, parse_local
from grader.python.batch.policy.points import FinalPoints, remove_points
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import stored_settings
from grader.python.batch.store.rows import STATUSES, Comment, Row
from grader.python.common.console import write_atomically
from grader.python.common.documents import from_json
from grader.python.common.markup import Html, join, show_text, tag
from grader.python.common.page import make_document
from grader.python.common.report import Report
from grader.python.common.units import plural, show_points


def redact(report: dict[str, Any], folders: Sequence[str] = ()) -> dict[str, Any]:
    """Return the report that the student gets. `folders`: the instructor's folders, which are removed from all
    texts."""
    redacted = change_texts(report, lambda text: hide_folders(text, [report["tree"], *folders]))
    names = [check["dataset"] for stage in redacted["stages"] for check in stage["checks"] if check["hidden"]]
    new_names = {name: f"hidden {number}" for number, name in enumerate(dict.fromkeys(names), 1)}
    redacted["tree"], redacted["machine"] = "handed in", {**redacted["machine"], "host": ""}
    for stage in redacted["stages"]:
        stage["source"] = PurePath(stage["source"]).name
        if any(check["hidden"] for check in stage["checks"]):
            stage["output"], stage["phases"] = "", []  # the time of a phase includes that of hidden datasets
            if stage.get("check_mode"):
                stage["check_mode"]["wall_s"] = 0
        for check in stage["checks"]:
            redact_check(check, new_names)
        if stage.get("error"):
            stage["error"] = {
                **stage["error"],
                "place": None,
                "message": hide_names(stage["error"]["message"], new_names),
            }
        for measurement in stage["measurements"]:
            measurement["dataset"] = hide_names(measurement["dataset"], new_names)
        stage["notes"] = [hide_names(note, new_names) for note in stage["notes"]]
    return redacted


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a JSON value with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [change_texts(each, change) for each in value]
    if isinstance(value, dict):
        return {key: change_texts(each, change) for key, each in value.items()}
    return value


def redact_check(check: dict[str, Any], new_names: dict[str, str]) -> None:
    """Remove, in place, all parts of a hidden dataset's result that may reveal its contents. Even its time and the
    numbers in its hint may do so, because students' code can make them depend on the contents."""
    failure = check["failure"]
    if check["hidden"]:
        redacted = {name: check[name] for name in ("hidden", "points", "verdict", "skipped", "empty")}
        blocked_by = check.get("blocked_by", "")
        redacted |= {"dataset": new_names[check["dataset"]], "failure": None, "wall_s": 0, "skipped_why": ""}
        redacted["blocked_by"] = new_names.get(blocked_by, blocked_by)
        if failure:
            reason = (
                "Not run, because an earlier dataset failed." if blocked_by else "A dataset that is not shown fails."
            )
            redacted["failure"] = {"cause": failure["cause"], "message": reason, "hint": "", "place": None}
        if check["skipped_why"]:
            redacted["skipped_why"] = "It was not run here."
        check.clear()
        check.update(redacted)
        return
    if check.get("blocked_by"):
        check["blocked_by"] = new_names.get(check["blocked_by"], check["blocked_by"])
    if failure:
        failure["message"] = hide_names(failure["message"], new_names)


def write_feedback(target: Path, database: Database, row: Row, finals: list[FinalPoints]) -> None:
    """Write index.html, feedback.txt and report.json of a submission to the folder `target`. Without a grade, there is
    no report.json."""
    remarks, sums = describe_submission(row, finals), sum_up(finals)
    sentences = list(map(show_text, [*remarks, *sums]))
    below = join(*(tag("p", remark, class_="note") for remark in remarks), link_journal(target))
    if row.grade is None:
        (target / "report.json").unlink(missing_ok=True)  # an earlier hand-in's report
        write_atomically(target / "feedback.txt", "\n".join([*sentences, ""]))
        write_atomically(target / "index.html", make_remarks_page(sums, below))
        return
    redacted = redact(json.loads(database.report(row.grade)), stored_settings(database).folders())
    report = remove_points(from_json(Report, redacted, ""), finals[0].excluded_kinds)
    for stage, shown in zip(report.stages, redacted["stages"], strict=True):
        if stage.score:
            shown["score"] |= vars(stage.score)
    redacted["total"] |= vars(report.total)
    write_atomically(target / "report.json", json.dumps(redacted, indent=1) + "\n")
    opening = [*sentences, "", *(["The code:", ""] if sums else [])] if sentences else []
    write_atomically(target / "feedback.txt", "\n".join([*opening, describe_report(report)]))
    write_atomically(target / "index.html", make_page([report], more=below, sums=sums))


def describe_submission(row: Row, finals: list[FinalPoints]) -> list[str]:
    """Return the remarks before a report: why there is no report, notes, comments, lateness, and the instructor's
    decisions. All members of a team read the same remarks, so these omit decisions that do not concern all members."""
    about = STATUSES.get(row.status, "to be graded again: the points are those of the earlier grade")
    remarks = [about[0].upper() + about[1:] + "."] if row.status != "graded" else []
    if row.status not in ("", "graded", "missing_stages", "judge_error") and row.detail:
        remarks.append(row.detail)
    remarks += [note for note in row.notes if not is_for_instructor(note)]
    remarks += map(describe_comment, row.comments)
    remarks += [words for final in finals for words in describe_counting_submission(final)]
    decided = [describe_decisions(final) for final in finals if final.counts]
    remarks += [words for words in decided[0] if all(words in others for others in decided)] if decided else []
    if any(words != decided[0] for words in decided):
        remarks.append("A decision concerns only one of you; it is in the gradebook.")
    return remarks


def describe_comment(comment: Comment) -> str:
    """Return a comment with its line of code."""
    old = " of an earlier hand-in" if comment.is_old else ""
    code = f" `{comment.code}`:" if comment.code else ""  # the line may be empty
    return f"Comment on {comment.stage}.cu{old}, line {comment.line}:{code} {comment.text}"


def link_journal(target: Path) -> Html | None:
    """Return a link to the journal in a feedback's folder, or None if there is none."""
    if not (target / JOURNAL).is_file():
        return None
    return tag("p", tag("a", "The journal", href=JOURNAL), ", generated from the records and notes in the hand-in.")


def make_remarks_page(sums: list[str], below: Html) -> str:
    """Return the page of a submission without a report. `sums`: see sum_up(); `below`: the remarks."""
    leads = [tag("p", lead, class_="lead") for lead in sums or ["Not graded"]]
    return make_document("Not graded", join(tag("header", tag("h1", "Lab report"), *leads), below))


def describe_counting_submission(final: FinalPoints) -> list[str]:
    """Return a sentence on which of a student's several submissions counts."""
    if not final.counts:
        return [f"For {final.student}, {'another' if final.chosen_by_points else 'a later'} submission counts instead."]
    reason = "has at least as many points" if final.chosen_by_points else "is later"
    return [f"Not used, because this one {reason}: {', '.join(final.unused)}"] if final.unused else []


def describe_decisions(final: FinalPoints) -> list[str]:
    """Return sentences on lateness, points given by hand and overrides for one student."""
    words = (
        [f"Not counted for any student: {' and '.join(final.excluded_kinds)} points."] if final.excluded_kinds else []
    )
    words += describe_late_hand_in(final)
    words += [
        " ".join(filter(None, [describe_item(item, maximum, final.given.get(item)), final.levels.get(item)]))
        for item, maximum in sorted(final.items.items())
    ]
    if final.override:
        words.append("Points were set by hand.")  # students do not see the reason, which is in gradebook.csv
    return [sentence for sentence in words if sentence]


def describe_late_hand_in(final: FinalPoints) -> list[str]:
    """Return a sentence with the time of a late hand-in, its source, the due date, and the cost of lateness. Both times
    are in the due date's own time zone."""
    if not final.lateness.days or not final.due:
        return []
    handed_in = parse_local(final.row.handed_in, final.due).astimezone(final.due.tzinfo)
    at, due = (f"{time:%Y-%m-%d %H:%M:%S}" for time in (handed_in, final.due))
    when = "by" if final.lateness.source in LATE_MARKS.values() else f"at {at}, as"  # a mark has no time
    verb = "" if final.lateness.source in LATE_MARKS.values() else " says"
    return [
        f"Handed in {plural(final.lateness.days, 'day')} late (rounded up to whole days): {when} "
        f"{final.lateness.source}{verb}, and due at {due} ({final.due:%Z}). {show_points(final.penalty)} points less."
    ]


def describe_item(item: str, maximum: float, given: float | None) -> str:
    """Return a sentence on points given by hand; empty for a bonus that was not given."""
    if given is None:
        return f"{item}: no points yet, of {show_points(maximum)}." if maximum else ""
    return f"{item}: {show_points(given)} {f'of {show_points(maximum)} ' if maximum else ''}points."


def sum_up(finals: list[FinalPoints]) -> list[str]:
    """Return a sentence with the total points of the hand-in's students, if the total may differ from the report's and
    is the same for all of them; otherwise none."""
    counted = [final for final in finals if final.counts and final.points is not None]
    if not any(describe_decisions(final) or final.row.grade is None for final in counted):
        return []
    sums = {f"Together {show_points(final.points or 0)} of {show_points(final.max_points)} points" for final in counted}
    return [f"{sums.pop()} for {' and '.join(final.student for final in counted)}"] if len(sums) == 1 else []
