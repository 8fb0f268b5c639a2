"""The app without a browser: what it shows, what it refuses, and that it goes on afterwards."""

import asyncio
import csv
import io
import json
import re
import time
from base64 import b64decode
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import ipywidgets as widgets
import matplotlib.pyplot as plt
import nbformat
import pytest

import permtest as pt
from permtest.app import ComparisonApp, answer, bundled
from permtest.app.answer import verdict
from permtest.app.export import STEM, zipped
from permtest.app.stages import Stages
from permtest.app.uploads import LARGEST, MOST
from permtest.readers import File
from permtest.report import report_files
from permtest.study import overview

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "notebooks" / "data"
NOTEBOOK = ROOT / "notebooks" / "09-your-own-data.ipynb"

WIDE = b"id,doc,old,new\n" + b"".join(
    f"s{i},d{i // 3},{i % 4},{i % 4 + (i % 3 == 0) - (i % 7 == 0)}\n".encode() for i in range(24)
)
COUNTS = b"id,a_tp,a_fp,a_fn,b_tp,b_fp,b_fn\n" + b"".join(
    f"s{i},{i % 3},1,{i % 2},{i % 2},{i % 5},1\n".encode() for i in range(30)
)


def upload(*files):
    """What the browser sends: a name, bytes and how many."""
    when = {"type": "", "last_modified": datetime.now(UTC)}
    return tuple(
        {"name": name, "size": size[0] if size else len(data), "content": memoryview(data), **when}
        for name, data, *size in files
    )


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
        monkeypatch.setattr(answer, "_picture", lambda figure: f"<img alt='{figure.plot}'>")


def visible(widget):
    return widget.layout.display != "none"


# ---- the answer --------------------------------------------------------------------------------


@pytest.mark.usefixtures("drawn")
def test_the_example_is_answered_at_once():
    app = ComparisonApp()
    pairs = pt.read(bundled("own_taggers.csv"), a="crf_base", b="crf_rich")
    assert app.found.exact.pvalue == pt.exact_perm_test(pairs).pvalue
    assert f"p = {app.found.exact.pvalue_text()}" in app.answer.sentence.value
    assert "crf_rich scores higher than crf_base" in app.answer.sentence.value
    assert "1257 items paired by" in app.files.paired.value
    low, high = app.found.interval
    assert f"{low:.4g} to {high:.4g}" in app.answer.facts.value
    for picture in (app.answer.null, app.answer.estimation):
        assert re.search("<img alt='[A-Z][^']{30,}'.*src='data:image/png;base64,", picture.value)
    assert app.answer.items.value.count("<tr>") == 21
    assert app.found.sentence()[:40] in app.export.words.value
    assert not app.export.links.value


def test_every_control_changes_the_answer():
    app = app_of(("scores.csv", WIDE))
    choices = app.choices
    assert app.found.names == ("old", "new")
    first = app.found.exact.pvalue
    choices.tails.value = "less"
    assert app.found.exact.pvalue < first
    choices.tails.value = "greater"
    assert app.found.exact.pvalue > first
    choices.tails.value = "two-sided"
    choices.alpha.value = 0.1
    assert "90% interval" in app.answer.facts.value
    choices.statistic.value = "sum"
    assert app.found.difference == -4
    choices.unit.value = "doc"
    assert app.found.unit == "clusters"
    assert "8 clusters" in app.answer.facts.value
    assert "24 items in 8 clusters" in app.export.words.value
    choices.a.value, choices.b.value = "new", "old"
    assert app.found.names == ("new", "old")
    assert app.found.difference == 4


def test_counts_have_measures_to_choose_from():
    app = app_of(("counts.csv", COUNTS))
    assert app.choices.statistic.value == "f1"
    pairs = pt.read(File("x", COUNTS), a="a", b="b", statistic="recall")
    app.choices.statistic.value = "recall"
    assert app.found.exact.pvalue == pt.exact_perm_test(pairs, statistic="recall").pvalue
    assert "adds" in app.answer.items.value


def test_a_system_against_itself_is_a_message_and_no_dead_end():
    app = app_of(("scores.csv", WIDE))
    app.choices.b.value = "old"
    assert "role='alert'" in app.answer.sentence.value
    assert app.found is None
    assert not visible(app.answer.parts)
    assert not visible(app.export.box)
    app.choices.b.value = "new"
    assert app.found.names == ("old", "new")
    assert visible(app.answer.parts)


