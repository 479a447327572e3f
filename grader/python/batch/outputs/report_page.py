"""Make one page from reports: HTML that needs no other file and runs no script.

python3 -m grader.python.batch.outputs.report_page build/report

reads build/report/*.json, and writes build/report/index.html.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.python.common.charts import draw_ladder, draw_samples
from grader.python.common.console import UserError, make_parser, run_command, say, say_error, write_atomically
from grader.python.common.markup import Child, Html, join, tag
from grader.python.common.page import badge, make_document, make_text
from grader.python.common.report import (
    Check,
    Failure,
    Measurement,
    Report,
    SanitizerResult,
    Score,
    StageReport,
    read_report,
)
from grader.python.common.units import (
    NONE,
    plural,
    show_bandwidth,
    show_factor,
    show_number,
    show_points,
    show_seconds,
    show_share,
)


def make_page(
    reports: Sequence[Report], unreadable: Sequence[str] = (), more: Html | None = None, sums: Sequence[str] = ()
) -> str:
    """Return the whole page.

    `unreadable` contains a message for each file that could not be read; `more` is shown after these messages. The
    lines `sums` replace the sum of the reports' points.
    """
    title = f"{' and '.join(sorted({report.lab for report in reports})) or 'No lab'}: report"
    problems = [tag("p", message, class_="note bad") for message in unreadable]
    content = join(make_header(reports, sums), *problems, more, tag("main", *map(make_lab, reports)))
    return make_document(title, content)


def make_header(reports: Sequence[Report], sums: Sequence[str]) -> Html:
    """Make the title and a line with the result. `sums`, if any, come before that line."""
    stages = [stage for report in reports for stage in report.stages]
    totals = [report.total for report in reports]
    counts = {verdict: sum(stage.verdict == verdict for stage in stages) for verdict in ("passed", "failed", "error")}
    parts = [f"{counts['passed']} of {plural(len(stages), 'stage')} passed"]
    if counts["error"]:
        parts.append(f"{counts['error']} could not be judged")
    if reports and all(report.verb == "grade" for report in reports):
        points, maximum = sum(total.points for total in totals), sum(total.max for total in totals)
        parts.append(f"{show_points(points)} of {show_points(maximum)} points")
        if pending := sum(total.pending for total in totals):
            parts.append(f"{show_points(pending)} pending")
    line = " \N{MIDDLE DOT} ".join(parts)
    leads = [tag("p", lead, class_="lead") for lead in sums or [line]]
    return tag("header", tag("h1", "Lab report"), *leads, tag("p", f"The code: {line}") if sums else None)


def make_lab(report: Report) -> Html:
    """Make one report: facts, table, chart and stages."""
    names = {"cuda": report.machine.gpu or "GPU", "cpu": "CPU backend"}
    machine = report.machine
    facts = [
        ("Backend", names.get(report.backend, report.backend)),
        ("Driver", machine.driver),
        ("CUDA", machine.cuda if report.backend == "cuda" else ""),
        ("CPU", f"{machine.cpu}, {plural(machine.cpu_cores, 'core')}" if machine.cpu else ""),
        ("Files", report.tree),
        ("Sandbox", f"{report.sandbox}. {report.sandbox_remark}" if report.sandbox_remark else report.sandbox),
        ("When", report.time.replace("T", " ").replace("Z", " UTC")),
        ("Warplab", report.warplab),
    ]
    return tag(
        "section",
        tag("h2", report.lab),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts if value), class_="facts"),
        make_table(report),
        draw_ladder(report.stages),
        *(make_stage(report, stage) for stage in report.stages),
        class_="lab",
    )


def make_table(report: Report) -> Html:
    """Make a table with one line per stage. If several datasets of a stage were timed, show the main measurement."""
    timed = [measurement for stage in report.stages if (measurement := stage.main_measurement)]
    names = ["Verdict", "Points"] if report.verb == "grade" else ["Verdict"]
    names += ["Time", "vs 1 core", "vs all cores", "vs reference", "Of bound", "Limited by"] if timed else []
    titles = [tag("th", name, scope="col", class_=column_class(name)) for name in names]
    rows = [make_row(report, stage, names) for stage in report.stages]
    head = tag("thead", tag("tr", tag("th", "Stage", scope="col"), *titles))
    return join(tag("table", head, tag("tbody", *rows), class_="summary"), tag("p", explain(timed), class_="caption"))


def column_class(name: str) -> str:
    """Return the column's CSS class: words are left-aligned, numbers right-aligned."""
    return "text" if name in ("Verdict", "Limited by") else "number"


