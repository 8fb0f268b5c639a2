"""Of a folder that a harness wrote, the one file is taken that must be meant."""

import pytest

from permtest.readers import ReadError
from permtest.readers.folders import files_at


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    return folder


def test_files_are_left_alone(tmp_path):
    assert files_at([tmp_path / "a.csv", "b.csv"]) == [tmp_path / "a.csv", "b.csv"]


def test_the_task_that_both_have(tmp_path):
    when = "2026-11-20T23-12-38.762840.jsonl"
    a = make(tmp_path / "a", f"samples_qa_{when}", f"samples_math_{when}")
    b = make(tmp_path / "b", "model/samples_qa_2026-11-21T01-00-00.000000.jsonl")
    found = files_at([a, b])
    assert [path.name[:10] for path in found] == ["samples_qa"] * 2
    assert files_at([str(b), tmp_path / "x.jsonl"])[1] == tmp_path / "x.jsonl"


def test_what_is_ambiguous_is_refused(tmp_path):
    when = "2026-11-20T23-12-38.762840.jsonl"
    a = make(tmp_path / "a", f"samples_qa_{when}", f"samples_math_{when}")
    b = make(tmp_path / "b", f"samples_law_{when}")
    twice = make(tmp_path / "c", f"samples_qa_{when}", f"samples_qa_2025{when[4:]}")
    with pytest.raises(ReadError, match=r"several tasks \(samples_math, samples_qa\); name the"):
        files_at([a, a])
    with pytest.raises(ReadError, match="no task in common"):
        files_at([a, b])
    with pytest.raises(ReadError, match="2 runs"):
        files_at([twice])
    with pytest.raises(ReadError, match="this is a folder without"):
        files_at([make(tmp_path / "d", "notes.txt")])


def test_other_harnesses(tmp_path):
    for name in ("per_instance_stats.json", "log.eval", "results.json"):
        folder = make(tmp_path / name[:3], name, "other.txt")
        assert files_at([folder]) == [folder / name]