@pytest.mark.parametrize(
    ("u", "v", "alternative", "said"),
    [
        ([1] * 12, [0] * 12, "two-sided", "u scores higher than v, by more than luck explains"),
        ([0] * 12, [1] * 12, "two-sided", "v scores higher than u, by more than luck explains"),
        ([0] * 12, [1] * 12, "less", "v scores higher than u, by more than luck explains"),
        ([0] * 12, [1] * 12, "greater", "No evidence at the level 0.05 that u scores higher"),
        ([1, 1], [0, 0], "less", "No evidence at the level 0.05 that v scores higher than u"),
        ([1, 0], [0, 1], "two-sided", "No evidence at the level 0.05 that u and v differ"),
    ],
)
def test_the_verdict_says_which_system_is_ahead(u, v, alternative, said):
    found = overview(pt.Pairs.of(u, v, ("u", "v")), alternative=alternative)
    assert verdict(found).startswith(said)


@pytest.mark.usefixtures("drawn")
def test_what_takes_long_is_computed_when_it_is_asked_for():
    app = app_of(("scores.csv", WIDE))
    assert "answers" not in vars(app.found)
    assert "power" not in vars(app.found)
    later = app.answer.later
    later["answers"].button.click()
    assert "Wilcoxon signed-rank test" in later["answers"].body.value
    assert "<img alt=" in later["answers"].body.value
    assert later["answers"].button.description.startswith("Hide")
    later["power"].button.click()
    assert "Hedges" in later["power"].body.value
    assert "power with 24 items" in later["power"].body.value
    later["answers"].button.click()
    assert not visible(later["answers"].body)
    before = later["power"].body.value
    app.choices.tails.value = "less"  # what is open follows, what is closed waits
    assert later["power"].body.value != before


def test_a_choice_of_the_same_scores_reads_nothing_again(monkeypatch):
    app = app_of(("scores.csv", WIDE))
    evaluation = type(app.files.evaluation)
    monkeypatch.setattr(evaluation, "pairs", lambda *_, **__: pytest.fail("read again"))
    app.choices.alpha.value = 0.01
    assert app.found.alpha == 0.01


# ---- files -------------------------------------------------------------------------------------

