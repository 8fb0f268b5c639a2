"""An explorer of the far tail of a null distribution."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log10
from typing import Any

import numpy as np

from permtest._text import counted
from permtest.null.convolution import fft_cells
from permtest.null.distribution import EPS, attainable
from permtest.null.tail_kernels import find_tilt
from permtest.plots import roles, sheet
from permtest.plots.null import draw_law, name_of_sum
from permtest.question import ask
from permtest.result import PermutationTestResult, answer
from permtest.widgets.frame import Explorer, Names, choice

LARGEST = 20_000  # cells of a law that is drawn at each step
STOPS = 1000  # of the slider, at most
SDS_LEFT = 5.0  # how far the axis reaches to the left, in standard deviations


class TailExplorer(Explorer):
    """Drag the observed sum: log p and the tilted distribution follow at once, however small p is.

    With more than 1000 sums to choose from, the slider has some of them, evenly spaced, and the
    observed one. Above are decimal logarithms of probabilities, below both laws as shares of
    their peaks; a line says how far down a Fourier transform without a tilt can see.

    Parameters
    ----------
    u, v : array_like of shape (N,)
        The two systems' scores, as in `exact_perm_test`; `u` may be `Scores`.
    statistic : str, default "sum"
        As in `exact_perm_test`.
    names : tuple of two str, optional
        The names of the two systems.

    Examples
    --------
    >>> from permtest.widgets import TailExplorer
    >>> explorer = TailExplorer([1] * 90, [0] * 89 + [2])
    >>> explorer.lead.value = 90
    >>> explorer.result.pvalue_text()
    '1.62e-27'
    """

    result: PermutationTestResult

    def __init__(
        self, u: Any, v: Any = None, *, statistic: str = "sum", names: Names = None
    ) -> None:
        question = ask(u, v, statistic=statistic, names=names)
        self._steps = steps = question.law
        if steps.top >= LARGEST:
            raise ValueError(f"the sum has {steps.top + 1:,} cells, too many to draw at each step")
        self._question, first = question, answer(question)
        self._null = null = first.null_distribution
        self._noise = max(fft_cells(steps).noise, EPS)  # where nothing is transformed, it has none
        lead, possible = max(first.marks), np.flatnonzero(attainable(steps))
        upper = possible[2 * possible >= steps.top]
        thinned = [*upper[:: ceil(upper.size / STOPS)].tolist(), int(upper[-1])]
        values = sorted({*null.support[thinned].tolist(), lead})
        options = {sheet.number(value): value for value in values}
        controls = {"lead": choice("Lead", options, lead, "SelectionSlider")}
        self._open([(0.125, 0.5, 0.855, 0.32), (0.125, 0.2, 0.855, 0.25)], controls, "lead")

    def _compute(self) -> tuple[str, str]:
        self.result = result = answer(self._question.observing(self.lead.value))
        null, top = self._null, self._steps.top
        observed = int(np.searchsorted(null.support, result.marks[0]))
        cell = max(observed, top - observed)
        ahead = min(cell, top - 1) - top / 2  # at the very end the tilt would be infinite
        widths, counts = self._steps.widths, self._steps.counts
        tau = find_tilt(widths, counts, ahead) if ahead > 0 else 0.0
        logs = null.log_pmf + tau * (np.arange(top + 1) - cell)
        logs = logs - np.logaddexp.reduce(logs)
        self.tau = tau * null.scale / null.unit  # for a sum that is larger by one unit
        self.tilted = replace(null, pmf=np.exp(logs), log_cells=logs)
        alt = f"Null distribution of {result.names[0]} minus {result.names[1]}, also tilted"
        lead = counted(self.lead.value, result.unit)
        start = f"A lead of {lead}, for either system, has p = {result.pvalue_text()}"
        if not null.std():
            return alt, f"{start}: no swap changes anything."
        away = abs(result.marks[0] - null.mean()) / null.std()
        seen = null.pmf[observed] > self._noise
        sight = "can still resolve the cells" if seen else "sees only noise"
        return alt, (
            f"{start} (log10 p = {result.log10_pvalue:.4f}). It is {away:.3g} standard deviations "
            f"out, where an FFT without a tilt {sight}. Tilted by a factor of "
            f"{np.exp(self.tau):.3g} per {result.unit.removesuffix('s')}, it has its mean at "
            f"{sheet.signed(self.tilted.mean(), 4)} and a standard deviation of "
            f"{self.tilted.std():.3g}."
        )

    def _draw(self) -> None:
        null, tilted, result, (upper, lower) = self._null, self.tilted, self.result, self._axes
        step, (low, high) = null.unit / null.scale, (float(x) for x in null.support[[0, -1]])
        edges = low + step * (np.arange(null.pmf.size + 1) - 0.5)
        logs, reached = null.log_pmf / np.log(10), null.log_pmf > -np.inf
        bottom = min(1.06 * float(logs[reached].min()), 1.2 * log10(self._noise))
        kinds = {"null": reached & ~result.extreme, "extreme": reached & result.extreme}
        parts = {gid: np.where(kind, logs, np.nan) for gid, kind in kinds.items()}
        shown = draw_law(upper, result, parts, edges, bottom)
        heights = np.maximum(tilted.log_pmf / np.log(10), 2 * bottom)[reached]
        line = roles.TILTED.line(gid="tilted", label="tilted")
        shown += upper.plot(null.support[reached], heights, **line)
        line = roles.LEVEL.line(gid="noise", label="FFT noise")
        shown.append(upper.axhline(log10(self._noise), **line))
        upper.set(ylim=(bottom, -0.06 * bottom), ylabel="probability")
        sheet.ticks(upper.yaxis, 4, lambda k: f"1e{k:.0f}" if k else "1", whole=True)
        look: dict[str, Any] = roles.NULL.area(lower, fill=True, gid="null")
        lower.stairs(null.pmf / null.pmf.max(), edges, **look)
        look = {"color": roles.TILTED.rgba(), "linewidth": 2, "gid": "tilted"}
        lower.stairs(tilted.pmf / tilted.pmf.max(), edges, **look)
        lower.set(ylim=(0, 1.12), yticks=[0, 0.5, 1], ylabel="share of\nthe peak")
        left, lead = null.mean() - SDS_LEFT * null.std(), self.lead.value
        for ax in self._axes:
            line = roles.OBSERVED.line(gid="observed", label=f"lead {sheet.number(lead)}")
            observed = ax.axvline(lead, **line)
            sheet.fit(ax, [max(low, left) - step / 2, high + step / 2], 0.02)
            sheet.ticks(ax.xaxis, 8, sheet.signed)
        upper.tick_params(labelbottom=False)
        sheet.literal(lower.xaxis.label, name_of_sum(result), lower)
        sheet.key(upper, [*shown, observed])
