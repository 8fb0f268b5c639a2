"""Overviews and studies say what the parts of the package say, and nothing that they do not."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path

import numpy as np
import pytest
import yaml

import permtest as pt
from permtest import Pairs, exact_perm_test
from permtest.alternatives import bayes_test, compare_all, mcnemar
from permtest.alternatives.registry import OF_COUNTS, TITLES
from permtest.pairs import per_item
from permtest.study import StudyConfig, evaluation_units, overview, run_study
from permtest.study.overview import OF_ORDER, SLOW, item_scores

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
CLUSTERED = replace(SCORES, clusters=tuple("aabbccddeeff"), ids=tuple("abcdefghijkl"))


def config(**options) -> StudyConfig:
    """A quick one."""
    quick = {"power_experiments": 20, "power_sizes": 2, "K": 99}
    return StudyConfig.from_dict(quick | options)


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
    a, b = (np.add.reduceat(x, range(0, 12, 2)) for x in (NEW, OLD))
    sums = exact_perm_test(a, b)
    for statistic, factor in (("mean", 0.5), ("sum", 6)):
        found = overview(CLUSTERED, statistic=statistic)
        assert found.exact.pvalue == sums.pvalue
        assert found.interval == pytest.approx([end * factor for end in sums.confidence_interval()])


def test_clusters_of_different_sizes_have_one_interval():
    """Every pair is shifted, as by the exact test; not the sums over the mean size of clusters."""
    uneven = replace(SCORES, clusters=tuple("aabbbcddddee"))
    found = overview(uneven, alpha=0.2)
    assert found.interval == exact_perm_test(uneven).confidence_interval(0.8)
    assert found.interval.low <= found.difference <= found.interval.high


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_shares_have_the_score_interval(alternative):
    """That of shifts is a point where no item differs."""
    found = overview(BITS, alternative=alternative, alpha=0.1)
    b, c = (int(x.sum()) for x in (BITS.u > BITS.v, BITS.u < BITS.v))
    expected = mcnemar(b, c, n=80, alternative=alternative).confidence_interval(0.9)
    assert found.interval == expected
    total = overview(BITS, alternative=alternative, statistic="sum", alpha=0.1)
    assert total.interval == pytest.approx([80 * end for end in expected])
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
    recall = overview(SPANS, statistic="recall")
    assert len([*recall.answers]) == 5
    assert recall["finding"].tables[0].head[1:] == (*COUNTS, "recall")


@pytest.mark.parametrize("pairs", [SPANS, replace(SPANS, clusters=DOCUMENTS)])
def test_measures_of_the_same_counts_stand_side_by_side(pairs):
    found, units = overview(pairs, statistic="recall", rng=3), per_item(pairs)
    (table,), rows = found["measures"].tables, found.to_dict()["measures"]
    assert list(rows) == ["precision", "recall", "f1"]
    for cells, (name, row) in zip(table.rows, rows.items(), strict=True):
        one = overview(pairs, statistic=name, rng=3)
        few = len(units.u) < 30
        bayes = bayes_test(units.v, units.u, name, weight=1, paired=not few)
        assert row == {
            "scores": [*one.scores],
            "difference": one.difference,
            "pvalue": exact_perm_test(pairs, statistic=name).pvalue,
            "interval": [*one.interval],
            "probability_a_better": bayes.p_h1,
            "paired_probability": None if few else bayes.paired.p_h1,
        }
        assert cells[5:] == (
            one.exact.pvalue_text(),
            bayes.chances()["b"],
            "-" if few else bayes.paired.chances()["b"],
        )


def test_one_item_has_no_paired_probability():
    found = overview(Pairs.of_counts([[2, 1, 0]], [[1, 1, 1]], [COUNTS]), statistic="f1")
    assert found["measures"].tables[0].rows[0][-1] == "-"
    assert found.to_dict()["measures"]["f1"]["paired_probability"] is None


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
    scores, seen, leads = item_scores(SPANS, pt.STATISTICS["f1"]), f1(a) - f1(b), []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        other = f1([*a[:i], y, *a[i + 1 :]]) - f1([*b[:i], x, *b[i + 1 :]])
        share = (seen - other) / 2
        assert scores.worth[i] / 60 == pytest.approx(float(share), abs=1e-14)
        assert np.isnan(scores.a[i]) == (sum(x) == 0)
        own = f1([x]) - f1([y]) if sum(x) and sum(y) else share
        leads.append((own > 0) - (own < 0))
    record = overview(SPANS, statistic="f1").record
    assert record[:3] == tuple(leads.count(side) for side in (1, 0, -1))
    assert scores.worth.mean() == pytest.approx(float(seen), rel=0.02)
    assert "0 / 0" in record.rule


# ---- around the test -----------------------------------------------------------------------------


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
    tables = [np.random.default_rng(seed).integers(0, 5, (40, 3, 3)) for seed in (3, 4)]
    pairs = Pairs.of_counts(*tables, [COUNTS], classes=True)
    first, again, other = (overview(pairs, statistic="macro_f1", rng=seed) for seed in (1, 1, 2))
    assert first.exact.n_samples == 100_000
    assert "with 100,000 random labellings" in first.sentence()
    assert first.to_json() == again.to_json()
    assert first.exact.pvalue != other.exact.pvalue


# ---- studies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [SCORES, BITS])
def test_a_study_says_what_an_overview_says(pairs):
    study, found = run_study(pairs, config=config()), overview(pairs)
    shared = study.parts.keys() & found.parts.keys()
    assert shared > {"finding", "test", "items", "effects", "power"}
    for key in shared - {"answers", "data", "power"}:
        assert str(study[key]) == str(found[key])


@pytest.mark.parametrize("metric", ["mean", "median"])
def test_units_are_tested_in_place_of_items(metric):
    chosen = config(unit_size=5, unit_metric=metric, unit_shuffle=4, unit_remainder="drop")
    found = run_study(NEW, OLD, chosen)
    units = evaluation_units(NEW, OLD, 5, metric=metric, rng=4, remainder="drop")
    assert found.made.left_out.tolist() == units.left_out.tolist()
    assert found.exact.pvalue == pt.exact_perm_test(units.pairs).pvalue
    assert found.description.n == 2
    assert f"2 units of 5 items, the {metric} of each; 2 items left out" in str(found)
    assert "2 evaluation units" in found.sentence()


@pytest.mark.parametrize("delta", [0.3, -0.25, 2.0])
def test_a_difference_under_the_null_hypothesis(delta):
    found = run_study(SCORES, config=config(delta=delta, alternative="greater"))
    shifted = [x - Fraction(str(delta)) for x in NEW]
    expected = pt.exact_perm_test(shifted, OLD, alternative="greater")
    assert found.exact.pvalue == found.answers["exact"].result.pvalue == expected.pvalue
    assert found.exact.names[1].startswith("old ")
    assert found.scores == pytest.approx((np.mean(NEW), np.mean(OLD)))
    assert {answer.test for answer in found.answers}.isdisjoint(OF_COUNTS)
    assert f"the hypothesis that new is ahead by {delta:g}" in found.sentence()
    assert found.curve.delta == pytest.approx(np.subtract(NEW, OLD).mean() - delta)


def test_tests_and_the_law_of_the_curve_are_chosen_by_name():
    more = {"power_sizes": [10, 40], "power_method": "normal", "power_test": "paired_t"}
    found = run_study(NEW, OLD, config(tests=["sign", "wilcoxon"], **more))
    assert [answer.test for answer in found.answers] == ["exact", "sign", "wilcoxon"]
    curve = found.curve
    assert (curve.sizes, curve.method, curve.test) == ((10, 40), "normal", "paired_t")
    assert run_study(BITS, config=config()).decisions().keys() == set(TITLES) - set(OF_ORDER)


def test_counts_are_studied_by_their_measure():
    found, other = run_study(SPANS, config=config(statistic="f1")), overview(SPANS, statistic="f1")
    assert found.exact.pvalue == other.exact.pvalue
    keys = "finding data test items answers measures power options cite"
    assert list(found.parts) == keys.split()
    assert "are left out" in found["data"].sentence
    assert found.to_dict()["config"]["statistic"] == "f1"


def test_only_a_study_says_what_power_its_own_scores_had():
    plain, study = overview(SCORES)["power"], run_study(SCORES, config=config())["power"]
    assert study.tables[0].rows[1:] == plain.tables[0].rows
    assert study.tables[0].rows[0][0] == "power with 12 items"
    assert study.data["power"].keys() - plain.data["power"].keys() == {"power", "power_method"}


def test_the_next_study_has_a_size_only_where_a_difference_is_established():
    clear = Pairs.of([1] * 30 + [0] * 5 + [1] * 65, [0] * 30 + [1] * 5 + [1] * 65)
    found = overview(clear)
    few, many = found.needed_at_ends
    assert few < found.power.needed < many
    assert found.to_dict()["power"]["needed_at_ends"] == [few, many]
    assert f"{few:,.0f} to {many:,.0f}" in str(found["power"])
    unclear = Pairs.of([1] * 12 + [0] * 8 + [1] * 80, [0] * 12 + [1] * 8 + [1] * 80)
    assert (overview(unclear).needed_at_ends, overview(unclear).power.needed) == (None, None)
    text = " ".join(str(overview(unclear)["power"]).split())
    assert "contains 0, so no number of items follows from it" in text


def test_clusters_are_the_units():
    """A study of clustered items is one of the sums of clusters, on the scale of items."""
    found, sums = run_study(CLUSTERED, config=config()), CLUSTERED.by_cluster()
    assert found.exact.pvalue == pt.exact_perm_test(sums).pvalue
    assert found.exact.pvalue == found.answers["exact"].result.pvalue
    assert (found.description.n, found.power.n, found.curve.sizes[-1]) == (6, 6, 6)
    assert found.most_different[0].id == "f"
    assert "12 items in 6 clusters" in found["units"].sentence
    for key in ("data", "assumptions", "recommendation"):  # which speak of what was compared
        assert "pairs" not in str(found[key]).replace("of pairs", "")
    (problem,) = found.to_dict()["problems"].values()
    assert "contains 0, so no number of clusters follows from it" in problem
    threshold = run_study(CLUSTERED, config=config(delta=0.5))
    a, b = (np.add.reduceat(x, range(0, 12, 2)).tolist() for x in (NEW, OLD))
    expected = pt.exact_perm_test([x - 1 for x in a], b).pvalue
    assert threshold.exact.pvalue == threshold.answers["exact"].result.pvalue == expected
    assert threshold.interval == found.interval


@pytest.mark.parametrize(
    ("a", "b", "keys"),
    [
        ([2], [0], {"finding", "units", "power"}),
        ([2, 2, 2], [2, 2, 2], {"finding", "power"}),
        ([2, 2, 2], [1, 1, 1], {"finding", "power"}),
    ],
)
def test_a_part_that_cannot_be_made_says_why(a, b, keys):
    found = run_study(a, b, config())
    problems = found.to_dict()["problems"]
    assert problems.keys() == keys
    text = " ".join(str(found).split())
    for why in problems.values():
        assert why.startswith("Not everything could be computed: ")
        assert why in text
    json.loads(found.to_json(), parse_constant=pytest.fail)


# ---- what it says --------------------------------------------------------------------------------


def test_the_sentence():
    assert overview(SCORES).sentence() == (
        "On 12 items, new scores 7.083 and old 5.833 (mean; higher is taken as better), a "
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


def test_what_a_reader_recorded_is_shown_and_is_strict_json():
    source = {"nan": float("nan"), "path": Path("x"), 3: (1, np.int64(2)), "unmatched": [5, 0]}
    source |= {"left_out": 7, "left_out_ids": [*"abcde"], "dropped": 2, "dropped_ids": ["f", "g"]}
    source |= {"cautions": ["items of one 'doc' may be alike"]}
    found = overview(replace(SCORES, source=source), alternative="greater")
    plain = json.loads(found.to_json())
    assert plain["interval"]["high"] is None
    assert [plain["source"][x] for x in ("nan", "path", "3")] == [None, "x", [1, 2]]
    assert found.sentence().startswith("On 12 items (7 items left out), new scores")
    assert found["finding"].limits.endswith(" Items of one 'doc' may be alike.")
    rows = dict(found["data"].tables[0].rows)
    assert (rows["left_out_ids"], rows["dropped_ids"]) == ("a, b, c, d, e, ...", "f, g")


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
    body = [line for line in table.splitlines() if not line.startswith("%")]
    rows = [line for line in body if line.endswith(r"\\")]
    assert len(rows) == 7
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)
    assert not any(row.strip().startswith(("[", "*")) for row in rows)
    rest = plain_tex("\n".join(body))
    assert not set(rest) & set('%#_^~\\<>|"$')
    depth = np.cumsum([(c == "{") - (c == "}") for c in rest])
    assert (depth.min(), depth[-1]) == (0, 0)


# ---- the configuration ---------------------------------------------------------------------------

OTHER = yaml.safe_load("""
{seed: 7, a: "new: <x>", b: 2, higher_is_better: false, statistic: f1, alternative: greater,
 delta: -0.5, alpha: 0.00001, tests: [sign, wilcoxon], K: 99, unit_size: 15, unit_metric: median,
 unit_shuffle: 3, unit_remainder: drop, unit_tolerance: 0.00001, power_test: paired_t,
 power_method: normal, power_sizes: [20, 40], power_experiments: 10, plan_power: 0.9}
