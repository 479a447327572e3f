"""Write a student's notes on an optimisation: work/<lab>/journal/<stage>.md, <stage>-2.md …

python3 -m grader.python.journal.notes LAB STAGE [--new]    (make note LAB=… STAGE=… [NEW=1])

An optimisation is a stage or, with NEW=1, a further step within a stage. A note's first line contains the time when the
note was begun; later records belong to the note. An existing note is never overwritten. No further note is created
while the last one is empty and no record belongs to it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from grader.python.common.console import UserError, explain_os_error, make_parser, read_bytes, run_command, say
from grader.python.common.labs import choose_labs, is_same_stage, read_stages
from grader.python.journal.records import parse_time, read_records

PROMPTS = {
    "Goal": "What should become right or faster, and by which idea?",
    "What speedup do I expect, and why": "A number, from the bytes, the accesses or the threads. Before you measure.",
    "Seconds I predict": "For all iterations of make bench, such as 0.05 s or 50 ms. Before you measure.",
    "Difficulties": "What went wrong, and how did you find out?",
    "Hours": "A number.",
    "What I learnt": "Was it as fast as you expected? If not, what did you overlook? What was given up?",
}
OPTIONAL = {"Seconds I predict"}  # the journal does not list these as missing
BEGUN = re.compile(r"<!--\s*begun\s+(\S+?):?(?:\s[^>]*)?-->")
COMMENT, COMMENT_END = "<!--", "-->"
MAX_HASHES = 6  # number signs before a heading
FENCE = re.compile(r"^\s*(```|~~~)")
HOURS = re.compile(r"(\d{1,6}(?:[.,]\d+)?)\s*(?:h|hrs?|hours?)?\.?", re.IGNORECASE)
SECONDS = re.compile(r"(\d{1,6}(?:[.,]\d{1,9})?)\s*(s|ms|us|\u00b5s|\u03bcs)?\.?")
UNITS = {"ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6}
MAX_BYTES = 200_000


@dataclass
class Note:
    """A student's note, split by heading. `begun` is None if the first line contains no valid time."""

    file: str
    stage: str
    number: int = 1
    begun: datetime | None = None
    sections: list[tuple[str, str]] = field(default_factory=list)
    shortened: bool = False  # whether the text after MAX_BYTES was omitted

    @property
    def written(self) -> list[tuple[str, str]]:
        return [(title, text) for title, text in self.sections if text]

    @property
    def missing(self) -> list[str]:
        """Return the required prompts without an answer."""
        answered = [title for title, _ in self.written]
        return [title for title in PROMPTS if title not in answered and title not in OPTIONAL]

    @property
    def hours(self) -> float | None:
        """Return the hours; None if the answer is not just a number."""
        match = HOURS.fullmatch(dict(self.sections).get("Hours", "").strip())
        return float(match[1].replace(",", ".")) if match else None

    @property
    def predicted_s(self) -> float | None:
        """Return the predicted seconds; None if the answer is not just a time above 0."""
        match = SECONDS.fullmatch(dict(self.sections).get("Seconds I predict", "").strip())
        return float(match[1].replace(",", ".")) * UNITS.get(match[2], 1) or None if match else None


def parse_note(file: str, stage: str, number: int, text: str) -> Note:
    """Split a note at its headings; text before the first heading has an empty title."""
    match = BEGUN.match(text.lstrip("\ufeff \n"))
    note = Note(file, stage, number)
    if match:
        try:
            note.begun = parse_time(match[1])
        except ValueError:
            note.begun = None
    sections: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in strip_comments(text).splitlines():
        fenced ^= bool(FENCE.match(line))
        heading = None if fenced else read_heading(line)
        if heading is None:
            sections[-1][1].append(line)
        else:
            sections.append((heading, []))
    joined = [(title, "\n".join(lines).strip()) for title, lines in sections]
    note.sections += [(title, words) for title, words in joined if title or words]
    return note


def strip_comments(text: str) -> str:
    """Return the text without comments, in time linear in its length. An unclosed comment counts as text."""
    pieces, at = [], 0
    while (begin := text.find(COMMENT, at)) >= 0 and (end := text.find(COMMENT_END, begin + len(COMMENT))) >= 0:
        pieces.append(text[at:begin])
        at = end + len(COMMENT_END)
    return "".join([*pieces, text[at:]])


def read_heading(line: str) -> str | None:
    """Return the title in a heading such as `## Goal ##`, in time linear in its length; None for any other line."""
    rest = line.lstrip("#")
    if not 1 <= len(line) - len(rest) <= MAX_HASHES or not rest[:1].isspace():
        return None
    return rest.strip().rstrip("#").rstrip()


def name_note(stage: str, number: int) -> str:
    """Return the file's name: 02_one_block.md, 02_one_block-2.md."""
    return f"{stage}.md" if number == 1 else f"{stage}-{number}.md"


