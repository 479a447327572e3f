"""Make the exercises of `make bug` from the wrong submissions that labs/<lab>/exercises.json lists.

python3 -m grader.python.release.exercises --output FOLDER    writes all exercises, as in a students' kit

An entry of the list:

    {"name": "02a", "difficulty": 1, "from": "tests/labs/blur/02_missing_barrier.cu"}

The name is the stage's number and a letter; the difficulty is 1 to 3. `from` is a submission, or a patch (`diff -U1`)
of a solution. Students see neither its file name nor its comments, because these may name the bug. The kit has no list
of answers: `make bug` asks the sanitizer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_json, read_text, run_command, write_atomically
from grader.python.common.labs import find_labs, read_stages
from grader.python.release.cut import CutSources, show_json, stage_ids
from grader.python.release.pack import Files

LIST = "labs/{lab}/exercises.json"
FOLDER = "exercises"  # the folder in a kit
PAGE = "handouts/find_the_bug.md"
NAME = re.compile(r"(\d\d)[a-z]")
DIFFICULTIES = (1, 2, 3)
KEYS = {"name", "difficulty", "from"}
PATCHED = re.compile(r"^--- a/(\S+)$", re.MULTILINE)
# A comment, or a string or character literal, which may contain what looks like a comment. The quote in 1'000 does not
# begin a literal.
COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|(?P<kept>"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])*')""", re.DOTALL)
PLACEHOLDER = "\0"  # stands for a comment until lines that contain nothing else are removed


@dataclass(frozen=True)
class Entry:
    """An entry of exercises.json."""

    lab: str
    name: str
    stage: str
    difficulty: int
    source: Path  # relative to the project's folder


def read_list(root: Path, lab: str) -> list[Entry]:
    """Return the exercises of a lab, in order; none if it has no list. Raises UserError."""
    file = root / LIST.format(lab=lab)
    if not file.is_file():
        return []
    entries = read_json(file)
    if not isinstance(entries, list):
        raise UserError(f"{file}: not a list of exercises.")
    stages = list(read_stages(root, lab))
    exercises = [read_entry(lab, stages, entry, file) for entry in entries]
    names = [exercise.name for exercise in exercises]
    if names != sorted(set(names)):
        raise UserError(f"{file}: the names must be different, and in order: {', '.join(names)}.")
    return exercises


def read_entry(lab: str, stages: Sequence[str], entry: object, file: Path) -> Entry:
    """Return an entry of a list. Raises UserError if it is invalid."""
    if not isinstance(entry, dict) or entry.keys() != KEYS:
        raise UserError(f"{file}: {entry} is not an exercise. Its keys must be {', '.join(sorted(KEYS))}.")
    name, difficulty = str(entry["name"]), entry["difficulty"]
    number = NAME.fullmatch(name)
    stage = next((stage for stage in stages if number and stage.startswith(f"{number[1]}_")), "")
    if not stage:
        raise UserError(f"{file}: the name {name} is not a stage's number and a letter. Stages: {', '.join(stages)}.")
    if difficulty not in DIFFICULTIES:
        raise UserError(f"{file}: {name} has the difficulty {difficulty}. Choose 1, 2 or 3.")
    return Entry(lab, name, stage, difficulty, Path(str(entry["from"])))


def read_source(root: Path, file: Path) -> str:
    """Return the text of a wrong submission of the project. Raises UserError if the file is missing, or if it is
    a patch that no longer applies."""
    if file.suffix != ".patch":
        return read_text(root / file)
    patched = PATCHED.findall(read_text(root / file))
    if len(patched) != 1:
        raise UserError(f"{file}: it patches {len(patched)} files. A wrong submission must patch exactly one solution.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / patched[0]
        write_atomically(copy, read_text(root / patched[0]))
        # Without a ceiling, git would look for the paths in a repository around the folder.
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(Path(folder).parent)}
        command = ["git", "apply", "--unidiff-zero", (root / file).resolve()]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
        if result.returncode == 0:
            return read_text(copy)
    raise UserError(
        f"{file} no longer applies to {patched[0]}: {result.stderr.strip()}. Make the same mistake in a copy of the "
        "solution, and replace the lines below +++ in the patch with those below +++ in the output of "
        "`diff -U1 SOLUTION COPY`."
    )


def strip_comments(code: str) -> str:
    """Return C++ code without comments, lines that only had comments, and repeated empty lines."""
    code = COMMENT.sub(lambda match: match["kept"] or PLACEHOLDER, code)
    lines = [line for line in code.split("\n") if PLACEHOLDER not in line or line.replace(PLACEHOLDER, "").strip()]
    text = "\n".join(line.replace(PLACEHOLDER, "").rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def make_exercise(root: Path, exercise: Entry) -> str:
    """Return the text of an exercise. Raises UserError."""
    about = f"// Exercise {exercise.name} of {exercise.lab}, for {exercise.stage}: which line is wrong, and how?"
    return f"{about}\n{strip_comments(read_source(root, exercise.source))}"


def make_exercises(root: Path, lab: str, stages: Sequence[str]) -> Files:
    """Return the files of a lab's exercises for these stages, by path in the exercises' folder. Raises UserError."""
    exercises = [exercise for exercise in read_list(root, lab) if exercise.stage in stages]
    files = {f"{lab}/{exercise.name}.cu": make_exercise(root, exercise).encode() for exercise in exercises}
    described = [
        {"name": exercise.name, "stage": exercise.stage, "difficulty": exercise.difficulty} for exercise in exercises
    ]
    return files | ({f"{lab}/exercises.json": show_json(described).encode()} if exercises else {})


def add_exercises(sources: CutSources, released: CutSources, files: Files) -> None:
    """Add the exercises for the released stages, and the page about them, to a kit. Raises UserError if the kit lacks
    one of these stages."""
    if released.labs():
        files[PAGE] = read_text(sources.root / PAGE).encode()
    for lab in released.labs():
        stages = stage_ids(released.manifest(lab))
        kit_stages = stage_ids(sources.manifest(lab)) if lab in sources.labs() else []
        if not set(stages) <= set(kit_stages):
            contents = f"{lab}:{len(kit_stages)}" if kit_stages else f"no stage of {lab}"
            raise UserError(
                f"EXERCISES={lab}:{len(stages)}: the kit has {contents}. Exercises show most of a stage's solution: "
                "release only those of stages whose due date has passed."
            )
        for name, content in make_exercises(sources.root, lab, stages).items():
            files[f"{FOLDER}/{name}"] = content


def find_shown_solutions(root: Path, name: str) -> Iterator[str]:
    """Yield the solutions, as text, whose lines a file of a kit may contain: for an exercise, those of its lab up to
    its stage."""
    folder, _, rest = name.partition("/")
    lab, _, exercise = rest.partition("/")
    if folder == FOLDER and (number := NAME.fullmatch(Path(exercise).stem)):
        for solution in sorted((root / "solutions" / lab).glob("*.cu")):
            if solution.stem[:2] <= number[1]:
                yield read_text(solution)


def main(arguments: Sequence[str]) -> int:
    """Write all exercises of all labs."""
    parser = make_parser("make bugs", __doc__, root=True)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="the folder for the exercises")
    options = parser.parse_args(arguments)
    for lab in find_labs(options.root):
        for name, content in make_exercises(options.root, lab, list(read_stages(options.root, lab))).items():
            write_atomically(options.output / name, content)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
