"""Logs of Inspect (inspect_ai), ``.json`` or ``.eval``.

A log holds the samples of one model on one task: ``id``, ``epoch``, ``input``, ``target`` and
``scores``, a mapping of scorers to ``{"value": ...}``. Traps:

- Values are numbers or "C", "I", "P", "N": 1, 0, 1/2 and 0. NaN means that a sample was not
  scored; so does a sample that failed. A scorer may give several values: "scorer.key" each.
- ``.json`` is sorted by id as a string, ``.eval`` is not. 1 and "1" are the same id: they are the
  same file inside a ``.eval``.
- Several epochs of a sample are not independent: the sample is what is swapped. The first epoch is
  called by its id alone, so that a log of one epoch pairs with it.
- ``.eval`` is a zip archive, compressed with Zstandard. Its ``summaries.json`` has the scores in
  full, and only cuts texts; without it, as in a log that broke off, there are summaries in
  ``_journal``, and at any rate the samples themselves.
"""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any

from permtest.readers.cells import printable
from permtest.readers.files import (
    DEEP,
    MEMORY,
    File,
    ReadError,
    check_json,
    check_memory,
    no_json,
    parsed_json,
)
from permtest.readers.outline import outline
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    AS_WRITTEN,
    LONGEST,
    Number,
    Record,
    Scores,
    folder_or_stem,
    records_of,
    short,
)

#: What texts stand for, as in Inspect.
WORDS: dict[str, Number] = {"C": 1, "I": 0, "P": Fraction(1, 2), "N": 0}
WORDS |= {"yes": 1, "Yes": 1, "YES": 1, "no": 0, "No": 0, "NO": 0}

#: Members of an archive, at most; and how many times what they hold is in memory, at least.
MEMBERS, COPIES = 200_000, 3

ZSTANDARD = 93
EXTRA = "pip install 'permtest[inspect]'"
HEADERS = ("header.json", "_journal/start.json", "start.json")
_BROKEN = (zipfile.BadZipFile, NotImplementedError, OSError, struct.error)
_JOURNAL = re.compile(r"(_journal/)?summaries/\d+\.json")


def recognises(file: File) -> bool:
    """Whether the file begins as a log does, or is an archive with the parts of one."""
    if file.data.startswith(b"PK\x03\x04"):
        ends = file.data[:4096] + file.data[-(2**16) :]
        return any(name.encode() in ends for name in HEADERS[:2]) and b"samples/" in ends
    keys = outline(file)
    return {("version",), ("eval",)} <= keys and not keys.isdisjoint(
        {("eval", "task"), ("eval", "run_id"), ("eval", "eval_id"), ("eval", "model")}
    )


def load(file: File) -> list[SystemScores]:
    """The scores of the model of one log.

    Parameters
    ----------
    file : File

    Returns
    -------
    list of one SystemScores
    """
    if file.data.startswith(b"PK"):
        archive = _Archive(file)
        return [_system(archive.log(), archive.samples())]
    log = Record.of(file, file.document, "the log")
    if log.get("samples") is None:
        raise log.error("there are no samples; log them (--log-samples), or give the whole log")
    return [_system(log, records_of(file, log.array("samples"), "sample"))]


def _system(log: Record, samples: Iterable[Record]) -> SystemScores:
    scores = Scores(log.file, WORDS)
    ids, labels, targets, texts, places = [], [], [], [], []
    for item, sample in enumerate(samples):
        label, epoch = sample.needed("id"), sample.whole("epoch", 1)
        labels.append(label)
        ids.append(label if epoch <= 1 else f"{label} (epoch {epoch})")
        targets.append(short(sample.get("target"), LONGEST))
        texts.append(_text(sample.get("input")))
        places.append(sample.place)
        _put(scores, item, sample.record("scores"))
    return SystemScores(
        system=log.record("eval").label("model") or folder_or_stem(log.file),
        file=log.file,
        scores=scores.columns(range(len(ids))),
        paired_by="id and epoch",
        ids=ids,
        clusters={"sample": labels},
        swapped="sample" if len(set(labels)) < len(labels) else None,
        agree={"target": targets},
        texts=texts,
        notes=(*scores.notes, *_unfinished(log)),
        places=places,
    )


def _put(scores: Scores, item: int, found: Record) -> None:
    """Keep what the scorers say of a sample."""
    for scorer in found.values:
        value = found.record(scorer).get("value")
        if isinstance(value, dict):
            for key, part in value.items():
                scores.put(item, f"{scorer}.{key}", part, found)
        else:
            scores.put(item, scorer, value, found)


def _text(asked: Any) -> str:
    """What a sample asks: its input, or the last message of the user in it."""
    if isinstance(asked, list):
        messages = [one for one in asked if isinstance(one, dict) and one.get("role") == "user"]
        asked = messages[-1].get("content") if messages else asked
    if isinstance(asked, list):
        parts = [one["text"] for one in asked if isinstance(one, dict) and "text" in one]
        asked = parts[0] if parts else asked
    return short(asked)


def _unfinished(log: Record) -> tuple[str, ...]:
    status = log.label("status") or "started"
    if status == "success":
        return ()
    return (f"{log.file.name} is of a run that did not finish ({status}): samples may be missing",)


