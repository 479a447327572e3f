from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.batch.batches import Course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(tmp_path)
