"""Time against N, time against G, and how much counting bits gains over flipping coins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.paper_data import differences_up_to, table_1
from benchmarks.peers import Contender, Scores
from benchmarks.tables import Section, table
from benchmarks.timing import LIMIT, SINGLE, Curve, duration, growth, seconds

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
GAPS = (1, 3, 10, 30, 100, 300, 1000)
REFERENCE = 10_000  # the N of the ratios, and of the time against G
YARDSTICK = "Alg. 3"
SEED = 20220710
AGREE = 1e-9  # the paper's algorithms have absolute accuracy, and p is not small here

Curves = dict[str, Curve]


def time_by_n(sizes: Sequence[int] = SIZES) -> tuple[Curves, Section]:
    """Everything against N, on the paper's data."""
    contenders = peers.all_contenders()
    curves, rows = measure(contenders, sizes, table_1, "N")
    text = [table(["N", *(c.name for c in contenders)], rows), "", *notes(contenders, curves)]
    text += [f"- {name}: not installed, left out" for name in peers.missing()]
    data = {name: vars(curve) for name, curve in curves.items()}
    return curves, Section("Time by N", "\n".join(text), data)


def time_by_g(gaps: Sequence[int] = GAPS, n: int = REFERENCE) -> tuple[Curves, Section]:
    """Exact methods against the largest difference G, every width up to G occurring."""
    contenders = [*peers.ours("tilted", "dp", "fft"), *peers.from_the_paper()[1:]]
    curves, rows = measure(contenders, gaps, lambda g, rng: differences_up_to(g, n, rng), "G")
    words = ", ".join(f"{name} {growth(c.times):.2f}" for name, c in curves.items() if c.times)
    text = [
        table(["G", *(c.name for c in contenders)], rows),
        "",
        f"N = {n:,}, differences uniform on -G..G, so that there are G distinct widths.",
        f"Over its last factor of ten in G the time grows like G to the power: {words}.",
        *notes(contenders, curves),
    ]
    data = {name: vars(curve) for name, curve in curves.items()}
    return curves, Section("Time by G", "\n".join(text), data)


def measure(
    contenders: Sequence[Contender],
    sizes: Sequence[Any],
    draw: Callable[[Any, np.random.Generator], tuple[Scores, Scores]],
    letter: str,
) -> tuple[Curves, list[list[str]]]:
    """A curve for each contender, and a line of the table for each size."""
    rng = np.random.default_rng(SEED)
    curves, rows = {c.name: Curve() for c in contenders}, []
    for size in sizes:
        u, v = draw(size, rng)
        row = [f"{size:,}", *(entry(c, curves[c.name], size, u, v) for c in contenders)]
        agree([c for c in contenders if curves[c.name].times.get(size, inf) < SINGLE], u, v)
        print(f"{letter} = " + "  ".join(row), flush=True)
        rows.append(row)
    return curves, rows


def entry(contender: Contender, curve: Curve, size: int, u: Scores, v: Scores) -> str:
    """One cell of the table."""
    if len(u) > contender.largest:
        curve.reason = curve.reason or f"not tried above N = {contender.largest:,}"
        return "–"
    return curve.extend(size, partial(contender.run, u, v), contender.scale, contender.limit)


def agree(contenders: Sequence[Contender], u: Scores, v: Scores) -> None:
    """Stop where two exact methods give different p: their times would mean nothing."""
    found = {c.name: c.pvalue(u, v) for c in contenders if c.exact}
    if found and max(found.values()) - min(found.values()) > AGREE:
        raise SystemExit(f"exact methods disagree at N = {len(u)}: {found}")


def notes(contenders: Sequence[Contender], curves: Curves) -> list[str]:
    """What the dashes in the table mean, and which numbers are scaled."""
    others = "".join(f", {c.name} {c.limit:g} s" for c in contenders if c.limit != LIMIT)
    lines = [
        "Medians of repeated calls, warm, input checks included. What is expected to take more "
        f"than {LIMIT:g} s{others} is not run.",
        "",
    ]
    for c in contenders:
        if curves[c.name].reason:
            lines.append(f"- {c.name}: {curves[c.name].reason}")
        if c.scale != 1:
            lines.append(
                f"- {c.name}: {peers.ROUNDS} of {peers.RESAMPLES:,} rounds were run, and their "
                f"time multiplied by {c.scale:g}"
            )
    return lines


def coins(n: int = REFERENCE) -> Section:
    """Monte Carlo by counting bits against one coin per entry, in the same run."""
    u, v = table_1(n, np.random.default_rng(SEED))
    ours = seconds(partial(peers.monte_carlo, u, v))
    plain = seconds(partial(peers.coin_flips, u, v), patience=0.0)
    text = (
        f"K = {peers.SAMPLES:,}, N = {n:,}: permtest.monte_carlo {duration(ours)}, one coin per "
        f"entry in NumPy {duration(plain)}, **{plain / ours:.0f} times** as long."
    )
    data = {"monte_carlo": ours, "coins": plain, "ratio": plain / ours}
    return Section("Monte Carlo", text, data)


def ratios(curves: Curves, size: int = REFERENCE) -> dict[str, float]:
    """What the record keeps: times at one N in units of the yardstick, largest N over reading."""
    yardstick = curves[YARDSTICK].times[size]
    found = {
        f"{name} / {YARDSTICK}, N = {size}": curves[name].times[size] / yardstick
        for name in ("tilted", "dp", "fft", "MC")
    }
    tilted, reading = curves["tilted"].times, curves["bincount"].times
    last = max(tilted)
    return found | {f"tilted / bincount, N = {last}": tilted[last] / reading[last]}


#: Colour and dashes of a line by what its label begins with: whose method it is.
LOOKS = {"permtest": ("C0", "-"), "the paper": ("C1", "--"), "reading": ("C3", "-.")}
OTHERS = ("C2", ":")
MARKS = "os^Dv<>*x"


def draw_times(
    curves: Curves,
    path: Path,
    contenders: Sequence[Contender],
    title: str = "Time for one p-value",
) -> None:
    """Seconds against N, a line for each contender, told apart by colour, dashes and marks."""
    from matplotlib import pyplot as plt

    from permtest.plots import STYLE

    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(12, 6), layout="constrained")
        for mark, c in zip(MARKS, contenders, strict=False):
            times = curves[c.name].times
            color, dashes = next((s for key, s in LOOKS.items() if c.label.startswith(key)), OTHERS)
            look: dict[str, Any] = {
                "marker": mark,
                "color": color,
                "ls": dashes,
                "ms": 7,
                "label": c.label,
            }
            axes.plot([*times], [*times.values()], lw=4 if c is contenders[0] else 1.8, **look)
        axes.set(xscale="log", yscale="log", xlabel="N, pairs", ylabel="time, s")
        axes.set_title(title)
        figure.legend(loc="outside right upper", fontsize=11, handlelength=3.5)
        figure.savefig(path)
        plt.close(figure)
