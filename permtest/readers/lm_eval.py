"""The samples of EleutherAI's lm-evaluation-harness, as ``--log_samples`` writes them.

``samples_{task}_{date}.jsonl``, in a folder for each model, has a line for each document and
filter: ``doc_id``, ``doc``, ``target``, ``filter``, ``metrics`` (their names), hashes, and one
value for each metric. Traps:

- A task with two filters has every document twice. A score is called "metric,filter", as in the
  harness's results, so that none counts twice.
- Corpus metrics (f1, bleu, ter) have lists instead of numbers; they are left out and named.
- ``doc_id`` counts within a task; ``doc_hash`` is of the document itself, and is what items are
  paired on. Where a document occurs more than once in a task, its ``doc_id`` tells it apart.
- NumPy's booleans and floats come as text ("True").
- Early versions say neither ``filter`` nor ``metrics``, and write an array instead of lines.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from permtest.readers.files import File, ReadError
from permtest.readers.names import told_apart
from permtest.readers.outline import row_keys
from permtest.readers.scores import Format, SystemScores
from permtest.readers.values import (
    LONGEST,
    Record,
    Scores,
    folder_or_stem,
    rows_of,
    short,
)

#: What a line holds beside metrics.
BESIDES = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_hash", "scores_per_repeat"),
}

#: Which fields of a document say what it asks, the best first.
QUESTIONS = (
    "question",
    "query",
    "prompt",
    "problem",
    "input",
    "context",
    "ctx",
    "text",
    "sentence",
)


@dataclass
class _Document:
    """A document, for all of its filters."""

    first: str  # where it was seen first
    doc_id: str | None
    doc_hash: str | None
    targets: dict[str, str]  # the target, or its hash
    text: str
    filters: dict[str | None, str] = field(default_factory=dict)  # and where each one is


def recognises(file: File) -> bool:
    """Whether the file begins with a sample of the harness."""
    keys = row_keys(file)
    return "doc_id" in keys and not keys.isdisjoint({"doc", "doc_hash", "resps", "filtered_resps"})


def load(file: File) -> list[SystemScores]:
    """The scores of one model on one task.

    Parameters
    ----------
    file : File

    Returns
    -------
    list of one SystemScores
    """
    documents: dict[Hashable, _Document] = {}
    scores = Scores(file)
    repeats = False
    for row in rows_of(file):
        key = (row.label("doc_hash"), row.label("doc_id"))
        if key == (None, None):
            raise row.wrong("doc_id", "the number of a document")
        _note(documents.setdefault(key, _document(row)), row)
        _put(scores, key, row)
        repeats = repeats or "scores_per_repeat" in row.values
    return [_system(file, documents, scores, repeats)]


def _document(row: Record) -> _Document:
    hashed, target = row.label("target_hash"), row.get("target")
    targets = {} if hashed is None else {"target_hash": hashed}
    if target is not None:
        targets["target"] = short(target, LONGEST)
    number, name = row.label("doc_id"), row.label("doc_hash")
    return _Document(row.place, number, name, targets, _text(row.get("doc")))


def _text(doc: Any) -> str:
    """What a document asks: a field of that kind, or else the longest text in it."""
    if isinstance(doc, dict):
        texts = {name: text for name, text in doc.items() if isinstance(text, str) and text}
        asked = next((texts[name] for name in QUESTIONS if name in texts), "")
        doc = asked or max(texts.values(), key=len, default="") or doc
    return "" if doc is None else short(doc)


def _note(document: _Document, row: Record) -> None:
    """Keep that the row has one of the document's filters, which no other row may have."""
    chosen = row.label("filter")
    if chosen in document.filters:
        which = f"the filter {chosen!r}" if chosen is not None else "no filter that is named"
        raise row.error(
            f"the document of {document.filters[chosen]} again, with {which}; a document must "
            "have one line for each filter: keep those of one run"
        )
    document.filters[chosen] = row.place


def _put(scores: Scores, key: Hashable, row: Record) -> None:
    chosen = row.label("filter")
    metrics: list[Any] = row.array("metrics")
    if "metrics" not in row.values:
        metrics = [name for name in row.values if name not in BESIDES]
    for metric in metrics:
        if not isinstance(metric, str):
            raise row.wrong("metrics", "an array of names")
        name = metric if chosen is None else f"{metric},{chosen}"
        scores.put(key, name, row.get(metric), row)


def _system(
    file: File, documents: dict[Hashable, _Document], scores: Scores, repeats: bool
) -> SystemScores:
    items = list(documents.values())
    ids, paired_by, notes = _ids(file, items)
    columns = scores.columns(list(documents))
    if repeats:
        notes.append("the score of a document that was repeated is the harness's summary")
    return SystemScores(
        system=folder_or_stem(file),
        file=file,
        scores=columns,
        paired_by=paired_by,
        ids=ids,
        agree=_agree(items),
        texts=[one.text for one in items],
        notes=(*scores.notes, *notes),
        places=[one.first for one in items],
    )


def _ids(file: File, items: list[_Document]) -> tuple[list[str], str, list[str]]:
    """What documents are called, by what, and what one should know of that."""
    hashes = [one.doc_hash for one in items if one.doc_hash is not None]
    numbers = [one.doc_id for one in items if one.doc_id is not None]
    if len(hashes) == len(items):
        ids = told_apart(hashes, [one.doc_id for one in items])
        same = sum(a != b for a, b in zip(hashes, ids, strict=True))
        note = f"{same} documents that are not the only ones of their text have their doc_id added"
        return ids, "doc_hash", [note] * (same > 0)
    for one in items:
        if one.doc_id is None:
            problem = "there is no doc_id, and not every line has a doc_hash; add either"
            raise ReadError.at(file.path, problem, column=one.first)
    return numbers, "doc_id", []


def _agree(items: list[_Document]) -> dict[str, list[str]]:
    """The targets, which both systems must have had."""
    for name in ("target_hash", "target"):
        if items and all(name in one.targets for one in items):
            return {name: [one.targets[name] for one in items]}
    return {}


FORMAT = Format(
    name="lm_eval",
    title="lm-evaluation-harness samples",
    rows="a document's value for each metric and filter",
    pairs_on="doc_hash (else doc_id), for each filter",
    example="permtest compare A/samples_gsm8k_*.jsonl B/samples_gsm8k_*.jsonl "
    "--score exact_match,strict-match",
    names_scores=True,
    recognises=recognises,
    load=load,
)
