"""Make a page of the sanitizer's results: the source with its counts in the margin, and findings at their lines.

python3 -m grader.python.journal.inspection build/inspect    makes a page from the newest JSON file there
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.python.common.console import make_parser, run_command, say, write_atomically
from grader.python.common.documents import read_document
from grader.python.common.markup import Html, join, tag
from grader.python.common.page import make_document
from grader.python.common.report import Finding
from grader.python.common.schema_types import type_of
from grader.python.common.syntax import colour_lines
from grader.python.common.units import plural, show_factor, show_number, show_share

LineMargin = type_of("inspection", "line_margin")
DatasetCounters = type_of("inspection", "dataset_counters")
Inspection = type_of("inspection")

MIN_SHARE = 0.005  # fraction of the modelled time; smaller shares are not shown

COUNTERS: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "device_bytes": ("Bytes requested, over the minimum", show_factor),
    "thread_bytes": ("Bytes of threads, over the minimum", show_factor),
    "device_accesses": ("Accesses per 16 bytes", show_number),
    "device_atomics": ("Global atomics per block", show_number),
    "sectors": ("Sectors, over the minimum", show_factor),
    "bank_passes": ("Bank passes per request", show_number),
    "idle_lanes": ("Idle lanes", show_share),
}


def read_inspection(file: Path) -> Inspection:
    """Read an inspection. Raises UserError with the file's name and the place in it."""
    advice = "To regenerate it: make inspect LAB=… STAGE=…"
    inspection: Inspection = read_document(Inspection, file, "an inspection of build/warplab", advice)
    return inspection


def make_page(inspection: Inspection) -> str:
    """Return the whole page: self-contained, fetches nothing, runs no script."""
    title = f"{inspection.lab}, {inspection.stage}: inspection"
    header = tag(
        "header",
        tag("h1", inspection.lab, " / ", inspection.stage),
        tag("p", summarise(inspection), class_="lead"),
    )
    main = tag(
        "main",
        make_wrong_answers(inspection),
        *(tag("p", limit.message, class_="note bad") for limit in inspection.limits if not limit.held),
        make_kernels(inspection),
        tag("p", describe_traffic(inspection), class_="traffic") if inspection.least_bytes else None,
        *(make_finding(finding) for finding in inspection.findings if not has_line(finding, inspection)),
        make_source(inspection),
    )
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return make_document(title, join(header, main), style)


def summarise(inspection: Inspection) -> str:
    """Return the result as one sentence."""
    mistakes = sum(not finding.note for finding in inspection.findings)
    nothing = "Nothing found" if inspection.passed else "No finding"
    verdict = plural(mistakes, "finding") if mistakes else nothing
    failed = "" if inspection.passed else ", but some answers are wrong"
    return f"{verdict} on {plural(inspection.datasets, 'dataset')}{failed}"


def make_kernels(inspection: Inspection) -> Html | None:
    """Make a table of each kernel's block shape, resources and resident threads."""
    if not inspection.kernels:
        return None
    gpu = inspection.gpu
    names = ["Block", "Shared", "Registers", "Resident threads", "Limited by"]
    head = tag("tr", tag("th", "Kernel", scope="col"), *(tag("th", name, scope="col") for name in names))
    rows = []
    for kernel in inspection.kernels:
        block = " × ".join(str(extent) for extent in trim(kernel.block))
        is_known = kernel.registers is not None
        registers = str(kernel.registers) if is_known else "not known"
        if kernel.spilled_bytes:
            registers += f", {kernel.spilled_bytes} bytes spilled"
        threads = f"{'' if is_known else 'at most '}{kernel.resident_threads} of {gpu.threads}"
        values = [
            f"{block} threads",
            f"{kernel.static_shared_bytes + kernel.dynamic_shared_bytes:,} bytes",
            registers,
            join(threads, " ", tag("small", show_share(kernel.resident_share)), bar(kernel.resident_share)),
            kernel.limit,
        ]
        cells = [tag("td", tag("span", value), data_label=name) for name, value in zip(names, values, strict=True)]
        name = join(
            tag("code", kernel.kernel),
            tag("span", "1 launch" if kernel.launches == 1 else f"{kernel.launches} launches", class_="title"),
        )
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    caption = (
        f"Resident threads: the number that a multiprocessor of the {gpu.name} holds at once. More hide latency "
        "better, up to a point. To use another GPU's limits, add GPU=T4, for example."
    )
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="summary kernels")
    return tag("section", tag("h2", "Kernels"), table, tag("p", caption, class_="caption"))


