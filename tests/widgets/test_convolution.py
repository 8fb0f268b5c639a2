"""The animated convolution: what is drawn adds up, and every control moves it."""

import re
from base64 import b64decode
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import image
from matplotlib.figure import Figure

import permtest as pt
from permtest.null import dp
from permtest.null.dp import Step, spacing
from permtest.widgets import ConvolutionExplorer
from permtest.widgets.convolution import draw_step
from tests import naive, strategies

DIFFERENCES = [-1, -3, -1, -1, 3, -2, 0, 2, 1, 4, 1, -1]
RNG = np.random.default_rng(3)


def laws_of(differences):
    return [pt.pmf(stay=int(d), swap=-int(d)) for d in differences]


LAWS = laws_of(DIFFERENCES)


def explorer(**options: object) -> ConvolutionExplorer:
    return ConvolutionExplorer(LAWS, **options)  # type: ignore[arg-type]


def explorer_of(laws, n):
    return ConvolutionExplorer(laws, n=n)


def shown(e: ConvolutionExplorer) -> tuple[str, str]:
    return e.picture.value, e.sentence.value


def pixels(e: ConvolutionExplorer) -> np.ndarray:
    source = re.search("base64,([^']+)'", e.picture.value)
    assert source is not None
    return image.imread(BytesIO(b64decode(source[1])), format="png")


def drawn(laws, n):
    """The patches of both axes of one step."""
    upper, lower = axes = Figure().subplots(2)
    draw_step(Step.of(laws, n), spacing(laws), axes)
    return upper.patches, lower.patches


def columns(patch):
    """Middle of each column -> its height above the baseline, where there is any."""
    heights, edges, baseline = patch.get_data()
    middles = (edges[1:] + edges[:-1]) / 2
    tops = dict(zip(middles.tolist(), (heights - (baseline or 0)).tolist(), strict=True))
    return {middle: height for middle, height in tops.items() if height}


# ---- one step ----------------------------------------------------------------------------------


@given(strategies.effects(max_size=9, bound=6), st.data())
def test_a_step_is_what_the_slow_twin_says_and_its_copies_add_up(effects, data):
    n = data.draw(st.integers(0, len(effects)))
    laws = [pt.pmf(stay=x, swap=y) for x, y in effects]
    step = Step.of(laws, n)
    expected = naive.convolve([naive.local_law(x, y) for x, y in effects[:n]])
    assert step.n == n
    assert step.n_values == len(expected)
    for value, p in expected.items():
        assert step.law(value) == pytest.approx(float(p), rel=1e-13)
        if n:
            copies = sum(copy.weight * copy.law(value) for copy in step.copies)
            assert copies == pytest.approx(float(p), rel=1e-13)
    assert [copy.effect for copy in step.copies] == sorted(set(effects[n - 1] if n else ()))


@settings(max_examples=20)
@given(strategies.effects(max_size=7, bound=6), st.data())
def test_what_is_drawn_adds_up_to_the_law(effects, data):
    n = data.draw(st.integers(1, max(len(effects), 1)))
    laws = [pt.pmf(stay=x, swap=y) for x, y in (effects or [(1, -1)])]
    upper, (*stacked, law) = drawn(laws, n)
    step = Step.of(laws, n)
    assert law.get_gid() == "law"
    assert columns(law) == {z: step.law(z) for z in step.law.support.tolist() if step.law(z)}
    heights, edges, _ = law.get_data()
    ground = np.zeros(heights.size)
    for part, alone, copy in zip(stacked, upper, step.copies, strict=True):
        support = copy.law.support.tolist()
        expected = {z: copy.weight * copy.law(z) for z in support if copy.law(z)}
        assert columns(alone) == expected
        top, where, baseline = part.get_data()
        np.testing.assert_array_equal(where, edges)
        np.testing.assert_array_equal(baseline, ground)
        ground = top
    np.testing.assert_allclose(ground, heights, rtol=1e-13)


