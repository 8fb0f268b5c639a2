"""CoNLL-U: a parsed or tagged text, a word a line in ten columns, held against a gold standard.

Tabs separate the columns; ``_`` stands for no value. An item is a sentence, its score the number of
words that are right:

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
ones alone, and for ``las_full``. The number of words is the same for both systems, so that the test
of the sums of right words is that of the published accuracies, which are shares of all words.

Traps. Punctuation counts. Multiword tokens (ID ``1-2``) and empty nodes (``8.1``) do not: their
words do. The shared task aligns the tokens of a system with those of gold; here they must be the
same. ``_`` is wrong where gold has a value, and right where gold has none. A score is not offered
where a whole column is ``_``, of gold or of the system: it was not annotated, or not predicted.
(The library ``conllu`` is many times slower, and names no line where something is wrong.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import compress
from operator import eq, not_

from permtest.readers.files import File, ReadError, shown
from permtest.readers.sentences import Alignment, Columns, Sentence, Sentences, beginning
from permtest.readers.systems import Format, SystemScores

#: The columns that are read, behind ID, which numbers the words.
NAMES = ("FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL")
FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(7)

#: Each score, and the columns that it needs.
SCORES = {
    "upos": {UPOS},
    "xpos": {XPOS},
    "feats": {FEATS},
    "lemmas": {LEMMA},
    "uas": {HEAD},
    "las": {HEAD, DEPREL},
    "las_full": {HEAD, DEPREL},
}

#: The ID of what is no word: a multiword token, or an empty node.
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)

#: A first row that is hardly anything else: UPOS and DEPREL are no numbers, FEATS are features.
_FIRST = re.compile(
    r"(?:1|1-\d+|0\.\d+)\t[^\t]+\t[^\t]+\t[^\t\d]+\t[^\t]+\t(?:_|[^\t=]*=[^\t]*)\t(?:_|\d+)"
    r"\t(?:_|[^\t\d][^\t]*)\t[^\t]+\t[^\t]+",
    re.ASCII,
)

_REMEDY = (
    "each word needs ten columns with a tab between each two, and _ where there is no value; ID "
    "counts the words of a sentence from 1, HEAD is the ID of one of them, 0, or _; comments stand "
    "before a sentence, and a blank line after it"
)


class Treebank(Sentences):
    """The sentences of a file in CoNLL-U."""

    def columns(self, sentence: Sentence) -> Columns:
        """The columns of the words of a sentence, as `NAMES` has them."""
        rows = [line.split("\t", 10) for line in sentence.lines]
        columns, (ids, heads) = list(zip(*rows, strict=False)), _allowed(len(rows))
        if columns[0] != ids:
            rows = [row for row in rows if len(row) != 10 or not _NO_WORD.fullmatch(row[0])]
            columns, (ids, heads) = list(zip(*rows, strict=False)), _allowed(len(rows))
        usual = set(map(len, rows)) == {10} and columns[0] == ids and heads.issuperset(columns[6])
        columns = columns[1 : len(NAMES) + 1]
        if not usual or not all(map(all, columns)):
            raise self._error(sentence, heads)
        return columns

    def _error(self, sentence: Sentence, heads: frozenset[str]) -> ReadError:
        """The error of the first line that is wrong, or of a sentence without words."""
        due = 1
        for line, text in enumerate(sentence.lines, sentence.line):
            id_, *row = cells = text.split("\t", 10)
            column = None if len(cells) == 10 else f"{min(len(cells), 11)} columns"
            if column is None and not _NO_WORD.fullmatch(id_):
                right = [id_ == str(due), *map(bool, row[:HEAD]), row[HEAD] in heads, row[DEPREL]]
                column = next(compress(("ID", *NAMES), map(not_, right)), None)
                due += 1
            if column is not None:
                problem = f"wrong in {shown(text)}; {_REMEDY}"
                return ReadError.at(self.path, problem, line=line, column=column)
        return ReadError.at(self.path, f"no word in this sentence; {_REMEDY}", line=sentence.line)


@lru_cache(maxsize=512)
def _allowed(words: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """What the words of a sentence have in ID, and may have in HEAD."""
    ids = tuple(map(str, range(1, words + 1)))
    return ids, frozenset(ids) | {"0", "_"}


@lru_cache(maxsize=4096)
def _same_features(gold: str, system: str) -> bool:
    return set(gold.split("|", 1000)) == set(system.split("|", 1000))


def _right(gold: Columns, system: Columns) -> tuple[int, ...]:
    """How many words there are, and how many are right, in the order of `SCORES`."""

    def same(column: int, alike: Callable[[str, str], bool] = eq) -> int:
        there, here = gold[column], system[column]
        return len(there) if there == here else sum(map(alike, there, here))

    heads = map(eq, gold[HEAD], system[HEAD])
    arcs = list(compress(zip(gold[DEPREL], system[DEPREL], strict=True), heads))
    unlike = [(x.partition(":")[0], y.partition(":")[0]) for x, y in arcs if x != y]
    full = len(arcs) - len(unlike)
    las = full + sum(x == y for x, y in unlike)
    lemmas = same(LEMMA, lambda there, here: there in (here, "_"))
    tags = same(UPOS), same(XPOS), same(FEATS, _same_features)
    return len(gold[FORM]), *tags, lemmas, len(arcs), las, full


def recognises(file: File) -> bool:
    """Whether the first row has ten columns, and is that of the first word of a sentence."""
    rows = (line for line in beginning(file) if line.strip() and not line.startswith("#"))
    return _FIRST.fullmatch(next(rows, "")) is not None


def load(file: File, gold: File) -> list[SystemScores]:
    """The words of a system that are right, in each sentence; ReadError where files do not fit."""
    here, there = set(range(len(NAMES))), set(range(len(NAMES)))  # columns without any value

    def judge(*both: Columns) -> tuple[int, ...]:
        for some, columns in zip((there, here), both, strict=True):
            some.difference_update([i for i in some if set(columns[i]) != {"_"}])
        return _right(*both)

    alignment = Alignment(Treebank, file, gold)
    words, *counts = map(list, zip(*alignment.judged(judge), strict=True))
    every = zip(SCORES.items(), counts, strict=True)
    scores = {name: right for (name, needed), right in every if needed.isdisjoint(here | there)}
    if not scores:
        problem = f"has no column with values that has values in {gold.path} too, beside the words"
        raise ReadError.at(file.path, f"{problem}; check that the files are not mixed up")
    totals = ", ".join(f"{name} {sum(right)}" for name, right in scores.items())
    notes = ["punctuation counts", f"words right in {file.stem}, of {sum(words)}: {totals}"]
    if lacking := ", ".join(NAMES[i] for i in sorted(here - there)):
        notes.append(f"not scored, since {file.stem} has no value at all there: {lacking}")
    return [alignment.scores(scores, notes)]


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
