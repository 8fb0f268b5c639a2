"""The sections of a comparison; an overview and a study consist of them.

Each function takes an `Overview` (or a `Study`, which is one), reads its parts, and is named after
the key of its section.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any

import numpy as np

from permtest._checks import check_option
from permtest.alternatives.answer import TITLES, finite
from permtest.pairs import Pairs
from permtest.statistics import lookup
from permtest.study import document as doc
from permtest.study.describe import dependence
from permtest.study.document import Figure, Section, Table, legible, number, percent, span
from permtest.study.effects import BELONGS_TO

#: Rows of the table of where the scores come from.
ROWS = 60

#: The measures of the same counts that stand beside each other.
MEASURES = ("precision", "recall", "f1")

#: A null distribution with more cells, or a joint one with more points, is not drawn as it is.
MOST_CELLS, MOST_POINTS = 5 * 10**6, 10**7

#: Which exchanges p counts.
EXTREME = {
    "two-sided": "at least as far from zero",
    "greater": "at least as large",
    "less": "at most as large",
}

ESTIMATION = (
    "Scores of both systems, the difference on each item, and below them the overall "
    "difference with its interval"
)
COHEN = (
    "'Small', 'medium' and 'large' are Cohen's labels from behavioural science; judge for yourself "
    "what difference matters."
)
PLANNING = (
    "Power computed from the same scores as p adds nothing to p; use it for planning. A "
    "significant difference tends to be overestimated, so plan for the smallest difference "
    "that matters."
)

PAPER = "Exact Paired-Permutation Testing for Structured Test Statistics"
VENUE = (
    "Proceedings of the 2022 Conference of the North American Chapter of the Association for "
    "Computational Linguistics: Human Language Technologies"
)
SOFTWARE = "permtest: exact paired-permutation tests for comparing two systems"
HOME = "https://github.com/permtest/permtest"
BIBTEX = f"""\
@inproceedings{{zmigrod-etal-2022-exact,
  author    = {{Zmigrod, Ran and Vieira, Tim and Cotterell, Ryan}},
  title     = {{{{{PAPER}}}}},
  booktitle = {{{VENUE}}},
  year      = {{2022}},
  pages     = {{4894--4902}}
}}

@software{{permtest,
  author    = {{{{The permtest developers}}}},
  title     = {{{{{SOFTWARE}}}}},
  version   = {{VERSION}},
  url       = {{{HOME}}}
}}
"""


def citation(style: str = "text") -> str:
    """The method and the software, as "text" or as "bibtex"."""
    check_option("style", style, ("text", "bibtex"))
    own = computed_with()["permtest"]
    if style == "bibtex":
        return BIBTEX.replace("VERSION", own)
    return (
        f"Ran Zmigrod, Tim Vieira and Ryan Cotterell. 2022. {PAPER}. In {VENUE}, pages 4894-4902. "
        f"The permtest developers. {SOFTWARE}, version {own}. {HOME}."
    )


def computed_with(*others: str) -> dict[str, str]:
    """The versions of this package, of others where they are there, and of Python."""
    found = {"permtest": str(import_module("permtest").__version__)}
    there = [x for x in others if x == "python" or find_spec(x)]
    return found | {x: python_version() if x == "python" else version(x) for x in there}


# ---- the comparison ----------------------------------------------------------------------------


def finding(found: Any) -> Section:
    """Both systems' scores and their difference."""
    level, record, (a, b), pairs = found.confidence_level, found.record, found.names, found.pairs
    exact, interval, entry, rows = found.exact, found.interval, found.statistic, []
    columns = {found.measured: [*map(found.score_text, found.scores), found.difference_text]}
    if pairs.columns and pairs.u.ndim == 2:
        sums = np.array([x.sum(axis=0) for x in (pairs.u, pairs.v)], dtype=object)
        counts = zip(pairs.columns, sums.T, strict=True)
        columns = {name: [str(x), str(y), str(x - y)] for name, (x, y) in counts} | columns
    if not pairs.columns and entry.name != "mean":
        each = (*found.scores, found.difference)
        columns["mean per item"] = [number(x / len(pairs)) for x in each]
    systems = zip((*found.names, "difference"), *columns.values(), strict=True)
    if interval is not None:
        rows.append((f"{percent(level)} interval", f"{span(interval)} ({found.interval_about})"))
        rows += [("warning", interval.warning)] if interval.warning else []
    first, second = found.better_on
    wins = f"{a} better on {first:,}, {b} on {second:,}, equal on {record.ties:,}"
    other = interval is not None and "exact test" not in found.interval_about
    compared = {"mean": "mean score", "sum": "total score"}.get(entry.name, "")
    compared = compared or f"{entry.name}" + f" ({entry.about})" * bool(entry.about)
    leads = found.rejected and exact.better and not found.delta
    return Section(
        key="finding",
        heading="The difference",
        sentence=f"{found.amount}, compared by {compared}. The {found.test_text} {found.verdict()}"
        + f"; {exact.better} is the better one" * bool(leads)
        + ", but this does not show that it is true" * (found.rejected is False)
        + ".",
        tables=(
            Table(("system", *columns), tuple(systems)),
            Table(("", "found"), (*rows, ("items", wins))),
        ),
        figure=Figure("plot_estimation", (found,), ESTIMATION),
        limits="The difference holds for these two systems on items like these. The interval says "
        "how far other items might move it, not how far other training runs or other data "
        "would move it."
        + " The interval and p come from different tests, so near the level they may disagree."
        * other,
        problem=found.problem("finding"),
        data=exact.score.to_dict()
        | {
            "statistic": entry.name,
            "scores": found.scores,
            "rejected": found.rejected,
            "interval": interval and interval._asdict() | vars(interval),
            "interval_about": found.interval_about,
            "better": exact.better,
            "difference": found.difference,
            "confidence_interval": interval and [finite(end) for end in interval],
            "confidence_level": level,
            "paired_by": pairs.source.get("paired_by"),
        },
    )


