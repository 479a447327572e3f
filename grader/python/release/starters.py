"""Make starter/<lab>/NN_slug.cu from the markers in solutions/<lab>/NN_slug.cu; STARTERS.md describes the markers.

python3 -m grader.python.release.starters [--write] [LAB]  writes the stale starters
python3 -m grader.python.release.starters --check          lists the stale starters with diffs, and exits with 1
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_text, run_command, say, write_atomically

MARKER = "//@"
BEGIN, STARTER, END = "//@ begin", "//@ starter", "//@ end"


@dataclass(frozen=True)
class Stale:
    """A starter that differs from the one its solution generates. `generated` is None if it should not exist."""

    file: Path
    found: str | None
    generated: str | None

    def describe(self) -> str:
        if self.generated is None:
            return f"{self.file}: no solution has this name; delete it."
        return f"{self.file}: {'missing' if self.found is None else 'stale'}."

    def diff(self) -> str:
        """Return the unified diff from the found to the generated text; '' if one of them does not exist."""
        if self.found is None or self.generated is None:
            return ""
        lines = difflib.unified_diff(
            self.found.splitlines(keepends=True),
            self.generated.splitlines(keepends=True),
            f"{self.file} (found)",
            f"{self.file} (from its solution)",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def make_starter(solution: str, file: Path) -> str:
    """Generate the starter's text from the solution's. Raises UserError with file and line if the markers are wrong."""
    lines_kept: list[str] = []
    state, opened_at, blocks = "outside", 0, 0
    for number, line in enumerate(solution.splitlines(keepends=True), start=1):
        place = f"{file}:{number}"
        text = line.strip()
        if not text.startswith(MARKER):
            if state == "outside":
                lines_kept.append(line)
            elif state == "starter":
                raise UserError(f"{place}: between '//@ starter' and '//@ end' every line begins with '//@'.")
            continue
        if text == BEGIN:
            if state != "outside":
                raise UserError(f"{place}: '//@ begin' inside the block that line {opened_at} opens.")
            state, opened_at, blocks = "solution", number, blocks + 1
        elif text == STARTER:
            if state != "solution":
                raise UserError(f"{place}: '//@ starter' without a '//@ begin' before it.")
            state = "starter"
        elif text == END:
            if state == "outside":
                raise UserError(f"{place}: '//@ end' without a '//@ begin' before it.")
            state = "outside"
        elif state == "starter" and (text == MARKER or text.startswith(f"{MARKER} ")):
            lines_kept.append(remove_marker(line))
        else:
            raise UserError(f"{place}: '{text}' is not a marker: expected {BEGIN}, {STARTER} or {END}.")
    if state != "outside":
        raise UserError(f"{file}:{opened_at}: '//@ begin' without an '//@ end' after it.")
    if blocks == 0:
        raise UserError(f"{file}:1: no '//@ begin': nothing would be left for the student to write.")
    starter = "".join(lines_kept)
    if "TODO" not in starter:
        raise UserError(f"{file}:{opened_at}: the starter has no TODO. State in a '//@ starter' part what to write.")
    return starter


def remove_marker(line: str) -> str:
    """Remove a line's marker: '    //@ return;' becomes '    return;', '//@' an empty line."""
    indent, _, rest = line.partition(MARKER)
    content = rest.removeprefix(" ")
    return indent + content if content.strip() else content.lstrip(" \t")


def choose_sources(root: Path, names: Sequence[str]) -> list[str]:
    """Return the given labs, or all labs with solutions or starters. Raises UserError with the choices."""
    labs = {folder.name for tree in ("solutions", "starter") for folder in (root / tree).glob("*") if folder.is_dir()}
    for name in names:
        if name not in labs:
            raise UserError(f"solutions/{name}: no such folder. Labs: {', '.join(sorted(labs)) or 'none'}.")
    return sorted(names or labs)


def find_stale(root: Path, lab: str) -> list[Stale]:
    """Compare every starter of a lab with the one its solution generates; return those that differ."""
    solutions = {file.name: file for file in sorted((root / "solutions" / lab).glob("*.cu"))}
    starters = root / "starter" / lab
    stale = []
    for name, solution in solutions.items():
        generated = make_starter(read_text(solution), solution.relative_to(root))
        file = starters / name
        text = read_text(file) if file.exists() else None
        if text != generated:
            stale.append(Stale(file.relative_to(root), text, generated))
    for file in sorted(starters.glob("*.cu")):
        if file.name not in solutions:
            stale.append(Stale(file.relative_to(root), read_text(file), None))
    return stale


def main(arguments: Sequence[str]) -> int:
    """Write or check the starters. Return 1 if --check finds a stale starter or --write one without a solution."""
    parser = make_parser("python3 -m grader.python.release.starters", __doc__, root=True)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="write the starters that are stale (the default)")
    action.add_argument("--check", action="store_true", help="list the stale starters and exit with 1")
    parser.add_argument("labs", nargs="*", metavar="LAB", help="only these labs")
    options = parser.parse_args(arguments)
    root: Path = options.root
    stale = [entry for lab in choose_sources(root, options.labs) for entry in find_stale(root, lab)]
    for entry in stale:
        if not options.check and entry.generated is not None:
            write_atomically(root / entry.file, entry.generated)
            say(f"{entry.file}: written")
        else:
            say(entry.describe())
            say(entry.diff(), end="")
    left_over = [entry for entry in stale if entry.generated is None]
    if options.check and stale:
        say("Generate them again: python3 -m grader.python.release.starters")
    return 1 if (stale if options.check else left_over) else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
