"""Make similar.html, which shows the files of each cluster of similar files side by side, without marking the starter's
lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from grader.python.batch.policy.clusters import Cluster
from grader.python.common.markup import Html, tag
from grader.python.common.page import make_document
from grader.python.common.units import plural

MAX_CLUSTERS, MAX_VIEWS = 50, 10  # clusters on the page, and pairs of files that it shows of each
MAX_LINES = 600  # per file; a student can write longer files for which the comparison takes too long
MAX_COLUMNS = 300  # characters of a line; a student can write a line of 10 MB, and the page may show it ten times
MAX_CHARACTERS = 1_000_000  # per file
STYLE = """
body { max-width: 100rem; }
table.pair { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: 0.8rem; }
table.pair td { width: 50%; padding: 0 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; font-family: monospace; }
table.pair td.same { background: var(--bad-wash); }
table.pair td.given { color: var(--soft); }
"""

Line = tuple[str, str, str]  # the left text, the right text, and the kind: same, given (by the starter) or empty


def make_similar(
    title: str,
    clusters: Sequence[Cluster],
    read: Callable[[str, str], str],
    starter: Callable[[str], str],
    names: Mapping[str, str],
) -> str:
    """Return the page. `read(key, stage)` returns the text of a submission's file, and `starter(stage)` the text
    of the starter; `names`: the students' names by key."""
    parts = [make_cluster(cluster, read, starter(cluster.stage), names) for cluster in clusters[:MAX_CLUSTERS]]
    omitted = len(clusters) - MAX_CLUSTERS
    lead = (
        "Clusters of similar files. The marked lines are in both files and not in the starter. There "
        "are few ways to write a short stage, so similarity is only a reason to review, and costs no points."
    )
    return make_document(
        title,
        tag(
            "main",
            tag("h1", title),
            tag("p", lead if clusters else "No files are similar.", class_="lead"),
            *parts,
            tag("p", f"And {plural(omitted, 'cluster')} more.") if omitted > 0 else None,
        ),
        STYLE,
    )


def make_cluster(cluster: Cluster, read: Callable[[str, str], str], starter: str, names: Mapping[str, str]) -> Html:
    """Return the section of one cluster: its members, and the first member's file next to each of the others."""
    keys = [f"{key} ({names[key]})" if names.get(key, "") not in ("", key) else key for key in cluster.keys]
    first, others = cluster.keys[0], cluster.keys[1 : MAX_VIEWS + 1]
    views = [
        tag(
            "details",
            tag("summary", f"{keys[0]} and {name}"),
            make_pair(read(first, cluster.stage), read(key, cluster.stage), starter),
        )
        for key, name in zip(others, keys[1:], strict=False)
    ]
    title = tag("h2", f"{cluster.stage}: {plural(len(cluster.keys), 'submission')}")
    other_count = len(cluster.keys) - 1 - len(views)
    left_out = (
        tag("p", f"And {plural(other_count, 'submission')} more that are similar to {keys[0]}.")
        if other_count > 0
        else None
    )
    return tag("section", title, tag("p", ", ".join(keys)), *views, left_out)


def make_pair(left: str, right: str, starter: str) -> Html:
    """Return the table with two files side by side."""
    rows = [
        tag("tr", tag("td", left_line, class_=kind or None), tag("td", right_line, class_=kind or None))
        for left_line, right_line, kind in align(left, right, starter)
    ]
    return tag("table", tag("tbody", *rows), class_="pair")


def align(left: str, right: str, starter: str) -> Iterator[Line]:
    """Yield the lines of two files next to each other. Blanks at both ends of a line are ignored."""
    starter_lines = {line.strip() for line in starter.splitlines()} | {""}
    left_lines, right_lines = (text[:MAX_CHARACTERS].splitlines()[:MAX_LINES] for text in (left, right))
    plain = [[line.strip() for line in lines] for lines in (left_lines, right_lines)]
    for change, begin, end, first, last in SequenceMatcher(None, *plain).get_opcodes():
        for at in range(max(end - begin, last - first)):
            texts = [
                left_lines[begin + at] if begin + at < end else "",
                right_lines[first + at] if first + at < last else "",
            ]
            kind = ("given" if texts[0].strip() in starter_lines else "same") if change == "equal" else ""
            yield cut(texts[0]), cut(texts[1]), kind


def cut(line: str) -> str:
    """Return the beginning of a line that is too long for the page."""
    return line if len(line) <= MAX_COLUMNS else f"{line[:MAX_COLUMNS]} \N{HORIZONTAL ELLIPSIS}"
