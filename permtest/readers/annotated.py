"""Text with a word a line, held against a gold standard: CoNLL-U, and columns with tags.

A blank line ends a sentence, which is an item. Sentences are paired with those of gold by their
order, and their words must be the same. Punctuation counts; multiword tokens and empty nodes do
not, but their words do. An entity is right if its first word, its last word and its type are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from permtest.readers.tables import File, ReadError, Table, of_frame, printable, shown

#: The id of a sentence, and the cells of its words.
Sentence: TypeAlias = tuple[str, list[list[str]]]

#: What can be scored, and the statistic that it is tested by.
METRICS = {"upos": "accuracy", "uas": "uas", "las": "las", "spans": "f1"}
ID, FORM, UPOS, HEAD, DEPREL = 0, 1, 3, 6, 7

#: The ID of a word of CoNLL-U, of a multiword token, or of an empty node; and a tag.
_ID = re.compile(r"\d+([-.]\d+)?", re.ASCII)
_TAG = re.compile(r"O|[BIES]-\S{1,200}|[BIES]")


def check_declared(file: Any, said: Any) -> None:
    """Refuse annotated text of which nothing is said, and propose what to say."""
    known = not isinstance(file, File) or file.kind != "lines"
    lines = [] if known else file.text[:20_000].splitlines()[:-1]
    words = [x for x in lines if x.strip() and not x.startswith(("# ", "-DOCSTART-"))]
    cells = [x.split() for x in words]
    if words and all(x.count("\t") == 9 for x in words) and _ID.fullmatch(cells[0][ID]):
        found = {"statistic": "upos" if cells[0][HEAD] == "_" else "las"}
    elif len(words) > 2 and all(len(x) > 1 and _TAG.fullmatch(x[-1]) for x in cells):
        found = {"statistic": "spans"}
        if "gold" not in said and all(len(x) > 2 and _TAG.fullmatch(x[-2]) for x in cells):
            found["gold"] = str(len(cells[0]) - 1)
    else:
        return
    problem = f"{printable(file.path)} is a treebank, or text with tags: name what is right (gold: "
    problem += "a file, or a column of tags), and the metric (upos, uas, las, or spans of tags)"
    raise ReadError(problem, proposal=found)


def load(files: Sequence[Any], gold: Any, metric: str) -> list[Table]:
    """The table of each system: a line for each sentence of gold that it has."""
    if any(not isinstance(x, File) for x in files):
        raise ReadError("treebanks and tagged text are read from files")
    inside = metric == "spans" and str(gold).isdecimal() and not Path(str(gold)).is_file()
    right = [] if inside else _sentences(File.load(gold), metric)
    return [_table(x, right, int(gold) if inside else 0, metric) for x in files]


def _sentences(file: File, metric: str) -> list[Sentence]:
    """The sentences of a file."""
    found, name, rows, spans = list[Sentence](), "", list[list[str]](), metric == "spans"
    for line in [*file.text.splitlines(), ""]:
        cells = line.rstrip().split("\t" if "\t" in line.strip() else None)
        if not line.strip() or cells[0] == "-DOCSTART-":
            found += [(name, rows)] if rows else []
            name, rows = "", []
        elif line.startswith("#") and not rows and (" = " in line or not spans):
            name = line.partition(" = ")[2] if "sent_id = " in line else name
        elif spans and len(cells) > 1 and _TAG.fullmatch(cells[-1]):
            rows.append(cells)
        elif not spans and len(cells) == 10 and all(cells[:8]) and _ID.fullmatch(cells[ID]):
            rows += [cells] if cells[ID].isdecimal() else []
        else:
            wanted = "a word and its tag" if spans else "a word in ten columns with tabs between"
            raise file.error(f"{shown(line)} is not {wanted}")
    return found


def _table(file: File, right: list[Sentence], column: int, metric: str) -> Table:
    """The table of a system: what is right, or the entities that are right, wrong and missing."""
    own, word, lines = _sentences(file, metric), ID if metric == "spans" else FORM, []
    if column:
        if not all(len(y) >= column and _TAG.fullmatch(y[column - 1]) for _, x in own for y in x):
            raise file.error(f"gold {column} is no column that {metric} can use; name a file")
        right = [(name, [x[:column] for x in rows]) for name, rows in own]
    if len(own) != len(right) or not own:
        raise file.error(f"it has {len(own):,} sentences, and gold {len(right):,}")
    for (name, rows), (other, gold) in zip(own, right, strict=True):
        said, true = ([x[word] for x in one] for one in (rows, gold))
        for x, y in zip([*said, "nothing"], [*true, "nothing"], strict=False):
            if x != y:
                raise file.error(f"a sentence has {shown(x)}, but {shown(y)} in gold: correct one")
        line: dict[str, Any] = {"sent_id": other or name, "text": " ".join(true)}
        if metric == "spans":
            found, wanted = (entities(x[-1] for x in one) for one in (rows, gold))
            line |= {"gold": " ".join(x[-1] for x in gold), "tp": len(found & wanted)}
            line |= {"fp": len(found - wanted), "fn": len(wanted - found)}
        else:
            both = zip(rows, gold, strict=True)
            line[metric] = sum(_answer(x, metric) == _answer(y, metric) for x, y in both)
        lines.append(line)
    if not all(x["sent_id"] for x in lines):
        lines = [{x: y for x, y in line.items() if x != "sent_id"} for line in lines]
    return of_frame(lines, file.path, file=file, tool=True)


def _answer(row: Sequence[str], metric: str) -> tuple[str, ...]:
    """The tag, the head, or the head and its relation without subtypes."""
    relation = row[DEPREL].partition(":")[0]
    return {"upos": (row[UPOS],), "uas": (row[HEAD],), "las": (row[HEAD], relation)}[metric]


def entities(tags: Iterable[str]) -> set[tuple[int, int, str]]:
    """The first word of each entity, the one behind its last, and its type, as conlleval does."""
    # An entity begins with B or S, and after O, E, S, or another type.
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
