"""Find the bug: a student names the line and the kind of the bug in an exercise, and the sanitizer checks the answer.

python3 -m grader.python.journal.exercise [LAB [EXERCISE]] [--line 10 --kind race] [--give-up]    (make bugs, make bug)

The exercises are <exercises>/<lab>/NAME.cu, with a list exercises.json; the student's copy is
work/<lab>/exercises/NAME.cu. No solution is stored: each answer is compared with what the sanitizer finds in the
exercise. work/<lab>/journal/exercises.jsonl has a line for each answer: {"time", "exercise", "line", "kind",
"outcome"}. No points depend on this file, and it is not handed in.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_json, read_text, run_command, say
from grader.python.common.console import write_atomically as write
from grader.python.common.labs import choose_labs
from grader.python.common.report import Finding
from grader.python.common.units import plural
from grader.python.journal.inspection import Inspection, read_inspection

LIST = "exercises.json"
MAX_FINDINGS_SHOWN = 3
WIDTH = 100


@dataclass(frozen=True)
class Kind:
    """A kind of bug that a student can name: the sanitizer's causes that belong to it, a description, and other words
    for it."""

    causes: tuple[str, ...]
    about: str
    words: tuple[str, ...] = ()


# The kinds, by the name that the list shows.
KINDS = {
    "race": Kind(
        ("race", "atomic_race"),
        "two threads access one element in no fixed order, one of them writes it, and not both accesses are atomic",
        ("missing_barrier", "missing_atomic", "missing_syncwarp"),
    ),
    "divergent_barrier": Kind(
        ("divergent_barrier", "return_before_barrier"),
        "not every thread of the block reaches a barrier at which others wait",
    ),
    "out_of_bounds": Kind(
        ("out_of_bounds",), "an access outside of an array: a wrong index, size or guard", ("wrong_index",)
    ),
    "uninitialised": Kind(
        ("uninitialised",),
        "a read of memory that was never written: not cleared, not loaded",
        ("not_cleared", "uninitialized"),
    ),
    "kept_value": Kind(("kept_value",), "a device variable still holds the value of the previous call"),
    "misaligned": Kind(("misaligned",), "a wide access at an address that is not a multiple of its size"),
    "lane_mask": Kind(("lane_mask", "absent_lane"), "a warp function waits for, or takes a value from, an absent lane"),
    "host_memory": Kind(("host_memory",), "a kernel uses a host pointer"),
    "device_memory": Kind(("device_memory",), "the host uses a device pointer"),
    "use_after_free": Kind(("use_after_free",), "an access to memory that was freed"),
    "invalid_free": Kind(("invalid_free",), "memory is freed that is not, or no longer, allocated"),
    "not_destroyed": Kind(("not_destroyed",), "each call creates a stream or an event and does not destroy it"),
    "leak": Kind(("leak",), "a call allocates memory and does not free it"),
    "copy_size": Kind(("copy_size",), "a copy is larger than its source or its destination"),
    "copy_direction": Kind(
        ("copy_direction",), "a copy whose direction does not fit its source or its destination (host or device)"
    ),
    "unfinished_work": Kind(("unfinished_work",), "nothing waits for earlier work on the same memory, such as a copy"),
    "failed_launch": Kind(("failed_launch",), "a launch fails, and the code does not check its error"),
    "input_written": Kind(("input_written",), "an input of the lab is changed"),
    "constant_written": Kind(("constant_written",), "a kernel writes to constant memory"),
}


class Outcome(StrEnum):
    """The result of comparing an answer with the findings."""

    BEGUN = "begun"  # no answer yet
    FOUND = "found"
    SECOND = "second"  # right kind; the line is the second access
    KIND = "kind"  # right kind, other line
    LINE = "line"  # right line, other kind
    NEITHER = "neither"  # other line, other kind
    GIVEN_UP = "given_up"


REPLIES = {
    Outcome.SECOND: "Right kind, and line {line} is involved as the second access. Which line does it conflict with?",
    Outcome.KIND: "Right kind, other line: the sanitizer does not report it in line {line}.",
    Outcome.LINE: "Right line, other kind.",
    Outcome.NEITHER: "Neither the line nor the kind is right.",
}


@dataclass(frozen=True)
class Exercise:
    """An exercise that a lab offers."""

    lab: str
    name: str
    stage: str
    difficulty: int
    file: Path  # the exercise as released

    def copy(self, work: Path) -> Path:
        """Return the path of the student's copy."""
        return work / self.lab / "exercises" / self.file.name


