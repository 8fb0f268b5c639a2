"""Effect sizes of proportions: Cohen's h and phi."""

from __future__ import annotations

from functools import partial
from math import asin, atanh, pi, sqrt, tanh
from typing import Any, TypeAlias

import numpy as np

from permtest._checks import check_count, count
from permtest.alternatives.parametric import normal_quantile
from permtest.alternatives.result import tail_level
from permtest.study.effect import CORRELATION, STANDARDISED, EffectSize

#: A table of two by two, and what its rows or its columns add up to.
Cells: TypeAlias = list[list[int]] | list[list[float]]
Margins: TypeAlias = tuple[float, float]


def cohen_h(
    x1: int, n1: int, x2: int, n2: int, *, names: tuple[str, str] = ("a", "b")
) -> EffectSize:
    """Cohen's h: the difference of two proportions on the arcsine scale.

    Parameters
    ----------
    x1, n1 : int
        How many of its items the first system gets right, and how many it has.
    x2, n2 : int
        The same of the second system, on other items.
    names : tuple of two str, default ("a", "b")
        What the systems are called.

    Returns
    -------
    EffectSize
        2 asin(sqrt(p1)) - 2 asin(sqrt(p2)), from -pi to pi.

    Raises
    ------
    TypeError, ValueError
        If a number is not whole, or there are more right answers than items.

    Notes
    -----
    The interval is the normal one, with variance 1 / n1 + 1 / n2 whatever the proportions; it
    assumes that the systems are independent, and is too wide where they share their items.

    Examples
    --------
    >>> from permtest.study import cohen_h
    >>> round(cohen_h(85, 100, 75, 100).value, 4)
    0.2518
    """
    shares = [_proportion(x1, n1, "1"), _proportion(x2, n2, "2")]
    angles = [2 * asin(sqrt(p)) for p in shares]
    value, error = angles[0] - angles[1], sqrt(1 / n1 + 1 / n2)

    def interval(confidence_level: float) -> tuple[float, float]:
        half = error * normal_quantile(tail_level("two-sided", confidence_level))
        return max(value - half, -pi), min(value + half, pi)

    return EffectSize(
        "cohen_h",
        "Cohen's h",
        value,
        int(n1) + int(n2),
        "normal approximation of arcsines",
        names,
        {"p1": shares[0], "p2": shares[1], "standard_error": error},
        STANDARDISED,
        _interval=interval,
    )


def _proportion(x: Any, n: Any, which: str) -> float:
    right, items = count(x, f"x{which}"), check_count(n, f"n{which}")
    if right > items:
        raise ValueError(f"x{which}={x} must lie between 0 and n{which}={n}")
    return right / items


def phi(table: Any, *, names: tuple[str, str] = ("a", "b")) -> EffectSize:
    """Phi: the correlation in a table of two by two counts.

    Parameters
    ----------
    table : array_like of shape (2, 2)
        Counts. Rows are two systems, columns right and wrong answers: then phi is above 0 where
        the first row has the greater share of right answers. Its magnitude is that of
        sqrt(chi-squared / N), which has no sign.
    names : tuple of two str, default ("a", "b")
        What the rows are called.

    Returns
    -------
    EffectSize

    Raises
    ------
    TypeError, ValueError
        If `table` is no two by two table of counts, or a row or column is empty.

    Notes
    -----
    The interval is normal on the scale of atanh(phi), with the large-sample variance of phi
    (Bishop, Fienberg and Holland 1975, sec. 11.3) for N independent items. Where a cell is empty
    that variance is too small, or 0: the interval is then that of the table with one half added
    to each cell (Haldane and Anscombe), and reaches to 1 or -1 on the side of phi.

    Examples
    --------
    >>> from permtest.study import phi
    >>> phi([[85, 15], [75, 25]]).value
    0.125
    """
    cells = _two_by_two(table)
    value, error = _phi(cells)
    total = sum(map(sum, cells))

    return EffectSize(
        "phi",
        "Phi",
        value,
        total,
        "normal approximation of atanh",
        names,
        {"chi_squared": total * value**2, "standard_error": error},
        CORRELATION,
        _interval=partial(_phi_interval, cells),
    )


def _phi(cells: Cells) -> tuple[float, float]:
    """Phi and its standard error."""
    (p, q), (r, s) = cells
    rows, columns = (p + q, r + s), (p + r, q + s)
    root = sqrt(rows[0] * rows[1] * columns[0] * columns[1])
    value = min(max((p * s - q * r) / root, -1.0), 1.0)
    return value, sqrt(max(_phi_variance(value, rows, columns), 0.0) / sum(rows))


def _phi_interval(cells: Cells, confidence_level: float) -> tuple[float, float]:
    """The normal one of atanh; see `phi` for empty cells."""
    empty = not all(x for row in cells for x in row)
    value, error = _phi([[x + empty / 2 for x in row] for row in cells])
    half = normal_quantile(tail_level("two-sided", confidence_level)) * error / (1 - value**2)
    low, high = tanh(atanh(value) - half), tanh(atanh(value) + half)
    if not empty:
        return low, high
    ahead = cells[0][0] * cells[1][1] > cells[0][1] * cells[1][0]
    return (low, 1.0) if ahead else (-1.0, high)


def _phi_variance(value: float, rows: Margins, columns: Margins) -> float:
    """N times the variance of phi, from the counts of rows and columns."""
    tilts = [(x - y) / sqrt(x * y) for x, y in (rows, columns)]
    skewed = value * (1 + value**2 / 2) * tilts[0] * tilts[1]
    return 1 - value**2 + skewed - 0.75 * value**2 * (tilts[0] ** 2 + tilts[1] ** 2)


def _two_by_two(table: Any) -> list[list[int]]:
    array = np.asarray(table, dtype=object)
    if array.shape != (2, 2):
        raise ValueError(f"table has shape {array.shape}, but must be two by two")
    cells = [[count(array[i, j], f"table[{i}, {j}]") for j in (0, 1)] for i in (0, 1)]
    for name, sums in (("row", map(sum, cells)), ("column", map(sum, zip(*cells, strict=True)))):
        for i, total in enumerate(sums):
            if total == 0:
                raise ValueError(f"{name} {i} of table is empty: there is no correlation")
    return cells
