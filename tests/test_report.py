"""A report is complete, the same every time, harmless, and never half written."""

import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import permtest as pt
from permtest import report
from permtest.report import drawable, write_files, write_report
from permtest.study import Study, StudyConfig, run_study

NEW, OLD = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9], [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
HOSTILE = '<script>alert("1")</script>', "x|y $a$ _q_ & ' `b`\n# [t](javascript:alert(1))"
QUICK = {"power": {"experiments": 20, "sizes": 2}, "significance": {"K": 99}}
PICTURES = ["data.svg", "units.svg", "test.svg", "answers.svg", "effects.svg", "power.svg"]
EVERYTHING = ["report.html", "report.md", "report.json", *PICTURES, "study.yml"]


@pytest.fixture(scope="module")
def study() -> Study:
    return run_study(NEW, OLD, StudyConfig.from_dict(QUICK), names=HOSTILE)


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory) -> Path:
    """A report with all there is."""
    where = tmp_path_factory.mktemp("study") / "new" / "report"
    assert [path.name for path in write_report(study, where)] == EVERYTHING
    return where


class Page(HTMLParser):
    """Tags, text and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.words, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.words.append(data)


# ---- what is in it -----------------------------------------------------------------------------


def test_files(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(EVERYTHING)


def test_the_page_needs_nothing_else(folder):
    page = Page((folder / "report.html").read_text("utf-8"))
    assert page.tags.count("img") == len(PICTURES)
    outside = [link for link in page.links if not link.startswith(("#", "data:image/svg+xml;"))]
    assert outside == []
    assert {"script", "link", "iframe", "object"}.isdisjoint(page.tags)


def test_pictures_on_the_page_are_those_beside_the_other(folder):
    page = (folder / "report.html").read_text("utf-8")
    inside = [b64decode(text) for text in re.findall(r"base64,([^\"]+)\"", page)]
    assert sorted(inside) == sorted((folder / name).read_bytes() for name in PICTURES)
    assert all(b"<svg" in picture for picture in inside)
    linked = re.findall(r"!\[[^\]]+\]\((.+)\)", (folder / "report.md").read_text("utf-8"))
    assert sorted(linked) == sorted(PICTURES)


def test_chapters_in_the_order_of_the_manual(study, folder):
    titles = [chapter.title for chapter in study.chapters()]
    page = (folder / "report.html").read_text("utf-8")
    text = (folder / "report.md").read_text("utf-8")
    assert re.findall(r"<h2>\d\. (.*)</h2>", page) == titles
    assert re.findall(r"^## \d\. (.*)$", text, re.MULTILINE) == titles
    for chapter in study.chapters()[:-1]:
        assert chapter.done
        assert chapter.meaning
        assert chapter.limits


def test_all_numbers_are_on_both_pages(study, folder):
    page = "".join(Page((folder / "report.html").read_text("utf-8")).words)
    text = (folder / "report.md").read_text("utf-8")
    for chapter in study.chapters():
        for grid in chapter.grids:
            for cell in (cell for row in grid.rows for cell in row[1:] if cell not in HOSTILE):
                assert cell in page
                assert cell in text.replace("\\", "").replace("&lt;", "<"), cell


def test_json_and_configuration(study, folder):
    assert json.loads((folder / "report.json").read_text("utf-8")) == study.to_dict()
    assert StudyConfig.from_yaml(folder / "study.yml") == study.config


def test_tables_in_markdown_are_tables(folder):
    """As many cells below as in the head, marks in names being escaped."""
    blocks = re.findall(r"(?:^\|.*\n)+", (folder / "report.md").read_text("utf-8"), re.MULTILINE)
    assert len(blocks) == 10
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


# ---- harmless ----------------------------------------------------------------------------------


def test_names_stay_names(folder):
    source = (folder / "report.html").read_text("utf-8")
    page = Page(source)
    assert "<script" not in source.lower()
    assert any(HOSTILE[0] in words for words in page.words)
    assert "default-src 'none'" in source
    text = (folder / "report.md").read_text("utf-8")
    for mark in ("<script", "\n# ", "`b`", "$a$", r"[^\\]\]\(javascript"):
        assert not re.search(mark if "(" in mark else re.escape(mark), text[2:]), mark
    for name in PICTURES:
        assert b"<script" not in (folder / name).read_bytes()


def test_the_same_bytes_again(folder, tmp_path):
    again = run_study(NEW, OLD, StudyConfig.from_yaml(folder / "study.yml"), names=HOSTILE)
    for path in write_report(again, tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_nothing_says_where_or_when_it_was_made(folder, tmp_path):
    for path in folder.iterdir():
        content = path.read_bytes()
        assert str(tmp_path.parent.parent).encode() not in content
        assert not re.search(rb"dc:date|20\d\d-\d\d-\d\d", content), path.name


# ---- never half written ------------------------------------------------------------------------


def test_files_are_not_overwritten_unless_told(study, tmp_path):
    (tmp_path / "report.md").write_text("mine")
    (tmp_path / "other.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"report\.md would be overwritten"):
        write_report(study, tmp_path, formats=["md", "json"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "report.md"]
    assert (tmp_path / "report.md").read_text() == "mine"
    written = write_report(study, tmp_path, formats=["json"])
    assert [path.name for path in written] == ["report.json", "study.yml"]
    with pytest.raises(FileExistsError, match=r"report\.json, study\.yml would be"):
        write_report(study, tmp_path, formats=["json"])
    write_report(study, tmp_path, formats=["json"], overwrite=True)
    assert (tmp_path / "other.txt").read_text() == "mine"


def test_a_folder_in_the_way(study, tmp_path):
    (tmp_path / "study.yml").mkdir()
    with pytest.raises(FileExistsError, match=r"study\.yml is a folder there"):
        write_report(study, tmp_path, formats=["json"], overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="this is a file; name a folder"):
        write_report(study, tmp_path / "file", formats=["json"])


def test_a_failure_leaves_nothing_behind(study, tmp_path, monkeypatch):
    written = []

    class Full(type(tmp_path)):
        def open(self, *arguments, **options):
            written.append(self.name)
            if len(written) == 2:
                raise OSError(28, "No space left on device")
            return super().open(*arguments, **options)

    monkeypatch.setattr("permtest.report.study.Path", Full)
    with pytest.raises(OSError, match="No space left"):
        write_report(study, tmp_path, formats=["json"])
    assert len(written) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_comes_into_the_way_meanwhile(tmp_path):
    (tmp_path / "b").write_text("mine")
    with pytest.raises(FileExistsError, match="b would be overwritten"):
        write_files(tmp_path, {"a": b"1", "b": b"2"}, overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]
    assert (tmp_path / "b").read_text() == "mine"


def test_unknown_formats_and_missing_packages(study, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="formats: 'pdf' is not known; choose among html, md"):
        write_report(study, tmp_path, formats=["pdf"])
    for module in ("jinja2", "matplotlib"):
        with monkeypatch.context() as patch:
            patch.setitem(__import__("sys").modules, module, None)
            with pytest.raises(ImportError, match=re.escape("pip install 'permtest[study]'")):
                write_report(study, tmp_path, formats=["md"], overwrite=True)
            write_report(study, tmp_path, formats=["json"], overwrite=True)  # needs neither
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "study.yml"]


# ---- pictures ----------------------------------------------------------------------------------


def test_stages_without_a_finding_have_no_picture(tmp_path):
    study = run_study([1], [0], StudyConfig.from_dict({**QUICK, "power": {"sizes": 0}}))
    names = {path.name for path in write_report(study, tmp_path, formats=["md"])}
    assert {"data.svg", "test.svg", "answers.svg"} <= names
    assert {"units.svg", "power.svg"}.isdisjoint(names)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "units.svg" not in text
    assert "Not everything could be computed" in text


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e9])
def test_null_distributions_that_are_too_long_are_drawn_rounded(size):
    rng = np.random.default_rng(0)
    a, b = size * rng.normal(0.3, 1, 30), size * rng.normal(0, 1, 30)
    options = {"tests": ["sign"], "alternative": "greater"}
    study = run_study(a, b, StudyConfig.from_dict({"significance": options, "power": {"sizes": 0}}))
    assert study.exact.n_cells > report.MOST_CELLS
    rounded = drawable(study)
    assert 1000 < rounded.n_cells <= 2 * 10**6
    assert rounded.pvalue == pytest.approx(study.exact.pvalue, rel=0.01)
    assert rounded.observed_sum == pytest.approx(float((a - b).sum()), rel=0.01)
    assert rounded.names == study.exact.names


def test_others_are_drawn_as_they_are(study):
    assert drawable(study) is study.exact
    assert study.exact.pvalue == pt.exact_perm_test(NEW, OLD).pvalue
