"""One document: computed once, complete and harmless."""

import json
import re
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import yaml

import permtest as pt
from permtest import Scores, exact_perm_test
from permtest.study import evaluation_units, report, sample_size, sample_size_binary
from tests.html_page import Page

ROOM = import_module("permtest.study.report")
NEW, OLD = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9], [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
SCORES = Scores.of(NEW, OLD, ("new", "old"))
CLUSTERED = replace(SCORES, clusters=tuple("aabbccddeeff"))
RNG = np.random.default_rng(5)
BITS = Scores.of(RNG.integers(0, 2, 80), RNG.integers(0, 2, 80), ("new", "old"))
SPANS = Scores.of_counts({name: RNG.integers(0, 4, (40, 3)) for name in ("new", "old")})
QUICK = {"test": {"K": 99}, "power": {"sizes": 2, "experiments": 20}}
HOSTILE = "=<script>alert(1)</script>", "a|b_* \u202e$x$ `q`\n# [t](javascript:alert(1)) \ud800"
IDS = ("<img src=x onerror=alert(1)>", "@a|b_*`$", "two\nlines", "+\u202ertl", "-" + "x" * 10_000)


def evil():
    ids = tuple(f"{name}{i}" for i in range(3) for name in IDS)[:12]
    source = {"<b>file</b>": "<script>|`*_.csv", "paired_by": "id"}
    return report(replace(SCORES, systems=HOSTILE, ids=ids, source=source), config=QUICK)


def board(**options):
    table = {HOSTILE[0]: NEW, HOSTILE[1][:-1]: OLD, "mid": [8, 7, 6, 6, 5, 6, 5, 7, 7, 6, 6, 8]}
    return report(pt.compare_many(table, rng=0, **options))


def found(section):
    """What there is to be said, of a table of facts."""
    return [row["found"] for row in section.table]


# ---- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_first_page_has_the_exact_test_and_its_interval(alternative):
    document = report(SCORES, alternative=alternative, alpha=0.1)
    c, how = document.comparison, {"statistic": "mean", "alternative": alternative}
    exact = exact_perm_test(SCORES, **how)
    assert c.test == exact
    assert c.interval == exact.confidence_interval(0.9)
    assert document.to_dict()["rejected"] is bool(exact.pvalue <= 0.1)
    assert document.sentence.startswith(exact.sentence())
    assert found(document["finding"]) == ["+1.25", exact.pvalue_text(), "12"]
    assert report(NEW, OLD, statistic="sum").comparison.test.metric == "mean"


def test_the_exact_test_is_made_once(monkeypatch):
    made, single = [], ROOM.exact_perm_test
    for module in (ROOM, import_module("permtest.alternatives")):
        counted = lambda *x, **how: made.append(x) or single(*x, **how)  # noqa: E731
        monkeypatch.setattr(module, "exact_perm_test", counted)
    report(SCORES, config=QUICK).files()
    assert len(made) == 1


def test_clusters_are_the_units():
    document, sums = report(CLUSTERED), CLUSTERED.units
    c = document.comparison
    assert c.test.pvalue == exact_perm_test(sums).pvalue
    assert c.interval == exact_perm_test(CLUSTERED).confidence_interval()
    assert c.answers["paired_t"].estimate == pytest.approx(float(c.test.statistic))
    assert (c.answers.n, document["items"].titles["item"]) == (6, "cluster")
    assert "clusters do not depend" in document["caution"].sentence


def test_what_it_does_not_say():
    first, second, *_ = report(BITS)["caution"].sentence.splitlines()
    assert ("the systems are equal" in first, "called better" in second) == (True, True)
    few = replace(BITS, higher_is_better=False, source={"lacking": "left out: 1 item"})
    assert second not in (said := report(few)["caution"].sentence.splitlines())
    assert "left out: 1 item" in said


def test_counts_are_compared_by_their_measure():
    document = report(SPANS, statistic="f1", config={})
    c = document.comparison
    assert c.test.pvalue == exact_perm_test(SPANS, statistic="f1").pvalue
    assert c.interval == c.answers["paired_bootstrap"].interval
    assert c.answers["exact"].interval is None
    assert document["finding"].sentence.endswith(" (paired bootstrap, approximate).")
    keys = ["finding", "caution", "null", "tests", "source", "cite"]
    assert [section.key for section in document.sections] == keys


def test_items_are_needed_only_where_a_difference_is_established():
    unclear = report([1] * 12 + [0] * 8 + [1] * 80, [0] * 12 + [1] * 8 + [1] * 80)["next"]
    (row,) = unclear.table
    assert row["about"] == "smallest difference that 100 pairs find in 80% of all studies"
    assert "do not tell in which direction" in unclear.sentence
    ends, sd = report(SCORES).comparison.interval, np.subtract(NEW, OLD).std(ddof=1)
    few, many = (sample_size(end, sd) for end in ends[::-1])
    assert found(report(SCORES)["next"])[1] == f"{max(few, 6)} to {many}"
    for side in ("two-sided", "greater"):
        document = report([1] * 30 + [0] * 5 + [1] * 65, [0] * 30 + [1] * 70, alternative=side)
        low, high = document.comparison.interval
        apart = [(max(0.35, end) + end, max(0.35, end) - end) for end in (high, low) if end < 1]
        exact = [sample_size_binary(x / 2, y / 2, alternative=side) for x, y in apart]
        few, many = exact if high < 1 else (5, *exact)
        assert found(document["next"])[1] == f"{few} to {many}"


@pytest.mark.parametrize(("a", "b"), [([2], [0]), ([2, 2, 2], [2, 2, 2]), ([3] * 7, [1] * 7)])
def test_scores_that_hardly_say_anything(a, b):
    files = report(a, b, config=QUICK).files()
    json.loads(files["report.json"], parse_constant=pytest.fail)
    assert "nan" not in files["report.md"].decode().lower()


# ---- the steps of a study ------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["mean", "median"])
def test_each_step_has_its_settings(metric):
    config = {
        "units": {"size": 2, "metric": metric, "rng": 4},
        "data": {"alpha": 0.2, "rule": "manual"},
        "test": {"alpha": 0.1, "tests": ["sign", "wilcoxon"]},
        "effects": {"sizes": ["hedges_g"], "alpha": 0.2},
        "power": {"test": "paired_t", "sizes": [5, 9], "experiments": 20, "target": 0.9},
        "seed": 3,
    }
    config["power"] |= {"alpha": 0.01, "delta": 0}
    document = report(NEW, OLD, config=config)
    units = evaluation_units(NEW, OLD, 2, metric=metric, rng=4)
    assert document.comparison.test.pvalue == exact_perm_test(units).pvalue
    columns = {"tests": "test", "effects": "name", "power": "n"}
    values = ["exact", "sign", "wilcoxon"], ["hedges_g"], [5, 9]
    seen = ([row[name] for row in document[key].table] for key, name in columns.items())
    assert tuple(seen) == values
    for key, words in (
        ("data", "6 pairs"),
        ("advice", "Recommended: "),
        ("power", "paired t-test"),
    ):
        assert words in document[key].sentence
    levels = [document[key].titles["interval"] for key in ("tests", "effects")]
    assert levels == ["90% interval", "80% interval"]
    assert "with a power of 90%" in document["next"].table[-1]["about"]
    assert "90%" in document["power"].sentence
    assert ROOM.settings(yaml.safe_load(document["source"].code)) == ROOM.settings(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sead: 3", "config.sead: there is no such option; there are units, data, test"),
        ("units: {sise: 3}", "units.sise: there is no such option; there are size, metric, rng"),
        ("units: 15", "units: 15 must be a mapping of options"),
        ("- seed\n", "must be a mapping"),
        ("seed: [1\n", "line 2"),
        ("seed: !!python/object/apply:os.getcwd []\n", "could not determine"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_option(tmp_path, text, message):
    path = tmp_path / "study.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        report(NEW, OLD, config=path)
    assert str(caught.value).startswith(f"{path}: ")
    path.write_bytes(b"\xef\xbb\xbf# nothing\n")
    assert ROOM.settings(path) == ROOM.settings(None)


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [evil, board])
def test_every_form_has_every_section_and_names_and_ids_stay_text(make):
    document = make()
    files = document.files()
    assert list(files) == [f"report.{kind}" for kind in ROOM.FORMATS]
    text, page = files["report.md"].decode(), files["report.html"].decode()
    headings = [part.heading for part in document.sections[1:]]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings
    assert re.findall(r"<h2>(.*)</h2>", page) == headings[1:]
    assert [*json.loads(files["report.json"])["sections"]] == [x.key for x in document.sections]
    assert files["report.tex"].count(b"\\toprule") == 1
    assert page == make().files(["html"])["report.html"].decode(), "the same every time"
    seen, pictures = Page(page), sum(part.draw is not None for part in document.sections)
    assert page.count("<img") == len(set(seen.values("alt"))) == pictures
    assert {"script", "iframe", "link"}.isdisjoint(tag for tag, _ in seen.elements)
    assert not seen.acting()
    assert all(x.startswith("data:image/svg+xml;") for x in seen.values("src", "href", "action"))
    assert "default-src 'none'" in page
    assert any(HOSTILE[0] in words for words in seen.words)
    for mark in ("<script", "<img src=x", "\u202e", "x" * 300):
        assert mark not in page
    for mark in ("<script", "<img", "\n# [t]", "`q`", "$x$", "[t](javascript", "\u202e", "x" * 300):
        assert mark not in text


def test_a_board_is_the_same_document_with_other_sections():
    keys = ["finding", "caution", "ranking", "source", "cite"]
    assert [section.key for section in board().sections] == keys
    assert [x.key for x in board(baseline="mid").sections] == keys
    ranked = pt.compare_many({"a": NEW, "b": OLD}, rng=0)
    document = report(ranked)
    assert document.sentence == ranked.sentence()
    assert found(document["finding"]) == ["2", "12", str(ranked.differs.sum())]
    assert document["ranking"].table == ranked.rows()


def test_a_file_of_the_kind_that_its_name_says(tmp_path):
    document, path = report(SCORES), tmp_path / "new" / "a.MD"
    assert document.write(path) == path
    assert path.read_bytes() == document.files(["md"])["report.md"]
    with pytest.raises(FileExistsError, match="MD exists; choose another name"):
        document.write(path)
    assert document.write(path, overwrite=True) == path
    for name, kind in (("a.pdf", "pdf"), ("folder", "")):
        with pytest.raises(ValueError, match=f"format='{kind}' is not known"):
            document.write(tmp_path / name)
    assert [*tmp_path.rglob("*.*")] == [path]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_the_extra(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=re.escape("pip install 'permtest[study]'")):
        report(SCORES).files(["html"])
    assert list(report(SCORES).files(["json"])) == ["report.json"]


@pytest.mark.parametrize(
    ("scores", "how", "message"),
    [
        (SPANS, {}, "'mean' takes one score"),
        (SCORES, {"statistic": "f1"}, "statistic='f1' needs"),
        (SCORES, {"alpha": 1}, r"alpha must lie in \(0, 1\)"),
        (SCORES, {"config": {"test": {"tests": ["mcnemar"]}}}, "not apply"),
        (SCORES, {"config": {"effects": {"sizes": ["d"]}}}, "effects.sizes="),
        (SCORES, {"config": {"units": {"size": "ten"}}}, "size = 'ten' must be"),
        (CLUSTERED, {"config": {"units": {"size": 2}}}, "clusters"),
    ],
)
def test_refusals(scores, how, message):
    with pytest.raises((TypeError, ValueError), match=message):
        report(scores, **how)
