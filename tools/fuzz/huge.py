"""Large files that try to take all memory or all time, and paths that are no files."""

from __future__ import annotations

import json
import os
import socket
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from fuzz.contract import Broken, Silence, message_fault
from permtest.readers import File, ReadError, describe, recognise

#: Seconds of computing, and bytes, that reading one may take, once by itself and then twice.
SECONDS, MEMORY = 60, 5 * 2**29

#: Makes the parts of a file.
Parts: TypeAlias = Callable[[], Iterator[bytes]]

MEGA = 2**20


def _repeated(part: bytes, size: int = 100 * MEGA, head: bytes = b"", tail: bytes = b"") -> Parts:
    """A file of about that size."""
    block = part * max(1, MEGA // len(part))
    return lambda: chain([head], (block for _ in range(size // len(block))), [tail])


def _numbered(template: str, number: int, head: str = "", tail: str = "") -> Parts:
    """A file of so many parts, `{i}` in them being their numbers."""
    before, _, after = template.partition("{i}")

    def parts() -> Iterator[bytes]:
        yield head.encode()
        for start in range(0, number, 10_000):
            some = range(start, min(start + 10_000, number))
            yield "".join(f"{before}{i}{after}" for i in some).encode()
        yield tail.encode()

    return parts


def _primes(number: int) -> Iterator[int]:
    """Odd numbers that hardly have divisors in common."""
    return (2**61 - 2 * i - 1 for i in range(number))


def _helm() -> Iterator[bytes]:
    """Means whose denominators all differ."""
    name = {"name": "em", "split": "test"}
    for i, count in enumerate(_primes(100_000)):
        stat = {"name": name, "count": count, "sum": 1}
        entry = {"instance_id": str(i), "train_trial_index": 0, "stats": [stat]}
        yield (b"," if i else b"[") + json.dumps(entry).encode()
    yield b"]"


# ---- archives ----------------------------------------------------------------------------------


def _deflated(part: bytes, times: int) -> tuple[bytes, int, int]:
    """A compressed repetition, its true size and its checksum, without ever making it."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(min(times, 1000)):
        checksum = zlib.crc32(part, checksum)
    return block * times + packer.flush(), len(part) * times, checksum


def _archive(*members: tuple[str, bytes, int, int], method: int = 8) -> Iterator[bytes]:
    """A log of Inspect that has such members, too: name, packed content, size and checksum."""
    log = b'{"version": 2, "eval": {"model": "m"}, "status": "success"}'
    sample = b'{"id": 1, "epoch": 1, "scores": {"match": {"value": 1}}}'
    central, start = b"", 0
    first = [
        (name, zlib.compress(data, wbits=-15), len(data), zlib.crc32(data))
        for name, data in (("header.json", log), ("samples/1_epoch_1.json", sample))
    ]
    for i, (name, packed, size, checksum) in enumerate([*first, *members]):
        numbers = (checksum, len(packed), min(size, 2**32 - 2), len(name), 0)
        fixed = struct.pack("<HHHHIIIHH", 0, 8 if i < 2 else method, 0, 33, *numbers)
        yield b"PK\3\4\x2d\0" + fixed + name.encode() + packed
        central += b"PK\1\2\x2d\0\x2d\0" + fixed + struct.pack("<HHHII", 0, 0, 0, 0, start)
        central += name.encode()
        start += 30 + len(name) + len(packed)
    count = len(members) + 2
    yield central
    yield b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(central), start, 0)


def _bomb(name: str, part: bytes, gigabytes: float, size: int | None = None) -> Parts:
    def parts() -> Iterator[bytes]:
        packed, real, checksum = _deflated(part * (MEGA // len(part)), int(gigabytes * 1024))
        yield from _archive((name, packed, real if size is None else size, checksum))

    return parts


def _summaries() -> Iterator[bytes]:
    """Ten parts that are small enough, each by itself."""
    packed, size, checksum = _deflated(b" " * MEGA, 100)
    names = [f"_journal/summaries/{i}.json" for i in range(10)]
    yield from _archive(*((name, packed, size, checksum) for name in names))


def _zstandard() -> Iterator[bytes]:
    from backports import zstd

    packed = zstd.compress(bytes(64 * MEGA)) * 160
    yield from _archive(("samples/2_epoch_1.json", packed, 1000, 0), method=93)


#: Files, each as a name and what makes it.
FILES: dict[str, Parts] = {
    "zeros.bin": _repeated(b"\0", 400 * MEGA),
    "spaces.json": _repeated(b" ", 400 * MEGA, b"["),
    "open.json": _repeated(b"["),
    "open-objects.json": _repeated(b'{"a":'),
    "open-rows.jsonl": _repeated(b"[\n"),
    "string.json": _repeated(b"x", 100 * MEGA, b'{"doc_id": 1, "doc": "', b'"}'),
    "escapes.json": _repeated(b"\\u0000", 100 * MEGA, b'["', b'"]'),
    "one-line.csv": _repeated(b"1,"),
    "one-cell.csv": _repeated(b"x"),
    "one-quote.csv": _repeated(b"x,1\n", 100 * MEGA, b'"'),
    "quotes.csv": _repeated(b'"'),
    "digits.csv": _repeated(b"1"),
    "digits.json": _repeated(b"1", 100 * MEGA, b'[{"a": 1, "b": ', b"}]"),
    "blanks.txt": _repeated(b" \n"),
    "returns.txt": _repeated(b"\r"),
    "short-lines.txt": _repeated(b"0\n", 20 * MEGA),
    "short-rows.csv": _repeated(b"0,1\n", 40 * MEGA),
    "as-many-rows-as-fit.csv": _repeated(b"0,1\n", 17 * MEGA),
    "decimals.csv": _repeated(b"0,1\n", 16 * MEGA, b"0." + b"1" * 999 + b",1\n"),
    "values.json": _repeated(b"0,", 20 * MEGA, b"[", b"0]"),
    "pairs.json": _repeated(b"[0,1],", 30 * MEGA, b"[", b"[0,1]]"),
    "rows.jsonl": _numbered('{{"id": {i}, "a": 1, "b": 0}}\n'.replace("{{", "{").replace("}}", "}"),
                            1_000_000),
    "wide.csv": _numbered("s{i}_tp,", 300_000, tail="x\n" + "0," * 300_000 + "0\n"),
    "systems.csv": _numbered("x,s{i},1\n", 500_000, "id,system,score\n"),
    "labels.csv": _numbered("a{i},b,a\n", 200_000, "y_true,pred_a,pred_b\n"),
    "keys.json": _numbered('"k{i}": 1,', 2_000_000, '[{"id": 1,', '"a": 1}]'),
    "same-ids.jsonl": _repeated(b'{"doc_id": 1, "doc": {}, "metrics": ["a"], "a": 1}\n'),
    "means/per_instance_stats.json": _helm,
    "words.conllu": _numbered("{i}\ta\ta\tX\tX\t_\t0\tx\t_\t_\n", 2_000_000),
    "sentences.conllu": _repeated(b"1\ta\ta\tX\tX\t_\t0\tx\t_\t_\n\n", 60 * MEGA),
    "tags.iob2": _repeated(b"a B-X\n", 60 * MEGA),
    "types.iob2": _numbered("a B-X{i}\n\n", 500_000),
    "resolved.json": _numbered('"i{i}",', 1_000_000, '{"completed_ids": [], "resolved_ids": [',
                               '"x"]}'),
    "bomb-declared.eval": _bomb("summaries.json", b"\0", 10),
    "bomb-hidden.eval": _bomb("summaries.json", b"\0", 10, 1000),
    "bomb-that-fits.eval": _bomb("summaries.json", b" ", 0.33),
    "bomb-of-values.eval": _bomb("samples/2_epoch_1.json", b"[", 0.33),
    "bomb-in-parts.eval": _summaries,
    "bomb-zstandard.eval": _zstandard,
}  # fmt: skip


# ---- paths that are no files -------------------------------------------------------------------


def _sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def _loop(path: Path) -> Path:
    path.symlink_to(path)
    return path


def _socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
    return path


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


PATHS: dict[str, Callable[[Path], Any]] = {
    "sparse, 513 MiB": lambda folder: _sparse(folder / "sparse", 513 * MEGA),
    "sparse, 1 TiB": lambda folder: _sparse(folder / "sparse", 2**40),
    "sparse, 500 MiB": lambda folder: _sparse(folder / "sparse.csv", 500 * MEGA),
    "/dev/zero": lambda folder: "/dev/zero",  # noqa: ARG005
    "/dev/null": lambda folder: "/dev/null",  # noqa: ARG005
    "a pipe without a writer": lambda folder: _pipe(folder / "pipe"),
    "a socket": lambda folder: _socket(folder / "socket"),
    "a folder": lambda folder: folder,
    "a loop of links": lambda folder: _loop(folder / "loop"),
    "a name that is too long": lambda folder: folder / ("x" * 5000),
    "a name with a zero": lambda folder: f"{folder}/\0",
    "no file": lambda folder: folder / "\x1b[2J\n",
}


# ---- trying them -------------------------------------------------------------------------------


def attempt(path: Any) -> str:
    """What comes of a file, by itself or else compared with itself."""
    said = ""
    try:
        one = File.load(path)
        gold = one if one.name.endswith((".conllu", ".iob2")) else None
        for files in ((one,), (one, one)):
            try:
                found = recognise(*files, gold=gold)
                pairs = found.pairs(score=None if len(files) == 1 else _score(found))
                return f"accepted: {describe(pairs.source, found.format.title)}"
            except ReadError as error:
                said = _refused(error, path)
    except ReadError as error:
        said = _refused(error, path)
    return said


def _score(found: Any) -> Any:
    return next(iter(found.score_names(*found.systems[:2])), None)


def _refused(error: ReadError, path: Any) -> str:
    if fault := message_fault(str(error), [str(path)]):
        raise Broken(f"the message {fault}: {error!s:.1000}") from error
    return str(error).removeprefix(str(path))


def _work(path: Any, out: Any) -> None:
    start = time.process_time()
    with Silence():
        try:
            said = attempt(path)
        except Exception as error:
            said = f"BROKEN {type(error).__name__}: {error!s:.500}"
    out.send((said, time.process_time() - start))


def try_all(wanted: str = "") -> bool:
    """Make and try all, each in a process of its own; whether the contract held."""
    good = True
    spawn = get_context("spawn")
    for name in [*FILES, *PATHS]:
        if wanted not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = _made(name, Path(folder))
            here, there = spawn.Pipe(duplex=False)
            process = spawn.Process(target=_work, args=(path, there))
            process.start()
            there.close()
            said, seconds = here.recv() if here.poll(5 * SECONDS) else ("BROKEN: hangs", 0)
            process.kill()
            used = os.wait4(process.pid, 0)[2].ru_maxrss * 1024
            process.join()
        bad = "BROKEN" in said or used > MEMORY or seconds > SECONDS
        good = good and not bad
        print(f"{'!' * bad or ' '} {name:30} {seconds:6.2f} s {used / MEGA:6.0f} MiB  {said:.150}")
    return good


def _made(name: str, folder: Path) -> Any:
    if name in PATHS:
        return PATHS[name](folder)
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.writelines(FILES[name]())
    return path
