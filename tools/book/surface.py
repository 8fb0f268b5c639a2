"""What is public, said once: the names that users call, and the pages that they are explained on.

The reference is made from this table, and `tests/test_api.py` holds it against the package: every
name in the ``__all__`` of a module in `WHOLE` is on a page, every public class and function has an
example that runs.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any

#: Modules of which everything in ``__all__`` is public.
WHOLE = ("", "alternatives", "app", "many", "plots", "readers", "study", "widgets")


@dataclass(frozen=True)
class Page:
    """A page of the reference: headings, each with names, "module.name" without "permtest."."""

    name: str
    title: str
    about: str
    groups: dict[str, str]

    @property
    def things(self) -> dict[str, list[Thing]]:
        """What is below each heading."""
        return {
            title: [Thing(path) for path in names.split()] for title, names in self.groups.items()
        }


@dataclass(frozen=True)
class Thing:
    """A public object: a function, a class, or something ready-made."""

    path: str

    @property
    def name(self) -> str:
        """How it is called in its module."""
        return self.path.rpartition(".")[2]

    @property
    def module(self) -> str:
        """Where it is imported from."""
        return ".".join(filter(None, ["permtest", self.path.rpartition(".")[0]]))

    @cached_property
    def value(self) -> Any:
        """The object itself."""
        return getattr(import_module(self.module), self.name)

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        if inspect.isclass(self.value):
            return "class"
        return "function" if callable(self.value) else "constant"


PAGES = (
    Page(
        "api-test",
        "The main job",
        "Is one system better than the other? The exact test, its sampled cousin, tests against a "
        "margin, and what they return.",
        {
            "Tests": "exact_perm_test perm_test_acc perm_test_F1 exact_perm_test_m monte_carlo "
            "samples_needed metric_test noninferiority_test equivalence_test",
            "Repeated runs, and looking while the data come in": "exact_runs_test e_process",
            "What is compared": "Pairs Score statistic STATISTICS Statistic",
            "Results": "PermutationTestResult StructuredTestResult BatchResult MarginTestResult "
            "EquivalenceResult ConfidenceInterval runs.RunsTestResult runs.NoiseSplit "
            "runs.RunsPlan sequential.EProcess sensitivity.SensitivityResult",
        },
    ),
    Page(
        "api-null",
        "Null distributions",
        "What the statistic would be if labels meant nothing: all ways to compute its law.",
        {
            "Ways to compute it": "pmf enumerate_swaps convolve_dp convolve_fft convolve_cf",
            "Distributions": "LatticeDistribution JointDistribution",
        },
    ),
    Page(
        "api-many",
        "Many systems",
        "Leaderboards: all pairs of systems tested, corrected for the number of tests, and ranked.",
        {
            "Comparing": "compare_many Leaderboard ScoreTable",
            "Corrections": "many.adjusted_pvalues many.CORRECTIONS",
            "Metrics that rank systems": "many.soft_pairwise_accuracy many.SoftPairwiseAccuracy "
            "many.pairwise_agreement",
        },
    ),
    Page(
        "api-answers",
        "Other answers",
        "What other tests say about the same scores, and what they assume.",
        {
            "All at once": "compare_all AnswerTable alternatives.AlternativeResult",
            "Paired scores": "alternatives.paired_t alternatives.sign alternatives.wilcoxon "
            "alternatives.bootstrap alternatives.paired_bootstrap alternatives.permutation_mean "
            "alternatives.permutation_median",
            "Unpaired scores": "alternatives.independent_t alternatives.inflation",
            "Counts and shares": "alternatives.mcnemar alternatives.two_proportion_z "
            "alternatives.chi_squared alternatives.fisher_exact",
        },
    ),
    Page(
        "api-bayes",
        "Bayes and folds",
        "How probable it is that one model is better, and tests of scores from cross-validation.",
        {
            "Probabilities": "alternatives.bayes_test alternatives.BayesTestResult "
            "alternatives.posterior alternatives.MetricPosterior alternatives.DifferencePosterior "
            "alternatives.FoldCounts alternatives.block_weight",
            "Folds": "alternatives.BlockRegularizedCV alternatives.BlockPartition",
            "Tests of folds": "alternatives.block_3x2_t alternatives.corrected_resampled_t "
            "alternatives.five_by_two_f alternatives.five_by_two_t alternatives.kfold_t",
        },
    ),
    Page(
        "api-study",
        "The study around the test",
        "Describe the data, choose a test, say how large the difference is, plan the next study.",
        {
            "All in one go": "study.run_study study.StudyConfig study.Study study.overview "
            "study.Overview study.board_document",
            "Describing": "study.describe study.Description study.evaluation_units "
            "study.unit_sizes study.dependence",
            "Choosing a test": "study.recommend study.Recommendation study.measured_rates",
            "How large": "study.EffectSize study.cohen_d study.hedges_g study.wilcoxon_r "
            "study.hodges_lehmann study.win_loss study.risk_difference study.odds_ratio "
            "study.cohen_h study.phi study.effect_sizes study.BELONGS_TO",
            "How many": "study.sample_size study.minimum_detectable_effect "
            "study.sample_size_proportions study.sample_size_mcnemar study.power_t "
            "study.exact_power study.exact_power_n",
            "Simulated power": "study.power_curve study.power_curve_normal study.PowerCurve "
            "study.rejection_rates study.RejectionRates study.pvalues",
            "Data with known answers": "study.sample_data study.SAMPLES",
        },
    ),
    Page(
        "api-reading",
        "Reading files",
        "From the files that people have to pairs of scores.",
        {
            "Reading": "read read_many readers.recognise readers.describe readers.File "
            "readers.ReadError readers.FORMATS",
        },
    ),
    Page(
        "api-pictures",
        "Pictures and widgets",
        "Pictures of results with matplotlib, and explorers to move in a notebook.",
        {
            "One test": "plots.plot_null plots.plot_plane plots.plot_values plots.plot_estimation "
            "plots.plot_test plots.plot_comparison plots.plot_raincloud plots.plot_e_process "
            "plots.plot_sensitivity",
            "Other answers and Bayes": "plots.plot_answers plots.plot_posteriors "
            "plots.plot_difference",
            "A study": "plots.plot_histograms plots.plot_quantiles plots.plot_unit_sizes "
            "plots.plot_effects plots.plot_power",
            "Many systems": "plots.plot_ranking plots.plot_rankings plots.plot_pairs",
            "Style": "plots.style plots.STYLE plots.roles.Look plots.roles.Rule",
            "Explorers": "widgets.TwoSystemsExplorer widgets.SamplingExplorer "
            "widgets.ConvolutionExplorer widgets.TailExplorer widgets.StaircaseExplorer "
            "widgets.AssumptionsExplorer widgets.PowerExplorer widgets.PosteriorExplorer "
            "widgets.LeaderboardExplorer",
            "What explorers show": "null.convolution.Step plots.FarTail plots.plot_tail "
            "widgets.two_systems widgets.with_variant",
            "The app": "app.ComparisonApp app.bundled",
        },
    ),
    Page(
        "api-report",
        "Reports",
        "A study, a comparison or a leaderboard as files.",
        {
            "Writing": "report.write_report report.report_files",
        },
    ),
)


@cache
def public() -> tuple[Thing, ...]:
    """All public objects, in the order of the pages."""
    found = [thing for page in PAGES for things in page.things.values() for thing in things]
    return tuple(found)


@cache
def members(cls: type) -> dict[str, Any]:
    """Public methods and properties of a class by name, as they are defined, in order.

    Those of public base classes are left to them; those of other bases of this package count.
    """
    others = {thing.value for thing in public() if thing.kind == "class"} - {cls}
    found: dict[str, Any] = {}
    for base in reversed([b for b in cls.__mro__ if b.__module__.startswith("permtest")]):
        if not any(issubclass(other, base) and issubclass(cls, other) for other in others):
            found |= {
                name: member for name, member in vars(base).items() if is_member(name, member)
            }
    return found


def is_member(name: str, member: Any) -> bool:
    """Whether it is a public method or property."""
    wrapped = isinstance(member, property | cached_property | classmethod | staticmethod)
    return not name.startswith("_") and (wrapped or inspect.isfunction(member))


def function_of(member: Any) -> Any:
    """The function behind a method or a property."""
    for inner in ("__func__", "fget", "func"):
        member = getattr(member, inner, None) or member
    return member
