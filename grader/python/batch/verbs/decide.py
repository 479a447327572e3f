"""Enter the instructor's decisions: dates, points given by hand, overrides. The database keeps each with its reason."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.python.batch.ingest.submission import FILE_DATES
from grader.python.batch.ingest.times import now, parse_zoned_time
from grader.python.batch.outputs.own_gradebook import columns_around
from grader.python.batch.policy.finals import all_finals, points_of
from grader.python.batch.policy.marks import Line, read_levels, read_marks
from grader.python.batch.policy.points import (
    DUE_VALUES,
    UNDONE,
    UNDONE_TIME,
    FinalPoints,
    describe_extensions,
    describe_lateness,
    describe_policy,
    read_policy,
)
from grader.python.batch.store.database import Database
from grader.python.batch.store.opened import open_batch, stored_settings
from grader.python.batch.store.people import StudentsByCell, find_own_keys, find_students, names_of, with_name
from grader.python.common.console import UserError, say
from grader.python.common.rubric import PREFIX, Rubric, read_rubric
from grader.python.common.units import plural, show_points

MAX_WRONG = 10  # lines of a file that a message lists
MAX_REPLACED = 5  # earlier decisions that are listed
MAX_DOUBTS = 5  # disagreements that `due` lists; the page lists all
JOURNAL = "journal"  # the item of points for a journal as a whole
KINDS = ("speed", "hygiene")  # kinds of points that a course can exclude


def due(options: argparse.Namespace) -> int:
    """Set the due date and the cost of lateness, or some of these values; print all values and the number of late
    students."""
    database = open_batch(options.folder)
    values = read_due(options)
    if options.undo:
        undo_due(database, values)
    else:
        if not values:
            raise UserError("Nothing to change. Add --at, --percent-per-day, --most-days or another option, or --undo.")
        if "due" not in values and not database.read_value("due"):
            raise UserError("There is no due date yet: add --at.")
        database.set_values(**values)
    policy, everyone = read_policy(database), all_finals(database, stored_settings(database))
    late = sum(final.lateness.days > 0 for final in everyone)
    say(f"{describe_lateness(policy)} {late} of {len(everyone)} are late.")
    if unknown := sum(
        final.row.known_by in FILE_DATES and not final.lateness.source for final in everyone if policy.due
    ):
        say(
            f"For {plural(unknown, 'hand-in')}, only a file's date is known, which may be the download's. To count it, "
            "use --trust-file-dates."
        )
    names = names_of(database)
    for sentence in describe_extensions(policy.roster_extensions, names):
        say(sentence)
    undecided = [final for final in everyone if final.lateness.doubt and not final.lateness.source]
    for final in undecided:
        say(f"Late or not? {with_name(final.student, names)}: {final.lateness.doubt}")
    doubted = [final for final in everyone if final.lateness.doubt and final.lateness.source]
    if doubts := [f"{with_name(final.student, names)}: {final.lateness.doubt}" for final in doubted]:
        hint = " report.html lists all." if len(doubts) > MAX_DOUBTS else ""
        say(f"Sources of the time disagree ({len(doubts)}): {' '.join(doubts[:MAX_DOUBTS])}{hint}")
    record_decision(database)
    return 0


def read_due(options: argparse.Namespace) -> dict[str, Any]:
    """Return the given options as values to store, by name. Raises UserError if one is out of range."""
    require_between("--percent-per-day", options.percent_per_day or 0, 0, 100)
    require_between("--most-days", options.most_days or 0, 0)
    values = {
        "due": parse_zoned_time(options.at).isoformat() if options.at else None,
        "grace_minutes": options.grace_minutes,
        "percent_per_day": options.percent_per_day,
        "most_days": options.most_days,
        "trust_dates": options.trust_file_dates,
    }
    return {name: value for name, value in values.items() if value is not None}


def undo_due(database: Database, values: Mapping[str, Any]) -> None:
    """Remove the due date and all settings that depend on it. Raises UserError if there is no due date, or other
    options are given."""
    if values:
        raise UserError("--undo removes the date and the cost of lateness: omit the other options.")
    if not database.read_value("due"):
        raise UserError("There is no due date to remove.")
    database.set_values(**dict.fromkeys(DUE_VALUES))


def without(options: argparse.Namespace) -> int:
    """Exclude kinds of points from all students' points and from the maximum; with --undo, include all kinds again."""
    database = open_batch(options.folder)
    if options.undo and not database.read_value("without"):
        raise UserError("All kinds of points count already.")
    database.set_values(
        without=sorted({*(database.read_value("without") or []), *options.kind}) if options.kind else []
    )
    policy, settings = read_policy(database), stored_settings(database)
    say(*(describe_policy(replace(policy, due=None)) or ["All kinds of points count."]), end=" ")
    say(f"{settings.lab} has {show_points(points_of(settings, policy))} points, without those given by hand.")
    above = [final.student for final in all_finals(database, settings) if final.override and exceeds_maximum(final)]
    if above:
        names = names_of(database)
        say(f"Points set by hand exceed this maximum for: {', '.join(with_name(student, names) for student in above)}.")
    record_decision(database)
    return 0


