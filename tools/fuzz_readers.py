"""Broken files, read: the scores that they hold, or an error that says why not, and nothing else.

PYTHONPATH=. python tools/fuzz_readers.py --files 100000 --seed 0"""

import argparse
import json
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from multiprocessing import Pool
from random import Random
from typing import Any

from permtest import Scores, read
from permtest.readers import File
from permtest.readers.tables import printable
from tests.readers import test_tools as made

#: What a cell, or a value of JSON, may become.
WORDS = """null NaN nan Infinity 1e999 1e-999 -1 -0 0x10 1_000 1,5 1,234 1.005 1e3 1e-05 -999 85%
    2.0 01 +7 true TRUE pass none ? - -- C B- I-PER 1-2 1.1 \u0663 =1+1 [] {} {"value":{"a":1}}"""
ODD = ["\u202eabc", "\ufeff", "\x1b[2J", "\0", "\u2028", "\x85", "\r", "", " ", "a\nb", "\ud800"]
ODD += ["1" + "0" * 5000, "0." + "3" * 16, "." + "0" * 999 + "1", "x" * 200_000, "[" * 100_000]
TOKENS = [write(x) for x in (*WORDS.split(), *ODD) for write in (str, json.dumps)]

#: Two scores of an item, as cells; files, each a name and what is in it; and what is declared.
Cells, Files = list[tuple[str, str]], list[tuple[str, bytes]]
Case = tuple[Callable[[Cells], Files], dict[str, Any]]


def table(head: str, row: str, mark: str, cells: Cells) -> Files:
    """One file; its `row` has the item's number and both cells."""
    text = head + "".join(row.format(i, *pair) for i, pair in enumerate(cells))
    return [("scores.csv", text.replace("|", mark).encode(errors="surrogatepass"))]


def each(make: Callable[[str, list[int]], File], cells: Cells) -> Files:
    """A file for each system, in which cells take the place of numbers from 777000 on."""
    found = []
    for column, system in zip(zip(*cells, strict=True), ("old", "new"), strict=True):
        file = make(system, [777_000 + i for i in range(len(cells))])
        parts = re.split(r"777(\d{3})(?:\.0)?", file.data.decode())
        parts[1::2] = [column[int(i)] for i in parts[1::2]]
        found.append((file.path, "".join(parts).encode(errors="surrogatepass")))
    return found


def tagged(line: str, suffix: str, cells: Cells) -> Files:
    """Two systems and what is right, in sentences of a word."""
    columns = (*zip(*cells, strict=True), ["1"] * len(cells))
    texts = ["".join(line.format("NVX"[int(x)]) for x in column) for column in columns]
    return [(f"{name}.{suffix}", x.encode()) for name, x in zip("abg", texts, strict=True)]


#: Kind -> what makes its files, and what is declared. Those in `PLAIN` have ids, and one score.
LONG, COUNTS = "s{0}|old|{1}\ns{0}|new|{2}\n", "tp_a|fp_a|fn_a|tp_b|fp_b|fn_b\n"
PLAIN: dict[str, Case] = {
    "commas": (partial(table, "id|doc|old|new\n", "s{0}|d|{1}|{2}\n", ","), {"a": 3, "b": 4}),
    "semicolons": (partial(table, "id|old|new\n", "s{0}|{1}|{2}\n", ";"), {}),
    "long": (partial(table, "id|system|score\n", LONG, "\t"), {}),
    "declared": (partial(table, "q|w|m\n", LONG, ","), {"id": "q", "system": "w", "score": "m"}),
    "records": (partial(table, "", '{{"id": "s{0}", "old": {1}, "new": {2}}}\n', "|"), {}),
    "lm_eval": (partial(each, made.lm_eval), {}),
}
UPOS = "1\tw\tw\t{0}\t_\t_\t0\tr\t_\t_\n\n"
F1, GOLD = {"statistic": "f1", "a": "1,2,3", "b": "4,5,6"}, {"gold": "y", "a": "a", "b": "b"}
KINDS = PLAIN | {
    "counts": (partial(table, COUNTS, "1|{1}|0|1|{2}|0\n", ","), F1),
    "predictions": (partial(table, "id|y|a|b\n", "s{0}|1|{1}|{2}\n", ","), GOLD),
    "conllu": (partial(tagged, UPOS, "conllu"), {"statistic": "upos"}),
    "spans": (partial(tagged, "word B-{0}\n\n", "iob2"), {"statistic": "spans"}),
}


