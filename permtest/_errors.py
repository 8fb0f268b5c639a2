"""Errors with parts: what is wrong, where, and what to do. Their message is made once, here."""

from __future__ import annotations


class ScoreError(ValueError):
    """An entry of an argument that cannot be used.

    Attributes
    ----------
    argument : str
        What the argument is called.
    index : tuple of int
        The first bad entry.
    problem : str
        What is wrong with it, its value included.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> print(ScoreError("u", (3,), "is missing", "remove the pair, or score it"))
    u[3] is missing; remove the pair, or score it
    """

    def __init__(self, argument: str, index: tuple[int, ...], problem: str, remedy: str) -> None:
        super().__init__(argument, index, problem, remedy)  # all of it, so that it can be pickled
        self.argument, self.index, self.problem, self.remedy = argument, index, problem, remedy

    def __str__(self) -> str:
        where = ", ".join(str(int(i)) for i in self.index)
        return f"{self.argument}[{where}] {self.problem}; {self.remedy}"

    def at(self, index: tuple[int, ...]) -> ScoreError:
        """Return this error with the index by which the caller knows the entry."""
        return ScoreError(self.argument, index, self.problem, self.remedy)


class TooHard(ArithmeticError):
    """A method cannot compute this p in reasonable time; the remedy, if any, says what can.

    Attributes
    ----------
    problem, remedy : str
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem, self.remedy = problem, remedy

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.problem, self.remedy)))


class TooLarge(MemoryError):
    """Something would not fit in memory; the remedy, if any, says what to do.

    Attributes
    ----------
    problem, remedy : str
    """

    # No base in common with `TooHard`: Python makes no MemoryError that has another base first.
    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem, self.remedy = problem, remedy

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.problem, self.remedy)))
