"""A report is complete, the same every time, harmless, and never half written."""

import csv
import io
import json
import math
import re
import sys
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binomtest

from permtest import Pairs, compare_many
from permtest.report import pages, report_files, write_report
from permtest.study import overview, run_study
from permtest.study.board import BoardDocument
from permtest.study.document import FORMATS, Document
from tests.html_page import Page

NEW, OLD = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9], [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
COUNTS = ("tp", "fp", "fn")
HOSTILE = "<script>alert(1)</script>", "a|b_* \u202e$x$ `q`\n# [t](javascript:alert(1)) 中"
IDS = ["<img src=x onerror=alert(1)>", "a|b_*`$", "two\nlines", "\u202ertl\u200f", "x" * 10_000]
QUICK = {"power_experiments": 20, "power_sizes": 2, "K": 99}


def counts() -> Document:
    """F1 of systems and items with names that mean harm."""
    rng = np.random.default_rng(4)
    tables = [rng.integers(0, 4, (40, 3)) for _ in "ab"]
    ids = tuple(f"{name}{i}" for i in range(8) for name in IDS)
    source = {"<b>file</b>": "<script>|`*_.csv", "ids": list(IDS)}
    pairs = Pairs.of_counts(*tables, [COUNTS], HOSTILE)
    return overview(replace(pairs, ids=ids, source=source), statistic="f1")


def study() -> Document:
    return run_study(NEW, OLD, QUICK, names=HOSTILE)


def board() -> Document:
    table = {HOSTILE[0]: NEW, HOSTILE[1]: OLD, "mid": [8, 7, 6, 6, 5, 6, 5, 7, 7, 6, 6, 8]}
    return BoardDocument(compare_many(table, rng=0))


@pytest.fixture(scope="module", params=[counts, study, board], ids=lambda make: make.__name__)
def made(request) -> tuple[Document, dict[str, bytes], bytes]:
    """A document of each kind, with all its files, and its page made once more."""
    document, again = (request.param() for _ in "ab")
    page = report_files(again, ["html"], stem="report")["report.html"]
    return document, report_files(document, stem="report"), page


@pytest.fixture(scope="module")
def plain() -> Document:
    return overview(Pairs.of([1, 1, 1, 0, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0, 0, 0], ("new", "old")))


@pytest.fixture
def _quick(monkeypatch) -> None:
    """Pictures that take no time."""
    monkeypatch.setattr(pages, "drawn", lambda _: Figure(figsize=(1, 1)))


# ---- what is in them -----------------------------------------------------------------------------


def test_all_formats(made):
    document, files, _ = made
    figures = [f"report-{part.key}.svg" for part in document.sections if part.figure]
    assert list(files) == [f"report.{kind}" for kind in document.formats] + figures
    assert files["report.png"].startswith(b"\x89PNG")
    assert json.loads(files["report.json"]) == json.loads(json.dumps(document.to_dict()))
    assert files["report.tex"].decode() == document.to_latex()
    assert all(b"<svg" in files[name] for name in files if name.endswith(".svg"))


def test_the_page_needs_nothing_else(made):
    document, files, _ = made
    text = files["report.html"].decode()
    page = Page(text)
    tags, alts = [tag for tag, _ in page.elements], page.values("alt")
    links = page.values("src", "href", "action")
    assert all(link.startswith(("#", "data:image/svg+xml;")) for link in links)
    assert {"link", "iframe", "object"}.isdisjoint(tags)
    assert not page.acting()
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == tags.count("script") == hasattr(document, "descending")
    for script in scripts:  # no other may run
        digest = b64encode(sha256(script.encode()).digest()).decode()
        assert f"; script-src 'sha256-{digest}'\"" in text
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in text
    figures = [content for name, content in files.items() if name.startswith("report-")]
    assert len(alts) == len(set(alts)) == tags.count("img") == len(figures)
    assert [b64decode(x) for x in re.findall(r"base64,([^\"]+)\"", text)] == figures


def test_pages_have_all_sections_and_all_numbers(made):
    document, files, _ = made
    page = "".join(Page(files["report.html"].decode()).words)
    text = files["report.md"].decode().replace("\\", "").replace("&lt;", "<").replace("&gt;", ">")
    headings = [part.heading for part in document.sections]
    assert re.findall(r"<h2>\d+\. (.*)</h2>", files["report.html"].decode()) == headings
    assert re.findall(r"^## \d+\. (.*)$", text, re.MULTILINE) == headings
    for form in (page, text):
        for part in document.sections:
            assert part.code in form or part.key == "cite"
            for table in part.tables:
                cells = (cell for row in table.rows for cell in row if cell.isascii())
                assert all(" ".join(cell.split()) in form.replace("\n", " ") for cell in cells)


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "-a", "@b", "\tc"])
def test_no_name_is_a_formula_in_a_spreadsheet(name):
    found = BoardDocument(compare_many({"new": NEW, name: OLD}, rng=0))
    text = report_files(found, ["csv"])["leaderboard.csv"].decode("utf-8")
    (row,) = csv.reader(io.StringIO(text.partition("\n")[2]))
    assert not any(cell[:1] in ("=", "+", "@", "\t") for cell in row)
    numbers = [cell for cell in row if cell[:1] == "-"]
    assert all(math.isfinite(float(cell)) for cell in numbers)  # those are left as they are
    assert any(cell == f"'{name}" for cell in row) or name == "\tc"


