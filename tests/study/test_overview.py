"""An overview says what the parts of the package say, and nothing that they do not."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path

import numpy as np
import pytest

import permtest as pt
from permtest import Pairs, exact_perm_test
from permtest.alternatives import compare_all, mcnemar
from permtest.study import effect_sizes, exact_power, exact_power_n, overview, power_t, sample_size
from permtest.study.document import legible, tex
from permtest.study.overview import MANY, OF_ORDER, SLOW, item_scores
from permtest.study.sections import citation

NEW, OLD = [9, 7, 8, 6, 5, 9, 4, 8, 7, 7, 6, 9], [7, 7, 5, 6, 3, 5, 5, 6, 6, 5, 7, 8]
RNG = np.random.default_rng(5)
GOLD = RNG.poisson(1.5, 60)
COUNTS = ("tp", "fp", "fn")


def spans(share: float) -> np.ndarray:
    hits = RNG.binomial(GOLD, share)
    return np.stack([hits, RNG.poisson(0.3, GOLD.size), GOLD - hits], axis=1)


SCORES = Pairs.of(NEW, OLD, ("new", "old"))
SPANS = Pairs.of_counts(spans(0.9), spans(0.7), [COUNTS], ("new", "old"))
BITS = Pairs.of(RNG.integers(0, 2, 80), RNG.integers(0, 2, 80), ("new", "old"))
DOCUMENTS = tuple(f"d{i // 4}" for i in range(60))


# ---- the exact test ------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_exact_test_and_its_interval(alternative):
    found = overview(SCORES, alternative=alternative, alpha=0.1)
    exact = exact_perm_test(SCORES, statistic="mean", alternative=alternative)
    assert found.exact == exact
    assert found.interval == exact.confidence_interval(0.9)
    assert found.scores == (np.mean(NEW), np.mean(OLD))
    assert found.difference == pytest.approx(np.mean(NEW) - np.mean(OLD))
    assert found.rejected is bool(exact.pvalue <= 0.1)


def test_intervals_are_on_the_scale_of_the_statistic():
    mean, total = overview(SCORES), overview(SCORES, statistic="accuracy")
    assert total.difference == 12 * mean.difference
    assert total.interval == pytest.approx([12 * end for end in mean.interval])
    grouped = replace(SCORES, clusters=tuple("aabbccddeeff"))
    sums = exact_perm_test(
        np.add.reduceat(NEW, range(0, 12, 2)), np.add.reduceat(OLD, range(0, 12, 2))
    )
    assert overview(grouped).exact.pvalue == sums.pvalue
    assert overview(grouped).interval == pytest.approx(
        [end / 2 for end in sums.confidence_interval()]
    )
    assert overview(grouped, statistic="sum").interval == pytest.approx(
        [end * 6 for end in sums.confidence_interval()]
    )


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_shares_have_the_score_interval(alternative):
    """That of shifts is a point where no item differs."""
    found = overview(BITS, alternative=alternative, alpha=0.1)
    b, c = (int(x.sum()) for x in (BITS.u > BITS.v, BITS.u < BITS.v))
    expected = mcnemar(b, c, n=80, alternative=alternative).confidence_interval(0.9)
    assert found.interval == expected
    assert overview(BITS, alternative=alternative, statistic="sum", alpha=0.1).interval == (
        pytest.approx([80 * end for end in expected])
    )
    assert "Tango's score interval for paired shares" in str(found)
    same = overview(replace(BITS, v=BITS.u)).interval
    assert same.low < 0 < same.high
    grouped = replace(BITS, clusters=tuple(f"d{i // 2}" for i in range(80)))
    assert "shifts" in overview(grouped).interval_about


def test_a_doubt_about_the_interval_stands_next_to_it():
    skewed = overview(Pairs.of([50] + [0] * 29, [1] * 30))
    assert "look skewed" in skewed.interval.warning
    assert "look skewed: g1 = 5.2" in str(skewed)
    assert skewed.answers["exact"].interval.warning == skewed.interval.warning
    assert skewed.to_dict()["interval"]["warning"] == skewed.interval.warning
    assert "look skewed" not in str(overview(Pairs.of([3, 5, 4, 6, 2, 4], [2, 3, 4, 3, 1, 5])))


def test_counts_are_compared_by_their_measure():
    found = overview(SPANS, statistic="f1")
    exact = exact_perm_test(SPANS, statistic="f1")
    row = compare_all(SPANS, statistic="f1", rng=np.random.default_rng([0, 1]))["paired_bootstrap"]
    assert (found.exact.pvalue, found.difference) == (exact.pvalue, exact.statistic)
    assert found.interval == row.interval
    assert found.interval_about == "percentiles of 10,000 paired bootstrap resamples"
    assert found.answers["paired_bootstrap"].result.pvalue == row.result.pvalue
    assert [answer.test for answer in found.answers] == ["exact", "paired_bootstrap"]
    assert len(overview(SPANS, statistic="recall").answers) == 5


def test_clusters_are_swapped_as_wholes():
    grouped = replace(SPANS, clusters=DOCUMENTS)
    found = overview(grouped, statistic="f1")
    assert found.exact.pvalue == exact_perm_test(SPANS, statistic="f1", clusters=DOCUMENTS).pvalue
    assert (len(found.units), found.unit, found.power.n) == (15, "clusters", 15)
    assert "On 60 items in 15 clusters" in found.sentence()
    assert "that swaps whole clusters" in found.sentence()
    assert found.answers["exact"].result.pvalue == found.exact.pvalue


def test_bounds_of_p_on_both_sides_of_the_level_decide_nothing():
    rng = np.random.default_rng(1)
    found = overview(Pairs.of(rng.normal(0.4, 1, 45), rng.normal(0, 1, 45)))
    assert found.exact.method == "bracket"
    low, high = found.exact.pvalue_interval()
    for alpha, decision in (((low + high) / 2, None), (high * 1.01, True), (low * 0.99, False)):
        other = replace(found, alpha=alpha)
        vars(other).update(exact=found.exact, interval=None)
        assert other.rejected is decision
        assert f"p {found.exact.bracket_text()}" in other.sentence()
        assert ("does not decide on the hyp" in other.sentence()) is (decision is None)


# ---- items ---------------------------------------------------------------------------------------


def f1(rows) -> Fraction:
    tp, fp, fn = (sum(int(row[i]) for row in rows) for i in range(3))
    return Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else Fraction(0)


def test_what_items_add_is_half_of_what_their_exchange_takes_away():
    a, b = SPANS.u.tolist(), SPANS.v.tolist()
    scores = item_scores(SPANS, pt.STATISTICS["f1"])
    seen = f1(a) - f1(b)
    wins = losses = 0
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        other = f1([*a[:i], y, *a[i + 1 :]]) - f1([*b[:i], x, *b[i + 1 :]])
        share = (seen - other) / 2
        assert scores.worth[i] / 60 == pytest.approx(float(share), abs=1e-14)
        own = f1([x]) - f1([y]) if sum(x) and sum(y) else share
        assert np.isnan(scores.a[i]) == (sum(x) == 0)
        wins, losses = wins + (own > 0), losses + (own < 0)
    found = overview(SPANS, statistic="f1")
    assert (found.record.wins, found.record.losses) == (wins, losses)
    assert found.record.ties == 60 - wins - losses
    assert scores.worth.mean() == pytest.approx(float(seen), rel=0.02)
    assert "0 / 0" in found.record.rule


@pytest.mark.parametrize("name", ["mcc", "bleu", "wer", "macro_f1", "balanced_accuracy"])
def test_contributions_add_up_for_other_measures(name):
    entry, rng = pt.STATISTICS[name], np.random.default_rng(2)
    if name == "bleu":
        totals = rng.integers(4, 9, (300, 1)) + np.array([[3, 2, 1, 0]])
        tables = [
            np.hstack([rng.binomial(totals, share), totals, totals[:, :1], totals[:, :1]])
            for share in (0.7, 0.65)
        ]
    elif name == "wer":
        length = rng.integers(1, 20, 300)
        tables = [np.stack([rng.binomial(length, x), length], axis=1) for x in (0.1, 0.12)]
    else:
        shape = (300, 3, 3) if name == "macro_f1" else (300, 4)
        tables = [rng.poisson(2, shape), rng.poisson(2.2, shape)]
    pairs = Pairs.of_counts(*tables, [entry.columns], classes=name == "macro_f1")
    scores = item_scores(pairs, entry)
    seen = float(exact_perm_test(pairs, statistic=entry, rng=0).statistic)
    assert scores.worth.mean() == pytest.approx(seen, abs=3e-4)
    assert np.isin(scores.lead, (-1, 0, 1)).all()


def test_items_in_descending_order_by_their_ids():
    pairs = replace(SCORES, ids=tuple(f"q{i}" for i in range(12)))
    found = overview(pairs)
    assert [(item.id, item.difference) for item in found.most_different[:3]] == [
        ("q5", 4.0),
        ("q2", 3.0),
        ("q0", 2.0),
    ]
    assert overview(SCORES).most_different[0].id == "item 6"
    assert len(overview(SCORES).most_different) == 10  # those that differ
    assert (found.record.wins, found.record.ties, found.record.losses) == (8, 2, 2)


# ---- around the test -----------------------------------------------------------------------------


def test_parts_wait_until_they_are_asked_for():
    found = overview(SCORES)
    assert "exact" in vars(found)
    parts = {"answers", "effects", "power", "items"}
    assert parts.isdisjoint(vars(found))
    assert found["effects"].tables
    assert parts & set(vars(found)) == {"effects"}
    assert found.sections
    assert parts <= set(vars(found))


def test_other_tests_are_those_of_compare_all():
    found = overview(BITS)
    table = compare_all(BITS, rng=np.random.default_rng([0, 1]))
    assert [x.test for x in found.answers] == [x.test for x in table if x.test not in OF_ORDER]
    assert all(x.result.pvalue == table[x.test].result.pvalue for x in found.answers)
    assert "Tests of ranks and medians are left out" in found["answers"].sentence
    chosen = overview(BITS, tests=["sign", "mcnemar"])
    assert [a.test for a in chosen.answers] == ["exact", "sign", "mcnemar"]


def test_effects_and_power_are_those_of_the_study():
    found, b, c = overview(BITS), np.mean(BITS.u > BITS.v), np.mean(BITS.u < BITS.v)
    assert [effect.name for effect in found.effects] == ["risk_difference", "odds_ratio", "cohen_h"]
    assert found.effects == effect_sizes(BITS)
    assert found.power.power == exact_power(b, c, 80)
    assert found.power.needed == exact_power_n(b, c, 0.8)
    points = overview(SCORES, alpha=0.1, alternative="greater")
    d = np.subtract(NEW, OLD)
    how = {"alpha": 0.1, "alternative": "greater"}
    assert points.power.power == pytest.approx(power_t(12, d.mean(), d.std(ddof=1), **how))
    assert points.power.needed == sample_size(d.mean(), d.std(ddof=1), **how)
    assert power_t(12, points.power.detectable, d.std(ddof=1), **how) == pytest.approx(0.8)


def test_power_of_counts_is_near_that_of_resampled_data():
    found, rng = overview(SPANS, statistic="f1"), np.random.default_rng(0)
    rejected = 0
    for _ in range(300):
        chosen = rng.integers(0, 60, 60)
        again = replace(SPANS, u=SPANS.u[chosen], v=SPANS.v[chosen])
        rejected += exact_perm_test(again, statistic="f1").pvalue <= 0.05
    assert found.power.power == pytest.approx(rejected / 300, abs=0.08)


def test_reasons_for_what_is_missing():
    assert set(overview(SPANS, statistic="f1").problems) == {"effects"}
    one = overview(Pairs.of([2], [0]))
    assert set(one.problems) == {"finding", "power"}
    assert one.interval is None
    assert one.power is None
    less = overview(SCORES, alternative="less")
    assert less.power.needed is None
    assert "wrong sign" in less["power"].problem
    assert one.problems == one.problems  # noted once


SMALL = {
    "ratio": (
        Pairs.of_counts(
            [[2, 1, 0], [1, 0, 3], [2, 2, 0]], [[1, 1, 1], [1, 0, 3], [0, 2, 2]], [COUNTS]
        ),
        "f1",
    ),
    "bits": (Pairs.of([1, 1, 1, 1, 0, 0, 1], [0, 0, 1, 0, 1, 1, 0]), "mean"),
    "sum of bits": (Pairs.of([1, 1, 1, 1, 0, 0, 1], [0, 0, 1, 0, 1, 1, 0]), "accuracy"),
    "clusters": (
        replace(Pairs.of([1, 0, 0.5, 1, 1, 0], [0, 0, 1, 0, 0, 0.5]), clusters=tuple("aabbcc")),
        "mean",
    ),
    "two clusters": (replace(Pairs.of([1, 0, 1, 1], [0, 0, 0, 0]), clusters=tuple("abbb")), "sum"),
}


@pytest.mark.parametrize(("pairs", "statistic"), SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_no_difference_is_planned_for_that_cannot_be(pairs, statistic, alternative, alpha):
    found = overview(pairs, statistic=statistic, alternative=alternative, alpha=alpha)
    plan, most = found.power, len(pairs) if statistic in ("sum", "accuracy") else 1
    if plan.detectable is None:
        assert found["power"].problem
    else:
        assert 0 <= abs(plan.detectable * found.per_unit) <= most


def test_why_no_difference_can_be_found():
    bits = overview(SMALL["bits"][0])
    assert bits.power.detectable is None
    assert "no difference is so large that 7 items show it in 80%" in bits["power"].problem
    assert "smallest difference detectable" not in str(bits)
    a, b = [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0], [0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
    pairs = replace(Pairs.of(a, b), clusters=tuple("aabbccddeeff"))
    assert 0.5 < overview(pairs).power.detectable < 1  # of an item
    a = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0])
    worse = overview(replace(pairs, u=a, v=1 - a))
    assert worse.power.detectable is None
    assert "large that 6 clusters show it" in worse["power"].problem
    wide = overview(Pairs.of([9, 1, 8, 0, 9, 2, 5], [1, 8, 0, 9, 1, 1, 4]))
    assert wide.power.detectable > 1  # of scores that are not between 0 and 1


@pytest.mark.parametrize(("alternative", "least"), [("two-sided", 6), ("greater", 5)])
def test_no_power_where_no_p_can_reject(alternative, least):
    a, b = [10, 11, 12, 10, 11, 10], [0, 0.1, 0.3, 0, 0.2, 0.3]
    for n in range(2, 7):
        found = overview(Pairs.of(a[:n], b[:n]), alternative=alternative)
        assert (found.exact.pvalue <= 0.05) is (n >= least)
        assert (found.power.power == 0) is (n < least)
        assert (found.power.detectable is None) is (n < least)
        assert found.power.needed == least
        reason = f"no p of {n} items is 0.05 or less, which takes {least}"
        assert (reason in found["power"].problem) is (n < least)


def test_tests_that_take_long_are_left_to_be_asked_for(monkeypatch):
    monkeypatch.setattr(sys.modules["permtest.study.overview"], "MANY", 3)
    found = overview(SCORES)
    assert not set(SLOW) & {answer.test for answer in found.answers}
    assert all(test in found["answers"].problem for test in SLOW)
    assert "paired t-test" in found.interval_about
    assert found.interval == compare_all(SCORES)["paired_t"].interval
    asked = overview(SCORES, tests=["wilcoxon"])
    assert [answer.test for answer in asked.answers] == ["exact", "wilcoxon"]
    assert MANY > 3


def test_a_seed_repeats_what_is_sampled():
    rng = np.random.default_rng(3)
    tables = [rng.integers(0, 5, (40, 3, 3)) for _ in "ab"]
    pairs = Pairs.of_counts(*tables, [COUNTS], classes=True)
    first, again, other = (overview(pairs, statistic="macro_f1", rng=seed) for seed in (1, 1, 2))
    assert first.exact.n_samples == 100_000
    assert "with 100,000 random labellings" in first.sentence()
    assert first.to_json() == again.to_json()
    assert first.exact.pvalue != other.exact.pvalue
    assert overview(SCORES, rng=np.random.default_rng(0)).seed != overview(SCORES, rng=None).seed


# ---- what it says --------------------------------------------------------------------------------


def test_the_sentence():
    assert overview(SCORES).sentence() == (
        "On 12 items, new scores 7.083 and old 5.833 (mean; higher taken as better), a "
        "difference of +1.25 (95% interval 0.25 to 2.25, all shifts that the exact test does not "
        "reject); the exact two-sided paired-permutation test rejects the hypothesis of equal "
        "systems at the level 0.05 "
        f"(p = 0.0293; permtest {pt.__version__})."
    )
    weak = overview(BITS, alternative="greater")
    assert "does not reject the hypothesis of equal systems at the level 0.05" in weak.sentence()
    assert "against the alternative that new scores higher than old" in weak.sentence()


@pytest.mark.parametrize(
    ("pairs", "statistic"),
    [
        (SCORES, "mean"),
        (SCORES, "accuracy"),
        (BITS, "mean"),
        (SPANS, "f1"),
        (SPANS, "precision"),
        (replace(SPANS, clusters=DOCUMENTS), "f1"),
        (Pairs.of([1], [1]), "mean"),
    ],
)
def test_all_forms_have_the_numbers(pairs, statistic):
    found = overview(pairs, statistic=statistic)
    text, plain = str(found), json.loads(found.to_json())
    assert plain == json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["exact"]["pvalue"] == found.exact.pvalue
    assert found.exact.pvalue_text(10) in text
    assert found.exact.pvalue_text() in found.to_latex().replace(r" \times 10^", "e")
    keys = ["finding", "test", "items", "answers", "effects", "power", "data", "cite"]
    counts = ["measures"] * bool(pairs.columns)
    assert [part.key for part in found.sections] == [*keys[:4], *counts, *keys[4:]]
    assert escape(found.sentence()) in found._repr_html_()
    for words in ("proves", "proven", "are equal at"):
        assert words not in text


@pytest.mark.parametrize(("scores", "way"), [((NEW, OLD), "worse"), ((OLD, NEW), "better")])
def test_who_is_better_where_lower_is_better(scores, way):
    pairs = Pairs.of(*scores, ("x", "y"))
    said = overview(replace(pairs, score=pt.Score.of("loss"))).sentence()
    x, y = ("7.083", "5.833") if way == "worse" else ("5.833", "7.083")
    assert f"x is 1.25 {way} than y (mean loss {x} against {y}; lower is better" in said


def test_a_section_of_power_says_by_which_method():
    """The power of the exact test is the number that stands beside it among the other tests."""
    skewed = overview(Pairs.of([3, 0, 0, 9, 1, 2, 0, 5, 0, 1], [0] * 10, ("new", "old")))
    (what, value, method), *rest = skewed["power"].tables[0].rows
    assert what == "power with 10 items"
    assert value == f"{skewed.recommendation.rates['exact'][1]:.3f}"
    assert "exact test of 1,000 samples" in method
    assert all("paired t test" in row[2] for row in rest)
    assert "exact" in overview(BITS)["power"].tables[0].rows[0][2]
    same = overview(Pairs.of([2, 2, 2], [1, 1, 1]))["power"]
    assert (same.sentence, same.limits, same.tables) == ("", "", ())
    assert "all differences are equal" in same.problem


def test_probabilities_are_not_called_cautious_for_clusters():
    alone, grouped = (
        overview(x, statistic="f1")["measures"].limits
        for x in (SPANS, replace(SPANS, clusters=DOCUMENTS))
    )
    assert "cautious" in alone
    assert "cautious" not in grouped
    assert "too sure where decisions within a cluster are alike" in grouped


def test_records_that_say_nothing_are_left_out():
    source = {"a": None, "b": " ", "c": ["none", None], "score": "score", "file": "x.csv"}
    table = overview(replace(SCORES, source=source))["data"].tables[0]
    assert table.rows == (("file", "x.csv"),)


def test_what_p_is_the_share_of():
    """In each direction, and however it is known."""
    words = {"two-sided": "at least as far from zero", "greater": "at least as large"}
    for alternative in ("two-sided", "greater", "less"):
        done = overview(SCORES, alternative=alternative)["test"].sentence
        way = words.get(alternative, "at most as large")
        assert f"{way} as the one seen, computed exactly." in done
    rng = np.random.default_rng(1)
    bounds = overview(Pairs.of(rng.normal(0.4, 1, 45), rng.normal(0, 1, 45)))
    assert bounds.exact.method == "bracket"
    assert "enclosed in bounds." in bounds["test"].sentence
    tables = [rng.integers(0, 5, (40, 3, 3)) for _ in "ab"]
    sampled = overview(Pairs.of_counts(*tables, [COUNTS], classes=True), statistic="macro_f1")
    assert "estimated by sampling." in sampled["test"].sentence


def test_intervals_of_another_scale_are_said_to_be():
    def told(pairs, statistic):
        part = overview(pairs, statistic=statistic)["answers"]
        text = part.sentence.partition("Their intervals are ")[2]
        return re.split(r" (?:All|\d+ of|Level) ", text)[0], part.tables[0].head[3]

    grouped = replace(SCORES, clusters=tuple("aabbccddeeff"))
    scale = "per item; that of the difference is of the sum."
    assert told(SCORES, "mean") == ("", "95% interval")
    assert told(SCORES, "accuracy") == (scale, "95% interval")
    assert told(grouped, "mean") == ("", "95% interval, per item")
    assert told(grouped, "sum") == (scale, "95% interval, per item")
    for statistic in ("mean", "sum"):  # all tests of the mean estimate what the headline says
        found = overview(grouped, statistic=statistic)
        estimate = found.answers["paired_t"].result.estimate
        assert estimate * found.per_unit == pytest.approx(found.difference)
        assert found.power.detectable == pytest.approx(overview(grouped).power.detectable)


def test_few_units_are_a_doubt_about_a_resampled_interval():
    few = overview(replace(SPANS, u=SPANS.u[:8], v=SPANS.v[:8]), statistic="f1")
    assert "representative sample: not met (8 items)" in few.interval.warning
    assert few.interval.warning in few.sentence()
    grouped = replace(SPANS, clusters=tuple(f"d{i // 15}" for i in range(60)))
    assert "not met (4 clusters)" in str(overview(grouped, statistic="f1")["finding"])


def test_a_doubt_where_the_systems_had_other_things_to_find():
    v = SPANS.v.copy()
    v[3, 2] += 2
    other = replace(SPANS, v=v, ids=tuple(f"q\n{i}" for i in range(60)))
    assert overview(other, statistic="f1")["data"].sentence.endswith(
        "Doubt: tp + fn differs between the systems on 1 of 60 items, first for q 3 "
        f"({GOLD[3]} and {GOLD[3] + 2}); are they the same items?"
    )
    for pairs, statistic in ((SPANS, "f1"), (SCORES, "mean")):
        assert "Doubt" not in str(overview(pairs, statistic=statistic))


def test_nouns_agree_with_their_numbers():
    one = Pairs.of_counts([[1, 0, 1]], [[0, 1, 1]], [COUNTS])
    assert "1 items" not in str(overview(one, statistic="f1"))
    few = overview(replace(Pairs.of([3, 2, 1], [0, 1, 0]), clusters=tuple("aab")), alpha=0.01)
    assert "there are too few clusters to exclude any difference" in few["finding"].problem
    assert "few items" not in str(few)


def test_infinite_ends_and_foreign_values_are_strict_json():
    source = {"nan": float("nan"), "path": Path("x"), 3: (1, np.int64(2))}
    found = overview(replace(SCORES, source=source), alternative="greater")
    plain = json.loads(found.to_json())
    assert plain["interval"]["high"] is None
    assert plain["source"] == {"nan": None, "path": "x", "3": [1, 2]}


def test_a_record_of_nothing_takes_no_row():
    source = {"file": "a.csv", "gold": None, "dropped": (0, 0), "ids": ((), []), "lacking": {}}
    found = overview(replace(SCORES, source=source))
    assert found["data"].tables[0].rows == (("file", "a.csv"),)
    assert json.loads(found.to_json())["source"]["dropped"] == [0, 0]


def test_the_citation_is_that_of_the_project():
    root = Path(__file__).resolve().parents[2]
    paper = (root / "CITATION.cff").read_text("utf-8").split("  - type:")[1]
    title = re.search(r"title: (.*)", paper)[1]
    names = re.findall(r"family-names: (\w+)\n +given-names: (\w+)", paper)
    pages = re.findall(r"(?:start|end): (\d+)", paper)
    text, entry = citation(), citation("bibtex")
    for form in (text, entry):
        assert title in form
        assert all(page in form for page in pages)
        assert pt.__version__ in form
    assert all(f"{given} {family}" in text for family, given in names)
    assert " and ".join(f"{family}, {given}" for family, given in names) in entry
    assert entry.count("{") == entry.count("}")
    assert overview(SCORES).citation("bibtex") == entry
    with pytest.raises(ValueError, match="style='apa' is not known"):
        citation("apa")


# ---- LaTeX and names -----------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b_*",
    r"\input{/etc/passwd} $x$ 50% #1 {z} ~^ & [x] *",
    "naïve Łódź ß ǻ",
    "中文\u202e\u200fשלום",
    "two\nlines\tand\x00\x1b",
    "e" + "\u0301" * 5,
    "\ud800",
    "x" * 10_000,
    "``?` ''--,,",
]


def plain_tex(text: str) -> str:
    """What remains of LaTeX once its commands, escapes and formulas are taken out."""
    text = re.sub(r"\\\\$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\\[%_&#${}]", "", text).replace("$p$", "p")
    text = re.sub(r"\$[-+\d.,]*(\\times|\\approx|\\le)?( 10\^\{-?\d+\})?\$", "", text)
    return re.sub(r"\\([A-Za-z]+\d*|[`'^~=.\"])", "", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_takes_no_name_for_a_command(name):
    table = overview(Pairs.of(NEW, OLD, (name, "[other]"))).to_latex()
    assert table.isascii()
    assert re.findall(r"^ +(.*) & .* \\\\$", table, re.MULTILINE)[1:3] != []
    body = [line for line in table.splitlines() if not line.startswith("%")]
    rows = [line for line in body if line.endswith(r"\\")]
    assert len(rows) == 7
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)
    assert not any(row.strip().startswith(("[", "*")) for row in rows)
    rest = plain_tex("\n".join(body))
    assert not set(rest) & set('%#_^~\\<>|"$')
    depth = np.cumsum([(c == "{") - (c == "}") for c in rest])
    assert depth.min() >= 0
    assert depth[-1] == 0


def test_letters_that_latex_has():
    assert tex("é ß –") == r"\'{e} \ss{} \textendash{}"
    assert tex("a--b") == "a-{}-b"
    assert tex("-3 to -2, x-3") == "$-$3 to $-$2, x-3"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_one_legible_line(name):
    text = legible(name, 48)
    assert 0 < len(text) <= 48
    assert text.isprintable()
    assert text.encode().decode() == text
    a, b = overview(Pairs.of([1, 2], [2, 1], (f"{name}\n", f"{name}\t"))).names
    assert a != b


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "options", "error", "message"),
    [
        ([1, 2], {}, TypeError, "pairs must be Pairs, not list; permtest.read"),
        (Pairs.of([], []), {}, ValueError, "pairs is empty"),
        (SPANS, {}, ValueError, "'mean' takes one score for each entry, but there are 3"),
        (SCORES, {"statistic": "f1"}, ValueError, "statistic='f1' needs"),
        (SCORES, {"statistic": "f1x"}, ValueError, "statistic='f1x' is not known"),
        (SCORES, {"alternative": "more"}, ValueError, "alternative='more' is not known"),
        (SCORES, {"alpha": 1}, ValueError, r"alpha must lie in \(0, 1\)"),
        (
            SCORES,
            {"tests": ["mcnemar"]},
            ValueError,
            "tests: 'mcnemar' does not apply here",
        ),
        (SCORES, {"tests": "sign"}, TypeError, "tests='sign' must be a list"),
        (SCORES, {"rng": -1}, ValueError, "rng=-1 must not be negative"),
        (SCORES, {"rng": True}, TypeError, "rng must be a seed"),
    ],
)
def test_refusals(pairs, options, error, message):
    with pytest.raises(error, match=message):
        overview(pairs, **options)


def test_a_report_on_clusters_speaks_of_clusters():
    bits = replace(BITS, clusters=tuple(f"d{i // 3}" for i in range(len(BITS))))
    text = str(overview(replace(bits, scale=2)))
    for said in ("independent items", "pairs)", "shares of the items"):
        assert said not in text
    assert "independent clusters" in text
    assert "a difference of shares of the clusters" in text


@pytest.mark.parametrize("higher", [True, False])
def test_items_are_counted_for_the_better_system(higher):
    found = overview(replace(SCORES, score=SCORES.score.stated(higher)))
    first, second = (8, 2) if higher else (2, 8)
    assert f"new better on {first}, old on {second}, equal on 2" in str(found)
    assert found["items"].tables[0].rows[0] == ("new better", f"{first}")
    assert found["items"].data["record"]["wins"] == 8  # which score higher


def test_items_that_are_left_out_are_counted_and_lists_of_them_end_in_dots():
    known = {"left_out": 7, "left_out_ids": list("abcde"), "dropped": 2, "dropped_ids": ["f", "g"]}
    found = overview(replace(SCORES, source={**known, "unmatched": [5, 0]}))
    assert found.sentence().startswith("On 12 items (7 items left out), new scores")
    rows = dict(found["data"].tables[0].rows)
    assert (rows["left_out_ids"], rows["dropped_ids"]) == ("a, b, c, d, e, ...", "f, g")
