"""The table of published figures is what the command makes, and its rules are what it says."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.published import __main__ as command
from benchmarks.published.figure import Figure, rounded

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", command.DOCUMENTS, ids=lambda module: module.__name__)
def test_rows_are_as_committed(module):
    found = module.figures()
    section = TEXT.partition(f"## {module.TITLE}\n")[2].partition("\n## ")[0].splitlines()
    assert [figure.row for figure in found if figure.row not in section] == []
    assert [figure.remark for figure in found if figure.note and figure.remark not in section] == []
    assert module.ABOUT in section
    assert all(figure.agrees or figure.note for figure in found)


def test_what_the_feature_list_names_is_there():
    """Functions of docs/nlpstattest.md."""
    text = (DOCS / "nlpstattest.md").read_text(encoding="utf-8")
    names = re.findall(r"`(study|alternatives|plots)\.(\w+)", text)
    assert len(names) > 20
    missing = [f"{m}.{n}" for m, n in names if not hasattr(import_module(f"permtest.{m}"), n)]
    assert missing == []


class Made:
    """A publication with two figures."""

    TITLE, ABOUT = "A title", "About it."

    @staticmethod
    def figures():
        first = Figure("Table 1", "it", "yes", "yes", True)
        return [first, rounded("Table 2", "a share", "0.5", 0.25, note="why")]


def test_the_page_is_written_and_what_differs_is_said(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "DOCUMENTS", [Made])
    output = tmp_path / "reproduction.md"
    command.main(output)
    text = output.read_text(encoding="utf-8")
    assert capsys.readouterr().out == "Table 2: a share: 0.5, ours 0.250\n"
    assert "| A title | 2 | 1 | 1 |\n" in text
    assert "| Table 2 | a share | 0.5 | 0.250 | **differs** |\n\n- Table 2: why\n" in text


@pytest.mark.parametrize(
    ("published", "ours", "options", "agrees"),
    [
        ("0.3688", [0.36880211], {}, True),
        ("49.5, 64.1", [49.474, 64.103], {}, True),
        ("49.5; 64.1", [49.474, 64.2], {}, False),
        ("-.05", [-0.049], {}, True),
        ("0.191", [0.19025], {}, False),
        ("0.191", [0.19025], {"draws": 10**6}, True),
        ("0.001", [1.5e-5], {"draws": 10**6}, False),
    ],
)
def test_what_agrees(published, ours, options, agrees):
    assert rounded("Table 1", "it", published, *ours, **options).agrees == agrees