def test_the_page_of_a_board():
    table = {"a": NEW, "b": OLD, "base": [5] * 12}
    found = BoardDocument(compare_many(table, rng=0))
    assert "(blank)" not in str(found)  # in cells of systems that are tied with no other
    assert list(found.parts) == ["ranking", "pairs", "tested"]
    assert found.sentence().startswith("a leads")
    assert found["ranking"].figure.alt == "What 3 systems score; best: a"
    one = BoardDocument(compare_many(table, baseline="base", rng=0))
    assert list(one.parts) == ["ranking", "tested"]
    assert one["ranking"].figure.alt == "How 2 systems differ from base"
    assert "are not shown to differ from base may still" in one["ranking"].limits
    drawn = compare_many(table, correction="max_t", K=99, rng=0)
    rows = dict(BoardDocument(drawn)["tested"].tables[0].rows)
    assert rows["random labellings"] == "99"
    assert rows["random numbers start from"] == str(drawn.seed)
    assert dict(BoardDocument(drawn, seed=5)["tested"].tables[0].rows)["seed"] == "5"


@pytest.mark.usefixtures("_quick")
def test_numbers_are_sorted_with_the_best_one_first():
    rng = np.random.default_rng(0)
    table = {f"s{i}": rng.integers(0, 2, 60) + (i < 105) * 3 for i in range(110)}
    for ascending in (False, True):
        found = BoardDocument(compare_many(table, rng=0, ascending=ascending))
        page = report_files(found, ["html"])["leaderboard.html"].decode()
        assert ('data-first="descending">mean<' in page) is not ascending
    assert "10 more systems are in a report" in str(found)


def test_what_to_do_next():
    def advice(table, **options):
        text = str(BoardDocument(compare_many(table, rng=0, **options)))
        return text.partition("Next: ")[2].partition("\n\n")[0].replace("\n", " ")

    clear, near, other = [1] * 40 + [0] * 40, [1] * 3 + [0] * 77, [0] * 80
    assert advice({"a": clear, "b": other}).startswith("make a report on a and b, to see")
    unknown = "these items do not tell in which direction {} and a differ, if at all, so no number"
    assert advice({"a": other, "b": other}).startswith(unknown.format("b"))
    assert advice({"a": near, "b": other}).startswith(unknown.format("b"))
    three = advice({"a": near, "b": other, "c": other})
    assert three.startswith(unknown.format("2 other systems"))
    assert not re.search(r"\d+ items", three)
    rng = np.random.default_rng(3)
    noisy = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}
    options = {"correction": "max_t", "alpha": compare_many(noisy).pvalue[0], "K": 1000}
    assert advice(noisy, **options).startswith("draw more labellings (K)")


def test_boards_print_no_ranks_that_nothing_bounds():
    table = {
        name: [1] * right + [0] * (30 - right)
        for name, right in zip("abc", (29, 15, 2), strict=True)
    }
    for correction, bounded in (("holm", True), ("max_t", True), ("bh", False), ("none", False)):
        text = str(BoardDocument(compare_many(table, rng=0, correction=correction)))
        assert ("   ranks   " in text.splitlines()[0]) == bounded
        assert ("No ranges of ranks are given" in text) == (not bounded)


