"""Copy the project's Python code, and replace each sentence in it with a unique key.

If code compared a sentence with text that another part wrote, the copy would behave differently.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

from tests.python.support import ROOT

SENTENCE = re.compile(r"[A-Za-z’']{2,}[,;:]? [a-z]{2,}")
# Strings that are not sentences: parts of SQL, style sheets, pages and patterns, and lists of names.
LANGUAGES = re.compile(
    r"\b(SELECT|INSERT|UPDATE|CREATE|ALTER|FROM|WHERE|ORDER|GROUP|AND|OR|NOT|JOIN|SET|IS|NULL|ON|AS|OVER|UNION|LIMIT)\b"
    r"|[{;]\s*$|</|^\(\?|^[a-z_]+(, [a-z_]+)*$|\|\||printf"
)
PATTERN_FUNCTIONS = ("re.compile", "re.search", "re.sub", "re.findall", "re.match", "re.fullmatch")
SQL = (".execute", ".executemany", ".executescript", ".query")


class Replacer(ast.NodeTransformer):
    """A transformer that replaces the sentences of one file."""

    def __init__(self, file: str):
        self.file, self.count = file, 0

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        text = node.value
        if not isinstance(text, str) or not SENTENCE.search(text) or LANGUAGES.search(text):
            return node
        self.count += 1
        quote = "'" if text.startswith("'") else ""  # a string in SQL
        return ast.copy_location(ast.Constant(f"{quote}<{self.file} {self.count}>{quote}"), node)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)  # a docstring

    def visit_Call(self, node: ast.Call) -> ast.Call:
        name = ast.unparse(node.func)
        return node if name in PATTERN_FUNCTIONS or name.endswith(SQL) else self.generic_visit(node)


def copy_without_sentences(folder: Path) -> int:
    """Copy grader/ to `folder`, and replace the sentences of grader/python. Return their number."""
    shutil.copytree(ROOT / "grader", folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    replaced = 0
    for file in sorted((folder / "grader/python").rglob("*.py")):
        replacer = Replacer(file.stem)
        tree = replacer.visit(ast.parse(file.read_text()))
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
        replaced += replacer.count
    return replaced
