"""Find submissions with similar files by copydetect's fingerprints, ignoring those of the starter.

Only pairs that share rare fingerprints are compared, so that a course of thousands takes seconds. There are few ways to
write a short stage, so the result only suggests which submissions to look at.

    python3 -m grader.python.batch.policy.similarity STARTER < FILES

prints the fingerprints of the files that the JSON list FILES names, as find_similar() reads them.

The regular expressions of copydetect's lexer may take exponential time on a student's code. Therefore, a separate
process computes the fingerprints, and the kernel enforces its limits.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import secrets
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.python.batch.ingest.module_path import python_path

NOISE, WINDOW = 25, 4  # copydetect hashes all NOISE consecutive characters, and keeps one of WINDOW hashes
MIN_FINGERPRINTS = 8  # minimum for a comparison: more than a line or two of the student's own code
MIN_BYTES = NOISE + MIN_FINGERPRINTS - 1  # minimum size of a file with that many fingerprints
SIMILAR_SHARE = 0.9  # minimum share of the smaller file's fingerprints
MAX_OWNERS = 20  # if more files share a fingerprint, each is only compared with the next one in the order of keys
MAX_CHARACTERS = 30_000  # characters of a file that are compared, without comments
MAX_PAIRS = 200  # per stage
FILE_S = 3  # processor time for a file; an honest one takes a tenth of a second
MAX_MEMORY_BYTES = 2_000_000_000
# Packages that only copydetect's reports need, each with the name that copydetect imports from it.
UNUSED_IMPORTS = {"matplotlib": "pyplot", "jinja2": "Template", "tqdm": "tqdm"}
MAX_STOPPED = 10  # if this many files of a stage take too much time or memory, the stage is not compared

CONTINUED = re.compile(r"\\[^\S\n]*+\n")
# A literal or a comment. The pattern backtracks only at a raw string without an end, and then matches it as an ordinary
# string. No compiler accepts such a string; a file with many of them reaches the limit of processor time.
RAW = r'R"(?P<mark>[^()\\\s"]{0,16})\((?s:.*?)\)(?P=mark)"'
LITERAL = RAW + r'|"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?'
COMMENT = re.compile(rf"(?P<literal>{LITERAL})|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
DIRECTIVE = re.compile(r"^[^\S\n]*+#", re.MULTILINE)  # the lexer would read a whole directive as one token or a comment
DIGRAPHS = {"<%": "{", "%>": "}", "<:": "[", ":>": "]", "%:": "#"}


@dataclass(frozen=True)
class SimilarPair:
    """The keys of two submissions with similar files of one stage. `share`: the share of the smaller file's
    fingerprints that the other file has, too."""

    stage: str
    first: str
    second: str
    share: float


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of a file's code. `is_cut`: they cover only its first MAX_CHARACTERS."""

    hashes: frozenset[int] = frozenset()
    is_cut: bool = False


class ComparisonLimitError(Exception):
    """MAX_STOPPED files of a stage take too much time or memory."""


def find_similar(stage: str, starter: Path, files: Sequence[tuple[str, Path]]) -> tuple[list[SimilarPair], list[str]]:
    """Return the similar pairs, the most similar first, and the keys of the submissions whose files were not compared
    completely, because they are too long or take too much time or memory. `files`: each submission's key and the path
    of its file. Raises ImportError if copydetect does not run, ComparisonLimitError, and OSError."""
    files = [(key, file) for key, file in files if file.stat().st_size >= MIN_BYTES]
    if len(files) < 2:
        return [], []
    fingerprints, stopped = fingerprint_all(starter, [file for _, file in files])
    incomplete = [key for at, (key, _) in enumerate(files) if at in stopped or fingerprints[at].is_cut]
    same: dict[frozenset[int], list[str]] = defaultdict(list)
    for (key, _), file_prints in zip(files, fingerprints, strict=True):
        if len(file_prints.hashes) >= MIN_FINGERPRINTS:
            same[file_prints.hashes].append(key)
    pairs = [SimilarPair(stage, keys[0], other, 1.0) for keys in same.values() for other in keys[1:]]
    hashes_by_key = {keys[0]: hashes for hashes, keys in same.items()}
    for first, other in list_candidates(hashes_by_key):
        first_hashes, other_hashes = hashes_by_key[first], hashes_by_key[other]
        share = len(first_hashes & other_hashes) / min(len(first_hashes), len(other_hashes))
        if share >= SIMILAR_SHARE:
            pairs.append(SimilarPair(stage, first, other, share))
    pairs.sort(key=lambda pair: (-pair.share, pair.first, pair.second))
    return pairs[:MAX_PAIRS], incomplete


