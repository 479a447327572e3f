"""The two charts of the report page, as inline SVG. Horizontal positions are percentages, so charts fit any width and
keep their text size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grader.python.common.markup import Html, tag, wrap_name
from grader.python.common.report import Measurement, StageReport
from grader.python.common.units import show_number, show_seconds

SAMPLES_HEIGHT = 96
ROW_HEIGHT = 34
DIAMOND = "M-5 0 0-5 5 0 0 5Z"
SQUARE = "M-4-4H4V4H-4Z"
TICK = "M0-13V13"


@dataclass(frozen=True)
class Axis:
    """Maps times in seconds to positions in percent."""

    low: float
    high: float
    logarithmic: bool = False

    def position(self, value: float) -> str:
        """Return the position of a time, such as '43.21%'."""
        transform = math.log if self.logarithmic else float
        low, high, at = transform(self.low), transform(self.high), transform(value)
        return f"{100 * (at - low) / (high - low):.2f}%"


def draw_samples(measurement: Measurement) -> Html | None:
    """Draw the samples in measuring order around their median. The axis spans at least 1% on each side, so noise looks
    small."""
    samples, median = measurement.samples_s, measurement.median_s
    if not samples or median <= 0:
        return None
    reach = max(0.01, *(abs(sample / median - 1) for sample in samples)) * 1.1
    dots = [draw_sample(measurement, index, reach) for index in range(len(samples))]
    middle = SAMPLES_HEIGHT / 2
    spread = f"from {show_seconds(min(samples))} to {show_seconds(max(samples))}"
    label = f"{len(samples)} samples {spread}, median {show_seconds(median)}"
    lines = tag("line", x1="0", x2="100%", y1=middle, y2=middle, class_="median")
    picture = tag(
        "svg", lines, *dots, class_="samples", width="100%", height=SAMPLES_HEIGHT, role="img", aria_label=label
    )
    share = show_number(100 * reach / 1.1, 2)
    scale = tag(
        "div",
        *(tag("span", text) for text in (f"+{share}%", "median", f"\N{MINUS SIGN}{share}%")),
        class_="scale",
        aria_hidden="true",
    )
    throttled = any(conditions.throttle for conditions in measurement.conditions[: len(samples)])
    hollow = " Hollow: the GPU throttled." if throttled else ""
    return tag("figure", tag("div", scale, picture, class_="plot"), tag("figcaption", f"{label}.{hollow}"))


def draw_sample(measurement: Measurement, index: int, reach: float) -> Html:
    """Draw one dot, hollow if the GPU throttled. Its tooltip shows the sample's time and the GPU's state."""
    sample = measurement.samples_s[index]
    words = [f"sample {index + 1}: {show_seconds(sample)}"]
    throttled = False
    if index < len(measurement.conditions):
        conditions = measurement.conditions[index]
        throttled = bool(conditions.throttle)
        if conditions.sm_clock_mhz is not None:
            words.append(f"{conditions.sm_clock_mhz} MHz")
        if conditions.temperature_c is not None:
            words.append(f"{conditions.temperature_c} \N{DEGREE SIGN}C")
        if throttled:
            words.append(f"throttled: {conditions.throttle}")
    across = f"{100 * (index + 0.5) / len(measurement.samples_s):.2f}%"
    down = SAMPLES_HEIGHT / 2 * (1 - (sample / measurement.median_s - 1) / reach)
    dot = tag("circle", cx=across, cy=f"{down:.2f}", r=4, class_="throttled" if throttled else "sample")
    return tag("g", tag("title", ", ".join(words)), dot)


def draw_ladder(stages: Sequence[StageReport]) -> Html | None:
    """Draw a lab's stages one below the other on a logarithmic time axis. Return None if fewer than two were timed."""
    timed = [(stage, measurement) for stage in stages if (measurement := stage.main_measurement)]
    timed = [(stage, measurement) for stage, measurement in timed if measurement.median_s > 0]
    if len(timed) < 2:
        return None
    times = [time for _, measurement in timed for _, time, _ in list_marks(measurement)]
    axis = Axis(min(times) / 1.3, max(times) * 1.3, logarithmic=True)
    ticks = round_times(axis)
    rows = [
        tag("div", tag("div", wrap_name(stage.stage), class_="label"), draw_row(measurement, axis, ticks), class_="row")
        for stage, measurement in timed
    ]
    numbers = [tag("span", f"{show_number(time, 1)} s", style=f"left:{axis.position(time)}") for time in ticks]
    foot = tag(
        "div", tag("div", class_="label"), tag("div", *numbers, class_="ticks"), class_="row", aria_hidden="true"
    )
    label = "Time of each stage on a logarithmic axis; the table above has the numbers."
    caption = tag("figcaption", draw_legend(), "Seconds for the benchmark's iterations, logarithmic: left is faster.")
    return tag("figure", tag("div", *rows, foot, role="img", aria_label=label), caption, class_="ladder")


def list_marks(measurement: Measurement) -> list[tuple[str, float, str]]:
    """Return a row's marks: CSS class, time in seconds and SVG path. Values that were not measured are omitted."""
    candidates = [
        ("bound", measurement.bound_s, TICK),
        ("sequential", measurement.sequential_s, DIAMOND),
        ("openmp", measurement.openmp_s, SQUARE),
        ("reference", measurement.reference_s or 0, "M0-13V13"),
        ("student", measurement.median_s, "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0"),
    ]
    return [mark for mark in candidates if mark[1] > 0]


def draw_row(measurement: Measurement, axis: Axis, ticks: Sequence[float]) -> Html:
    grid = [
        tag("line", x1=axis.position(time), x2=axis.position(time), y1=0, y2=ROW_HEIGHT, class_="grid")
        for time in ticks
    ]
    middle = ROW_HEIGHT / 2
    shapes = [
        tag("svg", tag("path", d=path, class_=name), x=axis.position(time), y=middle, overflow="visible")
        for name, time, path in list_marks(measurement)
    ]
    return tag("svg", *grid, *shapes, width="100%", height=ROW_HEIGHT)


def draw_legend() -> Html:
    entries = [
        ("student", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "this submission"),
        ("reference", "M0-7V7", "reference solution"),
        ("bound", "M0-7V7", "bound by memory"),
        ("openmp", SQUARE, "CPU, all cores"),
        ("sequential", DIAMOND, "CPU, one core"),
    ]
    items = [
        tag("span", tag("svg", tag("path", d=path, class_=name), width=14, height=16, viewBox="-7 -8 14 16"), text)
        for name, path, text in entries
    ]
    return tag("span", *items, class_="legend")


def round_times(axis: Axis) -> list[float]:
    """Return the powers of ten on the axis. If these are fewer than three, add intermediate steps."""
    first, last = math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high))
    for steps in ((1,), (1, 3), (1, 2, 5)):
        times = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        visible = [time for time in times if axis.low <= time <= axis.high]
        if len(visible) >= 3:
            return visible
    return visible
