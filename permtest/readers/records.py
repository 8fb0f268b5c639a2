"""JSON objects of one depth, one a line or in a list: a table in another form."""

from __future__ import annotations

from permtest.readers.files import File
from permtest.readers.scores import Format


def recognises(file: File) -> bool:
    """Whether the file is JSON."""
    return file.is_json


FORMAT = Format(
    name="records",
    title="JSON records",
    rows="an object with a name for each column",
    pairs_on="row; id where each system has records of its own",
    example="permtest compare results.jsonl --a new --b old",
    recognises=recognises,
    load=lambda file: (),
)
