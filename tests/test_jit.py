"""The one jit decorator."""

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
