"""Now in `permtest.widgets` and `permtest.many.variant`."""

from permtest.many.variant import with_variant
from permtest.widgets import LeaderboardExplorer

__all__ = ["LeaderboardExplorer", "with_variant"]
