"""The one jit decorator."""

import pytest

from permtest._jit import jit


def test_a_kernel_is_compiled_at_its_first_call():
    @jit
    def double(x: int) -> int:
        """Twice x."""
        return 2 * x

    assert double(4) == 8
    assert (double.__name__, double.__doc__) == ("double", "Twice x.")


def test_without_a_folder_to_keep_machine_code_in():
    """As where package and home are read-only; here because the source has no file."""
    namespace: dict = {}
    exec("def successor(x):\n    return x + 1", namespace)
    assert jit(namespace["successor"])(4) == 5


def test_an_interrupt_inside_a_call_of_numba_is_one(monkeypatch):
    """It comes wrapped in an error of each call that it went through."""

    def stopped():
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise SystemError("unpickled") from error
        except SystemError as error:
            raise SystemError("called") from error

    monkeypatch.setattr("numba.njit", lambda **_: lambda _: stopped)
    with pytest.raises(KeyboardInterrupt):
        jit(lambda: None)()
