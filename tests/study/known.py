"""Answers of SciPy, statsmodels and R, which agree with each other to 1e-9."""

# fmt: off
#: (d_z, its interval)
COHEN_D = {
    "plain": (0.30214906160851884, (-0.2836997627336319, 0.875066892764335)),
    "tied": (0.2503024804494121, (-0.15881093323977705, 0.6541705573028526)),
}
#: (J, g)
HEDGES_G = {
    "plain": (0.9302325581395349, 0.2810688945195524),
    "tied": (0.967032967032967, 0.24205075032470622),
}
#: r of pairs that differ
WILCOXON_R = {"plain": 0.271746488194703, "tied": 0.26852287103627936}
#: (estimate, interval)
HODGES_LEHMANN = {"plain": (0.007, (-0.0095, 0.0285)), "tied": (0.5, (0.0, 1.0))}
# fmt: on
