"""The app: drop in the files of two systems, and see whether one is better.

`comparison` is the page, with its `uploads` and `choices`; every session has its own.
"""

from permtest.app.comparison import ComparisonApp
from permtest.app.uploads import bundled

__all__ = ["ComparisonApp", "bundled"]
