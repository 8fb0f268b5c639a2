"""Around the test: describe the data, recommend a test, effect size, power and sample size.

`run_study` does all of it in one go, as its configuration says; `overview` has what there is to
say about one comparison, of counts too.
"""

from permtest.study.config import StudyConfig
from permtest.study.describe import (
    SAMPLES,
    Description,
    describe,
    evaluation_units,
    sample_data,
    unit_sizes,
)
from permtest.study.effects import (
    EffectSize,
    cohen_d,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    risk_difference,
    wilcoxon_r,
)
from permtest.study.overview import Overview, overview, run_study
from permtest.study.plan import (
    exact_power,
    exact_power_n,
    minimum_detectable_effect,
    power_t,
    sample_size,
)
from permtest.study.power import PowerCurve, power_curve
from permtest.study.recommend import Recommendation, recommend

__all__ = [
    "SAMPLES",
    "Description",
    "EffectSize",
    "Overview",
    "PowerCurve",
    "Recommendation",
    "StudyConfig",
    "cohen_d",
    "describe",
    "effect_sizes",
    "evaluation_units",
    "exact_power",
    "exact_power_n",
    "hedges_g",
    "hodges_lehmann",
    "minimum_detectable_effect",
    "overview",
    "power_curve",
    "power_t",
    "recommend",
    "risk_difference",
    "run_study",
    "sample_data",
    "sample_size",
    "unit_sizes",
    "wilcoxon_r",
]
