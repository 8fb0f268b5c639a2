"""The benchmark is right about what it measures, and notices what is wrong."""

import json
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given

import permtest as pt
from benchmarks import __main__ as command
from benchmarks import (
    accuracy,
    bayes,
    calibration,
    f1_accuracy,
    f1_data,
    f1_large,
    f1_speed,
    familywise,
    fresh,
    large,
    laws,
    paper_algorithm_5,
    peers,
    speed,
    tables,
    timing,
)
from benchmarks import paper_algorithms as paper
from benchmarks.paper_data import DISTINCT, differences_up_to, table_1
from permtest.null.enumeration import count_labellings
from permtest.null.probability import Probability
from tests import naive, strategies

CONVOLVERS = [paper.convolve_dp, paper.convolve_fft]

# ---- data --------------------------------------------------------------------------------------


def test_the_papers_generator_has_its_moments():
    """Table 1, as far as truncation and rounding leave it."""
    u, v = table_1(40_000, np.random.default_rng(0))
    assert u.min() >= 0
    assert abs(u.mean() / v.mean() - 1) < 0.01
    worse = table_1(40_000, np.random.default_rng(0), advantage=0.9)[1]
    assert worse.mean() < 0.97 * v.mean()


def test_many_sentences_follow_the_law_of_fewer():
    u, v = table_1(DISTINCT + 10, np.random.default_rng(0))
    few = table_1(100_000, np.random.default_rng(1))
    assert u.size == v.size == DISTINCT + 10
    many, fewer = (np.bincount(np.abs(a - b), minlength=99)[:10] / a.size for a, b in ((u, v), few))
    assert np.abs(many - fewer).max() < 0.01


def test_every_difference_up_to_g_occurs():
    u, v = differences_up_to(10, 2000, np.random.default_rng(0))
    assert set(np.unique(u - v)) == set(range(-10, 11))


@pytest.mark.parametrize("kind", laws.KINDS)
def test_laws_are_of_their_kind_and_small_enough_to_count(kind):
    rng = np.random.default_rng(0)
    widths = laws.KINDS[kind](200, rng)
    assert widths.min() > 0
    assert widths.sum() < 60_000
    odd, large = int((widths % 2).sum()), widths.max() > 0.2 * widths.sum()
    expected = {"nearly even": odd == 1, "one giant": large, "all equal": widths.max() == 1}
    assert expected.get(kind, True)
    assert laws.law_of(widths).n_informative == widths.size


def test_both_systems_look_for_the_same_spans():
    u, v = f1_data.spans(20_000, np.random.default_rng(0), advantage=0.8)
    assert (u[:, ::2].sum(axis=1) == v[:, ::2].sum(axis=1)).all()
    recalls = [x[:, 0].sum() / x[:, ::2].sum() for x in (u, v)]
    assert recalls == pytest.approx([f1_data.FOUND, 0.8 * f1_data.FOUND], abs=0.01)
    assert u[:, 1].sum() / u[:, ::2].sum() == pytest.approx(f1_data.SPURIOUS, abs=0.01)
    again = f1_data.spans(20_000, np.random.default_rng(0), advantage=0.8)
    assert np.array_equal(again, (u, v))


def test_spans_of_many_sentences_follow_the_law_of_fewer():
    u, v = f1_data.spans(DISTINCT + 10, np.random.default_rng(0))
    few, _ = f1_data.spans(50_000, np.random.default_rng(1))
    assert u.shape == v.shape == (DISTINCT + 10, 3)
    assert u.mean(axis=0) == pytest.approx(few.mean(axis=0), rel=0.03)


@pytest.mark.parametrize("kind", f1_data.KINDS)
def test_count_data_are_of_their_kind(kind):
    u, v = f1_data.KINDS[kind](150, np.random.default_rng(0))
    assert u.shape == v.shape == (150, 3)
    assert min(u.min(), v.min()) == 0
    moves = u - v
    odd, largest = (moves % 2 != 0).any(axis=1).sum(), np.abs(moves).sum(axis=0) / 3
    expected = {
        "nearly even": odd == 1,
        "one giant": (np.abs(moves[0]) > largest).any(),
        "misses only": not moves[:, ::2].any(),
        "bold against timid": (moves.sum(axis=0)[:2] < -100).all(),
        "rare": u[:, 0].sum() < 10 < u[:, 1].sum(),
        "one decision each": max(u.max(), v.max()) == 1,
    }
    assert expected.get(kind, True)


