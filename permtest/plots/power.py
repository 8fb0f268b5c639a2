"""The power of tests against the number of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from permtest._checks import check_level
from permtest.plots import roles
from permtest.plots.sheet import legend_above, new_axes, style
from permtest.plots.words import spoken

if TYPE_CHECKING:
    from permtest.study import PowerCurve


def plot_power(
    curves: PowerCurve | Sequence[PowerCurve], *, ax: Axes | None = None, target: float = 0.8
) -> Axes:
    """Draw the power of one or more tests against the number of pairs.

    Parameters
    ----------
    curves : PowerCurve or sequence of up to five
        Of `power_curve`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, with the settings of the caller; a logarithmic axis of sizes stays one.
        Default: a new figure in the style of the project.
    target : float, default 0.8
        The power that is wanted, in (0, 1).

    Returns
    -------
    matplotlib.axes.Axes
        Gids: "power" for the simulated shares, "simulation" for the bands of their 95% intervals,
        "target" for the line at the target, "needed" for the sizes that reach it.

    Raises
    ------
    ValueError
        If there is nothing to draw, there are too many curves, or `target` is out of range.

    Notes
    -----
    Curves differ in marker and line style. The size that is needed is that of
    ``curve.needed(target)``, which smooths the curve; the legend has it. Curves of the same test
    are named by their true difference as well.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from permtest.plots import plot_power
    >>> from permtest.study import power_curve_normal
    >>> curve = power_curve_normal(0.1, 0.5, sizes=[100, 200, 300], experiments=200, rng=0)
    >>> plot_power(curve, ax=Figure().subplots()).get_ylabel()
    'power'
    """
    several = list(curves) if isinstance(curves, Sequence) else [curves]
    if not 0 < len(several) <= len(roles.CURVES):
        raise ValueError(f"curves has {len(several)} entries; pass 1 to {len(roles.CURVES)}")
    check_level(target, "target")
    if ax is None:
        with style():
            return plot_power(several, ax=new_axes(), target=target)
    ax.axhline(target, zorder=1, gid="target", **roles.LEVEL.line())
    names = _names_of(several)
    handles = [
        _draw_power(ax, curve, name, role, target)
        for curve, name, role in zip(several, names, roles.CURVES, strict=False)
    ]
    ax.set_ylim(0, 1.02)
    ax.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    levels = " and ".join(dict.fromkeys(f"{c.alpha:g}, {c.alternative}" for c in several))
    ax.set_xlabel(f"pairs (level {levels})")
    ax.set_ylabel("power")
    legend_above(ax, handles, min(len(handles), 2), handlelength=2.4)
    return ax


def _names_of(curves: Sequence[PowerCurve]) -> list[str]:
    """Names of the tests; with the true difference where that is not enough."""
    tests = [spoken(curve.test) for curve in curves]
    if len(set(tests)) == len(tests):
        return tests
    return [
        test if curve.delta is None else f"{test}, difference {curve.delta:.3g}"
        for test, curve in zip(tests, curves, strict=True)
    ]


def _draw_power(ax: Axes, curve: PowerCurve, name: str, role: roles.Look, target: float) -> Line2D:
    """A curve in its band, and a line down from where it reaches the target."""
    low, high = zip(*curve.intervals, strict=True)
    band: dict[str, Any] = {"color": role.rgba(), "alpha": 0.2, "linewidth": 0}
    ax.fill_between(curve.sizes, low, high, gid="simulation", **band)
    enough = curve.needed(target)
    look = role.line(marker=role.mark, markersize=7, gid="power")
    label = f"{name}: {_reached(curve, enough, target)}"
    (line,) = ax.plot(curve.sizes, curve.power, label=label, **look)
    if enough is not None:
        ax.plot([enough] * 2, [0, target], zorder=1, **role.line(linewidth=1.2, gid="needed"))
        cross: dict[str, Any] = {"color": role.rgba(), "marker": "X", "markersize": 11}
        ax.plot([enough], [target], gid="needed", zorder=4, markeredgecolor="w", **cross)
    return line


def _reached(curve: PowerCurve, enough: int | None, target: float) -> str:
    if enough is None:
        return f"{target:.0%} not reached"
    most = "at most " if enough == curve.sizes[0] else ""
    return f"{most}{enough:,} pairs for {target:.0%}"
