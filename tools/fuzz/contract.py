"""What must hold of any file: pairs come out whose counts add up, or an error that says what to do.

Nothing else: no other exception, no warning, no output, within two seconds of computing.
"""

from __future__ import annotations

import io
import json
import re
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from permtest import exact_perm_test
from permtest._integers import largest
from permtest.readers import File, ReadError, describe, recognise
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.formats import BY_CONTENT
from permtest.readers.names import names_of
from permtest.readers.scores import SystemScores, renamed
from permtest.readers.tables import BY_FILE
from permtest.statistics import STATISTICS

#: Seconds of computing that a call may take, and characters of a message.
SECONDS, CHARACTERS = 2, 1000

#: What may be meant by a system besides its name.
ODD: list[Any] = [
    1,
    2,
    "1",
    "2",
    0,
    -1,
    10**30,
    "",
    "1,2",
    "3,4",
    [1, 2],
    [3, 4],
    [],
    "\ud800",
    None,
]

#: What terminals obey, what ends a line, and what no encoding can hold.
BAD = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Broken(Exception):
    """The contract does not hold; the message says how."""


class Hang(BaseException):
    """A call takes too long."""


@dataclass
class Outcome:
    """What came of the files of a case."""

    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    call: str = ""


def check(files: Sequence[Any], gold: Any, rng: Random, limit: float = SECONDS) -> Outcome:
    """Read files in every way there is.

    Parameters
    ----------
    files : sequence of File or data frame
    gold : File, str or None
        What is right: a file, or the name of a column.
    rng : Random
        Draws what is asked of the files.
    limit : float
        Seconds of computing that a call may take.

    Raises
    ------
    Broken, Hang
    """
    paths = [file.path for file in (*files, gold) if isinstance(file, File)]
    run = _Run([*paths, gold] if isinstance(gold, str) else paths, limit)
    with Silence():
        evaluation = run.call("recognise", recognise, *files, gold=gold)
        run.outcome.kinds[run.said] += 1
        if evaluation is not None:
            _use(run, evaluation, rng)
        for file in files:
            if isinstance(file, File):
                _force(run, file, gold if isinstance(gold, File) else rng.choice(files), rng)
    return run.outcome


