"""The explorer of F1 and its relatives: what is shown is what the test finds at that point."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from matplotlib import image

import permtest as pt
from permtest.widgets import StaircaseExplorer
from permtest.widgets.staircase import MEASURES, describe

RNG = np.random.default_rng(8)
GOLD = RNG.integers(0, 4, 150)
U, V = (
    np.column_stack((hits, RNG.integers(0, 2, 150), GOLD - hits))
    for hits in (RNG.binomial(GOLD, 0.8), RNG.binomial(GOLD, 0.7))
)
NAMES = ("new", "old")


def explorer(**options: object) -> StaircaseExplorer:
    return StaircaseExplorer(U, V, names=NAMES, **options)


def shown(e: StaircaseExplorer) -> tuple[str, str]:
    return e.picture.value, e.sentence.value


def test_it_starts_at_what_was_observed():
    e = explorer()
    assert e.result == pt.exact_perm_test(U, V, statistic="f1", names=NAMES)
    assert (2 * e.hits.value, e.misses.value) == e.result.sums
    assert "This is what was observed." in e.sentence.value
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    assert image.imread(BytesIO(b64decode(source[1])), format="png").shape[:2] == (440, 800)
    assert "described below" in e.picture.value


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("side", ["two-sided", "greater"])
@pytest.mark.parametrize("measure", MEASURES)
def test_it_shows_the_test_at_the_point_that_is_chosen(measure, side):
    e = explorer(statistic=measure)
    e.tails.value = side
    e.hits.value -= 4
    e.misses.value += 2
    base = pt.exact_perm_test(U, V, statistic=measure, alternative=side, names=NAMES)
    weight = base.sums[0] // int(U[:, 0].sum())
    assert e.result == base.at((weight * e.hits.value, e.misses.value))
    assert e.result.sums != base.sums
    assert f"p = {e.result.pvalue_text()}" in e.sentence.value
    assert describe(e.result) in e.sentence.value.replace("&#x27;", "'")
    assert "observed" not in e.sentence.value


@pytest.mark.parametrize(
    ("control", "value"),
    [("statistic", "precision"), ("hits", 155), ("misses", 125), ("tails", "greater")],
)
def test_every_control_changes_what_is_shown(control, value):
    e = explorer()
    first = shown(e)
    before = getattr(e, control).value
    assert before != value
    getattr(e, control).value = value
    assert all(now != then for now, then in zip(shown(e), first, strict=True))
    getattr(e, control).value = before
    assert shown(e) == first


def test_the_sentence_has_both_systems_and_their_difference():
    e = explorer()
    e.hits.value -= 6
    (x, y), (hits, misses) = e.result.scores, e.result.sums
    other_hits, other_misses = e.result.other_sums
    text = e.sentence.value
    assert (
        f"With {hits // 2} true positives and {misses} false positives and negatives, new" in text
    )
    assert f"has F1 {x:.4f}; that leaves old with {other_hits // 2} true positives" in text
    assert f"and {other_misses} false positives and negatives, F1 {y:.4f}" in text
    assert f"{x - y:+.4f}".replace("-", "\N{MINUS SIGN}") in text
    assert hits + other_hits == 2 * (U[:, 0].sum() + V[:, 0].sum())


@pytest.mark.usefixtures("unseen")
def test_where_no_labelling_comes_the_nearest_point_is_taken():
    e = explorer(statistic="f2")  # misses are fp + 4 fn
    possible = {tuple(x) for x in e.result.null_distribution.support.tolist()}
    for misses in range(e.misses.value, e.misses.value + 5):
        e.misses.value = misses
        assert e.misses.value == misses
        assert e.result.sums in possible
    e.hits.value = e.hits.max
    assert e.hits.value == e.hits.max
    assert e.result.sums in possible
    assert e.result.sums[0] == 5 * e.hits.max


@pytest.mark.usefixtures("unseen")
def test_recall_is_a_line_and_says_so():
    e = explorer()
    e.statistic.value = "recall"
    assert e.result.rank == 1
    total = GOLD.sum()
    assert f"add up to {total} in every labelling" in e.sentence.value
    e.hits.value -= 3
    assert e.hits.value + e.misses.value == total
    e.misses.value += 7
    assert e.hits.value + e.misses.value == total
    assert e._axes[0].get_ylabel() == "probability"
    e.statistic.value = "f1"
    assert "on a line" not in e.sentence.value
    assert e._axes[0].get_ylabel() == "true positives of new"


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("measure", MEASURES)
def test_the_axes_stand_still_and_hold_every_point(measure):
    e = explorer(statistic=measure)
    limits = set()
    for slider in (e.hits, e.misses):
        for value in (slider.min, slider.max, (slider.min + slider.max) // 2):
            slider.value = value
            assert "role='status'" in e.sentence.value
            limits.add((e._axes[0].get_xlim(), e._axes[0].get_ylim()))
            (mark,) = (line for line in e._axes[0].lines if line.get_gid() == "observed")
            left, right = e._axes[0].get_xlim()
            assert left < mark.get_xdata()[0] < right
    assert len(limits) == 1


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_few_sentences(size):
    e = StaircaseExplorer(U[:size], V[:size])
    for measure in MEASURES:
        e.statistic.value = measure
        e.hits.value = e.hits.max
        e.misses.value = e.misses.min
        assert "role='status'" in e.sentence.value


def test_a_system_and_itself():
    e = StaircaseExplorer(U, U)
    assert "there is a single point" in e.sentence.value
    assert e.hits.min == e.hits.max
    assert e.result.pvalue == 1


@pytest.mark.usefixtures("unseen")
def test_a_large_law_waits_until_a_slider_stops():
    assert explorer().hits.continuous_update
    u, v = RNG.integers(0, 9, (2, 300, 3))
    e = StaircaseExplorer(u, v)
    assert not e.hits.continuous_update
    assert not e.misses.continuous_update


def test_pairs_will_do():
    pairs = pt.Pairs.of_counts(U, V, [("tp", "fp", "fn")], NAMES)
    assert StaircaseExplorer(pairs).result == explorer().result


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="statistic='mcc' is not in the list; choose one of"):
        explorer(statistic="mcc")
    with pytest.raises(ValueError, match="v"):
        StaircaseExplorer(U, V[:3])


def test_an_error_is_shown_where_one_looks(monkeypatch):
    e = explorer()

    def fail(*_, **__):
        raise ValueError("<no> luck")

    monkeypatch.setattr("permtest.widgets.staircase.plot_plane", fail)
    e.hits.value -= 1
    assert "role='alert'" in e.sentence.value
    assert "&lt;no&gt; luck" in e.sentence.value
    assert e.picture.value == ""
    monkeypatch.undo()
    e.hits.value -= 1
    assert "role='status'" in e.sentence.value
