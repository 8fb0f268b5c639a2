"""The benchmark runs, checks p against a plain twin, and notices a slower method."""

import numpy as np

from benchmarks import runtime
from benchmarks.paper_data import table_1


def test_the_papers_generator_has_its_moments():
    """Table 1, as far as truncation and rounding leave it."""
    u, v = table_1(40_000, np.random.default_rng(0))
    assert u.min() >= 0
    assert abs(u.mean() / v.mean() - 1) < 0.01
    worse = table_1(40_000, np.random.default_rng(0), advantage=0.9)[1]
    assert worse.mean() < 0.97 * v.mean()


def test_a_small_run_measures_every_method():
    (row,) = runtime.measure(sizes=(300,))
    assert set(runtime.ratios(row)) == set(runtime.methods())
    assert all(0 < row[name] < 1 for name in runtime.methods())


def test_exact_is_much_faster_than_the_plain_loop_at_size():
    """Generous by a factor of about five, so that only a real loss of speed fails."""
    (row,) = runtime.measure(sizes=(10_000,))
    found = runtime.ratios(row)
    assert found["dp"] < 0.25
    assert found["fft"] < 0.05


def test_slower_methods_are_named():
    assert runtime.compare({"dp": 0.1, "fft": 0.01}, {"dp": 0.1, "fft": 0.01}) == []
    (line,) = runtime.compare({"dp": 0.1, "fft": 0.02}, {"dp": 0.1, "fft": 0.01})
    assert line.startswith("fft: 0.0200")


def test_the_picture_is_drawn(tmp_path):
    row = {"n": 10, "plain": 1.0} | dict.fromkeys(runtime.methods(), 0.001)
    runtime.draw([row, row | {"n": 20}], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
