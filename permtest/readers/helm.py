"""``per_instance_stats.json`` of a run of HELM.

An array with an entry for each instance, perturbation of it, and trial: ``instance_id``,
``perturbation``, ``train_trial_index`` and ``stats``, each with a ``name`` (``name``, ``split``,
``sub_split`` and the perturbation once more), ``count``, ``sum`` and ``mean``. Traps:

- Every metric adds entries of its own, so that an instance occurs again with other stats: they
  are put together. Two values of the same stat are an error.
- Perturbations and trials of an instance are not independent: the instance is what is swapped.
- A stat is called "name,split". Its mean is sum / count, as a fraction where both are whole and the
  count is at most 1000; a stat with the count 0 has no value.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from permtest.decimals import DENOMINATORS
from permtest.readers.files import File
from permtest.readers.outline import outline
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    LONGEST,
    Number,
    Record,
    Scores,
    folder_or_stem,
    number_of,
    records_of,
)


class _Item(NamedTuple):
    """What entries are of the same item."""

    instance: str
    perturbation: str
    trial: int

    @property
    def name(self) -> str:
        """The instance alone, unless it was perturbed, or in a later trial."""
        parts = [self.instance, self.perturbation, f"trial {self.trial}" if self.trial else ""]
        return ", ".join(part for part in parts if part)


def recognises(file: File) -> bool:
    """Whether the file begins with the statistics of an instance."""
    return outline(file) >= {("*", "instance_id"), ("*", "stats")}


def load(file: File) -> list[SystemScores]:
    """The statistics of the model of one run.

    Parameters
    ----------
    file : File

    Returns
    -------
    list of one SystemScores
    """
    scores = Scores(file)
    places: dict[_Item, str] = {}
    for entry in records_of(file, file.document, "entry"):
        item = _item(entry)
        places.setdefault(item, entry.place)
        for number, value in enumerate(entry.array("stats"), 1):
            stat = Record.of(file, value, f"{entry.place}, stat {number}")
            scores.put(item, _name(stat), _mean(stat), stat)
    instances = [item.instance for item in places]
    return [
        SystemScores(
            system=_model(file),
            file=file,
            scores=scores.columns(list(places)),
            paired_by="instance_id, perturbation and train_trial_index",
            ids=[item.name for item in places],
            clusters={"instance": instances},
            swapped="instance" if len(set(instances)) < len(instances) else None,
            notes=scores.notes,
            places=list(places.values()),
        )
    ]


def _item(entry: Record) -> _Item:
    """What an entry is of; a perturbation is called by its name and what sets it apart."""
    change = entry.record("perturbation")
    name = change.label("name") or ""
    more = {key: value for key, value in change.values.items() if key not in _SAID}
    if more:
        name += " " + Record(change.file, more, change.place).json()
    if len(name) > LONGEST:
        raise change.error(f"has {len(name)} characters, more than {LONGEST}; shorten it")
    return _Item(entry.needed("instance_id"), name, entry.whole("train_trial_index", 0))


#: What a perturbation says beside its settings.
_SAID = {"name", "robustness", "fairness", "computed_on"}


def _name(stat: Record) -> str:
    name = stat.get("name")
    if isinstance(name, str):
        return stat.needed("name")
    parts = stat.record("name")
    split, more = parts.label("split"), parts.label("sub_split")
    return ",".join(part for part in (parts.needed("name"), split, more) if part)


def _mean(stat: Record) -> Number | None:
    """The mean of a stat, exact where that is possible."""
    count = stat.whole("count", 1)
    if count == 0:
        return None
    total = stat.get("sum") if "sum" in stat.values else stat.get("mean")
    try:
        number = number_of(total)
    except ValueError:
        raise stat.wrong("sum", "a number") from None
    if number is None or count == 1 or "sum" not in stat.values:
        return number
    if number == int(number) and count <= DENOMINATORS:
        return Fraction(int(number), count)
    return Decimal(str(float(number) / count))


def _model(file: File) -> str:
    """The model in the name of the run's folder, such as ``mmlu:subject=law,model=x_y``."""
    run = folder_or_stem(file)
    found = re.search(r"\bmodel=([^,]+)", run)
    return found[1] if found else run


FORMAT = Format(
    name="helm",
    title="HELM per-instance statistics",
    rows="an instance's value for each statistic, under each perturbation and in each trial",
    pairs_on="instance_id, perturbation and train_trial_index",
    example="permtest compare runs/A/per_instance_stats.json runs/B/per_instance_stats.json "
    "--score exact_match,test",
    names_scores=True,
    recognises=recognises,
    load=load,
)
