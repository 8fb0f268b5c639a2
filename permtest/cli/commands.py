"""The other commands: leaderboards, reports, plans, the page."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from permtest import __version__
from permtest._forms import aligned
from permtest._jupyter import notebooks_folder, serve
from permtest.cli.inputs import (
    check_installed,
    check_out,
    direction,
    finish,
    named_statistic,
    read_input,
    read_table,
)
from permtest.exact import exact_perm_test
from permtest.integers import exact_sum
from permtest.pairs import per_item
from permtest.score import counted
from permtest.statistics import lookup

if TYPE_CHECKING:
    from permtest.study import Overview


def leaderboard(args: argparse.Namespace) -> None:
    """Rank many systems, and say which are tied.

    permtest leaderboard FILE ... [options]

    Compares all pairs of systems by exact tests, corrects p for their number, and says who leads
    and who is tied. A FILE has all systems, or one each. A report ends in .html, .md, .tex, .json,
    .png or .svg; .csv and .parquet hold all pairs.

    For example:
      permtest leaderboard runs/* --score acc_norm --baseline gpt2
      permtest leaderboard results.csv --clusters document -o leaderboard.html
    """
    from permtest.many import compare_many
    from permtest.study.board import BoardDocument

    if args.alternative != "two-sided" and args.baseline is None:
        raise ValueError(f"--alternative {args.alternative} needs --baseline")
    check_out(args, BoardDocument)
    table = read_table(args)
    how = {name: getattr(args, name) for name in ("baseline", "alternative", "alpha")}
    how |= {"correction": args.correction.replace("-", "_")}
    board = compare_many(table, rng=args.seed or 0, **how)
    document = BoardDocument(board, table.source, seed=args.seed or 0)
    text = "" if args.json else f"{document}\n\nscore  {direction(board.score)}"
    finish(text, document, args)


def report(args: argparse.Namespace) -> None:
    """Compare two systems, and write all there is to say about it.

    permtest report FILE [FILE_B] [options]

    Compares two systems by the exact test, and says what there is to say about the difference: its
    interval, the items behind it, other tests side by side, effect sizes, how many items the next
    study needs, and what to cite. A report ends in .html, .md, .tex, .json, .png or .svg. With
    --config it becomes a study: it also describes the scores, recommends tests and simulates their
    power. The YAML file has its options (unit_size: 15, power_experiments: 500, ...), which the
    help of permtest.study.StudyConfig explains.

    For example:
      permtest report results.csv --a new --b old -o report.html
      permtest report entities.csv --a new --b old --metric f1 --clusters document -o table.tex
      permtest report runs/new runs/old --metric acc_norm -o report/
      permtest report results.csv --config study.yml -o report/
    """
    from permtest.study import Overview, overview

    check_out(args, Overview)
    if args.config is not None:
        found = _study(args)
    else:
        pairs, entry = read_input(args)
        if named_statistic(args.metric) is None and not entry.columns:
            entry = lookup("mean")  # on the scale of single items, as intervals are
        how: dict[str, Any] = {"alternative": args.alternative or "two-sided"}
        how |= {"alpha": args.alpha or 0.05, "rng": args.seed or 0}
        found = overview(pairs, statistic=entry, **how)
    finish(str(found) if args.out is None else found.sentence(), found, args)


def _study(args: argparse.Namespace) -> Overview:
    """What a configuration asks for, except where the command line says otherwise."""
    from permtest.study import StudyConfig, run_study

    config = StudyConfig.from_yaml(args.config)
    stated = ("a", "b", "higher_is_better", "seed", "alternative", "alpha")
    own = {name: getattr(args, name) for name in stated if getattr(args, name) is not None}
    if named_statistic(args.metric) is not None:
        own["statistic"] = args.metric
    config = replace(config, **own)
    vars(args).update({name: getattr(config, name) for name in stated})
    if args.metric is None and config.statistic != "mean":
        args.metric = config.statistic
    pairs, entry = read_input(args)
    return run_study(
        pairs, config=replace(config, statistic=entry.name if entry.columns else "mean")
    )


#: The effect to find: shares of items, or a mean difference and its standard deviation.
EFFECT = "p_b", "p_c", "delta", "sigma"


def plan(args: argparse.Namespace) -> None:
    """Say how many items a comparison needs.

    permtest plan [FILE [FILE_B]] [options]

    How many items does a test need to find a difference? State the difference and the standard
    deviation of the differences, or the shares of items that one system alone has right; or name
    the files of a pilot, which say what is not stated. With --clusters, clusters are counted, but
    differences are those per item, as permtest report tells them.

    For example:
      permtest plan --delta 0.5 --sigma 2
      permtest plan --shares 0.06 0.03 --power 0.9
      permtest plan pilot.csv --a new --b old --alternative greater
    """
    from permtest.alternatives.plan import power_with, units_at, units_needed

    found = _planned(args)
    of: dict[str, Any] = {key: found[key] for key in EFFECT if key in found}
    how: dict[str, Any] = {"alpha": args.alpha, "alternative": args.alternative}
    if "interval" in found:
        low, high = found["interval"]
        known = low > 0 or high < 0
        ends = units_at((low, high), of, power=args.power, **how) if known else None
        found["n_at_interval"] = ends and [x if isfinite(x) else None for x in ends]
        found["interval"] = [x if isfinite(x) else None for x in (low, high)]
    needed = units_needed(of, power=args.power, **how)
    sizes = sorted({max(2, round(needed * part / 4)) for part in (1, 2, 3, 4, 6, 8)})
    power = {n: power_with(n, of, **how) for n in {*sizes, needed}}
    unclear = "interval" in found and found["n_at_interval"] is None
    if args.json:
        facts: dict[str, Any] = {"wanted": args.power, "test": "exact permutation test"}
        facts |= {"test": "paired t-test"} if _by_t(of, args) == needed else {}
        facts |= dict.fromkeys(("n", "power")) if unclear else {"n": needed, "power": power[needed]}
        facts |= {"curve": [{"n": n, "power": power[n]} for n in sizes], "version": __version__}
        print(json.dumps(facts | how | found))
        return
    parts = [] if unclear else [_needs(args, needed, _by_t(of, args), found)]
    if "pilot" in found:
        size = counted(found["pilot"], found["unit"])
        parts.append(f"The pilot has {size}.{_at_the_ends(args, found)}")
        parts.append(f"data   {found['source']['read']}")
    if not unclear:
        parts.append(_powers(found, {n: power[n] for n in sizes}))
    print("\n\n".join(parts))


def _powers(found: dict[str, Any], power: dict[int, float]) -> str:
    """A table of numbers of units."""
    head = f"power of the {'exact test' if 'p_b' in found else 'paired t-test'}"
    head += " (0 where the exact test cannot reject)" * (0 in power.values())
    return aligned([(found["unit"], head), *((str(n), f"{p:.4f}") for n, p in power.items())])


def _by_t(of: dict[str, Any], args: argparse.Namespace) -> int | None:
    """How many units the t-test needs; None where the exact test is planned itself."""
    from permtest.study import sample_size

    if "p_b" in of:
        return None
    return sample_size(**of, power=args.power, alpha=args.alpha, alternative=args.alternative)


def _needs(args: argparse.Namespace, needed: int, by_t: int | None, found: dict[str, Any]) -> str:
    """The number of units, the effect assumed, and how the exact test and the t-test compare."""
    needs = counted(needed, found["unit"])
    given = "A scores higher on {0:.4g}% of the {unit}, and B on {1:.4g}%."
    shares = [100 * found[key] for key in ("p_b", "p_c") if key in found]
    if "p_b" not in found:
        inside = "(sums of clusters, divided by their mean size of {cluster_size:.4g}) "
        inside = "({runs_each}) " if "runs_each" in found else inside
        given = f"differences per item {inside * ('cluster_size' in found)}"
        given += "have a mean of {delta:.6g} and a standard deviation of {sigma:.6g}."
        if by_t == needed:
            given += " The exact permutation test needs about as many."
        else:
            given += f" The paired t-test needs only {by_t}, but with fewer than {needs} the p of "
            given += f"the exact test is always above {args.alpha:g}."
    side = "" if args.alternative == "two-sided" else "one-sided, "
    test = "paired t-test" if by_t == needed else "exact permutation test"
    text = f"The {test} ({side}{args.alternative}, level {args.alpha:g}) needs {needs} for a power "
    return text + f"of {args.power:g}, if {given.format(*shares, **found)}"


def _at_the_ends(args: argparse.Namespace, found: dict[str, Any]) -> str:
    """How many units the ends of the interval of a pilot's difference need; "" without one."""
    if args.delta is not None:
        return ""
    matters = "name the smallest difference that matters (--delta)"
    if "interval" not in found:
        return f" Its difference may be luck; {matters}."
    low, high = ("" if x is None else f"{x:.4g}" for x in found["interval"])
    span = f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less"
    span = span if low or high else "any value"
    text = f" The {100 * (1 - args.alpha):.6g}% interval of its difference, {span}, "
    if found["n_at_interval"] is None:
        text += "contains 0: the pilot does not tell which system is higher, so no number of "
        return f"{text}{found['unit']} follows from it; {matters}."
    few, many = found["n_at_interval"]
    sizes = f"{few:,.0f} or more" if many is None else f"{few:,.0f} to {many:,.0f}"
    sizes = sizes if few != many else f"{few:,.0f}"
    return f"{text}asks for {sizes} {found['unit']} at its ends; {matters}."


def _planned(args: argparse.Namespace) -> dict[str, Any]:
    """The effect to find, which must not be 0 or on the other side of the alternative."""
    found = _effect(args)
    gap = found["delta"] if "delta" in found else found["p_b"] - found["p_c"]
    said = f"--delta {args.delta:g}" if args.delta is not None else str(args.file)
    if args.shares is not None:
        said = "--shares {:g} {:g}".format(*args.shares)
        if sum(args.shares) > 1 + 1e-12:
            raise ValueError(f"{said}: shares of the same items cannot add up to more than 1")
    if not gap:
        tie = "the systems tie; give the difference to find as --delta"
        none = "no number of items finds a difference of 0; name the smallest one that matters"
        raise ValueError(f"{said}: {tie if said == args.file else none}")
    ahead = "greater" if gap > 0 else "less"
    if args.alternative not in ("two-sided", ahead):
        way = "higher" if gap > 0 else "lower"
        raise ValueError(
            f"{said}: A scores {way} than B, which --alternative {args.alternative} cannot find; "
            f"use {ahead} or two-sided"
        )
    return found


def _effect(args: argparse.Namespace) -> dict[str, Any]:
    """The effect to find, as options or a pilot give it."""
    if args.shares is not None:
        if (args.delta, args.sigma, args.file) != (None, None, None):
            raise ValueError("--shares is enough; leave out --delta, --sigma and files")
        return {"unit": "items", "p_b": args.shares[0], "p_c": args.shares[1]}
    if args.file is None:
        missing = [name for name in ("delta", "sigma") if getattr(args, name) is None]
        if missing:
            both = "name --delta and --sigma, or --shares, or the files of a pilot"
            raise ValueError(both if len(missing) == 2 else f"--{missing[0]} is missing")
        return {"unit": "items", "delta": args.delta, "sigma": args.sigma}
    return _pilot(args)


def _pilot(args: argparse.Namespace) -> dict[str, Any]:
    """What a pilot says of the difference to find, as far as the options do not."""
    from permtest.alternatives.plan import observed_effect

    pairs, entry = read_input(args)
    if entry.columns:
        raise ValueError(f"a plan needs one score for each item, not --metric {entry.name}")
    units = per_item(pairs)
    gaps = np.asarray(units.differences() / units.scale, dtype=np.float64)
    found = {"pilot": len(units), "unit": "items", "source": pairs.source}
    if args.delta is None:
        how: dict[str, Any] = {"statistic": "mean", "alternative": args.alternative}
        with suppress(ValueError, ArithmeticError, MemoryError):  # a sampled p
            level = round(1 - args.alpha, 12)
            found["interval"] = tuple(exact_perm_test(pairs, **how).confidence_interval(level))
    if pairs.clusters is not None:
        found |= {"cluster_size": len(pairs) / len(units)}
        found |= {"runs_each": runs} if (runs := pairs.runs_each) else {"unit": "clusters"}
    delta = args.delta
    if delta is None:  # from whole numbers, so that a tie is exactly 0
        delta = units.in_scores(exact_sum(units.differences())) / len(units)
    if args.sigma is not None:
        return found | {"delta": delta, "sigma": args.sigma}
    if not np.ptp(gaps):
        problem = "all differences are equal, so their spread cannot be estimated; give --sigma"
        raise ValueError(f"{args.file}: {problem}{'' if delta else ' and --delta'}")
    if "p_b" in (own := observed_effect(gaps)):
        apart = own["p_b"] + own["p_c"]
        if abs(delta) > apart:
            raise ValueError(
                f"--delta {delta:g}: the systems differ on a share of {apart:g} of the items, and "
                "so by no more than that; give a smaller difference, or name the standard "
                "deviation of the differences (--sigma)"
            )
        return found | {"p_b": max(apart + delta, 0) / 2, "p_c": max(apart - delta, 0) / 2}
    return found | own | {"delta": delta}


def app(args: argparse.Namespace) -> None:
    """Compare two systems on a web page of this machine.

    permtest app [options]

    Drop the files of two systems on the page, or choose them there: at most 20, of 100 MB in all.
    Who has the address that is printed can see the page, and nothing leaves this machine. Each page
    has a Python of its own, which ends with the page; one more waits for the next page. Needs pip
    install 'permtest[lab]'.

    For example:
      permtest app
      permtest app --port 8866 --no-browser
    """
    check_installed(("voila", "ipywidgets", "matplotlib", "jinja2"), args.prog)
    print("starting the page", flush=True)  # Voila takes some seconds
    page = notebooks_folder() / "12-your-own-data.ipynb"
    if not page.is_file():
        raise FileNotFoundError(f"{page} is missing; install permtest again")
    serve(page, port=args.port, browser=not args.no_browser)
