"""What a score is called, what its unit is, and whether higher is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Literal, TypeAlias

#: How the direction is known: said by the user, that of a known metric, read off a name, or not.
Basis: TypeAlias = Literal["stated", "known", "inferred", "assumed"]

CORRECT = "correct answers"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


HIGHER = _set(
    """accuracy acc f1 precision recall bleu chrf comet rouge meteor match matches em correct pass
    passed passes reward win wins success solved resolved auc auroc mrr ndcg map kappa mcc iou
    jaccard dice similarity correlation uas las upos xpos throughput quality"""
)
LOWER = _set(
    """loss losses error errors err wer cer ter eer latency time runtime duration delay cost costs
    price perplexity ppl mae rmse mse nll brier ece distance toxicity regret mistake mistakes
    mismatch mismatches misses incorrect wrong failures hallucination hallucinations
    violations violation failure fail fails failed fpr fnr fdr mape smape timeout timeouts hter
    logloss surprisal rmsd aer mpjpe bugs crossentropy xent
    rejected hallucinated refused refusal toxic harmful unsafe miss fid bpb fehler"""
)
#: Units by the words that name them; the first group says something of what was counted alone.
COUNTS = (
    dict.fromkeys(("accuracy", "acc", "correct", "match", "matches", "em"), CORRECT)
    | dict.fromkeys(("error", "errors", "err", "mistake", "mistakes"), "errors")
    | dict.fromkeys(("incorrect", "wrong"), "wrong answers")
    | dict.fromkeys(("pass", "passed", "passes"), "passes")
    | dict.fromkeys(("win", "wins"), "wins")
)
MEASURED = (
    dict.fromkeys(("ms", "msec", "milliseconds"), "ms")
    | dict.fromkeys(("sec", "secs", "second", "seconds"), "seconds")
    | dict.fromkeys(("usd", "dollars"), "USD")
)
#: Of these there are more or fewer; of a loss there is none, it is higher or lower.
COUNTED = ("", "points", "matches", "correct heads", "correct arcs", *COUNTS.values())
#: Words that turn others around, or make something else of them.
TURNING = _set(
    """free less saved saving savings reduction reduced improvement improved gain gains avoided
    prevented fixed removed recovered detected detection found caught handled no non not without
    minus neg negative inv inverse inverted reverse reversed robustness tolerance resilience delta
    efficiency effectiveness resistance correction corrections corrected real ok
    diff difference change drop decrease increase gap rank ranking std sd stdev stderr se var
    variance ci pvalue id type code weight budget limit"""
)
KNOWN = HIGHER | LOWER | TURNING | MEASURED.keys() | {"score"}
#: Names of several words that say what a loss says; and names that say so if nothing else is said.
LOSSES = re.compile(
    r"\b(cross entropy|neg(ative)? log likelihood|false (positive|negative)s?)\b"
    r"|\bbits per (byte|char|character|token|word)$"
)
ALONE = re.compile(r"((mean|average|avg|median) )?rank|fp|fn|levenshtein|edits|deviation")
DIGITS = "0123456789"
#: Where a word of camelCase begins, or a word behind a number.
CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[a-z]{3})")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


@dataclass(frozen=True)
class Score:
    """What two systems are compared by.

    Make it of a name with `Score.of`; a reader makes it of the names in a file.

    Parameters
    ----------
    name : str
        What it is called; empty if nothing says so.
    unit : str
        What one unit of it is: "correct answers", "errors", "ms"; the name where there is no
        other; empty for points.
    higher_is_better : bool
    basis : {"stated", "known", "inferred", "assumed"}
        How the direction is known: the user said so, it is that of a known metric such as F1, the
        name says so, or nothing does, and higher is taken as better.

    Examples
    --------
    >>> from permtest import Score
    >>> Score.of("latency_ms")
    Score(name='latency_ms', unit='ms', higher_is_better=False, basis='inferred')
    >>> Score.of("error_free").basis, Score.of("depth", higher_is_better=False).basis
    ('assumed', 'stated')
    >>> Score.of("loss").note
    "lower is better, inferred from the name 'loss'"
    """

    name: str = ""
    unit: str = ""
    higher_is_better: bool = True
    basis: Basis = "assumed"

    @classmethod
    def of(cls, name: str, higher_is_better: bool | None = None) -> Score:
        """Infer the direction and the unit from the words of a name.

        Parameters
        ----------
        name : str
            Such as "exact_match", "evalLoss" or "latency (ms)". Words that contradict each other,
            or turn each other around as in "time_saved", say nothing.
        higher_is_better : bool, optional
            The direction, where the user states it.

        Returns
        -------
        Score
        """
        words = _words(name)
        upper = not HIGHER.isdisjoint(words)
        lower = not LOWER.isdisjoint(words) or words[-1:] in [[unit] for unit in MEASURED]
        if not upper | lower:
            upper = "score" in words
        turned = not TURNING.isdisjoint(words) or re.match(r"\s*1\s*[-\N{MINUS SIGN}]", name)
        inferred = upper != lower and not turned
        found = cls(
            name,
            "points" if name == "score" else name,
            upper or not inferred,
            "inferred" if inferred else "assumed",
        )
        if "%" in name:
            found = replace(found, unit="percentage points")
        elif inferred and "rate" not in words and "per" not in words:
            units = COUNTS | MEASURED
            found = replace(found, unit=next((units[x] for x in words if x in units), name))
        return found.stated(higher_is_better)

    @classmethod
    def shared(cls, names: Sequence[str], higher_is_better: bool | None = None) -> Score:
        """What the names of columns have in common: "errors" of "errors_A" and "errors_B".

        Parameters
        ----------
        names : sequence of str
        higher_is_better : bool, optional
            The direction, where the user states it.

        Returns
        -------
        Score
            Without a name where the common words, at either end, speak of no direction.
        """
        pieces = [list(PIECE.finditer(name)) for name in names]
        head = _alike(pieces)
        tail = _alike([found[head:][::-1] for found in pieces])
        first, own = names[0], pieces[0]
        start = first[: own[head - 1].end()] if head else ""
        end = first[own[-tail].start() :] if tail else ""
        if all(re.match(r"(?i)(fp|rank)_?\d", name) for name in names):
            start = ""  # systems such as fp16 and fp32
        together = cls.of(f"{start} {end}".strip())
        if together.basis == "assumed":
            return cls().stated(higher_is_better)
        telling = [x for x in (start, end) if cls.of(x).basis == "inferred"]
        return cls.of(telling[0] if len(telling) == 1 else together.name, higher_is_better)

    def stated(self, higher_is_better: bool | None) -> Score:
        """The same with the direction that the user states; None states nothing."""
        if higher_is_better is None:
            return self
        unit = self.unit
        if self.basis == "inferred" and higher_is_better != self.higher_is_better:
            unit = self.name
        return replace(self, unit=unit, higher_is_better=bool(higher_is_better), basis="stated")

    def known(self, name: str, unit: str, higher_is_better: bool = True) -> Score:
        """The score of a known metric, called as it is here; what is stated stands."""
        stated = self.basis == "stated"
        upper = self.higher_is_better if stated else higher_is_better
        own = self.name if upper == self.higher_is_better else ""
        return Score(own or name, unit, upper, "stated" if stated else "known")

    def of_numbers(self, *, counts: bool, binary: bool) -> Score:
        """The same with the unit that such numbers have: whole ones from 0 on, or 0 and 1."""
        unit = self.unit
        if unit in COUNTS.values() and not counts:
            unit = self.name
        if binary and self.higher_is_better and unit in ("", self.name):
            unit = CORRECT
        return replace(self, unit=unit)

    @property
    def note(self) -> str:
        """The direction, and how it is known; empty where higher is better and no guess."""
        way = "higher" if self.higher_is_better else "lower"
        if self.basis == "assumed":
            return "higher is taken as better"
        if self.basis == "inferred":
            return f"{way} is better, inferred from the name {self.name!r}"
        return "" if self.higher_is_better else "lower is better"

    @property
    def direction(self) -> str:
        """The same, and never empty."""
        return self.note or "higher is better"

    def to_dict(self) -> dict[str, str | bool]:
        """What JSON objects say of it: its name, its direction, and how that is known."""
        return {
            "score": self.name,
            "higher_is_better": self.higher_is_better,
            "direction": self.direction,
        }

    @property
    def described(self) -> str:
        """What it is called, and which direction is better."""
        return f"{self.title}, {self.direction}"

    @property
    def title(self) -> str:
        """What sentences call it: its name, else its unit."""
        return self.name or self.unit or "points"

    def better(self, names: tuple[str, str], difference: float) -> str | None:
        """The better of two systems, by what the first scores more; None where they tie."""
        if not difference:
            return None
        return names[(difference > 0) != self.higher_is_better]

    def claim(self, alternative: str, names: tuple[str, str]) -> str:
        """What an alternative hypothesis says: "new scores higher than old"."""
        if alternative == "two-sided":
            return "the systems differ, in either direction"
        (a, b), more = names, alternative == "greater"
        way = "higher" if more else "lower"
        if self.higher_is_better:
            return f"{a} scores {way} than {b}"
        if self.unit and self.unit in COUNTED:
            return f"{a} {self._has} {'more' if more else 'fewer'} {self.unit} than {b}"
        return f"{a} has a {way} {self.name or 'score'} than {b}"

    def mean(self, value: float) -> str:
        """A mean of it: "mean loss of 0.3", "mean of 2.5 errors"."""
        if self.unit in COUNTED:
            return f"mean of {value:.6g} {self.unit if self.name else ''}".rstrip()
        return f"mean {self.name} of {value:.6g}"

    def lead(self, names: tuple[str, str], totals: tuple[float, float], gap: float) -> str:
        """Who is ahead by how much, from the totals of both systems: the finding of a test."""
        (a, b), (x, y) = names, totals
        unit = self.unit or "points"
        if self.unit not in COUNTED:
            amount = as_said(gap) if unit == self.name else f"{as_said(gap)} {unit}"
            if x == y:
                return f"{a} and {b} tie at a total {self.name} of {as_said(x)}"
            way = "higher" if x > y else "lower"
            return f"{a}'s total {self.name} is {way} than {b}'s by {amount}"
        if x == y:
            return f"{a} and {b} tie at {counted(x, unit)}"
        if self.higher_is_better:
            return f"{a} is {counted(gap, unit)} {'ahead of' if x > y else 'behind'} {b}"
        number, noun = counted(gap, unit).split(" ", 1)
        return f"{a} {self._has} {number} {'more' if x > y else 'fewer'} {noun} than {b}"

    @property
    def _has(self) -> str:
        """What systems do with the unit, where lower is better: they make errors."""
        return "makes" if self.unit == "errors" else "has"


@lru_cache(maxsize=1000)
def shared_score(names: tuple[str, str]) -> Score:
    """`Score.shared`, worked out once for the same names."""
    return Score.shared(names)


def counted(number: float, plural: str) -> str:
    """A number with its noun: 1 pair, 2 pairs."""
    if number == 1:
        plural = plural.removesuffix("es" if plural in ("passes", "matches") else "s")
    return f"{as_said(number)} {plural}"


def as_said(number: float) -> str:
    """A number in a sentence: whole ones in full, others with six digits at most."""
    return f"{number:.6g}" if isinstance(number, float) else f"{number}"


def tokens(name: str) -> list[str]:
    """The words of a name in small letters, those of camelCase too; known ones stay whole."""
    found: list[str] = []
    for chunk in re.split(r"[\W_]+", name):
        low = chunk.lower()
        whole = {low, low.rstrip(DIGITS)} & KNOWN
        found += [low] if whole else CAMEL.sub(" ", chunk).lower().split()
    return found or [name.lower()]


def _words(name: str) -> list[str]:
    """The words of a name without digits behind them, and without what is behind "per"."""
    spoken = " ".join(tokens(name))
    plain = "loss" if ALONE.fullmatch(spoken) else LOSSES.sub("loss", spoken)
    numbered = (re.sub(r"^f\d+$", "f1", word) for word in plain.split())
    found = [word if word in KNOWN else word.rstrip(DIGITS) for word in numbered]
    return [*found[: found.index("per")], "per"] if "per" in found else found


def _alike(names: Sequence[Sequence[re.Match[str]]]) -> int:
    """How many words all names begin with."""
    same = (len({word[0].lower() for word in words}) == 1 for words in zip(*names, strict=False))
    return sum(1 for _ in takewhile(bool, same))
