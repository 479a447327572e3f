"""Documents of JSON as anybody may have written them, for every reader in Python.

`python -m tests.fuzz.readers COUNT SEED` tries COUNT of them and prints what broke a promise, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.journal.console import UserError, read_stages
from grader.journal.documents import read_document
from grader.journal.inspection import Inspection
from grader.journal.records import find_lab, read_records
from grader.journal.report import read_report
from grader.journal.sweep import Sweep

ROOT = Path(__file__).resolve().parents[2]
ODD_VALUES = (
    None, True, 0, -1, 0.5, 1e308, 10**400, float("nan"), float("inf"), "", "nan", "-inf", "passed", "\ud800", "\x00",
    "\x1b[2J", "2026-11-21T09:30:00+99:00", "9999-12-31T23:59:59-23:00", [], {}, [[]], {"schema": 1}, [None],
    "x" * 5000,
)  # fmt: skip
ODD_TEXTS = (b"\xff", b"\x00", b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\u", b"1e999", b"9" * 5000, b"[" * 100_000)


def read_manifest(file: Path) -> None:
    """As if it were a lab's."""
    folder = file.with_name("labs") / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lab.json").write_bytes(file.read_bytes())
    read_stages(file.parent, "lab")


def read_lines(file: Path) -> None:
    """A journal's records: a line that cannot be read is skipped and named, and the others are there."""
    records = read_records(file, "lab")
    assert all(file.name in words for words in records.skipped)
    for record in records.entries:
        _ = (record.when, record.found, record.measurements)
    find_lab(file)


def documents(name: str) -> list[Any]:
    """Real ones."""
    if name == "records":
        lines = (ROOT / "handouts/example-journal/records.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) | {"lab": "lab"} for line in lines]
    if name == "manifest":
        return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(ROOT.glob("labs/*/lab.json"))]
    return [record[name] for record in documents("records") if name in record]


READERS: dict[str, Callable[[Path], Any]] = {
    "report": read_report,
    "records": read_lines,
    "manifest": read_manifest,
    "sweep": lambda file: read_document(Sweep, file, "a sweep"),
    "inspection": lambda file: read_document(Inspection, file, "an inspection"),
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with every key or index of it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found = []
    for key in keys:
        found += [(value, key), *places(value[key])]
    return found


def change_value(document: Any, chance: random.Random) -> Any:
    """The document with one value replaced, removed, doubled or put elsewhere."""
    inside = places(document)
    if not inside or chance.random() < 0.02:
        return chance.choice(ODD_VALUES)
    container, key = chance.choice(inside)
    match chance.randrange(4):
        case 0:
            del container[key]
        case 1 if isinstance(container, list):
            container.append(container[key])
        case 2:
            other, its_key = chance.choice(inside)
            container[key] = json.loads(json.dumps(other[its_key]))
        case _:
            container[key] = chance.choice(ODD_VALUES)
    return document


def change_bytes(text: bytes, chance: random.Random) -> bytes:
    """The text with a piece cut out, put in or overwritten."""
    at = chance.randrange(len(text) + 1)
    end = min(len(text), at + chance.randrange(40))
    return text[:at] + chance.choice((b"", text[at:end] * 2, *ODD_TEXTS)) + text[end:]


def mutate(document: Any, chance: random.Random) -> bytes:
    """Bytes of a changed document."""
    document = json.loads(json.dumps(document))
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        document = change_value(document, chance)
    text = json.dumps(document).encode("utf-8", "surrogatepass")
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        text = change_bytes(text, chance)
    return text


def broken_promise(name: str, text: bytes, folder: Path) -> str:
    """What a reader must not do with it, or "". It may only refuse, in words that name the file."""
    file = folder / f"{name}.json"
    file.write_bytes(text)
    try:
        READERS[name](file)
    except UserError as error:
        return "" if ".json" in str(error) and len(str(error)) < 2000 else f"{name}: says {str(error)[:300]}"
    except Exception as error:
        return f"{name}: {type(error).__name__}: {str(error)[:300]}"
    return ""


def fuzz(count: int, seed: int) -> list[dict[str, str]]:
    """What broke a promise, each with the start of its text."""
    chance = random.Random(seed)
    real = {name: documents(name) for name in READERS}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for index in range(count):
            name = list(READERS)[index % len(READERS)]
            text = mutate(chance.choice(real[name]), chance)
            if broken := broken_promise(name, text, Path(folder)):
                found.append({"broken": broken, "text": text[:2000].decode("utf-8", "replace")})
    return found


if __name__ == "__main__":
    print(json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]))))
