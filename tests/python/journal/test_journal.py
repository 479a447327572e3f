"""The lab journal assigns records to optimisations, and compares only times that are comparable."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from grader.python.journal.journal import find_pictures, render
from grader.python.journal.optimisations import Journal, Row, compare, read_journal
from grader.python.journal.records import MAX_SKIPPED, read_records
from tests.python.journal import journals
from tests.python.journal.journals import (
    LAB,
    SOURCE,
    change_machine,
    complete_journal,
    inspection,
    report,
    source,
    sweep,
    write_course,
)
from tests.python.pages import HOSTILE, Reader, make_hostile
from tests.python.support import run_module

MODULE = "grader.python.journal.journal"


def read(root: Path) -> Journal:
    return read_journal(root, LAB, root / "work" / LAB / "journal")


def page_of(root: Path) -> str:
    return render(root, LAB, root / "work" / LAB / "journal").page


def text_of(root: Path) -> str:
    return re.sub(r"\s+", " ", Reader(page_of(root)).text)


def test_the_journal_contains_everything_that_a_course_asks_for(tmp_path: Path) -> None:
    comment = f"<!-- begun {journals.time(10)} -->"
    notes = {"02_tree": f"{comment}\n## Goal\nHalve the *steps*.\n## Hours\n2,5 h\n## Difficulties\n"}
    write_course(tmp_path, complete_journal(), **notes)
    text = text_of(tmp_path)
    for words in (
        "From 0.1315 s to 0.0614",  # the result
        "134,217,728 bytes",  # the bound: bytes, bandwidth, time of one and of all
        "a read once, out written once",
        "÷ 4536 GB/s",
        "= 29.59 µs",
        "= 0.02960 s",
        "9.810 s",  # the CPU
        "16 threads",
        "Halve the steps.",  # the student's note
        "Hours noted2.5",
        "Not written yet: What speedup do I expect, and why, Difficulties, What I learnt.",
        "Changes since 01_serial: 1 line added, 1 removed",
        "2.14× as fast as 01_serial",
        "faster by more than the noise",
        "48%",  # share of the bound
        "In seconds: ",
        "Bytes requested, over the minimum 15.4× 1.25×".replace(" 1", "1"),  # the counter that changed
        "Sweep: best is BLOCK=256, of 3 choices",
        "1 version tried and discarded",  # with its time
        "0.08830 s",
        "1 version did not pass: tail_lost.",
        "Also measured: NVIDIA T4 (batch-1), from report.json",  # separately
        "Also measured: CPU backend (laptop)",
        "7.500 s",
        "Started, but not passed yet03_shuffle failed (tail_lost)",
    ):
        assert words in text, words
    assert text.count("Sectors, over the minimum") == 1  # in the first optimisation; later it does not change
    assert Reader(page_of(tmp_path)).text.count("Lab journal") == 0


def test_markdown_has_the_same_figures(tmp_path: Path) -> None:
    write_course(tmp_path, complete_journal())
    markdown = render(tmp_path, LAB, tmp_path / "work" / LAB / "journal").markdown
    for words in (
        "# Dot product: lab journal",
        "| `02_tree` | 0.06140",
        "2.14× as fast as 01_serial",
        "```diff",
        "a[2] * 2",
    ):
        assert words in markdown.replace("\N{NO-BREAK SPACE}", " "), words


def test_names_break_after_underscores_in_narrow_columns(tmp_path: Path) -> None:
    write_course(tmp_path, complete_journal())
    page = page_of(tmp_path)
    assert page.count('<a href="#01_serial">01_<wbr>serial</a>') == page.count('<a href="#01_serial">') >= 3


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_course(tmp_path, complete_journal())
    assert render(tmp_path, LAB, folder) == render(tmp_path, LAB, folder)


def test_a_file_that_was_changed_since_it_was_judged_last_is_reported(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [report(1, "01_serial", "a", 0.1), report(2, "01_serial", "b", 0.2)])
    file = folder.parent / "01_serial.cu"
    for text, expected in (("b", False), ("a", True), ("c", True)):  # "a" was judged, but not last
        file.write_text(text)
        result = run_module(MODULE, LAB, "--root", tmp_path, "--work", tmp_path / "work")
        assert ("01_serial.cu was changed since it was judged last" in result.stderr) is expected, text
    assert "make check LAB=dot STAGE=01" in (folder / "journal.html").read_text()


def test_an_empty_journal_says_what_to_do_and_shows_no_figure(tmp_path: Path) -> None:
    write_course(tmp_path, [])
    text = text_of(tmp_path)
    assert "Nothing is recorded yet" in text
    assert "make check LAB=dot STAGE=01" in text
    assert "Not measured yet." in text
    assert not re.search(r"\d s\b|×", text)


def test_a_journal_with_only_checks_shows_no_figure(tmp_path: Path) -> None:
    write_course(tmp_path, [source(1, "01_serial", "x"), report(1, "01_serial", "x")])
    text = text_of(tmp_path)
    assert "1 optimisation, none measured yet" in text
    assert "Not measured yet. The last verdict: passed. Next: make bench LAB=dot STAGE=01" in text
    assert not re.search(r"\d s\b|×", text)


def test_counters_of_a_failed_version_are_not_shown_for_the_version_that_passed(tmp_path: Path) -> None:
    broken = [report(1, "01_serial", "broken", verdict="failed"), inspection(2, "01_serial", "broken")]
    passed = report(3, "01_serial", "right", 0.1)
    write_course(tmp_path / "other", [*broken, sweep(3, "01_serial", "broken"), passed])
    text = text_of(tmp_path / "other")
    assert "Sectors" not in text and "Sweep:" not in text
    write_course(tmp_path / "own", [*broken, passed, inspection(4, "01_serial", "right")])
    assert "Sectors" in text_of(tmp_path / "own")
    records = [inspection(1, "01_serial", "right"), report(2, "01_serial", "other", verdict="failed"), passed]
    write_course(tmp_path / "again", records)
    assert "Sectors" in text_of(tmp_path / "again")


def test_a_journal_without_a_gpu_has_no_empty_parts(tmp_path: Path) -> None:
    checked = change_machine(report(1, "01_serial", "x"), backend="cpu", gpu="")
    folder = write_course(tmp_path, [source(1, "01_serial", "x"), checked])
    for text in (text_of(tmp_path), render(tmp_path, LAB, folder).markdown):
        assert "The last verdict: passed. Not timed: there was no GPU." in text
        assert "Maximum possible speed" not in text and "make bench" not in text


def test_a_difference_counts_the_students_own_lines(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [])
    starters = {"01_serial": "// TODO: add\nint given;\n", "02_tree": "// TODO: halve\nint other;\nint given;\n"}
    for stage, text in starters.items():
        starter = tmp_path / "starter" / LAB / f"{stage}.cu"
        starter.parent.mkdir(parents=True, exist_ok=True)
        starter.write_text(text)
    first, second = starters["01_serial"] + "int mine;\n", starters["02_tree"] + "\nint mine2;\nint mine3;\n"
    records = [
        source(1, "01_serial", first),
        report(1, "01_serial", first, 0.1),
        source(2, "02_tree", second),
        report(2, "02_tree", second, 0.1),
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert "Changes since 01_serial: 2 lines added, 1 removed" in text_of(tmp_path)


def test_a_failure_after_a_pass_is_mentioned(tmp_path: Path) -> None:
    failed = report(2, "01_serial", "b", verdict="failed")
    message = "The last version failed (tail_lost). The journal shows an earlier one, which passed."
    write_course(tmp_path / "checked", [report(1, "01_serial", "a"), failed])
    assert f"Not measured yet. {message} Next: make check LAB=dot STAGE=01" in text_of(tmp_path / "checked")
    folder = write_course(tmp_path / "timed", [report(1, "01_serial", "a", 0.1), failed])
    assert message in text_of(tmp_path / "timed")
    assert message in render(tmp_path / "timed", LAB, folder).markdown
    write_course(tmp_path / "repaired", [report(1, "01_serial", "a", 0.1), failed, report(3, "01_serial", "a", 0.1)])
    assert message not in text_of(tmp_path / "repaired")


def test_an_optimisation_is_its_last_version_that_passed_and_was_timed(tmp_path: Path) -> None:
    records = [
        report(1, "01_serial", "a", 0.10),
        report(2, "01_serial", "b", 0.07),
        report(3, "01_serial", "c"),  # passed, not timed
        report(4, "01_serial", "d", verdict="failed"),
    ]
    write_course(tmp_path, records)
    main = read(tmp_path).main
    assert main is not None
    assert [row.version.source_hash for row in main.rows] == [journals.sha("b")]
    assert "2 versions tried and discarded" in text_of(tmp_path)


def test_a_version_that_passed_and_was_never_timed_is_mentioned_once(tmp_path: Path) -> None:
    records = [
        report(1, "01_serial", "a"),  # never timed
        report(2, "01_serial", "b", 0.07),
        report(3, "01_serial", "a"),
        report(4, "01_serial", "c", verdict="failed"),
        report(5, "01_serial", "b"),  # the current text
        report(6, "01_serial", "d"),  # can still be timed
    ]
    folder = write_course(tmp_path / "timed", records)
    a = journals.sha("a")[:8]
    row = f"| 2026-11-01 00:01 | {a} | passed, not timed | – |"
    assert row in render(tmp_path / "timed", LAB, folder).markdown
    text = text_of(tmp_path / "timed")
    assert "1 version tried and discarded" in text
    assert text.count(a) == 1
    folder = write_course(tmp_path / "never", [report(1, "01_serial", "a"), report(2, "01_serial", "b")])
    assert "1 version tried and discarded" in text_of(tmp_path / "never")
    assert row in render(tmp_path / "never", LAB, folder).markdown


def test_a_version_that_failed_has_no_time(tmp_path: Path) -> None:
    failed = report(2, "01_serial", "a", 0.01, verdict="failed")
    write_course(tmp_path / "before", [report(1, "01_serial", "a", 0.10), failed])
    assert read(tmp_path / "before").main is None
    write_course(tmp_path / "after", [failed, report(3, "01_serial", "a")])
    assert read(tmp_path / "after").main is None


def test_a_checked_starter_is_not_a_version(tmp_path: Path) -> None:
    write_course(tmp_path, [report(1, "01_serial", "starter", verdict="failed"), report(2, "01_serial", "mine", 0.1)])
    assert "1 version did not pass" in text_of(tmp_path)
    (tmp_path / "starter" / LAB).mkdir(parents=True)
    (tmp_path / "starter" / LAB / "01_serial.cu").write_text("starter")
    assert "did not pass" not in text_of(tmp_path)


def test_a_check_of_one_dataset_does_not_pass_a_stage(tmp_path: Path) -> None:
    write_course(tmp_path, [report(1, "01_serial", "a", 0.10, dataset="bench_2_24")])
    journal = read(tmp_path)
    assert journal.main is None
    assert journal.shown == []
    write_course(
        tmp_path / "both", [report(1, "01_serial", "a"), report(2, "01_serial", "a", 0.1, dataset="bench_2_24")]
    )
    assert read(tmp_path / "both").main is not None


def test_a_version_belongs_to_the_last_note_begun_before_it(tmp_path: Path) -> None:
    records = [report(minute, "01_serial", text, 0.1) for minute, text in ((5, "a"), (20, "b"), (40, "b"), (50, "c"))]
    notes = {
        "01_serial": f"<!-- begun {journals.time(10)} -->\n## Goal\nFirst.",
        "01_serial-2": f"<!-- begun {journals.time(30)}: what is recorded from then on … -->\n## Goal\nSecond.",
    }
    write_course(tmp_path, records, **notes)
    hashes = {
        optimisation.id: [version.source_hash for version in optimisation.versions]
        for optimisation in read(tmp_path).optimisations
    }
    a, b, c = map(journals.sha, "abc")
    assert hashes == {"01_serial": [a, b], "01_serial-2": [c]}  # b was first recorded before the second note


def test_a_second_note_without_a_time_gets_no_version_and_is_listed(tmp_path: Path) -> None:
    write_course(tmp_path, [report(5, "01_serial", "a", 0.1)], **{"01_serial": "# Goal\nx", "01_serial-2": "Words."})
    journal = read(tmp_path)
    assert [len(optimisation.versions) for optimisation in journal.optimisations] == [1, 0]
    assert "01_serial-2.md does not state when it was begun" in " ".join(journal.problems)
    assert "Words." in text_of(tmp_path)


def test_times_of_different_machines_are_never_compared(tmp_path: Path) -> None:
    first = report(1, "01_serial", "a", 0.2)
    write_course(tmp_path, [first, change_machine(report(2, "02_tree", "b", 0.1), host="other")])
    journal = read(tmp_path)
    assert [len(timelines[0].rows) for timelines in journal.timelines.values()] == [1, 1]
    assert all(row.change is None for lines in journal.timelines.values() for line in lines for row in line.rows)
    assert "as fast as 01_serial" not in text_of(tmp_path)


@pytest.mark.parametrize("change", [{"gpu": "NVIDIA T4"}, {"cpu": "Another"}, {"host": "x"}])
def test_another_gpu_cpu_or_host_is_another_machine(tmp_path: Path, change: dict[str, str]) -> None:
    first = report(1, "01_serial", "a", 0.2)
    write_course(tmp_path, [first, change_machine(first, **change)])
    assert len(read(tmp_path).places) == 2


def test_times_of_the_cpu_backend_are_not_shown_as_speedups(tmp_path: Path) -> None:
    records = [change_machine(report(1, name, name, 0.2), backend="cpu", gpu="") for name in ("01_serial", "02_tree")]
    write_course(tmp_path, records)
    text = text_of(tmp_path)
    assert "on the CPU backend" in text
    for claim in ("as fast as one core", "vs 1 core", "Of bound", "memory allows,", "29.59 µs", "Limited by"):
        assert claim not in text, claim


def test_an_imported_report_is_shown_at_its_version(tmp_path: Path) -> None:
    late = change_machine(report(9, "01_serial", "a", 0.1), host="batch") | {"imported_from": "r.json"}
    write_course(tmp_path, [report(1, "01_serial", "a"), report(2, "01_serial", "b"), late])
    (optimisation,) = read(tmp_path).optimisations
    assert [len(version.records) for version in optimisation.versions] == [2, 1]
    text = text_of(tmp_path)
    assert "NVIDIA H200 (batch), from r.json" in text
    assert "Also measured" not in text  # the only place is the main one


def test_an_imported_report_belongs_to_the_first_version_with_its_text(tmp_path: Path) -> None:
    def imported(minute: int, text: str) -> dict[str, Any]:
        return change_machine(report(minute, "01_serial", text, 0.1), host="friend") | {"imported_from": "t4.json"}

    records = [
        report(20, "01_serial", "a"),
        report(40, "01_serial", "b"),
        report(45, "01_serial", "a"),  # tried again after the second note was begun
        imported(50, "a"),
        imported(51, "new"),
        report(52, "01_serial", "b"),
    ]
    write_course(
        tmp_path,
        records,
        **{
            "01_serial": f"<!-- begun {journals.time(10)} -->\n## Goal\nOne.",
            "01_serial-2": f"<!-- begun {journals.time(30)} -->\n## Goal\nTwo.",
        },
    )
    first, second = read(tmp_path).optimisations
    a, b, new = (journals.sha(text) for text in ("a", "b", "new"))
    assert [(version.source_hash, len(version.records)) for version in first.versions] == [(a, 2)]
    assert [version.source_hash for version in second.versions] == [b, a, new, b]


def row(median_s: float, noise: float, seed: int, count: int = 10) -> Row:
    draw = random.Random(seed)
    samples_s = [median_s * draw.gauss(1, noise) for _ in range(count)]
    timed: Any = type("Timed", (), {"samples_s": samples_s, "median_s": sorted(samples_s)[count // 2]})
    nothing: Any = None
    return Row(nothing, nothing, nothing, timed)


def test_a_change_within_the_noise_is_not_clear_and_a_larger_one_is() -> None:
    assert compare(row(0.1, 0.01, 1), row(0.1, 0.01, 2), None).is_clear is False
    assert compare(row(0.1, 0.01, 1), row(0.09, 0.01, 2), None).is_clear is True
    assert compare(row(0.1, 0.001, 1), row(0.098, 0.001, 2), None).is_clear is True
    assert compare(row(0.1, 0.001, 1), row(0.098, 0.001, 2), 0.03).is_clear is False  # runs of one text differ by more
    assert compare(row(0.1, 0.01, 1, 2), row(0.09, 0.01, 2, 2), None).is_clear is None


def test_the_interval_contains_the_true_ratio_as_often_as_it_claims() -> None:
    contained = 0
    for seed in range(500):
        change = compare(row(0.12, 0.02, seed), row(0.1, 0.02, seed + 1000), None)
        assert change.low is not None and change.high is not None
        contained += change.low <= 1.2 <= change.high
    assert 0.92 < contained / 500 < 0.98


def test_the_difference_between_runs_of_one_text_comes_from_the_records(tmp_path: Path) -> None:
    times = ((1, "01_serial", "a", 0.100), (2, "01_serial", "a", 0.104), (3, "02_tree", "b", 0.101))
    write_course(tmp_path, [report(*time) for time in times])
    main = read(tmp_path).main
    assert main is not None and main.spread == pytest.approx(0.04)
    assert "within the noise" in text_of(tmp_path)
    assert "must also exceed 4%, the variation between runs of one file" in text_of(tmp_path)


def test_a_corrupt_line_is_skipped_and_named(tmp_path: Path) -> None:
    corrupt = [
        '{"schema": 1, "kind": "report", "ti',
        "[]",
        '{"schema": 2, "kind": "report"}',
        json.dumps(report(1, "01_serial", "a") | {"time": "yesterday"}),
        json.dumps(report(1, "01_serial", "a") | {"lab": "heat"}),
        json.dumps(report(1, "01_serial", "a") | {"report": None}),
        json.dumps(report(1, "01_serial", "a") | {"report": {"stages": 3}}),
        "[" * 100_000,
        "\ufffd\x00",
        json.dumps({key: value for key, value in report(1, "01_serial", "a").items() if key != "time"}),
        json.dumps(report(1, "01_serial", "a") | {"time": "0001-01-01T00:00:00+23:00"}),
    ]
    valid = [
        report(2, "01_serial", "a", 0.1),
        {"schema": 1, "kind": "hologram"},
        report(3, "02_tree", "b") | {"new": 1},
    ]
    folder = write_course(tmp_path, [*corrupt, *valid])
    records = read_records(folder / "records.jsonl", LAB)
    assert len(records.entries) == 2
    assert [int(re.search(r"line (\d+)", message)[1]) for message in records.skipped] == list(range(1, 12))  # type: ignore[index]
    result = run_module(MODULE, LAB, "--root", tmp_path, "--work", tmp_path / "work")
    assert result.returncode == 0
    assert "records.jsonl, line 1, is skipped: not valid JSON" in result.stderr
    assert "line 4, is skipped: its time, 'yesterday', does not have the form" in result.stderr
    assert "line 10, is skipped: its time is missing." in result.stderr
    assert "isoformat" not in result.stderr
    assert "it is about the lab 'heat', not 'dot'" in (folder / "journal.html").read_text().replace("&#x27;", "'")


def test_a_line_cut_in_the_middle_of_a_character_is_skipped(tmp_path: Path) -> None:
    folder = write_course(tmp_path, [report(1, "01_serial", "a", 0.1)])
    with (folder / "records.jsonl").open("ab") as stream:
        stream.write('{"schema": 1, "kind": "sour", "text": "ü'.encode()[:-1])
    records = read_records(folder / "records.jsonl", LAB)
    assert (len(records.entries), len(records.skipped)) == (1, 1)


def test_a_file_of_invalid_lines_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = write_course(tmp_path, [report(1, "01_serial", "a", 0.1)]) / "records.jsonl"
    file.write_text(file.read_text() + "x\n" * 1000)
    records = read_records(file, LAB)
    assert len(records.entries) == 1 and len(records.skipped) == MAX_SKIPPED + 1
    assert "is not read beyond line" in records.skipped[-1]


def test_names_and_notes_can_be_in_any_script(tmp_path: Path) -> None:
    record = change_machine(report(1, "01_serial", "// Größe 素\n", 0.1), host="机房-7", cpu="Intel® Core™")
    write_course(tmp_path, [source(1, "01_serial", "// Größe 素\n"), record], **{"01_serial": "## Goal\nÜber 素数 😀"})
    text = text_of(tmp_path)
    assert "NVIDIA H200 (机房-7)" in text
    assert "Über 素数 😀" in text
    assert "// Größe 素" in text


def test_a_huge_difference_is_cut_and_a_larger_one_is_not_computed(tmp_path: Path) -> None:
    old, new = ("".join(f"int {name}{number};\n" for number in range(3000)) for name in "ab")
    huge = "x\n" * 200_000
    records = [
        entry
        for minute, (stage, text) in enumerate(zip(journals.STAGES, (old, new, huge), strict=True))
        for entry in (source(minute, stage, text), report(minute, stage, text, 0.1))
    ]
    write_course(tmp_path, records)
    text = text_of(tmp_path)
    assert "3000 lines added, 3000 removed" in text
    assert "more lines of the difference are omitted." in text
    assert "Too long to compare: 3,000 lines became 200,000." in text
    assert len(page_of(tmp_path)) < 500_000


def test_a_source_that_was_not_recorded_is_shown_as_unknown(tmp_path: Path) -> None:
    write_course(tmp_path, [report(1, "01_serial", "a", 0.1), report(2, "02_tree", "b", 0.1)])
    assert "The text of one of the two was not recorded." in text_of(tmp_path)


def test_records_and_notes_follow_a_stage_that_got_another_number(tmp_path: Path) -> None:
    records = [report(1, "01_serial", "a", 0.1), report(2, "07_tree", "b", 0.1), report(3, "02_tree", "c", 0.05)]
    write_course(tmp_path, records, **{"07_tree": "# Goal\nHalve the steps."})
    hashes = {
        optimisation.id: [version.source_hash for version in optimisation.versions]
        for optimisation in read(tmp_path).optimisations
    }
    assert hashes["02_tree"] == [journals.sha("b"), journals.sha("c")] and "07_tree" not in hashes
    assert "Halve the steps." in text_of(tmp_path)


def test_a_stage_that_was_removed_from_the_lab_is_kept(tmp_path: Path) -> None:
    write_course(tmp_path, [report(1, "09_gone", "a", 0.1)])
    assert "09_gone" in text_of(tmp_path)


def test_a_time_on_another_dataset_is_shown_and_not_compared(tmp_path: Path) -> None:
    part = report(1, "01_serial", "a", 0.5)
    part["report"]["stages"][0]["measurements"][0]["dataset"] = "a_tenth"
    write_course(tmp_path, [part, report(2, "02_tree", "b", 0.1), report(3, "03_shuffle", "c", 0.05)])
    rendered = render(tmp_path, LAB, tmp_path / "work" / LAB / "journal")
    text = Reader(rendered.page).text
    assert "0.5000\u00a0s for 1,000 iterations on a_tenth" in text
    assert "**0.5000\u00a0s** for 1,000 iterations on a_tenth." in rendered.markdown
    assert "From 0.1000" in text
    assert "as fast as 01_serial" not in text
    assert "Not measured" not in text


def test_a_part_of_the_materials_dataset_is_scaled_and_marked(tmp_path: Path) -> None:
    part = report(1, "01_serial", "a", 0.5)
    part["report"]["stages"][0]["measurements"][0]["dataset"] = "a_tenth"
    write_course(tmp_path, [part, report(2, "02_tree", "b", 0.1)])
    rows = [{"stage": "01_serial", "dataset": "a_tenth", "scale": 10, "part_of": "bench_2_24", "figures": ["7720 s"]}]
    content = {"schema": 1, "machine": "GTX 680", "columns": ["time"], "rows": rows}
    (tmp_path / "labs" / LAB / "source.json").write_text(json.dumps(content))
    text = text_of(tmp_path)
    assert "From 5.000 s to 0.1000 s" in text
    assert "01_serial was timed on a_tenth and is multiplied by 10" in text
    assert "GTX 680" not in text
    with_source = render(tmp_path, LAB, tmp_path / "work" / LAB / "journal", with_source=True)
    assert "7720 s" in with_source.page
    assert "on another machine and with other code" in with_source.page


def test_pictures_are_embedded_unless_they_are_stale_or_large(tmp_path: Path) -> None:
    folder = write_course(tmp_path, complete_journal())
    pictures = tmp_path / "build/show" / LAB
    pictures.mkdir(parents=True)
    build, work = tmp_path / "build", tmp_path / "work"
    assert find_pictures(build, work, LAB) == ([], "")
    (folder.parent / "01_serial.cu").write_text("x")
    (pictures / "after & before.png").write_bytes(b"\x89PNG")
    (pictures / "large.png").write_bytes(bytes(3_000_000))
    (pictures / "data.csv").write_text("1,2")
    page = render(tmp_path, LAB, folder, find_pictures(build, work, LAB)).page
    images = [attributes for tag, attributes in Reader(page).tags if tag == "img"]
    assert [image["alt"] for image in images] == ["Picture of make show: after & before"]
    assert (images[0]["src"] or "").startswith("data:image/png;base64,")
    assert "too large, too many or older than your files: large.png" in page
    for file in pictures.iterdir():
        os.utime(file, (1, 1))
    assert (
        "older than your files. Draw them again: make show LAB=dot"
        in render(tmp_path, LAB, folder, find_pictures(build, work, LAB)).page
    )


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    harmless = tmp_path / "harmless"
    write_course(harmless, complete_journal())
    fixed = ("kind", "time", "stage", "hash", "source_hash", "dataset", "lab")

    def spoil(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item if key in fixed else spoil(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoil(item) for item in value]
        return make_hostile(value)

    records = [
        record
        | {key: spoil(value) for key, value in record.items() if key in ("report", "text", "inspection", "machine")}
        for record in complete_journal()
    ]
    for record in records:
        if "report" in record:
            record["report"]["backend"] = "cuda"
            record["report"]["stages"][0]["verdict"] = "passed"
    notes = {
        "01_serial": f"<!-- begun 2026-11-01T00:00:00Z -->\n## {HOSTILE}\n{HOSTILE}\n- `{HOSTILE}`\n",
        "02_tree": HOSTILE,
    }
    write_course(
        tmp_path, records, **{stage: text.encode("utf-8", "replace").decode() for stage, text in notes.items()}
    )
    page = page_of(tmp_path)
    allowed = {tag for tag, _ in Reader(page_of(harmless)).tags} | {
        "ul",
        "li",
        "code",
        "pre",
        "circle",
        "details",
        "summary",
    }
    for tag, attributes in Reader(page).tags:
        assert tag in allowed | {"h3"}, tag
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
    assert "<script>alert(1)</script>" in Reader(page).text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    markdown = render(tmp_path, LAB, tmp_path / "work" / LAB / "journal").markdown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", markdown)


def test_unusual_measurements_do_not_break_the_journal(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [
        {"samples_s": []},
        {"samples_s": [0, 0]},
        {"bound_s": 0, "bound_bytes": 0, "bandwidth_bytes_per_s": 0, "bound_fraction": 0, "flops": 0},
        {"sequential_s": 0, "speedup_sequential": 0, "openmp_s": 0, "speedup_openmp": 0},
        {"median_s": 1e-9, "samples_s": [1e-9]},
        {"median_s": "nan"},
        {"iterations": 7},
    ]
    for number, (first, second) in enumerate(itertools.product(changes, changes)):
        records = [report(1, "01_serial", "a", 0.1), report(2, "02_tree", "b", 0.2)]
        for record, change in zip(records, (first, second), strict=True):
            record["report"]["stages"][0]["measurements"][0] |= change
        write_course(tmp_path / str(number), records)
        assert "nan" not in text_of(tmp_path / str(number)).lower()


def test_without_operations_the_roofline_shows_bytes(tmp_path: Path) -> None:
    records = [report(1, "01_serial", "a", 0.1), report(2, "02_tree", "b", 0.05)]
    write_course(tmp_path / "flops", records)
    assert "flop/byte" in text_of(tmp_path / "flops")
    for record in records:
        record["report"]["stages"][0]["measurements"][0]["flops"] = 0
    write_course(tmp_path / "bytes", records)
    text = text_of(tmp_path / "bytes")
    assert "flop" not in text
    assert "Bytes that have to move, per second" in text


def test_a_time_below_the_bound_is_explained(tmp_path: Path) -> None:
    write_course(tmp_path / "slower", [report(1, "01_serial", "a", 0.1)])
    assert "If a time is below this bound" not in text_of(tmp_path / "slower")
    write_course(tmp_path / "faster", [report(1, "01_serial", "a", 0.0148)])
    text = text_of(tmp_path / "faster")
    assert "2.00× as fast as the bound of a straightforward kernel" in text
    assert "If a time is below this bound, a cache," in text
    assert "of the bandwidth bound" not in text


def test_counters_of_a_version_that_is_not_shown_are_ignored(tmp_path: Path) -> None:
    text = SOURCE.format(1)
    records = [
        report(1, "01_serial", text, 0.1),
        inspection(2, "01_serial", text, device_bytes=8),
        inspection(3, "01_serial", "later", device_bytes=99),
        report(4, "02_tree", "b", 0.1),
        inspection(5, "02_tree", "b", device_bytes=4, dataset="ragged"),
    ]
    write_course(tmp_path, records)
    assert "Bytes requested, over the minimum8.00×4.00×" in text_of(tmp_path).replace(" ", " ")


def test_the_command_without_a_lab_or_a_work_folder_gives_a_message(tmp_path: Path) -> None:
    write_course(tmp_path, [])
    result = run_module(MODULE, "nolab", "--root", tmp_path)
    assert (result.returncode, "No lab is called 'nolab'" in result.stderr) == (2, True)
    result = run_module(MODULE, LAB, "--root", tmp_path, "--work", tmp_path / "elsewhere")
    assert result.returncode == 0
    assert result.stdout.startswith("Nothing is recorded yet, so there is no journal. Begin with: make check LAB=dot")
    assert not (tmp_path / "elsewhere").exists()
    result = run_module(MODULE, LAB, "--root", tmp_path, "--work", tmp_path / "work")
    assert "Nothing is recorded yet.\nJournal: " in result.stdout  # there is a folder for notes


def test_the_lab_can_be_omitted_if_records_name_it(tmp_path: Path) -> None:
    folder = write_course(tmp_path, complete_journal())
    result = run_module(MODULE, "--folder", folder, "--root", tmp_path)
    assert result.returncode == 0, result.stderr
    (folder / "records.jsonl").write_text("[]\n")
    for arguments in (["--folder", folder], ["--folder", tmp_path], []):
        result = run_module(MODULE, *arguments, "--root", tmp_path)
        assert result.returncode == 2
        assert "lab" in result.stderr


def test_without_a_browser_there_is_a_message_and_no_pdf(tmp_path: Path) -> None:
    write_course(tmp_path, complete_journal())
    result = run_module(MODULE, LAB, "--pdf", "--root", tmp_path, "--work", tmp_path / "work", PATH=str(tmp_path))
    assert result.returncode == 2
    assert result.stderr.startswith("No PDF: none of the browsers chromium")
    assert (tmp_path / "work" / LAB / "journal" / "journal.html").exists()
