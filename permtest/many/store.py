"""What was found so far, on disk: a folder of Parquet files that a stopped run goes on from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from permtest._optional import optional
from permtest.many.pairwise import Ints, Outcome
from permtest.many.table import ScoreTable

#: What the folder is about; readers of Parquet folders pass by what begins with an underscore.
ABOUT = "_leaderboard.json"

#: To be raised whenever the same comparison is given other numbers, or other files.
FORMAT = 1

#: The columns that are read back, and those before them.
FOUND = ("pvalue", "log10_pvalue", "error_bound", "n_informative", "method")


@dataclass(frozen=True)
class Store:
    """A folder with a Parquet file for each block of pairs.

    Open it with `Store.open`. Each file is written under another name and then renamed, so that
    whatever has its name is whole; several runs may share a folder.

    Parameters
    ----------
    folder : Path
    seed : int
        What random labellings start from: that of the first run.
    """

    folder: Path
    seed: int

    @classmethod
    def open(cls, path: Any, about: dict[str, Any], seed: int, seeded: bool) -> Store:
        """Make the folder, or go on with it.

        Parameters
        ----------
        path : str or path-like
        about : dict
            What is computed, in plain JSON, with a ``fingerprint`` of all that matters.
        seed : int
        seeded : bool
            Whether the caller asked for this seed; otherwise that of an earlier run is taken.

        Raises
        ------
        ValueError
            If the folder holds something else, or another comparison.
        """
        _arrow()
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"store={path!r} must be the path of a folder")
        folder, wanted = Path(path), about | {"seed": seed, "format": FORMAT}
        file = folder / ABOUT
        if not (_is_free(folder) or file.exists()):
            raise ValueError(
                f"store={os.fspath(path)!r} exists and is no store of a leaderboard; name a "
                "folder that is new or empty"
            )
        folder.mkdir(parents=True, exist_ok=True)
        _write(file, json.dumps(wanted, indent=1).encode(), replace=False)
        known = cls._known(file)  # perhaps what another run was quicker to write
        where = f"store={os.fspath(path)!r}"
        if any(known.get(key) != wanted[key] for key in ("fingerprint", "format")):
            raise ValueError(
                f"{where} belongs to a comparison with other scores or options (metric "
                f"{known.get('metric')!r}); name another folder, or repeat it as it was"
            )
        if seeded and known["seed"] != seed:
            raise ValueError(
                f"{where} was begun with other random numbers; give the rng of then, or none, or "
                "name another folder"
            )
        return cls(folder, known["seed"])

    @staticmethod
    def _known(file: Path) -> dict[str, Any]:
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            known = None
        if not isinstance(known, dict) or not isinstance(known.get("seed"), int):
            raise ValueError(f"{file} is damaged; remove the folder, and begin again")
        return known

    def has(self, part: tuple[int, range]) -> bool:
        """Whether a block is there: the number of the data set, and those of the pairs."""
        return self._file(part).exists()

    def load(self, part: tuple[int, range]) -> Outcome:
        """What was found about a block."""
        _, parquet = _arrow()
        file = self._file(part)
        try:
            table = parquet.read_table(file, columns=list(FOUND))
        except Exception as error:  # of many kinds, none of which says what to do
            raise ValueError(f"{file} cannot be read ({error}); remove it and run again") from None
        if table.num_rows != len(part[1]):
            raise ValueError(f"{file} has {table.num_rows} rows; remove it and run again")
        *values, numbers = (table[name].to_numpy() for name in FOUND[:4])
        method = np.array(table["method"].to_pylist(), dtype=object)
        return Outcome(np.stack(values), numbers, method)

    def save(self, part: tuple[int, range], outcome: Outcome, names: dict[str, list[Any]]) -> None:
        """Keep what was found about a block, beside columns that say which pairs they are."""
        arrow, parquet = _arrow()
        values = dict(zip(FOUND, [*outcome.values, outcome.n_informative], strict=False))
        table = arrow.table(names | values | {"method": outcome.method.tolist()})
        sink = arrow.BufferOutputStream()
        parquet.write_table(table, sink)
        _write(self._file(part), sink.getvalue().to_pybytes())

    def _file(self, part: tuple[int, range]) -> Path:
        return self.folder / f"part-{part[0]:03}-{part[1].start:09}.parquet"


def fingerprint(
    tables: Iterable[ScoreTable], parts: Iterable[tuple[int, range]], **facts: Any
) -> str:
    """A digest of all that the p-values depend on.

    Parameters
    ----------
    tables : iterable of ScoreTable
    parts : iterable of (int, range)
        Which pairs are in which file.
    **facts : object
        Options, in plain JSON.
    """
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=repr).encode())
    for table in tables:
        scores = np.ascontiguousarray(table.scores)
        plain = scores.tobytes() if scores.dtype == np.int64 else repr(scores.tolist()).encode()
        shape = [*scores.shape, table.scale, *table.systems]
        for text in (json.dumps(shape).encode(), plain, repr(table.clusters).encode()):
            digest.update(hashlib.sha256(text).digest())
    for number, block in parts:
        digest.update(f"{number}:{block.start}-{block.stop};".encode())
    return digest.hexdigest()


def pair_names(systems: Iterable[str], first: Ints, second: Ints) -> dict[str, list[Any]]:
    """Columns that say which systems were compared."""
    names = list(systems)
    return {"first": [names[i] for i in first], "second": [names[j] for j in second]}


def _is_free(folder: Path) -> bool:
    """Whether nothing is lost if it becomes a store; hidden files are the system's, or drafts."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(x.name.startswith(".") for x in folder.iterdir())


def _write(file: Path, content: bytes, *, replace: bool = True) -> None:
    """All of it, or nothing, also where the machine stops in the middle, or another is quicker."""
    draft = file.with_name(f".{uuid4().hex}")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            draft.replace(file)
        else:
            _publish(draft, file)
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, file: Path) -> None:
    """Give a draft its name, unless there is such a file."""
    try:
        file.hardlink_to(draft)
    except FileExistsError:
        pass
    except OSError:  # a disk without links
        if not file.exists():
            draft.replace(file)


def _arrow() -> tuple[Any, Any]:
    names = ("pyarrow", "pyarrow.parquet")
    pyarrow, parquet = (optional(name, needed_by="store", extra="many") for name in names)
    return pyarrow, parquet
