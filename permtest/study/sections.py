"""The sections of a comparison, each made by a function with the name of its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from math import inf
from platform import python_version
from typing import Any

import numpy as np

from permtest.alternatives.answer import fewest_units, finite
from permtest.alternatives.bayes import ENOUGH, bayes_test
from permtest.alternatives.counts import rate_intervals
from permtest.alternatives.registry import TESTS
from permtest.pairs import Pairs
from permtest.statistics import lookup
from permtest.study import document as doc
from permtest.study.describe import dependence
from permtest.study.document import Figure, Section, Table, legible, number, percent, span

#: Rows of the table of where the scores come from, and of that of sizes of units.
MOST_ROWS, SIZES = 60, 12

#: The measures of the same counts that stand beside each other.
MEASURES = ("precision", "recall", "f1")

#: A null distribution with more cells is not drawn.
MOST_CELLS = 5 * 10**6

ESTIMATION = (
    "Scores of both systems, the difference on each item, and below them the overall "
    "difference with its interval"
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


def computed_with() -> dict[str, str]:
    """The versions of this package, of NumPy, and of Python."""
    own = str(import_module("permtest").__version__)
    return {"permtest": own, "numpy": np.__version__, "python": python_version()}


# ---- the test ----------------------------------------------------------------------------------


def finding(found: Any) -> Section:
    """Both systems' scores and their difference."""
    level, record, (a, b), pairs = found.confidence_level, found.record, found.names, found.pairs
    exact, interval, entry, rows = found.exact, found.interval, found.statistic, []
    columns, own = _columns(found), rate_intervals(pairs, level)
    if own is not None:
        columns[f"{percent(level)} interval of the mean"] = [*map(span, own), ""]
    systems = zip((*found.names, "difference"), *columns.values(), strict=True)
    if interval is not None:
        rows.append((f"{percent(level)} interval", f"{span(interval)} ({found.interval_about})"))
        rows += [("warning", interval.warning)] if interval.warning else []
    first, second = found.better_on
    wins = f"{a} better on {first:,}, {b} on {second:,}, equal on {record.ties:,}"
    compared = {"mean": "mean score", "sum": "total score"}.get(entry.name, "")
    compared = compared or f"{entry.title}" + f" ({entry.about})" * bool(entry.about)
    sentence = f"{found.amount}, compared by {compared}. The {found.test_text} {found.verdict()}"
    if found.rejected is False:
        sentence += ", but this does not show that it is true"
    elif found.rejected and exact.better and not found.delta:
        sentence += f"; {exact.better} is the better one"
    limits = "The difference holds for these two systems on items like these."
    if interval is not None:
        limits += " The interval says how far other items might move it, not how far other "
        limits += "training runs, or items of another kind, would."
    if interval is not None and "exact test" not in found.interval_about:
        limits += " Interval and p come from different tests, which may disagree near the level."
    notes = pairs.source.get("cautions", ())
    doubts = [gold_doubt(pairs), *(f"{x[0].upper()}{x[1:]}." for x in notes)]
    if not found.clustered:
        doubts.append(dependence(found.items.worth, None if notes else pairs.ids))
    limits = " ".join(filter(None, [limits, *exact.notes, *doubts]))
    return Section(
        key="finding",
        heading="The difference",
        sentence=sentence + ".",
        tables=(
            Table(("system", *columns), tuple(systems)),
            Table(("", "found"), (*rows, (f"{found.entry}s", wins))),
        ),
        figure=Figure("plot_estimation", (found,), ESTIMATION),
        limits=limits,
        problem=found.problem("finding"),
        data=exact.score.to_dict()
        | {
            "statistic": entry.name,
            "scores": found.scores,
            "score_intervals": own,
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


def _columns(found: Any) -> dict[str, list[str]]:
    """What is known of both systems and their difference: counts, their measures, and means."""
    pairs, entry = found.pairs, found.statistic
    columns = {found.measured: [*map(found.score_text, found.scores), found.difference_text]}
    if pairs.columns and pairs.u.ndim == 2:
        sums = np.array([x.sum(axis=0) for x in (pairs.u, pairs.v)], dtype=object)
        counts = zip(pairs.columns, sums.T, strict=True)
        columns = {name: [str(x), str(y), str(x - y)] for name, (x, y) in counts} | columns
    elif not pairs.columns and entry.name != "mean":
        each = (*found.scores, found.difference)
        columns["mean per item"] = [number(x / len(pairs)) for x in each]
    return columns


def test(found: Any) -> Section:
    """p, and how it was computed."""
    exact, drawn = found.exact, found.exact.n_samples is not None
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
    alt = f"Null distribution of the test; {found.p_text}"
    long = exact.n_cells > MOST_CELLS
    extreme = {"greater": "at least as large", "less": "at most as large"}
    return Section(
        key="test",
        heading="The exact test",
        sentence="If the systems were equal, we could just as well exchange their outputs for "
        f"each {found.unit[:-1]}. p is the share of all 2^{exact.n} exchanges that give a "
        f"difference {extreme.get(found.alternative, 'at least as far from zero')} as the "
        f"observed one, {'enclosed in bounds' if bracket else how}. {exact}",
        tables=(Table(("", "found"), tuple(rows)),),
        figure=None if long else Figure("plot_null", (exact,), alt),
        limits="p says how surprising such a difference would be between equal systems. It does "
        "not say how probable it is that they are equal, or how large the difference is. "
        f"The test assumes that the {found.unit} are independent of each other.",
        problem="The null distribution is too long to be drawn." * long,
        data={"exact": exact.to_dict()},
    )


def items(found: Any) -> Section:
    """Which system is ahead on how many items, and where they differ most."""
    record, (a, b), shown = found.record, found.names, found.most_different
    kind, adds, sentence = "score", "difference", f"{record.rule[0].upper()}{record.rule[1:]}."
    entry = found.entry
    if found.statistic.columns:
        kind, adds = f"{found.measured} of the {entry}", "adds"
        sentence += f" Each {entry} adds half of what the difference in {found.measured} would "
        sentence += f"lose if we exchanged the two systems' counts of that {entry}."
    rows = tuple(
        (legible(x.id), found.score_text(x.a), found.score_text(x.b), f"{x.difference:+.4g}")
        for x in shown
    )
    sizes, which = np.abs(found.items.worth), f"All {entry}s on which the systems differ"
    if (differ := int(np.count_nonzero(sizes))) > len(rows):
        more = int(np.count_nonzero(sizes >= np.sort(sizes)[-len(rows)])) - len(rows)
        which = f"{len(rows)} of the {differ:,} {entry}s on which the systems differ, largest first"
        if more:
            which += f"; {more:,} more differ{'s' * (more == 1)} as much as the last of them"
    sentence += f" The systems do not differ on any {entry}." * (not rows)
    first, second = found.better_on
    tally = ((f"{a} better", first), ("equal", record.ties), (f"{b} better", second))
    tables = [Table(("", f"{found.entry}s"), tuple((name, f"{n:,}") for name, n in tally))]
    if rows:
        head = (entry, f"{kind}, {a}", f"{kind}, {b}", adds)
        tables.append(Table(head, rows, which))
    return Section(
        key="items",
        heading="Items",
        sentence=sentence,
        tables=tuple(tables),
        limits=f"The {found.entry}s with the largest differences are not typical; read their texts "
        "before you use them to explain the difference." * bool(rows),
        data={"record": record._asdict(), "most_different": [x._asdict() for x in shown]},
    )


# ---- around the test ---------------------------------------------------------------------------


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
    level = f"{percent(table.confidence_level)} interval"
    level += ", per item" * (found.clustered and not found.pairs.columns)
    head = ("test", "p", "rejects", level, *(("level", "power") * bool(rates)), "assumptions")
    alt = "p-values of all tests side by side, with the intervals of what they estimate"
    return Section(
        key="answers",
        heading="Other tests",
        sentence=_what_other_tests_say(found, bool(rates)),
        tables=(Table(head, tuple(rows)),),
        figure=Figure("plot_answers", (table,), alt, {"alpha": found.alpha}),
        limits="These tests are one piece of evidence, not several; decide by the test that you "
        "chose beforehand. Choosing a test by its p-value invalidates the significance level.",
        problem=found.problem("answers"),
        data={"answers": data},
    )


def _what_other_tests_say(found: Any, measured: bool) -> str:
    decided, text = found.decisions(), f"On {found.amount}, other tests answer the same question"
    if found.clustered:
        text += f" by comparing {found.unit}"
        if not found.pairs.columns:
            text += f", each by {_sums(found)}"
    text += "."
    if found.per_unit != 1:
        text += " Their intervals are per item; the interval of the difference is for the sum."
    if "mcnemar" in decided and "wilcoxon" not in decided and found.tests is None:
        text += " Tests of ranks and medians are left out; they add nothing for scores of 0 and 1."
    if measured:
        text += " Level and power are the shares of simulated data sets like these in which a "
        text += f"two-sided test rejects at the level {number(found.alpha)}, without and with the "
        text += "observed difference. Some of the tests were not simulated."
    made = [one for one in decided.values() if one is not None]
    if len(set(made)) > 1:
        text += f" {sum(made)} of {len(made)} tests {'rejects' if sum(made) == 1 else 'reject'}. "
        text += "Tests disagree where questions differ, assumptions fail, or p is near the level."
    elif len(made) > 1:
        both = "Both" if len(made) == 2 else f"All {len(made)}"
        text += f" {both} tests reach the same decision."
    return f"{text} {found.answers.correlation_text()}".rstrip()


def _sums(found: Any) -> str:
    """What the score of a unit is that has several lines of scores."""
    if not (runs := found.pairs.runs_each):
        return "the sum of its items, divided by the mean size of a cluster"
    return "the sum of its runs, divided by their mean number" if " to " in runs else "its mean"


def measures(found: Any) -> Section:
    """Precision, recall and F1 side by side, with their Bayes tests."""
    (a, b), rows, data = found.names, [], {}
    leans = "cautious if both are judged on the same items"
    if found.clustered:
        within = "runs of an item" if found.pairs.runs_each else "decisions within a cluster"
        leans = f"overconfident if {within} are alike"
    # Of the two models of `bayes_test`, the second one is the one that may be better.
    old, new = found.units.v[:, :3], found.units.u[:, :3]
    for name in MEASURES:
        same = found.statistic.name == name
        one = found if same else replace(found, statistic=lookup(name))
        bayes = bayes_test(old, new, name, weight=1, paired=len(old) >= ENOUGH, names=(b, a))
        cells = (*map(one.score_text, one.scores), one.difference_text, span(one.interval))
        p = one.p_text.removeprefix("p ").removeprefix("= ")
        paired = bayes.paired.chances()["b"] if bayes.paired else "-"
        rows.append((one.measured, *cells, p, bayes.chances()["b"], paired))
        facts = {"scores": one.scores, "difference": one.difference, "pvalue": one.exact.pvalue}
        facts |= {"interval": one.interval, "probability_a_better": bayes.p_h1}
        data[name] = facts | {"paired_probability": bayes.paired and bayes.paired.p_h1}
    level = f"{percent(found.confidence_level)} interval"
    better = f"P({a} better)"
    head = ("measure", a, b, "difference", level, "p", better, f"{better}, paired")
    return Section(
        key="measures",
        heading="Precision, recall and F1",
        sentence="The table has the exact test of each measure on the same counts, and the "
        f"probability that {a} is better, given the counts and a flat prior.",
        tables=(Table(head, tuple(rows)),),
        limits="Neither probability is 1 - p: they are about the systems, and p is about the "
        "data. The first one assumes that all decisions, and the two systems, are independent of "
        f"each other, which makes it {leans}. The one called 'paired' is experimental: it takes "
        f"the spread of the difference from the {found.unit}, for which it needs {ENOUGH} or more.",
        data={"measures": data},
    )


def effects(found: Any) -> Section:
    """Effect sizes, each beside the tests that it belongs to."""
    level, sizes, rows, data, problem = found.confidence_level, found.effects, [], [], ""
    for effect in sizes:
        tests = [TESTS[x].title for x in found.applicable if TESTS[x].effect == effect.name]
        doubt = "; differences look skewed" * bool(effect.warning)
        interval = f"{span(effect.confidence_interval(level))} ({effect.method}{doubt})"
        unit = found.in_units(effect.interpretation)
        size = effect.label or unit + ", per item" * (effect.name == "hodges_lehmann")
        rows.append((effect.title, number(effect.value), interval, size, ", ".join(tests)))
        data.append(effect.to_dict(level) | {"interpretation": unit})
    if found.pairs.columns:
        problem = "standardised effect sizes need single scores; the difference in "
        problem += f"{found.measured} is itself an effect size"
    elif not sizes:
        problem = "all differences are equal, or there are too few"
    head = ("effect size", "value", f"{percent(level)} interval", "magnitude", "goes with")
    how = (sizes,), "Effect sizes with their intervals", {"confidence_level": level}
    # The effects of scores of 0 and 1 have no scale in common.
    drawn = sizes and "risk_difference" not in [effect.name for effect in sizes]
    sentence = f"These sizes of the difference do not grow with the number of {found.unit}."
    limits = "'Small', 'medium' and 'large' are Cohen's labels from behavioural science; judge for "
    limits += "yourself what difference matters."
    limits += "".join(f" {text}" for text in {effect.warning for effect in sizes if effect.warning})
    return Section(
        key="effects",
        heading="Effect size",
        sentence=sentence * bool(rows),
        tables=(Table(head, tuple(rows)),) if rows else (),
        figure=Figure("plot_effects", *how) if drawn else None,
        limits=limits * any(effect.label for effect in sizes),
        problem=f"Not everything could be computed: {problem}." * bool(problem),
        data={"effects": data},
    )


def power(found: Any) -> Section:
    """The size that another study needs; in a study also the power of its test."""
    plan, problem, heading = found.power, found.problem("power"), "The next study"
    if found.config is not None:
        heading = "Power, and the next study"
    if plan is None:
        return Section("power", heading, "", problem=problem, data={"power": None})
    share, t = percent(plan.target), "paired t-test, for nearly normal means"
    computed = "exact, for scores of 0 and 1" if plan.method.startswith("exact") else t
    rows, apart, facts, limits = [], "", vars(plan), ""
    if found.config is None:
        facts = {key: value for key, value in facts.items() if key != "power"}
    else:
        chance, method, apart = _power_seen(found, computed)
        text = "above 0.999" if method == computed and 0.9995 <= chance < 1 else f"{chance:.3f}"
        rows.append((f"power with {doc.how_many(plan.n, found.unit)}", text, method))
        facts = facts | {"power": chance, "power_method": method}
        limits = "Power computed from the same scores as p adds nothing to p; use it for planning. "
    if plan.detectable is not None:
        what = f"smallest difference detectable with {share} power at n = {plan.n:,}"
        rows.append((what, number(abs(plan.detectable * found.per_unit)), t))
    if plan.needed is not None:
        what = f"{found.unit} needed for {share} power at the observed difference"
        least = plan.needed == fewest_units(found.alpha, found.alternative)
        why = f"with fewer, p is above {number(found.alpha)}" if least else computed
        rows.append((what, f"{plan.needed:,}", why))
        few, many = found.needed_at_ends
        ends = f"{few:,.0f} or more" if many == inf else f"{few:,.0f} to {many:,.0f}"
        rows.append(("the same at the ends of its interval", ends, computed))
        facts = facts | {"needed_at_ends": [finite(few), finite(many)]}
    limits += (
        "Significant differences tend to be overestimated: plan for the smallest that matters."
    )
    return Section(
        key="power",
        heading=heading,
        sentence=f"Power is how often a test at the level {number(found.alpha)} finds a difference "
        f"between systems like these.{apart}",
        tables=(Table(("", "value", "method"), tuple(rows)),) if rows else (),
        limits=limits,
        problem=problem,
        data={"power": facts},
    )


def _power_seen(found: Any, computed: str) -> tuple[float, str, str]:
    """The power of a study's test, how it was computed, and what tells it from others."""
    plan, rates = found.power, getattr(found.recommendation, "rates", {})
    chance, method, apart = plan.power, computed, ""
    # The number that stands beside the exact test among the other tests, where there is one.
    if "exact" in rates and found.alternative == "two-sided" and not found.delta:
        drawn = f"{found.recommendation.samples:,} samples drawn from these differences"
        if plan.method.startswith("exact"):
            apart = f" This power is exact; those in the table of other tests come from {drawn}."
        elif plan.power > 0:
            chance, method = rates["exact"][1], f"exact test of {drawn}"
            apart = " This power is simulated, as in the table of other tests; the t-test formula "
            apart += f"behind the other numbers puts it at {plan.power:.3f}."
    if plan.n < fewest_units(found.alpha, found.alternative):
        method = f"too few {found.unit} for a p of {number(found.alpha)}"
    return chance, method, apart


def curve(found: Any) -> Section:
    """Simulated power against the number of units."""
    seen, heading, problem = found.curve, "Power of other sizes", found.problem("curve")
    if seen is None:
        why = "" if found.config.power_sizes else "No simulation was asked for."
        return Section("curve", heading, why, problem=problem, data={"power_curve": None})
    lines = zip(seen.sizes, seen.power, seen.intervals, strict=True)
    rows = tuple((f"{n:,}", f"{share:.3f}", span(ends)) for n, share, ends in lines)
    alt = f"Power against the number of {found.unit}, with an interval at each size"
    return Section(
        key="curve",
        heading=heading,
        sentence=str(seen),
        tables=(Table(("units", "power", "95% interval"), rows),),
        figure=Figure("plot_power", (seen,), alt, {"target": found.target}),
        limits="The intervals show only the error of the simulation.",
        data={"power_curve": seen.to_dict()},
    )


# ---- the data ----------------------------------------------------------------------------------


def data(found: Any) -> Section:
    """Where the scores come from; in a study what they look like."""
    pairs, source = found.pairs, found.pairs.source
    told = [
        (legible(str(key)), doc.plain(x) + ", ..." * _is_cut(source, str(key)))
        for key, x in source.items()
        if _says(x)
        and key not in ("files", "runs", "cautions")
        and (key not in ("file", "sha256") or "files" not in source)
    ]
    for file in source.get("files", ()):  # names and checksums in full
        told += [("file", legible(file["file"], doc.VALUE)), ("its SHA-256", file["sha256"])]
    rows = tuple(row for row in told if row[0] != row[1])[:MOST_ROWS]  # "score: score" says nothing
    read = "This was recorded when the files were read."
    read = read if rows else "permtest received the scores directly."
    section = Section(
        key="data",
        heading="Where the scores come from",
        sentence=read,
        tables=(Table(("", "value"), rows),) if rows else (),
        limits="" if rows else "Without a file, nothing can be said about the items.",
        data={"source": pairs.source},
    )
    if found.config is None:
        return section
    if pairs.columns:
        text = f"Counts of {found.amount}, compared by {found.measured}. The sections that need "
        text += "single scores (description, evaluation units, assumptions, recommended tests, "
        text += "standardised effects, simulated power) are left out. "
        return replace(section, heading="Data", sentence=text + section.sentence)
    seen = _of_units(found, found.description.section())
    per_unit = f" The score of each of the {found.unit} is {_sums(found)}." * found.clustered
    alt = "Histograms of the scores of both systems and of their differences"
    return replace(
        section,
        heading="Data",
        sentence=f"{seen.sentence}{per_unit} {section.sentence}",
        tables=(*seen.tables, *section.tables),
        figure=Figure("plot_histograms", (found.description,), alt),
        data={**section.data, "description": seen.data},
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


def _of_units(found: Any, section: Section) -> Section:
    """What is said of pairs, where those are clusters."""
    tables = (
        replace(old, rows=tuple(tuple(map(found.in_units, row)) for row in old.rows))
        for old in section.tables
    )
    return replace(section, sentence=found.in_units(section.sentence), tables=tuple(tables))


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


def units(found: Any) -> Section:
    """What is compared, and how much larger units vary."""
    made, sizes, chosen, tables, figure = found.made, found.unit_sizes, found.config, [], None
    sentence = f"Every item is a unit: {doc.how_many(len(made.pairs), 'units')}."
    if found.clustered:
        sentence = f"Every {found.unit[:-1]} is a unit: {found.amount}, whose scores are added up."
    sentence = sentence if chosen.unit_size == 1 else str(made)
    if sizes is not None:
        step = -(-len(sizes.sizes) // SIZES)
        columns = [*zip(sizes.sizes, sizes.n_units, sizes.sds, strict=True)][::step]
        rows = tuple((str(n), str(k), number(sd)) for n, k, sd in columns)
        every = "" if step == 1 else f"Every {step}th size; the figure has all"
        tables.append(Table(("items in a unit", "units", "standard deviation"), rows, every))
        alt = "Standard deviation of the difference against the size of an evaluation unit"
        sentence, figure = f"{sentence} {sizes}", Figure("plot_unit_sizes", (sizes,), alt)
    facts = {"size": chosen.unit_size, "metric": chosen.unit_metric}
    return Section(
        key="units",
        heading="Evaluation units",
        sentence=sentence,
        tables=tuple(tables),
        figure=figure,
        limits="Means of more items always vary less; the tolerance decides which size is stable. "
        "The test gains nothing from larger units unless a single item cannot be scored.",
        problem=found.problem("units"),
        data={"units": facts | {"left_out": made.left_out.tolist()}},
    )


def assumptions(found: Any) -> Section:
    """Whether differences look normal and symmetric."""
    seen = found.description
    normal = {True: "look normal", False: "do not look normal", None: "are too few to tell"}
    return Section(
        key="assumptions",
        heading="Assumptions",
        sentence=f"The differences {normal[seen.normal]} (Shapiro-Wilk p = {seen.shapiro_p:.3g}) "
        f"and are {seen.shape} (skewness {seen.difference.skewness:.3g}). The exact test needs "
        "neither; t-tests need nearly normal means, and intervals of shifts nearly symmetric "
        "differences.",
        limits="A test of normality misses departures in few units and finds any departure in "
        "many; the histogram of the differences says more. No table can show that the "
        f"{found.unit} are independent of each other.",
    )


def recommendation(found: Any) -> Section:
    """Which tests suit the scores."""
    section = _of_units(found, found.recommendation.section())
    limits = "Choosing a test by its p-value invalidates the significance level."
    limits, data = f"{section.limits} {limits}".lstrip(), {"recommendation": section.data}
    return replace(section, heading="Recommended tests", limits=limits, data=data)


# ---- options and citation -----------------------------------------------------------------------


def options(found: Any) -> Section:
    """What the study was asked for."""
    config = found.config.to_dict()
    rows = tuple((k, "null" if x is None else doc.plain(x)) for k, x in config.items())
    return Section(
        key="options",
        heading="Options",
        sentence="This study was made with the following options, as a configuration names them.",
        tables=(Table(("option", "value"), rows),),
        data={"config": config},
    )


def cite(found: Any) -> Section:
    """What to cite, and what computed this."""
    made = computed_with()
    citation = (
        f"Ran Zmigrod, Tim Vieira and Ryan Cotterell. 2022. {PAPER}. In {VENUE}, pages 4894-4902. "
        f"The permtest developers. {SOFTWARE}, version {made['permtest']}. {HOME}."
    )
    versions = ", ".join(f"{name} {text}" for name, text in made.items())
    return Section(
        key="cite",
        heading="How to cite this",
        sentence=f"{citation} Computed with {versions}; seed {found.seed}.",
        code=BIBTEX.replace("VERSION", made["permtest"]),
        data={"citation": citation},
    )
