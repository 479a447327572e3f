"""Pack the students' archive: the files that students need to solve the labs, without the answers.

python3 -m grader.python.release.kit [--labs LAB,LAB:STAGE] [--upto STAGE] [--exercises LAB,LAB:STAGE]
(make kit [LABS=…] [UPTO=…] [EXERCISES=…])

The archive is dist/warplab-<version>.tar.gz; its bytes depend only on the commit and uncommitted changes. It contains
only files that git tracks. It is not written if it would contain a line of a solution, a hidden dataset's name or the
course's secret. It may contain a solution's lines that are also in its starter, trivial lines, and lines that
solutions/<lab>/shown.txt lists because the handout or the oracle shows them on purpose. An exercise of `make bug` may
contain lines of the solutions up to its stage, so exercises are packed only on request.

The kit contains the source of the oracle, which computes the right answers on the CPU: nothing can be checked without
it, and the handout and the contract also explain how to compute the answer on a CPU.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, make_parser, read_json, run_command, say
from grader.python.common.console import write_atomically as write
from grader.python.common.labs import KIT, choose_labs, read_manifest
from grader.python.common.units import plural
from grader.python.docs.tables import regenerate
from grader.python.release.cut import CutSources, cut_datasets, cut_handout, cut_labs, show_json, stage_ids
from grader.python.release.exercises import FOLDER, add_exercises
from grader.python.release.leaks import refuse_leaks
from grader.python.release.pack import (
    HIDDEN,
    OF_EACH_LAB,
    REVISION,
    Files,
    commit_time,
    list_tracked,
    pack_tar,
    revision,
    select,
    version,
)
from grader.python.release.readme import add_pictures, drop_dangling_links, make_readme

SOURCE = Path(__file__).parents[3]  # the project that this program belongs to
GRADER = ["grader/*", "labs/precompiled.h"]
KITS = "kits.json"  # next to the archives: the contents of all kits, in the order of their numbers
INSTRUCTORS_PYTHON = ["grader/python/docs/*", "grader/python/release/*", "grader/python/batch/*"]
NOT_FOR_STUDENTS = [
    "grader/judge/predict/COMPARED.md",  # names all stages
    "grader/judge/predict/VARIANTS.md",
    "grader/course.sh",
    "grader/warplab-course",
    *INSTRUCTORS_PYTHON,
    "grader/cpu/bench/*",
    "datasets/*/*.py",
]
EDITORS = [".clang-format", ".clangd", ".editorconfig", ".vscode/*", ".devcontainer/*"]
OF_ALL_LABS = ["Makefile", "warplab", "LICENSE", ".gitignore", *EDITORS, *GRADER]
CHAPTER = "handouts/modelled_time.md"
SANDBOX = "grader/judge/sandbox/SANDBOX.md"
DECEPTIONS = "### Remaining gaps of the sanitizer"


def collect_kit(sources: CutSources, exercises: CutSources, number: int) -> Files:
    """Return the archive's files, with the exercises for the stages of `exercises`. Raises UserError."""
    root, labs = sources.root, sources.labs()
    tracked = list_tracked(root)
    for lab in labs:
        if f"labs/{lab}/lab.json" not in tracked:
            raise UserError(f"labs/{lab}/lab.json is not in git, and only what git tracks is packed. Commit the lab.")
    names = select(tracked, OF_ALL_LABS + OF_EACH_LAB, [*NOT_FOR_STUDENTS, HIDDEN], labs)
    files = {name: (root / name).read_bytes() for name in names}
    files[REVISION] = f"{revision(root)}\n".encode()
    files[KIT] = show_json({"number": number, "labs": list_stages(sources)}).encode()
    for lab in labs:
        cut_lab(sources, lab, files)
    add_exercises(sources, exercises, files)
    files["README.md"] = make_readme(sources, files).encode()
    if CHAPTER in tracked:
        files[CHAPTER] = regenerate(sources, (root / CHAPTER).read_text(encoding="utf-8"), Path(CHAPTER)).encode()
    if SANDBOX in files:
        files[SANDBOX] = remove_deceptions(files[SANDBOX].decode()).encode()
    add_pictures(root, tracked, files)
    for name in [name for name in files if name.endswith(".md")]:
        files[name] = drop_dangling_links(name, files).encode()
    return files


def list_stages(sources: CutSources) -> dict[str, list[str]]:
    """Return the stages of each lab in the kit."""
    return {lab: stage_ids(sources.manifest(lab)) for lab in sources.labs()}


