"""The app: drop in the files of two systems, and see whether one is better.

Four steps below each other, a module each: files, choices, answer, export. Every session has its
own; nothing is kept in a module.
"""

from permtest.app.comparison import ComparisonApp
from permtest.app.uploads import bundled

__all__ = ["ComparisonApp", "bundled"]
