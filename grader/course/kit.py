"""Packs the students' archive: what they need to write, check and hand in, and nothing that tells the answers.

python3 -m grader.course.kit [--labs LAB,LAB:STAGE] [--upto STAGE]    (make kit [LABS=…] [UPTO=…])

The archive is dist/warplab-<version>.tar.gz; every byte of it follows from the commit (and what was changed since).
Only files that git tracks get in. It is not written when a line of a solution, a hidden dataset's name or the course's
secret is found in it. A solution's lines that are in its starter are no secret, nor are trivial ones, nor those listed
in solutions/<lab>/shown.txt because the handout or the oracle shows them on purpose.

The oracle, which computes the right answers on the CPU, goes along as source: without it nothing can be checked, and
how to compute the answer on a CPU is in the handout and the contract anyway.
"""

from __future__ import annotations

import argparse
import gzip
import io
import posixpath
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from grader.course.cut import CutSources, cut_datasets, cut_handout, cut_labs, show_json, stage_ids
from grader.course.tables import renew
from grader.journal.console import UserError, choose_labs, explain_os_error, read_json, read_text, run_command, say
from grader.journal.console import write_atomically as write
from grader.journal.units import plural

GRADER = ["grader/*", "labs/precompiled.h"]
NOT_FOR_STUDENTS = ["grader/course/*", "grader/course.sh", "grader/cpu/bench/*", "datasets/*/*.py"]
OF_ALL_LABS = ["Makefile", "warplab", "LICENSE", ".gitignore", ".clang-format", ".editorconfig", *GRADER]
OF_A_LAB = [
    "labs/{lab}/lab.json",
    "labs/{lab}/*.h",
    "labs/{lab}/driver.cu",
    "labs/{lab}/oracle.cpp",
    "labs/{lab}/show.cpp",
    "labs/{lab}/show.py",
    "datasets/{lab}/*",
    "starter/{lab}/*.cu",
]
HIDDEN = "datasets/*/hidden.json"
GIVEN = ("starter/", "grader/runner/cuda_check.h")  # every student's file begins like these
REVISION = "grader/revision"  # the revision of a copy that is not a git checkout; build.mk reads it
SANDBOX = "grader/judge/sandbox/SANDBOX.md"
DECEPTIONS = "### Remaining gaps of the sanitizer"
README_TEMPLATE = Path(__file__).with_name("kit.md.in")
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")
NAME = re.compile(r"[A-Za-z_]\w*")
EVERYBODYS = (
    "threadIdx blockIdx blockDim gridDim x y z i j k n begin end std size_t const constexpr static unsigned int char "
    "float double bool auto void struct return if else for while break continue true false sizeof pragma unroll ifndef "
    "define endif __syncthreads __shared__ __global__ __device__"
)
Files = dict[str, bytes]  # by path from the archive's root


def run_git(root: Path, *words: str) -> str:
    """Return git's output. Raises UserError if the folder is not a git checkout."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    except OSError as error:
        raise UserError(f"git: {explain_os_error(error)}") from None
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip()
        raise UserError(f"git {words[0]}: {why} Only a git checkout is packed.")
    return done.stdout.decode()


def list_tracked(root: Path) -> list[str]:
    """Return the paths that git tracks, sorted, so that no other file gets into an archive."""
    return sorted(name for name in run_git(root, "ls-files", "-z").split("\0") if name and (root / name).is_file())


def revision(root: Path) -> str:
    """Return the commit, marked if files were changed since."""
    return run_git(root, "describe", "--always", "--dirty", "--abbrev=10").strip()


def commit_time(root: Path) -> int:
    """Return the commit's time in seconds since 1970; all files in an archive get this time."""
    return int(run_git(root, "log", "-1", "--format=%ct"))


def version(root: Path) -> str:
    """Return the grader's version, without the revision. Raises UserError."""
    file = root / "grader/model/version.cpp"
    found = re.search(r'return "([\w.]+) ', read_text(file))
    if not found:
        raise UserError(f"{file}: no version in it.")
    return found[1]


