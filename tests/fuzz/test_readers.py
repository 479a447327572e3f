"""What Python reads from others, fuzzed: see readers.py; `make soak` tries 200 times as many."""

from __future__ import annotations

from tests.fuzz import readers


def test_readers_refuse_in_their_own_words_or_read():
    assert readers.fuzz(500, seed=1) == []


def test_what_is_not_changed_is_read(tmp_path):
    for name, read in readers.READERS.items():
        for document in readers.documents(name):
            file = tmp_path / f"{name}.json"
            file.write_text(readers.json.dumps(document))
            read(file)


def test_a_broken_promise_is_seen(monkeypatch):
    monkeypatch.setitem(readers.READERS, "report", lambda file: readers.json.loads(file.read_bytes())["stages"])
    assert any("KeyError" in one["broken"] for one in readers.fuzz(200, seed=1))


def test_a_journal_that_is_nested_too_deeply_is_refused(tmp_path):
    assert readers.broken_promise("records", b"[" * 100_000, tmp_path) == ""
