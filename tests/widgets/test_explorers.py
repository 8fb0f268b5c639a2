"""What holds of all explorers: they open with something to see, follow, and fail visibly."""

import re
from base64 import b64decode
from io import BytesIO
from types import SimpleNamespace

import ipywidgets
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image

from permtest import widgets as w
from permtest.alternatives import block_weight
from permtest.widgets import frame

RNG = np.random.default_rng(4)
SCORES = {name: RNG.integers(low, 9, 400) for low, name in enumerate(["weak", "fair", "good"])}
GOLD = RNG.integers(0, 4, 150)
COUNTS = [
    np.column_stack((hits, RNG.integers(0, 2, 150), GOLD - hits))
    for hits in (RNG.binomial(GOLD, 0.8), RNG.binomial(GOLD, 0.7))
]
A = RNG.integers(0, 9, 90)
B = np.clip(A + RNG.integers(-3, 3, 90), 0, 9)

#: What makes each explorer, and where its controls are put; those that are dragged come first.
CASES = {
    "assumptions": (w.AssumptionsExplorer, {"r12": 0.3, "n": 120, "lead": 4.5}, 3),
    "posterior": (
        lambda: w.PosteriorExplorer((90, 10, 20), (95, 9, 15), rope=0.02),
        {"tp_a": 85, "fp_b": 12, "gold_a": 120, "rope": 0.03}
        | {"metric": "recall", "prior": 10.0, "weight": block_weight(3)},
        4,
    ),
    "power": (lambda: w.PowerExplorer(A, B), {"lead": 0.5, "n": 5000, "alpha": 0.1}, 3),
    "staircase": (
        lambda: w.StaircaseExplorer(*COUNTS, names=("new", "old")),
        {"hits": 155, "misses": 125, "statistic": "precision", "tails": "greater"},
        2,
    ),
    "tail": (lambda: w.TailExplorer(SCORES["weak"], SCORES["good"]), {"lead": 400}, 1),
    "two systems": (
        lambda: w.TwoSystemsExplorer(SCORES),
        {"n": 390, "a": "good", "b": "good", "tails": "greater"},
        1,
    ),
}
FOR_GOOD = ("gold_a", "weight")  # other controls follow these, or axes, and stay where they are


def lines(box):
    """How many lines of controls there are above the picture."""
    if isinstance(box, ipywidgets.HBox):
        return max(map(lines, box.children))
    if isinstance(box, ipywidgets.VBox):
        return sum(map(lines, box.children))
    return not box.layout.flex  # it is not the picture or the sentence


def shown(e):
    return e.picture.value, e.sentence.value


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """An explorer, which every test leaves as it was, or nearly so."""
    make, moves, dragged = CASES[request.param]
    return SimpleNamespace(e=make(), moves=moves, dragged=list(moves)[:dragged])


def test_it_opens_with_something_to_see(case):
    source = re.search("base64,([^']+)'", case.e.picture.value)
    found = image.imread(BytesIO(b64decode(source[1])), format="png")
    shown = re.search("width='608' height='([0-9]+)'", case.e.picture.value)
    assert found.shape[:2] == (pytest.approx(int(shown[1]) / 0.76, abs=1), 800)
    assert 32 * lines(case.e.box) + int(shown[1]) <= 480, "all of it fits on a projected page"
    assert len(np.unique(found.reshape(-1, found.shape[2]), axis=0)) > 20
    assert re.search("alt='[^']{20,}; described below'", case.e.picture.value)
    assert "role='status' aria-live='polite'" in case.e.sentence.value
    assert "application/vnd.jupyter.widget-view+json" in case.e._repr_mimebundle_()


def test_every_control_changes_the_picture_and_back(case):
    e, moves, settings = case.e, case.moves, dict(mpl.rcParams)
    for control in sorted(case.moves, key=lambda control: control in FOR_GOOD):
        bar = getattr(e, control)
        before, first = bar.value, shown(e)
        assert before != moves[control]
        bar.value = moves[control]
        assert "alert" not in e.sentence.value
        assert e.picture.value != first[0]
        assert e.sentence.value != first[1]
        bar.value = before
        assert control in FOR_GOOD or shown(e) == first, control
    assert {key for key in settings if settings[key] != mpl.rcParams[key]} == set()


def test_what_is_dragged_keeps_its_limits_and_makes_one_picture(case, monkeypatch):
    drawn, before = [], {name: getattr(case.e, name).value for name in case.dragged}
    with monkeypatch.context() as patch:
        patch.setattr(frame, "png", lambda figure: drawn.append(figure) or b"")
        for count, name in enumerate(before, start=1):
            limits = [(ax.get_xlim(), ax.get_position().bounds) for ax in case.e._axes]
            getattr(case.e, name).value = case.moves[name]
            assert [(ax.get_xlim(), ax.get_position().bounds) for ax in case.e._axes] == limits
            assert len(drawn) == count
    for name, value in before.items():
        getattr(case.e, name).value = value


def test_an_error_is_shown_where_one_looks_and_forgotten(monkeypatch):
    e = w.TwoSystemsExplorer(SCORES)
    first = shown(e)
    with monkeypatch.context() as patch:
        patch.setattr(e, "_draw", lambda: {}["<b>"])
        e.n.value = 7
        assert re.search("role='alert'.*KeyError: .*&lt;b&gt;", e.sentence.value)
        assert not e.picture.value
    e.n.value = 400
    assert shown(e) == first


def test_arguments_are_checked():
    for make, message in [
        (lambda: w.TwoSystemsExplorer({"a": [1], "b": [1, 2]}), "'b': 2"),
        (lambda: w.TwoSystemsExplorer(SCORES, a="z"), "A: 'z' is not an option"),
        (lambda: w.TailExplorer([10**6, 1], [0, 0]), "1,000,002 cells, too many to draw"),
        (lambda: w.PowerExplorer([2, 2], [1, 1]), "all 2 differences are 1"),
        (lambda: w.PosteriorExplorer((1, 2.5, 3)), "sliders need whole ones"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