def test(found: Any) -> Section:
    """p, and how it was computed."""
    exact, drawn, note = found.exact, found.exact.n_samples is not None, ""
    bracket = exact.method == "bracket"
    how = "estimated by sampling" if drawn else "computed exactly"
    rows = [
        ("p", exact.bracket_text() if bracket else exact.pvalue_text(10)),
        ("log10 p", f"{exact.log10_pvalue:.10g}"),
        (found.unit, f"{exact.n:,}, of which {exact.n_informative:,} differ"),
        *([("reading", exact.reading)] if exact.reading else []),
        ("alternative", exact.score.claim(found.alternative, exact.names)),
        ("method", f"{exact.method}: {exact.method_reason}"),
    ]
    if drawn:
        rows.append(("95% interval of p", "{:.4g} to {:.4g}".format(*exact.pvalue_interval())))
    else:
        rows.append(("error bound", f"{exact.error_bound:.2g} of p, relative"))
        more = ", drawn from random labellings or rounded differences because it is very long"
        note = more * is_long(exact)
    alt = f"Null distribution of the test{note}; {found.p_text}"
    return Section(
        key="test",
        heading="The exact test",
        sentence="If the systems were equal, we could just as well exchange the two outputs of "
        f"each {found.unit[:-1]}. p is the share of all 2^{exact.n} exchanges that give a "
        f"difference {EXTREME[found.alternative]} as the observed one, "
        f"{'enclosed in bounds' if bracket else how}. {exact}",
        tables=(Table(("", "found"), tuple(rows)),),
        figure=Figure("plot_test", (found,), alt),
        limits="p says how surprising such a difference would be between equal systems. It does "
        "not say how probable it is that they are equal, or how large the difference is. "
        f"The test assumes that the {found.unit} are independent of each other.",
        data={"exact": exact.to_dict()},
    )


def is_long(exact: Any) -> bool:
    """Whether the null distribution is too long to be drawn as it is."""
    joint = hasattr(exact, "n_points")
    return bool(exact.n_points > MOST_POINTS if joint else exact.n_cells > MOST_CELLS)