def explain(timed: Sequence[Measurement]) -> str:
    """Return the caption that explains the columns with times."""
    if not timed:
        return "Nothing was timed; times need a GPU."
    sets = ", ".join(sorted({measurement.dataset for measurement in timed}))
    iterations = ", ".join(sorted({str(measurement.iterations) for measurement in timed}))
    return (
        f"Time: seconds for {iterations} iterations on {sets}. vs 1 core, vs all cores: speedup over the CPU. "
        "vs reference: time over the reference solution's, below 1 is faster. "
        "Of bound: the bound's time over this time; the bound is the bandwidth bound of a straightforward kernel."
    )


def make_row(report: Report, stage: StageReport, names: Sequence[str]) -> Html:
    """Make a stage's line; each cell has its column's name for narrow screens."""
    values: dict[str, Child] = {"Verdict": badge(stage.verdict), "Points": make_points(stage.score)}
    if timed := stage.main_measurement:
        values |= {
            "Time": show_seconds(timed.median_s),
            "vs 1 core": show_factor(timed.speedup_sequential),
            "vs all cores": show_factor(timed.speedup_openmp),
            "vs reference": show_factor(timed.over_reference),
            "Of bound": show_share(timed.bound_fraction),
            "Limited by": timed.limit or NONE,
        }
    link = tag("a", stage.stage, href=f"#{anchor(report, stage)}")
    cells = [tag("th", link, tag("span", stage.title, class_="title"), scope="row")]
    for name in names:
        value = values.get(name, NONE)
        empty = " none" if value == NONE else ""
        cells.append(tag("td", tag("span", value), data_label=name, class_=column_class(name) + empty))
    return tag("tr", *cells)


def make_points(score: Score | None) -> Html | str:
    """Format the points, their maximum and the pending points."""
    if score is None:
        return NONE
    pending = tag("small", f" {show_points(score.pending)} pending") if score.pending else None
    modelled = tag("small", f" {show_points(score.modelled)} of them modelled") if score.modelled else None
    points = f"{show_points(score.total)}\N{NO-BREAK SPACE}/\N{NO-BREAK SPACE}{show_points(score.max)}"
    return join(points, modelled, pending)


def make_stage(report: Report, stage: StageReport) -> Html:
    heading = tag("h3", badge(stage.verdict), tag("span", stage.title or stage.stage), tag("code", stage.stage))
    failures = [make_failure("Not judged", stage.error, is_internal=True)] if stage.error else []
    if stage.compilation.failure:
        is_internal = stage.compilation.verdict == "error"
        failures.append(make_failure("Compiling", stage.compilation.failure, is_internal))
    failures += make_check_failures(stage.checks)
    failures += make_findings(stage.check_mode)
    return tag(
        "article",
        heading,
        *failures,
        make_score(stage.score),
        make_checks(stage.checks),
        *map(make_measurement, stage.measurements),
        make_text("Compiler", stage.compilation.log, is_open=stage.compilation.verdict != "passed"),
        make_text("Output of the program", stage.output),
        *(tag("p", note, class_="note") for note in stage.notes),
        make_source(stage),
        id=anchor(report, stage),
    )


def make_check_failures(checks: Sequence[Check]) -> list[Html]:
    """Show the first failure of each cause in full, with the names of the other datasets that have the same cause."""
    by_cause: dict[tuple[str, str], list[tuple[str, Failure]]] = {}
    for check in checks:
        if check.failure:
            by_cause.setdefault((check.verdict, check.failure.cause), []).append((check.dataset, check.failure))
    boxes = []
    for (verdict, _), ((dataset, failure), *others) in by_cause.items():
        other_datasets = ", ".join(name for name, _ in others)
        boxes.append(make_failure(f"Dataset {dataset}", failure, is_internal=verdict == "error", also=other_datasets))
    return boxes


