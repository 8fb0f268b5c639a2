"""The explorer of leaderboards: variants of a system, what is drawn of them, and what is said."""

import re
from base64 import b64decode
from html import unescape
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import image

import permtest as pt
from permtest.widgets import LeaderboardExplorer, leaderboard
from permtest.widgets.leaderboard import MOST, describe, with_variant

RNG = np.random.default_rng(9)
N = 200
HARD = RNG.random(N)
TABLE = {
    name: (share + RNG.normal(0, 0.15, N) > HARD).astype(int)
    for name, share in (("weak", 0.3), ("good", 0.7), ("better", 0.78), ("middle", 0.5))
}
SCORES = pt.ScoreTable.of(TABLE)


def shown(e):
    return e.picture.value, e.sentence.value


def pixels(e):
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


# ---- a variant -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("gains", "losses"), [(0, 0), (12, 0), (0, 5), (30, 20)])
def test_a_variant_wins_and_loses_as_many_items_as_it_was_told(gains, losses):
    base, new = with_variant(SCORES, "good", gains, losses).scores[[1, -1]]
    assert (int(np.sum(new > base)), int(np.sum(new < base))) == (gains, losses)
    assert set(new.tolist()) <= {0, 1}


def test_more_gains_are_the_same_items_and_others_and_the_table_stays():
    before = SCORES.scores.copy()
    few, many = (with_variant(SCORES, "good", k, 0).scores[-1] for k in (10, 25))
    assert np.all(many >= few)
    assert not np.array_equal(few, with_variant(SCORES, "good", 10, 0, rng=1).scores[-1])
    assert np.array_equal(SCORES.scores, before)


def test_a_scale_and_clusters_are_kept():
    table = pt.ScoreTable.of({"a": [1.0, 0.0, 0.0], "b": [0.5, 0.5, 0.5]}, clusters=["x", "x", "y"])
    found = with_variant(table, "a", 2, 0)
    assert found.scores[-1].tolist() == [found.scale] * 3
    assert found.exact_values[-1] == 1
    assert found.clusters == ("x", "x", "y")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none", 0, 0), "base='none' is no system; there are weak, good, better, middle"),
        (("good", N, 0), f"gains={N} must lie between 0 and"),
        (("good", 0, -1), "losses=-1 must lie between 0 and"),
    ],
)
def test_impossible_variants_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        with_variant(SCORES, *arguments)
    with pytest.raises(ValueError, match="name='weak' is a system already"):
        with_variant(SCORES, "good", 0, 0, name="weak")


# ---- the explorer --------------------------------------------------------------------------------


def test_it_starts_with_a_copy_of_the_best():
    e = LeaderboardExplorer(TABLE)
    assert e.base.value == "better"
    assert e.board.systems == (*TABLE, "new")
    assert e.board.result("better", "new").n_informative == 0
    assert set(e.board.tied_with_best()) >= {"better", "new"}
    assert pixels(e).shape[:2] == (440, 800)


def test_the_board_is_that_of_the_function():
    e = LeaderboardExplorer(TABLE, base="middle", name="ours", alpha=0.01, rng=4)
    e.gains.value, e.losses.value, e.correction.value = 20, 6, "max_t"
    table = with_variant(SCORES, "middle", 20, 6, name="ours", rng=4)
    board = pt.compare_many(table, correction="max_t", alpha=0.01, rng=4)
    assert e.board.to_dict() == board.to_dict()
    exact = pt.exact_perm_test(table.scores[-1], TABLE["middle"])
    assert e.board.result("ours", "middle").pvalue == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("control", "value"),
    [("gains", 25), ("losses", 25), ("base", "weak"), ("correction", "none")],
)
def test_every_control_changes_what_is_shown(control, value):
    e = LeaderboardExplorer(TABLE, base="good")
    e.gains.value = e.losses.value = 9
    before, first = getattr(e, control).value, shown(e)
    getattr(e, control).value = value
    assert all(new != old for new, old in zip(shown(e), first, strict=True))
    getattr(e, control).value = before
    assert shown(e) == first


@pytest.mark.usefixtures("unseen")
def test_enough_gains_stand_out_and_losses_blur_them():
    e = LeaderboardExplorer(TABLE, base="better")
    e.gains.value = e.gains.max
    assert e.board.tied_with_best() == ("new",)
    e.gains.value, e.losses.value = 22, 8
    ahead = e.board.result("new", "better")
    e.gains.value, e.losses.value = 14, 0
    assert e.board.result("new", "better").statistic == pytest.approx(ahead.statistic)
    assert e.board.result("new", "better").pvalue < ahead.pvalue


def test_sliders_end_where_the_base_ends():
    good = pt.ScoreTable.of({"all": [1] * 95 + [0] * 5, "few": [0] * 97 + [1] * 3})
    e = LeaderboardExplorer(good, base="all")
    assert (e.gains.max, e.losses.max) == (5, 15)
    e.losses.value = 15
    e.base.value = "few"
    assert (e.gains.max, e.losses.max, e.losses.value) == (15, 3, 3)
    assert "With 0 more and 3 fewer right than few, new has 0 of 100 right" in e.sentence.value