def items(found: Any) -> Section:
    """Which system is ahead on how many items, and where they differ most."""
    record, (a, b), shown = found.record, found.names, found.most_different
    counts = bool(found.statistic.columns)
    kind = f"{found.measured} of the item" if counts else "score"
    head = ("item", f"{kind}, {a}", f"{kind}, {b}", "adds" if counts else "difference")
    rows = tuple(
        (legible(x.id), found.score_text(x.a), found.score_text(x.b), f"{x.difference:+.4g}")
        for x in shown
    )
    sizes, which = np.abs(found.items.worth), "All items on which the systems differ"
    if (differ := int(np.count_nonzero(sizes))) > len(rows):
        least = np.sort(sizes)[-len(rows)]
        more = int(np.count_nonzero(sizes >= least)) - len(rows)
        which = f"{len(rows)} of the {differ:,} items on which the systems differ, largest first"
        which += f"; {more:,} more differ{'s' * (more == 1)} as much as the last of them" * (
            more > 0
        )
    first, second = found.better_on
    tally = ((f"{a} better", first), ("equal", record.ties), (f"{b} better", second))
    adds = (
        f" An item adds half of what the difference in {found.measured} would lose if we "
        "exchanged the two systems' counts of that item."
    )
    return Section(
        key="items",
        heading="Items",
        sentence=f"{record.rule[0].upper()}{record.rule[1:]}.{adds * counts}"
        + " The systems do not differ on any item." * (not rows),
        tables=(
            Table(("", "items"), tuple((name, f"{n:,}") for name, n in tally)),
            *((Table(head, rows, which),) if rows else ()),
        ),
        limits="The items with the largest differences are not typical; read their texts before "
        "you use them to explain the difference.",
        data={"record": record._asdict(), "most_different": [x._asdict() for x in shown]},
    )


def answers(found: Any) -> Section:
    """Other tests, with the level and the power that they have on data like these."""
    table, decided = found.answers, found.decisions()
    rates, rows, data = getattr(found.recommendation, "rates", {}), [], []
    for answer, facts in zip(table, table.rows(), strict=True):
        decision = {True: "yes", False: "no", None: "-"}[decided[answer.test]]
        measured = rates.get(answer.test, ())
        p = answer.result.pvalue_text() if answer.result else "-"
        cells = [answer.title, p, decision, span(answer.interval)]
        cells += [f"{x:.3f}" for x in measured] or [""] * 2 * bool(rates)
        assumed = found.in_units(answer.assumptions_text)
        rows.append((*cells, assumed))
        facts |= {"rejects": decided[answer.test], "assumptions": assumed}
        facts |= dict(zip(("level", "power"), measured, strict=False))
        data.append({key: value for key, value in facts.items() if key != "seconds"})
    made = [one for one in decided.values() if one is not None]
    alike = f"{'Both' if len(made) == 2 else f'All {len(made)}'} tests reach the same decision."
    if len(set(made)) > 1:
        reject = "rejects" if sum(made) == 1 else "reject"
        alike = f"{sum(made)} of {len(made)} tests {reject}. The tests that disagree ask different "
        alike += "questions or make assumptions that do not hold."
    of_sums = " by comparing clusters"
    of_sums += "" if found.pairs.columns else " (their sums, divided by the mean size of a cluster)"
    simulated = (
        " Level and power are the shares of simulated data sets like these in which a "
        f"two-sided test rejects at the level {number(found.alpha)}, without and with the "
        "observed difference. Only some tests were measured."
    )
    scale = " Their intervals are per item; the interval of the difference is for the sum."
    left_out = (
        " Tests of ranks and medians are left out, because they add nothing for scores of 0 and 1."
    )
    left_out *= "mcnemar" in decided and "wilcoxon" not in decided and found.tests is None
    level = f"{percent(table.confidence_level)} interval"
    level += ", per item" * (found.unit == "clusters" and not found.pairs.columns)
    head = ("test", "p", "rejects", level, *(("level", "power") * bool(rates)), "assumptions")
    alt = "p-values of all tests side by side, with the intervals of what they estimate"
    return Section(
        key="answers",
        heading="Other tests",
        sentence=f"On {found.amount}, other tests answer the same question"
        f"{of_sums * (found.unit == 'clusters')}.{scale * (found.per_unit != 1)}"
        f"{left_out}{simulated * bool(rates)} {alike * (len(made) > 1)} "
        f"{table.correlation_text()}".rstrip(),
        tables=(Table(head, tuple(rows)),),
        figure=Figure("plot_answers", (table,), alt, {"alpha": found.alpha}),
        limits="These tests are one piece of evidence, not several; decide by the test that you "
        "chose beforehand. Choosing a test by its p-value invalidates the significance "
        "level.",
        problem=found.problem("answers"),
        data={"answers": data},
    )


