"""Write the instructor's key for the exercises (`make bug`): the sanitizer's findings in each exercise.

python3 -m grader.python.release.exercise_key [LAB] [--build FOLDER]    (make bug-key [LAB=…])
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from grader.python.common.console import UserError, make_parser, run_command, say, write_atomically
from grader.python.common.labs import choose_labs
from grader.python.journal.exercise import Exercise, find_key, inspect, read_exercises
from grader.python.release.exercises import read_list

HEAD = (
    "| Exercise | Difficulty | Made from | Kind | Lines | The sanitizer's first finding |\n"
    "| --- | --: | --- | --- | --- | --- |"
)


def describe(exercise: Exercise, source: Path, build: Path) -> str:
    """Return the table's row of an exercise. Raises UserError."""
    key = find_key(inspect(exercise, build))
    kinds = ", ".join(f"`{cause}`" for cause in dict.fromkeys(finding.cause for finding in key))
    lines = ", ".join(map(str, dict.fromkeys(finding.line for finding in key)))
    other_lines = ", ".join(map(str, dict.fromkeys(finding.other_line for finding in key if finding.other_line)))
    places = f"{lines}; second access {other_lines}" if other_lines else lines
    message = key[0].message.replace("|", "\\|")
    return f"| {exercise.name} | {exercise.difficulty} | `{source}` | {kinds} | {places} | {message} |"


def make_key(root: Path, labs: Sequence[str], folder: Path, build: Path) -> str:
    """Return the key of the labs' exercises as Markdown. Raises UserError."""
    sections = ["# Key of the exercises", "Line numbers refer to the exercises, which have no comments."]
    for lab in labs:
        sources = {exercise.name: exercise.source for exercise in read_list(root, lab)}
        rows = [describe(exercise, sources[exercise.name], build) for exercise in read_exercises(folder, lab)]
        if rows:
            sections += [f"## {lab}", "\n".join([HEAD, *rows])]
    return "\n\n".join(sections) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the key next to the exercises."""
    parser = make_parser("make bug-key", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB", nargs="?", default="", help="only this lab's exercises")
    parser.add_argument("--exercises", type=Path, required=True, help="the folder of all exercises")
    parser.add_argument("--build", type=Path, default=Path("build"), help="the folder of the built judge")
    options = parser.parse_args(arguments)
    labs = choose_labs(options.root, [options.lab] if options.lab else [])
    if not any(read_exercises(options.exercises, lab) for lab in labs):
        raise UserError(f"There are no exercises for {', '.join(labs)}. List some in labs/LAB/exercises.json.")
    file = options.exercises / "key.md"
    write_atomically(file, make_key(options.root, labs, options.exercises, options.build))
    say(f"The key: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