def trim(block: Sequence[int]) -> Sequence[int]:
    """Return a block's extents without trailing extents of 1."""
    while len(block) > 1 and block[-1] == 1:
        block = block[:-1]
    return block


def bar(share: float) -> Html:
    """Draw a share (0 to 1) as a bar."""
    filled = tag("rect", width=f"{100 * min(max(share, 0.0), 1.0):.1f}%", height=4)
    track = tag("rect", width="100%", height=4, class_="track")
    return tag("svg", track, filled, width="100%", height=4, class_="bar", aria_hidden="true")


def describe_traffic(inspection: Inspection) -> Html:
    """Describe the requested device-memory bytes as a multiple of the minimum."""
    factor = show_factor(inspection.device_bytes / inspection.least_bytes)
    return join(
        tag("strong", factor),
        f" the minimum: kernels request {show_bytes(inspection.device_bytes)} in sectors of 32 bytes, but only "
        f"{show_bytes(inspection.least_bytes)} have to move. Caches serve some of the requests.",
    )


def show_bytes(value: float) -> str:
    """Format bytes as the terminal does: 1 KB is 1024 bytes, as in CUDA's documentation."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if value >= size:
            return f"{value / size:.3g}\N{NO-BREAK SPACE}{unit}"
    return f"{value:.0f}\N{NO-BREAK SPACE}bytes"


def has_line(finding: Finding, inspection: Inspection) -> bool:
    """Return whether the finding's line is in the shown source."""
    return 0 < finding.line <= len(inspection.source)


def make_source(inspection: Inspection) -> Html:
    """Make a table of every source line, with its counts in the margin and its findings below it."""
    margins = {line.line: line for line in inspection.lines}
    shares = {line.line: line.share for line in inspection.modelled.shares}
    names = ["Requests", "Lanes", "Sectors", "Passes", "Clashes", *(["Modelled"] if shares else [])]
    head = tag(
        "tr", *(tag("th", name, scope="col", class_="number") for name in names), tag("th", inspection.file, colspan=2)
    )
    rows = []
    for number, code in enumerate(colour_lines(inspection.source), 1):
        share = make_share(shares.get(number, 0)) if shares else None
        rows.append(make_line(number, code, margins.get(number), share))
        findings = [finding for finding in inspection.findings if finding.line == number]
        if findings:
            rows.append(tag("tr", tag("td", *map(make_finding, findings), colspan=len(names) + 2), class_="findings"))
    caption = (
        "For each request (an access of a whole warp): lanes that take part, of 32; sectors of 32 bytes of "
        "device memory, and the possible minimum; passes over the banks of shared memory, or different addresses of "
        "constants; clashes, which are lanes whose atomics go to one address. The stronger the colour of a line's "
        "number, the more memory time it takes; orange if a count is high. Counted in the first blocks of each launch."
    ) + describe_modelled(inspection)
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="source")
    return tag("section", tag("h2", "Source"), tag("p", caption, class_="caption"), table)


def describe_modelled(inspection: Inspection) -> str:
    """Explain the column of modelled shares, or why it is missing."""
    modelled = inspection.modelled
    if modelled.why_not:
        return f" No modelled shares: {modelled.why_not}."
    if not modelled.shares:
        return ""
    return (
        f" Modelled: the line's share of the warps' time on the {modelled.gpu} with the dataset {modelled.dataset}; "
        "this column is modelled, the others are counted. A warp's wait for a value counts for the line that needs the "
        "value."
    )