def find_number(folder: Path, contents: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of a kit, and the contents of all kits so far, as the folder of archives lists them. A kit with
    the contents of an earlier one gets the same number."""
    file = folder / KITS
    kits: list[dict[str, Any]] = read_json(file) if file.is_file() else []
    kits = kits if contents in kits else [*kits, contents]
    return kits.index(contents) + 1, kits


def remove_deceptions(text: str) -> str:
    """Return the page on the sandbox without the list of programs that deceive the sanitizer. Raises UserError."""
    page, count = re.subn(rf"\n{re.escape(DECEPTIONS)}\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL)
    if count != 1 or re.search(r"\bopen_\w+\.cu", page):
        raise UserError(f"{SANDBOX}: programs that deceive the sanitizer belong below '{DECEPTIONS}', and only there.")
    return page


def cut_lab(sources: CutSources, lab: str, files: Files) -> None:
    """Add a lab's handout, and remove the stages that are not in its manifest."""
    handout = f"handouts/{lab}.md"
    files[handout] = cut_handout(sources, lab).encode()
    omit_stages(sources, lab, files)


def omit_stages(sources: CutSources, lab: str, files: Files) -> None:
    """Remove stages that are not in the manifest from lab.json, the datasets, the starters and the solutions in
    `files`."""
    stages = stage_ids(sources.manifest(lab))
    if sources.manifest(lab) == read_manifest(sources.root, lab):
        return
    files[f"labs/{lab}/lab.json"] = show_json(sources.manifest(lab)).encode()
    if (times := f"labs/{lab}/modelled_times.json") in files:
        files[times] = show_json(
            {stage: entry for stage, entry in read_json(sources.root / times).items() if stage in stages}
        ).encode()
    for recipes in {f"datasets/{lab}/public.json", HIDDEN.replace("*", lab)} & files.keys():
        files[recipes] = show_json(cut_datasets(read_json(sources.root / recipes), stages)).encode()
    for name in list(files):
        if name.startswith((f"starter/{lab}/", f"solutions/{lab}/")) and Path(name).stem not in stages:
            del files[name]


def add_site(python: Path, files: Files) -> None:
    """Add the archive's handouts as HTML. Raises UserError."""
    with tempfile.TemporaryDirectory() as name:
        kit, site = Path(name) / "kit", Path(name) / "site"
        for path, content in files.items():
            if path.startswith(("handouts/", "labs/", "datasets/")):
                (kit / path).parent.mkdir(parents=True, exist_ok=True)
                (kit / path).write_bytes(content)
        command = [python, "-m", "grader.python.journal.handouts", "--root", kit, "--output", site]
        result = subprocess.run([*map(str, command)], cwd=SOURCE, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise UserError(result.stderr)
        for file in sorted(path for path in site.rglob("*") if path.is_file()):
            files[f"handouts/html/{file.relative_to(site)}"] = file.read_bytes()


def split_labs(typed: str, variable: str) -> dict[str, str]:
    """Parse a variable's labs, such as `one,other:2`, into each lab's last stage; '' if none is given. Raises
    UserError."""
    labs: dict[str, str] = {}
    for word in re.findall(r"[^\s,]+", typed):
        lab, colon, last = word.partition(":")
        if lab in labs:
            raise UserError(f"{variable}={typed} names {lab} twice. Name it once, with its last stage: {lab}:2")
        if colon and not last:
            raise UserError(f"{variable}={typed} has a colon with no stage after it. Write {lab}:2, or {lab} for all.")
        labs[lab] = last
    return labs


def main(arguments: Sequence[str]) -> int:
    """Pack the kit. The exit status is 2 if students would see an answer, or if a lab or stage does not exist."""
    parser = make_parser("make kit", __doc__, root=True)
    parser.add_argument("--labs", default="", metavar="LAB,LAB:STAGE", help="these labs only, each up to a stage")
    parser.add_argument("--upto", default="", metavar="STAGE", help="the last stage of the labs that name none")
    parser.add_argument(
        "--exercises", default="", metavar="LAB,LAB:STAGE", help="add the exercises of these labs, up to a stage"
    )
    parser.add_argument("--handouts-with", type=Path, metavar="PYTHON", help="add HTML handouts, made with this Python")
    parser.add_argument("--output", type=Path, help="the archive (default: dist/warplab-<version>.tar.gz)")
    options = parser.parse_args(arguments)
    root: Path = options.root
    last_stages = split_labs(options.labs, "LABS")
    labs = {lab: last_stages.get(lab, "") for lab in choose_labs(root, list(last_stages))}
    sources = cut_labs(root, labs, options.upto.strip())
    released = split_labs(options.exercises, "EXERCISES")
    exercises = cut_labs(root, released if released and choose_labs(root, list(released)) else {})
    output = options.output or root / "dist" / f"warplab-{version(root)}.tar.gz"
    contents = {"revision": revision(root), "labs": list_stages(sources)}
    contents |= {"exercises": list_stages(exercises)} if exercises.labs() else {}
    number, kits = find_number(output.parent, contents)
    files = collect_kit(sources, exercises, number)
    refuse_leaks(root, files)
    if options.handouts_with:
        add_site(options.handouts_with, files)
    packed = gzip.compress(pack_tar(files, f"warplab-{version(root)}", commit_time(root)), mtime=0)
    write(output, packed)
    write(output.parent / KITS, show_json(kits))
    stages = {lab: len(ids) for lab, ids in list_stages(sources).items()}
    exercise_count = sum(name.startswith(f"{FOLDER}/") and name.endswith(".cu") for name in files)
    with_exercises = f"{plural(exercise_count, 'exercise')}, " if exercise_count else ""
    say(
        f"{output}: kit {number}, {', '.join(f'{lab}:{count}' for lab, count in stages.items())}; "
        f"{plural(sum(stages.values()), 'stage')}, {with_exercises}"
        f"{len(files)} files, {len(packed) / 1e6:.1f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
