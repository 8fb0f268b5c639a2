"""Exact paired-permutation tests: is system B better than system A, or lucky?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from permtest.exact import exact_perm_test, monte_carlo, perm_test_acc, perm_test_F1, samples_needed
from permtest.null.convolution import convolve_dp, convolve_fft
from permtest.null.distribution import LatticeDistribution, pmf
from permtest.null.labellings import enumerate_swaps
from permtest.result import PermutationTestResult
from permtest.scores import Scores
from permtest.statistics import STATISTICS, Statistic

if TYPE_CHECKING:
    from permtest.alternatives import compare_all
    from permtest.interval import equivalence_test, noninferiority_test
    from permtest.many import compare_many
    from permtest.metric import metric_test
    from permtest.readers import read, read_many
    from permtest.runs import exact_runs_test
    from permtest.sequential import e_process

__version__ = "1.0.0rc2"

__all__ = [
    "STATISTICS",
    "LatticeDistribution",
    "PermutationTestResult",
    "Scores",
    "Statistic",
    "compare_all",
    "compare_many",
    "convolve_dp",
    "convolve_fft",
    "e_process",
    "enumerate_swaps",
    "equivalence_test",
    "exact_perm_test",
    "exact_runs_test",
    "metric_test",
    "monte_carlo",
    "noninferiority_test",
    "perm_test_F1",
    "perm_test_acc",
    "pmf",
    "read",
    "read_many",
    "samples_needed",
]


#: Where what not everybody needs comes from; it is imported when it is first used.
LATER = {
    "compare_all": "alternatives",
    "compare_many": "many",
    "e_process": "sequential",
    "equivalence_test": "interval",
    "exact_runs_test": "runs",
    "metric_test": "metric",
    "noninferiority_test": "interval",
    "read": "readers",
    "read_many": "readers",
}
PACKAGES = ("alternatives", "app", "many", "plots", "readers", "study", "widgets")


def __dir__() -> list[str]:
    """The public names, those that are loaded later included."""
    return [*__all__, *PACKAGES, "__version__"]


def __getattr__(name: str) -> Any:
    """Load the parts of the package that not everybody needs when they are first used."""
    if name in PACKAGES:
        return import_module(f"permtest.{name}")
    if name in LATER:
        return getattr(import_module(f"permtest.{LATER[name]}"), name)
    raise AttributeError(f"module 'permtest' has no attribute {name!r}")
