"""Entity tags such as B-PER: the entities that they mark, and the scheme that they follow.

Schemes are recognised by the letters: E or S mean IOBES, L or U BILOU, M or W BMES (BMEWO). Files
with B and I alone are IOB2, where B begins every entity, or IOB1, where it does so only behind
another one of its type: the one that fewer tags contradict. Entities are read in the same way
whatever the scheme, by the rule of conlleval: a tag begins an entity if it is B or S, or comes
after O, after E or S, or after another type; the entity goes on until a tag that is O or begins
another one. So a sequence of tags that the scheme does not allow, such as O I-PER, still has
entities; how many there are of these is noted, with the line of the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from permtest.readers.cells import printable

#: What the letters of the schemes mean in that of the longest names.
LETTERS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I", "W": "S"}

_TAG = re.compile(r"O|([BIESLUMW])(?:-(.{0,200}))?", re.DOTALL)


@lru_cache(maxsize=4096)
def parsed(tag: str) -> tuple[str, str] | None:
    """Position (B, I, E, S, or O) and type of a tag; None if it is none."""
    match = _TAG.fullmatch(tag)
    if match is None or printable(tag) != tag:
        return None
    return (LETTERS[match[1]], match[2] or "") if match[1] else ("O", "")


class Entity(NamedTuple):
    """Words `start` to `stop`, counted from 0, that one not counted, and their type."""

    start: int
    stop: int
    type: str


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of a sentence, by the rule of conlleval.

    Parameters
    ----------
    tags : sequence of str
        All of them tags.

    Returns
    -------
    list of Entity

    Examples
    --------
    >>> entities(["I-PER", "I-PER", "I-LOC", "O", "E-LOC", "B-LOC"])
    [Entity(start=0, stop=2, type='PER'), Entity(start=2, stop=3, type='LOC'), \
Entity(start=4, stop=5, type='LOC'), Entity(start=5, stop=6, type='LOC')]
    """
    found = []
    before, type_, start = "O", "", 0
    for i, tag in enumerate((*tags, "O")):
        position, of_type = parsed(tag) or ("O", "")
        begins = position in "BS" or before in "OES" or of_type != type_
        if before != "O" and (begins or position == "O"):
            found.append(Entity(start, i, type_))
        if begins:
            start = i
        before, type_ = position, of_type
    return found


@lru_cache(maxsize=4096)
def contradicted(first: str, last: str, follows: bool) -> tuple[str, ...]:
    """The schemes that would have written an entity otherwise.

    Parameters
    ----------
    first, last : str
        The tags of its first and of its last word.
    follows : bool
        Whether an entity of the same type ends just before it.

    Returns
    -------
    tuple of str
    """
    begins, ends = (LETTERS[tag[0]] for tag in (first, last))
    wrong = {
        "IOB2": begins != "B",
        "IOB1": (begins == "B") != follows,
        "IOBES": begins not in "BS" or ends not in "ES",
    }
    return tuple(scheme for scheme in wrong if wrong[scheme])


@dataclass
class Seen:
    """What was seen of the tags of a file so far.

    `contradicted` and `first` have, for each scheme, the number of entities that it would have
    written otherwise, and the line of one.
    """

    letters: set[str] = field(default_factory=set)
    entities: int = 0
    contradicted: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, tags: Sequence[str], line: int) -> list[Entity]:
        """The entities of a sentence that begins on a line."""
        distinct = set(tags)
        if distinct == {"O"}:
            return []
        self.letters.update(tag[0] for tag in distinct)
        found = entities(tags)
        self.entities += len(found)
        before = (0, "")
        for start, stop, type_ in found:
            for scheme in contradicted(tags[start], tags[stop - 1], before == (start, type_)):
                self.contradicted[scheme] += 1
                self.first.setdefault(scheme, line + start)
            before = (stop, type_)
        return found

    @property
    def scheme(self) -> str | None:
        """The name of the scheme of all tags seen; None where all are O."""
        if not self.entities:
            return None
        for scheme, letters in (("BMES", "MW"), ("BILOU", "LU"), ("IOBES", "ES")):
            if not self.letters.isdisjoint(letters):
                return scheme
        return min(("IOB2", "IOB1"), key=lambda scheme: self.contradicted[scheme])

    def note(self, name: str) -> str:
        """The scheme, and how much of it had to be repaired."""
        if self.scheme is None:
            return f"no entities in {name}"
        rules = self.scheme if self.scheme.startswith("IOB") else "IOBES"
        text = f"{self.scheme} tags in {name}; entities: {self.entities}"
        if number := self.contradicted[rules]:
            text += f", contrary to the scheme and read as by conlleval: {number} (first: line "
            text += f"{self.first[rules]})"
        return text
