"""Variants that were written without sight of the model: all are modelled, and the documented figures are true."""

from __future__ import annotations

import re

import pytest

from tests.judge.predict import blind_variants


@pytest.mark.parametrize("name", ["first", "second"])
def test_every_variant_is_modelled_and_only_variants_are_timed(name: str) -> None:
    folder = blind_variants.SETS / name
    variants = {blind_variants.name_of(source) for source in folder.rglob("*.cu")}
    assert set(blind_variants.read_rows(folder, "modelled")) == variants
    assert set(blind_variants.read_rows(folder, "measured")) <= variants


@pytest.mark.parametrize("name", ["first", "second"])
def test_the_documented_figures_are_those_of_the_committed_times(name: str) -> None:
    folder = blind_variants.SETS / name
    rows = [blind_variants.read_rows(folder, kind) for kind in ("modelled", "measured")]
    *_, summary = blind_variants.compare(*rows)
    count, spearman, factor, within, percent = re.search(
        r"(\d+) variants: Spearman of the times ([\d.]+); median factor of the times ([\d.]+), .* for (\d+) \((\d+)%\)",
        summary,
    ).groups()
    document = " ".join((blind_variants.ROOT / "grader/judge/predict/README.md").read_text().split())
    assert f"| {name} | {len(rows[0])} | {count} | {spearman} | {factor} | {within} ({percent}%) |" in document
