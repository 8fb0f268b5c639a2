"""Several sums: their lattice, its layout on a line, and the window around its middle."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from permtest.null.lattice import LatticeSum
from tests import naive


@st.composite
def effects(draw, most: int = 7):
    """(stay, swap) of shape (N, m): ordinary, dependent, or far apart in size."""
    size, m = draw(st.integers(1, most)), draw(st.integers(1, 4))
    value = st.integers(*draw(st.sampled_from([(0, 1), (-3, 3), (-(10**6), 10**6)])))
    stay = [[draw(value) for _ in range(m)] for _ in range(size)]
    swap = [[draw(value) for _ in range(m)] for _ in range(size)]
    if draw(st.booleans()):  # sums that are combinations of the first one
        stay = [[row[0] * (k + 1) for k in range(m)] for row in stay]
        swap = [[row[0] * (k + 1) for k in range(m)] for row in swap]
    return np.array(stay), np.array(swap)


#: Their basis has integers beyond int64.
LONG = [[-301638, 0, 0, 0], [-1, -57508, 518, 0], [1451, 1, -229, 9907], [-1, -13139, -53552, 0]]


@given(rows=effects())
@example(rows=(np.array(LONG), np.zeros((4, 4), dtype=int)))
def test_the_line_has_the_joint_law(rows):
    lattice = LatticeSum.of(*rows)
    expected = naive.joint_counts(*(x.tolist() for x in rows))
    moves = np.array(rows[1] - rows[0], dtype=float)
    assert lattice.rank == np.linalg.matrix_rank(moves)
    line = lattice.line
    widths = np.repeat(line.widths.astype(object), line.counts).tolist()
    cells = [sum(some) for k in range(len(widths) + 1) for some in combinations(widths, k)]
    points = lattice.sums(np.array(cells, dtype=object)).tolist()
    found, still = Counter(map(tuple, points)), 2 ** (line.n - line.n_informative)
    assert {sums: ways * still for sums, ways in found.items()} == expected
    if lattice.rank == 1:
        assert [lattice.cell(sums) for sums in points] == cells


def test_lattices_are_small():
    """Redundant sums cost nothing, common divisors are taken out, correlated sums are turned."""
    rng = np.random.default_rng(0)
    u, v = (rng.integers(0, 4, (500, 2)) for _ in range(2))
    stay, swap = np.concatenate([u, v], axis=1), np.concatenate([v, u], axis=1)
    four, two = LatticeSum.of(stay, swap), LatticeSum.of(u, v)
    assert four.rank == two.rank == 2
    assert sorted(four.extents) == sorted(two.extents)
    stay = np.array([[6, 0], [0, 10], [6, 10]])
    lattice = LatticeSum.of(stay, np.zeros_like(stay))
    assert lattice.extents == [2, 2]
    assert abs(np.linalg.det(lattice.basis.astype(float))) == pytest.approx(60)
    first = rng.integers(0, 2, 400)
    stay = np.stack([50 * first + rng.integers(0, 2, 400), first], axis=1)
    lattice = LatticeSum.of(stay, np.zeros_like(stay))
    assert np.prod([float(e) for e in lattice.extents]) <= 400 * 400
