"""What tests are called, in the order of tables."""

from __future__ import annotations

#: Tests of single scores, titles by names. `compare_all`, `recommend`, `power_curve` and
#: configurations use the names.
TITLES = {
    "exact": "exact permutation test of the mean",
    "permutation_median": "exact permutation test of the median",
    "paired_t": "paired t-test",
    "normal_z": "z-test, systems correlated",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "bootstrap_mean": "bootstrap of the mean",
    "bootstrap_median": "bootstrap of the median",
    "paired_bootstrap": "paired bootstrap (Koehn)",
    "independent_t": "two-sample t-test",
    "independent_z": "z-test, systems independent",
    "mcnemar": "McNemar's test, exact",
    "mcnemar_midp": "McNemar's test, mid-p",
    "mcnemar_chi2": "McNemar's test, chi-squared",
    "two_proportion_z": "z-test of two proportions",
    "chi_squared": "chi-squared test",
    "chi_squared_yates": "chi-squared test with Yates",
}

#: Those of scores of 0 and 1 alone, which have no threshold.
OF_COUNTS = (
    "mcnemar",
    "mcnemar_midp",
    "mcnemar_chi2",
    "two_proportion_z",
    "chi_squared",
    "chi_squared_yates",
)

#: Tests of scores of folds.
FOLD_TITLES = {
    "kfold_t": "K-fold CV t-test",
    "corrected_resampled_t": "corrected resampled t-test",
    "five_by_two_t": "5 x 2 CV t-test",
    "five_by_two_f": "combined 5 x 2 CV F-test",
    "block_3x2_t": "blocked 3 x 2 CV t-test",
}
