"""All Python fuzz targets, by the names of the folders of python_corpus/.

A target's inputs are kept in python_corpus/<target>/: test_python_targets.py replays them, and atheris_fuzz.py looks
for new ones.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.documents import try_document, try_journal, try_report
from tests.fuzz.hand_ins import try_download, try_hand_in
from tests.fuzz.tables import try_decisions, try_gradebook, try_roster

CORPUS = Path(__file__).with_name("python_corpus")
MEMORY = Path("/dev/shm")  # a file system in memory, if the machine has one

# Each takes arbitrary bytes and an empty folder, and raises if an invariant is broken.
TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "hand_in": try_hand_in,
    "download": try_download,
    "roster": try_roster,
    "gradebook": try_gradebook,
    "decisions": try_decisions,
    "export": try_report,
    "journal": try_journal,
    "document": try_document,
}
OF_JSON = ("export", "journal", "document")  # targets whose inputs are lines of JSON


def run(name: str, data: bytes) -> None:
    """Try one input of a target. Raises the exception of a broken invariant."""
    folder = tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None)
    try:
        TARGETS[name](data, Path(folder))
    finally:
        shutil.rmtree(folder)
