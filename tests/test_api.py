"""What users call: all of it is explained, with examples that run, and has a place in the book."""

import inspect
from importlib import import_module

import build_book
import pytest
from book import commands, docstrings, reference, surface
from bs4 import BeautifulSoup

THINGS = surface.public()
CALLABLE = [thing for thing in THINGS if thing.kind != "constant"]
CLASSES = [thing for thing in THINGS if thing.kind == "class"]


def callables() -> list[tuple[str, object, bool]]:
    """Public functions, classes and methods by name, and whether they are methods."""
    found = [(thing.path, thing.value, False) for thing in CALLABLE]
    for thing in CLASSES:
        for name, member in surface.members(thing.value).items():
            if not isinstance(member, property) and not hasattr(member, "func"):
                found.append((f"{thing.path}.{name}", getattr(thing.value, name), True))
    return found


# ---- what is public ----------------------------------------------------------------------------


@pytest.mark.parametrize("module", surface.WHOLE)
def test_what_a_module_offers_is_on_a_page(module):
    explained = {id(thing.value) for thing in THINGS}
    whole = import_module(".".join(filter(None, ["permtest", module])))
    assert not [name for name in whole.__all__ if id(getattr(whole, name)) not in explained]


def test_every_name_is_on_one_page_and_exported_where_there_is_a_list():
    assert len({thing.path for thing in THINGS}) == len(THINGS)
    assert len({id(thing.value) for thing in THINGS}) == len(THINGS)
    for thing in THINGS:
        assert thing.name in getattr(import_module(thing.module), "__all__", [thing.name])


# ---- docstrings --------------------------------------------------------------------------------


def test_there_is_an_example():
    for thing in CALLABLE:
        docstring = vars(thing.value).get("__doc__") or thing.value.__doc__
        assert docstring, f"{thing.path} has no docstring"
        if not thing.name.startswith("plot_"):  # what a picture shows cannot be printed
            assert docstrings.parsed(thing.value)["Examples"], f"{thing.path} has no Examples"
            assert ">>> " in docstring, f"the example of {thing.path} does not run"


def test_methods_and_properties_say_what_they_are():
    for thing in CLASSES:
        members = surface.members(thing.value).items()
        silent = [name for name, member in members if not surface.function_of(member).__doc__]
        assert not silent, f"{thing.path} has members without a docstring"


def test_docstring_lists_the_parameters_of_the_signature():
    for name, function, is_method in callables():
        parameters = [p for p in inspect.signature(function).parameters if not p.startswith("_")]
        parameters = parameters[1:] if parameters[:1] == ["self"] else parameters
        sections = docstrings.parsed(function)
        heads = [head for entry in sections["Parameters"] for head in entry.name.split(",")]
        documented = [head.strip().lstrip("*") for head in heads]
        if documented or not is_method:  # a sentence is enough for a plain method
            assert documented == parameters, f"{name} has other parameters than its docstring"


# ---- pages -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files():
    """The pages of the reference, as files of a book; none of their links is broken."""
    files = build_book.pages([*reference.reference(), commands.commands()], "# permtest")
    build_book.check(files)
    return files


@pytest.fixture(scope="module")
def soups(files):
    return {
        page.name: BeautifulSoup(files[f"{page.name}.html"], "html.parser")
        for page in surface.PAGES
    }


@pytest.mark.parametrize("page", surface.PAGES, ids=lambda page: page.name)
def test_a_page_has_everything_that_it_names(page, soups):
    soup = soups[page.name]
    anchors = [tag["id"] for tag in soup.main.find_all(id=True)]
    assert len(set(anchors)) == len(anchors)
    for things in page.things.values():
        for thing in things:
            entry = soup.find(id=thing.name).find_parent("section")
            text = entry.get_text()
            assert f"{thing.kind} of {thing.module}" in text
            for name in surface.members(thing.value) if thing.kind == "class" else ():
                assert entry.find(id=f"{thing.name}.{name}")
    assert soup.select(".highlight .gp"), "examples in colours"


def test_the_command_line_has_every_command(files):
    soup = BeautifulSoup(files["command-line.html"], "html.parser")
    assert {"permtest-compare", "permtest-study", "permtest-leaderboard"} <= {
        heading["id"] for heading in soup.find_all("h2")
    }
    heads = [code.get_text() for code in soup.select("dt code")]
    assert "--alternative SIDE" in heads
    assert "usage:" not in soup.get_text()


# ---- in a browser ------------------------------------------------------------------------------


@pytest.mark.browser
def test_pages_fit_the_screen_and_ask_nobody(files, chromium, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for width in (390, 1200):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            requests: list[str] = []
            tab.on("request", lambda request, seen=requests: seen.append(request.url))
            for page in (*surface.PAGES, commands.commands()):
                tab.goto((tmp_path / f"{page.name}.html").as_uri())
                assert tab.evaluate("document.documentElement.scrollWidth") == width, page.name
            assert all(url.startswith(("file:", "data:")) for url in requests)
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.className") == "skip"
        tab.goto((tmp_path / "api-test.html").as_uri() + "#Pairs.of")
        assert tab.evaluate("document.querySelector(':target').getBoundingClientRect().top") > 50
        browser.close()
