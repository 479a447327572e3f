"""Make the documents of a students' kit: its README, its pictures, and valid links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.python.common.console import UserError, read_text
from grader.python.docs.tables import regenerate
from grader.python.release.cut import CutSources, stage_ids
from grader.python.release.exercises import FOLDER
from grader.python.release.pack import Files

README_TEMPLATE = Path(__file__).with_name("kit.md.in")
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")


def make_readme(sources: CutSources, files: Mapping[str, bytes]) -> str:
    """Return the students' README. It is made from a template and sections of the project's README. If the lab of
    README.md's examples is not in the archive, the examples use the first lab. Parts about files that the archive lacks
    are removed."""
    readme = read_text(sources.root / "README.md")
    text = re.sub(
        r"^@(.+)@$", lambda title: find_section(readme, title[1]), read_text(README_TEMPLATE), flags=re.MULTILINE
    )
    example = find_example(readme)
    lab = example[0] if example[0] in sources.labs() else sources.labs()[0]
    if lab != example[0]:
        text = text.replace("DATASET=one", "DATASET=NAME")
    text = text.replace(example[1], stage_ids(sources.manifest(lab))[0]).replace(example[0], lab)
    text = re.sub(r"\s\[[^\]]*example-journal[^\]]*\]\([^)]*\)[^.]*\.", "", text)  # it contains solutions' lines
    if not any(f"labs/{lab}/show.cpp" in files for lab in sources.labs()):
        text = re.sub(r"\s`make show[^.]*\.", "", text)
    if not any(name.startswith(f"{FOLDER}/") for name in files):
        text = re.sub(r"^\*\*Find the bug\.\*\*.*?\n\n", "", text, flags=re.DOTALL | re.MULTILINE)
    if not any(b"<!-- table: results" in files[f"handouts/{lab}.md"] for lab in sources.labs()):
        text = re.sub(r";[^;.]*handouts'\s+last\s+tables", "", text)
    return regenerate(sources, align_comments(text), README_TEMPLATE)


def align_comments(text: str) -> str:
    """Align the comments of each paragraph of commands, because the lengths of names have changed."""

    def align(paragraph: re.Match[str]) -> str:
        lines = [re.split(r"  +(?=# )", line, maxsplit=1) for line in paragraph[0].splitlines()]
        width = max((len(line[0]) for line in lines if len(line) > 1), default=0)
        return "".join(f"{'  '.join([line[0].ljust(width), *line[1:]]).rstrip()}\n" for line in lines)

    return re.sub(r"(?:^    make.*\n)+", align, text, flags=re.MULTILINE)


def find_section(text: str, title: str) -> str:
    """Return a section or subsection of README.md as a section, with its heading. Raises UserError."""
    heading = rf"^##(?P<deeper>#?) (?P<section>{re.escape(title)}\n.*?)(?=^##(?P=deeper)? |\Z)"
    match = re.search(heading, text, flags=re.MULTILINE | re.DOTALL)
    if not match:
        raise UserError(f"README.md has no section '{title}', which the students' README includes.")
    return f"## {match['section'].rstrip()}"


def find_example(readme: str) -> tuple[str, str]:
    """Return the lab and the stage that README.md uses as the example. Raises UserError."""
    match = re.search(r"work/(\w+)/(\d\d_\w+)\.cu", readme)
    if not match:
        raise UserError("README.md names no file work/LAB/STAGE.cu as an example.")
    return match[1], match[2]


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
        exists = file in files and (not anchor or anchor in find_anchors(files[file].decode()))
        return link[0] if exists else link[1]

    return LINK.sub(keep, files[name].decode())


def find_anchors(text: str) -> set[str]:
    """Return a document's link targets, with headings named as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    explicit = re.findall(r'(?:id|name)="([^"]+)"', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(explicit)
