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
from permtest.study.overview import SLOW, item_scores

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


def test_counts_are_compared_by_their_measure():
    found = overview(SPANS, statistic="f1")
    exact = exact_perm_test(SPANS, statistic="f1")
    row = compare_all(SPANS, statistic="f1", rng=np.random.default_rng([0, 1]))["paired_bootstrap"]
    assert (found.exact.pvalue, found.difference) == (exact.pvalue, exact.statistic)
    assert found.interval == row.interval
    assert found.interval_about == "percentiles of 10,000 paired bootstrap resamples"
    assert found.answers["paired_bootstrap"].result.pvalue == row.result.pvalue
    assert [answer.test for answer in found.answers] == ["exact", "paired_bootstrap"]
    assert len([*overview(SPANS, statistic="recall").answers]) == 5


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
        assert ("cannot decide the hyp" in other.sentence()) is (decision is None)


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


# ---- around the test -----------------------------------------------------------------------------


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


def test_tests_that_take_long_are_left_to_be_asked_for(monkeypatch):
    monkeypatch.setattr(sys.modules["permtest.study.overview"], "MANY", 3)
    found = overview(SCORES)
    assert not set(SLOW) & {answer.test for answer in found.answers}
    assert all(test in found["answers"].problem for test in SLOW)
    assert "paired t-test" in found.interval_about
    assert found.interval == compare_all(SCORES)["paired_t"].interval
    asked = overview(SCORES, tests=["wilcoxon"])
    assert [answer.test for answer in asked.answers] == ["exact", "wilcoxon"]


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


def test_infinite_ends_and_foreign_values_are_strict_json():
    source = {"nan": float("nan"), "path": Path("x"), 3: (1, np.int64(2))}
    found = overview(replace(SCORES, source=source), alternative="greater")
    plain = json.loads(found.to_json())
    assert plain["interval"]["high"] is None
    assert plain["source"] == {"nan": None, "path": "x", "3": [1, 2]}


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
    """What remains of LaTeX once its commands, escapes, letters and formulas are taken out."""
    text = re.sub(r"\\\\$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\\[%_&#${}]", "", text).replace("$p$", "p")
    text = re.sub(r"\$[-+\d.,]*(\\times|\\approx|\\le)?( 10\^\{-?\d+\})?\$", "", text)
    return re.sub(r"\\([A-Za-z]+\d*|[`'^~=.\"])", "", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_takes_no_name_for_a_command(name):
    table = overview(Pairs.of(NEW, OLD, (name, "[other]"))).to_latex()
    assert all(letter <= "ž" for letter in table)
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


def test_items_that_are_left_out_are_counted_and_listed():
    known = {"left_out": 7, "left_out_ids": list("abcde"), "dropped": 2, "dropped_ids": ["f", "g"]}
    found = overview(replace(SCORES, source={**known, "unmatched": [5, 0]}))
    assert found.sentence().startswith("On 12 items (7 items left out), new scores")
    rows = dict(found["data"].tables[0].rows)
    assert (rows["left_out_ids"], rows["dropped_ids"]) == ("a, b, c, d, e, ...", "f, g")
