"""HTML built from values. Text is untrusted and is escaped when a tag receives it."""

from __future__ import annotations

import html
import re
import unicodedata

# No sequence extends beyond its line. Otherwise an unclosed sequence in quoted text would hide all text after it.
ANSI = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)?|[@-Z\\-_])")
NOT_PLAIN = re.compile(r"[^\n\t -~]")  # most characters are plain and need no check
EMPTY = {"meta", "br", "img", "wbr"}


class Html(str):
    """Markup that is already safe. All other values are escaped when they are put into a tag."""

    __slots__ = ()


Child = Html | str | int | None


def tag(name: str, /, *children: Child, **attributes: str | int | float | None) -> Html:
    """Make an element. Attribute names: class_ for class, data_label for data-label. None omits an attribute."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{clean(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    opening = f"<{name}{written}>"
    return Html(opening if name in EMPTY else f"{opening}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Concatenate elements and texts; None is skipped."""
    return Html(
        "".join(child if isinstance(child, Html) else clean(str(child)) for child in children if child is not None)
    )


def wrap_name(name: str) -> Html:
    """Return a name that a narrow column breaks only after underscores."""
    return Html(clean(name).replace("_", f"_{tag('wbr')}"))


def clean(text: str) -> str:
    """Return escaped text without terminal colours; control and direction characters become visible."""
    return html.escape(show_text(text), quote=True)


def show_text(text: str) -> str:
    """Return the text without terminal colours and without characters that move the cursor or change the direction."""
    return NOT_PLAIN.sub(lambda match: show_character(match[0]), ANSI.sub("", text).replace("\r\n", "\n"))


def show_character(character: str) -> str:
    """Return the character, or a visible substitute if it would change how the rest is read."""
    if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    return "\N{REPLACEMENT CHARACTER}"
