"""HTML built from values, escaped by construction: text is hostile until it is wrapped in a tag."""

from __future__ import annotations

import html
import re
import unicodedata

# No sequence extends beyond its line; otherwise, an unclosed one in quoted text would hide all text after it.
ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)?|[@-Z\\-_])")
NOT_PLAIN = re.compile(r"[^\n\t -~]")  # most characters are plain and need no check
EMPTY = {"meta", "br", "img", "wbr"}


class Html(str):
    """Markup that is already safe. Everything else is escaped when it is put into a tag."""

    __slots__ = ()


Child = Html | str | int | None


def tag(name: str, /, *children: Child, **attributes: str | int | float | None) -> Html:
    """An element. Attribute names: class_ for class, data_label for data-label; None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{clean(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    opening = f"<{name}{written}>"
    return Html(opening if name in EMPTY else f"{opening}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Elements and texts one after the other; None is nothing."""
    return Html(
        "".join(child if isinstance(child, Html) else clean(str(child)) for child in children if child is not None)
    )


def wrap_name(name: str) -> Html:
    """A name that a narrow column breaks after underscores rather than anywhere."""
    return Html(clean(name).replace("_", f"_{tag('wbr')}"))


def clean(text: str) -> str:
    """Escaped text without terminal colours; control and direction-changing characters become visible."""
    return html.escape(show_text(text), quote=True)


def show_text(text: str) -> str:
    """The text without terminal colours and with nothing in it that could move a cursor or turn directions."""
    return NOT_PLAIN.sub(lambda found: show_character(found[0]), ANSI.sub("", text).replace("\r\n", "\n"))


def show_character(character: str) -> str:
    """The character, or something visible in place of one that would change how the rest is read."""
    if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    return "\N{REPLACEMENT CHARACTER}"
