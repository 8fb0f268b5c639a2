"""``permtest compare``: one test of two systems, and whether a script should fail."""

from __future__ import annotations

import argparse
import json
import sys
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from permtest import __version__
from permtest._forms import aligned, p_text
from permtest.cli.inputs import (
    FAILED,
    MONTE_CARLO,
    OF_RUNS,
    direction,
    named_statistic,
    read_input,
)
from permtest.exact import exact_perm_test, monte_carlo
from permtest.integers import exact_sum
from permtest.margins import MarginTestResult, against
from permtest.pairs import Pairs
from permtest.question import ask_of_scores
from permtest.readers.files import printable
from permtest.result import PermutationTestResult
from permtest.score import CORRECT, as_said
from permtest.statistics import Statistic


def run(args: argparse.Namespace) -> int:
    """Test whether one system is better than another.

    permtest compare FILE [FILE_B] [options]

    Is system A better than system B on the same items, or could it be luck? Runs the exact
    paired-permutation test. A FILE is a table of scores, counts or predictions, or what an
    evaluation tool wrote.

    For example:
      permtest compare results.csv --a new --b old
      permtest compare entities.csv --a new --b old --metric f1 --clusters document
      permtest compare --gold gold.conllu new.conllu old.conllu --metric las
    """
    _check(args)
    if args.null:
        return _of_runs(args)
    pairs, entry = read_input(args)
    if args.fail_if and args.alternative not in ("two-sided", side := _side(args, pairs, entry)):
        raise ValueError(
            f"--fail-if {args.fail_if} needs --alternative {side}, not {args.alternative}; leave "
            "--alternative out"
        )
    how: dict[str, Any] = {"statistic": entry, "alternative": args.alternative, "rng": args.seed}
    if args.method == MONTE_CARLO:
        result = monte_carlo(pairs, **how)
    else:
        result = exact_perm_test(pairs, method=args.method, **how)
    gate = _gate(result, pairs, entry, args) if args.fail_if else {}
    if args.json:
        print(json.dumps(_facts(result, pairs, args) | gate, allow_nan=False))
    else:
        print(_text(result, pairs, entry, gate, round(1 - args.alpha, 12)))
    if not gate.get("failed"):
        return 0
    print(f"{args.prog}: {printable(gate['decision'])}", file=sys.stderr)
    return FAILED


def _check(args: argparse.Namespace) -> None:
    """Refuse what would be ignored, or could not be decided, before a file is opened."""
    margin, null = f"--margin {args.margin or 0:g}", f"--null {args.null} cannot be combined with"
    problems = {
        f"{null} --fail-if {args.fail_if}; leave one out": args.null and args.fail_if,
        f"{null} --method {args.method}; leave one out": args.null and args.method != "auto",
        "--paired-runs needs --null systems": args.paired_runs and args.null != "systems",
        f"{margin} needs --fail-if": args.margin is not None and args.fail_if is None,
        f"{margin} is tested one-sided, at half the level; leave --alternative out": (
            args.margin and args.alternative != "two-sided"
        ),
        f"{margin} is tested exactly; leave --method out": (
            args.margin and args.method == MONTE_CARLO
        ),
    }
    for problem, holds in problems.items():
        if holds:
            raise ValueError(problem)


def _of_runs(args: argparse.Namespace) -> int:
    """Repeated runs of the same items: p under all null hypotheses, and the split of the noise."""
    from permtest.runs import NULLS, exact_runs_test

    statistic = "mean"
    if (args.metric or "").startswith(OF_RUNS):
        statistic, args.metric = args.metric, None
    pairs, entry = read_input(args)
    if entry.columns:
        raise ValueError(f"--null {args.null} is for means of runs, not for --metric {entry.name}")
    how: dict[str, Any] = {"statistic": statistic, "alternative": args.alternative}
    how |= {"paired_runs": args.paired_runs, "rng": args.seed}
    result = exact_runs_test(pairs, null=args.null, **how)
    every, lacking = {}, {}
    for null in NULLS:
        try:
            every[null] = result.under(null, rng=args.seed)
        except ValueError as error:  # some runs are not of all items
            lacking[null] = str(error)
    try:
        split, reason = result.noise(1 - args.alpha), None
    except ValueError as error:
        split, reason = None, str(error)
    if args.json:
        facts = result.to_dict() | pairs.score.to_dict()
        facts |= _origin(pairs, args) | {
            "better": pairs.score.better(result.names, result.difference),
            "pvalues": {null: found.pvalue for null, found in every.items()},
            "pvalues_reason": lacking,
            "noise": split and split.to_dict(),
            "noise_reason": reason,
            "unit": f"{result.metric} per item",
            "confidence_interval": None,
            "confidence_interval_reason": "leave --null out, and items are swapped",
        }
        print(json.dumps(facts, allow_nan=False))
        return 0
    rows = [("data", pairs.source["read"])]
    rows += [(f"p, {x}", f"{y.pvalue:.4g} ({y.about})") for x, y in every.items()]
    rows += [(f"p, {x}", reason) for x, reason in lacking.items()]
    rows += [("score", direction(pairs.score)), ("method", result.method)]
    print(f"{result}\n\n{aligned([*rows, ('noise', str(split or reason))])}")
    return 0