def exceeds_maximum(final: FinalPoints) -> bool:
    """Return whether a student's points exceed the maximum."""
    return final.points is not None and final.points > final.max_points


def extend(options: argparse.Namespace) -> int:
    """Give students more time, or revoke an extension."""
    if options.undo:
        return decide(options, "extensions", until=UNDONE_TIME, reason=options.reason)
    until = parse_zoned_time(options.until)
    due = open_batch(options.folder).read_value("due")
    if due and until < parse_zoned_time(due):
        raise UserError(f"--until {options.until} is before the due date, {due}.")
    return decide(options, "extensions", until=until.isoformat(), reason=options.reason)


def points(options: argparse.Namespace) -> int:
    """Give points by hand, for example for the journal, or revoke them."""
    if options.file:
        return points_from_file(options)
    require_value_and_reason(options, options.points, "--points: the number is missing")
    if options.undo:
        return decide(options, "points", item=options.item, points=UNDONE, most=0, reason=options.reason)
    require_maximum(options)
    require_item(options)
    require_between("--points", options.points, 0, options.of or math.inf)  # with --of 0, the points are a bonus
    database = open_batch(options.folder)
    require_same_maximum(database, options.item, options.of, set(find_students(database, options.student)))
    values = {"item": options.item, "points": options.points, "most": options.of, "reason": options.reason}
    return decide(options, "points", **values)


def points_from_file(options: argparse.Namespace) -> int:
    """Give each student the points in a line of a file. If one line is invalid, no student gets points."""
    if options.undo or options.points is not None:
        raise UserError("--from: the file has the points; omit --points and --undo.")
    require_maximum(options)
    require_item(options)
    database = open_batch(options.folder)
    marks = read_marks(options.file, options.of or math.inf)
    students = find_marked(database, marks)
    require_same_maximum(database, options.item, options.of, set(students))
    reasons = [mark.reason or options.reason or options.file.name for mark in marks]
    common = {"time": now(), "item": options.item, "most": options.of}
    enter(
        database,
        "points",
        [
            common | {"student": student, "points": mark.points, "reason": reason}
            for student, mark, reason in zip(students, marks, reasons, strict=True)
        ],
    )
    everyone = all_finals(database, stored_settings(database))
    have = sum(options.item in final.given for final in everyone)
    marked = f"{options.item}: {plural(len(marks), 'student')} marked by {options.file.name}"
    say(f"{marked}; {have} of {len(everyone)} have points for it now.")
    say_partners(everyone, students, options.item, names_of(database))
    record_decision(database)
    return 0


