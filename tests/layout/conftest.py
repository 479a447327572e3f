from __future__ import annotations

from pathlib import Path

import pytest

from tests.layout.tree import ROOT, project_files


@pytest.fixture(scope="session")
def files() -> list[Path]:
    paths = project_files()
    if not paths:
        pytest.skip("not a git checkout")
    return paths


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def labs() -> list[str]:
    return sorted(manifest.parent.name for manifest in ROOT.glob("labs/*/lab.json"))
