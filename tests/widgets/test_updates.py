"""What all explorers have in common: how they are shown, and how much a moved control costs."""

import subprocess
import sys
from operator import attrgetter

import matplotlib as mpl
import numpy as np
import pytest

import permtest as pt
from permtest import widgets
from permtest.widgets import frame

RNG = np.random.default_rng(2)
U, V = RNG.integers(0, 9, (2, 800))
F, G = RNG.integers(0, 9, (2, 30, 3))
RIGHT = {name: RNG.integers(0, 2, 60) for name in ("weak", "good", "better")}

#: An explorer, one of its controls, and where that is put.
EXPLORERS = {
    "assumptions": (lambda: widgets.AssumptionsExplorer(n=200), "r12", 0.1),
    "convolution": (
        lambda: widgets.ConvolutionExplorer([pt.pmf(d, -d) for d in map(int, U[U > 0])]),
        "n",
        300,
    ),
    "leaderboard": (lambda: widgets.LeaderboardExplorer(RIGHT), "losses", 3),
    "posterior": (lambda: widgets.PosteriorExplorer((90, 10, 20), (95, 9, 15)), "prior", 2.0),
    "power": (lambda: widgets.PowerExplorer(U[:90], V[:90]), "lead", 0.1),
    "sampling": (lambda: widgets.SamplingExplorer(U, V, K=200), "seed", 7),
    "staircase": (lambda: widgets.StaircaseExplorer(F, G), "hits", 3),
    "tail": (lambda: widgets.TailExplorer(U, V), "lead", None),
    "two systems": (lambda: widgets.TwoSystemsExplorer({"a": U, "b": V}), "n", 300),
}


@pytest.fixture(params=EXPLORERS)
def case(request):
    make, control, value = EXPLORERS[request.param]
    explorer = make()
    slider = attrgetter(control)(explorer)
    return explorer, slider, slider.options[3][1] if value is None else value


def test_a_moved_control_draws_one_picture_of_few_parts(case, monkeypatch):
    explorer, control, value = case
    drawn = []

    def png(figure):
        drawn.append(len(figure.findobj()))
        return b""

    monkeypatch.setattr(frame, "png", png)
    control.value = value
    assert len(drawn) == 1
    assert drawn[0] < 1000
    assert "role='status'" in explorer.sentence.value


def test_it_is_displayed_as_a_widget_and_leaves_matplotlib_alone(case):
    explorer, control, value = case
    before = dict(mpl.rcParams)
    bundle = explorer._repr_mimebundle_()
    control.value = value
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()


def test_pyplot_is_not_loaded():
    code = "import sys, permtest.widgets; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_says_what_to_install_where_ipywidgets_is_missing():
    code = (
        "import sys; sys.modules['ipywidgets'] = None\n"
        "try: import permtest.widgets\n"
        "except ImportError as error: assert 'permtest[lab]' in str(error)\n"
        "else: raise SystemExit('no error')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
