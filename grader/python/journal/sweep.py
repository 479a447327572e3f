"""Show the best values of a stage's tunables: bars in the terminal, and a plot as SVG.

python3 -m grader.python.journal.sweep build/sweep/LAB-STAGE.json    writes the plot next to it, as .svg
python3 -m grader.python.journal.sweep build/sweep                   the same for the newest JSON there

The JSON is what `build/warplab sweep` writes: grader/model/schema/sweep.schema.json.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.python.common.console import UserError, make_parser, run_command, say, write_atomically
from grader.python.common.documents import read_document
from grader.python.common.markup import Html, join, show_text, tag
from grader.python.common.schema_types import defined_by
from grader.python.common.units import plural, show_factor, show_seconds

WIDTH, PANEL_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 260, 84, 24, 56, 56  # the plot's dimensions in pixels
MIN_S = 1e-12  # smaller times are invalid: no program is that fast, and the plot divides by differences of times


@defined_by("sweep", "sweep_point")
class Point:
    @property
    def name(self) -> str:
        """Return the choice as the compiler receives it: BLOCK=256 VECTORS=4."""
        return " ".join(f"{macro}={value}" for macro, value in self.defines.items())


@defined_by("sweep")
class Sweep:
    @property
    def timed(self) -> list[Point]:
        return [point for point in self.points if not point.failure]

    @property
    def best(self) -> Point | None:
        """Return the fastest choice, the first of them if several tie; None if none was timed."""
        return min(self.timed, key=lambda point: point.median_s, default=None)

    @property
    def where(self) -> str:
        """Return the stage, the dataset and the machine as a heading."""
        machine = self.gpu if self.backend == "cuda" and self.gpu else f"{self.backend} backend"
        return f"{self.lab}/{self.stage} on {self.dataset}, {machine}"


def read_sweep(file: Path) -> Sweep:
    """Read a sweep. Raises UserError with the file's name and the place in it."""
    sweep: Sweep = read_document(Sweep, file, "a sweep of build/warplab", "Make one: make sweep LAB=… STAGE=…")
    if not sweep.points:
        raise UserError(f"{file}: the file has no points.")
    for number, point in enumerate(sweep.points):
        if list(point.defines) != list(sweep.points[0].defines) or not point.defines:
            raise UserError(f"{file}: /points/{number}/defines: every point defines the same macros, at least one.")
        if not point.failure and not MIN_S <= point.low_s <= point.median_s <= point.high_s:
            raise UserError(
                f"{file}: /points/{number}: expected {MIN_S:.0e} <= low_s <= median_s <= high_s, or a failure."
            )
    return sweep


def find_newest(folder: Path) -> Path:
    """Return the JSON file written last in a folder. Raises UserError if there is none."""
    file = max(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, default=None)
    if file is None:
        raise UserError(f"No sweep in {folder}. Make one: make sweep LAB=… STAGE=…")
    return file


def format_bars(sweep: Sweep, width: int, bar: str) -> str:
    """Return a line for each choice: its time, its ratio to the best, and a bar proportional to its time."""
    best = sweep.best
    lines = [f"{sweep.where}: seconds for {sweep.iterations} iterations"]
    name_width = min(max(len(point.name) for point in sweep.points), 48)
    room = max(width - name_width - 30, 10)
    longest = max((point.median_s for point in sweep.timed), default=1)
    for point in sweep.points:
        if best is None or point not in sweep.timed:
            lines.append(f"  {point.name:<{name_width}}  {point.failure}")
            continue
        length = max(round(room * point.median_s / longest), 1)
        mark = "  best" if point is best else ""
        numbers = f"{show_seconds(point.median_s):>10}  {show_factor(point.median_s / best.median_s):>6}"
        lines.append(f"  {point.name:<{name_width}}  {numbers}  {bar * length}{mark}")
    if best is not None:
        lines.append(conclude(sweep, best))
    return "\n".join(lines)


def conclude(sweep: Sweep, best: Point) -> str:
    """Name the best choice and the choices that are not clearly slower, because their ranges overlap."""
    close = [point.name for point in sweep.timed if point is not best and point.low_s <= best.high_s]
    text = f"Best: {best.name}"
    if close:
        close_names = ", ".join(close) if len(close) <= 3 else plural(len(close), "choice")
        text += f"; within its noise: {close_names}"
    return f"{text}."


def draw_plot(sweep: Sweep) -> str:
    """Return the plot as SVG, with a panel for each tunable. Dots are choices, bars their ranges; the line joins the
    best of each value."""
    macros = list(sweep.points[0].defines)
    height = TOP + len(macros) * PANEL_HEIGHT
    panels = [draw_panel(sweep, macro, TOP + index * PANEL_HEIGHT) for index, macro in enumerate(macros)]
    words = (
        "text{font:13px system-ui,sans-serif;fill:#1d2126}.head{font-weight:600}.soft{fill:#5c6670}"
        ".grid{stroke:#dfe2e5}.range{stroke:#1f5fa8;stroke-opacity:.4;stroke-width:2}.best{fill:none;stroke:#1f5fa8;stroke-width:1.5}"
        "circle{fill:#1f5fa8;fill-opacity:.45}.winner{fill:#a8321f;fill-opacity:1}.bound{stroke:#1d6f42;"
        "stroke-dasharray:4 3}"
    )
    caption = f"Seconds for {sweep.iterations} iterations, lower is faster. The line joins the best of each value."
    best = sweep.best
    title = f"{sweep.where}: best {best.name}" if best else sweep.where
    return str(
        tag(
            "svg",
            tag("title", title),
            tag("style", Html(words)),
            tag("rect", width="100%", height="100%", fill="#fff"),
            tag("text", sweep.where, x=16, y=26, class_="head"),
            tag("text", caption, x=16, y=46, class_="soft"),
            *panels,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH} {height}",
            width=WIDTH,
            height=height,
            role="img",
        )
    )


