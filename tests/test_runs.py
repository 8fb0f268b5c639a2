"""Repeated runs: all null hypotheses against all ways to deal the runs, level, noise, plans."""

import json
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.calibration import runs as measured
from benchmarks.calibration.runs import World
from permtest import Pairs, exact_perm_test, exact_runs_test, read
from permtest._checks import TooHard
from permtest.cli import main
from permtest.readers import File
from permtest.runs import NULLS, _ways
from tests import naive
from tests.strategies import alternatives

SCORE = {
    "binary": st.integers(0, 1),
    "small": st.integers(-3, 5),
    "decimal": st.integers(0, 20).map(lambda x: x / 10),
}


@st.composite
def runs(draw, kinds=tuple(SCORE)):
    """Two ragged lists of runs of the same items."""
    score, size = SCORE[draw(st.sampled_from(kinds))], draw(st.integers(1, 4))
    item = st.lists(score, min_size=1, max_size=3)
    return tuple(draw(st.lists(item, min_size=size, max_size=size)) for _ in range(2))


def exactly(rows):
    return [[Fraction(str(x)) for x in row] for row in rows]


@given(runs(), alternatives)
def test_runs_against_all_ways_to_deal_them(both, alternative):
    a, b = both
    found = exact_runs_test(a, b, null="runs", alternative=alternative)
    exact = naive.runs_pvalue(exactly(a), exactly(b), alternative)
    assert found.fraction() == exact
    assert abs(Fraction(found.pvalue) - exact) <= Fraction(found.error_bound + 3e-16) * exact
    worth = [sum(sum(x) / len(x) for x in exactly(one)) for one in both]
    assert found.statistic == float(worth[0] - worth[1])
    least = naive.smallest_runs_pvalue(exactly(a), exactly(b), alternative)
    assert found.smallest_pvalue == pytest.approx(float(least), rel=1e-12, abs=0)


@given(runs(("binary",)), alternatives, st.sampled_from("@^"), st.data())
def test_pass_at_k_against_all_ways_to_deal_the_runs(both, alternative, kind, data):
    a, b = both
    k = data.draw(st.integers(1, min(map(len, [*a, *b]))))

    def worth(own):
        wrong = len(own) - sum(own)
        some = Fraction(comb(wrong if kind == "@" else sum(own), k), comb(len(own), k))
        return 1 - some if kind == "@" else some

    how = {"null": "runs", "alternative": alternative}
    found = exact_runs_test(a, b, statistic=f"pass{kind}{k}", **how)
    assert found.fraction() == naive.runs_pvalue(a, b, alternative, worth)
    assert found.metric == f"pass{kind}{k}"
    same = exact_runs_test(a, b, statistic=f"pass{kind}k", k=k, **how)
    assert same.pvalue == found.pvalue


@given(runs(), alternatives)
def test_items_are_swapped_with_all_their_runs(both, alternative):
    means = [[sum(x) / len(x) for x in exactly(one)] for one in both]
    found = exact_runs_test(*both, alternative=alternative)
    expected = exact_perm_test(*means, alternative=alternative)
    assert found.fraction() == expected.fraction()
    assert (found.null, found.statistic) == ("items", float(expected.statistic))
    sums = naive.labellings(*means)
    h = naive.h_of(alternative)
    most = max(map(h, sums))
    assert found.smallest_pvalue == sum(h(x) == most for x in sums) / len(sums)
    runs = exact_runs_test(*both, null="runs", alternative=alternative)
    assert found.under("runs").pvalue == runs.pvalue


def test_all_forms_of_the_same_runs():
    pd = pytest.importorskip("pandas")
    a, b = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]]), np.array([[0, 1], [0, 0], [1, 0]])
    p = exact_runs_test(a, b).pvalue
    assert exact_runs_test(a.tolist(), b.tolist()).pvalue == p
    assert exact_runs_test(pd.DataFrame(a), b).pvalue == p
    pairs = Pairs(a.ravel(), (1 - a).ravel(), ("x", "y"), clusters=tuple("iiikkklll"))
    found = exact_runs_test(pairs)
    assert found.null == "items"
    assert (found.pvalue, found.names) == (exact_runs_test(a, 1 - a).pvalue, ("x", "y"))


