"""Find lines of solutions, names of hidden datasets and the secret in a students' kit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.python.common.console import UserError, read_json, read_text
from grader.python.release.exercises import find_shown_solutions
from grader.python.release.pack import HIDDEN

GIVEN = ("starter/", "grader/runner/cuda_check.h")  # files that students have anyway
NAME = re.compile(r"[A-Za-z_]\w*")
COMMON_NAMES = (
    "threadIdx blockIdx blockDim gridDim x y z i j k n begin end std size_t const constexpr static unsigned int char "
    "float double bool auto void struct return if else for while break continue true false sizeof pragma unroll ifndef "
    "define endif __syncthreads __shared__ __global__ __device__"
)


def squeeze(text: str) -> str:
    """Remove all white space, so that text with a different layout is found, too."""
    return "".join(text.split())


def strip_comment(line: str) -> str:
    """Return a line of code without the comment at its end; of a line with only a comment, return the comment."""
    code, _, comment = line.strip().partition("//")
    return code or comment


def find_distinctive_names(line: str) -> set[str]:
    """Return the names in a line that are not in COMMON_NAMES, in lower case; `Extent extent` has one."""
    return {name.lower() for name in NAME.findall(line) if name not in COMMON_NAMES.split()}


def is_trivial(line: str) -> bool:
    """Return whether a line reveals nothing: an include, brackets, or fewer than two distinctive names."""
    return line.startswith("#include") or len(squeeze(line)) < 10 or len(find_distinctive_names(line)) < 2


def find_answers(root: Path, given_files: Sequence[bytes]) -> dict[str, str]:
    """Return the squeezed lines of the solutions that students must not see, each with its place. Lines in the given
    files or in solutions/<lab>/shown.txt are excluded."""
    given_text = "\n".join(squeeze(file.decode()) for file in given_files)
    answers: dict[str, str] = {}
    for folder in sorted((root / "solutions").iterdir()):
        list_file = folder / "shown.txt"
        shown_lines = {squeeze(line) for line in read_text(list_file).splitlines()} if list_file.is_file() else set()
        for solution in sorted(folder.glob("*.cu")):
            for number, text in enumerate(read_text(solution).splitlines(), start=1):
                line = strip_comment(text)
                if not text.strip().startswith("//@") and not is_trivial(line) and squeeze(line) not in shown_lines:
                    answers.setdefault(squeeze(line), f"{solution.relative_to(root)}:{number}")
    return {line: place for line, place in answers.items() if line not in given_text}


def find_secrets(root: Path) -> dict[str, str]:
    """Return the names of hidden datasets and the course's secret, each with a description."""
    secrets = {}
    for file in sorted(root.glob(HIDDEN)):
        for dataset in read_json(file)["datasets"]:
            secrets[str(dataset["name"])] = f"the name of a hidden dataset of {file.parent.name}"
    secret = root / "datasets/.secret"
    if secret.is_file():
        secrets[read_text(secret).strip()] = "the course's secret"
    return secrets


def find_leaks(root: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each answer or secret in an archive's files."""
    answers = find_answers(root, [content for name, content in files.items() if name.startswith(GIVEN)])
    secrets = find_secrets(root)
    for name, content in sorted(files.items()):
        for secret, description in secrets.items():
            word = secret.encode()
            if word in content and re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", content):
                yield f"{name} has {description}."
        text = squeeze(content.decode(errors="replace")) if b"\0" not in content else ""
        shown_text = squeeze("\n".join(find_shown_solutions(root, name)))
        for line, place in answers.items():
            if line in text and line not in shown_text:
                yield f"{name} has a line of {place}: {line}"


def refuse_leaks(root: Path, files: Mapping[str, bytes]) -> None:
    """Raise UserError with a list of what students must not see, if the files contain any."""
    leaks = list(find_leaks(root, files))
    if leaks:
        raise UserError(
            "\n  ".join(["Nothing was packed: students would see", *leaks])
            + "\nRemove it there. A line that is shown on purpose can be listed in solutions/<lab>/shown.txt."
        )
