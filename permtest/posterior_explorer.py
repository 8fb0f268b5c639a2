"""Now in `permtest.widgets`."""

from permtest.widgets import PosteriorExplorer

__all__ = ["PosteriorExplorer"]
