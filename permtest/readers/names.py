"""What the name of a column says: whose its numbers are, and what they measure or count."""

from __future__ import annotations

import re
from collections.abc import Collection

from permtest.readers.files import kind_of, number_or_none
from permtest.score import DIGITS, HIGHER, LOWER, MEASURED, tokens
from permtest.statistics import STATISTICS

#: How columns are called, in small letters, by what they say of a line; the surest first.
ROLES = {
    role: names.split()
    for role, names in {
        "id": "id item_id sent_id sample_id doc_id question_id instance_id example_id segment_id "
        "seg_id utterance_id utt_id sentence_id task_id qid uid guid key item index",
        "system": "system model system_id model_id",
        "score": "score value correct is_correct accuracy",
        "measure": "metric metric_name measure",
        "cluster": "cluster cluster_id",
        "group": "cluster cluster_id document doc docid",
        # Items of one of these may be alike, so that the answer mentions clusters.
        "related": "cluster cluster_id document doc docid document_id doc_id passage dialogue "
        "conversation session speaker question question_id qid",
        "gold": "gold y_true label target truth ground_truth reference answer correct_option "
        "correct_answer correct_choice correct_label correct_idx true_label true_rating "
        "gold_label gold_score",
        # What tells the repeats of an item apart.
        "repeat": "epoch epochs seed trial run repeat repetition sample turn fold",
        # What may be an item that comes several times, the surest first.
        "item": "problem instance example name task",
        # What an item is, in which all systems must agree.
        "text": "text sentence question prompt input query utterance user_input source src "
        "context reference ref gold y_true target ground_truth",
    }.items()
}

#: Names of columns that show what an item is, such as its question.
ITEMS = {*ROLES["text"]} - {*ROLES["gold"], "context", "source", "ref"}

#: Words in the name of a column, by what they say of its cells.
SAYS = {
    what: frozenset(words.split())
    for what, words in {
        # They are of an item or of a run, or derived, and so of no system.
        "no system": "id ids idx index row line number no n num count total avg mean sum step "
        "steps turn turns time times tstamp timestamp date year month day age latency duration "
        "seconds second secs sec ms s elapsed speed cost costs price usd eur dollars length len "
        "size width tokens token words word wordcount chars char characters sentences seed seeds "
        "epoch epochs fold folds split partition part run runs trial trials repeat repetition "
        "batch iteration iter difficulty level rank position user users prompt input output "
        "completion temperature weight weights memory gpu cpu flops confidence conf proba prob "
        "probability probabilities logit logits start end begin stop min max minimum maximum lat "
        "lon latitude longitude height offset annotator rater diff difference delta average",
        "measure": "score scores value values correct is accuracy acc exact match em f1 f "
        "precision recall auc bleu chrf comet bleurt bertscore rouge rougel meteor ter wer cer "
        "mer loss losses error errors err nll ppl perplexity likelihood loglik logprob mae mse "
        "rmse points grade rating reward pass passed win wins success gold norm normalized strict "
        "flexible macro micro",
        "verdict": "result results status verdict outcome judgement judgment solved resolved",
        # They are derived from numbers of systems.
        "derived": "diff difference delta mean avg average sum total",
        # They may say which item a line is.
        "key": "id ids idx index key hash sha uuid uid guid line row item case pmid image patient "
        "unnamed number no n docno fold seed epoch step turn year trial run date day",
        # They say how sure a system was, which is no score of it.
        "sureness": "confidence conf proba prob probability probabilities logit logits",
        # They may say so beside predicted labels.
        "doubtful": "confidence conf proba prob probability probabilities logit logits score "
        "scores logprob loglik likelihood",
        # They are labels, not scores.
        "predicted": "pred preds predicted prediction predictions",
        # The cells are what a system wrote, in which systems may differ.
        "output": "answer answers response responses output outputs prediction predictions pred "
        "predicted completion generation hypothesis mt translation candidate raw extracted parsed "
        "said",
        # A row that is called so sums others up; no item is called by the first of these.
        "total": "total totals subtotal sum mean average avg",
        "summary": "total totals subtotal sum mean average avg overall all macro micro weighted "
        "std sd median gesamt summe mittelwert durchschnitt",
    }.items()
}
SAYS["judged"] = SAYS["measure"] | SAYS["verdict"]