def test_boards_print_the_intervals_of_shares_and_remark_upon_constant_systems():
    table = {"gold": [1] * 30, "a": [1] * 20 + [0] * 10, "b": [1] * 9 + [0] * 21}
    text = str(BoardDocument(compare_many(table)))
    low, high = binomtest(20, 30).proportion_ci(method="wilson")
    assert f"{low:.4g} to {high:.4g}" in text
    assert "gold scores 1 on every item: check" in text
    assert "on every item" not in str(BoardDocument(compare_many(table, systems=["a", "b"])))
    labels = [i // 2 for i in range(30)]
    assert "Wilson" not in str(BoardDocument(compare_many(table, clusters=labels)))


# ---- the same, and harmless ----------------------------------------------------------------------


def test_the_same_input_makes_the_same_bytes(made):
    _, files, again = made
    assert files["report.html"] == again
    assert not re.search(rb"dc:date|20\d\d-\d\d-\d\d", again)


def test_names_and_ids_stay_text(made):
    document, files, _ = made
    page = files["report.html"].decode()
    assert page.lower().count("<script") == hasattr(document, "descending")
    assert "<img src=x" not in page
    assert any(HOSTILE[0] in words for words in Page(page).words)
    text = files["report.md"].decode()
    assert not re.search(r"<(script|img|b)\b", text)
    for mark in ("\n# [t]", "`q`", "$x$", "[t](javascript"):
        assert mark not in text
    if "items" in getattr(document, "parts", {}):
        for mark in ("\u202e", "\u200f", "x" * 100):
            assert all(mark not in files[f"report.{kind}"].decode() for kind in FORMATS[:3])
    for name, content in files.items():
        if name.endswith(".svg"):
            assert b"<script" not in content.lower()
            assert b"onerror" not in content


def test_a_law_that_is_too_long_is_not_drawn():
    rng = np.random.default_rng(0)
    section = overview(Pairs.of(rng.normal(0.3, 1, 30), rng.normal(0, 1, 30)))["test"]
    assert section.figure is None
    assert section.problem == "The null distribution is too long to be drawn."
    short = overview(Pairs.of(NEW, OLD))["test"]
    assert (short.figure.plot, short.problem) == ("plot_null", "")


# ---- where they go -------------------------------------------------------------------------------


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("name", ["a.html", "My (1).MD", "t.tex", "t.json", "p.png", "p.svg"])
def test_the_suffix_says_what_is_written(plain, tmp_path, name):
    written = [path.name for path in write_report(plain, tmp_path / name)]
    assert names_in(tmp_path) == sorted(written)
    assert written[0] == name.replace(".MD", ".md")
    assert len(written) == (3 + 1 if name.endswith("MD") else 1)
    for link in re.findall(r"\]\((\S+svg)\)", (tmp_path / written[0]).read_text("latin-1")):
        plain_link = link.replace("%20", " ").replace("%28", "(").replace("%29", ")")
        assert (tmp_path / plain_link).exists()


@pytest.mark.usefixtures("_quick")
def test_a_folder_gets_all_of_them(tmp_path):
    written = write_report(study(), tmp_path / "new" / "report")
    assert {f"report.{kind}" for kind in FORMATS} < {path.name for path in written}


@pytest.mark.usefixtures("_quick")
def test_nothing_is_overwritten_in_silence(plain, tmp_path):
    (tmp_path / "a-test.svg").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a-test\.svg: the file exists"):
        write_report(plain, tmp_path / "a.md")
    assert names_in(tmp_path) == ["a-test.svg"]
    write_report(plain, tmp_path / "a.md", overwrite=True)
    assert (tmp_path / "a-test.svg").read_bytes() != b"mine"
    (tmp_path / "report.html").mkdir()
    with pytest.raises(FileExistsError, match=r"report\.html: this is a folder"):
        write_report(plain, tmp_path, overwrite=True)


@pytest.mark.usefixtures("_quick")
def test_what_cannot_be_written_leaves_nothing_behind(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(plain, tmp_path / "a.json")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda found, to: write_report(found, to / "a.csv"), ValueError, r"ends in \.html, \.md"),
        (lambda found, to: write_report(found, to / "x/a.md"), FileNotFoundError, "no folder"),
        (lambda found, to: write_report(found, to / "file"), NotADirectoryError, "this is a file"),
        (lambda found, to: report_files(found, ["pdf"]), ValueError, "formats: 'pdf' is not known"),
        (lambda found, to: report_files(found, "html"), TypeError, "formats='html' must be a list"),
    ],
)
def test_refusals(plain, tmp_path, call, error, message):
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match=message):
        call(plain, tmp_path)
    assert names_in(tmp_path) == ["file"]


@pytest.mark.usefixtures("_quick")
def test_without_the_extra(plain, monkeypatch):
    for missing, needing in (("jinja2", ["html", "md"]), ("matplotlib", ["html", "md", "png"])):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            for kind in needing:
                with pytest.raises(ImportError, match=re.escape("pip install 'permtest[study]'")):
                    report_files(plain, [kind])
            assert set(report_files(plain, ["json", "tex"])) == {"report.json", "report.tex"}
