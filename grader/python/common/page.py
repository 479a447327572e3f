"""Building blocks of all HTML pages."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from grader.python.common.markup import Html, join, tag
from grader.python.common.units import NONE

MAX_TEXT = 20_000  # characters of a compiler's log or a program's output on the page
MARKS = {"passed": "\N{CHECK MARK}", "failed": "\N{MULTIPLICATION X}", "error": "!", "skipped": NONE}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def make_document(
    title: str, content: Html, style: str = "", images: bool = False, script: str = "", refresh_s: int | None = None
) -> str:
    """Make a page that fetches nothing and runs no script except `script`. If `images`, it may contain embedded images.
    `style` follows the style sheet of all pages. The browser loads the page again after `refresh_s` seconds."""
    policy = f"{POLICY}; img-src data:" if images else POLICY
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
        content = join(content, tag("script", Html(script)))
    own_style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", http_equiv="refresh", content=refresh_s) if refresh_s else None,
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html("\n".join(filter(None, [own_style, style])))),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', content), lang='en')}\n"


def make_text(title: str, text: str, is_open: bool = False) -> Html | None:
    """Show untrusted text in a section that can be folded; None if the text is blank. The middle of a long text is
    omitted."""
    if not text.strip():
        return None
    if len(text) > MAX_TEXT:
        half = MAX_TEXT // 2
        text = f"{text[:half]}\n\n[{len(text) - 2 * half} characters omitted]\n\n{text[-half:]}"
    return tag("details", tag("summary", title), tag("pre", text, tabindex=0), open="" if is_open else None)


def badge(verdict: str) -> Html:
    """Show a verdict as a sign and a word, so that it does not depend on colour."""
    name = verdict if verdict in MARKS else "error"
    return tag("span", tag("span", MARKS[name], aria_hidden="true"), " ", verdict, class_=f"badge {name}")