@dataclass
class Standing:
    """The answers to an exercise so far."""

    answers: int = 0
    end: str = ""  # found or given_up

    def describe(self) -> str:
        answers = plural(self.answers, "answer")
        if self.end == Outcome.FOUND:
            return f"found, {answers}"
        return "given up" if self.end else answers if self.answers else "begun"


def read_exercises(folder: Path, lab: str) -> list[Exercise]:
    """Return the exercises of a lab; none if it has no list. Raises UserError."""
    file = folder / lab / LIST
    entries = read_json(file) if file.is_file() else []
    try:
        return [
            Exercise(lab, entry["name"], entry["stage"], entry["difficulty"], folder / lab / f"{entry['name']}.cu")
            for entry in entries
        ]
    except (KeyError, TypeError):
        raise UserError(f"{file}: not a list of exercises. Unpack the students' kit again.") from None


def find_records(work: Path, lab: str) -> Path:
    return work / lab / "journal" / "exercises.jsonl"


def read_standings(work: Path, lab: str) -> dict[str, Standing]:
    """Return the standing of each exercise of a lab that was begun, in the order of their last records.

    Lines that cannot be read are ignored.
    """
    standings: dict[str, Standing] = {}
    file = find_records(work, lab)
    for line in read_text(file).splitlines() if file.is_file() else []:
        try:
            record = json.loads(line)
            name, outcome = str(record["exercise"]), Outcome(record["outcome"])
        except (ValueError, KeyError, TypeError):
            continue
        standing = standings.pop(name, Standing())
        standings[name] = standing
        if not standing.end:
            standing.answers += outcome not in (Outcome.BEGUN, Outcome.GIVEN_UP)
            standing.end = outcome if outcome in (Outcome.FOUND, Outcome.GIVEN_UP) else ""
    return standings


def keep(work: Path, exercise: Exercise, outcome: Outcome, line: int = 0, kind: str = "") -> None:
    """Append a line to the records. Raises OSError, or UserError if they are not in a regular file."""
    record = {
        "time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "exercise": exercise.name,
        "line": line,
        "kind": kind,
        "outcome": outcome,
    }
    file = find_records(work, exercise.lab)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and not file.is_file():  # opening a pipe waits for a reader
        raise UserError(f"{file} is not a regular file, so answers cannot be kept in it. Remove it.")
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def inspect(exercise: Exercise, build: Path) -> Inspection:
    """Run the sanitizer on the exercise. Raises UserError."""
    with tempfile.TemporaryDirectory() as reports:
        command = [build / "warplab", "inspect", exercise.lab, exercise.stage, "--source", exercise.file]
        command += ["--build", build, "--report-dir", reports, "--no-nvcc"]
        result = subprocess.run([*map(str, command)], capture_output=True, text=True, errors="replace", check=False)
        report = Path(reports) / f"{exercise.lab}-{exercise.stage}.json"
        if not report.is_file():
            raise UserError(
                f"The sanitizer cannot run on {exercise.file}. {result.stderr.strip() or result.stdout.strip()}"
            )
        return read_inspection(report)


def find_key(inspection: Inspection) -> list[Finding]:
    """Return the findings that an answer may name: the defects or, without any, the notes that explain wrong outputs.
    Raises UserError if there is none."""
    defects = [finding for finding in inspection.findings if not finding.note]
    key = defects or [finding for finding in inspection.findings if finding.is_shown]
    if not key:
        raise UserError("The sanitizer finds nothing in this exercise. Please tell your instructor.")
    return key


def compare(key: Sequence[Finding], line: int, kind: str) -> Outcome:
    """Compare an answer with the findings."""
    of_kind = [finding for finding in key if finding.cause in KINDS[kind].causes]
    if line in [finding.line for finding in of_kind]:
        return Outcome.FOUND
    if line in [finding.other_line for finding in of_kind]:
        return Outcome.SECOND
    if of_kind:
        return Outcome.KIND
    is_involved = any(line in (finding.line, finding.other_line) for finding in key)
    return Outcome.LINE if is_involved else Outcome.NEITHER


