"""Drawings for the scripts of several labs: timelines, and blocks that count in their own bins."""

from __future__ import annotations

from collections.abc import Sequence

from drawing import Drawing

# A part of a row: its classes, its word, its width; without classes it is a gap.
Part = tuple[str, str, float]


def draw_timeline(title: str, head: str, rows: Sequence[tuple[str, Sequence[Part]]], notes: Sequence[str]) -> Drawing:
    """Draw rows of parts; time goes to the right."""
    left, top, height, pitch = 110, 48, 28, 42
    picture = Drawing(760, top + pitch * len(rows) + 30 + 18 * len(notes), title)
    picture.text(20, 28, head, "b")
    for number, (name, parts) in enumerate(rows):
        y = top + number * pitch
        picture.text(20, y + 19, name, "c")
        x: float = left
        for kind, word, width in parts:
            if kind:
                picture.rect(x, y, width, height, kind)
                picture.text(x + width / 2, y + 19, word, "m s")
            x += width
    y = top + pitch * len(rows)
    picture.line(left, y, 740, y, arrow=True)
    picture.text(20, y + 4, "time", "q s")
    picture.lines(20, y + 28, list(notes), "q s")
    return picture


def draw_private_bins(title: str, blocks: Sequence[str], arrow_label: str, end: Sequence[str]) -> Drawing:
    """Draw blocks with their own threads and bins on the left, and the bins that they share on the right."""
    pitch = 92
    picture = Drawing(760, max(140, 54 + pitch * len(blocks)), title)
    picture.text(20, 28, "a block counts in its own bins, in shared memory", "b")
    picture.text(520, 28, "global memory", "b")
    middle = 44 + pitch * len(blocks) / 2
    for number, name in enumerate(blocks):
        y, colour = 44 + pitch * number, "ABCD"[number]
        picture.text(20, y + 24, name, "c")
        for thread in range(8):
            picture.rect(120 + 24 * thread, y + 8, 14, 22, colour, 3)
            picture.line(127 + 24 * thread, y + 30, 140 + 30 * (thread * 5 % 6), y + 50)
        picture.cells(125, y + 50, (1, 6), 30, lambda row, column, colour=colour: colour)
        picture.line(312, y + 65, 514, middle, arrow=True)
    picture.text(414, 48, arrow_label, "m s")
    if end:
        picture.cells(520, middle - 10, (1, 6), 20, lambda row, column: "N")
    picture.lines(520, middle + 32, list(end), "q s")
    return picture