@pytest.fixture
def epochs(tmp_path):
    """A long table of 12 items, two systems and three epochs, and the runs in it."""
    runs = np.random.default_rng(6).random((2, 12, 3)) < np.array([0.8, 0.4])[:, None, None]
    lines = ["item,system,epoch,correct"]
    for (system, item, epoch), x in np.ndenumerate(runs):
        lines.append(f"q{item},{'xy'[system]},{epoch},{int(x)}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path), runs.astype(int)


@pytest.mark.parametrize("null", NULLS)
def test_files_bring_their_epochs(epochs, null):
    path, (a, b) = epochs
    expected, found = exact_runs_test(a, b, null=null), exact_runs_test(read(path), null=null)
    assert (found.pvalue, found.scores) == (expected.pvalue, expected.scores)
    assert found.names == ("x", "y")


def test_the_command_line_has_all_null_hypotheses_and_the_noise(epochs, capsys):
    path, runs = epochs
    expected = exact_runs_test(*runs, null="runs", statistic="pass@2", alternative="greater")
    assert main(["compare", path, "--null", "items", "--json"]) == 0
    facts, plain = json.loads(capsys.readouterr().out), exact_runs_test(*runs)
    assert facts["pvalue"] == facts["pvalues"]["items"] == plain.pvalue
    assert facts["pvalues"] == {null: plain.under(null).pvalue for null in NULLS}
    assert (facts["about"], facts["pvalues_reason"]) == ("these runs on new items", {})
    assert facts["noise"] == json.loads(plain.noise().to_json())
    assert (facts["better"], facts["paired_by"]) == ("x", "item and epoch")
    way = ["--metric", "pass@2", "--alternative", "greater"]
    assert main(["compare", path, "--null", "runs", *way]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"Over {expected.n} items, pass@2 is ")
    assert f"p, runs {expected.pvalue:.4g} (other runs of these systems on these items)" in said
    assert "noise the variance is split for the mean of runs" in said
    assert "p, systems pass@k is of the runs of one item, but null='systems'" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-if", "worse"], "--null runs cannot be combined with --fail-if worse"),
        (["--method", "dp"], "--null runs cannot be combined with --method dp"),
        (["--no-clusters"], "--repeat"),
    ],
)
def test_what_does_not_go_with_repeated_runs(epochs, options, message, capsys):
    assert main(["compare", epochs[0], "--null", "runs", *options]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def ragged():
    """Runs of eight items by two systems, from one to four of each."""
    rng = np.random.default_rng(8)
    return [[rng.integers(0, 2, rng.integers(1, 5)).tolist() for _ in range(8)] for _ in "xy"]


def lines(own, lead=""):
    """A line for each run."""
    return [f"q{i},{lead}{k},{x}" for i, item in enumerate(own) for k, x in enumerate(item)]


def in_files(kind, both):
    """The runs of both systems in a file of each kind, and what reads it."""
    a, b = both
    if kind == "long":
        text = ["item,system,seed,correct", *lines(a, lead="x,"), *lines(b, lead="y,")]
        return [File("runs.csv", "\n".join(text).encode())], {}
    if kind == "no seeds":
        rows = ("\n".join(f"q{i},{x}" for i, some in enumerate(own) for x in some) for own in both)
        texts, options = ["item,correct\n" + text for text in rows], {"clusters": "item"}
    else:
        texts = [["item,seed,correct", *lines(a)], ["item,seed,correct", *lines(b)]]
        if kind == "one run":
            texts[1] = ["item,correct", *(f"q{i},{some[0]}" for i, some in enumerate(b))]
        texts, options = ["\n".join(text) for text in texts], {}
    names = zip(("x.csv", "y.csv"), texts, strict=True)
    return [File(name, text.encode()) for name, text in names], options


@pytest.mark.parametrize("kind", ["long", "files", "one run", "no seeds"])
def test_files_with_unequal_runs(kind, ragged):
    if kind == "one run":
        ragged[1] = [some[:1] for some in ragged[1]]
    files, options = in_files(kind, ragged)
    pairs = read(*files, **options)
    for alternative in ("two-sided", "greater"):
        found = exact_runs_test(pairs, null="runs", alternative=alternative)
        exact = naive.runs_pvalue(*map(exactly, ragged), alternative)
        assert found.fraction() == exact
        swapped = exact_perm_test(pairs, alternative=alternative)
        assert found.under("items").pvalue == swapped.pvalue
    means = [sum(Fraction(sum(x), len(x)) for x in own) for own in ragged]
    assert exact_perm_test(pairs, statistic="mean").statistic == pytest.approx(
        float(means[0] - means[1]) / 8
    )
    assert pairs.ids == tuple(f"q{i}" for i in range(8))
    number = [sum(map(len, own)) for own in ragged]
    note = f"{number[0]} of x and {number[1]} of y: an item scores the mean of its runs"
    assert note in " ".join(pairs.source["notes"])
    assert pairs.folded(["i"] * 8).runs is None


def test_single_runs_are_paired_only_if_all_are_there_or_the_user_says(ragged, tmp_path, capsys):
    ragged[1][0] = ragged[0][0][:1]  # so that a run is missing in any case
    ragged[0][0] = [1, 0]
    (file,), _ = in_files("long", ragged)
    with pytest.raises(ValueError, match=r"no item 'q0 \(seed 1\)' of 'y'.*missing='drop'"):
        read(file, clusters=False)
    shared = sum(min(map(len, some)) for some in zip(*ragged, strict=True))
    apart = read(file, clusters=False, missing="drop")
    assert (len(apart), apart.runs, apart.source["unmatched"][0] > 0) == (shared, None, True)
    path = tmp_path / "runs.csv"
    path.write_bytes(file.data)
    assert main(["compare", str(path), "--null", "runs", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["pvalue"] == exact_runs_test(*ragged, null="runs").pvalue
    assert [*facts["pvalues"], *facts["pvalues_reason"]] == ["runs", "items", "systems"]
    assert "'q1' has 1 run of x, not 2 as item 'q0'" in facts["pvalues_reason"]["systems"]
    assert facts["n_runs"] == [sum(map(len, own)) for own in ragged]
    assert main(["compare", str(path), "--null", "items", "--metric", "pass@9"]) == 2
    assert "fewer than the k = 9 that pass@k draws" in capsys.readouterr().err
    assert main(["compare", str(path), "--null", "runs", "--metric", "pass@1"]) == 0
    assert "the mean of its runs, or their pass@k if asked." in capsys.readouterr().out
    assert main(["compare", str(path), "--no-clusters"]) == 2


def test_a_run_without_a_score_is_left_out_and_counted():
    text = "item,system,seed,score\np,x,1,1\np,x,2,\np,x,3,0\nq,x,1,1\np,y,1,0\nq,y,1,1\n"
    pairs = read(File("runs.csv", text.encode()))
    assert (pairs.ids, pairs.u.tolist(), pairs.v.tolist()) == (("p", "q"), [1, 2], [0, 2])
    assert "1 run is left out, as 'x' has no score there" in pairs.source["notes"]


def test_runs_of_a_cluster_stay_together():
    rows = ["q0,d,x,1,1", "q0,d,x,2,0", "q1,d,x,1,1", "q2,e,x,1,1"]
    rows += ["q0,d,y,1,0", "q1,d,y,1,1", "q2,e,y,1,0"]
    text = "\n".join(["item,doc,system,seed,correct", *rows]).encode()
    pairs = read(File("runs.csv", text), clusters="doc")
    assert pairs.clusters == ("d", "d", "e")
    assert pairs.u.tolist() == [1, 2, 2]  # halves


@pytest.mark.parametrize("null", ["runs", "items"])
@pytest.mark.parametrize("item_effect", [0.0, 1.0])
def test_the_level_holds(null, item_effect):
    """Items differ in difficulty; for "items", systems may differ on each of them as well."""
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(400):
        ease = item_effect * rng.normal(size=(12, 1))
        own = rng.normal(size=(2, 12, 1)) * (null == "items")
        a, b = ((rng.normal(size=(12, 3)) + ease + x > 0).astype(int) for x in own)
        rejected += exact_runs_test(a, b, null=null).pvalue <= 0.05
    assert rejected <= 400 * 0.05 + 3 * (400 * 0.05 * 0.95) ** 0.5


def test_noise_is_split_into_that_of_items_and_that_of_runs():
    rng = np.random.default_rng(2)
    gap = 0.5 * rng.normal(size=(4000, 1))
    a = np.round(gap + rng.normal(size=(4000, 4)), 3)
    b = np.round(2 * rng.normal(size=(4000, 5)), 3)
    found = exact_runs_test(a, b, null="items")
    split = found.noise()
    # 0.25 of items; 1 / 4 + 4 / 5 of runs
    assert split.data_interval[0] < 0.25 < split.data_interval[1]
    assert split.prediction_interval[0] < 1.05 < split.prediction_interval[1]
    assert split.total == pytest.approx(split.data + split.prediction)
    assert "runs account for" in str(split)
    with pytest.raises(ValueError, match="only one run of a, so we cannot tell"):
        exact_runs_test([[1], [0]], [[0], [1]]).noise()
    with pytest.raises(ValueError, match="item 'q2' has only one run of u"):
        exact_runs_test(NAMED).noise()


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([[0.1] * 3, [0.7] * 3], [[0.2] * 3, [0.8] * 3], "The difference is the same on every it"),
        (
            [[0.1] * 3, [0.7] * 3],
            [[0.2] * 3, [0.6] * 3],
            "0.02, runs account for 0 (95% interval 0",
        ),
        (
            [[0.1, 0.2], [0.3, 0.5]],
            [[0.1, 0.2], [0.3, 0.5]],
            "an item's difference is 0, and 0.0125",
        ),
        (
            [[1, 1], [0, 1], [1, 0]],
            [[0, 0], [0, 1], [0, 0]],
            "is 0.25, and 0.25 (95% interval 0 to",
        ),
    ],
)
def test_what_does_not_vary_has_no_variance(a, b, said):
    text = str(exact_runs_test(a, b).noise())
    assert said in text
    assert "e-" not in text


def test_plans_spend_the_budget_where_it_helps_most():
    rng = np.random.default_rng(3)
    a, b = np.round(rng.normal(size=(2, 500, 4)), 2)
    found = exact_runs_test(a, b, null="items")
    cheap = found.plan(2000)
    assert (cheap.items, cheap.runs) == (1000, 1)  # new items cost nothing
    assert str(cheap).startswith("1,000 items with one run by each system cost 2,000; the standard")
    assert f"difference is then at most about {cheap.standard_error:.3g}." in str(cheap)
    assert (2 / 1000) ** 0.5 < cheap.standard_error < 1.1 * (2 / 1000) ** 0.5
    assert found.plan(2000, most_items=100).runs == 10
    assert found.plan(2000, item_cost=50).runs > 1


FEW, NAMED = (replace(Pairs.of([1, 1, x], [0, 1, 1]), clusters=("q1", "q1", "q2")) for x in (1, 2))
UNNAMED = replace(Pairs.of([1, 1], [0, 1]), clusters=("q1", "q1"))
RAGGED = [[1, 0], [1]]
BAD = {
    "missing": (([[1, None]], [[1]]), {}, r"a\[0\]\[1\] = None"),
    "nan": ((np.array([[1, np.nan]]), [[1]]), {}, r"a\[0\]\[1\] = nan"),
    "flat": (([1, 2], [3, 4]), {}, r"a\[0\] = 1 must be a sequence"),
    "no runs": (([[1], []], [[1], [1]]), {}, r"a\[1\] has no runs"),
    "items": (([[1]], [[1], [2]]), {}, "a has 1 item and b has 2"),
    "statistic": (([[1]], [[1]]), {"statistic": "median"}, "pass@k"),
    "no k": (([[1]], [[1]]), {"statistic": "pass@k"}, "needs k"),
    "two k": (([[1]], [[1]]), {"statistic": "pass@1", "k": 2}, "leave k=2 out"),
    "few runs": (([[1]], [[1]]), {"statistic": "pass@2"}, r"a\[0\] has 1 run, fewer"),
    "few named": ((FEW,), {"statistic": "pass@2"}, "item 'q2' has 1 run, fewer"),
    "scores named": ((NAMED,), {"statistic": "pass@1"}, "item 'q2' has a run of a that scores 2"),
    "scores": (([[2]], [[1]]), {"statistic": "pass@1"}, "scores 2"),
    "null": (([[1]], [[1]]), {"null": "both"}, "null='both'"),
    "no whole runs": (
        (RAGGED, RAGGED),
        {"null": "systems"},
        "item 2 has 1 run of a, not 2 as item 1",
    ),
    "no items": (([], []), {"null": "systems"}, "there are no items"),
    "whole pass@k": (
        ([[1]], [[1]]),
        {"null": "systems", "statistic": "pass@1"},
        "use statistic='m",
    ),
    "pairs of items": (
        ([[1]], [[1]]),
        {"paired_runs": True},
        "for null='systems', not for null='it",
    ),
    "pairs of runs": (
        ([[1, 2]], [[1]]),
        {"null": "systems", "paired_runs": True},
        "there are 2 and 1; leave it out",
    ),
    "no names": ((UNNAMED,), {"null": "systems"}, r"nothing tells which runs of u on.*--repeat"),
    "floats": ((np.random.default_rng(0).random((5, 3)), np.eye(5)), {}, "round them"),
}


@pytest.mark.parametrize(("both", "options", "message"), BAD.values(), ids=BAD.keys())
def test_bad_runs(both, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        exact_runs_test(*both, **options)


def test_what_is_out_of_reach_is_sampled_and_says_so():
    rng = np.random.default_rng(4)
    a, b = np.round(rng.normal(size=(2, 40, 3)), 9)
    found = exact_runs_test(a, b, null="runs", rng=0)
    assert (found.method, found.error_bound) == ("monte_carlo", None)
    low, high = found.pvalue_interval()
    rough = exact_runs_test(np.round(a, 2), np.round(b, 2), null="runs")
    assert low - 0.01 < rough.pvalue < high + 0.01
    assert "samples" in str(found)


# ---- whole runs --------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Two tables of runs, of one number of items but not of runs."""
    score, size = SCORE[draw(st.sampled_from(tuple(SCORE)))], draw(st.integers(1, 3))
    numbers = [draw(st.integers(1, 4)) for _ in "ab"]
    return tuple(
        draw(st.lists(st.lists(score, min_size=k, max_size=k), min_size=size, max_size=size))
        for k in numbers
    )


@given(tables(), alternatives, st.booleans())
def test_whole_runs_against_all_ways_to_deal_them(both, alternative, paired):
    a, b = both
    if paired:
        k = min(len(a[0]), len(b[0]))
        a, b = [row[:k] for row in a], [row[:k] for row in b]
    how = {"null": "systems", "alternative": alternative, "paired_runs": paired}
    found = exact_runs_test(a, b, **how)
    exact = naive.whole_runs_pvalues(exactly(a), exactly(b), alternative, paired)
    assert (found.fraction(), found.smallest_pvalue) == (exact[0], float(exact[1]))
    assert found.pvalue == pytest.approx(float(exact[0]), rel=1e-15)
    plain = exact_runs_test(a, b, alternative=alternative)
    assert found.statistic == plain.statistic
    assert plain.under("systems", paired_runs=paired).pvalue == found.pvalue
    assert found.under("systems") is found
    law = found.null_distribution
    assert law.pmf @ law.support == pytest.approx(0, abs=1e-9)


def test_whole_runs_are_sampled_where_there_are_too_many_ways_to_deal_them():
    rng = np.random.default_rng(9)
    a, b = np.round(rng.normal(size=(2, 3, 14)), 9)
    a, b = np.round(a + 0.3, 9), b[:, :13]
    found = exact_runs_test(a, b, null="systems", rng=1)
    assert (found.method, found.error_bound) == ("monte_carlo", None)
    assert found.smallest_pvalue == pytest.approx(1 / comb(27, 13), rel=1e-12)
    low, high = found.pvalue_interval(0.999)
    totals = a.sum(axis=0), b.sum(axis=0)
    rough = [np.rint(x * 20)[None].astype(int) for x in totals]  # few different sums
    assert low - 0.02 < exact_runs_test(*rough, null="systems").pvalue < high + 0.02


def test_it_is_soon_seen_that_there_are_too_many_ways_to_deal_the_runs(monkeypatch):
    """Totals that many runs share take as many additions as there are runs, not as totals."""
    tried = []
    monkeypatch.setattr("permtest.runs.comb", lambda n, k: tried.append(n) or comb(n, k))
    totals = tuple((total, 60) for total in range(20))
    with pytest.raises(TooHard):
        _ways(totals, 600, most=10_000)
    assert len(tried) <= 10_000


def test_scores_of_any_size_are_added_up_exactly():
    a, b = [[10**18, 1, 0]] * 30, [[0, 0]] * 30
    assert exact_runs_test(a, b, null="systems").fraction() == Fraction(7, 10)
    assert naive.whole_runs_pvalues(a, b)[0] == Fraction(7, 10)
    huge = [[10**18, 1]] * 30
    assert exact_runs_test(huge, b, null="systems", paired_runs=True).pvalue == 0.5


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("numbers", [(3, 3), (4, 3)])
def test_files_tell_which_runs_of_items_belong_together(numbers, order):
    """Also where lines have any order: the seed says it."""
    rng = np.random.default_rng(17)
    both = [rng.integers(0, 9, (6, k)) + np.arange(k) ** 2 for k in numbers]
    every = [
        f"q{i},{name},{seed},{x}"
        for name, own in zip("xy", both, strict=True)
        for (i, seed), x in np.ndenumerate(own)
    ]
    text = "\n".join(["item,system,seed,points", *rng.permutation(every)[::order]])
    pairs = read(File("runs.csv", text.encode()), a="x", b="y")
    for alternative in ("two-sided", "greater"):
        how = {"null": "systems", "alternative": alternative}
        assert exact_runs_test(pairs, **how).fraction() == exact_runs_test(*both, **how).fraction()
    if numbers == (3, 3):
        how = {"null": "systems", "paired_runs": True}
        assert exact_runs_test(pairs, **how).pvalue == exact_runs_test(*both, **how).pvalue


def test_files_whose_items_have_other_seeds(tmp_path, capsys):
    rows = [
        f"q{i},{s},{j + 4 * (s == 'y')},{i % 2}" for i in range(3) for s in "xy" for j in (1, 2)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["item,system,seed,correct", *rows]), encoding="utf-8")
    assert main(["compare", str(path), "--null", "systems"]) == 0
    assert "newly trained systems on these items" in capsys.readouterr().out
    assert main(["compare", str(path), "--null", "systems", "--paired-runs"]) == 2
    assert "y has no run 'seed 1'" in capsys.readouterr().err
    assert main(["compare", str(path), "--null", "items", "--paired-runs"]) == 2
    assert "--paired-runs needs --null systems" in capsys.readouterr().err
    rows[0] = rows[0].replace(",1,", ",3,")
    path.write_text("\n".join(["item,system,seed,correct", *rows]), encoding="utf-8")
    assert main(["compare", str(path), "--null", "systems"]) == 2
    assert "'q1' has a run 'seed 1' of x, unlike item 'q0'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("null", "about"),
    [
        ("items", "these runs on new items"),
        ("runs", "other runs of these systems on these items"),
        ("systems", "newly trained systems on these items"),
    ],
)
def test_answers_say_whom_they_are_about_and_what_p_could_be(null, about):
    a, b = [[3, 4, 5], [6, 7, 9]], [[1, 2, 2], [5, 6, 6]]
    found = exact_runs_test(a, b, null=null)
    assert str(found).endswith(f" The answer is about {about}.")
    facts = json.loads(found.to_json())
    assert (facts["about"], facts["smallest_pvalue"]) == (about, found.smallest_pvalue)
    said = {
        "items": "With 2 items that differ, p cannot be below 0.5.",
        "systems": "With 3 runs and 3 runs, p cannot be below 0.1.",
    }
    assert said.get(null, "The answer") in str(found)
    assert ("cannot be below" in str(found)) == (found.smallest_pvalue > 0.05)