# ---- the paper's algorithms --------------------------------------------------------------------


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.pairs(("binary", "small", "signed", "even"), max_size=8))
def test_the_papers_algorithms_give_the_share_of_labellings(convolve, columns):
    u, v = (np.array(column, dtype=np.int64) for column in columns)
    exact = naive.pvalue(u.tolist(), v.tolist())
    assert paper.exact_perm_test(u, v, convolve) == pytest.approx(float(exact), abs=1e-14)
    above = naive.pvalue(u.tolist(), v.tolist(), h=lambda s: s)
    one_sided = paper.exact_perm_test(u, v, convolve, h=lambda s: s)
    assert one_sided == pytest.approx(float(above), abs=1e-14)


@pytest.mark.parametrize("convolve", CONVOLVERS)
@given(strategies.effects(max_size=12))
def test_the_papers_convolutions_give_every_cell(convolve, effects):
    law = naive.convolve([naive.local_law(x, y) for x, y in effects])
    found = convolve([paper.local_pmf(x, y) for x, y in effects])
    assert found.low == min(law)
    expected = [float(law.get(found.low + i, Fraction(0))) for i in range(found.cells.size)]
    np.testing.assert_allclose(found.cells, expected, rtol=0, atol=1e-14)


CONVOLVERS_M = [paper_algorithm_5.convolve_dp, paper_algorithm_5.convolve_fft]


@pytest.mark.parametrize("convolve", CONVOLVERS_M)
@given(strategies.count_tables(max_size=6, largest=2))
def test_algorithm_5_gives_the_share_of_labellings(convolve, rows):
    u, v = map(np.array, rows)
    exact = naive.measure_pvalue(*rows, naive.MEASURES["f1"], zero=Fraction(0))
    h = paper_algorithm_5.f1_gap_with_ties
    found = paper_algorithm_5.perm_test_f1(u, v, convolve, h)
    assert found == pytest.approx(float(exact), abs=1e-12)
    assert paper_algorithm_5.perm_test_f1(u, v, convolve) <= found + 1e-12


@pytest.mark.parametrize("convolve", CONVOLVERS_M)
def test_algorithm_5_loses_a_tie_as_it_is_printed(convolve):
    """Half of all labellings are as extreme, and floats tell half of those from the others."""
    u = np.array([(2, 0, 0), (1, 1, 1), (2, 0, 0)])
    v = np.array([(0, 1, 1), (0, 0, 1), (2, 1, 1)])
    printed = paper_algorithm_5.perm_test_f1(u, v, convolve)
    tied = paper_algorithm_5.perm_test_f1(u, v, convolve, paper_algorithm_5.f1_gap_with_ties)
    assert [printed, tied] == pytest.approx([0.25, 0.5], abs=1e-12)


def test_both_convolutions_of_four_sums_agree_in_every_cell():
    u, v = f1_data.spans(20, np.random.default_rng(0))
    rows = np.concatenate((u[:, :2], v[:, :2]), axis=1)
    swapped = np.concatenate((v[:, :2], u[:, :2]), axis=1)
    pmfs = list(map(paper_algorithm_5.local_pmf, rows.tolist(), swapped.tolist()))
    first, second = (convolve(pmfs) for convolve in CONVOLVERS_M)
    assert first.lows == second.lows == tuple(np.minimum(rows, swapped).sum(axis=0))
    np.testing.assert_allclose(first.cells, second.cells, rtol=0, atol=1e-15)


# ---- accuracy ----------------------------------------------------------------------------------


def test_the_oracle_sees_an_error_of_p_and_of_its_logarithm():
    law = laws.law_of(np.arange(1, 13))
    oracle, t0 = accuracy.Oracle(law), 60
    p = Fraction(sum(count_labellings(law)[t0:]), 2**12)
    assert oracle.error(Probability.of(float(p), 0.0), t0) < 1e-16
    assert oracle.error(Probability.of(float(p) * (1 + 1e-9), 0.0), t0) == pytest.approx(1e-9)
    assert oracle.log(t0) == pytest.approx(log(p), rel=1e-14)
    tiny = accuracy.Oracle(laws.law_of(np.ones(1100, dtype=np.int64)))
    right = Probability.of_log(-1100 * log(2), 0.0)
    assert tiny.error(right, 1100) < 1e-12
    assert tiny.error(right._replace(log=right.log + 1e-6), 1100) == pytest.approx(1e-6, rel=1e-3)


