"""Colour CUDA C++ as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.python.common.markup import Html, join, tag

KEYWORDS = """alignas auto bool break case char class const constexpr continue default delete do double else enum extern
false float for goto if inline int long namespace new nullptr operator private public return short signed sizeof static
static_assert struct switch template this true typedef typename union unsigned using virtual void volatile while
__global__ __device__ __host__ __shared__ __constant__ __restrict__ __syncthreads __syncwarp threadIdx blockIdx blockDim
gridDim warpSize"""
# An unclosed comment extends to the end of the text, an unclosed string to the end of its line.
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))"
    r'|(?P<string>"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])+\'?)'
    r"|(?P<directive>(?m:^)[ \t]*#[ \t]*\w*)"
    rf"|(?P<keyword>\b(?:{'|'.join(KEYWORDS.split())})\b)"
    r"|(?P<literal>\b\d(?:['\w.]|(?<=[eE])[+-])*)"
    r"|\w+"
)


def colour_lines(lines: Sequence[str]) -> list[Html]:
    """Return each line with its tokens in spans of their kind: comment, string, directive, keyword, literal."""
    text = "\n".join(lines)
    coloured: list[list[str | Html]] = [[]]
    at = 0
    for token in TOKEN.finditer(text):
        add(coloured, text[at : token.start()], None)
        add(coloured, token[0], token.lastgroup)
        at = token.end()
    add(coloured, text[at:], None)
    return [join(*line) for line in coloured]


def add(coloured: list[list[str | Html]], text: str, kind: str | None) -> None:
    """Add a piece of the text, which may have several lines, to the last line and those after it."""
    for number, part in enumerate(text.split("\n")):
        if number > 0:
            coloured.append([])
        if part:
            coloured[-1].append(tag("span", part, class_=kind) if kind else part)
