"""Pack a lab for handing in: the student's files, their last reports, the authors and a manifest with hashes.

python3 -m grader.python.journal.submit LAB    (make submit LAB=…)

The archive is work/<lab>-<ids>-<date and time in UTC>.tar.gz. In it: <lab>/manifest.json, <lab>/<stage>.cu,
<lab>/reports/<stage>.json and, if there is a journal, <lab>/journal/: records.jsonl, the notes, quiz.json (the
answers to the quiz), and journal.html and journal.md, which `make journal` makes from these. manifest.json, schema 1:

    {"schema": 1, "lab": …, "warplab": version of the grader, "time": ISO 8601 in UTC,
     "authors": [{"name": …, "id": …}], "files": [{"path": below <lab>/, "bytes": …, "sha256": …}], "kit": number of the
     students' kit, 0 outside one, "stages": [all stages that the student was given], "forced": whether problems were
     overruled, "problems": [problems that prevent grading], "warnings": [possible surprises]}

Files that cannot be graded (a stage missing, empty, untouched, too large, not a regular file, a name that is not a
stage) are refused with exit status 1. With FORCE=1 or --force, the archive is written all the same, without the files
that are too large, not regular, or not named like a stage.
"""

from __future__ import annotations

import difflib
import errno
import gzip
import hashlib
import io
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from grader.python.common.console import UserError, make_parser, run_command, say, write_atomically
from grader.python.common.labs import choose_labs, is_same_stage, read_kit_number, read_stages
from grader.python.common.report import StageReport, read_report
from grader.python.common.submission_code import make_code
from grader.python.journal.authors import Author, find_authors
from grader.python.journal.journal import RENDERING_S, find_pictures, render
from grader.python.journal.notes import MAX_BYTES as MAX_NOTE_BYTES
from grader.python.journal.notes import find_notes
from grader.python.journal.page import Picture
from grader.python.journal.quiz import ANSWERS, MAX_ANSWERS_BYTES

SCHEMA = 1
MAX_SOURCE_BYTES = 1_000_000
MAX_REPORT_BYTES = 10_000_000
MAX_RECORDS_BYTES = 100_000_000  # read for the journal
MAX_ADDED_BYTES = 10_000  # white space that an editor may add to a starter, besides carriage returns
MAX_JOURNAL_BYTES = 10_000_000  # per packed file; the batch rejects larger ones
MAX_NAME = 200  # characters of the archive's name; file systems allow 255, and course systems add text to it
CODE = {".cu", ".cuh", ".h", ".hpp", ".c", ".cc", ".cpp", ".cxx"}


class NotPackedError(Exception):
    """The reason why a file cannot be packed: the end of a sentence that begins with the file's name."""


@dataclass
class Submission:
    """The contents of the archive, and the problems found. Paths are relative to the lab's folder in the archive."""

    lab: str
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # one line per stage, for the terminal
    stages: list[str] = field(default_factory=list)  # the lab's stages in the student's kit
    kit: int = 0  # number of the students' kit


def collect(root: Path, work: Path, lab: str, build: Path) -> Submission:
    """Read and check all files, each once. Raises UserError if there is no folder of this lab."""
    folder = work / lab
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}. Begin with: make start LAB={lab}")
    stages = list(read_stages(root, lab))
    submission = Submission(lab, stages=stages, kit=read_kit_number(root))
    for stage in stages:
        collect_stage(submission, folder, root / "starter" / lab / f"{stage}.cu", stage)
    submission.problems += find_unknown_files(folder, stages)
    collect_journal(submission, root, folder / "journal", stages, find_pictures(build, work, lab))
    return submission


def collect_stage(submission: Submission, folder: Path, starter: Path, stage: str) -> None:
    """Add one stage's file and its report, or record the problem."""
    file = folder / f"{stage}.cu"
    try:
        source = read_regular(file, MAX_SOURCE_BYTES)
    except NotPackedError as reason:
        submission.problems.append(f"{file} {reason}")
        submission.lines.append(f"{stage}: not handed in")
        return
    submission.files[file.name] = source
    if not source.strip():
        submission.problems.append(f"{file} is empty.")
    elif starter.is_file() and same_text(source, starter.read_bytes()):
        submission.problems.append(f"{file} is still the starter.")
    submission.lines.append(f"{stage}: {collect_report(submission, folder, stage, source)}")


def collect_report(submission: Submission, folder: Path, stage: str, source: bytes) -> str:
    """Add the last report of a stage and return a short description of its result."""
    file = folder / "reports" / f"{stage}.json"
    check_command = f"make check LAB={submission.lab} STAGE={stage[:2]}"
    if not file.exists():
        submission.warnings.append(f"{stage} was never checked. Check it: {check_command}")
        return "not checked"
    try:
        content = read_regular(file, MAX_REPORT_BYTES)
        stage_report = next((entry for entry in read_report(file).stages if is_same_stage(entry.stage, stage)), None)
    except (NotPackedError, UserError) as reason:
        message = str(reason) if isinstance(reason, UserError) else f"{file} {reason}"
        submission.warnings.append(f"{message} The report is omitted. To make a new one: {check_command}")
        return "its report cannot be read"
    if stage_report is None:
        submission.warnings.append(f"{file} is not about {stage}; it is omitted. To make a new one: {check_command}")
        return "its report is about another stage"
    submission.files[f"reports/{file.name}"] = content
    if stage_report.source_hash != hashlib.sha256(source).hexdigest():
        submission.warnings.append(f"{stage} was changed since its last report. To make a new one: {check_command}")
        return f"{describe(stage_report)} before its last change"
    return describe(stage_report)


