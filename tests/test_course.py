"""Data in one line, and exercises that answer."""

import numpy as np
import pytest

import permtest as pt
from permtest.course import check, load


def test_systems_and_their_counts_are_named_by_their_columns():
    scores = load("ud_en_ewt_pos", "correct")
    assert list(scores)[:2] == ["crf_rich", "svm_window"]
    result = pt.exact_perm_test(scores["crf_rich"], scores["crf_base"], statistic="accuracy")
    assert (result.statistic, result.n) == (91, 2077)
    counts = load("ud_en_ewt_propn", "tp", "fp", "fn")
    assert counts["hmm"].to_numpy().shape == (2077, 3)
    assert "n_tokens" in load("ud_en_ewt_pos")


def test_what_is_not_there_is_listed():
    with pytest.raises(FileNotFoundError, match=r"no data set 'ewt'; there are .*ud_en_ewt_pos"):
        load("ewt")
    with pytest.raises(ValueError, match="no column of gsm8k_correct ends in _tp"):
        load("gsm8k_correct", "tp")
    with pytest.raises(ValueError, match=r"there is no '01.9' to check; there are .*01\.2"):
        check("01.9", 1)


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        ("01.2", ..., "Put a list of 2 entries in place of the three dots."),
        ("01.2", [5, 10], "You counted one tail only"),
        ("01.2", [6, 12], "Entry 1 is wrong, counting from 0 (wrong: 1 of 2)."),
        ("01.2", [11, 6], "These are the right entries in the wrong order."),
        ("01.2", 6, "The answer is a list of 2 entries; yours is a number."),
        ("01.2", "six", "yours is a name or a word"),
        ("01.5", pt.exact_perm_test, "That is a whole result. Give the number that the question"),
        ("01.5", 0.25, "Give the function itself, without calling it; yours is a number."),
        ("01.5", lambda u, v: u[9], "<lambda>([5, 6, 7], [4, 4, 4]) raises IndexError: list index"),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong(exercise, answer, said):
    assert str(check("01.2", np.array([6, 11]))).startswith("Right. ")
    assert check("01.5", lambda u, v: pt.exact_perm_test(u, v).pvalue)
    verdict = check(exercise, answer)
    assert not verdict
    assert said in str(verdict)
    assert "role='status'" in verdict._repr_html_()


@pytest.mark.parametrize(
    ("factor", "said"),
    [(2, "twice"), (0.5, "half"), (-1, "sign"), (100, "percentage"), (9, "too large")],
)
def test_usual_slips_of_a_number_are_recognised(factor, said, monkeypatch):
    monkeypatch.setattr("permtest.course._exercises", lambda _: {"1": {"answer": 0.0303}})
    assert said in str(check("00.1", 0.0303 * factor))
    for right, rounded in ((0.013671875, 0.0137), (0.47438, 0.474), (1.00499, 1.0)):
        monkeypatch.setattr("permtest.course._exercises", lambda _, x=right: {"1": {"answer": x}})
        assert check("00.1", rounded)
        assert not check("00.1", 1.01 * right)
