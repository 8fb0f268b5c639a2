"""Names of systems, scores and statistics: which there are, and which is meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from permtest.readers.cells import printable
from permtest.readers.files import File
from permtest.statistics import STATISTICS, CountStatistic


def find_score(wanted: str, names: Sequence[str]) -> str | None:
    """The score of that name, or the only one whose name begins so, a comma following."""
    if wanted in names:
        return wanted
    begun = [name for name in names if name.partition(",")[0] == wanted]
    return begun[0] if len(begun) == 1 else None


def distinct(a: str, b: str) -> tuple[str, str]:
    """Two names that differ."""
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


def names_of(files: Sequence[File]) -> list[str]:
    """What systems are called that have a file each: its name, its folder, or a number."""
    stems = [printable(file.stem) for file in files]
    for names in (stems, [printable(file.folder) for file in files]):
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{stem} ({number})" for number, stem in enumerate(stems, 1)]


def did_you_mean(wanted: str, names: Sequence[str]) -> str:
    """A phrase with names that are nearly right, or ""."""
    close = get_close_matches(str(wanted), list(names), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def listed(names: Sequence[str]) -> str:
    """All names in a phrase for messages."""
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    return f"the systems are {', '.join(map(repr, names[:30]))}{more}"


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
