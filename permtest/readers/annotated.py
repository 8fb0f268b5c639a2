"""Text with a word a line, held against a gold standard: CoNLL-U, and columns with tags.

A blank line ends a sentence, which is an item. Sentences are paired with those of gold by their
order, and their words must be the same. Punctuation counts; multiword tokens and empty nodes do
not, but their words do. An entity is right if its first word, its last word and its type are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from permtest.readers.tables import File, ReadError, Table, of_frame, printable, shown

#: What can be scored, and the statistic that it is tested by.
METRICS = {"upos": "accuracy", "uas": "uas", "las": "las", "spans": "f1"}
ID, FORM, UPOS, HEAD, DEPREL = 0, 1, 3, 6, 7

#: The ID of a word of CoNLL-U, of a multiword token, or of an empty node; and a tag.
_ID = re.compile(r"\d+([-.]\d+)?", re.ASCII)
_TAG = re.compile(r"O|[BIES]-\S{1,200}|[BIES]")


class Sentence(NamedTuple):
    """The cells of its words, and its id."""

    rows: list[list[str]]
    name: str


def not_declared(file: File, said: Any) -> ReadError | None:
    """The error for annotated text of which nothing is said; None of other files."""
    lines = [] if file.members() else file.text[:20_000].splitlines()[:-1]
    words = [x for x in lines if x.strip() and not x.startswith(("# ", "-DOCSTART-"))]
    cells, found = [x.split() for x in words], dict[str, str]()
    if words and all(x.count("\t") == 9 for x in words) and _ID.fullmatch(cells[0][ID]):
        found["statistic"] = "upos" if cells[0][HEAD] == "_" else "las"
    elif len(words) > 2 and all(len(x) > 1 and _TAG.fullmatch(x[-1]) for x in cells):
        found["statistic"] = "spans"
        if "gold" not in said and all(len(x) > 2 and _TAG.fullmatch(x[-2]) for x in cells):
            found["gold"] = str(len(cells[0]) - 1)
    else:
        return None
    problem = f"{printable(file.path)} is a treebank, or text with tags: name what is right (gold: "
    problem += "a file, or a column of tags), and the metric: upos, uas or las of a treebank; "
    problem += "spans, which are entities"
    return ReadError(problem, None, found if "gold" in {**said, **found} else None)


def load(files: Sequence[Any], gold: Any, metric: str) -> list[Table]:
    """The table of each system: a line for each sentence of gold that it has."""
    if any(not isinstance(x, File) for x in files):
        raise ReadError("treebanks and tagged text are read from files")
    inside = str(gold).isdecimal() and not Path(str(gold)).is_file()
    found, column = [], int(gold) if inside else 0
    right = [] if inside else _sentences(File.load(gold), metric)
    for file in files:
        own = _sentences(file, metric)
        if inside:
            if metric != "spans" or not all(len(y) >= column > 0 for x in own for y in x.rows):
                raise file.error(f"gold {column} is no column that {metric} can use; name a file")
            right = [x._replace(rows=[y[:column] for y in x.rows]) for x in own]
        if len(own) != len(right):
            raise file.error(f"it has {len(own):,} sentences, and gold {len(right):,}")
        found.append(_table(file, zip(own, right, strict=True), metric))
    return found


def _sentences(file: File, metric: str) -> list[Sentence]:
    """The sentences of a file."""
    found = []
    for block in re.split(r"\n[ \t\r]*(?=\n)", file.text):
        name, rows = "", list[list[str]]()
        for line in filter(str.strip, block.splitlines()):
            comment = re.fullmatch(r"# ?(\w+)(?: id)?(?: *= *(.*))?", line) if not rows else None
            if comment and comment[1] in ("id", "sent_id") and comment[2]:
                name = comment[2]
            spans = metric == "spans" and not (comment and comment[2])
            if (spans or rows or not line.startswith("#")) and not line.startswith("-DOCSTART-"):
                rows.append(_cells(file, line, metric))
        if words := [x for x in rows if metric == "spans" or x[ID].isdecimal()]:
            found.append(Sentence(words, name))
    if not found:
        raise file.error("it holds no sentence; write a word on each line")
    if metric != "spans" and {_answer(y, metric)[0] for x in found for y in x.rows} == {"_"}:
        raise file.error(f"it has no values of {metric}")
    return found


def _cells(file: File, line: str, metric: str) -> list[str]:
    """The cells of a word, which have to be as the format wants them."""
    cells = line.rstrip().split("\t" if "\t" in line.strip() else None)
    if metric == "spans":
        good, wanted = len(cells) > 1 and _TAG.fullmatch(cells[-1]), "a word and its tag"
    else:
        good = len(cells) == 10 and all(cells[:8]) and _ID.fullmatch(cells[ID])
        wanted = "a word in ten columns with a tab between each two"
    if not good:
        raise file.error(f"{shown(line)} is not {wanted}")
    return cells


def _table(file: File, pairs: Iterable[Any], metric: str) -> Table:
    """The table of a system: what is right, or the entities that are right, wrong and missing."""
    word, rows = ID if metric == "spans" else FORM, []
    for own, gold in pairs:
        said, true = ([x[word] for x in one.rows] for one in (own, gold))
        names = own.name * bool(gold.name), gold.name * bool(own.name)
        for x, y in zip([names[0], *said, "nothing"], [names[1], *true, "nothing"], strict=False):
            if x != y:
                problem = f"a sentence has {shown(x)}, but {shown(y)} in gold"
                raise file.error(f"{problem}: ids and words have to be alike")
        row = {"sent_id": own.name, "text": " ".join(true)}
        if metric == "spans":
            found, right = (entities(x[-1] for x in one.rows) for one in (own, gold))
            row |= {"gold": " ".join(x[-1] for x in gold.rows), "tp": len(found & right)}
            row |= {"fp": len(found - right), "fn": len(right - found)}
        else:
            both = zip(own.rows, gold.rows, strict=True)
            row[metric] = sum(_answer(x, metric) == _answer(y, metric) for x, y in both)
        rows.append(row)
    if not all(x["sent_id"] for x in rows):
        rows = [{x: y for x, y in row.items() if x != "sent_id"} for row in rows]
    return of_frame(rows, file.path, file=file, known={"agree": ["text"]})


def _answer(row: Sequence[str], metric: str) -> tuple[str, ...]:
    """The tag, the head, or the head and its relation without subtypes."""
    relation = row[DEPREL].partition(":")[0]
    return {"upos": (row[UPOS],), "uas": (row[HEAD],), "las": (row[HEAD], relation)}[metric]


def entities(tags: Iterable[str]) -> set[tuple[int, int, str]]:
    """The first word of each entity, the one behind its last, its type, by the rule of conlleval.

    An entity begins with B or S, and after O, E, S, or another type.

    Examples
    --------
    >>> sorted(entities(["I-PER", "I-PER", "I-LOC", "O", "E-LOC", "B-LOC"]))
    [(0, 2, 'PER'), (2, 3, 'LOC'), (4, 5, 'LOC'), (5, 6, 'LOC')]
    """
    found = set()
    before, type_, start = "O", "", 0
    for i, tag in enumerate((*tags, "O")):
        position, of_type = tag[0], tag[2:]
        begins = position in "BS" or before in "OES" or of_type != type_
        if before != "O" and (begins or position == "O"):
            found.add((start, i, type_))
        start = i if begins else start
        before, type_ = position, of_type
    return found
