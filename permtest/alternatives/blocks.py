"""Blocks of items that look alike: what is to be balanced, and the dealing and exchanging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permtest._progress import progress
from permtest.pairs import cluster_numbers

#: Random pairs among which each exchange is the best.
CANDIDATES = 2048

#: At most so many exchanges, and no more after so many draws of candidates without a good one.
EXCHANGES, PATIENCE = 2000, 20

#: So many columns at most say which items look alike; exchanges look at all.
KEYS = 12

#: Up to so many columns, a table with its zeros is quicker than one without.
DENSE = 32

#: Numbers have to be smaller, so that their squares are numbers.
LARGEST = 1e100

#: So many random sets of blocks are tried to find those that get an item more than others.
TRIES = 512

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Name in tables, name in errors, values, and whether integers are classes.
Column = tuple[str, str, Any, bool]


@dataclass(frozen=True, eq=False)
class Traits:
    """What blocks are to have alike."""

    #: Of the columns; the first is "items".
    names: list[str]
    #: (n, columns), sparse: numbers, and 0 or 1 for classes; the first column has only ones.
    table: Any
    #: (n,) each: the same, but one number for the class of an item.
    keys: list[NDArray[Any]]

    @classmethod
    def of(cls, columns: Iterable[Column], n: int) -> Traits:
        """Collect the columns and find out which have numbers, and which classes."""
        from scipy import sparse

        names, tables, keys = ["items"], [sparse.csr_array(np.ones((n, 1)))], []
        for name, place, values, whole in columns:
            checked = _column(values, place, n, whole)
            if checked.dtype.kind == "f":
                names.append(name)
                tables.append(sparse.csr_array(checked[:, None]))
                keys.append(checked)
                continue
            labels, codes = _classes(checked, place, n)
            names += [f"{name}={label}" for label in labels]
            ones = (np.ones(n), codes, np.arange(n + 1))
            tables.append(sparse.csr_array(ones, shape=(n, len(labels))))
            keys.append(codes)
        return cls(names, sparse.hstack(tables, format="csr"), keys)


# ---- columns -----------------------------------------------------------------------------------


def columns_of(given: Any, name: str, X: Any, n: int) -> list[Column]:
    """The columns that `balance` or `y` stands for; in `y` integers are classes, else counts."""
    whole = name == "y"
    if isinstance(given, str | bytes | set | frozenset) or not hasattr(given, "__len__"):
        raise TypeError(
            f"{name}={given!r} must have one entry for each item, or be a mapping, a data frame "
            "or a list of columns of X"
        )
    if not whole and isinstance(given, list | tuple) and (picked := _picked(given, name, X, n)):
        return picked
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        keys = list(getattr(given, "columns", given))
        if not keys:
            raise ValueError(f"{name} has no columns; leave it out if nothing is to be balanced")
        return [
            (f"y {key}" if whole else str(key), f"{name}[{key!r}]", given[key], whole)
            for key in keys
        ]
    _check_length(given, name, n)
    listed = given if hasattr(given, "to_numpy") or isinstance(given, np.ndarray) else list(given)
    if _are_sequences(listed, whole):
        return _tags(listed, name)
    array = np.array(listed, dtype=object) if isinstance(listed, list) else np.asarray(listed)
    if array.ndim < 2:
        return [(name, name, listed, whole)]
    if array.ndim > 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; one row for each item is needed")
    return [(f"{name} {k}", f"{name}[:, {k}]", array[:, k], whole) for k in range(array.shape[1])]


def _picked(given: Sequence[Any], name: str, X: Any, n: int) -> list[Column] | None:
    """The columns of X that a list names or numbers; None if it has values of items instead."""
    known = list(getattr(X, "columns", ()))
    if len(given) == n and not all(isinstance(key, str) and key in known for key in given):
        return None
    width = len(known) or (X.shape[1] if len(getattr(X, "shape", ())) == 2 else 0)
    for i, key in enumerate(given):
        number = (
            isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < width
        )
        if not number and not (isinstance(key, str) and key in known):
            raise ValueError(
                f"{name}[{i}] = {key!r} is no column of X, which has "
                f"{f'columns {known}' if known else f'{width} columns without names'}; nor are the "
                f"{len(given)} entries of {name} one for each of the {n} items"
            )
        if key in given[:i]:
            raise ValueError(f"{name}[{i}] = {key!r} names a column of X once more; name it once")
    return [_column_of(X, key, known) for key in given]


def _column_of(X: Any, key: Any, known: list[Any]) -> Column:
    """A column of a frame by its name or number, or of a dense or sparse array by its number."""
    if known:
        label = key if key in known else known[key]
        return str(label), f"X[{label!r}]", X[label], False
    column = X[:, [key]]
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return f"X {key}", f"X[:, {key}]", dense[:, 0], False


def _check_length(values: Any, name: str, n: int) -> None:
    try:
        size = len(values)
    except TypeError:
        raise TypeError(f"{name}={values!r} must have one entry for each item") from None
    if size != n:
        extra = f"{name}[{n}] belongs to none" if size > n else f"{name}[{size}] is missing"
        raise ValueError(f"{name} has {size} entries for {n} items of X: {extra}")


def _are_sequences(listed: Any, whole: bool) -> bool:
    """Whether items have lists of labels of their own, as words of a sentence do."""
    if isinstance(listed, np.ndarray) and (listed.dtype != object or listed.ndim > 1):
        return False
    rows = listed.tolist() if hasattr(listed, "tolist") else listed
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return False
    ragged = len({len(row) for row in rows}) > 1
    return (whole and ragged) or all(isinstance(x, str) for row in rows for x in row)


def _tags(rows: Any, name: str) -> list[Column]:
    """How long each sequence is, and how often it has each label."""
    counts = [Counter(row) for row in rows]
    labels = sorted({label for counter in counts for label in counter}, key=str)
    numbers = {f"{name} length": [float(len(row)) for row in rows]}
    numbers |= {f"{name}={x}": [float(counter[x]) for counter in counts] for x in labels}
    return [(key, name, np.array(values), False) for key, values in numbers.items()]


def _column(values: Any, name: str, n: int, whole: bool) -> NDArray[Any]:
    """Finite floats if the column has numbers, anything else if it has classes."""
    _check_length(values, name, n)
    plain = values.to_numpy() if hasattr(values, "to_numpy") else values
    array = plain if isinstance(plain, np.ndarray) else _objects(list(plain))
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; a column has one entry for each item")
    numeric = array.dtype.kind == "f" or (array.dtype.kind in "iu" and not whole)
    if not numeric and (array.dtype != object or not all(_is_number(x, whole) for x in array)):
        return array
    with np.errstate(invalid="ignore"):
        usable = np.abs(array) < LARGEST  # NaN is not
    for i in np.flatnonzero(~usable)[:1]:
        raise ValueError(f"{name}[{i}] = {array[i]} cannot be balanced: it is missing or too large")
    return array.astype(np.float64)


def _objects(entries: list[Any]) -> NDArray[Any]:
    """One-dimensional, whatever the entries are, so that 1 and "1" stay what they are."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _is_number(x: Any, whole: bool) -> bool:
    """Whether it is one, and, where integers are classes, is none of them."""
    if isinstance(x, bool | np.bool_):
        return False
    return isinstance(x, float | np.floating) or (not whole and isinstance(x, int | np.integer))


