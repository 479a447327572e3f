"""`show` on this lab: it writes the right picture, for grey and colour, and invalid pictures get a clear message."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.labs import wrong
from tests.labs.conftest import BUILD, ROOT

np = pytest.importorskip("numpy")
image_module = pytest.importorskip("PIL.Image")

RINGS = np.array([[1 + min(r, c, 4 - r, 4 - c) for c in range(5)] for r in range(5)]) / 35


def show(folder: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `show` on the naive solution; it saves pictures below `folder`."""
    command = [BUILD / "warplab", "show", "smoothing_filter", "01", "--tree", "solutions", "--backend", "cpu", *options]
    command += ["--build", folder / "build"]
    (folder / "build").mkdir(exist_ok=True)
    for part in ("labs", "cpu", "cache"):  # everything except the folder of pictures
        if not (folder / "build" / part).exists():
            (folder / "build" / part).symlink_to((ROOT / BUILD / part).resolve())
    return subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)


def smooth(channel):
    """Apply the filter by its definition; border pixels repeat outwards."""
    padded = np.pad(channel.astype(float), 2, mode="edge")
    height, width = channel.shape
    return sum(RINGS[r, c] * padded[r : r + height, c : c + width] for r in range(5) for c in range(5))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_picture_is_smoothed(mode: str, tmp_path: Path) -> None:
    shape = (23, 41) if mode == "L" else (23, 41, len(mode))
    pixels = np.random.default_rng(7).integers(0, 256, shape).astype(np.uint8)
    image_module.fromarray(pixels, mode=mode).save(tmp_path / "noise.png")
    result = show(tmp_path, "--image", tmp_path / "noise.png")
    assert result.returncode == 0, result.stdout + result.stderr
    folder = tmp_path / "build/show/smoothing_filter"
    before, after, combined = (
        np.asarray(image_module.open(folder / f"{name}.png")) for name in ("before", "after", "before_after")
    )
    channels = pixels.reshape(23, 41, -1)[:, :, :3]
    assert (before.reshape(channels.shape) == channels).all()
    for k in range(channels.shape[2]):
        assert abs(after.reshape(channels.shape)[:, :, k] - smooth(channels[:, :, k])).max() <= 0.501
    assert combined.shape[:2] == (23, 41 + 4 + 41)
    assert ("grey" in result.stdout) == (mode == "L")


def test_the_labs_picture_is_smoothed_repeatedly(tmp_path: Path) -> None:
    once, often = show(tmp_path), show(tmp_path, "--set", "times=3")
    assert once.returncode == often.returncode == 0, once.stdout + often.stderr
    assert "smoothed once" in once.stdout
    assert "smoothed 3 times" in often.stdout


def test_a_wrong_submission_is_shown_with_its_mistake(tmp_path: Path) -> None:
    source = wrong.source_of("smoothing_filter", "01_transposed.patch", tmp_path)
    result = show(tmp_path, "--source", source)
    assert result.returncode == 1
    assert "before_after.png" in result.stdout
    assert "Cause: transposed" in result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no picture at all", "not a picture"),
        (b"P5\n90000 90000\n255\n", "90,000 x 90,000 pixels"),
        (b"", "empty"),
        (None, "no such file"),
    ],
    ids=["text", "huge", "empty", "missing"],
)
def test_invalid_pictures_get_a_clear_message(content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "bad.png").write_bytes(content)
    result = show(tmp_path, "--image", tmp_path / "bad.png")
    assert result.returncode == 2
    assert message in result.stderr
    assert "bad.png" in result.stderr


@pytest.mark.parametrize("name", ["cut.png", "cut.jpg", "cut.ppm"])
def test_truncated_pictures_get_a_clear_message(name: str, tmp_path: Path) -> None:
    complete = tmp_path / f"whole{Path(name).suffix}"
    image_module.open(ROOT / "datasets/smoothing_filter/picture.png").save(complete)
    assert show(tmp_path, "--image", complete).returncode == 0
    for share in (0.02, 0.5, 0.98):
        (tmp_path / name).write_bytes(complete.read_bytes()[: int(complete.stat().st_size * share)])
        result = show(tmp_path, "--image", tmp_path / name)
        assert result.returncode == 2
        assert f"{name}: the picture is cut short or damaged" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "time=3"], "Its settings: times"),
        (["--set", "times=0"], "from 1 to 100"),
        (["--set", "times"], "NAME=VALUE"),
    ],
    ids=["unknown", "range", "form"],
)
def test_invalid_settings_get_a_clear_message(options: list[str], message: str, tmp_path: Path) -> None:
    result = show(tmp_path, *options)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_lab_without_pictures_says_so() -> None:
    command = [BUILD / "warplab", "show", "vector_add"]
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "has no pictures to show" in result.stderr


@pytest.mark.parametrize("text", ["nonsense", "", None], ids=["not C++", "empty source", "missing image"])
def test_a_show_that_draws_nothing_leaves_the_earlier_pictures(tmp_path: Path, text: str | None) -> None:
    assert show(tmp_path).returncode == 0
    folder = tmp_path / "build/show/smoothing_filter"
    earlier = {file.name: file.read_bytes() for file in folder.iterdir()}
    broken = tmp_path / "mine.cu"
    broken.write_text(text or "")
    options = ["--image", tmp_path / "none.png"] if text is None else ["--source", broken]
    assert show(tmp_path, *options).returncode != 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == earlier
    assert [file.name for file in folder.parent.iterdir()] == ["smoothing_filter"]
