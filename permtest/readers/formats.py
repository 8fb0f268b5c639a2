"""All formats, and which of them a file has."""

from __future__ import annotations

from permtest.readers import (
    conllu,
    every_eval_ever,
    frames,
    helm,
    inspect_ai,
    lm_eval,
    long,
    one_system,
    predictions,
    promptfoo,
    records,
    spans,
    swe_bench,
    tables,
)
from permtest.readers.files import File
from permtest.readers.scores import Format

#: What a file is recognised as by its content, in the order of trying; a table is what remains.
BY_CONTENT: tuple[Format, ...] = (
    frames.FORMAT,
    lm_eval.FORMAT,
    inspect_ai.FORMAT,
    every_eval_ever.FORMAT,
    helm.FORMAT,
    promptfoo.FORMAT,
    swe_bench.FORMAT,
    conllu.FORMAT,
    spans.FORMAT,
    records.FORMAT,
    tables.FORMAT,
)

#: What a table may turn out to be when its columns are looked at.
BY_COLUMNS = (long.FORMAT, one_system.FORMAT, predictions.FORMAT)

#: Every format by its name: tables first, for people to read.
FORMATS: dict[str, Format] = {
    kind.name: kind for kind in (*reversed(tables.BY_FILE.values()), *BY_COLUMNS, *BY_CONTENT)
}


def format_of(file: File) -> Format:
    """What the content of a file is.

    Parameters
    ----------
    file : File

    Returns
    -------
    Format
        A table where it is nothing else.
    """
    return next(kind for kind in BY_CONTENT if kind.recognises(file))