def is_one_of(name: str, patterns: Sequence[str], labs: Sequence[str]) -> bool:
    """Return whether a path matches a pattern; {lab} in a pattern stands for each lab."""
    return any(fnmatch(name, pattern.format(lab=lab)) for pattern in patterns for lab in labs)


def collect_kit(sources: CutSources) -> Files:
    """Return the archive's files. Raises UserError."""
    root, labs = sources.root, sources.labs()
    tracked = list_tracked(root)
    for lab in labs:
        if f"labs/{lab}/lab.json" not in tracked:
            raise UserError(f"labs/{lab}/lab.json is not in git, and only what git tracks is packed. Commit the lab.")
    names = [
        name
        for name in tracked
        if is_one_of(name, OF_ALL_LABS + OF_A_LAB, labs) and not is_one_of(name, [*NOT_FOR_STUDENTS, HIDDEN], labs)
    ]
    files = {name: (root / name).read_bytes() for name in names}
    files[REVISION] = f"{revision(root)}\n".encode()
    for lab in labs:
        cut_lab(sources, lab, files)
    files["README.md"] = make_readme(sources, files).encode()
    if SANDBOX in files:
        files[SANDBOX] = leave_deceptions_out(files[SANDBOX].decode()).encode()
    add_pictures(root, tracked, files)
    for name in [name for name in files if name.endswith(".md")]:
        files[name] = drop_dangling_links(name, files).encode()
    return files


