"""Draw the large histogram's pictures: python3 handouts/pictures/large_histogram.py"""

from __future__ import annotations

from drawing import Drawing, run
from ladder import draw_ladder
from shapes import Part, draw_timeline


def draw_word() -> Drawing:
    """Four bins in a word, an addition that carries, and a compare-and-swap that does not."""
    picture = Drawing(760, 250, "Four bins share a word: an addition to a full byte carries into the next bin")

    def word(x: float, y: float, bytes_: list[str], kinds: str) -> None:
        for k, (text, kind) in enumerate(zip(bytes_, kinds, strict=True)):
            picture.rect(x + 62 * k, y, 62, 30, kind)
            picture.text(x + 62 * k + 31, y + 20, text, "m c")

    picture.text(20, 28, "a word: bins 4w + 3 … 4w, the highest byte first", "b")
    word(20, 44, ["7", "0", "255", "31"], "NNBN")
    picture.text(300, 64, "atomicAdd(word, 1 << 8) on a byte that holds 255 …", "c")
    word(20, 96, ["7", "1", "0", "31"], "NXXN")
    picture.text(300, 116, "… empties it, and its neighbour has one too many", "q")
    picture.line(10, 142, 750, 142, kind="r")
    word(20, 160, ["7", "0", "126", "31"], "NNAN")
    picture.text(300, 170, "atomicCAS(word, seen, seen + (1 << 8)) adds only", "c")
    picture.text(300, 190, "if the word is unchanged and its byte is below the cap", "q")
    word(20, 206, ["7", "0", "127", "31"], "NNAN")
    picture.text(300, 226, "at the cap: no thread adds any more", "q")
    return picture


