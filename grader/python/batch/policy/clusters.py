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
    """The keys of submissions whose files of one stage are similar, directly or through other files of the cluster."""

    stage: str
    keys: tuple[str, ...]


def find_clusters(
    rows: Sequence[Row], pairs: Sequence[SimilarPair], untouched: Collection[tuple[str, str]] = ()
) -> list[Cluster]:
    """Return the clusters of all stages, the largest first. Similar files of one team are not linked. `untouched`: the
    key and stage of each file that is still the starter."""
    by_key = {row.key: row for row in rows}
    linked: dict[tuple[str, str], set[str]] = defaultdict(set)
    for stage, first, second in [
        *list_equal_pairs(rows, untouched),
        *((pair.stage, pair.first, pair.second) for pair in pairs),
    ]:
        if first in by_key and second in by_key and not by_key[first].is_teammate(by_key[second]):
            linked[stage, first].add(second)
            linked[stage, second].add(first)
    clusters, clustered = [], set[tuple[str, str]]()
    for stage, key in linked:
        if (stage, key) not in clustered:
            keys = find_reachable(stage, key, linked)
            clustered |= {(stage, key) for key in keys}
            clusters.append(Cluster(stage, tuple(sorted(keys))))
    return sorted(clusters, key=lambda cluster: (-len(cluster.keys), cluster.stage, cluster.keys))


def list_equal_pairs(rows: Sequence[Row], untouched: Collection[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the stage and the keys of pairs that link all submissions with equal files. find_similar() misses short
    files, which have too few fingerprints."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for stage in row.stages:
            is_own = stage.cause not in ("missing_file", "empty_file") and (row.key, stage.stage) not in untouched
            if stage.source_hash and is_own:
                owners[stage.stage, stage.source_hash].append(row.key)
    for (stage, _), keys in owners.items():
        yield from ((stage, first, other) for first, other in pairwise(keys))


def find_reachable(stage: str, key: str, linked: dict[tuple[str, str], set[str]]) -> set[str]:
    """Return all keys of a stage that are linked to a key, directly or through others."""
    reached, waiting = {key}, [key]
    while waiting:
        new = linked[stage, waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
