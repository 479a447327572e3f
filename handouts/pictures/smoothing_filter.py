"""Draw the smoothing filter's pictures: python3 handouts/pictures/smoothing_filter.py"""

from __future__ import annotations

from drawing import Drawing, run
from shapes import Part, draw_timeline


def ring(row: int, column: int) -> int:
    """Return the filter's weight before the division: 1 at the border, 3 in the centre."""
    return 1 + min(row, column, 4 - row, 4 - column)


def draw_halo() -> Drawing:
    """The padded image, the window of one pixel, the weights, the output."""
    width, height, size = 8, 5, 20
    picture = Drawing(
        760, 290, "The image has two more pixels on each side, so every output pixel has its 5 x 5 window"
    )
    picture.text(20, 28, "image: (width + 4) x (height + 4)", "b")

    def kind(row: int, column: int) -> str:
        inside = 2 <= row < height + 2 and 2 <= column < width + 2
        return "A" if inside else "N"

    left, top = 20, 44
    picture.cells(left, top, (height + 4, width + 4), size, kind)
    y, x = 1, 2  # of the output pixel
    picture.rect(left + x * size, top + y * size, 5 * size, 5 * size, "H")
    picture.rect(left + (x + 2) * size, top + (y + 2) * size, size, size, "B")
    picture.lines(20, top + 9 * size + 24, ["blue: the picture; grey: its border, repeated outwards"], "q s")
    picture.text(20, top + 9 * size + 42, "row y of image begins at y * (width + 4)", "c")

    picture.text(320, 28, "filter, times 35", "b")
    kinds = {1: "N", 2: "C", 3: "D"}
    picture.cells(320, 64, (5, 5), 26, lambda r, c: kinds[ring(r, c)], lambda r, c: str(ring(r, c)))
    picture.lines(320, 218, ["16 x 1 + 8 x 2 + 3 = 35"], "c")
    picture.line(left + (x + 5) * size + 4, top + (y + 2) * size, 314, 126, arrow=True)

    picture.text(520, 28, "out: width x height", "b")
    picture.cells(520, 84, (height, width), size, lambda r, c: "B" if (r, c) == (y, x) else "W")
    picture.line(456, 128, 520 + x * size - 3, 84 + (y + 0.5) * size, arrow=True)
    picture.lines(520, 218, ["out[y * width + x]:", "25 products, added up"], "c")
    picture.text(520, 260, "its window begins at", "q s")
    picture.text(520, 274, "row y, column x of image", "q s")
    return picture


