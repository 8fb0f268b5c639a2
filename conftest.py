"""Holds for every pytest run of the project: executed notebooks must not wait for ever."""

from importlib.util import find_spec

from permtest._jupyter import poll_in_slices

if find_spec("jupyter_client"):
    poll_in_slices()
