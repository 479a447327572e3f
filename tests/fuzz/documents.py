"""Fuzz untrusted JSON documents: reports (with every export), records (with journals) and all others."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from grader.python.batch.grade import merge
from grader.python.batch.grade.grading import find_status
from grader.python.batch.outputs.dashboard import make_dashboard
from grader.python.batch.outputs.feedback import redact
from grader.python.batch.outputs.formats import ONE_REPORT, github_log
from grader.python.batch.outputs.gradebooks import canvas, moodle
from grader.python.batch.outputs.report_page import make_page
from grader.python.batch.outputs.report_text import describe_report
from grader.python.batch.outputs.rows import Entry
from grader.python.batch.policy.points import Policy, choose_latest, finals, remove_points
from grader.python.batch.policy.suspicious import find_remarks
from grader.python.batch.store.rows import Row, summarise
from grader.python.common.console import UserError
from grader.python.common.documents import from_json
from grader.python.common.labs import read_stages
from grader.python.common.report import Report, read_report
from grader.python.journal import inspection
from grader.python.journal.journal import render
from grader.python.journal.records import find_lab, read_records
from grader.python.journal.sweep import draw_plot, format_bars, read_sweep
from tests.fuzz.invariants import attempt, refusing, require, require_csv, require_html, require_json, require_printable
from tests.python import samples

ROOT = Path(__file__).resolve().parents[2]
LAB = "vector_add"
MAX_OUTPUT = 1_000_000  # characters, plus MAX_OUTPUT_PER_BYTE for each byte of the input
MAX_OUTPUT_PER_BYTE = 500
MAX_PRAIRIELEARN = 1 << 20  # bytes


def require_bounded(text: str, data: bytes, where: str) -> None:
    """Require that an output's size is bounded by its input's."""
    bound = MAX_OUTPUT + MAX_OUTPUT_PER_BYTE * len(data)
    require(len(text) <= bound, f"{where} is no larger than its report allows")


def try_report(data: bytes, folder: Path) -> None:
    """Try a report: it is refused, or every export of the report keeps its invariants."""
    file = folder / "report.json"
    file.write_bytes(data)
    report = attempt(read_report, file)
    if report is None:
        return
    for name, export in ONE_REPORT.items():
        text = attempt(export, report)
        if text is not None:
            require_bounded(text, data, name)
            CHECKS[name](text)
    for name, export in (("canvas", canvas), ("moodle", moodle)):
        gradebook = attempt(export, [Entry("ada", report, [report.time]), Entry("=1+1", report)])
        if gradebook:
            require_csv(gradebook[0], name)
            require_bounded(gradebook[0], data, name)
    token = "0123456789abcdef"
    log = github_log(report, token)
    require(log.startswith(f"::stop-commands::{token}\n"), "a log's commands are off")
    require(log.find(f"::{token}::") == len(log) - len(token) - 5, "a log's commands stay off to its end")
    require_printable(describe_report(report), "feedback")
    page = make_page([report])
    require_html(page, "the page")
    require_bounded(page, data, "the page")
    try_merging(file)
    try_batch(data, report)


def check_autolab(text: str) -> None:
    """Check that the last two lines are JSON and the others text."""
    *lines, presentation, scores = text.removesuffix("\n").split("\n")
    require_printable("\n".join(lines), "autolab's text")
    require(not any(line.startswith("{") for line in lines), "autolab's text contains no other line of JSON")
    require_json(presentation, "autolab")
    require_json(scores, "autolab")


def check_prairielearn(text: str) -> None:
    """Check JSON within PrairieLearn's size limit."""
    require_json(text, "prairielearn")
    require(len(text.encode()) <= MAX_PRAIRIELEARN, "prairielearn takes 1 MiB")


CHECKS: dict[str, Callable[[str], Any]] = {
    "gradescope": lambda text: require_json(text, "gradescope"),
    "autolab": check_autolab,
    "github": lambda text: require_json(base64.b64decode(text).decode(), "github"),
    "prairielearn": check_prairielearn,
}


def try_merging(file: Path) -> None:
    """Try to merge a report with itself and with a complete one: the result is a report or a refusal."""
    other = file.with_name("other.json")
    other.write_text(json.dumps(samples.report(lab=LAB)))
    for first, second in ((file, file), (file, other), (other, file)):
        with refusing(), contextlib.redirect_stdout(io.StringIO()) as output:
            merge.main([str(first), str(second)])
            read_back: Report = from_json(Report, json.loads(output.getvalue()), "")
            require(read_back.lab, "a merged report is a report")