def read_notes(folder: Path, stages: Sequence[str]) -> list[Note]:
    """Return all notes on the stages, in stage order. Raises UserError if one cannot be read."""
    return [read_note(file, stage, number) for stage in stages for number, file in find_notes(folder, stage)]


def read_note(file: Path, stage: str, number: int) -> Note:
    """Read one note, at most MAX_BYTES of it. Raises UserError if it cannot be read."""
    try:
        content = read_bytes(file, MAX_BYTES + 1)
    except OSError as error:
        raise UserError(explain_os_error(error)) from None
    note = parse_note(file.name, stage, number, content[:MAX_BYTES].decode("utf-8", "replace"))
    note.shortened = len(content) > MAX_BYTES
    return note


def find_notes(folder: Path, stage: str) -> list[tuple[int, Path]]:
    """Return a stage's notes, sorted by number. The stage may have had another number when a note was begun."""
    pattern = re.compile(r"(.*?)(?:-(\d{1,4}))?\.md")
    matches = [(pattern.fullmatch(file.name), file) for file in folder.glob(f"??_{stage[3:]}*.md") if file.is_file()]
    return sorted((int(match[2] or 1), file) for match, file in matches if match and is_same_stage(match[1], stage))


def create_note(folder: Path, stage: str, title: str, new: bool, now: datetime) -> Path:
    """Return the stage's last note. If there is none, or if `new`, create the next one. Raises UserError."""
    notes = find_notes(folder, stage)
    if notes and not new:
        return notes[-1][1]
    number = notes[-1][0] + 1 if notes else 1
    file = folder / name_note(stage, number)
    first_line = f"<!-- begun {now:%Y-%m-%dT%H:%M:%SZ}: records from then on belong to this note -->"
    name = title if number == 1 else f"{title}, step {number}"
    prompts = [f"## {prompt}\n\n<!-- {hint} -->\n" for prompt, hint in PROMPTS.items()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = file.open("x", encoding="utf-8")
    except OSError as error:
        raise UserError(explain_os_error(error)) from None
    try:
        with stream:
            stream.write("\n".join([first_line, f"<!-- {name} -->\n", *prompts]))
    except OSError as error:
        file.unlink(missing_ok=True)  # an existing note is never overwritten, so an incomplete one would stay
        raise UserError(f"Cannot write {file}: {error.strerror or error}.") from None
    return file


def find_unused(folder: Path, lab: str, stage: str) -> Path | None:
    """Return the stage's last note if it has no text and no record belongs to it. Raises UserError."""
    notes = find_notes(folder, stage)
    if not notes:
        return None
    number, file = notes[-1]
    note = read_note(file, stage, number)
    entries = read_records(folder / "records.jsonl", lab).entries
    records = [record for record in entries if is_same_stage(record.stage, stage)]
    if number > 1:  # older records belong to the first note
        records = [record for record in records if note.begun and record.when >= note.begun]
    return None if note.written or records else file


def choose_stage(stages: dict[str, str], typed: str, lab: str) -> str:
    """Return the stage whose id, number or slug was typed, in a form that the judge accepts. Raises UserError with the
    choices."""
    for stage in stages:
        number, _, slug = stage.partition("_")
        if typed == slug or is_same_stage(stage, typed) or re.fullmatch("0*" + number.lstrip("0"), typed):
            return stage
    question = f"No stage of {lab} is called {typed!r}." if typed else "A note is about one stage."
    raise UserError(f"{question} Type  make note LAB={lab} STAGE=…,  with one of: {', '.join(stages)}")


def open_editor(file: Path) -> bool:
    """Open the file in the student's editor. Return False if there is no editor or no terminal, or if the editor fails.

    Raises UserError if the editor cannot be started.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor.strip() or not sys.stdin or not sys.stdin.isatty():
        return False
    try:
        result = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise UserError(f"The editor {editor!r} cannot be started ({error}). The note is {file}.") from None
    return result.returncode == 0


def main(arguments: Sequence[str]) -> int:
    """Create and open a note, and print its path."""
    parser = make_parser("make note", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("stage", metavar="STAGE", nargs="?", default="")
    parser.add_argument("--new", action="store_true", help="begin a further optimisation within the stage (or NEW=1)")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where your files are (default: work)")
    options = parser.parse_args(arguments)
    (lab,) = choose_labs(options.root, [options.lab])
    stages = read_stages(options.root, lab)
    stage = choose_stage(stages, options.stage, lab)
    folder = options.work / lab / "journal"
    unused = find_unused(folder, lab, stage) if options.new else None
    if unused:
        say(f"No further note: {unused} is still empty, and nothing has been recorded since. Use that note.")
    file = unused or create_note(folder, stage, stages[stage], options.new, datetime.now(UTC))
    if not open_editor(file):
        say(f"Your note: {file}")
    say(f"The journal with it: make journal LAB={lab}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
