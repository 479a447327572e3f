"""Chooses the files to grade from everything that one student handed in: the newest file of each stage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from grader.course.batch.archive import is_journal
from grader.course.batch.names import file_name, list_readings
from grader.course.batch.reader import File
from grader.course.batch.submissions import SUBMITTED, lab_in_name, name_some, read_system_name, read_time, show_name

Order = tuple[bool, int, float]  # whether the file is this lab's, the attempt, seconds since 1970


def order_of(file: File, lab: str) -> Order:
    """Return a sort key that is largest for the newest file: by Canvas's number of the upload, the time in the name of
    `make submit`'s archive, and the file's own time. Files in another lab's archive count as the oldest."""
    labs = {lab_in_name(Path(place)) for place in file.places}
    attempt = max((reading.attempt for reading in list_readings(show_name(Path(file.places[0])))), default=0)
    times = [match["time"] for place in file.places if (match := SUBMITTED.fullmatch(plain_name(place)))]
    if not times:
        return labs <= {"", lab}, attempt, file.time_s
    time = read_time(times[-1])
    return labs <= {"", lab}, attempt, time.timestamp() if time else 0.0


def plain_name(place: str) -> str:
    """Return a file's name without a course system's prefix."""
    name = show_name(Path(place))
    read = read_system_name(name)
    return read["file"] if read else name


def pick_stages(
    files: Sequence[File], lab: str, stages: Sequence[str]
) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Return each stage's file, remarks on the choice, and the stages for which no time shows the newest file.
    Within one archive or folder, the file in the lab's folder counts."""
    picked: dict[str, bytes] = {}
    notes: list[str] = []
    ties: list[str] = []
    unused: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}  # stages with the same remark
    for stage in stages:
        named = [file for file in files if is_called(file.name, stage, stages)]
        if not named:
            continue
        best = find_newest(named, lab)
        picked[stage] = best.content
        others = [file for file in named if file.content != best.content and not is_kit_part(file.name)]
        if beside := sorted(show_path(file.name) for file in others if file.places == best.places):
            notes.append(f"{show_path(best.name)} was graded; there were also {name_some(beside)}")
        elsewhere = [file for file in others if file.places != best.places]
        is_tie = any(order_of(file, lab) == order_of(best, lab) for file in elsewhere)
        ties += [stage] if is_tie else []
        if places := tuple(sorted({show_place(file) for file in elsewhere})):
            unused.setdefault((show_place(best), is_tie, places), []).append(stage)
    for (place, is_tie, places), of_stages in unused.items():
        why = "no time tells which is the newest" if is_tie else "it is the newest"
        notes.append(f"{name_some(of_stages)} from {place}: {why}. Not used: {name_some(places)}")
    return picked, notes, ties


def is_called(name: str, stage: str, stages: Sequence[str]) -> bool:
    """Return whether a file has a stage's name, or that name and _1, unless the longer name is another stage's."""
    called = PurePosixPath(file_name(name).casefold())
    return called.suffix == ".cu" and (
        called.stem == stage or (called.stem not in stages and bool(re.fullmatch(rf"{stage}_\d", called.stem)))
    )


def find_newest(files: Sequence[File], lab: str) -> File:
    """Return the newest of one stage's files; of several with the same time, the last by name."""
    by_place = [best_of([file for file in files if file.places == places], lab) for places in places_of(files)]
    return max(by_place, key=lambda file: (not is_kit_part(file.name), order_of(file, lab), file.places))


def places_of(files: Sequence[File]) -> list[tuple[str, ...]]:
    """Return the archives and folders that files come from."""
    return list(dict.fromkeys(file.places for file in files))


def best_of(files: Sequence[File], lab: str) -> File:
    """Return the file that counts among several in one archive or folder."""
    return min(
        files,
        key=lambda file: (
            is_kit_part(file.name),
            lab not in PurePosixPath(file.name).parts,
            file.name.count("/"),
            -file.time_s,
            file.name,
        ),
    )


def show_place(file: File) -> str:
    """Return the name of the archive or folder that a file comes from, or of the file itself."""
    return show_path("/".join(file.places[1:] or file.places))


def show_path(path: str) -> str:
    """Return a path as printable text."""
    return "/".join(show_name(Path(part)) for part in path.split("/"))


def is_kit_part(name: str) -> bool:
    """Return whether a file lies in a kit's folder of starters; some students hand in the whole kit."""
    return "starter" in PurePosixPath(name).parts


def pick_journal_files(files: Sequence[File], lab: str) -> dict[str, bytes]:
    """Return the files of the newest archive or folder that has a journal."""
    journals = [file for file in files if is_journal(file.name)]
    if not journals:
        return {}
    newest = max(journals, key=lambda file: (order_of(file, lab), file.places))
    return {file.name: file.content for file in journals if file.places == newest.places}
