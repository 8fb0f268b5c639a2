"""What keys a JSON file begins with: enough to tell formats apart, however long the file is."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from permtest.readers.files import File

#: How much of a file is looked at, in bytes, and how many keys deep.
HEAD = 2**18
DEPTH = 4

#: Characters of a key, at most.
LONGEST = 1000

_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)|[{}\[\]:]', re.DOTALL)


#: What was found already: all formats ask for it.
_KNOWN: WeakKeyDictionary[File, frozenset[tuple[str, ...]]] = WeakKeyDictionary()


def outline(file: File) -> frozenset[tuple[str, ...]]:
    """The keys at the beginning of a JSON file, each after the keys that lead to it.

    The beginning may break off anywhere. Of JSON lines it is the first line. An array is a key
    "*". Empty where the file does not look like JSON.

    Examples
    --------
    >>> file = File("a.json", b'[{"id": 1, "stats": [{"name": "x"}], "tex')
    >>> sorted(outline(file))[1:]
    [('*', 'id'), ('*', 'stats'), ('*', 'stats', '*'), ('*', 'stats', '*', 'name')]
    """
    if file not in _KNOWN:
        _KNOWN[file] = _keys(file.data[:HEAD] if file.is_json else b"")
    return _KNOWN[file]


def _keys(head: bytes) -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    inside: list[tuple[str, ...]] = []  # the address of each open object or array
    here: tuple[str, ...] = ()
    key: tuple[str, ...] = ()  # the key whose value comes next; () in an array
    text = b""
    for match in _TOKEN.finditer(head):
        mark = match[0][:1]
        if mark == b'"':
            text = match[1]
        elif mark == b":":
            key = (text[:LONGEST].decode(errors="replace"),)
            if len(here) < DEPTH:
                found.add(here + key)
        elif mark in b"{[":
            here, key = here + key + ("*",) * (mark == b"["), ()
            found.update({here} if mark == b"[" and len(here) <= DEPTH else ())
            here = here[: DEPTH + 1]
            inside.append(here)
        else:
            del inside[-1:]
            if not inside:
                break
            here, key = inside[-1], ()
    return frozenset(found)


def row_keys(file: File) -> set[str]:
    """The keys of the first object of JSON lines or of an array, as far as `outline` sees."""
    return {path[-1] for path in outline(file) if len(path) == 1 or path[:-1] == ("*",)}
