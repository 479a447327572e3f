"""Make a site of the handouts: HTML that needs no network, with search, pictures and a dark mode.

python3 -m grader.python.journal.handouts [--output FOLDER]    (make handouts)

The site is build/handouts/index.html. MkDocs with its Material theme makes it, so this runs in the project's virtual
environment.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.python.common.console import UserError, make_parser, run_command, say
from grader.python.common.labs import find_labs, read_manifest

LINK = re.compile(r"\[([^\]]*)\]\(\.\./([^)\s#]+)\)")  # to a file outside of handouts/
SHIM = "https://unpkg.com/iframe-worker/shim"
PICTURES = {".png", ".jpg", ".gif", ".svg"}


def make_site(root: Path, output: Path) -> None:
    """Write the site into a folder, whose earlier content is lost. Raises UserError."""
    with tempfile.TemporaryDirectory() as name:
        pages, site, config = Path(name) / "pages", Path(name) / "site", Path(name) / "mkdocs.yml"
        pages.mkdir()
        labs = [lab for lab in find_labs(root) if (root / "handouts" / f"{lab}.md").exists()]
        other_pages = sorted(file.stem for file in (root / "handouts").glob("*.md") if file.stem not in labs)
        write_pages(root, labs, other_pages, pages)
        config.write_text(
            json.dumps(describe_site(root, [*labs, *other_pages], pages, site)), encoding="utf-8"
        )  # JSON is YAML
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(config)]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if result.returncode != 0:
            raise UserError(f"MkDocs could not make the site: {(result.stderr or result.stdout)[-2000:]}")
        shutil.rmtree(site / "assets/javascripts/lunr")  # only needed to search in other languages
        for unused in (*site.glob("sitemap.xml*"), *site.rglob("*.map")):
            unused.unlink()
        replace_worker_script(site)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(site, output)


def replace_worker_script(site: Path) -> None:
    """Replace the one script that the pages would fetch from the network."""
    target = site / "assets/javascripts/worker.js"
    shutil.copyfile(Path(__file__).with_name("worker.js"), target)
    for page in site.rglob("*.html"):
        address = "../" * (len(page.relative_to(site).parts) - 1) + str(target.relative_to(site))
        page.write_text(page.read_text(encoding="utf-8").replace(SHIM, address), encoding="utf-8")


def write_pages(root: Path, labs: Sequence[str], other_pages: Sequence[str], pages: Path) -> None:
    """Write all handouts, the files that they link to, and a first page."""
    if (root / "handouts/pictures").is_dir():
        shutil.copytree(root / "handouts/pictures", pages / "pictures", ignore=shutil.ignore_patterns("*.py"))
    lines = ["# Handouts", ""]
    for name in (*labs, *other_pages):
        text = (root / "handouts" / f"{name}.md").read_text(encoding="utf-8")
        (pages / f"{name}.md").write_text(
            LINK.sub(lambda link: add_to_site(root, pages, *link.groups()), text), "utf-8"
        )
        about = f": {read_manifest(root, name)['about']}" if name in labs else ""
        lines.append(f"- [{title_of(root, name)}]({name}.md){about}")
    (pages / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def title_of(root: Path, name: str) -> str:
    """Return the title of a lab, or the heading of another handout."""
    if (root / "labs" / name / "lab.json").is_file():
        return str(read_manifest(root, name)["title"])
    heading, _, _ = (root / "handouts" / f"{name}.md").read_text(encoding="utf-8").partition("\n")
    return heading.removeprefix("# ")


def add_to_site(root: Path, pages: Path, words: str, name: str) -> str:
    """Add a file to the site and return the link to it; return only the link's text if there is no such file."""
    file = root / name
    if not file.is_file():
        return words
    target = name if file.suffix in PICTURES else f"{name}.md"
    (pages / target).parent.mkdir(parents=True, exist_ok=True)
    if target == name:
        shutil.copyfile(file, pages / target)
    else:
        fenced = f"# {name}\n\n````cpp\n{file.read_text(encoding='utf-8')}````\n"
        (pages / target).write_text(fenced, encoding="utf-8")
    return f"[{words}]({target})"


def describe_site(root: Path, names: Sequence[str], pages: Path, site: Path) -> dict[str, Any]:
    """Return the configuration of MkDocs."""
    schemes = [("(prefers-color-scheme: light)", "default", "dark"), ("(prefers-color-scheme: dark)", "slate", "light")]
    return {
        "site_name": "Warplab",
        "docs_dir": str(pages),
        "site_dir": str(site),
        "use_directory_urls": False,  # so that links work without a server
        "nav": [{"Handouts": "index.md"}, *({title_of(root, name): f"{name}.md"} for name in names)],
        "not_in_nav": "/labs/\n",
        "plugins": ["search", "offline"],
        "theme": {
            "name": "material",
            "font": False,
            "features": ["content.code.copy", "search.highlight", "search.suggest", "toc.follow"],
            "palette": [
                {
                    "media": media,
                    "scheme": scheme,
                    "toggle": {"icon": "material/brightness-6", "name": f"Use {other} colours"},
                }
                for media, scheme, other in schemes
            ],
        },
        "markdown_extensions": [
            "tables",
            {"toc": {"permalink": True}},
            "pymdownx.highlight",
            "pymdownx.superfences",
        ],
        "extra": {"generator": False},
    }


def main(arguments: Sequence[str]) -> int:
    """Make the site and print its first page."""
    parser = make_parser("make handouts", __doc__, root=True)
    parser.add_argument("--output", type=Path, help="the folder (default: build/handouts)")
    options = parser.parse_args(arguments)
    output = options.output or options.root / "build/handouts"
    make_site(options.root, output)
    say(f"Handouts: {output / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
