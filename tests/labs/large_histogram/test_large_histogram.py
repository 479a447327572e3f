"""Cases that no dataset reaches on the CPU backend: a window that stage 07 counts again, windows of other sizes, and
other numbers of blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.conftest import ROOT, check

SOLUTIONS = ROOT / "solutions/large_histogram"


def require_pass_with(stage: str, old: str, new: str, folder: Path) -> None:
    """Check that the stage's solution passes with `new` in place of `old`."""
    source = (SOLUTIONS / f"{stage}.cu").read_text()
    assert source.count(old) == 1
    changed = folder / f"{stage}.cu"
    changed.write_text(source.replace(old, new))
    result = check("large_histogram", stage, changed, folder, "--no-cuda-only")
    assert result.status == 0, result.output


def test_a_window_that_overflowed_is_counted_again(tmp_path: Path) -> None:
    """On the CPU backend, threads of a block run one after the other, so no thread reads 255. Therefore, the test sets
    the flag much earlier."""
    require_pass_with("07_add_first", "& 255) == 255)", "& 255) >= keep_below)", tmp_path)


def test_without_the_second_count_an_overflowed_window_is_wrong(tmp_path: Path) -> None:
    """If the flag is set, the window's counts come only from the second count."""
    source = (SOLUTIONS / "07_add_first.cu").read_text()
    changed = tmp_path / "07_add_first.cu"
    text = source.replace("& 255) == 255)", "& 255) >= keep_below)")
    changed.write_text(text.replace("if (window.holds(bin)) count_by_exchange", "if (false) count_by_exchange"))
    result = check("large_histogram", "07_add_first", changed, tmp_path, "--dataset", "one_value")
    assert result.status == 1, result.output


@pytest.mark.parametrize(("stage", "kilobytes"), [("06_beyond", 16), ("07_add_first", 16), ("07_add_first", 62)])
def test_smaller_windows_are_right(stage: str, kilobytes: int, tmp_path: Path) -> None:
    require_pass_with(stage, "#define WINDOW_KB 216", f"#define WINDOW_KB {kilobytes}", tmp_path)


@pytest.mark.parametrize("stage", ["06_beyond", "07_add_first"])
def test_a_window_that_exceeds_the_devices_shared_memory_shrinks(stage: str, tmp_path: Path) -> None:
    require_pass_with(stage, "#define WINDOW_KB 216", "#define WINDOW_KB 512", tmp_path)


@pytest.mark.parametrize(
    ("stage", "split"),
    [("02_split_blocks", 3), ("03_four_reads", 3), ("04_interleaved_shared", 16), ("05_centered", 3)],
)
def test_other_numbers_of_blocks_are_right(stage: str, split: int, tmp_path: Path) -> None:
    require_pass_with(stage, "#define SPLIT 4", f"#define SPLIT {split}", tmp_path)
