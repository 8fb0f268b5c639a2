"""Files that people have -> pairs, one module per format."""

from permtest.readers.dispatch import read
from permtest.readers.files import ReadError

__all__ = ["ReadError", "read"]
