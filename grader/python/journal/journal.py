"""Make a lab's journal from records and notes: journal.html, journal.md and, with --pdf, journal.pdf.

python3 -m grader.python.journal.journal LAB [--pdf]    (make journal LAB=… [PDF=1])

The journal is made from work/<lab>/journal/records.jsonl, to which every check, bench, sweep and inspect on work/ adds
an entry, and from the notes in the same folder. The same folder always gives the same journal, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.python.common.console import (
    UserError,
    make_parser,
    read_json,
    run_command,
    say,
    say_error,
    write_atomically,
)
from grader.python.common.labs import choose_labs
from grader.python.journal.markdown import make_markdown
from grader.python.journal.optimisations import Journal, Version, read_journal
from grader.python.journal.page import TYPES, Picture, make_page
from grader.python.journal.records import find_lab
from grader.python.journal.words import describe_result, read_source

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
PRINTING_S = 120
RENDERING_S = 60  # processor time
MAX_PICTURES, MAX_PICTURE_BYTES = 6, 1_000_000


@dataclass
class Rendered:
    """A journal in both formats, its result in one sentence, and messages about skipped parts."""

    page: str
    markdown: str
    result: str
    problems: list[str] = field(default_factory=list)


def render(
    root: Path,
    lab: str,
    folder: Path,
    pictures: tuple[list[Picture], str] = ([], ""),
    with_source: bool = False,
    files: Path | None = None,
) -> Rendered:
    """Make a lab's journal from its folder. Raises UserError.

    `pictures` is the result of find_pictures. `files` is the folder of the stages' files; if given, the journal lists
    those that changed since they were last judged.
    """
    journal = read_journal(root, lab, folder)
    journal.problems += find_changed(journal, files) if files else []
    source = read_source(read_json(root / "labs" / lab / "source.json")) if with_source else None
    try:
        page, markdown = make_page(journal, source, *pictures), make_markdown(journal, source)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # a record may contain any numbers
        raise UserError(f"A record has values that cannot be shown ({error}). Remove it from records.jsonl.") from None
    return Rendered(page, markdown, describe_result(journal), journal.problems)


def find_changed(journal: Journal, files: Path) -> list[str]:
    """Return a sentence for each stage whose file differs from the version that was judged last."""
    latest: dict[str, Version] = {}
    for optimisation in journal.optimisations:
        for version in optimisation.versions:
            judged = latest.get(optimisation.stage)
            if judged is None or version.records[-1].when >= judged.records[-1].when:
                latest[optimisation.stage] = version
    return [
        f"{stage}.cu was changed since it was judged last. The journal shows the judged version. To judge the new "
        f"version:  make check LAB={journal.lab} STAGE={stage[:2]}"
        for stage, version in sorted(latest.items())
        if (file := files / f"{stage}.cu").is_file()
        and hashlib.sha256(file.read_bytes()).hexdigest() != version.source_hash
    ]


def find_pictures(build: Path, work: Path, lab: str) -> tuple[list[Picture], str]:
    """Return the pictures of the last `make show`, and a remark on those omitted.

    A picture is omitted if it is older than the student's files, too large, or beyond the maximum number.
    """
    files = sorted(file for file in (build / "show" / lab).glob("*") if file.suffix.lower() in TYPES and file.is_file())
    changed = max((file.stat().st_mtime_ns for file in (work / lab).glob("*.cu")), default=0)
    fresh = [file for file in files if file.stat().st_mtime_ns >= changed]
    small = [file for file in fresh if file.stat().st_size <= MAX_PICTURE_BYTES][:MAX_PICTURES]
    remark = ""
    if files and not fresh:
        remark = f"The pictures of make show are older than your files. Draw them again: make show LAB={lab}"
    elif len(small) < len(files):
        names = ", ".join(file.name for file in files if file not in small)
        remark = f"Some pictures are omitted, because they are too large, too many or older than your files: {names}"
    return [Picture(file.name, file.read_bytes()) for file in small], remark


def print_page(page: Path, output: Path) -> None:
    """Print a page to PDF with a browser. Raises UserError if no browser is installed or printing fails."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise UserError(
            f"No PDF: none of the browsers {', '.join(BROWSERS)} is installed. Install chromium, or open {page} in a "
            "browser and print it to a file."
        )
    output.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []  # needed to start a browser as root
        command += [f"--print-to-pdf={output.absolute()}", page.absolute().as_uri()]
        try:
            result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PRINTING_S)
        except subprocess.TimeoutExpired:
            raise UserError(f"No PDF: {browser} did not finish within {PRINTING_S} s.") from None
    if not output.exists():
        error_lines = result.stderr.strip().splitlines()[-1:] or [f"exit status {result.returncode}"]
        raise UserError(f"No PDF: {browser} could not print {page}: {error_lines[0]}")


def main(arguments: Sequence[str]) -> int:
    """Make the journal and print its path; print skipped parts to stderr.

    Skipped parts do not change the exit status, because a crash of the machine can leave a damaged line.
    """
    parser = make_parser("make journal", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB", nargs="?", help="default: the lab of FOLDER's records")
    parser.add_argument("--pdf", action="store_true", help="print the page to journal.pdf, too (or PDF=1)")
    parser.add_argument("--folder", type=Path, help="where records and notes are (default: WORK/LAB/journal)")
    parser.add_argument("--with-source", action="store_true", help="show the figures of labs/LAB/source.json, too")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where your files are (default: work)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="the folder with the pictures of make show")
    options = parser.parse_args(arguments)
    if not options.lab and not options.folder:
        raise UserError("Which lab? Type  make journal LAB=NAME")
    (lab,) = choose_labs(options.root, [options.lab or find_lab(options.folder / "records.jsonl")])
    folder: Path = options.folder or options.work / lab / "journal"
    if not options.folder and not folder.is_dir():
        say(f"Nothing is recorded yet, so there is no journal. Begin with: make check LAB={lab} STAGE=01")
        return 0
    pictures = ([], "") if options.folder else find_pictures(options.build, options.work, lab)
    files = None if options.folder else options.work / lab
    rendered = render(options.root, lab, folder, pictures, options.with_source, files)
    page = folder / "journal.html"
    write_atomically(page, rendered.page)
    write_atomically(folder / "journal.md", rendered.markdown)
    for problem in rendered.problems:
        say_error(problem)
    say(f"{rendered.result}.\nJournal: {page}, and as Markdown: {folder / 'journal.md'}")
    if options.pdf:
        print_page(page, folder / "journal.pdf")
        say(f"PDF: {folder / 'journal.pdf'}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main, max_s=RENDERING_S))