def mark(options: argparse.Namespace) -> int:
    """Mark journals by the rubric, or revoke marks. Each criterion is an item among the points given by hand."""
    database = open_batch(options.folder)
    rubric = read_rubric(stored_settings(database).root)
    if options.file:
        return mark_from_file(options, database, rubric)
    require_value_and_reason(options, options.level, "--level: the level is missing")
    if not options.criterion:
        raise UserError(f"--criterion: choose one of: {', '.join(criterion.name for criterion in rubric.criteria)}.")
    criterion = rubric.find(options.criterion)
    if options.undo:
        return decide(options, "points", item=criterion.item, points=UNDONE, most=0, reason=options.reason)
    level = criterion.find_level(options.level)
    students = find_students(database, options.student)
    require_markable(database, {criterion.item: criterion.max_points}, set(students))
    values = {"item": criterion.item, "points": level.points, "most": criterion.max_points, "reason": options.reason}
    return decide(options, "points", **values)


def mark_from_file(options: argparse.Namespace, database: Database, rubric: Rubric) -> int:
    """Mark the journal of each student in a file. If one line is invalid, no student is marked."""
    if options.undo or options.level or options.criterion:
        raise UserError("--from: the file has criteria and levels; omit --criterion, --level and --undo.")
    lines = read_levels(options.file, rubric)
    students = find_marked(database, lines)
    require_markable(
        database,
        {criterion.item: criterion.max_points for line in lines for criterion, _ in line.levels},
        set(students),
    )
    enter(
        database,
        "points",
        [
            {
                "time": now(),
                "item": criterion.item,
                "most": criterion.max_points,
                "student": student,
                "points": level.points,
                "reason": line.reason or options.reason or options.file.name,
            }
            for student, line in zip(students, lines, strict=True)
            for criterion, level in line.levels
        ],
    )
    everyone = all_finals(database, stored_settings(database))
    items = [criterion.item for criterion in rubric.criteria]
    marked = sum(all(item in final.given for item in items) for final in everyone)
    say(
        f"Journals: {plural(len(lines), 'student')} marked by {options.file.name}; {marked} of {len(everyone)} have a "
        "level for each criterion now."
    )
    marked_items = {criterion.item for line in lines for criterion, _ in line.levels}
    if left := [criterion.name for criterion in rubric.criteria if criterion.item not in marked_items]:
        say(f"{options.file.name} has no level for: {', '.join(left)}.")
    for item in sorted(marked_items):
        say_partners(everyone, students, item, names_of(database))
    record_decision(database)
    return 0


def require_markable(database: Database, maxima: Mapping[str, float], students: Collection[str]) -> None:
    """Raise UserError if there are points for the journal as a whole, which would count as well, or if other students
    were marked by another version of the rubric."""
    if JOURNAL in read_policy(database).items():
        raise UserError(
            f"There are points for the {JOURNAL} as a whole, which would count as well. Revoke them first: "
            f"warplab-course points DIR --item {JOURNAL} --undo …"
        )
    for item, maximum in maxima.items():
        require_same_maximum(database, item, maximum, students)


def find_marked(database: Database, marks: Sequence[Line]) -> list[str]:
    """Return the id of each line's student. Raises UserError that lists the lines for which no student matches, and
    repeated lines of one student."""
    people = StudentsByCell(database)
    places: dict[str, str] = {}
    wrong: list[tuple[str, UserError]] = []
    for mark in marks:
        try:
            student = people.find(mark.ids, mark.name)
        except UserError as error:
            wrong.append((mark.place, error))
            continue
        if student in places:
            wrong.append((mark.place, UserError(f"{student} is also in {places[student]}.")))
        places[student] = mark.place
    if wrong:
        omitted = f" And {len(wrong) - MAX_WRONG} more lines." if len(wrong) > MAX_WRONG else ""
        count = f"{len(wrong)} lines are invalid: " if len(wrong) > 1 else ""
        problems = " ".join(f"{place}: {error}" for place, error in wrong[:MAX_WRONG])
        raise UserError(f"{count}{problems}{omitted}")
    return list(places)


def require_value_and_reason(options: argparse.Namespace, given: object, missing: str) -> None:
    """Raise UserError if the reason is missing, or if the value `given` is; `missing` is the message for the latter."""
    if not options.reason:
        raise UserError("--reason: give the reason; it is stored for later questions.")
    if not options.undo and given is None:
        raise UserError(f"{missing}. To remove the earlier decision, add --undo.")


