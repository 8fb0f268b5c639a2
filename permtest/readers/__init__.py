"""Files that people have -> pairs, one module per format."""

from permtest.readers.dispatch import read, recognise
from permtest.readers.files import File, ReadError
from permtest.readers.formats import FORMATS
from permtest.readers.many import read_many
from permtest.readers.matching import describe

__all__ = ["FORMATS", "File", "ReadError", "describe", "read", "read_many", "recognise"]
