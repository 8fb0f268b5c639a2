"""What the tests of tables share: files from texts, exact scores, and how a refusal is checked."""

import re
from fractions import Fraction
from inspect import signature

import pytest

from permtest.readers import File, read, read_many, recognise
from permtest.readers.files import as_arguments

#: What callers can name.
ARGUMENTS = {name for made in (read, read_many, recognise) for name in signature(made).parameters}


def file(text, name="scores.csv"):
    return File(name, text.encode())


def files(*texts):
    """A file for each system, called a.csv, b.csv and so on."""
    return [file(text, f"{name}.csv") for text, name in zip(texts, "abcdef", strict=False)]


def exact(pairs):
    """What was read, item by item, exactly."""
    names = pairs.ids or range(len(pairs))
    both = zip(pairs.u.tolist(), pairs.v.tolist(), strict=True)
    return {
        name: (Fraction(u, pairs.scale), Fraction(v, pairs.scale))
        for name, (u, v) in zip(names, both, strict=True)
    }


def columns(pairs):
    return pairs.u.tolist(), pairs.v.tolist()


def assert_refused(call, *parts, start=""):
    """That `call` is refused by a message that starts so, and has all parts.

    Parts have options of the command line, which callers from Python see as arguments.
    """
    with pytest.raises(ValueError, match=r"\w") as caught:
        call()
    message = str(caught.value)
    assert message.startswith(start)
    for said in re.findall(r"\(([a-z_]+=[^()]*)\)", message):
        assert {*re.findall(r"(?:^|, )([a-z_]+)=", said)} <= ARGUMENTS, message
    for part in parts:
        python = as_arguments(part)
        if part.startswith("--"):
            python = as_arguments(f"({part})")[1:-1].removesuffix("...")
        assert part in message or python in message
