"""Files with a word a line and a blank line after each sentence, held against a gold standard.

What is common to `conllu` and `spans`: cutting a file into sentences, pairing those of a system
with those of the gold standard, and checking that both have the same words.

Sentences are paired by their ids where all of them have one, in both files, and some ids are in
both; else by their order, of which there must be as many. Either way the words must be the same,
one by one, so that a shift cannot go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias
from unicodedata import normalize

from permtest.readers.cells import shown
from permtest.readers.files import File, ReadError, check_memory
from permtest.readers.scores import ORDER, SystemScores

#: What a sentence needs at most beside its lines, with its scores, in bytes.
PER_SENTENCE = 1200

#: How much of a text is kept for people to read.
LONGEST_TEXT = 300

#: How much of a file is looked at to recognise its format, in bytes.
BEGINNING = 2**16

#: Key and value of a comment; None where a line is no comment.
Fact: TypeAlias = "tuple[str, str] | None"


class Sentence(NamedTuple):
    """The lines of the words of a sentence, and what the comments before them say.

    `line` is the number of the first word's line, counted from 1.
    """

    line: int
    words: list[str]
    name: str | None
    text: str | None
    document: str


@dataclass(frozen=True, eq=False)
class Sentences:
    """All sentences of a file; `documents` is how many documents it says that it has."""

    path: str
    items: list[Sentence]
    documents: int

    @cached_property
    def by_name(self) -> dict[str, Sentence]:
        """The sentences by their ids; empty where one has none. ReadError if an id occurs twice."""
        if any(one.name is None for one in self.items):
            return {}
        found: dict[str, Sentence] = {}
        for one in self.items:
            if (first := found.setdefault(str(one.name), one)) is not one:
                problem = (
                    f"{shown(str(one.name))} is the id of two sentences, also of that on line "
                    f"{first.line}; give each an id of its own, or remove the ids of all"
                )
                raise ReadError.at(self.path, problem, line=one.line)
        return found


def comment(line: str) -> Fact:
    """What a line that begins with # says: its key, and its value or "".

    Parameters
    ----------
    line : str

    Returns
    -------
    tuple of str, or None
        ``("newdoc id", "x")`` for ``# newdoc id = x``.
    """
    if not line.startswith("#"):
        return None
    key, _, value = line[1:].partition("=")
    return key.strip(), value.strip()


def cut(file: File, heading: Callable[[str], Fact], ids: tuple[str, ...]) -> Sentences:
    """The sentences of a file.

    Parameters
    ----------
    file : File
    heading : callable
        What a line before the words of a sentence says; None if it is a word.
    ids : tuple of str
        The keys of comments that may hold the id of a sentence, the best first.

    Returns
    -------
    Sentences
    """
    blank = [i for i, line in enumerate(file.lines) if not line or not line.strip(" ")]
    blocks = [(i + 1, j) for i, j in pairwise([-1, *blank, len(file.lines)]) if j - i > 1]
    check_memory(file.path, PER_SENTENCE * len(blocks))
    items, documents, document = [], 0, "0"
    for start, stop in blocks:
        facts, words = _heading(file, start, stop, heading)
        if "newdoc" in facts or "newdoc id" in facts:
            documents += 1
            document = facts.get("newdoc id") or str(documents)
        name = next(filter(None, map(facts.get, ids)), None)
        if words:
            items.append(Sentence(stop - len(words) + 1, words, name, facts.get("text"), document))
        elif name is not None:
            problem = f"sentence {shown(name)} has no words; write them below, or remove it"
            raise ReadError.at(file.path, problem, line=start + 1)
    if not items:
        raise ReadError.at(file.path, "holds no sentence; there must be a word on each line")
    return Sentences(file.path, items, documents)


def _heading(
    file: File, start: int, stop: int, heading: Callable[[str], Fact]
) -> tuple[dict[str, str], list[str]]:
    """What the lines before the words say, and the lines of the words."""
    facts: dict[str, str] = {}
    for i in range(start, stop):
        fact = heading(file.lines[i])
        if fact is None:
            return facts, file.lines[i:stop]
        if fact[0] == "sent_id" and "sent_id" in facts:
            problem = "a second sent_id; a blank line must end each sentence"
            raise ReadError.at(file.path, problem, line=i + 1)
        facts[fact[0]] = fact[1]
    return facts, []


def matched(gold: Sentences, system: Sentences) -> Iterator[tuple[Sentence, Sentence]]:
    """Sentences that belong together, in the order of the gold standard.

    Raises ReadError if the system has sentences that the gold standard does not have, or, where
    they are paired by order, if it has fewer.

    Parameters
    ----------
    gold, system : Sentences

    Yields
    ------
    tuple of two Sentence
    """
    if not paired_by_name(gold, system):
        yield from zip(gold.items, system.items, strict=False)
        _check_number(gold, system)
        return
    for name, one in system.by_name.items():
        if name not in gold.by_name:
            problem = (
                f"no sentence of {gold.path} has the id {shown(name)}; use the ids of the gold "
                "standard, or remove all ids from this file to pair by order"
            )
            raise ReadError.at(system.path, problem, line=one.line)
    for name, right in gold.by_name.items():
        if name in system.by_name:
            yield right, system.by_name[name]


def paired_by_name(gold: Sentences, system: Sentences) -> bool:
    """Whether all sentences of both files have ids, and some are the same."""
    return bool(gold.by_name) and not gold.by_name.keys().isdisjoint(system.by_name)


def _check_number(gold: Sentences, system: Sentences) -> None:
    there, here = len(gold.items), len(system.items)
    if there != here:
        raise ReadError.at(
            system.path,
            f"the number of sentences is {here}, but {there} in {gold.path}, and there are no ids "
            "to pair them by; give both files sent_ids, or the same sentences in the same order",
        )


def check_words(
    gold: Sentences,
    system: Sentences,
    lines: tuple[int, int],
    right: Sequence[str],
    given: Sequence[str],
) -> None:
    """Raise ReadError unless a sentence has the same words in both files.

    Parameters
    ----------
    gold, system : Sentences
    lines : tuple of two int
        Where the sentence begins in either file.
    right, given : sequence of str
        Its words.
    """
    if right == given:
        return
    remedy = (
        "a system is scored on the words of the gold standard, so run it on these (other "
        "tokens are not aligned)"
    )
    for i, (theirs, mine) in enumerate(zip(right, given, strict=False)):
        if theirs != mine:
            alike = normalize("NFC", theirs) == normalize("NFC", mine)
            why = " (the same, composed otherwise in Unicode: save both files as NFC)" * alike
            problem = (
                f"word {i + 1} of this sentence is {shown(mine)}, but {shown(theirs)} in that of "
                f"{gold.path}, line {lines[0]}{why}; {remedy}"
            )
            raise ReadError.at(system.path, problem, line=lines[1])
    problem = (
        f"this sentence ends after word {len(given)}, but that of {gold.path}, line {lines[0]}, "
        f"after word {len(right)}; {remedy}"
    )
    raise ReadError.at(system.path, problem, line=lines[1])


def system_scores(
    file: File,
    gold: Sentences,
    system: Sentences,
    scores: Mapping[str, Sequence[Any]],
    texts: Sequence[str],
    **more: Any,
) -> SystemScores:
    """The scores of the sentences that `matched` gave.

    Parameters
    ----------
    file : File
    gold, system : Sentences
    scores : mapping of str to sequence
    texts : sequence of str
        The words of each sentence, shown where the gold standard holds no text.
    **more
        Other arguments of `SystemScores`; `notes` are put before those of this function.

    Returns
    -------
    SystemScores
        Known by the ids of the gold standard, if it has ids.
    """
    pairs = list(matched(gold, system))
    named = bool(gold.by_name)
    documents = [right.document for right, _ in pairs]
    notes = (*more.pop("notes", ()), *_pairing(file, gold, system, len(pairs)))
    return SystemScores(
        system=file.stem,
        file=file,
        scores=scores,
        paired_by="sent_id" if named else ORDER,
        ids=[str(right.name) for right, _ in pairs] if named else None,
        clusters={"document": documents} if gold.documents else {},
        texts=[
            _shortened(right.text or words) for (right, _), words in zip(pairs, texts, strict=True)
        ],
        places=[f"line {given.line}" for _, given in pairs],
        notes=notes,
        **more,
    )


def _pairing(file: File, gold: Sentences, system: Sentences, pairs: int) -> list[str]:
    """What one should know of how a system was paired with the gold standard."""
    if not paired_by_name(gold, system):
        return [f"paired with gold by the order of sentences, words checked: {file.stem}"]
    if missing := len(gold.items) - pairs:
        first = next(name for name in gold.by_name if name not in system.by_name)
        return [f"sentences of gold that {file.stem} lacks: {missing} (first: {shown(first)})"]
    return []


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


def beginning(file: File) -> File:
    """The first whole lines of a file, to recognise its format by; they may be none."""
    data = file.data[:BEGINNING]
    return File(file.path, data if len(file.data) <= BEGINNING else data[: data.rfind(b"\n") + 1])
