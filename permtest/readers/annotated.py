"""Text with a word a line, held against a gold standard: CoNLL-U, and columns with tags.

A blank line ends a sentence, which is an item. Sentences of CoNLL-U are paired with those of gold
by their ids where both files have them, else by their order; their words must be the same.
Punctuation counts; multiword tokens and empty nodes do not, but their words do. An entity is right
if its first word, its last word and its type are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from permtest.readers.tables import File, ReadError, Table, printable, shown

#: What can be scored, and the statistic that it is tested by; the column that CoNLL-U needs for it.
METRICS = {"upos": "accuracy", "uas": "uas", "las": "las", "spans": "f1"}
FORM, HEAD, DEPREL, COLUMN = 1, 6, 7, {"upos": 3, "uas": 6, "las": 7}

#: The ID of a word of CoNLL-U, and of what is none: a multiword token, or an empty node.
_ID, _NO_WORD = re.compile(r"\d+([-.]\d+)?", re.ASCII), re.compile(r"\d+[-.]\d+", re.ASCII)
_TAG = re.compile(r"O|[BIESLUMW]-\S{1,200}|[BIES]")

#: What the letters of other schemes mean in IOBES.
LETTERS = dict(zip("OBIESLUMW", "OBIESESIS", strict=True))


class Sentence(NamedTuple):
    """The cells of its words, its id, and its document."""

    rows: list[list[str]]
    name: str
    document: str


def not_declared(file: File, said: Any) -> ReadError | None:
    """The error for annotated text of which nothing is said; None of other files."""
    if file.is_binary:
        return None
    lines = [x for x in file.text[:20_000].splitlines()[:-1] if x.strip()]
    words = [x for x in lines if not x.startswith(("# ", "-DOCSTART-"))]
    cells, found = [x.split() for x in words], {"statistic": "spans"}
    if words and all(x.count("\t") == 9 for x in words) and _ID.fullmatch(cells[0][0]):
        problem = (
            "is a treebank in CoNLL-U: name the right one (--gold FILE), and what is compared "
        )
        problem += "(--metric upos, uas or las)"
        found["statistic"] = "upos" if words[0].split("\t")[HEAD] == "_" else "las"
    elif len(words) > 2 and all(len(x) > 1 and _TAG.fullmatch(x[-1]) for x in cells):
        problem = "is text with tags: compare entities (--metric spans) with the right ones, which "
        problem += "are in a column or a file (--gold COL, or --gold FILE)"
        if "gold" not in said and all(len(x) > 2 and _TAG.fullmatch(x[-2]) for x in cells):
            return ReadError(
                f"{printable(file.path)} {problem}", None, found | {"gold": str(len(cells[0]) - 1)}
            )
    else:
        return None
    return ReadError(f"{printable(file.path)} {problem}", None, found if "gold" in said else None)


def load(files: Sequence[Any], gold: Any, metric: str) -> list[Table]:
    """The table of each system: a line for each sentence of gold that it has."""
    if any(not isinstance(x, File) for x in files):
        raise ReadError("treebanks and tagged text are read from files")
    found, inside = [], str(gold).isdecimal() and not Path(str(gold)).is_file()
    right = [] if inside else _sentences(File.load(gold), metric)
    for file in files:
        own, column = _sentences(file, metric), int(gold) if inside else 0
        if inside and not (
            metric == "spans" and all(len(y) >= column > 0 for x in own for y in x.rows)
        ):
            raise file.error(f"--metric {metric} finds nothing in --gold {column}; name a file")
        pairs = [(x, x._replace(rows=[y[:column] for y in x.rows])) for x in own]
        found.append(_table(file, pairs if inside else _paired(file, own, right), metric))
    return found


def _sentences(file: File, metric: str) -> list[Sentence]:
    """The sentences of a file."""
    found, document, documents = [], "", 0
    for block in re.split(r"\n[ \t\r]*(?=\n)", file.text):
        facts, rows = dict[str, str](), list[list[str]]()
        for line in filter(str.strip, block.splitlines()):
            comment = re.fullmatch(r"# ?(\w+)(?: id)?(?: *= *(.*))?", line) if not rows else None
            if line.startswith("-DOCSTART-") or (comment and comment[1] == "newdoc"):
                documents += 1
                document = (comment and comment[2]) or str(documents)
            elif comment and (metric != "spans" or comment[2]):
                facts[comment[1]] = comment[2] or ""
            elif metric == "spans" or rows or not line.startswith("#"):
                rows.append(_cells(file, line, metric))
        if words := [x for x in rows if metric == "spans" or not _NO_WORD.fullmatch(x[0])]:
            found.append(Sentence(words, facts.get("sent_id", facts.get("id", "")), document))
    if not found:
        raise file.error("it holds no sentence; write a word on each line")
    return found


def _cells(file: File, line: str, metric: str) -> list[str]:
    """The cells of a word, which have to be as the format wants them."""
    cells = line.rstrip().split("\t" if "\t" in line.strip() else None)
    if metric == "spans" and len(cells) > 1 and _TAG.fullmatch(cells[-1]):
        return cells
    if metric != "spans" and len(cells) == 10 and all(cells[:8]) and _ID.fullmatch(cells[0]):
        return cells
    wanted = "a word and its tag (O, B-, I-, E-, S- and a type)"
    wanted = wanted if metric == "spans" else "a word in ten columns with a tab between each two"
    raise file.error(f"{shown(line)} is not {wanted}")


def _paired(file: File, own: list[Sentence], right: list[Sentence]) -> list[Any]:
    """Sentences with those of gold: by their ids where all have one, else by their order."""
    here, there = ({x.name: x for x in each if x.name} for each in (own, right))
    if len(here) == len(own) and len(there) == len(right):
        if strange := here.keys() - there.keys():
            raise file.error(f"gold has no sentence {shown(min(strange))}; use the ids of gold")
        return [(here[x], there[x]) for x in there if x in here]
    if len(own) != len(right):
        raise file.error(f"it has {len(own):,} sentences, and gold {len(right):,}")
    return list(zip(own, right, strict=True))


def _table(file: File, pairs: Sequence[Any], metric: str) -> Table:
    """The table of a system: what is right, or the entities that are right, wrong and missing."""
    import pandas as pd

    word, rows = 0 if metric == "spans" else FORM, []
    for own, gold in pairs:
        for x, y in zip_longest((x[word] for x in own.rows), (x[word] for x in gold.rows)):
            if x != y:
                problem = (
                    f"a sentence has {shown(x)}, but {shown(y)} in gold: words have to be alike"
                )
                raise file.error(problem)
        row = {
            "sent_id": own.name,
            "document": gold.document,
            "text": " ".join(x[word] for x in gold.rows),
        }
        if metric == "spans":
            said, true = (entities(x[-1] for x in one.rows) for one in (own, gold))
            row["gold"] = " ".join(x[-1] for x in gold.rows)
            for name, these in (("tp", said & true), ("fp", said - true), ("fn", true - said)):
                row[name] = str(len(these))
        else:
            both = zip(own.rows, gold.rows, strict=True)
            row[metric] = str(sum(_is_right(x, y, metric) for x, y in both))
        rows.append(row)
    for each in (
        ((x.rows for x, _ in pairs), (x.rows for _, x in pairs)) if metric != "spans" else ()
    ):
        if all(x[COLUMN[metric]] == "_" for rows_of in each for x in rows_of):
            raise file.error(f"it, or gold, has no values for --metric {metric}")
    frame = pd.DataFrame(rows, dtype=object)
    frame = frame.drop(columns="sent_id") if (frame["sent_id"] == "").any() else frame
    return Table(file.path, frame, file=file)


def _is_right(own: Sequence[str], gold: Sequence[str], metric: str) -> bool:
    """Whether the tag, the head, or the head and its relation without subtypes are right."""
    if metric == "upos":
        return own[COLUMN[metric]] == gold[COLUMN[metric]]
    same = own[DEPREL].partition(":")[0] == gold[DEPREL].partition(":")[0]
    return own[HEAD] == gold[HEAD] and (same or metric == "uas")


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
        position, of_type = LETTERS[tag[0]], tag[2:]
        begins = position in "BS" or before in "OES" or of_type != type_
        if before != "O" and (begins or position == "O"):
            found.add((start, i, type_))
        start = i if begins else start
        before, type_ = position, of_type
    return found