def changed(rng: Random, data: bytes, word: str) -> bytes:
    """Bytes with a piece, a line, or a cell changed, which may be a value of JSON."""
    token = word.encode(errors="surrogatepass")
    start, lines = rng.randrange(len(data) + 1), data.split(b"\n")
    before, rest, size = data[:start], data[start:], rng.randint(1, 64)
    cells = [*re.finditer(rb'"[^"]*"|[^\s,;:{}\[\]]+|[\[\]{},:]', data), *re.finditer(b"$", data)]
    cell, line = rng.choice(cells), rng.choice([b"", b"#", b"-DOCSTART- O", *lines])
    odd = rng.choice([b"\0", b"\xff", b'"', b"{", b",", b"\t", b"\xef\xbb\xbf", b"PK\3\4", token])
    ways = [
        *(before + rest[size:], before + odd + rest, before + rest[:size] * 50 + rest, before),
        *(odd + data, before + data[len(data) // 2 :], b"\n".join(rng.sample(lines, len(lines)))),
        *(rng.choice([b"\r\n", b"\r", b"\n\n", b"\x85"]).join(lines), b"\n".join([line, *lines])),
        *[data[: cell.start()] + token + data[cell.end() :]] * 8,
    ]
    return rng.choice(ways)[: 2**22]


def scores_of(files: Files, said: dict[str, Any]) -> Scores:
    """The scores in files, of which a third one says what is right."""
    a, b, gold = (*(File(*both) for both in files), None, None)[:3]
    return read(a, b, **said, **({"gold": gold} if gold else {}))


def is_silent(case: Case, cells: Cells, k: int, token: str) -> bool:
    """Whether an item has another score than its cell, or is not there, where one cell is odd."""
    ids = scores_of(case[0](cells), case[1]).ids or ()
    wanted = {x: Fraction(a) for x, (a, _) in zip(ids, cells, strict=True)}
    s = scores_of(case[0]([*cells[:k], (token, cells[k][1]), *cells[k + 1 :]]), case[1])
    found = {x: Fraction(int(u), s.scale) for x, u in zip(s.ids or (), s.u.tolist(), strict=True)}
    plain = re.fullmatch(r"[+-]?\d{0,9}\.?\d{1,9}", token, re.ASCII)
    wanted[ids[k]] = Fraction(token) if plain else found.get(ids[k], Fraction(0))
    return found != wanted


def attempt(number: str, kind: str = "") -> str:
    """What became of one case: read, refused, or in capitals what is wrong."""
    rng, start = Random(number), time.perf_counter()
    kind, token = kind or rng.choice([*KINDS]), rng.choice(TOKENS)
    cells = [(rng.choice("012"), rng.choice("01")) for _ in range(rng.randint(2, 8))]
    files, said = KINDS[kind][0](cells), KINDS[kind][1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if kind in PLAIN and rng.random() < 0.4:
                wrong = is_silent(PLAIN[kind], cells, rng.randrange(len(cells)), token)
                return f"SILENT {number}: {token[:99]!r} in {kind}" if wrong else "read"
            for i in rng.choices(range(len(files)), k=rng.choice([1, 1, 2, 4])):
                files[i] = (files[i][0], changed(rng, files[i][1], token))
            scores_of(files, said)
    except (ValueError, ImportError) as error:
        told = str(error)
        fine = len(told) > 10 and all(printable(x, 2000) == x for x in told.splitlines())
        return "refused" if fine else f"WORDS {number}: {told}"
    except Exception:
        return f"TRACEBACK {number}\n{traceback.format_exc()}"
    return "read" if time.perf_counter() - start < 5 else f"SLOW {number}"


if __name__ == "__main__":
    parser, found = argparse.ArgumentParser(description=__doc__), Counter[str]()
    for name, default in (("--files", 10_000), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    with Pool(2) as pool:
        numbers = (f"{options.seed}-{i}" for i in range(options.files))
        for outcome in pool.imap_unordered(attempt, numbers, chunksize=50):
            found[outcome.split()[0]] += 1
            if outcome[0].isupper():
                print(outcome, flush=True)
    print(*found.most_common(), sep="\n")
    sys.exit(not {*found} <= {"read", "refused"})
