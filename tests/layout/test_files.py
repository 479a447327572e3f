"""What holds for every committed file."""

from __future__ import annotations

import re
import subprocess

MACHINE_PATH = re.compile(r"(?<![\w.$}~)-])/(?:work|root|home/\w+)/")
BINARY = {".png", ".jpg", ".pgm", ".ppm", ".bin", ".gz", ".pdf"}


def texts(root, files):
    for file in files:
        if file.suffix not in BINARY:
            yield file, (root / file).read_bytes()


def test_text_files_end_with_one_newline_and_have_unix_line_ends(root, files):
    for file, content in texts(root, files):
        assert not content or content.endswith(b"\n"), f"{file} does not end with a newline"
        assert not content.endswith(b"\n\n"), f"{file} ends with an empty line"
        assert b"\r\n" not in content, f"{file} has Windows line ends"


def test_no_file_names_a_machines_paths(root, files):
    for file, content in texts(root, files):
        if file.name == ".gitignore" or file.parts[:2] == ("tests", "layout"):
            continue
        found = MACHINE_PATH.search(content.decode(errors="replace"))
        assert not found, f"{file} names {found[0]}"


def test_no_file_is_empty(root, files):
    assert [str(file) for file in files if (root / file).stat().st_size == 0 and file.name != "__init__.py"] == []


def test_no_file_is_large(root, files):
    assert [str(file) for file in files if (root / file).stat().st_size > 1_000_000] == []


def test_makefile_and_grader_name_no_lab(root, files, labs):
    named = re.compile(rf"\b({'|'.join(labs)})\b") if labs else None
    kinds = (".cpp", ".h", ".cu", ".mk", ".sh", ".py")
    for file in files:
        if file.name == "Makefile" or (file.parts[0] == "grader" and file.suffix in kinds):
            code = re.sub(r"//.*", "", (root / file).read_text())  # an example in a comment is no knowledge
            found = named and named.search(code)
            assert not found, f"{file} names the lab {found[0]}"


def test_shell_scripts_parse(root, files):
    for file in files:
        if file.suffix == ".sh":
            done = subprocess.run(["sh", "-n", root / file], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
