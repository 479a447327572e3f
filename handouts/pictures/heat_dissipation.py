"""Draw the pictures of heat dissipation: python3 handouts/pictures/heat_dissipation.py"""

from __future__ import annotations

from drawing import Drawing, run
from shapes import Part, draw_timeline


def draw_field() -> Drawing:
    """The padded field: cells, mirror columns, halo rows, and a cell with its neighbours."""
    rows, columns, size = 5, 8, 30
    picture = Drawing(760, 320, "The field with its halo rows and mirror columns")
    picture.text(20, 28, "(rows + 2) x (columns + 2) doubles", "b")
    left, top = 20, 44

    def kind(row: int, column: int) -> str:
        if row in (0, rows + 1):
            return "N"
        if column == 0:
            return "B"
        if column == columns + 1:
            return "C"
        return {1: "C", columns: "B"}.get(column, "A")

    picture.cells(left, top, (rows + 2, columns + 2), size, kind)
    picture.rect(left + 3 * size, top + 2 * size, 3 * size, 3 * size, "H")
    weights = {(2, 4): "D", (3, 3): "D", (3, 5): "D", (4, 4): "D", (3, 4): "old"}
    for row in (2, 3, 4):
        for column in (3, 4, 5):
            word = weights.get((row, column), "G")
            picture.text(left + (column + 0.5) * size, top + (row + 0.5) * size + 4, word, "m s")
    picture.lines(20, 280, ["cell (i, j) is at (i + 1) * (columns + 2) + j + 1"], "c")
    picture.text(20, 302, "red: a cell and the neighbours that it depends on", "q s")

    def entry(y: int, colour: str, lines: list[str]) -> None:
        picture.rect(380, y - 14, 20, 20, colour, 3)
        picture.lines(412, y, lines)

    entry(62, "N", ["halo rows, above and below: constant"])
    entry(100, "B", ["left mirror column: the last column of cells"])
    entry(138, "C", ["right mirror column: the first column of cells"])
    picture.line(380, 168, 740, 168, kind="r")
    picture.lines(
        380,
        194,
        ["D: direct neighbour, 0.146 of each", "G: diagonal neighbour, 0.104 of each", "all eight weights add up to 1"],
    )
    picture.lines(380, 251, ["c * old + (1 - c) *", "    (D * 4 direct + G * 4 diagonal)"], "c")
    return picture


def draw_reduction() -> Drawing:
    """The two phases in global memory."""
    size, rows, columns = 22, 6, 8
    picture = Drawing(760, 250, "First every row is reduced to its first cell, then the first column to its first cell")

    def draw_phase(left: int, title: str, kind) -> None:
        picture.text(left, 28, title, "b")
        picture.cells(left, 44, (rows, columns), size, kind)

    draw_phase(20, "how much every cell changed", lambda r, c: "A")
    draw_phase(280, "first phase: a block for each row", lambda r, c: "B" if c == 0 else "W")
    draw_phase(540, "second phase: one block", lambda r, c: "C" if r == c == 0 else "B" if c == 0 else "W")
    for row in range(rows):
        picture.line(
            280 + columns * size - 6, 44 + (row + 0.5) * size, 280 + size + 3, 44 + (row + 0.5) * size, arrow=True
        )
    picture.line(551, 44 + rows * size - 6, 551, 44 + size + 3, arrow=True)
    picture.lines(20, 202, ["rows x columns values", "in global memory"], "q s")
    picture.lines(280, 202, ["each row's maximum", "is in its first place"], "q s")
    picture.lines(540, 202, ["the largest change goes to", "the host: 8 bytes"], "q s")
    return picture


def draw_column_walk() -> Drawing:
    """A thread walks down a column: three rows are in registers, the next ones are being loaded."""
    picture = Drawing(760, 320, "A thread walks down a column and loads each row once")
    picture.text(20, 28, "a thread's column, and its neighbours left and right", "b")
    left, top, size, rows = 60, 44, 30, 8
    kinds = {0: "N", 1: "B", 2: "A", 3: "C", 4: "D", 5: "D"}
    picture.cells(left, top, (rows, 3), size, lambda row, column: kinds.get(row, "W"))
    picture.line(left - 22, top + 2.5 * size, left - 22, top + rows * size, arrow=True)

    def entry(row: int, text: str) -> None:
        y = top + (row + 0.5) * size
        picture.line(left + 3 * size + 6, y, left + 3 * size + 40, y)
        picture.text(left + 3 * size + 50, y + 4, text)

    entry(0, "done: no longer needed")
    entry(1, "above: the centre and the sum of left and right, in registers")
    entry(2, "here: its new value can be computed, and its change")
    entry(3, "below: in registers, too; in the next step, it is here")
    entry(4, "requested, not here yet")
    entry(5, "requested, not here yet")
    picture.text(20, 308, "per step: one row of three values is loaded, instead of three rows", "q s")
    return picture


