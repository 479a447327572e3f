"""No C++ code compares text with a sentence that the project's own code writes, because sentences may be reworded.

tests/labs/test_words.py tests the same by running the judge without its sentences.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.labs.mutated import FOREIGN, READERS, SENTENCE, TOKEN

COMPARISON = re.compile(
    r"(?:\b(?:r?find|contains|says|starts_with|ends_with|compare|strn?cmp|strstr)\((?:[^;{}()]|\([^()]*\))*?|[!=]=\s*)"
    r'("(?:\\.|[^"\\\n])*")'
)


def compared_sentences(code: str) -> list[str]:
    """Return the sentences that the code compares with."""
    plain = TOKEN.sub(lambda token: token[0] if token["text"] else " ", code)
    texts = [match[1] for match in COMPARISON.finditer(plain)]
    return [text for text in texts if SENTENCE.search(text) and not FOREIGN.search(text)]


def test_no_code_compares_with_a_sentence(root: Path, files: list[Path]) -> None:
    sources = [file for file in files if file.as_posix().startswith("grader/") and file.suffix in (".cpp", ".h")]
    sentences_by_file = {
        file.as_posix(): compared_sentences((root / file).read_text()) for file in sources if file.name not in READERS
    }
    assert {name: sentences for name, sentences in sentences_by_file.items() if sentences} == {}


def test_a_comparison_with_a_sentence_is_found() -> None:
    assert compared_sentences('if (message.find("cannot run on the CPU backend") != npos) return;') != []
    assert compared_sentences('return words == "not started"; // as in "a == b c"') == ['"not started"']
    assert compared_sentences('if (contains(output, "internal compiler error: ")) return say("it is full");') == []
