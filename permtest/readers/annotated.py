"""Text with a word a line, held against a gold standard: CoNLL-U, and columns with tags.

A blank line ends a sentence, which is an item. Sentences of CoNLL-U are paired with those of gold
by their ids where both files have them, else by their order; their words must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from permtest.readers.tables import MOST_CELLS, File, ReadError, Table, printable, shown

#: What can be scored, and the statistic that it is tested by.
METRICS = {"upos": "accuracy", "uas": "uas", "las": "las", "spans": "f1"}

#: Columns of CoNLL-U, counted from 0.
ID, FORM, UPOS, HEAD, DEPREL = 0, 1, 3, 6, 7

_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)
_TAG = re.compile(r"O|[BIESLUMW]-\S{1,200}|[BIES]")

#: What the letters of other schemes mean in IOBES.
LETTERS = dict(zip("OBIESLUMW", "OBIESESIS", strict=True))


class Sentence(NamedTuple):
    """The cells of its words, the line of the first, and what its comments say."""

    rows: list[list[str]]
    line: int
    name: str
    document: str


def kind_of(file: File) -> str:
    """ "conllu" or "tags" if the first lines look like it, else ""."""
    if file.data[:4] in (b"PAR1", b"ARRO", b"PK\x03\x04"):
        return ""
    lines = [x for x in file.text[:20_000].splitlines()[:-1] if x.strip()]
    words = [x for x in lines if not x.startswith(("# ", "-DOCSTART-"))]
    if words and all(x.count("\t") == 9 for x in words) and words[0][:2] in ("1\t", "1-"):
        return "conllu"
    ends = [x.split()[-1] for x in words]
    tagged = len(words) > 2 and all(map(_TAG.fullmatch, ends)) and len({*ends}) > 1
    return "tags" if tagged and all(len(x.split()) > 1 for x in words) else ""


def not_declared(file: File, kind: str, said: Any) -> ReadError:
    """The error for annotated text of which nothing is said, and what to say."""
    path = printable(file.path)
    if kind == "conllu":
        problem = f"{path} is a treebank in CoNLL-U: name the right one (--gold FILE) and what is "
        proposal = {"statistic": "las"} if "gold" in said else None
        return ReadError(f"{problem}compared (--metric upos, uas or las)", None, proposal)
    width = len(_first_words(file)[0])
    both = width > 2 and all(_TAG.fullmatch(x[-2]) for x in _first_words(file))
    problem = (
        f"{path} is text with tags: compare entities (--metric spans) with the right ones, in "
    )
    problem += "a column or a file (--gold COL, or --gold FILE)"
    found = {"statistic": "spans", "gold": str(width - 1)} if both else None
    found = {"statistic": "spans"} if "gold" in said else found
    return ReadError(problem, None, found)


def _first_words(file: File) -> list[list[str]]:
    lines = file.text[:20_000].splitlines()[:-1]
    return [x.split() for x in lines if x.strip() and not x.startswith(("# ", "-DOCSTART-"))]


def load(files: Sequence[Any], gold: Any, metric: str) -> list[Table]:
    """The table of each system: a line for each sentence of gold that it has."""
    column = str(gold) if str(gold).isdecimal() and not Path(str(gold)).is_file() else ""
    if column and metric != "spans":
        raise ReadError(f"--metric {metric} needs the right treebank (--gold FILE)")
    right = None if column else _sentences(File.load(gold), metric)
    found = []
    for file in files:
        if not isinstance(file, File):
            raise ReadError("treebanks and tagged text are read from files")
        own = _sentences(file, metric)
        if right is not None:
            pairs = _paired(file, own, right)
        else:
            pairs = [(x, _by_column(file, x, int(column))) for x in own]
        found.append(_table(file, pairs, metric))
    return found


def _sentences(file: File, metric: str) -> list[Sentence]:
    """The sentences of a file."""
    found, rows, document, documents, name, start = [], list[list[str]](), "", 0, "", 0
    lines = file.text.split("\n")
    if len(lines) * 10 > MOST_CELLS:
        raise file.error("it is too long")
    for number, line in enumerate([*lines, ""], 1):
        text = line.rstrip()
        comment = re.match(r"#\s*(newdoc|sent_id|id)\b\s*(?:id\s*)?=?\s*(.*)", text)
        if not text or text.startswith("-DOCSTART-"):
            if rows:
                found.append(Sentence(rows, start, name, document))
                rows, name = [], ""
        if text.startswith("-DOCSTART-") or (comment and comment[1] == "newdoc" and not rows):
            documents += 1
            document = (comment[2] if comment else "") or str(documents)
        elif comment and not rows and (metric != "spans" or "=" in text):
            name = comment[2]
        elif text and not (
            text.startswith("#") and not rows and (metric != "spans" or "=" in text)
        ):
            start = start if rows else number
            rows.append(_row(file, text, number, metric, len(rows)))
    if not found:
        raise file.error("it holds no sentence; write a word on each line")
    if metric != "spans":
        found = [
            x._replace(rows=[y for y in x.rows if not _NO_WORD.fullmatch(y[ID])]) for x in found
        ]
    return found


def _row(file: File, text: str, number: int, metric: str, before: int) -> list[str]:
    """The cells of a word, which have to be as the format wants them."""
    cells = text.split("\t") if "\t" in text else text.split()
    if metric == "spans":
        if len(cells) < 2 or not _TAG.fullmatch(cells[-1]):
            problem = f"{shown(text)} is no word and its tag (O, B-, I-, E-, S- and a type)"
            raise file.error(f"line {number}: {problem}")
    elif len(cells) != 10 or not all(cells[:8]) or not re.match(r"\d+([-.]\d+)?$", cells[ID]):
        problem = f"{shown(text)} has no ten columns with a tab between each two (CoNLL-U)"
        raise file.error(f"line {number}: {problem}")
    return cells


def _by_column(file: File, sentence: Sentence, column: int) -> Sentence:
    """The right tags of a sentence, which stand in a column of the same file."""
    rows = []
    for i, cells in enumerate(sentence.rows):
        if not (1 < column < len(cells) and _TAG.fullmatch(cells[column - 1])):
            problem = f"column {column} of {shown(' '.join(cells))} is no tag"
            raise file.error(f"line {sentence.line + i}: {problem} (--gold COL)")
        rows.append([*cells[: column - 1], cells[column - 1]])
    return sentence._replace(rows=rows)


def _paired(
    file: File, own: list[Sentence], right: list[Sentence]
) -> list[tuple[Sentence, Sentence]]:
    """Sentences with those of gold: by their ids where all have one, else by their order."""
    both: list[dict[str, Sentence]] = [{x.name: x for x in some if x.name} for some in (own, right)]
    if all(len(x) == len(some) for x, some in zip(both, (own, right), strict=True)):
        if strange := next((x for x in both[0] if x not in both[1]), None):
            raise file.error(f"gold has no sentence {shown(strange)}; use the ids of gold")
        return [(both[0][x], both[1][x]) for x in both[1] if x in both[0]]
    if len(own) != len(right):
        raise file.error(f"it has {len(own):,} sentences, and gold {len(right):,}")
    return list(zip(own, right, strict=True))


def _table(file: File, pairs: list[tuple[Sentence, Sentence]], metric: str) -> Table:
    """The table of a system: what is right, or the entities that are right, wrong and missing."""
    import pandas as pd

    word, rows = 0 if metric == "spans" else FORM, []
    for own, gold in pairs:
        words = [[x[word] for x in one.rows] for one in (own, gold)]
        if words[0] != words[1]:
            apart = next(x for x in zip_longest(*words, fillvalue="") if x[0] != x[1])
            problem = f"{shown(apart[0])}, but {shown(apart[1])} in gold; words have to be the same"
            raise file.error(f"the sentence of line {own.line} has {problem}")
        row = {"sent_id": own.name, "document": gold.document, "words": " ".join(words[1])}
        if metric == "spans":
            said, true = (entities(x[-1] for x in one.rows) for one in (own, gold))
            row |= {"gold": " ".join(x[-1] for x in gold.rows), "tp": str(len(said & true))}
            row |= {"fp": str(len(said - true)), "fn": str(len(true - said))}
        else:
            row[metric] = str(
                sum(_is_right(x, y, metric) for x, y in zip(own.rows, gold.rows, strict=True))
            )
        rows.append(row)
    frame = pd.DataFrame(rows)
    if (frame["sent_id"] == "").any():
        frame = frame.drop(columns="sent_id")
    return Table(file.path, frame, file=file, known={"agree": ["gold"]})


def _is_right(own: Sequence[str], gold: Sequence[str], metric: str) -> bool:
    """Whether the tag, the head, or the head and its relation without subtypes are right."""
    if metric == "upos":
        return own[UPOS] == gold[UPOS]
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
        if begins:
            start = i
        before, type_ = position, of_type
    return found
