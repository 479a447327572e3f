"""Draws the smoothing filter's pictures: python3 handouts/pictures/smoothing_filter.py"""

from __future__ import annotations

from drawing import Drawing, run


def ring(row: int, column: int) -> int:
    """The filter's weight before the division: 1 on the rim, 3 in the centre."""
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
    picture.text(520, 260, "its window begins at image row y, column x", "q s")
    return picture


def draw_tile() -> Drawing:
    """A 16 x 16 block's tile of 20 x 20, and the four rounds in which the block's threads load it."""
    block, tile, size = 16, 20, 13
    picture = Drawing(
        760, 350, "256 threads load a tile of 400 pixels in four rounds: own pixels, right, below, corner"
    )
    picture.text(20, 28, "tile: 20 x 20 pixels for a block of 16 x 16 threads", "b")

    def kind(row: int, column: int) -> str:
        return {(0, 0): "A", (0, 1): "B", (1, 0): "C", (1, 1): "D"}[row // block, column // block]

    picture.cells(20, 44, (tile, tile), size, kind)
    picture.rect(20 + 2 * size, 44 + 2 * size, block * size, block * size, "H")
    picture.text(20, 44 + tile * size + 22, "red: the pixels the block computes; around them the halo of two", "q s")

    rounds = [
        ("A", "all 256 threads", "tile[ty][tx]", "256 pixels"),
        ("B", "threads with tx < 4", "tile[ty][tx + 16]", "64 pixels"),
        ("C", "threads with ty < 4", "tile[ty + 16][tx]", "64 pixels"),
        ("D", "threads with tx < 4 and ty < 4", "tile[ty + 16][tx + 16]", "16 pixels: the corner"),
    ]
    for k, (colour, who, what, count) in enumerate(rounds):
        y = 62 + 58 * k
        picture.rect(330, y - 13, 22, 22, colour, 3)
        picture.text(362, y + 3, who)
        picture.text(580, y + 3, what, "c")
        picture.text(580, y + 21, count, "q s")
    picture.line(330, 284, 740, 284, kind="r")
    picture.text(330, 304, "__syncthreads()", "c")
    picture.text(450, 304, "all 400 are there: only now may anyone read", "s")
    return picture


def draw_window() -> Drawing:
    """A thread's 5 x 8 pixels in registers, one step down."""
    size, rows, columns = 24, 9, 12
    picture = Drawing(
        760, 340, "A thread's window of five rows slides down: one new row a step, in the oldest one's place"
    )

    def draw_step(left: int, step: int, words: str) -> None:
        picture.text(left, 28, words, "b")

        def kind(row: int, column: int) -> str:
            if 2 <= column < 10 and step <= row < step + 5:
                return "B" if row == step + 4 else "A"
            return "W"

        def register(row: int, column: int) -> str:
            return f"{row % 5}" if column == 2 and step <= row < step + 5 else ""

        picture.cells(left, 44, (rows, columns), size, kind, register)
        picture.rect(left + 4 * size, 44 + (step + 2) * size, 4 * size, size, "H")

    draw_step(20, 1, "step y")
    draw_step(330, 2, "step y + 1")
    picture.rect(640, 60, 22, 22, "A", 3)
    picture.lines(670, 70, ["in registers", "already"], "s")
    picture.rect(640, 110, 22, 22, "B", 3)
    picture.lines(670, 120, ["read now:", "two float4"], "s")
    picture.rect(640, 160, 22, 22, "H", 3)
    picture.lines(670, 170, ["4 results:", "one float4"], "s")
    picture.lines(
        20,
        286,
        [
            "8 pixels read serve 4 results: 100 products, with all 40 pixels in registers.",
            "The numbers are the window's rows, (row of image) % 5: row 6 replaces row 1, and nothing is copied.",
        ],
        "q s",
    )
    return picture


run({"smoothing_filter_halo": draw_halo, "smoothing_filter_tile": draw_tile, "smoothing_filter_window": draw_window})
