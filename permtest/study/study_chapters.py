"""A study in words: a sentence for a paper, and the chapters of its report."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING

from permtest.alternatives.answers import Answer
from permtest.alternatives.names import TITLES
from permtest.result import counted
from permtest.study.provenance import plain
from permtest.study.recommend import LISTS
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
    from permtest.study.pipeline import Study

#: Rows of the table of sizes of units; the picture has all sizes.
ROWS = 12


def sentence(study: Study) -> str:
    """One sentence for a paper."""
    first, second = study.names
    seen, found = study.answers["exact"], study.exact
    chosen, level = study.config.significance, study.config.effects.confidence_level
    estimate = seen.result.estimate if seen.result else found.statistic
    against = f" of {number(chosen.delta)}" if chosen.delta else ""
    verdict = {True: "is rejected", False: "is not rejected", None: "is not decided on"}[
        study.rejects(seen)
    ]
    note = f"; {found.score.note}" if found.score.note else ""
    test = f"{_exact(study)}{found.sides_text()} paired-permutation test"
    return (
        f"On {_amount(study)}, the mean difference of {first} over {second} is {number(estimate)} "
        f"({percent(level)} interval {span(seen.interval)}{note}), and the null hypothesis of no "
        f"difference{' beyond one' * bool(against)}{against} {verdict} at the level "
        f"{number(chosen.alpha)} ({p_text(study)}, {test}"
        f"{_effect(study)}; permtest {study.provenance['versions']['permtest']})."
    )


def _amount(study: Study) -> str:
    if study.units.size == 1:
        return counted(study.n, "items")
    size, metric = study.units.size, study.units.metric
    return f"{counted(study.n, 'evaluation units')} ({metric}s of {size} items)"


def _exact(study: Study) -> str:
    return "bounds by the " if study.exact.method == "bracket" else "exact "


def _effect(study: Study) -> str:
    """The first standardised effect, if there is one."""
    level = study.config.effects.confidence_level
    for effect in study.effects:
        if effect.thresholds:
            interval = span(effect.confidence_interval(level))
            return f"; {effect.title} {number(effect.value)}, {percent(level)} interval {interval}"
    return ""


# ---- chapters ----------------------------------------------------------------------------------


def chapters(study: Study) -> tuple[Chapter, ...]:
    """All stages in their order."""
    makers: tuple[Callable[[Study], Chapter], ...] = (
        _data,
        _units,
        _recommendation,
        _significance,
        _effects,
        _power,
        _prospective,
        _repeat,
    )
    return tuple(make(study) for make in makers)


def _data(study: Study) -> Chapter:
    found, source = study.description, study.provenance
    where = f" from {source['file']}" if "file" in source else ""
    names, columns = zip(*found.columns, strict=True)
    rows = [column.rows() for column in columns]
    lines = tuple((label, *(number(row[label]) for row in rows)) for label in rows[0])
    kind = {True: "close to normal", False: "not normal", None: "too few to tell normality"}
    return Chapter(
        key="data",
        title="Data",
        done=f"{counted(study.n_items, 'pairs')} of scores of {study.names[0]} and "
        f"{study.names[1]}{where}.",
        grids=(
            Grid(("", *names), lines, f"Scores of {counted(study.n, 'units')}"),
            Grid(("", "found"), tuple(found.facts().items())),
        ),
        meaning=f"{study.names[0]} averages {number(found.a.mean)}, {study.names[1]} "
        f"{number(found.b.mean)}; their differences are {found.shape} and {kind[found.normal]}, "
        f"so that NLPStatTest would compare {found.test_statistic}s.",
        limits="A test of normality finds no departure in few units and any departure in many; "
        "the histogram says more. Items are taken to be independent of each other, which no table "
        "of scores can show.",
        pictures=("data",),
    )


def _units(study: Study) -> Chapter:
    found, shuffle = study.unit_sizes, study.config.units.shuffle
    grids, meaning = [], ""
    if found is not None:
        columns = (found.sizes, found.n_units, found.n_left_out, found.sds)
        step = -(-len(found.sizes) // ROWS)
        lines = tuple(
            (str(size), str(units), str(left), number(sd))
            for size, units, left, sd in list(zip(*columns, strict=True))[::step]
        )
        some = "" if step == 1 else f", every {step}th size; the picture has all"
        head = ("items in a unit", "units", "items left out", "standard deviation")
        grids = [Grid(head, lines, f"Differences of units{some}")]
        stable = ", ".join(map(str, found.stable)) or "none"
        meaning = (
            f"The first sizes that change the standard deviation by no more than "
            f"{number(found.tolerance)}: {stable}."
        )
    order = "in their order" if shuffle is None else f"shuffled with seed {shuffle}"
    return Chapter(
        key="units",
        title="Evaluation units",
        done=f"{_made(study)}; items {order}.",
        grids=tuple(grids),
        meaning=meaning,
        limits="Means of more items vary less at any size, so that what is called stable depends "
        "on the tolerance. Larger units are fewer: nothing is won for the test by making them, "
        "unless a metric has no sense for a single item.",
        problem=study.problems.text("unit_sizes"),
        pictures=("units",),
    )


def _made(study: Study) -> str:
    """What the units are."""
    if study.units.size == 1:
        return f"Every item is a unit of its own: {counted(study.n, 'units')}"
    return str(study.units).rstrip(".")


def _recommendation(study: Study) -> Chapter:
    found = study.recommendation
    rows = tuple(
        (which.replace("_", "-"), entry.title, entry.reason)
        for which in LISTS
        for entry in found.lists[which]
    )
    best = ", ".join(entry.title for entry in found.recommended)
    rule = {
        "exact": "The exact test is quick here, and others are judged against it.",
        "manual": "By the table in the manual of NLPStatTest, from symmetry and normality alone.",
    }
    return Chapter(
        key="recommendation",
        title="Recommended tests",
        done=f"{rule[found.rule]} Level of the test of normality: "
        f"{number(study.config.recommendation.alpha)}.",
        grids=(Grid(("list", "test", "reason"), rows),),
        meaning=f"Suited to these scores: {best}.",
        limits="The choice looks at the shape and the number of the differences. To choose by "
        "p-values instead makes every level wrong.",
    )


def _significance(study: Study) -> Chapter:
    table, chosen = study.answers, study.config.significance
    fits = set(study.recommendation.names())
    rows = tuple(_answer(study, answer, answer.test in fits) for answer in table)
    level = f"{percent(table.confidence_level)} interval"
    head = ("test", "suited", "p", "rejects", "estimate", level)
    grounds = tuple((answer.title, _estimated(answer), answer.assumptions_text) for answer in table)
    against = f"{number(chosen.delta)} per unit" if chosen.delta else "0"
    side = study.exact.score.claim(chosen.alternative, study.names)
    said = "other" if chosen.alternative == "two-sided" else chosen.alternative
    return Chapter(
        key="significance",
        title="Significance",
        done=f"Null hypothesis: the difference is {against}; alternative: it is {said} "
        f"({side}). Level: {number(chosen.alpha)}. Resamples of the bootstrap "
        f"tests: {chosen.K}.",
        grids=(
            Grid(head, rows, table.heading()),
            Grid(("test", "estimates the", "assumptions"), grounds, "What the tests rest on"),
        ),
        meaning=f"{study.exact} {_verdict(study)} {table.correlation_text()}".rstrip(),
        limits=f"{_limits_of_p(study)} {_doubt(study)}".rstrip(),
        pictures=("test", "answers"),
    )


def _doubt(study: Study) -> str:
    """What the interval of the exact test assumes, if that is in doubt."""
    interval = study.answers["exact"].interval
    return interval.warning or "" if interval else ""


def _answer(study: Study, answer: Answer, fits: bool) -> tuple[str, ...]:
    result = answer.result
    return (
        answer.title,
        "yes" if fits else "",
        result.pvalue_text() if result else "-",
        decision(answer, study.config.significance.alpha),
        number(result.estimate) if result else "-",
        span(answer.interval) if answer.interval else "-",
    )


def _estimated(answer: Answer) -> str:
    return answer.result.estimate_name if answer.result else "-"


def _verdict(study: Study) -> str:
    alpha = number(study.config.significance.alpha)
    decided = study.rejects(study.answers["exact"])
    if decided is None:
        return f"The bounds of p lie on either side of the level {alpha}: it is not decided."
    if decided:
        shifted = study.config.significance.delta != 0 or study.exact.better is None
        better = "" if shifted else f"; {study.exact.better} is the better one"
        return f"At the level {alpha} the null hypothesis is rejected{better}."
    return f"At the level {alpha} the null hypothesis is not rejected, which does not make it true."


def _limits_of_p(study: Study) -> str:
    spread = agreement(study.decisions().values())
    return (
        f"{spread} Several tests of the same scores are one piece of evidence, not several; decide "
        "by the one that was chosen beforehand. p says how surprising such a difference would be "
        "between equal systems, not how probable it is that they are equal, and not how large the "
        "difference is."
    ).lstrip()


def _effects(study: Study) -> Chapter:
    level = study.config.effects.confidence_level
    meaning = ""
    if study.effects:
        first = study.effects[0]
        meaning = (
            f"{first.title} of {study.names[0]} over {study.names[1]} is {number(first.value)}, "
            f"and with {percent(level)} confidence it is {span(first.confidence_interval(level))}."
        )
    return Chapter(
        key="effects",
        title="Effect sizes",
        done="How large the difference is, on scales that do not depend on the number of units."
        if study.effects
        else "None was asked for, or none could be computed.",
        grids=effect_grids(study.effects, level),
        meaning=meaning,
        limits=f"{COHEN} Standardised differences depend on the size of a unit.",
        problem=study.problems.text("effects"),
        pictures=("effects",),
    )


def _power(study: Study) -> Chapter:
    curve, chosen = study.power, study.config.power
    title = TITLES.get(chosen.test, chosen.test)
    rows: tuple[tuple[str, ...], ...] = ()
    meaning, done = "", "No power analysis was asked for."
    if chosen.sizes != 0:
        source = {
            "bootstrap": "drawn from the units with replacement",
            "normal": "whose differences come from the normal law with the observed mean and "
            "standard deviation",
        }[chosen.method]
        done = f"Power of the {title}, from {chosen.experiments} samples of each size, {source}."
    if curve is not None:
        lines = zip(curve.sizes, curve.power, curve.intervals, strict=True)
        rows = tuple((str(n), f"{power:.3f}", span(ends)) for n, power, ends in lines)
        need = curve.needed(study.config.prospective.power)
        wanted = percent(study.config.prospective.power)
        reach = f"no size here reaches {wanted}" if need is None else f"{wanted} takes about {need}"
        if need == curve.sizes[0]:
            reach = f"{wanted} takes no more than {need}"
        meaning = (
            f"If systems are like these, {counted(curve.sizes[-1], 'units')} find the difference "
            f"with a probability of {curve.power[-1]:.3f} at the level {number(curve.alpha)}; "
            f"{reach}."
        )
        if curve.rounded:
            done += f" Differences were rounded to multiples of {number(curve.rounded)} for speed."
    return Chapter(
        key="power",
        title="Power",
        done=done,
        grids=(Grid(("units", "power", "95% interval"), rows),) if rows else (),
        meaning=meaning,
        limits="Power is the true positive rate. Computed from the same scores as p it says "
        "nothing about them that p has not said: where p is small it is large. It is for "
        "planning. The intervals are for the error of the simulation alone.",
        problem=study.problems.text("power"),
        pictures=("power",),
    )


def _prospective(study: Study) -> Chapter:
    found, chosen = study.prospective, study.config.prospective
    delta, sigma = study.planned()
    how = {True: "as observed", False: "as given"}
    beyond = ", less that of the null hypothesis" if study.config.significance.delta else ""
    alpha = chosen.alpha or study.config.significance.alpha
    rows = [
        (f"mean difference{beyond}", f"{number(delta)}, {how[chosen.delta is None]}"),
        ("standard deviation", f"{number(sigma)}, {how[chosen.sigma is None]}"),
        ("power wanted", number(chosen.power)),
        ("level", f"{number(alpha)}, {study.config.significance.alternative}"),
    ]
    meaning = ""
    if found is not None:
        rows.append(("units needed", str(int(found))))
        meaning = (
            f"Another study of such systems needs {counted(int(found), 'units')} "
            f"of {counted(study.units.size, 'items')}."
        )
    return Chapter(
        key="prospective",
        title="Size of another study",
        done="The smallest number of units with which a paired t test has the power wanted.",
        grids=(Grid(("", "value"), tuple(rows)),),
        meaning=meaning,
        limits="Assumes normal differences. An observed difference is uncertain, and tends to be "
        "too large where it was found significant; better give the smallest difference that "
        "matters.",
        problem=study.problems.text("prospective"),
    )


def _repeat(study: Study) -> Chapter:
    source = study.provenance
    rows = [(key, plain(source[key])) for key in source if key != "versions"]
    rows += [(name, text) for name, text in source["versions"].items()]
    rows.append(("seed", str(study.config.seed)))
    file = source.get("file", "FILE")
    return Chapter(
        key="repeat",
        title="How to repeat this",
        done="Save the configuration as study.yml, then: permtest study "
        f"{quote(file)} --config study.yml --out report",
        grids=(Grid(("", "value"), tuple(rows), "What was read, and what computed"),),
        meaning="The same scores, configuration and versions make the same report, byte by byte.",
        code=study.config.to_yaml(),
    )
