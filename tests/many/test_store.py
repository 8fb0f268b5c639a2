"""What is kept on disk: a stopped run goes on, and nothing is lost, repeated or mixed up."""

import json
import multiprocessing
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import permtest as pt
from permtest.many import pairings, pairwise

RNG = np.random.default_rng(4)
TABLE = {f"s{i}": RNG.integers(0, 9, 200) for i in range(12)}
ARRAYS = ("statistic", "pvalue", "log10_pvalue", "error_bound", "n_informative", "adjusted")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(pairwise, "MOST", 16)


def assert_same(a, b):
    for name in ARRAYS:
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name
    assert a.method.tolist() == b.method.tolist()


def parts(folder):
    return sorted(folder.glob("part-*.parquet"))


class Stop(Exception):
    """What stops a run in the middle."""


def stopping_after(number, monkeypatch):
    """Let the pairs of so many blocks be computed, and raise then."""
    solve, done = pairwise._solve_block, []

    def solve_some(block, *rest):
        if len(done) == number:
            raise Stop
        done.append(block)
        return solve(block, *rest)

    monkeypatch.setattr(pairwise, "_solve_block", solve_some)
    monkeypatch.setattr("permtest._parallel.usable_processors", lambda: 1)
    return done


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    plain = pt.compare_many(TABLE)
    folder = tmp_path / "new" / "store"
    with monkeypatch.context() as patch:
        stopping_after(2, patch)
        with pytest.raises(Stop):
            pt.compare_many(TABLE, store=folder)
    assert len(parts(folder)) == 2
    before = {file: file.stat().st_mtime_ns for file in parts(folder)}
    with monkeypatch.context() as patch:
        done = stopping_after(99, patch)
        assert_same(pt.compare_many(TABLE, store=folder), plain)
    assert [block.start for block in done] == [32, 48, 64]
    assert all(file.stat().st_mtime_ns == before[file] for file in before)
    with monkeypatch.context() as patch:
        stopping_after(0, patch)  # nothing is left to do
        assert_same(pt.compare_many(TABLE, store=str(folder)), plain)


def test_the_folder_is_a_table_of_all_pairs(tmp_path):
    board = pt.compare_many({"x": TABLE, "y": TABLE}, store=tmp_path / "store")
    frame = pd.read_parquet(tmp_path / "store")
    expected = board.to_frame()
    for column in ("data_set", "first", "second", "pvalue", "log10_pvalue", "method"):
        assert frame[column].tolist() == expected[column].tolist()
    assert not frame.duplicated(["data_set", "first", "second"]).any()
    about = json.loads((tmp_path / "store/_leaderboard.json").read_text())
    assert about["systems"] == list(TABLE)
    assert about["files"] == len(parts(tmp_path / "store"))


