"""The journal's plots, as inline SVG. Horizontal positions are percentages, so plots fit any width and keep their text
size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.python.common.charts import ROW_HEIGHT, Axis, round_times
from grader.python.common.markup import Html, join, tag, wrap_name
from grader.python.common.units import show_bandwidth, show_number, show_seconds, show_share
from grader.python.journal.optimisations import Row, Timeline
from grader.python.journal.words import show_speedup

ROOF_HEIGHT = 300
LONGEST_BAR = 0.69  # fraction of the width
SHORT_LINE = "M0-8V8"  # in legends
LABEL_HEIGHT = 14  # the height of a point's number in the roofline plot


@dataclass(frozen=True)
class Line:
    """A value drawn through all rows, such as the bound or the CPU's time."""

    kind: str  # CSS class
    value: float
    words: str


def draw_times(timeline: Timeline) -> Html | None:
    """Plot the time of each optimisation on a logarithmic axis, with the samples as dots."""
    timed = timeline.latest
    lines = [
        Line("bound-line", timed.bound_s, "bound by memory"),
        Line("openmp-line", timed.openmp_s, "CPU, all cores"),
        Line("sequential-line", timed.sequential_s, "CPU, one core"),
    ]
    lines = [line for line in lines if line.value > 0] if timeline.place.is_gpu else []
    values = [row.time_s for row in timeline.rows] + [line.value for line in lines]
    axis = Axis(min(values) / 1.5, max(values) * 1.5, logarithmic=True)
    ticks = round_times(axis)
    rows = [
        draw_row(row, draw_dots(row, axis), row.time_s, show_seconds(row.time_s), axis, ticks, lines)
        for row in timeline.rows
    ]
    legend = [("median-tick", "median, with its samples")]
    legend += [(line.kind, f"{line.words}: {show_seconds(line.value)}") for line in lines]
    caption = f"seconds for {timed.iterations:,} iterations on {timeline.dataset}, logarithmic: left is faster."
    label = f"Time of each optimisation, {caption} {list_values(timeline.rows, lambda row: show_seconds(row.time_s))}"
    return draw_rows(rows, axis, ticks, lambda tick: f"{show_number(tick, 1)} s", legend, f"S{caption[1:]}", label)


def draw_dots(row: Row, axis: Axis) -> Html:
    middle = ROW_HEIGHT / 2
    samples = [
        tag("circle", cx=axis.position(sample * row.scale), cy=middle, r=3.5, class_="sample-dot")
        for sample in row.measurement.samples_s
        if axis.low < sample * row.scale < axis.high
    ]
    at = axis.position(row.time_s)
    return join(*samples, tag("line", x1=at, x2=at, y1=middle - 9, y2=middle + 9, class_="median-tick"))


def draw_speedups(timeline: Timeline) -> Html | None:
    """Plot the speedup over one CPU core. Return None if there is no speedup to show."""
    rows = [row for row in timeline.rows if row.measurement.speedup_sequential > 0]
    if not timeline.place.is_gpu or not rows:
        return None

    def speedup(row: Row) -> float:
        return row.measurement.speedup_sequential

    values = [*map(speedup, rows), 1.0]
    axis = axis_of_bars(min(values) / 2.5, max(values))
    ticks = round_times(axis)
    drawn = [
        draw_row(
            row, draw_bar(axis, 1.0, speedup(row)), max(speedup(row), 1), show_speedup(speedup(row)), axis, ticks, []
        )
        for row in rows
    ]
    caption = "Speedup over one core of the CPU, logarithmic. Bars to the left of 1 are slower than the core."
    label = f"{caption} {list_values(rows, lambda row: show_speedup(speedup(row)))}"
    return draw_rows(
        drawn, axis, ticks, lambda tick: f"{show_number(tick, 1)}\N{MULTIPLICATION SIGN}", [], caption, label
    )