def draw_panel(sweep: Sweep, macro: str, top: int) -> Html:
    """Plot the time over the values of one tunable."""
    values = sorted({point.defines[macro] for point in sweep.points})
    ticks = choose_ticks([time for point in sweep.timed for time in (point.low_s, point.high_s, point.median_s)])
    bottom, step = top + PANEL_HEIGHT - BOTTOM, (WIDTH - LEFT - RIGHT) / len(values)

    def across(value: int) -> str:
        return f"{LEFT + step * (values.index(value) + 0.5):.1f}"

    def down(time: float) -> str:
        return f"{bottom - (bottom - top - 12) * (time - ticks[0]) / (ticks[-1] - ticks[0]):.1f}"

    grid = [
        join(
            tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=down(tick), y2=down(tick), class_="grid"),
            tag("text", f"{tick:.6g}", x=LEFT - 8, y=down(tick), dy="0.35em", text_anchor="end", class_="soft"),
        )
        for tick in ticks
    ]
    names = [tag("text", value, x=across(value), y=bottom + 20, text_anchor="middle") for value in values]
    label = tag("text", macro, x=(LEFT + WIDTH - RIGHT) // 2, y=bottom + 40, text_anchor="middle", class_="soft")
    fastest = [min(times) for value in values if (times := times_of(sweep, macro, value))]
    reached = [value for value in values if times_of(sweep, macro, value)]
    path = " ".join(f"{across(value)},{down(time)}" for value, time in zip(reached, fastest, strict=True))
    dots = [draw_dot(sweep, point, across(point.defines[macro]), down) for point in sweep.timed]
    bound = None
    if ticks[0] <= sweep.bound_s <= ticks[-1]:
        height = down(sweep.bound_s)
        bound = join(
            tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=height, y2=height, class_="bound"),
            tag("text", "bound by memory", x=LEFT + 6, y=height, dy=-5, class_="soft"),
        )
    return join(*grid, bound, *names, label, tag("polyline", points=path, class_="best"), *dots)


def times_of(sweep: Sweep, macro: str, value: int) -> list[float]:
    """Return the times of all choices in which the macro has this value."""
    return [point.median_s for point in sweep.timed if point.defines[macro] == value]


def draw_dot(sweep: Sweep, point: Point, x: str, down: Callable[[float], str]) -> Html:
    """Draw a choice: its median as a dot, its samples' range as a bar, its name as a tooltip."""
    span = tag("line", x1=x, x2=x, y1=down(point.low_s), y2=down(point.high_s), class_="range")
    kind = "winner" if point is sweep.best else None
    dot = tag("circle", cx=x, cy=down(point.median_s), r=5 if kind else 4, class_=kind)
    return tag("g", tag("title", f"{point.name}: {show_seconds(point.median_s)}"), span, dot)


def choose_ticks(times: Sequence[float]) -> list[float]:
    """Return two to seven round numbers; the first is not above any time, the last not below any."""
    low, high = min(times), max(times)
    reach = max(high - low, 0.02 * high)
    power = 10.0 ** math.floor(math.log10(reach / 3))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if reach / (factor * power) <= 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [index * step for index in range(first, max(last, first + 1) + 1)]


def main(arguments: Sequence[str]) -> int:
    """Print the bars and write the plot. Return exit status 1 if no choice could be timed."""
    parser = make_parser("python3 -m grader.python.journal.sweep", __doc__)
    parser.add_argument("file", type=Path, metavar="JSON", help="a JSON file of build/warplab sweep, or its folder")
    parser.add_argument("--output", type=Path, metavar="SVG", help="the plot (default: next to the JSON)")
    parser.add_argument("--plot-only", action="store_true", help="print no bars: the terminal already shows the times")
    options = parser.parse_args(arguments)
    file = find_newest(options.file) if options.file.is_dir() else options.file
    sweep = read_sweep(file)
    if not options.plot_only:
        width = shutil.get_terminal_size((100, 24)).columns
        encoding = (sys.stdout.encoding or "").lower().replace("-", "")
        say(show_text(format_bars(sweep, width, "\N{FULL BLOCK}" if encoding == "utf8" else "#")))
    if not sweep.timed:
        say("No choice could be timed, so there is no plot.")
        return 1
    output: Path = options.output or file.with_suffix(".svg")
    write_atomically(output, draw_plot(sweep) + "\n")
    say(f"Plot: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