@cache
def validator() -> Any:
    """Return the validator of report.json."""
    schema = json.loads((ROOT / "grader/model/schema/report.schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema)


def try_batch(data: bytes, report: Report) -> None:
    """Try a batch's outputs for a report that matches the schema, as every report of the judge does."""
    content = json.loads(data)
    if not validator().is_valid(content):
        return
    status, detail = find_status(report, missing=False)
    row = Row("ada", "Ada", ["ada"], "2026-11-20T10:00:00Z", "the roster", [], status, detail, wall_s=0, grade=1)
    row.points, row.max_points, row.pending = report.total.points, report.total.max, report.total.pending
    row.stages = [summarise(stage) for stage in report.stages]
    latest = choose_latest(finals(row, Policy(), 10))
    ids = tuple(read_stages(ROOT, LAB))
    require_html(make_dashboard("batch", [], [row], latest, find_remarks([row], []), ids, "secret"), "report.html")
    redacted = redact(content)
    shown: Report = remove_points(from_json(Report, redacted, ""), ("speed",))
    require_printable(describe_report(shown), "feedback")
    require_html(make_page([shown]), "feedback")


def try_journal(data: bytes, folder: Path) -> None:
    """Try notes, a line of ===, and records: invalid lines are skipped and named, the others are rendered."""
    notes, _, records = data.rpartition(b"\n===\n")
    (folder / "records.jsonl").write_bytes(records)
    if notes:
        (folder / f"{next(iter(read_stages(ROOT, LAB)))}.md").write_bytes(notes)
    with refusing():
        find_lab(folder / "records.jsonl")
    with refusing():
        journal = render(ROOT, LAB, folder)
        require_html(journal.page, "the journal's page")
        require_printable(journal.markdown, "the journal's Markdown")
        require_printable(journal.result, "the journal's result")
        require_bounded(journal.page, data, "the journal's page")
        for problem in journal.problems:
            require(len(problem) < 2000, "a problem's message is short")


def read_lines(file: Path) -> None:
    """Read records, one per line."""
    records = read_records(file, LAB)
    require(all(file.name in words for words in records.skipped), "a skipped line is named")
    for record in records.entries:
        _ = (record.when, record.stage_report, record.measurements)


def read_manifest(file: Path) -> None:
    """Read a lab's manifest."""
    place = file.with_name("labs") / "lab"
    place.mkdir(parents=True, exist_ok=True)
    (place / "lab.json").write_bytes(file.read_bytes())
    read_stages(file.parent, "lab")


def show_sweep(file: Path) -> None:
    """Render a sweep as bars and as a plot."""
    sweep = read_sweep(file)
    format_bars(sweep, 80, "#")  # may contain raw characters: say() escapes them
    if sweep.timed:
        require_html(draw_plot(sweep), "a sweep's plot")


def show_inspection(file: Path) -> None:
    """Render an inspection as a page."""
    content = inspection.read_inspection(file)
    require_html(inspection.make_page(content), "an inspection's page")
    require_printable(inspection.summarise(content), "an inspection's summary")


READERS: dict[str, Callable[[Path], Any]] = {
    "records": read_lines,
    "manifest": read_manifest,
    "sweep": show_sweep,
    "inspection": show_inspection,
}


def try_document(data: bytes, folder: Path) -> None:
    """Try a document. The first line names a reader, which renders the rest or refuses it with a message that names
    the file."""
    name, _, text = data.partition(b"\n")
    reader = READERS.get(name.decode("utf-8", "replace"))
    if reader is None:
        return
    file = folder / "document.json"
    file.write_bytes(text)
    try:
        with refusing():
            reader(file)
    except UserError as error:
        require(".json" in str(error), f"a refusal names the file: {str(error)[:100]}")


def real_documents(name: str) -> list[Any]:
    """Return real documents for the reader `name`."""
    if name == "records":
        lines = (ROOT / "handouts/example-journal/records.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) | {"lab": LAB} for line in lines]
    if name == "manifest":
        return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(ROOT.glob("labs/*/lab.json"))]
    return [record[name] for record in real_documents("records") if name in record]
