"""Compare people's names as the roster, a course system and a hand-in write them.

Two names are equal only if their words are equal after NFKC and case folding, in every script. Marks, such as vowel
signs, make a difference; spaces do not. For two names with the same number in a course system, `agree` also allows
other spellings of a letter and missing words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

ANONYMOUS_NAME = "participant"  # Moodle's name of each student in an anonymous assignment
ESCAPED = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5})")  # as show_name() escapes characters
LOST = re.compile("[\ufffd+?\u2500-\u257f\ud800-\udfff]")  # these stand for letters that an archive garbled
GARBLED_AS = ("cp437", "cp850", "latin-1", "cp1252")  # how programs misread UTF-8
INVISIBLE = ("Cf",)  # categories of invisible characters, such as joiners
SELECTORS = re.compile("[\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # invisible marks
LETTER_SPELLINGS = str.maketrans(
    dict(zip("ßæœøđðłıħ", ("ss", "ae", "oe", "o", "d", "d", "l", "i", "h"), strict=True)) | {"þ": "th"}
)
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
MAX_WORDS = 8  # if a name has more words, only the letters are compared


def compose(text: str) -> str:
    """Return a text in which each letter and its accent are one character."""
    return unicodedata.normalize("NFC", text)


def fold(name: str) -> str:
    """Return a name in lower case and one Unicode form. Letters stay distinct: ß is not ss."""
    text = unicodedata.normalize("NFKC", restore(name))
    folded = "".join(c.casefold() if len(c.casefold()) == 1 else c.lower() for c in text)
    return compose(SELECTORS.sub("", folded))


def restore(name: str) -> str:
    """Return a name with the characters that show_name() escaped."""
    return ESCAPED.sub(lambda escape: chr(int(escape[0][2:], 16)), name)


def words_of(name: str) -> list[str]:
    """Return the words of a name, first name first: Ada, Lovelace for "Lovelace, Ada". A word consists of letters,
    digits and marks of any script."""
    return list(split_words(name))


@lru_cache(100_000)  # each name is compared with many others
def split_words(name: str) -> tuple[str, ...]:
    last, _, first = fold(name).partition(",")
    visible = (c for c in f"{first} {last}" if unicodedata.category(c) not in INVISIBLE)
    words = "".join(c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in visible).split()
    return tuple(word for word in words if not all(map(is_mark, word)))


def spellings(name: str) -> list[str]:
    """Return the spellings of a student's name: its words in order, and Canvas's form without spaces in every
    rotation of the words, because a surname may have several."""
    words = words_of(name)
    rotations = ["".join(words[first:] + words[:first]) for first in range(len(words))]
    return [in_order(words), *rotations] if words else []


def in_order(words: Sequence[str]) -> str:
    """Return the lookup key of words in this order. The spaces between them make no difference, because Moodle omits an
    apostrophe or a slash, as in O'Brien. The key differs from that of a single word with the same letters."""
    return f" {''.join(words)}"


def lookup_keys(name: str) -> list[str]:
    """Return the lookup key of a name on a hand-in, as a list that is empty if the name has no word. A single word may
    be Canvas's form of a name."""
    words = words_of(name)
    return [words[0] if len(words) == 1 else in_order(words)] if words else []


def agree(roster_name: str, system_name: str) -> bool | None:
    """Return whether a course system's name can belong to the student with the same number on the roster. Return None
    if the names cannot be compared, because one has no letters or is garbled."""
    if not words_of(roster_name) or not words_of(system_name) or words_of(system_name) == [ANONYMOUS_NAME]:
        return None
    written = [form for name in (system_name, *repair(system_name)) for form in forms(name)]
    if any(
        fits(form, spelling)
        for form in [*forms(roster_name), *bare_forms(roster_name, system_name)]
        for spelling in written
    ):
        return True
    remaining_letters = letters_left(restore(system_name))
    if LOST.search(restore(system_name)) and remaining_letters in {
        letters_left(roster_name),
        letters_left(unicodedata.normalize("NFD", roster_name)),
    }:
        return True if remaining_letters else None
    return False


def repair(name: str) -> list[str]:
    """Return the possible originals of a name whose UTF-8 a program misread."""
    originals = []
    for codec in GARBLED_AS:
        try:
            originals.append(restore(name).encode(codec).decode())
        except UnicodeError:
            continue
    return originals


def letters_left(name: str) -> str:
    """Return the letters and digits of a name that no archive garbles, first name first."""
    last, _, first = name.partition(",")
    return re.sub("[^A-Za-z0-9]", "", f"{first}{last}").lower()


def forms(name: str) -> list[list[str]]:
    """Return the words of a name in each spelling that may occur: unchanged, without accents, and with ae for ä."""
    words = [word.replace("_", "") for word in words_of(name)]
    return [words, list(map(to_ascii, words)), [to_ascii(word.translate(UMLAUTS)) for word in words]]


def bare_forms(own: str, other: str) -> list[list[str]]:
    """Return the words of a name without marks if the other name has no marks, because Canvas removes marks; else
    nothing."""
    if any(map(is_mark, fold(other))):
        return []
    return [["".join(c for c in word if not is_mark(c)) for word in words_of(own)]]


def is_mark(character: str) -> bool:
    """Return whether a character modifies the previous one, as accents and vowel signs do."""
    return unicodedata.category(character).startswith("M")


def to_ascii(word: str) -> str:
    """Return a word without accents on Latin letters; other scripts' marks distinguish words."""
    plain = ""
    for c in unicodedata.normalize("NFD", word.translate(LETTER_SPELLINGS)):
        plain += "" if unicodedata.category(c) == "Mn" and plain[-1:].isascii() else c
    return compose(plain)


def fits(own: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether one name contains all words of the other. Either may be written without spaces."""
    if has_words(own, other) or has_words(other, own):
        return True
    if max(len(own), len(other)) > MAX_WORDS:
        return sorted("".join(own)) == sorted("".join(other))
    if consists_of("".join(own), tuple(other)) or consists_of("".join(other), tuple(own)):
        return True
    # Canvas's form, with an additional first name in it
    return len(other) == 1 < len(own) and is_around(other[0], tuple(own))


def has_words(words: Sequence[str], name_words: Sequence[str]) -> bool:
    """Return whether each of `words` is equal to a different word of a name, or is that word's initial. At least one
    must be equal."""
    remaining, has_whole_word = list(name_words), False
    for word in sorted(words, key=len, reverse=True):
        initials = [
            candidate for candidate in remaining if len(word) == 1 and word.isascii() and candidate.startswith(word)
        ]
        match = word if word in remaining else next(iter(initials), None)
        if match is None:
            return False
        has_whole_word |= match == word
        remaining.remove(match)
    return has_whole_word


@lru_cache(maxsize=10_000)
def consists_of(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text consists of some or all of the words, each at most once, in any order."""
    return not text or any(
        text.startswith(word) and consists_of(text.removeprefix(word), remove_word(words, word)) for word in words
    )


@lru_cache(maxsize=10_000)
def is_around(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text begins and ends with words that together are all of `words`, in any order."""
    if not words:
        return not is_mark(text[:1] or " ")
    return any(
        (text.startswith(word) and is_around(text.removeprefix(word), remove_word(words, word)))
        or (text.endswith(word) and is_around(text.removesuffix(word), remove_word(words, word)))
        for word in words
    )


def remove_word(words: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Return the words without the first occurrence of `word`."""
    at = words.index(word)
    return words[:at] + words[at + 1 :]
