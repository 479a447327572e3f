"""Choose the files to grade from all files that one student handed in.

All attachments are one hand-in. For each stage, a file next to an archive counts before those in the archive; of
several archives, the newest counts. An unchanged starter counts only if there is no other file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from grader.python.batch.ingest.archive import BUILD, CODE_ENDINGS, MAX_FILES, is_archive, is_journal
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
from grader.python.common.labs import is_same_stage
from grader.python.common.units import name_some
from grader.python.journal.submit import same_text

WORK = "work"  # a kit's folder of students' files
TIE = "the times do not show which is the newest"

Order = tuple[bool, int, float]  # whether the file is this lab's, Canvas's number of the upload, seconds since 1970


def order_of(file: File, lab: str) -> Order:
    """Return a sort key that is largest for the newest file. The key consists of Canvas's number of the upload and of
    the time in the name of `make submit`'s archive or, without one, the file's own time. Files in an archive of another
    lab have smaller keys than all others."""
    is_own, attempt, time_s = order_of_places(file.places, lab)
    return is_own, attempt, file.time_s if time_s is None else time_s


@lru_cache(maxsize=MAX_FILES)  # reading a long name takes milliseconds, and each stage compares all files
def order_of_places(places: tuple[str, ...], lab: str) -> tuple[bool, int, float | None]:
    """Return the sort key that follows from the names of archives and folders; the key's time is None if the names
    contain no time."""
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
    files: Sequence[File], lab: str, stages: Sequence[str], starters: Mapping[str, bytes] | None = None
) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Return each stage's file, remarks on the choice, and the stages whose newest file cannot be determined. Within
    one archive or folder, the file in the lab's folder counts."""
    best: dict[str, File] = {}
    notes: list[str] = []
    ties: list[str] = []
    unused: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}  # stages by the parts of their common remark
    own_names = [PurePosixPath(file_name(file.name)) for file in files]
    for stage in stages:
        named = find_named(files, own_names, stage, stages)
        if not named:
            continue
        starter = (starters or {}).get(stage)
        candidates = keep_closest([(rank, file) for rank, file in named if not is_fallback(file, starter)])
        best[stage] = chosen = find_newest(candidates or keep_closest(named), lab)
        different = [file for file in candidates if file.content != chosen.content]
        if unused_files := sorted(show_path(file.name) for file in different if file.places == chosen.places):
            notes.append(f"{show_path(chosen.name)} was graded, and not {name_some(unused_files)}")
        elsewhere = [file for file in different if file.places != chosen.places]
        reason = explain_choice(chosen, elsewhere, lab)
        ties += [stage] if reason == TIE else []
        if places := tuple(sorted({show_place(file) for file in elsewhere})):
            unused.setdefault((show_place(chosen), reason, places), []).append(stage)
    for (place, reason, places), of_stages in unused.items():
        these = "these stages" if len(of_stages) > 1 else "this stage"
        notes.append(f"{name_some(of_stages)} from {place}: {reason}. Not used for {these}: {name_some(places)}")
    notes += describe_sources(best)
    notes += describe_names(best, stages)
    notes += note_unchanged_starters(best, starters or {})
    return {stage: file.content for stage, file in best.items()}, notes, ties


def find_named(
    files: Sequence[File], own_names: Sequence[PurePosixPath], stage: str, stages: Sequence[str]
) -> list[tuple[int, File]]:
    """Return the files whose names match the stage's, each after the rank that rank_name_match() gives it. `own_names`:
    the files' names without their folders."""
    ranks = [rank_name_match(name, stage, stages) for name in own_names]
    return [(rank, file) for file, rank in zip(files, ranks, strict=True) if rank is not None]


def keep_closest(ranked: Sequence[tuple[int, File]]) -> list[File]:
    """Return the files with the closest match, which has the smallest rank."""
    closest = min((rank for rank, _ in ranked), default=None)
    return [file for rank, file in ranked if rank == closest]


def rank_name_match(own_name: PurePosixPath, stage: str, stages: Sequence[str]) -> int | None:
    """Return how closely a file's own name matches a stage's; None if it does not match.

    0: exactly, or with _1 at the end;
    1: with another file extension, or with the number that the stage had before the lab's stages were renumbered;
    2: with other signs between the words, or with words before or after it;
    3: without the number, or without the last words;
    4: only the number.
    """
    stem, ending, stage = own_name.stem.casefold().removesuffix(".cu"), own_name.suffix.casefold(), stage.casefold()
    other_stages = {other.casefold() for other in stages} - {stage}
    if ending not in CODE_ENDINGS or stem in other_stages:
        return None
    if stem == stage or re.fullmatch(rf"{re.escape(stage)}_\d", stem):
        return int(ending != ".cu")
    if is_same_stage(stem, stage) and not any(re.fullmatch(rf"{re.escape(other)}_\d", stem) for other in other_stages):
        return 1
    if ending != ".cu":  # such as output_01_first.txt
        return None
    if holds_words(stem, stage) and not any(
        holds_words(stem, other) for other in other_stages if len(other) > len(stage)
    ):
        return 2
    number, _, slug = stage.partition("_")
    words = re.sub(r"\A\d++(?=_)", lambda match: match[0].lstrip("0").zfill(len(number)), join_words(stem))
    is_begun = f"{stage}_".startswith(f"{words}_") and words != number
    if words == slug or (is_begun and not any(is_same_stage(stem, other) for other in other_stages)):
        return 3
    return 4 if number.isdecimal() and re.fullmatch(f"(stage_?)?0*{int(number)}", words) else None


