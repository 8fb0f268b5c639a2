"""The registry: each row has what makes its test, along any axis, and a new row is known to all."""

import re
from pathlib import Path

import numpy as np
import pytest

import permtest as pt
from permtest import alternatives as alt
from permtest.alternatives import registry
from permtest.alternatives.registry import OF_COUNTS, OF_PROPORTIONS, SYSTEMS, TESTS, TITLES
from permtest.study import overview, recommend

A, B = np.random.default_rng(5).integers(0, 2, (2, 40))
BATCH = [name for name, row in TESTS.items() if row.batch]


def test_every_test_of_tables_has_a_function():
    assert all(TESTS[name].single for name in TITLES)
    assert {*OF_PROPORTIONS, "mcnemar", "mcnemar_midp", "mcnemar_chi2"} == {*OF_COUNTS}
    assert {answer.test for answer in pt.compare_all(A, B, K=20)} == {*TITLES}


@pytest.mark.parametrize("test", BATCH)
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_batches_lie_along_any_axis(test, alternative):
    a, b = np.random.default_rng(2).integers(0, 5, (2, 3, 4, 12))
    row, drawn = TESTS[test], TESTS[test].takes == "resamples"

    def p(axis):
        of = (a, b) if SYSTEMS in row.assumptions else (a - b,)
        moved = [np.moveaxis(x, -1, axis) for x in of]
        more = {"K": 50, "rng": np.random.default_rng(1)} if drawn else {}
        return row.batch(*moved, axis=axis, alternative=alternative, **more)

    assert p(-1).shape == (3, 4)
    assert p(-1).min() < p(-1).max() <= 1
    for axis in (0, 1):
        np.testing.assert_allclose(p(axis), p(-1), rtol=1e-12)


def test_the_row_in_contributing_is_all_that_a_new_test_needs(monkeypatch):
    text = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    name, row = re.search(r'^    "(\w+)": (Row\(.*\)),$', text, re.MULTILINE).groups()
    assert f'@registry.makes("{name}")' in text
    monkeypatch.setitem(TESTS, name, eval(row, vars(registry)))
    monkeypatch.setitem(TITLES, name, TESTS[name].title)
    registry.makes(name, equal_var=False)(alt.independent_t)
    a, b = np.random.default_rng(1).normal(size=(2, 40)).round(2)
    expected = alt.independent_t(a, b, equal_var=False).pvalue
    assert pt.compare_all(a, b, tests=[name])[name].result.pvalue == expected
    assert name in overview(pt.Pairs.of(a, b)).applicable
    assert sum(name in recommend(a, b).names(which) for which in recommend(a, b).lists) == 1