def measures(found: Any) -> Section:
    """Precision, recall and F1 side by side, with their Bayes tests."""
    from permtest.alternatives import bayes_test

    (a, b), rows, data = found.names, [], {}
    leans = "cautious if both are judged on the same items"
    if found.unit == "clusters":
        leans = "overconfident if decisions within a cluster are alike"
    # Of the two models of `bayes_test`, the second one is the one that may be better.
    pairs = found.pairs if found.unit == "items" else found.pairs.by_cluster()
    old, new = pairs.v[:, :3], pairs.u[:, :3]
    for name in MEASURES:
        same = found.statistic.name == name
        one = found if same else replace(found, statistic=lookup(name))
        bayes = bayes_test(old, new, name, weight=1, paired=len(pairs) > 1, names=(b, a))
        cells = (*map(one.score_text, one.scores), one.difference_text, span(one.interval))
        p = one.p_text.removeprefix("p ").removeprefix("= ")
        paired = bayes.paired.chances()["b"] if bayes.paired else "-"
        rows.append((one.measured, *cells, p, bayes.chances()["b"], paired))
        facts = {"scores": one.scores, "difference": one.difference, "pvalue": one.exact.pvalue}
        facts |= {"interval": one.interval, "probability_a_better": bayes.p_h1}
        data[name] = facts | {"paired_probability": bayes.paired and bayes.paired.p_h1}
    level = f"{percent(found.confidence_level)} interval"
    heads = ("measure", a, b, "difference", level, "p", f"P({a} better)", "paired")
    return Section(
        key="measures",
        heading="Precision, recall and F1",
        sentence="The table has the exact test of each measure on the same counts, and the "
        f"probability that {a} is better, given the counts and a flat prior.",
        tables=(Table(heads, tuple(rows)),),
        limits="Neither probability is 1 - p: they are about the systems, and p is about the "
        "data. Both assume that all decisions are independent of each other. The first one "
        f"also assumes that the two systems are independent, which makes it {leans}. The "
        f"paired one estimates from the {found.unit} how the systems correlate, for which "
        "it needs 30 or more.",
        data={"measures": data},
    )


def effects(found: Any) -> Section:
    """Effect sizes, each beside the tests that it belongs to."""
    level, sizes, rows, problem = found.confidence_level, found.effects, [], ""
    for effect in sizes:
        tests = [TITLES[x] for x in found.applicable if BELONGS_TO[x] == effect.name]
        interval = f"{span(effect.confidence_interval(level))} ({effect.method})"
        in_scores = ", per item" * (effect.name == "hodges_lehmann")
        size = effect.label or f"{found.in_units(effect.interpretation)}{in_scores}"
        rows.append((effect.title, number(effect.value), interval, size, ", ".join(tests)))
    if found.pairs.columns:
        problem = "standardised effect sizes need single scores; the difference in "
        problem += f"{found.measured} is itself an effect size"
    elif not sizes:
        problem = "all differences are equal, or there are too few"
    head = ("effect size", "value", f"{percent(level)} interval", "magnitude", "belongs to")
    alt = "Effect sizes with their intervals"
    figure = Figure("plot_effects", (sizes,), alt, {"confidence_level": level})
    # The effects of scores of 0 and 1 have no scale in common.
    drawn = sizes and "risk_difference" not in [effect.name for effect in sizes]
    return Section(
        key="effects",
        heading="Effect size",
        sentence=f"These sizes of the difference do not depend on the number of {found.unit}."
        * bool(rows),
        tables=(Table(head, tuple(rows)),) if rows else (),
        figure=figure if drawn else None,
        limits=COHEN * any(effect.label for effect in sizes),
        problem=f"Not everything could be computed: {problem}." * bool(problem),
        data={
            "effects": [
                effect.to_dict(level) | {"interpretation": found.in_units(effect.interpretation)}
                for effect in sizes
            ]
        },
    )


