"""Annotated text, a word a line, held against a gold standard: CoNLL-U, and columns with tags.

A blank line ends a sentence, which is an item. Sentences are paired with those of gold by their ids
where all have one, in both files, and some ids are in both; else by their order. Either way they
must have the same words: other tokens are not aligned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, count, pairwise, takewhile, zip_longest
from operator import eq, not_
from typing import Any, NamedTuple, TypeAlias

from permtest.readers.files import File, ReadError, brief, check_memory, printable, shown
from permtest.readers.systems import ORDER, Format, SystemScores

#: Bytes that a sentence needs at most with its scores, and each character while it is cut.
PER_SENTENCE, PER_CHARACTER = 2000, 64

#: How much of a file is looked at to recognise its format, in bytes.
BEGINNING = 2**16

#: The words of a sentence, then what is said of each; the scores of all sentences, and notes.
Columns: TypeAlias = Sequence[Sequence[Any]]
Scores: TypeAlias = tuple[dict[str, Any], list[str]]


class Sentence(NamedTuple):
    """The lines of its words, the first of which is number `line`, and what its comments say."""

    line: int
    lines: list[str]
    name: str | None
    text: str | None
    document: str


class Sentences:
    """All sentences of a file; kinds of text say what stands in `columns`, and how it is scored."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.items, self.documents, document = path, list[Sentence](), 0, "0"
        blank = compress(count(), map(not_, map(str.strip, lines)))
        for before, end in pairwise([-1, *blank, len(lines)]):
            comments = list(takewhile(self.is_comment, lines[before + 1 : end]))
            facts = dict[str, str]()
            for comment in comments:
                key, _, value = comment[1:].partition("=")
                facts[key.strip()] = value.strip()
                if re.match(r"#\s*newdoc\b|-DOCSTART-", comment):
                    self.documents += 1
                    document = value.strip() or str(self.documents)
            start, name = before + 1 + len(comments), facts.get("sent_id") or facts.get("id")
            if words := lines[start:end]:
                check_memory(path, PER_CHARACTER * sum(map(len, words)))
                check_memory(path, PER_SENTENCE * len(self.items))
                self.items.append(Sentence(start + 1, words, name, facts.get("text"), document))
            elif name:
                problem = f"sentence {shown(name)} has no words; write them below, or remove it"
                raise ReadError.at(path, problem, f"line {start}")
        if not self.items:
            raise ReadError.at(path, "holds no sentence; write a word on each line")

    def is_comment(self, line: str) -> bool:
        """Whether a line before a sentence is no word."""
        return line.startswith("#")

    def by_name(self) -> dict[str, Sentence]:
        """The sentences by their ids; empty where one has none. ReadError if an id occurs twice."""
        found = dict[str, Sentence]()
        for one in self.items if all(one.name for one in self.items) else ():
            if (first := found.setdefault(str(one.name), one)) is not one:
                problem = f"{shown(str(one.name))} is the id of two sentences (also on line "
                problem += f"{first.line}); give each its own, or remove all ids"
                raise ReadError.at(self.path, problem, f"line {one.line}")
        return found


def _beginning(file: File) -> list[str]:
    """The first whole lines of a file, to recognise its format by; they may be none."""
    lines = re.split("\r\n?|\n", file.data[:BEGINNING].decode("utf-8-sig", errors="replace"))
    return lines if len(file.data) <= BEGINNING else lines[:-1]


