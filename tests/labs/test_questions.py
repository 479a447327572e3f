"""Each cause with a hint for students has a question, which `make check` asks before the hint (HINT=1)."""

from __future__ import annotations

import re

from tests.labs import wrong
from tests.labs.conftest import ROOT, labs

CAUSES_WITH_QUESTION = set(
    re.findall(r'^\s*\{"(\w+)",\s*"', (ROOT / "grader/judge/present/questions.cpp").read_text(), re.MULTILINE)
)
CAUSES = set(re.findall(r'constexpr auto \w+ = "(\w+)"', (ROOT / "grader/model/cause.h").read_text()))
# A mistake in an oracle begins with its cause and a sentence. A data generator begins with its name and a function.
MISTAKE = re.compile(
    r'\{\s*"([a-z_]+)",\s+(?:"[A-Z]|sentence\(|describe_part\(|\w+ \+|message,|words,|counts,|only \+|what)'
)

# Causes without a question: their hints are instructions already, or only instructors see them.
WITHOUT_QUESTION = {
    *("missing_file", "empty_file", "compile_error", "refused_feature", "missing_function", "wrong_signature"),
    *("starter", "own_main", "reserved_symbol", "compile_timeout", "not_run", "protocol", "implausible_timing"),
    *("timed_output_wrong", "internal", "sandbox", "no_device"),
}


def test_causes_that_all_labs_share_have_a_question():
    assert CAUSES - CAUSES_WITH_QUESTION == WITHOUT_QUESTION


def test_mistakes_that_an_oracle_names_have_a_question():
    sources = [ROOT / f"labs/{lab}/oracle.cpp" for lab in labs()] + [ROOT / "grader/judge/lab/explain.cpp"]
    causes = {cause for source in sources for cause in MISTAKE.findall(source.read_text())}
    assert len(causes) > 80
    assert causes - CAUSES_WITH_QUESTION == set()


def test_causes_of_wrong_submissions_have_a_question():
    causes = set()
    for lab in labs():
        for entry in wrong.entries(lab):
            causes |= {entry["cause"]} if isinstance(entry["cause"], str) else set(entry["cause"])
    assert causes - CAUSES_WITH_QUESTION - WITHOUT_QUESTION == set()
