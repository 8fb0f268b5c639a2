"""Errors with parts."""

import pickle

import pytest

from permtest._errors import ScoreError, TooHard

BAD = ScoreError("u", (3,), "is missing", "score it")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (BAD, ValueError, "u[3] is missing; score it"),
        (BAD.at((3, 1)), ValueError, "u[3, 1] is missing; score it"),
        (TooHard("it takes long; sample"), ArithmeticError, "it takes long; sample"),
    ],
)
def test_parts_make_the_message_and_survive_other_processes(error, kind, message):
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert isinstance(one, kind)
        assert str(one) == message
    assert again.__dict__ == error.__dict__
