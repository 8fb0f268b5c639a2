"""Changes that make hostile files of valid ones: of bytes, of cells, of JSON, of archives.

Each takes a generator of random numbers, so that the same seed makes the same file.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.seeds import Case, Lines, Members
from tests.readers import made

_WORDS = """
null NaN nan Infinity -Infinity inf 1e999 -1e999 1e-999 -1 -0 0x10 1_000 1,5 1e3 1e-05 1e308 5e-324
2.0 01 +7 true TRUE none ? - -- C P _ O B- I-PER 1-2 1.1 0 ٣ １ =1+1 <script> {{7*7}} ${x} ../../x
"""

#: What a number, a cell or a value may become.
TOKENS = (
    *_WORDS.split(),
    *("\u202eabc", "a\u0301", "\ufeff", "\x1b[2J", "\x00", "\u2028", "\x85", "\r", "\x0b\x0c"),
    *("", " ", "9" * 19, "9" * 400, "1" + "0" * 5000, "0." + "3" * 16, "0." + "1" * 900),
    *("." + "0" * 999 + "1", "x" * 200_000, "é" * 2000),
)

_RAW_WORDS = r"""
NaN -Infinity 1e999 -1e999 1e-400 1E400 01 'x' None tru {}{} [1,]
"\ud800" "\udfff\ud800" "\u0000" "\u202e" "\ufeff" "\u001b[2J" "\u2028" "\x"
"""

#: What a JSON value may become, as it is written; beyond what `json.dumps` writes.
RAW = (
    *_RAW_WORDS.split(),
    *("", '"a\nb"', "\x00", "1" + "0" * 5000, "0." + "7" * 3000, '"' + "x" * 100_000 + '"'),
    *("[" * 100_000, '{"a":' * 100_000, "[" * 3000 + "]" * 3000),
    '[{"a":' * 900 + "1" + "}]" * 900,
)

#: What a member of an archive may be called.
MEMBERS = ("../../x", "/etc/passwd", "samples/", "samples/\n.json", "header.json", "x" * 60_000)
#: Bytes of a file; repeated repetitions would fill the memory.
LARGEST = 4 * 2**20

#: Stand for such a value, and for the end of a key that is there twice, until all is written.
MARK, TWICE = "~raw~", "~twice~"


def change_bytes(rng: Random, data: bytes, other: bytes) -> bytes:
    """Delete, insert, repeat, truncate, or splice two files; change a line, a cell, or all ends."""
    start = rng.randrange(len(data) + 1)
    before, piece, rest = data[:start], data[start:][: rng.randint(1, 64)], data[start:]
    odd = [b"\0", b"\xff", b'"', b"{", b"]", b",", b"\t", rng.randbytes(8)]
    ends = [b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85", b"\x0b"]
    old, new = rng.sample([b"\t", b",", b" ", b";", b"_", b"-", b":", b"."], 2)
    ways = [
        lambda: before + rest[len(piece) :],
        lambda: before + rng.choice(odd) + rest,
        lambda: before + piece * rng.choice([2, 3, 50]) + rest,
        lambda: before,
        lambda: before + other[rng.randrange(len(other) + 1) :],
        lambda: before + rng.choice(TOKENS).encode(errors="replace") + rest,
        lambda: rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b" ", b"#", b"PK\3\4"]) + data,
        lambda: rng.choice(ends).join(data.split(b"\n")),
        lambda: data.replace(old, new),
        *[lambda: change_line(rng, data.split(b"\n"), other)] * 7,
    ]
    return rng.choice(ways)()


def change_line(rng: Random, lines: list[bytes], other: bytes) -> bytes:
    """Swap, repeat, delete or replace a line, or change a cell."""
    i, j, kind = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(7)
    if kind == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        del lines[i]
    elif kind == 3:
        odd = [b"", b" ", b"#", b"-DOCSTART- O", b"\x0c", b'"', *other.split(b"\n")]
        lines[i] = rng.choice(odd)
    else:
        separator = next((s for s in (b"\t", b",", b";", b" ") if s in lines[i]), b",")
        cells = lines[i].split(separator)
        cells[rng.randrange(len(cells))] = rng.choice(TOKENS).encode(errors="replace")
        lines[i] = separator.join(cells)
    return b"\n".join(lines)


def change_json(rng: Random, document: Any) -> None:
    """Change a value, a key, or an element of a document, in place."""
    places, left = [], [document]
    while left:
        one = left.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        places += [(one, key) for key in keys]
        left += [one[key] for key in keys if isinstance(one[key], dict | list)]
    if not places:
        return
    one, key = rng.choice(places)
    kind = rng.randrange(7)
    if kind == 0 and isinstance(one, dict):
        one[rng.choice([f"{key}x", key.upper(), "", rng.choice(TOKENS), *one])] = one.pop(key)
    elif kind == 1:
        del one[key]
    elif kind == 2 and isinstance(one, dict):
        one[f"{key}{TWICE}"] = rng.choice([one[key], None, 0])
    elif kind == 3 and isinstance(one, list):
        again = one[rng.randrange(len(one))]
        one[key:key] = [again] * (rng.choice([1, 1, 300]) if len(str(again)) < 10**4 else 1)
    elif kind == 4:
        other, there = rng.choice(places)
        one[key] = json.loads(json.dumps(other[there]))
    elif kind == 5:
        one[key] = f"{MARK}{rng.randrange(len(RAW))}{MARK}"
    else:
        plain: list[Any] = [None, True, 0, -1, 1.5, 10**30, 2**63, [], {}, [[]], [{}], ["x"]]
        one[key] = rng.choice([*plain, *TOKENS, {"name": "x"}, {"value": {"a": 1}}, [1, "x", None]])


def written(value: Any) -> bytes:
    """JSON as text; as `json.dumps` would write it but for what the marks stand for."""
    text = json.dumps(value).replace(TWICE, "")
    for number, raw in enumerate(RAW):
        text = text.replace(f'"{MARK}{number}{MARK}"', raw, LARGEST // (len(raw) + 1))
    return text.encode(errors="surrogatepass")


# ---- whole files -------------------------------------------------------------------------------

SUFFIXES = (".csv", ".json", ".jsonl", ".eval", ".conllu", ".tsv", ".xlsx", "", ".\x1b[2J", ".\n")


def valid(case: Case, rng: Random) -> tuple[list[str], list[bytes]]:
    """Names and bytes of the files of a case, as programs write them."""
    return list(case.names), [_bytes(content, rng, 0) for content in case.contents]


def hostile(case: Case, rng: Random) -> tuple[list[str], list[bytes]]:
    """Names and bytes of the files of a case, most of them changed."""
    names, data = valid(case, rng)
    plain, seed = data.copy(), rng.random()
    alike = rng.random() < 0.3  # so that there is more to pair
    for i in (
        range(len(data)) if alike else rng.sample(range(len(data)), rng.choice([1, len(data)]))
    ):
        own = Random(seed) if alike else rng
        structural = not isinstance(case.contents[i], bytes) and own.random() < 0.8
        changes = own.choice([1, 1, 1, 2, 4])
        data[i] = _bytes(case.contents[i], own, changes * structural)
        for _ in range(own.choice([0, 0, 0, 1]) if structural else changes):
            data[i] = change_bytes(own, data[i], own.choice(plain))
    names = [name + rng.choice(SUFFIXES) if rng.random() < 0.1 else name for name in names]
    return names, [one[:LARGEST] for one in data]


def _bytes(content: Any, rng: Random, changes: int) -> bytes:
    """What is in the file, after so many changes of its structure."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, Members):
        parts: dict[str, Any] = {x: _bytes(part, rng, changes) for x, part in content.items()}
        if changes and rng.random() < 0.5:  # drop, reorder and add members
            parts = dict(rng.sample([*parts.items()], rng.randint(0, len(parts))))
            parts[rng.choice(MEMBERS)] = rng.choice([b"", b"{}", b"[]", b"null", b" " * 100_000])
        return made.archive(parts, rng.choice([0, 8, 93] if len(parts) > 1 else [0, 8])).data
    document = json.loads(json.dumps(content))
    for _ in range(changes):
        change_json(rng, document)
    if not isinstance(content, Lines):
        return written(document)
    return b"".join(written(one) + b"\n" for one in document)
