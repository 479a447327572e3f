"""Variants that were written without sight of the model: all are modelled, and the documented figures are true."""

from __future__ import annotations

import json
import re

from tests.judge.predict import blind_variants


def test_every_variant_is_modelled_and_only_variants_are_timed() -> None:
    variants = {blind_variants.name_of(source) for source in blind_variants.VARIANTS.rglob("*.cu")}
    assert set(json.loads(blind_variants.MODELLED.read_text())) == variants
    assert set(json.loads(blind_variants.MEASURED.read_text())) <= variants


def test_the_documented_figures_are_those_of_the_committed_times() -> None:
    rows = [json.loads(file.read_text()) for file in (blind_variants.MODELLED, blind_variants.MEASURED)]
    *_, summary = blind_variants.compare(*rows)
    count, spearman, within = re.search(
        r"(\d+) variants: Spearman of the times ([\d.]+); .* for (\d+) \(", summary
    ).groups()
    document = " ".join((blind_variants.ROOT / "grader/judge/predict/README.md").read_text().split())
    assert f"{count} of them have been timed" in document
    assert f"correlation of the times is {spearman}" in document
    assert f"for {within} of the {count}" in document
