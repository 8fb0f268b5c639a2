"""Around the test: describe the data, recommend a test, effect size, power and sample size.

`run_study` does all of it in one go, and can be repeated from its configuration; `overview` has
what there is to say about one comparison, of counts too.
"""

from permtest.study.board import BoardDocument, board_document
from permtest.study.describe import Description, describe
from permtest.study.discordant_power import exact_power, exact_power_n
from permtest.study.document import Document
from permtest.study.effect import EffectSize
from permtest.study.effects import cohen_d, hedges_g
from permtest.study.overview import Overview, overview
from permtest.study.pipeline import Study, StudyConfig, run_study
from permtest.study.planning import (
    SampleSize,
    minimum_detectable_effect,
    power_t,
    sample_size,
    sample_size_mcnemar,
    sample_size_proportions,
)
from permtest.study.power import PowerCurve, power_at, power_curve, power_curve_normal
from permtest.study.proportion_effects import cohen_h, phi
from permtest.study.rank_effects import hodges_lehmann, rank_biserial, wilcoxon_r
from permtest.study.recommend import Recommendation, recommend
from permtest.study.samples import SAMPLES, SampleSpec, sample_data
from permtest.study.simulation import RejectionRates, pvalues, rejection_rates
from permtest.study.units import EvaluationUnits, UnitSizes, evaluation_units, unit_sizes

__all__ = [
    "SAMPLES",
    "BoardDocument",
    "Description",
    "Document",
    "EffectSize",
    "EvaluationUnits",
    "Overview",
    "PowerCurve",
    "Recommendation",
    "RejectionRates",
    "SampleSize",
    "SampleSpec",
    "Study",
    "StudyConfig",
    "UnitSizes",
    "board_document",
    "cohen_d",
    "cohen_h",
    "describe",
    "evaluation_units",
    "exact_power",
    "exact_power_n",
    "hedges_g",
    "hodges_lehmann",
    "minimum_detectable_effect",
    "overview",
    "phi",
    "power_at",
    "power_curve",
    "power_curve_normal",
    "power_t",
    "pvalues",
    "rank_biserial",
    "recommend",
    "rejection_rates",
    "run_study",
    "sample_data",
    "sample_size",
    "sample_size_mcnemar",
    "sample_size_proportions",
    "unit_sizes",
    "wilcoxon_r",
]