def test_thresholds_reach_from_certainty_to_the_last_labelling():
    oracle = accuracy.Oracle(laws.law_of(np.ones(300, dtype=np.int64)))
    logs = [oracle.log(t0) for t0 in accuracy.thresholds(oracle, np.random.default_rng(0))]
    assert max(logs) > log(0.5)
    assert min(logs) < -280 * log(2)
    decades = {int(-x / log(10) / 10) for x in logs}
    assert decades == set(range(10))


def test_a_sampled_p_is_never_zero(monkeypatch):
    """(C + 1) / (K + 1) for C = 0: 2^100 / (K + 1) times the exact p."""
    rng = np.random.default_rng(0)
    (law,) = [law for law in laws.random_laws(rng, (100,)) if law[0] == "all equal"]
    monkeypatch.setattr(accuracy, "random_laws", lambda *_: [law])
    last = max(accuracy.cases(rng), key=lambda c: -c.log10_p)
    share = 10**-last.log10_p / (accuracy.SAMPLES + 1)
    assert last.found[accuracy.SAMPLED].error == pytest.approx(share, rel=1e-9)


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


def test_below_the_floats_the_promise_is_for_the_logarithm():
    wrong = {"tilted": accuracy.Found(5e-11, inf)}
    assert accuracy.broken([case(log10_p=-400.0, **wrong)]) == []
    assert accuracy.broken([case(log10_p=-200.0, **wrong)])


@pytest.mark.parametrize(
    ("log10_p", "name"),
    [(0.0, "1 to 1e-3"), (-7.2, "1e-6 to 1e-10"), (-299.5, "1e-290 to 1e-300"), (-900.0, "below")],
)
def test_cases_are_binned_by_decades(log10_p, name):
    assert accuracy.bin_name(accuracy.bin_of(case(log10_p=log10_p))).startswith(name)


def test_a_small_run_is_within_all_bounds_and_shows_what_absolute_accuracy_is(tmp_path, capsys):
    cases, section = accuracy.run(entries=(7, 60))
    assert section.failures == []
    assert all(0 <= used <= 1 for used in section.data["of_bound"].values())
    assert len(cases) > 500
    last = section.data["bins"][-1]
    assert last["worst"]["tilted"] < 1e-12 < 0.1 < last["worst"]["Alg. 4"]
    assert capsys.readouterr().out.count("\n") == 2 * len(laws.KINDS) - 1  # one pair is one pair
    accuracy.draw_errors(cases, tmp_path / "error.png")
    assert (tmp_path / "error.png").stat().st_size > 10_000


def test_decimal_tails_are_right_to_forty_digits():
    """Of a binomial law that needs Stirling's series, and of the mixture."""
    n = 3000
    ways = [comb(n, i) for i in range(n + 1)]
    law = large.law_with(60)
    mixture = accuracy.Oracle(law)
    with localcontext(accuracy.DIGITS):
        for t in (-1, 0, 1400, 1500, 1501, 2900, 3000, 3001):
            exact = Decimal(sum(ways[max(t, 0) :])) / Decimal(2) ** n
            assert abs(large.binomial_tail(n, t) - exact) <= exact.scaleb(-40)
        for t0 in (0, 30, 300, law.top):
            exact = Decimal(mixture.tails[t0]) / 2**60
            assert abs(large.exact_tail(60, t0) - exact) <= exact.scaleb(-40)


def test_an_error_at_large_n_is_noticed():
    assert large.run((10**4,), tail=accuracy.OURS["fft"]).failures == []

    def wrong(law, t0):
        found = accuracy.OURS["fft"](law, t0)
        return found._replace(value=found.value * (1 + 1e-11), log=found.log + 1e-11)

    (line,) = large.run((10**4,), tail=wrong).failures
    assert line.startswith("tilted, N = 10,000: error 1e-11 of p")


def test_a_bound_too_small_at_large_n_is_noticed():
    def proud(law, t0):
        return accuracy.OURS["fft"](law, t0)._replace(error_bound=1e-30)

    assert len(large.run((10**4,), tail=proud).failures) == 1