def _origin(pairs: Pairs, args: argparse.Namespace) -> dict[str, Any]:
    """Where scores come from, and what was asked."""
    return {
        "seed": args.seed,
        "confidence_level": round(1 - args.alpha, 12),
        "paired_by": pairs.source.get("paired_by"),
        "source": pairs.source,
        "version": __version__,
    }


def _side(args: argparse.Namespace, pairs: Pairs, entry: Statistic) -> str:
    """The alternative that --fail-if asks about: whether A scores more, or less."""
    upward = pairs.score.higher_is_better
    if pairs.score.basis != "stated" and entry.name not in ("sum", "mean"):
        upward = not getattr(entry, "ascending", False)
    return "greater" if upward != (args.fail_if == "worse") else "less"


def _gate(
    result: PermutationTestResult, pairs: Pairs, entry: Statistic, args: argparse.Namespace
) -> dict[str, Any]:
    """What --fail-if decides; ValueError if the bounds of p leave that open.

    That A is worse, or better, is shown by the test at the level alpha and by the sign of the
    difference; with a margin, by a one-sided test against it at half of that level.
    """
    from permtest.alternatives.answer import rejects  # with all other tests, which take a while

    if result.score.basis == "assumed" and result.unit != CORRECT:
        raise ValueError(
            f"--fail-if {args.fail_if} needs to know which scores are better, and their name does "
            "not say; give --higher-is-better or --lower-is-better"
        )
    (a, b), worse, level, beyond = result.names, args.fail_if == "worse", args.alpha, ""
    test: PermutationTestResult | MarginTestResult = result
    shown = result.better == (b if worse else a)
    if args.margin:
        if entry.columns:
            raise ValueError(f"--margin is for single scores, not for --metric {entry.name}")
        side = _side(args, pairs, entry)
        question = ask_of_scores(pairs, statistic=entry, alternative=side)
        margin = Fraction(str(args.margin)) * (1 if side == "greater" else -1)
        test, shown, level = against(question, margin), True, level / 2
        each = "run" if result.swapped == "items" else "pair"
        beyond = f" by more than {args.margin:g} per {each}"
    low, high = test.pvalue_interval()
    sides = "two-sided" if test.alternative == "two-sided" else "one-sided"
    p = p_text(test.pvalue, test.log10_pvalue)
    if shown and rejects(low, level) and not rejects(high, level):
        more = "; draw more samples in Python: monte_carlo(..., K=...)" if result.n_samples else ""
        raise ValueError(
            f"--fail-if cannot be decided: p lies between {low:.6g} and {high:.6g}, and the level "
            f"is {level:g}{more}"
        )
    shown = shown and bool(rejects(high, level))
    claim = f"{a} is {'' if shown else 'not '}significantly {'worse' if worse else 'better'}"
    return {
        "fail_if": args.fail_if,
        "failed": shown == worse,
        "decision": f"{claim} than {b}{beyond} ({sides} p = {p}, level {level:g})",
        "margin": args.margin,
        "margin_pvalue": test.pvalue if args.margin else None,
    }


def _facts(result: PermutationTestResult, pairs: Pairs, args: argparse.Namespace) -> dict[str, Any]:
    """What the result says, the interval of the difference, and where the scores come from."""
    level, ends, reason = round(1 - args.alpha, 12), None, None
    try:
        found = result.confidence_interval(level)
        times = 1 if result.metric == "mean" else result.n_entries or result.n
        ends = [end * times if isfinite(end) else None for end in found]
        if ends.count(None) > (args.alternative != "two-sided"):
            reason = f"there are too few pairs for any shift to be excluded at the level {level:g}"
    except (ValueError, MemoryError, ArithmeticError) as error:
        reason = str(error) or type(error).__name__
        if pairs.columns or pairs.clusters is not None:
            reason += "; permtest report has an interval for these"
    units = {"mean": "mean per item", "sum": f"{result.unit} in all"}
    facts = result.to_dict() | _origin(pairs, args)
    facts |= {"unit": units.get(result.metric, result.unit), "confidence_interval": ends}
    facts["confidence_interval_reason"] = reason
    if named_statistic(args.metric) is None and result.metric == "sum" and result.unit == CORRECT:
        facts["metric"] = "accuracy"
    return facts