def make_findings(check_mode: SanitizerResult | None) -> list[Html]:
    """Show the sanitizer's findings that students see, each with its one or two lines of code."""
    boxes = []
    for finding in check_mode.findings if check_mode else []:
        if not finding.is_shown:
            continue
        places = [(finding.line, finding.text)]
        if finding.other_line != finding.line:
            places.append((finding.other_line, finding.other_text))
        lines = [f"{number:5} | {text}" for number, text in places if number > 0 and text]
        place = f"Sanitizer, line {finding.line}" if finding.line else "Sanitizer"
        failure = Failure(finding.cause, finding.message, finding.hint)
        boxes.append(make_failure(place, failure, is_internal=False, lines="\n".join(lines)))
    return boxes


def make_failure(where: str, failure: Failure, is_internal: bool, also: str = "", lines: str = "") -> Html:
    """Show a failure: what happened, where, and what to try. `is_internal`: whether the judge or the machine is at
    fault; `also`: other datasets with the same cause; `lines`: lines of the student's code."""
    place = failure.place
    details = None
    if place:
        details = tag(
            "dl",
            *(
                tag("div", tag("dt", name), tag("dd", tag("code", value)))
                for name, value in (
                    ("Place", f"{place.buffer}[{place.index}]"),
                    ("Expected", place.expected),
                    ("Found", place.actual),
                )
            ),
            class_="place",
        )
    hint = tag("p", tag("strong", "Try: "), failure.hint, class_="hint") if failure.hint else None
    cause = tag("code", failure.cause, class_="cause") if failure.cause else None
    title = tag("p", tag("strong", where), " ", cause)
    message = tag("p", failure.message)
    elsewhere = tag("p", f"The same cause: {also}", class_="also") if also else None
    source = tag("pre", lines, tabindex=0) if lines else None
    return tag(
        "div", title, message, source, details, hint, elsewhere, class_="failure internal" if is_internal else "failure"
    )


def make_score(score: Score | None) -> Html | None:
    """Show the three kinds of points, each with a bar and, if points are missing, the reason."""
    if score is None:
        return None
    kinds = (
        ("Correctness", score.correctness, score.correctness_max, score.correctness_pending, score.correctness_why),
        ("Hygiene", score.hygiene, score.hygiene_max, score.hygiene_pending, score.hygiene_why),
        ("Speed", score.speed, score.speed_max, score.speed_pending, score.speed_why),
    )
    items = []
    modelled = " (modelled)" if score.speed_modelled else ""
    for name, points, maximum, pending, why in kinds:
        if maximum <= 0:
            continue
        share = min(max(points / maximum, 0.0), 1.0)
        bar = tag("rect", width=f"{100 * share:.1f}%", height=6)
        track = tag("svg", tag("rect", width="100%", height=6, class_="track"), bar, width="100%", height=6)
        text = "pending" if pending else f"{show_points(points)} / {show_points(maximum)}"
        text += modelled if name == "Speed" and not pending else ""
        reason = tag("dd", why, class_="why") if why else None
        items.append(tag("div", tag("dt", name), tag("dd", text), tag("dd", track, aria_hidden="true"), reason))
    return tag("dl", *items, class_="score") if items else None