@pytest.mark.parametrize("measure", f1_accuracy.FORMULAS)
@given(rows=strategies.count_tables(max_size=7, largest=5))
def test_the_oracle_of_counts_counts_labellings(measure, rows):
    u, v = map(np.array, rows)
    formula = f1_accuracy.FORMULAS[measure]
    oracle = f1_accuracy.Oracle(u, v, formula)
    observed = f1_accuracy.Sums(*(u @ np.array(formula).T).sum(axis=0).tolist())
    assert oracle.tails[0] == 2 ** len(u)
    for alternative in f1_accuracy.ALTERNATIVES:
        exact = naive.measure_pvalue(*rows, naive.MEASURES[measure], alternative, zero=Fraction(0))
        assert oracle.pvalue(observed, alternative) == exact


def test_sums_are_chosen_from_certainty_to_the_last_labelling():
    u, v = f1_data.KINDS["bold against timid"](90, np.random.default_rng(0))
    oracle = f1_accuracy.Oracle(u, v, f1_accuracy.FORMULAS["f1"])
    chosen = f1_accuracy.thresholds(oracle, np.random.default_rng(1), number=60)
    logs = [f1_accuracy.log_of(oracle.pvalue(sums, "greater")) for sums in chosen]
    depth = f1_accuracy.log_of(Fraction(oracle.tails[-1], 2**90))
    assert max(logs) > log(0.9)
    assert min(logs) < 0.95 * depth
    assert {int(10 * x / depth) for x in logs} >= set(range(10))


def test_a_small_run_for_f1_is_within_all_bounds(capsys):
    section = f1_accuracy.run(entries=(6, 40))
    assert section.failures == []
    assert all(0 <= used <= 1 for used in section.data["of_bound"].values())
    assert sum(line["cases"] for line in section.data["bins"]) > 500
    assert capsys.readouterr().out.count("\n") == 2 * len(f1_data.KINDS)


def test_what_takes_too_long_to_count_is_left_out(monkeypatch):
    monkeypatch.setattr(f1_accuracy, "MAX_CELLS", 0)
    assert list(f1_accuracy.cases(np.random.default_rng(0), entries=(6,))) == []


def test_a_broken_bound_and_a_broken_promise_of_f1_are_named():
    def case_of(error, bound, log10_p=-60.0):
        return accuracy.Case("kind", 9, log10_p, {"f1": accuracy.Found(error, bound)})

    assert f1_accuracy.broken([case_of(1e-14, 1e-13), case_of(5e-11, 1e-9, -400.0)]) == []
    (line,) = f1_accuracy.broken([case_of(2e-14, 1e-14)])
    assert line == "f1: error 2e-14 above its bound 1e-14 (kind, N = 9, p = 1e-60.00)"
    (line,) = f1_accuracy.broken([case_of(2e-12, 1e-11)])
    assert line == "f1: error 2e-12 (kind, N = 9, p = 1e-60.00)"


def test_staircases_of_binomials_are_right_to_forty_digits():
    n = 60
    law, (u, v) = f1_large.Binomials(n), f1_large.two_kinds(n)
    oracle = f1_accuracy.Oracle(u, v, f1_accuracy.FORMULAS["f1"])
    for k, last in ((21, 9), (25, 7), (30, 12), (law.hits, 0), (10, 11)):
        sums = f1_accuracy.Sums(2 * k, law.hits - k + last)
        p = oracle.pvalue(sums, "greater")
        with localcontext(accuracy.DIGITS):
            exact = Decimal(p.numerator) / Decimal(p.denominator)
            assert abs(law.tail(k, last) - exact) <= exact.scaleb(-40)


def test_an_error_of_f1_at_large_n_is_noticed(monkeypatch):
    right = f1_large.run((1000,))
    assert right.failures == []
    assert right.data["rows"][0]["none"] == 0

    def wrong(got, *exact):
        return f1_accuracy.error_of(got, *exact) + 1e-9

    monkeypatch.setattr(f1_large, "error_of", wrong)
    lines = f1_large.run((1000,)).failures
    assert lines[0].startswith("f1: error 1e-09 above its bound")


