"""Figures of the documents behind this package, again: ``python -m benchmarks.published``."""
