"""Changes that make hostile files of valid ones: of bytes, of cells, of JSON, of archives.

Each takes a generator of random numbers, so that the same seed makes the same file.
"""

from __future__ import annotations

import json
import struct
import zlib
from random import Random
from typing import Any

from fuzz.seeds import Case, Lines, Members

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

#: Bytes of a file; repeated repetitions would fill the memory.
LARGEST = 4 * 2**20

#: Stand for such a value, and for the end of a key that is there twice, until all is written.
MARK, TWICE = "~raw~", "~twice~"


# ---- bytes -------------------------------------------------------------------------------------


def _piece(rng: Random, data: bytes, longest: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(1, longest))


def change_bytes(rng: Random, data: bytes, other: bytes) -> bytes:
    """Flip, delete, insert, repeat, truncate, or splice two files."""
    start, stop = _piece(rng, data)
    kind = rng.randrange(9)
    if kind == 0 and stop > start:
        return data[:start] + bytes([data[start] ^ (1 << rng.randrange(8))]) + data[start + 1 :]
    if kind == 1:
        return data[:start] + data[stop:]
    if kind == 2:
        return data[:start] + rng.randbytes(rng.randint(1, 8)) + data[start:]
    if kind == 3:
        return data[:stop] + data[start:stop] * rng.choice([1, 2, 50]) + data[stop:]
    if kind == 4:
        return data[:start]
    if kind == 5:
        return data[:start] + other[rng.randrange(len(other) + 1) :]
    if kind == 6:
        return data[:start] + rng.choice(TOKENS).encode(errors="replace") + data[stop:]
    if kind == 7:
        return rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b" ", b"#", b"PK\3\4"]) + data
    return data[:start] + rng.choice([b"\0", b"\xff", b'"', b"{", b"]", b",", b"\t"]) + data[start:]


# ---- lines and cells ---------------------------------------------------------------------------


def change_text(rng: Random, data: bytes, other: bytes) -> bytes:
    """Change whole lines, a cell, or all ends of lines or separators."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(10)
    if kind == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        del lines[i]
    elif kind == 3:
        lines[i] = rng.choice(
            [b"", b" ", b"#", b"-DOCSTART- O", b"\x0c", b'"', *other.split(b"\n")]
        )
    elif kind == 4:
        return rng.choice([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85", b"\x0b"]).join(lines)
    elif kind == 5:
        ends = (b"\n", b"\r\n", b"\r")
        return b"".join(line + rng.choice(ends) for line in lines)
    elif kind == 6:
        old, new = rng.sample([b"\t", b",", b" ", b";", b"_", b"-", b":", b"."], 2)
        return data.replace(old, new)
    else:
        separator = next((s for s in (b"\t", b",", b";", b" ") if s in lines[i]), b",")
        cells = lines[i].split(separator)
        cells[rng.randrange(len(cells))] = rng.choice(TOKENS).encode(errors="replace")
        lines[i] = separator.join(cells)
    return b"\n".join(lines)


# ---- JSON --------------------------------------------------------------------------------------


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All containers in a value, each with all of its keys."""
    found, left = [], [value]
    while left:
        one = left.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        found += [(one, key) for key in keys]
        left += [one[key] for key in keys if isinstance(one[key], dict | list)]
    return found


def change_json(rng: Random, document: Any) -> None:
    """Change a value, a key, or an element of a document, in place."""
    places = _places(document)
    if not places:
        return
    one, key = rng.choice(places)
    kind = rng.randrange(8)
    if kind == 0 and isinstance(one, dict):
        one[rng.choice([f"{key}x", key.upper(), "", rng.choice(TOKENS), *one])] = one.pop(key)
    elif kind == 1:
        del one[key]
    elif kind == 2 and isinstance(one, dict):
        one[f"{key}{TWICE}"] = rng.choice([one[key], None, 0])
    elif kind == 3 and isinstance(one, list):
        again = one[rng.randrange(len(one))]
        one[key:key] = [again] * (rng.choice([1, 1, 300]) if len(str(again)) < 10**4 else 1)
    elif kind == 4 and isinstance(one, list):
        rng.shuffle(one)
    elif kind == 5:
        other, there = rng.choice(places)
        one[key] = json.loads(json.dumps(other[there]))
    elif kind == 6:
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


# ---- archives ----------------------------------------------------------------------------------

METHODS = (0, 8, 93, 12, 14, 99)


def _packed(data: bytes, method: int) -> bytes:
    if method == 8:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()
    if method == 93:
        from backports import zstd

        return zstd.compress(data)
    return data


