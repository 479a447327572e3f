"""Draw the saturating histogram's pictures: python3 handouts/pictures/saturating_histogram.py"""

from __future__ import annotations

from drawing import Drawing, run
from ladder import draw_ladder
from shapes import Part, draw_private_bins, draw_timeline

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
    picture.text(left, 198, "red: the elements of the four threads' first loads", "q s")
    return picture


def draw_turns() -> Drawing:
    """Time goes to the right: while one warp counts, others wait for their loads."""
    warps, load, count, left, width, height = 4, 104, 56, 120, 620, 28
    period = load + count
    picture = Drawing(760, 220, "Warps take turns: while one counts, the loads of others are in flight")
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
    """The time of every stage, next to the journal's."""
    datasets = {"timed_walk": "the journal's walk", "timed_uniform": "uniform, 1023 bins"}
    return draw_ladder(
        "saturating_histogram", datasets, "The time of each of the twelve stages, ours and the journal's"
    )


def draw_host() -> Drawing:
    """Above, the steps of the host function one after the other. Below, the work of the GPU in the meantime."""
    host: list[Part] = [
        *(("N", "cudaMalloc", 84), ("A", "copy in", 110), ("N", "launch", 60)),
        *(("W", "copy back: waits for the kernel, then copies", 276), ("N", "cudaFree", 84)),
    ]
    gpu: list[Part] = [
        ("", "", 84),
        ("A", "receives", 110),
        ("", "", 36),
        ("B", "count_kernel", 200),
        ("C", "sends", 90),
    ]
    notes = ["A launch returns at once. cudaMemcpy waits: first for the kernel, then for its own bytes. Not to scale."]
    return draw_timeline("The code around a kernel", "saturating_histogram_host", [("host", host), ("GPU", gpu)], notes)


def draw_own_bins() -> Drawing:
    """One block counts in its own bins and copies them out once."""
    return draw_private_bins(
        "One block with its own bins", ["block 0"], "copied once", ["stored, not added: no other", "block writes here"]
    )


def draw_blocks() -> Drawing:
    """Three blocks count in three sets of bins, which they add atomically to one set."""
    end = ["atomicAdd: 1024 for each block.", "These bins must begin with 0."]
    return draw_private_bins(
        "Many blocks, each with its own bins", ["block 0", "block 1", "block 2"], "added once", end
    )


def draw_partials() -> Drawing:
    """Three blocks count in three sets of bins and store them in three places; a second kernel adds them up."""
    picture = draw_private_bins(
        "All partial bins are stored, then added up", ["block 0", "block 1", "block 2"], "stored", []
    )
    for row, colour in enumerate("ABC"):
        picture.cells(520, 130 + 36 * row, (1, 6), 20, lambda r, c, colour=colour: colour)
    picture.rect(560, 124, 20, 104, "H")
    picture.lines(
        520, 254, ["no atomics: a place for each block;", "red: the counts that sum_kernel adds for a bin"], "q s"
    )
    return picture


def draw_narrow() -> Drawing:
    """Above, counts of 32 bits. Below, the bytes that they become: the smaller of the count and 255."""
    picture = Drawing(760, 160, "Narrowing: the smaller of count and 255")
    picture.text(20, 28, "narrow_kernel, a thread for each of 1024 bins", "b")
    for column, count in enumerate((3, 254, 255, 260, 1031)):
        x = 140 + 110 * column
        picture.rect(x, 44, 84, 26, "A")
        picture.text(x + 42, 62, str(count), "m")
        picture.line(x + 42, 72, x + 42, 104, arrow=True)
        picture.rect(x + 31, 106, 22, 26, "B" if count <= 255 else "X")
        picture.text(x + 42, 124, str(min(count, 255)), "m s")
    picture.text(20, 62, "counts, 32 bits", "s")
    picture.text(20, 124, "bins, 8 bits", "s")
    picture.text(20, 150, "broken lines: cut off. A conversion to a byte alone would keep 260 - 256 = 4.", "q s")
    return picture