def make_checks(checks: Sequence[Check]) -> Html | None:
    """Make a table of all datasets with verdicts and weights."""
    if not checks:
        return None
    rows = []
    for check in checks:
        name = join(check.dataset, tag("small", " hidden") if check.hidden else None)
        words = check.skipped_why if check.skipped else check.failure.message if check.failure else ""
        rows.append(
            tag(
                "tr",
                tag("th", name, scope="row"),
                tag("td", badge("skipped" if check.skipped else check.verdict)),
                tag("td", show_points(check.points) if check.points else NONE, class_="number"),
                tag("td", NONE if check.skipped or not check.wall_s else show_seconds(check.wall_s), class_="number"),
                tag("td", words, class_="words"),
            )
        )
    names = (("Dataset", ""), ("Verdict", ""), ("Weight", "number"), ("Took", "number"), ("", ""))
    head = tag("thead", tag("tr", *(tag("th", name, scope="col", class_=kind) for name, kind in names)))
    failed = sum(not check.skipped and check.verdict != "passed" for check in checks)
    skipped = sum(check.skipped for check in checks)
    counts = [
        plural(len(checks), "dataset"),
        f"{failed} not passed" if failed else "",
        f"{skipped} skipped" if skipped else "",
    ]
    summary = tag("summary", ", ".join(count for count in counts if count))
    table = tag("table", head, tag("tbody", *rows), class_="checks")
    return tag("details", summary, tag("div", table, class_="scroll"))


def make_measurement(measurement: Measurement) -> Html:
    """Show one dataset's times: numbers, samples and caveats."""
    interval = measurement.reference_ratio
    numbers = [
        (f"{measurement.iterations} iterations", show_seconds(measurement.median_s)),
        ("vs 1 core", show_factor(measurement.speedup_sequential)),
        (f"vs {plural(measurement.openmp_threads, 'thread')}", show_factor(measurement.speedup_openmp)),
        ("vs reference", show_factor(measurement.over_reference)),
        ("Between", f"{show_number(interval.low)} and {show_number(interval.high)}" if interval else NONE),
        ("Of bound", show_share(measurement.bound_fraction)),
        ("Bound", show_seconds(measurement.bound_s)),
        ("Memory bandwidth", show_bandwidth(measurement.bandwidth_bytes_per_s)),
        ("Transfers (not included)", show_seconds(measurement.transfer_s)),
    ]
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in numbers if value != NONE]
    limit = tag("p", "Limited by: ", tag("strong", measurement.limit)) if measurement.limit else None
    return tag(
        "div",
        tag("h4", "Timing on ", measurement.dataset),
        tag("dl", *facts, class_="numbers"),
        limit,
        draw_samples(measurement),
        *(tag("p", caveat, class_="note") for caveat in measurement.caveats),
        class_="timing",
    )


def make_source(stage: StageReport) -> Html | None:
    """Name the file that was judged."""
    if not stage.source:
        return None
    return tag("p", "Source ", tag("code", stage.source), " ", tag("code", stage.source_hash[:12]), class_="caption")


def anchor(report: Report, stage: StageReport) -> str:
    """Return the HTML id of a stage's details."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", f"{report.lab}-{report.backend}-{stage.stage}")


def find_reports(paths: Sequence[Path]) -> list[Path]:
    """Return the named JSON files and those in the named folders. Raises UserError if there are none."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if not files:
        names = ", ".join(map(str, paths))
        raise UserError(f"No report in {names}. Make one first: make grade LAB=...")
    return files


def main(arguments: Sequence[str]) -> int:
    """Write the page. Return exit status 1 if a file could not be shown; the page names it."""
    parser = make_parser("python3 -m grader.python.batch.outputs.report_page", __doc__)
    parser.add_argument("reports", nargs="+", type=Path, metavar="FOLDER|FILE", help="reports, or folders of reports")
    parser.add_argument("--output", type=Path, help="the page (default: index.html in the first folder)")
    options = parser.parse_args(arguments)
    first: Path = options.reports[0]
    output: Path = options.output or (first if first.is_dir() else first.parent) / "index.html"
    reports, unreadable = [], []
    for file in find_reports(options.reports):
        try:
            reports.append(read_report(file))
        except UserError as error:
            unreadable.append(str(error))
            say_error(str(error))
    if not reports:
        raise UserError("No page was written: none of the files is a report.")
    write_atomically(output, make_page(reports, unreadable))
    say(output)
    return 1 if unreadable else 0


if __name__ == "__main__":
    sys.exit(run_command(main))
