"""Rules for every file of the project."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.layout.tree import uncommitted_labs

MACHINE_PATH = re.compile(r"(?<![\w.$}~)-])/(?:work|root|home/\w+)/")
BINARY = {".png", ".gif", ".jpg", ".pgm", ".ppm", ".bin", ".gz", ".pdf"}


def texts(root, files):
    for file in files:
        if file.suffix not in BINARY:
            yield file, (root / file).read_bytes()


def test_text_files_end_with_one_newline_and_have_unix_line_ends(root, files):
    for file, content in texts(root, files):
        if file.parts[:2] == ("tests", "corpus") and file.suffix == ".cu":
            continue  # submissions keep the line endings of their editors
        assert not content or content.endswith(b"\n"), f"{file} does not end with a newline"
        assert not content.endswith(b"\n\n"), f"{file} ends with an empty line"
        assert b"\r\n" not in content, f"{file} has Windows line endings"


def test_no_file_contains_a_path_of_one_machine(root, files):
    for file, content in texts(root, files):
        if file.name == ".gitignore" or file.parts[:2] == ("tests", "layout"):
            continue
        match = MACHINE_PATH.search(content.decode(errors="replace"))
        assert not match, f"{file} contains {match[0]}, a path of one machine"


def test_no_file_is_empty(root, files):
    assert [str(file) for file in files if (root / file).stat().st_size == 0 and file.name != "__init__.py"] == []


def test_no_file_is_large(root, files):
    assert [str(file) for file in files if (root / file).stat().st_size > 1_000_000] == []


def lab_name_pattern(labs) -> re.Pattern:
    """Return a pattern that matches a lab's name in quotes, after LAB= or in a path. Names with an underscore are not
    English words, so the pattern matches them everywhere."""
    places = [
        rf"['\"]({'|'.join(labs)})['\"]",
        rf"(?:LAB=|(?:labs|solutions|starter|datasets|handouts)/)({'|'.join(labs)})\b",
    ]
    return re.compile("|".join(places + [rf"\b{lab}\b" for lab in labs if "_" in lab]))


def test_an_english_word_that_is_also_a_labs_name_does_not_match():
    search = lab_name_pattern(["scratch", "dot_product"]).search
    assert not search("poison the scratch memory, scratch_bytes")
    for text in ('lab == "scratch"', "make check LAB=scratch", "labs/scratch/lab.h", "dot_product(a, b)"):
        assert search(text), text


def test_makefile_and_grader_name_no_lab(root, files, labs):
    committed = [lab for lab in labs if lab not in uncommitted_labs()]
    assert committed
    pattern = lab_name_pattern(committed)
    kinds = (".cpp", ".h", ".cu", ".mk", ".sh", ".py")
    for file in files:
        if file.name in ("Makefile", "warplab") or (file.parts[0] == "grader" and file.suffix in kinds):
            code = re.sub(r"//.*", "", (root / file).read_text())  # examples in comments are allowed
            match = pattern.search(code)
            assert not match, f"{file} names the lab {match[0]}"


def test_shell_scripts_parse(root, files):
    for file in files:
        if file.suffix == ".sh" or file == Path("warplab"):
            result = subprocess.run(["sh", "-n", root / file], capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stderr
