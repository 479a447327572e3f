"""Write a new lab's skeleton: it builds, its solution passes, its starter fails, its wrong submission is caught.

python3 -m grader.python.release.new_lab LAB    (make new-lab LAB=…)

The files come from grader/python/release/new_lab/; existing files stay unchanged. `@lab@` stands for the name, `@Lab@`
for the name as a type's and `@title@` for the name as people write it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_text, run_command, say, write_atomically
from grader.python.release.starters import make_starter

TEMPLATES = Path(__file__).with_suffix("")
STAGE = "01_first"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MOST_CHARACTERS = 40
# Words that cannot name a function in C++ or CUDA, or that have another meaning in the project's folders.
TAKEN = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval "
    "constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this throw true try typedef typeid typename union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq "
    "unix linux errno assert stdin stdout stderr pictures results reports authors warplab driver_call driver_prepare "
    "driver_scratch_bytes driver_has_host driver_host_call"
)
PLACES = ("labs/{lab}", "solutions/{lab}", "starter/{lab}", "datasets/{lab}", "tests/labs/{lab}", "handouts/{lab}.md")


def check_name(name: str, root: Path) -> str:
    """Return the name if it is valid for a new lab. Raises UserError with the reason if it is not."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a lab's name: it becomes part of C++ functions' names, so it is made of lower-case "
            "letters, digits and single underscores, and begins with a letter. For example: matrix_transpose"
        )
    if len(name) > MOST_CHARACTERS:
        raise UserError(f"{name!r} is longer than {MOST_CHARACTERS} characters.")
    if name in TAKEN.split():
        raise UserError(f"{name!r} cannot be a lab's name: it already means something. For example: {name}_lab")
    for place in PLACES:
        there = root / place.format(lab=name)
        if there.exists() or there.is_symlink():
            raise UserError(f"{there} is already there. Choose another name, or delete what is left of that lab.")
    return name


def list_files(lab: str) -> dict[Path, str]:
    """Return the files of a new lab except its starter, each with its template."""
    return {
        Path(f"labs/{lab}/lab.json"): "lab.json.in",
        Path(f"labs/{lab}/lab.h"): "lab.h.in",
        Path(f"labs/{lab}/driver.cu"): "driver.cu.in",
        Path(f"labs/{lab}/oracle.cpp"): "oracle.cpp.in",
        Path(f"solutions/{lab}/{STAGE}.cu"): "solution.cu.in",
        Path(f"datasets/{lab}/public.json"): "public.json.in",
        Path(f"datasets/{lab}/hidden.json"): "hidden.json.in",
        Path(f"handouts/{lab}.md"): "handout.md.in",
        Path(f"tests/labs/{lab}/oracle_test.cpp"): "oracle_test.cpp.in",
        Path(f"tests/labs/{lab}/{STAGE}_copies.cu"): "wrong.cu.in",
        Path(f"tests/labs/{lab}/wrong.json"): "wrong.json.in",
    }


def fill(template: str, names: dict[str, str]) -> str:
    """Replace every placeholder in the template."""
    for placeholder, name in names.items():
        template = template.replace(placeholder, name)
    return template


def make_files(lab: str) -> dict[Path, str]:
    """Return all files of a new lab with their texts. lab.json comes last, because with it the folder becomes a lab."""
    names = {"@lab@": lab, "@Lab@": lab.title().replace("_", ""), "@title@": lab.replace("_", " ").capitalize()}
    files = {file: fill(read_text(TEMPLATES / template), names) for file, template in list_files(lab).items()}
    solution = Path(f"solutions/{lab}/{STAGE}.cu")
    files[Path(f"starter/{lab}/{STAGE}.cu")] = make_starter(files[solution], solution)
    manifest = Path(f"labs/{lab}/lab.json")
    return {**{file: text for file, text in files.items() if file != manifest}, manifest: files[manifest]}


def main(arguments: Sequence[str]) -> int:
    """Write the skeleton. The exit status is 2 if the name is invalid."""
    parser = make_parser("make new-lab", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB", help="lower-case letters, digits and underscores")
    options = parser.parse_args(arguments)
    lab = check_name(options.lab, options.root)
    for file, text in make_files(lab).items():
        write_atomically(options.root / file, text)
        say(f"  {file}")
    say(
        f"\nThe skeleton scales a vector. See that it works, on whatever backend is here:\n"
        f"  make grade LAB={lab} TREE=solutions    passes\n"
        f"  make grade LAB={lab} TREE=starter      fails\n"
        f"Then make it your lab, in this order: labs/{lab}/lab.json and lab.h (the contract), driver.cu, oracle.cpp,\n"
        f"datasets/{lab}/, solutions/{lab}/ (make starters writes the starters), handouts/{lab}.md (make docs writes\n"
        f"its tables), tests/labs/{lab}/. CONTRIBUTING.md says more."
    )
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