def test_the_copies_differ_by_more_than_colour():
    upper, lower = drawn(LAWS, 3)
    for patches in (upper, lower[:2]):
        first, second = patches
        assert first.get_hatch() != second.get_hatch()
        assert first.get_edgecolor() != second.get_edgecolor()
    assert [patch.get_label() for patch in upper] == ["½ F₂ moved by −1", "½ F₂ moved by +1"]
    assert lower[-1].get_label() == "F₃, their sum"


def test_an_entry_that_changes_nothing_has_one_copy():
    upper, lower = drawn(LAWS, 7)
    assert [patch.get_label() for patch in upper] == ["F₆ moved by 0"]
    assert lower[-1].get_label() == "F₇"
    assert columns(upper[0]) == columns(lower[-1])


def test_no_entry_is_a_single_column():
    upper, lower = drawn(LAWS, 0)
    assert len(upper) == 0
    assert [columns(patch) for patch in lower] == [{0.0: 1.0}]


def test_columns_are_as_wide_as_the_lattice_of_all_entries():
    _, lower = drawn(laws_of([3, 6, 9]), 1)
    assert np.diff(lower[-1].get_data()[1]).tolist() == [6, 6]
    _, lower = drawn(laws_of([0, 0]), 2)
    assert np.diff(lower[-1].get_data()[1]).tolist() == [1]


def test_cells_that_cannot_be_seen_are_not_drawn():
    laws = laws_of([1] * 400)
    _, lower = drawn(laws, 400)
    assert 60 < lower[-1].get_data()[0].size < 120


def test_unequal_probabilities_are_drawn_with_their_weights():
    skewed = pt.LatticeDistribution(0, 1, np.array([0.25, 0.75]))
    upper, _ = drawn([skewed, skewed], 2)
    assert [patch.get_label() for patch in upper] == ["0.25 F₁ moved by 0", "0.75 F₁ moved by +1"]
    assert columns(upper[1]) == {1.0: 0.75 * 0.25, 2.0: 0.75 * 0.75}
    assert "with probability 1/2 each" not in explorer_of([skewed, skewed], 2).sentence.value


@pytest.mark.parametrize("n", [-1, 13])
def test_there_are_as_many_steps_as_entries(n):
    message = rf"n={n} must lie between 0 and the number of laws, 12"
    for make in (Step.of, explorer_of):
        with pytest.raises(ValueError, match=message):
            make(LAWS, n)


# ---- the explorer ------------------------------------------------------------------------------


def test_the_first_view():
    e = explorer(label="lead of 'a' < b")
    assert e.sentence.value.endswith("No entry is in yet: the sum is 0 with certainty.</div>")
    assert "alt='Null distribution of lead of &#x27;a&#x27; &lt; b after 0 entries; described" in (
        e.picture.value
    )
    assert "aria-live='polite'" in e.sentence.value
    assert pixels(e).shape[:2] == (440, 800)


def test_the_sentence_says_what_the_picture_shows():
    sentence = explorer(n=6).sentence.value
    counts = naive.convolve([naive.local_law(d, -d) for d in DIFFERENCES[:6]])
    before = naive.convolve([naive.local_law(d, -d) for d in DIFFERENCES[:5]])
    assert "Entry 6 of 12 adds −2 or +2, with probability 1/2 each." in sentence
    assert f"So far {len(counts)} values can occur, from −11 to +11" in sentence
    sd = sum(d * d for d in DIFFERENCES[:6]) ** 0.5
    assert f"a standard deviation of {sd:.3g}" in sentence
    low, high = (float(before[-3 - z]) for z in (-2, 2))
    assert max(counts.values()) == counts[-3]
    terms = f"0.5 × {low:.4g} + 0.5 × {high:.4g} = {float(counts[-3]):.4g}"
    assert f"The most likely one is −3, with probability {terms}." in sentence


def test_an_entry_that_changes_nothing_is_described():
    assert "Entry 7 of 12 adds 0. So far 12 values" in explorer(n=7).sentence.value


