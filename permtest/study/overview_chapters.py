"""The chapters of a report of one comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest.statistics import CountStatistic
from permtest.study.citation import citation
from permtest.study.gold import gold_doubt
from permtest.study.overview_items import ID, legible
from permtest.study.overview_words import (
    EXTREME,
    amount,
    between,
    claim,
    counted_items,
    figure,
    how,
    score,
    signed,
)
from permtest.study.provenance import plain
from permtest.study.sections import (
    COHEN,
    Chapter,
    Grid,
    agreement,
    decision,
    effect_grids,
    number,
    p_text,
    percent,
    span,
)

if TYPE_CHECKING:
    from permtest.study.overview import Overview

__all__ = ["between", "chapters", "p_text", "score", "signed"]

#: Rows of the table of where the scores come from.
ROWS = 60


def chapters(found: Overview) -> tuple[Chapter, ...]:
    """All parts in their order."""
    makers: tuple[Callable[[Overview], Chapter], ...] = (
        _finding,
        _test,
        _items,
        _answers,
        _effects,
        _power,
        _data,
        _cite,
    )
    return tuple(make(found) for make in makers)


def _finding(found: Overview) -> Chapter:
    rows = [(name, *cells) for name, cells in _systems(found).items()]
    entry = found.statistic
    about = f"{entry.about}" if entry.about else entry.name
    return Chapter(
        key="finding",
        title="The difference",
        done=f"{amount(found)}, measured by {entry.name}: {about}.",
        grids=(
            Grid(("system", *_columns(found)), tuple(rows)),
            Grid(("", "found"), tuple(_interval(found))),
        ),
        meaning=_verdict(found),
        limits="A difference is of these systems, on items like these. An interval says how far "
        "other items might move it, not how far other training runs or other data would."
        + (
            " It does not come from the test that p comes from, so that near the level one may "
            "decide otherwise than the other."
            if found.pairs.columns and found.interval is not None
            else ""
        ),
        problem=found.problems.text("interval"),
        pictures=("estimation",),
    )


def _columns(found: Overview) -> tuple[str, ...]:
    if isinstance(found.statistic, CountStatistic):
        sums = found.pairs.columns if found.pairs.u.ndim == 2 else ()
        return (*sums, found.title)
    return (found.title,) if found.statistic.name == "mean" else (found.title, "mean per item")


def _systems(found: Overview) -> dict[str, tuple[str, ...]]:
    """Both systems and their difference, in the columns above."""
    names = (*found.names, "difference")
    values = [score(found, x) for x in found.scores] + [signed(found)]
    if not found.pairs.columns:
        if found.statistic.name == "mean":
            return {name: (value,) for name, value in zip(names, values, strict=True)}
        each = [number(x / len(found.pairs)) for x in (*found.scores, found.difference)]
        return {n: (v, e) for n, v, e in zip(names, values, each, strict=True)}
    lines: list[list[Any]] = [[], [], []]
    if found.pairs.u.ndim == 2:
        lines = [[int(x) for x in scores.sum(axis=0)] for scores in (found.pairs.u, found.pairs.v)]
        lines.append([x - y for x, y in zip(*lines, strict=True)])
    return {
        name: (*map(str, line), value)
        for name, line, value in zip(names, lines, values, strict=True)
    }


def _interval(found: Overview) -> list[tuple[str, str]]:
    level = percent(found.confidence_level)
    record = found.record
    a, b = found.names
    rows = []
    if found.interval is not None:
        rows.append((f"{level} interval", f"{between(found)} ({found.interval_about})"))
        if found.interval.warning:
            rows.append(("doubt about it", found.interval.warning))
    wins = f"{a} higher on {record.wins:,}, {b} on {record.losses:,}, equal on {record.ties:,}"
    return [*rows, ("items", wins)]


def _verdict(found: Overview) -> str:
    better = found.exact.better
    return {
        True: f"At the level {number(found.alpha)} the hypothesis of equal systems is rejected"
        + (f"; {better} is the better one." if better else "."),
        False: f"At the level {number(found.alpha)} there is no evidence of a difference. That "
        "does not show that the systems are equal.",
        None: f"The bounds of p lie on either side of the level {number(found.alpha)}: it is not "
        "decided.",
    }[found.rejected]


def _test(found: Overview) -> Chapter:
    exact = found.exact
    whole = "cluster" if found.unit == "clusters" else "item"
    rows = [
        ("p", exact.bracket_text() if exact.method == "bracket" else exact.pvalue_text(10)),
        ("log10 p", f"{exact.log10_pvalue:.10g}"),
        (found.unit, f"{exact.n:,}, of which {exact.n_informative:,} differ"),
        ("alternative", claim(found)),
        ("method", f"{exact.method}: {exact.method_reason}"),
    ]
    if exact.reading:
        rows.insert(3, ("reading", exact.reading))
    if exact.n_samples is None:
        rows.append(("error bound", f"{exact.error_bound:.2g} of p, relative"))
    else:
        low, high = exact.pvalue_interval()
        rows.append(("95% interval of p", f"{low:.4g} to {high:.4g}"))
    return Chapter(
        key="test",
        title="The exact test",
        done=f"If the systems were equal, the two outputs of each {whole} could as well have been "
        f"exchanged. p is the share of all 2^{exact.n} exchanges that make a difference "
        f"{EXTREME[found.alternative]} as the one seen, {how(found)}.",
        grids=(Grid(("", "found"), tuple(rows)),),
        meaning=f"{exact}",
        limits="p is how surprising such a difference would be between equal systems: not how "
        f"probable it is that they are equal, and not how large the difference is. The "
        f"{found.unit} are taken to be independent of each other.",
        pictures=("null",),
    )


def _items(found: Overview) -> Chapter:
    record, items = found.record, found.most_different
    a, b = found.names
    counts = isinstance(found.statistic, CountStatistic)
    kind = f"{found.title} of the item" if counts else "score"
    head = ("item", f"{kind}, {a}", f"{kind}, {b}", "adds" if counts else "difference")
    rows = tuple(
        (
            legible(item.id, ID),
            score(found, item.a),
            score(found, item.b),
            f"{item.difference:+.4g}",
        )
        for item in items
    )
    what = (
        f"What an item adds to the difference in {found.title} is half of what that would lose if "
        "the two systems' counts of the item were exchanged. "
        if counts
        else ""
    )
    return Chapter(
        key="items",
        title="Items",
        done=f"{record.rule[0].upper()}{record.rule[1:]}. {what}".strip(),
        grids=(
            Grid(
                ("", "items"),
                (
                    (f"{a} higher", f"{record.wins:,}"),
                    ("equal", f"{record.ties:,}"),
                    (f"{b} higher", f"{record.losses:,}"),
                ),
            ),
            *((Grid(head, rows, _caption(found)),) if rows else ()),
        ),
        meaning="" if rows else "The systems do not differ on any item.",
        limits="Items are shown by their size, not because they are typical; look at the texts "
        "before explaining a difference by them.",
    )


def _caption(found: Overview) -> str:
    """Which items are listed, and whether others differ as much as they do."""
    sizes = np.abs(found.items.worth)
    differ, shown = int(np.count_nonzero(sizes)), len(found.most_different)
    if differ == shown:
        return "All items on which the systems differ"
    last = np.partition(sizes, sizes.size - shown)[sizes.size - shown]
    more = int(np.count_nonzero(sizes >= last)) - shown
    others = (
        f"; {more:,} more differ{'s' * (more == 1)} as much as the last of them" if more else ""
    )
    return f"{shown} of the {differ:,} items on which the systems differ, the largest first{others}"


def _answers(found: Overview) -> Chapter:
    table = found.answers
    level = f"{percent(table.confidence_level)} interval"
    rows = tuple(
        (
            answer.title,
            answer.result.pvalue_text() if answer.result else "-",
            decision(answer, found.alpha),
            span(answer.interval) if answer.interval else "-",
            answer.assumptions_text,
        )
        for answer in table
    )
    return Chapter(
        key="answers",
        title="Other tests",
        done=f"The same question, asked of {amount(found)} by other tests"
        + (", which compare sums of clusters." if found.unit == "clusters" else ".")
        + _scale(found),
        grids=(Grid(("test", "p", "rejects", level, "assumptions"), rows),),
        meaning=agreement(answer.rejects(found.alpha) for answer in table)
        + f" {table.correlation_text()}".rstrip(),
        limits="They are one piece of evidence, not several; decide by the test that was chosen "
        "beforehand. To choose by p makes every level wrong.",
        problem=found.problems.text("answers"),
        pictures=("answers",),
    )


def _scale(found: Overview) -> str:
    """What the intervals are of, where that is not what the difference is of."""
    if found.per_unit == 1:
        return ""
    at_top = "mean of items" if found.statistic.name == "mean" else "sum"
    return f" Their intervals are per {found.unit[:-1]}; that of the difference is of the {at_top}."


def _effects(found: Overview) -> Chapter:
    grids = effect_grids(found.effects, found.confidence_level, f", per {found.unit[:-1]}")
    return Chapter(
        key="effects",
        title="Effect size",
        done=f"How large the difference is, whatever the number of {found.unit}." if grids else "",
        grids=grids,
        limits=COHEN if grids else "",
        problem=found.problems.text("effects"),
    )


def _power(found: Overview) -> Chapter:
    plan = found.power
    rows: list[tuple[str, str]] = []
    if plan is not None:
        share = percent(plan.target)
        rows.append((f"power with {counted_items(plan.n, found.unit)}", _power_text(plan.power)))
        if plan.detectable is not None:
            seen = figure(abs(plan.detectable * found.per_unit))
            rows.append((f"smallest difference that {plan.n:,} find in {share}", seen))
        if plan.needed is not None:
            rows.append(
                (f"{found.unit} to find the observed difference in {share}", f"{plan.needed:,}")
            )
        rows.append(("computed from", plan.method))
    return Chapter(
        key="power",
        title="Power, and the next study",
        done=f"How often a test at the level {number(found.alpha)} finds a difference, if systems "
        "are like these.",
        grids=(Grid(("", "value"), tuple(rows)),) if rows else (),
        limits="Power that is computed from the same scores as p says nothing about them that p "
        "has not said; it is for planning. An observed difference tends to be too large where it "
        "was found significant: better plan for the smallest one that matters.",
        problem=found.problems.text("power"),
    )


def _power_text(power: float) -> str:
    """Three digits, and no certainty that is none."""
    return "above 0.999" if 0.9995 <= power < 1 else f"{power:.3f}"


def _data(found: Overview) -> Chapter:
    source, doubt = found.pairs.source, gold_doubt(found.pairs)
    rows = [(legible(str(key)), plain(value)) for key, value in source.items()][:ROWS]
    return Chapter(
        key="data",
        title="Where the scores come from",
        done="What was read, as the reader recorded it."
        if rows
        else "They were given as they are.",
        grids=(Grid(("", "value"), tuple(rows)),) if rows else (),
        meaning=doubt and f"Doubt: {doubt}",
        limits="" if rows else "No file is known, so that nothing can be said of its items.",
    )


def _cite(found: Overview) -> Chapter:
    versions = ", ".join(f"{name} {text}" for name, text in found.versions().items())
    return Chapter(
        key="cite",
        title="How to cite this",
        done=f"{citation('text')} Computed with {versions}; seed {found.seed}.",
        code=citation("bibtex"),
    )
