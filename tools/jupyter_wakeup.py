"""For tools and tests: executed notebooks must not wait for ever."""

from permtest._jupyter import poll_in_slices

__all__ = ["poll_in_slices"]
