"""The book of notebooks: complete, to be searched, and nothing in it comes from elsewhere."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import build_book
import nbformat
import pytest
from book.chapter import Chapter, chapter, markdown
from book.formulas import formula
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

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


def test_the_front_page_has_the_question_of_each_notebook(book):
    front = (book / "index.html").read_text("utf-8")
    assert re.search("Is it fair, for <em>all</em> <math .*</math> tosses. Or not.</td>", front)
    assert '<a href="02-end.html">02 The end</a></th>\n<td>No more.</td>' in front
    assert re.search("About <math .*</math> swaps", front)


def test_every_page_shows_the_series_and_where_one_is(book, coin):
    for name in ("index.html", "01-coin.html", "02-end.html"):
        page = Page(book / name)
        assert {"01-coin.html", "02-end.html"} <= {a["href"] for a in page.all("a")}
        (current,) = [a for a in page.all("a") if "aria-current" in a]
        assert current["href"] == name
    assert [(a["rel"], a["href"]) for a in coin.all("a") if "rel" in a] == [("next", "02-end.html")]
    assert {"#a-plot-a-widget", "#1-an-exercise"} <= {a["href"] for a in coin.all("a")}
    assert {a.get("id") for a in coin.all("h2")} == {"a-plot-a-widget"}


def test_formulas_need_no_script(coin):
    assert len(coin.all("math")) >= 3
    assert "(1a)" in coin.text
    assert "\\" not in coin.text


def test_a_widget_is_a_still_picture_with_words(book, coin):
    assert {"a bell"} <= {image["alt"] for image in coin.all("img")}
    assert "Tails both tails n 7 " in coin.text
    assert "python3 dev.py lab --notebook 01" in coin.text
    assert "widget-view" not in (book / "01-coin.html").read_text("utf-8")
    assert "IntProgress" in coin.text, "the code of the bar"
    assert "VBox(children" not in coin.text, "what a widget prints"


def test_pictures_have_a_text_made_of_what_is_written_on_them(coin):
    texts = [image["alt"] for image in coin.all("img")]
    assert "Plot. Heads & tails; across: heads; up: share. legend: fair" in texts
    assert all(texts)


def test_solutions_are_folded_and_room_for_code_is_left_out(book, coin):
    page = (book / "01-coin.html").read_text("utf-8")
    assert re.search("<details class=.solution.><summary>Solution 1 …</summary>", page)
    assert "your code" not in coin.text


def test_results_and_output(coin):
    assert "paired-permutation" not in coin.text, "the table, not the sentence"
    assert coin.all("svg")
    assert "x < y" in coin.text


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


def test_pages_stand_in_their_part_of_the_book():
    def made(name):
        return chapter(name, new_notebook(cells=[new_markdown_cell(f"# Of {name}")]))

    changes = Chapter(
        "changelog", "Changes", "", "<h1 id='c'>C</h1>", (), "Changes", "CHANGELOG.md"
    )
    files = build_book.pages([made("00-map"), made("01-coin"), made("02-end"), changes], "")
    menu = BeautifulSoup(files["02-end.html"], "html.parser").find(id="menu")
    parts = [part.get_text() for part in menu.select(".part")]
    assert parts == ["Start", "Notebooks", "Changes"]
    pages = [[a["href"] for a in list_.select("li > a")] for list_ in menu.select("nav > ol")]
    assert pages == [["00-map.html"], ["01-coin.html", "02-end.html"], ["changelog.html"]]
    assert "Made from <code>CHANGELOG.md</code>" in files["changelog.html"]
    assert "python3 dev.py lab --notebook 00" in files["00-map.html"]


def test_a_book_that_is_made_quickly_has_no_output(tmp_path):
    path = write(tmp_path, "01-coin", [FIRST[0], new_code_cell("print(6 * 7)"), *SECOND])
    write(tmp_path, "02-end", SECOND)
    build_book.build([path, tmp_path / "02-end.ipynb"], tmp_path / "html", "", run=False)
    page = Page(tmp_path / "html" / "01-coin.html")
    assert "print" in page.text
    assert "42" not in page.text


def test_a_table_can_be_moved_sideways_by_the_keyboard():
    html = markdown("| a | b |\n|---|---|\n| 1 | 2 |")
    region = BeautifulSoup(html, "html.parser").div
    assert (region["role"], region["tabindex"]) == ("region", "0")
    assert region.table


def test_what_is_printed_bit_by_bit_stays_together():
    cell = new_code_cell("count()")
    cell.outputs = [new_output("stream", text=text) for text in ("one\n", "two\n")]
    page = chapter("01-count", new_notebook(cells=[new_markdown_cell("# A"), cell]))
    printed = BeautifulSoup(page.body, "html.parser").select(".output pre")
    assert [text.get_text().split() for text in printed] == [["one", "two"]]


def test_what_was_typed_differs_from_what_was_answered():
    block = BeautifulSoup(markdown("```python\n>>> 1 + 1\n2\n```"), "html.parser")
    assert block.select_one(".gp").get_text() == ">>> "
    assert block.select_one(".go").get_text() == "2"


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