# ---- archives ----------------------------------------------------------------------------------


class _Archive:
    """The parts of a ``.eval`` file, unpacked in memory and within bounds."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.left = MEMORY  # how much may still be unpacked, in bytes
        if file.data.count(b"PK\x01\x02") > MEMBERS:
            raise ReadError.at(file.path, f"has more than {MEMBERS} members; split the log")
        try:
            with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
                self.members = {member.filename: member for member in archive.infolist()}
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            OSError,
            ValueError,
            struct.error,
        ) as error:
            problem = f"is a damaged archive ({error}); copy or download it again"
            raise ReadError.at(file.path, problem) from None

    def log(self) -> Record:
        """What is said of the whole log."""
        for name in HEADERS:
            if name in self.members:
                return Record.of(self.file, self._json(name), name)
        problem = (
            f"is an archive without {HEADERS[0]}, so no log of Inspect; check which file it is"
        )
        raise ReadError.at(self.file.path, problem)

    def samples(self) -> Iterable[Record]:
        """The summaries of all samples, or the samples themselves."""
        names = [name for name in self.members if re.fullmatch(r"samples/.*\.json", name, re.S)]
        summaries = self._summaries()
        if summaries and len(summaries) == len(names or summaries):
            return summaries
        return (Record.of(self.file, self._json(name), printable(name)) for name in names)

    def _summaries(self) -> list[Record]:
        """What all parts hold that have summaries: one for all, or several in their order."""
        names = [name for name in self.members if name in ("summaries.json", "summary.json")][:1]
        if not names:
            names = [name for name in self.members if _JOURNAL.fullmatch(name)]
            names.sort(key=lambda name: (len(name), name))
        check_memory(self.file.path, COPIES * sum(self.members[name].file_size for name in names))
        parts = {name: self._unpacked(name) for name in names}
        check_json(self.file.path, b"".join(parts.values()))
        return [
            one
            for name, data in parts.items()
            for one in records_of(self.file, self._parsed(name, data), f"{name}, sample")
        ]

    def _json(self, name: str) -> Any:
        data = self._unpacked(name)
        check_json(self.file.path, data)
        return self._parsed(name, data)

    def _parsed(self, name: str, data: bytes) -> Any:
        try:
            return parsed_json(data.decode())
        except RecursionError:
            raise self._error(name, DEEP) from None
        except ValueError as error:
            raise self._error(name, no_json(error, AS_WRITTEN)) from None

    def _unpacked(self, name: str) -> bytes:
        """A member, whose real size must be the one that is declared, and not too large."""
        member, data = self.members[name], self.file.data
        if member.flag_bits & 1:
            raise self._error(name, "is encrypted; give the log without a password")
        if member.file_size > self.left:
            limit = f"more than {MEMORY // 2**20} MiB of JSON"
            raise self._error(name, f"unpacking the log up to here gives {limit}; split the log")
        check_memory(self.file.path, COPIES * member.file_size)
        self.left -= member.file_size
        # Beyond the fixed part there is the name and what follows it, of these lengths.
        start = member.header_offset + 30
        start += sum(int.from_bytes(data[start - i : start - i + 2], "little") for i in (4, 2))
        packed = data[start : start + member.compress_size]
        result = self._unpack(name, member.compress_type, packed, member.file_size + 1)
        if len(result) != member.file_size or zlib.crc32(result) != member.CRC:
            raise self._error(name, "is damaged: not what the archive says; copy the log again")
        return result

    def _unpack(self, name: str, method: int, packed: bytes, limit: int) -> bytes:
        """At most `limit` bytes, so that no more is ever made of a bomb."""
        if method == zipfile.ZIP_STORED:
            return packed
        if method not in (zipfile.ZIP_DEFLATED, ZSTANDARD):
            problem = f"is compressed with method {method}, but logs are with {ZSTANDARD} or 8"
            raise self._error(name, f"{problem}; {AS_WRITTEN}")
        zstandard = _zstandard(self.file) if method == ZSTANDARD else None
        try:
            if zstandard is None:
                return zlib.decompressobj(-15).decompress(packed, limit)
            return bytes(zstandard.ZstdDecompressor().decompress(packed, max_length=limit))
        except (zlib.error, getattr(zstandard, "ZstdError", zlib.error)) as error:
            raise self._error(name, f"is damaged ({error}); copy the log again") from None

    def _error(self, name: str, problem: str) -> ReadError:
        return ReadError.at(self.file.path, problem, column=printable(name[:LONGEST]))


def _zstandard(file: File) -> Any:
    """The module that unpacks Zstandard: Python's own from 3.14 on, before that its backport."""
    try:
        return import_module(
            "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        )
    except ImportError:
        path = printable(file.path)
        problem = f"{path}: compressed with Zstandard, which needs another package; {EXTRA}"
        raise ImportError(problem) from None


FORMAT = Format(
    name="inspect_ai",
    title="Inspect log",
    rows="a sample's value for each scorer, in each epoch",
    pairs_on="id and epoch",
    example="permtest compare logs/a.eval logs/b.eval --score match",
    names_scores=True,
    recognises=recognises,
    load=load,
    extra="inspect",
)