def draw_bandwidths(timeline: Timeline) -> Html | None:
    """Plot the achieved bytes per second of each row, with the measured memory bandwidth as a line.

    This replaces the roofline for code without arithmetic. Return None if there is nothing to show.
    """
    rows = [row for row in timeline.rows if reached_bytes_per_s(row) > 0]
    if not timeline.place.is_gpu or not rows:
        return None
    roof = max(row.measurement.bandwidth_bytes_per_s for row in rows)
    values = [roof, *map(reached_bytes_per_s, rows)]
    axis = axis_of_bars(min(values) / 2, max(values))
    ticks = round_times(axis)
    lines = [Line("bound-line", roof, "memory bandwidth")]
    drawn = []
    for row in rows:
        value = reached_bytes_per_s(row)
        text = f"{show_bandwidth(value)}, {show_share(row.measurement.bound_fraction)}"
        drawn.append(draw_row(row, draw_bar(axis, axis.low, value), value, text, axis, ticks, lines))
    caption = "Bytes that have to move, per second, logarithmic."
    label = f"{caption} {list_values(rows, lambda row: show_bandwidth(reached_bytes_per_s(row)))}"
    legend = [("bound-line", f"the GPU's memory: {show_bandwidth(roof)}")]
    return draw_rows(drawn, axis, ticks, show_rate, legend, caption, label)


def show_rate(bytes_per_s: float) -> str:
    """Format a rate on an axis: 100 GB/s, 0.1 GB/s."""
    return f"{show_number(bytes_per_s / 1e9, 1)} GB/s"


def reached_bytes_per_s(row: Row) -> float:
    """Return the bound's bytes divided by the measured time."""
    return row.measurement.bandwidth_bytes_per_s * row.measurement.bound_fraction


def axis_of_bars(low: float, highest: float) -> Axis:
    """Return an axis on which the longest bar leaves room for its value."""
    return Axis(low, low * (highest / low) ** (1 / LONGEST_BAR), logarithmic=True)


def draw_bar(axis: Axis, begin: float, end: float) -> Html:
    """Draw a bar between two values."""
    low, high = (float(axis.position(value).rstrip("%")) for value in sorted((begin, end)))
    return tag("rect", x=f"{low:.2f}%", width=f"{max(high - low, 0.2):.2f}%", y=ROW_HEIGHT / 2 - 6, height=12)


def draw_row(
    row: Row, shapes: Html, end: float, text: str, axis: Axis, ticks: Sequence[float], lines: Sequence[Line]
) -> Html:
    """Draw a row. Its label links to the optimisation. The value is to the right of the shapes' end, or to the left of
    it if there is no room."""
    grid = [draw_line(axis, tick, "grid") for tick in ticks]
    through = [draw_line(axis, line.value, line.kind) for line in lines]
    at = axis.position(end)
    left = float(at.rstrip("%")) > 70
    words = tag("text", text, dx=-12 if left else 12, dy="0.35em", text_anchor="end" if left else None, class_="value")
    value = tag("svg", words, x=at, y=ROW_HEIGHT / 2, overflow="visible")
    picture = tag("svg", *grid, *through, shapes, value, width="100%", height=ROW_HEIGHT)
    link = tag("a", wrap_name(row.optimisation.id), href=f"#{row.optimisation.id}")
    return tag("div", tag("div", link, class_="label"), picture, class_="row")


def draw_line(axis: Axis, value: float, kind: str) -> Html:
    """Draw a line through a row from top to bottom."""
    return tag("line", x1=axis.position(value), x2=axis.position(value), y1=0, y2=ROW_HEIGHT, class_=kind)


