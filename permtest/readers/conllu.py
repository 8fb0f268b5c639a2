"""CoNLL-U: a parsed or tagged text, a word a line in ten columns, held against a gold standard.

The columns are ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC, with tabs between
them; ``_`` stands for no value. An item is a sentence, its score the number of words that are
right:

=========  ====================================================================================
upos       UPOS is that of gold
xpos       XPOS is that of gold
feats      FEATS are those of gold, all of them, in any order
lemmas     LEMMA is that of gold, or gold has none
uas        HEAD is that of gold
las        HEAD is that of gold, and so is DEPREL before its colon (``nsubj`` of ``nsubj:pass``)
las_full   HEAD and the whole of DEPREL are those of gold
=========  ====================================================================================

They are those of the CoNLL 2018 shared task, but for ``feats``, of which it compares universal
ones alone, and for ``las_full``. Published accuracies are shares of all words. The number of words
is the same for both systems, so that the test of the sums of right words is that of the accuracies.

Traps. Punctuation counts. Multiword tokens (ID ``1-2``) and empty nodes (``8.1``) do not: their
words do. The shared task aligns the tokens of a system with those of gold; here they must be the
same. ``_`` is wrong where gold has a value, and right where gold has none. A score is not offered
where a whole column is ``_``, of gold or of the system: it was not annotated, or not predicted.

The reader is our own. The library ``conllu`` (6.0) is many times slower and larger in memory, does
not say on which line an error is, and lets rows of four or eleven columns and repeated IDs pass. A
test holds this reader against it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import and_, eq
from typing import NoReturn, TypeAlias

from permtest.readers.cells import shown
from permtest.readers.conll_columns import (
    Sentence,
    Sentences,
    beginning,
    check_words,
    comment,
    cut,
    matched,
    system_scores,
)
from permtest.readers.files import File, ReadError
from permtest.readers.scores import Format, SystemScores

NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)

#: Each score, and the columns that it needs.
SCORES = {
    "upos": (UPOS,),
    "xpos": (XPOS,),
    "feats": (FEATS,),
    "lemmas": (LEMMA,),
    "uas": (HEAD,),
    "las": (HEAD, DEPREL),
    "las_full": (HEAD, DEPREL),
}

_SCORED = frozenset(i for columns in SCORES.values() for i in columns)

#: The columns of a sentence that scores need.
Columns: TypeAlias = "list[tuple[str, ...]]"

#: What is no word: a multiword token, or an empty node.
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)


#: A row that is hardly anything else: its UPOS and DEPREL are no numbers, its FEATS are features.
_ROW = re.compile(
    r"\d+(?:[-.]\d+)?\t[^\t]+\t[^\t]+\t[^\t\d]+\t[^\t]+\t(?:_|[^\t=]*=[^\t]*)\t(?:_|\d+)"
    r"\t(?:_|[^\t\d][^\t]*)\t[^\t]+\t[^\t]+",
    re.ASCII,
)


def recognises(file: File) -> bool:
    """Whether the file begins with rows of ten columns that number the words of sentences."""
    try:
        lines = beginning(file).lines
    except ReadError:
        return False
    rows = [line for line in lines if line.strip(" ") and not line.startswith("#")]
    first = rows[0].partition("\t")[0] if rows else ""
    return bool(re.fullmatch(r"1|1-\d+|0\.\d+", first)) and all(map(_ROW.fullmatch, rows))


def load(file: File, gold: File) -> list[SystemScores]:
    """The words of a system that are right, in each sentence.

    Parameters
    ----------
    file, gold : File

    Returns
    -------
    list of SystemScores
        One.

    Raises
    ------
    ReadError
        If one of the files is no CoNLL-U, or if they do not have the same sentences and words.
    """
    truth, system = (cut(one, comment, ("sent_id",)) for one in (gold, file))
    gaps = ["\t\t" in one.text for one in (gold, file)]
    filled: tuple[set[int], set[int]] = set(), set()
    counts, texts, words = [], [], 0
    for right, given in matched(truth, system):
        there, here = _columns(truth, right, gaps[0]), _columns(system, given, gaps[1])
        check_words(truth, system, (right.line, given.line), there[FORM], here[FORM])
        for columns, known in zip((there, here), filled, strict=True):
            known.update(i for i in _SCORED - known if _has_value(columns[i]))
        counts.append(_right(there, here))
        texts.append(" ".join(there[FORM][:150]))
        words += len(there[FORM])
    offered = _offered(file, gold, *filled)
    found = dict(zip(SCORES, map(list, zip(*counts, strict=True)), strict=True))
    scores = {name: found[name] for name in offered}
    notes = _notes(file.stem, words, scores, filled[0] - filled[1])
    return [system_scores(file, truth, system, scores, texts, notes=notes)]


def _has_value(column: Sequence[str]) -> bool:
    return column.count("_") < len(column)


def _offered(file: File, gold: File, there: set[int], here: set[int]) -> list[str]:
    """The scores whose columns both files have."""
    offered = [name for name, needed in SCORES.items() if (there & here).issuperset(needed)]
    if not offered:
        mine, theirs = (", ".join(NAMES[i] for i in sorted(s)) or "none" for s in (here, there))
        raise ReadError.at(
            file.path,
            f"has no annotation in common with {gold.path}: columns with values here {mine}, there "
            f"{theirs}; check that the files are not mixed up",
        )
    return offered


def _notes(system: str, words: int, scores: dict[str, list[int]], lacking: set[int]) -> list[str]:
    totals = ", ".join(f"{name} {sum(right)}" for name, right in scores.items())
    notes = ["punctuation counts", f"words right in {system}, of {words}: {totals}"]
    if lacking:
        names = ", ".join(NAMES[i] for i in sorted(lacking))
        notes.append(f"not scored, since {system} has no value at all there: {names}")
    return notes


# ---- right words -------------------------------------------------------------------------------


def _right(gold: Columns, system: Columns) -> tuple[int, ...]:
    """How many words are right, in the order of `SCORES`."""
    heads = list(map(eq, gold[HEAD], system[HEAD]))
    uas = las = las_full = sum(heads)
    if gold[DEPREL] != system[DEPREL]:
        relations = (map(_universal, one[DEPREL]) for one in (gold, system))
        las = sum(map(and_, heads, map(eq, *relations)))
        las_full = sum(map(and_, heads, map(eq, gold[DEPREL], system[DEPREL])))
    return (
        _same(gold[UPOS], system[UPOS]),
        _same(gold[XPOS], system[XPOS]),
        _same(gold[FEATS], system[FEATS], _features),
        _same_lemmas(gold[LEMMA], system[LEMMA]),
        uas,
        las,
        las_full,
    )


def _same(
    gold: Sequence[str], system: Sequence[str], reading: Callable[[str], object] | None = None
) -> int:
    if gold == system:
        return len(gold)
    if reading is None:
        return sum(map(eq, gold, system))
    return sum(map(eq, map(reading, gold), map(reading, system)))


def _same_lemmas(gold: Sequence[str], system: Sequence[str]) -> int:
    if "_" not in gold:
        return _same(gold, system)
    return sum(there in (here, "_") for there, here in zip(gold, system, strict=True))


@lru_cache(maxsize=4096)
def _features(cell: str) -> frozenset[str]:
    return frozenset(cell.split("|", 1000))


@lru_cache(maxsize=4096)
def _universal(relation: str) -> str:
    return relation.partition(":")[0]


# ---- columns -----------------------------------------------------------------------------------


def _columns(file: Sentences, sentence: Sentence, gaps: bool) -> Columns:
    """The columns of the words of a sentence, checked; `gaps` if cells of the file are empty."""
    rows = [line.split("\t", len(NAMES)) for line in sentence.words]
    if set(map(len, rows)) != {len(NAMES)}:
        _refuse_width(file, sentence)
    columns = list(zip(*rows, strict=True))
    if columns[ID] != _numbers(len(rows)):
        rows = _words(file, sentence, rows)
        columns = list(zip(*rows, strict=True))
    heads = set(columns[HEAD]) - _heads(len(rows))
    if heads or gaps:
        _check_cells(file, sentence, len(rows), heads)
    return columns


@lru_cache(maxsize=512)
def _numbers(words: int) -> tuple[str, ...]:
    """What the words of a sentence have in ID."""
    return tuple(map(str, range(1, words + 1)))


@lru_cache(maxsize=512)
def _heads(words: int) -> frozenset[str]:
    """What they may have in HEAD."""
    return frozenset(_numbers(words)) | {"0", "_"}


def _words(file: Sentences, sentence: Sentence, rows: list[list[str]]) -> list[list[str]]:
    """The rows of words, those of multiword tokens and empty nodes left out."""
    words: list[list[str]] = []
    for line, row in enumerate(rows, sentence.line):
        if row[ID] == str(len(words) + 1):
            words.append(row)
        elif not _NO_WORD.fullmatch(row[ID]):
            problem = (
                f"{shown(row[ID])} where word {len(words) + 1} of the sentence is due; number the "
                "words 1, 2, 3, ..., and put a blank line after each sentence"
            )
            raise ReadError.at(file.path, problem, line=line, column="ID")
    if not words:
        problem = "a sentence without words; remove it, or write its words 1, 2, 3, ..."
        raise ReadError.at(file.path, problem, line=sentence.line)
    return words


def _refuse_width(file: Sentences, sentence: Sentence) -> NoReturn:
    i, text = next(
        (i, text) for i, text in enumerate(sentence.words) if text.count("\t") != len(NAMES) - 1
    )
    if text.startswith("#"):
        problem = "a comment between words; comments come before the sentence, and a blank line "
        raise ReadError.at(file.path, f"{problem}after it", line=sentence.line + i)
    number = text.count("\t") + 1
    problem = (
        f"{number} column{'s' * (number != 1)} ({shown(text)}); CoNLL-U has ten, with a tab "
        "between each two, and _ where there is no value"
    )
    raise ReadError.at(file.path, problem, line=sentence.line + i)


def _check_cells(file: Sentences, sentence: Sentence, words: int, heads: set[str]) -> None:
    """Refuse an empty cell in a column that scores need, and a HEAD that is one of `heads`."""
    for line, text in enumerate(sentence.words, sentence.line):
        row = text.split("\t", len(NAMES))[: DEPREL + 1]
        if _NO_WORD.fullmatch(row[ID]):
            continue
        if "" in row:
            problem = "nothing in the column; write _ where there is no value"
            raise ReadError.at(file.path, problem, line=line, column=NAMES[row.index("")])
        if row[HEAD] in heads:
            problem = (
                f"{shown(row[HEAD])} is no word of this sentence; write the ID of the head (1 to "
                f"{words}), 0 for the root, or _ where there is none"
            )
            raise ReadError.at(file.path, problem, line=line, column="HEAD")


FORMAT = Format(
    name="conllu",
    title="CoNLL-U",
    rows="a word; an item is a sentence, its score the number of words that are right",
    pairs_on="sent_id, else order; words are checked",
    example="permtest compare --gold gold.conllu a.conllu b.conllu --metric las",
    gold="required",
    names_scores=True,
    recognises=recognises,
    load=load,
)
