"""P-values of R 4 for the same scores; Wilcoxon's and the exact test by exactRankTests."""

from functools import partial

import pytest

from permtest import alternatives as alt
from permtest import exact_perm_test

A = [5, 3, 6, 2, 7, 4, 4, 5, 6, 1, 3, 7]
B = [4, 3, 4, 3, 5, 4, 1, 5, 3, 1, 5, 3]
WON, LOST, TABLE = 9, 3, [[23, 9], [17, 15]]
SIDES = "two-sided", "greater", "less"


@pytest.mark.parametrize(
    ("test", "pvalues"),
    [
        # t.test(a, b, paired = TRUE), t.test(a, b, var.equal = TRUE), t.test(a, b)
        (partial(alt.paired_t, A, B), (0.0818642311656944, 0.0409321155828472, 0.959067884417153)),
        (
            partial(alt.independent_t, A, B),
            (0.15812838568451, 0.0790641928422551, 0.920935807157745),
        ),
        (
            partial(alt.independent_t, A, B, equal_var=False),
            (0.159590092282452, 0.0797950461412257, 0.920204953858774),
        ),
        # binom.test(6, 8), wilcox.exact(a, b, paired = TRUE), perm.test(a, b, paired = TRUE)
        (partial(alt.sign, A, B), (0.2890625, 0.14453125, 0.96484375)),
        (partial(alt.wilcoxon, A, B), (0.1015625, 0.05078125, 0.97265625)),
        (partial(exact_perm_test, A, B), (0.1171875, 0.05859375, 0.97265625)),
        # binom.test(9, 12), mcnemar.test(m, correct = FALSE), mcnemar.test(m)
        (partial(alt.mcnemar, WON, LOST), (0.14599609375, 0.072998046875, 0.980712890625)),
        (partial(alt.mcnemar, WON, LOST, method="chi2"), (0.0832645166635506,)),
        (partial(alt.mcnemar, WON, LOST, method="chi2-corrected"), (0.148914673178766,)),
        # chisq.test(w, correct = FALSE), prop.test(w, correct = FALSE)
        (partial(alt.chi_squared, TABLE), (0.121335250358483,)),
        (
            partial(alt.two_proportion_z, 23, 32, 17, 32),
            (0.121335250358483, 0.0606676251792411, 0.939332374820759),
        ),
    ],
)
def test_r_has_the_same_p(test, pvalues):
    found = [test(alternative=side).pvalue for side in SIDES[: len(pvalues)]]
    assert found == pytest.approx(pvalues, rel=1e-12)
