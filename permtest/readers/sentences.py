"""Texts with a word a line and a blank line after each sentence, held against a gold standard.

Sentences are paired by their ids where all of them have one, in both files, and some ids are in
both; else by their order. Either way they must have the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, count, pairwise, takewhile, zip_longest
from operator import not_
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from permtest.readers.files import File, ReadError, brief, check_memory, shown
from permtest.readers.systems import ORDER, SystemScores

#: What a sentence needs at most with its scores, and while it is cut into cells for each
#: character of its lines, in bytes.
PER_SENTENCE, PER_CHARACTER = 2000, 64

#: How much of a file is looked at to recognise its format, in bytes.
BEGINNING = 2**16

_NEWDOC = re.compile(r"#\s*newdoc\b|-DOCSTART-")

#: The words of a sentence, then what is said of each.
Columns: TypeAlias = Sequence[Sequence[Any]]


class Sentence(NamedTuple):
    """The lines of its words, the first of which is number `line`, and what its comments say."""

    line: int
    lines: list[str]
    name: str | None
    text: str | None
    document: str


def beginning(file: File) -> list[str]:
    """The first whole lines of a file, to recognise its format by; they may be none."""
    lines = re.split("\r\n?|\n", file.data[:BEGINNING].decode("utf-8-sig", errors="replace"))
    return lines if len(file.data) <= BEGINNING else lines[:-1]


class Sentences:
    """All sentences of a file."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.items, self.documents, document = path, list[Sentence](), 0, "0"
        blank = compress(count(), map(not_, map(str.strip, lines)))
        for before, end in pairwise([-1, *blank, len(lines)]):
            comments = list(takewhile(self.is_comment, lines[before + 1 : end]))
            facts = dict[str, str]()
            for comment in comments:
                key, _, value = comment[1:].partition("=")
                facts[key.strip()] = value.strip()
                if _NEWDOC.match(comment):
                    self.documents += 1
                    document = value.strip() or str(self.documents)
            start, name = before + 1 + len(comments), facts.get("sent_id") or facts.get("id")
            if words := lines[start:end]:
                check_memory(path, PER_CHARACTER * sum(map(len, words)))
                check_memory(path, PER_SENTENCE * len(self.items))
                self.items.append(Sentence(start + 1, words, name, facts.get("text"), document))
            elif name:
                problem = f"sentence {shown(name)} has no words; write them below, or remove it"
                raise ReadError.at(path, problem, line=start)
        if not self.items:
            raise ReadError.at(path, "holds no sentence; there must be a word on each line")

    def is_comment(self, line: str) -> bool:
        """Whether a line before a sentence is no word."""
        return line.startswith("#")

    def columns(self, sentence: Sentence) -> Columns:
        """The words of a sentence, and what is said of them; ReadError where that cannot be."""
        raise NotImplementedError

    def by_name(self) -> dict[str, Sentence]:
        """The sentences by their ids; empty where one has none. ReadError if an id occurs twice."""
        found = dict[str, Sentence]()
        for one in self.items if all(one.name for one in self.items) else ():
            if (first := found.setdefault(str(one.name), one)) is not one:
                problem = f"{shown(str(one.name))} is the id of two sentences (also on line "
                problem += f"{first.line}); give each an id of its own, or remove the ids of all"
                raise ReadError.at(self.path, problem, line=one.line)
        return found


#: What files of gold were cut into, which is done once for all systems.
_GOLD: WeakKeyDictionary[File, Sentences] = WeakKeyDictionary()


class Alignment:
    """The sentences of a system beside those of gold."""

    def __init__(self, kind: type[Sentences], file: File, reference: File) -> None:
        if not isinstance(_GOLD.get(reference), kind):
            _GOLD[reference] = kind(reference.path, reference.lines)
        gold, system = _GOLD[reference], kind(file.path, file.lines)
        vars(file).pop("lines", None)  # those of many systems would need much memory
        self.file, self.gold, self.system, self.texts = file, gold, system, list[str]()
        self.known, self.lacking = gold.by_name(), list[str]()
        self.pairs = list(zip(gold.items, system.items, strict=False))
        here = system.by_name() if self.known else {}
        self.by_name = not self.known.keys().isdisjoint(here)
        if self.by_name:
            if stranger := next((name for name in here if name not in self.known), None):
                problem = f"no sentence of {gold.path} has the id {shown(stranger)}; use the ids "
                problem += "of gold, or remove all ids from this file to pair by order"
                raise ReadError.at(system.path, problem, line=here[stranger].line)
            self.lacking = [name for name in self.known if name not in here]
            self.pairs = [(one, here[name]) for name, one in self.known.items() if name in here]

    def judged(self, judge: Callable[[Columns, Columns], Any]) -> list[Any]:
        """What `judge` makes of the columns of gold and system; ReadError if words differ."""
        found = []
        for right, given in self.pairs:
            there, here = self.gold.columns(right), self.system.columns(given)
            if there[0] != here[0]:
                both = enumerate(zip_longest(here[0], there[0], fillvalue=""), 1)
                number, words = next((i, words) for i, words in both if len(set(words)) > 1)
                problem = "word {} of this sentence is {}, but {} in that of {}, line {}; run the "
                problem += "system on the words of gold, for other tokens are not aligned"
                problem = problem.format(number, *map(shown, words), self.gold.path, right.line)
                raise ReadError.at(self.system.path, problem, line=given.line)
            self.texts.append(brief(right.text or " ".join(there[0][:150]), 300))
            found.append(judge(there, here))
        number, due = len(self.system.items), len(self.gold.items)
        if number != due and not self.by_name:
            problem = f"the number of sentences is {number}, but {due} in {self.gold.path}, and "
            problem += "there are no ids to pair them by; give both files sent_ids, or the same "
            raise ReadError.at(self.system.path, problem + "sentences in the same order")
        return found

    def scores(
        self, scores: Mapping[str, Sequence[Any]], notes: list[str], **more: Any
    ) -> SystemScores:
        """The scores of all sentences, known by the ids of gold, if it has ids."""
        if not self.by_name:
            notes.append(
                f"paired with gold by the order of sentences, words checked: {self.file.stem}"
            )
        elif self.lacking:
            first = f"{len(self.lacking)} (first: {shown(self.lacking[0])})"
            notes.append(f"sentences of gold that {self.file.stem} lacks: {first}")
        documents = [right.document for right, _ in self.pairs]
        return SystemScores(
            system=self.file.stem,
            file=self.file,
            scores=scores,
            paired_by="sent_id" if self.known else ORDER,
            ids=[str(right.name) for right, _ in self.pairs] if self.known else None,
            clusters={"document": documents} if self.gold.documents else {},
            texts=self.texts,
            places=[f"line {given.line}" for _, given in self.pairs],
            notes=tuple(notes),
            **more,
        )
