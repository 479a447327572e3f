"""The handouts' HTML pages are complete, have links that work without a network, and can be searched."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.python.common.labs import find_labs
from grader.python.journal.journal import BROWSERS
from tests.python.support import ROOT, run_module

pytest.importorskip("material", reason="the packages of grader/requirements.txt are not installed")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
ADDRESS = re.compile(r"""\b(?:src|href)=["']?([^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "handouts"
    result = run_module("grader.python.journal.handouts", "--output", folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"Handouts: {folder / 'index.html'}\n"
    return folder


def test_every_handout_is_a_page_in_the_courses_order(site: Path) -> None:
    labs = find_labs(ROOT)
    index = (site / "index.html").read_text()
    places = [index.index(f'href="{lab}.html"') for lab in labs]
    assert places == sorted(places)
    for lab in labs:
        assert (site / f"{lab}.html").is_file()


def test_nothing_comes_from_the_network_and_no_local_link_is_dead(site: Path) -> None:
    for page in site.rglob("*.html"):
        for address in ADDRESS.findall(page.read_text()):
            name = address.partition("#")[0].partition("?")[0]
            if page.name == "404.html" or not name or name.startswith(("javascript:", "data:")):
                continue
            if name.startswith("http"):
                assert f'<a href="{address}"' in page.read_text(), f"{page}: {address}"  # for the reader to follow
            else:
                assert (page.parent / name).exists(), f"{page}: {address}"


def test_there_is_a_dark_mode(site: Path) -> None:
    page = (site / "vector_add.html").read_text()
    assert 'data-md-color-scheme="slate"' in page and "prefers-color-scheme: dark" in page


@pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(BROWSERS)} is installed")
def test_the_search_works_in_a_page_opened_as_a_file(site: Path, tmp_path: Path) -> None:
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    command += ["--virtual-time-budget=20000", "--dump-dom", f"{(site / 'index.html').as_uri()}?q=barrier"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert re.search(r"\d+ matching documents", result.stdout)
