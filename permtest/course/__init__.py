"""What the notebooks share: data in one line, and exercises that answer."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import permutations
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Verdict", "check", "load"]

KEYS = ("sent_id", "index", "load_digits_row")  # the columns that name items, the best one first
DIGITS = 5.1e-3  # relative: what rounding to three digits can change
# Ways to be wrong that any number can show: by what the right answer was multiplied.
SLIPS = {
    "That is twice the right number. Did you count both tails when the task asks for one?": 2.0,
    "That is half the right number. Did you count one tail when the task asks for both?": 0.5,
    "The size is right and the sign is not. Which system comes first?": -1.0,
    "That is the right number as a percentage; give it as a share of 1.": 100.0,
    "That is the right number as a share; give it as a percentage.": 0.01,
}


def load(name: str, *endings: str) -> pd.DataFrame:
    """Read one of the data sets of the notebooks.

    Parameters
    ----------
    name : str
        Name of a file in ``notebooks/data`` without its ``.csv``; the README there describes them.
    *endings : str
        Keep the columns that end like this after an underscore, one column or one group of columns
        for each system: ``"correct"`` turns the column ``hmm_correct`` into ``hmm``; with ``"tp",
        "fp", "fn"`` the table's ``["hmm"]`` has these three columns. Default: the file as it is.

    Returns
    -------
    pandas.DataFrame
        A row for each item, indexed by its id where the file has one.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message lists those that there are.
    ValueError
        If no column has one of the endings.

    Examples
    --------
    >>> load("ud_en_ewt_pos", "correct")[["crf_rich", "hmm"]].sum().to_dict()
    {'crf_rich': 23753, 'hmm': 22994}
    >>> load("ud_en_ewt_propn", "tp", "fp", "fn")["hmm"].sum().to_dict()
    {'tp': 1697, 'fp': 389, 'fn': 378}
    """
    import pandas as pd

    package = Path(__file__).parents[1]
    checkout = (package.parent / "pyproject.toml").is_file()
    folder = (package.parent if checkout else package) / "notebooks" / "data"
    path = folder / f"{name}.csv"
    if not path.is_file():
        there = ", ".join(sorted(found.stem for found in folder.glob("*.csv")))
        raise FileNotFoundError(f"there is no data set {name!r}; there are {there}")
    table = pd.read_csv(path)
    table = table.set_index(next(key for key in (*KEYS, table.columns[0]) if key in table))
    if not endings:
        return table
    split = {column: str(column).rpartition("_")[::2] for column in table}
    kept = {column: x for column, x in split.items() if x[0] and x[1] in endings}
    if missing := {*endings} - {ending for _, ending in kept.values()}:
        raise ValueError(f"no column of {name} ends in _{missing.pop()}: {list(table)}")
    table = table[[*kept]]
    table.columns = pd.MultiIndex.from_tuples(kept.values())
    return table if len(endings) > 1 else table.droplevel(1, axis=1)


@dataclass(frozen=True)
class Verdict:
    """What `check` found. It is true if the answer is right, and displays itself as a sentence.

    Parameters
    ----------
    right : bool
    text : str

    Examples
    --------
    >>> verdict = check("01.2", [6, 11])
    >>> bool(verdict), str(verdict)
    (True, 'Right. Each win halves p, which is 2 / 2^N.')
    """

    right: bool
    text: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        mark = "✓" if self.right else "→"
        return f"<p role='status'>{mark} {escape(self.text)}</p>"


def check(exercise: str, answer: Any = ...) -> Verdict:
    """Say whether an answer to an exercise is right, and if it is not, what may be wrong.

    Parameters
    ----------
    exercise : str
        Number of the notebook and of the exercise, such as ``"01.2"``.
    answer : number, str, bool, a list or array of them, or a function
        Numbers need three correct digits. A function is tried on data that the notebook does not
        show. ``...`` asks what kind of answer is expected.

    Returns
    -------
    Verdict
        True if the answer is right.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> check("01.2", [6, 11])
    Right. Each win halves p, which is 2 / 2^N.
    """
    number, _, which = exercise.partition(".")
    known = _exercises(number)
    if which not in known:
        there = ", ".join(f"{number}.{k}" for k in known) or "none in that notebook"
        raise ValueError(f"there is no {exercise!r} to check; there are {there}")
    task = known[which]
    wanted, given = task.get("answer", check), _plain(answer)  # any function: one is wanted
    if given is ...:
        return Verdict(False, f"Put {_kind(wanted)} in place of the three dots.")
    wrong = _diagnosis(given, task) if wanted is not check else _tried(given, task["cases"])
    if wrong is None:
        return Verdict(True, f"Right. {task.get('right', '')}".strip())
    return Verdict(False, " ".join(filter(None, ["Not yet.", wrong, task.get("hint", "")])))


@cache
def _exercises(notebook: str) -> dict[str, Any]:
    source = files(__name__).joinpath(f"{notebook}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8")) if source.is_file() else {}


def _plain(value: Any) -> Any:
    """An answer in the types that a TOML file has."""
    if hasattr(value, "tolist"):  # arrays, their numbers, columns of frames
        return _plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    return value


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return _kind(given) == _kind(wanted) and all(map(_same, given, wanted))
    if isinstance(wanted, str):
        return isinstance(given, str) and given.strip().casefold() == wanted.strip().casefold()
    if isinstance(wanted, bool) or isinstance(given, bool):
        return given is wanted
    try:
        number = float(given)
    except (TypeError, ValueError):
        return False
    return number == wanted if isinstance(wanted, int) else isclose(number, wanted, rel_tol=DIGITS)


def _kind(value: Any) -> str:
    if callable(value):
        return "a function"
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, str):
        return "a name or a word"
    if isinstance(value, list):
        return f"a list of {len(value)} entries"
    return "a number"


def _tried(function: Any, cases: Sequence[Mapping[str, Any]]) -> str | None:
    """What a function does wrong with the first of the cases that it does not get right."""
    if not callable(function):
        return f"Give the function itself, without calling it; yours is {_kind(function)}."
    for case in cases:
        call = f"{getattr(function, '__name__', 'it')}({', '.join(map(str, case['given']))})"
        try:
            found = _plain(function(*case["given"]))
        except Exception as error:
            return f"{call} raises {type(error).__name__}: {error}."
        if not _same(found, case["answer"]):
            return f"{call} returns {found}. {case.get('say', '')}".strip()
    return None


def _diagnosis(given: Any, task: Mapping[str, Any]) -> str | None:
    """The mistake that leads to this answer, if it is a known one; None if it is right."""
    wanted = task["answer"]
    if _same(given, wanted):
        return None
    for mistake in task.get("mistakes", []):
        if _same(given, mistake["answer"]):
            return str(mistake["say"])
    if hasattr(given, "pvalue"):
        return "That is a whole result. Give the number that the question asks for, as .pvalue."
    if _kind(given) != _kind(wanted):
        return f"The answer is {_kind(wanted)}; yours is {_kind(given)}."
    if isinstance(wanted, list):
        if any(_same(list(order), wanted) for order in permutations(given[:6])):
            return "These are the right entries in the wrong order."
        wrong = [k for k, pair in enumerate(zip(given, wanted, strict=True)) if not _same(*pair)]
        return f"Entry {wrong[0]} is wrong (counted from 0); {len(wrong)} of {len(wanted)} are."
    return _slip(given, wanted) if isinstance(wanted, float) and _kind(given) == "a number" else ""


def _slip(given: float, wanted: float) -> str:
    """What is wrong with a number; nothing if it is no known slip."""
    if isclose(given, wanted, rel_tol=10 * DIGITS):
        return "That is close, but three digits should be right."
    for said, factor in SLIPS.items():
        if isclose(given, factor * wanted, rel_tol=DIGITS):
            return said
    if isclose(given, 1 - wanted, rel_tol=DIGITS):
        return "That is 1 minus the right number."
    if given > 0 and wanted > 0 and not 0.5 < given / wanted < 2:
        return f"That is too {'large' if given > wanted else 'small'}."
    return ""