@dataclass(frozen=True, kw_only=True)
class Annotated(Format):
    """A format of annotated text, of which gold is an example."""

    kind: type[Any]  # of sentences
    needs_gold: bool = True

    def recognises(self, file: File) -> bool:
        """Whether the file begins as one with such sentences does."""
        return bool(self.kind.begins(file))

    def load(self, file: File, gold: File | None = None) -> list[SystemScores]:
        """The scores of each sentence of a system, beside that of gold."""
        assert gold is not None
        right: Any = vars(gold).get("sentences")  # cut once for all systems
        if not isinstance(right, self.kind):
            right = vars(gold)["sentences"] = self.kind(gold.path, gold.lines)
        system = self.kind(file.path, file.lines)
        vars(file).pop("lines", None)  # those of many systems would need much memory
        notes, both, found, texts = list[str](), [], [], []
        for one, given in _paired(right, system, file.stem, notes):
            there, here = right.columns(one), system.columns(given)
            if there[0] != here[0]:
                pairs = enumerate(zip_longest(here[0], there[0], fillvalue=""), 1)
                number, words = next((i, words) for i, words in pairs if len(set(words)) > 1)
                problem = f"word {number} of this sentence is {shown(words[0])}, but "
                problem += f"{shown(words[1])} in that of {gold.path}, line {one.line}; run the "
                problem += "system on the words of gold"
                raise ReadError.at(system.path, problem, f"line {given.line}")
            found.append(system.judged(there, here))
            both.append((one, given))
            texts.append(brief(one.text or " ".join(there[0][:150]), 300))
        scores, facts = system.scored(right, found, file.stem)
        ids = [str(one.name) for one, _ in both] if right.by_name() else None
        return [
            SystemScores(
                file.stem,
                file,
                scores,
                "sent_id" if ids else ORDER,
                ids,
                {"document": [one.document for one, _ in both]} if right.documents else {},
                counts={x: ("tp", "fp", "fn") for x in scores if x == "spans"},
                texts=texts,
                at=[f"line {one.line}" for _, one in both].__getitem__,
                notes=(*facts, *notes),
            )
        ]


def _paired(
    gold: Sentences, system: Sentences, name: str, notes: list[str]
) -> Iterator[tuple[Sentence, Sentence]]:
    """The sentences of gold beside those of a system; adds to the notes what is to be known."""
    known = gold.by_name()
    here = system.by_name() if known else {}
    if known.keys().isdisjoint(here):
        notes.append(f"paired with gold by the order of sentences, words checked: {name}")
        yield from zip(gold.items, system.items, strict=False)
        number, due = len(system.items), len(gold.items)
        if number != due:
            problem = f"the number of sentences is {number}, but {due} in {gold.path}; give both "
            raise ReadError.at(system.path, f"{problem}the same sentences, or the same sent_ids")
        return
    for stranger in (one for one in here if one not in known):
        problem = f"no sentence of {gold.path} has the id {shown(stranger)}; use the ids of gold, "
        problem += "or remove all ids to pair by order"
        raise ReadError.at(system.path, problem, f"line {here[stranger].line}")
    if lacking := [one for one in known if one not in here]:
        first = f"{len(lacking)} (first: {shown(lacking[0])})"
        notes.append(f"sentences of gold that {name} lacks: {first}")
    yield from ((one, here[key]) for key, one in known.items() if key in here)


# ---- CoNLL-U -------------------------------------------------------------------------------------
# Ten columns with a tab between each two, "_" where there is no value. The scores are those of the
# CoNLL 2018 shared task. Punctuation counts; multiword tokens (ID 1-2) and empty nodes (8.1) do
# not: their words do. "_" is wrong where gold has a value. A score is not offered where a whole
# column is "_" in either file: it was not annotated, or not predicted.
# (The library `conllu` takes many times the time, and names no line.)

#: The columns that are read, behind ID, which numbers the words.
NAMES = ("FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL")
UPOS, HEAD, DEPREL = 2, 5, 6

#: Each score, and the columns that it needs.
SCORES = {"upos": {UPOS}, "uas": {HEAD}, "las": {HEAD, DEPREL}}

#: The ID of what is no word: a multiword token, or an empty node.
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)

#: A first row that is hardly anything else: UPOS and DEPREL are no numbers, FEATS are features.
_FIRST = re.compile(
    r"(?:1|1-\d+|0\.\d+)\t[^\t]+\t[^\t]+\t[^\t\d]+\t[^\t]+\t(?:_|[^\t=]*=[^\t]*)\t(?:_|\d+)"
    r"\t(?:_|[^\t\d][^\t]*)\t[^\t]+\t[^\t]+",
    re.ASCII,
)

_TEN_COLUMNS = (
    "each word needs ten columns with a tab between each two, and _ where there is no value; ID "
    "counts the words of a sentence from 1, HEAD is the ID of one of them, 0, or _; comments stand "
    "before a sentence, and a blank line after it"
)


