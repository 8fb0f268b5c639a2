"""The app: drop in the files of two systems, and see whether one is better.

`comparison` is the page, with its `files` and `choices`; every session has its own.
"""

from permtest.app.comparison import ComparisonApp
from permtest.app.files import bundled

__all__ = ["ComparisonApp", "bundled"]