class _Run:
    """Calls that must keep the contract, for files of these names."""

    def __init__(self, paths: Sequence[str], limit: float) -> None:
        self.outcome, self.limit = Outcome(), limit
        self.said = ""  # what the last call came to
        self.paths = [*paths, "frame 1", "frame 2", "ids"]

    def call(self, what: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """What a function returns; None where it refuses as it may."""
        start = time.process_time()
        try:
            with _limited(what, self.limit):
                result = function(*args, **options)
        except (ReadError, ImportError) as error:
            self._check_message(what, str(error))
            result = None
        except ValueError as error:  # a statistic that no file holds
            if "is for counts of several classes, which only predictions" not in str(error):
                raise Broken(f"{what}: {type(error).__name__}: {error!s:.500}") from error
            result = None
        except Exception as error:
            raise Broken(f"{what}: {type(error).__name__}: {error!s:.500}") from error
        else:
            self.said = "accepted"
        seconds = time.process_time() - start
        if seconds > self.outcome.slowest:
            self.outcome.slowest, self.outcome.call = seconds, what
        return result

    def _check_message(self, what: str, message: str) -> None:
        if fault := message_fault(message, self.paths):
            raise Broken(f"{what}: the message {fault} ({len(message)}): {message!r:.2000}")
        said = message
        for path in sorted(map(printable, self.paths), key=len, reverse=True):
            said = said.removeprefix(path)
        said = re.sub(r"'.*?'|\".*?\"|\S*\d\S*", "#", said)
        self.said = re.sub(r"^([\w ]+ #,?)*[:, ]*", "", said)[:90]


def message_fault(message: str, paths: Sequence[str]) -> str | None:
    """What is wrong with a message about files at these paths, if anything."""
    faults = {
        "is too long": len(message) > CHARACTERS,
        "has characters that no terminal should see": BAD.search(message),
        "does not begin with the name of the file": not message.startswith(
            tuple(printable(path)[: CHARACTERS // 2] for path in paths)
        ),
        "does not say what to do": ";" not in message,
    }
    return next((fault for fault, found in faults.items() if found), None)


def printable(path: str) -> str:
    """A path as messages show it."""
    return BAD.sub(lambda match: ascii(match[0])[1:-1], path)


class Silence:
    """Nothing may be printed, and nothing warned of."""

    def __enter__(self) -> None:
        self.stack = ExitStack()
        self.text = io.StringIO()
        self.stack.enter_context(redirect_stdout(self.text))
        self.stack.enter_context(redirect_stderr(self.text))
        self.stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")

    def __exit__(self, *error: object) -> None:
        self.stack.close()
        if self.text.getvalue() and error[0] is None:
            raise Broken(f"printed {self.text.getvalue()!r:.500}")


@contextmanager
def _limited(what: str, seconds: float) -> Iterator[None]:
    """Raise Hang after so many seconds of computing."""

    def stop(*_: object) -> None:
        raise Hang(f"{what}: more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# ---- what is asked of files --------------------------------------------------------------------


def _force(run: _Run, file: File, gold: File, rng: Random) -> None:
    """Read a file as what it is not, too."""
    for kind in BY_CONTENT:
        name = kind.name
        if name in BY_FILE:
            continue  # tables are not loaded, but cut into cells
        known = run.call(f"{name} recognises", kind.recognises, file)
        if not isinstance(known, bool):
            raise Broken(f"{name} recognises: {known!r} instead of a bool")
        without = kind.gold == "none" or (kind.gold == "optional" and rng.random() < 0.3)
        found = run.call(f"{name} load", kind.load, *([file] if without else [file, gold]))
        if found:
            if not all(isinstance(one, SystemScores) for one in found):
                raise Broken(f"{name} load: {found!r:.200}")
            names = names_of([one.file for one in found])
            _use(run, ItemEvaluation(kind, renamed(found, names)), rng)


def _use(run: _Run, evaluation: Any, rng: Random) -> None:
    """Ask an evaluation for all that it has."""
    systems, groupings = evaluation.systems, evaluation.groupings
    if len(set(systems)) < len(systems):
        raise Broken(f"systems of one name: {systems!r:.300}")
    head, body = run.call("preview", evaluation.preview) or ((), [])
    if any(len(row) != len(head) for row in body):
        raise Broken(f"preview: rows of other lengths than {len(head)}")
    _check_printable("preview", [*head, *(cell for row in body for cell in row)])
    _check_printable("systems", [*systems, *groupings])
    chosen = rng.sample(systems, min(len(systems), 3)) + ["nonsense"] * (rng.random() < 0.05)
    for a, b in pairwise(chosen):
        names = run.call("score_names", evaluation.score_names, a, b) or ()
        for score in (None, *rng.sample(names, min(2, len(names)))):
            _compare(run, evaluation, {"a": a, "b": b, "score": score}, rng)
    _compare(run, evaluation, {}, rng)
    if rng.random() < 0.2:
        a, b = rng.sample(ODD, 2)
        _compare(run, evaluation, {"a": a, "b": b, "score": rng.choice([None, "nonsense"])}, rng)


def _compare(run: _Run, evaluation: Any, chosen: dict[str, Any], rng: Random) -> None:
    """Two systems by one of their scores, by some statistics."""
    known: Sequence[str] = ()
    if all(isinstance(chosen.get(option), str) for option in "ab"):
        known = run.call("statistics", evaluation.statistics, **chosen) or ()
    for statistic in (*known[:2], rng.choice(list(STATISTICS)), "sum"):
        clusters = rng.choice([None, False, *evaluation.groupings, "nonsense"])
        options = chosen | {"statistic": statistic, "clusters": clusters}
        pairs = run.call(f"pairs {options!r:.200}", evaluation.pairs, **options)
        if pairs is not None:
            _check_pairs(pairs, evaluation)
            if len(pairs) <= 8 and max(largest(pairs.u), largest(pairs.v)) < 10**6:
                _test(run, pairs, statistic)


def _test(run: _Run, pairs: Any, statistic: str) -> None:
    result = run.call("exact_perm_test", exact_perm_test, pairs, statistic=statistic, rng=0)
    if result is None or not 0 < result.pvalue <= 1:
        raise Broken(f"exact_perm_test of {statistic}: {result}")


# ---- what comes out ----------------------------------------------------------------------------


def _check_pairs(pairs: Any, evaluation: Any) -> None:
    source, n = pairs.source, len(pairs.u)
    faults = {
        "no pairs": n == 0,
        "lengths": len({n, len(pairs.v), len(pairs.ids or pairs.u), len(pairs.clusters or pairs.u)})
        > 1,
        "an id twice": pairs.ids is not None and len(set(pairs.ids)) < n,
        "matched": source["matched"] != n,
        "counts": not _adds_up(source, evaluation),
        "named ids": any(
            len(ids) > number
            for number, ids in zip(
                (*source["unmatched"], source["dropped"]),
                (*source["unmatched_ids"], source["dropped_ids"]),
                strict=True,
            )
        ),
    }
    for fault, found in faults.items():
        if found:
            raise Broken(f"pairs: {fault}: {source!r:.500}")
    json.dumps(source, allow_nan=False)
    sentence = describe(source, evaluation.format.title)
    _check_printable("pairs", [*pairs.names, *(pairs.ids or ()), *(pairs.clusters or ()), sentence])
    for name in (pairs.ids or ())[:3]:
        _check_printable("text", [evaluation.text(name)])


def _adds_up(source: dict[str, Any], evaluation: Any) -> bool:
    """Whether each item of both systems is matched, unmatched or dropped."""
    if not isinstance(evaluation, ItemEvaluation):
        return bool(source["matched"] == len(evaluation.table.rows))
    common = source["matched"] + source["dropped"]
    sizes = {len(one) for one in (*evaluation.found, *getattr(evaluation, "others", ()))}
    return all(common + alone in sizes for alone in source["unmatched"])


def _check_printable(what: str, texts: Sequence[Any]) -> None:
    for text in texts:
        if not isinstance(text, str) or BAD.search(text):
            raise Broken(f"{what}: {text!r:.300} should not be shown")
