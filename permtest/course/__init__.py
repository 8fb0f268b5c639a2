"""What the notebooks share: data in one line, and exercises that answer."""

from __future__ import annotations

import tomllib
from html import escape
from importlib.resources import files
from itertools import permutations
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check", "load"]

KEYS = ("sent_id", "index", "load_digits_row")  # the columns that name items, the best one first
DIGITS = 5.1e-3  # relative: what rounding to three digits can change
# Ways to be wrong that any number can show: what multiplied the right answer, what was added.
SLIPS = {
    "That is twice the right number. Did you count both tails when the task asks for one?": (2, 0),
    "That is half the right number. Did you count one tail when the task asks for both?": (0.5, 0),
    "The size is right and the sign is not. Which system comes first?": (-1, 0),
    "That is the right number as a percentage; give it as a share of 1.": (100, 0),
    "That is the right number as a share; give it as a percentage.": (0.01, 0),
    "That is 1 minus the right number.": (-1, 1),
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
    split = table.columns.str.extract("^(.+)_([^_]+)$")  # the name of a system, and an ending
    kept = split[1].isin(endings)
    if missing := {*endings} - {*split[1]}:
        raise ValueError(f"no column of {name} ends in _{missing.pop()}: {list(table)}")
    table = table.loc[:, kept.to_numpy()]
    table.columns = pd.MultiIndex.from_frame(split[kept], names=[None, None])
    return table if len(endings) > 1 else table.droplevel(1, axis=1)


class Verdict(str):
    """What `check` found, as a sentence. It is true if the answer is right."""

    def __bool__(self) -> bool:
        return self.startswith("Right.")

    __repr__ = str.__str__

    def _repr_html_(self) -> str:
        return f"<p role='status'>{'✓' if self else '→'} {escape(self)}</p>"


def check(exercise: str, answer: Any = ...) -> Verdict:
    """Say whether an answer to an exercise is right, and if it is not, what may be wrong.

    Parameters
    ----------
    exercise : str
        Number of the notebook and of the exercise, such as ``"01.2"``.
    answer : number, bool, a list or array of them, or a function
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
    >>> verdict = check("01.2", [6, 11])
    >>> verdict, bool(verdict)
    (Right. Each win halves p, which is 2 / 2^N., True)
    """
    number, _, which = exercise.partition(".")
    known = _exercises(number)
    if which not in known:
        there = ", ".join(f"{number}.{k}" for k in known) or "none in that notebook"
        raise ValueError(f"there is no {exercise!r} to check; there are {there}")
    task, given = known[which], _plain(answer)
    if given is ...:
        return Verdict(f"Put {_kind(task.get('answer', check))} in place of the three dots.")
    wrong = _tried(given, task["cases"]) if "cases" in task else _diagnosis(given, task)
    said = ["Right.", task.get("right")] if wrong is None else ["Not yet.", wrong, task.get("hint")]
    return Verdict(" ".join(filter(None, said)))


def _exercises(notebook: str) -> dict[str, Any]:
    source = files(__name__).joinpath(f"{notebook}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8")) if source.is_file() else {}


def _plain(value: Any) -> Any:
    """An answer in the types that a TOML file has."""
    value = value.tolist() if hasattr(value, "tolist") else value  # arrays, columns of frames
    value = sorted(value) if isinstance(value, set | frozenset) else value
    return [*map(_plain, value)] if isinstance(value, list | tuple | range) else value


def _same(given: Any, wanted: Any) -> bool:
    if _kind(given) != _kind(wanted):
        return False
    if isinstance(wanted, list):
        return all(map(_same, given, wanted))
    if isinstance(wanted, float):
        return hasattr(given, "__float__") and isclose(given, wanted, rel_tol=DIGITS)
    return bool(given == wanted)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)} entries"
    kinds = {bool: "True or False", str: "a name or a word", type(None): "None"}
    other = "a number" if hasattr(value, "__float__") else type(value).__name__
    return "a function" if callable(value) else kinds.get(type(value), other)


def _tried(function: Any, cases: list[dict[str, Any]]) -> str | None:
    """What a function does wrong with the first of the cases that it does not get right."""
    if not callable(function):
        return f"Give the function itself, without calling it; yours is {_kind(function)}."
    for case in cases:
        call = f"{getattr(function, '__name__', 'it')}({', '.join(map(str, case['given']))})"
        try:
            found = _plain(function(*case["given"]))
        except Exception as error:
            return f"{call} raises {type(error).__name__}: {error}."
        if (wrong := _diagnosis(found, case)) is not None:
            return " ".join(filter(None, [f"{call} returns {found}.", case.get("say"), wrong]))
    return None


def _diagnosis(given: Any, task: dict[str, Any]) -> str | None:
    """The mistake that leads to this answer, if it is a known one; None if it is right."""
    wanted = task["answer"]
    if _same(given, wanted):
        return None
    if known := [x["say"] for x in task.get("mistakes", []) if _same(given, x["answer"])]:
        return str(known[0])
    if hasattr(given, "pvalue"):
        return "That is a whole result. Give the number that the question asks for, as .pvalue."
    if _kind(given) != _kind(wanted):
        return f"The answer is {_kind(wanted)}; yours is {_kind(given)}."
    if isinstance(wanted, list):
        if any(_same(list(order), wanted) for order in permutations(given[:6])):
            return "These are the right entries in the wrong order."
        wrong = [k for k, pair in enumerate(zip(given, wanted, strict=True)) if not _same(*pair)]
        return f"Entry {wrong[0]} is wrong, counting from 0 (wrong: {len(wrong)} of {len(wanted)})."
    return _slip(given, wanted) if isinstance(wanted, float) and _kind(given) == "a number" else ""


def _slip(given: float, wanted: float) -> str:
    """What is wrong with a number; nothing if it is no known slip."""
    if isclose(given, wanted, rel_tol=10 * DIGITS):
        return "That is close, but three digits should be right."
    for said, (factor, added) in SLIPS.items():
        if isclose(given, factor * wanted + added, rel_tol=DIGITS):
            return said
    far = given > 0 < wanted and not 0.5 < given / wanted < 2
    return f"That is too {'large' if given > wanted else 'small'}." if far else ""
