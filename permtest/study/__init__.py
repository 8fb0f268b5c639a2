"""Around the test: describe the data, recommend a test, effect sizes, power, and the report."""

from permtest.study.describe import describe, evaluation_units, unit_sizes
from permtest.study.effects import (
    cohen_d,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    risk_difference,
    wilcoxon_r,
)
from permtest.study.power import (
    exact_power,
    minimum_detectable_effect,
    power_curve,
    power_t,
    sample_size,
    sample_size_binary,
)
from permtest.study.recommend import recommend
from permtest.study.report import report

__all__ = ["describe", "evaluation_units", "recommend", "report", "unit_sizes"]
__all__ += ["cohen_d", "effect_sizes", "hedges_g", "hodges_lehmann", "risk_difference"]
__all__ += ["exact_power", "minimum_detectable_effect", "power_curve", "power_t", "wilcoxon_r"]
__all__ += ["sample_size", "sample_size_binary"]