def test_a_p_that_is_refused_is_counted():
    """`cf` is accurate absolutely, and says so where p is too small for it."""
    section = f1_large.run((1000,), method="cf")
    assert 3 <= section.data["rows"][0]["none"] < len(f1_large.SCORES)


# ---- time --------------------------------------------------------------------------------------


class Clock:
    """A clock that says the same of every call, and goes on where somebody works."""

    now, tick = 0.0, 0.125

    def perf_counter(self):
        self.now += self.tick
        return self.now

    def work(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(timing, "time", made)
    return made


def test_a_curve_foresees_what_takes_too_long():
    curve = timing.Curve({10: 0.01, 100: 1.0})
    assert curve.expected(1000) == pytest.approx(100.0)
    assert curve.extend(1000, lambda: pytest.fail("was run")) == "–"
    assert curve.reason == "not run at 1,000, where 100 s are expected"
    assert timing.Curve({10: 1.0, 100: 1.0}).expected(1000) == pytest.approx(10.0)
    assert timing.Curve().expected(7) == 0


def test_a_refusal_ends_a_curve():
    def refuse():
        raise MemoryError("too large")

    curve = timing.Curve()
    assert curve.extend(5, refuse) == curve.extend(6, lambda: None) == "–"
    assert curve.reason == "refused: too large"
    assert curve.times == {}


def test_a_scaled_time_is_scaled_but_waited_for_as_it_is(clock):
    curve = timing.Curve({1: 100.0})
    curve.extend(2, lambda: None, scale=1000)
    assert curve.times[2] == 1000 * clock.tick


def test_seconds_is_a_median_of_warm_calls(clock):
    calls = iter([0.5, 0.25, 0.75, 0.5])
    assert timing.seconds(lambda: clock.work(next(calls)), patience=0.1) == 0.5 + clock.tick


def test_growth_is_an_exponent_and_durations_have_units():
    assert timing.growth({n: n**1.5 for n in (1, 10, 30, 100)}) == pytest.approx(1.5)
    assert [timing.duration(x) for x in (1.2345, 0.012, 3.21e-5)] == ["1.23 s", "12 ms", "32.1 µs"]


@pytest.mark.usefixtures("clock")
def test_a_small_run_measures_every_contender(tmp_path):
    curves, section = speed.time_by_n((100, 200))
    names = [c.name for c in peers.all_contenders()]
    assert {"tilted", "dp", "fft", "MC", "Alg. 3", "Alg. 4", "SciPy", "bincount"} <= set(names)
    assert list(curves) == names
    assert all(set(curve.times) == {100, 200} for curve in curves.values())
    assert section.text.splitlines()[0].split(" | ")[1].strip() == names[0]
    speed.draw_times(curves, tmp_path / "time.png", peers.all_contenders())
    assert (tmp_path / "time.png").stat().st_size > 10_000


def test_contenders_that_disagree_are_not_timed():
    wrong = peers.Contender("wrong", lambda *_: 0.5, "", exact=True)
    u, v = np.array([3, 2, 4]), np.array([1, 2, 3])
    speed.agree([*peers.ours("dp"), *peers.from_the_paper()], u, v)
    speed.agree([wrong], u, v)
    with pytest.raises(SystemExit, match="disagree"):
        speed.agree([*peers.ours("dp"), wrong], np.append(u, 9), np.append(v, 0))


def test_sampling_peers_sample_the_same_p():
    """Within five standard errors of the exact one."""
    u, v = table_1(200, np.random.default_rng(3))
    p = pt.exact_perm_test(u, v).pvalue
    for found in (peers.coin_flips(u, v), peers.scipy_test(u, v).pvalue):
        assert abs(found - p) < 5 * sqrt(p * (1 - p) / peers.RESAMPLES)


@pytest.mark.usefixtures("clock")
def test_f1_is_measured_beside_four_dimensions(tmp_path):
    curves, section = f1_speed.time_by_n((20, 30, 200))
    columns = f1_speed.contenders()
    assert list(curves) == [c.name for c in columns]
    sizes = [len(curve.times) for curve in curves.values()]
    assert sizes == [3, 3, 2, 2, 3]
    assert "- Alg. 5: not tried above N = 130" in section.text
    assert section.text.count("as printed it loses no tie") == 2
    speed.draw_times(curves, tmp_path / "time.png", columns, "Time")
    assert (tmp_path / "time.png").stat().st_size > 10_000
    found = f1_speed.ratios(curves, 0.1, 200)
    assert len(found) == 4
    assert found["F1 / Alg. 5, N = 30"] == curves["F1"].times[30] / curves["Alg. 5"].times[30]


def test_a_different_p_of_algorithm_5_stops_the_run(monkeypatch):
    monkeypatch.setattr(paper_algorithm_5, "f1_gap_with_ties", lambda *_: 1.0)
    with pytest.raises(SystemExit, match="disagree at N = 20"):
        f1_speed.agreement([20])


def test_f1_is_measured_with_few_and_many_spans(clock):
    section = f1_speed.time_by_rate((1.0, 3.0), 100)
    assert section.data["F1"]["times"] == {1.0: clock.tick, 3.0: clock.tick}
    assert "N = 100 sentences" in section.text


def test_memory_of_f1_is_measured_and_limited(monkeypatch):
    section = f1_speed.memory((30, 1000))
    assert section.failures == []
    assert section.data["four"] > 2 * 8 * 10**5  # two arrays of the cells of four dimensions
    monkeypatch.setattr(fresh, "peak", lambda *_, **__: (2e6, 1e6))
    assert len(f1_speed.memory((30, 40), limit=1e6).failures) == 1


# ---- the report --------------------------------------------------------------------------------


def test_a_table_is_markdown_and_lines_up():
    lines = tables.table(["N", "time"], [["10", "1 ms"], ["1,000", "12.5 ms"]]).splitlines()
    assert lines[1] == "| :---- | ------: |"
    assert len({len(line) for line in lines}) == 1


def test_slower_methods_are_named():
    assert command.compare({"dp": 0.1, "fft": 0.01}, {"dp": 0.1, "fft": 0.01}) == []
    (line,) = command.compare({"dp": 0.1, "fft": 0.02}, {"dp": 0.1, "fft": 0.01})
    assert line == "fft: 0.02, on record 0.01"
    assert command.compare({"dp": 0.1}, {"fft": 0.1}) == [
        "dp: make a new record with --record",
        "fft: make a new record with --record",
    ]


def test_a_fresh_process_is_measured_and_memory_is_limited():
    assert fresh.cold("pass", repeats=1) >= 0
    assert fresh.cold("t -= 500", repeats=1) >= 500
    assert fresh.memory(10**5, limit=1e9).failures == []
    (line,) = fresh.memory(10**5, limit=1.0).failures
    assert "N = 100,000: the scores take 2 MB" in line


HIGH_WATER = """
import numpy as np
from benchmarks.fresh import high_water
before = high_water(reset=True)
np.ones(10**7)
print(before, high_water(), high_water(reset=True))
"""


def test_the_high_water_mark_sees_an_array_and_forgets_it():
    before, peak, after = fresh.run(HIGH_WATER)
    if not before:
        pytest.skip("only Linux tells how much memory a process has held")
    assert 60e6 < peak - before < 200e6
    assert after < before + 60e6


@pytest.mark.usefixtures("clock")
def test_the_command_writes_a_report(tmp_path, monkeypatch, capsys):
    """Of fewer and smaller cases than `--quick` has."""
    small = {"entries": (7,), "large": (10**3,), "f1_entries": (6,), "f1_large": (10**3,)}
    small |= {"sizes": (50, 200), "gaps": (1,), "reference": 200, "f1_sizes": (20, 200)}
    small |= {"rows": 200, "power": (100, 2, 50)}
    monkeypatch.setattr(command, "QUICK", replace(command.QUICK, **small))
    monkeypatch.setattr(fresh, "startup", lambda: tables.Section("Fresh process", "", {}))
    monkeypatch.setattr(fresh, "peak", lambda *_, **__: (1e6, 1e6))  # processes of their own
    assert command.main(["--quick"], tmp_path) == 0
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"report.md", "report.json", "error.png", "time.png", "time-f1.png"}
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert all(f"## {title}" in report for title in data)
    assert {
        "Accuracy",
        "Accuracy at large N",
        "Time by N",
        "Time by G",
        "Monte Carlo",
        "Memory",
        "F1: accuracy",
        "F1: accuracy at large N",
        "F1: time by N",
        "F1: time by number of spans",
        "F1: memory",
        "Ratios",
    } < set(data)
    assert "every bound holds" in capsys.readouterr().out


