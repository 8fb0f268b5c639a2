"""The moving figures, seen from Python: what they take, and what they leave in a notebook."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image
from traitlets import TraitError

import permtest as pt
from permtest.course import figures

U, V = [5, 27, 6, 6, 26, 20, 3], [6, 25, 5, 5, 27, 19, 3]
NAMES = ("crf_rich", "crf_base")

MADE = {
    "swap": lambda: figures.Swap(U, V, names=NAMES),
    "swap, all": lambda: figures.Swap(U, V, names=("$a$ " * 12, "b"), view="all"),
    "convolution": lambda: figures.Convolution([1, 0, -2, 1], label="lead of $a$"),
    "peeking": lambda: figures.Peeking(items=60),
}


@pytest.mark.parametrize("name", MADE)
def test_a_figure_leaves_a_still_and_its_state(name):
    figure = MADE[name]()
    data, metadata = figure._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == figure.model_id
    file = base64.b64decode(data["image/png"])
    assert len(file) <= 60_000
    assert Image.open(io.BytesIO(file)).mode == "P"
    assert len(metadata["image/png"]["alt"]) > 60
    assert data["text/plain"] == metadata["image/png"]["alt"]
    kept = json.loads(json.dumps(metadata["permtest"]))
    assert kept == {"figure": name.partition(",")[0], "state": figure.state()}
    assert not [value for value in kept["state"].values() if isinstance(value, list) and value[6:]]
    assert kept["state"].keys() <= set(figure.keys)


def test_a_still_says_what_the_exact_test_says():
    alt = figures.Swap(U, V, names=NAMES)._repr_mimebundle_()[1]["image/png"]["alt"]
    assert "lead of crf_rich over crf_base on 6 sentences" in alt
    assert f"p = {pt.exact_perm_test(U, V).pvalue:.3g}" in alt


def test_cards_have_ids_where_there_are_any():
    named = pt.Scores.of(U, V, NAMES, ids=tuple("abcdefg"))
    assert figures.Swap(named, cards=[2, 4]).labels == ["c", "e"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: figures.Swap([0.5, 1], [1, 2]), "whole numbers; multiply them by"),
        (lambda: figures.Swap([0, 200_000], [0, 1]), "add up to 199,999"),
        (lambda: figures.Swap(U, V, cards=[9]), "cards: 9 is no position from 0 to 6"),
        (lambda: figures.Swap(U, U), "cards"),
        (lambda: figures.Swap(U, V, labels=["x"]), "1 titles for 6 cards"),
        (lambda: figures.Swap(U, V, view="some"), "view"),
        (lambda: figures.Swap(U, V, tosses=10**6), "tosses"),
        (lambda: figures.Swap(np.ones((3, 3)), np.ones((3, 3))), "one"),
        (lambda: figures.Convolution([1.5]), "differences must be whole numbers"),
        (lambda: figures.Convolution([1, 0], start=2), "differences other than 0 are 1"),
        (lambda: figures.Peeking(items=5), "items"),
    ],
)
def test_an_error_names_the_argument(make, says):
    with pytest.raises((TypeError, ValueError, TraitError), match=says):
        make()


def test_state_cannot_end_its_script():
    div = figures.page_div("swap", figures.Swap(U, V, names=("</script>", "b")).state())
    assert div.count("</script>") == 1


def test_the_script_of_a_page_is_classic():
    script = figures.page_script()
    assert "import " not in script.replace("important ", "")
    assert "export " not in script
    assert all(f"figures.{kind.figure} =" in script for kind in figures.FIGURES)
