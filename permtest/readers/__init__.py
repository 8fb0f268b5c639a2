"""Files that people have -> pairs, one module per format."""

from permtest.readers.dispatch import read, read_clustered
from permtest.readers.files import ReadError

__all__ = ["ReadError", "read", "read_clustered"]