def draw_rows(
    rows: Sequence[Html],
    axis: Axis,
    ticks: Sequence[float],
    show: Callable[[float], str],
    legend: Sequence[tuple[str, str]],
    caption: str,
    label: str,
) -> Html:
    """Draw rows one below the other, then the axis's numbers, the legend and the caption."""
    inner = [tick for tick in ticks if 5 < float(axis.position(tick).rstrip("%")) < 95]  # others would be cut off
    step = -(-len(inner) // 5) or 1  # a phone has room for at most five numbers
    numbers = [tag("span", show(tick), style=f"left:{axis.position(tick)}") for tick in inner[::step]]
    foot = tag(
        "div", tag("div", class_="label"), tag("div", *numbers, class_="ticks"), class_="row", aria_hidden="true"
    )
    entries = [
        tag(
            "span",
            tag("svg", tag("path", d=SHORT_LINE, class_=name), width=14, height=16, viewBox="-7 -8 14 16"),
            words,
        )
        for name, words in legend
    ]
    explained = tag("figcaption", tag("span", *entries, class_="legend") if entries else None, caption)
    return tag("figure", tag("div", *rows, foot, role="group", aria_label=label), explained, class_="ladder")


def list_values(rows: Sequence[Row], show: Callable[[Row], str]) -> str:
    """List a plot's numbers in words."""
    return "; ".join(f"{row.optimisation.id}: {show(row)}" for row in rows) + "."


def draw_roofline(timeline: Timeline) -> Html | None:
    """Plot operations per second over arithmetic intensity, below the memory-bandwidth bound.

    Without operations, plot the bytes per second instead. Return None if there is nothing to show.
    """
    points = [(row, intensity(row)) for row in timeline.rows if reached_bytes_per_s(row) > 0]
    if not timeline.place.is_gpu or not points or min(x for _, x in points) <= 0:
        return draw_bandwidths(timeline)
    bandwidth = max(row.measurement.bandwidth_bytes_per_s for row, _ in points)
    rates = [reached_bytes_per_s(row) * x for row, x in points]
    across = Axis(min(x for _, x in points) / 8, max(x for _, x in points) * 8, logarithmic=True)
    roofs = [bandwidth * x for x in (across.low, across.high)]
    up = Axis(min(*rates, *roofs) / 2, max(*rates, *roofs) * 1.2, logarithmic=True)

    def down(rate: float) -> float:
        return ROOF_HEIGHT * (1 - float(up.position(rate).rstrip("%")) / 100)

    grid = [
        join(
            tag("line", x1="0", x2="100%", y1=f"{down(tick):.1f}", y2=f"{down(tick):.1f}", class_="grid"),
            tag("text", show_operations(tick, 1), x=4, y=f"{down(tick) - 4:.1f}", class_="tick"),
        )
        for tick in spread_out(round_times(up))
    ]
    roof = tag("line", x1="0", x2="100%", y1=f"{down(roofs[0]):.1f}", y2=f"{down(roofs[1]):.1f}", class_="bound-line")
    dots = draw_points([(row, across.position(x), down(rate)) for (row, x), rate in zip(points, rates, strict=True)])
    caption = (
        "Operations per second over operations per byte, both logarithmic. The line is the bandwidth bound: "
        f"{show_bandwidth(bandwidth)} times the intensity. The GPU's maximum number of operations per second is not "
        "measured."
    )
    values = dict(zip((row.optimisation.id for row, _ in points), rates, strict=True))
    label = "; ".join(f"{name}: {show_operations(rate)}" for name, rate in values.items())
    picture = tag(
        "svg",
        *grid,
        roof,
        dots,
        width="100%",
        height=ROOF_HEIGHT,
        role="img",
        aria_label=f"Roofline. {caption} {label}.",
    )
    numbers = [
        tag("span", f"{show_number(tick, 1)} flop/byte", style=f"left:{across.position(tick)}")
        for tick in spread_out(round_times(across))
    ]
    ticks = tag("div", *numbers, class_="ticks", aria_hidden="true")
    return tag("figure", picture, ticks, tag("figcaption", caption), class_="roofline")


def spread_out(ticks: Sequence[float]) -> Sequence[float]:
    """Return at most four of the ticks."""
    return ticks[:: -(-len(ticks) // 4)]


def intensity(row: Row) -> float:
    """Return the operations per byte that has to move; 0 if the code does no arithmetic."""
    timed = row.measurement
    return timed.flops / timed.bound_bytes if timed.bound_bytes > 0 else 0


def draw_points(points: Sequence[tuple[Row, str, float]]) -> Html:
    """Draw dots labelled with their stages' numbers; dots that are close together share a label."""
    groups: list[list[tuple[Row, str, float]]] = []
    for point in sorted(points, key=lambda point: point[2]):
        if groups and point[2] - groups[-1][0][2] < LABEL_HEIGHT and point[1] == groups[-1][0][1]:
            groups[-1].append(point)
        else:
            groups.append([point])
    drawn = []
    for group in groups:
        for row, x, y in group:
            title = tag("title", f"{row.optimisation.id}: {show_seconds(row.time_s)}")
            drawn.append(tag("g", title, tag("circle", cx=x, cy=f"{y:.1f}", r=5, class_="student")))
        names = ", ".join(sorted(row.optimisation.id.partition("_")[0] for row, _, _ in group))
        words = tag("text", names, dx=12, dy="0.35em", class_="value")
        drawn.append(tag("svg", words, x=group[0][1], y=f"{group[0][2]:.1f}", overflow="visible"))
    return join(*drawn)


def show_operations(flops_per_s: float, digits: int = 3) -> str:
    """Format operations per second with a suitable unit."""
    for size, unit in ((1e12, "Tflop/s"), (1e9, "Gflop/s"), (1e6, "Mflop/s")):
        if flops_per_s >= size:
            return f"{show_number(flops_per_s / size, digits)} {unit}"
    return f"{show_number(flops_per_s, digits)} flop/s"
