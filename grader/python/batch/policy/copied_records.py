"""Find journals that contain records of another journal. Each record contains the time of its measurement, to the
second, so two authors practically never have equal records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from grader.python.batch.ingest.archive import RECORDS
from grader.python.batch.store.places import place_of
from grader.python.batch.store.rows import Row

EXAMPLE = "the published example"
SHARE = 0.5  # minimum share of a journal's records that another journal contains, too
MAX_OWNERS = 20  # journals that are compared for one record
MAX_RECORDS = 20_000  # read per journal; the journal of a whole term has far fewer


def find_copied_records(rows: Iterable[Row], folder: Path, example: Path) -> list[tuple[str, str]]:
    """Return the keys of hand-ins whose journals have copied records, each with the owner of the other journal: the
    key of a hand-in of other students, or EXAMPLE. Of two hand-ins with equal records, the one whose key is later in
    the alphabet is returned. `folder`: the batch's; `example`: the records of the published example. A file that cannot
    be read counts as empty."""
    by_key = {row.key: row for row in sorted(rows, key=lambda row: row.key)}
    files = {EXAMPLE: example}
    for row in by_key.values():
        files[row.key] = place_of(folder, "journals", row.key) / RECORDS
    owners: dict[bytes, list[str]] = defaultdict(list)
    copied = []
    for key, file in files.items():
        records = read_records(file)
        known: Counter[str] = Counter()
        for record in records:
            known.update(
                owner for owner in owners[record] if owner == EXAMPLE or are_unrelated(by_key[owner], by_key[key])
            )
            owners[record] = [*owners[record], key][:MAX_OWNERS]
        for owner, count in known.most_common(1):
            if count >= SHARE * len(records):
                copied.append((key, owner))
    return copied


def are_unrelated(row: Row, other: Row) -> bool:
    """Return whether two hand-ins belong to different students who are not a team."""
    return not set(row.members) & set(other.members) and not row.is_teammate(other)


def read_records(file: Path) -> set[bytes]:
    """Return digests of the first MAX_RECORDS lines, without blank ones; none if the file cannot be read."""
    try:
        with file.open("rb") as lines:
            read = islice(lines, MAX_RECORDS)
            return {blake2b(line.strip(), digest_size=12).digest() for line in read if line.strip()}
    except OSError:
        return set()
