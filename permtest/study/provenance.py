"""Where scores come from, and what computed with them."""

from __future__ import annotations

import hashlib
from importlib import import_module
from importlib.metadata import version
from platform import python_version
from typing import Any

from permtest.pairs import Pairs
from permtest.study.overview_items import legible

#: Letters of a value that is shown.
VALUE = 200


def provenance(pairs: Pairs) -> dict[str, Any]:
    """Where the scores come from, what they are, and what computes with them."""
    versions = {"versions": computed_with("python", "numpy", "scipy", "numba")}
    return {**pairs.source, "scores_sha256": _fingerprint(pairs), **versions}


def computed_with(*others: str) -> dict[str, str]:
    """The versions of this package, of others, and of Python."""
    found = {"permtest": str(import_module("permtest").__version__)}
    return found | {x: python_version() if x == "python" else version(x) for x in others}


def _fingerprint(pairs: Pairs) -> str:
    """SHA-256 of the scores as lines of text: their common denominator, then a pair a line."""
    lines = [str(pairs.scale), *(f"{x} {y}" for x, y in zip(pairs.u, pairs.v, strict=True))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def plain(value: object) -> str:
    """A value of the record, whatever is in it, as one line."""
    if isinstance(value, dict):
        return legible("; ".join(f"{k}: {plain(v)}" for k, v in value.items()), VALUE)
    if isinstance(value, list | tuple):
        return legible(", ".join(map(plain, value[:VALUE])), VALUE) if value else "none"
    return legible({"\t": "tab", " ": "blanks"}.get(str(value), str(value)), VALUE)