def archive(members: list[tuple[str, bytes]], rng: Random, lies: int) -> bytes:
    """A zip archive, of whose members so many say what is not true."""
    body, central = b"", b""
    method = rng.choice([0, 8, 93])
    liars = [rng.randrange(len(members)) for _ in range(lies)] if members else []
    for number, (name, data) in enumerate(members):
        fields = [0, method, 0, 33, zlib.crc32(data), 0, len(data)]
        packed = _packed(data, method)
        fields[5] = len(packed)
        local = list(fields)
        for _ in range(liars.count(number)):
            _lie(rng, fields, local)
        path = name.encode(errors="replace")
        offset = rng.choice([0, 2**32 - 1, 7]) if number in liars and rng.random() < 0.2 else None
        head = struct.pack("<HHHHIIIHH", *local, len(path), 0)
        tail = struct.pack("<HHHHIIIHHHHHII", *fields, len(path), *[0] * 5,
                           len(body) if offset is None else offset)  # fmt: skip
        body += b"PK\3\4\x2d\0" + head + path + packed
        central += b"PK\1\2\x2d\0\x2d\0" + tail + path
    count = len(members) if rng.random() < 0.95 else rng.choice([0, 1, 65535])
    return body + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(central),
                                                    len(body), 0)  # fmt: skip


def _lie(rng: Random, fields: list[int], local: list[int]) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        fields[0] = local[0] = rng.choice([1, 0x41, 0x800, 0xFFFF])  # encrypted, and others
    elif kind == 1:
        fields[1] = rng.choice(METHODS)
    elif kind == 2:
        fields[4] ^= 1
    elif kind == 3:
        fields[5] = rng.choice([0, 1, min(fields[5], 2**30) * 2, 2**32 - 1])
    else:
        fields[6] = rng.choice([0, 1, min(fields[6], 2**30) * 2, 2**32 - 1])


def change_members(rng: Random, members: list[tuple[str, bytes]]) -> None:
    """Drop, repeat, rename, reorder or add members."""
    kind, i = rng.randrange(6), rng.randrange(max(len(members), 1))
    names = ("../../x", "/etc/passwd", "samples/", "samples/\n.json", "header.json", "x" * 60_000)
    if kind == 0:
        del members[i:]
    elif kind == 1:
        del members[i : i + 1]
    elif kind == 2:
        members += members[i : i + 1]
    elif kind == 3:
        members[i : i + 1] = [(rng.choice(names), data) for _, data in members[i : i + 1]]
    elif kind == 4:
        rng.shuffle(members)
    else:
        members.append(
            (rng.choice(names), rng.choice([b"", b"{}", b"[]", b"null", b" " * 100_000]))
        )


# ---- whole files -------------------------------------------------------------------------------

SUFFIXES = (".csv", ".json", ".jsonl", ".eval", ".conllu", ".tsv", ".xlsx", "", ".\x1b[2J", ".\n")


def hostile(case: Case, rng: Random) -> tuple[list[str], list[bytes]]:
    """Names and bytes of the files of a case, most of them changed."""
    names, plain = valid(case, rng)
    if rng.random() < 0.3:  # all alike, so that there is more to compare
        same = rng.random()
        data = [_spoilt(content, Random(same), plain) for content in case.contents]
    else:
        changed = rng.sample(range(len(plain)), rng.choice([1, 1, 1, len(plain)]))
        data = [
            _spoilt(content, rng, plain) if i in changed else plain[i]
            for i, content in enumerate(case.contents)
        ]
    names = [name + rng.choice(SUFFIXES) if rng.random() < 0.1 else name for name in names]
    if len(data) > 1 and rng.random() < 0.02:
        data[1], names[1] = data[0], names[0]
    return names, [one[:LARGEST] for one in data]


def valid(case: Case, rng: Random) -> tuple[list[str], list[bytes]]:
    """Names and bytes of the files of a case, as programs write them."""
    return list(case.names), [_bytes(content, rng, 0) for content in case.contents]


def _bytes(content: Any, rng: Random, changes: int) -> bytes:
    """What is in the file, after so many changes of its structure."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, Members):
        inner = rng.choice([0, changes])
        members = [(name, _bytes(json.loads(json.dumps(part)), rng, inner and rng.randint(0, 1)))
                   for name, part in content.items()]  # fmt: skip
        for _ in range(rng.randint(0, changes)):
            change_members(rng, members)
        return archive(members, rng, rng.randint(0, changes))
    document = json.loads(json.dumps(content))
    for _ in range(changes):
        change_json(rng, document)
    if not isinstance(content, Lines):
        return written(document)
    return b"".join(written(one) + b"\n" for one in document)


def _spoilt(content: Any, rng: Random, plain: list[bytes]) -> bytes:
    """The bytes of a file after one to four changes, of its structure or of its bytes."""
    structural = not isinstance(content, bytes) and rng.random() < 0.8
    data = _bytes(content, rng, rng.choice([1, 1, 1, 2, 4]) if structural else 0)
    for _ in range(rng.choice([0, 0, 0, 1]) if structural else rng.choice([1, 1, 1, 2, 4])):
        change = (
            change_bytes
            if isinstance(content, Members)
            else rng.choice([change_bytes, change_text])
        )
        data = change(rng, data, rng.choice(plain))
    return data
