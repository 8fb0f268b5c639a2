"""Instances of the Every Eval Ever schema, to which several tools' logs can be converted.

``{uuid}_samples.jsonl`` has a line for each sample and evaluation: ``model_id``, ``sample_id``,
``sample_hash``, ``evaluation_name`` and ``evaluation``, which has ``score`` and ``is_correct``.
Traps:

- A sample that was scored in several ways has a line for each. The scores are "score,NAME" then,
  NAME being the ``evaluation_name`` (or, where that repeats, the ``evaluation_result_id``). Where
  the evaluations have samples of their own, such as the subjects of a benchmark, there is one
  "score", and the evaluation is a grouping.
- ``sample_hash`` is of the prompt and the reference, and optional; without it in every line,
  samples are paired on ``sample_id``, which some converters count anew in each evaluation.
- Epochs of a sample have the same id and hash, and ``epoch`` in ``metadata``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from permtest.readers.files import File, ReadError
from permtest.readers.names import told_apart
from permtest.readers.outline import row_keys
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    LONGEST,
    MOST,
    TEXT,
    Record,
    Scores,
    rows_of,
    short,
)


class _Sample(NamedTuple):
    """What lines are of the same sample."""

    sample_hash: str | None
    sample_id: str
    epoch: str


class _Row(NamedTuple):
    """What is kept of a line."""

    sample: _Sample
    evaluation: str
    result: str | None
    scores: Record
    reference: str
    text: str


def recognises(file: File) -> bool:
    """Whether the file begins with an instance of the schema."""
    keys = row_keys(file)
    return keys >= {"model_id", "sample_id"} and not keys.isdisjoint(
        {"evaluation", "evaluation_name", "evaluation_id"}
    )


def load(file: File) -> list[SystemScores]:
    """The scores of each model in the file.

    Parameters
    ----------
    file : File

    Returns
    -------
    list of SystemScores
    """
    models: dict[str, list[_Row]] = {}
    for record in rows_of(file):
        models.setdefault(record.needed("model_id"), []).append(_row(record))
        if len(models) > MOST:
            raise record.error(f"more than {MOST} models in one file; split it")
    if not models:
        raise ReadError.at(file.path, "holds no instance; convert the log again")
    return [_system(file, name, rows) for name, rows in models.items()]


def _row(record: Record) -> _Row:
    asked, found = record.record("input"), record.record("evaluation")
    epoch = record.record("metadata").label("epoch") or "1"
    sample = _Sample(record.label("sample_hash"), record.needed("sample_id"), epoch)
    scores = {name: found.get(name) for name in ("score", "is_correct")}
    raw = asked.get("raw")
    if isinstance(raw, str) and len(raw) > TEXT:
        raw = f"...{raw[3 - TEXT :]}"  # before the question there are often others with answers
    return _Row(
        sample,
        record.label("evaluation_name") or "",
        record.label("evaluation_result_id"),
        Record(record.file, scores, record.place),
        short(asked.get("reference"), LONGEST),
        "" if raw is None else short(raw),
    )


def _system(file: File, model: str, rows: list[_Row]) -> SystemScores:
    evaluations = _evaluations(rows)
    first: dict[_Sample, _Row] = {}
    for row in rows:
        first.setdefault(row.sample, row)
    apart = len(first) < len(rows)  # some samples have several evaluations
    scores = Scores(file)
    for row, evaluation in zip(rows, evaluations, strict=True):
        for name, value in row.scores.values.items():
            scores.put(row.sample, f"{name},{evaluation}" if apart else name, value, row.scores)
    names, paired_by = _names(first)
    clusters = {"sample": [names[sample[:2]] for sample in first]}
    if not apart and len(set(evaluations)) > 1:
        clusters["evaluation"] = evaluations
    return SystemScores(
        system=model,
        file=file,
        scores=scores.columns(list(first)),
        paired_by=paired_by,
        ids=[
            names[sample[:2]] + (f" (epoch {sample.epoch})" if sample.epoch != "1" else "")
            for sample in first
        ],
        clusters=clusters,
        swapped="sample" if len(names) < len(first) else None,
        agree={"reference": [row.reference for row in first.values()]},
        texts=[row.text for row in first.values()],
        notes=scores.notes,
        places=[row.scores.place for row in first.values()],
    )


def _evaluations(rows: list[_Row]) -> list[str]:
    """What tells the lines of a sample apart: the name of the evaluation, or of its result."""
    names = [row.evaluation for row in rows]
    results = [row.result for row in rows if row.result is not None]
    repeated = _repeated(zip([row.sample for row in rows], names, strict=True))
    if repeated is not None and len(results) == len(rows):
        names = results
        repeated = _repeated(zip([row.sample for row in rows], names, strict=True))
    if repeated is None:
        return names
    raise rows[repeated].scores.error(
        f"the sample {rows[repeated].sample.sample_id!r} again in the same evaluation "
        f"({names[repeated]!r}); a sample must have one line for each: keep those of one run"
    )


def _repeated(keys: Iterable[object]) -> int | None:
    """The position of the first key that was there before."""
    seen = Counter[object]()
    for i, key in enumerate(keys):
        seen[key] += 1
        if seen[key] > 1:
            return i
    return None


def _names(samples: Iterable[_Sample]) -> tuple[dict[tuple[str | None, str], str], str]:
    """What each sample is called, whatever its epoch, and by what."""
    both = list(dict.fromkeys((sample.sample_hash, sample.sample_id) for sample in samples))
    hashes = [name for name, _ in both if name is not None]
    numbers = [number for _, number in both]
    if len(hashes) == len(both):
        return dict(zip(both, told_apart(hashes, numbers), strict=True)), "sample_hash"
    return dict(zip(both, numbers, strict=True)), "sample_id"


FORMAT = Format(
    name="every_eval_ever",
    title="Every Eval Ever instances",
    rows="a sample's score, and whether it is correct, in each evaluation",
    pairs_on="sample_hash (else sample_id)",
    example="permtest compare a_samples.jsonl b_samples.jsonl --score is_correct",
    names_scores=True,
    recognises=recognises,
    load=load,
)