def find_kind(typed: str) -> str:
    """Return the kind's name for a name, a cause or another word. Raises UserError with the kinds."""
    word = typed.strip().lower().replace(" ", "_").replace("-", "_")
    for name, kind in KINDS.items():
        if word == name or word in kind.causes + kind.words:
            return name
    close = difflib.get_close_matches(word, KINDS, 1)
    question = f" Did you mean {close[0]}?" if close else ""
    raise UserError(f"{typed!r} is not a kind of bug.{question} Kinds:\n{describe_kinds()}")


def describe_kinds() -> str:
    width = max(map(len, KINDS))
    return "\n".join(f"    {name:<{width}}  {kind.about}" for name, kind in KINDS.items())


def describe_finding(finding: Finding, file: Path) -> str:
    """Return a finding as `make inspect` prints it."""
    places = {finding.line: finding.text, finding.other_line: finding.other_text}
    quotes = [f"{line:>8} | {text.strip()}" for line, text in sorted(places.items()) if line and text]
    paragraphs = [finding.message, *([f"Hint: {finding.hint}"] if finding.hint else [])]
    message, *hint = (
        textwrap.fill(paragraph, WIDTH, initial_indent="    ", subsequent_indent="    ") for paragraph in paragraphs
    )
    return "\n".join([f"{file}:{finding.line}: {finding.cause}", message, *quotes, *hint])


def command_for(exercise: Exercise, more: str) -> str:
    return f"make bug LAB={exercise.lab} EXERCISE={exercise.name} {more}"


def describe_repair(exercise: Exercise, work: Path) -> str:
    return (
        "To repair it, edit the file and check it as a submission of its stage:\n"
        f"    make check LAB={exercise.lab} STAGE={exercise.stage[:2]} SOURCE={exercise.copy(work)}"
    )


def begin(exercise: Exercise, work: Path) -> None:
    """Copy the exercise unless the student has a copy, and explain how to answer."""
    copy = exercise.copy(work)
    if not copy.exists():
        write(copy, read_text(exercise.file))
    keep(work, exercise, Outcome.BEGUN)
    lines = [
        f"{copy}, for {exercise.stage}: it compiles, but has one bug.",
        "Read it. Name the line of the wrong access or call, not the line that needs a change, and the kind:",
        f"    {command_for(exercise, 'LINE=… KIND=…')}",
        "Kinds:",
        describe_kinds(),
        f"If you give up:  {command_for(exercise, 'GIVEUP=1')}",
    ]
    say(*lines, sep="\n")


def show_key(key: Sequence[Finding], exercise: Exercise, work: Path) -> None:
    for finding in key[:MAX_FINDINGS_SHOWN]:
        say(describe_finding(finding, exercise.copy(work)))
    if len(key) > MAX_FINDINGS_SHOWN:
        say(f"... and {plural(len(key) - MAX_FINDINGS_SHOWN, 'other finding')}")
    say(describe_repair(exercise, work))


def answer(exercise: Exercise, line: int, kind: str, work: Path, build: Path) -> int:
    """Compare an answer with the sanitizer's findings, keep it, and reply. Return 0 if the bug is found."""
    copy = exercise.copy(work)
    if copy.is_file() and copy.read_bytes() != exercise.file.read_bytes():
        say(f"{copy} was changed. LINE refers to the original exercise: {exercise.file}")
    inspection = inspect(exercise, build)
    key = find_key(inspection)
    outcome = compare(key, line, kind)
    keep(work, exercise, outcome, line, kind)
    if outcome == Outcome.FOUND:
        say(f"Right: line {line}, {kind}. The sanitizer's finding:")
        matching = [finding for finding in key if finding.line == line and finding.cause in KINDS[kind].causes]
        show_key(matching, exercise, work)
        return 0
    say(REPLIES[outcome].format(line=line))
    if inspection.question:
        say(f"Question: {inspection.question}")
    return 1


