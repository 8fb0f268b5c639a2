"""The table of published figures is what the command makes, and its rules are what it says."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.published import __main__ as command
from benchmarks.published import figure
from benchmarks.published.figure import Estimate, Figure, Hits, Holds, Inside, Printed

DOCUMENT = Path(__file__).parents[1] / "docs" / "reproduction.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def committed():
    """Cells of the lines of each table in the document, by heading."""
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    return {s.partition("\n")[0]: lines(s)[1:] for s in sections}


def lines(text):
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:2] == "| "]
    return [[cell.strip() for cell in row] for row in rows]


# ---- the document ------------------------------------------------------------------------------


@pytest.mark.parametrize("document", command.DOCUMENTS, ids=lambda document: document.key)
def test_quick_rows_are_as_committed(document):
    """In their order; slow ones may stand between them."""
    found = command.compute(document, quick=True)
    rest = iter(TEXT[TEXT.index(f"## {document.title}\n") :].splitlines())
    missing = [f for f in found if f.row not in rest]
    assert missing == []
    assert len(found) >= 1
    assert document.about in TEXT


def test_every_row_has_a_verdict_and_what_fails_has_a_reason():
    for title, rows in committed().items():
        assert rows, title
        for where, what, published, ours, verdict, note in rows:
            assert where, title
            assert what, title
            assert published, title
            assert ours, title
            assert verdict.strip("*") in figure.VERDICTS
            assert (ours == "–") == (verdict == figure.NOT_REPRODUCIBLE)
            assert note or verdict == figure.AGREES, (title, what)


def test_what_the_feature_list_names_is_there():
    """Functions of docs/nlpstattest.md."""
    text = (DOCUMENT.parent / "nlpstattest.md").read_text(encoding="utf-8")
    names = re.findall(r"`(study|alternatives|plots|report)\.(\w+)", text)
    assert len(names) > 20
    missing = [f"{m}.{n}" for m, n in names if not hasattr(import_module(f"permtest.{m}"), n)]
    assert missing == []


# ---- the command -------------------------------------------------------------------------------


def test_one_document_goes_to_the_terminal(capsys, tmp_path):
    output = tmp_path / "reproduction.md"
    assert command.main(["--quick", "--only", "yeh"], output) == 0
    printed = capsys.readouterr().out
    assert "| Sec. 2.2 | chi-squared of relevant and spurious answers | 2.38 | 2.3801 |" in printed
    assert "yeh, Sec. 3.3: precision of II above I: hits in 1,048,576: 25,770, ours p" in printed
    assert not output.exists()


def test_all_documents_are_written(capsys, tmp_path, monkeypatch):
    one = Figure("Table 1", "a share", "0.5", 0.25, Printed(), "why")
    document = figure.Document("made-up", "A title", "About it.", (lambda: [one],))
    monkeypatch.setattr(command, "DOCUMENTS", (document,))
    output = tmp_path / "reproduction.md"
    assert command.main([], output) == 0
    text = output.read_text(encoding="utf-8")
    assert "| A title | 1 | 0 | 1 | 0 | 0 |" in text
    assert "| Table 1 | a share | 0.5 | 0.250 | **differs** | why |" in text
    assert "made-up, Table 1: a share: 0.5, ours 0.250" in capsys.readouterr().out


# ---- the rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "ours", "rule", "agrees"),
    [
        ("0.3688", 0.36880211, Printed(), True),
        ("0.3688", 0.36886, Printed(), False),
        ("49.5, 64.1", (49.474, 64.103), Printed(), True),
        ("49.5, 64.1", (49.474, 64.2), Printed(), False),
        ("-.05", -0.049, Printed(), True),
        ("1,048,576", 2**20, Printed(), True),
        ("0.191", 0.19025, Printed(), False),
        ("0.191", 0.19025, Printed(1_000_000), True),
        ("0.001", 1.5e-5, Printed(1_000_000), False),
        ("96", 9.756e-5, Hits(2**20), True),
        ("14,794", 0.014776, Hits(2**20), False),
        ("94.5", Estimate(0.937, 0.93, 0.946), Inside(100), True),
        ("94.5", Estimate(0.937, 0.93, 0.944), Inside(100), False),
        ("94.5", Estimate(0.96, 0.9451, 0.97), Inside(100), True),
        ("faster", (True, "faster"), Holds(), True),
        ("faster", (False, "not faster"), Holds(), False),
    ],
)
def test_rules(published, ours, rule, agrees):
    found = Figure("Table 1", "it", published, ours, rule)
    assert found.verdict == (figure.AGREES if agrees else figure.DIFFERS)
    assert found.shown
