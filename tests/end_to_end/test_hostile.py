"""Hostile hand-ins through `grade --tree DIR` cannot reach their targets, and leave nothing behind."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.cases import program
from tests.labs.conftest import BUILD, ROOT

HEADERS = ("cstdio", "arpa/inet.h", "fcntl.h", "sys/prctl.h", "sys/socket.h", "unistd.h")
INCLUDES = "\n".join(f"#include <{header}>" for header in HEADERS)


def grade(host: str, folder: Path) -> dict:
    """Grade a correct solution whose host code first runs `host`. Return the stage's part of the report."""
    tree = folder / "handed in"
    tree.mkdir()
    (tree / "02_grid_stride.cu").write_text(program(host=host, before=INCLUDES))
    return grade_tree(tree, folder)


def grade_tree(tree: Path, folder: Path) -> dict:
    """Grade the stage in `tree` and write the report to `folder`. Return the stage's part of the report."""
    command = [BUILD / "warplab", "grade", "vector_add", "02", "--tree", tree, "--backend", "cpu"]
    command += ["--dataset", "readable", "--report-dir", folder]
    result = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    if "needs a sandbox" in result.stderr:
        pytest.skip("no sandbox is available")
    assert result.returncode in (0, 1), result.stdout + result.stderr
    report = json.loads((folder / "vector_add.json").read_text())
    assert report["sandbox"] in ("namespace", "uid")
    return report["stages"][0]


@pytest.mark.parametrize("linked", ["vector_add/02_grid_stride.cu", "vector_add"])
def test_a_link_to_the_solutions_gets_no_points(linked: str, tmp_path: Path) -> None:
    link = tmp_path / "tree" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(ROOT / "solutions" / linked)
    stage = grade_tree(tmp_path / "tree", tmp_path)
    assert stage["verdict"] == "failed" and "symbolic link" in json.dumps(stage)


@pytest.mark.parametrize("linked", ["vector_add/02_grid_stride.cu", "vector_add"])
def test_a_link_to_itself_fails_without_an_error_of_the_judge(linked: str, tmp_path: Path) -> None:
    link = tmp_path / "tree" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(link.name)
    stage = grade_tree(tmp_path / "tree", tmp_path)
    assert stage["verdict"] == "failed" and stage["compilation"]["failure"]["cause"] == "missing_file"


def test_files_of_the_course_cannot_be_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("another student's work\n")
    build = (ROOT / BUILD).resolve()
    files = [
        ROOT / "datasets/.secret",
        ROOT / "datasets/vector_add/hidden.json",
        ROOT / "labs/vector_add/oracle.cpp",
        ROOT / "solutions/vector_add/02_grid_stride.cu",
        build / "labs/vector_add/oracle.so",
        outside,
    ]
    reads = " ".join(f'puts(open("{file}", O_RDONLY) < 0 ? "refused" : "READ {file.name}");' for file in files)
    stage = grade(reads, tmp_path)
    assert all(file.exists() for file in files)
    assert stage["output"].split() == ["refused"] * len(files) * 2, stage["output"]
    assert stage["verdict"] == "passed"


def test_the_network_cannot_be_reached(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        connects = (
            f"sockaddr_in to{{AF_INET, htons({server.getsockname()[1]}), {{htonl(0x7f000001)}}, {{}}}}; "
            "int s = socket(AF_INET, SOCK_STREAM, 0); "
            'puts(connect(s, (sockaddr*)&to, sizeof to) == 0 ? "CONNECTED" : "refused");'
        )
        stage = grade(connects, tmp_path)
        with pytest.raises(TimeoutError):
            server.accept()
    assert stage["output"].split() == ["refused", "refused"]


def test_a_fork_bomb_is_limited_and_ends(tmp_path: Path) -> None:
    name = f"bomb{tmp_path.name[-4:]}{tmp_path.stat().st_ino % 10000}"
    bomb = (
        f'int children = 0; while (children < 3000) {{ int p = fork(); if (p == 0) {{ prctl(PR_SET_NAME, "{name}"); '
        'for (;;) pause(); } if (p < 0) break; ++children; } printf("%d\\n", children);'
    )
    stage = grade(bomb, tmp_path)
    started = [int(word) for word in stage["output"].split()]
    assert started and sum(started) < 1000, stage["output"]
    remaining = [comm for comm in Path("/proc").glob("[0-9]*/comm") if read(comm).strip() == name]
    assert not remaining


def read(file: Path) -> str:
    """Return a file's text; empty if the file no longer exists."""
    try:
        return file.read_text()
    except OSError:
        return ""