class _Treebank(Sentences):
    """The sentences of a file in CoNLL-U, and which columns have had no value so far."""

    def __init__(self, path: str, lines: list[str]) -> None:
        super().__init__(path, lines)
        self.blank = set(range(len(NAMES)))

    @staticmethod
    def begins(file: File) -> bool:
        rows = (line for line in _beginning(file) if line.strip() and not line.startswith("#"))
        return _FIRST.fullmatch(next(rows, "")) is not None

    def columns(self, sentence: Sentence) -> Columns:
        """The columns of the words of a sentence, as `NAMES` has them."""

        def wrong(text: str, line: int, column: str) -> ReadError:
            problem = f"wrong in {shown(text)}; {_TEN_COLUMNS}"
            return ReadError.at(self.path, problem, f"line {line}", column)

        rows = []
        for line, text in enumerate(sentence.lines, sentence.line):
            cells = text.split("\t", 10)
            if len(cells) != 10:
                raise wrong(text, line, f"{len(cells)} columns")
            if not _NO_WORD.fullmatch(cells[0]):
                rows.append((line, text, cells))
        if not rows:
            problem = f"no word in this sentence; {_TEN_COLUMNS}"
            raise ReadError.at(self.path, problem, f"line {sentence.line}")
        heads = {"0", "_", *map(str, range(1, len(rows) + 1))}
        for due, (line, text, cells) in enumerate(rows, 1):
            if cells[0] != str(due) or not all(cells[1:8]) or cells[1 + HEAD] not in heads:
                good = (cells[0] == str(due), *cells[1 : 1 + HEAD], cells[1 + HEAD] in heads)
                named = compress(("ID", *NAMES), map(not_, good))
                raise wrong(text, line, next(named, "DEPREL"))
        columns = list(zip(*(cells[1:8] for *_, cells in rows), strict=True))
        self.blank.difference_update([i for i in self.blank if set(columns[i]) != {"_"}])
        return columns

    def judged(self, gold: Columns, system: Columns) -> tuple[int, ...]:
        """How many words there are, and how many are right, in the order of `SCORES`."""
        tags = sum(map(eq, gold[UPOS], system[UPOS]))
        both = zip(gold[DEPREL], system[DEPREL], strict=True)
        arcs = list(compress(both, map(eq, gold[HEAD], system[HEAD])))
        las = sum(x == y or x.partition(":")[0] == y.partition(":")[0] for x, y in arcs)
        return len(gold[UPOS]), tags, len(arcs), las

    def scored(self, gold: _Treebank, found: Sequence[Any], name: str) -> Scores:
        """The words that are right in each sentence, in each way that both files allow."""
        words, *counts = map(list, zip(*found, strict=True))
        every = zip(SCORES.items(), counts, strict=True)
        blank = gold.blank | self.blank
        scores = {name: right for (name, needed), right in every if needed.isdisjoint(blank)}
        if not scores:
            problem = f"has no column with values that has values in {gold.path} too, beside the "
            raise ReadError.at(self.path, f"{problem}words; check that files are not mixed up")
        totals = ", ".join(f"{score} {sum(right)}" for score, right in scores.items())
        notes = ["punctuation counts", f"words right in {name}, of {sum(words)}: {totals}"]
        lacking = [NAMES[i] for i in (UPOS, HEAD, DEPREL) if i in self.blank - gold.blank]
        if lacking:
            said = f"not scored, because {name} has no values there: {', '.join(lacking)}"
            notes.append(said)
        return scores, notes


CONLLU = Annotated(kind=_Treebank, name="conllu", title="CoNLL-U")

# ---- entity tags ---------------------------------------------------------------------------------
# Blanks or tabs separate columns, the word first and its tag last, such as B-PER; in files that
# number the words in a first column, with tabs, the word is in the second, and the tag in the third
# if that holds tags, as in Universal NER. "# sent_id = x" is a comment, but "# O" is a word.
#
# An entity is right if its first word, its last word and its type are. Whatever the scheme (IOB1,
# IOB2, IOBES, BILOU, BMES), entities are read by the rule of conlleval, so that tags which the
# scheme does not allow, such as O I-PER, still have entities.