def collect_journal(
    submission: Submission, root: Path, folder: Path, stages: Sequence[str], pictures: tuple[list[Picture], str]
) -> None:
    """Add the records, the notes, the answers to the quiz and a journal made of these; warn about files that cannot be
    packed."""
    records = folder / "records.jsonl"
    sizes = {records: MAX_RECORDS_BYTES} if records.exists() or records.is_symlink() else {}
    answers = folder / ANSWERS
    sizes |= {answers: MAX_ANSWERS_BYTES} if answers.exists() or answers.is_symlink() else {}
    sizes |= {note: MAX_NOTE_BYTES for stage in stages for _, note in find_notes(folder, stage)}
    packed = {}
    for file, max_bytes in sizes.items():
        try:
            packed[file.name] = read_regular(file, max_bytes)
        except NotPackedError as reason:
            submission.warnings.append(f"{file} {reason} It is omitted from the journal.")
    if packed:
        packed |= render_journal(submission, root, packed, pictures)
    for name, content in packed.items():
        if len(content) <= MAX_JOURNAL_BYTES:
            submission.files[f"journal/{name}"] = content
        else:
            submission.warnings.append(f"{folder / name} is larger than {MAX_JOURNAL_BYTES // 1_000_000} MB: omitted.")


def render_journal(
    submission: Submission, root: Path, packed: dict[str, bytes], pictures: tuple[list[Picture], str]
) -> dict[str, bytes]:
    """Return the journal as a page and as Markdown. It is made from copies of the files already read, so no link is
    followed."""
    with tempfile.TemporaryDirectory() as copies:
        for name, content in packed.items():
            (Path(copies) / name).write_bytes(content)
        try:
            rendered = render(root, submission.lab, Path(copies), pictures)
        except UserError as error:
            submission.warnings.append(f"The journal could not be made: {error}")
            return {}
    submission.warnings += rendered.problems
    return {"journal.html": rendered.page.encode(), "journal.md": rendered.markdown.encode()}


def describe(report: StageReport) -> str:
    """Return a report's verdict, with the cause if the stage did not pass."""
    failures = [check.failure for check in report.checks] + [report.compilation.failure, report.error]
    causes = [failure.cause for failure in failures if failure]
    return report.verdict if report.verdict == "passed" or not causes else f"{report.verdict} ({causes[0]})"


