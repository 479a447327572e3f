"""The hash of a file's code ignores comments and white space, and nothing else."""

from __future__ import annotations

import pytest

from grader.python.docs.code_hash import hash_code, hash_lines

CODE = "int n = 1'000; // one\n/* two\n   lines */\nconst char* s = \"a // b\"; char q = '\"';\n"


@pytest.mark.parametrize(
    "code",
    [
        CODE.replace("// one", "// another's"),
        CODE.replace("// one", "// one \\\n still the comment"),
        CODE.replace("/* two\n   lines */", ""),
        CODE.replace(" = ", "  =\n"),
    ],
)
def test_comments_and_white_space_do_not_count(code: str) -> None:
    assert code != CODE and hash_code(code) == hash_code(CODE)


@pytest.mark.parametrize(
    "code",
    [
        CODE.replace("1'000", "1'001"),
        CODE.replace("a // b", "a // c"),
        CODE.replace("int n", "/* int */ m"),
        CODE + 'auto r = R"(// no comment)";',
        CODE.replace("'\"'", "'x'"),
    ],
)
def test_changed_code_changes_the_hash(code: str) -> None:
    assert hash_code(code) != hash_code(CODE)


def test_a_comment_mark_in_a_raw_string_counts() -> None:
    assert hash_code('auto r = R"x(/* a */)x";') != hash_code('auto r = R"x(/* b */)x";')


def test_the_hash_of_lines_also_changes_if_a_line_moves() -> None:
    assert hash_lines(CODE.replace("two\n   lines", "other\n   words")) == hash_lines(CODE)
    assert hash_lines(CODE.replace("two\n   lines", "one line")) != hash_lines(CODE)
    assert hash_lines(CODE.replace("1'000", "1'001")) != hash_lines(CODE)
