"""Decimals that stand for fractions, such as thirds that a program printed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any

from permtest.decimals import LARGEST_DENOMINATOR

#: Digits that a decimal has at least where a program printed a float that it computed, and at most.
DIGITS, MOST_DIGITS = 15, 17


class Printed(Fraction):
    """A fraction that messages and tables show as it was printed, 0.3333333333333333 for 1/3.

    Parameters
    ----------
    meant : Fraction
    written : Decimal
    """

    __slots__ = ("written",)
    written: Decimal

    def __new__(cls, meant: Fraction, written: Decimal) -> Printed:
        """The fraction, and how it was printed."""
        number = super().__new__(cls, meant)
        number.written = written
        return number

    def __str__(self) -> str:
        """As it was printed."""
        return str(self.written)

    def __format__(self, spec: str) -> str:
        """The same, where nothing else is asked for."""
        return format(self.written, spec)

    def __copy__(self) -> Printed:
        """Itself, which nothing changes."""
        return self

    def __deepcopy__(self, memo: object) -> Printed:
        """The same."""
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """What makes an equal one."""
        return Printed, (Fraction(self), self.written)


def printed_fractions(decimals: Iterable[Decimal]) -> dict[Decimal, Printed]:
    """The fractions that decimals stand for which programs print, such as thirds.

    They do if one of them has `DIGITS` digits or more, and if all are within rounding, in print or
    in the float, of multiples of 1 / D, D up to `LARGEST_DENOMINATOR`: as for floats that were
    computed as k / D, where ties would be lost otherwise.

    Parameters
    ----------
    decimals : iterable of Decimal
        Those of a column; integers do not matter.

    Returns
    -------
    dict of Decimal to Printed
        Empty where they are no such fractions.

    Examples
    --------
    >>> two = Decimal("0.6666666666666666")
    >>> found = printed_fractions([two, Decimal("0.5")])
    >>> found[two] == Fraction(2, 3), print(found[two])
    0.6666666666666666
    (True, None)
    >>> printed_fractions([Decimal("0.6667"), Decimal("0.5")])
    {}
    """
    listed = list(decimals)
    found: dict[Decimal, Printed] = {}
    for some in (listed[:8], listed):  # what does not fit fails at once
        fitting = _fractions(some)
        if fitting is None:
            return {}
        found = fitting
    return found


def together(u: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Both columns, in which a decimal that is printed as a fraction of the other is that fraction.

    Each column alone decides whether it has fractions; ties between the two would be lost where
    one does and the other does not.
    """
    fractions = [{x for x in column if isinstance(x, Fraction)} for column in (u, v)]
    if bool(fractions[0]) == bool(fractions[1]):
        return list(u), list(v)
    known = fractions[0] or fractions[1]
    return [among(known, x) for x in u], [among(known, x) for x in v]


def among(known: Collection[Fraction], x: Any) -> Any:
    """The one of some fractions that a decimal is printed as, if there is one; else `x`."""
    if not (isinstance(x, Decimal) and len(x.as_tuple().digits) >= DIGITS):
        return x
    near = Fraction(x).limit_denominator(LARGEST_DENOMINATOR)
    return near if near in known and _fractions([x]) else x


def _fractions(decimals: Sequence[Decimal]) -> dict[Decimal, Printed] | None:
    """The fractions, {} where there are too few digits to tell; None where one does not fit."""
    parts = [x.as_tuple() for x in decimals]
    digits = max((len(part.digits) for part in parts), default=0)
    if digits < DIGITS:
        return {}
    last = min(int(part.exponent) for part in parts)
    found: dict[Decimal, Printed] = {}
    common = 1
    last_places = Fraction(4, 2**52) if digits <= MOST_DIGITS else 0  # four units, of a float
    for x in decimals:
        exact = Fraction(x)
        near = exact.limit_denominator(LARGEST_DENOMINATOR)
        common = lcm(common, near.denominator)
        unit = Fraction(10) ** max(last, x.adjusted() - digits + 1)  # by digits, or by decimals
        off = abs(exact - near)
        if common > LARGEST_DENOMINATOR or off > unit / 2 + last_places * abs(exact):
            return None
        found[x] = Printed(near, x)
    return found
