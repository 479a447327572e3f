"""Tests of notes.py and prose.py: the student's text is kept, split at its headings and shown as written."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.python.common.console import UserError
from grader.python.journal.journal import RENDERING_S, render
from grader.python.journal.notes import OPTIONAL, PROMPTS, create_note, name_note, parse_note, read_notes
from grader.python.journal.prose import make_prose
from tests.python.journal.journals import LAB, STAGES, report, write_course
from tests.python.support import ROOT, run_module

MODULE = "grader.python.journal.notes"
NOW = datetime(2026, 11, 21, 4, 5, 6, tzinfo=UTC)


def note(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_module(MODULE, LAB, *arguments, "--root", root, "--work", root / "work", **variables)


def test_a_new_note_has_the_prompts_and_says_when_it_was_begun(tmp_path: Path) -> None:
    file = create_note(tmp_path, "02_tree", "Tree", False, NOW)
    text = file.read_text()
    assert text.startswith("<!-- begun 2026-11-21T04:05:06Z: ")
    parsed = parse_note(file.name, "02_tree", 1, text)
    assert parsed.begun == NOW
    assert [title for title, _ in parsed.sections] == list(PROMPTS)
    assert parsed.written == []  # the hints are comments
    assert parsed.missing == [prompt for prompt in PROMPTS if prompt not in OPTIONAL]


def test_a_full_disk_leaves_no_partial_note(tmp_path: Path) -> None:
    """A partial note would never get the time at which it was begun, because existing notes are not overwritten."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(UserError, match=r"Cannot write .*02_tree\.md: File too large"):
            create_note(tmp_path, "02_tree", "Tree", False, NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_a_note_is_never_overwritten(tmp_path: Path) -> None:
    write_course(tmp_path, [])
    first = note(tmp_path, "02")
    file = tmp_path / "work" / LAB / "journal" / "02_tree.md"
    assert first.stdout.startswith(f"Your note: {file}\n")
    file.write_text("mine")
    assert note(tmp_path, "02_tree").stdout == first.stdout
    assert file.read_text() == "mine"
    second = note(tmp_path, "02", "--new")  # the first note contains text
    assert f"Your note: {file.with_name('02_tree-2.md')}" in second.stdout
    assert note(tmp_path, "02").stdout == second.stdout  # the current note
    assert file.read_text() == "mine"


def test_no_second_note_is_begun_while_the_last_one_is_unused(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [report(1, "02_tree", "old"), report(1, "01_serial", "other")])
    old = "<!-- begun 2026-11-02T00:00:00Z -->\n## Goal\n"
    (folder / "02_tree.md").write_text(old)
    assert "02_tree-2.md" in note(tmp_path, "02", "--new").stdout  # the records belong to the first note
    result = note(tmp_path, "02", "--new")
    second = folder / "02_tree-2.md"
    assert f"No further note: {second} is still empty" in result.stdout
    assert f"Your note: {second}" in result.stdout
    assert "2 optimisations, none" in render(tmp_path, LAB, folder).result  # the two passed stages
    later = (folder / "records.jsonl").read_text() + json.dumps(report(60 * 24 * 20, "02_tree", "new")) + "\n"
    second.write_text(old)
    (folder / "records.jsonl").write_text(later)
    assert "02_tree-3.md" in note(tmp_path, "02", "--new").stdout
    note(tmp_path, "03", "--new")
    assert "No further note" in note(tmp_path, "03", "--new").stdout


def test_an_empty_optimisation_is_neither_counted_nor_shown(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [report(1, "01_serial", "a")], **{"02_tree": "<!-- begun 2026-11-02 -->\n# Goal\n"})
    rendered = render(tmp_path, LAB, folder)
    assert rendered.result == "1 optimisation, none measured yet"
    assert "02_tree" not in rendered.page + rendered.markdown


@pytest.mark.parametrize("stage", ["2", "02", "002", "tree", "02_tree"])
def test_a_stage_can_be_named_as_for_the_judge(tmp_path: Path, stage: str) -> None:
    write_course(tmp_path, [])
    assert "02_tree.md" in note(tmp_path, stage).stdout


@pytest.mark.parametrize("stage", ["", "0", "9", "02_", "2_tree", "02_tre\u00e9", "../x"])
def test_an_unknown_or_ambiguous_stage_is_refused(tmp_path: Path, stage: str) -> None:
    write_course(tmp_path, [])
    result = note(tmp_path, stage)
    assert result.returncode == 2
    assert "with one of: 01_serial, 02_tree, 03_shuffle" in result.stderr
    assert list((tmp_path / "work" / LAB / "journal").iterdir()) == []


def run_on_terminal(root: Path, editor: str) -> str:
    """Return the command's output on a terminal with an editor."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VISUAL": "", "EDITOR": editor}
    command = [sys.executable, "-m", MODULE, LAB, "02", "--root", root, "--work", root / "work"]
    result = subprocess.run(list(map(str, command)), stdin=terminal, capture_output=True, text=True, env=environment)
    os.close(terminal)
    os.close(controller)
    return result.stdout + result.stderr


def test_the_editor_opens_only_on_a_terminal(tmp_path: Path) -> None:
    write_course(tmp_path, [])
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "edited $1 $2"\n')
    editor.chmod(0o755)
    output = run_on_terminal(tmp_path, f"'{editor}' -w")
    assert f"edited -w {tmp_path}/work/{LAB}/journal/02_tree.md" in output
    assert "edited" not in note(tmp_path, "02", EDITOR=str(editor)).stdout
    output = run_on_terminal(tmp_path, "no-such-editor")
    assert "The editor 'no-such-editor' cannot be started" in output
    assert "02_tree.md" in output


def test_a_partial_note_is_shown() -> None:
    parsed = parse_note(
        "02_tree.md", "02_tree", 1, "Before.\n## Goal\n```\n# not a heading\n# \n```\n### Mine\n\n## Hours\n"
    )
    assert parsed.begun is None
    assert parsed.sections == [("", "Before."), ("Goal", "```\n# not a heading\n# \n```"), ("Mine", ""), ("Hours", "")]
    assert parsed.missing == [prompt for prompt in PROMPTS if prompt not in {"Goal", *OPTIONAL}]
    assert parse_note("x.md", "x", 1, "").sections == []
    unclosed = parse_note("x.md", "x", 1, "## Goal\n```\nint a;\n## Hours")
    assert unclosed.sections == [("Goal", "```\nint a;\n## Hours")]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.05", 0.05),
        ("0,05 s", 0.05),
        ("50 ms.", 0.05),
        ("120 us", 120e-6),
        ("120 \N{MICRO SIGN}s", 120e-6),
        ("0 s", None),
        ("about 50 ms", None),
        ("50 minutes", None),
        ("", None),
    ],
)
def test_a_predicted_time_counts_only_if_the_text_is_just_a_time(text: str, seconds: float | None) -> None:
    parsed = parse_note("x.md", "x", 1, f"## Seconds I predict\n{text}\n## Hours\n3")
    assert parsed.predicted_s == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("3", 3),
        ("2.5 h", 2.5),
        ("2,5 hours", 2.5),
        ("about 3", None),
        ("", None),
        ("9" * 400, None),
        ("3 on Monday, 4 on Friday", None),
    ],
)
def test_hours_are_added_only_if_they_are_a_number(text: str, hours: float | None) -> None:
    assert parse_note("x.md", "x", 1, f"## Hours\n{text}\n").hours == hours


@pytest.mark.parametrize("begun", ["2026-11-21T04:05:06Z", "2026-11-21T05:05:06+01:00", "2026-11-21T04:05:06"])
def test_the_time_at_which_a_note_was_begun_can_be_edited(begun: str) -> None:
    assert parse_note("x.md", "x", 1, f"\ufeff<!-- begun {begun} -->\r\n## Goal\r\n").begun == NOW
    assert parse_note("x.md", "x", 1, f"<!--begun {begun}-->").begun == NOW
    assert parse_note("x.md", "x", 1, "<!-- begun yesterday -->").begun is None


def test_notes_are_read_only_for_stages_and_in_their_order(tmp_path: Path) -> None:
    for name in ("02_tree-10.md", "02_tree-2.md", "02_tree.md", "journal.md", "02_tree-x.md", "02_tree_old.md"):
        (tmp_path / name).write_bytes(b"\xff words")
    notes = read_notes(tmp_path, list(STAGES))
    assert [note.file for note in notes] == ["02_tree.md", "02_tree-2.md", "02_tree-10.md"]
    assert notes[0].sections == [("", "\ufffd words")]
    assert [name_note("02_tree", note.number) for note in notes] == [note.file for note in notes]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a\nb\n\nc", "<p>a\nb</p><p>c</p>"),
        ("- one\n- two\n  more", "<ul><li>one</li><li>two more</li></ul>"),
        ("1. one\n2) two", "<ol><li>one</li><li>two</li></ol>"),
        ("Because:\n* a\n* b", "<p>Because:</p><ul><li>a</li><li>b</li></ul>"),
        ("**much** *more* `a*b*c`", "<p><strong>much</strong> <em>more</em> <code>a*b*c</code></p>"),
        ("2 * 3 * 4 and a ** b", "<p>2 * 3 * 4 and a ** b</p>"),
        ("```cuda\nint a;\n\n<b>\n```\nafter", '<pre tabindex="0">int a;\n\n&lt;b&gt;</pre><p>after</p>'),
        ("```\nnever closed", '<pre tabindex="0">never closed</pre>'),
        ("[x](https://a.test) <img src=x>", "<p>[x](https://a.test) &lt;img src=x&gt;</p>"),
        ("<b>`<i>`<u>", "<p>&lt;b&gt;<code>&lt;i&gt;</code>&lt;u&gt;</p>"),
        (
            "Times:\n| n | s |\n|--:|:-:|\n| 1 | *2* |\nSo.",
            '<p>Times:</p><pre tabindex="0">| n | s |\n|--:|:-:|\n| 1 | *2* |</pre><p>So.</p>',
        ),
        ("n | s\n--|--\n<b> | 2", '<pre tabindex="0">n | s\n--|--\n&lt;b&gt; | 2</pre>'),
        ("a | b\nc | d", "<p>a | b\nc | d</p>"),
        ("a | b\n" + "-|" * 20_000 + "x", "<p>a | b\n" + "-|" * 20_000 + "x</p>"),
        ("", ""),
    ],
)
def test_a_note_is_rendered_as_safe_html(text: str, html: str) -> None:
    assert make_prose(text) == html


def test_comments_and_headings_are_found_in_linear_time() -> None:
    """Regular expressions would take hours for these texts."""
    for text in ("<!--" * 1_000_000, f"# a{' ' * 100_000}b", f"# a{' #' * 100_000}b"):
        parsed = parse_note("n.md", "n", 1, f"## Goal\n{text}")
        assert parsed.sections
    parsed = parse_note("n.md", "n", 1, "a <!-- b\n# c --> d\n## T ##\ny<!-->x-->#\n####### e\n#f\n# C# #\ng <!-- h")
    assert parsed.sections == [("", "a  d"), ("T", "y#\n####### e\n#f"), ("C#", "g <!-- h")]


LIMITED = """
import resource, runpy, sys
from grader.python.journal import journal, optimisations
from grader.python.common.console import UserError

def fail_at_limit(*_):
    print(f"limit: {resource.getrlimit(resource.RLIMIT_CPU)[0]}", file=sys.stderr)
    raise UserError("No journal.")

journal.read_journal = optimisations.read_journal = fail_at_limit
module, *sys.argv = sys.argv[1:]
runpy.run_module(module, run_name="__main__")
"""


@pytest.mark.parametrize("verb", ["journal", "submit"])
def test_commands_that_read_notes_limit_their_processor_time(tmp_path: Path, verb: str) -> None:
    write_course(tmp_path, [report(1, "02_tree", "old")])
    words = [f"grader.python.journal.{verb}", verb, LAB, "--root", tmp_path, "--work", tmp_path / "work"]
    result = subprocess.run([sys.executable, "-c", LIMITED, *words], cwd=ROOT, capture_output=True, text=True)
    assert 0 < int(result.stderr.partition("limit: ")[2].split()[0]) <= RENDERING_S + 30, result.stderr


def test_a_command_that_takes_too_long_says_so_and_ends() -> None:
    code = "from grader.python.common.console import run_command as run\n"
    code += "run_command = lambda _: [1 for _ in iter(int, 1)]\n"
    code += "raise SystemExit(run(run_command, [], max_s=1))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2 and result.stderr.startswith("Stopped after 1 s of processor time.")
