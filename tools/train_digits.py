"""Train two classifiers of handwritten digits with eight seeds each: the data of notebook 13.

PYTHONPATH=. python tools/train_digits.py         # writes notebooks/data/clf_digits_runs.csv

Needs scikit-learn, which permtest does not; the file was made with version 1.9.1, and other
versions may give slightly different answers. Takes some minutes.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

OUTPUT = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "clf_digits_runs.csv"
SEEDS = range(1, 9)


def classifiers(seed: int) -> dict[str, ClassifierMixin]:
    """A forest of 60 trees, and a network with one hidden layer of 24 units."""
    network = MLPClassifier((24,), max_iter=120, early_stopping=False, random_state=seed)
    return {
        "forest": RandomForestClassifier(60, random_state=seed),
        "network": make_pipeline(StandardScaler(), network),
    }


def main() -> None:
    """Let each classifier say what every digit is, trained on the four fifths without it."""
    images, digits = load_digits(return_X_y=True)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(images, digits))
    found = {"load_digits_row": range(len(digits)), "gold": digits}
    for name in classifiers(0):
        for seed in SEEDS:
            said = cross_val_predict(classifiers(seed)[name], images, digits, cv=folds)
            found[f"{name}_{seed}"] = (said == digits).astype(int)
            print(f"{name}, seed {seed}: {found[f'{name}_{seed}'].mean():.4f}", flush=True)
    pd.DataFrame(found).to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main()
