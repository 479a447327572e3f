"""Each part includes and imports only the parts that it may use. Code that is linked with students' code contains no
answers."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

FOR_LABS = [
    "grader/common/*",
    "grader/model/*",
    *(f"grader/judge/lab/{header}.h" for header in ("oracle", "explain", "census", "taps")),
]
# The files that each kind of file may include with quotes; the first pattern that matches counts.
MAY_INCLUDE = {
    "grader/common/*": ["grader/common/*"],
    "grader/model/*": ["generated/*", "grader/common/*", "grader/model/*"],
    "grader/io/*": ["grader/io/*"],
    "grader/judge/*": ["generated/*", "grader/common/*", "grader/io/*", "grader/judge/*", "grader/model/*"],
    "grader/runner/*": ["grader/runner/*", "grader/io/*", "grader/cpu/control.h"],
    "grader/cpu/*": ["grader/cpu/*", "grader/io/rewriter_exit.h", "grader/io/status_page.h", "grader/io/trace.h"],
    "labs/*/lab.h": ["grader/runner/cuda_check.h"],
    "labs/*/driver.cu": ["labs/*/lab.h", "grader/runner/driver.h"],
    "labs/*/oracle.cpp": [*FOR_LABS, "labs/*/*.h"],
    "labs/*/show.cpp": [*FOR_LABS, "grader/judge/lab/show.h", "labs/*/*.h"],
    "labs/*/*.h": FOR_LABS,
    "solutions/*": ["labs/*/lab.h"],
    "starter/*": ["labs/*/lab.h"],
}
# The judge's folders in the order of its work: each may include itself and those before it. "" is grader/judge itself.
JUDGE_FOLDERS = [
    "lab",
    "sandbox",
    "device",
    "compile",
    "run",
    "check",
    "sanitizer",
    "bench",
    "",
    "predict",
    "present",
    "cli",
]
# The packages of grader/python/batch: each may import itself and those before it.
BATCH = [
    "batch.ingest",
    "batch.store",
    "batch.grade",
    "batch.policy",
    "batch.outputs",
    "batch.remote",
    "batch.verbs",
    "batch",
]
# The packages of grader/python, and the packages that each may import in addition to itself.
PYTHON_MAY_IMPORT = {
    "common": [],
    "journal": ["common"],
    "docs": ["common", "journal"],
    "release": ["common", "journal", "docs"],
    **{package: ["common", "journal", *BATCH[:number]] for number, package in enumerate(BATCH)},
}
# Headers of io that the runner and the CPU backend include. They may include only other headers of io.
RUNNER_HEADERS = [
    "grader/io/channel.h",
    "grader/io/protocol.h",
    "grader/io/rewriter_exit.h",
    "grader/io/seal.h",
    "grader/io/status_page.h",
    "grader/io/trace.h",
]


def project_path(root: Path, file: Path, included: str) -> str:
    """Return the included file's path from the root. A bare name is next to the file, in the lab, or in cpu/include."""
    if (root / included).exists():
        return included
    neighbour = (root / file).parent / included
    if neighbour.exists():
        return neighbour.resolve().relative_to(root).as_posix()
    if included == "lab.h":
        return f"labs/{file.parts[1]}/lab.h"
    if (root / "grader/cpu/include" / included).exists():
        return f"grader/cpu/include/{included}"
    return included


def forbidden_includes(root: Path, file: Path) -> list[str]:
    name = file.as_posix()
    allowed = next((may for pattern, may in MAY_INCLUDE.items() if fnmatch(name, pattern)), None)
    if allowed is None:
        return []
    included = [project_path(root, file, header) for header in INCLUDE.findall((root / file).read_text())]
    return [f"{name} includes {header}" for header in included if not any(fnmatch(header, may) for may in allowed)]


def sources(files: list[Path]) -> list[Path]:
    return [file for file in files if file.suffix in (".h", ".cpp", ".cu", ".inc")]


def test_every_file_includes_only_allowed_parts(root, files):
    assert [line for file in sources(files) for line in forbidden_includes(root, file)] == []


def test_the_grader_does_not_use_std_regex(root, files):
    """std::regex recurses for each character: a line of a megabyte in a submission would crash the judge. It also takes
    seconds to compile."""
    grader = [file for file in sources(files) if file.parts[0] == "grader"]
    assert [file for file in grader if re.search(r"<regex>|std::[a-z]?regex", (root / file).read_text())] == []


def position_of(path: Path) -> int:
    return JUDGE_FOLDERS.index(path.parts[2] if len(path.parts) > 3 else "")


def test_no_folder_of_the_judge_includes_a_later_one(root, files):
    for file in sources(files):
        if file.as_posix().startswith("grader/judge/"):
            included = [Path(header) for header in INCLUDE.findall((root / file).read_text())]
            judge = [header for header in included if header.as_posix().startswith("grader/judge/")]
            assert [str(header) for header in judge if position_of(header) > position_of(file)] == [], file


def test_contributing_lists_the_judges_folders_in_order(root):
    section = (root / "CONTRIBUTING.md").read_text().split("## Fix the grader\n")[1].split("\n## ")[0]
    folders = re.findall(r"^    ([a-z.]+) +\S", section, re.MULTILINE)
    assert folders == [folder or "judge.h" for folder in JUDGE_FOLDERS]


def test_a_forbidden_include_is_found(root, tmp_path):
    (tmp_path / "grader/runner").mkdir(parents=True)
    (tmp_path / "grader/runner/runner.cpp").write_text('#include "grader/judge/lab/oracle.h"\n#include <vector>\n')
    lines = forbidden_includes(tmp_path, Path("grader/runner/runner.cpp"))
    assert lines == ["grader/runner/runner.cpp includes grader/judge/lab/oracle.h"]


