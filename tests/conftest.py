from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def same_mask() -> Iterator[None]:
    """Some commands change the file mask of this process, in which other tests run later."""
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)
