"""Estimation plots: what is drawn is what was found, for any kind of scores."""

from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from permtest import Pairs
from permtest.plots import plot_estimation
from permtest.plots.two_systems import _three_axes as estimation_axes
from permtest.study import overview

mpl.use("Agg")

RNG = np.random.default_rng(3)
NAMES = ("$new_1$", "<b>old</b>")
COUNTS = ("tp", "fp", "fn")
A = RNG.integers(0, 9, 300)
SHIFTED = np.clip(A + RNG.integers(-3, 3, 300), 0, 9)
CASES = {
    "points": (Pairs.of(A, SHIFTED, NAMES), "mean"),
    "bits": (Pairs.of(A > 3, SHIFTED > 3, NAMES), "accuracy"),
    "decimals": (Pairs.of(RNG.normal(0, 1, 60).round(1), RNG.normal(0, 1, 60).round(1)), "sum"),
    "counts": (
        Pairs.of_counts(RNG.poisson(0.7, (400, 3)), RNG.poisson(0.7, (400, 3)), [COUNTS], NAMES),
        "f1",
    ),
    "one": (Pairs.of([3], [1], NAMES), "mean"),
    "ties": (Pairs.of(A, A, NAMES), "mean"),
}


@cache
def found_in(name):
    """The overview of a case, computed once."""
    pairs, statistic = CASES[name]
    return overview(pairs, statistic=statistic)


@pytest.mark.parametrize("name", CASES)
def test_bars_and_legend_are_the_record(name):
    found = found_in(name)
    _, differences, _ = plot_estimation(found, ax=estimation_axes(Figure()))
    counts = {"higher": found.record.wins, "equal": found.record.ties, "lower": found.record.losses}
    for gid, count in counts.items():
        assert sum(bar.get_height() for bar in differences.patches if bar.get_gid() == gid) == count
    numbers = [text.get_text().rpartition(": ")[2] for text in differences.get_legend().get_texts()]
    assert numbers == [f"{n:,}" for n in counts.values()]


@pytest.mark.parametrize("name", CASES)
def test_the_mean_stands_below_its_differences(name):
    found = found_in(name)
    _, differences, mean = plot_estimation(found, ax=estimation_axes(Figure()))
    per_item = len(found.pairs) if CASES[name][1] in ("sum", "accuracy") else 1
    line = next(line for line in mean.lines if line.get_gid() == "interval")
    assert line.get_xdata()[1] == pytest.approx(found.difference / per_item)
    if found.interval is not None:
        assert line.get_xdata()[[0, 2]] == pytest.approx(np.array(found.interval) / per_item)
    low, high = mean.get_xlim()
    assert low < 0 < high
    ends = differences.get_xlim()
    assert ends[0] < found.difference / per_item < ends[1]
    links = [artist for artist in mean.figure.artists if artist.get_gid() == "link"]
    assert [link.xy1[0] for link in links] == [0, 1]
    assert [link.xy2[0] for link in links] == [
        pytest.approx(np.clip(x, *ends)) for x in mean.get_xlim()
    ]
