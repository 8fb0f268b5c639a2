"""An overview as files: complete, the same every time, harmless, never half written."""

import json
import re
import sys
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest import Pairs
from permtest.report import overview as module
from permtest.report import report_files, write_files, write_overview
from permtest.report.overview import OVERVIEW_FORMATS, OVERVIEW_PICTURES
from permtest.report.pictures import drawing
from permtest.study import Overview, overview

COUNTS = ("tp", "fp", "fn")
HOSTILE = "<script>alert(1)</script>", "a|b_* \u202e$x$ `q`\n# [t](javascript:alert(1)) 中"
IDS = ["<img src=x onerror=alert(1)>", "a|b_*`$", "two\nlines", "\u202ertl\u200f", "x" * 10_000]
FILES = [f"report.{kind}" for kind in OVERVIEW_FORMATS] + [
    f"report-{key}.svg" for key in OVERVIEW_PICTURES
]


@pytest.fixture(scope="module")
def found() -> Overview:
    """F1 of systems and items with names that mean harm."""
    rng = np.random.default_rng(4)
    tables = [rng.integers(0, 4, (40, 3)) for _ in "ab"]
    ids = tuple(f"{name}{i}" for i in range(8) for name in IDS)
    source = {"<b>file</b>": "<script>|`*_.csv", "ids": list(IDS)}
    pairs = Pairs.of_counts(*tables, [COUNTS], HOSTILE)
    return overview(replace(pairs, ids=ids, source=source), statistic="f1")


@pytest.fixture(scope="module")
def files(found) -> dict[str, bytes]:
    return report_files(found)


@pytest.fixture(scope="module")
def plain() -> Overview:
    return overview(Pairs.of([1, 1, 1, 0, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0, 0, 0], ("new", "old")))


@pytest.fixture
def quick(monkeypatch) -> None:
    """Pictures that take no time."""
    monkeypatch.setattr(module, "drawn", lambda jobs: dict.fromkeys(jobs, b"<svg/>"))
    monkeypatch.setattr(module, "_estimation", lambda _, **__: Figure(figsize=(1, 1)))


