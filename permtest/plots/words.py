"""Numbers as they are written in pictures and in the sentences below them."""

from __future__ import annotations

from math import isfinite

from permtest.alternatives.result import TITLES
from permtest.result import PermutationTestResult

LARGE = 10**15  # from here on numbers are written with an exponent
#: What the sums of a measure are.
SUMS = {
    "tp": "true positives",
    "tn": "true negatives",
    "fp": "false positives",
    "fn": "false negatives",
    "fp + fn": "false positives and negatives",
    "incorrect": "incorrect answers",
}


def minus(text: str) -> str:
    """The same with a minus sign, which is longer than a hyphen."""
    return text.replace("-", "\N{MINUS SIGN}")


def signed(value: float, reach: float = 0) -> str:
    """A difference with its sign: +91, −91, 0."""
    return "+" * (value > 0) + number(value, reach)


def number(value: float, reach: float = 0) -> str:
    """A number as it is written where numbers up to `reach` are: 2,077, −91, 1e+30."""
    large = value != 0 and max(abs(value), reach) >= LARGE
    return digits(value, ".4g" if large else ",.0f")


def digits(value: float, form: str = ".3g") -> str:
    """A measured number in three digits, or in another form."""
    return minus(f"{value:{form}}")


def span(low: float, high: float) -> str:
    """An interval: 0.1 to 0.4, 0.1 or more, 0.4 or less, any value."""
    if isfinite(low) and isfinite(high):
        return f"{digits(low)} to {digits(high)}"
    if isfinite(low):
        return f"{digits(low)} or more"
    return f"{digits(high)} or less" if isfinite(high) else "any value"


def p_text(result: PermutationTestResult) -> str:
    """p with its relation: "= 0.0303", "≈ 0.03"."""
    return f"{'=' if result.n_samples is None else '≈'} {result.pvalue_text()}"


def spoken(test: str) -> str:
    """The name of a test where its title would leave no room: paired t, wilcoxon, ..."""
    return test.replace("_", " ") if test in TITLES else test