def _text(
    result: PermutationTestResult,
    pairs: Pairs,
    entry: Statistic,
    gate: dict[str, Any],
    level: float,
) -> str:
    """A sentence, both systems, and how p was computed."""
    names, metric = (*result.names, "difference"), result.metric
    if entry.columns:
        metric += f" ({entry.about})"
        width = len(pairs.columns)  # of classes, too, all are added up
        both = (counts.reshape(-1, width).T for counts in (pairs.u, pairs.v))
        first, second = ([exact_sum(column) for column in counts] for counts in both)
        gaps = [x - y for x, y in zip(first, second, strict=True)]
        values = (*(result.scores or (0, 0)), result.statistic)
        found = zip(names, (first, second, gaps), values, strict=True)
        rows = [(name, *map(str, sums), f"{value:.6g}") for name, sums, value in found]
        head: tuple[str, ...] = ("system", *pairs.columns, entry.title)
    else:
        metric += f" of {result.unit}" * (metric == "sum")
        size = Decimal(result.n_entries or result.n)
        totals = zip(names, (*(result.totals or (0, 0)), result.observed_sum), strict=True)
        mean = Context(prec=6).divide  # also where no float holds a total
        rows = [(name, as_said(total), f"{mean(Decimal(total), size):g}") for name, total in totals]
        head = ("system", "total", f"mean per {'run' if result.swapped == 'items' else 'pair'}")
        if spans := _intervals(result, pairs, level):
            head = (*head, f"{100 * level:.6g}% interval")
            rows = [(*row, span) for row, span in zip(rows, spans, strict=True)]
    facts = [("data", pairs.source["read"]), *_lines(result, metric)]
    if gate.get("margin") and not gate["failed"]:  # else standard error has it
        facts += [("margin", f"passed: {gate['decision']}")]
    if "tp" in pairs.columns:
        from permtest.study.sections import gold_doubt  # which takes a while to load

        facts += [("doubt", doubt)] if (doubt := gold_doubt(pairs)) else []
    said = " ".join([result.sentence(direction=False), *result.notes])
    return f"{said}\n\n{aligned([head, *rows])}\n\n{aligned(facts)}"


def _intervals(result: PermutationTestResult, pairs: Pairs, level: float) -> list[str]:
    """Of rates of right answers (Wilson) and of their difference; of other scores they take long.

    Those are in ``--json`` and in reports.
    """
    from permtest.alternatives.answer import interval_text
    from permtest.alternatives.counts import rate_intervals

    own = rate_intervals(pairs, level)
    if own is None or result.n_samples is not None:
        return []
    return [*map(interval_text, own), interval_text(result.confidence_interval(level))]


def _lines(result: PermutationTestResult, metric: str) -> list[tuple[str, str]]:
    """How p was computed, line by line."""
    what, inside = result.swapped, ""
    if result.n_entries is not None:
        inside = f" ({what}; {result.n_entries} {'runs' if what == 'items' else 'pairs'} in all)"
    claim = f" ({result.score.claim(result.alternative, result.names)})"
    p = result.pvalue_text(10 if result.n_samples is None else 4)
    certainty = ("error bound", f"{result.error_bound or 0:.2g} (of p, relative)")
    if result.n_samples is not None:
        low, high = result.pvalue_interval()
        certainty = "95% interval", f"{low:.4g} to {high:.4g} ({result.n_samples} samples)"
    return [
        ("p", result.bracket_text() if result.method == "bracket" else p),
        ("log10 p", f"{result.log10_pvalue:.10g}"),
        ("N", f"{result.n}{inside}"),
        ("informative", f"{result.n_informative} ({what} that differ)"),
        *([("score", direction(result.score))] if result.score.note else []),
        ("metric", metric),
        *([("reading", result.reading)] if result.reading else []),
        ("alternative", result.alternative + claim * (result.alternative != "two-sided")),
        ("method", f"{result.method} ({result.method_reason})"),
        certainty,
    ]