SEEDS, ITEMS = (
    World("seeds", 500, (5, 5), measured.WHOLE, seeds=0.2),
    World("items", 200, (8, 8), measured.NEW, strong_points=2.0),
)


@pytest.mark.parametrize("world", [SEEDS, ITEMS], ids=["seeds", "items"])
def test_each_null_hypothesis_holds_where_it_is_about_what_varies(world):
    """At most 5 %, with three standard errors of the simulation; others are far above that."""
    sets = 150
    found = measured.rejected(world, sets, np.random.default_rng(12))
    limit = 0.05 + 3 * (0.05 * 0.95 / sets) ** 0.5
    assert all(found[name] <= limit for name in world.valid), found
    wrong = ("items", "runs") if world is SEEDS else ("runs", "systems")
    assert all(found[name] > 2 * limit for name in wrong), found


def test_the_simulation_notices_a_test_that_does_not_hold():
    worlds = (SEEDS._replace(valid=("systems", "items")), SEEDS._replace(runs=(2, 3), valid=()))
    section = measured.section(40, worlds)
    (failure,) = section.failures
    assert " of items, more than 0.05" in failure
    assert "500 x 2 + 3" in str(section)


@pytest.mark.parametrize("k", [3, 4])
def test_three_runs_of_each_cannot_reach_a_usual_level(k):
    a, b = np.arange(2 * k).reshape(2, 1, k)[::-1]
    found = exact_runs_test(a, b, null="systems")
    assert found.pvalue == found.smallest_pvalue == 2 / comb(2 * k, k)
    assert ("p cannot be below 0.1" in str(found)) == (k == 3)
