"""Make picture.png, which the smoothing filter's handout, tests and `make show` use: a harbour at night in plain
shapes, with fine stripes, hard edges and noise, so that the effect of smoothing is visible.

.venv/bin/python datasets/smoothing_filter/picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 237, 158


def draw_scene() -> Image.Image:
    """Draw the sky, the moon, houses with lit windows, a lighthouse and a striped pier."""
    picture = Image.new("RGB", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(picture)
    for y in range(HEIGHT):
        sky = (24 + y // 3, 30 + y // 2, 84 + y // 2)
        sea = (10, 40 + (HEIGHT - y) // 2, 70 + (HEIGHT - y) // 3)
        draw.line([(0, y), (WIDTH, y)], fill=sky if y < 104 else sea)
    draw.ellipse([176, 14, 208, 46], fill=(250, 240, 200))
    colours = [(150, 60, 48), (196, 150, 70), (90, 110, 140), (160, 160, 150), (120, 70, 90)]
    for house, left in enumerate(range(14, 134, 24)):
        top = 62 + (house * 7) % 17
        draw.rectangle([left, top, left + 20, 104], fill=colours[house])
        draw.polygon([(left - 2, top), (left + 10, top - 13), (left + 22, top)], fill=(60, 30, 30))
        for row in range(top + 6, 98, 11):
            for column in (left + 4, left + 12):
                draw.rectangle([column, row, column + 4, row + 5], fill=(255, 225, 120))
    for band in range(6):
        roof = [(175 - band, 93 - 11 * band), (161 + band, 93 - 11 * band)]
        fill = (235, 235, 235) if band % 2 else (205, 40, 40)
        draw.polygon(
            [(160 + band, 104 - 11 * band), (176 - band, 104 - 11 * band), *roof],
            fill=fill,
        )
    draw.rectangle([164, 28, 172, 38], fill=(255, 250, 170))
    for x in range(0, WIDTH, 3):
        draw.line([(x, 128), (x, 146)], fill=(222, 206, 170))
    for wave in range(108, 126, 5):
        draw.arc([20 + wave % 17, wave, 220, wave + 6], 0, 180, fill=(120, 170, 190))
    return picture


def add_noise(picture: Image.Image) -> Image.Image:
    """Add single bright and dark pixels and a little grain, which a smoothing filter removes."""
    random = np.random.Generator(np.random.PCG64(5))
    pixels = np.asarray(picture).astype(int) + random.integers(-14, 15, (HEIGHT, WIDTH, 1))
    specks = random.random((HEIGHT, WIDTH))
    pixels[specks < 0.008] = 255
    pixels[specks > 0.992] = 0
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def main() -> None:
    """Write the picture into the folder of this script."""
    add_noise(draw_scene()).save(Path(__file__).with_name("picture.png"), optimize=True)


if __name__ == "__main__":
    main()
