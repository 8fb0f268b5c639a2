"""Around the test: describe the data, recommend a test, effect size, power and sample size.

`run_study` does all of it in one go, and can be repeated from its configuration; `overview` has
what there is to say about one comparison, of counts too.
"""

from permtest.alternatives.plan import (
    exact_power,
    exact_power_n,
    minimum_detectable_effect,
    power_t,
    sample_size,
    sample_size_mcnemar,
    sample_size_proportions,
)
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
    cohen_h,
    effect_sizes,
    hedges_g,
    hodges_lehmann,
    odds_ratio,
    phi,
    risk_difference,
    wilcoxon_r,
    win_loss,
)
from permtest.study.overview import Overview, overview, run_study
from permtest.study.power import PowerCurve, RejectionRates, power_curve, pvalues, rejection_rates
from permtest.study.recommend import Recommendation, recommend

__all__ = [
    "SAMPLES",
    "Description",
    "EffectSize",
    "Overview",
    "PowerCurve",
    "Recommendation",
    "RejectionRates",
    "StudyConfig",
    "cohen_d",
    "cohen_h",
    "describe",
    "effect_sizes",
    "evaluation_units",
    "exact_power",
    "exact_power_n",
    "hedges_g",
    "hodges_lehmann",
    "minimum_detectable_effect",
    "odds_ratio",
    "overview",
    "phi",
    "power_curve",
    "power_t",
    "pvalues",
    "recommend",
    "rejection_rates",
    "risk_difference",
    "run_study",
    "sample_data",
    "sample_size",
    "sample_size_mcnemar",
    "sample_size_proportions",
    "unit_sizes",
    "wilcoxon_r",
    "win_loss",
]
