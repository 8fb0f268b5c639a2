"""The benchmark is right about what it measures, and notices what is wrong."""

from fractions import Fraction
from itertools import count
from math import log
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given

from benchmarks import __main__ as command
from benchmarks import accuracy, paper, report, speed
from benchmarks.calibration import __main__ as validation
from benchmarks.calibration import familywise, single
from permtest.null.enumeration import count_labellings
from tests import naive, strategies

CONVOLVERS = [paper.convolve_dp, paper.convolve_fft]

# ---- the paper's algorithms --------------------------------------------------------------------


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.pairs(("binary", "small", "signed", "even"), max_size=8))
def test_the_papers_algorithms_give_the_share_of_labellings(convolve, columns):
    assume(columns[0])
    u, v = (np.array(column, dtype=np.int64) for column in columns)
    exact = naive.pvalue(u.tolist(), v.tolist())
    assert paper.exact_perm_test(u, v, convolve) == pytest.approx(float(exact), abs=1e-14)
    above = naive.pvalue(u.tolist(), v.tolist(), h=lambda s: s)
    one_sided = paper.exact_perm_test(u, v, convolve, h=lambda s: s)
    assert one_sided == pytest.approx(float(above), abs=1e-14)


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.count_tables(max_size=6, largest=2))
def test_algorithm_5_gives_the_share_of_labellings(convolve, rows):
    u, v = map(np.array, rows)
    exact = naive.measure_pvalue(*rows, naive.MEASURES["f1"])
    h = paper.f1_gap_with_ties
    found = paper.perm_test_f1(u, v, convolve, h)
    assert found == pytest.approx(float(exact), abs=1e-12)
    assert paper.perm_test_f1(u, v, convolve) <= found + 1e-12


@pytest.mark.parametrize("convolve", CONVOLVERS)
def test_algorithm_5_loses_a_tie_as_it_is_printed(convolve):
    """Half of all labellings are as extreme, and floats tell half of those from the others."""
    u = np.array([(2, 0, 0), (1, 1, 1), (2, 0, 0)])
    v = np.array([(0, 1, 1), (0, 0, 1), (2, 1, 1)])
    printed = paper.perm_test_f1(u, v, convolve)
    tied = paper.perm_test_f1(u, v, convolve, paper.f1_gap_with_ties)
    assert [printed, tied] == pytest.approx([0.25, 0.5], abs=1e-12)


# ---- accuracy ----------------------------------------------------------------------------------


def test_the_oracle_sees_an_error_of_p_and_of_its_logarithm():
    law = accuracy.law_of(np.arange(1, 13))
    oracle, t0 = accuracy.Oracle(law), 60
    p = Fraction(sum(count_labellings(law)[t0:]), 2**12)
    assert oracle.error(accuracy.Probability.of(float(p), 0.0), t0) < 1e-16
    assert oracle.error(accuracy.Probability.of(float(p) * (1 + 1e-9), 0.0), t0) == pytest.approx(
        1e-9
    )
    assert oracle.log(t0) == pytest.approx(log(p), rel=1e-14)
    tiny = accuracy.Oracle(accuracy.law_of(np.ones(1100, dtype=np.int64)))
    right = accuracy.Probability.of_log(-1100 * log(2), 0.0)
    assert tiny.error(right, 1100) < 1e-12
    assert tiny.error(right._replace(log=right.log + 1e-6), 1100) == pytest.approx(1e-6, rel=1e-3)


def case(**found):
    """A case in which all is well but for what is said."""
    right = {"tilted": accuracy.Found(1e-14, 1e-13), "dp": accuracy.Found(1e-16, 1e-15)}
    log10_p = found.pop("log10_p", -5.0)
    return accuracy.Case("kind", 9, log10_p, right | found)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"dp": accuracy.Found(2e-15, 1e-15)}, "dp: error 2e-15 above its bound 1e-15"),
        ({"dp": accuracy.Found(float("nan"), 1e-15)}, "dp: error nan above"),
        ({"tilted": accuracy.Found(2e-12, 1e-11)}, "tilted: error 2e-12 (kind"),
    ],
)
def test_a_broken_bound_and_a_broken_promise_are_named(wrong, words):
    assert accuracy.broken([case()]) == []
    (line,) = accuracy.broken([case(), case(**wrong)])
    assert words in line


# ---- the report --------------------------------------------------------------------------------


