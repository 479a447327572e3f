"""The authors of a submission. They are asked for once, on the terminal, and kept in work/authors.json."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.python.common.console import UserError, read_json, say, write_atomically

SCHEMA = 1
AUTHOR = re.compile(r"\s*([^<>]*?)\s*<\s*([^<>]*?)\s*>\s*")
HOW_TO_NAME_AUTHORS = 'Give the authors like this: AUTHORS="Ada Lovelace <al123>; Alan Turing <at456>"'
MAX_CHARACTERS = 100


@dataclass(frozen=True)
class Author:
    """A student with their id in the course."""

    name: str
    id: str

    def __str__(self) -> str:
        """Return the author as typed on the command line: Name <id>."""
        return f"{self.name} <{self.id}>"


def make_author(name: str, student_id: str) -> Author:
    """Validate a name and an id and return the author. Raises UserError with the reason if either is invalid."""
    name, student_id = " ".join(name.split()), student_id.strip()
    for what, text in (("name", name), ("id", student_id)):
        if not text:
            raise UserError(f"An author's {what} is empty. {HOW_TO_NAME_AUTHORS}")
        if not text.isprintable():
            raise UserError(f"The {what} {text!r} has unprintable characters.")
        if len(text) > MAX_CHARACTERS:
            raise UserError(f"The {what} {text[:30]!r}… is longer than {MAX_CHARACTERS} characters.")
    if re.search(r"[<>;]", name + student_id):
        raise UserError(f"'<', '>' and ';' cannot be in a name or an id: {name} {student_id}")
    if re.search(r"\s", student_id):
        raise UserError(f"The id {student_id!r} has a space in it.")
    return Author(name, student_id)


def parse_authors(texts: Sequence[str]) -> list[Author]:
    """Parse texts such as 'Ada Lovelace <al123>; Alan Turing <at456>'. Raises UserError if one does not parse."""
    authors = []
    for text in (part for whole in texts for part in whole.split(";") if part.strip()):
        match = AUTHOR.fullmatch(text)
        if not match:
            raise UserError(f"{text.strip()!r} is not of the form  Name <id>.  {HOW_TO_NAME_AUTHORS}")
        authors.append(make_author(match[1], match[2]))
    return require_authors(authors)


def require_authors(authors: list[Author]) -> list[Author]:
    """Return the authors unchanged. Raises UserError if there are none or if two have the same id."""
    ids = [author.id for author in authors]
    if not authors:
        raise UserError(f"No author was given. {HOW_TO_NAME_AUTHORS}")
    for author_id in ids:
        if ids.count(author_id) > 1:
            raise UserError(f"The id {author_id} is given twice.")
    return authors


def read_authors(file: Path) -> list[Author]:
    """Read the authors from a file. Raises UserError with the file's name if it is invalid."""
    content = read_json(file)
    try:
        return require_authors([make_author(str(entry["name"]), str(entry["id"])) for entry in content["authors"]])
    except (KeyError, TypeError, UserError) as error:
        reason = str(error) if isinstance(error, UserError) else "It does not contain a list of authors."
        raise UserError(f"{file}: {reason} Delete the file to be asked again.") from None


def keep_authors(file: Path, authors: Sequence[Author]) -> None:
    """Write the authors to a file for the next submission. Raises UserError if it cannot be written."""
    content = {"schema": SCHEMA, "authors": [asdict(author) for author in authors]}
    write_atomically(file, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def ask_authors() -> list[Author]:
    """Ask on the terminal until there is at least one author. Raises UserError if stdin is not a terminal."""
    if not sys.stdin or not sys.stdin.isatty():
        raise UserError(f"Who hands in? {HOW_TO_NAME_AUTHORS}")
    say("Who hands in? Your answer is kept for the next time.")
    authors: list[Author] = []
    while True:
        name = ask("Your name: " if not authors else "Another author's name (Enter: no more): ")
        if not name and authors:
            return authors
        try:
            authors = require_authors([*authors, make_author(name, ask("Id (matriculation number or login): "))])
        except UserError as error:
            say(error)


def ask(question: str) -> str:
    """Read one line from the terminal. Raises UserError if it is closed or sends invalid UTF-8."""
    try:
        answer = input(question).strip()
        answer.encode("utf-8")
    except EOFError:
        raise UserError(f"\nNo answer. {HOW_TO_NAME_AUTHORS}") from None
    except UnicodeError:
        raise UserError(f"The terminal sent characters that are not UTF-8. {HOW_TO_NAME_AUTHORS}") from None
    return answer


def find_authors(given: Sequence[str], file: Path) -> list[Author]:
    """Return the given authors, or else the kept ones, or else ask for them. Newly given authors are kept.

    Raises UserError if the authors are invalid or cannot be asked for.
    """
    if any(text.strip() for text in given):
        authors = parse_authors(given)
    elif file.exists():
        authors = read_authors(file)
        say(f"Authors: {'; '.join(map(str, authors))} (from {file}; delete it to change them)")
        return authors
    else:
        authors = ask_authors()
    keep_authors(file, authors)
    return authors
