"""Helpers for the tests of HTML pages."""

from __future__ import annotations

import html.parser
from typing import Any

VOID = {"meta", "br", "img", "wbr"}
HOSTILE = (
    '</pre></style><script>alert(1)</script><img src=//evil.test/x onerror="alert(2)">'
    "' onload='x' &lt; \x00\x1b[31mred\x1b[0m \u202etxt.exe \ud800 <!-- ]]>"
)


class Reader(html.parser.HTMLParser):
    """A parser that collects elements, attributes and text, and checks that elements are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def make_hostile(value: Any) -> Any:
    """Return the value with hostile text in place of every text, except under the keys that allow only fixed words."""
    if isinstance(value, dict):
        fixed = ("verdict", "answer", "ended_by", "backend", "verb")
        return {key: item if key in fixed else make_hostile(item) for key, item in value.items()}
    if isinstance(value, list):
        return [make_hostile(item) for item in value]
    return HOSTILE if isinstance(value, str) else value