def holds_words(name: str, stage: str) -> bool:
    """Return whether a name begins or ends with all of a stage's words."""
    words, stage_words = f"_{join_words(name)}_", f"_{join_words(stage)}_"
    return words.startswith(stage_words) or words.endswith(stage_words)


def join_words(name: str) -> str:
    """Return a name with one '_' between its words."""
    return re.sub(r"[\W_]+", "_", name).strip("_")


def find_newest(files: Sequence[File], lab: str, depth: int = 0) -> File:
    """Return the file that counts, of a stage's files that lie in the same `depth` outer archives or folders. A file
    next to an archive counts before those in it. Of several archives, the newest counts; if their times are equal, the
    last by name."""
    nearest = [file for file in files if len(around(file)) <= depth]
    if not nearest:
        inner: dict[str, list[File]] = {}
        for file in files:
            inner.setdefault(around(file)[depth], []).append(file)
        nearest = [find_newest(of_place, lab, depth + 1) for of_place in inner.values()]
    elif depth:
        return best_of(nearest, lab)
    return max(nearest, key=lambda file: (order_of(file, lab), file.places))


def around(file: File) -> tuple[str, ...]:
    """Return the names of the archives and folders around a file, outermost first; none if the file was handed in by
    itself."""
    return () if file.places == (file.name,) else file.places


def explain_choice(best: File, elsewhere: Sequence[File], lab: str) -> str:
    """Return the reason why the file `best` counts before the others, as a part of a sentence."""
    rivals = [file for file in elsewhere if not is_next_to(best, file)]
    if any(order_of(file, lab) == order_of(best, lab) for file in rivals):
        return TIE
    return "it is the newest" if rivals else "a file next to an archive counts before those in it"


def is_next_to(file: File, other: File) -> bool:
    """Return whether a file lies next to an archive or folder that the other file is in."""
    return len(around(file)) < len(around(other)) and around(other)[: len(around(file))] == around(file)


def describe_sources(best: Mapping[str, File]) -> list[str]:
    """Return a remark on where each stage's file comes from; none if all come from one place."""
    places: dict[str, list[str]] = {}
    for stage, file in best.items():
        places.setdefault(show_place(file) if any(map(is_archive, around(file))) else "single files", []).append(stage)
    return [
        f"Used: {'; '.join(f'{name_some(stages_there)} from {place}' for place, stages_there in places.items())}."
    ] * (len(places) > 1)


def describe_names(best: Mapping[str, File], stages: Sequence[str]) -> list[str]:
    """Return a remark for each file whose name is not its stage's."""
    own_names = {stage: PurePosixPath(file_name(file.name)) for stage, file in best.items()}
    return [
        f"{show_path(name.name)} was used as {stage}.cu."
        for stage, name in own_names.items()
        if rank_name_match(name, stage, stages)
    ]


def note_unchanged_starters(best: Mapping[str, File], starters: Mapping[str, bytes]) -> list[str]:
    """Return a remark for each stage whose file is the starter."""
    return [f"{stage} is still the starter." for stage, file in best.items() if is_starter(file, starters.get(stage))]


def is_fallback(file: File, starter: bytes | None) -> bool:
    """Return whether a file counts only if the stage has no other file."""
    return is_kit_part(file.name) or is_starter(file, starter)


def is_starter(file: File, starter: bytes | None) -> bool:
    """Return whether a file is a stage's unchanged starter."""
    return starter is not None and same_text(file.content, starter)


def best_of(files: Sequence[File], lab: str) -> File:
    """Return the file that counts, of several in one archive or folder: first, one in work/, as in a whole kit, then
    one in the lab's folder, then one with the fewest folders around it, then the newest. If times are equal, the last
    by name counts, so v3 counts before v2."""
    return max(
        files,
        key=lambda file: (
            WORK in PurePosixPath(file.name).parts[:-1],
            lab in PurePosixPath(file.name).parts,
            -file.name.count("/"),
            file.time_s,
            split_numbers(PurePosixPath(file.name).stem),
            file.name,
        ),
    )


def split_numbers(name: str) -> list[tuple[str, int]]:
    """Return the texts in a name, each with the number after it, as a sort key that orders v9 before v10. Only ASCII
    digits form numbers; digits of other scripts are text."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"([^0-9]*)([0-9]*)", name)]


def show_place(file: File) -> str:
    """Return the path of the archive that a file comes from, or of the file itself if it is in no archive."""
    if not any(map(is_archive, around(file))):
        return show_own_path(file.name)
    return show_own_path("/".join(file.places[1:] or file.places))


def show_own_path(name: str) -> str:
    """Return a path as printable text. If it is only a file's name, remove a course system's prefix."""
    return show_path(name) if "/" in name else plain_name(name)


def show_path(path: str) -> str:
    """Return a path as printable text."""
    return "/".join(show_name(Path(part)) for part in path.split("/"))


def is_kit_part(name: str) -> bool:
    """Return whether a file lies in the folder of starters or in the build folder of a kit. Some students hand in the
    whole kit."""
    return bool({"starter", BUILD} & set(PurePosixPath(name).parts[:-1]))


def pick_journal_files(files: Sequence[File], lab: str) -> dict[str, bytes]:
    """Return the journal's files, by name, from the newest archive or folder that has a journal."""
    journals = [file for file in files if is_journal(file.name)]
    if not journals:
        return {}
    newest = max(journals, key=lambda file: (order_of(file, lab), file.places))
    return {file.name: file.content for file in journals if file.places == newest.places}