@pytest.mark.usefixtures("unseen")
def test_the_axis_of_scores_stands_still_and_holds_them_all():
    e, limits = LeaderboardExplorer(TABLE), set()
    for base in TABLE:
        e.base.value = base
        for gains, losses in ((0, e.losses.max), (e.gains.max, 0)):
            e.gains.value, e.losses.value = gains, losses
            limits.add(e._axes[0].get_xlim())
            assert e._axes[0].get_xlim()[0] < e.board.values.min()
            assert e.board.values.max() < e._axes[0].get_xlim()[1]
    assert len(limits) == 1


def test_the_row_of_the_new_system_is_marked():
    e = LeaderboardExplorer(TABLE, base="weak")
    (band,) = [patch for patch in e._axes[0].patches if patch.get_gid() == "new"]
    y = e.board.order().index("new")
    assert band.get_y() < y < band.get_y() + band.get_height()
    assert e._axes[0].get_yticklabels()[y].get_text() == "new"


@pytest.mark.parametrize("systems", [2, MOST])
def test_texts_stay_in_the_picture(systems):
    names = [f"a_name_of_{k:02}_that_is_long" for k in range(systems)]
    rng = np.random.default_rng(1)
    table = {name: rng.random(300) < 0.5 + 0.02 * k for k, name in enumerate(names)}
    e = LeaderboardExplorer({name: column.astype(int) for name, column in table.items()})
    (ax,) = e._axes
    assert len([line for line in ax.lines if line.get_gid() == "group"]) >= (systems == MOST) * 4
    parts = [*ax.get_yticklabels(), *ax.texts, ax.xaxis.label, ax.get_legend()]
    for part in parts:
        box = part.get_window_extent()
        assert e._figure.bbox.x0 <= box.x0 < box.x1 <= e._figure.bbox.x1, part
        assert e._figure.bbox.y0 <= box.y0 < box.y1 <= e._figure.bbox.y1, part
    rows = [label.get_window_extent() for label in e._axes[0].get_yticklabels()]
    assert not [k for k, (a, b) in enumerate(pairwise(rows)) if a.overlaps(b)]


def test_the_sentence_states_the_numbers():
    e = LeaderboardExplorer(TABLE, base="middle")
    e.gains.value, e.losses.value = 21, 3
    text = unescape(e.sentence.value)
    assert describe(e.board, "middle", 21, 3) in text
    right = TABLE["middle"].sum() + 18
    assert f"With 21 more and 3 fewer right than middle, new has {right} of 200 right" in text
    assert "both agree on 88.0% of the items" in text
    low, high = e.board.rank_ranges()[-1]
    assert (f"may be {low} to {high}" if low < high else f"its rank is {low},") in text
    p = e.board.result("new", "middle").pvalue
    assert float(re.search(r": p = ([.\de-]+),", text)[1]) == pytest.approx(p, rel=0.05)
    adjusted = e.board.matrix()[-1, 3]
    found = re.search(r"adjusted for 10 tests ([.\de-]+) \(Holm\)\.", text)
    assert float(found[1]) == pytest.approx(adjusted, rel=0.05)


def test_the_sentence_says_who_is_ahead_tied_and_behind():
    systems = {"low": [0] * 40 + [1] * 10, "same": [0] * 25 + [1] * 25, "top": [1] * 50}
    e = LeaderboardExplorer(systems, base="same")
    assert "ahead of low; tied with same; behind top." in e.sentence.value
    e.correction.value = "none"
    assert "adjusted for 6 tests 1 (no correction)." in e.sentence.value


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = LeaderboardExplorer(TABLE)
    before = shown(e)

    def broken(*_, **__):
        raise RuntimeError("<b>no</b>")

    with monkeypatch.context() as patch:
        patch.setattr(leaderboard, "compare_many", broken)
        e.gains.value = 5
        assert "RuntimeError: &lt;b&gt;no&lt;/b&gt;" in e.sentence.value
        assert not e.picture.value
    e.gains.value = 0
    assert shown(e) == before


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (TABLE, {"base": "none"}, "base='none' is no system"),
        (TABLE, {"name": "good"}, "name='good' is a system already"),
        (TABLE, {"alpha": 2}, r"alpha must lie in \(0, 1\), got 2"),
        ({"a": [1, 2, 0], "b": [1, 0, 1]}, {}, r"table\['a'\]\[1\] = 2 is neither 0 nor 1"),
        ({"a": [1, 0], "b": [0, 0.5]}, {}, r"table\['b'\]\[1\] = 0.5 is neither 0 nor 1"),
        ({f"{k}": [0, 1] for k in range(MOST + 1)}, {}, "table has 12 systems and 2 items"),
        (pt.ScoreTable.of(TABLE, statistic="sum"), {}, "this explorer is for 'mean'"),
    ],
)
def test_arguments_are_checked(table, options, message):
    with pytest.raises(ValueError, match=message):
        LeaderboardExplorer(table, **options)