def test_the_record_is_of_a_full_run():
    with pytest.raises(SystemExit):
        command.main(["--quick", "--record"])


# ---- calibration -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", calibration.KINDS, ids=lambda kind: kind.name)
def test_simulated_differences_are_symmetric(kind):
    """As many positive ones as negative ones, and as large: within five standard errors."""
    u, v = kind.draw((2000, kind.n), np.random.default_rng(0))
    d = (u - v).clip(-100, 100)
    assert abs(d.mean()) < 5 * d.std() / sqrt(d.size)
    assert abs(np.sign(d).mean()) < 5 / sqrt(d.size)


@pytest.mark.parametrize("name", calibration.SHAPES)
def test_differences_of_all_shapes_have_the_mean_that_is_tested(name):
    u, v = calibration.SHAPES[name]((1, 200_000), np.random.default_rng(0))
    assert abs((u - v).mean()) < 5 * (u - v).std() / sqrt(u.size)


def test_rare_gains_are_missed_as_often_as_they_do_not_occur():
    row = calibration.skewed("+49 in 2 %, else -1", 50, 400, np.random.default_rng(0))
    assert row["coverage"] == pytest.approx(1 - 0.98**50, abs=0.08)
    assert row["warned"] == pytest.approx(row["coverage"], abs=0.02)
    row = calibration.skewed("lognormal", 20, 1000, np.random.default_rng(0))
    assert row["coverage"] == pytest.approx(0.87, abs=0.035)  # as the warning says
    assert row["warned"] > 0.6


