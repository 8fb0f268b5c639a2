"""The moving figures, seen from Python: what they take, and what they leave in a notebook."""

import base64
import json
import re

import pytest
from traitlets import TraitError

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
    assert "application/vnd.jupyter.widget-view+json" in data
    assert len(base64.b64decode(data["image/png"])) <= 60_000
    assert len(metadata["image/png"]["alt"]) > 60
    lead = f"crf_rich leads crf_base by {sum(U) - sum(V):+} words on 6 sentences"
    assert name != "swap" or lead in metadata["image/png"]["alt"]
    assert data["text/plain"] == metadata["image/png"]["alt"]
    kept = json.loads(json.dumps(metadata["permtest"]))
    assert kept == {"figure": name.partition(",")[0], "state": figure.state()}
    assert not [value for value in kept["state"].values() if isinstance(value, list) and value[6:]]


def test_a_state_that_the_script_cannot_show_is_refused():
    for refused in ({"u": [0.5] * 7}, {"u": V}, {"view": "some"}):
        with pytest.raises(TraitError):
            figures.Swap(**{"u": U, "v": V, "names": NAMES} | refused)


def test_a_page_has_one_script_that_no_state_can_end():
    state = figures.Swap(U, V, names=("</script>", "b")).state()
    div = figures.page_div("swap", state, "<p>still</p>")
    assert div.startswith('<div id="permtest-swap"><p>still</p></div><script type="module">')
    assert div.count("</script>") == 1
    assert not re.search("^(import|export) ", div, re.MULTILINE)