""")


@pytest.mark.parametrize("values", [{}, OTHER], ids=["defaults", "others"])
def test_every_option_comes_back_and_is_read(tmp_path, values):
    chosen = StudyConfig.from_dict(values)
    assert StudyConfig.from_dict(chosen.to_dict()) == chosen
    path = tmp_path / "study.yml"
    path.write_text(yaml.safe_dump(values), "utf-8")
    assert StudyConfig.from_yaml(path) == chosen
    assert not values or all(vars(chosen)[k] != vars(StudyConfig())[k] for k in vars(chosen))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sead: 3", "sead: there is no such option; did you mean seed?"),
        ("xyz: 3", "xyz: there is no such option; there are seed, a, b"),
        ("unit_size: ten", "unit_size = 'ten' must be a whole number"),
        ("seed: -1", "seed = -1 is below 0"),
        ("unit_metric: mode", "unit_metric='mode' is not known; choose one of 'mean', 'median'"),
        ("alpha: 5e-2x", "alpha='5e-2x' must be a number"),
        ("tests: [sgin]", "tests='sgin' is not known; choose one of 'exact'"),
        ("tests: sign", "tests='sign' must be a list of names"),
        ("power_test: sgin", "power_test='sgin' is not known"),
        ("higher_is_better: 2", "higher_is_better=2 must be true or false"),
        ("- seed\n", "must be a mapping"),
        ("seed: [1\n", "line 2"),
        ("seed: !!python/object/apply:os.getcwd []\n", "could not determine"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_option(tmp_path, text, message):
    path = tmp_path / "study.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        StudyConfig.from_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_empty(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        StudyConfig.from_yaml(tmp_path / "none.yml")
    (tmp_path / "a.yml").write_bytes(b"\xef\xbb\xbf# nothing\n")
    assert StudyConfig.from_yaml(tmp_path / "a.yml") == StudyConfig()


# ---- refusals ------------------------------------------------------------------------------------


def study_of(pairs, **options):
    return run_study(pairs, config=config(**options))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: overview([1, 2]), TypeError, "pairs must be Pairs, not list; permtest.read"),
        (lambda: overview(Pairs.of([], [])), ValueError, "pairs is empty"),
        (lambda: overview(SPANS), ValueError, "'mean' takes one score .* entry, but there are 3"),
        (lambda: overview(SCORES, statistic="f1"), ValueError, "statistic='f1' needs"),
        (lambda: overview(SCORES, alternative="more"), ValueError, "alternative='more' is not kn"),
        (lambda: overview(SCORES, alpha=1), ValueError, r"alpha must lie in \(0, 1\)"),
        (
            lambda: overview(SCORES, tests=["mcnemar"]),
            ValueError,
            "tests: 'mcnemar' does not apply",
        ),
        (lambda: overview(SCORES, tests="sign"), TypeError, "tests='sign' must be a list"),
        (lambda: overview(SCORES, rng=-1), ValueError, "rng=-1 must not be negative"),
        (lambda: study_of(CLUSTERED, unit_size=2), ValueError, "unit_size=2 must be 1: the clus"),
        (lambda: study_of(SPANS, unit_size=2, statistic="f1"), ValueError, "must be 1: counts are"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


FIVE, SAME = Pairs.of([3, 1, 4, 2, 9], [1, 3, 2, 4, 8]), Pairs.of([3, 1, 4], [3, 1, 4])


@pytest.mark.parametrize(
    ("pairs", "key", "said", "unsaid"),
    [
        (FIVE, "power", "5 items cannot give a p of 0.05 or less; you need 6", "detectable"),
        (FIVE, "finding", "too few items to exclude", "The interval"),
        (FIVE, "items", "The items with the largest diff", "any item."),
        (SAME, "items", "The systems do not differ on any item.", "largest"),
    ],
)
def test_sections_speak_of_what_there_is(pairs, key, said, unsaid):
    text = str(overview(pairs)[key])
    assert said in " ".join(text.split())
    assert unsaid not in text