#: Words of a name that make it one of scores, whatever whole numbers the column holds.
NO_KEYS = SAYS["judged"] | HIGHER | LOWER - {"time"} | MEASURED.keys()

#: The statistics of counts that files can hold, and what each of their measures counts.
IN_FILES = {
    name: [measure.columns for measure in entry.measures]
    for name, entry in STATISTICS.items()
    if entry.columns and entry.average is None and entry.name == name
}

#: Every set of counts that a statistic takes, the largest first.
LAYOUTS = sorted({c for sets in IN_FILES.values() for c in sets}, key=lambda c: (-len(c), c))

#: What a column may say, in small letters, and the count it then holds.
WORDS = {word: word for layout in LAYOUTS for word in layout}
WORDS |= dict.fromkeys(("in", "inc", "wrong"), "incorrect")

#: Counts that are of the item, not of a system, so that both may have one column of them.
OF_THE_ITEM = {"length", "reference_length"}


def says(name: str, *what: str) -> bool:
    """Whether a word of a name says one of these of its column."""
    said = tokens(name)
    return any(not SAYS[one].isdisjoint(said) for one in what)


def words(name: str) -> set[str]:
    """The words of a name, without numbers; of a number of items, such as n_PER, only the n."""
    parts = tokens(name)
    if parts[0] == "n" and NO_KEYS.isdisjoint(parts):
        return {"n"}
    return {part for part in parts if not part.isdecimal()} or {name}


def no_system(name: str) -> bool:
    """Whether all words of a name say that its numbers are of no system."""
    return words(name) <= SAYS["no system"]


def predicted(name: str) -> str:
    """The word that says of a column that it holds predicted labels; "" if none does."""
    said = [part.rstrip(DIGITS) for part in tokens(name)]
    own = [x for x in said if x in SAYS["predicted"]] + [
        x for x in said[-1:] if x in ("label", "labels")
    ]
    return own[0] if own and SAYS["judged"].isdisjoint(said) else ""


def owner_and_measure(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a name that say whose the numbers are, and those that say what they measure."""
    label = predicted(name)
    every = [re.sub(rf"^({label})(\d+)$", r"\1 \2", x).split() for x in tokens(name)]
    parts = [x for some in every for x in some]
    known = {*parts} if words(name) == {"n"} else SAYS["measure"] | SAYS["no system"] | {label}
    what = tuple(x for x in parts if x in known)
    return tuple(x for x in parts if x not in known), what


def is_judged(name: str, cells: Collection[str], right: Collection[str]) -> bool:
    """Whether cells say by 0 and 1 what was right, beside right labels that are others."""
    said = {part.rstrip(DIGITS) for part in tokens(name)}
    if len(cells) > 9 or (not SAYS["output"].isdisjoint(said) and SAYS["judged"].isdisjoint(said)):
        return False
    values = {number_or_none(x) for x in cells if kind_of(x) != "missing"}
    return values == {0, 1} and not {*map(number_or_none, right)} <= {0, 1}


def readings(name: str) -> list[tuple[str, str]]:
    """All ways to read the name of a column as that of a system and a count: crf_TP, wrong hmm."""
    found = []
    for word, count in WORDS.items():
        for way in (rf"(?:(.+)[_./ -])?{word}", rf"{word}[_./ -](.+)"):
            if match := re.fullmatch(way, name, re.IGNORECASE | re.DOTALL):
                found.append((match[1] or "", count))
    return found


def count_statistics(layouts: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Names of the statistics of such counts, f1 first where it is one."""
    names = [name for name, sets in IN_FILES.items() if not {*sets}.isdisjoint(layouts)]
    return tuple(sorted(names, key=lambda name: name != "f1"))
