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
from permtest.study.report import StudyConfig, report

__all__ = [
    "StudyConfig",
    "cohen_d",
    "describe",
    "effect_sizes",
    "evaluation_units",
    "exact_power",
    "hedges_g",
    "hodges_lehmann",
    "minimum_detectable_effect",
    "power_curve",
    "power_t",
    "recommend",
    "report",
    "risk_difference",
    "sample_size",
    "sample_size_binary",
    "unit_sizes",
    "wilcoxon_r",
]
