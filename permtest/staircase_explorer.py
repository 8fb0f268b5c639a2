"""Now in `permtest.widgets`."""

from permtest.widgets import StaircaseExplorer

__all__ = ["StaircaseExplorer"]
