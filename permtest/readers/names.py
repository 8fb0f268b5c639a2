"""What the names of columns say: what a line is, whose, what was measured, what was counted."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from permtest.statistics import STATISTICS, CountStatistic


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: How columns are called that say which item a line is, the surest first.
ID_NAMES = _names(
    "id item_id sent_id sample_id doc_id question_id instance_id example_id segment_id seg_id "
    "utterance_id utt_id sentence_id task_id qid uid guid key item index"
)
SYSTEM_NAMES = ("system", "model", "system_id", "model_id")
SCORE_NAMES = ("score", "value", "correct", "is_correct", "accuracy")
CLUSTER_NAMES = ("cluster", "cluster_id")
GROUP_NAMES = (*CLUSTER_NAMES, "document", "doc", "docid")
GOLD_NAMES = ("gold", "y_true", "label", "target", "truth", "ground_truth", "reference", "answer")

#: How columns are called that tell the repeats of an item apart.
REPEAT_NAMES = _names("epoch epochs seed trial run repeat repetition sample turn fold")

#: How columns are called that show what an item is, and that all systems must agree in.
TEXT_NAMES = _names(
    "text sentence question prompt input query utterance user_input source src context reference "
    "ref gold y_true target ground_truth"
)

#: Words of a name that make it something of an item or of a run, and no system.
NO_SYSTEM = _words(
    "id ids idx index row line number no n num count total avg mean sum step steps turn turns "
    "time times tstamp timestamp date year month day age latency duration seconds second secs "
    "sec ms s elapsed speed cost costs price usd eur dollars length len size width tokens token "
    "words word wordcount chars char characters sentences seed seeds epoch epochs fold folds "
    "split partition part run runs trial trials repeat repetition batch iteration iter "
    "difficulty level rank position user users prompt input output completion temperature weight "
    "weights memory gpu cpu flops confidence conf proba prob probability probabilities logit "
    "logits start end begin stop min max minimum maximum lat lon latitude longitude height "
    "offset annotator rater"
)

#: Words of a name that say what was measured.
MEASURES = _words(
    "score scores value values correct is accuracy acc exact match em f1 f precision recall auc "
    "bleu chrf comet bleurt bertscore rouge rougel meteor ter wer cer mer loss losses error "
    "errors err nll ppl perplexity likelihood loglik logprob mae mse rmse points grade rating "
    "reward pass passed win wins success gold norm normalized strict flexible macro micro"
)

#: What a column may say, in small letters, and the count it then holds.
WORDS = {
    column: column
    for entry in STATISTICS.values()
    if isinstance(entry, CountStatistic)
    for measure in entry.measures
    for column in measure.columns
} | dict.fromkeys(("in", "inc", "wrong"), "incorrect")
JOINTS = ("_", ".", "-", "/", " ")

#: Counts that are of the item, not of a system, so that both may have one column of them.
OF_THE_ITEM = {"length", "reference_length"}

#: Counts as jiwer and sacreBLEU write them, and those that the statistics take instead.
DERIVED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("hits", "substitutions", "deletions", "insertions"): ("errors", "length"),
    ("counts", "totals", "sys_len", "ref_len"): next(
        m.columns for s in STATISTICS.values() if isinstance(s, CountStatistic) and s.name == "bleu"
        for m in s.measures
    ),
}  # fmt: skip

#: Words of a name of a column of numbers that make it one that may say which item a line is.
KEYS = _words(
    "id ids idx index key hash sha uuid uid guid line row item case pmid image patient unnamed "
    "number no n docno fold seed epoch step turn year trial run date day"
)

#: How sure a system was, which is no score of it.
SURENESS = _words("confidence conf proba prob probability probabilities logit logits")

#: What a system wrote, in which systems may differ.
OUTPUTS = _words(
    "answer answers response responses output outputs prediction predictions pred predicted "
    "completion generation hypothesis mt translation candidate raw extracted parsed said"
)

#: How summary rows are called: some words that no item is called, and others that some may be.
TOTALS = _words("total totals subtotal sum mean average avg")
SUMMARIES = TOTALS | _words(
    "overall all macro micro weighted std sd median gesamt summe mittelwert durchschnitt"
)


def tokens(name: str) -> list[str]:
    """The words of a name, in small letters: "latencyMs_A" has latency, ms, a."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [part for part in re.split(r"[\W_]+", split.lower()) if part] or [name.lower()]


def words(name: str) -> set[str]:
    """The words of a name, without numbers."""
    return {part for part in tokens(name) if not part.isdecimal()} or {name}


def readings(name: str) -> list[tuple[str, str]]:
    """All ways to read the name of a column as that of a system and a count.

    Examples
    --------
    >>> readings("crf_TP"), readings("wrong hmm"), readings("fn"), readings("crf")
    ([('crf', 'tp')], [('hmm', 'incorrect')], [('', 'fn')], [])
    """
    said, found = name.lower(), []
    known = WORDS | {word: word for layout in DERIVED for word in layout}
    for word, count in known.items():
        room = len(said) > len(word) + 1
        if said == word:
            found.append(("", count))
        if room and said.endswith(tuple(joint + word for joint in JOINTS)):
            found.append((name[: -len(word) - 1], count))
        if room and said.startswith(tuple(word + joint for joint in JOINTS)):
            found.append((name[len(word) + 1 :], count))
    return found


def systems_in(names: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """The columns of each system by what they count, according to their names; "" is no system."""
    found: dict[str, dict[str, list[int]]] = {}
    for column, name in enumerate(names):
        for system, count in readings(name):
            found.setdefault(system, {}).setdefault(count, []).append(column)
    return found


def written(columns: tuple[str, ...]) -> tuple[str, ...]:
    """How the counts are written down: those of sacreBLEU one by one."""
    return DERIVED[columns] if columns[0] == "counts" else columns


def layouts() -> list[tuple[str, ...]]:
    """All sets of counts that a statistic takes, the largest first."""
    found = {
        measure.columns
        for entry in STATISTICS.values()
        if isinstance(entry, CountStatistic) and entry.average is None
        for measure in entry.measures
    }
    return sorted({*found, *DERIVED}, key=lambda columns: (-len(columns), columns))


def count_statistics(layouts: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Names of the statistics of such counts, f1 first where it is one."""
    names = [
        name
        for name, entry in STATISTICS.items()
        if isinstance(entry, CountStatistic)
        and entry.average is None
        and entry.name == name
        and any(measure.columns in layouts for measure in entry.measures)
    ]
    return tuple(sorted(names, key=lambda name: name != "f1"))


def measured(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a name that say what was measured, and those that say whose it is.

    Examples
    --------
    >>> measured("latency_ms_A"), measured("crf_rich_correct"), measured("gpt-4")
    ((('latency', 'ms'), ('a',)), (('correct',), ('crf', 'rich')), ((), ('gpt', '4')))
    """
    parts = tokens(name)
    what = tuple(part for part in parts if part in MEASURES | NO_SYSTEM)
    return what, tuple(part for part in parts if part not in MEASURES | NO_SYSTEM)


def is_summary(label: str) -> bool:
    """Whether a row that is called so sums or averages others: "Total", "macro avg", "Mean:"."""
    parts = [part for part in re.findall(r"[^\W_]+", label.lower()) if not part.isdecimal()]
    return 0 < len(parts) <= 2 and not SUMMARIES.isdisjoint(parts)
