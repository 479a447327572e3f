from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def restore_umask() -> Iterator[None]:
    """Restore the file mask after each test, because some commands change it for the whole process."""
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)
