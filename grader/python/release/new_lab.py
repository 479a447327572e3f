"""Write a new lab's skeleton: it builds, its solution passes, its starter fails, its wrong submission is caught.

python3 -m grader.python.release.new_lab LAB [--stages 01_first,02_second]    (make new-lab LAB=… [STAGES=…])

The files come from grader/python/release/new_lab/; existing files stay unchanged. `@lab@` stands for the name, `@Lab@`
for the name as part of a type's name, `@title@` for the name as a title, and `@points@` for the lab's points;
`@stage@`, `@number@` and `@idea@` stand for a stage's id, number and title. The lines between `@each@` and `@end@` are
written once for each stage.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.python.common.console import UserError, make_parser, read_text, run_command, say, write_atomically
from grader.python.release.starters import make_starter

TEMPLATES = Path(__file__).with_suffix("")
STAGES = "01_first"
STAGE_NAME = re.compile(r"\d\d_[a-z0-9]+(_[a-z0-9]+)*")
POINTS = 10  # points per stage
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MAX_CHARACTERS = 40
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
    if len(name) > MAX_CHARACTERS:
        raise UserError(f"{name!r} is longer than {MAX_CHARACTERS} characters.")
    if name in TAKEN.split():
        raise UserError(f"{name!r} cannot be a lab's name, because it has another meaning. For example: {name}_lab")
    for place in PLACES:
        target = root / place.format(lab=name)
        if target.exists() or target.is_symlink():
            raise UserError(f"{target} already exists. Choose another name, or delete the rest of that lab.")
    return name


def check_stages(typed: str) -> list[str]:
    """Return the ids of the stages. Raises UserError with the reason if one is invalid."""
    stages = [stage for stage in re.split(r"[\s,]+", typed) if stage]
    for number, stage in enumerate(stages, start=1):
        if not STAGE_NAME.fullmatch(stage) or len(stage) > MAX_CHARACTERS:
            raise UserError(
                f"{stage!r} cannot be a stage. Write two digits and a name of lower-case letters, digits and "
                f"underscores, at most {MAX_CHARACTERS} characters. For example: STAGES=01_naive,02_shared_tile"
            )
        if int(stage[:2]) != number:
            raise UserError(f"STAGES={typed}: {stage} is stage {number}. The numbers are 01, 02, 03 …, in this order.")
    if not stages:
        raise UserError("STAGES names no stage. For example: STAGES=01_naive,02_shared_tile")
    return stages


def list_files(lab: str, stages: Sequence[str] = (STAGES,)) -> dict[Path, str]:
    """Return the files of a new lab except its starters, each with its template."""
    return {
        Path(f"labs/{lab}/lab.json"): "lab.json.in",
        Path(f"labs/{lab}/lab.h"): "lab.h.in",
        Path(f"labs/{lab}/driver.cu"): "driver.cu.in",
        Path(f"labs/{lab}/quiz.json"): "quiz.json.in",
        Path(f"labs/{lab}/oracle.cpp"): "oracle.cpp.in",
        **{Path(f"solutions/{lab}/{stage}.cu"): "solution.cu.in" for stage in stages},
        Path(f"datasets/{lab}/public.json"): "public.json.in",
        Path(f"datasets/{lab}/hidden.json"): "hidden.json.in",
        Path(f"handouts/{lab}.md"): "handout.md.in",
        Path(f"tests/labs/{lab}/oracle_test.cpp"): "oracle_test.cpp.in",
        Path(f"tests/labs/{lab}/{stages[0]}_copies.cu"): "wrong.cu.in",
        Path(f"tests/labs/{lab}/wrong.json"): "wrong.json.in",
    }


def fill(template: str, names: dict[str, str]) -> str:
    """Replace every placeholder in the template."""
    for placeholder, name in names.items():
        template = template.replace(placeholder, name)
    return template


def repeat(template: str, stages: Sequence[str]) -> str:
    """Write the lines between `@each@` and `@end@` once for each stage; the last entry of a JSON list has no comma."""
    whole = re.sub(
        r"@each@\n(.*?)@end@\n",
        lambda match: "".join(fill(match[1], name_stage(stage)) for stage in stages),
        template,
        flags=re.DOTALL,
    )
    return re.sub(r",(\n\s*\])", r"\1", whole).rstrip("\n") + "\n"


def name_stage(stage: str) -> dict[str, str]:
    """Return the values of the placeholders of a stage."""
    return {"@stage@": stage, "@number@": stage[:2], "@idea@": stage[3:].replace("_", " ").capitalize()}


def make_files(lab: str, stages: Sequence[str] = (STAGES,)) -> dict[Path, str]:
    """Return all files of a new lab with their texts. lab.json comes last, because with it the folder becomes a lab."""
    names = {"@lab@": lab, "@Lab@": lab.title().replace("_", ""), "@title@": lab.replace("_", " ").capitalize()}
    names["@points@"] = str(POINTS * len(stages))
    files = {}
    for file, template in list_files(lab, stages).items():
        stage = file.stem if file.stem in stages else stages[0]
        files[file] = fill(repeat(read_text(TEMPLATES / template), stages), names | name_stage(stage))
    for stage in stages:
        solution = Path(f"solutions/{lab}/{stage}.cu")
        files[Path(f"starter/{lab}/{stage}.cu")] = make_starter(files[solution], solution)
    manifest = Path(f"labs/{lab}/lab.json")
    return {**{file: text for file, text in files.items() if file != manifest}, manifest: files[manifest]}


def main(arguments: Sequence[str]) -> int:
    """Write the skeleton. The exit status is 2 if the name is invalid."""
    parser = make_parser("make new-lab", __doc__, root=True)
    parser.add_argument("lab", metavar="LAB", help="lower-case letters, digits and underscores")
    parser.add_argument("--stages", default=STAGES, help=f"the stages' ids, with commas between ({STAGES})")
    options = parser.parse_args(arguments)
    lab, stages = check_name(options.lab, options.root), check_stages(options.stages)
    for file, text in make_files(lab, stages).items():
        write_atomically(options.root / file, text)
        say(f"  {file}")
    say(
        f"\nThe skeleton scales a vector. Check that it works on the backends of this machine:\n"
        f"  make grade LAB={lab} TREE=solutions    passes\n"
        f"  make grade LAB={lab} TREE=starter      fails\n"
        f"Then make it your lab, in this order: labs/{lab}/lab.json and lab.h (the contract), driver.cu, oracle.cpp,\n"
        f"datasets/{lab}/, solutions/{lab}/ (make starters writes the starters), handouts/{lab}.md (make docs writes\n"
        f"its tables), labs/{lab}/quiz.json, tests/labs/{lab}/. CONTRIBUTING.md has the details.\n"
        "Outputs may differ in the last bit. If one is a sum of products, change tolerance() in oracle.cpp: nvcc\n"
        "makes a * x + y one instruction that rounds once, and the CPU rounds twice."
    )
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
