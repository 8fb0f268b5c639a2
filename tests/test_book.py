"""The book of notebooks: complete, to be searched, and nothing in it comes from elsewhere."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import build_book
import nbformat
import pytest
from book.chapter import markdown
from book.formulas import formula
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OPENING = """# The coin $c^2$

You toss a coin. Is it fair, for *all* $n$ tosses? Or not?

See [the other notebook](02-end.ipynb#more) and [a paper](https://example.org/paper).

$$p = \\sum_k f(k) \\log \\frac{k}{n} \\tag{1a}$$"""
WIDGET = """import ipywidgets as w
picture = w.HTML("<img alt='a bell' src='data:,'>")
choice = w.Dropdown(options=[("both tails", 2)], description="Tails")
w.VBox([choice, w.HBox([w.IntSlider(7, description="n"), w.Play()]), picture])"""
PLOT = """import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.set(title="Heads & tails", xlabel="heads", ylabel="share")
ax.plot([0, 1], label="fair")
fig.legend()
plt.show()"""
FIRST = [
    new_markdown_cell(OPENING),
    new_code_cell("import permtest as pt\npt.exact_perm_test([3, 1], [0, 2])"),
    new_code_cell("print('x < y' + chr(8239) + 'zebra')"),
    new_markdown_cell("## A plot & a widget\n\nBoth are still."),
    new_code_cell(PLOT),
    new_code_cell(WIDGET),
    new_code_cell("w.IntProgress(3, description='bar')"),
    new_markdown_cell("### 1. An exercise", metadata={"tags": ["exercise"]}),
    new_code_cell("# your code", metadata={"tags": ["exercise"]}),
    new_code_cell("# solution 1\nassert 1 < 2", metadata={"tags": ["solution"]}),
]
SECOND = [new_markdown_cell("# The end\n\nNo more.\n\n## More\n\nA coin, a Zebra.")]


def write(folder: Path, name: str, cells: list[nbformat.NotebookNode]) -> Path:
    path = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A book of two notebooks."""
    folder = tmp_path_factory.mktemp("notebooks")
    paths = [write(folder, "01-coin", FIRST), write(folder, "02-end", SECOND)]
    build_book.build(paths, folder / "html", "# permtest\n\nAbout $2^N$ swaps.")
    return folder / "html"


class Page(HTMLParser):
    """Elements of a page, in order, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


@pytest.fixture(scope="module")
def coin(book) -> Page:
    return Page(book / "01-coin.html")


# ---- what a page has ---------------------------------------------------------------------------


def test_files(book):
    names = ["01-coin.html", "02-end.html", "book.css", "index.html", "index.js", "search.js"]
    assert sorted(path.name for path in book.iterdir()) == names


def test_every_page_shows_the_series_and_where_one_is(book, coin):
    for name in ("index.html", "01-coin.html", "02-end.html"):
        page = Page(book / name)
        assert {"01-coin.html", "02-end.html"} <= {a["href"] for a in page.all("a")}
        (current,) = [a for a in page.all("a") if "aria-current" in a]
        assert current["href"] == name
    assert [(a["rel"], a["href"]) for a in coin.all("a") if "rel" in a] == [("next", "02-end.html")]
    assert {"#a-plot-a-widget", "#1-an-exercise"} <= {a["href"] for a in coin.all("a")}
    assert {a.get("id") for a in coin.all("h2")} == {"a-plot-a-widget"}


def test_the_index_knows_where_words_are(book):
    text = (book / "index.js").read_text("utf-8")
    index = json.loads(text.removeprefix("const BOOK = ").removesuffix(";\n"))
    assert index["pages"] == [["01-coin.html", "The coin c^2"], ["02-end.html", "The end"]]
    found = {(page, anchor): words for page, anchor, _, words in index["sections"]}
    assert "Is it fair" in found[0, "the-coin-c2"]
    assert "zebra" in found[0, "the-coin-c2"], "output can be found"
    assert "A coin, a Zebra." in found[1, "more"]
    assert set(found) == {(0, "the-coin-c2"), (0, "a-plot-a-widget"), (0, "1-an-exercise")} | {
        (1, "the-end"),
        (1, "more"),
    }


# ---- what it does not have ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["index.html", "01-coin.html", "02-end.html"])
def test_no_page_loads_anything_from_elsewhere(book, name):
    page = Page(book / name)
    for tag, attributes in page.elements:
        for key, value in attributes.items():
            if key not in ("xmlns", "alt") and (tag, key) != ("a", "href"):
                assert not re.search("https?:|^//|url\\(", value or ""), (tag, key)
    scripts = [script.get("src") for script in page.all("script")]
    assert scripts == [None, "index.js", "search.js"]
    assert [link["href"] for link in page.all("link")] == ["book.css", "data:,"]
    for file in ("book.css", "search.js"):
        assert not re.search("https?:|url\\(|@import|fetch\\(", (book / file).read_text("utf-8"))


def attempt(folder: Path, *cells: nbformat.NotebookNode) -> str:
    """What the command says instead of making a book; an old book stays."""
    (folder / "html").mkdir(exist_ok=True)
    (folder / "html" / "index.html").write_text("old")
    with pytest.raises(SystemExit) as stopped:
        build_book.build([write(folder, "01-bad", list(cells))], folder / "html", "")
    assert (folder / "html" / "index.html").read_text() == "old"
    return str(stopped.value)


def test_a_notebook_that_fails_is_named(tmp_path, capsys):
    assert "failed: 01-bad.ipynb" in attempt(tmp_path, new_code_cell("1 / 0"))
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# A\n\n$\\nonsense x$", "01-bad.ipynb: cannot convert \\nonsense in the formula"),
        ("no heading", "01-bad.ipynb has no heading"),
        ("# A\n\n![](data:,)", "01-bad.html: a picture has no text"),
        ("# A\n\n[b](c.html)", "01-bad.html: links to c.html, which is not in the book"),
        ("# A\n\n[b](#gone)", "01-bad.html: links to #gone, which is not in the book"),
        ("# A\n\n![b](https://example.org/x.png)", "01-bad.html: loads https://example.org/x.png"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path, monkeypatch, source, message):
    async def as_it_is(paths):
        return [nbformat.read(path, as_version=4) for path in paths]

    monkeypatch.setattr(build_book, "run_all", as_it_is)
    assert message in attempt(tmp_path, new_markdown_cell(source))


@pytest.mark.parametrize(
    "tex", ["\\frac{1}", "{x", "x_", "a & b", "\\begin{aligned}x &= y\\end{aligned}"]
)
def test_formulas_are_converted_whole_or_not_at_all(tex):
    with pytest.raises(ValueError, match="the formula"):
        formula(tex)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_formula_of_the_notebooks_is_converted(path):
    cells = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    for source in cells:
        html = re.sub("<(pre|code)>.*?</\\1>", "", markdown(source), flags=re.S)
        assert "$" not in html
        assert html.count("<math") == len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", source, re.S))


# ---- in a browser ------------------------------------------------------------------------------


@pytest.mark.browser
def test_the_search_works_from_disk_with_the_keyboard(book, chromium):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((book / "01-coin.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 24, 30)"
        assert not page.locator("#menu nav").is_visible()
        page.keyboard.press("/")
        page.keyboard.type("coin zeb")
        assert page.locator("#found").inner_text() == "2 places"
        assert page.locator("#results li:first-child mark").first.inner_text() == "coin"
        titles = page.locator("#results b").all_inner_texts()
        assert titles == ["The coin c^2", "The end: More"]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.locator("[aria-selected=true] b").inner_text() == "The end: More"
        page.keyboard.press("Enter")
        page.wait_for_url("**/02-end.html#more")
        assert all(url.startswith(("file:", "data:")) for url in requests)
        browser.close()
