"""Choose the files to grade from all files that one student handed in: the newest file of each stage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from grader.python.batch.ingest.archive import MOST_FILES, is_journal
from grader.python.batch.ingest.names import (
    SUBMITTED,
    file_name,
    lab_in_name,
    list_readings,
    read_system_name,
    show_name,
)
from grader.python.batch.ingest.reader import File
from grader.python.batch.ingest.times import read_time
from grader.python.common.units import name_some

Order = tuple[bool, int, float]  # whether the file is this lab's, the attempt, seconds since 1970


def order_of(file: File, lab: str) -> Order:
    """Return a sort key that is largest for the newest file: by Canvas's number of the upload, the time in the name of
    `make submit`'s archive, and the file's own time. Files in another lab's archive count as the oldest."""
    is_own, attempt, time_s = order_of_places(file.places, lab)
    return is_own, attempt, file.time_s if time_s is None else time_s


@lru_cache(maxsize=MOST_FILES)  # a long name takes milliseconds, and every stage needs the order of all files
def order_of_places(places: tuple[str, ...], lab: str) -> tuple[bool, int, float | None]:
    """Return the sort key that follows from the names of archives and folders; the time is None if they have none."""
    labs = {lab_in_name(Path(place)) for place in places}
    attempt = max((reading.attempt for reading in list_readings(show_name(Path(places[0])))), default=0)
    times = [match["time"] for place in places if (match := SUBMITTED.fullmatch(plain_name(place)))]
    time = read_time(times[-1]) if times else None
    return labs <= {"", lab}, attempt, (time.timestamp() if time else 0.0) if times else None


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
    called = [PurePosixPath(file_name(file.name).casefold()) for file in files]
    for stage in stages:
        named = [file for file, name in zip(files, called, strict=True) if is_called(name, stage, stages)]
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


def is_called(called: PurePosixPath, stage: str, stages: Sequence[str]) -> bool:
    """Return whether a file's own name is a stage's, or that name and _1, unless the longer name is another stage's."""
    return called.suffix == ".cu" and (
        called.stem == stage or (called.stem not in stages and bool(re.fullmatch(rf"{stage}_\d", called.stem)))
    )


def find_newest(files: Sequence[File], lab: str) -> File:
    """Return the newest of one stage's files; of several with the same time, the last by name."""
    by_place: dict[tuple[str, ...], list[File]] = {}
    for file in files:
        by_place.setdefault(file.places, []).append(file)
    best = [best_of(of_place, lab) for of_place in by_place.values()]
    return max(best, key=lambda file: (not is_kit_part(file.name), order_of(file, lab), file.places))


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