def leave_deceptions_out(text: str) -> str:
    """Return the page on the sandbox without the list of programs that deceive the sanitizer. Raises UserError."""
    kept, count = re.subn(rf"\n{re.escape(DECEPTIONS)}\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL)
    if count != 1 or re.search(r"\bopen_\w+\.cu", kept):
        raise UserError(f"{SANDBOX}: programs that deceive the sanitizer belong below '{DECEPTIONS}', and only there.")
    return kept


def cut_lab(sources: CutSources, lab: str, files: Files) -> None:
    """Add a lab's handout, and remove the stages that are not in its manifest."""
    handout = f"handouts/{lab}.md"
    files[handout] = cut_handout(sources, lab).encode()
    leave_stages_out(sources, lab, files)


def leave_stages_out(sources: CutSources, lab: str, files: Files) -> None:
    """Remove stages that are not in the manifest from lab.json, the datasets and the starters in `files`."""
    kept = stage_ids(sources.manifest(lab))
    if sources.manifest(lab) == read_json(sources.root / "labs" / lab / "lab.json"):
        return
    files[f"labs/{lab}/lab.json"] = show_json(sources.manifest(lab)).encode()
    for recipes in {f"datasets/{lab}/public.json", HIDDEN.replace("*", lab)} & files.keys():
        files[recipes] = show_json(cut_datasets(read_json(sources.root / recipes), kept)).encode()
    for name in list(files):
        if name.startswith(f"starter/{lab}/") and Path(name).stem not in kept:
            del files[name]


def make_readme(sources: CutSources, files: Mapping[str, bytes]) -> str:
    """Return the students' README. It is a template with sections of our README; its examples use the first lab in the
    archive, and it does not mention files that are not in the archive."""
    ours = read_text(sources.root / "README.md")
    text = re.sub(
        r"^@(.+)@$", lambda title: find_section(ours, title[1]), read_text(README_TEMPLATE), flags=re.MULTILINE
    )
    example = find_example(ours)
    lab = example[0] if example[0] in sources.labs() else sources.labs()[0]
    if lab != example[0]:
        text = text.replace("DATASET=one", "DATASET=NAME")
    text = text.replace(example[1], stage_ids(sources.manifest(lab))[0]).replace(example[0], lab)
    text = re.sub(r"\s\[[^\]]*example-journal[^\]]*\]\([^)]*\)[^.]*\.", "", text)  # it contains solutions' lines
    if not any(f"labs/{lab}/show.cpp" in files for lab in sources.labs()):
        text = re.sub(r"\s`make show[^.]*\.", "", text)
    if not any(b"<!-- table: results" in files[f"handouts/{lab}.md"] for lab in sources.labs()):
        text = re.sub(r";[^;.]*handouts' last tables", "", text)
    return renew(sources, align_comments(text), README_TEMPLATE)


def align_comments(text: str) -> str:
    """Align the comments of each paragraph of commands, because the lengths of names have changed."""

    def align(paragraph: re.Match[str]) -> str:
        lines = [re.split(r"  +(?=# )", line, maxsplit=1) for line in paragraph[0].splitlines()]
        width = max((len(line[0]) for line in lines if len(line) > 1), default=0)
        return "".join(f"{'  '.join([line[0].ljust(width), *line[1:]]).rstrip()}\n" for line in lines)

    return re.sub(r"(?:^    make.*\n)+", align, text, flags=re.MULTILINE)


def find_section(text: str, title: str) -> str:
    """Return a section of README.md with its heading. Raises UserError."""
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if not found:
        raise UserError(f"README.md has no section '{title}', which the students' README takes over.")
    return found[0].rstrip()


def find_example(readme: str) -> tuple[str, str]:
    """Return the lab and the stage that README.md uses as the example. Raises UserError."""
    found = re.search(r"work/(\w+)/(\d\d_\w+)\.cu", readme)
    if not found:
        raise UserError("README.md names no file work/LAB/STAGE.cu as an example.")
    return found[1], found[2]


def add_pictures(root: Path, tracked: Sequence[str], files: Files) -> None:
    """Add the pictures that the documents show. Raises UserError if git does not track a picture."""
    for name in [name for name in files if name.endswith(".md")]:
        for target in PICTURE.findall(files[name].decode()):
            picture = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if picture not in tracked:
                raise UserError(f"{name} shows {picture}, which git does not track.")
            files[picture] = (root / picture).read_bytes()


def drop_dangling_links(name: str, files: Files) -> str:
    """Return a document in which links to targets outside the archive are replaced by their text."""

    def keep(link: re.Match[str]) -> str:
        target, _, anchor = link[2].partition("#")
        if "://" in target:
            return link[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
        there = file in files and (not anchor or anchor in find_anchors(files[file].decode()))
        return link[0] if there else link[1]

    return LINK.sub(keep, files[name].decode())


def find_anchors(text: str) -> set[str]:
    """Return a document's link targets, with headings named as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    named = re.findall(r'(?:id|name)="([^"]+)"', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(named)


# --- what must stay secret ---


def squeeze(text: str) -> str:
    """Remove all white space, so that text with a different layout is found, too."""
    return re.sub(r"\s", "", text)


def strip_comment(line: str) -> str:
    """Return a line of code without the comment at its end; of a line with only a comment, return the comment."""
    code, _, comment = line.strip().partition("//")
    return code or comment


def find_own_names(line: str) -> set[str]:
    """Return the names in a line that are not in EVERYBODYS, in lower case; `Extent extent` has one."""
    return {name.lower() for name in NAME.findall(line) if name not in EVERYBODYS.split()}


def is_trivial(line: str) -> bool:
    """Return whether a line reveals nothing: an include, brackets, or fewer than two names of its own."""
    return line.startswith("#include") or len(squeeze(line)) < 10 or len(find_own_names(line)) < 2


def find_answers(root: Path, given_files: Sequence[bytes]) -> dict[str, str]:
    """Return the squeezed lines of the solutions that students must not see, each with its place. Lines in the given
    files or in solutions/<lab>/shown.txt are excluded."""
    given = "\n".join(squeeze(file.decode()) for file in given_files)
    answers: dict[str, str] = {}
    for folder in sorted((root / "solutions").iterdir()):
        listed = folder / "shown.txt"
        shown = {squeeze(line) for line in read_text(listed).splitlines()} if listed.is_file() else set()
        for solution in sorted(folder.glob("*.cu")):
            for number, text in enumerate(read_text(solution).splitlines(), start=1):
                line = strip_comment(text)
                if not text.strip().startswith("//@") and not is_trivial(line) and squeeze(line) not in shown:
                    answers.setdefault(squeeze(line), f"{solution.relative_to(root)}:{number}")
    return {line: place for line, place in answers.items() if line not in given}


def find_secrets(root: Path) -> dict[str, str]:
    """Return the names of hidden datasets and the course's secret, each with a description."""
    secrets = {}
    for file in sorted(root.glob(HIDDEN)):
        for dataset in read_json(file)["datasets"]:
            secrets[str(dataset["name"])] = f"the name of a hidden dataset of {file.parent.name}"
    secret = root / "datasets/.secret"
    if secret.is_file():
        secrets[read_text(secret).strip()] = "the course's secret"
    return secrets


def find_leaks(root: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each answer or secret in an archive's files."""
    answers = find_answers(root, [content for name, content in files.items() if name.startswith(GIVEN)])
    secrets = find_secrets(root)
    for name, content in sorted(files.items()):
        for secret, what in secrets.items():
            word = secret.encode()
            if word in content and re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", content):
                yield f"{name} has {what}."
        text = squeeze(content.decode(errors="replace")) if b"\0" not in content else ""
        for line, place in answers.items():
            if line in text:
                yield f"{name} has a line of {place}: {line}"


def refuse_leaks(root: Path, files: Mapping[str, bytes]) -> None:
    """Raise UserError with a list of what students must not see, if the files contain any."""
    leaks = list(find_leaks(root, files))
    if leaks:
        raise UserError(
            "\n  ".join(["Nothing was packed: students would see", *leaks])
            + "\nTake it out there. A line that is shown on purpose can be listed in solutions/<lab>/shown.txt."
        )


# --- the archive ---


def mode_of(name: str, content: bytes) -> int:
    """Return a file's mode: scripts and programs are executable, and only the owner can read a secret."""
    if name.endswith(".secret"):
        return 0o600
    return 0o755 if content.startswith((b"#!", b"\x7fELF")) else 0o644


def pack_tar(files: Mapping[str, bytes], folder: str, time: int) -> bytes:
    """Return a reproducible tar: its bytes depend only on the contents and the time. Entries are sorted and have no
    owner."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(posixpath.join(folder, name))
            entry.size, entry.mtime = len(content), time
            entry.mode = mode_of(name, content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def split_labs(typed: str) -> dict[str, str]:
    """Parse labs such as `one,other:2` into each lab's last stage; '' if none is given. Raises UserError."""
    labs: dict[str, str] = {}
    for word in re.findall(r"[^\s,]+", typed):
        lab, colon, last = word.partition(":")
        if lab in labs:
            raise UserError(f"LABS={typed} names {lab} twice. Name it once, with its last stage: {lab}:2")
        if colon and not last:
            raise UserError(f"LABS={typed} has a colon with no stage behind it. Write {lab}:2, or {lab} for all.")
        labs[lab] = last
    return labs


def main(arguments: Sequence[str]) -> int:
    """Pack the kit. The exit status is 2 if students would see an answer, or if a lab or stage does not exist."""
    parser = argparse.ArgumentParser(prog="make kit", description=__doc__.partition("\n")[0])
    parser.add_argument("--labs", default="", metavar="LAB,LAB:STAGE", help="these labs only, each up to a stage")
    parser.add_argument("--upto", default="", metavar="STAGE", help="the last stage of labs for which none is said")
    parser.add_argument("--output", type=Path, help="the archive (default: dist/warplab-<version>.tar.gz)")
    parser.add_argument("--root", type=Path, default=Path(), help="the project's folder (default: this one)")
    options = parser.parse_args(arguments)
    root: Path = options.root
    typed = split_labs(options.labs)
    labs = {lab: typed.get(lab, "") for lab in choose_labs(root, list(typed))}
    sources = cut_labs(root, labs, options.upto.strip())
    files = collect_kit(sources)
    refuse_leaks(root, files)
    name = f"warplab-{version(root)}"
    output = options.output or root / "dist" / f"{name}.tar.gz"
    packed = gzip.compress(pack_tar(files, name, commit_time(root)), mtime=0)
    write(output, packed)
    stages = {lab: len(stage_ids(sources.manifest(lab))) for lab in sources.labs()}
    say(
        f"{output}: {', '.join(f'{lab}:{count}' for lab, count in stages.items())}; "
        f"{plural(sum(stages.values()), 'stage')}, {len(files)} files, {len(packed) / 1e6:.1f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