def power(found: Any) -> Section:
    """The power of the test, and the size that another study needs."""
    plan, rows, shown, apart = found.power, [], {}, ""
    if plan is not None:
        share, t = percent(plan.target), "paired t test, for nearly normal means"
        binary = plan.method.startswith("exact")
        computed = "exact, for scores of 0 and 1" if binary else t
        chance, method, rates = plan.power, computed, getattr(found.recommendation, "rates", {})
        # The number that stands beside the exact test among the other tests, where there is one.
        if "exact" in rates and found.alternative == "two-sided" and not found.delta:
            drawn = f"{found.recommendation.samples:,} samples drawn from these differences"
            if binary:
                apart = (
                    f" The power is exact; the powers among the other tests are shares of {drawn}."
                )
            elif plan.power > 0:
                chance, method = rates["exact"][1], f"exact test of {drawn}"
                apart = (
                    " The power is measured, as among the other tests; the formula of the t test, "
                )
                apart += f"which gives the other numbers, puts it at {plan.power:.3f}."
        shown = vars(plan) | {"power": chance, "power_method": method}
        text = "above 0.999" if method == computed and 0.9995 <= chance < 1 else f"{chance:.3f}"
        rows.append((f"power with {doc.how_many(plan.n, found.unit)}", text, method))
        if plan.detectable is not None:
            seen = number(abs(plan.detectable * found.per_unit))
            what = f"smallest difference detectable with {share} power at n = {plan.n:,}"
            rows.append((what, seen, t))
        if plan.needed is not None:
            what = f"{found.unit} needed for {share} power at the observed difference"
            rows.append((what, f"{plan.needed:,}", computed))
    return Section(
        key="power",
        heading="Power, and the next study",
        sentence=f"Power is how often a test at the level {number(found.alpha)} finds a difference "
        f"between systems like these.{apart}" * bool(rows),
        tables=(Table(("", "value", "method"), tuple(rows)),) if rows else (),
        limits=PLANNING * bool(rows),
        problem=found.problem("power"),
        data={"power": shown or None},
    )


def data(found: Any) -> Section:
    """Where the scores come from, and reasons to doubt them."""
    pairs, doubts = found.pairs, [gold_doubt(found.pairs)]
    if found.unit == "items":
        doubts.append(dependence(found.items.worth, pairs.ids))
    source = pairs.source
    told = (
        (legible(str(key)), doc.plain(x) + ", ..." * _is_cut(source, str(key)))
        for key, x in source.items()
        if _says(x)
    )
    rows = tuple(row for row in told if row[0] != row[1])[:ROWS]  # "score: score" says nothing
    read = (
        "The table shows what the reader recorded about the files."
        if rows
        else "permtest received the scores directly."
    )
    return Section(
        key="data",
        heading="Where the scores come from",
        sentence=" ".join([read, *(f"Doubt: {text}" for text in doubts if text)]),
        tables=(Table(("", "value"), rows),) if rows else (),
        limits="" if rows else "Without a file, nothing can be said about the items.",
        data={"source": pairs.source},
    )


def _says(value: Any) -> bool:
    """Whether a record says anything, and is not none, blank, or a list of nothing."""
    if isinstance(value, str):
        return value.strip().lower() not in ("", "none")
    value = list(value.values()) if isinstance(value, Mapping) else value
    return any(map(_says, value)) if isinstance(value, list | tuple) else value not in (None, 0)


def _is_cut(source: Mapping[str, Any], key: str) -> bool:
    """Whether a reader counted more items than it kept the ids of."""
    if key not in ("unmatched_ids", "dropped_ids", "left_out_ids"):
        return False
    number = np.sum(source.get(key.removesuffix("_ids"), 0))
    return bool(number > sum(len(x) if isinstance(x, list) else 1 for x in source[key]))


def gold_doubt(pairs: Pairs) -> str:
    """On how many items the systems had other things to find, tp + fn; empty if on none."""
    if not {"tp", "fn"} <= set(pairs.columns) or pairs.u.ndim > 2:
        return ""
    tp, fn = pairs.columns.index("tp"), pairs.columns.index("fn")
    first, second = (x[:, tp] + x[:, fn] for x in (pairs.u, pairs.v))
    other = np.flatnonzero(first != second)
    if other.size == 0:
        return ""
    i = int(other[0])
    name = f"item {i + 1}" if pairs.ids is None else legible(pairs.ids[i])
    return (
        f"tp + fn differs between the systems on {other.size} of "
        f"{doc.how_many(len(pairs), 'items')}, first for {name} ({first[i]} and {second[i]}); are "
        "they the same items?"
    )


def cite(found: Any) -> Section:
    """What to cite, and what computed this."""
    made = ", ".join(f"{name} {text}" for name, text in computed_with("numpy", "python").items())
    return Section(
        key="cite",
        heading="How to cite this",
        sentence=f"{citation()} Computed with {made}; seed {found.seed}.",
        code=citation("bibtex"),
        data={"citation": citation()},
    )
