"""Draw the image histogram's pictures: python3 handouts/pictures/image_histogram.py"""

from __future__ import annotations

from drawing import Drawing, run
from ladder import draw_ladder
from shapes import draw_private_bins

COLOURS = "ABCD"


def draw_contention() -> Drawing:
    """Threads with their pixels above, bins below, and a queue at the bin that all threads need."""
    picture = Drawing(760, 260, "Left: pixels of any value, threads at different bins; right: black, all queue at one")

    def draw_case(left: int, words: str, values: list[int]) -> None:
        picture.text(left, 30, words, "b")
        picture.text(left, 62, "a warp's pixels", "q s")
        size = 36
        for k, value in enumerate(values):
            picture.rect(left + k * size, 72, size, 26, COLOURS[value % 4])
            picture.text(left + (k + 0.5) * size, 89, str(value), "m")
            picture.line(left + (k + 0.5) * size, 100, left + (value % 8 + 0.5) * size, 166, arrow=True)
        for v in range(8):
            picture.rect(left + v * size, 170, size, 26, COLOURS[v % 4] if v in values else "W")
            picture.text(left + (v + 0.5) * size, 187, str(v), "m s")
        picture.text(left, 216, "bins", "q s")

    draw_case(30, "any values", [3, 6, 0, 5, 3, 1, 7, 4])
    draw_case(420, "black", [0] * 8)
    picture.text(30, 242, "two threads need bin 3: one waits for the other", "s")
    picture.text(420, 242, "all need bin 0: they take turns", "s")
    return picture


def draw_strides() -> Drawing:
    """Sixteen pixels with the numbers of the threads that count them: four threads, in two orders."""
    size = 40
    picture = Drawing(760, 270, "Strided: a step reads neighbouring pixels; contiguous: it reads pixels far apart")

    def draw_order(top: int, words: str, code: str, owner) -> None:
        picture.text(20, top, words, "b")
        picture.text(200, top, code, "c")

        def kind(_: int, pixel: int) -> str:
            return COLOURS[owner(pixel)]

        picture.cells(20, top + 14, (1, 16), size, kind, lambda _, pixel: f"t{owner(pixel)}")
        for pixel in range(16):
            is_first = pixel < 4 if owner(1) == 1 else pixel % 4 == 0
            if is_first:
                picture.rect(20 + pixel * size, top + 14, size, size, "H")

    draw_order(34, "strided, RUN = 1", "i = t, t + threads, t + 2 * threads, …", lambda pixel: pixel % 4)
    picture.text(20, 108, "red: the pixels read in the first step, one piece of memory", "q s")
    draw_order(160, "contiguous, RUN = n / threads", "", lambda pixel: pixel // 4)
    picture.text(20, 234, "red: the first step touches four pieces of memory, and uses a byte of each", "q s")
    return picture


def draw_halves() -> Drawing:
    """Seven partial bins, reduced in three launches."""
    size, width = 26, 84
    picture = Drawing(760, 300, "7 partials: 3 are added to the first 3, one stays; then 2 to 2; then 1 to 1")
    rows = [(7, 4), (4, 2), (2, 1), (1, 1)]
    for step, (left, half) in enumerate(rows):
        top = 36 + 70 * step
        for k in range(left):
            kind = "B" if k >= half else "A" if k < left - half or left == 1 else "N"
            picture.rect(110 + k * width, top, width - 14, size, kind, 3)
            picture.text(110 + k * width + (width - 14) / 2, top + 18, f"partial {k}", "m s")
            if k >= half:
                picture.line(110 + k * width + 30, top + size, 110 + (k - half) * width + 40, top + 67, arrow=True)
            elif left > 1:
                picture.line(110 + k * width + 20, top + size, 110 + k * width + 20, top + 67)
        picture.text(20, top + 18, f"left = {left}", "c")
    picture.text(310, 36 + 210 + 18, "to bins", "s")
    picture.line(200, 36 + 210 + 13, 300, 36 + 210 + 13, arrow=True)
    picture.text(560, 36 + 70 + 18, "half = (left + 1) / 2 stay", "c")
    picture.text(560, 36 + 70 + 38, "grey: no partner, kept", "q s")
    return picture


def draw_columns() -> Drawing:
    """The table of bins, a row for each value and a column for each lane, with one warp's additions."""
    size, lanes, rows = 30, 16, 8
    picture = Drawing(760, 330, "A column of bins for every lane: 32 additions of a warp fall into 32 banks")
    left, top = 90, 70
    values = [3, 3, 3, 0, 6, 6, 3, 1, 7, 3, 3, 5, 2, 3, 3, 4]
    picture.text(left, 28, "lane and bank", "b")
    for lane in range(lanes):
        words = str(lane) if lane < lanes - 2 else "…" if lane == lanes - 2 else "31"
        picture.text(left + (lane + 0.5) * size, 56, words, "m s")
    for row in range(rows):
        words = str(row) if row < rows - 2 else "…" if row == rows - 2 else "255"
        picture.text(left - 14, top + (row + 0.5) * size + 4, words, "e s")
    picture.text(14, top + 20, "value", "b")
    picture.cells(
        left,
        top,
        (rows, lanes),
        size,
        lambda row, lane: COLOURS[lane % 4] if values[lane] == row else "W",
        lambda row, lane: "+1" if values[lane] == row else "",
    )
    picture.lines(
        590,
        top + 20,
        ["word: value * 32 + lane", "bank: lane"],
        "c",
    )
    picture.lines(590, top + 74, ["Equal values, different", "values: no two lanes", "share a bank or a word."], "s")
    picture.lines(590, top + 146, ["At the end a row is", "added up: 32 words,", "one for each lane."], "q s")
    return picture


def draw_times() -> Drawing:
    """The time of each stage, for the sizes that both the 2018 report and we measured."""
    datasets = {
        "timed_8000x8000_black": "8000 x 8000, black",
        "timed_8000x8000": "8000 x 8000, random",
        "timed_1000x1000_black": "1000 x 1000, black",
        "timed_1000x1000": "1000 x 1000, random",
    }
    return draw_ladder("image_histogram", datasets, "Time of each stage, ours and the report's, on a logarithmic scale")


def draw_blocks() -> Drawing:
    """Three blocks count in three sets of bins. At the end each block adds its bins to the global ones."""
    end = ["atomicAdd: 256 for each block,", "not one for each pixel"]
    return draw_private_bins(
        "Bins of each block in shared memory", ["block 0", "block 1", "block 2"], "once, at the end", end
    )


run(
    {
        "image_histogram_contention": draw_contention,
        "image_histogram_strides": draw_strides,
        "image_histogram_halves": draw_halves,
        "image_histogram_columns": draw_columns,
        "image_histogram_ladder": draw_times,
        "image_histogram_blocks": draw_blocks,
    }
)