def test_samples_go_on_from_the_same_seed(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    counts = {name: rng.integers(0, 9, (40, 6, 3)) for name in "abc"}
    monkeypatch.setattr(pairwise, "LEAST", 1)
    options = {"statistic": "macro_f1", "store": tmp_path / "store"}
    with monkeypatch.context() as patch:
        stopping_after(1, patch)
        with pytest.raises(Stop):
            pt.compare_many(counts, **options)
    board = pt.compare_many(counts, **options)  # no seed is given, that of the folder is taken
    assert_same(pt.compare_many(counts, **options), board)
    about = json.loads((tmp_path / "store/_leaderboard.json").read_text())
    assert board.seed == about["seed"]
    with pytest.raises(ValueError, match="begun with other random numbers"):
        pt.compare_many(counts, rng=3, **options)


@pytest.mark.parametrize(
    "change",
    [
        {"table": TABLE | {"s3": TABLE["s3"] + 1}},
        {"table": dict(reversed(TABLE.items()))},
        {"table": {f"x{name}": scores for name, scores in TABLE.items()}},
        {"statistic": "sum"},
        {"baseline": "s0"},
        {"clusters": np.arange(200) // 2},
        {"systems": list(TABLE)[:5]},
    ],
)
def test_another_comparison_is_refused(tmp_path, change):
    pt.compare_many(TABLE, store=tmp_path / "store")
    before = {file.name: file.read_bytes() for file in (tmp_path / "store").iterdir()}
    with pytest.raises(ValueError, match="belongs to a comparison with other scores or options"):
        pt.compare_many(**{"table": TABLE} | change, store=tmp_path / "store")
    assert {file.name: file.read_bytes() for file in (tmp_path / "store").iterdir()} == before


def test_corrections_share_a_folder(tmp_path):
    pt.compare_many(TABLE, store=tmp_path / "store")
    board = pt.compare_many(TABLE, store=tmp_path / "store", correction="bh", alpha=0.1)
    assert_same(board, pt.compare_many(TABLE, correction="bh", alpha=0.1))


def test_folders_with_something_else_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="exists and is no store"):
        pt.compare_many(TABLE, store=tmp_path)
    with pytest.raises(ValueError, match="exists and is no store"):
        pt.compare_many(TABLE, store=tmp_path / "thesis.tex")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_hidden_files_are_in_nobodys_way(tmp_path):
    (tmp_path / ".DS_Store").write_text("")
    assert_same(pt.compare_many(TABLE, store=tmp_path), pt.compare_many(TABLE))
    with pytest.raises(TypeError, match="store=True must be the path of a folder"):
        pt.compare_many(TABLE, store=True)


def test_runs_may_begin_at_the_same_time(tmp_path):
    folder = tmp_path / "store"
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: pt.compare_many(TABLE, store=folder), range(4)))
    assert len({board.seed for board in found}) == 1
    for board in found[1:]:
        assert_same(board, found[0])
    assert not [file.name for file in folder.iterdir() if file.name.startswith(".")]


def test_a_store_of_another_version_is_not_mixed_with_this_one(tmp_path, monkeypatch):
    pt.compare_many(TABLE, store=tmp_path / "store")
    monkeypatch.setattr("permtest.many.store.FORMAT", 0)
    with pytest.raises(ValueError, match="belongs to a comparison with other"):
        pt.compare_many(TABLE, store=tmp_path / "store")


def test_damaged_files_are_named(tmp_path):
    folder = tmp_path / "store"
    pt.compare_many(TABLE, store=folder)
    file = parts(folder)[1]
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    with pytest.raises(ValueError, match=rf"{file.name} cannot be read .* remove it and run again"):
        pt.compare_many(TABLE, store=folder)
    file.write_bytes(parts(folder)[-1].read_bytes())
    with pytest.raises(ValueError, match="has 2 rows; remove it"):
        pt.compare_many(TABLE, store=folder)
    file.unlink()
    assert_same(pt.compare_many(TABLE, store=folder), pt.compare_many(TABLE))
    assert file.read_bytes() == whole
    (folder / "_leaderboard.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        pt.compare_many(TABLE, store=folder)


def _run_that_stops(folder):
    """All pairs, in a process that has saved two blocks when it waits to be killed."""
    pairwise.MOST = 16
    save = pairings.Store.save

    def save_or_wait(*args):
        while len(parts(folder)) == 2:
            time.sleep(60)
        save(*args)

    pairings.Store.save = save_or_wait
    pt.compare_many(TABLE, store=folder, rng=1)


def test_a_killed_process_loses_nothing_that_was_found(tmp_path):
    folder = tmp_path / "store"
    process = multiprocessing.get_context("spawn").Process(target=_run_that_stops, args=(folder,))
    process.start()
    while len(parts(folder)) < 2 and process.is_alive():
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    process.join()
    kept = {file: file.stat().st_mtime_ns for file in parts(folder)}
    assert len(kept) == 2
    assert_same(pt.compare_many(TABLE, store=folder, rng=1), pt.compare_many(TABLE, rng=1))
    assert len(parts(folder)) == 5
    assert all(file.stat().st_mtime_ns == kept[file] for file in kept)
