"""The table of published figures is what the command makes, and its rules are what it says."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.published import __main__ as command
from benchmarks.published import (
    figure,
    nlpstattest_2020,
    submission_2021,
    table,
    wang_li_2019,
    yeh_2000,
    zmigrod_2022,
)
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
    found = command.compute([document], quick=True)[document]
    rest = iter(TEXT[TEXT.index(f"## {document.title}\n") :].splitlines())
    missing = [f for f in found if table.row(f) not in rest]
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


def test_counts_of_the_introduction_are_true():
    head, *rows, total = lines(TEXT.partition("\n## ")[0])
    assert head == ["document", "figures", *figure.VERDICTS]
    everything = Counter()
    for (title, *printed), (heading, figures) in zip(rows, committed().items(), strict=True):
        verdicts = Counter(row[4].strip("*") for row in figures)
        assert title == heading
        assert list(map(int, printed)) == [len(figures), *(verdicts[v] for v in figure.VERDICTS)]
        everything += verdicts
    counted = [everything.total(), *(everything[v] for v in figure.VERDICTS)]
    assert [int(x) for x in total[1:]] == counted
    assert {title for title, *_ in rows} == {document.title for document in command.DOCUMENTS}


def test_nothing_in_the_document_depends_on_the_machine():
    """No seconds among ours but the bound that is printed as one."""
    for rows in committed().values():
        for row in rows:
            seconds = re.findall(r"[\d.]+ (?:s|ms|µs)\b", row[3])
            assert seconds in ([], ["0.1 s"], ["3 s"])


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
    document = figure.Document("made-up", "A title", "About it.", (figure.Part(lambda: [one]),))
    monkeypatch.setattr(command, "DOCUMENTS", (document,))
    output = tmp_path / "reproduction.md"
    assert command.main([], output) == 0
    text = output.read_text(encoding="utf-8")
    assert "| A title | 1 | 0 | 1 | 0 | 0 |" in text
    assert "| Table 1 | a share | 0.5 | 0.250 | **differs** | why |" in text
    assert "1 figures" in capsys.readouterr().out


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


def test_without_a_rule_nothing_is_judged():
    assert Figure("Fig. 1", "it", "drawn").verdict == figure.NOT_REPRODUCIBLE
    assert Figure("Fig. 1", "it", "drawn").shown == "–"
    assert Figure("Fig. 1", "it", "drawn", "drawn").verdict == figure.NOT_COMPARED


def test_numbers_of_another_count_are_no_comparison():
    with pytest.raises(ValueError, match="zip"):
        _ = Figure("Table 1", "it", "1, 2", 1.0, Printed()).verdict


def test_numbers_are_shown_with_more_places_than_printed():
    assert figure.places(0.1234567, 0.01) == "0.1235"
    assert figure.places(1.5e-9, 0.001) == "1.5e-09"
    assert figure.places(1048576.0, 1.0) == "1,048,576"
    assert figure.places(0.0, 0.1) == "0.000"
    assert table.line(("a|b", "c")) == "| a\\|b | c |"


def test_intervals_of_simulations():
    share, mean = Estimate.share(0.5, 100), Estimate.mean(2.0, 1.0, 4)
    assert (share.low, share.high) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert (mean.low, mean.high) == pytest.approx((1.02, 2.98))


# ---- the slow parts, smaller -------------------------------------------------------------------


def test_coverage_has_rows_for_three_designs(monkeypatch):
    monkeypatch.setattr(wang_li_2019, "REPLICATIONS", 60)
    monkeypatch.setattr(wang_li_2019, "AT_ONCE", 30)
    found = wang_li_2019.coverage()
    assert [f.published for f in found] == 3 * ["94.5", "0.0854", "99.6", "0.117"]
    assert all(f.ours.value > 0.8 for f in found if "coverage" in f.what)
    assert all(0.08 < f.ours.value < 0.13 for f in found if "length" in f.what)
    assert all(f.note for f in found if f.verdict == figure.DIFFERS)


def test_a_rule_learned_by_newton_is_the_likeliest():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(1, 400, 1))
    x = np.concatenate([y**0, rng.normal(size=(1, 400, 2)) + y / 2], axis=2)
    w = wang_li_2019.logistic(x, y)
    slope = np.swapaxes(x, 1, 2) @ (y - 1 / (1 + np.exp(-x @ w)))
    assert np.abs(slope).max() < 1e-6
    new = rng.integers(2, size=(400_000, 1))
    fresh = np.concatenate([new**0, rng.normal(size=(len(new), 2)) + new / 2], axis=1)
    said = fresh @ w[0] > 0
    f1 = 2 * np.sum(said & (new == 1)) / (said.sum() + new.sum())
    assert wang_li_2019.true_f1(w)[0] == pytest.approx(f1, abs=0.005)


def test_table_2_of_the_submission_is_simulated(monkeypatch):
    monkeypatch.setattr(submission_2021, "PAIRS", 4)
    monkeypatch.setattr(submission_2021, "RESAMPLES", 50)
    monkeypatch.setattr(submission_2021, "TABLE_2", submission_2021.TABLE_2[:2])
    monkeypatch.setattr(submission_2021, "RUNS", 3)
    submission_2021.pvalues.cache_clear()
    try:
        found = submission_2021.table_2()
        (purpose,) = submission_2021.purpose()
    finally:
        submission_2021.pvalues.cache_clear()
    assert [f.published for f in found] == ["0.0512", "0.1351", "0.0189", "0.0656"]
    assert all(f.ours.low <= f.ours.value <= f.ours.high for f in found)
    assert "of the pairs" in purpose.shown
    assert submission_2021.relative_errors().shape == (len(submission_2021.KS),)


@pytest.mark.parametrize(("coins", "verdict"), [(10.0, "agrees"), (1e-9, "differs")])
def test_which_is_faster_decides(monkeypatch, capsys, coins, verdict):
    made_up = {name: dict.fromkeys(zmigrod_2022.SIZES, 1e-3) for name in zmigrod_2022.runs()}
    for name in ("Alg. 1", "monte_carlo"):
        made_up[name] = dict.fromkeys(zmigrod_2022.SIZES, coins)
    for module in (zmigrod_2022, submission_2021):
        monkeypatch.setattr(module, "times", lambda: made_up)
    found = [*zmigrod_2022.figure_1(), *submission_2021.figure_4()]
    judged = [f.verdict for f in found if f.agrees and "three seconds" not in f.published]
    assert judged == [verdict] * 6
    zmigrod_2022.show_times()
    assert "Alg. 1 takes so many times as long as Alg. 4" in capsys.readouterr().out


def test_methods_that_are_timed_agree():
    u, v = np.array([5, 7, 3, 9, 4]), np.array([4, 5, 3, 6, 5])
    ways = zmigrod_2022.runs()
    found = [getattr(run(u, v), "pvalue", None) or run(u, v) for run in ways.values()]
    assert found == pytest.approx([found[-1]] * len(ways), abs=0.02)


def test_the_other_slow_parts(monkeypatch):
    monkeypatch.setattr(yeh_2000, "TRIALS", 2**12)
    monkeypatch.setattr(nlpstattest_2020, "DRAWS", 500)
    found = [*yeh_2000.own_trials(), *nlpstattest_2020.algorithms()]
    assert [f.verdict for f in found] == [*3 * ["not compared"], "differs", "agrees"]
    assert 0.3 < float(found[3].published) < 0.7