def draw_shares() -> Drawing:
    """The rows of each block, in stage 02 and in stages 04 and 05."""
    picture = Drawing(760, 300, "Four blocks share a histogram: stripes one below the other, or every fourth row each")
    rows, columns, size = 16, 16, 13

    def busy(row: int, column: int) -> bool:
        return (row - 6.5) ** 2 / 9 + (column - 9.5) ** 2 / 16 < 1

    def grid(left: int, owner, words: list[str]) -> None:
        def kind(row: int, column: int) -> str:
            return "ABCD"[owner(row)] if busy(row, column) else "W"

        picture.cells(left, 44, (rows, columns), size, kind)
        for row in range(rows):
            picture.rect(left - 10, 44 + row * size, 6, size, "ABCD"[owner(row)])
        picture.lines(left, 44 + rows * size + 20, words, "q s")

    picture.text(30, 28, "02: shares in one piece", "b")
    grid(30, lambda row: row // 4, ["two blocks have nearly all the work;", "the others read all values, too"])
    picture.text(280, 28, "04: every fourth row", "b")
    grid(280, lambda row: row % 4, ["all four have equal work;", "red: the window, in the middle of the bins"])
    picture.rect(280 + 4 * size, 44 + 4 * size, 8 * size, 8 * size, "H")
    picture.text(530, 28, "05: centred", "b")
    grid(530, lambda row: row % 4, ["the window lies where the values are,", "as a sample of them shows"])
    picture.rect(530 + 6 * size, 44 + 3 * size, 8 * size, 8 * size, "H")
    return picture


def draw_one_block() -> Drawing:
    """The data that stage 07 moves."""
    picture = Drawing(760, 270, "Stage 07: values go in, bins go out, and only values outside the window take a detour")
    picture.rect(20, 60, 130, 110, "A", 4)
    picture.lines(34, 92, ["values", "4 MB, read once"])
    picture.rect(300, 40, 190, 150, "N", 4)
    picture.lines(314, 62, ["one multiprocessor"], "b")
    picture.rect(314, 84, 162, 60, "B", 4)
    picture.lines(326, 106, ["window 576 x 384", "byte bins, 216 KB"], "s")
    picture.text(314, 168, "holds nearly all values", "q s")
    picture.rect(600, 60, 140, 110, "C", 4)
    picture.lines(614, 92, ["bins", "2 MB, written once"])
    picture.line(150, 100, 308, 100, arrow=True)
    picture.text(178, 90, "ahead of use", "q s")
    picture.line(478, 112, 594, 112, arrow=True)
    picture.text(498, 102, "at the end", "q s")
    picture.line(490, 160, 594, 160, arrow=True)
    picture.text(496, 178, "zeros, meanwhile", "q s")
    picture.rect(314, 216, 162, 34, "D", 4)
    picture.text(395, 238, "list: about 0.3%", "m s")
    picture.line(460, 146, 460, 212, arrow=True)
    picture.line(478, 232, 670, 232, 670, 174, arrow=True)
    picture.text(500, 250, "by atomicCAS, after the zeros", "q s")
    return picture


def draw_big_window() -> Drawing:
    """Left: four blocks, each with a window of 46 KB, read all values. Right: one block with a window of 216 KB reads
    them once, and counts all of them."""
    picture = Drawing(760, 292, "Four small windows read the values four times, one big window reads them once")
    picture.text(20, 28, "05: four blocks, two on a multiprocessor", "b")
    picture.rect(20, 60, 90, 168, "A", 4)
    picture.lines(34, 136, ["values", "4 MB"])
    for share in range(4):
        y = 60 + 44 * share
        picture.rect(230, y, 120, 36, "ABCD"[share], 4)
        picture.text(290, y + 15, f"block {share}: 46 KB", "m s")
        picture.text(290, y + 29, "counts a quarter", "m s q")
        picture.line(110, y + 18, 224, y + 18, arrow=True)
        picture.text(128, y + 12, "all values", "q s")
    picture.text(430, 28, "06: one block, alone on a multiprocessor", "b")
    picture.rect(430, 60, 90, 168, "A", 4)
    picture.lines(444, 136, ["values", "4 MB"])
    picture.rect(630, 60, 110, 168, "B", 4)
    picture.lines(642, 116, ["one window", "576 x 384", "216 KB"])
    picture.text(642, 180, "counts all", "q s")
    picture.line(520, 144, 624, 144, arrow=True)
    picture.text(540, 136, "all values", "q s")
    picture.lines(20, 254, ["Together, the windows of a histogram have about the same size: 184 KB and 216 KB."], "q s")
    picture.lines(20, 272, ["Values outside a window are counted in the histogram itself, in the L2 cache."], "q s")
    return picture


def draw_zones() -> Drawing:
    """The values of a byte from 0 to 255, in three ranges: an addition is kept, is undone, or sets the flag."""
    picture = Drawing(760, 262, "What an addition does depends on the value that the byte had before it")
    picture.text(20, 28, "atomicAdd returns what the byte held before", "b")
    left, top, unit = 20, 48, 2.7
    for first, end, kind, words in (
        (0, 128, "C", "0 … 127: it stays"),
        (128, 255, "B", "128 … 254: it is undone"),
        (255, 256, "X", ""),
    ):
        picture.rect(left + first * unit, top, max((end - first) * unit, 12), 36, kind)
        picture.text(left + (first + end) / 2 * unit, top + 23, words, "m")
    for value in (0, 128, 255):
        picture.text(left + value * unit, top + 54, str(value), "c s m" if value else "c s")
    picture.line(left + 127 * unit, top + 66, left + 127 * unit, top + 84)
    words = "the cap, 127: if the count is at least this, any value from 127 to 255 is right"
    picture.text(left + 127 * unit, top + 100, words, "m s")
    picture.line(left + 255 * unit + 6, top + 66, left + 255 * unit + 6, top + 118)
    picture.text(740, top + 132, "255: it has carried into the next byte: set the flag", "e s")
    picture.lines(
        20,
        212,
        [
            "Between an addition and its subtraction, other threads add, too. They need 127 more additions in flight",
            "to drive a byte from 128 to 255. The addition that carries sees the 255, because a byte grows by one.",
        ],
        "q s",
    )
    return picture


def draw_times() -> Drawing:
    """The time of a histogram in each stage."""
    datasets = {"timed_bell": "bell of 90 x 60", "timed_tight": "bell of 30 x 20"}
    return draw_ladder("large_histogram", datasets, "Time per histogram in each stage, ours and the talk's")


def draw_waits() -> Drawing:
    """Above, a thread of stage 02 waits for each of four bins in turn. Below, stage 03 waits for all four at once."""
    one_at_a_time: list[Part] = [("A", "read", 34), ("W", "wait", 50), ("B", "count", 38)]
    four: list[Part] = [("A", "read", 34)] * 4 + [("W", "wait", 50)] + [("B", "count", 38)] * 4
    notes = ["one thread, four values that it has loaded already: it reads the words of their bins, waits, and counts"]
    return draw_timeline(
        "Four waits one after the other, or all at once",
        "a thread, its bins in the L2 cache or in memory",
        [("stage 02", one_at_a_time * 4), ("stage 03", four)],
        notes,
    )


run(
    {
        "large_histogram_word": draw_word,
        "large_histogram_shares": draw_shares,
        "large_histogram_one_block": draw_one_block,
        "large_histogram_big_window": draw_big_window,
        "large_histogram_zones": draw_zones,
        "large_histogram_ladder": draw_times,
        "large_histogram_waits": draw_waits,
    }
)