def give_up(exercise: Exercise, work: Path, build: Path) -> int:
    """Show the findings."""
    key = find_key(inspect(exercise, build))
    keep(work, exercise, Outcome.GIVEN_UP)
    show_key(key, exercise, work)
    return 0


def list_exercises(folder: Path, labs: Sequence[str], work: Path) -> int:
    """Show the exercises of the labs, with the standing of each. Raises UserError if there are none."""
    offered = {lab: exercises for lab in labs if (exercises := read_exercises(folder, lab))}
    if not offered:
        raise UserError(f"There are no exercises for {', '.join(labs)}. The instructor releases them with a kit.")
    for lab, exercises in offered.items():
        standings = read_standings(work, lab)
        solved = sum(standings.get(exercise.name, Standing()).end == Outcome.FOUND for exercise in exercises)
        say(f"{lab}: {solved} of {plural(len(exercises), 'exercise')} found")
        width = max(len(exercise.stage) for exercise in exercises)
        for exercise in exercises:
            stars = "*" * exercise.difficulty
            standing = standings[exercise.name].describe() if exercise.name in standings else ""
            say(f"  {exercise.name}  {exercise.stage:<{width}}  {stars:<3}  {standing}".rstrip())
    unsolved = [
        exercise
        for lab, exercises in offered.items()
        for exercise in exercises
        if not read_standings(work, lab).get(exercise.name, Standing()).end
    ]
    if unsolved:
        say(f"\n* easy, *** hard. Next: make bug LAB={unsolved[0].lab} EXERCISE={unsolved[0].name}")
    return 0


def choose_exercise(folder: Path, lab: str, typed: str, work: Path) -> Exercise:
    """Return the exercise that was typed or, if none was, the last one. Raises UserError with the choices."""
    exercises = {exercise.name: exercise for exercise in read_exercises(folder, lab)}
    if not exercises:
        raise UserError(f"There are no exercises for {lab}. The instructor releases them with a kit.")
    last = [name for name in read_standings(work, lab) if name in exercises][-1:]
    name = typed.strip().lower() or "".join(last)
    if name in exercises:
        if not typed:
            say(f"As in your last command: EXERCISE={name}")
        return exercises[name]
    question = f"{lab} has no exercise {typed}." if typed else "Which exercise?"
    raise UserError(f"{question} Type  make bug LAB={lab} EXERCISE=NAME,  with NAME one of: {', '.join(exercises)}")


def main(arguments: Sequence[str]) -> int:
    """List the exercises, begin one, or compare an answer. The exit status is 1 if the answer is not right."""
    parser = make_parser("make bug", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB", nargs="?", default="")
    parser.add_argument("exercise", metavar="EXERCISE", nargs="?", default="")
    parser.add_argument("--list", action="store_true", help="list the exercises (make bugs)")
    parser.add_argument("--line", default="", help="the line that is wrong (or LINE=10)")
    parser.add_argument("--kind", default="", help="the kind of bug (or KIND=race)")
    parser.add_argument("--give-up", action="store_true", help="show the answer (or GIVEUP=1)")
    parser.add_argument("--exercises", type=Path, default=Path("exercises"), help="the folder of all exercises")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where your files are (default: work)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="the folder of the built judge")
    options = parser.parse_args(arguments)
    labs = choose_labs(options.root, [options.lab] if options.lab else [])
    if options.list or not options.lab:
        return list_exercises(options.exercises, labs, options.work)
    exercise = choose_exercise(options.exercises, labs[0], options.exercise, options.work)
    if options.give_up:
        return give_up(exercise, options.work, options.build)
    if not options.line and not options.kind:
        begin(exercise, options.work)
        return 0
    last = len(read_text(exercise.file).splitlines())
    if not options.line.isdecimal() or not 1 <= int(options.line) <= last or not options.kind:
        raise UserError(
            f"An answer is a line, 1 to {last}, and a kind:  {command_for(exercise, 'LINE=… KIND=…')}\n"
            f"Kinds:\n{describe_kinds()}"
        )
    return answer(exercise, int(options.line), find_kind(options.kind), options.work, options.build)


if __name__ == "__main__":
    sys.exit(run_command(main))