def read_regular(file: Path, max_bytes: int) -> bytes:
    """Read a file's bytes once, never through a link. Raises NotPackedError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotPackedError("is a symbolic link. Put the file itself there.") from None
        if error.errno == errno.ENOENT:
            raise NotPackedError("is missing.") from None
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise NotPackedError("is not a regular file.") from None
        raise NotPackedError(f"cannot be read: {error.strerror}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPackedError("is not a regular file.")
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise NotPackedError(f"is larger than {max_bytes // 1_000_000} MB.")
    return content


def same_text(content: bytes, other: bytes) -> bool:
    """Return whether two texts are equal except for white space at the ends of lines and of the file, and except for a
    byte-order mark, which some editors add.

    Content that is far longer than the other text is not split into lines, which could take all memory.
    """
    if len(content) > 2 * len(other) + MAX_ADDED_BYTES:
        return False
    lines, other_lines = (text.removeprefix(BOM_UTF8).rstrip().splitlines() for text in (content, other))
    return [line.rstrip() for line in lines] == [line.rstrip() for line in other_lines]


def find_unknown_files(folder: Path, stages: Sequence[str]) -> list[str]:
    """Return a sentence for each code file in the folder that belongs to no stage."""
    stage_files = {f"{stage}.cu" for stage in stages}
    sentences = []
    for entry in sorted(folder.iterdir()):
        if entry.suffix.lower() not in CODE or entry.name in stage_files or entry.name.startswith("."):
            continue
        close = difflib.get_close_matches(entry.name, stage_files, n=1, cutoff=0.5)
        if entry.suffix != ".cu":
            hint = "A stage is one file: put what it needs into the stage's .cu."
        elif close and not (folder / close[0]).exists():
            hint = f"Should it be called {close[0]}?"
        else:
            hint = "Move it elsewhere, or rename it to a stage that is missing."
        sentences.append(f"{entry} is not a stage of this lab. {hint}")
    return sentences


def make_manifest(submission: Submission, authors: Sequence[Author], warplab: str, now: datetime) -> bytes:
    """Return manifest.json as the module's docstring describes it."""
    files = [
        {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in sorted(submission.files.items())
    ]
    content = {
        "schema": SCHEMA,
        "lab": submission.lab,
        "warplab": warplab,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "authors": [asdict(author) for author in authors],
        "files": files,
        "kit": submission.kit,
        "stages": submission.stages,
        "forced": bool(submission.problems),
        "problems": submission.problems,
        "warnings": submission.warnings,
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "replace")


def make_archive(submission: Submission, manifest: bytes, now: datetime) -> bytes:
    """Return a reproducible gzipped tar: its bytes depend only on the contents and the time.

    Entries are sorted, have no owner and mode 644.
    """
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path, content in sorted({**submission.files, "manifest.json": manifest}.items()):
            entry = tarfile.TarInfo(f"{submission.lab}/{path}")
            entry.size, entry.mode, entry.mtime = len(content), 0o644, int(now.timestamp())
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def name_part(author: str) -> str:
    """Return an author's id without characters that file systems or shells do not accept."""
    return re.sub(r"[^A-Za-z0-9._]+", "_", author).strip("._") or "_"


def name_archive(lab: str, authors: Sequence[Author], now: datetime) -> str:
    """Return the archive's name: lab, ids, time in UTC. Raises UserError if it is too long: a cut id could be another
    student's."""
    ids = "-".join(name_part(author.id) for author in authors)
    name = f"{lab}-{ids}-{now.strftime('%Y-%m-%d-%H%M%S')}.tar.gz"
    if len(name) > MAX_NAME:
        raise UserError(
            f"The archive's name would have {len(name)} characters, but course systems accept {MAX_NAME}. "
            f"It contains {len(authors)} ids: choose shorter ones, such as matriculation numbers: "
            'AUTHORS="Ada Lovelace <al123>; Alan Turing <at456>"'
        )
    return name


def find_older(lab: str, file: Path) -> list[str]:
    """Return the lab's other archives in this folder. Only the student may delete them, because one may have been
    handed in."""
    pattern = re.compile(rf"{re.escape(lab)}-.+-\d{{4}}-\d\d-\d\d-\d{{6}}\.tar\.gz")
    return sorted(
        str(sibling)
        for sibling in file.parent.iterdir()
        if pattern.fullmatch(sibling.name) and sibling.name != file.name
    )


def ask_version(build: Path) -> str:
    """Return the version of build/warplab; 'unknown' if it is not built."""
    try:
        command = [str((build / "warplab").absolute()), "--version"]
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, text=True, errors="replace", check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return result.stdout.strip().partition("\n")[0][:200] or "unknown"


def refuse(submission: Submission) -> None:
    """Print the problems that prevent grading, and what to do."""
    say(f"Not packed, because it cannot be graded:\n{bullets(submission.problems)}")
    say(f"Fix it, or hand in the files as they are: make submit LAB={submission.lab} FORCE=1")


def bullets(sentences: Sequence[str]) -> str:
    """Return the sentences as a list; undecodable bytes in names are escaped."""
    return "\n".join(f"  - {sentence.encode('utf-8', 'backslashreplace').decode()}" for sentence in sentences)


def main(arguments: Sequence[str]) -> int:
    """Pack the submission. The exit status is 1 if there are problems and FORCE is not set."""
    parser = make_parser("make submit", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--author", action="append", default=[], metavar="'NAME <ID>'", help="repeat it for a team")
    parser.add_argument("--force", action="store_true", help="pack even files that cannot be graded (or FORCE=1)")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where your files are (default: work)")
    parser.add_argument("--build", type=Path, default=Path("build"), help="where warplab is built (default: build)")
    options = parser.parse_args(arguments)
    (lab,) = choose_labs(options.root, [options.lab])
    force = options.force or os.environ.get("FORCE", "") not in ("", "0")
    submission = collect(options.root, options.work, lab, options.build)
    if submission.problems and not force:
        refuse(submission)
        return 1
    if not any(path.endswith(".cu") for path in submission.files):
        raise UserError(f"None of the stages' files can be packed.\n{bullets(submission.problems)}")
    authors_typed = options.author or [os.environ.get("AUTHORS", "")]
    authors = find_authors(authors_typed, options.work / "authors.json")
    now = datetime.now(UTC)
    manifest = make_manifest(submission, authors, ask_version(options.build), now)
    file = options.work / name_archive(lab, authors, now)
    archive = make_archive(submission, manifest, now)
    write_atomically(file, archive)
    say(bullets(submission.lines))
    if notes := submission.problems + submission.warnings:
        say(f"Please note:\n{bullets(notes)}")
    if older := find_older(lab, file):
        say(f"Packed earlier; do not hand in:\n{bullets(older)}")
    say(f"Hand in this file: {file}")
    say(f"Its code is {make_code(archive)}: if your course shows its queue, look for this code.")
    say(f"Its name gives the packing time in UTC; in local time: {now.astimezone():%Y-%m-%d %H:%M:%S %Z}.")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main, max_s=RENDERING_S))
