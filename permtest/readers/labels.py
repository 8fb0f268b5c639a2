"""Which columns of a table hold predicted labels and what is right, and what a label in them is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from permtest.predictions import words_of
from permtest.readers.files import ReadError, kind_of, printable, text_of
from permtest.readers.names import ROLES, is_judged, says
from permtest.readers.shape import How, Sheet, as_ids
from permtest.readers.systems import ROW, SystemScores
from permtest.readers.tables import Table

#: The score of a prediction, and the column of what a file of its own says is right.
PREDICTION, GOLD = "prediction", "gold"


def label_of(cell: Any) -> str:
    """A label as it is compared: 1.0 is 1, True is true, and "" is none."""
    text = text_of(cell)
    if text.lower() in ("nan", "true", "false"):
        return text.lower().removeprefix("nan")
    if "." in text and kind_of(text) == "integer":
        return text.partition(".")[0]
    return printable(text)


def is_missing(label: str | None, known: Collection[str]) -> bool:
    """Whether a prediction says nothing: blank, or such as "N/A" where that is no label."""
    return label is None or (label not in known and kind_of(label) == "missing")


def answers_in(cells: Iterable[Any], right: Collection[str]) -> list[str]:
    """The labels in some cells, beside right ones; "" where a cell says nothing."""
    said = list(map(label_of, cells))
    known = {label.casefold().strip() for label in set(right)}
    blank = {label for label in set(said) if is_missing(label.casefold().strip(), known)}
    return ["" if label in blank else label for label in said]


def gold_of(sheet: Sheet, *, alone: bool) -> int | None:
    """The only column called like right labels, beside predictions by name and no scores."""
    columns = [(i, sheet.name(i).lower()) for i in range(sheet.width)]
    found = [i for i, name in columns if name in ROLES["gold"]]
    said = [i for i, name in columns if "pred" in name]
    several = alone and not sheet.is_long
    rest = set(sheet.numeric) - {*found, *said, *sheet.apart, *(() if several else sheet.keys)}
    scores = [i for i in rest if not says(sheet.name(i), "no system")]
    return found[0] if len(found) == 1 and len(said) > several and not scores else None


def predictions(sheets: Sequence[Sheet], gold: Any) -> tuple[list[SystemScores], list[str]]:
    """The predictions of each system, and the names of the systems that are usually meant."""
    alone, found, usual = len(sheets) == 1, [], []
    both = [(sheet, _gold(sheet, gold, alone)) for sheet in sheets]
    every = {label_of(cell) for sheet, right in both for cell in sheet.columns[right]}
    for sheet, right in both:
        wide = alone and not sheet.is_long
        columns, meant = _predicted(sheet, right, wide)
        usual += meant
        for name, (rows, i) in columns.items():
            labels = [label_of(sheet.columns[right][row]) for row in rows]
            if "" in labels:
                problem = "the right label is missing; write it, or remove the line"
                raise sheet.error(problem, rows[labels.index("")], right)
            known: dict[str, Any] = sheet.common(rows, {right, i})
            if wide and known["ids"] is None:
                known["paired_by"] = ROW
            known["agree"] = {"gold": labels} | sheet.unpaired(rows)
            known["columns"] = {PREDICTION: [sheet.label(i)]}
            scores = {PREDICTION: answers_in((sheet.columns[i][row] for row in rows), every)}
            found.append(SystemScores(name, sheet.file, scores, **known))
    return found, usual


def _gold(sheet: Sheet, wanted: Any, alone: bool) -> int:
    """The column of what is right, by the name that the user gave, or by its own."""
    found = gold_of(sheet, alone=alone) if wanted is None else None
    try:
        return sheet.find(wanted) if found is None else found
    except ReadError as error:
        problem = f"{error}; gold (--gold) of a table is a column of it, or a file with the right "
        raise ReadError(f"{problem}answers") from None


def _predicted(
    sheet: Sheet, gold: int, wide: bool
) -> tuple[Mapping[str, tuple[Sequence[int], int]], list[str]]:
    """Of each system its rows and the column of its predictions; and the systems that are meant."""
    every, (unsure, problem) = range(len(sheet)), sheet.no_labels(gold)
    answers = _answers(sheet, every, gold, several=wide)
    if unsure and set(_answers(sheet, every, gold)) <= set(unsure):
        raise sheet.error(problem, None, unsure[0])
    if wide:
        rest = [i for i in _candidates(sheet, gold) if i not in sheet.numeric]
        if not (columns := sorted({*answers, *rest})):
            problem = f"no column of predictions beside {sheet.key(gold)!r}; {sheet.known()}"
            raise sheet.error(problem)
        meant = [sheet.name(i) for i in answers or rest]
        meant = [name for name in meant if name.lower() not in ROLES["gold"]]
        return {sheet.name(i): (every, i) for i in columns}, meant
    found = {}
    parts: Mapping[str, Sequence[int]] = {sheet.file.stem: every}
    for name, rows in (sheet.rows_by_system() if sheet.is_long else parts).items():
        columns = _answers(sheet, rows, gold)
        if len(columns) != 1:
            names = ", ".join(repr(sheet.key(i)) for i in columns) or "none"
            problem = "one column must hold what the system predicted, but there are "
            problem += f"{len(columns)} with labels of {sheet.label(gold)} ({names}); keep one, or "
            raise sheet.error(problem + "call it 'prediction'")
        found[name] = rows, columns[0]
    return found, list(found)


def _answers(sheet: Sheet, rows: Sequence[int], gold: int, several: bool = False) -> list[int]:
    """The columns of predictions: called so, or else with labels that occur in gold."""
    columns, cells = _candidates(sheet, gold), sheet.columns
    right = {label_of(cells[gold][row]).casefold() for row in rows} - {""}
    words = words_of(right)

    def fits(i: int) -> bool:
        said = [label_of(cells[i][row]).casefold() for row in rows]
        shared = sum(words.get(label, label) in right for label in said)
        return 2 * shared >= len(rows) if i in sheet.numeric else shared > 0

    called = [i for i in columns if "pred" in sheet.name(i).lower()]
    found = called or [i for i in columns if fits(i)]
    judged = [i for i in columns if is_judged(sheet.name(i), {*sheet.texts[i]}, right)]
    found = [i for i in found if i not in judged] or judged  # which are refused where they are used
    texts = [i for i in columns if i not in sheet.numeric]  # of two one may never be right
    return texts if several and len(found) == 1 and len(texts) == 2 and found[0] in texts else found


def _candidates(sheet: Sheet, gold: int) -> list[int]:
    return [i for i in range(sheet.width) if i not in sheet.apart and i != gold]


# ---- a file of what is right ---------------------------------------------------------------------


def beside_gold(tables: Sequence[Table], gold: Table, how: How) -> list[Sheet]:
    """The tables with one more column: what the table `gold` says is right of each row's item."""
    plain = replace(how, gold=None, score=None)
    right = Sheet(**vars(gold), how=replace(plain, system=None, repeat=None, cluster=None))
    rest, called = [i for i in range(right.width) if i not in right.ids], right.called("gold")
    given = called if called in rest else rest[0] if len(rest) == 1 else None
    if given is None:
        raise right.error(f"no column has the right labels; call one 'gold'; {right.known()}")
    right.common(range(len(right)))  # which refuses an item that is there twice
    answers, found = dict(zip(_item_keys(right), gold.columns[given], strict=True)), []
    for table in tables:
        sheet, names = Sheet(**vars(table), how=plain), table.names
        if names is None or GOLD in names:
            problem = (
                "no header; write one" if names is None else f"a {GOLD!r} of its own; rename it"
            )
            raise sheet.error(f"{problem}, or leave out the file of right answers (--gold)")
        keys = _item_keys(sheet)
        if how.id is not False and not (right.ids and sheet.ids):
            lacking = sheet if right.ids else right
            raise lacking.error("no column says which item a line is", settle="id")
        if how.id is False and len(answers) != len(keys):
            problem = f"{len(keys)} lines, but {gold.file.path} has {len(answers)}"
            raise sheet.error(problem, settle="id")
        for row in [row for row, key in enumerate(keys) if key not in answers][:1]:
            problem = f"{' '.join(keys[row])!r} is not in {gold.file.path}"
            raise sheet.error(f"{problem}; add it there, or remove the line", row, sheet.ids[0])
        whole = replace(
            table, names=[*names, GOLD], columns=[*table.columns, [answers[x] for x in keys]]
        )
        one, lost = Sheet.of(whole, replace(how, gold=GOLD)), len(answers.keys() - set(keys))
        note = f"{lost} of {len(answers)} items of {gold.file.name} are not in {table.file.name}"
        found.append(replace(one, notes=(*one.notes, *[note] * (lost > 0))))
    return found


def _item_keys(sheet: Sheet) -> list[tuple[str, ...]]:
    columns = [as_ids(sheet.texts[i]) for i in sheet.ids] or [[*map(str, range(len(sheet)))]]
    return list(zip(*columns, strict=True))