def require_maximum(options: argparse.Namespace) -> None:
    """Raise UserError if the maximum is missing or negative."""
    if options.of is None:
        raise UserError("--of: give the maximum points of the item; 0 for a bonus.")
    require_between("--of", options.of, 0)


def require_item(options: argparse.Namespace) -> None:
    """Raise UserError if the item is blank, if gradebook.csv has another column of that name, if the item is for
    journals and these are marked by the rubric, or if its name differs from an earlier item's only in case and blanks,
    because the same points could then count twice."""
    database = open_batch(options.folder)
    columns = columns_around(stored_settings(database).stages)
    if not options.item.strip():
        raise UserError("--item is empty. Name what the points are for, such as journal.")
    if plain_name(options.item) in [name for names in columns for name in names]:
        raise UserError(f"--item {options.item}: gradebook.csv has a column of that name. Choose a different name.")
    items = read_policy(database).items()
    name = plain_name(options.item)
    if name.startswith(PREFIX.strip()) or (name == JOURNAL and any(item.startswith(PREFIX) for item in items)):
        raise UserError(f"--item {options.item}: this batch marks journals by criteria. Type: warplab-course mark")
    if options.item not in items and (same := [item for item in items if plain_name(item) == plain_name(options.item)]):
        raise UserError(f"--item {options.item}: there are points for {same[0]} already. Use that spelling.")


def plain_name(item: str) -> str:
    """Return an item's name in lower case, with single blanks, for comparisons."""
    return " ".join(item.split()).casefold()


def require_same_maximum(database: Database, item: str, maximum: float, students: Collection[str]) -> None:
    """Raise UserError if other students have points for the item with another maximum."""
    points_by_student = read_policy(database).points.items()
    other_maxima = {items[item][1] for who, items in points_by_student if who not in students and item in items}
    if other_maxima - {maximum}:
        other = show_points(max(other_maxima))
        raise UserError(f"{item} has the maximum {other} for others, not {show_points(maximum)}.")


def override(options: argparse.Namespace) -> int:
    """Replace students' points, or revoke the replacement."""
    if options.undo:
        return decide(options, "overrides", points=UNDONE, reason=options.reason)
    database = open_batch(options.folder)
    students = set(find_students(database, options.student))
    finals = all_finals(database, stored_settings(database))
    chosen = [final for final in finals if final.student in students]
    # A stage that could not be judged is missing in a student's maximum, but can be given points by hand.
    require_between("--points", options.points, 0, max(final.max_points for final in finals))
    files = {final.student: final.row.fingerprint for final in chosen}
    return decide(
        options,
        "overrides",
        lambda student: {"fingerprint": files[student]},
        points=options.points,
        reason=options.reason,
    )


def attempts(options: argparse.Namespace) -> int:
    """Grant students further attempts beyond the limit of `serve`, which replace those granted before, or revoke
    them."""
    database = open_batch(options.folder)
    students, names = find_students(database, options.student), names_of(database)
    granted = 0 if options.undo else options.more
    line = {"more": granted, "reason": options.reason, "time": now()}
    database.insert("attempts", [{"student": student, **line} for student in students])
    for student in students:
        say(f"{with_name(student, names)}: {plural(granted, 'further attempt')}")
    return 0


def drop(options: argparse.Namespace) -> int:
    """Exclude hand-ins, such as a test upload or one of a student who left, or include them again."""
    database = open_batch(options.folder)
    rows = {row.key: row for row in database.rows()}
    keys = list(dict.fromkeys(find_own_keys(database, options.student)))
    drops = read_policy(database).drops
    if options.undo and (not_dropped := [key for key in keys if key not in drops]):
        raise UserError(f"{', '.join(not_dropped)}: not dropped. Nothing was changed.")
    lines = [{"student": key, "time": now(), "dropped": not options.undo, "reason": options.reason} for key in keys]
    database.insert("drops", [line | {"fingerprint": rows[line["student"]].fingerprint} for line in lines])
    for row in map(rows.__getitem__, keys):
        waits = ", and waits: repeat the grade command" if not row.status else ""
        result = f"counts again{waits}" if options.undo else "dropped; it gives no points"
        say(f"{with_name(row.key, {row.key: row.name})}: {result}")
    record_decision(database)
    return 0


