"""Columns with entity tags: a word a line, its tag such as ``B-PER`` in the last column.

A blank line ends a sentence; blanks or tabs separate columns, of which the first holds the word. In
files that number the words in a first column, with tabs, the word is in the second, and the tag in
the third if that holds tags, else in the last. Lines that begin with ``-DOCSTART-`` begin a
document. Lines before a sentence that begin with # are comments (``# sent_id = x``), unless they
end in a tag: ``#`` may be a word.

An item is a sentence. Entities are right if their first word, their last word and their type are
those of gold; ``spans`` counts them as true positives, false positives and false negatives,
``spans.PER`` those of a type that gold has. ``tags`` is the number of words whose tag is that of
gold, offered where both files have one scheme of tags.

The scheme (IOB2, IOB1, IOBES, BILOU, BMES) of each file is recognised, and tag sequences that it
does not allow are read as conlleval reads them: see `permtest.readers.tags`.

Traps. Systems cut long sentences: the words must be those of gold. Tags are taken as they are
written: ``B-per`` is of another type than ``B-PER``. Files with the tags of gold and of systems
side by side must be cut into one file for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import NoReturn, TypeAlias

from permtest.readers.cells import shown
from permtest.readers.conll_columns import (
    Fact,
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
from permtest.readers.tags import Entity, Seen, parsed

#: Types of which each has a score of its own, at most.
MOST_TYPES = 100

#: Columns of a line that are looked at, at most, so that memory is bounded.
MOST_COLUMNS = 1000

#: How many sentences show where words and tags are.
_SHOWING = 50


#: tp, fp and fn; and the entities of gold and of a system.
Counts: TypeAlias = "tuple[int, int, int]"
Both: TypeAlias = "tuple[list[Entity], list[Entity]]"


@dataclass
class Tagged:
    """A file: its sentences, where its columns are, and what was seen of its tags so far.

    Columns are counted from 0. `width` is the number of columns of each line, None where the words
    are numbered: columns behind the tag may be missing then.
    """

    sentences: Sentences
    separator: str
    word: int
    tag: int
    width: int | None
    seen: Seen = field(default_factory=Seen)

    @classmethod
    def of(cls, file: File) -> Tagged:
        """Find the columns of a file."""
        sentences = cut(file, _heading, ("sent_id", "id"))
        line = sentences.items[0].words[0].rstrip(" \t")
        separator = "\t" if "\t" in line else " "
        tagged = cls(sentences, separator, 0, -1, len(_cells(line, separator)))
        if tagged.width == 1:
            tagged._check_widths(sentences.items[0], [[line]])
        examples = [tagged.rows(one) for one in sentences.items[:_SHOWING]]
        if separator == "\t" and all(map(_numbered, examples)):
            third = all(parsed(row[2]) for rows in examples for row in rows)
            tagged.word, tagged.tag, tagged.width = 1, 2 if third else -1, None
        return tagged

    def rows(self, sentence: Sentence) -> list[list[str]]:
        """The cells of each line."""
        return [_cells(line, self.separator) for line in sentence.words]

    def columns(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """The words of a sentence, and their tags; ReadError if there are none."""
        rows = [line.split(self.separator, MOST_COLUMNS) for line in sentence.words]
        if set(map(len, rows)) != {self.width}:
            rows = self.rows(sentence)
            self._check_widths(sentence, rows)
        words, tags = [row[self.word] for row in rows], [row[self.tag] for row in rows]
        if "" in words or not all(map(parsed, set(tags))):
            i = next(i for i, tag in enumerate(tags) if not (words[i] and parsed(tag)))
            self._refuse(
                sentence.line + i, f"{shown(tags[i])} is no tag" if words[i] else "no word"
            )
        return words, tags

    def _check_widths(self, sentence: Sentence, rows: list[list[str]]) -> None:
        first = self.sentences.items[0].line
        for line, row in enumerate(rows, sentence.line):
            number = f"{len(row)} column{'s' * (len(row) != 1)} ({shown(' '.join(row))})"
            if len(row) < (2 if self.width else 3):
                self._refuse(line, number)
            if self.width not in (None, len(row)):
                self._refuse(line, f"{number}, but line {first} has {self.width}")

    def _refuse(self, line: int, problem: str) -> NoReturn:
        remedy = (
            "each line needs the same columns, the word first and the tag last: O, or B-, I-, E- "
            "or S- and a type; a blank line ends each sentence"
        )
        raise ReadError.at(self.sentences.path, f"{problem}; {remedy}", line=line)


def _heading(line: str) -> Fact:
    """What a line before a sentence says; None if it is a word."""
    if line.startswith("-DOCSTART-"):
        return "newdoc", ""
    fact = comment(line)
    if fact is None or all(fact):
        return fact
    last = line.replace("\t", " ").rstrip(" ").rpartition(" ")[2]
    return None if parsed(last) else fact


def _cells(line: str, separator: str) -> list[str]:
    cells = line.rstrip(" \t").split(separator, MOST_COLUMNS)
    return [cell for cell in cells if cell] if separator == " " and "" in cells else cells


def _numbered(rows: Sequence[Sequence[str]]) -> bool:
    return all(len(row) > 2 and row[0] == str(i) for i, row in enumerate(rows, 1))


# ---- reading -----------------------------------------------------------------------------------


def recognises(file: File) -> bool:
    """Whether the file begins with lines that all have a tag, some of which have a type."""
    try:
        tagged = Tagged.of(beginning(file))
        tags = {tag for one in tagged.sentences.items for tag in tagged.columns(one)[1]}
    except ReadError:
        return False
    return any("-" in tag for tag in tags) or {"B", "O"} <= tags


def load(file: File, gold: File) -> list[SystemScores]:
    """The entities of a system that are right, wrong and missing, in each sentence.

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
        If one of the files has other columns, or if they do not have the same sentences and words.
    """
    truth, system = Tagged.of(gold), Tagged.of(file)
    items, tags, texts = [], [], []
    for right, given in matched(truth.sentences, system.sentences):
        (words, there), (own, here) = truth.columns(right), system.columns(given)
        lines = right.line, given.line
        check_words(truth.sentences, system.sentences, lines, words, own)
        items.append((truth.seen.add(there, right.line), system.seen.add(here, given.line)))
        tags.append(sum(map(eq, there, here)))
        texts.append(" ".join(words[:150]))
    spans = _span_scores(items)
    agreeing = len({truth.seen.scheme, system.seen.scheme} - {None}) < 2
    tp, fp, fn = map(sum, zip(*spans["spans"], strict=True))
    notes = (
        "an entity is right if its first word, last word and type are",
        truth.seen.note(gold.name),
        system.seen.note(file.name),
        f"tp {tp}, fp {fp}, fn {fn} in {file.stem}",
    )
    return [
        system_scores(
            file,
            truth.sentences,
            system.sentences,
            {**spans, **({"tags": tags} if agreeing else {})},
            texts,
            counts=dict.fromkeys(spans, ("tp", "fp", "fn")),
            notes=notes,
        )
    ]


def _span_scores(items: Sequence[Both]) -> dict[str, list[Counts]]:
    """tp, fp and fn of each sentence: of all entities, and of each type that gold has."""
    scores = {"spans": [_counts(*both) for both in items]}
    types = {one.type for wanted, _ in items for one in wanted} - {""}
    if len(types) <= MOST_TYPES:
        for type_ in sorted(types):
            scores[f"spans.{type_}"] = [(0, 0, 0)] * len(items)
        for i, both in enumerate(items):
            for type_ in types.intersection(one.type for side in both for one in side):
                of_type = ([one for one in side if one.type == type_] for side in both)
                scores[f"spans.{type_}"][i] = _counts(*of_type)
    return scores


def _counts(wanted: list[Entity], found: list[Entity]) -> Counts:
    right = len(set(wanted).intersection(found))
    return right, len(found) - right, len(wanted) - right


FORMAT = Format(
    name="spans",
    title="columns with entity tags",
    rows="a word and its tag, such as B-PER; an item is a sentence, its score tp, fp and fn",
    pairs_on="sent_id, else order; words are checked",
    example="permtest compare --gold gold.iob2 a.iob2 b.iob2 --metric spans",
    gold="required",
    names_scores=True,
    recognises=recognises,
    load=load,
)
