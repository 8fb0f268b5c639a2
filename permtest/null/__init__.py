"""The null distribution of the statistic, one file per way to get it.

One sum: `distribution` groups differences, `convolution` has all cells, `tail` one tail, `bracket`
bounds of it. Several: `lattice`, `ratio_tail` (F1). Runs: `multinomial_sum`. Samples: `labellings`.
"""
