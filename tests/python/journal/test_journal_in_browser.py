"""The journal in headless Chromium: nothing overflows, pictures have text alternatives, and no request is sent."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader.python.journal.journal import BROWSERS, find_pictures, render
from tests.python.journal.journals import LAB, complete_journal, report, source, write_course
from tests.python.pages import Reader
from tests.python.support import run_module

BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(BROWSERS)} is installed")
PHONE, LAPTOP, PRINT = 390, 1280, 718  # widths in pixels; PRINT: A4 without margins
NAME = "a_name_that_is_much_longer_than_a_table_cell_but_that_is_allowed_" * 3
# The page's policy allows no script, so the test inserts this script into a copy without the policy.
PROBE = """<script>
const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && !element.closest(".scroll, pre, svg");
});
const bare = [...document.querySelectorAll("svg, img")].filter((picture) =>
    !picture.closest("[aria-hidden=true], [role=img], [role=group], .legend") && !picture.getAttribute("aria-label") &&
    !picture.getAttribute("alt"));
document.title = JSON.stringify({
    inner: innerWidth, scroll: document.documentElement.scrollWidth,
    wide: wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
    bare: bare.slice(0, 5).map((picture) => picture.outerHTML.slice(0, 120)),
    pictures: document.querySelectorAll("svg, img").length,
    requests: performance.getEntriesByType("resource").filter((entry) => !entry.name.startsWith("data:")).length,
});
</script></body>"""


def course(root: Path) -> str:
    """Write a complete journal, with words that are hard to fit. Return its page."""
    records = [
        *complete_journal(),
        source(50, "01_serial", f"// {NAME}\n"),
        report(50, "01_serial", f"// {NAME}\n", 0.2),
    ]
    records[-1]["report"]["stages"][0]["measurements"][0]["limit"] = NAME
    words = f"## Goal\n{NAME}\n\n- `{NAME}`\n\n```\n{NAME}{NAME}\n```\n"
    write_course(root, records, **{"01_serial": f"<!-- begun 2026-11-01T00:00:00Z -->\n{words}", "02_tree": words})
    folder = root / "build" / "show" / LAB
    folder.mkdir(parents=True)
    (folder / "wide.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="90"/>')
    pictures = find_pictures(root / "build", root / "work", LAB)
    return render(root, LAB, root / "work" / LAB / "journal", pictures).page


def probe(page: str, folder: Path, width: int, *, opened: bool = False, printed: bool = False) -> dict[str, Any]:
    """Return the probe's result at a width; `printed` uses the style sheet for paper."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = page.replace("<details>", "<details open>") if opened else page
    page = (
        page.replace("@media print", "@media all").replace("@media screen and", "@media not all and")
        if printed
        else page
    )
    file = folder / f"probe-{width}.html"
    # Chromium's windows are at least 500 pixels wide; a frame may be as narrow as a phone.
    file.write_text(page.replace("</body>", PROBE), encoding="utf-8")
    frame = f'<iframe src="{file.name}" width="{width}" height="3000" style="border:0"></iframe>'
    reader = "<script>onload = () => document.title = frames[0].document.title</script>"
    (folder / "frame.html").write_text(f"<!doctype html><body>{frame}{reader}", encoding="utf-8")
    command = [BROWSER or "", "--headless", "--disable-gpu", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    command += ["--allow-file-access-from-files", "--virtual-time-budget=5000", (folder / "frame.html").as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    title = re.search(r"<title>(.*?)</title>", result.stdout, re.DOTALL)
    assert title, result.stderr[-2000:]
    measured: dict[str, Any] = json.loads(html.unescape(title[1]))
    return measured


@needs_browser
@pytest.mark.parametrize(
    ("width", "opened", "printed"),
    [(PHONE, False, False), (PHONE, True, False), (LAPTOP, True, False), (PRINT, True, True)],
)
def test_nothing_overflows_and_every_picture_has_a_text_alternative(
    tmp_path: Path, width: int, opened: bool, printed: bool
) -> None:
    measured = probe(course(tmp_path), tmp_path, width, opened=opened, printed=printed)
    assert measured["inner"] == width
    assert measured["wide"] == []
    assert measured["scroll"] <= measured["inner"]
    assert measured["bare"] == []
    assert measured["pictures"] > 20
    assert measured["requests"] == 0


@needs_browser
def test_the_probe_finds_planted_mistakes(tmp_path: Path) -> None:
    page = course(tmp_path).replace("<main>", '<main><p style="width:3000px">x</p><svg width="9" height="9"></svg>')
    measured = probe(page, tmp_path, PHONE)
    assert measured["wide"] != []
    assert measured["scroll"] > measured["inner"]
    assert measured["bare"] != []


def test_no_request_leaves_the_page_and_no_script_runs(tmp_path: Path) -> None:
    page = course(tmp_path)
    tags = Reader(page).tags
    (policy,) = [attributes["content"] for _, attributes in tags if "http-equiv" in attributes]
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; img-src data:"
    )
    for tag, attributes in tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "base", "form", "image", "use")
        assert not [name for name in attributes if name.startswith("on") or name in ("srcset", "action")]
        assert (attributes.get("href") or "#").startswith("#")
        assert (attributes.get("src") or "data:").startswith("data:")
    assert not re.search(r"url\(|@import", page)


@needs_browser
def test_the_pdf_is_written(tmp_path: Path) -> None:
    course(tmp_path)
    result = run_module("grader.python.journal.journal", LAB, "--pdf", "--root", tmp_path, "--work", tmp_path / "work")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "work" / LAB / "journal" / "journal.pdf").read_bytes().startswith(b"%PDF")
