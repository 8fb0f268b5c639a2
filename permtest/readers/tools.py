"""What tools of translation and of speech write, in the words that the statistics have for it."""

from __future__ import annotations

import re
from dataclasses import replace

from permtest.readers.cells import kind_of, shown
from permtest.readers.counts import count_problem
from permtest.readers.files import File, ReadError
from permtest.readers.headers import systems_in
from permtest.readers.table import Record, Table

#: A segment as sacreBLEU prints it.
SEGMENT = re.compile(r"(?P<metric>\w[\w+]{0,99})(?:\|\S+)? = (?P<score>-?\d+(?:\.\d+)?)(?: .*)?")

#: What jiwer calls the counts of an utterance, and sacreBLEU those of a segment.
JIWER = ("hits", "substitutions", "deletions", "insertions")
SACREBLEU = ("counts", "totals", "sys_len", "ref_len")
BLEU = {"counts": "match", "totals": "total", "sys_len": "length", "ref_len": "reference_length"}
FOUR = re.compile(r"\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]")


def segments(file: File) -> Table | None:
    """The scores of sacreBLEU's sentence level, None if the first line is none."""
    match = SEGMENT.fullmatch(file.lines[0].strip()) if file.lines else None
    if match is None:
        return None
    rows = []
    for number, line in enumerate(file.lines, 1):
        segment = SEGMENT.fullmatch(line.strip())
        if segment is None or segment["metric"] != match["metric"]:
            problem = f"{shown(line)} is no {match['metric']} as on line 1; keep one metric a file"
            raise ReadError.at(file.path, problem, line=number)
        rows.append(Record(number, [segment["score"]]))
    return Table(file, "", [match["metric"]], rows)


def from_tools(table: Table) -> Table:
    """The same table, with errors and length for the words of jiwer, and with the counts of BLEU.

    Parameters
    ----------
    table : Table
        Whose columns may be called ``hits``, ``new_hits``, ``hits.new``, and so on.

    Returns
    -------
    Table
    """
    used: list[int] = []
    more: dict[str, list[str]] = {}
    for system, said in systems_in(
        table.header, {word: word for word in JIWER + SACREBLEU}
    ).items():
        for words, derive in ((JIWER, _word_errors), (SACREBLEU, _bleu_counts)):
            if said.keys() >= set(words):
                columns = [said[word][0] for word in words]
                lead = f"{system}_" if system else ""
                more |= {lead + name: cells for name, cells in derive(table, columns).items()}
                used += columns
    if not more or set(more) & set(table.header or ()):
        return table
    kept = table.besides(used)
    cells = zip(*more.values(), strict=True)
    rows = [
        Record(row.line, [*(row.cells[i] for i in kept), *new])
        for row, new in zip(table.rows, cells, strict=True)
    ]
    header = [*(table.name(i, "") for i in kept), *more]
    key = None if table.key is None else kept.index(table.key)
    return replace(table, header=header, rows=rows, key=key)


def _word_errors(table: Table, columns: list[int]) -> dict[str, list[str]]:
    """S + D + I, and H + S + D, of each utterance."""
    errors, lengths = [], []
    for row in table.rows:
        if any(kind_of(row.cells[i]) == "missing" for i in columns):
            errors.append("")
            lengths.append("")
            continue
        hits, wrong, left_out, put_in = (int(table.number(row, i, count_problem)) for i in columns)
        errors.append(str(wrong + left_out + put_in))
        lengths.append(str(hits + wrong + left_out))
    return {"errors": errors, "length": lengths}


def _bleu_counts(table: Table, columns: list[int]) -> dict[str, list[str]]:
    """Matches and totals of n-grams of each order, from lists of four."""
    found: dict[str, list[str]] = {}
    for word, column in zip(SACREBLEU, columns, strict=True):
        cells = [row.cells[column] for row in table.rows]
        if word not in ("counts", "totals"):
            found[BLEU[word]] = cells
            continue
        for row in table.rows:
            match = FOUR.fullmatch(row.cells[column])
            if match is None:
                problem = f"{shown(row.cells[column])} is no list of four counts; "
                problem += "write those of n-grams of order 1 to 4"
                raise table.error(problem, row, column)
            for order, count in enumerate(match.groups(), 1):
                found.setdefault(f"{BLEU[word]}_{order}", []).append(count)
    return found
