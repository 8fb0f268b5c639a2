"""Draw the pictures of the README that show results, from the data of the notebooks.

PYTHONPATH=. python tools/draw_docs.py            # into docs/
PYTHONPATH=. python tools/draw_docs.py build      # into another folder

The others, of accuracy and speed, are measured: `python3 dev.py bench`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

import permtest as pt
from permtest.alternatives import bayes_test
from permtest.plots import plot_answers, plot_null, plot_posteriors, plot_ranking, style

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "notebooks" / "data"


def taggers() -> pd.DataFrame:
    """Correct tokens per sentence of six taggers of English."""
    data = pd.read_csv(DATA / "ud_en_ewt_pos.csv")
    columns = {c: c.removesuffix("_correct") for c in data.columns if c.endswith("_correct")}
    return data[list(columns)].rename(columns=columns)


def draw_null_distribution() -> Any:
    """The difference between two taggers."""
    names = ("svm_window_correct", "crf_base_correct")
    data = pd.read_csv(DATA / "ud_en_ewt_pos.csv")
    columns = (data[name] for name in names)
    result = pt.exact_perm_test(*columns, statistic="accuracy", names=names)
    return plot_null(result)


def draw_answers() -> Any:
    """All tests of two taggers."""
    data = pd.read_csv(DATA / "ud_en_ewt_pos.csv")
    table = pt.compare_all(
        data["crf_rich_correct"],
        data["crf_base_correct"],
        names=("crf_rich", "crf_base"),
        trials=data["n_tokens"],
        rng=0,
    )
    return plot_answers(table)[0]


def draw_bayes() -> Any:
    """Two chunkers, by the folds of a 3 x 2 cross-validation."""
    data = pd.read_csv(DATA / "uner_bcv_iob2_iobes.csv")
    chosen = data[(data["corpus"] == "uner_en_ewt_dev+test") & (data["task"] == "ORG")]
    names = ("IOB2", "IOBES")
    folds = [chosen[chosen["model"] == name][["tp", "fp", "fn"]].to_numpy() for name in names]
    metrics = ("precision", "recall", "f1")
    results = [bayes_test(*folds, metric, names=names) for metric in metrics]
    return plot_posteriors(results, conservative=True)[0]


def draw_leaderboard() -> Any:
    """Six taggers."""
    data = taggers()
    return plot_ranking(pt.compare_many({name: data[name] for name in data}))[0]


#: Name of a picture -> what draws it, and returns its axes or the first of them.
PICTURES: dict[str, Callable[[], Any]] = {
    "null-distribution": draw_null_distribution,
    "answers": draw_answers,
    "bayes": draw_bayes,
    "leaderboard": draw_leaderboard,
}


def main() -> None:
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        path = folder / f"{name}.png"
        with style():
            draw().figure.savefig(path)
        print(path)


if __name__ == "__main__":
    main()