def make_share(share: float) -> Html:
    """Make the cell of a line's modelled share, in whole percent; empty if it rounds to 0."""
    value = f"{100 * share:.0f}%" if share >= MIN_SHARE else None
    return tag("td", tag("span", value), data_label="modelled", class_="number modelled" + ("" if value else " none"))


def make_line(number: int, text: Html, margin: LineMargin | None, share: Html | None) -> Html:
    """Make one source line; its margin is empty if the line does not access memory."""
    code = tag("td", tag("code", text or " "), class_="code")
    if margin is None:
        return tag("tr", tag("td", colspan=5, class_="quiet"), share, tag("td", number, class_="at"), code)
    sectors = None
    if margin.sectors is not None:
        sectors = join(f"{margin.sectors:.1f}", tag("small", f" / {margin.fewest_sectors or 0:.1f}"))
    cells = [
        margin_cell("requests", f"{margin.requests:,}", False),
        margin_cell("lanes", f"{margin.lanes:.1f}", "lanes" in margin.costly),
        margin_cell("sectors", sectors, "sectors" in margin.costly),
        margin_cell("passes", one_decimal(margin.passes), "passes" in margin.costly),
        margin_cell("clashes", one_decimal(margin.clashes), "clashes" in margin.costly),
    ]
    heat = min(max(margin.heat, 0.0), 1.0)
    kind = "at hot costly" if margin.costly else "at hot"
    at = tag("td", number, class_=kind, style=f"--heat: {100 * heat:.0f}%")
    return tag("tr", *cells, share, at, code, class_="counted")


def margin_cell(name: str, value: Html | str | None, is_costly: bool) -> Html:
    """Make one count's cell, labelled with its name for narrow screens."""
    kind = "number" + (" costly" if is_costly else "") + (" none" if value is None else "")
    return tag("td", tag("span", value), data_label=name, class_=kind)


def one_decimal(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def make_wrong_answers(inspection: Inspection) -> Html | None:
    """Describe the wrong answers and what to try."""
    if not inspection.wrong:
        return None
    hint = tag("p", tag("strong", "Try: "), inspection.wrong_hint, class_="hint") if inspection.wrong_hint else None
    return tag("div", tag("p", tag("strong", "Wrong answers")), tag("p", inspection.wrong), hint, class_="failure")


def make_finding(finding: Finding) -> Html:
    """Describe a finding and what to try."""
    count = tag("small", f" {finding.count:,} times") if finding.count > 1 else None
    title = tag("p", tag("strong", finding.cause.replace("_", " ")), name_other_line(finding), count)
    hint = tag("p", tag("strong", "Try: "), finding.hint, class_="hint") if finding.hint else None
    return tag("div", title, tag("p", finding.message), hint, class_="failure note-box" if finding.note else "failure")


def name_other_line(finding: Finding) -> str | None:
    """Return a phrase that names the finding's second line; None if there is none."""
    if finding.other_line in (0, finding.line):
        return None
    return f" with line {finding.other_line}"


def main(arguments: Sequence[str]) -> int:
    """Make and print the page of the newest inspection; do nothing if the page is already up to date."""
    parser = make_parser("python3 -m grader.python.journal.inspection", __doc__)
    parser.add_argument("folder", type=Path, help="the folder with the JSON of build/warplab inspect")
    options = parser.parse_args(arguments)
    file = max(options.folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, default=None)
    if file is None:
        return 0
    page = file.with_suffix(".html")
    if not page.exists() or page.stat().st_mtime_ns < file.stat().st_mtime_ns:
        write_atomically(page, make_page(read_inspection(file)))
        say(f"Page: {page}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
