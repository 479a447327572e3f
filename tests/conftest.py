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


@pytest.fixture(autouse=True)
def check_environment() -> Iterator[None]:
    """Fail a test that leaves other environment variables behind, because later tests in this process inherit them."""
    before = read_environment()
    yield
    assert read_environment() == before


def read_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
