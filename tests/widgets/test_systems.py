"""The explorer: every control moves the picture and the sentence, and nothing fails unseen."""

import re
from base64 import b64decode
from io import BytesIO
from itertools import pairwise, permutations

import numpy as np
import pytest
from matplotlib import image

import permtest as pt
from permtest.widgets import TwoSystemsExplorer, two_systems

RNG = np.random.default_rng(4)
SCORES = {name: RNG.integers(low, 9, 400) for low, name in enumerate(["weak", "fair", "good"])}


def explorer(**options: object) -> TwoSystemsExplorer:
    return TwoSystemsExplorer(SCORES, **options)  # type: ignore[arg-type]


def shown(e: TwoSystemsExplorer) -> tuple[str, str]:
    return e.picture.value, e.sentence.value


def pixels(e: TwoSystemsExplorer) -> np.ndarray:
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


def test_the_first_view_is_of_all_items_of_the_first_two():
    e = explorer(statistic="accuracy", items="sentences")
    expected = pt.exact_perm_test(
        SCORES["weak"], SCORES["fair"], statistic="accuracy", names=("weak", "fair")
    )
    assert e.result.pvalue == expected.pvalue
    assert str(expected) in e.sentence.value
    assert "sentences" in e.n.description
    assert pixels(e).shape[:2] == (440, 800)


@pytest.mark.parametrize(
    ("control", "value"),
    [("a", "good"), ("b", "good"), ("n", 150), ("tails", "greater"), ("scale", "log")],
)
def test_every_control_changes_what_is_shown(control, value):
    e = explorer()
    picture, sentence = shown(e)
    before = getattr(e, control).value
    getattr(e, control).value = value
    assert e.picture.value != picture
    assert (e.sentence.value != sentence) == (control != "scale")
    getattr(e, control).value = before
    assert shown(e) == (picture, sentence)


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize(("a", "b"), list(permutations(SCORES, 2)))
@pytest.mark.parametrize("tails", ["two-sided", "greater"])
def test_every_pair_shows_what_the_test_says(a, b, tails):
    e = explorer(a=a, b=b)
    e.tails.value = tails
    e.n.value = 37
    expected = pt.exact_perm_test(SCORES[a][:37], SCORES[b][:37], alternative=tails, names=(a, b))
    assert str(expected) in e.sentence.value
    assert f"share of {expected.pvalue_text()}" in e.sentence.value
    assert "alert" not in e.sentence.value


def test_the_same_system_twice():
    e = explorer()
    e.b.value = e.a.value
    assert "compared with itself" in e.sentence.value
    assert "p = 1" in e.sentence.value
    assert e.picture.value


def test_a_system_called_like_another_one_again_is_another_one():
    e = TwoSystemsExplorer({"x": [1, 2], "x again": [0, 0]})
    assert "x is 3 points ahead of x again" in e.sentence.value


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_axes_change_in_coarse_steps(scale):
    e = explorer()
    e.scale.value = scale
    seen = []
    for n in range(1, 401, 7):
        e.n.value = n
        left, right = e._axes[0].get_xlim()
        assert left == -right
        assert f"{right:.0e}"[0] in "125"
        assert left < e.result.observed_sum < right
        bottom, top = e._axes[0].get_ylim()
        assert e.result.null_distribution.pmf.max() < (top if scale == "log" else 0.95 * top)
        seen.append((right, bottom, top))
    assert sum(a != b for a, b in pairwise(seen)) <= 12


def test_a_small_bell_fills_the_picture():
    e = explorer()
    e.n.value = 42
    law, (_, right) = e.result.null_distribution, e._axes[0].get_xlim()
    assert max(4 * law.std(), abs(e.result.observed_sum)) > right / 3
    assert law.pmf.max() > e._axes[0].get_ylim()[1] / 2.2


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([5, 5, 5], [1, 1, 1], "gives a a lead of at least 12"),
        ([1, 2], [2, 1], "leaves a level with b or ahead"),
        ([1, 1, 1], [5, 5, 5], "leaves a at most 12 behind b, or level or ahead"),
        ([0] * 14 + [1], [1] * 14 + [0], "a share of 0.99997 leaves a at most 13"),
    ],
)
def test_the_sentence_about_one_tail_fits_every_lead(a, b, words):
    e = TwoSystemsExplorer({"a": a, "b": b})
    e.tails.value = "greater"
    assert words in e.sentence.value


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = explorer()
    before = shown(e)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the <b>test</b> is broken")

    with monkeypatch.context() as patch:
        patch.setattr(two_systems, "exact_perm_test", broken)
        e.n.value = 10
        assert "RuntimeError: the &lt;b&gt;test&lt;/b&gt; is broken" in e.sentence.value
        assert "role='alert'" in e.sentence.value
        assert not e.picture.value
    e.n.value = 400
    assert shown(e) == before


def test_the_picture_has_an_alternative_text_and_the_sentence_is_announced():
    e = TwoSystemsExplorer({"a'<b>": [1, 2, 3], "plain": [0, 2, 2]})
    assert "alt='Null distribution of a&#x27;&lt;b&gt; minus plain; described below'" in (
        e.picture.value
    )
    assert "aria-live='polite'" in e.sentence.value
    assert "<b>" not in e.sentence.value


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "at least two systems"),
        ({"only one": [1, 2]}, "at least two systems"),
        ({"a": [], "b": []}, "two systems and one item"),
        ({"a": [1], "b": [1, 2]}, "{'a': 1, 'b': 2}"),
        ({"a": [1, 0.5]}, r"a\[1\] = 0.5 is not a whole number"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused_at_once(scores, message):
    with pytest.raises(ValueError, match=message):
        TwoSystemsExplorer(scores)


def test_an_unknown_system_and_a_bare_list_are_refused():
    with pytest.raises(ValueError, match=r"a='z' is not a system; choose one of \['weak', 'fair'"):
        explorer(a="z")
    with pytest.raises(TypeError, match="must map names of systems to their scores, not be a list"):
        TwoSystemsExplorer([[1, 2], [2, 3]])  # type: ignore[arg-type]


def test_a_data_frame_will_do():
    pandas = pytest.importorskip("pandas")
    assert TwoSystemsExplorer(pandas.DataFrame(SCORES)).result == explorer().result
