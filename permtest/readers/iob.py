"""Columns with entity tags: a word a line, its tag such as ``B-PER`` in the last column.

A blank line ends a sentence; blanks or tabs separate columns, of which the first holds the word. In
files that number the words in a first column, with tabs, the word is in the second, and the tag in
the third if that holds tags, as in Universal NER, else in the last. Lines that begin with
``-DOCSTART-`` begin a document. Lines before a sentence that begin with # are comments
(``# sent_id = x``), unless they end in a tag: ``#`` may be a word.

An item is a sentence. Entities are right if their first word, their last word and their type are
those of gold; ``spans`` counts them as true positives, false positives and false negatives,
``spans.PER`` those of a type that gold has. ``tags`` is the number of words whose tag is that of
gold, offered where both files have one scheme of tags.

The letters may be those of IOB1, IOB2, IOBES, BILOU or BMES. Entities are read in the same way
whatever the scheme, by the rule of conlleval: a tag begins an entity if it is B or S, or comes
after O, after E or S, or after another type; the entity goes on until a tag that is O or begins
another one. So a sequence of tags that the scheme does not allow, such as O I-PER, still has
entities.

Traps. Systems cut long sentences: the words must be those of gold. Tags are taken as they are
written: ``B-per`` is of another type than ``B-PER``. Files with the tags of gold and of systems
side by side must be cut into one file for each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import eq
from typing import Any, TypeAlias

from permtest.readers.files import File, ReadError, printable, shown
from permtest.readers.sentences import Alignment, Columns, Sentence, Sentences, beginning
from permtest.readers.systems import Format, SystemScores

#: Its first word, counted from 0, the one behind its last word, and its type.
Entity: TypeAlias = tuple[int, int, str]

#: What the letters of the schemes mean in IOBES.
LETTERS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I", "W": "S"}

#: Types of which each has a score of its own, at most.
MOST_TYPES = 100

_TAG = re.compile(r"O|([BIESLUMW])(?:-(.{0,200}))?", re.DOTALL)

_REMEDY = (
    "each line needs the same columns, the word first and the tag last: O, or B-, I-, E- or S- and "
    "a type; a blank line ends each sentence"
)


@lru_cache(maxsize=4096)
def parsed(tag: str) -> tuple[str, str] | None:
    """Position (B, I, E, S, or O) and type of a tag; None if it is none."""
    match = _TAG.fullmatch(tag)
    if match is None or printable(tag) != tag:
        return None
    return (LETTERS[match[1]], match[2] or "") if match[1] else ("O", "")


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of a sentence, by the rule of conlleval.

    Examples
    --------
    >>> entities(["I-PER", "I-PER", "I-LOC", "O", "E-LOC", "B-LOC"])
    [(0, 2, 'PER'), (2, 3, 'LOC'), (4, 5, 'LOC'), (5, 6, 'LOC')]
    """
    found = []
    before, type_, start = "O", "", 0
    for i, tag in enumerate((*tags, "O")):
        if tag == before == "O":
            continue  # as of most words
        position, of_type = parsed(tag) or ("O", "")
        begins = position in "BS" or before in "OES" or of_type != type_
        if before != "O" and (begins or position == "O"):
            found.append((start, i, type_))
        if begins:
            start = i
        before, type_ = position, of_type
    return found


class Tagged(Sentences):
    """The sentences of a file, and where its columns are."""

    def __init__(self, path: str, lines: list[str]) -> None:
        super().__init__(path, lines)
        first = self.items[0].lines[0].rstrip(" \t")
        self.separator = "\t" if "\t" in first else " "
        cells = self._cells(first)
        self.width, self.word, self.tag = max(2, len(cells)), 0, -1
        if self.width > 2 and all(one.lines[0].startswith("1\t") for one in self.items):
            self.word, self.tag = 1, 2 if parsed(cells[2]) else -1

    def is_comment(self, line: str) -> bool:
        """Whether a line before a sentence says something, and is no word."""
        key, _, value = line[1:].partition("=")
        word = line[0] != "#" or (parsed(line.split()[-1]) and not (key.strip() and value.strip()))
        return not word or line.startswith("-DOCSTART-")

    def _cells(self, line: str) -> list[str]:
        cells = line.rstrip(" \t").split(self.separator)
        return cells if self.separator == "\t" else list(filter(None, cells))

    def columns(self, sentence: Sentence) -> Columns:
        """The words of a sentence, their tags, and the entities that these mark."""
        rows = list(map(self._cells, sentence.lines))
        for line, row in enumerate(rows, sentence.line):
            if len(row) != self.width or not row[self.word] or not parsed(row[self.tag]):
                problem = f"no word and its tag in {self.width} columns: {shown(' '.join(row))}"
                raise ReadError.at(self.path, f"{problem}; {_REMEDY}", line=line)
        words, tags = [row[self.word] for row in rows], [row[self.tag] for row in rows]
        return words, tags, [] if set(tags) == {"O"} else entities(tags)


def _scheme(letters: Counter[str], starts: Counter[str]) -> str:
    """The scheme of tags with these letters, some at the start of entities; "" if all are O."""
    for scheme, own in (("BMES", "MW"), ("BILOU", "LU"), ("IOBES", "ES")):
        if any(letters[letter] for letter in own):
            return scheme
    return "IOB1" if starts["I"] > starts["B"] else "IOB2" if starts else ""


def recognises(file: File) -> bool:
    """Whether the file begins with lines that all have a tag, some of which have a type."""
    try:
        tagged = Tagged(file.path, beginning(file))
        tags = {tag for one in tagged.items for tag in tagged.columns(one)[1]}
    except ReadError:
        return False
    return any("-" in tag for tag in tags) or {"B", "O"} <= tags


def load(file: File, gold: File) -> list[SystemScores]:
    """The entities that are right, wrong and missing, in each sentence; ReadError as by `read`."""
    letters, starts = (Counter[str](), Counter[str]()), (Counter[str](), Counter[str]())

    def judge(*both: Columns) -> tuple[int, list[list[Entity]]]:
        for i, (_, tags, found) in enumerate(both):
            letters[i].update(tag[0] for tag in set(tags))
            starts[i].update(tags[start][0] for start, *_ in found)
        right, given = (set(columns[2]) for columns in both)
        outcomes = [list(some) for some in (right & given, given - right, right - given)]
        return sum(map(eq, both[0][1], both[1][1])), outcomes

    alignment = Alignment(Tagged, file, gold)
    tags, outcomes = zip(*alignment.judged(judge), strict=True)
    scores: dict[str, list[Any]] = {"spans": [tuple(map(len, some)) for some in outcomes]}
    types = {kind for hit, _, missed in outcomes for *_, kind in (*hit, *missed)} - {""}
    if len(types) <= MOST_TYPES:
        scores |= {f"spans.{kind}": [(0, 0, 0)] * len(outcomes) for kind in sorted(types)}
        for i, some in enumerate(outcomes):
            for kind in types.intersection(one[2] for part in some for one in part):
                counts = (sum(one[2] == kind for one in part) for part in some)
                scores[f"spans.{kind}"][i] = tuple(counts)
    names = dict.fromkeys(scores, ("tp", "fp", "fn"))
    tp, fp, fn = map(sum, zip(*scores["spans"], strict=True))
    notes = [
        "an entity is right if its first word, last word and type are",
        f"tp {tp}, fp {fp}, fn {fn} in {file.stem}",
    ]
    if len(set(map(_scheme, letters, starts)) - {""}) < 2:
        scores["tags"] = list(tags)
    return [alignment.scores(scores, notes, counts=names)]


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
