"""Samples of the lm-evaluation-harness: filters, metrics, and what a document is known by."""

import json
from decimal import Decimal

import pytest

from permtest.readers import ReadError
from permtest.readers.evaluation import ItemEvaluation
from permtest.readers.files import File
from permtest.readers.lm_eval import FORMAT, load, recognises
from tests.readers.made import lines, lm_eval, lm_eval_row


def of(*rows, path="samples_task.jsonl"):
    return load(File(path, lines(rows)))[0]


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


def test_two_filters_are_two_scores_of_one_document():
    rows = [
        without(lm_eval_row(i, 1, chosen), "acc")
        | {"metrics": ["exact_match"], "exact_match": float(chosen == "flexible-extract")}
        for chosen in ("strict-match", "flexible-extract")
        for i in (1, 2, 3)
    ]
    one = of(*rows)
    assert one.ids == ["d1", "d2", "d3"]
    assert one.scores == {
        "exact_match,strict-match": [0, 0, 0],
        "exact_match,flexible-extract": [1, 1, 1],
    }
    pairs = ItemEvaluation(FORMAT, (one, load(File("b/x.jsonl", lines(rows)))[0])).pairs(
        score="exact_match,strict-match", statistic="accuracy"
    )
    assert len(pairs) == 3


def test_what_a_document_is_known_by_and_must_agree_in():
    one = of(lm_eval_row(7, 1), lm_eval_row(8, 0))
    assert (one.paired_by, one.ids) == ("doc_hash", ["d7", "d8"])
    assert one.agree == {"target_hash": ["t7", "t8"]}
    assert one.texts == ["What is 7?", "What is 8?"]
    assert one.places == ["line 1", "line 2"]
    other = load(lm_eval({7: 1, 8: 1}, "other"))[0]
    wrong = of(lm_eval_row(7, 1), lm_eval_row(8, 0, target_hash="t9"))
    with pytest.raises(ReadError, match=r"line 2 has another target_hash \('t9'\)"):
        ItemEvaluation(FORMAT, (other, wrong)).pairs(score="acc")


def test_without_hashes_a_document_is_known_by_its_number():
    rows = [without(lm_eval_row(i, 1), "doc_hash", "target_hash") for i in (1, 2)]
    one = of(*rows)
    assert (one.paired_by, one.ids, one.agree) == ("doc_id", ["1", "2"], {"target": ["1", "2"]})
    one = of(rows[0], lm_eval_row(2, 1))
    assert (one.paired_by, one.ids, one.agree) == ("doc_id", ["1", "2"], {"target": ["1", "2"]})
    with pytest.raises(ReadError, match=r"line 1: there is no doc_id, and not every line"):
        of(without(lm_eval_row(1, 1), "doc_id"), *rows)
    with pytest.raises(ReadError, match=r"line 1: 'doc_id' is missing, but must be the number"):
        of(without(rows[0], "doc_id"))


def test_documents_of_the_same_text_are_told_apart_by_their_number():
    rows = [lm_eval_row(1, 1), lm_eval_row(2, 0, doc_hash="d1"), lm_eval_row(3, 1)]
    one = of(*rows)
    assert (one.paired_by, one.ids) == ("doc_hash", ["d1 (1)", "d1 (2)", "d3"])
    assert "2 documents that are not the only ones of their text" in one.notes[0]


def test_a_document_has_one_line_for_each_filter():
    with pytest.raises(ReadError, match=r"line 2: the document of line 1 again, with the filter"):
        of(lm_eval_row(1, 1), lm_eval_row(1, 1))
    old = [without(lm_eval_row(1, 1), "filter", "metrics")] * 2
    with pytest.raises(ReadError, match=r"line 2: .* with no filter that is named"):
        of(*old)


def test_corpus_metrics_are_left_out_and_named():
    one = of(lm_eval_row(1, 1, metrics=["f1", "acc", "bleu"], f1=[1, 0], bleu=["a", "b"]))
    assert list(one.scores) == ["acc,none"]
    assert one.notes == (
        "left out, being no number for each item: f1,none (an array, line 1), bleu,none (an "
        "array, line 1)",
    )
    with pytest.raises(ReadError, match=r"no score that is one number for each item \(left out"):
        of(lm_eval_row(1, [1, 0]))
    with pytest.raises(ReadError, match="there are no scores"):
        of(lm_eval_row(1, 1, metrics=[]))


def test_text_of_numpy_is_a_number():
    rows = [lm_eval_row(i, value) for i, value in enumerate(["True", "False", "0.5", "1e3", None])]
    assert of(*rows).scores == {"acc,none": [1, 0, Decimal("0.5"), 1000.0, None]}
    one = of(lm_eval_row(1, "abc", metrics=["acc", "ll"], ll=-3.25))
    assert "acc,none (the text 'abc', line 1)" in one.notes[0]
    one = of(lm_eval_row(1, 1), lm_eval_row(2, 1, metrics=["acc", "ppl"], ppl=float("inf")))
    assert "ppl,none (the number inf, line 2)" in one.notes[0]


def test_early_versions():
    rows = [
        without(lm_eval_row(i, i % 2), "filter", "metrics", "doc_hash", "target_hash")
        for i in range(3)
    ]
    file = File("m.jsonl", json.dumps(rows, indent=4).encode())
    assert recognises(file)
    (one,) = load(file)
    assert one.scores == {"acc": [0, 1, 0]}
    assert (one.ids, one.places) == (["0", "1", "2"], ["item 1", "item 2", "item 3"])


def test_the_system_is_called_by_its_folder():
    assert load(lm_eval({1: 1}, "llama-7b"))[0].system == "llama-7b"
    assert of(lm_eval_row(1, 1)).system == "samples_task"
    assert of(lm_eval_row(1, 1), path="../samples_task.jsonl").system == "samples_task"


def test_repeats_are_as_the_harness_sums_them_up():
    one = of(lm_eval_row(1, 0.5, scores_per_repeat={"acc": [0, 1]}))
    assert one.scores == {"acc,none": [0.5]}
    assert "the harness's summary" in one.notes[0]


def test_a_document_is_shown_by_what_it_asks():
    docs = [{"id": "x", "body": "a  longer\ntext"}, "just\ttext", None, {"n": [1, 2]}, ["y"]]
    one = of(*(lm_eval_row(i, 1, doc=doc) for i, doc in enumerate(docs)))
    assert one.texts == ["a longer text", "just text", "", '{"n": [1, 2]}', '["y"]']
    (text,) = of(lm_eval_row(1, 1, doc={"question": "x" * 1000})).texts
    assert text == "x" * 297 + "..."
