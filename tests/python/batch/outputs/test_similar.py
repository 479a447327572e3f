"""similar.html: clusters of similar files, side by side."""

from __future__ import annotations

from grader.python.batch.outputs.similar import MAX_COLUMNS, MAX_LINES, MAX_VIEWS, align, make_similar
from grader.python.batch.policy.clusters import Cluster, find_clusters
from grader.python.batch.policy.similarity import SimilarPair
from grader.python.batch.store.rows import Row, Stage

STAGE = "01_first"


def make_row(key: str, source_hash: str, team: list[str] | None = None) -> Row:
    stage = Stage(STAGE, "passed", "", source_hash, 6, 6, 0, None, None, None, None, None, False)
    return Row(key, f"Name of {key}", [key], "", "", [], "graded", "", 0, stages=[stage], team=team or [])


def test_pairs_become_clusters() -> None:
    rows = [make_row(key, hash) for key, hash in zip("abcdefg", "1234556", strict=True)]
    pairs = [
        SimilarPair(STAGE, "a", "b", 0.95),
        SimilarPair(STAGE, "b", "c", 0.9),
        SimilarPair("02_second", "a", "d", 0.99),
    ]
    assert find_clusters(rows, pairs) == [
        Cluster(STAGE, ("a", "b", "c")),
        Cluster(STAGE, ("e", "f")),  # the same file
        Cluster("02_second", ("a", "d")),
    ]


def test_teams_and_starters_form_no_clusters() -> None:
    team = ["a", "b"]
    rows = [make_row("a", "1", team), make_row("b", "1", team), make_row("c", "2"), make_row("d", "2")]
    assert find_clusters(rows, [SimilarPair(STAGE, "a", "b", 1)], {("c", STAGE), ("d", STAGE)}) == []
    assert find_clusters(rows, [SimilarPair(STAGE, "b", "c", 1)], {("c", STAGE)}) == [Cluster(STAGE, ("b", "c"))]


def test_lines_of_the_starter_are_not_marked() -> None:
    left, right = "given\nmine\n  copied;\n}\n", "given\nyours\ncopied;\n}\nmore\n"
    assert list(align(left, right, "given\n}\n")) == [
        ("given", "given", "given"),
        ("mine", "yours", ""),
        ("  copied;", "copied;", "same"),
        ("}", "}", "given"),
        ("", "more", ""),
    ]


def test_long_files_are_cut() -> None:
    text = "".join(f"{number}\n" for number in range(10 * MAX_LINES))
    assert len(list(align(text, text, ""))) == MAX_LINES


def test_long_lines_are_cut() -> None:
    line = '"' * 9_000_000
    page = make_similar("lab: similar files", [Cluster(STAGE, ("a", "b"))], lambda *_: line, lambda _: "", {})
    assert len(page) < 20_000 and page.count("&quot;") == 2 * MAX_COLUMNS and 'class="same"' in page


def test_the_page_shows_students_code_as_text() -> None:
    files = {"a": "<script>alert(1)</script>\n", "b": "<script>alert(1)</script>\n", "c": "else\n"}
    page = make_similar(
        "lab: similar files", [Cluster(STAGE, ("a", "b", "c"))], lambda key, _: files[key], lambda _: "", {"a": "Ada"}
    )
    assert "<script>alert" not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert "01_first: 3 submissions" in page and "a (Ada) and c" in page and page.count('class="same"') == 2


def test_submissions_beyond_the_views_are_counted() -> None:
    keys = tuple(f"s{number:02}" for number in range(MAX_VIEWS + 3))
    page = make_similar("lab: similar files", [Cluster(STAGE, keys)], lambda *_: "code\n", lambda _: "", {})
    assert page.count("<details>") == MAX_VIEWS and "And 2 submissions more that are similar to s00." in page
