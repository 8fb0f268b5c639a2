"""What users call: all of it is explained, with examples that run."""

import inspect
from functools import cached_property
from importlib import import_module
from typing import Any

import pytest
from build_site import MODULES, comment
from numpydoc.docscrape import NumpyDocString

THINGS = {
    f"{name}.{public}": getattr(module, public)
    for name in MODULES
    if (module := import_module(name))
    for public in module.__all__
}
CALLED = {path: thing for path, thing in THINGS.items() if callable(thing)}


def parsed(thing: Any) -> NumpyDocString:
    """The docstring in its sections; ValueError if it has one that numpydoc does not know."""
    return NumpyDocString(inspect.getdoc(thing) or "")


def members(cls: type) -> dict[str, Any]:
    """Public methods and properties that this package gives to a class, as functions."""
    found = {}
    for base in reversed([b for b in cls.__mro__ if b.__module__.startswith("permtest")]):
        for name, member in vars(base).items():
            if isinstance(member, property | cached_property | classmethod | staticmethod):
                names = ("fget", "func", "__func__")
                member = next(filter(None, (getattr(member, n, None) for n in names)))
            if inspect.isfunction(member) and not name.startswith("_"):
                found[name] = member
    return found


@pytest.mark.parametrize("path", CALLED)
def test_it_has_an_example_that_runs(path):
    docstring = vars(CALLED[path]).get("__doc__") or CALLED[path].__doc__
    assert docstring
    if not path.rpartition(".")[2].startswith("plot_"):  # what a picture shows cannot be printed
        assert ">>> " in "\n".join(parsed(CALLED[path])["Examples"])


@pytest.mark.parametrize("path", CALLED)
def test_docstring_lists_the_parameters_of_the_signature(path):
    thing = CALLED[path]
    own = members(thing) if inspect.isclass(thing) else {}
    assert not [name for name, member in own.items() if not member.__doc__]
    for function in (thing, *(getattr(thing, name) for name in own)):
        if not callable(function):  # a property
            continue
        signature = inspect.signature(function)
        parameters = [name for name in signature.parameters if name[0] != "_" and name != "self"]
        heads = [head for entry in parsed(function)["Parameters"] for head in entry.name.split(",")]
        documented = [head.strip().lstrip("*") for head in heads]
        if documented or function is thing:  # a sentence is enough for a plain method
            assert documented == parameters, function


@pytest.mark.parametrize("path", sorted(THINGS.keys() - CALLED.keys()))
def test_a_constant_has_a_comment_that_says_what_it_is(path):
    assert comment(path.rpartition(".")[2])
