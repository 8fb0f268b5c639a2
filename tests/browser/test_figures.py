"""The moving figures on a static page, from a disk: mouse, touch, keyboard, two widths."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import permtest as pt
from permtest.course import figures

pytestmark = pytest.mark.browser

U, V = (np.random.default_rng(seed).integers(0, 30, 2077) for seed in (5, 6))
V[500:] = U[500:]
NAMES = ("crf_rich", "crf_base")
WIDE, NARROW = 1400, 400

COUNT_FRAMES = """
window.drawn = 0;
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (then) => ask((time) => { window.drawn += 1; then(time); });
"""


both_widths = pytest.mark.parametrize("width", [WIDE, NARROW])


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A page of figures, as a book would have it; it must ask nobody for anything, nor complain."""
    contexts, asked, said = [], [], []

    def show(shown: Any, width: int = WIDE, **options: Any) -> Any:
        div = figures.page_div(shown.figure, shown.state(), "<p class='still'>A</p>")
        file = tmp_path / "page.html"
        file.write_text(
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Figures</title>"
            "<meta name='viewport' content='width=device-width'>"
            "<meta name='color-scheme' content='light dark'>"
            f"<body>{div}</body></html>",
            encoding="utf-8",
        )
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        contexts.append(context)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text))
        page.add_init_script(COUNT_FRAMES)
        page.set_default_timeout(60_000)
        page.goto(file.as_uri())
        assert page.locator(".still").count() == 0
        return page

    yield show
    for context in contexts:
        context.close()
    assert not said
    assert all(url.startswith("file:") for url in asked)


def note(page: Any) -> str:
    return str(page.get_by_role("status").inner_text())


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=re.compile(name)).first.click()


def p_shown(page: Any) -> float:
    """The exact p, with all its digits."""
    return float(page.locator(".ptf").get_attribute("data-p"))


def small_swap(**options: Any) -> figures.Swap:
    return figures.Swap([5, 27, 6, 6, 26, 20], [6, 25, 5, 5, 27, 19], names=NAMES, **options)


# ---- every figure --------------------------------------------------------------------------------

FIGURES = {
    "swap": lambda: figures.Swap(U, V, names=NAMES),
    "swap, all": lambda: figures.Swap(U, V, names=NAMES, view="all"),
    "swap, long": lambda: figures.Swap(
        [9, 1], [0, 7], names=("system" * 9, "a long-ish name " * 4)
    ),
    "convolution": lambda: figures.Convolution(U - V, label="lead of crf_rich"),
    "convolution, many": lambda: figures.Convolution(U - V, start=300),
    "peeking": lambda: figures.Peeking(),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_a_figure_fits_its_page_and_can_be_touched_or_reached_by_keys(
    open_page, width, name, scheme
):
    page = open_page(FIGURES[name](), width=width, color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.scrollWidth === {width}")
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    clipped = page.evaluate("""() => [...document.querySelectorAll(".ptf svg[width] text")].filter(
      (text) => {
        const [a, b] = [text, text.ownerSVGElement].map((node) => node.getBoundingClientRect());
        return Math.max(b.left - a.left, a.right - b.right, b.top - a.top, a.bottom - b.bottom) > 1;
      }).map((text) => text.textContent)""")
    assert not clipped
    assert not page.evaluate("""() => [...document.querySelectorAll(".ptf *")].filter(
      (node) => node.scrollWidth > node.clientWidth + 1
        && getComputedStyle(node).display !== "inline"
      ).map((node) => node.outerHTML)""")
    assert ("dark" in page.locator(".ptf").get_attribute("class")) == (scheme == "dark")
    at = "[...document.querySelectorAll('button')].indexOf(document.activeElement)"
    enabled, reached = page.locator(".ptf button:enabled").count(), set()
    for _ in range(enabled + 8):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(at))
    assert len(reached - {-1}) == enabled


# ---- swap ----------------------------------------------------------------------------------------


@both_widths
@pytest.mark.parametrize("how", ["touch", "Enter", " "])
def test_a_card_is_swapped(open_page, width, how):
    page = open_page(small_swap(), width=width, has_touch=True)
    card = page.locator(".card").nth(1)
    page.touchscreen.tap(*middle(card)) if how == "touch" else card.press(how)
    assert card.get_attribute("aria-pressed") == "true"
    assert "sentence 1: crf_rich 25, crf_base 27, swapped" in card.get_attribute("aria-label")
    assert "You swapped sentence 1. crf_base now leads by 1 word." in note(page)
    card.click()
    assert "You put back sentence 1. crf_rich now leads by 3 words." in note(page)


def middle(element: Any) -> tuple[float, float]:
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_dots_are_counted_and_all_labellings_listed(open_page):
    page = open_page(small_swap(tosses=0))
    assert note(page).startswith("crf_rich leads by 3 words on these 6 sentences.")
    press(page, "Toss once")
    press(page, "^10 times")
    bound = "lead by at least 3 words in either direction"
    found = re.fullmatch(rf"(\d+) of 11 labellings {bound}: p is about ([\d.]+)\.", note(page))
    assert float(found[2]) == pytest.approx(int(found[1]) / 11, rel=5e-3)
    press(page, "1,000 times")
    share = float(note(page).rpartition(" ")[2].strip("."))
    exact = pt.exact_perm_test([5, 27, 6, 6, 26, 20], [6, 25, 5, 5, 27, 19]).pvalue
    assert share == pytest.approx(exact, abs=5 * 0.5 / 1011**0.5)
    press(page, "All 64")
    assert "34 of all 64 labellings lead by at least 3 words" in note(page)
    assert exact == 34 / 64
    press(page, "Start again")
    assert note(page).startswith("crf_rich leads by 3 words on these 6 sentences.")


@both_widths
def test_p_follows_a_score_that_is_changed(open_page, width):
    page = open_page(figures.Swap(U, V, names=NAMES), width=width, has_touch=True)
    shown, u = figures.Swap(U, V, names=NAMES).cards, U.copy()
    press(page, "Change the scores")
    slider = page.get_by_role("slider").nth(0)
    slider.press("ArrowUp" if u[shown[0]] < 29 else "ArrowDown")
    u[shown[0]] += 1 if u[shown[0]] < 29 else -1
    assert int(slider.get_attribute("aria-valuenow")) == u[shown[0]]
    assert p_shown(page) == pytest.approx(pt.exact_perm_test(u[shown], V[shown]).pvalue, rel=1e-12)
    x, y = middle(slider)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 140, steps=5)
    page.mouse.up()
    u[shown[0]] = int(slider.get_attribute("aria-valuenow"))
    assert u[shown[0]] == max(0, U[shown[0]] + (1 if U[shown[0]] < 29 else -1) - 10)
    press(page, "all 2,077")
    assert p_shown(page) == pytest.approx(pt.exact_perm_test(u, V).pvalue, rel=1e-12)
    press(page, "Start again")
    assert p_shown(page) == pytest.approx(pt.exact_perm_test(U, V).pvalue, rel=1e-12)