def draw_skipped() -> Drawing:
    """The sum of one bin after each of eight blocks: the third fills it, and the others skip their atomic."""
    picture = Drawing(760, 210, "When the sum is full, the other blocks skip the atomic")
    picture.text(20, 28, "one bin in memory, while the blocks add to it one after the other", "b")
    base, scale, own = 170, 0.3, 100
    for block in range(8):
        x, added = 60 + 64 * block, min(block + 1, 3)
        for part in range(added):
            kind = "N" if part < added - 1 or block > 2 else "B"
            picture.rect(x, base - (part + 1) * own * scale, 40, own * scale, kind)
        picture.text(x + 20, base + 18, "adds" if block < 3 else "skips", "m s")
    picture.line(50, base - 255 * scale, 580, base - 255 * scale, kind="r")
    picture.text(588, base - 255 * scale + 4, "255: full", "s")
    picture.text(588, base, "each block counted 100", "q s")
    words = "In reality, blocks end almost at the same time: some read a sum that is not full yet, and add to it."
    picture.text(20, 204, words, "q s")
    return picture


def show_flight(title: str, per_step: tuple[int, int]) -> Drawing:
    """Draw the time that a thread takes for the same elements, with few and with many loads in each step."""
    rows = []
    for number in per_step:
        step: list[Part] = [
            ("A", "load" if number < 4 else f"{number} loads", 34 + 4 * number),
            ("W", "wait", 60),
            ("B", "count", 34 + 3 * number),
            ("", "", 6),
        ]
        steps = max(1, int(600 / sum(width for _, _, width in step)))
        rows.append((f"{number} a step", step * steps))
    notes = [
        "A wait costs the same for one load and for many that are in flight together.",
        "Other warps of the multiprocessor use the time of a wait as well.",
    ]
    return draw_timeline(title, "one thread", rows, notes)


def draw_flight_of_four() -> Drawing:
    """Above, a thread that waits for each load. Below, four loads in each step, with one wait for all of them."""
    return show_flight("One load in flight, or four", (1, 4))


def draw_flight_of_twelve() -> Drawing:
    """Above, four loads in each step. Below, twelve loads, with one wait for all of them."""
    return show_flight("Four loads in flight, or twelve", (4, 12))


def draw_vectors() -> Drawing:
    """The end of a row of ten elements at a pitch of twelve: two whole vectors, and one of which two elements count."""
    picture = Drawing(760, 150, "Vectors of four elements, and the last one of a row")
    picture.text(20, 28, "a row of 10 elements, in loads of four", "b")
    for element in range(12):
        x = 60 + 50 * element
        picture.rect(x, 46, 50, 30, "ABC"[element // 4] if element < 10 else "X")
        picture.text(x + 25, 66, str(element) if element < 10 else "?", "m")
    for vector in range(3):
        picture.rect(60 + 200 * vector, 44, 200, 34, "H")
        left = min(4, 10 - 4 * vector)
        picture.text(160 + 200 * vector, 98, f"one uint4: {left} of its elements count", "m s")
    picture.text(20, 132, "The padding is loaded with the last vector, which the pitch allows, but not counted.", "q s")
    return picture


run(
    {
        "saturating_histogram_rows": draw_rows,
        "saturating_histogram_strides": draw_strides,
        "saturating_histogram_turns": draw_turns,
        "saturating_histogram_ladder": draw_times,
        "saturating_histogram_host": draw_host,
        "saturating_histogram_own_bins": draw_own_bins,
        "saturating_histogram_blocks": draw_blocks,
        "saturating_histogram_narrow": draw_narrow,
        "saturating_histogram_skipped": draw_skipped,
        "saturating_histogram_flight_of_four": draw_flight_of_four,
        "saturating_histogram_flight_of_twelve": draw_flight_of_twelve,
        "saturating_histogram_partials": draw_partials,
        "saturating_histogram_vectors": draw_vectors,
    }
)
