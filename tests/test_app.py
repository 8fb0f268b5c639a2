"""The app without a browser: what it shows, what it refuses, and that it goes on afterwards."""

import asyncio
import io
import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import ipywidgets as widgets
import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from matplotlib.figure import Figure

import permtest as pt
from permtest.app import ComparisonApp, bundled, comparison
from permtest.app.comparison import STEM
from permtest.app.uploads import MOST
from permtest.readers import File
from permtest.report import pages, report_files
from tests.html_page import Page

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "notebooks" / "12-your-own-data.ipynb"

WIDE = b"id,doc,old,new\n" + b"".join(
    f"s{i},d{i // 3},{i % 4},{i % 4 + (i % 3 == 0) - (i % 7 == 0)}\n".encode() for i in range(24)
)
COUNTS = b"id,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn\n" + b"".join(
    f"s{i},{i % 3},1,{i % 2},{i % 2},{i % 5},1\n".encode() for i in range(30)
)


def upload(*files):
    """What the browser sends: a name, bytes and how many."""
    more = {"type": "", "last_modified": datetime.now(UTC)}
    return tuple({"name": name, "size": len(x), "content": x} | more for name, x in files)


def app_of(*files):
    return ComparisonApp([File(name, data) for name, data in files])


def texts(widget):
    """All HTML and all labels below a widget."""
    found = [widget.value] if isinstance(widget, widgets.HTML) else []
    return found + [text for child in getattr(widget, "children", ()) for text in texts(child)]


@pytest.fixture
def drawn():
    """Pictures, which take longest, are drawn for tests that look at them."""


@pytest.fixture(autouse=True)
def _undrawn(request, monkeypatch):
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(comparison, "shown", lambda figure: f"<img alt='{bool(figure)}'>")


def visible(widget):
    return widget.layout.display != "none"


# ---- the answer --------------------------------------------------------------------------------


@pytest.mark.usefixtures("drawn")
def test_the_answer_has_a_sentence_an_interval_and_a_picture():
    app = ComparisonApp(bundled("own_taggers.csv"))
    pairs = pt.read(bundled("own_taggers.csv"), a="crf_base", b="crf_rich")
    assert app.found.exact.pvalue == pt.exact_perm_test(pairs).pvalue
    assert f"p = {app.found.exact.pvalue_text()}" in app.sentence.value
    assert "crf_rich scores higher than crf_base" in app.sentence.value
    assert "a difference this large would come up in 2.6% of labellings if" in app.sentence.value
    assert "luck" not in app.sentence.value
    low, high = app.found.interval
    assert f"95% interval {low:.4g} to {high:.4g}" in app.detail.value
    assert "1257 items paired by" in app.detail.value
    assert re.search("<img alt='[A-Z][^']{30,}'.*src='data:image/png;base64,", app.picture.value)
    assert not any(fold.body.value for fold in app.folds.values())


def test_every_control_changes_the_answer():
    app = app_of(("scores.csv", WIDE))
    choices = app.choices
    assert app.found.names == ("old", "new")
    first = app.found.exact.pvalue
    choices.tails.value = "less"
    assert app.found.exact.pvalue < first
    choices.tails.value = "two-sided"
    choices.alpha.value = 0.1
    assert "90% interval" in app.detail.value
    choices.statistic.value = "sum"
    assert app.found.difference == -4
    choices.unit.value = "doc"
    assert "24 items in 8 clusters" in app.detail.value
    choices.a.value, choices.b.value = "new", "old"
    assert app.found.names == ("new", "old")
    assert app.found.difference == 4
    choices.called_a.value = "ours"
    assert app.found.names == ("ours", "old")


def test_a_score_is_asked_for_where_there_are_several():
    rows = (b"q%d,%d,%d\n" % (i, i % 2, i % 3) for i in range(9))
    text = b"id,bleu,chrf\n" + b"".join(rows)
    files = [("old.csv", text), ("new.csv", text.replace(b",1,", b",2,", 2))]
    app = app_of(*files)
    assert "The files have several scores: choose one" in app.sentence.value
    assert app.found is None
    app.choices.score.value = "bleu"
    assert app.found.exact.score.name == "bleu"