def test_who_wants_no_motion_sees_none(open_page):
    page = open_page(small_swap(tosses=0), reduced_motion="reduce")
    press(page, "10 times")
    page.wait_for_timeout(200)
    assert page.evaluate("window.drawn") == 0


# ---- convolution ---------------------------------------------------------------------------------


def law_shown(page: Any) -> dict[int, float]:
    law = json.loads(page.locator(".ptf").get_attribute("data-law"))
    return {law["low"] + i * law["unit"]: p for i, p in enumerate(law["p"]) if p}


def law_of(steps: list[int]) -> dict[int, float]:
    law = pt.convolve_dp([pt.pmf(x, -x) for x in steps])
    return {int(s): p for s, p in zip(law.support, law.pmf, strict=True) if p}


@both_widths
def test_a_coin_is_added(open_page, width):
    page = open_page(figures.Convolution([1, -2, 4, 1], start=2), width=width, has_touch=True)
    page.touchscreen.tap(*middle(page.get_by_role("button", name=re.compile("^±3"))))
    page.get_by_role("button", name="next sentence (±4)").press("Enter")
    assert law_shown(page) == pytest.approx(law_of([1, -2, 3, 4]), rel=1e-12)
    assert "Coin 4 adds +4 or −4, with probability 1/2 each." in note(page)
    assert "from −10 to +10" in note(page)
    page.locator(".ptf svg[role=img] > path.line").last.wait_for()  # when the copies have stacked
    press(page, "Start again")
    assert law_shown(page) == {0: 1.0}


# ---- peeking -------------------------------------------------------------------------------------


def coins(seed: int, number: int) -> Any:
    """Fair signs, the same as those of the figure: mulberry32, whose first bit is the sign."""
    found, mask, state = [], 0xFFFFFFFF, seed & 0xFFFFFFFF
    for _ in range(number):
        state = (state + 0x6D2B79F5) & mask
        t = ((state ^ (state >> 15)) * (state | 1)) & mask
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & mask)) & mask
        found.append(-1 if (t ^ (t >> 14)) >> 31 else 1)
    return np.array(found)


def test_paths_are_those_of_the_package(open_page):
    page = open_page(figures.Peeking(items=80, experiments=3, seed=7))
    shown = json.loads(page.locator(".ptf").get_attribute("data-paths"))
    signs = coins(7, 240)[160:]
    process = pt.e_process(signs, 0 * signs)
    assert shown["e"] == pytest.approx(process.values.tolist(), rel=1e-9)
    exact = [pt.exact_perm_test(signs[:n], 0 * signs[:n]).pvalue for n in range(1, 81)]
    assert shown["p"] == pytest.approx(exact, rel=1e-9)


@both_widths
def test_a_hundred_experiments_are_run(open_page, width):
    page = open_page(figures.Peeking(seed=3, experiments=1), width=width)
    press(page, "Run a hundred")
    signs, n = coins(3, 101 * 200).reshape(101, 200), np.arange(1, 201)
    p = np.minimum(2 * binom.cdf((n - np.abs(signs.cumsum(axis=1))) // 2, n, 0.5), 1.0)
    e = np.array([pt.e_process(row, 0 * row).values for row in signs])
    counts = json.loads(page.locator(".ptf").get_attribute("data-found"))
    assert counts["number"] == 101
    assert counts["p"] == np.sum((p < 0.05).any(axis=1))
    assert counts["e"] == np.sum((e >= 20).any(axis=1))
    assert counts["once"] == np.sum(p[:, -1] < 0.05)
    assert counts["e"] < 0.05 * 101 < 0.15 * 101 < counts["p"]
    share = f"{counts['p']} ({round(1000 * counts['p'] / 101) / 10:g}%) found one by peeking at p"
    assert share in note(page)
    press(page, "Start again")
    assert json.loads(page.locator(".ptf").get_attribute("data-found"))["number"] == 0
    press(page, "Run one experiment")
    assert note(page).startswith("Experiment 1: ")