def _classes(values: NDArray[Any], name: str, n: int) -> tuple[list[Any], IndexArray]:
    """The classes in their order, and the number of the class of each item."""
    codes = cluster_numbers(values, n, name)
    first = np.unique(codes, return_index=True)[1]
    labels = values[first].tolist()
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        order = sorted(range(len(labels)), key=lambda k: str(labels[k]))
    return [labels[k] for k in order], np.argsort(order)[codes]


# ---- blocks ------------------------------------------------------------------------------------


def deal_items(traits: Traits, signs: IndexArray, rng: np.random.Generator) -> IndexArray:
    """The block of each item: items that look alike are dealt, then some exchanged.

    `signs` (m, B) has 1 where a block is in a training set, and -1 elsewhere. Blocks differ by one
    item at most. The deviations whose squares exchanges reduce are those of a block's sums from
    what its number of items would have on average, in standard deviations of a random block.
    Takes O(n log n) for each of the keys, and a bounded number of exchanges.
    """
    n, n_blocks = traits.table.shape[0], signs.shape[1]
    rest = n % n_blocks
    keys = sorted(traits.keys, key=lambda key: np.unique(key).size)[:KEYS]
    order = np.lexsort((rng.random(n), *keys[::-1]))
    blocks = np.empty(n, dtype=np.int64)
    blocks[order[:rest]] = _larger(rest, signs, rng)
    rows = np.tile(np.arange(n_blocks), (n // n_blocks, 1))
    blocks[order[rest:]] = rng.permuted(rows, axis=1).ravel()

    mean = traits.table.sum(axis=0) / n
    square = (traits.table * traits.table).sum(axis=0) / n
    variance = square - mean**2
    varies = np.flatnonzero(variance > 1e-12 * square)
    scale = np.sqrt(variance[varies] * (n / n_blocks))
    weights = _scaled(traits.table, varies, scale)
    sizes = np.bincount(blocks, minlength=n_blocks)
    off = totals(weights, blocks, n_blocks) - sizes[:, None] * (mean[varies] / scale)
    return _exchanged(weights, blocks, off, n, rng)


def deal_groups(table: Any, n_blocks: int, rng: np.random.Generator) -> IndexArray:
    """The block of each group: the largest first, to the emptiest; then exchanges and moves.

    `table` (groups, columns) has the sums over the items of each group. No block stays empty.
    """
    from scipy import sparse

    n, empty = table.shape[0], table.shape[0] // 3 + n_blocks
    square = (table * table).sum(axis=0)
    varies = np.flatnonzero(square > 0)
    # A group moves by an exchange with one that is empty.
    padded = sparse.vstack([table, sparse.csr_array((empty, table.shape[1]))], format="csr")
    weights = _scaled(padded, varies, np.sqrt(square[varies] / n_blocks))
    first = rng.permutation(n_blocks)[_largest_first(sparse.csr_array(weights[:n]), n_blocks, rng)]
    blocks = np.concatenate([first, np.arange(empty) % n_blocks])
    sums = totals(weights, blocks, n_blocks)
    return _exchanged(weights, blocks, sums - sums.mean(axis=0), n, rng)[:n]


def summed(table: Any, labels: IndexArray, size: int) -> Any:
    """Sums of the rows of a table, sparse if it is, over equal labels: (size, columns)."""
    from scipy import sparse

    n = len(labels)
    return sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(size, n)) @ table


def totals(table: Any, blocks: IndexArray, n_blocks: int) -> FloatArray:
    """`summed`, without sparsity."""
    sums = summed(table, blocks, n_blocks)
    dense: FloatArray = sums.toarray() if hasattr(sums, "toarray") else sums
    return dense


def _scaled(table: Any, columns: IndexArray, scale: FloatArray) -> Any:
    """Some columns, each divided by its scale."""
    from scipy import sparse

    if columns.size <= DENSE:
        return table[:, columns].toarray() / scale
    return sparse.csr_array(table[:, columns] @ sparse.diags_array(1 / scale))


def _larger(rest: int, signs: IndexArray, rng: np.random.Generator) -> IndexArray:
    """So many blocks, spread evenly over the two halves of each partition, in random order."""
    n_blocks = signs.shape[1]
    if rest == 0:
        return np.empty(0, dtype=np.int64)
    chosen = rng.permuted(np.tile(np.arange(n_blocks), (TRIES, 1)), axis=1)[:, :rest]
    picked = np.zeros((TRIES, n_blocks), dtype=np.int64)
    np.put_along_axis(picked, chosen, 1, axis=1)
    uneven = np.abs(signs @ picked.T).max(axis=0)
    best: IndexArray = chosen[np.argmin(uneven)]
    return best


def _largest_first(weights: Any, n_blocks: int, rng: np.random.Generator) -> IndexArray:
    """Each group goes where it adds least to the sum of squared totals."""
    n = weights.shape[0]
    order = np.lexsort((rng.random(n), -(weights * weights).sum(axis=1)))
    blocks, sums = np.empty(n, dtype=np.int64), np.zeros((n_blocks, weights.shape[1]))
    starts, columns, values = weights.indptr, weights.indices, weights.data
    for k, g in enumerate(progress(order.tolist(), total=n, what="groups")):
        own = slice(starts[g], starts[g + 1])
        where, row = columns[own], values[own]
        b = k if k < n_blocks else int(np.argmin(sums[:, where] @ row))
        sums[b, where] += row
        blocks[g] = b
    return blocks


def _exchanged(
    weights: Any, blocks: IndexArray, off: FloatArray, real: int, rng: np.random.Generator
) -> IndexArray:
    """Exchange units between blocks as long as the sum of squares of `off` falls.

    Units from number `real` on are empty; the last that is not never leaves its block.
    """
    if off.shape[1] == 0:
        return blocks
    blocks, off = blocks.copy(), off.copy()
    filled = np.bincount(blocks[:real], minlength=len(off))
    failures = 0
    for _ in progress(range(EXCHANGES), total=EXCHANGES, what="exchanges"):
        i, j = rng.integers(len(blocks), size=(2, CANDIDATES))
        a, b = blocks[i], blocks[j]
        gain = weights[j] - weights[i]  # of block a, and the loss of block b
        along, k = gain @ off.T, np.arange(CANDIDATES)
        change = along[k, a] - along[k, b] + (gain * gain).sum(axis=1)
        leaves = np.where(j >= real, (i < real) & (filled[a] == 1), (i >= real) & (filled[b] == 1))
        change[leaves | (a == b)] = 0
        best = int(np.argmin(change))
        failures = 0 if change[best] < -1e-12 else failures + 1
        if failures >= PATIENCE:
            break
        if failures == 0:
            step = gain[[best]].sum(axis=0)
            off[a[best]] += step
            off[b[best]] -= step
            blocks[i[best]], blocks[j[best]] = b[best], a[best]
            moved = int(j[best] < real) - int(i[best] < real)
            filled[a[best]] += moved
            filled[b[best]] -= moved
    return blocks
