"""Make slides of the handouts for the instructor: a page of HTML for each lab, which needs no network.

python3 -m grader.python.docs.slides [--labs L …] [--output FOLDER]    (make slides)

Each stage has a slide with its idea and pictures, one with the terms of its theory, and one with the measurements to
make and the questions for the journal. The last slide has the times of one dataset. A click opens a slide's notes,
which contain the stage's theory. Space and Page Down show the next slide; printing puts one slide on each page. Run
this program in the project's virtual environment, which has Python-Markdown.
"""

from __future__ import annotations

import base64
import html
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import markdown

from grader.python.common.console import UserError, make_parser, read_text, run_command, say, write_atomically
from grader.python.common.labs import choose_labs, read_manifest

PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)]+\.(?:svg|png))\)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)]*\)")
TERM = re.compile(r"^- \*\*(.+?)\*\*\s*(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
MAX_CHARACTERS = 900  # per slide in the large font
STYLE = """
html { scroll-snap-type: y mandatory; font: 3.2vmin/1.4 sans-serif; color: #1a1a1a; background: #fff; }
body { margin: 0; }
section { box-sizing: border-box; min-height: 100vh; padding: 5vh 7vw; scroll-snap-align: start; position: relative; }
section.long { font-size: 2.5vmin; }
h1 { font-size: 7vmin; margin: 25vh 0 0; }
h2 { font-size: 4.6vmin; margin: 0 0 3vh; border-bottom: 0.4vmin solid #3b7dd8; }
img { display: block; max-width: 84vw; height: 58vh; margin: 2vh auto; }
img.half { display: inline-block; max-width: 41vw; margin: 2vh 0.5vw; }
code { font-size: 92%; background: #eef1f5; padding: 0 0.3em; }
pre code { display: block; padding: 0.5em; overflow-x: auto; }
table { border-collapse: collapse; font-size: 2.6vmin; } td, th { padding: 0.3em 0.8em; border-bottom: 1px solid #bbb; }
details { font-size: 2.4vmin; color: #444; margin-top: 2vh; }
footer { position: absolute; bottom: 2vh; right: 7vw; font-size: 2vmin; color: #666; }
@media print { @page { size: 13.33in 7.5in; margin: 0; } section { height: 7.5in; break-after: page; overflow: hidden; }
  details { display: none; } html { font-size: 17pt; } section.long { font-size: 13pt; } }
"""


def split_sections(handout: str) -> dict[str, str]:
    """Return the text of each second-level section by its heading."""
    parts = re.split(r"^## (.+)$", handout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def find_part(section: str, title: str) -> str:
    """Return the text after a bold title such as "Measure:", up to the next bold title or heading."""
    match = re.search(rf"^\*\*{title}:?\*\*:?(.*?)(?=^\*\*|^##|\Z)", section, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def find_terms(section: str) -> list[str]:
    """Return the list items of the theory that begin with a bold term."""
    return [f"- **{name}** {text}" for name, text in TERM.findall(section.partition("**To do")[0])]


def embed(picture: Path) -> str:
    """Return a picture as a data URI. Raises UserError if it cannot be read."""
    kind = "svg+xml" if picture.suffix == ".svg" else "png"
    try:
        return f"data:image/{kind};base64,{base64.b64encode(picture.read_bytes()).decode()}"
    except OSError as error:
        raise UserError(f"The picture {picture} cannot be read ({error.strerror}).") from None


def show_pictures(handouts: Path, section: str) -> str:
    pictures = PICTURE.findall(section)
    half = ' class="half"' if len(pictures) > 1 else ""
    return "".join(
        f'<img{half} src="{embed(handouts / file)}" alt="{html.escape(words)}">' for words, file in pictures[:2]
    )


def render(text: str) -> str:
    """Return Markdown as HTML; a link becomes plain text, because slides have no other pages."""
    return markdown.markdown(LINK.sub(r"\1", text), extensions=["tables", "fenced_code", "sane_lists"])


def make_slides(root: Path, lab: str) -> Iterator[str]:
    """Yield the slides' HTML, in the order of the stages."""
    manifest: dict[str, Any] = read_manifest(root, lab)
    handouts = root / "handouts"
    sections = split_sections(read_text(handouts / f"{lab}.md"))
    yield f"<h1>{html.escape(manifest['title'])}</h1>{render(manifest['about'])}"
    if limit := sections.get("Performance limit", ""):
        yield f"<h2>Performance limit</h2>{render(limit)}"
    for stage in manifest["stages"]:
        heading = f"<h2>{stage['id'][:2]} {html.escape(stage['title'])}</h2>"
        section = sections.get(stage["id"], "")
        theory = render(PICTURE.sub("", section.partition("**To do")[0]).strip())
        pictures = show_pictures(handouts, section)
        notes = f"<details><summary>Notes</summary>{theory}</details>"
        yield heading + render(stage["idea"]) + (pictures + notes if pictures else theory)
        if pictures and (terms := find_terms(section)):
            yield heading + render("\n".join(terms))
        measure, questions = find_part(section, "Measure"), find_part(section, "Questions for your journal")
        if measure or questions:
            title = "Measure: " if measure else ""
            yield heading + render(f"{title}{measure}\n\n{questions}")
    _, measured, results = read_text(handouts / f"{lab}.md").partition(f"<!-- table: results {lab} -->\n")
    if measured and "|" in results.partition("<!-- end -->")[0]:
        yield f"<h2>Results</h2>{render(find_times(results))}"


def find_times(results: str) -> str:
    """Return the sentence and the first table of a block of results, with the rows of the first dataset only."""
    about, _, rest = results.partition("\n\n")
    head, line, *rows = rest.partition("\n\n")[0].splitlines()
    dataset = rows[0].split("|")[2]
    return "\n".join([about, "", head, line, *(row for row in rows if row.split("|")[2] == dataset)])


def count_characters(slide: str) -> int:
    """Return the number of characters that are visible at first: without tags, pictures and notes."""
    return len(re.sub(r"<details>.*?</details>|<[^>]*>", "", slide, flags=re.DOTALL))


def make_page(root: Path, lab: str) -> str:
    """Return the page of a lab's slides. Raises UserError if the lab has no handout."""
    if not (root / "handouts" / f"{lab}.md").is_file():
        raise UserError(f"handouts/{lab}.md is missing, so there are no slides for {lab}.")
    slides = list(make_slides(root, lab))
    title = html.escape(read_manifest(root, lab)["title"])
    body = ""
    for number, slide in enumerate(slides, 1):
        size = ' class="long"' if count_characters(slide) > MAX_CHARACTERS else ""
        body += f"<section{size}>{slide}<footer>{title}, {number} of {len(slides)}</footer></section>\n"
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}</body></html>\n'


def main(arguments: Sequence[str]) -> int:
    parser = make_parser("python3 -m grader.python.docs.slides", __doc__)
    parser.add_argument("--labs", nargs="+", default=[], help="these labs only")
    parser.add_argument("--output", type=Path, default=Path("build/slides"), help="the folder of the pages")
    options = parser.parse_args(arguments)
    root = Path.cwd()
    for lab in choose_labs(root, options.labs):
        page = options.output / f"{lab}.html"
        write_atomically(page, make_page(root, lab))
        say(str(page))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
