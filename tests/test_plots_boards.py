"""Pictures of many systems: what is drawn is what the board says."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import permtest as pt
from permtest.plots import plot_pairs, plot_ranking
from permtest.plots.boards import numbers, p_text

RNG = np.random.default_rng(5)


def simulated(systems, n=120, best=0.9):
    shares = np.linspace(0.4, best, systems)[:, None]
    right = (RNG.random((systems, n)) < shares).astype(int)
    return {f"system {i}": row for i, row in enumerate(right)}


EQUAL = RNG.integers(0, 5, 50)
LENGTHS = RNG.integers(5, 20, 80)


TABLES = {
    "several": (simulated(6), {}),
    "equal": (dict.fromkeys("abcd", EQUAL), {}),
    "two": ({"new": [3, 5, 4, 6, 2, 7, 8], "old": [2, 3, 3, 3, 1, 5, 6]}, {}),
    "errors": (
        {
            f"asr{i}": np.stack([RNG.binomial(LENGTHS, 0.1 + 0.04 * i), LENGTHS], axis=1)
            for i in range(4)
        },
        {"statistic": "wer"},
    ),
    "sums": ({"new": EQUAL * 1000 + 7, "old": EQUAL * 1000}, {"statistic": "sum"}),
}
BOARDS = {name: pt.compare_many(table, **options) for name, (table, options) in TABLES.items()}
BESIDE = {
    side: pt.compare_many(TABLES["several"][0], baseline="system 3", alternative=side)
    for side in ("two-sided", "greater", "less")
}


def marks(ax, *gids):
    return {line.get_ydata()[0]: line for line in ax.lines if line.get_gid() in gids}


def texts(ax, gid):
    return [text.get_text() for text in ax.texts if text.get_gid() == gid]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def title(ax):
    return ax.get_title(loc="left").replace("\n", " ")


def ranking(board):
    return plot_ranking(board, ax=Figure(figsize=(11, 6)).subplots())


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", BOARDS)
def test_every_system_has_a_row_with_its_value_and_ranks(name):
    board = BOARDS[name]
    ax = ranking(board)
    order = board.order()
    assert names(ax) == order
    drawn = marks(ax, "tied", "behind")
    for y, (system, note) in enumerate(zip(order, texts(ax, "note"), strict=True)):
        i = board.systems.index(system)
        tied = system in board.tied_with_best()
        low, high = board.rank_ranges()[i]
        assert note == (f"rank {low}" if low == high else f"rank {low} to {high}")
        assert drawn[y].get_xdata()[0] == board.values[i]
        assert drawn[y].get_gid() == ("tied" if tied else "behind")
        assert (ax.get_yticklabels()[y].get_fontweight() == "bold") == tied
    assert title(ax) == board.sentence()
    assert ax.get_ylim()[0] > len(order) - 1 > -0.5 > ax.get_ylim()[1]


@pytest.mark.parametrize("side", BESIDE)
def test_beside_a_baseline_differences_are_drawn(side):
    board = BESIDE[side]
    ax = ranking(board)
    drawn = marks(ax, "differs", "same", "baseline")
    for y, system in enumerate(board.order()):
        note, line = texts(ax, "note")[y], drawn[y]
        if system == "system 3":
            assert (note, line.get_gid(), *line.get_xdata()) == ("baseline", "baseline", 0)
            continue
        (p,) = np.flatnonzero(board.first == board.systems.index(system))
        assert line.get_xdata()[0] == board.statistic[p]
        assert line.get_gid() == ("differs" if board.differs[p] else "same")
        text = p_text(board.adjusted[p], 0.05)
        assert note == (f"p {text}" if text == ">0.99" else f"p = {text}")
    words = {"two-sided": "differ", "greater": "score more", "less": "score less"}[side]
    key = [text.get_text() for text in ax.get_legend().get_texts()]
    assert key == [f"shown to {words}", f"not shown to {words}"]
    assert "minus system 3, with p (Holm)" in ax.get_xlabel()
    assert title(ax) == board.sentence()


@pytest.mark.parametrize("name", BOARDS)
def test_all_pairs_have_their_numbers(name):
    board = BOARDS[name]
    ax = plot_pairs(board)
    order = [board.systems.index(system) for system in board.order()]
    assert names(ax) == [f"{board.places()[i]}  {board.systems[i]}" for i in order]
    assert [x.get_text() for x in ax.get_xticklabels()] == [f"{board.places()[i]}" for i in order]
    pairs = {text.get_position()[::-1]: text for text in ax.texts if text.get_gid() == "p"}
    apart = {text.get_position()[::-1]: text for text in ax.texts if text.get_gid() == "difference"}
    hatched = {
        (round(patch.get_y() + 0.46), round(patch.get_x() + 0.46))
        for patch in ax.patches
        if patch.get_gid() == "same" and patch.get_hatch()
    }
    wanted = list(combinations(range(len(order)), 2))
    assert sorted(pairs) == wanted
    assert sorted(apart) == sorted((j, i) for i, j in wanted)
    differ, adjusted = board.matrix("statistic"), board.matrix()
    for i, j in wanted:
        a, b = order[i], order[j]
        p = adjusted[a, b]
        assert pairs[i, j].get_text() == p_text(p, board.alpha)
        assert ((i, j) in hatched) == (p > board.alpha)
        number = apart[j, i].get_text().replace("\N{MINUS SIGN}", "-").replace(",", "")
        assert float(number) == pytest.approx(differ[b, a], rel=0.005)
    assert texts(ax, "value") == numbers(board.values[order].tolist())
    assert title(ax) == board.sentence()


def test_pairs_need_all_pairs():
    with pytest.raises(ValueError, match=r"only with 'system 3'.*plot_ranking"):
        plot_pairs(BESIDE["less"])