def fingerprint_all(starter: Path, files: Sequence[Path]) -> tuple[list[Fingerprints], list[int]]:
    """Return each file's fingerprints without the starter's, and the indices of the files that have none because they
    took too much time or memory.

    If a process ends before its last file, the cause is the file that it was reading. Another process then continues
    with the next file. Raises the same exceptions as find_similar().
    """
    seed = str(secrets.randbelow(2**32))  # the same in all processes, because fingerprints are Python's hashes
    fingerprints: list[Fingerprints] = []
    stopped: list[int] = []
    while True:
        fingerprints += fingerprint_first(starter, files[len(fingerprints) :], seed)
        if len(fingerprints) == len(files):
            return fingerprints, stopped
        stopped.append(len(fingerprints))
        fingerprints.append(Fingerprints())
        if len(stopped) == MAX_STOPPED:
            raise ComparisonLimitError


def fingerprint_first(starter: Path, files: Sequence[Path], seed: str) -> list[Fingerprints]:
    """Start a process that computes fingerprints. Return those of the files before the first one that takes too much
    time or memory. Raises ImportError if copydetect does not run."""
    limited = {"PYTHONPATH": python_path(), "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-P", "-m", "grader.python.batch.policy.similarity", str(starter)],
        input=json.dumps([str(file) for file in files]).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **limited},
    )
    lines = result.stdout.splitlines(keepends=True)
    if not lines:
        raise ImportError("copydetect")
    read = [json.loads(line) for line in lines[1:] if line.endswith(b"\n")]
    return [Fingerprints(frozenset(hashes), is_cut) for hashes, is_cut in read]


def print_fingerprints(starter: Path) -> None:
    """Print a line without hashes to show that copydetect runs, then a line for each file that standard input names:
    a JSON list of its hashes, and whether the file is cut. The kernel kills the process if a file takes too long."""
    import numpy

    make = import_fingerprinter()
    files = [Path(name) for name in json.load(sys.stdin)]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    boilerplate: Any = []
    if starter.is_file():
        boilerplate = numpy.array(list(fingerprint(make, starter, []).hashes))
    write_line(Fingerprints())
    for file in files:
        allow_processor_time(FILE_S)
        write_line(fingerprint(make, file, boilerplate))


def import_fingerprinter() -> Any:
    """Return copydetect's class CodeFingerprint. The packages that only its reports need are replaced by empty modules,
    because importing them would take most of the time of a small batch."""
    for name, needed in UNUSED_IMPORTS.items():
        module: Any = ModuleType(name)
        setattr(module, needed, ModuleType(needed))
        sys.modules |= {name: module, f"{name}.{needed}": module}
    from copydetect import CodeFingerprint

    return CodeFingerprint


def write_line(fingerprints: Fingerprints) -> None:
    """Write a file's fingerprints to standard output, for the process that started this one."""
    sys.stdout.buffer.write(json.dumps([sorted(fingerprints.hashes), fingerprints.is_cut]).encode() + b"\n")
    sys.stdout.buffer.flush()


def allow_processor_time(more_s: int) -> None:
    """Let this process use between `more_s` and `more_s` + 1 further seconds of processor time."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + more_s, hard))


def fingerprint(make: Any, file: Path, boilerplate: Any) -> Fingerprints:
    """Return the fingerprints of a file; none if it cannot be read as code. Raises MemoryError."""
    try:
        text = simplify(file.read_bytes().decode("utf-8", "replace"))  # first, so that long comments do not count
        code = io.StringIO(text[:MAX_CHARACTERS])
        fingerprinted = make(f"{file.stem}.cu", NOISE, WINDOW, boilerplate, language="cuda", fp=code)
        return Fingerprints(frozenset(map(int, fingerprinted.hashes)), len(text) > MAX_CHARACTERS)
    except MemoryError:
        raise
    except Exception:  # copydetect may fail on any text, and similarity is only a hint
        return Fingerprints()


def simplify(text: str) -> str:
    """Return code with continued lines joined, and without comments and unnecessary blanks, which can slow the lexer
    down. Remove the # of directives, so that students cannot hide code in them."""
    joined_lines = CONTINUED.sub("", text.replace("\r\n", "\n"))
    without_comments = COMMENT.sub(lambda match: match["literal"] or " ", joined_lines)
    for digraph, punctuator in DIGRAPHS.items():
        without_comments = without_comments.replace(digraph, punctuator)
    without_comments = DIRECTIVE.sub("", without_comments)
    lines = (" ".join(line.split()) for line in without_comments.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def list_candidates(hashes_by_key: dict[str, frozenset[int]]) -> Sequence[tuple[str, str]]:
    """Return the pairs of keys that share a rare fingerprint. Of those that share a common one, return only neighbours
    in the order of keys, which is enough to link a large group of copies."""
    owners: dict[int, list[str]] = defaultdict(list)
    for key, hashes in hashes_by_key.items():
        for fingerprint in hashes:
            owners[fingerprint].append(key)
    shared: Counter[tuple[str, str]] = Counter()
    for keys in owners.values():
        in_order = sorted(keys)
        shared.update(combinations(in_order, 2) if len(keys) <= MAX_OWNERS else pairwise(in_order))
    return list(shared)


if __name__ == "__main__":
    print_fingerprints(Path(sys.argv[1]))
