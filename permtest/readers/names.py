"""Names of systems, scores and statistics: which there are, which is meant, how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from permtest.readers.cells import printable
from permtest.readers.files import File, ReadError
from permtest.statistics import STATISTICS, CountStatistic

# ---- told apart ----------------------------------------------------------------------------------


def told_apart(names: Sequence[str], *others: Sequence[str | None]) -> list[str]:
    """`names`, and beside those that occur more than once what `others` says of them.

    Examples
    --------
    >>> told_apart(["x", "y", "x"], ["1", "2", "3"])
    ['x (1)', 'y', 'x (3)']
    """
    result = list(names)
    for other in others:
        number = Counter(result)
        result = [
            f"{name} ({more})" if number[name] > 1 and more is not None else name
            for name, more in zip(result, other, strict=True)
        ]
    return result


def names_of(files: Sequence[File]) -> list[str]:
    """What systems are called that have a file each: its name, its folder, or a number."""
    stems = [printable(file.stem) for file in files]
    for names in (stems, [printable(file.folder) for file in files]):
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{stem} ({number})" for number, stem in enumerate(stems, 1)]


# ---- which is meant ------------------------------------------------------------------------------


def place_of(wanted: object, number: int) -> int | None:
    """The place, counted from 0, that a number counted from 1 means, such as 2 or "2"."""
    text = str(wanted)
    known = text.isascii() and text.isdecimal() and 1 <= int(text) <= number
    return int(text) - 1 if known else None


def check_both(path: str, a: object, b: object, kind: str, known: str) -> None:
    """Raise ReadError if one system is chosen and not the other."""
    if (a is None) != (b is None):
        given, other = ("b", "a") if a is None else ("a", "b")
        raise ReadError.at(path, f"{given} is given without {other}; name both {kind}; {known}")


def find_score(wanted: str, names: Sequence[str]) -> str | None:
    """The score of that name, or the only one whose name begins so, a comma following."""
    if wanted in names:
        return wanted
    begun = [name for name in names if name.partition(",")[0] == wanted]
    return begun[0] if len(begun) == 1 else None


def did_you_mean(wanted: object, names: Sequence[str]) -> str:
    """A phrase with names that are nearly right, or ""."""
    close = get_close_matches(str(wanted), list(names), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def listed(names: Sequence[str], most: int = 30) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


# ---- statistics ----------------------------------------------------------------------------------


def count_statistics(layouts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Names of the statistics of such counts, f1 first where it is one."""
    names = [
        name
        for name, entry in STATISTICS.items()
        if isinstance(entry, CountStatistic)
        and entry.average is None
        and entry.name == name
        and any(measure.columns in layouts for measure in entry.measures)
    ]
    return tuple(sorted(names, key=lambda name: name != "f1"))


def single_statistics(scores: Any) -> tuple[str, ...]:
    """Names of the statistics of such scores: accuracy where they count something."""
    counts = all(x is None or (x >= 0 and x == int(x)) for x in scores)
    return ("accuracy", "mean", "sum") if counts else ("mean", "sum")
