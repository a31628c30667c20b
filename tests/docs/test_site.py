"""The site is built without a warning, holds every page, and asks no other host for anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shown_blocks import DOCS, ROOT

pytest.importorskip("material")

FOREIGN = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    start = (site / "index.html").read_text()
    named = set(re.findall(r'<a href="([^"#]+\.html)" class="md-nav__link', start)) | {"index.html"}
    pages = (path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md"))
    assert {str(page).replace("README.html", "index.html") for page in pages} <= named


def test_no_other_host_is_asked(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert FOREIGN.findall(page.read_text()) == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", sheet.read_text()), sheet


def test_links_out_of_the_documentation_lead_to_the_files(site: Path) -> None:
    for page in set(site.rglob("*.html")) - {site / "404.html"}:  # which does not know where it stands
        for link in re.findall(r'href="([^"#?:]*repository/[^"#?]+)"', page.read_text()):
            assert (page.parent / link).resolve().is_file(), (page, link)


def test_nothing_but_pages_and_what_they_show_is_published(site: Path) -> None:
    assert not list(site.rglob("*.pyc"))
    assert not (site / "assets" / "hooks.py").exists()