@pytest.mark.parametrize(("control", "value"), [("n", 2), ("order", "shortest")])
def test_every_control_changes_what_is_shown(control, value):
    e = explorer(n=5)
    before, old = shown(e), getattr(e, control).value
    getattr(e, control).value = value
    assert e.picture.value != before[0]
    assert e.sentence.value != before[1]
    getattr(e, control).value = old
    assert shown(e) == before


@pytest.mark.usefixtures("unseen")
def test_the_order_of_the_entries_does_not_matter_in_the_end():
    e = explorer(n=len(LAWS))
    law = e.step.law
    e.order.value = "shortest"
    np.testing.assert_array_equal(e.step.law.support, law.support)
    np.testing.assert_array_equal(e.step.law.pmf, law.pmf)
    effects = []
    for n in range(1, len(LAWS) + 1):
        e.n.value = n
        effects.append(e.step.copies[-1].effect)
    assert effects == sorted(abs(d) for d in DIFFERENCES)


def test_play_moves_the_slider():
    e = explorer(n=4)
    assert (e._link.source, e._link.target) == ((e.play, "value"), (e.n, "value"))
    for control in (e.play, e.n):
        assert (control.min, control.max, control.value) == (0, 12, 4)
    assert e.play.step == 1
    assert e.play in e.box.children[0].children
    assert explorer_of(laws_of([1] * 500), 0).play.interval < e.play.interval


@pytest.mark.usefixtures("unseen")
def test_axes_do_not_jump():
    differences = RNG.integers(1, 5, 200)
    e = explorer_of(laws_of(differences), 0)
    seen = []
    for n in [*range(20), *range(20, 201, 9)]:
        e.n.value = n
        limits = {(*ax.get_xlim(), *ax.get_ylim()) for ax in e._axes}
        assert len(limits) == 1
        seen.append(*limits)
        assert e.step.law.pmf.max() < seen[-1][3] < 2.2 * e.step.law.pmf.max()
    assert len({(left, right) for left, right, *_ in seen}) == 1
    tops = [top for *_, top in seen]
    assert tops == sorted(tops, reverse=True)
    assert sum(a != b for a, b in pairwise(tops)) <= 7


@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize("drift", [-9, 0, 6])
def test_all_that_can_be_seen_is_inside_of_the_axes(drift):
    effects = drift + np.random.default_rng(5).integers(-6, 7, (12, 2))
    laws = [pt.pmf(stay=x, swap=y) for x, y in effects.tolist()]
    e = explorer_of(laws, 0)
    for n in range(len(laws) + 1):
        e.n.value = n
        left, right = e._axes[1].get_xlim()
        support, pmf = e.step.law.support, e.step.law.pmf
        assert pmf[(support < left) | (support > right)].sum() < 1e-3


def test_an_error_in_a_callback_is_shown_and_forgotten(monkeypatch):
    e = explorer()
    before = shown(e)

    def broken(*_: object) -> None:
        raise RuntimeError("the <b>test</b> is broken")

    with monkeypatch.context() as patch:
        patch.setattr(dp, "convolve_dp", broken)
        e.n.value = 3
        assert "RuntimeError: the &lt;b&gt;test&lt;/b&gt; is broken" in e.sentence.value
        assert "role='alert'" in e.sentence.value
        assert not e.picture.value
    e.n.value = 0
    assert shown(e) == before


@pytest.mark.parametrize(
    ("laws", "kind", "message"),
    [
        ([], ValueError, "at least one entry"),
        ([pt.pmf(1, 0), 3], TypeError, r"pmfs\[1\] = 3 is not the law of an entry"),
        (laws_of([10**6, 1]), ValueError, "has 1,000,002 cells, too many to be drawn"),
    ],
)
def test_laws_that_cannot_be_drawn_are_refused_at_once(laws, kind, message):
    with pytest.raises(kind, match=message):
        ConvolutionExplorer(laws)
