"""The tests of single scores, in the order of tables: what they are called."""

from __future__ import annotations

#: Titles by names. `compare_all`, `recommend`, `power_curve` and configurations use the names.
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
