"""One comparison in words: its numbers, and a sentence for a paper."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from permtest.result import counted
from permtest.statistics import CountStatistic
from permtest.study.sections import number, p_text, percent, span

if TYPE_CHECKING:
    from permtest.study.overview import Overview

#: Which exchanges p counts.
EXTREME = {
    "two-sided": "at least as far from zero",
    "greater": "at least as large",
    "less": "at most as large",
}


def claim(found: Overview) -> str:
    """What the alternative hypothesis says."""
    return found.exact.score.claim(found.alternative, found.names)


def amount(found: Overview) -> str:
    """How many items there are, and in how many clusters."""
    items = counted_items(len(found.pairs), "items")
    if found.unit == "items":
        return items
    return f"{items} in {counted_items(len(found.units), 'clusters')}"


def counted_items(n: int, plural: str) -> str:
    """A number with its noun, thousands apart: 1 item, 2,077 items."""
    return counted(n, plural).replace(str(n), f"{n:,}", 1)


def score(found: Overview, value: float | None) -> str:
    """What a system scores: whole sums as they are, ratios and means with four digits."""
    if value is None:
        return "0 / 0"
    if isinstance(found.statistic, CountStatistic):
        return f"{value:.4f}"
    whole = float(value).is_integer() and abs(value) < 1e15
    return f"{value:,.0f}" if whole else figure(value)


def figure(value: float) -> str:
    """Four digits, or all of a large number before the point."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else number(value)


def between(found: Overview) -> str:
    """The interval of the difference; empty where there is none."""
    if found.interval is None:
        return ""
    ends = [figure(end) for end in found.interval if isfinite(end)]
    return " to ".join(ends) if len(ends) == 2 else span(found.interval)


def signed(found: Overview) -> str:
    """The difference, with its sign."""
    text = score(found, abs(found.difference))
    if isinstance(found.statistic, CountStatistic):
        text = number(abs(found.difference))
    sign = "" if found.difference == 0 else "+" if found.difference > 0 else "-"
    return f"{sign}{text}"


def how(found: Overview) -> str:
    """How p is known."""
    if found.exact.n_samples is not None:
        return "estimated by sampling"
    return "enclosed in bounds" if found.exact.method == "bracket" else "computed exactly"


def name_of_test(found: Overview) -> str:
    """The test as a paper names it."""
    exact = found.exact
    sides = "two-sided" if found.alternative == "two-sided" else "one-sided"
    kind = "exact " if exact.n_samples is None else ""
    drawn = "" if exact.n_samples is None else f" with {exact.n_samples:,} random labellings"
    swapped = " that swaps whole clusters" if found.unit == "clusters" else ""
    return f"{kind}{sides} paired-permutation test{drawn}{swapped}"


def sentence(found: Overview) -> str:
    """One sentence for a paper."""
    (a, b), (x, y) = found.names, found.scores
    level, alpha = percent(found.confidence_level), number(found.alpha)
    ends = between(found)
    if ends:
        ends = f" ({level} interval {ends}, {found.interval_about})"
    verdict = {
        True: f"rejects the hypothesis of equal systems at the level {alpha}",
        False: f"finds no evidence of a difference at the level {alpha}",
        None: f"does not decide at the level {alpha}",
    }[found.rejected]
    side = ""
    if found.alternative != "two-sided":
        side = f", against the alternative that {claim(found)}"
    what = "; ".join(filter(None, (found.title, found.exact.score.note)))
    return (
        f"On {amount(found)}, {a} scores {score(found, x)} and {b} {score(found, y)} "
        f"({what}), a difference of {signed(found)}{ends}; the "
        f"{name_of_test(found)} {verdict} ({p_text(found)}{side}; permtest "
        f"{found.versions()['permtest']})."
    )