def test_each_row_is_tested():
    u, v = calibration.counts((3, 9), np.random.default_rng(0))
    expected = [float(naive.pvalue(a, b)) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
    np.testing.assert_allclose(calibration.pvalues(u, v), expected, rtol=1e-12)


def test_size_and_coverage_are_as_they_should_be(tmp_path):
    assert calibration.main(["--sets", "40"], tmp_path) == 0
    data = json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8"))
    assert [row["kind"] for row in data["rows"]] == [kind.name for kind in calibration.KINDS]
    assert len(data["shapes"]) == len(calibration.SHAPES) * len(calibration.SIZES)
    assert "| small counts " in (tmp_path / "calibration.md").read_text(encoding="utf-8")


def test_a_test_that_rejects_too_often_is_noticed(monkeypatch):
    monkeypatch.setattr(calibration, "intervals", lambda u, _: ((9.0, 9.5) for _ in u))
    biased = calibration.Kind(
        "biased", 20, lambda shape, rng: (rng.poisson(4, shape), rng.poisson(3, shape))
    )
    size, coverage = calibration.run(300, [biased], sizes=()).failures
    assert size.startswith("size 0.")
    assert coverage.startswith("coverage 0.0000, less than 0.95 (biased, N = 20, 300 data sets)")


def test_pairs_make_the_bayes_test_as_sure_as_it_should_be(tmp_path, monkeypatch):
    found = bayes.run(60)
    assert found.failures == []
    spreads = {row["kind"]: [] for row in found.data["rows"]}
    for row in found.data["rows"]:
        spreads[row["kind"]].append(row["spread"])
    for kind in ("hold-out set, equal", "3 x 2 BCV, equal"):
        assert spreads[kind][0] < 0.25 < spreads[kind][1]
    monkeypatch.setattr(bayes, "probabilities", lambda _: (0.5, 0.99, 0.5))
    assert bayes.main(["--sets", "9"], tmp_path) == 1
    assert "are sure in 100.0%" in bayes.run(9).failures[0]


def test_leaderboards_err_as_seldom_as_they_should():
    names = "equal, half right", "half better, tokens"
    kinds = [kind for kind in familywise.KINDS if kind.name in names]
    few = familywise.run(60, kinds=kinds)
    assert few.failures == []
    assert [row["kind"] for row in few.data["rows"]] == [*names]


def test_a_correction_that_errs_too_often_is_noticed(monkeypatch):
    monkeypatch.setattr(familywise, "holm", lambda p: p <= familywise.ALPHA)  # none at all
    (kind,) = (kind for kind in familywise.KINDS if kind.name == "equal, half right")
    assert familywise.run(60, kinds=[kind]).failures
