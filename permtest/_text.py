"""Tables as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: A number, a percentage, a range, or nothing.
NUMBER = re.compile(r"([-+]?\d[\d.,]*(e[-+]?\d+)?%?( (to|or) \S+)?|never)?")


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns padded with blanks; to the right are those that hold numbers below their head."""
    columns = []
    for head, *cells in zip(*rows, strict=True):
        width = max(map(len, (head, *cells)))
        right = any(cells) and all(map(NUMBER.fullmatch, cells))
        columns.append([f"{cell:{'>' if right else '<'}{width}}" for cell in (head, *cells)])
    return "\n".join("   ".join(line).rstrip() for line in zip(*columns, strict=True))