def decide(
    options: argparse.Namespace, table: str, more: Callable[[str], dict[str, Any]] = lambda _: {}, **values: Any
) -> int:
    """Enter the same decision for all named students, or for none if one of them is unknown. Print their new points.
    `more`: a function that returns one student's values, if these differ between students."""
    database = open_batch(options.folder)
    students = find_students(database, options.student)
    if options.undo:
        require_decided(database, table, students, values.get("item", ""))
    enter(database, table, [{"student": student, "time": now()} | values | more(student) for student in students])
    everyone, names = all_finals(database, stored_settings(database)), names_of(database)
    for final in everyone:
        if final.student in students:
            late = f", {plural(final.lateness.days, 'day')} late" if final.lateness.days else ""
            hides = ", set by hand; no other points count" if final.override else ""
            who = with_name(final.student, names)
            say(f"{who}: {show_points(final.points or 0)} of {show_points(final.max_points)} points{late}{hides}")
            if final.lateness.doubt:
                say(f"{who}: {final.lateness.doubt}")
    if table == "points" and not options.undo:
        say_partners(everyone, students, values["item"], names)
    record_decision(database)
    return 0


def enter(database: Database, table: str, lines: Sequence[dict[str, Any]]) -> None:
    """Enter decisions, and print the earlier ones that they change, because another instructor may have made these."""
    before, names = database.decisions(), names_of(database)
    database.insert(table, lines)
    after = database.decisions()
    in_force = {(student, what) for is_in_force, _, student, what, *_ in after if is_in_force}
    replaced = [decision for decision in before if decision[0] and decision not in after]
    replaced = [decision for decision in replaced if (decision[2], decision[3]) not in in_force]
    for _, time, student, what, why, who in replaced[:MAX_REPLACED]:
        say(f"This replaces: {with_name(student, names)}, {what} ({why}){f', by {who}' if who else ''}, {time}")
    if len(replaced) > MAX_REPLACED:
        say(f"and {len(replaced) - MAX_REPLACED} more")


def say_partners(
    everyone: Sequence[FinalPoints], students: Collection[str], item: str, names: Mapping[str, str]
) -> None:
    """Print the partners of these students in a hand-in who have no points for the item."""
    keys = {final.row.key for final in everyone if final.student in students and item in final.given}
    if unmarked := [final.student for final in everyone if final.row.key in keys and item not in final.given]:
        names_text = ", ".join(with_name(student, names) for student in unmarked)
        say(f"Partners of the same hand-in without points for {item}: {names_text}. Give them points, too?")


def require_decided(database: Database, table: str, students: Sequence[str], item: str) -> None:
    """Raise UserError that lists the students for whom there is no decision to remove."""
    policy = read_policy(database)
    with_points = {student for student, items in policy.points.items() if item in items}
    decided = {"extensions": policy.extensions, "points": with_points, "overrides": policy.overrides}[table]
    if undecided := [student for student in students if student not in decided]:
        kind = {"extensions": "extension", "points": f"points for {item}", "overrides": "override"}[table]
        items = f" Points were given for: {', '.join(policy.items()) or 'nothing'}." if item else ""
        names_text = ", ".join(with_name(student, names_of(database)) for student in undecided)
        raise UserError(f"{names_text}: no {kind} to remove.{items} Nothing was changed.")


def require_between(name: str, value: float, minimum: float, maximum: float = math.inf) -> None:
    """Raise UserError if a value is out of range, infinite or not a number."""
    if not minimum <= value <= maximum or math.isinf(value):
        upper = f" to {show_points(maximum)}" if math.isfinite(maximum) else " or more"
        raise UserError(f"{name} {show_points(value)}: give {show_points(minimum)}{upper}.")


def record_decision(database: Database) -> None:
    """Record that a decision was made, so that the outputs are out of date, and print the command that updates them."""
    database.set_values(decided=(database.read_value("decided") or 0) + 1)
    say(f"To update gradebook, feedback and page: warplab-course report {database.file.parent}")
