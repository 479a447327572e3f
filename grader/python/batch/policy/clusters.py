"""Group submissions with similar files of one stage into clusters, which an instructor looks at together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.python.batch.policy.similarity import SimilarPair
from grader.python.batch.store.rows import Row


@dataclass(frozen=True)
class Cluster:
    """Submissions whose files of one stage are linked by similarity, from file to file."""

    stage: str
    keys: tuple[str, ...]


def find_clusters(
    rows: Sequence[Row], pairs: Sequence[SimilarPair], untouched: Collection[tuple[str, str]] = ()
) -> list[Cluster]:
    """Return the clusters of each stage, the largest first. Members of one team do not link each other. `untouched`:
    the key and stage of each file that is still the starter."""
    by_key = {row.key: row for row in rows}
    near: dict[tuple[str, str], set[str]] = defaultdict(set)
    for stage, first, second in [
        *list_same(rows, untouched),
        *((pair.stage, pair.first, pair.second) for pair in pairs),
    ]:
        if first in by_key and second in by_key and not by_key[first].is_teammate(by_key[second]):
            near[stage, first].add(second)
            near[stage, second].add(first)
    clusters, clustered = [], set[tuple[str, str]]()
    for stage, key in near:
        if (stage, key) not in clustered:
            keys = collect(stage, key, near)
            clustered |= {(stage, key) for key in keys}
            clusters.append(Cluster(stage, tuple(sorted(keys))))
    return sorted(clusters, key=lambda cluster: (-len(cluster.keys), cluster.stage, cluster.keys))


def list_same(rows: Sequence[Row], untouched: Collection[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the stage and the keys of pairs that link all submissions with the same file; short files have too few
    fingerprints to be compared in another way."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for stage in row.stages:
            is_own = stage.cause not in ("missing_file", "empty_file") and (row.key, stage.stage) not in untouched
            if stage.source_hash and is_own:
                owners[stage.stage, stage.source_hash].append(row.key)
    for (stage, _), keys in owners.items():
        yield from ((stage, first, other) for first, other in pairwise(keys))


def collect(stage: str, key: str, near: dict[tuple[str, str], set[str]]) -> set[str]:
    """Return all keys that can be reached from one."""
    reached, waiting = {key}, [key]
    while waiting:
        new = near[stage, waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
