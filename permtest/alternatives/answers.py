"""The answers of several tests to one question, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from permtest._html import grid, said, together
from permtest._json import AsJson
from permtest._optional import pandas
from permtest.alternatives.assumptions import VERDICTS, Check
from permtest.alternatives.names import TITLES
from permtest.alternatives.result import (
    UPPER_BOUND,
    AlternativeResult,
    finite,
    interval_text,
    rejects,
)
from permtest.interval import ConfidenceInterval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Answer:
    """One row of `compare_all`: a test, what it found, and whether it may be believed.

    Parameters
    ----------
    test : str
        Name of the test.
    result : AlternativeResult or None
        None where the test cannot be made of these data.
    interval : ConfidenceInterval or None
        For the estimate of the test.
    checks : tuple of Check
        Its assumptions, held against the data.
    seconds : float
        What the test and its interval took, compiled code being warm.
    problem : str
        Why there is no result.

    Examples
    --------
    >>> from permtest import compare_all
    >>> new, old = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]
    >>> answer = compare_all(new, old, tests=["independent_t"])["independent_t"]
    >>> answer.title, answer.held
    ('two-sample t-test', True)
    >>> [check.assumption.name for check in answer.checks if check.held is None]
    ['independent items', 'independent systems', 'normal scores']
    """

    test: str
    result: AlternativeResult | None
    interval: ConfidenceInterval | None
    checks: tuple[Check, ...]
    seconds: float
    problem: str = ""

    @property
    def title(self) -> str:
        """What tables call the test."""
        return self.result.title if self.result else TITLES[self.test]

    def rejects(self, alpha: float) -> bool | None:
        """Whether the test rejects its null hypothesis at the level `alpha`.

        None where it has no p, or bounds of p lie on either side of the level.
        """
        if self.result is None:
            return None
        if rejects(self.result.pvalue, alpha):
            return True
        least = self.result.pvalue
        if self.result.method == UPPER_BOUND:
            least /= 1 + self.result.details["error_bound"]
        return None if rejects(least, alpha) else False

    @property
    def held(self) -> bool | None:
        """False if an assumption is not met, True if none is that scores could tell of."""
        known = [check.held for check in self.checks if check.held is not None]
        return all(known) if known else None

    @property
    def assumptions_text(self) -> str:
        """Which assumptions are not met, and by what evidence."""
        if self.result is None:
            return self.problem
        texts = []
        for held, word in VERDICTS.items():
            found = [check for check in self.checks if check.held is held]
            names = [c.assumption.name + f" ({c.evidence})" * (held is False) for c in found]
            texts += [f"{word}: {', '.join(names)}"] * bool(names)
        return "; ".join(texts + [self.note] * bool(self.note))

    @property
    def note(self) -> str:
        """Why p and interval may contradict each other, where they may."""
        zeros = self.result.details.get("n_zero", 0) if self.result else 0
        if not zeros:
            return ""
        return f"p leaves out {zeros} differences of 0, the interval does not"


@dataclass(frozen=True, repr=False)
class AnswerTable(AsJson):
    """What `compare_all` returns: the answers of all tests to one question.

    Iterate over it for its rows, index it with the name of a test, print it, or let a notebook
    show it.

    Parameters
    ----------
    answers : tuple of Answer
        In the order of the table, the exact paired-permutation test first.
    names : tuple of two str
        What the systems are called.
    n : int
        Number of pairs.
    alternative : str
    delta : float
        The difference under the null hypothesis.
    confidence_level : float
        Of the intervals.
    metric : str
        What is compared.
    correlation : float or None
        r12 of the two systems' scores; None for counts.
    inflation : float or None
        By how much the standard deviation of the difference is multiplied where independence of
        the two systems is assumed.

    Examples
    --------
    >>> from permtest import compare_all
    >>> answers = compare_all([3, 5, 4, 6, 2], [2, 3, 4, 3, 1], tests=["exact", "sign", "paired_t"])
    >>> answers["exact"].result.pvalue, answers["sign"].result.pvalue
    (0.125, 0.125)
    >>> [answer.test for answer in answers if answer.result.pvalue <= 0.1]
    ['paired_t']
    """

    answers: tuple[Answer, ...]
    names: tuple[str, str]
    n: int
    alternative: str
    delta: float
    confidence_level: float
    metric: str
    correlation: float | None
    inflation: float | None

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, test: str) -> Answer:
        for answer in self.answers:
            if answer.test == test:
                return answer
        known = ", ".join(answer.test for answer in self.answers)
        raise KeyError(f"there is no test {test!r} here; there are {known}")

    def rows(self) -> list[dict[str, Any]]:
        """One dict of plain values a test, as in `to_frame`."""
        return [_row(answer) for answer in self.answers]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""
        facts = {
            key: finite(getattr(self, key))
            for key in ("n", "alternative", "delta", "confidence_level", "metric")
        }
        more = {key: finite(getattr(self, key)) for key in ("correlation", "inflation")}
        answers = [{k: finite(v) for k, v in row.items()} for row in self.rows()]
        return {"names": list(self.names), **facts, **more, "answers": answers}

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row a test, indexed by the names of the tests."""
        return pandas().DataFrame(self.rows()).set_index("test")

    def correlation_text(self) -> str:
        """What assuming independence would do (Yeh's point); empty for counts."""
        if self.correlation is None or self.inflation is None:
            return ""
        return (
            f"The scores of the two systems have correlation r12 = {self.correlation:.3f}; tests "
            f"that assume them independent multiply the standard deviation of their difference "
            f"by {self.inflation:.3g}."
        )

    def heading(self) -> str:
        """What is compared with what."""
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        against = f", against {self.delta:g}" if self.delta else ""
        return (
            f"{self.names[0]} against {self.names[1]}: {self.metric}, n = {self.n}{against}{side}"
        )

    def __str__(self) -> str:
        body = lined_up([self._header(), *map(self._cells, self.answers)])
        return "\n\n".join(part for part in (self.heading(), body, self.correlation_text()) if part)

    __repr__ = __str__

    def _header(self) -> tuple[str, ...]:
        return "test", "p", f"{100 * self.confidence_level:.4g}% interval", "ms", "assumptions"

    def _cells(self, answer: Answer) -> tuple[str, ...]:
        p = answer.result.pvalue_text() if answer.result else "-"
        interval = interval_text(answer.interval) if answer.interval else "-"
        took = "-" if answer.result is None else _milliseconds(answer.seconds)
        return answer.title, p, interval, took, answer.assumptions_text

    def _repr_html_(self) -> str:
        table = grid(self._header(), map(self._cells, self.answers), self.heading())
        return together(table, said(self.correlation_text()))


def lined_up(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text below each other, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _milliseconds(seconds: float) -> str:
    ms = 1000 * seconds
    return f"{ms:,.0f}" if ms >= 10 else f"{ms:.1f}"


def _row(answer: Answer) -> dict[str, Any]:
    result, interval = answer.result, answer.interval
    return {
        "test": answer.test,
        "title": answer.title,
        "pvalue": result.pvalue if result else None,
        "statistic": result.statistic if result else None,
        "estimate": result.estimate if result else None,
        "estimate_name": result.estimate_name if result else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "held": answer.held,
        "assumptions": answer.assumptions_text,
        "method": result.method if result else None,
        "seconds": answer.seconds,
    }
