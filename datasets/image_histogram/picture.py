"""Make picture.png, which the image histogram's handout, tests and `make show` use: hills in the evening mist, drawn
with fractal noise, so that neighbouring pixels are similar and values cluster as in a photograph.

.venv/bin/python datasets/image_histogram/picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 311, 197


def fractal_noise(random: np.random.Generator, shape: tuple[int, ...], slope: float) -> np.ndarray:
    """Return noise from -1 to 1. Its amplitude is proportional to the frequency to the power of -`slope`."""
    spectrum = np.fft.rfftn(random.standard_normal(shape))
    frequencies = np.meshgrid(*(np.fft.fftfreq(n) for n in shape[:-1]), np.fft.rfftfreq(shape[-1]), indexing="ij")
    distance = np.sqrt(sum(frequency**2 for frequency in frequencies))
    distance.flat[0] = np.inf
    noise = np.fft.irfftn(spectrum / distance**slope, shape, axes=range(len(shape)))
    return noise / np.abs(noise).max()


def blend(picture: np.ndarray, colour: tuple[int, int, int], weight: np.ndarray) -> np.ndarray:
    """Return the picture with a colour laid over it."""
    return picture + (np.array(colour) - picture) * np.clip(weight, 0, 1)[:, :, None]


def draw_scene() -> np.ndarray:
    """Draw sky, sun, clouds, five ranges of hills, each darker than the range behind it, and a lake."""
    random = np.random.Generator(np.random.PCG64(8))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    picture = np.zeros((HEIGHT, WIDTH, 3))
    picture = blend(picture, (236, 178, 120), 1 + 0 * y)
    picture = blend(picture, (92, 126, 178), 1 - y / 118)
    sun = np.hypot(x - 222, y - 62)
    picture = blend(picture, (255, 238, 190), np.exp(-((sun / 46) ** 2)))
    picture = blend(picture, (255, 252, 238), 12 - sun)
    clouds = fractal_noise(random, (HEIGHT, WIDTH), 1.7)
    picture = blend(picture, (250, 214, 190), 1.5 * (clouds - 0.1) * (1 - y / 150))
    for layer in range(5):
        ridge = 84 + 17 * layer + (26 - 3 * layer) * fractal_noise(random, (2 * WIDTH,), 1.4)[:WIDTH]
        colour = tuple(int(far + (near - far) * layer / 4) for far, near in ((168, 22), (150, 34), (160, 30)))
        texture = fractal_noise(random, (HEIGHT, WIDTH), 1.1)
        picture = blend(picture, colour, y - ridge)
        picture += ((y > ridge) * texture * (4 + 7 * layer))[:, :, None]
    lake = y > 172
    mirrored = picture[np.clip(2 * 172 - np.arange(HEIGHT) - 8, 0, HEIGHT - 1)]
    ripples = fractal_noise(random, (HEIGHT, WIDTH), 0.9)[:, :, None] * 26
    picture = np.where(lake[:, :, None], 0.55 * mirrored + np.array([26, 40, 60]) + ripples, picture)
    return picture + random.normal(0, 2.2, picture.shape)


def main() -> None:
    """Write the picture into the folder of this script."""
    pixels = draw_scene().round().clip(0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(Path(__file__).with_name("picture.png"), optimize=True)


if __name__ == "__main__":
    main()