def test_the_command_writes_a_report(tmp_path, monkeypatch, capsys):
    """Of fewer and smaller cases than `--quick` has, with a clock that says the same of each."""
    monkeypatch.setattr(report, "time", SimpleNamespace(perf_counter=count(0, 0.125).__next__))
    of_times = {"sizes": (50, 200), "gaps": (1,), "f1_sizes": (20, 200), "n": 200}
    monkeypatch.setattr(command, "QUICK", ({"entries": (7,)}, of_times))
    monkeypatch.setattr(speed, "RATES", (0.1,))
    monkeypatch.setattr(speed, "FLOAT_SIZES", (25,))
    monkeypatch.setattr(speed, "related", lambda n: report.Section("Runs", "quick"))
    monkeypatch.setattr(speed, "cold", lambda *_, **__: 0.5)  # processes of their own
    assert command.main(["--quick"], tmp_path) == 0
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"report.md", "error.png", "time.png", "time-f1.png"}
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    titles = ["Accuracy", "Time by N", "Time by G", "F1: memory", "Ratios"]
    assert [title for title in titles if f"## {title}\n" not in text] == []
    assert "- tilted / Alg. 3, N = 200: 1\n" in text
    assert "every bound holds" in capsys.readouterr().out


def test_what_is_slower_than_the_record_is_named():
    assert command.compare({"a": 1.4}, {"a": 1.0}) == []
    found = command.compare({"a": 1.6, "b": 1.0}, {"a": 1.0})
    assert found == ["a: 1.6, on record 1", "b: make a new record with --record"]


# ---- simulations -------------------------------------------------------------------------------


def test_intervals_that_cover_too_little_are_noticed(monkeypatch):
    nothing = np.zeros(300, dtype=bool)
    narrow = np.tile((9.0, 9.5), (300, 1)), nothing, 0.2
    monkeypatch.setattr(single, "intervals", lambda d: narrow)
    kind = single.Kind("counts", lambda shape, rng: rng.poisson(4, shape) - 4, sizes=(20,))
    assert single.graded(300, [kind]).failures == [
        "coverage 0.0000, less than 0.95 (counts, N = 20)",
        "level 0.2000, more than 0.05 (counts, N = 20)",
    ]
    assert single.graded(300, [kind._replace(symmetric=False)]).failures == []


def test_shifts_of_every_pair_stand_beside_tangos_test_where_all_scores_tie_too():
    section = single.within_a_margin(0, [(50, 0.02, 0.07, 0.05)])
    assert section.text.splitlines()[-1].split("|")[2:5:2] == [
        "            0.030 ",
        "               0.143 ",
    ]


def test_a_textbook_interval_in_place_of_tangos_is_noticed(monkeypatch):
    assert single.right_or_wrong(0, [(30, 0.1, 0.03)]).failures == []
    monkeypatch.setitem(single.INTERVALS, "Tango (permtest)", single.wald)
    (line,) = single.right_or_wrong(0, [(20, 0.05, 0.0)]).failures
    assert line == "coverage 0.639 for shares (20, 0.05, 0.0)"
    monkeypatch.setitem(single.TESTS, "Tango (permtest)", single.wald_margin)
    (line,) = single.within_a_margin(0, [(20, 0.0, 0.1, 0.1)]).failures
    assert line == "level 0.122 for shares (20, 0.0, 0.1)"


def test_the_level_of_swapped_sentences_is_noticed(monkeypatch):
    assert single.clustered(60, [20]).failures == []
    test = single.pt.exact_perm_test
    alone = SimpleNamespace(exact_perm_test=lambda u, v, clusters: test(u, v))
    monkeypatch.setattr(single, "pt", alone)
    assert single.clustered(60, [20]).failures


def test_the_page_has_every_section(tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "DOCUMENT", tmp_path / "validation.md")
    monkeypatch.setattr(validation.sys, "argv", ["calibration", "--sets", "40"])
    section = report.Section("Shares", "a table", ["something"])
    monkeypatch.setattr(validation, "measure", lambda sets: [section] * (sets // 20))
    assert validation.main() == 1
    assert (tmp_path / "validation.md").read_text().count("## Shares\n\na table\n") == 2


def test_a_correction_that_errs_too_often_is_noticed(monkeypatch):
    monkeypatch.setattr(familywise, "holm", lambda p: p <= familywise.ALPHA)  # none at all
    (kind,) = (kind for kind in familywise.KINDS if kind.name == "equal, half right")
    assert familywise.section(60, (kind,)).failures