class Page(HTMLParser):
    """Tags, text, links and alternative texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.words, self.links, self.alts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]
        self.alts += [value for name, value in attrs if name == "alt"]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.words.append(data)


# ---- what is in them -----------------------------------------------------------------------------


def test_all_formats(files, found):
    assert list(files) == FILES
    assert files["report.png"].startswith(b"\x89PNG")
    assert json.loads(files["report.json"]) == found.to_dict()
    assert files["report.tex"].decode("ascii") == found.to_latex()
    assert all(b"<svg" in files[name] for name in FILES if name.endswith(".svg"))


def test_the_same_input_makes_the_same_bytes(files, found):
    again = report_files(overview(found.pairs, statistic="f1"), ["html", "png"])
    assert again == {name: files[name] for name in ("report.html", "report.png")}


def test_the_page_needs_nothing_else(files):
    text = files["report.html"].decode()
    page = Page(text)
    assert page.tags.count("img") == len(OVERVIEW_PICTURES)
    assert all(link.startswith(("#", "data:image/svg+xml;")) for link in page.links)
    assert {"script", "link", "iframe", "object"}.isdisjoint(page.tags)
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in text
    assert len(page.alts) == len(set(page.alts)) == len(OVERVIEW_PICTURES)
    inside = [b64decode(picture) for picture in re.findall(r"base64,([^\"]+)\"", text)]
    assert inside == [files[f"report-{key}.svg"] for key in OVERVIEW_PICTURES]


@pytest.mark.usefixtures("quick")
def test_pages_have_the_sentence_and_all_numbers(plain):
    made = report_files(plain, ["html", "md"])
    page = "".join(Page(made["report.html"].decode()).words)
    text = made["report.md"].decode().replace("\\", "")
    for form in (page, text):
        assert plain.sentence() in form
        for chapter in plain.chapters():
            assert chapter.title in form
            for grid in chapter.grids:
                assert all(cell in form for row in grid.rows for cell in row)
    assert "@inproceedings{zmigrod-etal-2022-exact," in text


def test_tables_in_markdown_are_tables(files):
    """As many cells below as in the head, marks in names being escaped."""
    text = files["report.md"].decode()
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 8
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert re.findall(r"!\[.+\]\((.+)\)", text) == [
        f"report-{key}.svg" for key in OVERVIEW_PICTURES
    ]


# ---- harmless ------------------------------------------------------------------------------------


def test_names_and_ids_stay_text(files, found):
    page = files["report.html"].decode()
    assert "<script" not in page.lower()
    assert "<img src=x" not in page
    assert any(HOSTILE[0] in words for words in Page(page).words)
    text = files["report.md"].decode()
    assert not re.search(r"<(script|img|b)\b", text)
    assert r"\[t\](javascript" in text
    for mark in ("\u202e", "\u200f", "x" * 100):
        assert all(mark not in files[name].decode() for name in FILES[:3])
    kept = {item["id"] for item in json.loads(files["report.json"])["most_different"]}
    assert kept == {item.id for item in found.most_different}  # programs look them up
    for name in FILES:
        if name.endswith(".svg"):
            assert b"<script" not in files[name].lower()
            assert b"onerror" not in files[name]


@pytest.mark.usefixtures("quick")
def test_addresses_in_markdown_are_no_links():
    ids = ("https://evil.example", "WWW.evil.example", "me@evil.example", "xmpp:a@b.example", "a:b")
    pairs = replace(Pairs.of([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]), ids=ids)
    text = report_files(overview(pairs), ["md"])["report.md"].decode()
    for shown in (
        r"| https\://evil.example |",
        r"| WWW\.evil.example |",
        "| me@<!-- -->evil.example |",
        "| xmpp:a@<!-- -->b.example |",
        "| a:b |",
    ):
        assert shown in text
    prose = text.partition("@inproceedings")[0]
    assert not re.search(r"(?i)://|www\.|@(?!<)", prose.replace(r"\://", "").replace(r"WWW\.", ""))


# ---- pictures ------------------------------------------------------------------------------------


def test_null_distributions_that_are_too_long_are_drawn_otherwise(plain, found, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    monkeypatch.setattr(module, "MOST_POINTS", 3)
    monkeypatch.setattr(module, "SAMPLES", 500)
    rounded = module._drawable(plain)
    assert rounded.pvalue == pytest.approx(plain.exact.pvalue)
    assert rounded is not plain.exact
    assert "rounded for the picture" in module.note(plain, "null")
    sampled = module._drawable(found)
    assert sampled.n_samples == 500
    assert "random labellings" in module.note(found, "null")
    ax = Figure().subplots()
    with drawing():
        module._draw_null(found, ax)
    assert "500 random labellings" in ax.get_legend().get_texts()[0].get_text()


# ---- where they go -------------------------------------------------------------------------------


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.html", ["a.html"]),
        ("My (1).MD", ["My (1).md", *(f"My (1)-{key}.svg" for key in OVERVIEW_PICTURES)]),
        ("t.tex", ["t.tex"]),
        ("t.json", ["t.json"]),
        ("p.png", ["p.png"]),
        ("p.svg", ["p.svg"]),
    ],
)
def test_the_suffix_says_what_is_written(plain, tmp_path, name, written):
    assert [path.name for path in write_overview(plain, tmp_path / name)] == written
    assert names_in(tmp_path) == sorted(written)
    for link in re.findall(r"\]\((\S+svg)\)", (tmp_path / written[0]).read_text("latin-1")):
        assert (
            tmp_path / link.replace("%20", " ").replace("%28", "(").replace("%29", ")")
        ).exists()


@pytest.mark.usefixtures("quick")
def test_a_folder_gets_all_of_them(plain, tmp_path):
    assert [path.name for path in write_overview(plain, tmp_path / "new" / "report")] == FILES
    assert names_in(tmp_path / "new" / "report") == sorted(FILES)


@pytest.mark.usefixtures("quick")
def test_nothing_is_overwritten_in_silence(plain, tmp_path):
    (tmp_path / "a-null.svg").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a-null\.svg: the file exists"):
        write_overview(plain, tmp_path / "a.md")
    assert names_in(tmp_path) == ["a-null.svg"]
    write_overview(plain, tmp_path / "a.md", overwrite=True)
    assert (tmp_path / "a-null.svg").read_bytes() == b"<svg/>"
    (tmp_path / "report.html").mkdir()
    with pytest.raises(FileExistsError, match=r"report\.html: this is a folder"):
        write_overview(plain, tmp_path, overwrite=True)


def test_what_cannot_be_written_changes_nothing(tmp_path):
    """But files are renamed one by one: those that were renamed before an error stay."""
    (tmp_path / "a").write_text("old")
    with pytest.raises(TypeError):
        write_files(tmp_path, {"a": b"new", "b": None})
    assert ((tmp_path / "a").read_text(), names_in(tmp_path)) == ("old", ["a"])
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match="b"):
        write_files(tmp_path, {"a": b"new", "b": b"new"})
    assert ((tmp_path / "a").read_text(), names_in(tmp_path)) == ("new", ["a", "b"])


def test_refusals(plain, tmp_path):
    with pytest.raises(ValueError, match=r"a report ends in \.html, \.md, \.tex"):
        write_overview(plain, tmp_path / "a.pdf")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_overview(plain, tmp_path / "none" / "a.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="this is a file"):
        write_overview(plain, tmp_path / "file")
    with pytest.raises(ValueError, match="formats: 'pdf' is not known"):
        report_files(plain, ["pdf"])
    with pytest.raises(TypeError, match="formats='html' must be a list"):
        report_files(plain, "html")
    assert names_in(tmp_path) == ["file"]


def test_without_the_extra(plain, monkeypatch):
    for missing, needing in (("jinja2", ["html", "md"]), ("matplotlib", ["html", "md", "png"])):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            for kind in needing:
                with pytest.raises(ImportError, match=re.escape("pip install 'permtest[study]'")):
                    report_files(plain, [kind])
            assert set(report_files(plain, ["json", "tex"])) == {"report.json", "report.tex"}