def draw_tile() -> Drawing:
    """The tile of 32 x 8 threads that compute 32 x 32 pixels, and the steps in which they load it."""
    across, down, tile, size = 32, 8, 36, 7.5
    picture = Drawing(
        760, 350, "256 threads load a tile of 1,296 pixels in steps of the block: down, across, the corner"
    )
    picture.text(20, 28, "tile: 36 x 36 pixels for 32 x 32 results", "b")

    def kind(row: int, column: int) -> str:
        return {(0, 0): "A", (0, 1): "B", (1, 0): "C", (1, 1): "D"}[row // across, column // across]

    picture.cells(20, 44, (tile, tile), size, kind)
    for row in range(down, across, down):
        picture.line(20, 44 + row * size, 20 + across * size, 44 + row * size)
    picture.rect(20 + 2 * size, 44 + 2 * size, across * size, across * size, "H")
    picture.text(20, 44 + tile * size + 22, "red: the pixels that the block computes; around them, the halo", "q s")

    rounds = [
        ("A", "all 32 x 8 threads, four times", "rows ty, ty + 8, ty + 16, ty + 24", "1,024 pixels"),
        ("B", "tx < 4, four times", "the same rows, column tx + 32", "128 pixels"),
        ("C", "ty < 4", "row ty + 32", "128 pixels"),
        ("D", "tx < 4 and ty < 4", "row ty + 32, column tx + 32", "16 pixels: the corner"),
    ]
    for k, (colour, threads, action, count) in enumerate(rounds):
        y = 62 + 58 * k
        picture.rect(330, y - 13, 22, 22, colour, 3)
        picture.text(362, y + 3, threads)
        picture.text(362, y + 21, f"{action}: {count}", "q s")
    picture.line(330, 284, 740, 284, kind="r")
    picture.text(330, 304, "__syncthreads()", "c")
    picture.text(450, 304, "all 1,296 are loaded: only now may threads read", "s")
    return picture


def draw_window() -> Drawing:
    """Five pixels of a row of the image are added to the sums of five rows of the output, one sum for each row."""
    size, rows, now = 24, 9, 5
    picture = Drawing(760, 356, "A row is read once and goes into the sums of five rows, which slide down in registers")
    picture.text(60, 28, "image: 5 pixels of a row", "b")
    picture.text(440, 28, "out: a column of sums", "b")
    picture.cells(60, 44, (rows, 5), size, lambda row, column: "B" if row == now else "N" if row < now else "W")
    picture.cells(440, 44, (6, 1), size, lambda row, column: {0: "W", 1: "D"}.get(row, "A"))
    for row in range(rows):
        name = "r" if row == now else f"r {'+' if row > now else '-'} {abs(row - now)}"
        picture.text(52, 44 + (row + 0.5) * size + 4, name, "e c s")
    for k in range(5):
        y = 44 + (now - k + 0.5) * size
        picture.line(60 + 5 * size + 4, 44 + (now + 0.5) * size, 434, y, arrow=True)
        picture.text(440 + size + 10, y + 4, f"row {k} of the filter", "s")
    picture.text(590, 44 + 5.5 * size + 4, "begins", "q s")
    picture.text(590, 44 + 1.5 * size + 4, "done: stored", "q s")
    picture.lines(
        60,
        288,
        [
            "orange: the row in use; grey: used, not read again; white: not read yet",
            "blue and violet: 5 sums in registers. One step later all of it is one row further down:",
            "row y keeps its place, sums[y % 5], and the row that begins takes the place of the one that was stored.",
        ],
        "q s",
    )
    return picture


def draw_columns() -> Drawing:
    """Left: the windows of four neighbouring pixels lie in eight pixels of a row. Right: groups of 16 bytes in the
    rows of two pictures; the rows of the first begin where a group begins, those of the second do not."""
    size = 24
    picture = Drawing(760, 288, "Eight pixels of a row serve four results; two float4 load them, if rows are aligned")
    picture.text(20, 28, "a row of image, for 4 results of a row of out", "b")
    picture.cells(60, 44, (1, 8), size, lambda row, column: "AC"[column // 4], lambda row, column: str(column))
    picture.text(60 + 8 * size + 12, 60, "two float4", "s")
    for j in range(4):
        y = 88 + 30 * j
        picture.text(52, y + 14, f"j = {j}", "e c s")
        picture.cells(60, y, (1, 8), 20, lambda row, column, j=j: "B" if j <= column < j + 5 else "W")
        picture.text(60 + 8 * 20 + 12, y + 14, f"pixels[{j}] to pixels[{j + 4}]", "c s")
    picture.lines(
        20, 232, ["Four threads with one column each read 20 pixels.", "One thread with four columns reads 8."], "q s"
    )

    for top, width, words in (
        (44, 8, "width = 8: each row begins a group"),
        (160, 9, "width = 9: only every fourth row does"),
    ):
        pitch = width + 4
        picture.text(420, top - 16, words, "b")
        for row in range(4):
            for column in range(pitch):
                kind = "AC"[(row * pitch + column) // 4 % 2]
                picture.rect(420 + column * 18, top + row * 18, 18, 18, kind)
            picture.text(420 + pitch * 18 + 10, top + row * 18 + 13, f"{row * pitch % 4 * 4} bytes off", "s q")
    picture.text(420, 258, "blue, green: groups of 16 bytes that one float4 can load", "q s")
    return picture


def draw_ring() -> Drawing:
    """A table of three places in a ring, step by step. In each step, one row is used, the row that is requested takes
    its place, and the two others are on their way."""
    picture = Drawing(760, 262, "A ring of three rows: the row that is requested takes the place of the one in use")
    ahead, steps = 3, 7
    for r in range(steps):
        x = 130 + 88 * r
        picture.text(x + 38, 36, f"r = {r}", "m c")
    for place in range(ahead):
        y = 50 + 42 * place
        picture.text(20, y + 20, f"coming[{place}]", "c s")
        for r in range(steps):
            x = 130 + 88 * r
            row = r + (place - r) % ahead
            picture.rect(x, y, 76, 32, "B" if row == r else "C", 3)
            words = f"{row}, then {row + ahead}" if row == r else f"row {row}"
            picture.text(x + 38, y + 20, words, "m s")
    picture.lines(
        20,
        196,
        [
            "orange: row r is copied to the pixels in use, then row r + 3 is requested in its place",
            "green: requested one or two steps ago, on its way from memory",
            "A row is requested three steps before it is used: the sums of three rows are computed in the meantime.",
        ],
        "q s",
    )
    return picture


def draw_overlap() -> Drawing:
    """The windows of two neighbouring threads on one image: of the 25 pixels of each, 20 are the same."""
    size = 22
    picture = Drawing(760, 210, "Neighbouring threads read nearly the same pixels")
    picture.text(20, 28, "the windows of threads x and x + 1", "b")

    def kind(row: int, column: int) -> str:
        first, second = 2 <= column <= 6 and row < 5, 3 <= column <= 7 and row < 5
        return "D" if first and second else "A" if first else "B" if second else "W"

    picture.cells(20, 44, (6, 12), size, kind)
    for y, colour, words in (
        (60, "A", "read by thread x only: 5 pixels"),
        (94, "B", "read by thread x + 1 only: 5 pixels"),
        (128, "D", "read by both: 20 pixels"),
    ):
        picture.rect(330, y - 14, 20, 20, colour, 3)
        picture.text(362, y, words)
    picture.text(330, 164, "Inside the picture, 25 threads read each pixel.", "q s")
    picture.text(330, 182, "Memory has to deliver it once, if a cache serves the other 24.", "q s")
    return picture


def draw_broadcast() -> Drawing:
    """Above, one read of constant memory serves 32 lanes. Below, lanes that need different weights take turns."""
    picture = Drawing(760, 244, "Constant memory serves a warp at once, if all lanes need the same weight")

    def lanes(y: int, weights: list[int], words: str) -> None:
        picture.text(20, y - 16, words, "b")
        distinct = sorted(set(weights))
        for number, weight in enumerate(distinct):
            x = 140 + number * 120
            picture.rect(x, y, 60, 24, "ABCD"[number])
            picture.text(x + 30, y + 16, f"w[{weight}]", "m s")
        for lane, weight in enumerate(weights):
            x, number = 60 + 40 * lane, distinct.index(weight)
            picture.line(170 + number * 120, y + 24, x + 15, y + 50)
            picture.rect(x, y + 50, 30, 20, "ABCD"[number], 3)
            picture.text(x + 15, y + 64, str(lane), "m s")
        picture.text(600, y + 16, f"passes: {len(distinct)}", "s")

    lanes(54, [7] * 16, "the same weight for all lanes (16 of 32 are drawn)")
    lanes(158, [lane % 4 for lane in range(16)], "four different weights")
    return picture


def draw_one_loader() -> Drawing:
    """Thread 0 loads 400 pixels while the other 255 threads wait at the barrier; then all threads sum."""
    first: list[Part] = [("A", "loads 400 pixels, one by one", 400), ("B", "25 reads of the tile", 150)]
    other_threads: list[Part] = [("W", "wait at the barrier", 400), ("B", "25 reads of the tile", 150)]
    notes = ["Other blocks of the multiprocessor use the time while these threads wait. Not to scale."]
    return draw_timeline(
        "One thread loads the tile while the others wait",
        "a block of 16 x 16 threads",
        [("thread 0", first), ("thread 1", other_threads), ("thread 255", other_threads)],
        notes,
    )


run(
    {
        "smoothing_filter_halo": draw_halo,
        "smoothing_filter_tile": draw_tile,
        "smoothing_filter_window": draw_window,
        "smoothing_filter_columns": draw_columns,
        "smoothing_filter_ring": draw_ring,
        "smoothing_filter_overlap": draw_overlap,
        "smoothing_filter_broadcast": draw_broadcast,
        "smoothing_filter_one_loader": draw_one_loader,
    }
)
