"""Draw the pictures of the README that are of leaderboards: ``docs/leaderboard.png``.

PYTHONPATH=. python tools/draw_docs.py            # into docs/
PYTHONPATH=. python tools/draw_docs.py build      # into another folder
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd

import permtest as pt
from permtest.plots import plot_ranking, style

ROOT = Path(__file__).resolve().parents[1]


def draw_leaderboard(path: Path) -> None:
    """Six taggers of English, by their correct tokens per sentence."""
    data = pd.read_csv(ROOT / "notebooks" / "data" / "ud_en_ewt_pos.csv")
    names = [column for column in data.columns if column.endswith("_correct")]
    board = pt.compare_many({name.removesuffix("_correct"): data[name] for name in names})
    with style():
        plot_ranking(board)[0].figure.savefig(path)


def main() -> None:
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    path = folder / "leaderboard.png"
    draw_leaderboard(path)
    print(path)


if __name__ == "__main__":
    main()
