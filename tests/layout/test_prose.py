"""No C++ code makes a decision by a sentence that the project's own code writes.

tests/labs/test_words.py proves the same by running the judge without its sentences.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.labs.mutated import FOREIGN, READERS, SENTENCE, TOKEN

DECIDES = re.compile(
    r"(?:\b(?:r?find|contains|says|starts_with|ends_with|compare|strn?cmp|strstr)\((?:[^;{}()]|\([^()]*\))*?|[!=]=\s*)"
    r'("(?:\\.|[^"\\\n])*")'
)


def decisions(code: str) -> list[str]:
    """Return the sentences that the code compares with."""
    plain = TOKEN.sub(lambda token: token[0] if token["text"] else " ", code)
    found = [one[1] for one in DECIDES.finditer(plain)]
    return [one for one in found if SENTENCE.search(one) and not FOREIGN.search(one)]


def test_no_code_compares_with_a_sentence(root: Path, files: list[Path]) -> None:
    sources = [one for one in files if one.as_posix().startswith("grader/") and one.suffix in (".cpp", ".h")]
    found = {one.as_posix(): decisions((root / one).read_text()) for one in sources if one.name not in READERS}
    assert {name: sentences for name, sentences in found.items() if sentences} == {}


def test_a_comparison_with_a_sentence_is_found() -> None:
    assert decisions('if (message.find("cannot run on the CPU backend") != npos) return;') != []
    assert decisions('return words == "not started"; // as in "a == b c"') == ['"not started"']
    assert decisions('if (contains(output, "internal compiler error: ")) return say("it is full");') == []