def test_io_headers_of_the_runner_include_only_io(root, files):
    runner = [file for file in sources(files) if file.as_posix().startswith(("grader/runner/", "grader/cpu/"))]
    io = {
        header
        for file in runner
        for header in INCLUDE.findall((root / file).read_text())
        if header.startswith("grader/io/")
    }
    assert io <= set(RUNNER_HEADERS)
    for header in io:
        other_includes = [
            include for include in INCLUDE.findall((root / header).read_text()) if not include.startswith("grader/io/")
        ]
        assert other_includes == [], f"{header} includes {other_includes}"


def imported_modules(file: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return modules


def package_of(module: str) -> str:
    """Return the key of PYTHON_MAY_IMPORT to which a module belongs."""
    parts = module.split(".")
    return ".".join(parts[2:4]) if parts[2] == "batch" and len(parts) > 4 else parts[2]


def project_imports(root: Path, file: Path) -> set[str]:
    """Return the modules of grader/python that a file imports."""
    return {
        name
        for name in imported_modules(root / file)
        if name.startswith("grader.python.") and (root / Path(*name.split("."))).with_suffix(".py").is_file()
    }


def python_modules(files: list[Path]) -> list[Path]:
    return [file for file in files if file.suffix == ".py" and file.as_posix().startswith("grader/python/")]


def module_name(file: Path) -> str:
    return ".".join(file.with_suffix("").parts)


def forbidden_imports(root: Path, file: Path) -> list[str]:
    package = package_of(module_name(file))
    allowed = {package, *PYTHON_MAY_IMPORT[package]}
    return [f"{file} imports {name}" for name in project_imports(root, file) if package_of(name) not in allowed]


def test_every_python_package_imports_only_allowed_packages(root, files):
    assert [line for file in python_modules(files) for line in forbidden_imports(root, file)] == []


def test_python_packages_do_not_import_each_other_in_a_circle():
    before: set[str] = set()
    for package, imported in PYTHON_MAY_IMPORT.items():
        assert set(imported) <= before, f"{package} may import a later package"
        before.add(package)


def test_no_python_module_imports_itself_indirectly(root, files):
    imports = {module_name(file): project_imports(root, file) for file in python_modules(files)}
    while free := [module for module, imported in imports.items() if not imported & imports.keys()]:
        for module in free:
            del imports[module]
    assert imports == {}


def test_contributing_lists_the_packages_in_order(root):
    section = (root / "CONTRIBUTING.md").read_text().split("## Fix a Python command\n")[1].split("\n## ")[0]
    assert re.findall(r"^    ([a-z.]+) +\S", section, re.MULTILINE) == list(PYTHON_MAY_IMPORT)


def test_a_forbidden_import_is_found(tmp_path):
    for package in ("common", "journal", "batch/ingest", "batch/grade"):
        (tmp_path / "grader/python" / package).mkdir(parents=True)
        (tmp_path / "grader/python" / package / "module.py").write_text("import json\n")
    for package, imported in (("common", "journal"), ("batch/ingest", "batch.grade"), ("journal", "batch.ingest")):
        file = Path("grader/python", package, "other.py")
        (tmp_path / file).write_text(f"from grader.python.{imported} import module\n")
        assert forbidden_imports(tmp_path, file) == [f"{file} imports grader.python.{imported}.module"]


def test_the_folders_of_tests_mirror_those_of_the_sources(root, files):
    without_counterpart = {"layout", "setup", "python", "labs", "fuzz"}
    for file in files:
        if file.parts[0] == "tests" and file.name.endswith("_test.cpp") and file.parts[1] not in without_counterpart:
            mirrored = root / "grader" / Path(*file.parts[1:-1])
            assert mirrored.is_dir(), f"{file}: there is no {mirrored.relative_to(root)}"


def test_only_one_python_module_prints(root: Path, files: list[Path]) -> None:
    """console.say() escapes untrusted text, so all output goes through it."""
    for file in files:
        if file.suffix != ".py" or file.parts[0] != "grader" or file == Path("grader/python/common/console.py"):
            continue
        for node in ast.walk(ast.parse((root / file).read_bytes())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in ("print", "sys.stdout.write", "sys.stderr.write"), f"{file}:{node.lineno} prints"


def test_only_one_module_turns_keys_into_folder_names(root: Path, files: list[Path]) -> None:
    """A key is untrusted, so only places.py turns it into a path."""
    for file in files:
        if file.suffix != ".py" or file.parts[:3] != ("grader", "python", "batch") or file.name == "places.py":
            continue
        for node in ast.walk(ast.parse((root / file).read_bytes())):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                assert not re.search(r"\bkey\b|student", ast.unparse(node.right)), (
                    f"{file}:{node.lineno} makes a path from a key"
                )


def test_only_one_type_closes_descriptors(root: Path, files: list[Path]) -> None:
    """The type Descriptor closes file descriptors; only code that runs between fork and exec calls close()."""
    by_hand = {"grader/common/descriptor.h", "grader/judge/sandbox/launch.cpp", "grader/judge/sandbox/users.cpp"}
    for file in sources(files):
        if file.as_posix().startswith(("grader/common/", "grader/judge/")) and file.as_posix() not in by_hand:
            assert not re.search(r"(?<![\w.>])close\(", (root / file).read_text()), f"{file} calls close()"
