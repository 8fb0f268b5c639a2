"""The null distribution of the statistic, one file per way to get it."""