#: What the letters of the schemes mean in IOBES.
LETTERS = dict(zip("OBIESLUMW", "OBIESESIS", strict=True))

_TAG = re.compile(r"O|[BIESLUMW](?:-(.{0,200}))?", re.DOTALL)

_WORD_AND_TAG = (
    "each line needs the same columns, the word first and the tag last: O, or B-, I-, E- or S- and "
    "a type; a blank line ends each sentence"
)


@lru_cache(maxsize=4096)
def _parsed(tag: str) -> tuple[str, str] | None:
    """Position (B, I, E, S, or O) and type of a tag; None if it is none."""
    match = _TAG.fullmatch(tag)
    return (LETTERS[tag[0]], match[1] or "") if match and printable(tag) == tag else None


def entities(tags: Iterable[str]) -> list[tuple[int, int, str]]:
    """The first word of each entity, the one behind its last, its type, by the rule of conlleval.

    An entity begins with B or S, and after O, E, S, or another type.

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
        position, of_type = _parsed(tag) or ("O", "")
        begins = position in "BS" or before in "OES" or of_type != type_
        if before != "O" and (begins or position == "O"):
            found.append((start, i, type_))
        if begins:
            start = i
        before, type_ = position, of_type
    return found


class _Tagged(Sentences):
    """The sentences of a file, where its columns are, and which tags there have been so far."""

    def __init__(self, path: str, lines: list[str]) -> None:
        super().__init__(path, [line.rstrip(" \t") for line in lines])
        first = self.items[0].lines[0]
        self.separator = "\t" if "\t" in first else " "
        cells = self._cells(first)
        self.width, self.word, self.tag = max(2, len(cells)), 0, -1
        if self.width > 2 and all(one.lines[0].startswith("1\t") for one in self.items):
            self.word, self.tag = 1, 2 if _parsed(cells[2]) else -1
        self.tags = set[str]()

    @classmethod
    def begins(cls, file: File) -> bool:
        """Whether the first lines all have a tag, some of which have a type."""
        try:
            text = cls(file.path, _beginning(file))
            for one in text.items:
                text.columns(one)
        except ReadError:
            return False
        return any("-" in tag for tag in text.tags) or {"B", "O"} <= text.tags

    def is_comment(self, line: str) -> bool:
        key, _, value = line[1:].partition("=")
        word = line[0] != "#" or (_parsed(line.split()[-1]) and not (key.strip() and value.strip()))
        return not word or line.startswith("-DOCSTART-")

    def _cells(self, line: str) -> list[str]:
        cells = line.split(self.separator)
        return [x for x in cells if x] if "" in cells and self.separator == " " else cells

    def columns(self, sentence: Sentence) -> Columns:
        """The words of a sentence, their tags, and the entities that these mark."""
        rows = []
        for line, text in enumerate(sentence.lines, sentence.line):
            cells = self._cells(text)
            good = len(cells) == self.width and cells[self.word] and _parsed(cells[self.tag])
            if not good:
                problem = f"no word and its tag in {self.width} columns: {shown(' '.join(cells))}"
                raise ReadError.at(self.path, f"{problem}; {_WORD_AND_TAG}", f"line {line}")
            rows.append((cells[self.word], cells[self.tag]))
        words, tags = zip(*rows, strict=True)
        self.tags.update(tags)
        return words, tags, entities(tags)

    def judged(self, gold: Columns, system: Columns) -> tuple[int, int, int]:
        """How many entities are right, wrong and missing."""
        right, given = set(gold[2]), set(system[2])
        return len(right & given), len(given - right), len(right - given)

    def scored(self, gold: _Tagged, found: Sequence[Any], name: str) -> Scores:  # noqa: ARG002
        """The entities that are right, wrong and missing in each sentence."""
        tp, fp, fn = map(sum, zip(*found, strict=True))
        rule = "an entity is right if its first word, last word and type are"
        return {"spans": list(found)}, [rule, f"tp {tp}, fp {fp}, fn {fn} in {name}"]


SPANS = Annotated(kind=_Tagged, name="spans", title="columns with entity tags")
