"""Around the test: describe the data, recommend a test, effect sizes, power, and the report."""

from permtest.study.describe import Description, UnitSizes, describe, evaluation_units, unit_sizes
from permtest.study.effects import (
    EffectSize,
    cohen_d,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    risk_difference,
    wilcoxon_r,
)
from permtest.study.power import (
    PowerCurve,
    exact_power,
    minimum_detectable_effect,
    power_curve,
    power_t,
    sample_size,
    sample_size_binary,
    separating_n,
)
from permtest.study.recommend import Recommendation, recommend
from permtest.study.report import Document, StudyConfig, report

__all__ = [
    "Description",
    "Document",
    "EffectSize",
    "PowerCurve",
    "Recommendation",
    "StudyConfig",
    "UnitSizes",
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
    "separating_n",
    "unit_sizes",
    "wilcoxon_r",
]
