"""Run the Python fuzz targets on the kept inputs and on mutations of them; `make soak` tries many more, with
atheris."""

from __future__ import annotations

import json
import random

import pytest

from tests.fuzz import documents, invariants, json_mutator, python_targets
from tests.fuzz.python_targets import CORPUS, OF_JSON, TARGETS, run

MUTATIONS = 50  # of each target's inputs


def kept_inputs(name: str) -> list[bytes]:
    """Return the target's corpus."""
    return [file.read_bytes() for file in sorted((CORPUS / name).iterdir())]


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the input with a piece removed, duplicated or overwritten."""
    begin = chance.randrange(len(data) + 1)
    end = min(len(data), begin + chance.randrange(40))
    piece = chance.choice(
        (b"", data[begin:end] * 2, b"\xff", b"\x00", b"\n", b"\x1b[2J", b"_11_", b'"', b"=1+1", b"9" * 400)
    )
    return data[:begin] + piece + data[end:]


def change(name: str, data: bytes, chance: random.Random) -> bytes:
    """Return a mutation of a kept input."""
    if name in OF_JSON and chance.random() < 0.7:
        try:
            return json_mutator.mutate_line(data, chance)
        except (ValueError, RecursionError):
            pass
    return change_bytes(data, chance)


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs_break_no_invariant(name: str) -> None:
    for data in kept_inputs(name):
        run(name, data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_kept_inputs_break_no_invariant(name: str) -> None:
    chance, inputs = random.Random(1), kept_inputs(name)
    for _ in range(MUTATIONS // 10 if name == "decisions" else MUTATIONS):
        run(name, change(name, chance.choice(inputs), chance))


def test_each_target_has_its_folder() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)


def test_documents_of_the_kit_are_read_and_shown(tmp_path) -> None:
    for name, read in documents.READERS.items():
        for number, document in enumerate(documents.real_documents(name)):
            file = tmp_path / f"{name}{number}.json"
            file.write_text(json.dumps(document))
            read(file)


def test_a_broken_invariant_is_detected(monkeypatch) -> None:
    monkeypatch.setitem(
        python_targets.TARGETS, "roster", lambda data, folder: invariants.require(len(data) < 9, "short")
    )
    with pytest.raises(invariants.BrokenInvariantError, match="short"):
        run("roster", b"a roster")
        run("roster", b"a longer roster")


@pytest.mark.parametrize(
    "page", ["<p><b>x</b></p>", '<p onclick="x">', "<p title=x>", '<a href="javascript:x">', "\u202e", "<!--", "<p"]
)
def test_pages_that_break_an_invariant_are_detected(page: str) -> None:
    invariants.require_html('<p class="a">&lt;b&gt;</p><style>a>b{}</style>', "a page")
    with pytest.raises(invariants.BrokenInvariantError):
        invariants.require_html(page, "a page")


@pytest.mark.parametrize("cell", ["=1+1", " =1", "\uff1d1", "@x", "-x", "+1+1", "\x1b"])
def test_cells_that_break_an_invariant_are_detected(cell: str) -> None:
    invariants.require_csv("a,-1.5,'=1,-\n", "a table")
    with pytest.raises(invariants.BrokenInvariantError):
        invariants.require_csv(f"{cell}\n", "a table")


def test_invalid_json_is_detected() -> None:
    for text in ("{", '{"a": NaN}', '"\\u202e"'):
        with pytest.raises(invariants.BrokenInvariantError):
            invariants.require_json(text, "a document")