@pytest.mark.usefixtures("drawn")
def test_sections_are_those_of_the_report_and_made_when_they_are_opened():
    app = app_of(("scores.csv", WIDE))
    folds = app.folds
    study = {"units", "assumptions", "recommendation", "curve", "options"}
    assert study | {"test", "items", "answers", "effects", "power", "cite"} <= {*folds}
    assert "answers" not in vars(app.found)
    folds["answers"].button.click()
    assert folds["answers"].button.description.startswith("Hide")
    assert "Wilcoxon signed-rank test" in folds["answers"].body.value
    assert "<img alt=" in folds["answers"].body.value
    folds["power"].turn(True)
    folds["answers"].button.click()
    assert not visible(folds["answers"].children[1])
    before = folds["power"].body.value
    app.choices.tails.value = "less"  # what is open follows, what is closed waits
    assert folds["power"].body.value != before
    assert folds["answers"].body.value == ""


# ---- files -------------------------------------------------------------------------------------

BAD = {
    "binary": [("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))],
    "no scores": [("letter.txt", b"Dear all,\nthere are no numbers in here\n")],
    "cut JSON": [("x.jsonl", b'{"id": 1, "a": 2, "b": 3}\n{"id": 2, "a":')],
    "too many": [(f"{k}.csv", b"a,b\n1,%d\n" % k) for k in range(MOST + 1)],
    "two kinds": [("a.csv", WIDE), ("b.jsonl", b'{"doc_id": 1, "doc": {}, "acc": 1.0}\n')],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_and_the_answer_stays(name):
    app = app_of(("scores.csv", WIDE))
    before = app.sentence.value
    app.files.upload.value = upload(*BAD[name])
    assert app.files.note.value.startswith("<div role='alert'")
    assert "Not taken: " in app.files.note.value
    assert "Traceback" not in app.files.note.value
    assert app.sentence.value == before
    assert [file.name for file in app.files.files] == ["scores.csv"]
    assert app.files.upload.value == ()  # the same file may be chosen again
    app.files.upload.value = upload(("other.csv", WIDE + b"s24,d8,1,0\n"))
    assert app.files.note.value == ""
    assert app.found.exact.n == 25


def test_two_files_become_two_systems():
    files = {"old.csv": "id,score\nq1,1\nq2,0\nq3,1\n", "new.csv": "id,score\nq3,1\nq2,1\nq4,1\n"}
    app = ComparisonApp()
    assert not visible(app.choices)
    app.files.upload.value = upload(("old.csv", files["old.csv"].encode()))
    assert "one system so far" in app.files.note.value
    assert app.found is None
    app.files.upload.value = upload(*((name, text.encode()) for name, text in files.items()))
    assert app.files.note.value == ""
    assert app.found.names == ("old", "new")
    for said in ("2 items paired by id", "1 only in old", "1 only in new"):
        assert said in app.detail.value
    app.files.remove.click()
    assert app.found is None
    assert app.sentence.value == ""


LABELS = {
    name: f"id,{column}\n" + "".join(f"s{k},{'no' if k % step else 'yes'}\n" for k in range(9))
    for name, column, step in (
        ("gold.csv", "label", 2),
        ("predA.csv", "prediction", 2),
        ("predB.csv", "prediction", 3),
    )
}


@pytest.mark.parametrize("order", ["ab gold", "gold a b", "a gold b", "all"])
def test_a_file_of_right_answers_may_come_at_any_time(order):
    app = ComparisonApp()
    names = {"a": ["predA.csv"], "b": ["predB.csv"], "ab": ["predA.csv", "predB.csv"]}
    for step in ["abgold", "gold"] if order == "all" else order.split():
        assert app.found is None
        some = names.get(step, [*LABELS] if step == "abgold" else ["gold.csv"])
        control = app.files.gold_upload if step == "gold" else app.files.upload
        control.value = upload(*((name, LABELS[name].encode()) for name in some))
        said = app.files.note.value
        assert "Not taken" not in said
        assert app.found is not None or "right answers" in said or "one system" in said
    assert app.files.note.value == ""
    assert app.files.evaluation.systems == ("predA", "predB")
    assert app.found.exact.scores == (9, 5)
    assert "right answers: gold.csv" in app.files.about.value
    app.files.remove.click()
    assert app.files.upload.value == app.files.gold_upload.value == ()  # they can be chosen again


# ---- data is data ------------------------------------------------------------------------------


ALLOWED = {"a", "b", "br", "caption", "code", "div", "h2", "h3", "img", "label", "li", "p", "pre"}
ALLOWED |= {"style", "table", "tbody", "td", "textarea", "th", "thead", "tr", "ul"}


NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_nothing_in_a_file_becomes_markup():
    records = [
        {"id": f"{k} {NASTY}", f"a{NASTY}": k % 2, f"b{NASTY}": 1, "doc": NASTY + str(k % 3)}
        for k in range(8)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    app = ComparisonApp()
    app.files.upload.value = upload((f"{NASTY}.jsonl", lines))
    assert app.found.exact.n == 8
    for fold in app.folds.values():
        if fold is not app.folds["report"]:
            fold.turn(True)
    app.files.upload.value = upload((f"bad{NASTY}.csv", b"\0"))
    shown = texts(app)
    app.choices.b.value = app.choices.a.value
    for page in map(Page, [*shown, app.sentence.value]):
        assert {tag for tag, _ in page.elements} <= ALLOWED
        assert all(source.startswith("data:") for source in page.values("src", "href"))
        assert not page.acting()
    assert sum("&lt;script&gt;" in text for text in shown) >= 5
    assert "&lt;script&gt;" in app.sentence.value


# ---- report, sessions, stages ------------------------------------------------------------------


def test_the_report_is_made_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(pages, "drawn", lambda _: Figure(figsize=(1, 1)))
    app = app_of(("scores.csv", WIDE))
    fold = app.folds["report"]
    fold.turn(True)
    links = re.findall(r"<a download='([^']+)' href='data:([^;]+);base64,([^']*)'", fold.body.value)
    files = {name: b64decode(data) for name, _, data in links}
    formats = ["html", "md", "tex", "json", "png", "svg"]
    assert list(files) == [*(f"{STEM}.{ending}" for ending in formats), f"{STEM}.zip"]
    quick = report_files(app.found, ["tex", "json"], stem=STEM)
    assert {name: files[name] for name in quick} == quick
    with ZipFile(io.BytesIO(files.pop(f"{STEM}.zip"))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert {name: held[name] for name in files} == files
    assert f"{STEM}-test.svg" in held  # the pictures of the page in Markdown
    before = fold.body.value
    app.choices.alpha.value = 0.01  # another question has another report
    assert not fold.is_open
    app.choices.alpha.value = 0.05
    fold.turn(True)
    assert fold.body.value == before


def test_the_first_answer_does_not_wait_for_the_others():
    async def change():
        app = app_of(("scores.csv", WIDE))
        first = app.found
        assert "scores higher" in app.sentence.value or "No significant" in app.sentence.value
        assert "interval" not in vars(first)
        app.choices.tails.value = "greater"  # before the rest of the one before was made
        while "Working" in app.status.value or not app.picture.value:
            await asyncio.sleep(0.01)
        return app, first

    app, first = asyncio.run(change())
    assert app.found.alternative == "greater"
    assert "interval" in vars(app.found)
    assert "interval" not in vars(first)


def test_a_part_that_fails_says_so_and_the_answer_stays(monkeypatch):
    app = app_of(("scores.csv", WIDE))
    with monkeypatch.context() as broken:
        broken.setattr(comparison, "shown", lambda _: 1 / 0)
        app.choices.tails.value = "less"
    assert "ZeroDivisionError" in app.picture.value
    assert app.found.p_text in app.sentence.value
    with monkeypatch.context() as broken:
        broken.setattr(comparison, "run_study", lambda *_, **__: 1 / 0)
        app.choices.tails.value = "greater"
    assert "No answer: ZeroDivisionError" in app.sentence.value
    app.choices.tails.value = "two-sided"
    assert app.found.alternative == "two-sided"


# ---- the notebook and its files ----------------------------------------------------------------


def run(**parameters):
    """Execute what the page consists of, then make the report, as papermill would fill it in."""
    names = {"get_ipython": lambda: None}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        shown = {"page", "setup"} & set(tags) or cell.id in ("read", "overview", "report")
        if cell.cell_type == "code" and shown:
            exec(TransformerManager().transform_cell(cell.source), names)
            if "parameters" in tags:
                names |= parameters
    return names


def test_with_parameters_the_notebook_writes_a_report_and_overwrites_nothing(tmp_path):
    source, out = tmp_path / "counts.csv", tmp_path / "report.json"
    source.write_bytes(COUNTS)
    how = {"a": str(source), "system_a": "b", "system_b": "a", "metric": "f1", "out": str(out)}
    with plt.rc_context():
        names = run(**how)
        assert names["found"].names == ("b", "a")
        before = out.read_bytes()
        assert json.loads(before)["exact"]["pvalue"] == names["found"].exact.pvalue
        with pytest.raises(FileExistsError):
            run(**how)
    assert out.read_bytes() == before
