"""Make the PGM pictures of this folder: temperatures and conductivities, which we designed ourselves.

python3 datasets/heat_dissipation/make_pictures.py    writes them next to this file; they are committed
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent


def write_picture(
    name: str, width: int, height: int, white: int, comment: str, value: Callable[[int, int], float]
) -> None:
    """Write a P2 file. `value(row, column)` returns a pixel's brightness from 0 to 1; the file has it times `white`."""
    lines = ["P2", f"# {comment}", f"{width} {height}", f"{white}  # the largest value"]
    for row in range(height):
        pixels = [str(round(white * value(row, column))) for column in range(width)]
        lines += [" ".join(pixels[start : start + 16]) for start in range(0, width, 16)]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def stove_temperature(row: int, column: int) -> float:
    """Return the brightness of a cold plate with two glowing rings and a hot edge at the top right."""
    for centre_row, centre_column, radius in [(34, 36, 20), (60, 92, 26)]:
        distance = math.hypot(row - centre_row, column - centre_column)
        if abs(distance - radius) < 4 or distance < 5:
            return 1
    return 0.75 if row < 8 and column > 100 else 0.1


def stove_conductivity(row: int, column: int) -> float:
    """Return the conductivity of an uneven material: a wavy band and a bar keep their temperature, the rest adapts."""
    if abs(row - 48 - 18 * math.sin(column * 2 * math.pi / 64)) < 3:
        return 0.95
    if 62 <= column < 66:
        return 1
    return 0.2 + 0.15 * math.sin(row / 5) * math.cos(column / 7)


LETTER = ("#.....#", "#.....#", "#..#..#", "#..#..#", "#.#.#.#", "##...##", "#.....#")


def letter_temperature(row: int, column: int) -> float:
    """Return the brightness of a hot W on a ground that gets warmer downwards."""
    y, x = (row - 9) // 5, (column - 3) // 5
    inside = 0 <= y < len(LETTER) and 0 <= x < len(LETTER[0]) and LETTER[y][x] == "#"
    return 1 if inside else row / 212


def letter_conductivity(row: int, column: int) -> float:
    """Return the conductivity of a checkerboard of two materials."""
    return 0.05 if (row // 6 + column // 6) % 2 else 0.6


if __name__ == "__main__":
    write_picture("stove_temperature.pgm", 128, 96, 255, "two rings and a hot edge", stove_temperature)
    write_picture("stove_conductivity.pgm", 128, 96, 100, "bands that keep their temperature", stove_conductivity)
    write_picture("letter_temperature.pgm", 41, 53, 65535, "a letter; both sizes are primes", letter_temperature)
    write_picture("letter_conductivity.pgm", 41, 53, 7, "a checkerboard", letter_conductivity)
