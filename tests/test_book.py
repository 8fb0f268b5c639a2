"""The book: all pages are there, links lead somewhere, and nothing comes from elsewhere."""

import json
import re
import runpy
from functools import cache
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from build_site import MODULES, build_book, prepared

from tests.html_page import Page

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
FIRST = "notebooks/01-are-they-different.html"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole book; a warning of Sphinx fails. Notebooks without outputs are not run for it."""
    folder = tmp_path_factory.mktemp("book")
    build_book(folder, "-D", "nb_execution_mode=off")
    return folder


@cache
def read(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


@cache
def anchors(path: Path) -> set[str]:
    return {*read(path).values("id")}


def pages(book: Path) -> list[Path]:
    return sorted(book.rglob("*.html"))


def test_every_source_has_a_page(book):
    wanted = {f"notebooks/{path.stem}.html" for path in NOTEBOOKS}
    wanted |= {f"docs/{path.stem}.html" for path in DOCUMENTS if path.stem != "contents"}
    wanted |= {f"docs/reference/{module}.html" for module in MODULES}
    wanted |= {"index.html", "docs/command-line.html", "CHANGELOG.html"}
    assert wanted <= {page.relative_to(book).as_posix() for page in pages(book)}


def test_the_reference_has_every_public_name(book):
    for module in MODULES:
        folder, names = book / "docs" / "reference", import_module(module).__all__
        there = anchors(folder / f"{module}.html") | anchors(folder / "permtest.html")
        assert not [n for n in names if not {f"{module}.{n}", f"permtest.{n}"} & there], module


def test_a_notebook_can_be_run_and_downloaded(book):
    links = {a["href"] for a in read(book / FIRST).all("a") if "href" in a}
    (download,) = [a for a in read(book / FIRST).all("a") if "download" in a]
    saved = (book / FIRST).parent / download["href"]
    assert json.loads(saved.read_text("utf-8")) == json.loads(
        (ROOT / FIRST).with_suffix(".ipynb").read_text("utf-8")
    )
    assert "../lite/notebooks/index.html?path=01-are-they-different.ipynb" in links
    for service in ("mybinder.org", "colab.research.google.com"):
        assert any(service in link and "01-are-they-different.ipynb" in link for link in links)


def test_solutions_are_folded_and_pictures_have_texts():
    picture = {"output_type": "display_data", "data": {"image/png": "", "text/plain": "p = 1"}}
    cells = [
        {"metadata": {"tags": ["setup"]}},
        {"metadata": {"tags": ["solution"]}},
        {"metadata": {"alt": "a bell"}, "outputs": [picture]},
    ]
    first, folded, drawn = prepared({"cells": cells})["cells"]
    assert first["metadata"]["tags"] == ["setup", "hide-input"]
    assert folded["metadata"]["tags"] == ["solution", "hide-cell"]
    assert drawn["metadata"]["mystnb"] == {"image": {"alt": "a bell"}}
    assert [list(output["data"]) for output in drawn["outputs"]] == [["image/png"], ["text/plain"]]


def test_every_link_leads_somewhere_and_no_page_loads_anything_from_elsewhere(book):
    missing = []
    for page in pages(book):
        for tag, attributes in read(page).elements:
            for key in ("src", "srcset", "poster", "data", "action"):
                assert "//" not in (attributes.get(key) or "").partition("base64")[0], page
            assert tag != "link" or "//" not in (attributes["href"] or ""), page
            link = urlsplit(attributes.get("href") or attributes.get("src") or "")
            if link.scheme or link.netloc or "lite/" in link.path:
                continue
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            found = target.exists()
            if found and link.fragment and target.suffix == ".html" and tag == "a":
                found = unquote(link.fragment) in anchors(target)
            if not found:
                missing.append((page.name, link.geturl()))
    assert not missing
    for style in book.rglob("*.css"):
        assert not re.search(r"url\(.?(https?:)?//|@import", style.read_text("utf-8")), style


def test_a_command_that_the_formulas_do_not_know_is_an_error():
    formula = runpy.run_path(str(ROOT / "docs" / "conf.py"))["formula"]
    assert "<mfrac>" in formula(r"\frac{1}{2}", "inline")
    with pytest.raises(ValueError, match=r"nonsense in the formula"):
        formula(r"\nonsense x", "inline")


@pytest.mark.browser
def test_the_book_works_from_disk_on_a_phone(book, browser):
    requests, tab = [], browser.new_page(viewport={"width": 400, "height": 800})
    tab.on("request", lambda request: requests.append(request.url))
    for page in pages(book):
        tab.goto(page.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") == 400, page.name
    tab.goto((book / FIRST).as_uri())
    fraction = tab.locator(".formula mfrac").first.bounding_box()
    assert fraction["height"] > fraction["width"] > 0  # one number above the other
    tab.goto((book / "index.html").as_uri())
    tab.locator("label.nav-overlay-icon").click()
    tab.get_by_placeholder("Search").fill("mcnemar")
    tab.keyboard.press("Enter")
    tab.get_by_text("Search finished").wait_for()  # until then results move
    tab.get_by_role("link", name="permtest.alternatives.mcnemar").first.click()
    tab.wait_for_url("**/permtest.alternatives.html*#permtest.alternatives.mcnemar")
    assert all(url.startswith(("file:", "data:")) for url in requests)
