"""Draws the saturating histogram's pictures: python3 handouts/pictures/saturating_histogram.py"""

from __future__ import annotations

from drawing import Drawing, run
from ladder import draw_ladder

VALUES = [[2, 2, 3, 3, 3, 4], [1, 1, 2, 2, 2, 3], [1, 1, 1, 2, 2, 2]]


def draw_rows() -> Drawing:
    """Rows of six elements at a pitch of eight, and the bins that they fill, up to a full one."""
    picture = Drawing(760, 260, "Rows at a pitch, padding that is not counted, bins that stop when they are full")
    width, pitch, size, left, top = 6, 8, 34, 20, 60
    picture.text(left, 28, "input: height rows, pitch elements apart", "b")
    picture.text(left, 50, "width, counted", "q s")
    picture.text(left + width * size + 4, 50, "padding", "q s")
    for row in range(3):
        for column in range(pitch):
            x, y = left + column * size, top + row * size
            counted = column < width
            picture.rect(x, y, size, size, "A" if counted else "X")
            picture.text(x + size / 2, y + size / 2 + 4, str(VALUES[row][column]) if counted else "?", "m")
    picture.text(left, top + 3 * size + 24, "input[y * pitch + x], x < width", "c")
    picture.text(left, top + 3 * size + 46, "Every row begins at a multiple of 512 bytes.", "q s")

    counts = [sum(row.count(value) for row in VALUES) for value in range(6)]
    full, x0, base, unit = 5, 420, 200, 20
    picture.text(x0, 28, "bins", "b")
    for value, count in enumerate(counts):
        x = x0 + value * 50
        for k in range(count):
            picture.rect(x, base - (k + 1) * unit, 36, unit, "B" if k < full else "X")
        picture.text(x + 18, base + 18, str(value), "m c")
        picture.text(x + 18, base + 38, str(min(count, full)), "m b")
    picture.line(x0 - 10, base - full * unit, x0 + 300, base - full * unit, kind="r")
    picture.text(x0 + 306, base - full * unit + 4, "full", "s")
    picture.text(x0 - 10, base + 18, "value", "e q s")
    picture.text(x0 - 10, base + 38, "bin", "e q s")
    return picture


def draw_strides() -> Drawing:
    """Sixteen elements and four threads: slices, and strides."""
    picture = Drawing(760, 214, "Which thread takes which element: contiguous slices, and strides")
    size, left, kinds = 34, 190, "ABCD"
    for title, note, top, owner in (
        ("02: a slice each", "one load: far apart", 50, lambda i: i // 4),
        ("03: side by side", "one load: next to each other", 136, lambda i: i % 4),
    ):
        picture.text(20, top + 14, title, "b")
        picture.text(20, top + 32, note, "q s")
        for i in range(16):
            picture.rect(left + i * size, top, size, size, kinds[owner(i)])
            picture.text(left + (i + 0.5) * size, top + size / 2 + 4, f"t{owner(i)}", "m s")
        first = [i for i in range(16) if (i % 4 == 0 if top == 50 else i < 4)]
        for i in first:
            picture.rect(left + i * size + 2, top + 2, size - 4, size - 4, "H")
    picture.text(left, 28, "elements of a row", "q s")
    picture.text(left, 198, "red: what the four threads load in their first step", "q s")
    return picture


def draw_turns() -> Drawing:
    """Time goes to the right: while one warp counts, others wait for their loads."""
    warps, load, count, left, width, height = 4, 104, 56, 120, 620, 28
    period = load + count
    picture = Drawing(760, 220, "Warps take turns: while one counts, the loads of others are under way")
    picture.text(20, 30, "warps of a block, each in the same loop", "b")
    for warp in range(warps):
        y = 50 + warp * 36
        picture.text(20, y + 19, f"warp {warp}", "c")
        start = left + warp * count - period
        while start < left + width:
            for kind, name, begin, end in (
                ("A", "load", start, start + load),
                ("B", "count", start + load, start + period),
            ):
                begin, end = max(begin, left), min(end, left + width)
                if end > begin:
                    picture.rect(begin, y, end - begin, height, kind)
                if end - begin > 40:
                    picture.text((begin + end) / 2, y + 19, name, "m s")
            start += period
    picture.line(left, 204, left + width, 204, arrow=True)
    picture.text(20, 208, "time", "q s")
    return picture


def draw_times() -> Drawing:
    """Every stage's time beside the source's."""
    datasets = {"timed_walk": "the journal's walk", "timed_uniform": "uniform, 1023 bins"}
    return draw_ladder(
        "saturating_histogram", datasets, "The time of each of the twelve stages, ours and the journal's"
    )


run(
    {
        "saturating_histogram_rows": draw_rows,
        "saturating_histogram_strides": draw_strides,
        "saturating_histogram_turns": draw_turns,
        "saturating_histogram_ladder": draw_times,
    }
)
