"""The paired-permutation test: exact (Alg. 2, Alg. 5), and from random labellings (Alg. 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil
from typing import Any, Literal, TypeAlias

from permtest._errors import TooHard, check_above_zero, check_count, check_level, check_share
from permtest._random import RNG, as_generator
from permtest.batch import exact_perm_test_batch
from permtest.methods import SAMPLES, Solution
from permtest.null.distribution import Probability
from permtest.null.labellings import sample_cells
from permtest.question import Question, ask
from permtest.result import PermutationTestResult, Samples, answer
from permtest.statistics import Alternative, Statistic

#: More than minutes of work, and up to 1.6 GB where all samples differ.
MAX_SAMPLES = 10**8

#: How to compute p.
Method: TypeAlias = Literal[
    "auto", "tilted", "dp", "fft", "cf", "enumeration", "integer", "bracket"
]
#: What an entry adds to the sum, or to each of several sums.
G: TypeAlias = Callable[[Any, Any], Any] | Iterable[Callable[[Any, Any], Any]] | None


def exact_perm_test(
    u: Any,
    v: Any = None,
    g: G = None,
    h: Callable[..., Any] | None = None,
    *,
    statistic: str | Statistic = "sum",
    alternative: Alternative = "two-sided",
    method: Method = "auto",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
    rng: RNG = None,
    axis: int | None = None,
) -> PermutationTestResult | Any:  # with `axis` it is a BatchResult
    """Exact p-value of the paired-permutation test (Alg. 2; of several sums, Alg. 5).

    Under the null hypothesis the labels of the two systems mean nothing: each pair of entries
    stays or is swapped with probability 1/2, independently. The p-value is the share of the 2^N
    labellings whose statistic t = h(sum_n g(u_n, v_n)) is at least as extreme as the observed
    one. Ties count, and the observed labelling is one of the 2^N, so p is never 0; of no entries
    it is the only one, and p = 1.

    Parameters
    ----------
    u : array_like of shape (N,), or Scores
        Scores of the first system: correct tokens per sentence, 0/1 per item, ... Numbers as
        `Scores.of` takes them; where the rounding of floats could decide a tie, the result is a
        bracket. With `g`, entries of any kind.
    v : array_like of shape (N,), optional
        Scores of the second system on the same items in the same order. Leave out if `u` is
        `Scores`.
    g : callable, or sequence of m callables, optional
        ``g(u_n, v_n)``, called with single entries, returns the integer that entry n contributes
        (Eq. 3). A list has one function for each of m sums (Eq. 13, 14), and needs an `h` that
        takes all of them. Default: the `statistic`.
    h : callable, optional
        Function ``h(S)`` of the sum, or ``h(x_1, ..., x_m)`` of m sums, called with Python integers
        (fractions where scores have decimals). The test asks how often it is at least as large as
        for the observed sums, so larger values must be more extreme; for a two-sided test return
        an absolute value. Integers and fractions are compared as they are; a float ties with the
        observed one if they differ by at most 1e-12 of that one or of the median of ``abs(h)``,
        the larger of the two. Default: as `alternative` says.
    statistic : str or Statistic, default "sum"
        One of `STATISTICS`. Of single scores: "sum", "mean", "accuracy", "uas", "las". Of counts,
        for which `u` and `v` are tables as `Scores.of_counts` takes them: "precision", "recall",
        "f1", "f0.5" and other F-scores, "jaccard", and their means over classes, "macro_f1" and so
        on. Measures are compared by their difference, ties being decided in exact arithmetic. Where
        an exact p is out of reach, as for many sums ("macro_f1"), it is sampled, and the result
        says so; of a ratio of two sums there is a bracket instead if that says more.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `u` scores higher. "two-sided": the sum is at least as far from the centre of its
        null distribution, which is 0 unless `g` says otherwise.
    method : {"auto", "tilted", "dp", "fft", "cf", "enumeration", "integer", "bracket"}
        How to compute p. All give the same p within their bounds, and the result says which was
        taken, and why. "tilted" computes the tail alone, from the characteristic function of the
        tilted law; "dp" (Alg. 3) and "fft" (Alg. 4) convolve; "cf" inverts the characteristic
        function of several sums; "enumeration" lists all labellings (at most 42 differing pairs, 24
        with `h`); "integer" counts them with integer arithmetic; "bracket" gives two bounds that
        contain p, about 1e-5 of p apart (of ratios often more). "auto" takes what is
        quickest among those that are accurate relative to p, and where none is quick the bounds, or
        of several sums that form no ratio "cf": its accuracy is absolute, so that a small p has a
        larger `error_bound`, up to 1e-6.
    names : tuple of two str, optional
        What the systems are called. Default: names of the columns, if they have any.
    clusters : array_like of shape (N,), optional
        What each entry belongs to, such as its document: numbers or strings. Whole clusters are
        then swapped, which leaves the entries in them free to depend on each other. Default:
        those that `Scores` bring, if any.
    rng : numpy.random.Generator, int or None
        Only matters where a ready-made statistic is sampled because its exact p is out of reach.
    axis : int, optional
        Makes many tests at once, of arrays with any number of dimensions that NumPy can broadcast
        against each other: the axis along which the pairs lie, one test for each position on the
        others. Not with `g`, `h`, `clusters` or a `method`. Default: a single test of two columns.

    Returns
    -------
    PermutationTestResult
        Its `null_distribution` and `confidence_interval` are computed when asked for. With `axis` a
        `BatchResult`, which has arrays.

    Raises
    ------
    TypeError, ValueError
        If the scores are not numbers of equal number, an option is unknown or does not go with
        others, or `g` or `h` returns something else than it should; the message says for which
        entry or sums.
    MemoryError, ArithmeticError
        If a `method` that is asked for, or an `h`, needs the whole null distribution, and that
        would not fit in memory; or if it would take minutes, or p is lost in its noise. The message
        says what can be done instead.

    Notes
    -----
    One pass over the scores costs O(N), and with it "tilted" about O(U) for U distinct
    differences, whatever N; "dp" takes O(N' A) time and "fft" O(A log A log U), with N' pairs that
    differ and A the sum of their absolute values.

    Sums that depend on others cost nothing: the four of F1 (Eq. 16) make a lattice of two
    dimensions. "cf" takes O(C log C) for the C cells of a window of some 18 standard deviations,
    all but 1e-17 of the mass, and C calls of `h`.

    Source: Zmigrod, Vieira and Cotterell (2022), Eq. 2, 3, 7, Alg. 2 and App. B.

    Examples
    --------
    >>> from permtest import exact_perm_test
    >>> r = exact_perm_test([3, 5, 4, 6, 2], [2, 3, 4, 3, 1])
    >>> r.statistic, r.pvalue, r.fraction()
    (7, 0.125, Fraction(1, 8))
    >>> exact_perm_test([3, 5], [2, 3], lambda a, b: a - b, abs).pvalue
    0.5
    >>> exact_perm_test([[3, 5, 4], [1, 0, 1]], [2, 3, 1], axis=1).pvalue
    array([0.25, 0.5 ])

    Any function of several sums (Alg. 5), here the difference in F1 from four of them:

    >>> from fractions import Fraction
    >>> u, v = [(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]       # tp and incorrect
    >>> g = [lambda a, b: a[0], lambda a, b: a[1], lambda a, b: b[0], lambda a, b: b[1]]
    >>> def f1(tp, wrong):
    ...     return Fraction(2 * tp, 2 * tp + wrong) if tp else 0
    >>> r = exact_perm_test(u, v, g, lambda a, b, c, d: abs(f1(a, b) - f1(c, d)))
    >>> r.fraction(), r.rank
    (Fraction(1, 2), 2)
    """
    how: dict[str, Any] = {"statistic": statistic, "alternative": alternative, "names": names}
    if axis is not None:
        own = None if method == "auto" else method
        how |= {"g": g, "h": h, "clusters": clusters, "method": own}
        return exact_perm_test_batch(u, v, axis=axis, **how)
    question = ask(u, v, g, h, clusters=clusters, **how)
    try:
        return answer(question, method)
    except (TooHard, MemoryError) as error:
        if method != "auto" or question.lattice is None or question.h is not None:
            raise
        return sample(question, SAMPLES, rng, f"an exact p is out of reach: {error}")


def perm_test_F1(u: Any, v: Any = None) -> PermutationTestResult:
    """Exact two-sided test of a difference in F1: `exact_perm_test` with ``statistic="f1"``.

    The name under which it was first described (2021 submission, Fig. 5; the event there, "as small
    as observed", is a slip for "as large"). There it takes four dimensions, here two.

    Parameters
    ----------
    u, v
        As there.

    Examples
    --------
    >>> from permtest import perm_test_F1
    >>> perm_test_F1([(2, 0), (1, 2), (2, 0)], [(0, 2), (0, 1), (2, 2)]).pvalue
    0.5
    """
    return exact_perm_test(u, v, statistic="f1")


def perm_test_acc(u: Any, v: Any = None) -> PermutationTestResult:
    """Exact two-sided test of accuracy (Fig. 2): `exact_perm_test` with ``statistic="accuracy"``.

    Parameters
    ----------
    u, v
        As there.

    Examples
    --------
    >>> from permtest import perm_test_acc
    >>> perm_test_acc([1, 1, 1, 1, 0], [0, 0, 0, 0, 0]).pvalue
    0.125
    """
    return exact_perm_test(u, v, statistic="accuracy")


# ---- random labellings (Alg. 1) ----------------------------------------------------------------


def monte_carlo(
    u: Any,
    v: Any = None,
    g: G = None,
    h: Callable[..., Any] | None = None,
    K: int = 20_000,
    *,
    rng: RNG = None,
    statistic: str | Statistic = "sum",
    alternative: Alternative = "two-sided",
    names: tuple[str, str] | None = None,
    clusters: Any = None,
) -> PermutationTestResult:
    """Paired-permutation test from K random labellings (Alg. 1).

    Parameters
    ----------
    u, v, g, h
        As in `exact_perm_test`.
    K : int, default 20000
        Number of samples, from 1 to 10**8.
    rng : numpy.random.Generator, int or None
        A seed or a generator makes the samples reproducible, whatever the number of processors.
    statistic, alternative, names, clusters
        As in `exact_perm_test`.

    Returns
    -------
    PermutationTestResult
        Its `pvalue` is (C + 1) / (K + 1) for C samples at least as extreme as what was observed,
        which is never 0 and makes a valid test (Phipson and Smyth 2010); the paper's C / K is
        ``r.n_extreme / r.n_samples``. `pvalue_interval` gives an interval for the exact p, and
        `null_distribution` the sampled distribution.

    Raises
    ------
    TypeError, ValueError
        As in `exact_perm_test`, and for a K out of range.

    Notes
    -----
    Time O(N + K N' / 64): one random bit for each of the N' pairs that differ, added up by
    counting bits, on all processors. Memory O(N + K). If it takes more than a second, and
    tqdm is there, a bar shows how far it has come. `samples_needed` says which K to choose.

    Examples
    --------
    >>> from permtest import exact_perm_test, monte_carlo
    >>> u, v = [3, 5, 4, 6, 2], [2, 3, 4, 3, 1]
    >>> r = monte_carlo(u, v, K=1000, rng=0)
    >>> low, high = r.pvalue_interval(0.99)
    >>> low < exact_perm_test(u, v).pvalue < high
    True
    """
    how: dict[str, Any] = {"statistic": statistic, "alternative": alternative}
    return sample(ask(u, v, g, h, names=names, clusters=clusters, **how), K, rng, "asked for")


def sample(question: Question, K: int, rng: RNG, reason: str) -> PermutationTestResult:
    """(C + 1) / (K + 1) of any question, and why it is sampled."""
    drawn = sample_cells(question.law, check_count(K, "K", most=MAX_SAMPLES), as_generator(rng))
    samples = Samples(*drawn, question.is_extreme(drawn[0]))
    p = Probability.of((samples.n_extreme + 1) / (samples.size + 1), 0.0)
    return answer(question, solution=Solution(p, "monte_carlo", reason), samples=samples)


def samples_needed(
    p: float | Fraction, relative_error: float, *, confidence_level: float = 0.95
) -> int:
    """How many random labellings it takes to estimate a p-value to a given relative error.

    Parameters
    ----------
    p : float or Fraction
        The exact p-value, in (0, 1].
    relative_error : float
        What C / K may be off by, as a share of `p`; positive.
    confidence_level : float, default 0.95
        How often C / K shall be that close, in (0, 1).

    Returns
    -------
    int
        The smallest K >= 1 with ``K >= z**2 * (1 - p) / (p * relative_error**2)``, where z is the
        quantile of the standard normal law that leaves (1 - confidence_level) / 2 above it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.

    Notes
    -----
    C / K, the paper's estimator, has the relative standard error ``sqrt((1 - p) / (p K))``
    (Alg. 1). The normal approximation is good where K p, the number of extreme samples to expect,
    is ten or more; it then holds for (C + 1) / (K + 1) as well.

    Examples
    --------
    >>> from permtest import exact_perm_test, monte_carlo, samples_needed
    >>> samples_needed(0.05, 0.1)
    7299
    >>> u, v = [3, 5, 4, 6, 2, 4, 5, 3, 4], [2, 3, 4, 3, 1, 4, 4, 3, 5]
    >>> p = exact_perm_test(u, v).pvalue
    >>> r = monte_carlo(u, v, K=samples_needed(p, 0.1), rng=0)
    >>> abs(r.n_extreme / r.n_samples - p) < 0.1 * p
    True
    """
    from statistics import NormalDist  # which imports much

    # As a float, `relative_error` squared could become 0.
    share = Fraction(min(check_share(p, "p"), check_above_zero(p, "p")))
    error = Fraction(check_above_zero(relative_error, "relative_error"))
    level = Fraction(check_level(confidence_level, "confidence_level"))
    # The lower tail keeps its digits where the level is close to 1.
    z = Fraction(NormalDist().inv_cdf(float((1 - level) / 2)))
    return max(1, ceil(z**2 * (1 - share) / (share * error**2)))