BAD = {
    "binary": [("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))],
    "empty": [("empty.csv", b"")],
    "no scores": [("letter.txt", b"Dear all,\nthere are no numbers in here\n")],
    "not UTF-8": [("latin.csv", "id,a,b\nä,1,2\n".encode("latin-1"))],
    "JSON of nothing": [("x.json", b"{}")],
    "cut JSON": [("x.jsonl", b'{"id": 1, "a": 2, "b": 3}\n{"id": 2, "a":')],
    "too large": [("huge.csv", b"id,a,b\n1,2,3\n", LARGEST * 10**6 + 1)],
    "too many": [(f"{k}.csv", b"a,b\n1,%d\n" % k) for k in range(MOST + 1)],
    "two kinds": [("a.csv", WIDE), ("b.jsonl", b'{"doc_id": 1, "doc": {}, "acc": 1.0}\n')],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_and_the_answer_stays(name):
    app = app_of(("scores.csv", WIDE))
    before = app.answer.sentence.value
    app.files.upload.value = upload(*BAD[name])
    assert app.files.note.value.startswith("<div role='alert'")
    assert "Not taken: " in app.files.note.value
    assert "Traceback" not in app.files.note.value
    assert app.answer.sentence.value == before
    assert [file.name for file in app.files.files] == ["scores.csv"]
    app.choices.tails.value = "less"
    assert app.found.alternative == "less"


def test_after_a_bad_file_a_good_one_is_taken():
    app = ComparisonApp(example=False)
    assert "No file yet" not in app.answer.sentence.value
    assert not visible(app.choices.box)
    app.files.upload.value = upload(*BAD["binary"])
    assert "role='alert'" in app.files.note.value
    assert app.files.files == []
    app.files.upload.value = upload(("scores.csv", WIDE))
    assert app.files.note.value == ""
    assert app.found.exact.n == 24
    assert app.files.upload.value == ()  # not kept twice


def test_two_files_become_two_systems():
    ids = [f"q{k}" for k in range(9)]
    first, second = (
        ("id,score\n" + "".join(f"{name},{k % step}\n" for k, name in enumerate(names))).encode()
        for names, step in ((ids, 2), ([*ids[::-1][1:], "other"], 3))
    )
    app = ComparisonApp(example=False)
    app.files.upload.value = upload(("old.csv", first))
    assert "one system so far" in app.files.note.value
    assert app.found is None
    app.files.upload.value = upload(("new.csv", second))
    assert app.files.note.value == ""
    assert app.found.names == ("old", "new")
    assert app.found.exact.n == 8
    assert "8 items paired by id" in app.files.paired.value
    assert "1 only in A" in app.files.paired.value
    assert "1 only in B" in app.files.paired.value
    assert "other" in app.files.paired.value
    app.files.remove.click()
    assert app.found is None
    assert not visible(app.answer.box)
    app.files.example.click()
    assert app.found.exact.n == 1257


def test_files_without_an_item_in_common_are_refused():
    app = ComparisonApp(example=False)
    app.files.upload.value = upload(("old.csv", b"id,score\na,1\nb,0\n"))
    app.files.upload.value = upload(("new.csv", b"id,score\nc,1\nd,0\n"))
    shown = app.files.note.value + app.answer.sentence.value
    assert "in common" in shown
    assert app.found is None
    app.files.remove.click()
    app.files.upload.value = upload(("scores.csv", WIDE))
    assert app.found.exact.n == 24


def test_the_same_name_gets_a_number_and_the_same_content_is_one_file():
    app = ComparisonApp(example=False)
    scores = (b"id,score\na,1\nb,0\n", b"id,score\na,0\nb,1\n")
    for data in (*scores, scores[0]):
        app.files.upload.value = upload(("results.csv", data))
    assert [file.path for file in app.files.files] == ["results.csv", "results (2).csv"]
    assert len(set(app.found.names)) == 2


TREE = (
    "# sent_id = {}\n1\tdogs\tdog\t{}\t_\t_\t0\troot\t_\t_\n"
    "2\tbark\tbark\t{}\t_\t_\t1\tdep\t_\t_\n\n"
)


def test_a_gold_file_is_asked_for_where_one_is_needed():
    gold, old, new = (
        "".join(TREE.format(f"s{k}", *tags(k)) for k in range(6)).encode()
        for tags in (
            lambda _: ("NOUN", "VERB"),
            lambda k: ("NOUN", "VERB" if k > 3 else "NOUN"),
            lambda k: ("NOUN", "VERB" if k else "NOUN"),
        )
    )
    app = ComparisonApp(example=False)
    app.files.upload.value = upload(("old.conllu", old), ("new.conllu", new))
    assert "choose the file of what is right as the gold file" in app.files.note.value
    assert len(app.files.files) == 2
    app.files.gold_upload.value = upload(("gold.conllu", gold))
    assert app.files.note.value == ""
    assert app.found.exact.n == 6
    assert visible(app.choices.score)
    names = [value for _, value in app.choices.score.options]
    app.choices.score.value = names[-1]
    assert app.choices.question.score == names[-1]


def test_a_column_of_a_table_says_what_is_right():
    words = ("no", "yes")
    lines = (f"s{k},{words[k % 2]},{words[k % 2]},{words[k > 3]}\n" for k in range(8))
    table = ("id,t,x,y\n" + "".join(lines)).encode()
    app = ComparisonApp(example=False)
    assert not visible(app.files.gold_column)
    app.files.upload.value = upload(("answers.csv", table))
    assert "no system so far" in app.files.note.value
    assert app.found is None
    assert app.files.gold_column.index == 0
    app.files.gold_column.value = "y"
    assert app.found.names == ("t", "x")
    app.files.gold_column.value = "t"
    assert app.files.note.value == ""
    assert app.found.names == ("x", "y")
    app.choices.statistic.value = "accuracy"
    assert app.found.exact.scores == (8, 4)
    app.files.gold_column.index = 0
    assert app.found is None
    assert "no system so far" in app.files.note.value
    app.files.gold_column.value = "t"
    app.files.remove.click()
    assert not visible(app.files.gold_column)


# ---- data is data ------------------------------------------------------------------------------


class Marks(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        allowed = {"b", "br", "caption", "div", "h3", "img", "label", "p", "style", "table", "a"}
        allowed |= {"tbody", "td", "textarea", "th", "thead", "tr", "code", "pre"}
        if tag not in allowed:
            self.found.append(tag)
        for name, value in attrs:
            sources = name in ("src", "href") and not str(value).startswith("data:")
            if name.startswith("on") or sources:
                self.found.append((tag, name, value))


NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_nothing_in_a_file_becomes_markup():
    records = "".join(
        json.dumps(
            {"id": f"{k} {NASTY}", f"a{NASTY}": k % 2, f"b{NASTY}": 1, "doc": NASTY + str(k % 3)}
        )
        + "\n"
        for k in range(8)
    ).encode()
    app = ComparisonApp(example=False)
    app.files.upload.value = upload((f"{NASTY}.jsonl", records))
    assert app.found.exact.n == 8
    for later in app.answer.later.values():
        later.button.click()
    app.files.upload.value = upload((f"bad{NASTY}.csv", b"\0"))
    shown = texts(app.box)
    marks = Marks()
    for text in shown:
        marks.feed(text)
    assert marks.found == []
    assert sum("&lt;script&gt;" in text for text in shown) >= 5
    app.choices.b.value = app.choices.a.value
    marks.feed(app.answer.sentence.value)
    assert "&lt;script&gt;" in app.answer.sentence.value
    assert marks.found == []


def test_texts_of_items_are_shown_and_escaped(monkeypatch):
    app = app_of(("scores.csv", WIDE))
    evaluation = type(app.files.evaluation)
    monkeypatch.setattr(evaluation, "text", lambda _, name: f"text of {name} {NASTY}")
    app.choices.tails.value = "less"
    assert f"text of {app.found.most_different[0].id}" in app.answer.items.value
    assert "<script" not in app.answer.items.value


# ---- export ------------------------------------------------------------------------------------


def links(app):
    found = re.findall(
        r"<a download='([^']+)' href='data:([^;]+);base64,([^']*)'", app.export.links.value
    )
    return {name: b64decode(data) for name, _, data in found}


def test_the_report_is_made_when_it_is_asked_for():
    app = app_of(("scores.csv", WIDE))
    app.export.button.click()
    files = links(app)
    formats = ["html", "md", "tex", "json", "png", "svg"]
    assert list(files) == [f"{STEM}.{ending}" for ending in (*formats, "zip")]
    quick = report_files(app.found, ["tex", "json"], stem=STEM)
    assert {name: files[name] for name in quick} == quick
    assert json.loads(files[f"{STEM}.json"])["exact"]["pvalue"] == app.found.exact.pvalue
    with ZipFile(io.BytesIO(files[f"{STEM}.zip"])) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert {name: held[name] for name in files if name in held} == {
        name: content for name, content in files.items() if not name.endswith(".zip")
    }
    assert f"{STEM}-test.svg" in held  # the pictures of the page in Markdown
    assert zipped(held) == files[f"{STEM}.zip"]
    app.choices.alpha.value = 0.01  # another question has another report
    assert app.export.links.value == ""


# ---- sessions and stages -----------------------------------------------------------------------


def test_two_sessions_share_nothing():
    one, other = app_of(("one.csv", WIDE)), app_of(("other.csv", COUNTS))
    one.choices.tails.value = "less"
    one.files.upload.value = upload(*BAD["binary"])
    assert other.found.alternative == "two-sided"
    assert [file.name for file in other.files.files] == ["other.csv"]
    assert other.files.note.value == ""


def test_the_first_answer_does_not_wait_for_the_others():
    async def change():
        app = app_of(("scores.csv", WIDE))  # all of it, for notebooks that are only printed
        assert app.status.value == ComparisonApp(example=False).status.value
        app.choices.tails.value = "less"
        first, question = app.answer.sentence.value, app.found
        assert "interval" not in vars(question)
        assert "…" in app.answer.facts.value
        assert "Working on the interval" not in first
        app.choices.tails.value = "greater"  # before the rest of the one before was made
        while "Working" in app.status.value:
            await asyncio.sleep(0.01)
        return app, question

    app, question = asyncio.run(change())
    assert app.found.alternative == "greater"
    assert "interval" in vars(app.found)
    assert "interval" not in vars(question)
    assert "…" not in app.answer.facts.value


def test_a_stage_that_fails_is_told_and_the_next_work_goes_on():
    told, done = [], []
    stages = Stages(told.append)

    def failing():
        yield
        raise RuntimeError("no")

    stages.start(failing())
    assert [str(error) for error in told] == ["no"]
    stages.start(done.append(k) for k in range(3))
    assert done == [0, 1, 2]


def test_pieces_of_work_in_several_threads_wait_for_each_other():
    told, running, most, latest, done = [], [], [], [], []
    stages = Stages(told.append)

    def work(name):
        latest.append(name)
        for _ in range(5):
            running.append(1)
            most.append(len(running))
            time.sleep(0.002)
            running.pop()
            yield
        done.append(name)

    async def person(name):
        stages.start(work(name))
        while latest[-1] == name and name not in done:  # nobody's work has taken its place
            await asyncio.sleep(0.001)

    threads = [Thread(target=asyncio.run, args=[person(name)]) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == []
    assert max(most) == 1
    assert len(most) >= 4 + 4  # the first of each one, and all of the last one


# ---- the notebook and its files ----------------------------------------------------------------


def rows(name):
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_bundled_files_are_what_the_readme_says_of_them():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    known = {row["sent_id"]: row for row in rows("ud_en_ewt_pos.csv")}
    for row in rows("own_taggers.csv"):
        assert row["document"] == row["sent_id"].rpartition("-")[0]
        for name in ("crf_base", "crf_rich"):
            assert row[name] == known[row["sent_id"]][f"{name}_correct"]
    afrikaans = {row["sent_id"]: row for row in rows("ud_af_afribooms_pos.csv")}
    for row in rows("own_long.csv"):
        assert row["score"] == afrikaans[row["sent_id"]][f"{row['system']}_correct"]
    questions = rows("gsm8k_correct.csv")
    columns = {"first-answer": "finetuning", "verified-answer": "verification"}
    for size in ("6b", "175b"):
        lines = (DATA / f"own_gsm8k_{size}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in map(json.loads, lines):
            wanted = questions[line["doc_id"]][f"{size}_{columns[line['filter']]}"]
            assert line["exact_match"] == float(wanted)
    for path in DATA.glob("own_*"):
        assert f"`{path.name}`" in readme


def run(**parameters):
    """Execute what the page consists of, then make the report, as papermill would fill it in."""
    names = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        shown = {"page", "setup"} & set(tags) or cell.id in ("read", "overview", "report")
        if cell.cell_type == "code" and shown:
            exec(cell.source, names)
            if "parameters" in tags:
                names |= parameters
    return names


def test_the_page_needs_no_other_cells_of_the_notebook(tmp_path, capsys):
    with plt.rc_context():
        assert run(out=str(tmp_path / "table.tex"))["found"].exact.n == 1257
    assert str(tmp_path / "table.tex") in capsys.readouterr().out


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


def test_the_first_files_of_a_person_take_the_place_of_the_example():
    app = ComparisonApp()
    assert app.found is not None
    app.files.upload.value = upload(("a.jsonl", b'{"id": 1, "score": 1}\n{"id": 2, "score": 0}\n'))
    assert [file.name for file in app.files.files] == ["a.jsonl"]
    app.files.upload.value = upload(("b.jsonl", b'{"id": 2, "score": 0}\n{"id": 1, "score": 0}\n'))
    assert app.files.evaluation.systems == ("a", "b")
    app.files.use_example()
    app.files.upload.value = upload(("scores.csv", WIDE))
    assert [file.name for file in app.files.files] == ["scores.csv"]


def test_a_bad_cell_is_named():
    app = ComparisonApp(example=False)
    bad = (("new.csv", b"id,score\n1,1\n2,n/a?\n"), ("old.csv", b"id,score\n1,1\n2,0\n"))
    app.files.upload.value = upload(*bad)
    assert "new.csv, line 3, column &#x27;score&#x27;" in app.answer.sentence.value
    assert app.found is None


def test_a_long_table_is_paired_by_its_question():
    table = b"question;model;correct\n1;x;1\n1;y;0\n2;x;1\n2;y;1\n"
    app = ComparisonApp(File("long.csv", table))
    assert app.files.evaluation.systems == ("x", "y")  # paired by the question
    assert app.found.exact.pvalue == 1
