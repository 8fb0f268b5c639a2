"""Errors with parts."""

import pickle

import pytest

from permtest._errors import ScoreError, TooHard

BAD = ScoreError("u", (3,), "is missing", "score it")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BAD, "u[3] is missing; score it"),
        (BAD.at((3, 1)), "u[3, 1] is missing; score it"),
        (TooHard("it takes long; sample"), "it takes long; sample"),
    ],
)
def test_parts_make_the_message_and_survive_other_processes(error, message):
    again = pickle.loads(pickle.dumps(error))
    assert str(error) == str(again) == message
    assert (type(again), vars(again)) == (type(error), vars(error))
