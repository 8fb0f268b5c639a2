"""What the names of columns say: which count they hold, and of which system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from permtest.statistics import STATISTICS, CountStatistic

#: How columns are called that say which item a line is, the surest first.
ID_NAMES = (
    "id",
    "item_id",
    "sent_id",
    "sample_id",
    "doc_id",
    "question_id",
    "instance_id",
    "example_id",
    "segment_id",
    "seg_id",
    "utterance_id",
    "utt_id",
    "sentence_id",
    "task_id",
    "qid",
    "uid",
    "guid",
    "key",
    "item",
    "index",
)

#: How the columns of a long table are called.
SYSTEM_NAMES = ("system", "model", "system_id", "model_id")
SCORE_NAMES = ("score", "value", "correct", "is_correct", "accuracy")
CLUSTER_NAMES = ("cluster", "cluster_id")

#: How columns are called that say where items belong; no score, also where they hold numbers.
GROUP_NAMES = (*CLUSTER_NAMES, "document", "doc", "docid")

#: How columns are called that say which repetition or part of the data a line is of; no score.
PART_NAMES = (
    *("epoch", "epochs", "trial", "run", "repeat", "repetition"),
    *("seed", "fold", "partition", "split"),
)

#: How the column is called that says what is right.
GOLD_NAMES = ("gold", "y_true", "label", "target", "truth", "reference", "answer")

#: How the column is called that shows people what an item is.
TEXT_NAMES = ("text", "sentence", "question", "prompt", "input", "query", "utterance")

#: What may stand between the name of a system and that of a count.
JOINTS = ("_", ".", "-", "/", " ")

#: What a column may say, in small letters, and the count it then holds.
WORDS = {
    column: column
    for entry in STATISTICS.values()
    if isinstance(entry, CountStatistic)
    for measure in entry.measures
    for column in measure.columns
} | dict.fromkeys(("in", "inc", "wrong"), "incorrect")

#: What is said where the name of a column makes a cluster of each of its values.
SWAPPED = (
    "whole values of {!r} are swapped by default, since that column is called so (--no-clusters "
    "swaps items)"
)

#: The columns of each system, counted from 0, by what they hold; "" is no system.
Systems: TypeAlias = "dict[str, dict[str, list[int]]]"


def column_of(header: Sequence[str] | None, names: Sequence[str]) -> int | None:
    """The first of `names` that a header has, in whatever case, as a column counted from 0."""
    said = [name.lower() for name in header or ()]
    return next((said.index(name) for name in names if name in said), None)


def readings(name: str, words: Mapping[str, str] = WORDS) -> list[tuple[str, str]]:
    """All ways to read the name of a column as that of a system and a count.

    Parameters
    ----------
    name : str
    words : mapping of str to str
        What it may say, in small letters, and the count that this means.

    Returns
    -------
    list of (system, count)
        ``crf_tp`` and ``TP.crf`` say "crf" and "tp"; where a count stands alone the system is "".

    Examples
    --------
    >>> readings("crf_TP"), readings("wrong hmm"), readings("fn"), readings("crf")
    ([('crf', 'tp')], [('hmm', 'incorrect')], [('', 'fn')], [])
    """
    said, found = name.lower(), []
    for word, count in words.items():
        room = len(said) > len(word) + 1
        if said == word:
            found.append(("", count))
        if room and said.endswith(tuple(joint + word for joint in JOINTS)):
            found.append((name[: -len(word) - 1], count))
        if room and said.startswith(tuple(word + joint for joint in JOINTS)):
            found.append((name[len(word) + 1 :], count))
    return found


def systems_in(header: Sequence[str] | None, words: Mapping[str, str] = WORDS) -> Systems:
    """The systems that the names of columns speak of, in their order.

    Parameters
    ----------
    header : sequence of str, or None
    words : mapping of str to str
        As in `readings`.

    Returns
    -------
    dict of dict of list of int
        Empty without a header. The columns of a count are several where names say the same.
    """
    found: Systems = {}
    for column, name in enumerate(header or ()):
        for system, count in readings(name, words):
            found.setdefault(system, {}).setdefault(count, []).append(column)
    return found
