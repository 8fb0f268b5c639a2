"""Holds for every pytest run of the project: the longest tests come first.

With the longest at the end, one processor would be busy with them while the others have none left.
"""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that drive a browser or run notebooks before all others."""
    slow = {x.path for x in items if any(map(x.get_closest_marker, ("browser", "notebook")))}
    items.sort(key=lambda item: item.path not in slow)
