"""Shared drawing functions of this folder's scripts: SVG that can be read on light and dark pages.

A script defines functions that make a Drawing, and ends with `run({"name": function, …})`. It writes each picture to
name.svg in its own folder; with --check, it writes nothing and lists the stale pictures. For readers who cannot see a
picture, its description consists of the function's docstring, or of a text that the function sets, and of the words in
the picture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

# Classes: A to D colours of parts, N neutral, W empty, X missing, H highlighted; l line, l1 to l3 broken lines, r
# boundary, q quiet text, k a letter in a mark.
STYLE = """<style>
  .bg{fill:#ffffff;stroke:#d0d7de}
  text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
  .m{text-anchor:middle} .e{text-anchor:end} .s{font-size:11px} .q{fill:#59636e} .b{font-weight:600}
  .c{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:12px}
  .A{fill:#b6daff;stroke:#0969da} .B{fill:#ffd8a8;stroke:#bc4c00} .C{fill:#b7ebc0;stroke:#1a7f37}
  .D{fill:#e2cbff;stroke:#8250df} .N{fill:#eff2f5;stroke:#afb8c1} .W{fill:#ffffff;stroke:#afb8c1}
  .X{fill:#ffebe9;stroke:#cf222e;stroke-dasharray:3 2} .H{fill:none;stroke:#cf222e;stroke-width:2.2}
  .l,.l1,.l2,.l3{stroke:#59636e;fill:none;stroke-width:1.4} .l1{stroke-dasharray:7 3} .l2{stroke-dasharray:2 3}
  .l3{stroke-dasharray:9 3 2 3} .k{font-size:9px;font-weight:600}
  .r{stroke:#cf222e;fill:none;stroke-width:1.6;stroke-dasharray:6 4} .t{fill:#59636e} .red{fill:#cf222e}
  @media (prefers-color-scheme:dark){
  .bg{fill:#0d1117;stroke:#3d444d} text{fill:#f0f6fc} .q{fill:#9198a1}
  .A{fill:#0c3a73;stroke:#4493f8} .B{fill:#5f2b06;stroke:#f0883e} .C{fill:#10471f;stroke:#3fb950}
  .D{fill:#3f2370;stroke:#ab7df8} .N{fill:#212830;stroke:#656c76} .W{fill:#0d1117;stroke:#656c76}
  .X{fill:#3c1618;stroke:#f85149} .H{stroke:#f85149}
  .l,.l1,.l2,.l3{stroke:#9198a1} .t{fill:#9198a1} .r{stroke:#f85149} .red{fill:#f85149} }
</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path class="t" d="M0 0 8 4 0 8z"/></marker></defs>"""


def number(value: float) -> str:
    """Format a number without needless digits: 3 or 3.5."""
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    """Shapes in pixels from the upper left corner; `kind` names classes of STYLE."""

    def __init__(self, width: int, height: int, title: str):
        self.width, self.height, self.title = width, height, title
        self.description = ""  # of the picture, without its words
        self.parts: list[str] = []
        self.words: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, kind: str, radius: float = 0) -> None:
        corner = f' rx="{number(radius)}"' if radius else ""
        size = f'width="{number(width)}" height="{number(height)}"'
        self.parts.append(f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" {size}{corner}/>')

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        class_ = f' class="{kind}"' if kind else ""
        if len(words) > 3 and words not in self.words:
            self.words.append(words)
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}"{class_}>{escape(words)}</text>')

    def lines(self, x: float, y: float, lines: list[str], kind: str = "") -> None:
        """Write lines of text one below the other, the first at y."""
        for row, words in enumerate(lines):
            self.text(x, y + 18 * row, words, kind)

    def line(self, *points: float, arrow: bool = False, kind: str = "l") -> None:
        """Draw a line through the points x, y, x, y, …"""
        end = ' marker-end="url(#a)"' if arrow else ""
        self.parts.append(f'<path class="{kind}" d="M{" ".join(number(value) for value in points)}"{end}/>')

    def cells(
        self,
        x: float,
        y: float,
        shape: tuple[int, int],
        size: float,
        kind: Callable[[int, int], str],
        words: Callable[[int, int], str] = lambda row, column: "",
    ) -> None:
        """Draw rows and columns of squares. If kind(row, column) is "", omit that square."""
        for row in range(shape[0]):
            for column in range(shape[1]):
                if not kind(row, column):
                    continue
                self.rect(x + column * size, y + row * size, size, size, kind(row, column))
                if label := words(row, column):
                    self.text(x + (column + 0.5) * size, y + (row + 0.5) * size + 4, label, "m s")

    def svg(self) -> str:
        frame = f'<rect class="bg" x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="8"/>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
        head += f' width="{self.width}" height="{self.height}" role="img">'
        words = f" Its words: {'; '.join(self.words)}" if self.words else ""
        about = [f"<title>{escape(self.title)}</title>", f"<desc>{escape(self.description + words)}</desc>"]
        return "\n".join([head, *about, STYLE, frame, *self.parts, "</svg>", ""])


def run(pictures: dict[str, Callable[[], Drawing]]) -> None:
    """Write the pictures, or check them; exit with status 1 if one is stale."""
    stale = []
    for name, draw in pictures.items():
        file = Path(__file__).with_name(f"{name}.svg")
        picture = draw()
        picture.description = picture.description or " ".join((getattr(draw, "func", draw).__doc__ or "").split())
        text = picture.svg()
        if file.is_file() and file.read_text() == text:
            continue
        if "--check" in sys.argv:
            stale.append(file.name)
        else:
            file.write_text(text)
            print(f"{file.name}: written")
    for path in stale:
        print(f"{path}: stale; run the script in this folder that draws it")
    sys.exit(1 if stale else 0)