def draw_blocking() -> Drawing:
    """A tile and the rings around it in two iterations."""
    tile, steps, size = 8, 2, 16
    across = tile + 2 * steps
    picture = Drawing(760, 310, "After every iteration, one ring fewer of the loaded cells is right")
    for step in range(steps + 1):
        left = 20 + step * 245

        def kind(row: int, column: int, step: int = step) -> str:
            ring = min(row, column, across - 1 - row, across - 1 - column)
            if ring >= steps:
                return "C"
            return "A" if ring >= step else "X"

        picture.text(left, 28, "loaded" if step == 0 else f"iteration {step}", "b")
        picture.cells(left, 44, (across, across), size, kind)
    picture.rect(20, 252, 18, 18, "C", 3)
    picture.text(46, 266, "own cells: written at the end")
    picture.rect(270, 252, 18, 18, "A", 3)
    picture.text(296, 266, "right, needed by the next iteration")
    picture.rect(555, 252, 18, 18, "X", 3)
    picture.text(581, 266, "a neighbour was missing")
    picture.text(
        20, 296, "here 8 x 8 cells and 2 iterations; other blocks own the blue cells and compute them, too", "q s"
    )
    return picture


def draw_pipeline() -> Drawing:
    """The iteration that each row is in, while the rows arrive one after the other."""
    steps, rows, size = 3, 9, 30
    picture = Drawing(760, 300, "A pipeline: when a row arrives, each iteration computes one row")
    picture.text(20, 28, "time: one row of the field arrives after the other", "b")
    names = ["arrives", "iteration 1", "iteration 2", "iteration 3"]
    colours = ["A", "B", "D", "C"]
    for step in range(steps + 1):
        y = 50 + step * 44
        picture.text(20, y + 20, names[step])
        for time in range(rows):
            x = 110 + time * 66
            row = time - step
            picture.rect(x, y, 58, size, colours[step] if row >= 0 else "W", 4)
            if row >= 0:
                picture.text(x + 29, y + 19, f"row {row}", "m s")
            if row > 0 and step < steps:
                picture.line(x + 29, y + size + 1, x + 29, y + 43, arrow=True)
    picture.lines(
        20,
        244,
        [
            "An arrow: this row is the row below for the next iteration, which keeps the two rows before it.",
            "A row that leaves the last iteration is stored: the field is read and written once",
            "for three iterations.",
        ],
        "q s",
    )
    return picture


def show_launches(title: str, stages: list[str], notes: list[str]) -> Drawing:
    """Draw the launches and copies of iterations in some stages, not to scale."""
    ends: list[Part] = [("C", "rows", 76), ("", "", 10), ("C", "column", 56), ("", "", 10), ("D", "copy 8 bytes", 92)]
    merged: Part = ("A", "update and mirror", 150)
    waits: list[Part] = [("D", "copy 8 bytes", 92), ("", "", 40)]
    rows: dict[str, list[Part]] = {
        "stage 01": [("A", "update", 110), ("", "", 10), ("B", "mirror", 56), ("", "", 10), *ends],
        "stage 02": [merged, ("", "", 10), *ends],
        "stage 03": [
            *(merged, ("", "", 10), ("C", "compare", 66), ("", "", 10)),
            *(("C", "combine", 66), ("", "", 10), ("D", "copy 8 bytes", 92), ("", "", 40)),
            *(("A", "the next iteration", 120), ("", "", 10)),
        ],
        "stage 04": [("A", "update, mirror, change", 142), ("", "", 10), *waits, ("A", "the next iteration", 142)],
        "stage 05": [("A", "update", 100), ("", "", 10), *waits, ("A", "update", 100), ("", "", 10), *waits],
        "stage 06": [("A", "update", 100), ("", "", 10)] * 4 + [("D", "after 64: copy", 100)],
    }
    return draw_timeline(title, "work of the GPU", [(stage, rows[stage]) for stage in stages], notes)


def draw_merged_mirror() -> Drawing:
    """Above, an iteration of stage 01: four kernels and a copy. Below, stage 02: three kernels and a copy."""
    notes = ["Between two kernels there is a gap, even if the second one does almost nothing."]
    return show_launches("The mirror in the update saves a launch", ["stage 01", "stage 02"], notes)


def draw_shared_change() -> Drawing:
    """Above, stage 02 stores all changes and reduces them. Below, stage 03 compares the fields and combines blocks."""
    notes = [
        "rows and column read the matrix of changes; compare reads both fields and keeps one number for each block,",
        "which combine reduces to one. Then the host compares, and only after that the next iteration begins.",
    ]
    return show_launches("The largest change without a matrix of changes", ["stage 02", "stage 03"], notes)


def draw_fused_change() -> Drawing:
    """Above, stage 03: the fields are read again to find the change. Below, stage 04: one kernel, and the copy."""
    notes = [
        "In stage 04, the change is reduced where it is computed. Between two iterations, the GPU waits for the host."
    ]
    return show_launches("One kernel for each iteration", ["stage 03", "stage 04"], notes)


def draw_batched_checks() -> Drawing:
    """Above, stage 05: the host waits in each iteration. Below, stage 06: kernel after kernel, and a copy after 64."""
    notes = [
        "A kernel of stage 06 first reads the largest change of the kernel before it. If that was the last iteration,",
        "it does nothing.",
    ]
    return show_launches("No waiting for the host", ["stage 05", "stage 06"], notes)


run(
    {
        "heat_dissipation_field": draw_field,
        "heat_dissipation_reduction": draw_reduction,
        "heat_dissipation_blocking": draw_blocking,
        "heat_dissipation_pipeline": draw_pipeline,
        "heat_dissipation_merged_mirror": draw_merged_mirror,
        "heat_dissipation_shared_change": draw_shared_change,
        "heat_dissipation_fused_change": draw_fused_change,
        "heat_dissipation_column_walk": draw_column_walk,
        "heat_dissipation_batched_checks": draw_batched_checks,
    }
)
